"""Inverses of the incomplete gamma and beta functions by Newton's method.

The densities of the logarithm of a gamma variable, and of the logarithm of the odds of a beta variable, are
logarithmically concave. So are both tails, and Newton's method for the logarithm of a tail approaches its solution from
one side after one step. Each step restricts the interval of the solution, which bounds of the tails give first. Where a
step leads out of it, or a tail is not representable, the interval is halved. The tail of at most 1/2 is solved for.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.beta import stirling_lack
from gpuarray.ops.special.double_word import EXP_LIMIT, exp_words, log_words, quotient
from gpuarray.ops.special.gamma import gammaln
from gpuarray.ops.special.incomplete import (
    NEAR,
    SCANT,
    gamma_exponent,
    gamma_tail,
    is_small_gamma,
    lgamma_next_words,
    one_less,
    upper_gamma_near,
)
from gpuarray.ops.special.incomplete_beta import beta_log_of, beta_share, beta_share_exponent
from gpuarray.ops.vocabulary import *

#: The most steps, and the relative step from which on the next one would change nothing.
ROUNDS: Final = constant(60, 100)
CLOSE: Final = constant(1e-6, 1e-11)
#: The least and the greatest position.
LEAST: Final = constant(1e-37, 1e-306)
MOST: Final = constant(3e38, 1e308)
#: Bounds are looser than their formulas by this factor, because of rounding errors; of parameters below the second
#: number errors would be larger.
LOOSE: Final = 0.99
SLIGHT: Final = 0.02
#: Minus the derivative of the logarithm of the gamma function at 1.
EULER: Final = 0.5772156649015329
#: Below this logarithm of a position the lower tail is a power.
SLOW: Final = constant(-21.0, -42.0)
#: Beyond these parameters distributions are single positions.
VAST: Final = constant(1e30, 1e280)


@formula
def log_of(x: Real) -> Real:
    """Return the logarithm of a positive number, which may be subnormal."""
    high, low = log_words(x)
    return high + low


@formula
def power_of(e: Real) -> Real:
    """``exp(e)`` for e <= 0, which may be subnormal."""
    if e < -EXP_LIMIT:
        return 0.0
    f, f_low, n = exp_words(e, 0.0)
    return scaled(add(f, f_low), n)


@formula
def moved(x: Real, low: Real, high: Real, gap: Real, slope: Real) -> Pair:
    """Return the next position between two others, and the relative step to it; it is 1 if that is no step of Newton's.

    ``gap`` is the logarithm of the probability less that of the tail, and ``slope`` the logarithm of the derivative of
    the latter by that of the position.
    """
    step = gap * exp(-slope)
    following = x * exp(step) if absolute(step) < 80.0 else 0.0
    is_newton = absolute(step) < CLOSE or (following > low and following < high)
    return following if is_newton else sqrt(low) * sqrt(high), step if is_newton else 1.0


@formula
def gamma_tail_share(a: Real, x: Real, is_upper: Truth) -> Pair:
    """Return the lower or the upper incomplete gamma function as a number times a power of 2, and its exponent."""
    if is_upper and is_small_gamma(a, x):
        return upper_gamma_near(a, x, 0.0), 0.0
    direct = x > 0.5 and (x > a if x > 1.1 else a <= 1.1 * x) if is_upper else x > 1.0 and x > a
    c, c_low, n = gamma_tail(a, 0.0, x, 0.0, direct)
    if direct != is_upper:
        return one_less(c, c_low, n), 0.0
    return add(c, c_low), n


@formula
def gamma_position(order: Real, share: Real, is_upper: Truth) -> Real:
    """Return where the lower or the upper incomplete gamma function of an order is a share, for 0 < share <= 1/2."""
    # the upper function is a multiple of a small order
    is_scaled = is_upper and order < SCANT
    a = shifted(order, 64) if is_scaled else order
    p = shifted(share, 64) if is_scaled else share
    if a > VAST:
        return a
    large = a >= NEAR
    g = 0.0
    if a > 1.0:
        g = gammaln(a + 1.0)
    else:
        h, h_low = lgamma_next_words(a)
        g = h + h_low
    level = log_of(p)
    # the lower function is x**a / gamma(a + 1) for small x, and less for others
    e = ((log1p(-p) if is_upper else level) + g) / a
    if is_scaled:
        e = -EULER - p / a
    if e < SLOW:
        return power_of(e)
    # Laurent and Massart, Annals of Statistics 28 (2000) 1302: less than exp(-s) is beyond a +- sqrt(2 a s)
    root = sqrt(-2.0 * a * level)
    other = a - (0.3333333 if is_upper else root)
    low = LOOSE * exp(e)
    low = other if other > low else low
    high = a if a > 1.0 or not is_upper else 0.0
    high = high + ((root if a > 1.0 else 0.0) - level if is_upper else 0.0)
    low = low if low < high else 0.5 * high
    x = high if is_upper else low
    factor = log(sqrt(a) * tables.INVERSE_ROOT_2PI) - stirling_lack(a) if large else log(a) - g
    for _k in range(ROUNDS):
        tail, n = gamma_tail_share(a, x, is_upper)
        e, e_low = gamma_exponent(a, 0.0, x, 0.0)
        # a tail that is not representable has no step, and is less than p
        is_known = tail > 0.0
        size = (log_of(tail) if is_known else 0.0) + n * tables.LOG_2
        gap = level - size if is_known else 1.0
        is_before = (gap < 0.0) == is_upper
        low = x if is_before else low
        high = high if is_before else x
        slope = e + (e_low + factor) - size if is_known else -100.0
        x, step = moved(x, low, high, -gap if is_upper else gap, slope)
        if absolute(step) < CLOSE:
            break
    return x


@formula
def gamma_inverse(a: Real, p: Real, is_upper: Truth) -> Real:
    """Return where the lower or the upper incomplete gamma function is p."""
    if isnan(a) or isnan(p) or is_negative(a) or is_negative(p) or p > 1.0:
        return nan()
    if is_zero(p) or p == 1.0:
        return infinity() if is_zero(p) == is_upper else 0.0
    if is_zero(a) or isinf(a):
        return nan()
    is_swapped = p > 0.5
    return gamma_position(a, 1.0 - p if is_swapped else p, is_upper != is_swapped)


@formula
def gammaincinv(a: Real, y: Real) -> Real:
    """Inverse of the regularized lower incomplete gamma function."""
    return gamma_inverse(a, y, False)


@formula
def gammainccinv(a: Real, y: Real) -> Real:
    """Inverse of the regularized upper incomplete gamma function."""
    return gamma_inverse(a, y, True)


@formula
def beta_odds(a: Real, b: Real, p: Real) -> Real:
    """Return the odds x / (1 - x) where the incomplete beta function is p, for 0 < p <= 1/2."""
    if a > VAST and b > VAST:
        return a / b
    large = a >= NEAR and b >= NEAR
    total = a + b
    level = log_of(p)
    e, e_low = beta_log_of(a, b)
    size = e + e_low
    # both tails are at most powers of the odds, which the lower one is for small odds
    e = (level + log(a) + size) / a
    if e < SLOW - log(total):
        return power_of(e)
    low = LOOSE * exp(e) if a > SLIGHT else LEAST
    high = exp(-(log1p(-p) + log(b) + size) / b) / LOOSE if b > SLIGHT else MOST
    low = low if low > LEAST else LEAST
    high = high if high < MOST else MOST
    # less than exp(-2 (a + b + 1) d**2) is d from the mean
    away = sqrt(-0.5 * level / (total + 1.0))
    least = a / total - away
    other = least / (b / total + away)
    low = other if least > 0.0 and other > low else low
    low = low if low < high else 0.5 * high
    x = low
    factor = -size
    if large:
        factor = log(sqrt(a * (b / total)) * tables.INVERSE_ROOT_2PI)
        factor = factor - (stirling_lack(a) + stirling_lack(b) - stirling_lack(total))
    for _k in range(ROUNDS):
        t, t_low = two_sum(1.0, x)
        u, u_low = quotient(x, 0.0, t, t_low)
        v, v_low = quotient(1.0, 0.0, t, t_low)
        tail = beta_share(a, b, u, u_low, v, v_low)
        e, e_low = beta_share_exponent(a, b, u, u_low, v, v_low)
        is_known = tail > 0.0
        size = log_of(tail) if is_known else 0.0
        gap = level - size if is_known else 1.0
        low = x if gap > 0.0 else low
        high = high if gap > 0.0 else x
        slope = e + (e_low + factor) - size if is_known else -100.0
        x, step = moved(x, low, high, gap, slope)
        if absolute(step) < CLOSE:
            break
    return x if x < 0.5 * MOST else infinity()


@formula
def beta_inverse_odds(a: Real, b: Real, p: Real) -> Real:
    """Odds x / (1 - x) of the position x where the regularized incomplete beta function is p."""
    none = isnan(a) or isnan(b) or isnan(p) or is_negative(p) or p > 1.0 or isinf(a) or isinf(b)
    if none or not (a > 0.0 and b > 0.0):
        return nan()
    if is_zero(p) or p == 1.0:
        return 0.0 if is_zero(p) else infinity()
    is_swapped = p > 0.5
    odds = beta_odds(b if is_swapped else a, a if is_swapped else b, 1.0 - p if is_swapped else p)
    return 1.0 / odds if is_swapped else odds
