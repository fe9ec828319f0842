"""Filters with poles that run along signals in both directions."""

from math import ceil, cos, log, sqrt
from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, concatenated
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.signal._filtering import lfilter

__all__ = ["symiirorder1", "symiirorder2"]

#: Terms of a sum that are less than this do not change it.
_NEGLIGIBLE: Final = 1e-30


def _response(b: Any, a: Any, pole: float, count: int) -> Any:
    """Return the impulse response of a filter, up to where its largest pole has made it negligible."""
    if pole < 1:
        count = min(count, 8 + ceil(log(_NEGLIGIBLE) / log(max(pole, _NEGLIGIBLE))))
    impulse = np.zeros(count)
    impulse[0] = 1
    return scipy_signal.lfilter(b, a, impulse)


def _sum(x: GpuArray, terms: Any, least: float | None) -> GpuArray:
    """Return the sum of the products of signals and of terms that decay, which replaces the samples beyond an end.

    Parameters
    ----------
    x : GpuArray
        Signals along the last axis.
    terms : ndarray
        Along one axis.
    least : float, optional
        Where the terms end: at the first one that is not larger. None if they do not.

    Raises
    ------
    ValueError
        If that is behind the signals.
    """
    small: Any = [] if least is None else np.flatnonzero(abs(terms) <= least)
    count = min(int(small[0]) + 1 if len(small) else len(terms), x.shape[-1])
    if count == x.shape[-1] and least is not None:
        raise ValueError("Sum to find symmetric boundary conditions did not converge.")
    return (x[..., :count] * as_array(terms[:count].astype(x.dtype), x.device)).sum(-1, keepdims=True)


def _continued(known: GpuArray, x: GpuArray, gain: Any, a: Any) -> GpuArray:
    """Return the first samples of a response, which are known, as many as there are poles, and those that follow.

    Parameters
    ----------
    known : GpuArray
        The first samples.
    x : GpuArray
        The signals from there on.
    gain : number
        The numerator of the filter.
    a : list
        The denominator, whose first number is 1.
    """
    if not x.shape[-1]:
        return known
    top, taps = (np.array(line) for line in ([gain], a))
    top, taps = (line.astype(x.dtype if line.dtype.kind == "c" else x.dtype.type(0).real.dtype) for line in (top, taps))
    state = [(known[..., n:] * -taps[:n:-1]).sum(-1, keepdims=True) for n in range(known.shape[-1])]
    rest, _ = lfilter(top, taps, x, zi=concatenated(state, x.ndim - 1))
    return concatenated([known, rest], x.ndim - 1)


def first_order(x: GpuArray, c0: Any, z1: Any, least: float | None) -> GpuArray:
    """Return signals filtered with one pole, forward and backward."""
    poles = [1, -z1]
    start = x[..., :1] + _sum(x, _response([z1], poles, abs(z1), x.shape[-1]), least)
    ahead = _continued(start, x[..., 1:], 1, poles)
    last = ahead[..., -1:] * x.dtype.type(-c0 / (z1 - 1))
    return _continued(last, ahead[..., -2::-1], c0, poles)[..., ::-1]


def second_order(
    x: GpuArray, r: float, omega: float, firsts: tuple[int, int], least: tuple[float | None, float | None]
) -> GpuArray:
    """Return signals filtered with two poles, ``r exp(1j omega)`` and its conjugate, forward and backward.

    Parameters
    ----------
    x : GpuArray
        Signals along the last axis.
    r, omega : float
        The poles.
    firsts : tuple of int
        The first sample has the first share of the response in one sample, the second sample in another one.
    least : tuple of float or None
        Where the sums for the first and for the last samples end.
    """
    a2, a3, count = 2 * r * cos(omega), -r * r, x.shape[-1]
    poles, gain = [1, -a2, -a3], 1 - a2 - a3
    one = _response([gain], poles, abs(r), count + 2)
    # the response of both directions is symmetric, and follows the same recurrence behind its first two terms
    middle = gain * gain / (1 - a3 * a3 - a2 * a2 * (1 + a3) / (1 - a3))
    both = _response([middle, middle * (a2 / (1 - a3) - a2)], poles, abs(r), count + 2)
    starts = [
        x[..., :1] * x.dtype.type(one[0]) + _sum(x, one[1:], least[0]),
        x[..., firsts[0] : firsts[0] + 1] * x.dtype.type(one[0])
        + x[..., firsts[1] : firsts[1] + 1] * x.dtype.type(one[1])
        + _sum(x, one[2:], least[0]),
    ]
    ahead = _continued(concatenated(starts, x.ndim - 1), x[..., 2:], gain, poles)
    backwards = x[..., ::-1]
    nearer = np.concatenate([both[1:2], both])[: len(both) - 2]
    ends = [_sum(backwards, both[:-1] + both[1:], least[1]), _sum(backwards, nearer + both[2:], least[1])]
    return _continued(concatenated(ends, x.ndim - 1), ahead[..., -3::-1], gain, poles)[..., ::-1]


def _floating(x: GpuArray) -> GpuArray:
    return x.astype(np.result_type(x.dtype, np.float64 if x.dtype.kind in "biu" else np.float32), copy=False)


def _precision(precision: float, x: GpuArray) -> float:
    if 0 < precision <= 1:
        return precision
    return 1e-6 if x.dtype in (dtypes.float32, dtypes.complex64) else 1e-11


def with_one_pole(x: GpuArray, c0: Any, z1: Any, precision: float) -> GpuArray:
    if abs(z1) >= 1:
        raise ValueError("|z1| must be less than 1.0")
    x = _floating(x)
    return first_order(x, c0, z1, _precision(precision, x))


def with_two_poles(x: GpuArray, r: float, omega: float, precision: float) -> GpuArray:
    if r >= 1:
        raise ValueError("r must be less than 1.0")
    if x.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to dtype('float64') according to the rule 'safe'")
    x = _floating(x)
    least = _precision(precision, x)
    return second_order(x, r, omega, (1, 0), (least, sqrt(least)))


def _checked(value: Any) -> GpuArray:
    """Return signals along the last of one or two axes.

    Raises
    ------
    ValueError
        If there are more axes.
    """
    x = as_array(value)
    if x.ndim > 2:
        raise ValueError("Input must be 1D or 2D")
    return x


@mirrors(scipy_signal.symiirorder1)
def symiirorder1(signal: Any, c0: Any, z1: Any, precision: float = -1.0) -> GpuArray:
    """Return signals filtered with one pole forward and backward; beyond their ends they are mirrored.

    Parameters
    ----------
    signal : array_like
        Signals along the last one of one or two axes.
    c0 : number
        The gain.
    z1 : number
        The pole.
    precision : float
        Terms of the sums for the ends that are negligible.

    Raises
    ------
    ValueError
        If the pole is not in the unit circle, there are more axes, or the signals are too short for the precision.
    """
    return with_one_pole(_checked(signal), c0, z1, precision)


@mirrors(scipy_signal.symiirorder2)
def symiirorder2(input: Any, r: float, omega: float, precision: float = -1.0) -> GpuArray:
    """Return signals filtered with two poles forward and backward; beyond their ends they are mirrored.

    Parameters
    ----------
    input : array_like
        Real signals along the last one of one or two axes.
    r, omega : float
        The distance of the poles from 0, and the angle of one of them.
    precision : float
        Terms of the sums for the ends that are negligible.

    Raises
    ------
    ValueError
        If the poles are not in the unit circle, there are more axes, or the signals are too short for the precision.
    TypeError
        If the signals are complex.
    """
    return with_two_poles(_checked(input), r, omega, precision)
