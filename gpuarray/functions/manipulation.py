"""Manipulation functions: views if the layout allows, otherwise concatenations and gathers."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.config import strictness
from gpuarray.functions.arguments import (
    ArrayLike,
    Axis,
    DTypeLike,
    as_array,
    as_arrays,
    check_nbytes,
    result,
    write_out,
)
from gpuarray.graph import build, standard
from gpuarray.graph.layouts import Layout, permute
from gpuarray.graph.layouts import flip as flip_layout


def concat(
    arrays: Sequence[ArrayLike], /, axis: int | None = 0, out: Any = None, *, dtype: DTypeLike = None,
    casting: Any = "same_kind",
) -> GpuArray:  # fmt: skip
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays of equal shape, except along ``axis``.
    axis : int or None
        The axis; None joins the flattened arrays.
    out : GpuArray or ndarray, optional
        Array for the result.
    dtype : dtype, optional
        Dtype of the result; by default the promoted dtype.
    casting : str
        Casting rule for the conversion to ``dtype``.

    Returns
    -------
    GpuArray
        Of the promoted dtype.

    Raises
    ------
    TypeError
        If the rule forbids casting an array to ``dtype``.
    ValueError
        If there are no arrays, they are 0-d, or the shapes do not match.
    """
    given = as_arrays(*arrays)
    for array in given if dtype is not None else ():
        if not np.can_cast(array.dtype, dtypes.canonical(dtype), casting):
            raise TypeError(
                f"Cannot cast array data from {array.dtype!r} to {np.dtype(dtype)!r} according to the rule {casting!r}"
            )
    if not given:
        raise ValueError("need at least one array to concatenate")
    if strictness.possible:
        standard.require("concat", *given)
    if axis is None:
        given, axis = [array.reshape(-1) for array in given], 0
    if any(not array.ndim for array in given):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    common = dtypes.promote(*(a.dtype for a in given)) if dtype is None else dtypes.canonical(dtype)
    node = build.concat([build.cast(array.node(), common) for array in given], axis)
    check_nbytes(node.shape, node.dtype)
    return write_out(result(node, *given), out)


concatenate = concat


def stack(
    arrays: Sequence[ArrayLike], /, axis: int = 0, out: Any = None, *, dtype: DTypeLike = None,
    casting: Any = "same_kind",
) -> GpuArray:  # fmt: skip
    """Join arrays of equal shape along a new axis. See :func:`concat` for the other parameters.

    Raises
    ------
    ValueError
        If there are no arrays, or their shapes differ.
    """
    given = as_arrays(*arrays)
    if not given:
        raise ValueError("need at least one array to stack")
    if len({array.shape for array in given}) > 1:
        raise ValueError(f"all input arrays must have the same shape, not {sorted({a.shape for a in given})}")
    lines = [expand_dims(array, axis=axis) for array in given]
    return concat(lines, axis=axis, out=out, dtype=dtype, casting=casting)


def expand_dims(x: ArrayLike, /, axis: int | Sequence[int]) -> GpuArray:
    """Return a view with new axes of extent 1 at the given positions of the result.

    Raises
    ------
    numpy.exceptions.AxisError
        If a position is out of range.
    """
    array = as_array(x)
    wanted = build.listed(axis)
    ndim = array.ndim + len(wanted)
    places = build.normalize_axes(wanted, ndim)
    extents = iter(array.shape)
    return array.reshape(tuple(1 if a in places else next(extents) for a in range(ndim)))


def squeeze(x: ArrayLike, /, axis: Axis = None) -> GpuArray:
    """Return a view without axes of extent 1.

    Parameters
    ----------
    x : array_like
        Any array.
    axis : int, tuple of int, optional
        The axes; by default all of extent 1.

    Raises
    ------
    ValueError
        If the extent of an axis is not 1.
    """
    array = as_array(x)
    if axis is None:
        return array.reshape(tuple(n for n in array.shape if n != 1))
    axes = build.normalize_axes(axis, array.ndim)
    if any(array.shape[a] != 1 for a in axes):
        raise ValueError(
            f"cannot select an axis to squeeze out which has size not equal to one: shape {array.shape}, axis {axis}"
        )
    return array.view_of(_without(array._storage_layout(), axes))


def _without(layout: Layout, axes: Sequence[int]) -> Layout:
    kept = [a for a in range(len(layout.shape)) if a not in axes]
    return Layout(tuple(layout.shape[a] for a in kept), tuple(layout.strides[a] for a in kept), layout.offset)


def flip(x: ArrayLike, /, axis: Axis = None) -> GpuArray:
    """Return a view with the order of elements reversed along axes, all of them by default."""
    array = as_array(x)
    return array.view_of(flip_layout(array._storage_layout(), build.normalize_axes(axis, array.ndim)))


