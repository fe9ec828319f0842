"""The special functions of several operands that are measured: exact values, and operands of interest.

Numbers that are uniform in their bits would nearly all lie where a distribution function is 0 or 1. So each function
has its own sample: parameters uniform in their exponents, and the limit a few deviations from the mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from mpmath import mp

Exact = Callable[..., Any]
Array = np.ndarray[Any, Any]
Random = np.random.Generator
Sample = Callable[[Random, int, float], list[Array]]

#: The decimal exponent of the largest counts: their sums are numbers of float32, too.
COUNTS: Final = 6.9
#: Bits that leave some of 1 - y where y is as near 1 as float64 can tell.
_COMPLEMENT: Final = 1400


@dataclass(frozen=True, kw_only=True)
class Parametric:
    """A function of several operands.

    Attributes
    ----------
    exact : callable
        From mpmath numbers to the exact value.
    sample : callable
        From a generator, a count, and the largest decimal exponent of parameters, to operands.
    hard : tuple
        Operands at which implementations went wrong.
    relative : bool
        Whether errors are relative to the result; else to the largest of result, operands and 1.
    """

    exact: Exact
    sample: Sample
    hard: tuple[tuple[float, ...], ...] = ()
    relative: bool = True


# -- exact values ------------------------------------------------------------------------------------------------------


def _lower_gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _upper_gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _lower_beta(a: Any, b: Any, x: Any) -> Any:
    """Return the lower function by a power series of positive terms (DLMF 8.17.8), of x or 1 - x up to 1/2."""
    with mp.workprec(_COMPLEMENT):
        if x > 0.5:
            return 1 - _lower_beta(b, a, 1 - x)
        factor = mp.exp(a * mp.log(x) + b * mp.log1p(-x) - _log_beta(a, b)) / a
        # by integers, of which the last bit is 2**-_COMPLEMENT
        one = total = term = 1 << _COMPLEMENT
        share, rising, falling = (int(mp.ldexp(v, _COMPLEMENT)) for v in (x, a + b, a + 1))
        while term:
            term = (term * (rising * share >> _COMPLEMENT)) // falling
            total += term
            rising += one
            falling += one
        return factor * total / one


def _upper_beta(a: Any, b: Any, x: Any) -> Any:
    with mp.workprec(_COMPLEMENT):
        return _lower_beta(b, a, 1 - x)


def _log_beta(a: Any, b: Any) -> Any:
    value = mp.mpf(0)
    for number, sign in ((a, 1), (b, 1), (a + b, -1)):
        value += sign * (mp.loggamma(number) if number > 0 else mp.log(abs(mp.gamma(number))))
    return value


def _is_pole(x: Any) -> bool:
    return bool(x <= 0 and x == mp.floor(x))


def _beta(a: Any, b: Any) -> Any:
    if _is_pole(a) or _is_pole(b):
        return mp.nan
    if _is_pole(a + b):
        return mp.mpf(0)
    if min(a, b) > 0:
        return mp.exp(_log_beta(a, b))
    return mp.gamma(a) * mp.gamma(b) * mp.rgamma(a + b)


def _betaln(a: Any, b: Any) -> Any:
    if _is_pole(a) or _is_pole(b) or _is_pole(a + b):
        return mp.nan
    return _log_beta(a, b)


def _zeta(x: Any, q: Any) -> Any:
    total = mp.mpf(0)
    while q < 0:
        total += mp.power(q, -x)
        q += 1
    return total + mp.zeta(x, q)


def _student(degrees: Any, t: Any) -> Any:
    with mp.workprec(_COMPLEMENT):
        tail = _lower_beta(degrees / 2, mp.mpf(1) / 2, degrees / (degrees + t * t)) / 2
    return tail if t < 0 else 1 - tail


def _huber(delta: Any, r: Any) -> Any:
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def _pseudo_huber(delta: Any, r: Any) -> Any:
    return r * r / (1 + mp.sqrt(1 + (r / delta) ** 2))


def _binomial(k: Any, n: Any, p: Any) -> Any:
    return mp.mpf(1) if k == n else _upper_beta(k + 1, n - k, p)


def _binomial_rest(k: Any, n: Any, p: Any) -> Any:
    return mp.mpf(0) if k == n else _lower_beta(k + 1, n - k, p)


def _fisher(lower: bool) -> Exact:
    def value(a: Any, b: Any, x: Any) -> Any:
        with mp.workprec(_COMPLEMENT):
            share = a * x / (a * x + b)
            return _lower_beta(a / 2, b / 2, share) if lower else _lower_beta(b / 2, a / 2, 1 - share)

    return value


def _multigammaln(a: Any, d: Any) -> Any:
    return d * (d - 1) / 4 * mp.log(mp.pi) + sum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(int(d)))


def _polygamma(n: Any, x: Any) -> Any:
    return -((-1) ** int(n)) * mp.factorial(n) * _zeta(n + 1, x)


def _radian(d: Any, m: Any, s: Any) -> Any:
    return (d + (m + s / 60) / 60) * mp.pi / 180


def _boxcox(x: Any, power: Any) -> Any:
    return mp.expm1(power * mp.log(x)) / power


def _boxcox1p(x: Any, power: Any) -> Any:
    return mp.expm1(power * mp.log1p(x)) / power if x > -1 else mp.nan


def _inv_boxcox(y: Any, power: Any) -> Any:
    return mp.exp(mp.log1p(power * y) / power) if power * y > -1 else mp.nan


def _inv_boxcox1p(y: Any, power: Any) -> Any:
    return mp.expm1(mp.log1p(power * y) / power) if power * y > -1 else mp.nan


# -- samples -----------------------------------------------------------------------------------------------------------


def _powers(random: Random, count: int, low: float, high: float) -> Array:
    return np.asarray(10 ** random.uniform(low, high, count))


def _around(random: Random, mean: Array, deviation: Array) -> Array:
    """Return numbers from a few deviations below the mean to a few beyond, and others of all sizes below both."""
    near = mean + random.normal(0, 3, len(mean)) * deviation
    far = mean * random.uniform(0, 1, len(mean)) ** 3
    return np.where((random.uniform(0, 1, len(mean)) < 0.2) | (near <= 0), far, near)


def _gamma_sample(random: Random, count: int, largest: float) -> list[Array]:
    a = _powers(random, count, -3, largest)
    return [a, _around(random, a, np.sqrt(a + 1))]


def _poisson_sample(random: Random, count: int, largest: float) -> list[Array]:
    mean = _powers(random, count, -3, largest)
    return [np.floor(_around(random, mean, np.sqrt(mean + 1))), mean]


def _chi_square_sample(random: Random, count: int, largest: float) -> list[Array]:
    return [2 * v for v in _gamma_sample(random, count, largest)]


def _beta_sample(random: Random, count: int, largest: float) -> list[Array]:
    a, b = _powers(random, count, -3, largest), _powers(random, count, -3, largest)
    share = a / (a + b)
    x = _around(random, share, np.sqrt(share * (1 - share) / (a + b + 1)))
    return [a, b, np.where(x < 1, x, random.uniform(0, 1, count))]


def _student_sample(random: Random, count: int, largest: float) -> list[Array]:
    return [_powers(random, count, -2, largest), random.normal(0, 3, count) * _powers(random, count, -2, 1)]


def _positive_sample(random: Random, count: int, largest: float) -> list[Array]:
    return [_powers(random, count, -largest, largest) for _ in range(2)]


def _ratio_sample(random: Random, count: int, largest: float) -> list[Array]:
    """Return pairs of numbers of any size, half of them near each other."""
    x = _powers(random, count, -4 * largest, 4 * largest)
    wide = np.where(random.uniform(0, 1, count) < 0.5, 0.3, largest)
    return [x, x * 10 ** (random.uniform(-1, 1, count) * wide)]


def _logarithm_sample(random: Random, count: int, largest: float) -> list[Array]:
    return [random.choice([-1, 1], count) * _powers(random, count, -5, largest), _powers(random, count, -5, largest)]


def _signed_sample(random: Random, count: int, largest: float) -> list[Array]:
    """Return positive numbers of all sizes, and a quarter from -20 to 20."""
    positive = _positive_sample(random, count, largest)
    is_signed = random.uniform(0, 1, count) < 0.25
    return [np.where(is_signed, random.uniform(-20, 20, count), x) for x in positive]


def _zeta_sample(random: Random, count: int, largest: float) -> list[Array]:
    """Return exponents beyond 1 with positive numbers, and integral ones with a fifth of negative numbers."""
    is_negative = random.uniform(0, 1, count) < 0.2
    x = np.where(is_negative, random.integers(2, 12, count), 1 + _powers(random, count, -4, 1.5))
    return [x, np.where(is_negative, -_powers(random, count, -2, 2), _powers(random, count, -3, largest))]


def _binomial_sample(random: Random, count: int, largest: float) -> list[Array]:
    n = np.floor(_powers(random, count, 0, min(largest, COUNTS)))
    p = _powers(random, count, -4, 0)
    p = np.where(random.uniform(0, 1, count) < 0.5, p, 1 - p)
    k = np.floor(_around(random, n * p, np.sqrt(n * p * (1 - p) + 1)))
    return [np.clip(k, 0, n), n, p]


def _successes_sample(random: Random, count: int, largest: float) -> list[Array]:
    n = 1 + np.floor(_powers(random, count, -1, min(largest, COUNTS) - 1))
    p = np.clip(_powers(random, count, -3, 0), 1e-3, 0.999)
    failures = n * (1 - p) / p
    k = np.floor(_around(random, failures, np.sqrt(failures / p + 1)))
    return [np.minimum(k, np.floor(10 ** min(largest, COUNTS))), n, p]


def _fisher_sample(random: Random, count: int, largest: float) -> list[Array]:
    a, b = _powers(random, count, -2, largest), _powers(random, count, -2, largest)
    return [a, b, np.exp(random.normal(0, 2, count) * np.minimum(np.sqrt(2 / a + 2 / b), 4))]


def _rate_sample(random: Random, count: int, largest: float) -> list[Array]:
    rate = _powers(random, count, -3, 3)
    order = _powers(random, count, -3, largest)
    return [rate, order, _around(random, order, np.sqrt(order + 1)) / rate]


def _dimensions_sample(random: Random, count: int, largest: float) -> list[Array]:
    d = np.where(random.uniform(0, 1, count) < 0.8, random.integers(1, 12, count), random.integers(1, 200, count))
    return [(d - 1) / 2 + _powers(random, count, -3, largest), d.astype(float)]


def _order_sample(random: Random, count: int, largest: float) -> list[Array]:
    n = random.integers(1, 24, count)
    x = np.where(random.uniform(0, 1, count) < 0.2, -_powers(random, count, -2, 2), _powers(random, count, -1, largest))
    return [n.astype(float), x]


def _angle_sample(random: Random, count: int, largest: float) -> list[Array]:
    whole = random.integers(-360, 361, count), random.integers(0, 60, count), random.uniform(0, 60, count)
    is_whole = random.uniform(0, 1, count) < 0.5
    return [np.where(is_whole, w, random.normal(0, 1, count) * _powers(random, count, -3, largest)) for w in whole]


def _transformed_sample(random: Random, count: int, largest: float) -> list[Array]:
    power = random.choice([-1, 1], count) * _powers(random, count, -6, 1.2)
    return [_powers(random, count, -largest, largest), power]


def _transformed1p_sample(random: Random, count: int, largest: float) -> list[Array]:
    x, power = _transformed_sample(random, count, largest)
    return [np.where(random.uniform(0, 1, count) < 0.4, random.uniform(-1, 1, count) * np.minimum(x, 1), x), power]


def _inverse_sample(random: Random, count: int, largest: float) -> list[Array]:
    """Return values with exponents, whose product is nearly always above -1."""
    y, power = random.choice([-1, 1], count) * _powers(random, count, -4, 2), _transformed_sample(random, count, 1)[1]
    return [np.where(y * power < -1, random.uniform(-1, 1, count) / power, y), power]


PARAMETRIC: Final = {
    "beta": Parametric(exact=_beta, sample=_signed_sample),
    # it crosses 0 on curves between terms that are none, where SciPy's has no digits left, either
    "betaln": Parametric(exact=_betaln, sample=_signed_sample, relative=False),
    "gammainc": Parametric(exact=_lower_gamma, sample=_gamma_sample, hard=((90.46697, 90.42959), (12.0, 12.0))),
    "gammaincc": Parametric(exact=_upper_gamma, sample=_gamma_sample, hard=((161.21504, 160.95866), (1e-3, 1e-3))),
    "pdtr": Parametric(exact=lambda k, m: _upper_gamma(k + 1, m), sample=_poisson_sample),
    "pdtrc": Parametric(exact=lambda k, m: _lower_gamma(k + 1, m), sample=_poisson_sample),
    "chdtr": Parametric(exact=lambda v, x: _lower_gamma(v / 2, x / 2), sample=_chi_square_sample),
    "chdtrc": Parametric(exact=lambda v, x: _upper_gamma(v / 2, x / 2), sample=_chi_square_sample),
    "betainc": Parametric(exact=_lower_beta, sample=_beta_sample, hard=((12.568641, 0.0012568692, 0.9873458),)),
    "betaincc": Parametric(exact=_upper_beta, sample=_beta_sample, hard=((0.0020322863, 8.277253, 0.014681502),)),
    "stdtr": Parametric(exact=_student, sample=_student_sample, hard=((4.0, -1e6), (1e4, -6.0))),
    "bdtr": Parametric(exact=_binomial, sample=_binomial_sample),
    "bdtrc": Parametric(exact=_binomial_rest, sample=_binomial_sample),
    "nbdtr": Parametric(exact=lambda k, n, p: _lower_beta(n, k + 1, p), sample=_successes_sample),
    "nbdtrc": Parametric(exact=lambda k, n, p: _upper_beta(n, k + 1, p), sample=_successes_sample),
    "fdtr": Parametric(exact=_fisher(True), sample=_fisher_sample),
    "fdtrc": Parametric(exact=_fisher(False), sample=_fisher_sample),
    "gdtr": Parametric(exact=lambda a, b, x: _lower_gamma(b, a * x), sample=_rate_sample),
    "gdtrc": Parametric(exact=lambda a, b, x: _upper_gamma(b, a * x), sample=_rate_sample),
    "multigammaln": Parametric(exact=_multigammaln, sample=_dimensions_sample),
    "polygamma": Parametric(exact=_polygamma, sample=_order_sample),
    "radian": Parametric(exact=_radian, sample=_angle_sample),
    "boxcox": Parametric(exact=_boxcox, sample=_transformed_sample),
    "boxcox1p": Parametric(exact=_boxcox1p, sample=_transformed1p_sample),
    "inv_boxcox": Parametric(exact=_inv_boxcox, sample=_inverse_sample),
    "inv_boxcox1p": Parametric(exact=_inv_boxcox1p, sample=_inverse_sample),
    "zeta": Parametric(exact=_zeta, sample=_zeta_sample, hard=((26.35656, 27.919813), (1.0001, 3e4))),
    "huber": Parametric(exact=_huber, sample=_ratio_sample),
    "pseudo_huber": Parametric(exact=_pseudo_huber, sample=_ratio_sample),
    "xlogy": Parametric(exact=lambda x, y: x * mp.log(y), sample=_logarithm_sample),
    "xlog1py": Parametric(exact=lambda x, y: x * mp.log1p(y), sample=_logarithm_sample),
    "rel_entr": Parametric(exact=lambda x, y: x * mp.log(x / y), sample=_ratio_sample),
    "kl_div": Parametric(exact=lambda x, y: x * mp.log(x / y) - x + y, sample=_ratio_sample),
}
"""By SciPy's names. Functions of products have parameters of a few digits' range, whose values are no infinities."""
