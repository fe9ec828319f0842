"""The parts of an array with each label, for the host: where they are, and what a function computes of each."""

from operator import index
from typing import Any, Final

import numpy as np
from scipy import ndimage

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions.arguments import as_array, elements_at, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._mirror import by_name

__all__ = ["find_objects", "labeled_comprehension", "value_indices"]

_OTHER: Final = "arrays of Python objects, and indices of several axes, are for the host"


@by_name(ndimage.find_objects, kind=COMPOSED)
def find_objects(a: Any) -> list[Any]:
    """Return for each label the slices of the smallest box that has all of its elements; None for those without any."""
    source = as_array(a.input)
    ndim, shape = source.ndim, source.shape or (1,)
    if source.dtype.kind == "c":
        ndimage.find_objects(np.zeros(1, source.dtype))  # raises SciPy's error
    count = index(a.max_label if a.max_label >= 1 else source.max().get()[()])
    if count < 1:
        return []
    labels = source.astype(np.int64).reshape(-1)
    group = xp.where((labels > 0) & (labels <= count), labels, 0).astype(np.int32).node()
    ends = []
    for axis, extent in enumerate(shape):
        line = xp.arange(extent, dtype=np.int32, device=source.device)
        indices = xp.broadcast_to(line.reshape([-1 if axis == a else 1 for a in range(len(shape))]), shape)
        for combine, start in ((ops.minimum, extent), (ops.maximum, -1)):
            none = build.full((count + 1,), start, dtypes.int32)
            node = build.scatter_combined(combine, none, indices.reshape(-1).node(), group)
            ends.append(make(node, source.device))
    boxes = read(xp.stack(ends, 1))[1:].reshape(count, len(shape), 2).tolist()
    return [None if box[0][1] < 0 else tuple(slice(first, last + 1) for first, last in box[:ndim]) for box in boxes]


@by_name(ndimage.value_indices, kind=COMPOSED)
def value_indices(a: Any) -> dict[Any, tuple[GpuArray, ...]]:
    """Return for each value of an array of integers, in rising order, the indices of its elements."""
    source = as_array(a.arr)
    ndimage.value_indices(np.zeros(1, source.dtype), ignore_value=a.ignore_value)  # raises SciPy's errors
    line = source.reshape(-1)
    order = xp.argsort(line, stable=True)
    indices = xp.unravel_index(order, source.shape) if source.ndim else ()
    values, counts = (read(array) for array in xp.unique(line, return_counts=True))
    ends = counts.cumsum()
    ignored = None if a.ignore_value is None else source.dtype.type(a.ignore_value)
    return {
        value: tuple(position[end - count : end] for position in indices)
        for value, count, end in zip(values, counts, ends, strict=True)
        if ignored is None or value != ignored
    }


@by_name(ndimage.labeled_comprehension, kind=COMPOSED, reason=_OTHER)
def labeled_comprehension(a: Any) -> Any:
    """Return the results of a function for the elements with each label: it gets arrays of this package."""
    source = as_array(a.input)
    arrays = [source]
    if a.pass_positions:
        arrays.append(xp.arange(source.size, dtype=np.int64, device=source.device).reshape(source.shape))
    if a.labels is None:
        if a.index is not None:
            raise ValueError("index without defined labels")
        return a.func(*(array.reshape(-1) for array in arrays))
    labels = as_array(a.labels, source.device)
    try:
        *arrays, labels = xp.broadcast_arrays(*arrays, labels)
    except ValueError as error:
        raise ValueError("input and labels must have the same shape (excepting dimensions with width 1)") from error
    if a.index is None:
        return a.func(*(array[labels > 0] for array in arrays))
    indices = np.atleast_1d(read(a.index))
    if indices.ndim > 1 or not dtypes.is_supported(np.dtype(a.out_dtype)):
        return run_counted(ndimage.labeled_comprehension, _OTHER, (), vars(a))
    if np.any(indices.astype(labels.dtype).astype(indices.dtype) != indices):
        raise ValueError(
            f"Cannot convert index values from <{indices.dtype}> to <{labels.dtype}> (labels' type) without loss of "
            "precision"
        )
    indices = indices.astype(labels.dtype)
    indices.min()  # raises the error of no index
    line = labels.reshape(-1)
    order = xp.argsort(line, stable=True)
    arrays = [elements_at(array.reshape(-1), order) for array in arrays]
    ends = [xp.searchsorted(elements_at(line, order), indices, side=side) for side in ("left", "right")]
    results = [
        a.func(*(array[first:last] for array in arrays)) if last > first else a.default
        for first, last in read(xp.stack(ends, 1)).tolist()
    ]
    parts = [as_array(array, source.device).astype(a.out_dtype).reshape(()) for array in results]
    return parts[0] if np.isscalar(a.index) else xp.stack(parts)
