"""Distribution functions made of incomplete gamma and beta functions, and polygamma functions.

Products and quotients of parameters are double words, so that far tails keep their digits.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import exp_words, log_words, product, quotient
from gpuarray.ops.special.gamma import digamma, gamma_words, gammaln, lgamma_words
from gpuarray.ops.special.incomplete import expm1_words, lower_gamma, one_less, upper_gamma
from gpuarray.ops.special.incomplete_beta import beta_share, betainc, betaincc
from gpuarray.ops.special.zeta import LOWEST, zeta_words
from gpuarray.ops.vocabulary import *

#: Stirling's series is used from here on.
NEAR: Final = 12.0
#: The highest order of polygamma functions. Beyond it the factorial is infinite.
HIGHEST: Final = constant(48.0, 170.0)
#: Values of the zeta function beyond LARGE are scaled down by this power of 2.
VAST: Final = 1e18
DOWN: Final = 64.0
#: Factors below this are scaled up.
SLIGHT: Final = constant(1e-19, 1e-100)
#: A product below this has lost digits to underflow.
FAINT: Final = constant(1e-30, 1e-290)
#: The largest number of dimensions of a multivariate function.
MOST: Final = 200
DIMENSIONS: Final = 200.0


@formula
def truncated(n: Real) -> Real:
    """Return the integer part of a count, as SciPy takes it."""
    return -floor(-n) if n < 0.0 else floor(n)


@formula
def is_no_probability(k: Real, n: Real, p: Real) -> Truth:
    """Return whether p is no probability or a count is negative."""
    return isnan(p) or isnan(n) or isnan(k) or is_negative(p) or p > 1.0 or isinf(n)


@formula
def bdtr(k: Real, n: Real, p: Real) -> Real:
    """Distribution function of the binomial distribution: at most k of n events, each of probability p."""
    whole = floor(k)
    count = truncated(n)
    if is_no_probability(k, n, p) or whole < 0.0 or count < whole:
        return nan()
    return 1.0 if whole == count else betaincc(whole + 1.0, count - whole, p)


@formula
def bdtrc(k: Real, n: Real, p: Real) -> Real:
    """Survival function of the binomial distribution: more than k of n events, each of probability p."""
    whole = floor(k)
    count = truncated(n)
    if is_no_probability(k, n, p) or count < whole:
        return nan()
    if whole < 0.0 or whole == count:
        return 1.0 if whole < 0.0 else 0.0
    return betainc(whole + 1.0, count - whole, p)


@formula
def nbdtr(k: Real, n: Real, p: Real) -> Real:
    """Distribution function of the negative binomial distribution: at most k failures before n successes."""
    if is_no_probability(k, n, p) or isinf(k) or k <= -1.0 or n < 1.0:
        return nan()
    return betainc(truncated(n), truncated(k) + 1.0, p)


@formula
def nbdtrc(k: Real, n: Real, p: Real) -> Real:
    """Survival function of the negative binomial distribution: more than k failures before n successes."""
    if is_no_probability(k, n, p) or isinf(k) or k <= -1.0 or n < 1.0:
        return nan()
    return betaincc(truncated(n), truncated(k) + 1.0, p)


@formula
def fisher_share(a: Real, b: Real, x: Real, upper: Real) -> Real:
    """Lower or upper tail of Fisher's distribution with a and b degrees of freedom."""
    if isnan(a) or isnan(b) or isnan(x) or is_negative(x) or not (a > 0.0 and b > 0.0):
        return nan()
    if isinf(x):
        return 1.0 - upper
    if isinf(a) or isinf(b):
        return nan()
    if is_zero(x):
        return upper
    f, f_low = two_product(a, x)
    if isinf(f):
        return 1.0 - upper
    w, w_low = two_sum(f, b)
    w_low = w_low + f_low
    u, u_low = quotient(f, f_low, w, w_low)
    v, v_low = quotient(b, 0.0, w, w_low)
    if is_zero(u) or is_zero(v):
        return upper if is_zero(u) else 1.0 - upper
    swap = upper == 1.0
    return beta_share(
        0.5 * (b if swap else a), 0.5 * (a if swap else b), v if swap else u, v_low if swap else u_low,
        u if swap else v, u_low if swap else v_low,
    )  # fmt: skip


@formula
def fdtr(dfn: Real, dfd: Real, x: Real) -> Real:
    """Distribution function of Fisher's distribution."""
    return fisher_share(dfn, dfd, x, 0.0)


