"""Functions that take or write elements by position or by mask."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, compaction, wrap
from gpuarray.functions import manipulation, matrices, ranges, reductions, searching
from gpuarray.functions.arguments import (
    ArrayLike,
    along,
    as_array,
    as_arrays,
    as_choices,
    as_elements,
    at_least_one_axis,
    check_cast,
    concatenated,
    elements_at,
    line_axis,
    numbers,
    read,
    write_out,
)
from gpuarray.functions.at_once import ANY, UNSHARED
from gpuarray.functions.reductions import mask_node
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import generators

__all__ = [
    "choose", "compress", "copyto", "diagflat", "extract", "fill_diagonal", "place", "put", "put_along_axis",
    "putmask", "take", "take_along_axis", "trace", "trim_zeros",
]  # fmt: skip

# --- taking ---------------------------------------------------------------------------------------------------------


def _as_positions(indices: Any) -> Any:
    """Convert indices to integers. As in NumPy, numbers in lists are truncated, and arrays of them are refused."""
    positions = indices if isinstance(indices, GpuArray) else np.asarray(indices)
    if positions.dtype.kind not in "iu":
        if isinstance(indices, GpuArray | np.ndarray) and positions.dtype.kind != "b":
            check_cast(positions.dtype, dtypes.int64)
        positions = positions.astype(np.intp)
    return positions


def _in_range(positions: Any, extent: int, mode: str) -> Any:
    """Apply ``mode`` to positions that are out of range."""
    if mode == "wrap":
        return positions % extent
    if mode == "clip":
        return np.clip(positions, 0, extent - 1)
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return positions


@native("take", at_once="sums")
def take(
    x: ArrayLike, indices: ArrayLike, /, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> GpuArray:
    """Return the elements at indices along an axis.

    Parameters
    ----------
    x : array_like
        Any array.
    indices : array_like of int
        Indices; negative ones count from the end. Numbers in lists are truncated, as in NumPy.
    axis : int, optional
        The axis; by default indices of the flattened array.
    out : GpuArray or ndarray, optional
        Array for the result.
    mode : {"raise", "wrap", "clip"}
        Handling of indices out of range: raise an error, wrap around, or clip.

    Returns
    -------
    GpuArray
        The shape of ``x`` with the axis replaced by the shape of ``indices``.

    Raises
    ------
    IndexError
        If an index is out of range.
    TypeError
        If the indices are not integers.
    """
    array, number = line_axis(at_least_one_axis(x), axis)
    positions = as_array(_as_positions(indices), array.device)
    before, extent, after = array.shape[:number], array.shape[number], array.shape[number + 1 :]
    if 0 in before:  # NumPy looks at no index
        return write_out(array.reshape((*before, *positions.shape, *after)), out, "unsafe")
    positions = _in_range(positions, extent, mode)
    if not extent and positions.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return write_out(array[along(number, positions)], out, "unsafe")


@native("take_along_axis", at_once="sums")
def take_along_axis(x: ArrayLike, indices: ArrayLike, /, axis: int | None = -1) -> GpuArray:
    """Return the elements at indices along an axis, with separate indices for each 1-d slice.

    Parameters
    ----------
    x : array_like
        Any array.
    indices : array_like of int
        Indices, with as many axes as ``x``; all axes except ``axis`` broadcast.
    axis : int or None
        The axis; None flattens both arrays.

    Returns
    -------
    GpuArray
        Of the broadcast shape, with the extent of ``indices`` along the axis.

    Raises
    ------
    IndexError
        If an index is out of range, or the indices are not integers.
    """
    array, positions = as_arrays(x, indices)
    array, number = line_axis(array, axis)
    return array[_each_line(array, positions, number)]


def _each_line(array: GpuArray, positions: Any, axis: int) -> tuple[Any, ...]:
    """Return the index that has ``positions`` at one axis, and each element's own position at the others."""
    if positions.ndim != array.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if positions.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    key: list[Any] = []
    for source_axis, extent in enumerate(array.shape):
        line = build.generate(generators.arange, (0, 1), (extent,), dtypes.int64)
        shape = tuple(extent if a == source_axis else 1 for a in range(array.ndim))
        key.append(positions if source_axis == axis else wrap(build.reshape(line, shape), array.device))
    return tuple(key)


