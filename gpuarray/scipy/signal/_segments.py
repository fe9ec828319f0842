"""Segments of signals: their transforms, and sums of segments that overlap."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray, wrap
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_array
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.scipy.signal._trends import detrend


def segments(x: GpuArray, length: int, step: int) -> GpuArray:
    """Return a view with the segments of signals along the last axis, of shape (..., count, length)."""
    *lead, extent = x.shape
    count = max((extent - length) // step + 1, 0)
    rows = x.reshape(-1, extent)
    layout = Layout((rows.shape[0], count, length), (extent, step, 1), 0)
    return wrap(build.view(rows.node(), layout), x.device).reshape(*lead, count, length)


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
    found = wrap(build.view(padded.node(), layout), parts.device).sum(-1)
    return found.reshape(*lead, total * step)[..., : (count - 1) * step + length]


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
    given: Callable[..., Any] = trend
    return lambda parts: xp.moveaxis(given(xp.moveaxis(parts, -1, axis)), axis, -1)


def window_of(kind: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Return a window in the precision of transforms of ``dtype``."""
    window = np.asarray(kind)
    if np.result_type(window, np.complex64) == dtype:
        return window
    if window.dtype.kind == "c":
        return window.astype(dtype)
    return window.astype(np.empty(0, dtype).real.dtype)
