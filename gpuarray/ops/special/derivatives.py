"""The partial derivatives of the special functions; :mod:`gpuarray.ops.derivatives` has the others."""

from collections.abc import Mapping
from math import pi, sqrt
from typing import Any, Final

from gpuarray.ops.derivatives import UNKNOWN, Formula, Partial, exp, floor, function, log, log1p, power, sign, where
from gpuarray.ops.derivatives import abs_ as absolute
from gpuarray.ops.derivatives import cos as cosine
from gpuarray.ops.derivatives import sin as sine
from gpuarray.ops.derivatives import sqrt as root
from gpuarray.ops.special import INVERSES, OF_SCIPY, OPS, SLOPES

_function = {name: function(op) for name, op in (OPS | SLOPES | INVERSES | OF_SCIPY).items()}
betaln, digamma, gamma, gammaln = (_function[name] for name in ("betaln", "digamma", "gamma", "gammaln"))
xlogy, xlog1py, expit = (_function[name] for name in ("xlogy", "xlog1py", "expit"))
polygamma, zeta = _function["polygamma"], _function["zeta"]
by_order, by_shape = _function["gammainc_by_order"], _function["betainc_by_shape"]
elliptic_slope, by_exponent = _function["ellipk_slope"], _function["zeta_by_exponent"]

_DEGREE: Final = pi / 180


def _polynomial(x: Any, *coefficients: float) -> Any:
    value: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def _negative(formula: Formula) -> Formula:
    return lambda *operands: -formula(*operands)


def _rgamma(y: Any, x: Any) -> Any:
    """Return the derivative of 1 / gamma, by reflection at its zeros."""
    is_zero = (x <= 0) & (x == floor(x))
    at_zero = cosine(pi * x) * gamma(where(is_zero, 1 - x, 1.0))
    return where(is_zero, at_zero, -y * digamma(where(is_zero, 1.0, x)))


def _sinc(y: Any, x: Any) -> Any:
    near = absolute(x) < 1e-2
    s = pi * x
    series = pi * s * _polynomial(s * s, -1 / 3, 1 / 30, -1 / 840)
    return where(near, series, (cosine(s) - y) / where(near, 1.0, x))


def _exprel(y: Any, x: Any) -> Any:
    near = absolute(x) < 0.05
    series = _polynomial(x, 1 / 2, 1 / 3, 1 / 8, 1 / 30, 1 / 144, 1 / 840, 1 / 5760)
    return where(near, series, (exp(x) - y) / where(near, 1.0, x))


def _spence(_y: Any, z: Any) -> Any:
    t = 1 - z
    near = absolute(t) < 1e-3
    series = -_polynomial(t, 1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5)
    return where(near, series, log(z) / where(near, 1.0, t))


def _over(y: Any, x: Any, at_zero: float) -> Any:
    """Return y / x, where it has a limit at 0."""
    return where(x == 0, at_zero, y / where(x == 0, 1.0, x))


