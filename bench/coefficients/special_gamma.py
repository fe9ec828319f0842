"""The coefficients of the gamma functions' power series, written as ``gpuarray/ops/special/coefficients/gamma.json``.

``log(gamma(1 + d)) + log(1 + d)`` is ``(1 - c) d`` and the sum of ``(zeta(k) - 1) (-d)**k / k`` from k = 2 on, where c
is Euler's constant. So many coefficients as matter in two parts are constants, and polynomials are made of the others.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from mpmath import mp

from bench.coefficients.series import Series
from bench.coefficients.special import file_text, inverse, terms

Number = Any
_BITS: Final = 400
#: The first coefficients that are no constants.
_EVEN: Final = 14
_ODD: Final = 15


@cache
def _coefficient(k: int) -> Number:
    with mp.workprec(_BITS):
        return mp.zeta(k) - 1


def _tail(first: int, of_logarithm: bool) -> Callable[[Number], Number]:
    """Return the sum of every second coefficient from one on, times powers of the square of d, up to 1/4."""
    orders = range(first, first + 120, 2)
    return lambda z: sum(_coefficient(k) / (k if of_logarithm else 1) * z**i for i, k in enumerate(orders))


def _tail_series(name: str, says: str, first: int, of_logarithm: bool) -> Series:
    function = _tail(first, of_logarithm)
    # a quarter of it at most is added to the coefficient before, which is four times as large
    weight = inverse(lambda _: 4 * function(mp.mpf(0)))
    interval = (0, mp.mpf(1) / 4)
    return Series(name=name, says=says, function=function, weight=weight, interval=interval, terms=terms(5, 11))


SERIES: Final = (
    _tail_series("psi_even_series", "sum of (zeta(14 + 2 k) - 1) z**k up to 1/4", _EVEN, False),
    _tail_series("psi_odd_series", "sum of (zeta(15 + 2 k) - 1) z**k up to 1/4", _ODD, False),
    _tail_series("lgamma_even_series", "sum of (zeta(14 + 2 k) - 1) z**k / (14 + 2 k) up to 1/4", _EVEN, True),
    _tail_series("lgamma_odd_series", "sum of (zeta(15 + 2 k) - 1) z**k / (15 + 2 k) up to 1/4", _ODD, True),
)


def constants_in_parts() -> dict[str, Number]:
    """Return the constants that are written in two parts, the second as ``NAME_LOW``."""
    orders = range(2, _EVEN)
    return (
        {"EULER_REST": 1 - mp.euler}
        | {
            name: mp.mpf(1) / k
            for name, k in (("THIRD", 3), ("FIFTH", 5), ("SEVENTH", 7), ("NINTH", 9), ("TWELFTH", 12))
        }
        | {f"ZETA_{k}": mp.zeta(k) - 1 for k in orders}
        | {f"ZETA_OVER_{k}": (mp.zeta(k) - 1) / k for k in orders}
    )


def text() -> str:
    """Return the file of the polynomials."""
    with mp.workprec(_BITS):
        constants = constants_in_parts()
    return file_text(constants, SERIES)
