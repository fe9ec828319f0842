"""Splines through equally spaced samples: their coefficients, and their values."""

from collections.abc import Callable
from functools import partial
from math import atan, pi, sqrt
from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array
from gpuarray.scipy._mirror import below, mirrors
from gpuarray.scipy.ndimage._correlation import line_filtered, weights_of
from gpuarray.scipy.ndimage._splines import basis
from gpuarray.scipy.signal._both_ways import first_order, second_order, with_one_pole, with_two_poles

__all__ = [
    "cspline1d", "cspline1d_eval", "cspline2d", "gauss_spline", "qspline1d", "qspline1d_eval", "qspline2d", "sepfir2d",
    "spline_filter",
]  # fmt: skip

#: The poles of the filters for the coefficients of cubic and quadratic splines.
_CUBIC: Final = -2 + sqrt(3.0)
_QUADRATIC: Final = -3 + 2 * sqrt(2.0)
#: The least smoothing for which there is a filter with two poles.
_SMOOTHING: Final = 1 / 144


# -- coefficients -----------------------------------------------------------------------------------------------------


def _smoothing(lam: float) -> tuple[float, float]:
    """Return the distance from 0, and the angle, of the poles of the filter for smoothing cubic splines."""
    root = sqrt(3 + 144 * lam)
    xi = 1 - 96 * lam + 24 * lam * root
    omega = atan(sqrt((144 * lam - 1) / xi))
    return (24 * lam - 1 - sqrt(xi)) / (24 * lam) * sqrt((48 * lam + 24 * lam * root) / xi), omega


def _line(signal: Any) -> GpuArray:
    x = as_array(signal)
    return x.astype(np.result_type(x.dtype, np.float64), copy=False)


def _coefficients(x: GpuArray, pole: float, scale: float) -> GpuArray:
    """Return the coefficients of splines without smoothing; of a single sample, as in SciPy, they are not scaled."""
    if x.shape[0] == 1:
        return x * (pole / (pole - 1) * (1 + pole))
    return first_order(x, -scale * pole, pole, None)


@mirrors(scipy_signal.cspline1d)
def cspline1d(signal: Any, lamb: float = 0.0) -> GpuArray:
    """Return the coefficients of the cubic spline through a signal, which is mirrored beyond its ends.

    Parameters
    ----------
    signal : array_like
        Samples along one axis.
    lamb : float
        How much the spline is smoothed.
    """
    x = _line(signal)
    if lamb == 0:
        return _coefficients(x, _CUBIC, 6)
    # the second sample has SciPy's shares of the first two
    return second_order(x, *_smoothing(lamb), (0, 1), (None, None))


@mirrors(scipy_signal.qspline1d)
def qspline1d(signal: Any, lamb: float = 0.0) -> GpuArray:
    """Return the coefficients of the quadratic spline through a signal, which is mirrored beyond its ends.

    Parameters
    ----------
    signal : array_like
        Samples along one axis.
    lamb : float
        Must be 0.

    Raises
    ------
    ValueError
        If ``lamb`` is another number.
    """
    if lamb != 0:
        raise ValueError("Smoothing quadratic splines not supported yet.")
    return _coefficients(_line(signal), _QUADRATIC, 8)


def _along_both(filtered: Callable[[GpuArray], GpuArray], x: GpuArray) -> GpuArray:
    for axis in (-1, 0):
        x = xp.moveaxis(filtered(xp.moveaxis(x, axis, -1)), -1, axis)
    return x


def _precision_of_images(precision: float, x: GpuArray) -> float:
    if 0 <= precision < 1:
        return precision
    return 1e-3 if x.dtype in (dtypes.float32, dtypes.complex64) else 1e-6


@mirrors(scipy_signal.cspline2d)
def cspline2d(signal: Any, lamb: float = 0.0, precision: float = -1.0) -> GpuArray:
    """Return the coefficients of the cubic spline through an image, which is mirrored beyond its edges.

    Parameters
    ----------
    signal : array_like
        The image.
    lamb : float
        How much the spline is smoothed.
    precision : float
        Terms of the sums for the edges that are negligible.
    """
    x = as_array(signal)
    least = _precision_of_images(precision, x)
    if lamb <= _SMOOTHING:
        return _along_both(partial(with_one_pole, c0=-6 * _CUBIC, z1=_CUBIC, precision=least), x)
    r, omega = _smoothing(lamb)
    return _along_both(partial(with_two_poles, r=r, omega=omega, precision=least), x)


@mirrors(scipy_signal.qspline2d)
def qspline2d(signal: Any, lamb: float = 0.0, precision: float = -1.0) -> GpuArray:
    """Return the coefficients of the quadratic spline through an image, which is mirrored beyond its edges.

    Parameters
    ----------
    signal : array_like
        The image.
    lamb : float
        Must not be above 0.
    precision : float
        Terms of the sums for the edges that are negligible.

    Raises
    ------
    ValueError
        If ``lamb`` is positive.
    """
    x = as_array(signal)
    least = _precision_of_images(precision, x)
    if lamb > 0:
        raise ValueError("lambda must be negative or zero")
    return _along_both(partial(with_one_pole, c0=-8 * _QUADRATIC, z1=_QUADRATIC, precision=least), x)


