"""Special functions as in :mod:`scipy.special`, of real numbers, on any device.

SciPy's own functions of these names take arrays of this package too, and give the same values. All other names of
:mod:`scipy.special` are those of :mod:`gpuarray.scipy.special`, which needs SciPy. ``import gpuarray`` does not import
this module; ``gpuarray.special`` does when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpuarray.functions.special import *  # noqa: F403

if not TYPE_CHECKING:  # checkers take the names from the star
    from gpuarray.functions.special import __all__ as __all__


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'gpuarray.special' has no attribute {name!r}")
    try:
        functions = import_module("gpuarray.scipy.special")
    except ImportError as error:
        raise AttributeError(f"module 'gpuarray.special' has no attribute {name!r} without SciPy") from error
    return getattr(functions, name)
