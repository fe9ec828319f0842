"""Conversion of arguments to arrays, devices and shapes, and the writing of results to ``out``."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_node, assigned_node, default_device, device_of, make, wrap
from gpuarray.config import config, using
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build, standard, tape
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import broadcast_shapes, normalize_axis, resolve_shape
from gpuarray.providers import registry
from gpuarray.settings import strictness

ArrayLike: TypeAlias = Any
Axis: TypeAlias = int | tuple[int, ...] | None
DeviceLike: TypeAlias = Device | str | None
DTypeLike: TypeAlias = npt.DTypeLike | None
F = TypeVar("F", bound=Callable[..., Any])

_LARGEST = np.iinfo(np.intp).max


def as_array(value: ArrayLike, device: Device | None = None) -> GpuArray:
    """Convert a scalar or a sequence to an array. An array is returned as it is."""
    if isinstance(value, GpuArray):
        return value
    return make(as_node(value), device or device_of(value) or default_device())


def inexact(x: ArrayLike) -> GpuArray:
    """Return an array of a floating or complex dtype; integers and booleans are converted to float64."""
    array = as_array(x)
    return array if array.dtype.kind in "fc" else array.astype(dtypes.float64)


def elements_at(array: GpuArray, positions: GpuArray) -> GpuArray:
    """Return the elements at flat positions, which must be in range."""
    return wrap(build.gather(array.node(), positions.node()), array.device)


def as_arrays(*values: ArrayLike) -> list[GpuArray]:
    """Convert values to arrays. New arrays are on the device of the values that are arrays already."""
    device: Device | None = None
    for value in values:
        if type(value) is not GpuArray or (device is not None and value.device is not device):
            break
        device = value.device
    else:
        return [*values]
    device = device_of(*values)
    return [as_array(value, device) for value in values]


def result(node: Node, *operands: Any) -> GpuArray:
    """Return an array of a node, on the device of the operands that the node was computed from."""
    return wrap(node, device_of(*operands) or default_device())


def checked_device(device: DeviceLike, *operands: Any) -> Device:
    """Return the device that an argument names; if it is None, the device of the operands or the default device.

    Raises
    ------
    DeviceError
        If the device does not exist.
    """
    if device is None:
        return device_of(*operands) or default_device()
    target = Device(device)
    if target.kind not in ("auto", "cpu"):
        registry.open_device(target)  # so that an unknown device is an error now
    return target


#: Arguments whose dtype :mod:`gpuarray.graph.standard` finds by itself.
_WITH_DTYPE: Final = (GpuArray, bool, int, float, complex, np.dtype, type)


def standard_function(function: F) -> F:
    """Apply the stricter rules of the standard to a function while ``config.strict_array_api`` is on.

    The dtypes of its arrays are checked: of the parameters named ``x``, ``x1`` and so on, of the sequence ``arrays``,
    or of all arguments if their number is not fixed. What the function does with them is not checked. The attribute
    ``unchecked`` is the function itself, for calls to which the rules do not apply.
    """
    parameters = list(inspect.signature(function).parameters.values())
    count = sum(p.kind is p.POSITIONAL_ONLY and p.name.startswith("x") for p in parameters)
    takes_sequence = parameters[0].name == "arrays"
    if parameters[0].kind is inspect.Parameter.VAR_POSITIONAL:
        count = sys.maxsize

    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not strictness.possible or not config.current.strict_array_api:
            return function(*arguments, **keywords)
        if takes_sequence:
            arguments = ([*arguments[0]], *arguments[1:])
        operands = arguments[0] if takes_sequence else arguments[:count]
        standard.require(function.__name__, *(v if isinstance(v, _WITH_DTYPE) else as_array(v) for v in operands))
        with using(strict_array_api=False):
            return function(*arguments, **keywords)

    cast(Any, checked).unchecked = function
    return cast(F, checked)


def takes_names_of(numpys: Any, function: F) -> F:
    """Return a function that also takes its positional-only parameters by the names that NumPy's function gives them.

    They have no names in the array API standard: ``gpuarray.sum(a=x)`` becomes ``gpuarray.sum(x)``.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or not code.co_posonlyargcount or isinstance(numpys, np.ufunc):  # whose operands have no names
        return function

    @wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        if keywords:
            for name in _names_by_position(numpys, function)[len(arguments) :]:
                if name not in keywords:
                    break
                arguments = (*arguments, keywords.pop(name))
        return function(*arguments, **keywords)

    unchecked = getattr(function, "unchecked", None)
    if unchecked is not None:
        cast(Any, run).unchecked = takes_names_of(numpys, unchecked)
    return cast(F, run)


