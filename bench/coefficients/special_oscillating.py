"""The polynomials of the sine and cosine integrals and of Fresnel's integrals, written as ``oscillating.json``."""

from collections.abc import Callable
from typing import Any, Final

from mpmath import mp

from bench.coefficients.series import Series
from bench.coefficients.special import file_text, inverse, terms

Number = Any
_BITS: Final = 250


def _narrow(function: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """Return a function of fewer bits than the caller's, which take ten times as long."""

    def value(x: Number) -> Number:
        with mp.workprec(_BITS):
            return function(x)

    return value


def _root(start: str) -> Number:
    with mp.workprec(2 * _BITS):
        return mp.findroot(mp.ci, mp.mpf(start))


#: The zeros of the cosine integral that are factors.
ZEROS: Final = [_root(start) for start in ("0.617", "3.384", "6.427", "9.529", "12.65", "15.78")]
#: Where the polynomials of the sine and the cosine integral end, about what those of the sine integral are, and how
#: many terms they have in each precision.
_ENDS: Final = ("2", "4.9", "8", "11.1", "14.2", "17.35")
_MIDDLES: Final = ("3.5", "6.5", "9.5", "12.5", "15.75")
_SINE_TERMS: Final = ((11, 19), (11, 19), (11, 19), (11, 19), (11, 19))
_COSINE_TERMS: Final = ((14, 27), (12, 22), (12, 21), (12, 20), (12, 21))
_WAVES: Final = (mp.mpf("3e-4"), 256 / mp.mpf(_ENDS[-1]) ** 2)
#: The phase is x less a lag, of which the first terms of x times it, in 1/(x*x), are carried in two parts.
LAG: Final = (1, (-13, 3), (461, 5))


def _sine_near(t: Number) -> Number:
    x = mp.sqrt(t)
    return (mp.si(x) / x - 1) / t


def _cosine_near(t: Number) -> Number:
    """Return what Ci(x) is beside the logarithm over its first zero's factor, of x*x."""
    x, zero = mp.sqrt(t), ZEROS[0]
    return (mp.ci(x) - mp.log(x / zero)) / (t - zero * zero)


def _about(function: Callable[[Number], Number], middle: Number) -> Callable[[Number], Number]:
    return _narrow(lambda d: function(middle + d))


def _about_zero(zero: Number) -> Callable[[Number], Number]:
    return _narrow(lambda d: mp.ci(zero + d) / d)


def _auxiliary(x: Number) -> tuple[Number, Number]:
    """Return f and g with Ci(x) = f sin(x) - g cos(x), pi/2 - Si(x) = f cos(x) + g sin(x)."""
    sine, cosine, rest, value = mp.sin(x), mp.cos(x), mp.pi / 2 - mp.si(x), mp.ci(x)
    return value * sine + rest * cosine, rest * sine - value * cosine


def _lag_rest(w: Number) -> Number:
    x = 1 / mp.sqrt(w)
    f, g = _auxiliary(x)
    first, (a, b), (c, d) = LAG
    return ((mp.atan2(g, f) * x - first) / w - mp.mpf(a) / b) / w**2 - mp.mpf(c) / d / w


def _amplitude_rest(w: Number) -> Number:
    x = 1 / mp.sqrt(w)
    f, g = _auxiliary(x)
    return (x * mp.sqrt(f * f + g * g) - 1) / w


def _fresnel_auxiliary(v: Number) -> tuple[Number, Number]:
    """Return f and g of x = 1/v with 1/2 - S(x) = f cos(pi/2 x*x) + g sin(pi/2 x*x)."""
    z = mp.sqrt(mp.pi) / 2 * mp.mpc(1, -1) / v
    both = mp.mpc(1, 1) / 2 * mp.exp(z * z) * mp.erfc(z)
    return both.imag, both.real


def _fresnel_f(v: Number) -> Number:
    return _fresnel_auxiliary(v)[0] / v


def _fresnel_g(v: Number) -> Number:
    return _fresnel_auxiliary(v)[1] / v**3


def _fresnel_sine(z: Number) -> Number:
    x = mp.sqrt(mp.sqrt(z))
    return mp.fresnels(x) / x**3


def _fresnel_cosine(z: Number) -> Number:
    x = mp.sqrt(mp.sqrt(z))
    return (mp.fresnelc(x) / x - 1) / z


_MIDDLE: Final = mp.mpf(13) / 8
_NEAR: Final = mp.mpf(625) / 256
_FRESNEL_FAR: Final = (mp.mpf("1e-4") - mp.mpf(1) / 4, mp.mpf(1) / 4)
_FRESNEL: Final = {"s": mp.fresnels, "c": mp.fresnelc}

SERIES: Final = (
    Series(
        name="si_near_series", says="(Si(x) / x - 1) / (x*x) for |x| <= 2, of x*x", function=_narrow(_sine_near),
        weight=lambda t: t * mp.mpf("1.3"), interval=(0, 4), terms=terms(5, 9),
    ),
    *(
        Series(
            name=f"si_{place}_series", says=f"Si({middle} + d) for {middle} + d from {low} to {high}",
            function=_about(mp.si, mp.mpf(middle)), weight=lambda _: mp.mpf("0.65"),
            interval=(mp.mpf(low) - mp.mpf(middle), mp.mpf(high) - mp.mpf(middle)), terms=terms(*counts),
        )
        for place, (middle, low, high, counts) in enumerate(
            zip(_MIDDLES, _ENDS, _ENDS[1:], _SINE_TERMS, strict=False), 1
        )
    ),
    Series(
        name="ci_near_series", says="(Ci(x) - log(x/z)) / (x*x - z*z) for x <= 2, of x*x, z the first zero",
        function=_narrow(_cosine_near), weight=inverse(_narrow(_cosine_near)), interval=(0, 4), whole=True,
        terms=terms(6, 11),
    ),
    *(
        Series(
            name=f"ci_zero_{place}_series", says=f"Ci(z + d) / d for z + d from {low} to {high}, z a zero",
            function=_about_zero(zero), weight=inverse(_about_zero(zero)),
            interval=(mp.mpf(low) - zero, mp.mpf(high) - zero), terms=terms(*counts),
        )
        for place, (zero, low, high, counts) in enumerate(
            zip(ZEROS[1:], _ENDS, _ENDS[1:], _COSINE_TERMS, strict=False), 1
        )
    ),
    Series(
        name="ci_lag_series",
        says="what x is beyond the phase of Ci(x), times x, after three terms of its series, for x >= 17.35, "
        "of 256/(x*x)",
        function=_narrow(lambda z: _lag_rest(z / 256)), weight=lambda z: mp.sqrt(z / 256) ** 7, interval=_WAVES,
        terms=terms(6, 18),
    ),
    Series(
        name="ci_amplitude_series",
        says="(x sqrt(Ci(x)**2 + (pi/2 - Si(x))**2) - 1) x*x, where the signs are those of the waves, for x >= 17.35, "
        "of 256/(x*x)",
        function=_narrow(lambda z: _amplitude_rest(z / 256)), weight=lambda z: z / 256, interval=_WAVES,
        terms=terms(4, 13),
    ),
    Series(
        name="fresnel_s_near_series", says="S(x) / x**3 for |x| <= 5/4, of x**4", function=_narrow(_fresnel_sine),
        weight=inverse(_narrow(_fresnel_sine)), interval=(0, _NEAR), whole=True,
        terms=terms(7, 12),
    ),
    Series(
        name="fresnel_c_near_series", says="(C(x) / x - 1) / x**4 for |x| <= 5/4, of x**4",
        function=_narrow(_fresnel_cosine), weight=lambda z: 2 * z, interval=(0, _NEAR), terms=terms(6, 11),
    ),
    *(
        Series(
            name=f"fresnel_{letter}_middle_series", says=f"{letter.upper()}(13/8 + d) for |d| <= 3/8",
            function=_about(function, _MIDDLE), weight=inverse(_about(function, _MIDDLE)),
            interval=(mp.mpf(-3) / 8, mp.mpf(3) / 8), terms=terms(12, 21),
        )
        for letter, function in _FRESNEL.items()
    ),
    Series(
        name="fresnel_f_series", says="x f(x) of Fresnel's integrals for x >= 2, of 1/x - 1/4",
        function=_narrow(lambda d: _fresnel_f(d + mp.mpf(1) / 4)), weight=lambda _: mp.mpf(1),
        interval=_FRESNEL_FAR, terms=terms(9, 25),
    ),
    Series(
        name="fresnel_g_series", says="x**3 g(x) of Fresnel's integrals for x >= 2, of 1/x - 1/4",
        function=_narrow(lambda d: _fresnel_g(d + mp.mpf(1) / 4)), weight=lambda _: mp.mpf(1) / 4,
        interval=_FRESNEL_FAR, terms=terms(9, 26),
    ),
)  # fmt: skip


def constants_in_parts() -> dict[str, Number]:
    """Return the constants that are written in two parts, the second as ``NAME_LOW``."""
    _, second, third = LAG
    return {
        **{f"CI_ZERO_{place}": zero for place, zero in enumerate(ZEROS)},
        "CI_ZERO_LOG": mp.log(ZEROS[0]),
        "CI_LAG_1": mp.mpf(second[0]) / second[1],
        "CI_LAG_2": mp.mpf(third[0]) / third[1],
    }


def text() -> str:
    """Return the file of the polynomials."""
    with mp.workprec(_BITS):
        constants = constants_in_parts()
    return file_text(constants, SERIES)
