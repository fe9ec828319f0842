"""Calls of SciPy's functions with the values of arrays in host memory, and what becomes of their results."""

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray, default_device, joint_device_of
from gpuarray.array.compiled import call_with_values, of_values
from gpuarray.device import Device
from gpuarray.functions.arguments import read
from gpuarray.functions.fallback import Library, among, on_host, placed, run_with_values, written_numbers
from gpuarray.graph import tape, tracing
from gpuarray.graph.nodes import frozen
from gpuarray.runtime import evaluate
from gpuarray.runtime.places import is_host_device
from gpuarray.scipy._batches import over_batch
from gpuarray.scipy._threads import LEAST

_SCIPY: Final = Library(
    frozenset(("output", "out", "distances", "indices", "overwrite_x", "overwrite_data")), takes_scalars=True
)
#: The most results of :func:`trial` that are remembered.
_REMEMBERED: Final = 4096


def name_of(function: Callable[..., Any]) -> str:
    """Return the dotted name of a function of SciPy below ``scipy.``."""
    parts = [name for name in function.__module__.split(".")[1:] if not name.startswith("_")]
    return ".".join([*parts[:1], function.__name__])


def is_hosts(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the host computes with the arrays among arguments, and nothing records operations on them."""
    return host_of(among(args, kwargs)) is not None


def host_of(arrays: list[GpuArray]) -> Device | None:
    """Return the device of arrays; None if it is not the host's, or if something records operations on them."""
    if tracing.active() is not None:
        return None
    if tape.state.tapes and any(tape.is_followed(array.node()) for array in arrays):
        return None
    device = joint_device_of(arrays) or default_device()
    if device.kind == "cpu" or is_host_device(device):
        return device
    # with "auto", values that are computed without a plan stay on the host
    is_direct = device.kind == "auto" and evaluate.will_be_direct([array.settled() for array in arrays], device)
    return device if is_direct else None


def run_scipy(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], device: Device | None = None
) -> Any:
    """Run a function of SciPy on the host values of arrays; new arrays are on the device of the arguments.

    Parameters
    ----------
    function : callable
        The function.
    args, kwargs
        Its arguments.
    device : Device, optional
        The device, if it is known.
    """
    if tape.state.tapes and (result := over_batch(run_scipy, function, args, kwargs)) is not NotImplemented:
        return result
    if device is None:
        device = joint_device_of(among(args, kwargs)) or default_device()
    return run_with_values(function, args, kwargs, device, _SCIPY)


def run_counted(
    function: Callable[..., Any], reason: str, args: tuple[Any, ...], kwargs: dict[str, Any], name: str = ""
) -> Any:
    """Run a function of SciPy by :func:`run_scipy`, which counts as a fallback if the device is not the host's.

    Parameters
    ----------
    function : callable
        The function.
    reason : str
        Why it runs on the host.
    args, kwargs
        Its arguments.
    name : str
        SciPy's dotted name below ``scipy.``, if the function does not say it.
    """
    name = name or name_of(function)
    if tape.state.tapes:
        result = over_batch(lambda *call: run_counted(call[0], reason, call[1], call[2], name), function, args, kwargs)
        if result is not NotImplemented:
            return result
    return on_host(function, args, kwargs, reason, f"scipy.{name}", _SCIPY)


def is_target(value: Any) -> bool:
    """Whether an argument is an array to be written to, and not a dtype or None."""
    return isinstance(value, GpuArray | np.ndarray)


def write(result: Any, target: Any) -> Any:
    """Write a result to an array that was given for it, converted as SciPy does, and return this array.

    Raises
    ------
    RuntimeError
        If the shapes differ.
    """
    if tuple(target.shape) != tuple(result.shape):
        raise RuntimeError(f"output shape {tuple(target.shape)} not correct; the result has shape {result.shape}")
    if isinstance(target, GpuArray):
        target[...] = result
    else:
        np.copyto(target, result.get() if isinstance(result, GpuArray) else result, casting="unsafe")
    return target


@lru_cache(maxsize=1024)
def most_read(function: Callable[..., Any]) -> int:
    """Return how many arguments by position there are before the first one that may be written to."""
    return next(iter(written_numbers(function, _SCIPY.written)), sys.maxsize)


#: The most elements with which functions are called in C that threads do not share: ``direct_limit`` alone holds.
UNLIMITED: Final = (1 << 31) - 1
#: Which arguments of SciPy's functions are written to, where results without arrays are, and what becomes of results.
_RULES: Final = _SCIPY.written, default_device, placed


def small_at_once(general: Callable[..., Any], function: Callable[..., Any], most: int) -> Any:
    """Return a function that calls SciPy's in C if arrays are small and in host memory, and a general one otherwise.

    Parameters
    ----------
    general : callable
        The general one.
    function : callable
        The function of SciPy.
    most : int
        The most elements of all arrays.
    """
    return of_values(general, function, most_read(function), (most, *_RULES))


def run_if_host(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positional: int = sys.maxsize,
    on_host: Callable[..., Any] | None = None,
) -> Any:
    """Run a function of SciPy by :func:`run_scipy` where the host computes with the arrays, small ones in C.

    Parameters
    ----------
    function : callable
        The function.
    args, kwargs
        Its arguments.
    positional : int
        What :func:`most_read` says of the function; by default it writes to no argument.
    on_host : callable, optional
        What is called if arrays are large.

    Returns
    -------
    object
        The result; NotImplemented if the device is another, or if something records what is done with the arrays.
    """
    most = UNLIMITED if on_host is None else LEAST
    result = call_with_values(function, args, kwargs, positional, (most, *_RULES))
    if result is not NotImplemented:
        return result
    device = host_of(among(args, kwargs))
    return NotImplemented if device is None else run_scipy(on_host or function, args, kwargs, device)


def trial(function: Callable[..., Any], like: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the dtype of what SciPy's function returns for an array of one zero, of the axes and dtype of another.

    SciPy so checks the other arguments, and says which dtype results have. What it says is remembered.

    Parameters
    ----------
    function : callable
        SciPy's function.
    like : GpuArray or ndarray
        The first argument.
    *args, **kwargs
        The others. Arrays of this package are read.
    """
    args, kwargs = _read_all(args), {name: _read_all(value) for name, value in kwargs.items()}
    key = function, like.ndim, like.dtype, _key(args), _key(kwargs)
    result = _TRIALS.get(key)
    if result is None:
        result = np.asarray(function(np.zeros((1,) * like.ndim, like.dtype), *args, **kwargs)).dtype
        if len(_TRIALS) >= _REMEMBERED:
            _TRIALS.clear()
        _TRIALS[key] = result
    return result


def _read_all(value: Any) -> Any:
    """Return a value with the elements of arrays, also of those in tuples and lists, instead of the arrays."""
    if isinstance(value, GpuArray):
        return read(value)[()]
    return type(value)(map(_read_all, value)) if type(value) in (tuple, list) else value


_TRIALS: Final[dict[Any, Any]] = {}
#: Types whose values are keys themselves, together with the type: 1 and 1.0 may give other dtypes.
_KEYS: Final = frozenset((int, float, str, bool, type(None)))


def _key(value: Any) -> Any:
    if type(value) in _KEYS:
        return type(value), value
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((k, _key(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    return type(value), frozen(value)
