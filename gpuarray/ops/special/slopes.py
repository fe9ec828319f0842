"""Derivatives of special functions that are no compositions of others: by shape parameters, and of elliptic integrals.

The derivative of a distribution function by a shape parameter is an integral of its density times a logarithm. The
variable is replaced such that the integrand decreases like an exponential from the end of the range, and the integral
is a sum by the double exponential rule (Takahasi and Mori, 1974), which takes integrands of several scales.
"""

from typing import Final

from gpuarray.ops.formula import (
    Real,
    constant,
    exp,
    expm1,
    floor,
    formula,
    infinity,
    isinf,
    isnan,
    log,
    log1p,
    nan,
    power,
    real,
    sqrt,
)
from gpuarray.ops.special.beta import betaln
from gpuarray.ops.special.distributions import DIMENSIONS, MOST
from gpuarray.ops.special.gamma import digamma, gammaln

#: The nodes of the double exponential rule: how many, the first, and their distance.
NODES: Final = constant(40, 104)
FIRST: Final = constant(-3.0, -4.0)
WIDTH: Final = constant(0.15625, 0.08)
#: The steps of means, after which they agree for all normal numbers.
MEANS: Final = constant(9, 14)
#: The terms of Hurwitz' zeta function that are summed at most, from where on the rest is an asymptotic series, and the
#: relative size of a term that ends the sum.
TERMS: Final = 200
NEAR: Final = 10.0
UNSEEN: Final = constant(1e-9, 1e-18)


@formula
def gammainc_by_order(a: Real, x: Real) -> Real:
    """Derivative of the lower incomplete gamma function, regularized, by its order a."""
    if isnan(a) or isnan(x) or a <= 0.0 or x < 0.0:
        return nan()
    if x == 0.0 or isinf(x) or isinf(a):
        return 0.0
    # the integral of the density times log(t) - digamma(a) up to x, or minus that from x on
    is_lower = x <= a or x <= 1.0
    root = sqrt(a if is_lower else x)
    slope = a - x if is_lower else x - a + 1.0
    least = a if is_lower and a < 1.0 else root
    rate = slope if slope > least else least
    start = log(x) - digamma(a)
    total = 0.0
    for k in range(NODES):
        s = FIRST + WIDTH * real(k)
        e = exp(-s)
        w = exp(s - e)
        v = w / rate
        f = 0.0
        if is_lower:  # t = x exp(-v)
            f = (start - v) * exp(-a * v - x * expm1(-v))
        else:  # t = x (1 + v)
            n = log1p(v)
            f = -(start + n) * exp((a - 1.0) * n - x * v)
        total = total + f * w * (1.0 + e)
    return exp(a * log(x) - x - gammaln(a)) * (WIDTH * total) / rate


@formula
def betainc_by_shape(a: Real, b: Real, x: Real) -> Real:
    """Derivative of the incomplete beta function, regularized, by its first parameter a."""
    if isnan(a) or isnan(b) or isnan(x) or a <= 0.0 or b <= 0.0 or x < 0.0 or x > 1.0:
        return nan()
    if x == 0.0 or x == 1.0 or isinf(a) or isinf(b):
        return 0.0
    # the integral up to x, or minus that from x on, where the parameters change places
    is_lower = x * (a + b) <= a
    p = a if is_lower else b
    q = b if is_lower else a
    z = x if is_lower else 1.0 - x
    odds = z / (1.0 - z)
    slope = p - (q - 1.0) * odds
    least = p if p < 1.0 else sqrt(p)
    rate = slope if slope > least else least
    rate = rate if rate < p else p
    rest = log1p(-z)
    start = (log(z) if is_lower else rest) - digamma(a) + digamma(a + b)
    total = 0.0
    for k in range(NODES):  # t = z exp(-v)
        s = FIRST + WIDTH * real(k)
        e = exp(-s)
        w = exp(s - e)
        v = w / rate
        n = log1p(-odds * expm1(-v))
        f = exp((q - 1.0) * n - p * v) * ((start - v) if is_lower else -(start + n))
        total = total + f * w * (1.0 + e)
    return exp(p * log(z) + (q - 1.0) * rest - betaln(p, q)) * (WIDTH * total) / rate


@formula
def multidigamma(a: Real, d: Real) -> Real:
    """Derivative of the logarithm of the multivariate gamma function by a."""
    if isnan(a) or not d >= 1.0 or d > DIMENSIONS or d != floor(d) or a <= 0.5 * (d - 1.0):
        return nan()
    total = 0.0
    j = 0.0
    for _k in range(MOST):
        if j >= d:
            break
        total = total + digamma(a - 0.5 * j)
        j = j + 1.0
    return total


@formula
def ellipk_slope(p: Real) -> Real:
    """Derivative of the complete elliptic integral of the first kind by its parameter m, at m = 1 - p."""
    if isnan(p) or p < 0.0:
        return nan()
    if p == 0.0 or isinf(p):
        return infinity() if p == 0.0 else 0.0
    # arithmetic and geometric means; the sum is that of the squares of half their differences, divided by m
    m = 1.0 - p
    g = sqrt(p)
    a = 0.5 * (1.0 + g)
    square = 0.25 * m / ((1.0 + g) * (1.0 + g))
    g = sqrt(g)
    factor = 1.0
    total = square
    for _k in range(MEANS):
        mean = 0.5 * (a + g)
        g = sqrt(a * g)
        a = mean
        square = square * square * m / (a * a * 16.0)
        factor = 2.0 * factor
        total = total + factor * square
    return 0.7853981633974483 / a * (0.5 - total) / p


@formula
def zeta_by_exponent(s: Real, q: Real) -> Real:
    """Derivative of Hurwitz' zeta function of positive q by its exponent s."""
    if isnan(s) or isnan(q) or s < 1.0 or q <= 0.0:
        return nan()
    if s == 1.0:
        return -infinity()
    if isinf(q) or isinf(s):
        return 0.0
    total = 0.0
    w = q
    for _k in range(TERMS):
        t = power(w, -s)
        if w >= NEAR + s or (w > q and t < UNSEEN * power(q, -s)):
            break
        total = total - log(w) * t
        w = w + 1.0
    # Euler's and Maclaurin's formula for the rest, and its derivative
    n = log(w)
    t = power(w, -s)
    d = s - 1.0
    total = total - t * (w * (n / d + 1.0 / (d * d)) + 0.5 * n)
    c = s * t / w
    h = 1.0 / s - n
    total = total + c * h / 12.0
    c = c * ((s + 1.0) / w) * ((s + 2.0) / w)
    h = h + 1.0 / (s + 1.0) + 1.0 / (s + 2.0)
    total = total - c * h / 720.0
    c = c * ((s + 3.0) / w) * ((s + 4.0) / w)
    h = h + 1.0 / (s + 3.0) + 1.0 / (s + 4.0)
    total = total + c * h / 30240.0
    c = c * ((s + 5.0) / w) * ((s + 6.0) / w)
    h = h + 1.0 / (s + 5.0) + 1.0 / (s + 6.0)
    total = total - c * h / 1209600.0
    c = c * ((s + 7.0) / w) * ((s + 8.0) / w)
    h = h + 1.0 / (s + 7.0) + 1.0 / (s + 8.0)
    return total + c * h / 47900160.0
