"""NumPy's set functions: those of the namespace, and compositions of sorting, neighbours that differ, and masks."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.api import sets, sorting
from gpuarray.array import GpuArray, wrap
from gpuarray.graph import build
from gpuarray.numpy_api.arguments import as_array, as_arrays, concatenated
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.registry import implements, native

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
    if axis is not None:
        options = {"equal_nan": equal_nan, "axis": axis}
        reason = "elements that are rows are sorted on the host"
        return on_host(np.unique, (ar, return_index, return_inverse, return_counts), options, reason)
    found = sets.runs(as_array(ar), positions=return_index or return_inverse, equal_nan=equal_nan)
    results = [found.values()]
    if return_index:
        results.append(found.indices())
    if return_inverse:
        results.append(found.inverse_indices())
    if return_counts:
        results.append(found.counts())
    return tuple(results) if len(results) > 1 else results[0]


@implements("isin")
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> GpuArray:
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    return sets.isin(*as_arrays(element, test_elements), invert=invert)


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
