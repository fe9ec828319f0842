"""Segments of signals: their transforms, and sums of segments that overlap."""

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_array
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.scipy.ndimage._elements import are_gathered
from gpuarray.scipy.signal._trends import detrend

#: Flat positions below this have 32 bits.
_SMALL: Final = 1 << 31


def segments(x: GpuArray, length: int, step: int) -> GpuArray:
    """Return a view with the segments of signals along the last axis, of shape (..., count, length)."""
    *lead, extent = x.shape
    count = max((extent - length) // step + 1, 0)
    rows = x.reshape(-1, extent)
    layout = Layout((rows.shape[0], count, length), (extent, step, 1), 0)
    return wrap(build.view(rows.node(), layout), x.device).reshape(*lead, count, length)


def padded_segments(x: GpuArray, first: int, count: int, length: int, step: int) -> GpuArray:
    """Return segments of signals along the last axis that are 0 beyond their ends, of shape (..., count, length).

    Parameters
    ----------
    x : GpuArray
        The signals.
    first : int
        Where the first segment begins, which may be before the signals.
    count : int
        The number of segments, of which the last ends with the signals or beyond.
    length, step : int
        The length of a segment, and what is between the begins of two.
    """
    *lead, extent = x.shape
    end = first + (count - 1) * step + length
    if not are_gathered(x) or prod(x.shape) >= _SMALL:
        widths = [(0, 0)] * len(lead) + [(max(-first, 0), max(end - extent, 0))]
        return segments(xp.pad(x, widths)[..., max(first, 0) :], length, step)[..., :count, :]
    positions = xp.arange(first, first + count * step, step, dtype=dtypes.int32, device=x.device)[:, None]
    positions = positions + xp.arange(length, dtype=dtypes.int32, device=x.device)
    rows = xp.arange(0, prod(x.shape), extent, dtype=dtypes.int32, device=x.device).reshape(*lead, 1, 1)
    result = wrap(build.gather(x.node(), (rows + xp.clip(positions, 0, extent - 1)).node()), x.device)
    return xp.where((positions >= 0) & (positions < extent), result, result.dtype.type(0))


def overlapped(parts: GpuArray, step: int) -> GpuArray:
    """Return the sum of segments, of shape (..., count, length), each of which begins ``step`` after the one before."""
    *lead, count, length = parts.shape
    pieces = -(-length // step)
    width = pieces * step
    rows = prod(lead)
    padded = xp.pad(parts.reshape(rows, count, length), [(0, 0), (pieces - 1, pieces - 1), (0, width - length)])
    total = count + pieces - 1
    # block j of the result is the sum of the pieces i of segments j - i
    layout = Layout(
        (rows, total, step, pieces), (padded.shape[1] * width, width, 1, step - width), (pieces - 1) * width
    )
    result = wrap(build.view(padded.node(), layout), parts.device).sum(-1)
    return result.reshape(*lead, total * step)[..., : (count - 1) * step + length]


def transformed(x: GpuArray, window: Any, step: int, points: int, trend: Any, *, is_onesided: bool) -> GpuArray:
    """Return Fourier transforms of the windowed segments of signals, of shape (..., count, frequencies).

    Parameters
    ----------
    x : GpuArray
        Signals along the last axis.
    window : ndarray
        The window, with the length of segments.
    step : int
        Samples between the begins of segments.
    points : int
        Number of points of the transforms.
    trend : str, callable, False or None
        How a trend is removed from segments.
    is_onesided : bool
        Whether only frequencies of one sign are returned.
    """
    parts = segments(x, len(window), step)
    if callable(trend):
        parts = as_array(trend(parts), x.device)
    elif trend:
        parts = detrend.composition(parts, type=trend)  # type: ignore[attr-defined]  # the decorator sets it
    parts = parts * as_array(window, x.device)
    return (
        fourier.rfft(parts.real if parts.dtype.kind == "c" else parts, points)
        if is_onesided
        else fourier.fft(parts, points)
    )


def moved_trend(trend: Any, axis: int) -> Any:
    """Return a function that removes trends for segments along the last axis, from one for segments along an axis."""
    if not callable(trend) or axis == -1:
        return trend
    detrend: Callable[..., Any] = trend
    return lambda parts: xp.moveaxis(detrend(xp.moveaxis(parts, -1, axis)), axis, -1)


def window_of(kind: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Return a window in the precision of transforms of ``dtype``."""
    window = np.asarray(kind)
    if np.result_type(window, np.complex64) == dtype:
        return window
    if window.dtype.kind == "c":
        return window.astype(dtype)
    return window.astype(np.empty(0, dtype).real.dtype)
