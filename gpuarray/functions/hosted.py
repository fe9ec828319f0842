"""Functions that NumPy runs on the host: text and files of arrays, polynomial fits and roots."""

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
    """Return a function that runs a NumPy function on host copies; results are on the device of the arguments."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return on_host(function, args, kwargs, status_of(function).reason)

    name = function.__name__
    run.__doc__ = (
        f"Run :func:`numpy.{name}` on the host.\n\nParameters and errors are those of :func:`numpy.{name}`. Arguments "
        "are copied to the host, and resulting arrays to the device; this is counted as a fallback."
    )
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
