"""The logistic function and its inverse, and the terms of entropies."""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import EXP_LIMIT, exp_times, exp_words, log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: Up to this the logarithm of a ratio near 1 is a series.
NEAR: Final = 0.1715
#: Beyond this 1 + exp(x) is exp(x).
APART: Final = 40.0
#: Below this log(p / (1 - p)) is log(p).
MINUTE: Final = constant(1e-9, 1e-18)
#: Below this x and y are scaled up.
SCANT: Final = 1e-9
#: Beyond this products with logarithms may overflow.
VAST: Final = constant(1e30, 1e300)


@formula
def exp_pair(x: Real) -> Pair:
    """``exp(x)`` for moderate x as a double word."""
    a, b, n = exp_words(x, 0.0)
    return scaled(a, n), scaled(b, n)


@formula
def expit(x: Real) -> Real:
    """Logistic function."""
    if isnan(x):
        return x
    if x < -APART:
        return exp_times(x, 1.0)
    if x > APART:
        return 1.0
    e, e_low = exp_pair(-absolute(x))
    whole, lost = two_sum(1.0, e)
    q, rest = quotient(1.0 if x > 0.0 else e, 0.0 if x > 0.0 else e_low, whole, lost + e_low)
    return add(q, rest)


@formula
def log_expit(x: Real) -> Real:
    """Logarithm of the logistic function."""
    if isnan(x) or x < -APART:
        return x
    if x > APART:
        return exp_times(-x, -1.0)
    e, e_low = exp_pair(-absolute(x))
    near = log1p(e) + e_low / (1.0 + e)
    return subtract(x, near) if x < 0.0 else -near


@formula
def log_ratio_near(s: Real) -> Real:
    """``log((1 + s) / (1 - s))`` for |s| <= 0.1716."""
    z = s * s
    return add(2.0 * s, s * z * (tables.TWO_THIRDS + z * tables.log_pair_series(z)))


@formula
def logit(p: Real) -> Real:
    """Inverse of the logistic function."""
    if isnan(p) or is_negative(p) or p > 1.0:
        return nan()
    if is_zero(p) or p == 1.0:
        return -infinity() if is_zero(p) else infinity()
    if p < MINUTE:
        return log(p)
    s = 2.0 * p - 1.0
    if absolute(s) < NEAR:
        return log_ratio_near(s)
    whole, lost = two_sum(1.0, -p)
    q, rest = quotient(p, 0.0, whole, lost)
    high, low = log_words(q)
    return add(high, low + rest / q)


@formula
def xlogy(x: Real, y: Real) -> Real:
    """Product x log(y), 0 where x is 0."""
    if is_zero(x) and not isnan(y):
        return 0.0
    return gradual_multiply(x, log(y))


@formula
def xlog1py(x: Real, y: Real) -> Real:
    """Product x log(1 + y), 0 where x is 0."""
    if is_zero(x) and not isnan(y):
        return 0.0
    return gradual_multiply(x, log1p(y))


@formula
def entr(x: Real) -> Real:
    """Term of an entropy, -x log(x); 0 where x is 0 and -inf below."""
    if isnan(x):
        return x
    if is_zero(x):
        return 0.0
    if is_negative(x):
        return -infinity()
    return gradual_multiply(x, -log(x))


@formula
def relative_difference(d: Real, y: Real) -> Pair:
    """``(x - y) / (x + y)`` as a double word, given ``d = x - y``."""
    whole, lost = two_sum(y, 0.5 * d)
    return quotient(0.5 * d, 0.0, whole, lost)


@formula
def log_ratio(u: Real, v: Real, x: Real, y: Real) -> Pair:
    """``log(x / y)`` for positive finite x and y as a double word, given u and v, x and y scaled against underflow."""
    d = subtract(u, v)
    if absolute(d) < 0.3 * v:
        # the difference is exact
        s, s_low = relative_difference(d, v)
        z = s * s
        return 2.0 * s, 2.0 * s_low + s * z * (tables.TWO_THIRDS + z * tables.log_pair_series(z))
    high, low = log_words(x)
    log_y, other_low = log_words(y)
    total, lost = two_sum(high, -log_y)
    return total, lost + (low - other_low)


@formula
def rel_entr(x: Real, y: Real) -> Real:
    """Term of a relative entropy, x log(x / y); 0 where x is 0 and y is not negative, inf where either is."""
    if isnan(x) or isnan(y):
        return nan()
    if is_zero(x) and not is_negative(y):
        return 0.0
    if is_zero(y) or is_negative(x) or is_negative(y):
        return infinity()
    if isinf(x) or isinf(y):
        return nan() if isinf(x) and isinf(y) else (infinity() if isinf(x) else -infinity())
    # scaled, if any part may be subnormal
    n: Integer = 64 if x < SCANT else (-8 if x > VAST else 0)
    u = shifted(x, n)
    high, low = log_ratio(u, shifted(y, n), x, y)
    p, p_low = product(u, 0.0, high, low)
    value = shifted(add(p, p_low), -n)
    # the product has overflowed
    return copysign(infinity(), high) if isnan(value) else value


@formula
def divergence(x: Real, y: Real) -> Real:
    """``kl_div(x, y)`` for positive finite x and y."""
    d = subtract(x, y)
    if absolute(d) < 0.3 * y:
        # d = s (x + y), and x log(x / y) - d = x (2 s + 2/3 s**3 + ...) - s (x + y) = s d + x s**3 (2/3 + ...)
        s, s_low = relative_difference(d, y)
        z = s * s
        q, q_low = product(s, s_low, d, 0.0)
        return add(q, q_low + x * s * z * (tables.TWO_THIRDS + z * tables.log_pair_series(z)))
    high, low = log_ratio(x, y, x, y)
    # scaled down, if the first product may overflow
    n: Integer = 8 if x > VAST else 0
    u = shifted(x, -n)
    p, p_low = product(u, 0.0, high, low)
    total, lost = two_sum(p, -u)
    whole, more = two_sum(total, shifted(y, -n))
    return shifted(add(whole, more + (lost + p_low)), n)


@formula
def kl_div(x: Real, y: Real) -> Real:
    """Term of a Kullback-Leibler divergence, x log(x / y) - x + y; y where x is 0, inf where either is negative."""
    if isnan(x) or isnan(y):
        return nan()
    if is_zero(x) and not is_negative(y):
        return y
    if is_zero(y) or is_negative(x) or is_negative(y):
        return infinity()
    if isinf(x) or isinf(y):
        return nan() if isinf(x) else infinity()
    # scaled, if any part may be subnormal, or a reciprocal
    n: Integer = 64 if x < SCANT and y < SCANT else (-8 if x > VAST and y > VAST else 0)
    return shifted(divergence(shifted(x, n), shifted(y, n)), -n)


@formula
def exprel(x: Real) -> Real:
    """Relative error exponential, (exp(x) - 1) / x."""
    if is_zero(x):
        return 1.0
    if isinf(x):
        return x if x > 0.0 else 0.0
    if x > EXP_LIMIT:
        return infinity()
    if x > APART:
        return exp_times(x, divide(1.0, x))
    return divide(expm1(x), x)
