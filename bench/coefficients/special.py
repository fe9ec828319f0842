"""The polynomials of the special functions, written as ``gpuarray/ops/special/coefficients/general.json``."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from mpmath import mp

from bench.coefficients.constants import split
from bench.coefficients.minimax import best, largest_error, polynomial
from bench.coefficients.precision import DOUBLE, SINGLE, Precision
from bench.coefficients.series import Series

Number = Any
_WIDE: Final = 400


def _one(_: Number) -> Number:
    return mp.mpf(1)


def terms(single: int, double: int) -> dict[Precision, int]:
    """Return the number of terms by precision."""
    return {SINGLE: single, DOUBLE: double}


def _scaled_erfc(x: Number) -> Number:
    """Return exp(x*x) * erfc(x)."""
    return mp.exp(x * x) * mp.erfc(x)


def _erfcx(q: Number) -> Number:
    z = 3 * (1 + q) / (1 - q)
    return (1 + 2 * z) * _scaled_erfc(z)


def _erf(z: Number) -> Number:
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def _inverse_near(w: Number) -> Number:
    return mp.erfinv(mp.sqrt(w)) / mp.sqrt(w)


def _inverse_far(v: Number) -> Number:
    # erfc(x) = exp(-1/v**2), solved by Newton's method for its logarithm
    s = 1 / v
    x = s
    for _ in range(60):
        scaled = _scaled_erfc(x)
        x -= (x * x - mp.log(scaled) - s * s) * scaled * mp.sqrt(mp.pi) / 2
    return x / s


def _lgamma_near(root: int) -> Any:
    return lambda f: mp.loggamma(root + f) / f


def _stirling(w: Number) -> Number:
    x = 1 / mp.sqrt(w)
    return (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def _psi_tail(w: Number) -> Number:
    x = 1 / mp.sqrt(w)
    return (mp.log(x) - 1 / (2 * x) - mp.psi(0, x)) * x * x


def _psi_root() -> Number:
    with mp.workprec(_WIDE):
        return mp.findroot(lambda x: mp.psi(0, x), mp.mpf("1.4616321449683623"))


PSI_ROOT: Final = _psi_root()


def _psi_near(f: Number) -> Number:
    return mp.psi(0, 1 + f) / (1 + f - PSI_ROOT)


def _log_pair(z: Number) -> Number:
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5


def _bessel_near(order: int) -> Any:
    def near(z: Number) -> Number:
        x = mp.sqrt(z)
        return mp.besseli(0, x) if order == 0 else mp.besseli(1, x) / x

    return near


def _bessel_middle(order: int, g: Number) -> Number:
    return mp.besseli(order, 5 + g) * mp.exp(-5 - g)


def _bessel_slope(order: int) -> Any:
    def slope(g: Number) -> Number:
        if g == 0:
            return mp.diff(lambda h: _bessel_middle(order, h), 0)
        return (_bessel_middle(order, g) - _bessel_middle(order, mp.mpf(0))) / g

    return slope


def _bessel_share(order: int, g: Number) -> Number:
    return g / _bessel_middle(order, g)


def _bessel_far(order: int) -> Any:
    return lambda v: mp.besseli(order, 1 / v) * mp.exp(-1 / v) / mp.sqrt(v)


def inverse(function: Any) -> Any:
    """Return the weight of relative errors."""
    return lambda x: 1 / function(x)


def _integral_root() -> Number:
    with mp.workprec(_WIDE):
        return mp.findroot(mp.ei, mp.mpf("0.3725074107813666"))


EI_ROOT: Final = _integral_root()


def _exp1_rest(x: Number) -> Number:
    return (mp.e1(x) + mp.log(x) + mp.euler - x + x**2 / 4) / x**3


def _expi_near(x: Number) -> Number:
    return (mp.ei(x) - mp.log(x / EI_ROOT)) / (x - EI_ROOT)


def _dilogarithm(v: Number) -> Number:
    u = mp.sqrt(v)
    return (mp.polylog(2, 1 - mp.exp(-u)).real - u + u**2 / 4) / u**3


def _temme() -> list[list[Number]]:
    """Return the power series in eta of the polynomials of Temme's expansion (DLMF 8.12.11), as far as needed."""
    count = 40
    # m = x/a - 1: m m' = eta (1 + m)
    m = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, count + 1):
        m.append((m[n - 1] - sum(m[i] * (n + 1 - i) * m[n + 1 - i] for i in range(2, n))) / (n + 1))
    inverse = [mp.mpf(1)]
    for n in range(1, count):
        inverse.append(-sum(m[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    exponents = [mp.bernoulli(k + 1) / k if k % 2 else mp.mpf(0) for k in range(_ORDERS)]
    stirling = [mp.mpf(1)]
    for n in range(1, _ORDERS):
        stirling.append(sum(exponents[k] / (k + 1) * k * stirling[n - k] for k in range(1, n + 1)) / n)
    # from the power -1 on, which vanishes
    result = [[mp.mpf(0), *inverse[1:]]]
    for order in range(1, _ORDERS):
        last = result[-1]
        derived = [i * last[i + 1] for i in range(1, len(last) - 1)]
        result.append([d + (-1) ** order * stirling[order] * r for d, r in zip(derived, inverse, strict=False)])
    return [coefficients[1:] for coefficients in result]


_ORDERS: Final = 10
_TEMME_TERMS: Final = ((7, 16), (6, 15), (4, 13), (3, 12), (2, 10), (2, 9), (2, 7), (2, 5), (2, 4), (2, 3))
with mp.workprec(_WIDE):
    _TEMME: Final = _temme()


def _small(order: int, _: Number) -> Number:
    # beside half an error function, of orders from 50 on
    return mp.mpf(50) ** -order / 2


def _expansion(order: int, eta: Number) -> Number:
    return sum(c * eta**power for power, c in enumerate(_TEMME[order]))


_LOW: Final = mp.mpf("1e-9")

SERIES: Final = (
    Series(
        name="erf_series", says="erf(x) / x - 1 for |x| <= 1, of x*x",
        function=_erf, weight=lambda z: 1 / (1 + _erf(z)), interval=(0, 1), terms=terms(7, 13),
    ),
    Series(
        name="erfcx_series", says="(1 + 2 x) exp(x*x) erfc(x) for x from 0 to 28, of (x - 3) / (x + 3)",
        function=_erfcx, weight=inverse(_erfcx), interval=(-1, mp.mpf(25) / 31), terms=terms(16, 25),
    ),
    Series(
        name="erfinv_near_series", says="erfinv(y) / y for |y| <= 0.53, of y*y, to start from",
        function=_inverse_near, weight=inverse(_inverse_near), interval=(0, mp.mpf("0.282")), terms=terms(5, 6),
    ),
    Series(
        name="erfinv_far_series", says="erfcinv(exp(-s*s)) / s for s from 0.83 to 27.4, of 1/s, to start from",
        function=_inverse_far, weight=inverse(_inverse_far), interval=(mp.mpf("0.0364"), mp.mpf("1.2012")),
        terms=terms(8, 8),
    ),
    Series(
        name="log_pair_series", says="(2 atanh(s) - 2 s - 2/3 s**3) / s**5 for |s| <= 0.1716, of s*s",
        function=_log_pair, weight=lambda z: z**2 / 2, interval=(0, mp.mpf("0.1716") ** 2), terms=terms(4, 8),
    ),
    Series(
        name="gamma_series", says="gamma(3/2 + g) for |g| <= 1/2",
        function=lambda g: mp.gamma(g + mp.mpf(3) / 2), weight=lambda g: 1 / mp.gamma(g + mp.mpf(3) / 2),
        interval=(-mp.mpf(1) / 2, mp.mpf(1) / 2), terms=terms(12, 24),
    ),
    Series(
        name="lgamma_one_series", says="lgamma(1 + f) / f for f from -1/4 to 1/2",
        function=_lgamma_near(1), weight=inverse(_lgamma_near(1)), interval=(-mp.mpf(1) / 4, mp.mpf(1) / 2),
        terms=terms(12, 25),
    ),
    Series(
        name="lgamma_two_series", says="lgamma(2 + f) / f for f from -1/2 to 1",
        function=_lgamma_near(2), weight=inverse(_lgamma_near(2)), interval=(-mp.mpf(1) / 2, mp.mpf(1)),
        terms=terms(12, 25),
    ),
    Series(
        name="stirling_series", says="x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi)/2) for x >= 9, of 1/(x*x)",
        function=_stirling, weight=lambda w: mp.sqrt(w), interval=(mp.mpf("1e-12"), 1 / mp.mpf(81)), terms=terms(3, 8),
    ),
    Series(
        name="psi_near_series", says="psi(1 + f) / (f - f0) for f from -1/4 to 1/2, f0 where psi(1 + f) is 0",
        function=_psi_near, weight=inverse(_psi_near), interval=(-mp.mpf(1) / 4, mp.mpf(1) / 2), terms=terms(12, 25),
    ),
    Series(
        name="psi_next_series", says="psi(7/4 + g) / (3/4 + g - f0) for |g| <= 1/4, f0 as before",
        function=lambda g: _psi_near(g + mp.mpf(3) / 4), weight=lambda g: 1 / _psi_near(g + mp.mpf(3) / 4),
        interval=(-mp.mpf(1) / 4, mp.mpf(1) / 4), terms=terms(8, 15),
    ),
    Series(
        name="psi_middle_series", says="psi(3 + g) for |g| <= 1",
        function=lambda g: mp.psi(0, 3 + g), weight=lambda g: 1 / mp.psi(0, 3 + g), interval=(-1, 1),
        terms=terms(13, 26),
    ),
    Series(
        name="psi_tail_series", says="x*x (log(x) - 1/(2 x) - psi(x)) for x >= 9, of 1/(x*x)",
        function=_psi_tail, weight=lambda w: w, interval=(mp.mpf("1e-12"), 1 / mp.mpf(81)), terms=terms(3, 8),
    ),
    *(
        Series(
            name=f"temme_{order}_series", says=f"c{order}(eta) of Temme's expansion, for x/a from 0.7 to 1.3",
            function=partial(_expansion, order), weight=partial(_small, order),
            interval=(mp.mpf("-0.34"), mp.mpf("0.28")), terms=terms(*counts),
        )
        for order, counts in enumerate(_TEMME_TERMS)
    ),
    *(
        Series(
            name=f"i{order}_near_series", says=f"I{order}(x){' / x' if order else ''} for |x| <= 2, of x*x",
            function=_bessel_near(order), weight=inverse(_bessel_near(order)), interval=(0, 4), terms=terms(6, 11),
        )
        for order in (0, 1)
    ),
    *(
        Series(
            name=f"i{order}_middle_series",
            says=f"(f(5 + g) - f(5)) / g of f(x) = exp(-x) I{order}(x) for x from 2 to 8, or 5",
            function=_bessel_slope(order), weight=partial(_bessel_share, order), interval=(-3, 3), single=(-3, 0),
            terms=terms(10, 27),
        )
        for order in (0, 1)
    ),
    *(
        Series(
            name=f"i{order}_far_series", says=f"sqrt(x) exp(-x) I{order}(x) for x >= 8, or 5, of 1/x",
            function=_bessel_far(order), weight=inverse(_bessel_far(order)), interval=(mp.mpf("1e-4"), mp.mpf(1) / 8),
            single=(mp.mpf("1e-4"), mp.mpf(1) / 5), whole=True, terms=terms(9, 25 - order),
        )
        for order in (0, 1)
    ),
    Series(
        name="squared_sine_series", says="(h*h - sin(h)**2) / h**4 for |h| <= pi/4, of h*h",
        function=lambda z: (z - mp.sin(mp.sqrt(z)) ** 2) / z**2, weight=lambda z: z * 2, interval=(0, mp.mpf("0.617")),
        terms=terms(5, 9),
    ),
    Series(
        name="exp1_series", says="(E1(x) + log(x) + euler - x + x*x/4) / x**3 for x <= 1",
        function=_exp1_rest, weight=lambda x: x**3 / mp.e1(x), interval=(0, 1), terms=terms(6, 12),
    ),
    Series(
        name="expi_series", says="(Ei(x) - log(x/r)) / (x - r) for x <= 1, r where Ei is 0",
        function=_expi_near, weight=inverse(_expi_near), interval=(0, 1), whole=True, terms=terms(7, 14),
    ),
    Series(
        name="spence_series", says="(spence(exp(-u)) - u + u*u/4) / u**3 for |u| <= log(2), of u*u",
        function=_dilogarithm, weight=lambda v: v, interval=(0, mp.mpf("0.4805")), terms=terms(3, 8),
    ),
)  # fmt: skip


def constants_in_parts() -> dict[str, Number]:
    """Return the constants that are written in two parts, the second as ``NAME_LOW``."""
    return {
        "PI": mp.pi,
        "ROOT_2": mp.sqrt(2),
        "ROOT_HALF": mp.sqrt(mp.mpf(1) / 2),
        "INVERSE_ROOT_PI": 1 / mp.sqrt(mp.pi),
        "TWO_THIRDS": mp.mpf(2) / 3,
        "LOG_2": mp.log(2),
        "HALF_LOG_2PI": mp.log(2 * mp.pi) / 2,
        "PSI_ROOT": PSI_ROOT - 1,
        "INVERSE_ROOT_2PI": 1 / mp.sqrt(2 * mp.pi),
        "PI_SQUARED_SIXTH": mp.pi**2 / 6,
        "LOG_PI": mp.log(mp.pi),
        "RADIAN": mp.pi / 180,
        "ARC_SECOND": mp.pi / 648000,
        "EULER": +mp.euler,
        "EI_ROOT": EI_ROOT,
        "EI_ROOT_LOG": mp.log(EI_ROOT),
        "I0_MIDDLE": _bessel_middle(0, mp.mpf(0)),
        "I1_MIDDLE": _bessel_middle(1, mp.mpf(0)),
    }


def _literals(precision: Precision, value: Number, bits: int) -> list[str]:
    return [text.rstrip("lf") for text in split(precision, value, bits)]


def coefficients(series: Series, precision: Precision) -> tuple[list[Number], Number]:
    """Return the coefficients, lowest first, and what the rounding of the lowest has lost, if that matters.

    Inside the interval, at 0, no other coefficient can make up for it.
    """
    if not series.whole and series.interval[0] >= 0:
        return series.coefficients(precision), mp.mpf(0)
    interval, terms = series.where(precision), series.terms[precision]
    exact = best(series.function, series.weight, interval, terms)
    first = precision.rounded(exact[0])
    lost = precision.rounded(exact[0] - first)
    if not series.whole:
        return list(map(precision.rounded, exact)), lost
    others = polynomial(
        lambda x: (series.function(x) - first - lost) / x, lambda x: series.weight(x) * x, interval, terms - 1,
        precision.rounded,
    )  # fmt: skip
    return [first, *others], lost


def error(series: Series, precision: Precision, result: list[Number], lost: Number) -> float:
    """Return the largest relative error of a polynomial in units of the precision's last place."""
    with mp.workprec(_WIDE):
        whole = [result[0] + lost, *result[1:]]
    found_error = largest_error(series.function, series.weight, series.where(precision), whole)
    return float(found_error * mp.mpf(2) ** precision.digits)


def text() -> str:
    """Return the file of the polynomials."""
    with mp.workprec(_WIDE):
        constants = constants_in_parts()
        # the first part is short: its products with exponents are exact
        short = _constant(("LOG_2_SHORT", "LOG_2_REST"), mp.log(2), [SINGLE.digits - 8, DOUBLE.digits - 11])
    return file_text(constants, SERIES, short)


def file_text(
    constants: Mapping[str, Number],
    series: Iterable[Series],
    other_constants: Iterable[str] = (),
    words: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> str:
    """Return a JSON file of constants as double words, other constants, words in hexadecimal, and polynomials."""
    with mp.workprec(_WIDE):
        pairs = [
            line
            for name, value in constants.items()
            for line in _constant((name, f"{name}_LOW"), value, [p.digits for p in (SINGLE, DOUBLE)])
        ]
    sections = {"constants": [*pairs, *other_constants]}
    if words:
        sections["words"] = [f'"{name}": [{", ".join(map(json.dumps, of))}]' for name, of in words.items()]
    sections["polynomials"] = ["\n".join(_declaration(one)) for one in series]
    texts = (
        f'  "{name}": {{\n' + ",\n".join(f"    {e}" for e in entries) + "\n  }" for name, entries in sections.items()
    )
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _declaration(series: Series) -> Iterator[str]:
    both = [(p, *coefficients(series, p)) for p in (SINGLE, DOUBLE)]
    yield f'"{series.name}": {{'
    yield f'      "approximates": {json.dumps(series.says)},'
    for word, (precision, result, _) in zip(("single", "double"), both, strict=True):
        yield f'      "{word}": [{", ".join(_literal(precision, c) for c in result)}],'
    yield f'      "lost": [{", ".join(_literal(precision, lost) for precision, _, lost in both)}],'
    yield f'      "error_ulp": [{", ".join(f"{error(series, *one):.2g}" for one in both)}]'
    yield "    }"


def _literal(precision: Precision, value: Number) -> str:
    return precision.literal(value).rstrip("lf")


def _constant(names: tuple[str, str], value: Number, bits: list[int]) -> Iterator[str]:
    single, double = (_literals(p, value, width) for p, width in zip((SINGLE, DOUBLE), bits, strict=True))
    for name, one, other in zip(names, single, double, strict=True):
        yield f'"{name}": [{one}, {other}]'