@implements("compress", at_once="sums")
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> GpuArray:
    """Return the slices along an axis that a condition selects."""
    source, number = line_axis(a, axis)
    return write_out(source[along(number, _mask_of(condition, source.shape[number]))], out)


@implements("extract", at_once="sums", most=UNSHARED)
def extract(condition: Any, arr: Any) -> GpuArray:
    """Return the elements of an array that a condition selects, as a 1-d array."""
    source = as_array(arr).reshape(-1)
    flags = condition if isinstance(condition, GpuArray) else np.asarray(condition)
    return source[_mask_of(flags.reshape(-1), source.size)]


def _mask_of(condition: Any, extent: int) -> Any:
    """Convert a condition to a mask of ``extent`` elements; missing ones are False."""
    flags = condition if isinstance(condition, GpuArray) else np.asarray(condition)
    if flags.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    mask = flags.astype(dtypes.bool_)
    if mask.size > extent:
        if mask[extent:].any().item():
            raise IndexError(f"the condition holds beyond position {extent - 1}, the last of the array's axis")
        return mask[:extent]
    return np.concatenate((mask, np.zeros(extent - mask.size, dtypes.bool_))) if mask.size < extent else mask


@implements("trim_zeros", at_once="views")
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> GpuArray:
    """Return an array without the zeros at its ends."""
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {sides!r}")
    array = as_array(filt)
    axes = range(array.ndim) if axis is None else [normalize_axis(a, array.ndim) for a in np.atleast_1d(axis)]
    if not axes:
        return array
    nonzero = searching.nonzero(array)
    bounds: list[tuple[Any, Any]] = [(0, 0)] * array.ndim
    if nonzero[0].size:
        ends = [end.reshape(1) for line in nonzero for end in (line.min(), line.max() + 1)]
        numbers = iter(concatenated(ends, 0).tolist())
        bounds = [
            (first if "f" in sides else None, stop if "b" in sides else None)
            for first, stop in zip(numbers, numbers, strict=True)
        ]
    key = tuple(slice(*bounds[a]) if a in axes else slice(None) for a in range(array.ndim))
    return array[key]


@implements("choose", at_once="elements")
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> GpuArray:
    """Return elements of the choices, selected by an array of indices."""
    if not len(choices):
        raise ValueError("invalid entry in choice array: there are no choices")
    selector, *options = as_arrays(a, *as_choices(choices, wraps=True))
    check_cast(selector.dtype, dtypes.int64)
    selector, *options = manipulation.broadcast_arrays(selector.astype(dtypes.int64, copy=False), *options)
    count = len(options)
    if mode == "raise" and selector.size:
        lowest, highest = numbers(selector.min(), selector.max())
        if lowest < 0 or highest >= count:
            raise ValueError(f"invalid entry in choice array: {lowest if lowest < 0 else highest} of {count} choices")
    number = _in_range(selector, count, mode)
    lines = concatenated([option.reshape(1, -1) for option in options], 0)
    positions = number.reshape(-1) * selector.size + ranges.arange(
        selector.size, dtype=dtypes.int64, device=lines.device
    )
    chosen = elements_at(lines, positions)
    return write_out(chosen.reshape(selector.shape), out, "unsafe")


# --- diagonals ------------------------------------------------------------------------------------------------------


@native("trace", at_once="elements", call=np.ndarray.trace, most=ANY)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> GpuArray:
    """Return the sum along a diagonal of an array."""
    return reductions.sum(manipulation.diagonal(a, offset, axis1, axis2), -1, dtype, out)


@native("diagflat", at_once="products")
def diagflat(v: Any, k: int = 0) -> GpuArray:
    """Return a 2-d array with the flattened input as a diagonal."""
    return matrices.diag(as_array(v).reshape(-1), k)


