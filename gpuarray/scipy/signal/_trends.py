"""Removal of trends from signals."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, concatenated, read
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._mirror import below, mirrors


@mirrors(scipy_signal.detrend, by_scipy=below(1 << 12))
def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False) -> GpuArray:
    """Subtract the mean, or the line of least squares, from signals along an axis.

    Parameters
    ----------
    data : array_like
        The signals.
    axis : int
        The axis of time.
    type : {"linear", "constant"}
        Whether lines or means are subtracted.
    bp : int or sequence of int
        Where parts begin that have lines of their own.
    overwrite_data : bool
        Accepted for compatibility with SciPy.

    Raises
    ------
    ValueError
        If ``type`` is none of these, or a part begins after the end.
    """
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    signal = as_array(data)
    if type in ("constant", "c"):
        return signal - signal.mean(axis, keepdims=True)
    if signal.dtype.char not in "dfDF":
        signal = signal.astype(np.float64)
    number = normalize_axis(axis, signal.ndim)
    count = signal.shape[number]
    ends = np.unique(np.concatenate([[0], np.atleast_1d(read(bp)), [count]])).astype(int).tolist()
    if ends[-1] > count:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    line = xp.moveaxis(signal, number, -1)
    parts = [_without_line(line[..., start:stop]) for start, stop in pairwise(ends)]
    return xp.moveaxis(parts[0] if len(parts) == 1 else concatenated(parts, line.ndim - 1), -1, number)


def _without_line(x: GpuArray) -> GpuArray:
    count = x.shape[-1]
    real = np.empty(0, x.dtype).real.dtype
    positions = np.arange(count) - (count - 1) / 2
    norm = np.sqrt((positions**2).sum())
    axis = as_array((positions / (norm or 1.0)).astype(real), x.device)
    level = x - x.mean(-1, keepdims=True)
    return level - (level * axis).sum(-1, keepdims=True) * axis


__all__ = ["detrend"]
