"""Functions that repeat, roll, delete and insert elements."""

from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex

import numpy as np

from gpuarray.array import GpuArray, wrap
from gpuarray.functions.arguments import (
    ArrayLike,
    Axis,
    along,
    as_array,
    as_elements,
    at_least_one_axis,
    check_nbytes,
    line_axis,
    read,
    result,
)
from gpuarray.functions.at_once import UNSHARED
from gpuarray.functions.creation import zeros
from gpuarray.functions.joining import concat
from gpuarray.functions.manipulation import moveaxis
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous, slice_axis
from gpuarray.graph.shapes import listed, normalize_axis, resolve_shape

__all__ = ["delete", "insert", "repeat", "resize", "roll", "tile"]


@native("roll", at_once="elements")
def roll(x: ArrayLike, /, shift: SupportsIndex | Sequence[SupportsIndex], axis: Axis = None) -> GpuArray:
    """Shift elements along axes; elements beyond the end are inserted at the start.

    Parameters
    ----------
    x : array_like
        Any array.
    shift : int or tuple of int
        Number of positions, one for each axis or one for all.
    axis : int, tuple of int or None
        The axes; None shifts the flattened elements and restores the shape.

    Raises
    ------
    ValueError
        If the numbers of shifts and axes differ.
    """
    array = as_array(x)
    if axis is None:
        return roll(array.reshape(-1), shift, 0).reshape(array.shape)
    axes = [normalize_axis(a, array.ndim) for a in listed(axis)]
    shifts = [index(s) for s in listed(shift)]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    node = source = array.node()
    for number, distances in zip(
        axes * (len(shifts) if len(axes) == 1 else 1), shifts * (len(axes) if len(shifts) == 1 else 1), strict=True
    ):
        extent = node.shape[number]
        cut = -distances % extent if extent else 0
        if cut:
            whole = contiguous(node.shape)
            parts = (slice_axis(whole, number, cut, 1, extent - cut), slice_axis(whole, number, 0, 1, cut))
            node = build.concat([build.view(node, layout) for layout in parts], number)
    return array.copy() if node is source else result(node, array)


def _of_integers(x: Any, repeats: Any, axis: Any = None) -> Any:
    if np.asarray(repeats).dtype.kind not in "biu":
        raise NotImplementedError  # NumPy truncates a number
    return np.repeat(x, repeats, axis)


@native("repeat", at_once="repetitions", call=_of_integers)
def repeat(x: ArrayLike, repeats: Any, /, axis: int | None = None) -> GpuArray:
    """Repeat each element along an axis.

    Parameters
    ----------
    x : array_like
        Any array.
    repeats : int or array_like of int
        Number of repetitions, for all elements or for each one along the axis. It is read, because it determines the
        shape.
    axis : int, optional
        The axis; by default the array is flattened.

    Raises
    ------
    ValueError
        If a count is negative, or there are not as many counts as positions.
    """
    array, number = line_axis(at_least_one_axis(x), axis)
    counts = np.asarray(repeats, np.int64 if isinstance(repeats, list) and not repeats else None)
    if counts.dtype.kind not in "iub":
        raise TypeError(f"repeats are integers, not of dtype {counts.dtype}")
    if counts.size and counts.min() < 0:
        raise ValueError("repeats may not contain negative values.")
    if counts.size == 1:
        return _repeat_all(array, int(counts.reshape(-1)[0]), number)
    if counts.shape != (array.shape[number],):
        raise ValueError(f"operands could not be broadcast together with shape ({array.shape[number]},) {counts.shape}")
    positions = np.repeat(np.arange(array.shape[number]), counts)
    return array[(slice(None),) * number + (positions,)]


def _repeat_all(array: GpuArray, count: int, axis: int) -> GpuArray:
    shape = array.shape
    wide = array.reshape((*shape[: axis + 1], 1, *shape[axis + 1 :]))
    spread = wide.broadcast((*shape[: axis + 1], count, *shape[axis + 1 :]))
    extents = (*shape[:axis], shape[axis] * count, *shape[axis + 1 :])
    check_nbytes(extents, array.dtype)
    return wrap(build.reshape(spread.node(), extents), array.device)