# --- writing --------------------------------------------------------------------------------------------------------


def _in_place(function: Callable[..., None]) -> Callable[..., None]:
    """Let NumPy write if the first argument is a NumPy array; the other arguments are read."""
    numpys, target = getattr(np, function.__name__), next(iter(signature(function).parameters))

    @wraps(function)
    def write(*args: Any, **keywords: Any) -> None:
        if isinstance(args[0] if args else keywords[target], GpuArray):
            function(*args, **keywords)
            return
        values = [read(v) if isinstance(v, GpuArray) else v for v in args]
        numpys(*values, **{k: read(v) if isinstance(v, GpuArray) else v for k, v in keywords.items()})

    return write


@native("copyto", at_once="in place")
@_in_place
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Copy values from one array to another, with broadcasting."""
    source = src if isinstance(src, bool | int | float | complex) else as_array(src)
    kind = source.dtype if isinstance(source, GpuArray) else np.min_scalar_type(source)
    weak = not isinstance(source, GpuArray) and np.result_type(dst.dtype, source) == dst.dtype
    if not weak:
        check_cast(kind, dst.dtype, casting)
    where = bool(where) if isinstance(where, int) else where
    if where is True:
        dst[...] = source
        return
    values = as_array(np.asarray(source, dst.dtype) if weak else source).astype(dst.dtype, copy=False)
    dst[...] = np.where(wrap(mask_node(where), dst.device).broadcast(dst.shape), values, dst)


def _safely(values: Any, like: GpuArray) -> GpuArray:
    """Convert values to elements of ``like``. The dtype of an array must fit into that of ``like``."""
    if isinstance(values, GpuArray | np.ndarray) and values.ndim:
        check_cast(values.dtype, like.dtype)
    return as_elements(values, like)


@native("putmask", at_once="in place")
@_in_place
def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """Set the elements that a mask selects to values, which repeat if there are too few."""
    flags = as_array(mask).astype(dtypes.bool_)
    chosen: Any = _safely(values, a)
    if flags.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    a.check_writeable()
    if chosen.size > 1:
        chosen = np.resize(chosen, a.shape)
    if chosen.size:
        a[...] = np.where(flags.reshape(a.shape), chosen.reshape(a.shape if chosen.size > 1 else ()), a)


@implements("place", at_once="in place")
@_in_place
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set the elements that a mask selects to values in order."""
    flags = as_array(mask).astype(dtypes.bool_)
    if flags.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    arr.check_writeable()
    values: Any = _safely(vals, arr).reshape(-1)
    selection = compaction(flags.reshape(arr.shape).node(), arr.device)
    if selection.count and values.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    if selection.count:
        repeated: Any = np.resize(values, (selection.count,))
        arr[...] = wrap(selection.put(arr.node(), repeated.node()), arr.device)


@implements("put", at_once="in place")
@_in_place
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Set the elements at flat indices to values."""
    a.check_writeable()
    positions = _in_range(_as_positions(ind), a.size, mode).reshape(-1)
    if positions.size and np.size(v):
        a.flat[positions] = v


@implements("put_along_axis", at_once="in place")
@_in_place
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Set the elements at indices along an axis to values."""
    positions = indices if isinstance(indices, GpuArray) else np.asarray(indices)
    if axis is None:
        if positions.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        flat = arr.reshape(-1, copy=True)
        flat[_each_line(flat, positions, 0)] = values
        arr[...] = flat.reshape(arr.shape)
    else:
        arr[_each_line(arr, positions, normalize_axis(axis, arr.ndim))] = values


@implements("fill_diagonal", at_once="in place")
@_in_place
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Fill the main diagonal of an array in place."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    # the flat positions are multiples of the distance between the first two
    step = sum(int(n) for n in np.cumprod((1, *a.shape[1:])))
    stop = a.size if wrap or a.ndim > 2 else a.shape[1] * a.shape[1]
    a.flat[:stop:step] = val
