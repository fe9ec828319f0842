"""Functions that have no composition, which SciPy runs on the host, and its classes of systems."""

from typing import Final

from scipy import signal

from gpuarray.scipy._mirror import hosted

_SEQUENTIAL: Final = "each step depends on the steps before it"
_SPLINES: Final = "the recurrences of splines run along both directions"
_SMALL: Final = "it has no composition yet"
_REASONS: Final = {
    "cspline1d": _SPLINES, "cspline1d_eval": _SPLINES, "cspline2d": _SPLINES, "qspline1d": _SPLINES,
    "qspline1d_eval": _SPLINES, "qspline2d": _SPLINES, "spline_filter": _SPLINES, "symiirorder1": _SPLINES,
    "symiirorder2": _SPLINES, "sepfir2d": _SMALL, "gauss_spline": _SMALL, "dlsim": _SEQUENTIAL, "lsim": _SEQUENTIAL,
    "find_peaks": "peaks are compared one after the other",
    "find_peaks_cwt": "peaks are compared one after the other",
    "peak_prominences": "peaks are compared one after the other",
    "peak_widths": "peaks are compared one after the other",
    "envelope": _SMALL, "whittaker_henderson": _SMALL,
}  # fmt: skip
_KNOWN: Final = {
    name: hosted(getattr(signal, name), reason, name=f"signal.{name}")
    for name, reason in _REASONS.items()
    if hasattr(signal, name)
}
_CLASSES: Final = (
    "BadCoefficients", "CZT", "StateSpace", "TransferFunction", "ZerosPolesGain", "ZoomFFT", "dlti", "lti",
)  # fmt: skip

globals().update(_KNOWN)
globals().update({name: getattr(signal, name) for name in _CLASSES})

__all__ = [*_KNOWN, *_CLASSES]
