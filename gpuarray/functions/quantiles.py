"""NumPy's medians, quantiles and percentiles: interpolation between neighbours in sorted lines.

Positions and weights of the neighbours are small NumPy arrays if all lines have the same length. If NaN are ignored,
lengths differ, and the same expressions are computed with arrays of the device.
"""

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import creation, indexing, reductions, sorting
from gpuarray.functions.arguments import NOT_GIVEN, along, as_array, check_cast, numbers, read, value_or
from gpuarray.functions.at_once import ANY
from gpuarray.functions.reductions import axes_of, write_reduced
from gpuarray.functions.registry import IMPLEMENTATIONS, implements
from gpuarray.functions.statistics import aligned_weights
from gpuarray.graph import tape
from gpuarray.graph.shapes import normalize_axes
from gpuarray.source_locations import warn

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

#: ``alpha`` and ``beta`` of the interpolating methods of Hyndman and Fan (1996).
_CONTINUOUS: Final = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}

#: The most positions for which lines are partitioned, and the fewest elements of a line: otherwise NumPy's partition
#: takes longer than its sort.
_PARTITIONED, _LONG = 8, 256


def _first_above(position: Any, stays: Callable[[Any], Any]) -> Any:
    """Return the integer after ``position``, or ``position`` if it is an integer for which ``stays`` is true."""
    before = np.floor(position)
    return np.maximum(np.where((position == before) & stays(before), before, before + 1), 0)


#: The position of the element that each discrete method takes, from the number of elements and the quantile.
_DISCRETE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "inverted_cdf": lambda n, q: _first_above(n * q - 1, lambda before: before == before),
    "closest_observation": lambda n, q: _first_above(n * q - 1 - 0.5, lambda before: before % 2 == 1),
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.round((n - 1) * q),
}

_OTHERS: Final = ("averaged_inverted_cdf", "linear", "midpoint")
_METHODS: Final = (*_DISCRETE, *_CONTINUOUS, *_OTHERS)


def _between(method: str, count: Any, q: Any) -> tuple[Any, Any]:
    """Return the position of a quantile among ``count`` elements, and the weight of the next element."""
    if method == "linear":
        position = (count - 1) * q
    elif method == "averaged_inverted_cdf":
        position = count * q - 1
        return position, np.where(position == np.floor(position), 0.5, 1.0)
    elif method == "midpoint":
        exact = (count - 1) * q
        position = 0.5 * (np.floor(exact) + np.ceil(exact))
        return position, np.where(position == np.floor(position), 0.0, 0.5)
    else:
        alpha, beta = _CONTINUOUS[method]
        position = count * q + (alpha + q * (1 - alpha - beta)) - 1
    return position, position - np.floor(position)


# -- lines ----------------------------------------------------------------------------------------------------------


def _lines(source: GpuArray, axes: tuple[int, ...]) -> GpuArray:
    """Merge ``axes`` into one, the first."""
    outer = [a for a in range(source.ndim) if a not in axes]
    moved = source.transpose([*axes, *outer])
    return moved.reshape(prod(source.shape[a] for a in axes), *(source.shape[a] for a in outer))


def _put(name: str, result: Any, source: GpuArray, axes: tuple[int, ...], out: Any, keepdims: Any) -> GpuArray:
    """Apply ``keepdims`` and ``out`` to a result, whose last axes are those of ``source`` without ``axes``."""
    if keepdims:
        first = result.shape[: result.ndim - (source.ndim - len(axes))]
        result = result.reshape(*first, *(1 if a in axes else n for a, n in enumerate(source.shape)))
    # a result without axes is a value, whichever function made it
    return write_reduced(name, result if result.ndim or out is not None else result[()], out)


def _nan_where(flags: Any, result: Any) -> Any:
    return np.where(flags, result.dtype.type(np.nan), result)


def _kept(function: Callable[..., Any], *, skips_nan: bool = False) -> Callable[..., Any]:
    """Return NumPy's function, which must not order the elements in their memory: other arrays may share it.

    Without NaN it is also the one that ignores NaN.
    """

    def run(a: Any, *arguments: Any, **keywords: Any) -> Any:
        if skips_nan and np.isnan(a).any():
            raise LookupError
        keywords.pop("overwrite_input", None)
        read_only = a.view()
        read_only.flags.writeable = False
        return function(read_only, *arguments, **keywords)

    return run


def _is_one_line(source: GpuArray, lines: GpuArray, axes: tuple[int, ...]) -> bool:
    """Return whether an array is a single line that NumPy can order, though its shape or value did not say so before.

    A pending value that the host computes is computed.
    """
    return len(axes) == source.ndim and (lines.ndim < source.ndim or lines.compute_on_host())


