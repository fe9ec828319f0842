"""The regularized incomplete gamma functions (DLMF 8), and the Poisson distribution, which is made of them.

Below the order a power series gives the lower function (DLMF 8.7.1), above it a continued fraction the upper one
(DLMF 8.9.2). If order and argument are large and close, Temme's uniform expansion is used (The asymptotic expansion of
the incomplete gamma functions, SIAM Journal on Mathematical Analysis 10, 1979): a complementary error function, and
polynomials in eta with eta**2 = 2 (x/a - 1 - log(x/a)). The upper function of small arguments has a series of its own.
So no loop is long, and whichever of the two functions is small is computed directly, without a subtraction from 1. The
factor of each sum is one exponential, whose exponent is a double word.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.bessel import root_words
from gpuarray.ops.special.beta import stirling_lack
from gpuarray.ops.special.double_word import (
    EXP_LIMIT,
    bounded_product,
    exp_words,
    log1p_less,
    log_words,
    product,
    quotient,
)
from gpuarray.ops.special.errors import scaled_erfc
from gpuarray.ops.special.gamma import gamma_by_steps, lgamma_words
from gpuarray.ops.vocabulary import *

#: The uniform expansion is used from this order on, up to this relative distance of x from it.
LARGE: Final = 50.0
CLOSE: Final = 0.3
#: From here on Stirling's series gives the factor of the sums.
NEAR: Final = 12.0
#: Below this gamma(1 + a) is 1.
MINUTE: Final = constant(1e-9, 1e-18)
#: For orders from NEAR on, the lower function is 0 below this fraction of the order, and the upper one beyond FAR and
#: four times the order.
NOTHING: Final = constant(1e-5, 1e-30)
FAR: Final = 1e4
#: Beyond this order either function is 0 or both are 1/2; such orders are multiplied by the second number.
VAST: Final = constant(1e36, 1e300)
PART: Final = 0.0625
#: For smaller orders the upper function is scaled, because it may be subnormal.
SCANT: Final = constant(1e-30, 1e-290)
#: The largest number of terms, and the relative size of a term that ends a sum.
TERMS: Final = constant(120, 250)
UNSEEN: Final = constant(2e-8, 3e-17)
#: The number of terms of the continued fraction that matter, as measured for x >= 1.1.
LENGTH: Final = constant(28.0, 100.0)
SHORTEST: Final = constant(4.0, 8.0)


@formula
def gamma_exponent(a: Real, a_low: Real, x: Real, x_low: Real) -> Pair:
    """``a log(x) - x``, or ``a log(x/a) - x + a`` from NEAR on, of double words as a double word."""
    large = a >= NEAR
    d, d_low = two_sum(x, -a)
    d, d_low = two_sum(d, d_low + (x_low - a_low))
    m, m_low = quotient(d, d_low, a if large else 1.0, a_low if large else 0.0)
    high = 0.0
    low = 0.0
    if large and absolute(m) < 0.28:
        high, low = log1p_less(m, m_low)
    else:
        u, u_low = quotient(x, x_low, a if large else 1.0, a_low if large else 0.0)
        first, rest = log_words(u)
        high, low = two_sum(first, -m if large else 0.0)
        low = low + (rest + u_low / u - (m_low if large else 0.0))
    p, p_low = bounded_product(a, a_low, high, low)
    whole, lost = two_sum(p, 0.0 if large else -x)
    return fast_two_sum(whole, lost + (p_low - (0.0 if large else x_low)))


@formula
def gamma_power_sum(a: Real, x: Real, x_low: Real) -> Pair:
    """Return the lower function divided by its factor, as a double word, for x up to a or 1.1."""
    total = 1.0
    low = 0.0
    term = 1.0
    term_low = 0.0
    for k in range(TERMS):
        d, d_low = two_sum(a, real(k) + 1.0)
        q, q_low = quotient(x, x_low, d, d_low)
        term, term_low = product(term, term_low, q, q_low)
        total, lost = fast_two_sum(total, term)
        low = low + (lost + term_low)
        if term <= total * UNSEEN:
            break
    return total, low


@formula
def gamma_fraction(a: Real, x: Real, x_low: Real) -> Pair:
    """``a`` times the factor divided by the upper function, for x >= a and x >= 1/2.

    The continued fraction is evaluated from its last term to the first, so that the errors of all but the first shrink.
    """
    d, d_low = two_sum(x, -a)
    d_low = d_low + x_low
    k = floor(LENGTH / x + SHORTEST + (0.6 * a if a < 75.0 else 45.0))
    t = d + (2.0 * k + 1.0)
    t_low = 0.0
    for _k in range(TERMS):
        if k < 1.0:
            break
        f, f_low = two_sum(a, -k)
        q, q_low = quotient(k * f, 0.0, t, t_low)
        whole, lost = two_sum(d, 2.0 * k - 1.0)
        t, more = two_sum(whole, q)
        t_low = more + (lost + d_low + q_low + k * f_low / t)
        k = k - 1.0
    return t, t_low


@formula
def temme_sum(a: Real, eta: Real) -> Real:
    """Return the second term of the uniform expansion (DLMF 8.12.7), without the factor 1 / sqrt(2 pi a)."""
    s = tables.temme_9_series(eta)
    s = tables.temme_8_series(eta) + s / a
    s = tables.temme_7_series(eta) + s / a
    s = tables.temme_6_series(eta) + s / a
    s = tables.temme_5_series(eta) + s / a
    s = tables.temme_4_series(eta) + s / a
    s = tables.temme_3_series(eta) + s / a
    s = tables.temme_2_series(eta) + s / a
    s = tables.temme_1_series(eta) + s / a
    return tables.temme_0_series(eta) + s / a


@formula
def gamma_share(a: Real, x: Real, x_low: Real, is_upper: Truth) -> Pair:
    """Return the upper or the lower function divided by the exponential, as a double word."""
    large = a >= NEAR
    s = 0.0
    s_low = 0.0
    if is_upper:
        t, t_low = gamma_fraction(a, x, x_low)
        s, s_low = quotient(a, 0.0, t, t_low)
    else:
        s, s_low = gamma_power_sum(a, x, x_low)
    d = 1.0
    d_low = 0.0
    if large:
        d, d_low = root_words(a)
        s, s_low = product(s, s_low, tables.INVERSE_ROOT_2PI, tables.INVERSE_ROOT_2PI_LOW)
    elif a > MINUTE:
        # gamma(a + 1), with a correction for the rounding of its argument
        g, g_low, m = gamma_by_steps(a)
        d, d_low = product(scaled(a, m), 0.0, g, g_low)
    q, q_low = quotient(s, s_low, d, d_low)
    return q, q_low


@formula
def root_of_negative(e: Real, e_low: Real) -> Pair:
    """``sqrt(-e - e_low)`` for e <= 0 as a double word."""
    u = -e if e < 0.0 else 0.0
    r = sqrt(u)
    square, square_low = two_product(r, r)
    return r, 0.5 * (subtract(u, square) - (square_low + e_low)) / (r if r > 0.0 else 1.0)


@formula
def uniform_sum(e: Real, e_low: Real, r: Real, r_low: Real, v: Real, is_beyond: Truth) -> Triple:
    """``erfc(r) / 2 + exp(e) v`` with ``e = -r**2``, or with -r for r, as ``(b + c) * 2**n``; -r is at most 1/2."""
    b = v
    b_low = 0.0
    h = 0.0
    h_low = 0.0
    if r < 0.5:
        # half the error function separately from the terms with the exponential, whose power of 2 is n = 0
        z = 0.5 * r
        h, h_low = two_sum(0.5, z if is_beyond else -z)
        w = z * tables.erf_series(r * r) + r_low * (tables.INVERSE_ROOT_PI * (1.0 + e))
        h_low = h_low + (w if is_beyond else -w)
    else:
        f, f_low = scaled_erfc(r, r_low)
        b, b_low = two_sum(0.5 * f, v)
        b_low = b_low + 0.5 * f_low
    g, g_low, n = exp_words(e, e_low)
    p, p_low = product(g, g_low, b, b_low)
    whole, lost = two_sum(h, p)
    return whole, lost + (h_low + p_low), n


@formula
def gamma_tail(order: Real, a_low: Real, number: Real, x_low: Real, is_upper: Truth) -> Triple:
    """Return the smaller of the upper and the lower function as ``(b + c) * 2**n``."""
    # the largest orders have no reciprocals; for vast orders the functions are steps
    is_vast = order > VAST
    a = PART * order if is_vast else order
    x = PART * number if is_vast else number
    if (a > NEAR and x < NOTHING * a) or (x > FAR and x > 4.0 * a):
        return 0.0, 0.0, 0.0
    e, e_low = gamma_exponent(a, a_low, x, x_low)
    if e < -EXP_LIMIT:
        return 0.0, 0.0, 0.0
    if a >= LARGE and absolute(x - a) < CLOSE * a:
        r, r_low = root_of_negative(e, e_low)
        root = sqrt(a)
        size = r / root * tables.ROOT_2
        s = temme_sum(a, size if is_upper else -size) * (tables.INVERSE_ROOT_2PI / root)
        return uniform_sum(e, e_low, r, r_low, s if is_upper else -s, False)
    v, v_low = gamma_share(a, x, x_low, is_upper)
    g, g_low, n = exp_words(e, e_low - (stirling_lack(a) if a >= NEAR else 0.0))
    p, p_low = product(g, g_low, v, v_low)
    return p, p_low, n


@formula
def one_less(high: Real, low: Real, n: Real) -> Real:
    """``1 - (high + low) * 2**n``."""
    total, lost = two_sum(1.0, -scaled(high, n))
    return add(total, lost - scaled(low, n))


@formula
def lgamma_next_words(a: Real) -> Pair:
    """``log(gamma(1 + a))`` for 0 <= a <= 1 as a double word."""
    is_near = a < 0.5
    g, g_low = lgamma_words(a if is_near else subtract(a, 1.0), is_near)
    return g, g_low


@formula
def expm1_words(high: Real, low: Real) -> Pair:
    """``exp(high + low) - 1`` for |high| <= 0.7 as a double word: g of an eighth, then three times ``g (g + 2)``."""
    x = 0.125 * high
    g, g_low = fast_two_sum(x, expm1_rest(x, 0.125 * low))
    for _k in range(3):
        p, p_low = product(g, g_low, g, g_low)
        g, lost = fast_two_sum(2.0 * g, p)
        g_low = 2.0 * g_low + (lost + p_low)
    return g, g_low


@formula
def is_small_gamma(a: Real, x: Real) -> Truth:
    """Return whether :func:`upper_gamma_near` computes the upper function, which is not near 1."""
    return x <= 0.5 and a <= -0.4 / log(x)


@formula
def upper_gamma_near(order: Real, x: Real, x_low: Real) -> Real:
    """Return the upper function of small numbers.

    It is ``1 - exp(e) * (1 + a * total)`` with ``e = log(x**a / gamma(1 + a))``.
    """
    scale: Integer = 64 if order < SCANT else 0
    a = shifted(order, scale)
    total = 0.0
    total_low = 0.0
    term = 1.0
    term_low = 0.0
    k = 1.0
    for _k in range(30):
        q, q_low = quotient(-x, -x_low, k, 0.0)
        term, term_low = product(term, term_low, q, q_low)
        d, d_low = two_sum(k, a)
        q, q_low = quotient(term, term_low, d, d_low)
        total, lost = two_sum(total, q)
        total_low = total_low + (lost + q_low)
        if absolute(term) <= absolute(total) * UNSEEN:
            break
        k = k + 1.0
    s, s_low = product(a, 0.0, total, total_low)
    g, g_low = lgamma_next_words(a)
    high, low = log_words(x)
    p, p_low = product(a, 0.0, high, low + x_low / x)
    e, lost = two_sum(p, -g)
    e, e_low = expm1_words(e, lost + (p_low - g_low))
    p, p_low = product(s, s_low, e, e_low)
    first, lost = two_sum(s, e)
    whole, more = two_sum(first, p)
    return shifted(-add(whole, lost + more + (s_low + e_low + p_low)), -scale)


@formula
def is_outside_gamma(a: Real, x: Real) -> Truth:
    """Return whether the functions have no value."""
    none = isnan(a) or isnan(x) or is_negative(a) or is_negative(x)
    return none or (is_zero(a) and is_zero(x)) or (isinf(a) and isinf(x))


@formula
def lower_gamma(a: Real, a_low: Real, x: Real, x_low: Real) -> Real:
    """Return the lower function of double words."""
    if is_outside_gamma(a, x):
        return nan()
    if is_zero(a) or isinf(x):
        return 1.0
    if is_zero(x) or isinf(a):
        return 0.0
    is_upper = x > 1.0 and subtract(x, a) > a_low - x_low
    high, low, n = gamma_tail(a, a_low, x, x_low, is_upper)
    return one_less(high, low, n) if is_upper else scaled(add(high, low), n)


@formula
def upper_gamma(a: Real, a_low: Real, x: Real, x_low: Real) -> Real:
    """Return the upper function of double words."""
    if is_outside_gamma(a, x):
        return nan()
    if is_zero(a) or isinf(x):
        return 0.0
    if is_zero(x) or isinf(a):
        return 1.0
    if is_small_gamma(a, x):
        return upper_gamma_near(a, x, x_low)
    is_upper = x > 0.5 and (subtract(x, a) > a_low - x_low if x > 1.1 else a <= 1.1 * x)
    high, low, n = gamma_tail(a, a_low, x, x_low, is_upper)
    return scaled(add(high, low), n) if is_upper else one_less(high, low, n)


@formula
def gammainc(a: Real, x: Real) -> Real:
    """Regularized lower incomplete gamma function."""
    return lower_gamma(a, 0.0, x, 0.0)


@formula
def gammaincc(a: Real, x: Real) -> Real:
    """Regularized upper incomplete gamma function."""
    return upper_gamma(a, 0.0, x, 0.0)


@formula
def pdtr(k: Real, m: Real) -> Real:
    """Distribution function of the Poisson distribution with mean m."""
    a, a_low = two_sum(floor(k), 1.0)
    return nan() if is_negative(k) else upper_gamma(a, a_low, m, 0.0)


@formula
def pdtrc(k: Real, m: Real) -> Real:
    """Survival function of the Poisson distribution with mean m."""
    a, a_low = two_sum(floor(k), 1.0)
    return nan() if is_negative(k) else lower_gamma(a, a_low, m, 0.0)
