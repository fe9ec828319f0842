"""NumPy's functions of sampled signals: convolution, correlation, interpolation, and phases without jumps."""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, apply, wrap
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise, searching, sorting
from gpuarray.functions.arguments import along, as_array, as_arrays, at_least_one_axis, check_cast, concatenated
from gpuarray.functions.at_once import UNSHARED
from gpuarray.functions.differences import diff
from gpuarray.functions.logic import where
from gpuarray.functions.mathematics import clip
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import elementwise as ops

__all__ = ["convolve", "correlate", "interp", "unwrap"]

_MODES: Final = {"valid": 0, "same": 1, "full": 2, 0: 0, 1: 1, 2: 2}
#: The largest number of products of one contraction, whose index arithmetic has 32 bits.
_MOST_PRODUCTS: Final = 1 << 28


def _pair(a: Any, v: Any) -> tuple[GpuArray, GpuArray]:
    """Return the arguments of a convolution in their common dtype, with one axis.

    Raises
    ------
    ValueError
        If an argument has no elements, or more than one axis.
    """
    lines = [at_least_one_axis(line) for line in as_arrays(a, v)]
    for name, line in zip("av", lines, strict=True):
        if line.ndim > 1:
            raise ValueError(f"object too deep for desired array: {name} must have one axis, not {line.ndim}")
        if not line.size:
            raise ValueError(f"{name} cannot be empty")
    common = dtypes.promote(lines[0].dtype, lines[1].dtype)
    first, second = (line.astype(common, copy=False) for line in lines)
    return first, second


def _slid(line: GpuArray, kernel: GpuArray, mode: Any) -> GpuArray:
    """Return the sums of products of a kernel and each part of a line, which is at least as long."""
    if mode not in _MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    width = kernel.size
    before, after = {0: (0, 0), 1: (width // 2, width - width // 2 - 1), 2: (width - 1, width - 1)}[_MODES[mode]]
    if before or after:
        line = concatenated([_zeros(before, line), line, _zeros(after, line)], 0)
    length = line.size - width + 1
    step = max(1, _MOST_PRODUCTS // length)
    windows = (Layout((length, min(step, width - k)), (1, 1), k) for k in range(0, width, step))
    parts: list[Any] = [
        np.matmul(wrap(build.view(line.node(), window), line.device), kernel[k * step : (k + 1) * step])
        for k, window in enumerate(windows)
    ]
    total: GpuArray = parts[0]
    for term in parts[1:]:
        total = total | term if term.dtype.kind == "b" else total + term
    return total


def _zeros(count: int, like: GpuArray) -> GpuArray:
    return wrap(build.full((count,), 0, like.dtype), like.device)


@native("convolve", at_once="products", most=UNSHARED)
def convolve(a: Any, v: Any, mode: Any = "full") -> GpuArray:
    """Return the discrete linear convolution of two 1-d sequences."""
    first, second = _pair(a, v)
    if second.size > first.size:
        first, second = second, first
    return _slid(first, second[::-1], mode)


@native("correlate", at_once="products", most=UNSHARED)
def correlate(a: Any, v: Any, mode: Any = "valid") -> GpuArray:
    """Return the cross-correlation of two 1-d sequences."""
    if 0 in (np.ndim(a), np.ndim(v)):
        raise ValueError("object of too small depth for desired array: correlate takes sequences, not numbers")
    first, second = _pair(a, v)
    if second.dtype.kind == "c":
        second = apply(ops.conj, second)
    if second.size > first.size:
        return _slid(second, first, mode)[::-1]
    return _slid(first, second, mode)


@implements("interp", at_once="sums", most=UNSHARED)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> GpuArray:
    """Return the piecewise linear interpolant through given points, at other points."""
    queries, points, values = as_arrays(x, xp, fp)
    kind: DType = dtypes.complex128 if values.dtype.kind == "c" else dtypes.float64
    for array, safe in ((queries, dtypes.float64), (points, dtypes.float64), (values, kind)):
        check_cast(array.dtype, safe)
    queries, points = (array.astype(dtypes.float64, copy=False) for array in (queries, points))
    values = values.astype(kind, copy=False)
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if points.size != values.size:
        raise ValueError("fp and xp are not of the same length.")
    if not points.size:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        left = right = None
        queries = queries % abs(period)
        points, values = _extended(points, values, abs(period))
    below = values[0] if left is None else left
    above = values[-1] if right is None else right
    last = points.size - 1
    interval = clip(searching.searchsorted(points, queries, side="right") - 1, 0, last)
    low, high = interval.node(), elementwise.minimum(interval + 1, last).node()

    def at(line: GpuArray, positions: Node) -> GpuArray:
        return wrap(build.gather(line.node(), positions), line.device)

    x_low, x_high, y_low, y_high = (at(line, end) for line in (points, values) for end in (low, high))

    def between(start: GpuArray, end: GpuArray) -> GpuArray:
        slope = (end - start) / (x_high - x_low)
        value = slope * (queries - x_low) + start
        # as NumPy: if an infinity gives NaN, interpolate from the other end; between equal ends the value is theirs
        value = where(elementwise.isnan(value), slope * (queries - x_high) + end, value)
        return where(elementwise.isnan(value) & (start == end), start, value)

    if kind is dtypes.complex128:
        # parts are interpolated separately, because a complex product with an infinite part has NaN in both
        parts = between(y_low.real, y_high.real), between(y_low.imag, y_high.imag)
        interpolated = apply(ops.complex_from_parts, *parts)
    else:
        interpolated = between(y_low, y_high)
    interpolated = where((interval == last) | (x_low == queries), y_low, interpolated)
    # as in NumPy, NaN is beyond neither end
    interpolated = where(queries < points[0], below, where(queries > points[-1], above, interpolated))
    result: GpuArray = where(elementwise.isnan(queries), queries, interpolated)
    return result.astype(kind, copy=False)


def _extended(points: GpuArray, values: GpuArray, period: Any) -> tuple[GpuArray, GpuArray]:
    """Return the points of one period in order, with one more at each end, and their values."""
    points = points % period
    order = sorting.argsort(points)
    points, values = points[order], values[order]
    points = concatenated([points[-1:] - period, points, points[:1] + period], 0)
    return points, concatenated([values[-1:], values, values[:1]], 0)


@native("unwrap", at_once="elements")
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 6.283185307179586) -> GpuArray:
    """Unwrap phases: add multiples of the period where consecutive elements differ by more than half of it."""
    source = as_array(p)
    number = normalize_axis(axis, source.ndim)
    steps = diff(source, axis=number)
    jump = period / 2 if discont is None else discont
    kind = np.result_type(steps.dtype, period if type(period) in (int, float) else np.asarray(period).dtype)
    if kind.kind in "iu":
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    within = elementwise.remainder(steps - low, period) + low
    if ambiguous:
        within = where((within == low) & (steps > 0), high, within)
    change = where(elementwise.abs(steps) < jump, 0, within - steps).astype(kind, copy=False)
    later = source[along(number, slice(1, None))] + change.cumsum(number)
    first = source[along(number, slice(0, 1))]
    return concatenated([first.astype(kind, copy=False), later.astype(kind, copy=False)], number)