@formula
def fdtrc(dfn: Real, dfd: Real, x: Real) -> Real:
    """Survival function of Fisher's distribution."""
    return fisher_share(dfn, dfd, x, 1.0)


@formula
def rate_product(a: Real, x: Real) -> Pair:
    """``a x`` as a double word. The factors are balanced first, as the halves of small ones would be subnormal."""
    n: Integer = 64 if a < SLIGHT else (-64 if x < SLIGHT else 0)
    return two_product(shifted(a, n), shifted(x, -n))


@formula
def is_faint(a: Real, b: Real, x: Real, t: Real) -> Truth:
    """Return whether the product ``t = a x`` of positive numbers underflows."""
    return t < FAINT and not (is_zero(a) or is_zero(x) or isnan(b) or is_negative(b) or isinf(b))


@formula
def faint_gamma(a: Real, b: Real, x: Real, upper: Real) -> Real:
    """Incomplete gamma function of order b if ``a x`` underflows: ``(a x)**b / gamma(b + 1)``, or 1 minus it."""
    if b > 2.0:
        return upper
    high, low = log_words(a)
    first, first_low = log_words(x)
    total, lost = two_sum(high, first)
    p, p_low = product(b, 0.0, total, lost + (low + first_low))
    is_near = b < 0.5
    g, g_low = lgamma_words(b if is_near else subtract(b, 1.0), is_near)
    e, less = two_sum(p, -g)
    e_low = less + (p_low - g_low)
    if upper == 1.0 and e > -0.7:
        v, v_low = expm1_words(e, e_low)
        return -add(v, v_low)
    w, w_low, n = exp_words(e, e_low)
    return one_less(w, w_low, n) if upper == 1.0 else scaled(add(w, w_low), n)


@formula
def gdtr(a: Real, b: Real, x: Real) -> Real:
    """Distribution function of the gamma distribution with rate a and shape b."""
    if is_negative(x) or (is_negative(a) and not is_zero(x)):
        return nan()
    t, t_low = rate_product(a, x)
    return faint_gamma(a, b, x, 0.0) if is_faint(a, b, x, t) else lower_gamma(b, 0.0, t, t_low)


@formula
def gdtrc(a: Real, b: Real, x: Real) -> Real:
    """Survival function of the gamma distribution with rate a and shape b."""
    if is_negative(x) or (is_negative(a) and not is_zero(x)):
        return nan()
    t, t_low = rate_product(a, x)
    return faint_gamma(a, b, x, 1.0) if is_faint(a, b, x, t) else upper_gamma(b, 0.0, t, t_low)


@formula
def multigammaln(a: Real, d: Real) -> Real:
    """Logarithm of the multivariate gamma function of d dimensions; NaN for ``a <= (d - 1) / 2``."""
    if isnan(a) or not d >= 1.0 or d > DIMENSIONS or d != floor(d) or a <= 0.5 * (d - 1.0):
        return nan()
    if isinf(a):
        return a
    total, low = product(0.25 * d * (d - 1.0), 0.0, tables.LOG_PI, tables.LOG_PI_LOW)
    j = 0.0
    for _k in range(MOST):
        if j >= d:
            break
        total, lost = two_sum(total, gammaln(a - 0.5 * j))
        low = low + lost
        j = j + 1.0
    return total if isinf(total) else add(total, low)


@formula
def polygamma_value(s: Real, x: Real) -> Real:
    """``gamma(s) zeta(s, x)`` for integral s > 1 and finite x that is neither 0 nor a negative integer."""
    v, v_low, up = zeta_words(s, x)
    if isinf(v):
        return v
    g, g_low, n = gamma_words(s)
    # times a scaled number, because the product may overflow where the value is finite
    down = DOWN if absolute(v) > VAST else 0.0
    p, p_low = product(g, g_low, scaled(v, -down), scaled(v_low, -down))
    return scaled(add(p, p_low), n - up + down)


@formula
def polygamma(n: Real, x: Real) -> Real:
    """Polygamma function, the derivative of order n of digamma; x may be negative down to -1000."""
    if isnan(n) or isnan(x) or n < 0.0 or n != floor(n) or n > HIGHEST:
        return nan()
    if is_zero(n):
        return digamma(x)
    sign = 1.0 if n != 2.0 * floor(0.5 * n) else -1.0
    if not x > 0.0 and (x == floor(x) or x < LOWEST):
        return sign * infinity() if x == floor(x) else nan()
    if isinf(x):
        return copysign(0.0, sign)
    return sign * polygamma_value(n + 1.0, x)
