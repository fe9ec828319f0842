"""Errors in units in the last place, and exact values to compare with."""

from functools import reduce
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from bench.accuracy.functions import Function
from bench.accuracy.samples import Array

#: Enough to subtract any two float64 numbers, and to reduce any argument by pi/2.
BITS = 2300
#: Whether long double has bits enough to judge float64 results before mpmath does.
WIDE = np.finfo(np.longdouble).nmant >= 63


def of_real(got: Any, exact: Any, dtype: Any, scale: Any = None) -> Any:
    """Return the errors of ``got``, of ``dtype``, against exact values of a wider dtype, elementwise.

    Infinities count as the power of two after the largest number, so that rounding to either is a small error. A NaN
    where the other is none, and a wrong sign, is an infinite one. Arrays of any library that NumPy dispatches to.

    Parameters
    ----------
    got, exact : array
        What was computed, and what is right.
    dtype : dtype
        Whose unit in the last place to count in.
    scale : array, optional
        Where the units are taken, if not at the exact values.
    """
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        limit = exact.dtype.type(2) ** info.maxexp
        wanted = np.clip(exact, -limit, limit)
        given = np.clip(got.astype(exact.dtype), -limit, limit)
        place = np.abs(wanted) if scale is None else np.maximum(np.abs(wanted), scale)
        # at 0 too the unit is the least one
        _, exponent = np.frexp(np.maximum(place, exact.dtype.type(2) ** info.minexp))
        digits = info.nmant + 1
        exponent = np.clip(exponent, info.minexp + 1, info.maxexp) - digits
        error = np.abs(given - wanted) / np.ldexp(exact.dtype.type(1), exponent)
        unordered, wrong = np.isnan(exact), np.isnan(got) != np.isnan(exact)
        if scale is None:
            wrong = wrong | ((np.signbit(got) != np.signbit(exact)) & ~unordered)
        return np.where(wrong, np.inf, np.where(unordered, 0, error))


def scale_of(function: Function, operands: list[Any], exact: Any) -> Any:
    """Return where the unit in the last place is taken, if not at the result."""
    if function.relative:
        return None
    return reduce(np.maximum, (np.abs(x) for x in operands), 1).astype(exact.dtype)


def exact_value(function: Function, values: tuple[Any, ...], bits: int = BITS) -> Any:
    """Return mpmath's value at finite operands; NaN where there is none among the numbers of their kind."""
    with mp.workprec(bits):
        try:
            given = [mp.mpc(v) if isinstance(v, complex) else mp.mpf(v) for v in values]
            result = function.exact(*given)
        except (ValueError, ZeroDivisionError, OverflowError):
            return mp.nan
        if isinstance(result, mpmath.mpc) and not isinstance(values[0], complex):
            return result.real if result.imag == 0 else mp.nan
        return +result


def against_exact(function: Function, operands: list[Array], got: Array) -> Array:
    """Return the errors of float64 results at a few operands, against mpmath."""
    result = np.zeros(len(got))
    info = np.finfo(got.dtype)
    for i, values in enumerate(zip(*(x.tolist() for x in operands), strict=True)):
        if not all(map(np.isfinite, values)):
            continue
        exact = exact_value(function, values)
        if mp.isnan(exact) or np.isnan(got[i]):
            result[i] = 0 if mp.isnan(exact) == np.isnan(got[i]) else np.inf
            continue
        with mp.workprec(BITS):
            limit = mp.mpf(2) ** info.maxexp
            wanted, given = (max(min(v, limit), -limit) for v in (exact, mp.mpf(float(got[i]))))
            unit_at = abs(wanted) if function.relative else max(abs(wanted), 1, *map(abs, values))
            exponent = min(max(int(mp.mag(unit_at)) if unit_at else info.minexp + 1, info.minexp + 1), info.maxexp)
            result[i] = float(abs(given - wanted) / mp.mpf(2) ** (exponent - info.nmant - 1))
    return result


def of_complex(got: Array, exact: Array) -> tuple[Array, ...]:
    """Return the errors of complex results: of the norm in epsilons, and the larger of the parts' in their units.

    Results beyond the range of normal numbers count for nothing.
    """
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(exact.real), np.abs(exact.imag))
        judged = (info.tiny < size) & (size < info.max)
        lost = judged & ~np.isfinite(got)
        norms = np.abs(got.astype(exact.dtype) - exact) / np.abs(exact) / info.eps
        # with a scale, so that the sign of what is nearly 0 is as right as its digits
        parts = [of_real(x, y, x.dtype, 0) for x, y in ((got.real, exact.real), (got.imag, exact.imag))]
        result = (np.where(judged, error, 0) for error in (norms, np.maximum(*parts)))
        return tuple(np.where(lost, np.inf, error) for error in result)