def _of_line(name: str, line: GpuArray, *arguments: Any, **keywords: Any) -> Any:
    """Return the result of a function for the only line of an array: NumPy orders no more of it than it must."""
    function: Any = IMPLEMENTATIONS[name].function
    return function(line, *arguments, **keywords)


# -- medians --------------------------------------------------------------------------------------------------------


def _median(name: str, a: Any, axis: Any, out: Any, overwrite_input: Any, keepdims: Any, *, skip_nan: bool) -> GpuArray:
    source = as_array(a)
    axes = axes_of(axis, source.ndim) if source.ndim else normalize_axes(axis, 0)
    lines = _lines(source, axes)
    count = lines.shape[0]
    if not count:
        warn("Mean of empty slice", RuntimeWarning)
        kind = source.dtype if source.dtype.kind in "fc" else dtypes.float64
        return _put(
            name, creation.full(lines.shape[1:], np.nan, kind, device=source.device), source, axes, out, keepdims
        )
    if _is_one_line(source, lines, axes):
        return _put(name, _of_line(name, lines), source, axes, out, keepdims)
    if skip_nan and source.dtype.kind in "fc":
        ordered = sorting.sort(lines, axis=0)
        present = reductions.sum(~np.isnan(lines), 0, keepdims=True)
        low, high = np.maximum(present - 1, 0) // 2, np.minimum(present // 2, count - 1)
        pair = indexing.take_along_axis(ordered, np.concatenate([low, high]), 0)
        # the sum of the middle element with itself could overflow
        result = np.where((low == high)[0], pair[0], np.mean(pair, axis=0))
    else:
        first, last = (count - 1) // 2, count // 2
        ordered = _ordered(lines, first, last)
        result = np.mean(ordered[first : last + 1], axis=0)
        if source.dtype.kind in "fc":
            result = _nan_where(np.isnan(ordered[-1]), result)
    return _put(name, result, source, axes, out, keepdims)


@implements("median", at_once="lines", call=_kept(np.median), most=ANY)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> GpuArray:
    """Return the median along an axis."""
    return _median("median", a, axis, out, overwrite_input, keepdims, skip_nan=False)


@implements("nanmedian", at_once="lines", call=_kept(np.median, skips_nan=True), most=ANY)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NOT_GIVEN
) -> GpuArray:
    """Return the median along an axis, ignoring NaN."""
    return _median("nanmedian", a, axis, out, overwrite_input, value_or(keepdims, False), skip_nan=True)


# -- quantiles ------------------------------------------------------------------------------------------------------


def _quantile(
    name: str, a: Any, q: Any, axis: Any, out: Any, overwrite_input: Any, method: str, keepdims: Any, weights: Any
) -> GpuArray:
    source = as_array(a)
    if source.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    is_varying = isinstance(q, GpuArray) and tape.varying(q.node())
    probabilities, scale = q if is_varying else read(q), 1
    if name.endswith("percentile"):
        probabilities, scale = np.true_divide(probabilities, 100), 100
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        noun = "Percentiles" if scale > 1 else "Quantiles"
        raise ValueError(f"{noun} must be in the range [0, {scale}]")
    if probabilities.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(_METHODS)}")
    axes = normalize_axes(axis, source.ndim)
    lines = _lines(source, axes)
    if not lines.shape[0]:
        if not name.startswith("nan"):
            raise IndexError("index -1 is out of bounds for axis 0 with size 0: there are no elements")
        kind = source.dtype if source.dtype.kind == "f" else dtypes.float64
        missing = creation.full((*probabilities.shape, *lines.shape[1:]), np.nan, kind, device=source.device)
        return _put(name, missing, source, axes, out, keepdims)
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        shares = _lines(aligned_weights(source, as_array(weights, source.device), axis), axes)
        quantiles = _weighted(lines, shares, probabilities, skip_nan=name.startswith("nan"))
        return _put(name, quantiles, source, axes, out, keepdims)
    if _is_one_line(source, lines, axes):
        quantiles = _of_line(name, lines, q, method=method)
    else:
        # a Python scalar leaves the dtype of the elements as it is
        weak = type(q) in (int, float)
        quantiles = _among(lines, probabilities, method, weak=weak, skip_nan=name.startswith("nan"))
    if out is not None and not name.startswith("nan"):
        check_cast(quantiles.dtype, out.dtype, "same_kind")
    return _put(name, quantiles, source, axes, out, keepdims)


