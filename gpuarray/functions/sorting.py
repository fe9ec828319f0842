"""Sorting functions. Every sort is stable."""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.config import strictness
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, as_array
from gpuarray.graph import build, standard
from gpuarray.ops import calls
from gpuarray.ops.spec import CallOp

#: What NumPy checks arguments with that make no difference here.
_NOTHING: Final = np.empty(0)


def _along(row: CallOp, x: GpuArray, axis: int | None, dtype: DType, descending: bool) -> GpuArray:
    """Return a row that puts the last axis in order, along any axis."""
    if strictness.possible:
        standard.require(row.name, x)
    if axis is None:
        x, axis = x.reshape(-1), 0
    number = build.normalize_axis(axis, x.ndim)
    last = x.swapaxes(number, -1)
    node = build.call_one(row, [last.node()], last.shape, dtype, descending=bool(descending))
    return wrap(node, x.device).swapaxes(number, -1)


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
    np.sort(_NOTHING, kind=kind, order=order)
    array = as_array(x)
    return _along(calls.sort, array, axis, array.dtype, descending)


def argsort(
    x: ArrayLike, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False,
    stable: bool | None = True,
) -> GpuArray:  # fmt: skip
    """Return the indices that sort the elements, as int64. See :func:`sort` for the parameters."""
    np.argsort(_NOTHING, kind=kind, order=order)
    return _along(calls.argsort, as_array(x), axis, dtypes.int64, descending)


def partition(x: ArrayLike, kth: ArrayLike, /, *, axis: int = -1) -> GpuArray:
    """Return the elements partitioned around position ``kth``. The whole axis is sorted.

    Parameters
    ----------
    x : array_like
        Numbers.
    kth : int or sequence of int
        Indices; negative ones count from the end.
    axis : int
        The axis.

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
    array = as_array(x)
    _check_positions(array, kth, axis)
    return sort(array, axis=axis)


def argpartition(x: ArrayLike, kth: ArrayLike, /, *, axis: int = -1) -> GpuArray:
    """Return the indices that partition the elements, as int64. See :func:`partition` for the parameters."""
    array = as_array(x)
    _check_positions(array, kth, axis)
    return argsort(array, axis=axis)


def _check_positions(array: GpuArray, kth: ArrayLike, axis: int) -> None:
    extent = array.shape[build.normalize_axis(axis, array.ndim)]
    positions = np.asarray(kth)
    if positions.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if positions.dtype.kind not in "iu" and positions.size:
        raise TypeError(f"Partition index must be integer, not of dtype {positions.dtype}")
    if positions.ndim > 1:
        raise ValueError(f"kth must be an integer or have one axis, not {positions.ndim}")
    for position in positions.ravel() if array.size else ():
        if not -extent <= position < extent:
            raise ValueError(f"kth(={position}) out of bounds ({extent})")
