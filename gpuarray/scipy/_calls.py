"""Calls of SciPy's functions with the values of arrays in host memory, and what becomes of their results."""

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import signature
from types import MethodType
from typing import Any, Final, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_node, default_device, joint_device_of, made_of, make, wrap
from gpuarray.array.compiled import call_with_values
from gpuarray.device import Device
from gpuarray.functions.arguments import gpu_arrays, is_on_host
from gpuarray.functions.host_results import in_order_of_memory, in_own_memory
from gpuarray.graph import tape, tracing
from gpuarray.graph.nodes import Leaf, frozen, host_leaf
from gpuarray.graph.walk import current
from gpuarray.immediacy import immediacy
from gpuarray.runtime import evaluate, telemetry
from gpuarray.scipy._threads import LEAST

#: The types of most arguments that hold no arrays.
_PLAIN: Final = frozenset((int, float, str, bool, type(None), np.ndarray))
#: Parameters that are written to if they are arrays, and those that allow a function to write to its argument.
_WRITTEN: Final = frozenset(("output", "out", "distances", "indices", "overwrite_x", "overwrite_data"))
#: The most results of :func:`trial` that are remembered.
_REMEMBERED: Final = 4096


def name_of(function: Callable[..., Any]) -> str:
    """Return the dotted name of a function of SciPy below ``scipy.``."""
    parts = [name for name in function.__module__.split(".")[1:] if not name.startswith("_")]
    return ".".join([*parts[:1], function.__name__])


