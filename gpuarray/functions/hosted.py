"""Functions that NumPy runs on the host: texts and files of arrays, and fits of polynomials."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from gpuarray.functions.host import on_host
from gpuarray.functions.status import status_of

__all__ = [
    "array2string", "array_repr", "array_str", "frombuffer", "fromfile", "fromiter", "fromregex", "fromstring",
    "genfromtxt", "load", "loadtxt", "polyfit", "roots", "save", "savetxt", "savez", "savez_compressed",
]  # fmt: skip


def _hosted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a NumPy function that runs on the host: it takes our arrays, and its results are on their device."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return on_host(function, args, kwargs, status_of(function).reason)

    run.__doc__ = f"Do what :func:`numpy.{function.__name__}` does, on the host, with arrays of this package."
    return run


array2string = _hosted(np.array2string)
array_repr = _hosted(np.array_repr)
array_str = _hosted(np.array_str)
frombuffer = _hosted(np.frombuffer)
fromfile = _hosted(np.fromfile)
fromiter = _hosted(np.fromiter)
fromregex = _hosted(np.fromregex)
fromstring = _hosted(np.fromstring)
genfromtxt = _hosted(np.genfromtxt)
load = _hosted(np.load)
loadtxt = _hosted(np.loadtxt)
polyfit = _hosted(np.polyfit)
roots = _hosted(np.roots)
save = _hosted(np.save)
savetxt = _hosted(np.savetxt)
savez = _hosted(np.savez)
savez_compressed = _hosted(np.savez_compressed)
