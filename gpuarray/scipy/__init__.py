"""SciPy's functions on any device: ``import gpuarray.scipy.ndimage as ndi`` in place of ``scipy.ndimage``.

Subpackages have SciPy's names, and their functions SciPy's names and parameters. They are imported when they are first
used, and need SciPy.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final

try:
    import scipy
except ImportError as error:
    raise ImportError("gpuarray.scipy needs SciPy; install it with `pip install scipy`") from error

if TYPE_CHECKING:
    from gpuarray.scipy import fft as fft
    from gpuarray.scipy import interpolate as interpolate
    from gpuarray.scipy import linalg as linalg
    from gpuarray.scipy import ndimage as ndimage
    from gpuarray.scipy import optimize as optimize
    from gpuarray.scipy import signal as signal
    from gpuarray.scipy import special as special
    from gpuarray.scipy import stats as stats

#: The subpackages that there are.
SUBPACKAGES: Final = tuple(sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_")))


def __getattr__(name: str) -> Any:
    if name in SUBPACKAGES:
        return import_module(f"gpuarray.scipy.{name}")
    what = f": use scipy.{name} with gpuarray.asnumpy(x)" if name in scipy.__all__ else ""
    raise AttributeError(f"module 'gpuarray.scipy' has no attribute {name!r}{what}")


def __dir__() -> list[str]:
    return [*SUBPACKAGES]
