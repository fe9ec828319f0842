"""Derivatives of special functions that are no compositions of others: by shape parameters, and of elliptic integrals.

The derivative of a distribution function by a shape parameter is an integral of its density times a logarithm. The
variable is replaced such that the integrand decreases like an exponential from the end of the range, and the integral
is a sum by the double exponential rule (Takahasi and Mori, 1974), which takes integrands of several scales.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.beta import betaln, stirling_lack
from gpuarray.ops.special.distributions import DIMENSIONS, MOST
from gpuarray.ops.special.double_word import EXP_LIMIT, exp_words, log1p_less
from gpuarray.ops.special.gamma import digamma, gammaln
from gpuarray.ops.special.incomplete import FAR, NOTHING, gamma_exponent
from gpuarray.ops.special.incomplete import NEAR as STIRLING
from gpuarray.ops.vocabulary import *

#: The nodes of the double exponential rule: how many, the first, and their distance.
NODES: Final = constant(40, 104)
FIRST: Final = constant(-3.0, -4.0)
WIDTH: Final = constant(0.15625, 0.08)
#: Beyond this order the gamma distribution is normal.
VAST: Final = constant(1e12, 1e30)
#: The terms of power series of numbers up to 1.
SERIES: Final = constant(12, 20)
#: Below SMALL the rest of an exponential after two terms is a series of SHORT terms.
SMALL: Final = 0.05
SHORT: Final = 8
#: The steps of means, after which they agree for all normal numbers.
MEANS: Final = constant(9, 14)
#: The terms of Hurwitz' zeta function that are summed at most, from where on the rest is an asymptotic series, and the
#: relative size of a term that ends the sum.
TERMS: Final = 200
NEAR: Final = 10.0
UNSEEN: Final = constant(1e-9, 1e-18)
#: Powers of 2 and more with exponents below the negative of this underflow.
VANISHING: Final = 1e5


@formula
def decay_rest(v: Real) -> Real:
    """``exp(-v) - 1 + v`` for v >= 0."""
    t = 1.0
    for k in range(SHORT):
        t = 1.0 - v / (10.0 - real(k)) * t
    return 0.5 * v * v * t if v < SMALL else expm1(-v) + v


@formula
def order_series(a: Real, x: Real) -> Real:
    """:func:`gammainc_by_order` for x <= 1, by the power series (DLMF 8.7.1)."""
    total = 1.0
    slope = 0.0
    term = 1.0
    for k in range(SERIES):
        n = real(k) + 1.0
        term = -term * x / n
        total = total + term * (a / (a + n))
        slope = slope + term * (n / (a + n) / (a + n))
    return exp(a * log(x) - gammaln(a + 1.0)) * ((log(x) - digamma(a + 1.0)) * total + slope)


@formula
def gammainc_by_order(a: Real, x: Real) -> Real:
    """Derivative of the lower incomplete gamma function, regularized, by its order a."""
    if isnan(a) or isnan(x) or a <= 0.0 or x < 0.0:
        return nan()
    if x == 0.0 or isinf(x) or isinf(a):
        return 0.0
    d = x - a
    if a > VAST:  # the normal distribution
        z = d / sqrt(a)
        return -exp(-0.5 * z * z) * tables.INVERSE_ROOT_2PI / sqrt(a)
    if x <= 1.0:
        return order_series(a, x)
    if (a > STIRLING and x < NOTHING * a) or (x > FAR and x > 4.0 * a):
        return copysign(0.0, -1.0)
    # the density at x, times x and for small orders divided by the order
    large = a >= STIRLING
    small = a < 1.0
    e, e_low = gamma_exponent(a, 0.0, x, 0.0)
    e, lost = two_sum(e, -(stirling_lack(a) if large else gammaln(a + 1.0 if small else a)))
    if e < -EXP_LIMIT:
        return copysign(0.0, -1.0)
    p, p_low, m = exp_words(e, e_low + lost)
    density = add(p, p_low) * (sqrt(a) * tables.INVERSE_ROOT_2PI if large else 1.0)
    # the integral of the density times log(t) - digamma(a) up to x, or minus that from x on
    is_lower = x <= a
    root = sqrt(a if is_lower else x)
    slope = -d if is_lower else d + 1.0
    rate = slope if slope > root else root
    scale = a if small else 1.0
    w = 1.0 / a / a
    near = log1p(d / a) if absolute(d) < 0.28 * a else log(x / a)
    start = near + (0.5 / a + w * tables.psi_tail_series(w))
    if not large:
        start = scale * (log(x) - digamma(a + 1.0 if small else a)) + (1.0 if small else 0.0)
    total = 0.0
    for k in range(NODES):
        s = FIRST + WIDTH * real(k)
        e = exp(-s)
        w = exp(s - e)
        v = w / rate
        f = 0.0
        if is_lower:  # t = x exp(-v)
            f = (start - v) * exp(-slope * v - x * decay_rest(v))
        else:  # t = x (1 + v)
            n = log1p(v)
            less, lost = log1p_less(v if v < SMALL else 0.0, 0.0)
            f = -(start + scale * n) * exp((a - 1.0) * (less + lost if v < SMALL else n - v) - slope * v)
        total = total + f * w * (1.0 + e)
    return scaled(density * (WIDTH * total) / rate, m)


@formula
def shape_series(a: Real, b: Real, x: Real) -> Real:
    """:func:`betainc_by_shape` for a < 1, x <= 1/2 and b x <= 1, by the power series (DLMF 8.17.7)."""
    total = 1.0
    slope = 0.0
    term = 1.0
    for k in range(NODES):
        n = real(k) + 1.0
        term = term * ((n - b) * x / n)
        total = total + term * (a / (a + n))
        slope = slope + term * (n / (a + n) / (a + n))
    start = log(x) - digamma(a + 1.0) + digamma(a + b)
    return exp(a * log(x) - log(a) - betaln(a, b)) * (start * total + slope)


@formula
def betainc_by_shape(a: Real, b: Real, x: Real) -> Real:
    """Derivative of the incomplete beta function, regularized, by its first parameter a."""
    if isnan(a) or isnan(b) or isnan(x) or a <= 0.0 or b <= 0.0 or x < 0.0 or x > 1.0:
        return nan()
    if x == 0.0 or x == 1.0 or isinf(a) or isinf(b):
        return 0.0
    if a < 1.0 and x <= 0.5 and b * x <= 1.0:
        return shape_series(a, b, x)
    # the integral up to x, or minus that from x on, where the parameters change places
    is_lower = x * (a + b) <= a and a >= 1.0
    p = a if is_lower else b
    q = b if is_lower else a
    z = x if is_lower else 1.0 - x
    odds = x / (1.0 - x) if is_lower else z / x
    first = log(x) if is_lower else log1p(-x)
    rest = log1p(-x) if is_lower else log(x)
    factor = exp(p * first + (q - 1.0) * rest - betaln(p, q))
    if factor == 0.0:
        return copysign(0.0, -1.0)
    slope = p - (q - 1.0) * odds
    least = p if p < 1.0 else sqrt(p)
    rate = slope if slope > least else least
    rate = rate if rate < p else p
    start = log(x) - digamma(a) + digamma(a + b)
    total = 0.0
    for k in range(NODES):  # t = z exp(-v)
        s = FIRST + WIDTH * real(k)
        e = exp(-s)
        w = exp(s - e)
        v = w / rate
        n = log1p(-odds * expm1(-v))
        f = exp((q - 1.0) * n - p * v) * ((start - v) if is_lower else -(start + n))
        total = total + f * w * (1.0 + e)
    return factor * (WIDTH * total) / rate


@formula
def multidigamma(a: Real, d: Real) -> Real:
    """Derivative of the logarithm of the multivariate gamma function by a."""
    if isnan(a) or not d >= 1.0 or d > DIMENSIONS or d != floor(d) or a <= 0.5 * (d - 1.0):
        return nan()
    if isinf(a):
        return a
    total = 0.0
    low = 0.0
    j = 0.0
    for _k in range(MOST):
        if j >= d:
            break
        total, lost = two_sum(total, digamma(a - 0.5 * j))
        low = low + lost
        j = j + 1.0
    return total if isinf(total) else add(total, low)


@formula
def ellipk_slope(p: Real) -> Real:
    """Derivative of the complete elliptic integral of the first kind by its parameter m, at m = 1 - p."""
    if isnan(p) or p < 0.0:
        return nan()
    if p == 0.0 or isinf(p):
        return infinity() if p == 0.0 else 0.0
    # arithmetic and geometric means with their relative derivatives by log(sqrt(p)): all terms are positive
    a = 1.0
    g = sqrt(p)
    by_a = 0.0
    by_g = 1.0
    for _k in range(MEANS):
        mean = 0.5 * (a + g)
        difference = by_g - by_a
        by_g = by_a + 0.5 * difference
        by_a = by_a + 0.5 * g / mean * difference
        g = sqrt(a * g)
        a = mean
    return 0.7853981633974483 / a * by_a / p


@formula
def zeta_by_exponent(s: Real, q: Real) -> Real:
    """Derivative of Hurwitz' zeta function of positive q by its exponent s."""
    if isnan(s) or isnan(q) or s < 1.0 or q <= 0.0:
        return nan()
    if s == 1.0:
        return -infinity()
    if isinf(q) or isinf(s):
        return 0.0
    if q >= 2.0 and s > VANISHING:  # so that no divisor is above 2**126, for which Vulkan leaves quotients open
        return copysign(0.0, -1.0)
    total = 0.0
    d = s - 1.0
    w = q
    ratio = 1.0
    for _k in range(TERMS):
        if w >= NEAR + s:
            break
        # divided by q**(1 - s), as terms that underflow would be missing from a small sum
        root = power(ratio, -0.5 * s)
        term = log(w) / q * root * root
        if w > q and absolute(term) <= UNSEEN * absolute(total):
            break
        total = total - term
        w = w + 1.0
        ratio = w / q
    if w >= NEAR + s:
        # Euler's and Maclaurin's formula for the rest, and its derivative, divided by w**(1 - s)
        n = log(w)
        rest = n / d + 1.0 / (d * d) + 0.5 * n / w
        c = s / w / w
        h = 1.0 / s - n
        rest = rest - c * h / 12.0
        c = c * ((s + 1.0) / w) * ((s + 2.0) / w)
        h = h + 1.0 / (s + 1.0) + 1.0 / (s + 2.0)
        rest = rest + c * h / 720.0
        c = c * ((s + 3.0) / w) * ((s + 4.0) / w)
        h = h + 1.0 / (s + 3.0) + 1.0 / (s + 4.0)
        rest = rest - c * h / 30240.0
        c = c * ((s + 5.0) / w) * ((s + 6.0) / w)
        h = h + 1.0 / (s + 5.0) + 1.0 / (s + 6.0)
        rest = rest + c * h / 1209600.0
        c = c * ((s + 7.0) / w) * ((s + 8.0) / w)
        h = h + 1.0 / (s + 7.0) + 1.0 / (s + 8.0)
        rest = rest - c * h / 47900160.0
        root = power(ratio, -0.5 * d)
        total = total - rest * root * root
    # the power is the square of another, which neither underflows nor overflows before the result does
    root = power(q, -0.5 * d)
    total = multiply(multiply(total, root), root)
    # what underflows is negative
    return copysign(0.0, -1.0) if total == 0.0 else total
