"""Distribution functions that are written over the rows of special functions."""

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import ArrayLike, as_arrays
from gpuarray.functions.special import gammainc, gammaincc


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