def _among(lines: GpuArray, q: Any, method: str, *, weak: bool, skip_nan: bool) -> Any:
    """Return quantiles along the first axis, of shape ``q.shape + lines.shape[1:]``."""
    length, rest = lines.shape[0], lines.shape[1:]
    has_nan = lines.dtype.kind == "f"
    flat = q.reshape(-1, *(1 for _ in rest))
    count: Any = length
    if skip_nan and has_nan:
        count = reductions.sum(~np.isnan(lines), 0, keepdims=True)
    if method == "linear" and q.dtype.kind in "biu":
        method = "lower"  # 0 and 1 are the only integral quantiles; there is nothing to interpolate
    if method in _DISCRETE:
        position = np.clip(_DISCRETE[method](count, flat), 0, length - 1)
        ordered = _ordered(lines, position)
        result = _element(ordered, position)
    else:
        position, share = _between(method, count, flat)
        last = np.maximum(count - 1, 0)
        below = np.clip(np.floor(position), 0, last)
        above = np.clip(np.where(position < 0, 0, np.floor(position) + 1), 0, last)
        ordered = _ordered(lines, below, above)
        low, high = _element(ordered, below), _element(ordered, above)
        share = share.astype(position.dtype)
        if weak:
            share = share.astype(lines.dtype if has_nan else dtypes.float64)
        result = _interpolated(low, high, share)
    if has_nan and not skip_nan:
        result = _nan_where(np.isnan(ordered[-1]), result)
    return result.reshape(*q.shape, *rest)


def _weighted(lines: GpuArray, weights: GpuArray, q: Any, *, skip_nan: bool) -> Any:
    """Return the elements at which the cumulative weights, in the order of the elements, reach quantiles."""
    rest = lines.shape[1:]
    missing: Any = np.isnan(lines) if lines.dtype.kind == "f" else None
    if missing is not None and skip_nan:
        weights = np.where(missing, 0, weights)  # type: ignore[assignment]  # a duck array
    order = sorting.argsort(lines, axis=0)
    ordered, shares = (indexing.take_along_axis(x, order, 0) for x in (lines, weights))
    reached: Any = np.cumsum(shares, axis=0, dtype=np.float64)
    reached = reached / reached[-1]
    empty = np.isnan(reached[-1]) if not skip_nan else np.False_
    negative, undefined = numbers((weights < 0).any(), as_array(empty, lines.device).any())
    if negative:
        raise ValueError("Weights must be non-negative.")
    if undefined:
        raise ValueError("Weights included NaN, inf or were all zero.")
    # leading elements without weight are skipped
    reached = np.where(reached == 0, -1, reached)
    flat = q.reshape(-1, 1, *(1 for _ in rest))
    position = np.minimum(reductions.sum(reached[None] < flat, 1), lines.shape[0] - 1)
    result = _element(ordered, as_array(position))
    if missing is not None:
        result = _nan_where(reductions.all(missing, 0) if skip_nan else reductions.any(missing, 0), result)
    return result.reshape(*q.shape, *rest)


def _ordered(lines: GpuArray, *positions: Any) -> GpuArray:
    """Return lines whose elements at positions along the first axis, and the last ones, are those of sorted lines."""
    if lines.shape[0] >= _LONG and not any(isinstance(each, GpuArray) for each in positions):
        places = {int(place) for each in positions for place in np.ravel(each)} | {lines.shape[0] - 1}
        if len(places) <= _PARTITIONED:
            return sorting.partition(lines, sorted(places), axis=0)
    return sorting.sort(lines, axis=0)


def _element(ordered: GpuArray, positions: Any) -> Any:
    """Return the elements at positions along the first axis, which may differ between lines."""
    whole = positions.astype(np.int64)
    if isinstance(whole, GpuArray):
        return indexing.take_along_axis(ordered, whole, 0)
    return ordered[along(0, whole.reshape(-1))]


def _interpolated(low: Any, high: Any, share: Any) -> Any:
    """Interpolate from the nearer end, as NumPy does."""
    way = high - low
    return np.where(share >= 0.5, high - way * (1 - share), low + way * share)


@implements("quantile", at_once="lines", call=_kept(np.quantile), most=ANY)
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> GpuArray:  # fmt: skip
    """Return quantiles along an axis."""
    return _quantile("quantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@implements("percentile", at_once="lines", call=_kept(np.percentile), most=ANY)
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> GpuArray:  # fmt: skip
    """Return percentiles along an axis."""
    return _quantile("percentile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@implements("nanquantile", at_once="lines", call=_kept(np.quantile, skips_nan=True), most=ANY)
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NOT_GIVEN, *, weights: Any = None,
) -> GpuArray:  # fmt: skip
    """Return quantiles along an axis, ignoring NaN."""
    return _quantile("nanquantile", a, q, axis, out, overwrite_input, method, value_or(keepdims, False), weights)


@implements("nanpercentile", at_once="lines", call=_kept(np.percentile, skips_nan=True), most=ANY)
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NOT_GIVEN, *, weights: Any = None,
) -> GpuArray:  # fmt: skip
    """Return percentiles along an axis, ignoring NaN."""
    return _quantile("nanpercentile", a, q, axis, out, overwrite_input, method, value_or(keepdims, False), weights)
