"""The host fallback: NumPy runs a function on host copies, and the results are uploaded to the device.

Arrays of this package among the arguments, nested ones included, are copied to the host. Those given as ``out=`` are
copied back. Results become arrays on the device of the arguments. A fallback is counted unless the device is the host.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, from_host
from gpuarray.device import Device
from gpuarray.functions.arguments import device_among, gpu_arrays
from gpuarray.functions.registry import HOST, implements, name_of
from gpuarray.runtime import evaluate, telemetry


class _Copies:
    """Host copies of arrays, one for each array."""

    def __init__(self, written: tuple[Any, ...]) -> None:
        self._written = {id(a) for a in written}
        self._by_array: dict[int, tuple[GpuArray, np.ndarray[Any, Any]]] = {}

    def down(self, value: Any) -> Any:
        """Replace arrays by host copies, also in nested containers."""
        if isinstance(value, GpuArray):
            copy = self._by_array.get(id(value))
            if copy is None:
                host = value.get()
                copy = (value, host.copy() if id(value) in self._written else host)
                self._by_array[id(value)] = copy
            return copy[1]
        if isinstance(value, list):
            return [self.down(item) for item in value]
        if type(value) is tuple:
            return tuple(self.down(item) for item in value)
        if isinstance(value, dict):
            return {key: self.down(item) for key, item in value.items()}
        return value

    def write_back(self) -> None:
        """Copy the results of in-place writes from the host copies to the arrays."""
        for array, host in self._by_array.values():
            if id(array) in self._written:
                array[...] = host

    def up(self, value: Any, device: Device) -> Any:
        """Replace NumPy arrays and scalars by arrays on ``device``."""
        for array, host in self._by_array.values():
            if value is host and id(array) in self._written:
                return array
        if id(value) in self._written:
            return value
        if isinstance(value, np.ndarray | np.generic):
            return from_host(np.asarray(value), device) if dtypes.is_supported(value.dtype) else value
        if isinstance(value, tuple):
            items = [self.up(item, device) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, list):
            return [self.up(item, device) for item in value]
        return value


@lru_cache(maxsize=1024)
def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(signature(function).parameters)
    except ValueError:
        return ()


def _written(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    arguments = dict(zip(_parameters(function), args, strict=False)) | kwargs
    outs = arguments.get("out")
    return tuple(a for a in (outs if isinstance(outs, tuple) else (outs,)) if isinstance(a, GpuArray | np.ndarray))


def on_host(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str, name: str = "") -> Any:
    """Run a NumPy function on host copies of the arrays among its arguments.

    Parameters
    ----------
    function : callable
        The function.
    args, kwargs : tuple, dict
        Its arguments.
    reason : str
        Why it runs on the host, for the report of fallbacks.
    name : str, optional
        Its name in the report; by default its NumPy name.

    Raises
    ------
    FallbackError
        If ``config.fallback`` is ``"error"``. Then nothing has run.
    """
    device = device_among(args, kwargs)
    if not evaluate.is_host(evaluate.provider_of(device)):
        nbytes = sum(array.nbytes for array in gpu_arrays((args, kwargs)))
        telemetry.fallback(name or f"numpy.{name_of(function)}", reason, nbytes)
    copies = _Copies(_written(function, args, kwargs))
    result = function(*copies.down(args), **copies.down(kwargs))
    copies.write_back()
    return copies.up(result, device)


def hosted(
    function: Callable[..., Any], reason: str, *, is_registered: bool = True, at_once: str | None = None
) -> Callable[..., Any]:
    """Return a function that runs a NumPy function on host copies; results are on the device of the arguments.

    Parameters
    ----------
    function : callable
        The NumPy function.
    reason : str
        Why it runs on the host.
    is_registered : bool
        Whether it is also the implementation of the NumPy function, which arrays can override.
    at_once : str, optional
        What bounds the size of the results, if small arrays in host memory need not be copied; see
        :func:`gpuarray.functions.registry.implements`.
    """

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return on_host(function, args, kwargs, reason)

    name = function.__name__
    run.__doc__ = (
        f"Run :func:`numpy.{name}` on the host.\n\nParameters and errors are those of :func:`numpy.{name}`. Arguments "
        "are copied to the host, and resulting arrays to the device; this is counted as a fallback."
    )
    return implements(name, kind=HOST, reason=reason, at_once=at_once)(run) if is_registered else run
