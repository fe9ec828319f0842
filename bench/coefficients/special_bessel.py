"""The polynomials of the Bessel functions, written as ``gpuarray/ops/special/coefficients/bessel.json``."""

from collections.abc import Callable
from typing import Any, Final

from mpmath import mp

from bench.coefficients.constants import two_over_pi_digits
from bench.coefficients.precision import DOUBLE
from bench.coefficients.series import Series
from bench.coefficients.special import file_text, inverse, terms

Number = Any
#: Bits of the functions' values: what cancels in the formulas below is less than half of them.
_BITS: Final = 260


def _narrow(function: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """Return a function of fewer bits than the caller's, which take ten times as long."""

    def value(x: Number) -> Number:
        with mp.workprec(_BITS):
            return function(x)

    return value


def _root(kind: Any, order: int, start: str) -> Number:
    with mp.workprec(2 * _BITS):
        return mp.findroot(lambda x: kind(order, x), mp.mpf(start))


#: The zeros that are factors, by the function's letter and order.
ZEROS: Final = {
    "J0": [_root(mp.besselj, 0, start) for start in ("2.40", "5.52", "8.65", "11.79")],
    "J1": [_root(mp.besselj, 1, start) for start in ("3.83", "7.02")],
    "Y0": [_root(mp.bessely, 0, start) for start in ("0.89", "3.96", "7.09")],
    "Y1": [_root(mp.bessely, 1, start) for start in ("2.20", "5.43", "8.60")],
}
#: Where the polynomials about them end, and how many terms those have in each precision.
_ABOUT: Final = (
    ("J0", 0, "1.5", "3.85", 9, 17), ("J0", 1, "3.85", "7", 10, 18), ("J0", 2, "7", "10.2", 10, 18),
    ("J0", 3, "10.2", "13.4", 10, 18),
    ("J1", 0, "2.2", "5.4", 10, 18), ("J1", 1, "5.4", "8.6", 10, 18),
    ("Y0", 1, "2.2", "5.5", 12, 25), ("Y0", 2, "5.5", "8.6", 11, 20),
    ("Y1", 1, "3.3", "7", 12, 25), ("Y1", 2, "7", "10.2", 11, 20),
)  # fmt: skip
#: How far the functions' first parts reach, and from where the waves run.
_NEAR: Final = {0: mp.mpf("2.2"), 1: mp.mpf("3.3")}
_MOST_STEPS: Final = 1000
_FAR: Final = mp.mpf("8.6")
#: The first terms of the phases, which are carried in two parts (DLMF 10.18.18).
PHASES: Final = {
    0: (mp.mpf(-1) / 8, (25, 384), (-1073, 5120)),
    1: (mp.mpf(3) / 8, (-21, 128), (1899, 5120)),
}


def _first(order: int) -> Callable[[Number], Number]:
    """Return J0(x), or J1(x) / x, of x*x."""
    return _narrow(lambda t: mp.besselj(order, mp.sqrt(t)) / mp.sqrt(t) ** order)


def _second(order: int) -> Callable[[Number], Number]:
    """Return what Y(x) is beside the logarithm, over its first zero's factor, and times x**order, of x*x."""
    zero = ZEROS[f"Y{order}"][0]

    def value(t: Number) -> Number:
        x = mp.sqrt(t)
        beside = mp.bessely(order, x) - 2 / mp.pi * mp.log(x / zero) * mp.besselj(order, x)
        return beside * x**order / (t - zero * zero)

    return _narrow(value)


def _about(letter: str, order: int, zero: Number) -> Callable[[Number], Number]:
    kind = mp.besselj if letter == "J" else mp.bessely
    return _narrow(lambda d: kind(order, zero + d) / d)


def _about_series(name: str, place: int, low: str, high: str, single: int, double: int) -> Series:
    zero = ZEROS[name][place]
    function = _about(name[0], int(name[1]), zero)
    return Series(
        name=f"{name.lower()}_zero_{place}_series", says=f"{name}(z + d) / d for z + d from {low} to {high}, z a zero",
        function=function, weight=inverse(function), interval=(mp.mpf(low) - zero, mp.mpf(high) - zero),
        terms=terms(single, double),
    )  # fmt: skip


def _phase(order: int, w: Number) -> Number:
    """Return x times what the phase has beside x - pi/4 - order * pi/2, of 1/(x*x)."""
    x = 1 / mp.sqrt(w)
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    turned = x - mp.pi / 4 - order * mp.pi / 2
    c, s = mp.cos(turned), mp.sin(turned)
    return mp.atan2(y * c - j * s, j * c + y * s) * x


def _phase_rest(order: int) -> Callable[[Number], Number]:
    first, (a, b), (c, d) = PHASES[order]
    return _narrow(lambda w: ((_phase(order, w) - first) / w - mp.mpf(a) / b) / w**2 - mp.mpf(c) / d / w)


def _amplitude_rest(order: int) -> Callable[[Number], Number]:
    def value(w: Number) -> Number:
        x = 1 / mp.sqrt(w)
        modulus = mp.sqrt(x * (mp.besselj(order, x) ** 2 + mp.bessely(order, x) ** 2))
        return (modulus - mp.sqrt(2 / mp.pi)) / w

    return _narrow(value)


def _decaying_near(order: int) -> Callable[[Number], Number]:
    """Return what K(x) is beside the logarithm and 1/x, over x**order, of x*x."""

    def value(t: Number) -> Number:
        x = mp.sqrt(t)
        sign = 1 - 2 * order
        beside = mp.besselk(order, x) + sign * mp.log(x) * mp.besseli(order, x)
        return (beside - 1 / x) / x if order else beside

    return _narrow(value)


def _decaying_far(order: int) -> Callable[[Number], Number]:
    def value(u: Number) -> Number:
        # the integral of exp(x - x cosh(t)) cosh(order t), by the trapezoidal rule, which is exact to 150 bits here
        x = (1 + u) / (1 - u)
        step = 1 / mp.sqrt(x) / 12
        total = mp.mpf(1) / 2
        for k in range(1, _MOST_STEPS):
            term = mp.exp(-2 * x * mp.sinh(k * step / 2) ** 2) * mp.cosh(order * k * step)
            total += term
            if term < mp.mpf(2) ** -_BITS:
                break
        return total * step * mp.sqrt(x)

    return _narrow(value)


_SLIGHT: Final = mp.mpf("1e-6")

SERIES: Final = (
    *(
        Series(
            name=f"j{order}_near_series",
            says=f"J{order}(x){' / x' if order else ''} for |x| <= {mp.nstr(_NEAR[order], 2)}, of x*x",
            function=_first(order), weight=lambda t: mp.mpf(2), interval=(0, _NEAR[order] ** 2),
            terms=terms(7 + order, 11 + order),
        )
        for order in (0, 1)
    ),
    *(
        Series(
            name=f"y{order}_near_series",
            says=f"(Y{order}(x) - 2/pi log(x/z) J{order}(x)){' x' if order else ''} / (x*x - z*z) for x <= "
            f"{mp.nstr(_NEAR[order], 2)}, of x*x, z the first zero",
            function=_second(order), weight=inverse(_second(order)), interval=(0, _NEAR[order] ** 2),
            whole=True, terms=terms(7 + order, 11 + order),
        )
        for order in (0, 1)
    ),
    *(_about_series(*row) for row in _ABOUT),
    *(
        Series(
            name=f"phase_{order}_series",
            says=f"the phase of J{order} + i Y{order} for x >= 8.6, times x, after three terms of its series, "
            "of 1/(x*x)",
            function=_phase_rest(order), weight=lambda w: mp.sqrt(w) ** 7, interval=(_SLIGHT, 1 / _FAR**2),
            terms=terms(8, 14),
        )
        for order in (0, 1)
    ),
    *(
        Series(
            name=f"amplitude_{order}_series",
            says=f"(sqrt(x) |J{order}(x) + i Y{order}(x)| - sqrt(2/pi)) x*x for x >= 8.6, of 1/(x*x)",
            function=_amplitude_rest(order), weight=lambda w: w, interval=(_SLIGHT, 1 / _FAR**2), terms=terms(4, 12),
        )
        for order in (0, 1)
    ),
    *(
        Series(
            name=f"k{order}_near_series",
            says=f"({'K1(x) - log(x) I1(x) - 1/x) / x' if order else 'K0(x) + log(x) I0(x))'} for x <= 1, of x*x",
            function=_decaying_near(order), weight=inverse(_decaying_near(order)), interval=(0, 1), whole=True,
            terms=terms(6 - order, 9),
        )
        for order in (0, 1)
    ),
    *(
        Series(
            name=f"k{order}_far_series", says=f"sqrt(x) exp(x) K{order}(x) for x >= 1, of (x - 1) / (x + 1)",
            function=_decaying_far(order), weight=inverse(_decaying_far(order)), interval=(0, mp.mpf("0.9995")),
            whole=True, terms=terms(9 + order, 21 + order),
        )
        for order in (0, 1)
    ),
)  # fmt: skip


def constants_in_parts() -> dict[str, Number]:
    """Return the constants that are written in two parts, the second as ``NAME_LOW``."""
    result = {f"{name}_ZERO_{k}": zero for name, zeros in ZEROS.items() for k, zero in enumerate(zeros)}
    for order, (_, second, third) in PHASES.items():
        for place, (a, b) in enumerate((second, third), 1):
            result[f"PHASE_{order}_{place}"] = mp.mpf(a) / b
    return result | {
        "Y0_ZERO_LOG": mp.log(ZEROS["Y0"][0]),
        "Y1_ZERO_LOG": mp.log(ZEROS["Y1"][0]),
        "TWO_OVER_PI": 2 / mp.pi,
        "ROOT_TWO_OVER_PI": mp.sqrt(2 / mp.pi),
    }


def text() -> str:
    """Return the file of the polynomials."""
    # the bits of 2/pi after a first word of zeros, by words of 64
    words = ["0x0", *(digits.rstrip("lu") for digits in two_over_pi_digits(DOUBLE))]
    with mp.workprec(_BITS):
        constants = constants_in_parts()
    return file_text(constants, SERIES, words={"TWO_OVER_PI_WORDS": words})
