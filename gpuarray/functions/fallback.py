"""The host fallback: NumPy or SciPy runs a function on the host with the values of arrays.

Arrays of this package among the arguments, nested ones included, are replaced by values that cannot be written to, and
those given as ``out=`` by memory that is copied back. Results become arrays on the device of the arguments. A fallback
is counted unless the device is the host.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache, partial, wraps
from inspect import signature
from types import MethodType
from typing import Any, Final, NamedTuple, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_node, default_device, joint_device_of, made_of, make, wrap
from gpuarray.device import Device
from gpuarray.dispatch import is_broken_by_masks
from gpuarray.functions.arguments import gpu_arrays
from gpuarray.functions.host_results import in_order_of_memory, in_own_memory
from gpuarray.functions.registry import HOST, implements, name_of
from gpuarray.graph import tape
from gpuarray.graph.layouts import contiguous, permute
from gpuarray.graph.nodes import Leaf, host_leaf
from gpuarray.graph.walk import current
from gpuarray.immediacy import immediacy
from gpuarray.runtime import evaluate, telemetry
from gpuarray.runtime.places import is_host_device

#: The types of most arguments that hold no arrays.
_PLAIN: Final = frozenset((int, float, str, bool, type(None), np.ndarray))


class Library(NamedTuple):
    """How the functions of a library take the values of arrays.

    Attributes
    ----------
    written : frozenset of str
        The parameters that are written to if they are arrays, and those that allow a function to write to its
        argument.
    takes_scalars : bool
        Whether arrays without axes are passed as scalars, which some functions require.
    """

    written: frozenset[str]
    takes_scalars: bool


NUMPY: Final = Library(frozenset(("out",)), takes_scalars=False)


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


def on_host(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str, name: str = "", library: Library = NUMPY
) -> Any:
    """Run a function of NumPy or SciPy by :func:`run_with_values`; it is counted unless the device is the host.

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
    library : Library
        The library of the function.

    Raises
    ------
    FallbackError
        If ``config.fallback`` is ``"error"``. Then nothing has run.
    """
    arrays = among(args, kwargs)
    device = joint_device_of(arrays) or default_device()
    if not is_host_device(device):
        telemetry.fallback(name or f"numpy.{name_of(function)}", reason, sum(array.nbytes for array in arrays))
    return run_with_values(function, args, kwargs, device, library)


def run_with_values(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], device: Device, library: Library
) -> Any:
    """Run a function on the host values of arrays; new arrays are on ``device``."""
    targets: dict[int, tuple[Any, Any]] | None = None
    is_kept = hasattr(function, "__qualname__") and type(function) is not MethodType  # methods would keep their object
    numbers = written_numbers(function, library.written) if is_kept else ()
    if (numbers and len(args) > numbers[0]) or (kwargs and not library.written.isdisjoint(kwargs)):
        targets = {}
        args = tuple([_written(value, targets) if number in numbers else value for number, value in enumerate(args)])
        kwargs = {
            name: _written(value, targets) if name in library.written else value for name, value in kwargs.items()
        }
    if "where" in kwargs and is_broken_by_masks(function):
        function = partial(_masked, function)
    scalars = library.takes_scalars
    values = [value if type(value) in _PLAIN else _seen(value, scalars) for value in args]
    if kwargs:
        result = function(*values, **{name: _seen(value, scalars) for name, value in kwargs.items()})
    else:
        result = function(*values)
    if targets is None:
        return placed(result, device)
    for target, memory in targets.values():
        if target is not memory:
            target[...] = memory
    return placed(result, device, targets)


def _masked(
    ufunc: np.ufunc, *inputs: Any, where: Any, out: Any = None, casting: Any = "same_kind", **options: Any
) -> Any:
    """Call a ufunc for all elements, and write those that a mask selects, as with ``where=where``."""
    inputs, outs = inputs[: ufunc.nin], inputs[ufunc.nin :] or out
    outs = outs if isinstance(outs, tuple) else (outs,) * ufunc.nout
    made = ufunc(*inputs, casting=casting, **options)
    results = []
    for result, target in zip(made if ufunc.nout > 1 else (made,), outs, strict=True):
        if target is None:  # the elements that are not selected are not defined
            target = np.empty(np.broadcast_shapes(np.shape(result), np.shape(where)), result.dtype)
        np.copyto(target, result, casting=casting, where=where)
        results.append(target)
    return tuple(results) if ufunc.nout > 1 else results[0]


@lru_cache(maxsize=1024)
def written_numbers(function: Callable[..., Any], written: frozenset[str]) -> tuple[int, ...]:
    """Return the positions of the parameters of a function that are written to."""
    if isinstance(function, np.ufunc):  # those of older versions of NumPy have no signature
        return tuple(range(function.nin, function.nargs))
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):  # of a function in C
        return ()
    return tuple(number for number, name in enumerate(parameters) if name in written)


def _written(value: Any, targets: dict[int, tuple[Any, Any]]) -> Any:
    """Return the NumPy array to which a function writes in place of an argument, and note both by its id."""
    if isinstance(value, tuple):
        return tuple([_written(item, targets) for item in value])
    if not isinstance(value, GpuArray | np.ndarray):
        return False if value is True else value  # arguments are not overwritten
    memory = np.array(seen(value)) if isinstance(value, GpuArray) else value
    targets[id(memory)] = value, memory
    return memory


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
    value = evaluate.value_of(node)  # views of memory are not copied
    if type(value) is np.ndarray:
        return value
    evaluate.evaluate((node,), array.device, is_read=True)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    value = evaluate.value_of(leaf)
    return evaluate.host_values(leaf) if value is None else value


def _seen(value: Any, scalars: bool) -> Any:
    """Return an argument with values instead of arrays, of which those without axes may be scalars."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is GpuArray:
        return seen(value)[()] if scalars and not value.ndim else seen(value)
    if isinstance(value, list):
        return [_seen(item, scalars) for item in value]
    if kind is tuple:
        return tuple(_seen(item, scalars) for item in value)
    if isinstance(value, dict):
        return {key: _seen(item, scalars) for key, item in value.items()}
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
            places = sorted(range(value.ndim), key=axes.__getitem__)
            return wrap(host_leaf(memory), device, permute(contiguous(memory.shape), places))
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
    if isinstance(value, dict):
        result = copy(value)  # results of optimisers have a class of their own
        for key, item in value.items():
            result[key] = placed(item, device, targets)
        return result
    if isinstance(value, list):  # lists of numbers and of positions are for the host, and may be long
        return [placed(item, device, targets) if isinstance(item, np.ndarray) else item for item in value]
    return value


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
