"""Arguments of the methods of random generators: checks and conversions."""

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, DTypeLike
from gpuarray.graph.shapes import resolve_shape
from gpuarray.runtime.host_memory import value_of

Size: TypeAlias = int | tuple[int, ...] | None

#: Rules by name: the predicate that is true if a value breaks the rule, and NumPy's message.
_RULES: Final[dict[str, tuple[Callable[[Any], Any], str]]] = {
    "not negative": (lambda v: np.signbit(v) & ~np.isnan(v), "{0} < 0"),
    "positive": (lambda v: v <= 0, "{0} <= 0"),
    "positive number": (lambda v: ~(v > 0), "{0} <= 0 or {0} is NaN"),
    "chance": (lambda v: ~((v >= 0) & (v <= 1)), "{0} < 0, {0} > 1 or {0} is NaN"),
    "positive chance": (lambda v: ~((v > 0) & (v <= 1)), "{0} <= 0, {0} > 1 or {0} contains NaNs"),
    "chance below 1": (lambda v: ~((v >= 0) & (v < 1)), "{0} < 0, {0} >= 1 or {0} is NaN"),
    "above 1": (lambda v: ~(v > 1), "{0} <= 1 or {0} is NaN"),
    "mean of counts": (
        lambda v: ~((v >= 0) & (v <= 9.223372006484771e18)),
        "{0} < 0, {0} value too large or {0} is NaN",
    ),
}


#: Types of numbers that are no arrays.
NUMBERS: Final = frozenset((int, float))


@lru_cache(maxsize=1024)
def _breaks(rule: str, value: float, sign: float) -> bool:
    """Return whether a number breaks a rule. Its sign is part of the cache key, because 0.0 == -0.0."""
    broken, _ = _RULES[rule]
    return bool(broken(np.float64(value)))


def counted(value: Any) -> Any:
    """Return an integer without axes, such as a result, as a Python integer; all else as it is."""
    is_integer = isinstance(value, GpuArray) and not value.shape and value.dtype.kind in "iu"
    return operator.index(value) if is_integer else value


def known(value: Any) -> Any:
    """Return the values of an array of this package, None if the host does not have them; all else as it is."""
    return value_of(value.node()) if isinstance(value, GpuArray) else value


def check(rule: str, **values: Any) -> None:
    """Raise ValueError, as NumPy does, if a parameter breaks a rule. Nothing is read from a device."""
    broken, words = _RULES[rule]
    for name, value in values.items():
        if type(value) in NUMBERS:
            is_broken = _breaks(rule, float(value), math.copysign(1.0, value))
        else:
            seen = known(value)
            is_broken = seen is not None and bool(np.any(broken(np.asarray(seen, np.float64))))
        if is_broken:
            raise ValueError(f"{words.format(name)}: {value} was given; use a {rule.removeprefix('a ')} {name}")


def are_scalars(*values: Any) -> bool:
    """Return whether all values are real Python or NumPy numbers."""
    return all(isinstance(v, int | float | np.integer | np.floating) for v in values)


def check_interval(low: Any, high: Any) -> None:
    """Raise OverflowError or ValueError, as NumPy does, if ``high - low`` is infinite, NaN or negative somewhere."""
    if are_scalars(low, high):
        is_finite, is_negative = math.isfinite(high - low), high < low
    else:
        first, last = known(low), known(high)
        if first is None or last is None:
            return
        spread = np.asarray(last, np.float64) - np.asarray(first, np.float64)
        is_finite, is_negative = bool(np.isfinite(spread).all()), bool((spread < 0).any())
    if not is_finite:
        raise OverflowError(f"high - low range exceeds valid bounds: low is {low}, high is {high}")
    if is_negative:
        raise ValueError(f"high - low < 0: low is {low}, high is {high}")


def host_integers(value: Any, name: str) -> Any:
    """Return integers, or floats with integral values, as a Python integer or an object array of integers.

    Raises
    ------
    TypeError
        If they are none.
    """
    if type(value) is int:
        return value
    integers = np.asarray(value)
    if integers.dtype.kind == "f" and not np.all(integers == np.floor(integers)):
        raise TypeError(f"{name} must be integers; {value} was given, a {integers.dtype.name}")
    if integers.dtype.kind not in "biufO":
        raise TypeError(f"{name} must be integers; a {type(value).__name__} was given")
    return np.frompyfunc(int, 1, 1)(integers)


def probabilities(p: ArrayLike, population: int) -> Any:
    """Return probabilities as a NumPy array of float64, or raise ValueError as NumPy does."""
    chances = np.asarray(p, dtype=np.float64)
    if chances.shape != (population,):
        raise ValueError(
            f"a and p must have same size: p has shape {chances.shape}, there are {population} to choose from"
        )
    if np.isnan(chances).any():
        raise ValueError("Probabilities contain NaN")
    if (chances < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(math.fsum(chances) - 1.0) > math.sqrt(np.finfo(np.float64).eps):
        raise ValueError(f"Probabilities do not sum to 1: their sum is {math.fsum(chances)}")
    return chances


def checked_out(out: Any, dtype: DTypeLike, size: Size) -> tuple[DType, tuple[int, ...]]:
    """Return the dtype and the shape of ``out``, which must equal ``dtype`` and ``size`` if they are given."""
    if not isinstance(out, GpuArray):
        raise TypeError(f"out must be a GpuArray, not a {type(out).__name__}")
    if dtype is not None and dtypes.canonical(dtype) != out.dtype:
        raise TypeError(
            f"Supplied output array has the wrong type. Expected {dtypes.canonical(dtype).name}, got {out.dtype.name}"
        )
    if size is not None and resolve_shape(size) != out.shape:
        raise ValueError(f"size must match out.shape when used together: {size} is not {out.shape}")
    out.check_writeable()
    return out.dtype, out.shape


def joint_shape(size: Size, *parameters: Any) -> tuple[int, ...]:
    """Return the shape of a result: ``size``, or by default the broadcast shape of the parameters.

    Raises
    ------
    ValueError
        If the parameters do not broadcast to ``size``.
    """
    if NUMBERS.issuperset(map(type, parameters)):
        joint: tuple[int, ...] = ()
    else:
        joint = np.broadcast_shapes(*(v.shape if isinstance(v, GpuArray) else np.shape(v) for v in parameters))
    if size is None:
        return joint
    shape = resolve_shape(size)
    if joint and np.broadcast_shapes(joint, shape) != shape:
        raise ValueError(
            f"Output size {shape} is not compatible with broadcast dimensions of inputs {joint}: parameters must "
            "broadcast to size"
        )
    return shape
