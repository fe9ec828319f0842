"""How far a right answer may be from NumPy's: every value carries an error bound for each of its elements.

An element's *slack* is 0 where the answer must be NumPy's own bits, finite where rounding may differ, and infinite
where anything goes: what C leaves undefined, and decisions taken on values that are themselves uncertain. Slack of an
elementwise result is its promised rounding error plus what its operands' slack can do to it, found by evaluating the
function in double precision at the corners of the operands' error boxes. The smallest subnormal number as the slack
of a zero means that its sign is open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

TINY = 5e-324
#: Error of NumPy's own vectorised functions, in units in the last place, beside the error that a row promises.
REFERENCE_ULP = 4
SAFETY = 1.5


@dataclass
class Value:
    """NumPy's array, and for each element how far from it an answer may be."""

    array: np.ndarray[Any, Any]
    slack: np.ndarray[Any, Any]

    @property
    def is_exact(self) -> bool:
        return not self.slack.any()


def exact(array: Any) -> Value:
    host = np.asarray(array)
    return Value(host, np.zeros(host.shape))


def through(value: Value, view: Callable[[Any], Any]) -> Value:
    """Return a value seen through a function that only moves elements."""
    return Value(np.asarray(view(value.array)), np.asarray(view(value.slack)))


def wide(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def unit(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the unit in the last place at the magnitude of each element; 0 of what is not finite."""
    size = np.abs(array)
    return np.asarray(np.where(np.isfinite(size), np.spacing(size), 0).astype(np.float64))


def epsilon(dtype: Any) -> float:
    return float(np.finfo(dtype).eps)


def _closed(array: np.ndarray[Any, Any], slack: np.ndarray[Any, Any]) -> Value:
    """Return a value whose slack obeys what holds for all: integers are certain or open, subnormal floats nearly so."""
    slack = np.broadcast_to(slack, array.shape).astype(np.float64)
    slack[np.isnan(slack)] = np.inf
    if array.dtype.kind in "biu":
        slack[slack > 0] = np.inf
        return Value(array, slack)
    if array.dtype.kind == "c":
        slack[~np.isfinite(array)] = np.inf
    if array.dtype != np.float16:
        tiny = float(np.finfo(array.dtype).tiny)
        low = np.minimum(np.abs(array.real), np.where(array.imag == 0, np.inf, np.abs(array.imag)))
        slack[(low < tiny) & (array != 0)] += tiny
    return Value(array, slack)


# -- elementwise ------------------------------------------------------------------------------------------------------


def spread(function: Callable[..., Any], operands: Sequence[Value], dtype: Any) -> Any:
    """Return how far the operands' slack can move the result of a function."""
    moved = [i for i, o in enumerate(operands) if not o.is_exact]
    if not moved:
        return 0.0
    centres = [wide(o.array) for o in operands]
    middle = _as(function(*centres))
    rounded = middle.astype(dtype)
    worst = np.zeros(middle.shape)
    directions = {i: (1, -1, 1j, -1j) if operands[i].array.dtype.kind == "c" else (1, -1) for i in moved}
    lost: Any = False
    for i in moved:
        lost = lost | np.isinf(operands[i].slack)
    for chosen in product(*(directions[i] for i in moved)):
        at = list(centres)
        for i, direction in zip(moved, chosen, strict=True):
            slack = operands[i].slack
            at[i] = centres[i] + direction * np.where(np.isinf(slack) | ~np.isfinite(centres[i]), 0, slack)
        sample = _as(function(*at))
        if sample.dtype.kind == "b":
            apart = (sample != middle).astype(np.float64)
        else:
            apart = _as(np.abs(sample - middle))
            apart[(sample == middle) | (np.isnan(sample) & np.isnan(middle))] = 0
            apart[np.isnan(apart) | (np.isfinite(sample.astype(dtype)) != np.isfinite(rounded))] = np.inf
            apart[(apart == 0) & (np.signbit(sample.real) != np.signbit(middle.real))] = TINY
        worst = np.maximum(worst, apart)
    worst = np.where(worst > TINY, worst * SAFETY, worst)
    return np.where(lost, np.inf, worst)


def _as(array: Any) -> np.ndarray[Any, Any]:
    return np.array(array)


def own_error(name: str, ulp: float, result: np.ndarray[Any, Any], operands: Sequence[Value]) -> Any:
    """Return the rounding error of one operation on certain operands."""
    kind = result.dtype.kind
    if name in ("copysign", "signbit"):
        # which sign a computed NaN has depends on the processor: that of 0 / 0 is set on x86, and not on GPUs
        return np.where(np.isnan(operands[-1].array), np.inf, 0.0)
    with_complex = kind == "c" or any(o.array.dtype.kind == "c" for o in operands)
    if kind in "biu":
        return 0.0
    if with_complex:
        return _complex_error(name, result, operands)
    if name in ("maximum", "minimum", "fmax", "fmin"):
        return np.where(result == 0, TINY, 0.0)
    if ulp <= 0.5:
        return 0.0
    if name in ("logaddexp", "logaddexp2"):
        largest = np.maximum(np.abs(operands[0].array), np.abs(operands[-1].array)).astype(result.dtype)
        finite = np.where(np.isfinite(largest), largest, 1).astype(result.dtype)
        return (ulp + REFERENCE_ULP) * unit(np.maximum(np.maximum(finite, np.abs(result)), result.dtype.type(1)))
    return (ulp + REFERENCE_ULP) * unit(result)


_EXACT_OF_COMPLEX = ("add", "subtract", "negative", "positive", "conj", "real", "imag", "cast", "where", "rint")


def _complex_error(name: str, result: np.ndarray[Any, Any], operands: Sequence[Value]) -> Any:
    if name in (*_EXACT_OF_COMPLEX, "maximum", "minimum"):
        return 0.0
    eps = epsilon(result.dtype)
    sizes = [np.abs(wide(o.array)) for o in operands]
    if name in ("multiply", "square"):
        return 4 * eps * sizes[0] * sizes[-1]
    size = np.abs(wide(result))
    if name == "pow":
        turns = sizes[1] * (1 + np.abs(np.log(np.maximum(sizes[0], 1e-300))))
        return 16 * eps * size * (1 + turns)
    if name in ("divide", "abs", "sqrt", "reciprocal"):
        return 16 * eps * size
    return 16 * eps * (1 + size + np.max([np.where(np.isfinite(s), s, 0).max(initial=0) for s in sizes], initial=0))


def elementwise(name: str, ulp: float, function: Callable[..., Any], operands: Sequence[Value]) -> Value:
    """Return the value of an elementwise operation."""
    result = np.asarray(function(*(o.array for o in operands)))
    slack = own_error(name, ulp, result, operands)
    if name in ("equal", "not_equal", "argmax", "argmin") or (
        result.dtype.kind != "c"
        and name in ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum")
        and any(o.array.dtype.kind == "c" for o in operands)
    ):
        # equality inside an error box need not show at its corners
        near = sum(o.slack for o in operands)
        slack = np.where(near > 0, np.inf, slack)
    else:
        slack = slack + spread(function, operands, result.dtype)
    return _closed(result, slack)


def cast(value: Value, dtype: Any) -> Value:
    """Return a value converted as ``astype`` does; conversions that C leaves undefined are open."""
    target = np.dtype(dtype)
    source = value.array
    result = np.asarray(source.astype(target))
    undefined: Any = False
    real = source.real
    if target.kind in "iu" and real.dtype.kind == "f":
        limits = np.iinfo(target)
        whole = np.trunc(real.astype(np.float64))
        undefined = ~((whole >= float(limits.min)) & (whole < float(limits.max) + (target.itemsize < 8)))
    if value.is_exact:
        return _closed(result, np.where(undefined, np.inf, 0.0))
    if target.kind == "b":
        near = np.abs(wide(source)) <= value.slack
        return _closed(result, np.where(near & (value.slack > 0), np.inf, 0.0))
    if target.kind in "iu":
        moved = spread(lambda x: np.trunc(x.real), [value], np.float64)
        return _closed(result, np.where(undefined, np.inf, moved))
    rounding = np.where(value.slack > 0, unit(result.real) + (unit(result.imag) if target.kind == "c" else 0), 0)
    return _closed(result, value.slack + rounding)


def where(condition: Value, first: Value, second: Value) -> Value:
    """Return what ``np.where`` chooses."""
    result = np.asarray(np.where(condition.array, first.array, second.array))
    slack = np.where(condition.array, first.slack, second.slack) + np.where(condition.slack > 0, np.inf, 0)
    return _closed(result, np.broadcast_to(slack, result.shape))


# -- reductions -------------------------------------------------------------------------------------------------------


def _count(array: np.ndarray[Any, Any], axis: Any) -> int:
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return prod(array.shape[a] for a in axes)


def _sums_exactly(array: np.ndarray[Any, Any], total: Any) -> Any:
    """Whether every order of additions gives the same: multiples of 1/256 with a sum that fits the mantissa."""
    scaled = wide(array) * 256
    whole = bool(
        np.all(np.isfinite(scaled) & (np.trunc(scaled.real) == scaled.real) & (np.trunc(scaled.imag) == scaled.imag))
    )
    return whole & (total * 256 < 2.0 ** np.finfo(array.dtype).nmant)


def _sum_error(array: np.ndarray[Any, Any], total: Any, count: Any, dtype: Any) -> Any:
    """Return the error of a sum of ``array``, whose magnitudes sum up to ``total``, accumulated in ``dtype``."""
    limit = float(np.finfo(dtype).max)
    error = np.where(_sums_exactly(array.astype(dtype), total), TINY, epsilon(dtype) * (count + 2) * total)
    return np.where(total < limit / 4, error, np.inf)


def _magnitudes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    sizes = np.abs(wide(array))
    return np.where(np.isfinite(sizes), sizes, 0)


def reduction(name: str, value: Value, axis: Any, keepdims: bool) -> Value:
    """Return the value of a reduction."""
    array = value.array
    is_half = name == "var" and array.dtype == np.float16  # whose sums NumPy makes in float16: they end at 2,048 ones
    accurate = array.astype(np.float32) if is_half else array
    result = np.asarray(getattr(accurate, name)(axis=axis, keepdims=keepdims))
    result = result.astype(array.dtype) if is_half else result
    count = _count(array, axis)
    kind = array.dtype.kind
    slack = np.asarray(value.slack.sum(axis=axis, keepdims=keepdims))
    if kind in "biu" and name not in ("mean", "var"):
        return _closed(result, slack)
    if name in ("any", "all", "argmin", "argmax"):
        return _closed(result, slack)
    worst = np.asarray(value.slack.max(axis=axis, keepdims=keepdims, initial=0))
    if name in ("min", "max"):
        if kind == "c":
            return _closed(result, np.where(worst > 0, np.inf, 0))
        # infinite elements have slack of their own only as zeros have, and NaN none
        return _closed(result, worst + np.where(result == 0, TINY, 0.0))
    if name in ("sum", "prod"):
        return _closed(result, _sum_slack(name, array, result, axis, keepdims, count, slack))
    return _closed(result, _moment_slack(name, value, result, axis, keepdims, count, slack))


def _sum_slack(
    name: str, array: np.ndarray[Any, Any], result: Any, axis: Any, keepdims: bool, count: int, slack: Any
) -> Any:
    sizes = _magnitudes(array)
    if name == "sum":
        total = np.asarray(sizes.sum(axis=axis, keepdims=keepdims))
        error = _sum_error(array, total, count, result.dtype)
        regular = np.isfinite(result)
        return slack + np.where(regular, error, np.where(np.isinf(error), np.inf, 0))
    return _product_slack(array, result, axis, keepdims, count, slack)


def _product_slack(array: np.ndarray[Any, Any], result: Any, axis: Any, keepdims: bool, count: int, slack: Any) -> Any:
    sizes = np.abs(wide(array))
    powers = np.log2(np.where((sizes > 0) & np.isfinite(sizes), sizes, 1))
    high = np.asarray(np.where(powers > 0, powers, 0).sum(axis=axis, keepdims=keepdims))
    low = np.asarray(np.where(powers < 0, powers, 0).sum(axis=axis, keepdims=keepdims))
    info = np.finfo(result.dtype)
    risky = (high >= info.maxexp - 1) | (low <= info.minexp + 1)
    relative = np.asarray(np.where(sizes > 0, 1.0, 0.0).sum(axis=axis, keepdims=keepdims)) * 4 * epsilon(result.dtype)
    error = np.where(np.isfinite(result), np.abs(wide(result)) * relative, 0) + np.where(result == 0, TINY, 0)
    uncertain = slack > 0
    return np.where(risky | uncertain, np.inf, error)


def _moment_slack(name: str, value: Value, result: Any, axis: Any, keepdims: bool, count: int, slack: Any) -> Any:
    array = value.array
    computing = np.float32 if array.dtype == np.float16 else np.result_type(array.dtype, np.float32)
    computing = np.dtype(np.float64) if array.dtype.kind in "biu" else np.dtype(computing)
    eps = epsilon(computing)
    centre = wide(array)
    total = np.asarray(_magnitudes(array).sum(axis=axis, keepdims=True))
    mean_error = (_sum_error(array, total, count, computing) + value.slack.sum(axis=axis, keepdims=True)) / count
    shaped = result if keepdims else np.expand_dims(result, _axes(axis, array.ndim))
    if name == "mean":
        error = mean_error + 2 * eps * total / count
    else:
        mean = np.mean(centre, axis=axis, keepdims=True)
        mean_error = mean_error + 2 * eps * np.abs(mean)
        apart = np.where(np.isfinite(centre - mean), np.abs(centre - mean), 0)
        moved = (apart * (mean_error + value.slack)).sum(axis=axis, keepdims=True) / count
        square = (apart**2).sum(axis=axis, keepdims=True) / count
        error = 4 * moved + 4 * mean_error**2 + 4 * (value.slack**2).sum(axis=axis, keepdims=True) / count
        error = error + 2 * eps * (count + 6) * square
        limit = float(np.finfo(computing).max)
        error = np.where((square * count < limit / 8) & (total < limit / 8), error, np.inf)
    regular = np.isfinite(shaped)
    error = np.where(regular, error + unit(np.abs(shaped)), np.where(np.isinf(error), np.inf, 0))
    return error if keepdims else np.squeeze(error, _axes(axis, array.ndim))


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def scan(name: str, value: Value, axis: int) -> Value:
    """Return the value of ``cumsum`` or ``cumprod``."""
    array = value.array
    result = np.asarray(getattr(array, name)(axis=axis))
    slack = value.slack.cumsum(axis=axis)
    if array.dtype.kind in "biu":
        return _closed(result, slack)
    if name == "cumprod":
        sizes = np.abs(wide(array))
        powers = np.abs(np.log2(np.where((sizes > 0) & np.isfinite(sizes), sizes, 1)))
        info = np.finfo(result.dtype)
        risky = powers.sum(axis=axis, keepdims=True) >= min(info.maxexp - 1, -info.minexp - 1)
        error = (
            np.where(np.isfinite(result), np.abs(wide(result)), 0) * (array.shape[axis] + 1) * 4 * epsilon(result.dtype)
        )
        error = error + np.where(result == 0, TINY, 0)
        return _closed(result, np.where(risky | (slack > 0), np.inf, error))
    total = np.asarray(_magnitudes(array).sum(axis=axis, keepdims=True))
    error = np.broadcast_to(_sum_error(array, total, array.shape[axis], result.dtype), result.shape)
    # differences of what came before are no part of a running sum, so what is infinite once stays so
    return _closed(result, slack + np.where(np.isfinite(result), error, np.where(np.isinf(error), np.inf, 0)))


def matrix_product(first: Value, second: Value) -> Value:
    """Return the value of a product of two matrices."""
    result = np.asarray(first.array @ second.array)
    lost = (~np.isfinite(first.array)).any(1, keepdims=True) | (~np.isfinite(second.array)).any(0, keepdims=True)
    left, right = _magnitudes(first.array), _magnitudes(second.array)
    slack = first.slack @ right + left @ second.slack + first.slack @ second.slack
    if result.dtype.kind in "biu":
        return _closed(result, slack)
    # products of multiples of 1/16 are multiples of 1/256
    whole = (
        all(np.all(np.isfinite(x) & (np.trunc(x * 16) == x * 16)) for x in (left, right)) and result.dtype.kind == "f"
    )
    total = left @ right
    exactly = whole & (total * 256 < 2.0 ** np.finfo(result.dtype).nmant)
    error = np.where(exactly, TINY, 2 * epsilon(result.dtype) * (first.array.shape[1] + 4) * total)
    error = np.where(total < float(np.finfo(result.dtype).max) / 4, error, np.inf)
    # which terms meet first decides between NaN and infinity
    return _closed(result, slack + np.where(lost, np.inf, error))


# -- comparison -------------------------------------------------------------------------------------------------------


def mismatches(actual: np.ndarray[Any, Any], value: Value) -> np.ndarray[Any, Any]:
    """Return the flat positions at which an answer is further from NumPy's than it may be."""
    expected, slack = value.array, value.slack
    same = (actual == expected) | ((actual != actual) & (expected != expected))
    if expected.dtype.kind == "f":
        same &= (slack > 0) | (expected != 0) | (np.signbit(actual) == np.signbit(expected))
    if expected.dtype.kind in "fc":
        same |= np.abs(wide(actual) - wide(expected)) <= slack
    return np.flatnonzero(~(same | np.isinf(slack)))
