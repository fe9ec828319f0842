"""The error function, its complement and inverses, and the normal distribution.

One polynomial in ``(x - 3) / (x + 3)`` gives ``(1 + 2 x) exp(x*x) erfc(x)`` for all x >= 0 (after Shepherd and
Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Mathematics of Computation 36, 1981). The exponential
takes x*x as a double word, so that tails keep all of their digits. The inverses refine a polynomial estimate by
Newton's method near 0, and by Halley's method for the logarithm in the tails.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import exp_words, log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: 2 / sqrt(pi) and sqrt(pi) / 2.
SLOPE: Final = 1.1283791670955126
INVERSE_SLOPE: Final = 0.8862269254527581
#: Above this erfc is 0 or subnormal.
LAST: Final = constant(10.5, 27.5)
#: Above this erf is 1.
ERF_LIMIT: Final = constant(4.0, 6.0)
VAST: Final = constant(1e10, 1e20)
MINUTE: Final = constant(1e-9, 1e-18)
#: Below this three terms of log(1 - tail) suffice.
FAINT: Final = constant(0.003, 3e-6)
THIRD: Final = 0.3333333333333333
SIXTH: Final = 0.16666666666666666
#: The end of the polynomial, from where the asymptotic series is as accurate.
FAR: Final = 28.0
STEPS: Final = constant(1, 2)
#: Up to this the inverse solves erf, beyond it erfc. There the inverse is above 1/2, where a unit is larger.
CENTRAL: Final = 0.53
#: An estimate of the derivative of erfinv between 1/2 and CENTRAL, where 1 - y is rounded.
STEEPNESS: Final = 1.13


@formula
def scaled_erfc(x: Real, x_low: Real) -> Pair:
    """``exp(x*x) * erfc(x)`` as a double word, for a double word x >= 0."""
    if x > VAST:
        return divide(tables.INVERSE_ROOT_PI, x), 0.0
    if x > FAR:
        w = 0.5 / x / x
        lost_part = w * (1.0 - w * (3.0 - w * (15.0 - w * (105.0 - w * (945.0 - w * (10395.0 - w * 135135.0))))))
        y, y_low = quotient(tables.INVERSE_ROOT_PI, tables.INVERSE_ROOT_PI_LOW, x, x_low)
        return fast_two_sum(y, y_low - y * lost_part)
    d, d_low = two_sum(x, -3.0)
    s, s_low = two_sum(x, 3.0)
    q, q_low = quotient(d, d_low + x_low, s, s_low + x_low)
    f, f_low = fast_two_sum(tables.erfcx_series.first, tables.erfcx_series.rest(q))
    whole, lost = two_sum(1.0, 2.0 * x)
    # the derivative of erfcx is 2 x erfcx - slope
    steepness = (2.0 * f / whole + (2.0 * x * f - SLOPE * whole)) * (s * s * SIXTH)
    return quotient(f, f_low + q_low * steepness, whole, lost + 2.0 * x_low)


@formula
def erfc_words(x: Real) -> Triple:
    """``erfc(x)`` for x >= 0 as ``(a + b) * 2**n``."""
    z = LAST if x > LAST else x
    f, f_low = scaled_erfc(z, 0.0)
    square, square_low = two_product(z, z)
    a, b, n = exp_words(-square, -square_low)
    p, p_low = product(a, b, f, f_low)
    return p, p_low, n


@formula
def small_erf(x: Real) -> Real:
    """``erf(x)`` for |x| <= 1."""
    return add(x, x * tables.erf_series(x * x))


@formula
def erf(x: Real) -> Real:
    """Error function."""
    a = absolute(x)
    if isnan(x):
        return x
    if a < MINUTE:
        # scaled, because the smaller terms would be subnormal
        return shifted(multiply(shifted(x, 64), SLOPE), -64)
    if a < 1.0:
        return small_erf(x)
    if a > ERF_LIMIT:
        return copysign(1.0, x)
    p, p_low, n = erfc_words(a)
    return copysign(1.0 - scaled(p + p_low, n), x)


@formula
def erfc(x: Real) -> Real:
    """Complementary error function."""
    if isnan(x):
        return x
    if x < 0.25:
        return 1.0 - erf(x)
    p, p_low, n = erfc_words(x)
    return scaled(add(p, p_low), n)


@formula
def erfcx(x: Real) -> Real:
    """Scaled complementary error function."""
    if isnan(x):
        return x
    if x > VAST:
        return divide(tables.INVERSE_ROOT_PI, x)
    if absolute(x) < 0.5:
        square, square_low = two_product(x, x)
        a, b, n = exp_words(square, square_low)
        left, left_low = two_sum(1.0, -small_erf(x))
        p, p_low = product(a, b, left, left_low)
        return scaled(add(p, p_low), n)
    if x > 0.0:
        f, f_low = scaled_erfc(x, 0.0)
        return add(f, f_low)
    # 2 exp(x*x) - erfcx(-x)
    z = -LAST if x < -LAST else x
    square, square_low = two_product(z, z)
    g, g_low = scaled_erfc(-z, 0.0)
    a, b, n = exp_words(square, square_low)
    if n > 60.0:
        return scaled(2.0 * add(a, b), n)
    twice = scaled(2.0 * a, n)
    left, left_low = two_sum(twice, -g)
    return add(left, left_low + (scaled(2.0 * b, n) - g_low))


@formula
def normal_tail(x: Real) -> Triple:
    """Return the probability of more than x, for x >= 0, as ``(a + b) * 2**n``."""
    t = 40.0 if x > 40.0 else x
    z, z_low = product(t, 0.0, tables.ROOT_HALF, tables.ROOT_HALF_LOW)
    f, f_low = scaled_erfc(z, z_low)
    square, square_low = two_product(t, t)
    a, b, n = exp_words(-0.5 * square, -0.5 * square_low)
    p, p_low = product(a, b, 0.5 * f, 0.5 * f_low)
    return p, p_low, n


@formula
def ndtr(x: Real) -> Real:
    """Cumulative distribution function of the standard normal distribution."""
    if isnan(x):
        return x
    if x > -0.6 and x < 1.0:
        return 0.5 + 0.5 * small_erf(x * tables.ROOT_HALF)
    p, p_low, n = normal_tail(absolute(x))
    if x > 0.0:
        return 1.0 - scaled(p + p_low, n)
    return scaled(add(p, p_low), n)


@formula
def log_ndtr(x: Real) -> Real:
    """Logarithm of the cumulative distribution function of the standard normal distribution."""
    if isnan(x):
        return x
    t = absolute(x)
    if x > 40.0:
        return negative(0.0)
    if t > VAST:
        return multiply(-0.5 * t, t)
    square = 0.0
    square_low = 0.0
    if t < 0.85:
        # (1 + erf(z)) / 2
        z, z_low = product(x, 0.0, tables.ROOT_HALF, tables.ROOT_HALF_LOW)
        w = z * z
        e, e_low = two_sum(z, z * tables.erf_series(w))
        u, rest = two_sum(0.5, 0.5 * e)
        rest = (rest + 0.5 * (e_low + z_low * SLOPE * (1.0 - w * (1.0 - 0.5 * w)))) / u
    else:
        # -t**2 / 2 + log(f / 2): both are negative
        z, z_low = product(t, 0.0, tables.ROOT_HALF, tables.ROOT_HALF_LOW)
        f, f_low = scaled_erfc(z, z_low)
        rest = f_low / f
        u = 0.5 * f
        square, square_low = two_product(t, t)
        if x > 0.0:
            # log(1 - tail)
            a, b, n = exp_words(-0.5 * square, -0.5 * square_low)
            p, p_low = product(a, b, u, u * rest)
            tail = scaled(p, n)
            if tail < FAINT:
                return scaled(-add(p, p_low + p * tail * (0.5 + tail * THIRD)), n)
            u, rest = two_sum(1.0, -tail)
            rest = (rest - scaled(p_low, n)) / u
            square = 0.0
            square_low = 0.0
    high, low = log_words(u)
    total, lost = two_sum(-0.5 * square, high)
    return add(total, lost + (low + rest - 0.5 * square_low))


@formula
def erfinv_near(y: Real) -> Pair:
    """``erfinv(y)`` for |y| <= CENTRAL as a double word."""
    x = y * tables.erfinv_near_series(y * y)
    step = 0.0
    for _k in range(STEPS):
        x = x + step
        square = x * x
        # exp(x*x) as accurately as the step needs
        grown = 1.0 + square * (1.0 + square * (0.5 + square * (0.16666667 + square * 0.041666667)))
        step = ((y - x) - x * tables.erf_series(square)) * (INVERSE_SLOPE * grown)
    return x, step


@formula
def erfcinv_far(p: Real) -> Pair:
    """``erfcinv(p)`` for 0 < p <= 1 - CENTRAL as a double word."""
    high, low = log_words(p)
    s = sqrt(-high)
    x = s * tables.erfinv_far_series(1.0 / s)
    step = 0.0
    for _k in range(STEPS):
        x = x + step
        f, f_low = scaled_erfc(x, 0.0)
        square, square_low = two_product(x, x)
        slope = SLOPE / f
        # log(p) - log(erfc(x)) as double words, because they cancel; slope is its derivative
        grown, grown_low = log_words(f)
        first, lost = two_sum(square, high)
        second, more = two_sum(first, -grown)
        miss = second + (lost + more + (low + square_low) - grown_low - f_low / f)
        u = miss / slope
        step = -u / (1.0 - 0.5 * u * (slope - 2.0 * x))
    return x, step


@formula
def erfinv(y: Real) -> Real:
    """Inverse of the error function."""
    a = absolute(y)
    if isnan(y) or a > 1.0:
        return nan()
    if a == 1.0:
        return copysign(infinity(), y)
    if a < MINUTE:
        return shifted(multiply(shifted(y, 64), INVERSE_SLOPE), -64)
    if a <= CENTRAL:
        x, rest = erfinv_near(y)
        return add(x, rest)
    x, rest = erfcinv_far(1.0 - a)
    return copysign(add(x, rest), y)


@formula
def erfcinv(y: Real) -> Real:
    """Inverse of the complementary error function."""
    if isnan(y) or is_negative(y) or y > 2.0:
        return nan()
    if is_zero(y):
        return infinity()
    if y == 2.0:
        return -infinity()
    if absolute(y - 1.0) <= CENTRAL:
        z, lost = two_sum(1.0, -y)
        x, rest = erfinv_near(z)
        return add(x, rest + lost * STEEPNESS)
    x, rest = erfcinv_far(y if y < 1.0 else 2.0 - y)
    return add(x, rest) if y < 1.0 else -add(x, rest)


@formula
def ndtri(p: Real) -> Real:
    """Inverse of the cumulative distribution function of the standard normal distribution."""
    if isnan(p) or is_negative(p) or p > 1.0:
        return nan()
    if is_zero(p):
        return -infinity()
    if p == 1.0:
        return infinity()
    if absolute(p - 0.5) <= 0.5 * CENTRAL:
        z, lost = two_sum(2.0 * p, -1.0)
        x, rest = erfinv_near(z)
        y, y_low = product(x, rest + lost * STEEPNESS, tables.ROOT_2, tables.ROOT_2_LOW)
        return add(y, y_low)
    x, rest = erfcinv_far(shifted(p if p < 0.5 else 1.0 - p, 1))
    y, y_low = product(x, rest, tables.ROOT_2, tables.ROOT_2_LOW)
    return -add(y, y_low) if p < 0.5 else add(y, y_low)