def _gamma_density(a: Any, x: Any) -> Any:
    return exp(xlogy(a - 1, x) - x - gammaln(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


def _inverse_gamma(sign: float) -> tuple[Formula, ...]:
    """Return the partial derivatives of an inverse: of F(a, x) = p, dx / da = -F_a / F_x and dx / dp = 1 / F_x."""
    return (
        lambda x, a, p: -by_order(a, x) / _gamma_density(a, x),
        lambda x, a, p: sign / _gamma_density(a, x),
    )


def _odds_density(a: Any, b: Any, odds: Any) -> Any:
    return _beta_density(a, b, odds / (1 + odds)) / (1 + odds) ** 2


def _student(_y: Any, df: Any, t: Any) -> Any:
    return exp(-(df + 1) / 2 * log1p(t * t / df) - betaln(0.5 + 0 * df, df / 2)) / root(df)


def _poisson(_y: Any, k: Any, m: Any) -> Any:
    """Return the derivative of the share of at most k events by their mean m."""
    return -_gamma_density(floor(k) + 1, m)


def _binomial(_y: Any, k: Any, n: Any, p: Any) -> Any:
    k, n = floor(k), floor(n.astype(p.dtype))
    return where(k >= n, 0.0, -_beta_density(k + 1, where(k >= n, 1.0, n - k), p))


def _negative_binomial(_y: Any, k: Any, n: Any, p: Any) -> Any:
    return _beta_density(floor(n.astype(p.dtype)), floor(k.astype(p.dtype)) + 1, p)


def _variance_ratio(_y: Any, m: Any, n: Any, x: Any) -> Any:
    power_of = xlogy(m / 2, m / n) + xlogy(m / 2 - 1, x)
    return exp(power_of - (m + n) / 2 * log1p(m * x / n) - betaln(m / 2, n / 2))


def _by_first(_y: Any, a: Any, b: Any, x: Any) -> Any:
    return by_shape(a, b, x)


def _by_second(_y: Any, a: Any, b: Any, x: Any) -> Any:
    return -by_shape(b, a, 1 - x)


def _student_df(_y: Any, df: Any, t: Any) -> Any:
    """Return the derivative by the degrees of freedom: the tail is half an incomplete beta function of df / 2."""
    x = df / (df + t * t)
    tail = by_shape(df / 2, 0.5 + 0 * df, x) / 2
    tail = tail + _beta_density(df / 2, 0.5 + 0 * df, x) * t * t / ((df + t * t) * (df + t * t))
    return -sign(t) * tail / 2


def _variance_first(_y: Any, m: Any, n: Any, x: Any) -> Any:
    share = m * x / (m * x + n)
    moved = _beta_density(m / 2, n / 2, share) * n * x / ((m * x + n) * (m * x + n))
    return by_shape(m / 2, n / 2, share) / 2 + moved


def _variance_second(_y: Any, m: Any, n: Any, x: Any) -> Any:
    share = m * x / (m * x + n)
    moved = _beta_density(m / 2, n / 2, share) * m * x / ((m * x + n) * (m * x + n))
    return -by_shape(n / 2, m / 2, n / (m * x + n)) / 2 - moved


def _elliptic_curve(y: Any, p: Any) -> Any:
    """Return minus the second derivative of the elliptic integral by m, from its differential equation."""
    m = 1 - p
    is_zero = m == 0
    second = (_function["ellipkm1"](p) / 4 - (1 - 2 * m) * y) / where(is_zero, 1.0, m * p)
    return -where(is_zero, 9 * pi / 64, second)


_VARIANCE_SHAPES: Final = (_variance_first, _variance_second)


def _gamma_rate(_y: Any, a: Any, b: Any, x: Any) -> Any:
    return x * _gamma_density(b, a * x)


def _gamma_place(_y: Any, a: Any, b: Any, x: Any) -> Any:
    return a * _gamma_density(b, a * x)


def _huber(_y: Any, delta: Any, r: Any) -> Any:
    return where(absolute(r) <= delta, r, delta * sign(r))


def _huber_delta(_y: Any, delta: Any, r: Any) -> Any:
    return where(absolute(r) <= delta, 0.0, absolute(r) - delta)


def _pseudo_huber(_y: Any, delta: Any, r: Any) -> Any:
    return r / root(1 + (r / delta) * (r / delta))


def _pseudo_huber_delta(y: Any, delta: Any, r: Any) -> Any:
    return 2 * y / delta - r * r / (delta * root(1 + (r / delta) * (r / delta)))


def _by_exponent(y: Any, logarithm: Any, exponent: Any) -> Any:
    """Return the derivative of (exp(exponent * logarithm) - 1) / exponent, which is y, by the exponent."""
    is_zero = exponent == 0
    slope = (logarithm * exp(exponent * logarithm) - y) / where(is_zero, 1.0, exponent)
    return where(is_zero, logarithm * logarithm / 2, slope)


def _inverse_by_exponent(raised: Any, y: Any, exponent: Any) -> Any:
    """Return the derivative of (1 + exponent * y) ** (1 / exponent), which is ``raised``, by the exponent."""
    is_zero = exponent == 0
    known = where(is_zero, 1.0, exponent)
    slope = (y / (1 + exponent * y) - log1p(exponent * y) / known) / known
    return raised * where(is_zero, -y * y / 2, slope)


_by_name: dict[str, tuple[Partial, ...]] = {
    "erf": (lambda y, x: 2 / sqrt(pi) * exp(-x * x),),
    "erfc": (lambda y, x: -2 / sqrt(pi) * exp(-x * x),),
    "erfcx": (lambda y, x: 2 * x * y - 2 / sqrt(pi),),
    "erfinv": (lambda y, x: sqrt(pi) / 2 * exp(y * y),),
    "erfcinv": (lambda y, x: -sqrt(pi) / 2 * exp(y * y),),
    "ndtr": (lambda y, x: exp(-x * x / 2) / sqrt(2 * pi),),
    "log_ndtr": (lambda y, x: exp(-x * x / 2 - y) / sqrt(2 * pi),),
    "ndtri": (lambda y, x: sqrt(2 * pi) * exp(y * y / 2),),
    "gamma": (lambda y, x: y * digamma(x),),
    "rgamma": (_rgamma,),
    "gammaln": (lambda y, x: digamma(x),),
    "loggamma": (lambda y, x: digamma(x),),
    "gammasgn": (0.0,),
    "digamma": (lambda y, x: polygamma(1.0, x),),
    "polygamma": (UNKNOWN, lambda y, n, x: polygamma(n + 1, x)),
    "multigammaln": (lambda y, a, d: _function["multidigamma"](a, d), UNKNOWN),
    "sinc": (_sinc,),
    "expit": (lambda y, x: y * (1 - y),),
    "logit": (lambda y, x: 1 / (x * (1 - x)),),
    "log_expit": (lambda y, x: expit(-x),),
    "xlogy": (lambda y, a, b: log(b), lambda y, a, b: a / b),
    "xlog1py": (lambda y, a, b: log1p(b), lambda y, a, b: a / (1 + b)),
    "entr": (lambda y, x: -log(x) - 1,),
    "rel_entr": (lambda y, a, b: log(a / b) + 1, lambda y, a, b: -a / b),
    "kl_div": (lambda y, a, b: log(a / b), lambda y, a, b: 1 - a / b),
    "exprel": (_exprel,),
    "beta": (
        lambda y, a, b: y * (digamma(a) - digamma(a + b)),
        lambda y, a, b: y * (digamma(b) - digamma(a + b)),
    ),
    "betaln": (lambda y, a, b: digamma(a) - digamma(a + b), lambda y, a, b: digamma(b) - digamma(a + b)),
    "gammainc": (lambda y, a, x: by_order(a, x), lambda y, a, x: _gamma_density(a, x)),
    "gammaincc": (lambda y, a, x: -by_order(a, x), lambda y, a, x: -_gamma_density(a, x)),
    "pdtr": (0.0, _poisson),
    "pdtrc": (0.0, _negative(_poisson)),
    "betainc": (_by_first, _by_second, lambda y, a, b, x: _beta_density(a, b, x)),
    "betaincc": (_negative(_by_first), _negative(_by_second), lambda y, a, b, x: -_beta_density(a, b, x)),
    "stdtr": (_student_df, _student),
    "huber": (_huber_delta, _huber),
    "pseudo_huber": (_pseudo_huber_delta, _pseudo_huber),
    "zeta": (lambda y, s, q: by_exponent(s, q), lambda y, s, q: -s * zeta(s + 1, q)),
    "i0": (lambda y, x: _function["i1"](x),),
    "i0e": (lambda y, x: _function["i1e"](x) - sign(x) * y,),
    "i1": (lambda y, x: _function["i0"](x) - _over(y, x, 0.5),),
    "i1e": (lambda y, x: _function["i0e"](x) - sign(x) * y - _over(y, x, 0.5),),
    "j0": (lambda y, x: -_function["j1"](x),),
    "j1": (lambda y, x: _function["j0"](x) - _over(y, x, 0.5),),
    "y0": (lambda y, x: -_function["y1"](x),),
    "y1": (lambda y, x: _function["y0"](x) - y / x,),
    "k0": (lambda y, x: -_function["k1"](x),),
    "k0e": (lambda y, x: y - _function["k1e"](x),),
    "k1": (lambda y, x: -_function["k0"](x) - y / x,),
    "k1e": (lambda y, x: y - _function["k0e"](x) - y / x,),
    "exp1": (lambda y, x: -exp(-x) / x,),
    "expi": (lambda y, x: exp(x) / x,),
    "spence": (_spence,),
    "ellipk": (lambda y, m: elliptic_slope(1 - m),),
    "ellipkm1": (lambda y, p: -elliptic_slope(p),),
    "sindg": (lambda y, x: _DEGREE * _function["cosdg"](x),),
    "cosdg": (lambda y, x: -_DEGREE * _function["sindg"](x),),
    "tandg": (lambda y, x: _DEGREE * (1 + y * y),),
    "cotdg": (lambda y, x: -_DEGREE * (1 + y * y),),
    "radian": (_DEGREE, _DEGREE / 60, _DEGREE / 3600),
    "cosm1": (lambda y, x: -sine(x),),
    "boxcox": (lambda y, x, p: power(x, p - 1), lambda y, x, p: _by_exponent(y, log(x), p)),
    "boxcox1p": (lambda y, x, p: power(1 + x, p - 1), lambda y, x, p: _by_exponent(y, log1p(x), p)),
    "inv_boxcox": (lambda y, x, p: power(y, 1 - p), lambda y, x, p: _inverse_by_exponent(y, x, p)),
    "inv_boxcox1p": (lambda y, x, p: power(1 + y, 1 - p), lambda y, x, p: _inverse_by_exponent(1 + y, x, p)),
    "bdtr": (0.0, 0.0, _binomial),
    "bdtrc": (0.0, 0.0, _negative(_binomial)),
    "nbdtr": (0.0, 0.0, _negative_binomial),
    "nbdtrc": (0.0, 0.0, _negative(_negative_binomial)),
    "fdtr": (*_VARIANCE_SHAPES, _variance_ratio),
    "fdtrc": (*map(_negative, _VARIANCE_SHAPES), _negative(_variance_ratio)),
    "gdtr": (_gamma_rate, lambda y, a, b, x: by_order(b, a * x), _gamma_place),
    "gdtrc": (_negative(_gamma_rate), lambda y, a, b, x: -by_order(b, a * x), _negative(_gamma_place)),
    "gammaincinv": _inverse_gamma(1.0),
    "gammainccinv": _inverse_gamma(-1.0),
    "beta_inverse_odds": (
        lambda odds, a, b, p: -by_shape(a, b, odds / (1 + odds)) / _odds_density(a, b, odds),
        lambda odds, a, b, p: by_shape(b, a, 1 / (1 + odds)) / _odds_density(a, b, odds),
        lambda odds, a, b, p: 1 / _odds_density(a, b, odds),
    ),
    "gammainc_by_order": (UNKNOWN, lambda y, a, x: _gamma_density(a, x) * (log(x) - digamma(a))),
    "betainc_by_shape": (
        UNKNOWN,
        UNKNOWN,
        lambda y, a, b, x: _beta_density(a, b, x) * (log(x) - digamma(a) + digamma(a + b)),
    ),
    "multidigamma": (UNKNOWN, UNKNOWN),
    "ellipk_slope": (_elliptic_curve,),
    "zeta_by_exponent": (UNKNOWN, lambda y, s, q: -zeta(s + 1, q) - s * by_exponent(s + 1, q)),
    "sine_integral": (lambda y, x: _function["sinc"](x / pi),),
    "cosine_integral": (lambda y, x: cosine(x) / x,),
    "fresnel_sine": (lambda y, x: sine(pi / 2 * x * x),),
    "fresnel_cosine": (lambda y, x: cosine(pi / 2 * x * x),),
    "wrightomega": (lambda y, x: y / (1 + y),),
}

#: The partial derivatives of the special functions, by operation.
PARTIALS: Final[Mapping[Any, tuple[Partial, ...]]] = {
    (OPS | SLOPES | INVERSES | OF_SCIPY)[name]: partials for name, partials in _by_name.items()
}
