"""Windows, as :mod:`scipy.signal.windows`. SciPy computes them on the host; the results are arrays of this package."""

from scipy.signal import windows as _windows

from gpuarray.scipy._mirror import designed, missing

__getattr__ = missing("signal.windows", vars(_windows))

globals().update({n: designed(getattr(_windows, n), f"signal.windows.{n}") for n in _windows.__all__})

__all__ = [*_windows.__all__]
