"""Functions that are composed of others."""

from math import factorial
from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import special
from gpuarray.functions.arguments import as_array, as_arrays, inexact
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._calls import run_counted, trial
from gpuarray.scipy._mirror import mirrors

__all__ = ["diric", "log_softmax", "logsumexp", "multigammaln", "polygamma", "softmax", "zeta"]


#: Terms of the sum of Euler and Maclaurin, and B(2k) / (2k)!.
_TERMS: Final = 10
_BERNOULLI: Final = [float(b) / factorial(2 * k) for k, b in enumerate(scipy_special.bernoulli(20)[2::2], 1)]
#: Below this the zeta function is computed by reflection, which loses digits near 0.
_REFLECTED: Final = -0.5


def _computed(x: GpuArray) -> GpuArray:
    """Return an array in the dtype with which SciPy's functions of real numbers compute."""
    return x if x.dtype in (dtypes.float32, dtypes.float64) else x.astype(dtypes.float64)


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


@mirrors(scipy_special.logsumexp, by_scipy=lambda *_, return_sign=False, **__: not return_sign)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials along axes, without overflow.

    Parameters
    ----------
    a : array_like
        The exponents.
    axis : int or tuple of int, optional
        The axes, by default all.
    b : array_like, optional
        Factors of the exponentials.
    keepdims : bool
        Whether the axes remain, with extent 1.
    return_sign : bool
        Whether the sign of the sum is returned too.
    """
    exponents = inexact(a)
    axis = _axes(axis)
    factors = None
    if b is not None:
        exponents, factors = as_arrays(exponents, b)
        exponents, factors = xp.broadcast_arrays(exponents, factors)
        exponents = xp.where(factors == 0, -np.inf, exponents)
    real = exponents.real if exponents.dtype.kind == "c" else exponents
    top = real.max(axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0)
    terms = xp.exp(exponents - top)
    if factors is not None:
        terms = xp.where(factors == 0, 0, factors * terms)
    total = terms.sum(axis, keepdims=True)
    sign = xp.sign(total)
    if return_sign:
        total = xp.abs(total)
    result = xp.log(total) + top
    if not keepdims:
        result, sign = (v.reshape(terms.sum(axis).shape)[()] for v in (result, sign))
    return (result, sign) if return_sign else result


@mirrors(scipy_special.softmax)
def softmax(x: Any, axis: Any = None) -> GpuArray:
    """Return exponentials divided by their sum along axes."""
    exponents = inexact(x)
    shifted = xp.exp(exponents - exponents.max(_axes(axis), keepdims=True))
    return shifted / shifted.sum(_axes(axis), keepdims=True)


@mirrors(scipy_special.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> GpuArray:
    """Return the logarithm of :func:`softmax`."""
    exponents = inexact(x)
    top = exponents.max(_axes(axis), keepdims=True)
    shifted = exponents - xp.where(xp.isfinite(top), top, 0)
    return shifted - xp.log(xp.exp(shifted).sum(_axes(axis), keepdims=True))


@mirrors(scipy_special.diric)
def diric(x: Any, n: Any) -> GpuArray:
    """Return the periodic sinc function, sin(n x / 2) / (n sin(x / 2))."""
    angle, count = as_arrays(x, n)
    angle = inexact(angle)
    low = np.finfo(angle.dtype).eps
    half = angle / 2
    divisor = xp.sin(half)
    at_pole = xp.abs(divisor) < (1e-7 if low < 1e-10 else 1e-3)
    count = count.astype(angle.dtype)
    turns = xp.rint(angle / (2 * np.pi))
    limit = xp.cos(np.pi * turns * (count - 1))
    result = xp.where(at_pole, limit, xp.sin(count * half) / (count * xp.where(at_pole, 1, divisor)))
    return xp.where((count <= 0) | (count != xp.floor(count)), np.nan, result)


@mirrors(scipy_special.multigammaln, kind=COMPOSED)
def multigammaln(a: Any, d: Any) -> GpuArray:
    """Return the logarithm of the multivariate gamma function of dimension ``d``."""
    dimension = int(np.real(d)) if np.isscalar(d) else -1
    if dimension != d:
        raise ValueError("d should be a positive integer (dimension)")
    array = as_array(a).astype(dtypes.float64, copy=False)
    if not bool((array > 0.5 * (dimension - 1)).all()):
        raise ValueError(f"condition a ({a}) > 0.5 * (d-1) ({0.5 * (dimension - 1)}) not met")
    result: GpuArray = array * 0 + (dimension * (dimension - 1) * 0.25) * np.log(np.pi)
    for j in range(1, dimension + 1):
        result = result + special.gammaln(array - (j - 1.0) / 2)
    return result


@mirrors(scipy_special.polygamma)
def polygamma(n: Any, x: Any) -> GpuArray:
    """Return derivatives of the digamma function, the n-th at x; NaN if n is no integer."""
    order, point = as_arrays(n, x)
    result_kind = trial(scipy_special.polygamma, order, np.ones(1, point.dtype))
    order, point = _computed(order), _computed(point)
    kind = np.result_type(order.dtype, point.dtype)
    order, point = (v.astype(kind, copy=False) for v in (order, point))
    result = special.gamma(order + 1) * special.zeta(order + 1, point)
    sign = xp.where(xp.remainder(order, 2) == 1, 1, xp.where(xp.remainder(order, 2) == 0, -1, np.nan)).astype(kind)
    return xp.where(order == 0, special.digamma(point), sign * result).astype(result_kind, copy=False)


def riemann(x: GpuArray) -> GpuArray:
    """Return the Riemann zeta function: beyond 1 its series, far below 0 by reflection, else by Euler-Maclaurin."""
    kind = x.dtype.type
    between = xp.where((x >= _REFLECTED) & (x < 1), x, kind(0.5))
    terms: GpuArray = xp.exp(between * 0)
    for n in range(2, _TERMS):
        terms = terms + xp.exp(between * kind(-np.log(n)))
    power = xp.exp(between * kind(-np.log(_TERMS)))
    total = terms + power * (kind(_TERMS) / (between - 1) + kind(0.5))
    factor = between * power * kind(1 / _TERMS)
    for k, number in enumerate(_BERNOULLI, 1):
        total = total + factor * kind(number)
        factor = factor * (between + (2 * k - 1)) * (between + 2 * k) * kind(1 / _TERMS**2)
    above = special.zeta(xp.where(x > 1, x, xp.where(x < _REFLECTED, 1 - x, kind(2))), 1.0)
    low = xp.where(x < _REFLECTED, x, kind(-1))
    turns = xp.remainder(low, 4) * kind(np.pi / 2)
    mirror = 2 * xp.exp((low - 1) * kind(np.log(2 * np.pi)) + special.gammaln(1 - low)) * xp.sin(turns)
    mirror = xp.where(xp.remainder(low, 2) == 0, kind(0), mirror) * above
    result = xp.where(x > 1, above, xp.where(x < _REFLECTED, mirror, total))
    return xp.where(x == 1, kind(np.inf), xp.where(x == -np.inf, kind(np.nan), xp.where(x == x, result, x)))


_COMPLEX: Final = "of complex numbers it has no composition"


@mirrors(scipy_special.zeta, reason=_COMPLEX)
def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """Return the Riemann zeta function, or the Hurwitz zeta function of ``q``."""
    if any(v.dtype.kind == "c" for v in as_arrays(x, 0 if q is None else q)):
        return run_counted(scipy_special.zeta, _COMPLEX, (x, q, out), {})
    if q is None:
        array = as_array(x)
        result = riemann(_computed(array)).astype(trial(scipy_special.zeta, array), copy=False)
    else:
        samples = (v if type(v) in (int, float) else np.ones(1, as_array(v).dtype) for v in (x, q))
        kind = scipy_special.zeta(*samples).dtype
        result = special.zeta(*(v.astype(kind, copy=False) for v in as_arrays(x, q)))
    if out is not None:
        out[...] = result
        return out
    return result
