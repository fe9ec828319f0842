"""Distribution functions that are made of incomplete functions, and polygamma functions.

What a parameter's product or quotient loses is carried on, so that far tails keep their digits.
"""

from typing import Final

from gpuarray.ops.formula import (
    Real,
    Truth,
    add,
    constant,
    copysign,
    exp,
    floor,
    formula,
    infinity,
    is_negative,
    is_zero,
    isinf,
    isnan,
    nan,
    scaled,
    sqrt,
    two_product,
    two_sum,
)
from gpuarray.ops.special.gamma import digamma, gamma_by_steps, gamma_parts, gammaln
from gpuarray.ops.special.incomplete import gamma_exponent, gammainc, gammaincc
from gpuarray.ops.special.incomplete_beta import beta_share, betainc, betaincc
from gpuarray.ops.special.parts import product, quotient
from gpuarray.ops.special.series import INVERSE_ROOT_2PI, LOG_PI, LOG_PI_LOW
from gpuarray.ops.special.zeta import LOWEST, zeta_parts

#: From here on Stirling's series makes a factor.
NEAR: Final = 12.0
#: The highest order of polygamma functions: beyond, the factorial is infinite.
HIGHEST: Final = constant(48.0, 170.0)
#: The most dimensions of a multivariate function.
MOST: Final = 200
DIMENSIONS: Final = 200.0


@formula
def truncated(n: Real) -> Real:
    """Return a count, which SciPy's functions take for an integer."""
    return -floor(-n) if n < 0.0 else floor(n)


@formula
def is_no_probability(k: Real, n: Real, p: Real) -> Truth:
    """Whether p is none, or a count is none."""
    return isnan(p) or isnan(n) or isnan(k) or is_negative(p) or p > 1.0 or isinf(n)


@formula
def bdtr(k: Real, n: Real, p: Real) -> Real:
    """Distribution function of the binomial distribution: at most k of n, of probability p each."""
    whole = floor(k)
    count = truncated(n)
    if is_no_probability(k, n, p) or whole < 0.0 or count < whole:
        return nan()
    return 1.0 if whole == count else betaincc(whole + 1.0, count - whole, p)


@formula
def bdtrc(k: Real, n: Real, p: Real) -> Real:
    """Survival function of the binomial distribution: more than k of n, of probability p each."""
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
    """Lower or upper function of Fisher's distribution, of a and b degrees of freedom."""
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
    turned = upper == 1.0
    return beta_share(
        0.5 * (b if turned else a), 0.5 * (a if turned else b), v if turned else u, v_low if turned else u_low,
        u if turned else v, u_low if turned else v_low,
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
def gamma_lack(b: Real, t: Real, t_low: Real, value: Real) -> Real:
    """Return what the lower function lacks at ``t + t_low`` of that at t: the density, to a few digits, times t_low."""
    if is_zero(t_low) or value == 0.0 or value == 1.0 or isnan(value):
        return 0.0
    e, _e_low = gamma_exponent(b, 0.0, t)
    if b >= NEAR:
        return exp(e) * sqrt(b) * INVERSE_ROOT_2PI * (t_low / t)
    g, _g_low, n = gamma_by_steps(b)
    return exp(e) * (t_low / t) / scaled(g, n)


@formula
def gdtr(a: Real, b: Real, x: Real) -> Real:
    """Distribution function of the gamma distribution, of rate a and order b."""
    if is_negative(x) or (is_negative(a) and not is_zero(x)):
        return nan()
    t, t_low = two_product(a, x)
    value = gammainc(b, t)
    return add(value, gamma_lack(b, t, t_low, value))


@formula
def gdtrc(a: Real, b: Real, x: Real) -> Real:
    """Survival function of the gamma distribution, of rate a and order b."""
    if is_negative(x) or (is_negative(a) and not is_zero(x)):
        return nan()
    t, t_low = two_product(a, x)
    value = gammaincc(b, t)
    return add(value, -gamma_lack(b, t, t_low, value))


@formula
def multigammaln(a: Real, d: Real) -> Real:
    """Logarithm of the multivariate gamma function of d dimensions; NaN up to ``a = (d - 1) / 2``."""
    if isnan(a) or not d >= 1.0 or d > DIMENSIONS or d != floor(d) or a <= 0.5 * (d - 1.0):
        return nan()
    if isinf(a):
        return a
    total, low = product(0.25 * d * (d - 1.0), 0.0, LOG_PI, LOG_PI_LOW)
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
    """``gamma(s) zeta(s, x)`` of integral s above 1, of finite x that is neither 0 nor a negative integer."""
    v, v_low, up = zeta_parts(s, x)
    if isinf(v):
        return v
    g, g_low, n = gamma_parts(s)
    p, p_low = product(g, g_low, v, v_low)
    return scaled(add(p, p_low), n - up)


@formula
def polygamma(n: Real, x: Real) -> Real:
    """Polygamma function, the derivative of order n of digamma; of x below 0 down to -1000."""
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
