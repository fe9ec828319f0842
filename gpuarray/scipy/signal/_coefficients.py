"""Filters by coefficients with respect to which a function is differentiated.

The zeros of a filter are a convolution, and its poles a recurrence whose derivative is the recurrence backward.
"""

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.scipy import signal
from gpuarray.scipy._derivatives import with_cotangents
from gpuarray.scipy.signal._convolution import convolve


def filtered(b: GpuArray, a: GpuArray, x: GpuArray, state: GpuArray | None) -> tuple[GpuArray, GpuArray]:
    """Return the response of a filter along the last axis, and the state after it.

    Parameters
    ----------
    b, a : GpuArray
        The coefficients, of the dtype of the signals.
    x : GpuArray
        The signals, with samples.
    state : GpuArray or None
        The state before them, of as many elements along the last axis as the order of the filter.
    """
    b, a = b / a[0], a / a[0]
    length, order = x.shape[-1], max(b.size, a.size) - 1
    driven = _convolved(x, b, length + order)
    if state is not None:
        driven = driven + xp.concat([state, xp.zeros((*x.shape[:-1], length), x.dtype, device=x.device)], axis=-1)
    y: GpuArray = _recurrence(a, driven[..., :length])
    return y, (driven - _convolved(y, a, length + order))[..., length:]


def _convolved(x: GpuArray, taps: GpuArray, length: int) -> GpuArray:
    """Return the convolution along the last axis, continued by zeros to a length."""
    whole = convolve(x, taps.reshape((1,) * (x.ndim - 1) + (taps.size,)), method="direct")
    rest = xp.zeros((*x.shape[:-1], length - whole.shape[-1]), x.dtype, device=x.device)
    return xp.concat([whole, rest], axis=-1)


def _poles(a: GpuArray, driven: GpuArray) -> GpuArray:
    result: GpuArray = signal.lfilter(np.ones(1, driven.dtype), a, driven)
    return result


def _pulled(ct: GpuArray, a: GpuArray, driven: GpuArray) -> tuple[GpuArray, GpuArray]:
    back = _recurrence(a, ct[..., ::-1])[..., ::-1]
    y = _recurrence(a, driven)
    length = y.shape[-1]
    lags = [-xp.sum(back[..., lag:] * y[..., : max(length - lag, 0)]) for lag in range(a.size)]
    return xp.stack(lags), back


_recurrence = with_cotangents(_poles, _pulled)
