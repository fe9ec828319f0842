"""NumPy's rules for the number of bins of a histogram, by name."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import numbers
from gpuarray.functions.quantiles import percentile
from gpuarray.source_locations import warn

#: ``counts_of(line, number, limits)`` returns the number of elements in each of ``number`` bins.
CountsOf = Callable[[GpuArray, int, Any], Any]


def _interquartile(line: GpuArray) -> float:
    low, high = percentile(line, [25, 75]).tolist()
    return float(high - low)


def _freedman_diaconis(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    return float(2.0 * _interquartile(line) * line.size ** (-1.0 / 3.0))


def _sturges(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    return extent / (math.log2(line.size) + 1.0)


def _square_root(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    return extent / math.sqrt(line.size)


def _rice(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    return float(extent / (2.0 * line.size ** (1.0 / 3)))


def _scott(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    return float((24.0 * math.pi**0.5 / line.size) ** (1.0 / 3.0) * line.std().item())


def _doane(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    size = line.size
    mean, deviation = numbers(line.mean(), line.std())
    if size <= 2 or not deviation > 0.0:
        return 0.0
    spread = math.sqrt(6.0 * (size - 2) / ((size + 1.0) * (size + 3)))
    skewness = (((line - mean) / deviation) ** 3).mean().item()
    return extent / (1.0 + math.log2(size) + math.log2(1.0 + abs(skewness) / spread))


def _stone(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    size = line.size
    if size <= 1 or extent == 0:
        return 0.0

    def loss(count: int) -> float:
        shares = counts_of(line, count, limits) / size
        return float((2 - (size + 1) * (shares * shares).sum().item()) * count / extent)

    most = max(100, math.isqrt(size))
    count = min(range(1, most + 1), key=loss)
    if count == most:
        warn("The number of bins estimated may be suboptimal.", RuntimeWarning)
    return extent / count


def _automatic(line: GpuArray, extent: float, limits: Any, counts_of: CountsOf) -> float:
    fine = max(_freedman_diaconis(line, extent, limits, counts_of), _square_root(line, extent, limits, counts_of) / 2)
    return min(fine, _sturges(line, extent, limits, counts_of))


#: ``rule(line, extent, limits, counts_of)`` returns the width of a bin; ``extent`` is the range of the elements.
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


def number_of_bins(rule: str, line: GpuArray, limits: Any, counts_of: CountsOf) -> int:
    """Return the number of bins by a rule.

    Parameters
    ----------
    rule : str
        NumPy's name of the rule.
    line : GpuArray
        The elements, of one axis.
    limits : tuple of float or None
        The limits of the bins; by default the extremes.
    counts_of : callable
        Counts the elements in bins.

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
    width = _RULES[rule](line, float(highest - lowest), ends, counts_of)
    if not width:
        return 1
    if line.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil((ends[1] - ends[0]) / width))
