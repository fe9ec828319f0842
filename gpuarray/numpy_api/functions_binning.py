"""NumPy's functions that sort elements into bins: counts are distances between edges in the sorted elements."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.api import creation, searching, sorting
from gpuarray.array import GpuArray
from gpuarray.numpy_api.arguments import as_array, as_arrays, concatenated
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.registry import implements


def _steps(values: GpuArray) -> GpuArray:
    return values[1:] - values[:-1]


def _numbers(*values: GpuArray) -> list[Any]:
    """Return some 0-d arrays as Python numbers, read together."""
    return concatenated([value.reshape(1) for value in values], 0).tolist()  # type: ignore[no-any-return]  # of one axis


@implements("bincount")
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    if weights is not None:
        return on_host(np.bincount, (x, weights, minlength), {}, "weighted bins are added up on the host")
    values = as_array(x)
    if values.ndim != 1:
        raise ValueError(
            f"object of too {'small depth' if not values.ndim else 'deep'} for desired array: bincount "
            f"takes one axis, not {values.ndim}"
        )
    if values.dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {dtypes.int64!r} according to the rule 'safe'"
        )
    size = index(minlength)
    if size < 0:
        raise ValueError("'minlength' must not be negative")
    if not values.size:
        return creation.zeros(size, dtype=dtypes.int64, device=values.device)
    signed = dtypes.promote(values.dtype, dtypes.int8)  # of uint64 it is a float
    ordered = sorting.sort(values.astype(signed if signed.kind == "i" else dtypes.int64, copy=False))
    lowest, highest = _numbers(ordered[0], ordered[-1])
    if lowest < 0:
        raise ValueError("'list' argument must have no negative elements")
    edges = creation.arange(max(size, highest + 1) + 1, dtype=dtypes.int64, device=values.device)
    return _steps(searching.searchsorted(ordered, edges))


@implements("digitize")
def digitize(x: Any, bins: Any, right: bool = False) -> GpuArray:
    values, edges = as_arrays(x, bins)
    if values.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if edges.ndim != 1:
        raise ValueError(f"bins must have one axis, not {edges.ndim}")
    falls, rises = _numbers((edges[1:] < edges[:-1]).any(), (edges[1:] > edges[:-1]).any())
    if falls and rises:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if falls:
        return edges.size - searching.searchsorted(edges[::-1], values, side=side)
    return searching.searchsorted(edges, values, side=side)


def _edges(a: GpuArray, bins: Any, limits: Any) -> GpuArray:
    """Return the edges of bins, which NumPy computes from their number and the extremes of the elements."""
    if isinstance(bins, GpuArray) and bins.ndim:
        if bins.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        if bool((bins[1:] < bins[:-1]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins
    needs_ends = limits is None and np.ndim(bins) == 0 and a.size > 0
    sample = np.asarray(_numbers(a.min(), a.max()) if needs_ends else [], a.dtype)
    count = bins.item() if isinstance(bins, GpuArray) else bins
    return as_array(np.histogram_bin_edges(sample, count, limits), a.device)


@implements("histogram_bin_edges")
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    values = as_array(a)
    if isinstance(bins, str) or values.dtype.kind == "b":
        return on_host(np.histogram_bin_edges, (a, bins, range, weights), {}, "rules for bins are NumPy's")
    return _edges(values.reshape(-1), bins, range)


@implements("histogram")
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    values = as_array(a)
    if isinstance(bins, str) or weights is not None or values.dtype.kind in "bc":
        return on_host(
            np.histogram, (a, bins, range, density, weights), {}, "rules for bins, and weighted bins, are NumPy's"
        )
    line = values.reshape(-1)
    edges = _edges(line, bins, range)
    ordered = sorting.sort(line)
    below = searching.searchsorted(ordered, edges[:-1])
    upto = searching.searchsorted(ordered, edges[-1:], side="right")  # the last bin has both of its edges
    counts = _steps(concatenated((below, upto), 0))
    if density:
        return counts / _steps(edges).astype(dtypes.float64) / counts.sum(), edges
    return counts, edges
