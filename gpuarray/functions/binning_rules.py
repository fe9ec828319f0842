"""NumPy's rules for how many bins a histogram of some elements should have, by the name of the rule."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import numbers
from gpuarray.functions.quantiles import percentile
from gpuarray.source_locations import warn

#: ``tally(line, count, limits)`` returns how many elements are in each of ``count`` bins.
Tally = Callable[[GpuArray, int, Any], Any]


def _interquartile(line: GpuArray) -> float:
    low, high = percentile(line, [25, 75]).tolist()
    return float(high - low)


def _freedman_diaconis(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    return float(2.0 * _interquartile(line) * line.size ** (-1.0 / 3.0))


def _sturges(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    return extent / (math.log2(line.size) + 1.0)


def _square_root(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    return extent / math.sqrt(line.size)


def _rice(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    return float(extent / (2.0 * line.size ** (1.0 / 3)))


def _scott(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    return float((24.0 * math.pi**0.5 / line.size) ** (1.0 / 3.0) * line.std().item())


def _doane(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    size = line.size
    mean, deviation = numbers(line.mean(), line.std())
    if size <= 2 or not deviation > 0.0:
        return 0.0
    spread = math.sqrt(6.0 * (size - 2) / ((size + 1.0) * (size + 3)))
    skewness = (((line - mean) / deviation) ** 3).mean().item()
    return extent / (1.0 + math.log2(size) + math.log2(1.0 + abs(skewness) / spread))


def _stone(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    size = line.size
    if size <= 1 or extent == 0:
        return 0.0

    def loss(count: int) -> float:
        shares = tally(line, count, limits) / size
        return float((2 - (size + 1) * (shares * shares).sum().item()) * count / extent)

    most = max(100, math.isqrt(size))
    count = min(range(1, most + 1), key=loss)
    if count == most:
        warn("The number of bins estimated may be suboptimal.", RuntimeWarning)
    return extent / count


def _automatic(line: GpuArray, extent: float, limits: Any, tally: Tally) -> float:
    fine = max(_freedman_diaconis(line, extent, limits, tally), _square_root(line, extent, limits, tally) / 2)
    return min(fine, _sturges(line, extent, limits, tally))


#: ``rule(line, extent, limits, tally)`` returns the width of a bin, for elements that are ``extent`` apart at most.
_RULES: Final = {
    "stone": _stone,
    "auto": _automatic,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _square_root,
    "sturges": _sturges,
}


def number_of_bins(rule: str, line: GpuArray, limits: Any, tally: Tally) -> int:
    """Return how many bins a rule takes for elements.

    Parameters
    ----------
    rule : str
        NumPy's name of the rule.
    line : GpuArray
        The elements, of one axis.
    limits : tuple of float or None
        Between which the bins are; by default between the extremes.
    tally : callable
        How to count elements in bins.

    Raises
    ------
    ValueError
        If there is no such rule.
    """
    if rule not in _RULES:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`; estimators are {', '.join(_RULES)}")
    if limits is not None:
        line = line[(line >= limits[0]) & (line <= limits[1])]
    if not line.size:
        return 1
    lowest, highest = numbers(line.min(), line.max())
    ends = limits if limits is not None else (lowest, highest)
    ends = ends if ends[0] != ends[1] else (ends[0] - 0.5, ends[1] + 0.5)
    width = _RULES[rule](line, float(highest - lowest), ends, tally)
    if not width:
        return 1
    if line.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil((ends[1] - ends[0]) / width))
