"""Descriptions of samples."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy import stats as scipy_stats

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._mirror import mirrors

__all__ = ["describe", "gzscore", "kurtosis", "sem", "skew", "zmap", "zscore"]

_MASKED: Final = "results are masked arrays"


def _sample(a: Any, axis: Any, nan_policy: str) -> tuple[GpuArray, Any, Any]:
    """Return a sample of floating-point numbers, the axis, and how many elements there are along it.

    All elements are along one axis for the axis None. With "omit" NaN do not count, if there are any: then the numbers
    are an array, with extent 1 along the axis.

    Raises
    ------
    ValueError
        If there are NaN which are to be refused.
    """
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    array = as_array(a)
    if array.dtype.kind not in "fc":
        array = array.astype(dtypes.float64)
    has_nan = nan_policy != "propagate" and bool(xp.isnan(array).any())
    if has_nan and nan_policy == "raise":
        raise ValueError("The input contains nan values")
    number = 0 if axis is None else axis
    if axis is None:
        array = array.reshape(-1)
    if has_nan:
        return array, number, xp.sum(~xp.isnan(array), axis=number, keepdims=True).astype(array.real.dtype)
    return array, number, array.shape[number]


def _mean(x: GpuArray, axis: Any, count: Any) -> GpuArray:
    """Return means along an axis, which keeps extent 1, of the elements that count."""
    return x.mean(axis, keepdims=True) if isinstance(count, int) else xp.nansum(x, axis=axis, keepdims=True) / count


def _deviation(sample: GpuArray, axis: Any, count: Any, ddof: int) -> GpuArray:
    if isinstance(count, int):
        return sample.std(axis, correction=ddof, keepdims=True)
    return xp.nanstd(sample, axis=axis, ddof=ddof, keepdims=True)


def _reduced(result: GpuArray, axis: Any, keepdims: bool) -> GpuArray:
    return result if keepdims else xp.squeeze(result, axis=axis)[()]


@mirrors(scipy_stats.zscore, kind=COMPOSED)
def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> GpuArray:
    """Return the distances from the mean along an axis, in standard deviations."""
    return zmap(a, a, axis, ddof, nan_policy)


@mirrors(scipy_stats.gzscore, kind=COMPOSED)
def gzscore(a: Any, *, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> GpuArray:
    """Return the scores of the logarithms."""
    return zscore(xp.log(as_array(a)), axis, ddof, nan_policy)


@mirrors(scipy_stats.zmap, kind=COMPOSED)
def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> GpuArray:
    """Return the distances of scores from the mean of a sample along an axis, in its standard deviations."""
    first, second = as_arrays(scores, compare)
    sample, number, count = _sample(second, axis, nan_policy)
    if first.dtype.kind not in "fc":
        first = first.astype(dtypes.float64)
    mean, deviation = _mean(sample, number, count), _deviation(sample, number, count, ddof)
    if axis is None:
        mean, deviation = mean[0], deviation[0]
    least = xp.abs(np.finfo(sample.dtype).eps * mean)
    return xp.where(deviation <= least, np.nan, (first - mean) / deviation)


@mirrors(scipy_stats.sem, kind=COMPOSED)
def sem(a: Any, axis: Any = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> GpuArray:
    """Return the standard error of the mean along an axis."""
    sample, number, count = _sample(a, axis, nan_policy)
    root = float(np.sqrt(count)) if isinstance(count, int) else xp.sqrt(count)
    result = _deviation(sample, number, count, ddof) / root
    if not isinstance(count, int):
        result = xp.where(count > 1, result, np.nan)
    return _reduced(result, number, keepdims)


def _moments(sample: GpuArray, axis: int, count: Any, order: int) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return the second and another central moment, and where the second one is 0 but for rounding."""
    mean = _mean(sample, axis, count)
    apart = sample - mean
    second, other = (_mean(apart**power, axis, count) for power in (2, order))
    return second, other, second <= (mean * float(np.finfo(sample.dtype).eps)) ** 2


def _unbiased(result: GpuArray, corrected: Callable[[Any], GpuArray], count: Any, least: int) -> GpuArray:
    """Return a moment corrected for the size of the sample, where it is large enough."""
    if isinstance(count, int):
        return corrected(float(count)) if count > least else result
    return xp.where(count > least, corrected(count), result)


@mirrors(scipy_stats.skew, kind=COMPOSED)
def skew(
    a: Any, axis: Any = 0, bias: bool = True, nan_policy: str = "propagate", *, keepdims: bool = False
) -> GpuArray:
    """Return the skewness along an axis."""
    sample, number, count = _sample(a, axis, nan_policy)
    second, third, is_constant = _moments(sample, number, count, 3)
    result = third / xp.pow(second, 1.5)
    if not bias:
        result = _unbiased(result, lambda n: result * (((n - 1.0) * n) ** 0.5 / (n - 2.0)), count, 2)
    return _reduced(xp.where(is_constant, np.nan, result), number, keepdims)


@mirrors(scipy_stats.kurtosis, kind=COMPOSED)
def kurtosis(
    a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the kurtosis along an axis, less 3 if ``fisher`` is True."""
    sample, number, count = _sample(a, axis, nan_policy)
    second, fourth, is_constant = _moments(sample, number, count, 4)
    plain = fourth / second**2

    def corrected(n: Any) -> Any:
        return 1.0 / (n - 2) / (n - 3) * ((n**2 - 1.0) * plain - 3 * (n - 1) ** 2.0) + 3.0

    result = plain if bias else _unbiased(plain, corrected, count, 3)
    return _reduced(xp.where(is_constant, np.nan, result - 3 if fisher else result), number, keepdims)


@mirrors(scipy_stats.describe, kind=COMPOSED, reason=f"with nan_policy='omit' and NaN, {_MASKED}")
def describe(a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True, nan_policy: str = "propagate") -> Any:
    """Return the number, the extrema, and the moments of elements along an axis."""
    values = as_array(a)
    if not values.size:
        raise ValueError("The input must not be empty.")
    sample, number, count = _sample(values, axis, nan_policy)
    if not isinstance(count, int):
        return run_counted(scipy_stats.describe, _MASKED, (values, axis, ddof, bias, nan_policy), {})
    whole = values.reshape(-1) if axis is None else values
    kind = type(scipy_stats.describe(np.zeros(2)))
    return kind(
        count,
        (whole.min(number), whole.max(number)),
        sample.mean(number),
        sample.var(number, correction=ddof),
        skew.composition(sample, number, bias),  # type: ignore[attr-defined]  # the decorator sets it
        kurtosis.composition(sample, number, True, bias),  # type: ignore[attr-defined]  # the decorator sets it
    )
