"""Indexing functions."""

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions.arguments import ArrayLike, as_array, as_arrays, write_out
from gpuarray.graph import build
from gpuarray.ops import elementwise as rows
from gpuarray.ops import generators


def take(
    x: ArrayLike, indices: ArrayLike, /, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> GpuArray:
    """Return the elements at indices along an axis.

    Parameters
    ----------
    x : array_like
        Any array.
    indices : array_like of int
        Indices; negative ones count from the end.
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
        If an index is out of range, or the indices are not integers.
    """
    array = as_array(x)
    if axis is None:
        array, axis = array.reshape(-1), 0
    number = build.normalize_axis(axis, array.ndim)
    positions = as_array(indices, array.device)
    if not positions.size and not isinstance(indices, GpuArray | np.ndarray):
        positions = positions.astype(dtypes.int64)
    if positions.dtype.kind not in "iu":
        raise TypeError(f"indices are integers, not of dtype {positions.dtype.name}; convert with astype")
    if mode != "raise":
        positions = _into_range(positions, array.shape[number], mode)
    if not array.shape[number] and positions.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return write_out(array[(slice(None),) * number + (positions,)], out)


def _into_range(positions: GpuArray, extent: int, mode: str) -> GpuArray:
    if mode == "wrap":
        return wrap(build.elementwise(rows.remainder, positions.node(), extent), positions.device)
    if mode == "clip":
        low = build.elementwise(rows.maximum, positions.node(), 0)
        return wrap(build.elementwise(rows.minimum, low, extent - 1), positions.device)
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


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
    if axis is None:
        array, axis = array.reshape(-1), 0
    number = build.normalize_axis(axis, array.ndim)
    if positions.ndim != array.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if positions.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    key: list[Any] = []
    for place, extent in enumerate(array.shape):
        if place == number:
            key.append(positions)
            continue
        line = build.generate(generators.arange, (0, 1), (extent,), dtypes.int64)
        shape = tuple(extent if a == place else 1 for a in range(array.ndim))
        key.append(wrap(build.reshape(line, shape), array.device))
    return array[tuple(key)]
