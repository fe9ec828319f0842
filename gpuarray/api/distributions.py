"""Distribution functions that are written over the rows of special functions."""

import math

from gpuarray.api.arguments import ArrayLike, as_arrays
from gpuarray.api.elementwise import isnan, sqrt, where
from gpuarray.api.special import betainc, betaincc, gammainc, gammaincc, ndtr
from gpuarray.array import GpuArray


def chdtr(v: ArrayLike, x: ArrayLike, /) -> GpuArray:
    """Return the chi square distribution function: the integral from 0 to ``x``.

    Parameters
    ----------
    v : array_like
        Degrees of freedom.
    x : array_like
        The upper limit.

    Returns
    -------
    GpuArray
        NaN where one of them is negative.
    """
    degrees, limit = as_arrays(v, x)
    return gammainc(degrees / 2, limit / 2)


def chdtrc(v: ArrayLike, x: ArrayLike, /) -> GpuArray:
    """Return what the chi square distribution function lacks of 1: the integral from ``x`` on; see :func:`chdtr`."""
    degrees, limit = as_arrays(v, x)
    return gammaincc(degrees / 2, limit / 2)


def stdtr(df: ArrayLike, t: ArrayLike, /) -> GpuArray:
    """Return Student's distribution function: the integral from minus infinity to ``t``.

    Parameters
    ----------
    df : array_like
        Degrees of freedom.
    t : array_like
        The upper limit.

    Returns
    -------
    GpuArray
        NaN where ``df`` is not positive, or one of them is NaN.
    """
    degrees, limit = as_arrays(df, t)
    squared = (limit / sqrt(degrees)) ** 2
    half = degrees / 2
    # The tail, by that one of the beta function's two arguments, which add up to 1, that is not rounded away.
    tail = where(squared < 1, betaincc(0.5, half, squared / (1 + squared)), betainc(half, 0.5, 1 / (1 + squared))) / 2
    found = where(limit < 0, tail, 1 - tail)
    found = where(degrees == math.inf, ndtr(limit), found)
    answer: GpuArray = where((degrees > 0) & ~isnan(limit), found, math.nan)
    return answer