def permute_dims(x: ArrayLike, /, axes: Sequence[int] | None = None) -> GpuArray:
    """Return a view with permuted axes; by default their order is reversed.

    Raises
    ------
    ValueError
        If the axes are not a permutation of those of the array.
    """
    array = as_array(x)
    return array.transpose() if axes is None else array.transpose(tuple(axes))


transpose = permute_dims


def moveaxis(x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int], /) -> GpuArray:
    """Return a view with some axes moved to other positions; the others keep their order.

    Raises
    ------
    ValueError
        If there are as many sources as destinations, or one is named twice.
    """
    array = as_array(x)
    sources = normalize_axis_tuple(source, array.ndim, "source")
    places = normalize_axis_tuple(destination, array.ndim, "destination")
    if len(sources) != len(places):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [a for a in range(array.ndim) if a not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return array.transpose(order)


def swapaxes(x: ArrayLike, axis1: int, axis2: int, /) -> GpuArray:
    """Return a view with two axes exchanged."""
    return as_array(x).swapaxes(axis1, axis2)


def normalize_axes(x: GpuArray, *axes: int) -> list[int]:
    """Return axes counted from the front, in the given order."""
    return [build.normalize_axis(axis, x.ndim) for axis in axes]


def reshape(x: ArrayLike, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> GpuArray:
    """Return the elements with another shape: a view if strides allow, otherwise a copy.

    Parameters
    ----------
    x : array_like
        Any array.
    shape : int or tuple of int
        New extents; one may be -1.
    order : {"C", "F", "A"}
        Order in which elements are read and placed.
    copy : bool, optional
        True always copies, False never does.

    Raises
    ------
    ValueError
        If the sizes differ, or ``copy=False`` and a view is not possible.
    """
    return as_array(x).reshape(shape, order=order, copy=copy)


def ravel(x: ArrayLike, /, order: str = "C") -> GpuArray:
    """Return the elements as one axis: a view if the layout allows, otherwise a copy."""
    return as_array(x).ravel(order)


def roll(x: ArrayLike, /, shift: int | Sequence[int], axis: Axis = None) -> GpuArray:
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
    axes = [build.normalize_axis(a, array.ndim) for a in build.listed(axis)]
    shifts = [index(s) for s in build.listed(shift)]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    count = max(len(shifts), len(axes))
    rolled = array
    for number, places in zip(
        axes * (count if len(axes) == 1 else 1), shifts * (count if len(shifts) == 1 else 1), strict=True
    ):
        extent = rolled.shape[number]
        cut = -places % extent if extent else 0
        if cut:
            lead = (slice(None),) * number
            rolled = concat([rolled[(*lead, slice(cut, None))], rolled[(*lead, slice(None, cut))]], axis=number)
    return rolled.copy() if rolled is array else rolled


def repeat(x: ArrayLike, repeats: Any, /, axis: int | None = None) -> GpuArray:
    """Repeat each element along an axis.

    Parameters
    ----------
    x : array_like
        Any array.
    repeats : int or array_like of int
        Number of repetitions, for all elements or for each one along the axis. It is read, as it determines the shape.
    axis : int, optional
        The axis; by default the array is flattened.

    Raises
    ------
    ValueError
        If a count is negative, or there are as many counts as positions.
    """
    array = as_array(x)
    if axis is None:
        array, axis = array.reshape(-1), 0
    number = build.normalize_axis(axis, array.ndim)
    counts = np.asarray(repeats)
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


def tile(x: ArrayLike, repetitions: Any, /) -> GpuArray:
    """Repeat an array ``repetitions[k]`` times along axis ``k``.

    Raises
    ------
    ValueError
        If a count is negative.
    """
    array = as_array(x)
    counts = tuple(index(r) for r in build.listed(repetitions))
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


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[GpuArray, ...]:
    """Return the slices along an axis, as views.

    Raises
    ------
    ValueError
        If the array has no axis.
    """
    array = as_array(x)
    if not array.ndim:
        raise ValueError("an array without axes cannot be unstacked")
    lead = (slice(None),) * build.normalize_axis(axis, array.ndim)
    return tuple(array[(*lead, position)] for position in range(array.shape[len(lead)]))


def diagonal(x: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> GpuArray:
    """Return the diagonal over two axes, as the last axis of a read-only view.

    Raises
    ------
    ValueError
        If there are fewer than two axes.
    """
    array = as_array(x)
    if array.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = normalize_axes(array, axis1, axis2)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    offset = index(offset)
    others = [a for a in range(array.ndim) if a not in (first, second)]
    layout = permute(array._storage_layout(), [*others, first, second])
    (n, m), (down, right) = layout.shape[-2:], layout.strides[-2:]
    extent = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    start = (offset * right if offset >= 0 else -offset * down) if extent else 0
    seen = Layout((*layout.shape[:-2], extent), (*layout.strides[:-2], down + right), layout.offset + start)
    return array.view_of(seen, writeable=False)


def atleast_1d(x: ArrayLike, /) -> GpuArray:
    """Return an array with at least one axis."""
    array = as_array(x)
    return array if array.ndim else array.reshape(1)
