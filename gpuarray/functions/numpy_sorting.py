"""NumPy's functions that put elements in order."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.array.methods import check_sort
from gpuarray.functions import creation, indexing, searching, sorting
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build


def _line(a: Any, axis: Any) -> tuple[GpuArray, int]:
    source = as_array(a)
    return (source.reshape(-1), 0) if axis is None else (source, axis)


def _position_line(a: Any, axis: Any) -> tuple[GpuArray, int]:
    """Return an array and an axis where a 0-d array stands for one of one element, as it does for positions."""
    source, number = _line(a, axis)
    return (source if source.ndim else source.reshape(1)), number


@native("sort")
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> Any:
    check_sort(kind, order, stable, descending)
    source, number = _line(a, axis)
    return sorting.sort(source, axis=number, descending=bool(descending))


@native("argsort")
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> Any:
    check_sort(kind, order, stable, descending)
    source, number = _position_line(a, axis)
    return sorting.argsort(source, axis=number, descending=bool(descending))


@native("partition")
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    np.partition(np.empty(1), 0, kind=kind, order=order)
    source, number = _line(a, axis)
    return sorting.partition(source, kth, axis=number)


@native("argpartition")
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    np.argpartition(np.empty(1), 0, kind=kind, order=order)
    source, number = _position_line(a, axis)
    return sorting.argpartition(source, kth, axis=number)


@implements("lexsort")
def lexsort(keys: Any, axis: Any = -1) -> Any:
    if isinstance(keys, GpuArray | np.ndarray) and not keys.ndim:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    columns = as_arrays(*keys)
    if not columns:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(column.shape != columns[0].shape for column in columns):
        raise ValueError("all keys need to be the same shape")
    if not columns[0].ndim:
        if axis not in (0, -1):
            build.normalize_axis(axis, 0)
        return creation.zeros((), dtype=dtypes.int64, device=columns[0].device)
    order = sorting.argsort(columns[0], axis=axis)
    for column in columns[1:]:
        # a stable sort by each later key keeps what the earlier ones decided among its equal elements
        step = sorting.argsort(indexing.take_along_axis(column, order, axis), axis=axis)
        order = indexing.take_along_axis(order, step, axis)
    return order


@native("sort_complex")
def sort_complex(a: Any) -> Any:
    ordered = sorting.sort(as_array(a))
    if ordered.dtype.kind == "c":
        return ordered
    single = ordered.dtype.kind in "iu" and ordered.dtype.itemsize <= 2
    return ordered.astype(np.complex64 if single else np.complex128)


@native("searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return searching.searchsorted(a, v, side=side, sorter=sorter)