def among(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[GpuArray]:
    """Return the arrays of this package among arguments."""
    arrays: list[GpuArray] = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        kind = type(value)
        if kind is GpuArray:
            arrays.append(value)
        elif kind not in _PLAIN:
            arrays += gpu_arrays(value)
    return arrays


def is_hosts(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the host computes with the arrays among arguments, and nothing records what is done with them."""
    return host_of(among(args, kwargs)) is not None


def host_of(arrays: list[GpuArray]) -> Device | None:
    """Return the device of arrays; None if it is not the host's, or if something records what is done with them."""
    if tracing.active() is not None:
        return None
    if tape.state.tapes and any(tape.is_followed(array.node()) for array in arrays):
        return None
    device = joint_device_of(arrays) or default_device()
    if device.kind == "cpu" or is_on_host(device):
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
    if device is None:
        device = joint_device_of(among(args, kwargs)) or default_device()
    targets: dict[int, tuple[Any, Any]] | None = None
    is_kept = hasattr(function, "__qualname__") and type(function) is not MethodType  # methods would keep their object
    numbers = _written_numbers(function) if is_kept else ()
    if (numbers and len(args) > numbers[0]) or (kwargs and not _WRITTEN.isdisjoint(kwargs)):
        targets = {}
        args = tuple([_written(value, targets) if number in numbers else value for number, value in enumerate(args)])
        kwargs = {name: _written(value, targets) if name in _WRITTEN else value for name, value in kwargs.items()}
    seen = [value if type(value) in _PLAIN else _seen(value) for value in args]
    result = function(*seen, **{name: _seen(value) for name, value in kwargs.items()}) if kwargs else function(*seen)
    if targets is None:
        return placed(result, device)
    for target, values in targets.values():
        if target is not values:
            target[...] = values
    return placed(result, device, targets)


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
    arrays = among(args, kwargs)
    device = joint_device_of(arrays) or default_device()
    if not is_on_host(device):
        telemetry.fallback(f"scipy.{name or name_of(function)}", reason, sum(array.nbytes for array in arrays))
    return run_scipy(function, args, kwargs, device)


def _written(value: Any, targets: dict[int, tuple[Any, Any]]) -> Any:
    """Return the NumPy array to which SciPy writes in place of an argument, and note both by its id."""
    if not is_target(value):
        return False if value is True else value  # arguments are not overwritten
    values = np.zeros(value.shape, value.dtype) if isinstance(value, GpuArray) else value
    targets[id(values)] = value, values
    return values


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
def _written_numbers(function: Callable[..., Any]) -> tuple[int, ...]:
    """Return the positions of the parameters of :data:`_WRITTEN`."""
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):  # of a function in C
        return ()
    return tuple(number for number, name in enumerate(parameters) if name in _WRITTEN)


@lru_cache(maxsize=1024)
def most_read(function: Callable[..., Any]) -> int:
    """Return how many arguments by position there are before the first one that may be written to."""
    return next(iter(_written_numbers(function)), sys.maxsize)


def seen(array: GpuArray) -> Any:
    """Return the value of an array as a NumPy array that cannot be written to; a copy only if the host has no value."""
    memory = array.host() if array.is_computed() else None
    if memory is None:
        memory = _value_at_host(array)
    values = memory.view() if type(memory) is np.ndarray else np.asarray(memory)
    values.setflags(write=False)
    return values


def _value_at_host(array: GpuArray) -> Any:
    node = array.settled()
    if tape.state.tapes:
        tape.check_reader(node)
    leaf = current(node)
    if not isinstance(leaf, Leaf):
        evaluate.evaluate((node,), array.device, is_read=True)
        leaf = current(node)
        assert isinstance(leaf, Leaf)
    for owner, buffer in [] if leaf.host is not None else [*leaf.buffers.items()]:
        if evaluate.is_host(owner):
            return owner.export(buffer)[: leaf.nbytes].view(leaf.dtype).reshape(leaf.shape)
    return evaluate.host_values(leaf)


def _seen(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is GpuArray:  # elements of arrays are scalars in NumPy, which some functions ask for
        return seen(value) if value.ndim else seen(value)[()]
    if isinstance(value, list):
        return [_seen(item) for item in value]
    if kind is tuple:
        return tuple(_seen(item) for item in value)
    if isinstance(value, dict):
        return {key: _seen(item) for key, item in value.items()}
    return value


def placed(value: Any, device: Device, targets: Mapping[int, tuple[Any, Any]] | None = None) -> Any:
    """Return results with arrays of this package in place of NumPy's; memory of their own is taken over."""
    if targets and id(value) in targets:
        return targets[id(value)][0]
    if isinstance(value, np.ndarray):
        if not dtypes.is_supported(value.dtype):
            return value
        if not (value.ndim and value.dtype.isnative):
            return make(as_node(value), device)
        if value.size > immediacy().limit and (straight := in_order_of_memory(value)) is not None:
            memory, axes = straight
            return make(host_leaf(memory), device).transpose(sorted(range(value.ndim), key=axes.__getitem__))
        value = in_own_memory(value)
        flags = value.flags
        is_own = flags.owndata and flags.writeable
        if value.size <= immediacy().limit and immediacy().covers(device):
            return made_of(value if is_own else value.copy(), device)
        return make(host_leaf(value) if is_own else as_node(value), device)
    if isinstance(value, np.generic) and dtypes.is_supported(value.dtype):
        if immediacy().limit and immediacy().covers(device):
            return made_of(cast(Any, value), device)
        return wrap(as_node(value), device)
    if isinstance(value, tuple):
        items = [placed(item, device, targets) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if type(value) is dict:
        return {key: placed(item, device, targets) for key, item in value.items()}
    if isinstance(value, list):  # lists of numbers and of positions are for the host, and may be long
        return [placed(item, device, targets) if isinstance(item, np.ndarray) else item for item in value]
    return value


#: With which arguments SciPy's functions are called at once, and what becomes of results.
SMALL_CALLS: Final = LEAST, _WRITTEN, default_device, placed


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
    result = call_with_values(function, args, kwargs, positional, SMALL_CALLS)
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
        The others, without arrays of this package.
    """
    key = function, like.ndim, like.dtype, _key(args), _key(kwargs)
    result = _TRIALS.get(key)
    if result is None:
        result = np.asarray(function(np.zeros((1,) * like.ndim, like.dtype), *args, **kwargs)).dtype
        if len(_TRIALS) >= _REMEMBERED:
            _TRIALS.clear()
        _TRIALS[key] = result
    return result


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