@mirrors(scipy_signal.sepfir2d, name="signal.sepfir2d")
def sepfir2d(input: Any, hrow: Any, hcol: Any) -> GpuArray:
    """Return the convolution of an image, which is mirrored beyond its edges, with a filter for each axis.

    Parameters
    ----------
    input : array_like
        The image.
    hrow, hcol : array_like
        The filters along the rows and along the columns, of odd lengths.

    Raises
    ------
    ValueError
        If the number of axes, or a length, is another.
    TypeError
        If a filter has numbers that the dtype of the image does not hold.
    """
    image = as_array(input)
    kind = np.result_type(image.dtype, np.float32)
    filters = [weights_of(taps)[0] for taps in (hrow, hcol)]
    if image.ndim != 2 or any(taps.ndim != 1 for taps in filters):
        raise ValueError("object of too small depth for desired array: an image has two axes, and a filter one")
    for line in (hrow, hcol):
        dtype = as_array(line).dtype
        if not np.can_cast(dtype, kind):
            raise TypeError(f"Cannot cast array data from {dtype!r} to {kind!r} according to the rule 'safe'")
    if any(taps.size % 2 == 0 for taps in filters):
        raise ValueError("hrow and hcol must be odd length")
    image = image.astype(kind, copy=False)
    for taps, axis in zip(filters, (1, 0), strict=True):
        image = line_filtered(image, taps[::-1], axis, "reflect", 0.0, kind)
    return image


@mirrors(scipy_signal.spline_filter)
def spline_filter(Iin: Any, lmbda: float = 5.0) -> GpuArray:  # noqa: N803  # SciPy's name
    """Return an image smoothed by a cubic spline.

    Parameters
    ----------
    Iin : array_like
        The image.
    lmbda : float
        How much the spline is smoothed.

    Raises
    ------
    TypeError
        If the image has no floating dtype.
    """
    image = as_array(Iin)
    kind = image.dtype
    if kind not in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128):
        raise TypeError(f"Invalid data type for Iin: Iin.dtype = {kind!r}")
    pixels = image.astype(np.complex64) if kind.kind == "c" else image
    taps = np.array([1, 4, 1], np.float32) / np.float32(6)
    result: GpuArray = sepfir2d(cspline2d(pixels, lmbda), taps, taps)
    return result.astype(kind, copy=False)


# -- values -----------------------------------------------------------------------------------------------------------


def _evaluated(cj: Any, at: GpuArray, order: int, dtype: Any) -> GpuArray:
    """Return the values of a spline, which is mirrored at its ends, but for the coefficients beyond them."""
    coefficients = as_array(cj, at.device)
    if not at.size:
        return at.astype(dtype)
    if not coefficients.size:
        raise ValueError("Spline coefficients 'cj' must not be empty.")
    kind = np.result_type(coefficients.dtype, at.dtype, np.float32)
    nothing = np.zeros(0, dtype)
    nothing += np.zeros(0, np.result_type(coefficients.dtype, np.float64))  # raises SciPy's errors about dtypes
    count = coefficients.shape[0]
    at = abs(at) % at.dtype.type(max(2 * count - 2, 1))
    at = xp.where(at > count - 1, 2 * count - 2 - at, at)
    near = xp.floor(at + 0.5 if order == 2 else at)
    weights = basis((at - near).astype(kind.type(0).real.dtype), order)
    first = near.astype(np.int32) - 1
    result: Any = sum(xp.take(coefficients, first + n, mode="clip") * weight for n, weight in enumerate(weights))
    return result.astype(dtype)


@mirrors(scipy_signal.cspline1d_eval, by_scipy=below(1 << 8))
def cspline1d_eval(cj: Any, newx: Any, dx: float = 1.0, x0: Any = 0) -> GpuArray:
    """Return the values of a cubic spline.

    Parameters
    ----------
    cj : array_like
        The coefficients.
    newx : array_like
        Where.
    dx, x0 : float
        The distance of the samples, and the place of the first one.

    Raises
    ------
    ValueError
        If there are no coefficients.
    """
    coefficients = as_array(cj)
    return _evaluated(coefficients, (as_array(newx) - x0) / float(dx), 3, coefficients.dtype)


@mirrors(scipy_signal.qspline1d_eval, by_scipy=below(1 << 8))
def qspline1d_eval(cj: Any, newx: Any, dx: float = 1.0, x0: Any = 0) -> GpuArray:
    """Return the values of a quadratic spline.

    Parameters
    ----------
    cj : array_like
        The coefficients.
    newx : array_like
        Where.
    dx, x0 : float
        The distance of the samples, and the place of the first one.

    Raises
    ------
    ValueError
        If there are no coefficients.
    """
    at = (as_array(newx) - x0) / dx
    return _evaluated(cj, at, 2, at.dtype)


@mirrors(scipy_signal.gauss_spline)
def gauss_spline(x: Any, n: Any) -> GpuArray:
    """Return the values of the Gaussian that is near to the basis function of a spline.

    Parameters
    ----------
    x : array_like
        Where.
    n : int
        The order of the spline.
    """
    variance = (n + 1) / 12.0
    return 1 / sqrt(2 * pi * variance) * xp.exp(-(as_array(x) ** 2) / 2 / variance)
