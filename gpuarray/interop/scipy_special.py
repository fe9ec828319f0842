"""SciPy: a function that it would find by a search over ours, while it has a compiled one.

The compiled function is a ufunc, which with arrays of this package runs on the host and is counted.
"""

from importlib import import_module

from scipy.special import _ufuncs


def register() -> None:
    """Let SciPy find the compiled function where it looks for those of this package."""
    functions = import_module("gpuarray.special")  # by name: what users see lies above what clients are told
    for name in ("stdtrit",):
        setattr(functions, name, getattr(_ufuncs, name))
