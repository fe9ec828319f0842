"""Searching functions: positions of extremes and of non-zero elements, and searches in sorted arrays."""

from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, compaction, make, weak_node, wrap
from gpuarray.functions.arguments import (
    ArrayLike,
    Axis,
    as_array,
    as_arrays,
    result,
    standard_function,
    value_or,
)
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.reductions import axes_of, write_reduced
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import calls, reductions
from gpuarray.ops import elementwise as ops

__all__ = ["argmax", "argmin", "argwhere", "count_nonzero", "flatnonzero", "nonzero", "searchsorted"]


def _position(op: Any, x: ArrayLike, axis: int | None, out: Any, keepdims: Any) -> GpuArray:
    array = as_array(x)
    number = None if axis is None else index(axis)
    if not array.ndim and number in (0, -1):
        number = None
    if not array.size and (number is None or array.shape[normalize_axis(number, array.ndim)] == 0):
        raise ValueError(f"attempt to get {op.name} of an empty sequence")
    node = build.reduce(op, array.node(), number, None, bool(value_or(keepdims, False)))
    if out is not None and out.shape == node.shape and not np.can_cast(out.dtype, node.dtype, "safe"):
        raise TypeError(f"positions are int64, and cannot be put into an array of dtype {out.dtype}")
    return write_reduced(op.name, wrap(node, array.device), out)


@native("argmax", at_once="elements", most=QUICK)
@standard_function
def argmax(x: ArrayLike, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> GpuArray:
    """Return the indices of the first maxima along an axis, or of the first NaN.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int, optional
        The axis; by default the index is that in the flattened array.
    out : GpuArray or ndarray, optional
        Array for the result.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.

    Returns
    -------
    GpuArray
        Of dtype int64.

    Raises
    ------
    ValueError
        If there are no elements.
    """
    return _position(reductions.argmax, x, axis, out, keepdims)


@native("argmin", at_once="elements", most=QUICK)
@standard_function
def argmin(x: ArrayLike, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> GpuArray:
    """Return the indices of the first minima along an axis. See :func:`argmax` for the parameters."""
    return _position(reductions.argmin, x, axis, out, keepdims)


def _truth(array: GpuArray) -> Node:
    return array.node() if array.dtype == dtypes.bool_ else build.elementwise(ops.not_equal, array.node(), 0)


@native("count_nonzero", at_once="elements", most=QUICK)
def count_nonzero(x: ArrayLike, /, axis: Axis = None, *, keepdims: bool = False) -> GpuArray:
    """Return the number of non-zero elements along axes, as int64."""
    array = as_array(x)
    return wrap(
        build.reduce(reductions.sum, _truth(array), axes_of(axis, array.ndim), dtypes.int64, keepdims), array.device
    )


@native("nonzero", at_once="elements", most=QUICK)
def nonzero(x: ArrayLike, /) -> tuple[GpuArray, ...]:
    """Return the indices of the non-zero elements in C order, as one int64 array per axis.

    Their number is downloaded, because it determines the shape of the result.

    Raises
    ------
    ValueError
        If the array has no axis.
    """
    array = as_array(x)
    if not array.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    selection = compaction(_truth(array), array.device)
    return tuple(make(positions, array.device) for positions in selection.nonzero())


@native("flatnonzero", at_once="elements", most=QUICK)
def flatnonzero(x: ArrayLike, /) -> GpuArray:
    """Return the flat indices of the non-zero elements in C order, as int64."""
    array = as_array(x)
    return make(compaction(_truth(array), array.device).positions(), array.device)


@native("argwhere", at_once="elements")
def argwhere(x: ArrayLike, /) -> GpuArray:
    """Return the indices of the non-zero elements, as one int64 row per element."""
    array = as_array(x)
    selection = compaction(_truth(array), array.device)
    if not array.ndim:
        return make(build.full((selection.count, 0), 0, dtypes.int64), array.device)
    columns = [build.reshape(positions, (selection.count, 1)) for positions in selection.nonzero()]
    return make(build.concat(columns, 1), array.device)


def _sought(value: Any, line: GpuArray, side: str) -> GpuArray:
    """Convert a Python scalar to the dtype of a line, if its position in the line stays the same."""
    if type(value) is int and line.dtype.kind in "iu":
        limits = np.iinfo(line.dtype)
        if not limits.min <= value <= limits.max:
            return as_array(value, line.device)
    elif type(value) is float and line.dtype.kind == "f":
        # the next number of the dtype on the searched side has the same position
        with np.errstate(over="ignore"):
            near = line.dtype.type(value)
        if float(near) < value if side == "left" else float(near) > value:
            near = np.nextafter(near, line.dtype.type(np.inf if side == "left" else -np.inf))
        return wrap(build.full((), near, line.dtype), line.device)
    return wrap(weak_node(value, dtypes.canonical(np.result_type(line.dtype, value))), line.device)


@native("searchsorted", at_once="sums")
@standard_function
def searchsorted(x1: ArrayLike, x2: ArrayLike, /, side: str = "left", sorter: ArrayLike | None = None) -> GpuArray:
    """Return the indices at which elements can be inserted into a sorted array to keep it sorted.

    Parameters
    ----------
    x1 : array_like
        Array of one axis, in ascending order, or in the order of ``sorter``. If it is not, positions have no
        meaning, and those on GPUs may differ from NumPy's.
    x2 : array_like
        Values to insert. A Python scalar is compared exactly and does not promote.
    side : {"left", "right"}
        Whether to insert before or after equal elements.
    sorter : array_like of int, optional
        Indices that sort ``x1``.

    Returns
    -------
    GpuArray
        Of the shape of ``x2`` and dtype int64.

    Raises
    ------
    ValueError
        If ``x1`` does not have one axis, ``sorter`` has another length, or ``side`` is invalid.
    TypeError
        If ``sorter`` are no integers of one axis.
    """
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    if isinstance(x2, np.generic) or not isinstance(x2, bool | int | float | complex):
        line, values = as_arrays(x1, x2)
    else:
        line = as_array(x1)
        values = _sought(x2, line, side)
    if line.ndim != 1:
        raise ValueError(f"the sorted array must have one axis, not {line.ndim}")
    if sorter is not None:
        order = as_array(sorter)
        if order.ndim != 1 or order.dtype.kind not in "iu":
            raise TypeError(f"sorter must be integers of one axis, not {order.dtype} of {order.ndim} axes")
        if order.shape != line.shape:
            raise ValueError(f"sorter has shape {order.shape}; it must have that of the sorted array, {line.shape}")
        line = line[order]
    common = dtypes.promote(line.dtype, values.dtype)
    operands = [build.cast(x.node(), common) for x in (line, values)]
    node = build.call_one(calls.searchsorted, operands, values.shape, dtypes.int64, side=side)
    return result(node, line, values)
