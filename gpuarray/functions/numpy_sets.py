"""NumPy's set functions: those of the namespace, and compositions of sorting, neighbours that differ, and masks."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from math import prod
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, compaction, wrap
from gpuarray.functions import creation, sets, sorting
from gpuarray.functions.arguments import along, as_array, as_arrays, concatenated
from gpuarray.functions.numpy_manipulation import moveaxis
from gpuarray.functions.numpy_sorting import lexsort
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build

native("unique_all")(sets.unique_all)
native("unique_counts")(sets.unique_counts)
native("unique_inverse")(sets.unique_inverse)


@native("unique_values")
def unique_values(x: Any) -> GpuArray:
    return sets.unique_values(x)


@implements("unique")
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    array = as_array(ar)
    if axis is not None:
        number = build.normalize_axis(axis, array.ndim)
    if axis is None or array.ndim == 1:
        found = sets.runs(array, positions=return_index or return_inverse, equal_nan=equal_nan)
        results = [found.values()]
    else:
        lines = moveaxis(array, number, 0)
        found = _runs_of_rows(lines.reshape(lines.shape[0], prod(lines.shape[1:])))
        results = [array[along(number, found.values())]]
    if return_index:
        results.append(found.indices())
    if return_inverse:
        results.append(found.inverse_indices())
    if return_counts:
        results.append(found.counts())
    return tuple(results) if len(results) > 1 else results[0]


def _runs_of_rows(table: GpuArray) -> sets.Runs:
    """Return the runs of equal rows of a matrix, whose values are the positions of their first rows."""
    count, columns = table.shape
    number = creation.arange(count, dtype=dtypes.int64, device=table.device)
    if not columns or not count:
        order, begins = number, number == 0
    else:
        order = lexsort([table[:, k] for k in range(columns - 1, -1, -1)])
        ordered = table[order]
        differ: Any = np.any(ordered[1:] != ordered[:-1], axis=1)
        begins = concatenated([number[:1] == 0, differ], 0)
    first = compaction(begins.node(), table.device, [order.node()])
    return sets.Runs(number, order.node(), order.node(), first)


@implements("isin")
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> GpuArray:
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    first, second = as_arrays(element, test_elements)
    return sets.isin(first, second, invert=invert)


@implements("in1d")
def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> GpuArray:
    return isin(as_array(ar1).reshape(-1), ar2, assume_unique, invert, kind=kind)


def _lines(*arrays: Any) -> list[GpuArray]:
    return [array.reshape(-1) for array in as_arrays(*arrays)]


def _at(array: GpuArray, positions: GpuArray) -> GpuArray:
    """Return elements at positions that are known to be in range."""
    return wrap(build.gather(array.node(), positions.node()), array.device)


@implements("intersect1d")
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    lines = _lines(ar1, ar2)
    begins: list[GpuArray] = []
    if not assume_unique:
        found = [sets.runs(line, positions=return_indices, equal_nan=True) for line in lines]
        lines = [line.values() for line in found]
        begins = [line.indices() for line in found] if return_indices else []
    both = concatenated(lines, 0)
    order = sorting.argsort(both)
    ordered = _at(both, order)
    twice = ordered[1:] == ordered[:-1]
    common = ordered[:-1][twice]
    if not return_indices:
        return common
    positions = [order[:-1][twice], order[1:][twice] - lines[0].size]
    return (common, *(map(_at, begins, positions) if begins else positions))


@implements("union1d")
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(concatenated(_lines(ar1, ar2), 0))


@implements("setdiff1d")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> GpuArray:
    first, second = _lines(ar1, ar2)
    if not assume_unique:
        first = unique(first)
    return first[sets.isin(first, second, invert=True)]


@implements("setxor1d")
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> GpuArray:
    lines = _lines(ar1, ar2)
    ordered = sorting.sort(concatenated(lines if assume_unique else [unique(line) for line in lines], 0))
    if not ordered.size:
        return ordered
    end = as_array(np.ones(1, dtypes.bool_), ordered.device)
    differ = concatenated((end, ordered[1:] != ordered[:-1], end), 0)
    return ordered[differ[1:] & differ[:-1]]
