"""NumPy's functions that sort elements into bins.

A kernel finds the bins of elements and counts them. On a GPU the edges may be computed from the extremes without
waiting for these; the host then checks by the extremes that NumPy's edges are the same. With weights, or several axes,
a binary search finds the bins, and a scatter adds the weights in a fixed order.
"""

from math import prod
from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.array.bounds import bounds
from gpuarray.functions import creation, logic, searching
from gpuarray.functions.arguments import as_array, as_arrays, check_cast, concatenated, constant, numbers
from gpuarray.functions.at_once import UNSHARED
from gpuarray.functions.binning_rules import number_of_bins
from gpuarray.functions.registry import implements
from gpuarray.graph import build, tape, tracing
from gpuarray.graph.indexing import INDEX_LIMIT
from gpuarray.ops import calls, generators
from gpuarray.ops import elementwise as ops
from gpuarray.providers import registry
from gpuarray.runtime.evaluate import QUICKLY_SEEN, evaluate, is_host
from gpuarray.source_locations import warn

__all__ = ["bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def _counts_of(positions: GpuArray, number: int) -> GpuArray:
    """Return how often each integer below ``number`` occurs in an array of such integers."""
    if not positions.size or not number:
        return creation.zeros(number, dtype=dtypes.int64, device=positions.device)
    node = build.call_one(calls.bincount, [positions.node()], (number,), dtypes.int64, number=number)
    return make(node, positions.device)


def _in_bins(line: GpuArray, edges: Any) -> GpuArray:
    """Return the number of elements in each bin. The last bin includes its upper edge."""
    number = edges.size - 1
    if not line.size:
        return creation.zeros(number, dtype=dtypes.int64, device=line.device)
    whole = _whole_edges(edges, line.dtype) if isinstance(edges, np.ndarray) else None
    if whole is not None:
        operands = [line.node(), as_array(whole, line.device).node()]
        return make(build.call_one(calls.histogram, operands, (number + 1,), dtypes.int64), line.device)[:-1]
    edges = as_array(edges, line.device)
    common = dtypes.promote(line.dtype, edges.dtype)
    operands = [build.cast(x.node(), common) for x in (line, edges)]
    return make(build.call_one(calls.histogram, operands, (number,), dtypes.int64), line.device)


def _whole_edges(edges: Any, dtype: Any) -> Any:
    """Return int32 edges that separate integers in the same way, with one more bin at the end; None if there are none.

    Integers then need no conversion to float64, which takes more memory and is missing on some devices.
    """
    if dtype.kind not in "iu" or not np.can_cast(dtype, dtypes.int32):
        return None
    whole = np.append(np.ceil(edges), np.floor(edges[-1]) + 1)
    whole[-2] = whole[-1]
    return whole.astype(dtypes.int32) if np.all(np.abs(whole) < INDEX_LIMIT) else None


def _totals(positions: GpuArray, weights: GpuArray, number: int) -> GpuArray:
    """Return the sum of the weights at each integer below ``number``, as float64 or complex128."""
    if weights.dtype.kind == "c":
        real, imaginary = (_totals(positions, part, number) for part in (weights.real, weights.imag))
        return real + imaginary * 1j
    if not positions.size or not number:
        return creation.zeros(number, dtype=dtypes.float64, device=positions.device)
    start = build.full((number,), 0, dtypes.float64)
    node = build.scatter_combined(ops.add, start, build.cast(weights.node(), dtypes.float64), positions.node())
    return make(node, positions.device)


def _counted(positions: GpuArray, weights: GpuArray | None, number: int) -> GpuArray:
    return _counts_of(positions, number) if weights is None else _totals(positions, weights, number)


def _steps(values: GpuArray) -> GpuArray:
    return values[1:] - values[:-1]


@implements("bincount", at_once="sums", most=UNSHARED)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> GpuArray:
    """Count the occurrences of each value in an array of non-negative integers, or sum their weights."""
    values = as_array(x)
    if values.ndim != 1:
        raise ValueError(
            f"object of too {'small depth' if not values.ndim else 'deep'} for desired array: bincount "
            f"takes one axis, not {values.ndim}"
        )
    if values.dtype.kind not in "biu" and (values.size or isinstance(x, GpuArray | np.ndarray)):
        check_cast(values.dtype, dtypes.int64)
    size = index(minlength)
    if size < 0:
        raise ValueError("'minlength' must not be negative")
    scale = None if weights is None else as_array(weights, values.device)
    if scale is not None and scale.shape != values.shape:
        raise ValueError("The weights and list don't have the same length.")
    if scale is not None:
        check_cast(scale.dtype, dtypes.float64)
    if values.size:
        values = values.astype(dtypes.uint8 if values.dtype.kind == "b" else values.dtype, copy=False)
        # a recorded function reads the extremes in every call
        is_recorded = tracing.mode().is_replayed
        ends = numbers(values.min(), values.max()) if is_recorded else bounds(values.node(), values.device)
        lowest, highest = ends
        if lowest < 0:
            raise ValueError("'list' argument must have no negative elements")
        size = max(size, highest + 1)
    return _counted(values, scale, size)


@implements("digitize", at_once="sums")
def digitize(x: Any, bins: Any, right: bool = False) -> GpuArray:
    """Return the indices of the bins to which values belong."""
    values, edges = as_arrays(x, bins)
    if "c" in (values.dtype.kind, edges.dtype.kind):
        raise TypeError("x and bins may not be complex")
    if edges.ndim != 1:
        raise ValueError(f"bins must have one axis, not {edges.ndim}")
    falls, rises = numbers((edges[1:] < edges[:-1]).any(), (edges[1:] > edges[:-1]).any())
    if falls and rises:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if falls:
        return edges.size - searching.searchsorted(edges[::-1], values, side=side)
    return searching.searchsorted(edges, values, side=side)


# --- edges ----------------------------------------------------------------------------------------------------------


def _line(a: Any) -> GpuArray:
    """Flatten an array; booleans become numbers, with NumPy's warning."""
    values = as_array(a).reshape(-1)
    if values.dtype.kind != "b":
        return values
    warn(f"Converting input from bool to {np.uint8} for compatibility.", RuntimeWarning)
    return values.astype(dtypes.uint8)


def _edges(line: GpuArray, bins: Any, limits: Any, weights: Any = None) -> Any:
    """Return the edges of bins: the given ones, or a NumPy array from the number of bins and the extremes."""
    known = constant(line)
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        bins = number_of_bins(bins, known, limits, lambda values, count, ends: histogram(values, count, ends)[0])
    count, edges = _count_or_edges(bins, known)
    if edges is not None:
        return edges
    return _moving(np.histogram_bin_edges(_extremes(known, limits), count, limits), line, limits)


def _edges_along(line: GpuArray, bins: Any, limits: Any) -> GpuArray:
    """Return the edges of bins along one of several axes; their dtype follows ``numpy.histogramdd``."""
    count, edges = _count_or_edges(bins, line)
    if edges is not None:
        return edges
    sample = _extremes(constant(line), limits).reshape(-1, 1)
    host_edges = np.histogramdd(sample, [count], None if limits is None else [limits])[1][0]
    return as_array(_moving(host_edges, line, limits), line.device)


def _moving(edges: np.ndarray[Any, Any], line: GpuArray, limits: Any) -> Any:
    """Return edges of bins, which move with the extremes of a line that is differentiated unless limits are given."""
    if limits is not None or not line.size or not tape.varying(line.node()):
        return edges
    far = np.linspace(0, 1, edges.size)
    ends = line.min(), line.max()
    return tape.state.with_rule(
        as_array(edges, line.device), ends, lambda ct, *_: ((ct * (1 - far)).sum(), (ct * far).sum())
    )


def _count_or_edges(bins: Any, line: GpuArray) -> tuple[Any, GpuArray | None]:
    """Return the number of bins, or 0 and the edges if these were given."""
    edges_or_count = bins if isinstance(bins, GpuArray) else np.asarray(bins)
    if not edges_or_count.ndim:
        return (bins.item() if isinstance(bins, GpuArray) else bins), None
    if edges_or_count.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    edges = as_array(edges_or_count, line.device)
    if (edges[1:] < edges[:-1]).any().item():
        raise ValueError("`bins` must increase monotonically, when an array")
    return 0, edges


def _extremes(line: GpuArray, limits: Any) -> np.ndarray[Any, Any]:
    """Return the smallest and the largest element, or an empty array if limits are given."""
    return np.asarray(numbers(line.min(), line.max()) if limits is None and line.size else [], line.dtype)


@implements("histogram_bin_edges", at_once="sums")
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> GpuArray:
    """Return the bin edges that ``histogram`` uses."""
    line = _line(a)
    return as_array(_edges(line, bins, range, weights), line.device)


# --- histograms -----------------------------------------------------------------------------------------------------


def _bins(line: GpuArray, edges: GpuArray) -> GpuArray:
    """Return the number of edges up to each element. The last bin includes its upper edge."""
    bin = searching.searchsorted(edges, line, side="right")
    return bin - (line == edges[-1])


def _between_extremes(line: GpuArray, count: int) -> tuple[GpuArray, GpuArray] | None:
    """Return counts and edges of bins between the extremes, computed on the device; None if NumPy's edges differ.

    The edges are computed in the order of :func:`numpy.linspace`, with the same roundings.
    """
    ends = concatenated([line.min().reshape(1), line.max().reshape(1)], 0)
    evaluate((ends.node(),), line.device, is_read=True)
    low, high = ends[0], ends[1]
    ramp = make(build.generate(generators.arange, (0, 1), (count + 1,), line.dtype), line.device)
    edges = logic.where(ramp == count, high, ramp * ((high - low) / count) + low)
    counts = _in_bins(line, edges)
    evaluate((counts.node(), edges.node()), line.device)
    first, last = ends.tolist()
    return (counts, edges) if _are_apart(first, last, count, np.finfo(line.dtype)) else None


def _are_apart(first: float, last: float, count: int, info: Any) -> bool:
    """Return whether the edges of ``count`` bins differ, and their distance neither overflows nor is subnormal."""
    extent = last - first
    step = max(float(info.eps) * max(abs(first), abs(last)), float(info.smallest_normal))
    return 4 * step * count < extent <= float(info.max)


def _are_made_there(line: GpuArray, bins: Any, limits: Any, weights: Any) -> bool:
    """Return whether to compute the edges on the device, which pays for many elements on a GPU."""
    provider = registry.open_device(line.device)
    return (
        not (is_host(provider) or tape.state.tapes)
        and limits is None
        and weights is None
        and isinstance(bins, int)
        and bins > 0
        and line.size >= QUICKLY_SEEN
        and line.dtype in (dtypes.float32, dtypes.float64)
        and line.dtype in provider.capabilities.dtypes
    )


@implements("histogram", at_once="sums")
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[GpuArray, GpuArray]:
    """Return a histogram of values, and its bin edges."""
    line = _line(a)
    scale = None if weights is None else as_array(weights, line.device)
    if scale is not None and scale.shape != as_array(a).shape:
        raise ValueError("weights should have the same shape as a.")
    counted = _between_extremes(line, bins) if _are_made_there(line, bins, range, weights) else None
    if counted is not None:
        return (_shares(*counted) if density else counted[0]), counted[1]
    bin_edges = _edges(line, bins, range, weights)
    edges = as_array(bin_edges, line.device)
    if edges.size < 2:
        counts = creation.zeros(0, dtypes.int64 if scale is None else scale.dtype, device=line.device)
    elif scale is None:
        counts = _in_bins(line, bin_edges)
    else:
        totals = _totals(_bins(line, edges), scale.reshape(-1), edges.size + 1)[1:-1]
        counts = _rounded(totals, scale.dtype)
    return (_shares(counts, edges) if density else counts), edges


def _shares(counts: GpuArray, edges: GpuArray) -> GpuArray:
    return counts / _steps(edges).astype(dtypes.float64) / counts.sum()


def _rounded(totals: GpuArray, dtype: Any) -> GpuArray:
    return (totals.real if dtype.kind != "c" and totals.dtype.kind == "c" else totals).astype(dtype, copy=False)


@implements("histogram2d", at_once="sums")
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return a 2-d histogram of two samples, and its bin edges."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if _is_sequence(bins) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


@implements("histogramdd", at_once="sums")
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[GpuArray, list[GpuArray]]:
    """Return a histogram of samples with several coordinates, and its bin edges."""
    columns = _columns(sample)
    ndim = len(columns)
    each = list(bins) if _is_sequence(bins) else [bins] * ndim
    if len(each) != ndim:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    limits = [None] * ndim if range is None else list(range)
    if len(limits) != ndim:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges_along(*arguments) for arguments in zip(columns, each, limits, strict=True)]
    shape = [e.size + 1 for e in edges]
    bin: Any = 0
    for column, line, extent in zip(columns, edges, shape, strict=True):
        bin = bin * extent + _bins(column, line)
    scale = None if weights is None else as_array(weights, bin.device)
    if scale is not None and scale.shape != bin.shape:
        raise ValueError("The weights and list don't have the same length.")
    counts = _counted(bin, scale, prod(shape)).reshape(shape).astype(dtypes.float64)
    counts = counts[(slice(1, -1),) * ndim]
    if density:
        total = counts.sum()
        for axis, line in enumerate(edges):
            counts = counts / _steps(line).reshape((-1,) + (1,) * (ndim - 1 - axis))
        counts = counts / total
    return counts, edges


def _is_sequence(bins: Any) -> bool:
    return isinstance(bins, list | tuple) or np.ndim(bins) > 0


def _columns(sample: Any) -> list[GpuArray]:
    """Return the coordinates of points, from an array of shape (N, D) or from D lines."""
    if isinstance(sample, GpuArray | np.ndarray):
        table = as_array(sample)
        if table.ndim == 1:
            return [table]
        if table.ndim != 2:
            raise ValueError(
                f"sample must be an array of shape (N, D) or a sequence of D lines, not of {table.ndim} axes"
            )
        return [table[:, k] for k in range(table.shape[1])]
    lines = as_arrays(*sample)
    common = dtypes.promote(*(line.dtype for line in lines))
    if not lines[0].ndim:
        return [concatenated([line.reshape(1) for line in lines], 0)]
    return [line.astype(common, copy=False) for line in lines]
