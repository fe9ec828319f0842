"""The gamma function, its logarithm and derivative, and the sine cardinal, which its reflection needs (DLMF 5).

The recurrence moves small arguments to [1, 2] by exact steps; the product of its factors is a double word. Beyond 12
the logarithm is Stirling's series as a double word. Negative arguments are reflected, with the sine of the exact
distance from the nearest integer.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import exp_words, log_words, product, quotient
from gpuarray.ops.special.gamma_below import LOWEST, digamma_below, gammaln_below
from gpuarray.ops.vocabulary import *

#: Up to NEAR the recurrence moves arguments to [1, 2], in STEPS steps at most.
NEAR: Final = 12.0
#: Below this arguments are reflected. In single precision the result is 0 before.
NEGATIVE: Final = constant(-45.0, -20.0)
STEPS: Final = constant(47, 22)
#: Beyond this the function is infinite or 0.
GAMMA_LIMIT: Final = constant(50.0, 190.0)
MINUTE: Final = constant(1e-9, 1e-18)
#: From here on x - 1/2 is x.
VAST: Final = constant(1e10, 1e20)


@formula
def sin_pi_words(x: Real) -> Triple:
    """``sin(pi x)``, ``cos(pi x)``, and a number that is 0 if and only if the sine is."""
    n = rint(2.0 * x)
    r = subtract(x, 0.5 * n)
    high, low = product(r, 0.0, tables.PI, tables.PI_LOW)
    s = sin_reduced(high, low)
    c = cos_reduced(high, low)
    quarter = n - 4.0 * floor(0.25 * n)
    sine = c if quarter == 1.0 or quarter == 3.0 else s
    cosine = s if quarter == 1.0 or quarter == 3.0 else c
    return (
        -sine if quarter >= 2.0 else sine,
        -cosine if quarter == 1.0 or quarter == 2.0 else cosine,
        r if quarter == 0.0 or quarter == 2.0 else 1.0,
    )


@formula
def sinc(x: Real) -> Real:
    """sin(pi x) / (pi x)."""
    if isinf(x):
        return nan()
    if isnan(x):
        return x
    if absolute(x) < MINUTE or absolute(x) > VAST:
        return 1.0 if absolute(x) < 1.0 else 0.0
    s, _c, zero = sin_pi_words(x)
    if zero == 0.0:
        return 0.0
    high, low = product(x, 0.0, tables.PI, tables.PI_LOW)
    q, rest = quotient(s, 0.0, high, low)
    return add(q, rest)


@formula
def stirling_of_log(x: Real, high: Real, low: Real) -> Pair:
    """``log(gamma(x))`` for 9 <= x < VAST as a double word, given ``log(x)`` as a double word."""
    # (x - 1/2) (log(x) - 1) - 1/2 + log(2 pi)/2 + ...
    first, rest = two_sum(high, -1.0)
    p, p_low = product(subtract(x, 0.5), 0.0, first, rest + low)
    total, lost = two_sum(p, tables.HALF_LOG_2PI - 0.5)
    return total, lost + (p_low + (tables.HALF_LOG_2PI_LOW + tables.stirling_series(1.0 / (x * x)) / x))


@formula
def stirling_exponent(x: Real) -> Pair:
    """``log(gamma(x))`` for 9 <= x < VAST as a double word."""
    high, low = log_words(x)
    return stirling_of_log(x, high, low)


@formula
def gamma_by_steps(x: Real) -> Triple:
    """``gamma(x)`` for x at most STEPS steps from [1, 2], as ``(a + b) * 2**n``."""
    # the product of the steps, each scaled by 1/8
    p = 1.0
    p_low = 0.0
    n = 0.0
    y = x
    for _k in range(STEPS):
        if y >= 1.0 and y <= 2.0:
            break
        y = subtract(y, 1.0) if x > 1.0 else y
        p, p_low = product(p, p_low, 0.125 * y, 0.0)
        y = y if x > 1.0 else add(y, 1.0)
        n = n + 3.0
    g, g_low = fast_two_sum(tables.gamma_series.first, tables.gamma_series.rest(y - 1.5))
    if x > 1.0:
        a, b = product(p, p_low, g, g_low)
        return a, b, n
    a, b = quotient(g, g_low, p, p_low)
    return a, b, -n


@formula
def gamma_words(x: Real) -> Triple:
    """``gamma(x)`` for finite x that is no pole, as ``(a + b) * 2**n``."""
    if x > NEAR or x < NEGATIVE:
        t = absolute(x)
        high, low = stirling_exponent(GAMMA_LIMIT if t > GAMMA_LIMIT else t)
        a, b, n = exp_words(high if x > 0.0 else -high, low if x > 0.0 else -low)
        if x > 0.0:
            return a, b, n
        # -pi / (t sin(pi t) gamma(t))
        s, _c, _zero = sin_pi_words(x)
        d, d_low = two_product(t, s)
        f, f_low = quotient(tables.PI, tables.PI_LOW, d, d_low)
        p, p_low = product(a, b, f, f_low)
        return p, p_low, n
    if absolute(x) < MINUTE:
        # 1/x, scaled because x may be subnormal
        q, q_low = quotient(1.0, 0.0, shifted(x, 64), 0.0)
        return q, q_low, 64.0
    return gamma_by_steps(x)


@formula
def gamma(x: Real) -> Real:
    """Gamma function."""
    if isnan(x) or is_zero(x) or isinf(x):
        return nan() if x == -infinity() else (copysign(infinity(), x) if is_zero(x) else x)
    if x < 0.0 and x == floor(x):
        return nan()
    a, b, n = gamma_words(x)
    return scaled(add(a, b), n)


@formula
def rgamma(x: Real) -> Real:
    """Reciprocal of the gamma function."""
    if isnan(x) or is_zero(x) or isinf(x):
        return 0.0 if isinf(x) else x
    if x < 0.0 and x == floor(x):
        return 0.0
    a, b, n = gamma_words(x)
    q, rest = quotient(1.0, 0.0, a, b)
    return scaled(add(q, rest), -n)


@formula
def lgamma_words(f: Real, is_one: Truth) -> Pair:
    """``log(gamma(1 + f))`` for -1/4 <= f <= 1/2, or ``log(gamma(2 + f))`` for -1/2 <= f <= 1, as a double word."""
    # f (c + f q(f)), with c and q of either function
    q, q_low = fast_two_sum(
        tables.lgamma_one_series.slope.first if is_one else tables.lgamma_two_series.slope.first,
        tables.lgamma_one_series.slope.rest(f) if is_one else tables.lgamma_two_series.slope.rest(f),
    )
    p, p_low = product(q, q_low, f, 0.0)
    s, s_low = two_sum(tables.lgamma_one_series.first if is_one else tables.lgamma_two_series.first, p)
    g, g_low = product(
        s, s_low + p_low + (tables.lgamma_one_series.lost if is_one else tables.lgamma_two_series.lost), f, 0.0
    )
    return g, g_low


@formula
def gammaln(x: Real) -> Real:
    """Logarithm of the absolute value of the gamma function."""
    if isnan(x) or isinf(x):
        return x
    if is_zero(x) or (x < 0.0 and x == floor(x)):
        return infinity()
    t = absolute(x)
    if t >= MINUTE and x < 0.0 and x >= LOWEST:
        return gammaln_below(x)
    if x >= 0.75 and x <= 3.0:
        f = subtract(x, 1.0 if x < 1.5 else 2.0)
        value, value_low = lgamma_words(f, x < 1.5)
        return 0.0 if f == 0.0 else add(value, value_low)
    # one logarithm for the other cases: that of x or of the value
    is_far = t > NEAR
    is_near = t < 0.75
    u = t
    rest = 0.0
    if not is_far and not is_near:
        a, b, n = gamma_by_steps(x)
        u = scaled(a, n)
        rest = b / a
    high, low = log_words(u)
    if is_near:
        near, near_low = lgamma_words(x if x < 0.5 else subtract(x, 1.0), x < 0.5)
        return add((near + near_low if t >= MINUTE else 0.0) - low, -high)
    if not is_far:
        return add(high, low + rest)
    if t > VAST:
        # scaled, because a double-word product must not overflow
        first, lost = two_sum(high, -1.0)
        p, p_low = product(shifted(t, -8), 0.0, first, lost + low)
        return shifted(add(p, p_low), 8)
    total, lost = stirling_of_log(t, high, low)
    if x > 0.0:
        return add(total, lost)
    # log(pi / (t sin(pi t))) - log(gamma(t))
    s, _c, _zero = sin_pi_words(x)
    return subtract((log(tables.PI / absolute(s)) - high) - lost, total)


@formula
def loggamma(x: Real) -> Real:
    """Logarithm of the gamma function; NaN for negative numbers."""
    if is_negative(x):
        return nan()
    return gammaln(x)


@formula
def psi_of_next(f: Real) -> Real:
    """``psi(1 + f)`` for f >= -1/4."""
    if f >= 8.0:
        x = 1.0 + f
        w = 1.0 / x / x
        return subtract(log(x), 0.5 / x + w * tables.psi_tail_series(w))
    if f <= 1.0:
        is_near = f < 0.5
        h = f if is_near else f - 0.75
        p, p_low = two_product(h, tables.psi_near_series.slope(h) if is_near else tables.psi_next_series.slope(h))
        g, lost = two_sum(tables.psi_near_series.first if is_near else tables.psi_next_series.first, p)
        t, t_low = two_sum(f, -tables.PSI_ROOT)
        q, q_low = product(g, lost + p_low, t, t_low - tables.PSI_ROOT_LOW)
        return add(q, q_low)
    y = f
    total = 0.0
    for _k in range(6):
        if y <= 3.0:
            break
        total = total + 1.0 / y
        y = subtract(y, 1.0)
    return add(tables.psi_middle_series(y - 2.0), total)


@formula
def digamma(x: Real) -> Real:
    """Logarithmic derivative of the gamma function."""
    if isnan(x) or isinf(x):
        return nan() if x < 0.0 else x
    if is_zero(x):
        return -copysign(infinity(), x)
    if x < 0.0 and x == floor(x):
        return nan()
    if absolute(x) < MINUTE:
        return divide(-1.0, x)
    if x <= -0.25:
        return digamma_below(x)
    # psi(x), or psi(1 + x) - 1/x
    is_small = x < 0.75
    value = psi_of_next(x if is_small else x - 1.0)
    if not is_small:
        return value
    high, low = quotient(1.0, 0.0, x, 0.0)
    total, lost = two_sum(value, -high)
    return add(total, lost - low)


@formula
def gammasgn(x: Real) -> Real:
    """Sign of the gamma function."""
    if isnan(x) or is_zero(x):
        return x if isnan(x) else copysign(1.0, x)
    if not is_negative(x):
        return 1.0
    whole = floor(x)
    if whole == x:
        return nan()
    return 1.0 if whole - 2.0 * floor(0.5 * whole) == 0.0 else -1.0
