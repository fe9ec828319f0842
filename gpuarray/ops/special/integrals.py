"""The exponential integrals (DLMF 6), the dilogarithm (DLMF 25.12), complete elliptic integrals of the first kind.

Near singularities and zeros the integrals are power series plus a logarithm, as double words. Elsewhere they are a
continued fraction or a sum. The elliptic integrals are arithmetic-geometric means (DLMF 19.8).
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.bessel import grown, root_words, sloped
from gpuarray.ops.special.bessel_jy import beyond, log_beyond
from gpuarray.ops.special.double_word import log_words, product, quotient
from gpuarray.ops.special.incomplete import gamma_fraction
from gpuarray.ops.vocabulary import *

#: From here on the exponential integral is its asymptotic series.
FAR: Final = constant(24.0, 44.0)
FAR_TERMS: Final = constant(24, 44)
#: The largest number of terms, and the relative size of a term that ends a sum.
TERMS: Final = constant(90, 150)
UNSEEN: Final = constant(2e-8, 3e-17)
#: Beyond this the series is 1, and exponentials are infinite or 0.
VAST: Final = constant(1e4, 1e5)
#: The largest number of means, and the relative distance below which the next one is the last.
MEANS: Final = constant(12, 16)
CLOSE: Final = constant(1e-6, 1e-14)


@formula
def exp1_times(x: Real, sign: Real) -> Real:
    """``exp1(x)`` for positive finite x, times 1 or -1."""
    if x > 1.0:
        if x > VAST:
            return copysign(0.0, sign)
        # the sign is a factor, because devices flush a subnormal result that is negated
        t, t_low = gamma_fraction(0.0, x, 0.0)
        q, q_low = quotient(sign, 0.0, t, t_low)
        return grown(-x, q, q_low)
    high, low = log_words(x)
    square, square_low = two_product(x, x)
    a, a_low = two_sum(tables.EULER, high)
    b, b_low = two_sum(x, -a)
    c, c_low = two_sum(b, -0.25 * square)
    rest = x * square * tables.exp1_series(x)
    total, lost = two_sum(c, rest)
    return sign * add(total, lost + (b_low + c_low - a_low - (low + tables.EULER_LOW) - 0.25 * square_low))


@formula
def exp1(x: Real) -> Real:
    """Exponential integral E1: the integral of exp(-t) / t from x to infinity."""
    if isnan(x) or is_negative(x):
        return nan()
    if is_zero(x) or isinf(x):
        return infinity() if is_zero(x) else 0.0
    return exp1_times(x, 1.0)


@formula
def expi_sum(x: Real) -> Pair:
    """Return the sum of ``x**k / (k k!)`` over k >= 1 as a double word."""
    total = x
    low = 0.0
    term = x
    term_low = 0.0
    for k in range(2, TERMS):
        q, q_low = quotient(x, 0.0, real(k), 0.0)
        term, term_low = product(term, term_low, q, q_low)
        f, f_low = quotient(term, term_low, real(k), 0.0)
        total, lost = two_sum(total, f)
        low = low + (lost + f_low)
        if f <= total * UNSEEN:
            break
    return total, low


@formula
def expi_far(x: Real) -> Pair:
    """``x exp(-x) expi(x)`` for x >= FAR as a double word: the sum of ``k! / x**k``."""
    total = 1.0
    low = 0.0
    term = 1.0
    for k in range(1, FAR_TERMS):
        term = term * (real(k) / x)
        total, lost = two_sum(total, term)
        low = low + lost
        if term <= UNSEEN:
            break
    return total, low


@formula
def expi(x: Real) -> Real:
    """Exponential integral Ei: the principal value of the integral of exp(t) / t up to x."""
    if isnan(x) or isinf(x):
        return -0.0 if x < 0.0 else x
    if is_zero(x):
        return -infinity()
    if is_negative(x):
        return exp1_times(absolute(x), -1.0)
    if x > FAR:
        if x > VAST:
            return infinity()
        s, s_low = expi_far(x)
        q, q_low = quotient(s, s_low, x, 0.0)
        return grown(x, q, q_low)
    if x > 1.0:
        high, low = log_words(x)
        sum_, sum_low = expi_sum(x)
        a, a_low = two_sum(sum_, tables.EULER)
        b, b_low = two_sum(a, high)
        return add(b, b_low + (a_low + (sum_low + (low + tables.EULER_LOW))))
    d, d_low = beyond(x, tables.EI_ROOT, tables.EI_ROOT_LOW)
    f, f_low = log_beyond(x, d, d_low, tables.EI_ROOT, tables.EI_ROOT_LOW, tables.EI_ROOT_LOG, tables.EI_ROOT_LOG_LOW)
    v, v_low = sloped(x, 0.0, tables.expi_series.first, tables.expi_series.lost, tables.expi_series.slope(x))
    p, p_low = product(d, d_low, v, v_low)
    total, lost = two_sum(f, p)
    return add(total, lost + (f_low + p_low))


@formula
def spence_near(u: Real, u_low: Real) -> Pair:
    """``spence(exp(-u - u_low))`` for |u| up to about log(2) as a double word."""
    q, q_low = product(u, u_low, u, u_low)
    total, lost = two_sum(u, -0.25 * q)
    return total, lost + (u_low - 0.25 * q_low + u * q * tables.spence_series(q))


@formula
def spence(x: Real) -> Real:
    """Dilogarithm of 1 - x, the integral of log(t) / (1 - t) from 1 to x."""
    if isnan(x) or is_negative(x):
        return nan()
    if is_zero(x):
        return tables.PI_SQUARED_SIXTH
    if isinf(x):
        return -x
    high, low = log_words(x)
    if x >= 0.5 and x <= 2.0:
        f, f_low = spence_near(-high, -low)
        return add(f, f_low)
    # for z = x or 1/x: below 1/2 through 1 - z; the logarithm of z is negative
    z, z_low = quotient(1.0, 0.0, x, 0.0)
    above = x > 1.0
    y, y_low = two_sum(1.0, -(z if above else x))
    m, m_low = log_words(y)
    m_low = m_low + (y_low - (z_low if above else 0.0)) / y
    p, p_low = product(absolute(high), -low if high < 0.0 else low, -m, -m_low)
    n, n_low = spence_near(-m, -m_low)
    a, a_low = two_sum(tables.PI_SQUARED_SIXTH, -p)
    b, b_low = two_sum(a, -n)
    rest = b_low + (a_low - p_low - n_low + tables.PI_SQUARED_SIXTH_LOW)
    if not above:
        return add(b, rest)
    square, square_low = product(high, low, high, low)
    total, lost = two_sum(-0.5 * square, -b)
    return add(total, lost - rest - 0.5 * square_low)


@formula
def elliptic_by_means(root: Real, root_low: Real) -> Real:
    """``pi / 2`` divided by the arithmetic-geometric mean of 1 and a square root."""
    a = 1.0
    a_low = 0.0
    b = root
    b_low = root_low
    for _k in range(MEANS):
        near = absolute(a - b) <= CLOSE * a
        p, p_low = product(a, a_low, b, b_low)
        s, lost = two_sum(a, b)
        a_low = 0.5 * (lost + (a_low + b_low))
        a = 0.5 * s
        if near:
            break
        r, r_low = root_words(p)
        b_low = r_low + 0.5 * p_low / r
        b = r
    q, q_low = quotient(0.5 * tables.PI, 0.5 * tables.PI_LOW, a, a_low)
    return add(q, q_low)


@formula
def ellipkm1(p: Real) -> Real:
    """Complete elliptic integral of the first kind with parameter m = 1 - p."""
    if isnan(p) or is_negative(p):
        return nan()
    if is_zero(p) or isinf(p):
        return infinity() if is_zero(p) else 0.0
    # scaled, because p may be subnormal
    r, r_low = root_words(shifted(p, 64) if p < 1.0 else p)
    return elliptic_by_means(shifted(r, -32) if p < 1.0 else r, shifted(r_low, -32) if p < 1.0 else r_low)


@formula
def ellipk(m: Real) -> Real:
    """Complete elliptic integral of the first kind."""
    if isnan(m) or m > 1.0:
        return nan()
    if m == 1.0 or isinf(m):
        return infinity() if m == 1.0 else 0.0
    p, p_low = two_sum(1.0, -m)
    r, r_low = root_words(p)
    return elliptic_by_means(r, r_low + 0.5 * p_low / r)
