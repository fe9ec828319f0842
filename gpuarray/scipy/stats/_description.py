"""Descriptions of samples."""

from typing import Any

import numpy as np
from scipy import stats as scipy_stats

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._mirror import mirrors

__all__ = ["describe", "gzscore", "kurtosis", "sem", "skew", "zmap", "zscore"]


def _sample(a: Any, axis: Any, nan_policy: str) -> tuple[GpuArray, Any]:
    """Return a sample of floating-point numbers and the axis; all elements along one axis for the axis None.

    Raises
    ------
    NotImplementedError
        If NaN are to be left out or refused.
    """
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    array = as_array(a)
    if array.dtype.kind not in "fc":
        array = array.astype(dtypes.float64)
    if nan_policy != "propagate" and bool(xp.isnan(array).any()):
        if nan_policy == "raise":
            raise ValueError("The input contains nan values")
        raise NotImplementedError("nan_policy='omit' has no composition; remove the NaN, or use SciPy on the host")
    return (array.reshape(-1), 0) if axis is None else (array, axis)


def _scores(scores: GpuArray, sample: GpuArray, axis: Any, ddof: int) -> GpuArray:
    mean = sample.mean(axis, keepdims=True)
    deviation = sample.std(axis, correction=ddof, keepdims=True)
    least = xp.abs(np.finfo(sample.dtype).eps * mean)
    return xp.where(deviation <= least, np.nan, (scores - mean) / deviation)


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
    sample, number = _sample(second, axis, nan_policy)
    if first.dtype.kind not in "fc":
        first = first.astype(dtypes.float64)
    return _scores(first, sample, number if axis is not None else None, ddof)


@mirrors(scipy_stats.sem, kind=COMPOSED)
def sem(a: Any, axis: Any = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> GpuArray:
    """Return the standard error of the mean along an axis."""
    sample, number = _sample(a, axis, nan_policy)
    return sample.std(number, correction=ddof, keepdims=keepdims) / float(np.sqrt(sample.shape[number]))


def _moments(sample: GpuArray, axis: int, order: int) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return the second and another central moment, and where the second one is 0 but for rounding."""
    mean = sample.mean(axis, keepdims=True)
    apart = sample - mean
    second, other = (apart**2).mean(axis), (apart**order).mean(axis)
    level = (mean * float(np.finfo(sample.dtype).eps)).reshape(second.shape)
    return second, other, second <= level**2


@mirrors(scipy_stats.skew, kind=COMPOSED)
def skew(
    a: Any, axis: Any = 0, bias: bool = True, nan_policy: str = "propagate", *, keepdims: bool = False
) -> GpuArray:
    """Return the skewness along an axis."""
    sample, number = _sample(a, axis, nan_policy)
    count = sample.shape[number]
    second, third, is_constant = _moments(sample, number, 3)
    found = third / xp.pow(second, 1.5)
    if not bias and count > 2:
        found = found * float(np.sqrt((count - 1.0) * count) / (count - 2.0))
    found = xp.where(is_constant, np.nan, found)
    return xp.expand_dims(found, number) if keepdims else found


@mirrors(scipy_stats.kurtosis, kind=COMPOSED)
def kurtosis(
    a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the kurtosis along an axis, less 3 if ``fisher`` is True."""
    sample, number = _sample(a, axis, nan_policy)
    n = sample.shape[number]
    second, fourth, is_constant = _moments(sample, number, 4)
    found = fourth / second**2
    if not bias and n > 3:
        found = 1.0 / (n - 2) / (n - 3) * ((n**2 - 1.0) * found - 3 * (n - 1) ** 2.0) + 3.0
    found = xp.where(is_constant, np.nan, found - 3 if fisher else found)
    return xp.expand_dims(found, number) if keepdims else found


@mirrors(scipy_stats.describe, kind=COMPOSED)
def describe(a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True, nan_policy: str = "propagate") -> Any:
    """Return the number, the extrema, and the moments of elements along an axis."""
    given = as_array(a)
    if not given.size:
        raise ValueError("The input must not be empty.")
    sample, number = _sample(given, axis, nan_policy)
    whole = given.reshape(-1) if axis is None else given
    kind = type(scipy_stats.describe(np.zeros(2)))
    return kind(
        sample.shape[number],
        (whole.min(number), whole.max(number)),
        sample.mean(number),
        sample.var(number, correction=ddof),
        skew.composition(sample, number, bias),  # type: ignore[attr-defined]  # the decorator sets it
        kurtosis.composition(sample, number, True, bias),  # type: ignore[attr-defined]  # the decorator sets it
    )