@native("tile", at_once="multiples")
def tile(x: ArrayLike, repetitions: Any, /) -> GpuArray:
    """Repeat an array ``repetitions[k]`` times along axis ``k``.

    Raises
    ------
    ValueError
        If a count is negative.
    """
    array = as_array(x)
    counts = tuple(index(r) for r in listed(repetitions))
    if any(count < 0 for count in counts):
        raise ValueError(f"repetitions cannot be negative: {counts}")
    ndim = max(array.ndim, len(counts))
    shape = (1,) * (ndim - array.ndim) + array.shape
    counts = (1,) * (ndim - len(counts)) + counts
    spread = array.reshape(tuple(extent for n in shape for extent in (1, n)))
    spread = spread.broadcast(tuple(extent for n, c in zip(shape, counts, strict=True) for extent in (c, n)))
    extents = tuple(n * c for n, c in zip(shape, counts, strict=True))
    check_nbytes(extents, array.dtype)
    return wrap(build.reshape(spread.node(), extents), array.device)


@implements("resize", at_once="sizes")
def resize(a: Any, new_shape: Any) -> GpuArray:
    """Return an array of the given shape, filled with repetitions of the input."""
    flat = as_array(a).reshape(-1)
    shape = resolve_shape(new_shape)
    size = int(np.prod(shape, dtype=np.int64))
    if flat.size == 0:
        return zeros(shape, flat.dtype, device=flat.device)
    return tile(flat, -(-size // flat.size))[:size].reshape(shape)


@implements("delete", at_once="sums", most=UNSHARED)
def delete(arr: Any, obj: Any, axis: Any = None) -> GpuArray:
    """Return an array without some of its slices along an axis."""
    source, number = line_axis(arr, axis)
    extent = source.shape[number]
    if type(obj) is int and -extent <= obj < extent:
        position = obj % extent
        return concat(
            [source[along(number, slice(position))], source[along(number, slice(position + 1, None))]], number
        )
    # NumPy accepts an empty list, but not an empty array of floating numbers
    positions: Any = obj if isinstance(obj, slice | int) or (isinstance(obj, list) and not obj) else read(obj)
    return source[along(number, np.delete(np.arange(extent), positions))]


@implements("insert", at_once="sums", most=UNSHARED)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> GpuArray:
    """Return an array with values inserted before given indices along an axis."""
    source, number = line_axis(arr, axis)
    extent = source.shape[number]
    positions = _inserted_positions(obj, extent, number)
    new = as_elements(values, source)
    if positions.size == 1:
        new = new.reshape((1,) * (source.ndim - new.ndim) + new.shape)
        if not positions.ndim:
            new = moveaxis(new, 0, number)
        count = new.shape[number]
        position = positions.item()
        cuts = [source[along(number, slice(None, position))], source[along(number, slice(position, None))]]
        shape = tuple(count if a == number else n for a, n in enumerate(source.shape))
        return concat([cuts[0], new.broadcast(shape), cuts[1]], number)
    count = positions.size
    shape = tuple(count if a == number else n for a, n in enumerate(source.shape))
    both = concat([source, new.broadcast(shape)], number)
    return both[along(number, np.insert(np.arange(extent), positions, np.arange(extent, extent + count)))]


def _inserted_positions(obj: Any, extent: int, axis: int) -> Any:
    """Return the positions before which elements are inserted, not negative."""
    positions = np.arange(*obj.indices(extent)) if isinstance(obj, slice) else read(obj)
    if positions.dtype == bool:
        if positions.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        positions = np.flatnonzero(positions)
    elif positions.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if not positions.size and not isinstance(obj, np.ndarray | GpuArray):
        return positions.astype(np.intp)  # an empty list has no dtype
    if positions.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    outside = positions[(positions < -extent) | (positions > extent)]
    if outside.size:
        raise IndexError(f"index {outside.flat[0]} is out of bounds for axis {axis} with size {extent}")
    return np.where(positions < 0, positions + extent, positions)
