"""The special functions that are measured, by SciPy's names: their exact values where those are numbers of any size.

Beyond, where mpmath would need numbers of millions of digits, they are what the function overflows or underflows to, or
the leading terms of its asymptotic series.
"""

from collections.abc import Callable
from typing import Any, Final

import mpmath
from mpmath import mp

Exact = Callable[..., Any]

#: Arguments and results beyond these are infinite or 0 in every format.
_SQUARES: Final = 60
_FACTORIALS: Final = 400
_EXPONENTS: Final = 2000
_WORKING: Final = 300
#: From here on Bessel functions are their asymptotic series, to 140 bits.
_WAVES: Final = 60
_DEGREES: Final = 1e14
#: Bits that hold the difference of any two numbers, and what an angle leaves beside whole turns.
_TURNS: Final = 2300


def narrow(function: Exact) -> Exact:
    """Return a function that works with fewer bits than the caller's, which no result needs here."""

    def value(*operands: Any) -> Any:
        with mp.workprec(_WORKING):
            return function(*operands)

    return value


def _erfc(x: Any) -> Any:
    return mp.erfc(x) if abs(x) < _SQUARES else mp.mpf(0 if x > 0 else 2)


def _erfcx(x: Any) -> Any:
    if x < -_SQUARES:
        return mp.inf
    if x > 1e6:
        return (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def _log_ndtr(x: Any) -> Any:
    z = x / mp.sqrt(2)
    if x > _SQUARES:
        return -mp.mpf(0)
    if x > 0:
        return mp.log1p(-mp.erfc(z) / 2)
    return mp.log(_erfcx(-z) / 2) - z * z


def _inverse(p: Any) -> Any:
    """Return where erfc is p, for 0 < p < 1, by Newton's method for its logarithm."""
    x = mp.sqrt(-mp.log(p)) if p < 0.3 else (1 - p) * mp.sqrt(mp.pi) / 2
    for _ in range(60):
        step = (mp.log(mp.erfc(x)) - mp.log(p)) * _erfcx(x) * mp.sqrt(mp.pi) / 2
        x += step
        if abs(step) < abs(x) * mp.mpf(2) ** -200:
            break
    return x


def _erfcinv(p: Any) -> Any:
    if not 0 < p < 2:
        return mp.nan
    return mp.mpf(0) if p == 1 else _inverse(p) if p < 1 else -_inverse(2 - p)


def _erfinv(y: Any) -> Any:
    if abs(y) >= 1:
        return mp.nan
    return mp.erfinv(y) if abs(y) < 0.5 else mp.sign(y) * _inverse(1 - abs(y))


def _gamma(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return mp.nan
    return mp.gamma(x) if abs(x) < _FACTORIALS else mp.inf if x > 0 else mp.mpf(0) * (-1) ** int(mp.floor(x) % 2)


def _rgamma(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return mp.mpf(0)
    return mp.rgamma(x) if abs(x) < _FACTORIALS else mp.mpf(0) if x > 0 else mp.inf * (-1) ** int(mp.floor(x) % 2)


def _gammaln(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return mp.inf
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(x * mp.sinpi(x))) - mp.loggamma(-x)


def _psi(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return mp.nan
    return mp.psi(0, x) if x > 0 else mp.psi(0, 1 - x) - mp.pi * mp.cospi(x) / mp.sinpi(x)


def _bessel(order: int, scaled: bool) -> Exact:
    def value(x: Any) -> Any:
        a = abs(x)
        if a < _EXPONENTS:
            result = mp.besseli(order, a) * (mp.exp(-a) if scaled else 1)
        else:
            result = _asymptotic(order, a) if scaled else mp.inf
        return -result if order and x < 0 else result

    return value


def _asymptotic(order: int, a: Any, sign: int = -1) -> Any:
    total = term = mp.mpf(1)
    for k in range(1, 40):
        term *= sign * (4 * order * order - (2 * k - 1) ** 2) / (k * 8 * a)
        total += term
    return total / mp.sqrt(2 * mp.pi * a)


def _wave(order: int, second: bool) -> Exact:
    """Return a Bessel function of the first or second kind; far out its waves (DLMF 10.17)."""

    def value(x: Any) -> Any:
        a = abs(x)
        if second and x <= 0:
            return mp.nan if x < 0 else -mp.inf
        if a < _WAVES:
            return mp.bessely(order, x) if second else mp.besselj(order, x)
        even, odd, term = mp.mpf(1), mp.mpf(0), mp.mpf(1)
        for k in range(1, 100):
            term *= mp.mpf(4 * order * order - (2 * k - 1) ** 2) / (k * 8 * a)
            if k % 2:
                odd += term * (-1) ** (k // 2)
            else:
                even += term * (-1) ** (k // 2)
        with mp.workprec(_TURNS):
            phase = a - (2 * order + 1) * mp.pi / 4
            cosine, sine = mp.cos(phase), mp.sin(phase)
        result = (even * sine + odd * cosine if second else even * cosine - odd * sine) * mp.sqrt(2 / (mp.pi * a))
        return -result if order and x < 0 else result

    return value


def _decay(order: int, scaled: bool) -> Exact:
    """Return a modified Bessel function of the second kind, near 0 by series and Wronskian (DLMF 10.31, 10.28)."""

    def value(x: Any) -> Any:
        if x <= 0:
            return mp.nan if x < 0 else mp.inf
        if x > _WAVES:
            factor = 1 if scaled else mp.exp(-x) if x < _EXPONENTS else 0
            return mp.pi * _asymptotic(order, x, 1) * factor
        # of which all but exp(-2 x) cancels
        with mp.workprec(2 * _WORKING):
            term, harmonic, first, second, rest = mp.mpf(1), mp.mpf(0), mp.mpf(1), x / 2, mp.mpf(0)
            for k in range(1, 300):
                term *= (x / (2 * k)) ** 2
                harmonic += mp.mpf(1) / k
                first += term
                second += term * x / (2 * k + 2)
                rest += term * harmonic
            result = rest - (mp.log(x / 2) + mp.euler) * first
            if order:
                result = (1 / x - second * result) / first
            return result * mp.exp(x) if scaled else result

    return value


def _exp1(x: Any) -> Any:
    if x <= 0:
        return mp.nan if x < 0 else mp.inf
    return mp.e1(x) if x < _EXPONENTS else mp.mpf(0)


def _expi(x: Any) -> Any:
    if x == 0:
        return -mp.inf
    return mp.ei(x) if abs(x) < _EXPONENTS else mp.inf if x > 0 else -mp.mpf(0)


def _spence(x: Any) -> Any:
    if x < 0:
        return mp.nan
    if x == 0:
        return mp.pi**2 / 6
    if x < 0.5:
        return mp.pi**2 / 6 - mp.log1p(-x) * mp.log(x) - mp.polylog(2, x)
    if x > 2:
        return -(mp.pi**2) / 6 - mp.log(x - 1) ** 2 / 2 - mp.polylog(2, 1 / (1 - x))
    return mp.polylog(2, 1 - x)


def _ellipkm1(p: Any) -> Any:
    if p <= 0:
        return mp.nan if p < 0 else mp.inf
    return mp.pi / 2 / mp.agm(1, mp.sqrt(p))


def _ellipk(m: Any) -> Any:
    with mp.workprec(_TURNS):
        rest = 1 - m
    return _ellipkm1(rest)


def _in_degrees(function: Exact) -> Exact:
    """Return a function of angles in degrees, which SciPy defines to be 0 of vast ones."""

    def value(x: Any) -> Any:
        if abs(x) > _DEGREES:
            return mp.mpf(0)
        with mp.workprec(_TURNS):
            half_turns = (x - 360 * mp.floor(x / 360)) / 180
            return function(half_turns)

    return value


def _over(above: Any, below: Any) -> Any:
    """Return a quotient: infinite over 0."""
    return above / below if below else mp.inf


def _cosm1(x: Any) -> Any:
    with mp.workprec(_TURNS):
        return -2 * mp.sin(x / 2) ** 2


def _gammasgn(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return mp.nan if x else mp.mpf(1)
    return mp.mpf(1 if x > 0 or mp.floor(x) % 2 == 0 else -1)


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if abs(x) < _EXPONENTS else mp.mpf(x > 0)


def _log_logistic(x: Any) -> Any:
    return -mp.log1p(mp.exp(-x)) if abs(x) < _EXPONENTS else min(x, mp.mpf(0))


def _exprel(x: Any) -> Any:
    if x == 0:
        return mp.mpf(1)
    return mp.expm1(x) / x if abs(x) < _EXPONENTS else mp.inf if x > 0 else -1 / x


def _logit(p: Any) -> Any:
    return mp.log(p) - mp.log1p(-p) if 0 < p < 1 else mp.nan


EXACT: Final[dict[str, tuple[Exact, tuple[float, float]]]] = {
    name: (narrow(function), interval)
    for name, (function, interval) in {
        "erf": (mpmath.erf, (-6.0, 6.0)),
        "erfc": (_erfc, (-4.0, 27.0)),
        "erfcx": (_erfcx, (-9.0, 40.0)),
        "erfinv": (_erfinv, (-1.0, 1.0)),
        "erfcinv": (_erfcinv, (0.0, 2.0)),
        "ndtr": (lambda x: _erfc(-x / mp.sqrt(2)) / 2, (-38.0, 8.0)),
        "log_ndtr": (_log_ndtr, (-60.0, 14.0)),
        "ndtri": (lambda p: -mp.sqrt(2) * _erfcinv(2 * p), (0.0, 1.0)),
        "gamma": (_gamma, (-40.0, 36.0)),
        "rgamma": (_rgamma, (-40.0, 36.0)),
        "gammaln": (_gammaln, (0.0, 40.0)),
        "digamma": (_psi, (0.0, 20.0)),
        "sinc": (lambda x: mp.sinpi(x) / (mp.pi * x) if x else mp.mpf(1), (-9.0, 9.0)),
        "expit": (_logistic, (-90.0, 40.0)),
        "logit": (_logit, (0.0, 1.0)),
        "log_expit": (_log_logistic, (-90.0, 90.0)),
        "exprel": (_exprel, (-90.0, 90.0)),
        "entr": (lambda x: -x * mp.log(x) if x > 0 else -mp.inf if x < 0 else mp.mpf(0), (0.0, 3.0)),
        "i0": (_bessel(0, False), (-80.0, 80.0)),
        "i0e": (_bessel(0, True), (-80.0, 80.0)),
        "i1": (_bessel(1, False), (-80.0, 80.0)),
        "i1e": (_bessel(1, True), (-80.0, 80.0)),
        "j0": (_wave(0, False), (-40.0, 40.0)),
        "j1": (_wave(1, False), (-40.0, 40.0)),
        "y0": (_wave(0, True), (0.0, 40.0)),
        "y1": (_wave(1, True), (0.0, 40.0)),
        "k0": (_decay(0, False), (0.0, 88.0)),
        "k0e": (_decay(0, True), (0.0, 88.0)),
        "k1": (_decay(1, False), (0.0, 88.0)),
        "k1e": (_decay(1, True), (0.0, 88.0)),
        "exp1": (_exp1, (0.0, 88.0)),
        "expi": (_expi, (-88.0, 88.0)),
        "spence": (_spence, (0.0, 4.0)),
        "ellipk": (_ellipk, (-3.0, 1.0)),
        "ellipkm1": (_ellipkm1, (0.0, 2.0)),
        "sindg": (_in_degrees(mp.sinpi), (-720.0, 720.0)),
        "cosdg": (_in_degrees(mp.cospi), (-720.0, 720.0)),
        "tandg": (_in_degrees(lambda h: _over(mp.sinpi(h), mp.cospi(h))), (-720.0, 720.0)),
        "cotdg": (_in_degrees(lambda h: _over(mp.cospi(h), mp.sinpi(h))), (-720.0, 720.0)),
        "cosm1": (_cosm1, (-7.0, 7.0)),
        "loggamma": (lambda x: _gammaln(x) if x >= 0 else mp.nan, (0.0, 40.0)),
        "gammasgn": (_gammasgn, (-20.0, 20.0)),
    }.items()
}
"""The functions, and where they are neither trivial nor out of range."""