@cache
def _names_by_position(numpys: Any, function: Callable[..., Any]) -> tuple[str, ...]:
    """Return NumPy's names of the parameters that are positional-only in a function."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(parameter.kind is parameter.POSITIONAL_ONLY for parameter in parameters)
    if numpys is np.arange:  # whose first parameter has two meanings, and the name of one of them
        return ("start",)
    try:
        return tuple(inspect.signature(numpys).parameters)[:count]
    except ValueError:  # some functions of NumPy have no signature
        return ()


def checked_shape(shape: Any, dtype: DType) -> Shape:
    """Return a shape argument as a tuple.

    Raises
    ------
    ValueError
        If an array of this shape would be larger than the address space.
    """
    extents = resolve_shape(shape)
    check_nbytes(extents, dtype)
    return extents


def check_nbytes(shape: Shape, dtype: DType) -> None:
    """Raise ValueError, as NumPy does, if an array of ``shape`` would be larger than the address space."""
    nbytes = dtype.itemsize
    for extent in shape:
        nbytes *= extent or 1
    if nbytes > _LARGEST and 0 not in shape:
        raise ValueError(
            f"array is too big; an array of shape {shape} and dtype {dtype.name} takes {nbytes} bytes, and the largest "
            f"possible size is {_LARGEST}"
        )


#: The default in NumPy's signatures of arguments that were not given.
NOT_GIVEN: Final[Any] = np._NoValue


def value_or(value: Any, default: Any) -> Any:
    """Return an argument, or a default if it was not given."""
    return default if value is NOT_GIVEN else value


def gpu_arrays(value: Any) -> Iterator[GpuArray]:
    """Iterate over the arrays of this package in a value, and in lists, tuples and dictionaries inside it."""
    if isinstance(value, GpuArray):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from gpu_arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from gpu_arrays(item)


def device_among(*values: Any) -> Device:
    """Return the common device of the arrays in ``values``, or the default device if there is no array.

    Raises
    ------
    DeviceMismatchError
        If arrays are pinned to different devices.
    """
    return device_of(*gpu_arrays(values)) or default_device()


def as_elements(value: Any, like: GpuArray) -> GpuArray:
    """Convert a value as in an assignment to elements of ``like``: Python numbers must fit its dtype."""
    return wrap(*assigned_node(value, like.dtype, like.device))


def as_choices(values: Iterable[Any], *, wraps: bool = False) -> list[GpuArray]:
    """Convert values to arrays of their common dtype. Python numbers are weakly typed.

    Integers that an integer dtype cannot hold wrap around if ``wraps`` is set, and raise an error otherwise.
    """
    choices = list(values)
    device = device_of(*choices) or default_device()
    choices = [value if type(value) in (int, float, complex) else as_array(value, device) for value in choices]
    kind = np.result_type(*(value.dtype if isinstance(value, GpuArray) else value for value in choices))
    if wraps and kind.kind in "iu":
        choices = [as_array(value, device) for value in choices]
    return [
        value.astype(kind, copy=False) if isinstance(value, GpuArray) else make(as_node(value, kind), device)
        for value in choices
    ]


def concatenated(arrays: Iterable[GpuArray], axis: int, dtype: Any = None) -> GpuArray:
    """Concatenate arrays along ``axis``, in their common dtype or in ``dtype``."""
    parts = list(arrays)
    common = dtypes.promote(*(a.dtype for a in parts)) if dtype is None else dtypes.canonical(dtype)
    nodes = [build.cast(a.node(), common) for a in parts]
    return result(build.concat(nodes, axis), *parts)


def numbers(*values: GpuArray) -> list[Any]:
    """Read 0-d arrays together, as Python numbers."""
    return concatenated([value.reshape(1) for value in values], 0).tolist()


def read(value: Any) -> np.ndarray[Any, Any]:
    """Read a value that determines what is recorded, such as positions, as a NumPy array."""
    return value.get() if isinstance(value, GpuArray) else np.asarray(value)


def constant(x: GpuArray) -> GpuArray:
    """Return an array without a derivative, whose values may be read while a function is differentiated."""
    return cast(GpuArray, tape.state.with_rule(x, (), lambda _ct: ())) if tape.varying(x.node()) else x


def along(axis: int, key: Any) -> tuple[Any, ...]:
    """Return the index with ``key`` at ``axis`` (not negative) and full slices before it."""
    return (slice(None),) * axis + (key,)


def check_cast(source: DType, target: DType, casting: Any = "safe") -> None:
    """Raise TypeError, as NumPy does, if elements of one dtype are not converted to another by a casting rule."""
    if not np.can_cast(source, target, casting):
        raise TypeError(f"Cannot cast array data from {source!r} to {target!r} according to the rule {casting!r}")


def line_axis(x: ArrayLike, axis: Any) -> tuple[GpuArray, int]:
    """Return an array and the number of one of its axes; for the axis None, return its elements in C order, and 0."""
    array = as_array(x)
    return (array.reshape(-1), 0) if axis is None else (array, normalize_axis(axis, array.ndim))


def at_least_one_axis(x: ArrayLike) -> GpuArray:
    """Return an array with at least one axis; a number becomes an array of one element."""
    array = as_array(x)
    return array if array.ndim else array.reshape(1)


def check_out(shape: Shape, out: Any) -> None:
    """Check that a result of ``shape`` broadcasts to the shape of ``out``.

    Raises
    ------
    ValueError
        If it does not.
    """
    if out.shape != shape and broadcast_shapes(shape, out.shape) != out.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {shape}"
        )


def write_out(value: GpuArray, out: Any, casting: Any = "same_kind") -> GpuArray:
    """Return ``value``, or ``out`` with the value written to it.

    Parameters
    ----------
    value : GpuArray
        The result of a function.
    out : GpuArray, ndarray, tuple of one of them, or None
        Where to write it; None returns ``value`` itself.
    casting : str
        NumPy's casting rule for the conversion to the dtype of ``out``.

    Raises
    ------
    TypeError
        If ``out`` is not an array, or ``casting`` forbids the conversion to its dtype.
    ValueError
        If the shapes differ.
    """
    if out is None:
        return value
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if not isinstance(out, GpuArray | np.ndarray):
        raise TypeError(f"return arrays must be of ArrayType, not {type(out).__name__}")
    if tuple(out.shape) != value.shape:
        raise ValueError(
            f"output array does not match the result: its shape is {out.shape}, the result's {value.shape}"
        )
    if not np.can_cast(value.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast output from {value.dtype!r} to {out.dtype!r} with casting rule {casting!r}; give an out of a "
            "wider dtype, or convert the result with astype"
        )
    if isinstance(out, GpuArray):
        out[...] = value
    else:
        np.copyto(out, value.get(), casting="unsafe")
    return cast(GpuArray, out)
