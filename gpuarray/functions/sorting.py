"""Sorting functions. Every sort is stable."""

from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.array.methods import check_sort
from gpuarray.dtypes import DType
from gpuarray.functions import creation, indexing
from gpuarray.functions.arguments import (
    ArrayLike,
    as_array,
    as_arrays,
    at_least_one_axis,
    line_axis,
    standard_function,
)
from gpuarray.functions.at_once import UNSHARED
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import calls
from gpuarray.ops.spec import CallOp
from gpuarray.runtime.places import is_host_device

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex"]

#: NumPy, which checks arguments that make no difference here; its own types say that they take some values only.
_NUMPY: Final[Any] = np


def _along(op: CallOp, x: GpuArray, axis: int | None, dtype: DType, **parameters: Any) -> GpuArray:
    """Return the result of an operation that orders the last axis, applied along any axis."""
    array, number = line_axis(x, axis)
    is_last = number == array.ndim - 1
    last = array if is_last else array.swapaxes(number, -1)
    ordered = wrap(build.call_one(op, [last.node()], last.shape, dtype, **parameters), x.device)
    # not the view itself: NumPy's result has no base
    return ordered if is_last else wrap(ordered.swapaxes(number, -1).node(), x.device)


def _by_line(op: CallOp, order_of_result: Literal["C", "K"], dtype: DType | None = None) -> Callable[..., Any]:
    """Return a function of NumPy arrays that applies an operation, which orders the last axis, along any axis.

    The result has a dtype, or that of the array.
    """
    into = op.into
    assert into is not None

    def run(
        x: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, descending: bool = False, stable: Any = True
    ) -> Any:
        if kind is not None or order is not None or stable is not True:
            check_sort(kind, order, None if stable is True else stable, None if descending is False else descending)
        is_last = x.ndim > 0 and axis in (-1, x.ndim - 1)
        if axis is None or (is_last and (order_of_result == "C" or x.flags.c_contiguous)):
            return op.numpy(x.reshape(-1) if axis is None else x, descending=bool(descending))
        ordered = np.empty_like(x, dtype or x.dtype, order_of_result)
        into(ordered.swapaxes(axis, -1), x.swapaxes(axis, -1), descending=bool(descending))
        return ordered

    return run


@native("sort", at_once="lines", call=_by_line(calls.sort, "K"))
@standard_function
def sort(
    x: ArrayLike, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False,
    stable: bool | None = True,
) -> GpuArray:  # fmt: skip
    """Return the elements sorted along an axis.

    Parameters
    ----------
    x : array_like
        Numbers. NaN is last, whatever the order; complex numbers are ordered by their real parts, then by their
        imaginary parts.
    axis : int or None
        The axis; None sorts the flattened array.
    kind : str, optional
        Name of one of NumPy's algorithms; all give the same result.
    order : optional
        Accepted for compatibility with NumPy; there are no fields.
    descending : bool
        Whether to sort in descending order.
    stable : bool
        Accepted for compatibility; every sort is stable.

    Returns
    -------
    GpuArray
        Of the dtype of ``x``, and of its shape or of one axis.

    Raises
    ------
    numpy.exceptions.AxisError
        If the axis does not exist.
    ValueError
        If the algorithm is unknown, or ``order`` is given.
    """
    check_sort(kind, order, None if stable is True else stable, None if descending is False else descending)
    array = as_array(x)
    return _along(calls.sort, array, axis, array.dtype, descending=bool(descending))


@native("argsort", at_once="lines", call=_by_line(calls.argsort, "C", dtypes.int64))
@standard_function
def argsort(
    x: ArrayLike, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False,
    stable: bool | None = True,
) -> GpuArray:  # fmt: skip
    """Return the indices that sort the elements, as int64; a number counts as an array of one element.

    See :func:`sort` for the parameters.
    """
    check_sort(kind, order, None if stable is True else stable, None if descending is False else descending)
    return _along(calls.argsort, at_least_one_axis(x), axis, dtypes.int64, descending=bool(descending))


@native("partition", at_once="elements", most=UNSHARED)
def partition(
    x: ArrayLike, kth: ArrayLike, /, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> GpuArray:
    """Return the elements partitioned around position ``kth``. On GPUs the whole axis is sorted.

    Parameters
    ----------
    x : array_like
        Numbers.
    kth : int or sequence of int
        Indices; negative ones count from the end.
    axis : int or None
        The axis; None flattens the array.
    kind : {"introselect"}
        The name of NumPy's algorithm, which has no effect.
    order : optional
        Accepted for compatibility with NumPy; there are no fields.

    Returns
    -------
    GpuArray
        Of the shape and dtype of ``x``.

    Raises
    ------
    TypeError
        If a position is not an integer.
    ValueError
        If a position is out of range.
    """
    _NUMPY.partition(np.empty(1), 0, kind=kind, order=order)
    array, number = line_axis(x, axis)
    positions = _positions(array, kth, number)
    if positions and is_host_device(array.device):
        return _along(calls.partition, array, number, array.dtype, kth=positions)
    return sort(array, axis=number)


@native("argpartition", at_once="elements", most=UNSHARED)
def argpartition(
    x: ArrayLike, kth: ArrayLike, /, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> GpuArray:
    """Return the indices that partition the elements, as int64. See :func:`partition` for the parameters."""
    _NUMPY.argpartition(np.empty(1), 0, kind=kind, order=order)
    array, number = line_axis(at_least_one_axis(x), axis)
    positions = _positions(array, kth, number)
    if positions and is_host_device(array.device):
        return _along(calls.argpartition, array, number, dtypes.int64, kth=positions)
    return argsort(array, axis=number)


def _positions(array: GpuArray, kth: ArrayLike, axis: int) -> tuple[int, ...]:
    """Return the positions to partition around, of which there are none if the array is empty."""
    extent = array.shape[axis]
    positions = np.asarray(kth)
    if positions.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if positions.dtype.kind not in "iu" and positions.size:
        raise TypeError(f"Partition index must be integer, not of dtype {positions.dtype}")
    if positions.ndim > 1:
        raise ValueError(f"kth must be an integer or have one axis, not {positions.ndim}")
    places = tuple(positions.ravel().tolist()) if array.size else ()
    for position in places:
        if not -extent <= position < extent:
            raise ValueError(f"kth(={position}) out of bounds ({extent})")
    return places


@implements("lexsort", at_once="elements")
def lexsort(keys: Any, axis: Any = -1) -> GpuArray:
    """Return the indices that sort by several keys, the last of which is the primary key."""
    if isinstance(keys, GpuArray | np.ndarray) and not keys.ndim:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    columns = as_arrays(*keys)
    if not columns:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(column.shape != columns[0].shape for column in columns):
        raise ValueError("all keys need to be the same shape")
    if not columns[0].ndim:
        if axis not in (0, -1):
            normalize_axis(axis, 0)
        return creation.zeros((), dtype=dtypes.int64, device=columns[0].device)[()]
    order = argsort(columns[0], axis=axis)
    for column in columns[1:]:
        # a stable sort by each later key keeps what the earlier ones decided among its equal elements
        step = argsort(indexing.take_along_axis(column, order, axis), axis=axis)
        order = indexing.take_along_axis(order, step, axis)
    return order


@native("sort_complex", at_once="lines")
def sort_complex(a: Any) -> GpuArray:
    """Return an array sorted by its real parts, then by its imaginary parts."""
    ordered = sort(as_array(a))
    if ordered.dtype.kind == "c":
        return ordered
    single = ordered.dtype.kind in "iu" and ordered.dtype.itemsize <= 2
    return ordered.astype(np.complex64 if single else np.complex128)
