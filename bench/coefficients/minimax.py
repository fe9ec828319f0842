"""Polynomials that approximate a function best, by Remez' exchange, with coefficients that a precision holds.

Everything is mpmath's arithmetic on a fixed grid, so the result is the same everywhere.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from mpmath import mp

Number = Any
Real = Callable[[Number], Number]

#: Bits of the arithmetic, and of functions, in whose formulas near 0 most of them cancel.
BITS: Final = 160
FUNCTION_BITS: Final = 700
_GRID_PER_TERM: Final = 20
_ROUNDS: Final = 40


def polynomial(
    function: Real, weight: Real, interval: tuple[Number, Number], terms: int, rounded: Real
) -> list[Number]:
    """Return the coefficients, lowest first, of the polynomial P with the least ``max |weight * (P - function)|``.

    Each coefficient in turn is rounded, and those after it are fitted again, so that they make up for its rounding.

    Parameters
    ----------
    function, weight : callable
        Of an inner point of the interval.
    interval : tuple
        Lowest and highest point, of one sign: there the powers from any one on can be fitted.
    terms : int
        Number of coefficients.
    rounded : callable
        To the nearest number of the precision.
    """
    with mp.workprec(BITS):
        points, left, weights = _sampled(function, weight, interval, _GRID_PER_TERM * (terms + 1))
        result: list[Number] = []
        for degree in range(terms):
            result.append(rounded(_exchange(points, left, weights, degree, terms - degree)[0]))
            left = left - points**degree * result[-1]
        return result


def best(function: Real, weight: Real, interval: tuple[Number, Number], terms: int) -> list[Number]:
    """Return the coefficients of that polynomial before any rounding; 0 may lie inside the interval."""
    with mp.workprec(BITS):
        return _exchange(*_sampled(function, weight, interval, _GRID_PER_TERM * (terms + 1)), 0, terms)


def largest_error(
    function: Real, weight: Real, interval: tuple[Number, Number], coefficients: Sequence[Number]
) -> Number:
    """Return the largest weighted error of a polynomial, on another and finer grid than that of the fit."""
    with mp.workprec(BITS):
        count = 3 * _GRID_PER_TERM * (len(coefficients) + 1) + 1
        points, values, weights = _sampled(function, weight, interval, count)
        for degree, coefficient in enumerate(coefficients):
            values = values - points**degree * coefficient
        return max(abs(values * weights))


def _sampled(function: Real, weight: Real, interval: tuple[Number, Number], count: int) -> tuple[Any, Any, Any]:
    """Return Chebyshev's points, and the function and the weight there."""
    low, high = map(mp.mpf, interval)
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    with mp.workprec(FUNCTION_BITS):
        values = [function(x) for x in points]
    return tuple(np.array(v, object) for v in (points, [+v for v in values], [weight(x) for x in points]))


def _exchange(points: Any, values: Any, weights: Any, first: int, terms: int) -> list[Number]:
    """Return the best coefficients of ``x**first`` and the powers after it, on the grid."""
    powers = [points ** (first + k) * weights for k in range(terms)]
    wanted = values * weights
    chosen = [round((k + 0.5) * (len(points) - 1) / (terms + 1)) for k in range(terms + 1)]
    coefficients: list[Number] = []
    for _ in range(_ROUNDS):
        rows = [[p[i] for p in powers] + [mp.mpf(-1) ** k] for k, i in enumerate(chosen)]
        *coefficients, level = mp.lu_solve(mp.matrix(rows), mp.matrix([wanted[i] for i in chosen]))
        errors = wanted - sum(p * c for c, p in zip(coefficients, powers, strict=True))
        if max(abs(errors)) <= abs(level) * (1 + mp.mpf(2) ** -20):
            break
        chosen = _alternating(errors, terms + 1)
    return coefficients


def _alternating(errors: Any, count: int) -> list[int]:
    """Return the places of ``count`` extremes of alternating sign, among them the largest."""
    places: list[int] = []
    for i in range(len(errors)):
        if not places or (errors[i] > 0) != (errors[places[-1]] > 0):
            places.append(i)
        elif abs(errors[i]) > abs(errors[places[-1]]):
            places[-1] = i
    while len(places) > count:
        smallest = min(range(len(places)), key=lambda k: abs(errors[places[k]]))
        if len(places) == count + 1 or smallest in (0, len(places) - 1):
            places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
        else:
            # with the smaller of its neighbours, so that the signs keep alternating
            other = min((smallest - 1, smallest + 1), key=lambda k: abs(errors[places[k]]))
            del places[min(smallest, other) : max(smallest, other) + 1]
    return places
