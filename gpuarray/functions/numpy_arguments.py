"""Arguments as NumPy's users give them: made into arrays, and results put where ``out=`` says."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, assigned_node, default_device, device_of, wrap
from gpuarray.device import Device
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape

__all__ = [
    "NOT_GIVEN",
    "along",
    "as_array",
    "as_arrays",
    "as_choices",
    "as_elements",
    "check_out",
    "concatenated",
    "deliver",
    "device_among",
    "gpu_arrays",
    "normalized",
    "numbers",
    "read",
]

#: What NumPy's signatures have for an argument that was not given.
NOT_GIVEN: Final[Any] = np._NoValue


def gpu_arrays(value: Any) -> Iterator[GpuArray]:
    """Iterate over the arrays of this package in arguments, those nested in lists, tuples and dictionaries included."""
    if isinstance(value, GpuArray):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from gpu_arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from gpu_arrays(item)


def device_among(*values: Any) -> Device:
    """Return the device that the arrays among ``values`` share, the default device if there is no array.

    Raises
    ------
    DeviceMismatchError
        If arrays are pinned to different devices.
    """
    return device_of(*gpu_arrays(values)) or default_device()


def as_elements(value: Any, like: GpuArray) -> GpuArray:
    """Return a value as NumPy assigns it to elements of an array: Python's numbers have to fit."""
    return wrap(*assigned_node(value, like.dtype, like.device))


def as_choices(values: Iterable[Any]) -> list[GpuArray]:
    """Return values as arrays of their common dtype, which Python's numbers among them take on."""
    given = list(values)
    arrays = as_arrays(*given)
    pairs = zip(given, arrays, strict=True)
    kind = np.result_type(*(v if type(v) in (int, float, complex) else array.dtype for v, array in pairs))
    return [array.astype(kind, copy=False) for array in arrays]


def concatenated(arrays: Iterable[GpuArray], axis: int, dtype: Any = None) -> GpuArray:
    """Return arrays one after the other along ``axis``, in their common dtype or the one given."""
    parts = list(arrays)
    common = dtypes.promote(*(a.dtype for a in parts)) if dtype is None else dtypes.canonical(dtype)
    nodes = [build.cast(a.node(), common) for a in parts]
    return wrap(build.concat(nodes, axis), device_among(parts))


def numbers(*values: GpuArray) -> list[Any]:
    """Return some 0-d arrays as Python numbers, read together."""
    return concatenated([value.reshape(1) for value in values], 0).tolist()  # type: ignore[no-any-return]  # of one axis


def read(value: Any) -> np.ndarray[Any, Any]:
    """Return what a function has to know before it can go on, such as positions, as a NumPy array."""
    return value.get() if isinstance(value, GpuArray) else np.asarray(value)


def normalized(axis: Any, ndim: int) -> int:
    """Return ``axis`` counted from the front."""
    return build.normalize_axis(axis, ndim)


def along(axis: int, key: Any) -> tuple[Any, ...]:
    """Return the index that applies ``key`` to ``axis`` (not negative) and takes all of the axes before it."""
    return (slice(None),) * axis + (key,)


def check_out(shape: Shape, out: Any) -> None:
    """Check that a result of ``shape`` can be put into ``out``.

    Raises
    ------
    ValueError
        If it broadcasts to another shape.
    """
    if out.shape != shape and build.broadcast_shapes(shape, out.shape) != out.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {shape}"
        )


def deliver(result: GpuArray, out: Any, casting: Any = "same_kind") -> Any:
    """Return ``result``, or ``out`` with the result in it: an array of this package or a NumPy array.

    Raises
    ------
    TypeError
        If ``out`` is no array, or ``casting`` forbids the conversion to its dtype.
    ValueError
        If the shapes differ.
    """
    if out is None:
        return result
    if not isinstance(out, GpuArray | np.ndarray):
        raise TypeError(f"return arrays must be of ArrayType, not {type(out).__name__}")
    if tuple(out.shape) != result.shape:
        raise ValueError(
            f"output array does not match the result: its shape is {out.shape}, the result's {result.shape}"
        )
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"cannot cast output from {result.dtype!r} to {out.dtype!r} with casting rule {casting!r}; give an out of "
            "a wider dtype, or convert the result with astype"
        )
    if isinstance(out, GpuArray):
        out[...] = result
    else:
        np.copyto(out, result.get(), casting="unsafe")
    return out
