"""The regularized incomplete beta functions (DLMF 8.17).

The continued fraction is that of Didonato and Morris (Significant digit computation of the incomplete beta function
ratios, ACM Transactions on Mathematical Software 18, 1992), for whichever of the two functions lies below the mean. Its
factor is one exponential, whose exponent is a double word. If the other function is near 1 because its first parameter
is small, its logarithm comes from a power series, so that the difference from 1 keeps its digits.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.bessel import root_words
from gpuarray.ops.special.beta import beta_log, is_minute, stirling_lack
from gpuarray.ops.special.double_word import (
    EXP_LIMIT,
    bounded_product,
    exp_words,
    log1p_less,
    log1p_near_words,
    log_words,
    product,
    quotient,
)
from gpuarray.ops.special.incomplete import expm1_words, lgamma_next_words, one_less, root_of_negative, uniform_sum
from gpuarray.ops.vocabulary import *

#: From here on Stirling's series gives the factor.
NEAR: Final = 12.0
#: The number of terms of the fraction that matter, as measured: at least, per cube root of a b / (a + b), and at most.
SHORTEST: Final = constant(24.0, 80.0)
LENGTH: Final = constant(6.0, 10.0)
TERMS: Final = constant(700, 10200)
MOST: Final = constant(699.0, 10199.0)
#: The uniform expansion is used from this a b / (a + b) on; up to this multiple of it, with its value at the mean.
UNIFORM: Final = constant(1e6, 1e9)
CENTRAL: Final = constant(4e-8, 1e-16)
THIRD: Final = 0.3333333333333333
#: Larger parameters are scaled down by this power of 2.
VAST: Final = constant(1e30, 1e200)
LESS: Final = -8.0
#: Below this fraction of the other parameter the first one is negligible.
SCANT: Final = 1e-30
TINY: Final = constant(1e-30, 1e-290)
#: From here on gamma(z + a) / gamma(z) is a product of steps.
DISTANT: Final = constant(1e10, 1e20)
#: The largest number of steps to NEAR.
STEPS: Final = 12
#: The relative size of a term that ends a sum.
UNSEEN: Final = constant(2e-8, 3e-17)


@formula
def beta_share_exponent(a: Real, b: Real, x: Real, x_low: Real, y: Real, y_low: Real) -> Pair:
    """``a log(x) + b log(y)`` for x + y = 1; for large a and b, with x and y divided by their values at the mean."""
    large = a >= NEAR and b >= NEAR
    s, s_low = two_sum(a, b)
    # a y - b x: nothing cancels after it
    p, p_low = product(a, 0.0, y, y_low)
    q, q_low = product(b, 0.0, x, x_low)
    d, d_low = two_sum(p, -q)
    d, d_low = two_sum(d, d_low + (p_low - q_low))
    total = 0.0
    low = 0.0
    for k in range(2):
        first = k == 0
        c = a if first else b
        m, m_low = quotient(-d if first else d, -d_low if first else d_low, c, 0.0)
        z = x if first else y
        z_low = x_low if first else y_low
        # near 1, the difference from 1 has more digits than x or y itself
        v = m if large else (-y if first else -x)
        v_low = m_low if large else (-y_low if first else -x_low)
        high = 0.0
        rest = 0.0
        if absolute(v) < 0.28:
            # for small parameters this is added back
            high, rest = log1p_less(v, v_low)
            high, lost = two_sum(high, 0.0 if large else v)
            rest = rest + (lost + (0.0 if large else v_low))
        else:
            f, f_low = product(z, z_low, s if large else 1.0, s_low if large else 0.0)
            u, u_low = quotient(f, f_low, c if large else 1.0, 0.0)
            high, least = log_words(u)
            high, rest = two_sum(high, -m if large else 0.0)
            rest = rest + (least + u_low / u - (m_low if large else 0.0))
        g, g_low = bounded_product(c, 0.0, high, rest)
        total, more = two_sum(total, g)
        low = low + (more + g_low)
    return fast_two_sum(total, low)


@formula
def beta_fraction(a: Real, b: Real, x: Real, x_low: Real, d: Real, d_low: Real) -> Pair:
    """Return the continued fraction, which divides the factor, as a double word; ``d = a y - b x``.

    It is evaluated from its last term to the first. All terms are double words, because the errors of rounded ones
    would add up to several units.
    """
    # the remainder shrinks exponentially with n**1.5 / sqrt(a b / (a + b)) for n terms
    n = floor(SHORTEST + LENGTH * exp(THIRD * log(a * (b / (a + b)))))
    n = n if n < MOST else MOST
    t = 0.0
    t_low = 0.0
    s, s_low = two_sum(a, b)
    z, z_low = two_sum(2.0, -x)
    for _k in range(TERMS):
        if n < 1.0:
            break
        v, v_low = two_sum(a, 2.0 * n - 1.0)
        # n (b - n) x / (a + 2 n - 1)
        r, r_low = two_sum(b, -n)
        r, r_low = product(r, r_low, x, x_low)
        r, r_low = quotient(r, r_low, v, v_low)
        r, r_low = product(r, r_low, n, 0.0)
        # (a + n) (d + 1 + n (2 - x)) / (a + 2 n + 1)
        e, e_low = two_sum(a, n)
        f, f_low = two_sum(v, 2.0)
        e, e_low = quotient(e, e_low, f, f_low + v_low)
        g, g_low = product(n, 0.0, z, z_low - x_low)
        g, lost = two_sum(g, 1.0)
        h, more = two_sum(g, d)
        e, e_low = product(e, e_low, h, more + (lost + (g_low + d_low)))
        # the denominator, which divides n (b - n) x (a + n - 1) (a + b + n - 1) x / (a + 2 n - 1)**2
        f, f_low = two_sum(n, r)
        f, lost = two_sum(f, e)
        f, more = two_sum(f, t)
        f_low = f_low + (lost + more) + (r_low + e_low + t_low)
        e, e_low = two_sum(a, n - 1.0)
        e, e_low = quotient(e, e_low, v, v_low)
        r, r_low = product(r, r_low, e, e_low)
        e, e_low = two_sum(s, n - 1.0)
        e, e_low = product(e, e_low + s_low, x, x_low)
        r, r_low = product(r, r_low, e, e_low)
        t, t_low = quotient(r, r_low, f, f_low)
        n = n - 1.0
    v, v_low = two_sum(a, 1.0)
    e, e_low = quotient(a, 0.0, v, v_low)
    f, f_low = two_sum(d, 1.0)
    p, p_low = product(e, e_low, f, f_low + d_low)
    whole, lost = two_sum(p, t)
    return whole, lost + (p_low + t_low)


@formula
def beta_log_of(a: Real, b: Real) -> Pair:
    """``log(beta(a, b))`` for positive numbers as a double word."""
    low = a if a < b else b
    high = b if a < b else a
    if is_minute(low, high):
        # 1/a + 1/b
        first, first_low = log_words(low)
        return fast_two_sum(-first, log1p(low / high) - first_low)
    e, e_low = beta_log(low, 0.0, high, 0.0)
    return e, e_low


@formula
def stirling_step(z: Real, a: Real) -> Real:
    """Return the remainder of Stirling's formula at z + a minus that at z, for z >= 12 and a < 1."""
    v = 1.0 / (z + a)
    w = 1.0 / z
    t = v * v
    u = w * w
    # the series in 1/x**2, and its divided difference
    p = -0.029550653594771242
    d = p
    p = 0.00641025641025641 + p * t
    d = p + d * u
    p = -0.0019175269175269176 + p * t
    d = p + d * u
    p = 0.0008417508417508417 + p * t
    d = p + d * u
    p = -0.0005952380952380953 + p * t
    d = p + d * u
    p = 0.0007936507936507937 + p * t
    d = p + d * u
    p = -0.002777777777777778 + p * t
    d = p + d * u
    p = 0.08333333333333333 + p * t
    return -a * v * w * (p + w * (v + w) * d)


@formula
def complement_series(a: Real, b: Real, x: Real, x_low: Real) -> Pair:
    """``s``, where 1 + s is the power series of the lower function."""
    total = 0.0
    total_low = 0.0
    term = 1.0
    term_low = 0.0
    k = 1.0
    for _k in range(200):
        d, d_low = two_sum(k, -b)
        d, d_low = quotient(d, d_low, k, 0.0)
        d, d_low = product(d, d_low, x, x_low)
        term, term_low = product(term, term_low, d, d_low)
        c, c_low = two_sum(a, k)
        f, f_low = quotient(term, term_low, c, c_low)
        total, lost = two_sum(total, f)
        total_low = total_low + (lost + f_low)
        if absolute(term) <= absolute(total) * UNSEEN:
            break
        k = k + 1.0
    return product(a, 0.0, total, total_low)


@formula
def steps_to_near(a: Real, b: Real) -> Triple:
    """``r`` and k, where 1 + r is the product of the factors 1 + a/z of the steps from b to z = b + k >= 12."""
    r = 0.0
    r_low = 0.0
    z = b
    z_low = 0.0
    k = 0.0
    for _k in range(STEPS):
        if z >= NEAR:
            break
        c, c_low = quotient(a, 0.0, z, z_low)
        f, f_low = product(r, r_low, c, c_low)
        g, lost = two_sum(c, f)
        r, more = two_sum(r, g)
        r_low = r_low + (more + lost + (c_low + f_low))
        k = k + 1.0
        z, z_low = two_sum(b, k)
    return r, r_low, k


@formula
def complement_exponent(a: Real, z: Real, z_low: Real, x: Real, x_low: Real) -> Pair:
    """The logarithm of ``x**a gamma(z + a) / (gamma(z) gamma(a + 1))`` for z >= 12."""
    # a log(z + a) + ((z - 1/2) log(1 + a/z) - a) + ...
    bounded = DISTANT if z > DISTANT else z
    c, c_low = quotient(a, 0.0, bounded, z_low)
    high, middle, low = log1p_near_words(c, c_low)
    c, c_low = two_sum(bounded, -0.5)
    e, e_low = product(c, c_low + z_low, high, middle + low)
    e, lost = two_sum(e, -a)
    c, c_low = two_sum(z, a)
    high, low = log_words(c)
    f, f_low = log_words(x)
    high, more = two_sum(high, f)
    f, f_low = product(a, 0.0, high, more + (low + f_low + (c_low + z_low) / c + x_low / x))
    e_low = e_low + lost + f_low + stirling_step(bounded, a)
    e, lost = two_sum(e, f)
    g, g_low = lgamma_next_words(a)
    e, more = two_sum(e, -g)
    return two_sum(e, e_low + (lost + more - g_low))


@formula
def beta_near_complement(a: Real, b: Real, x: Real, x_low: Real) -> Real:
    """1 minus the lower function, for a < 1 and x below the mean.

    It is ``1 - (1 + s) / (1 + r) * exp(e)``, where s, r and e are small if a is: 1 + s is the power series of the
    function, ``exp(e) / (1 + r)`` its factor ``x**a / (a beta(a, b))``.
    """
    if b < a * SCANT:
        return 1.0
    s, s_low = complement_series(a, b, x, x_low)
    r, r_low, k = steps_to_near(a, b)
    z, z_low = two_sum(b, k)
    e, e_low = complement_exponent(a, z, z_low, x, x_low)
    # (s - r) / (1 + r)
    d, d_low = two_sum(s, -r)
    c, c_low = two_sum(1.0, r)
    q, q_low = quotient(d, d_low + (s_low - r_low), c, c_low + r_low)
    if absolute(e) > 0.7:
        c, c_low = two_sum(1.0, q)
        g, g_low, n = exp_words(e, e_low)
        f, f_low = product(g, g_low, c, c_low + q_low)
        return one_less(f, f_low, n)
    e, e_low = expm1_words(e, e_low)
    f, f_low = product(q, q_low, e, e_low)
    whole, lost = two_sum(q, e)
    whole, more = two_sum(whole, f)
    return -add(whole, lost + more + (q_low + f_low + e_low))


@formula
def beta_correction(a: Real, b: Real, s: Real, s_low: Real, r: Real, r_low: Real, d: Real, d_low: Real) -> Real:
    """Return the second term of the uniform expansion (DLMF 8.18.9), divided by the exponential.

    It is ``(sqrt(2) s r / abs(d) - 1) / (2 sqrt(pi) r)``, with the sign of ``d = a y - b x``; s is sqrt(a b / (a + b)).
    """
    if r < CENTRAL * s * s and r * r < CENTRAL * s * s:
        # the value at r = 0 is as accurate: the error is about r / (21 s**2)
        return (b - a) / (a + b) * (tables.INVERSE_ROOT_2PI * THIRD) / s
    p, p_low = product(s, s_low, r, r_low)
    p, p_low = product(p, p_low, tables.ROOT_2, tables.ROOT_2_LOW)
    q, q_low = quotient(p, p_low, absolute(d), d_low if d > 0.0 else -d_low)
    more, lost = two_sum(q, -1.0)
    v = (more + (lost + q_low)) * (0.5 * tables.INVERSE_ROOT_PI) / r
    return v if d > 0.0 else -v


@formula
def beta_tail(a: Real, b: Real, x: Real, x_low: Real, y: Real, y_low: Real) -> Triple:
    """Return the lower function for x below the mean or slightly above it, as ``(c + d) * 2**n``."""
    e, e_low = beta_share_exponent(a, b, x, x_low, y, y_low)
    p, p_low = product(a, 0.0, y, y_low)
    t, t_low = product(b, 0.0, x, x_low)
    gap, gap_low = two_sum(p, -t)
    gap, gap_low = two_sum(gap, gap_low + (p_low - t_low))
    s = 1.0
    s_low = 0.0
    if a >= NEAR and b >= NEAR:
        # sqrt(a b / (a + b))
        c, c_low = two_sum(a, b)
        q, q_low = quotient(a, 0.0, c, c_low)
        h, h_low = product(q, q_low, b, 0.0)
        s, s_low = root_words(h)
        s_low = s_low + 0.5 * h_low / s
        if h > UNIFORM and e > -EXP_LIMIT:
            r, r_low = root_of_negative(e, e_low)
            v = beta_correction(a, b, s, s_low, r, r_low, gap, gap_low)
            return uniform_sum(e, e_low, r, r_low, v, gap < 0.0)
        s, s_low = product(s, s_low, tables.INVERSE_ROOT_2PI, tables.INVERSE_ROOT_2PI_LOW)
        e_low = e_low - (stirling_lack(a) + stirling_lack(b) - stirling_lack(a + b))
    else:
        f, f_low = beta_log_of(a, b)
        e, lost = two_sum(e, -f)
        e_low = e_low + (lost - f_low)
    if e < -EXP_LIMIT:
        return 0.0, 0.0, 0.0
    d, d_low = beta_fraction(a, b, x, x_low, gap, gap_low)
    g, g_low, n = exp_words(e, e_low)
    v, v_low = product(g, g_low, s, s_low)
    w, w_low = quotient(v, v_low, d, d_low)
    return w, w_low, n


@formula
def beta_share(first: Real, second: Real, x: Real, x_low: Real, y: Real, y_low: Real) -> Real:
    """Return the lower function for positive finite parameters and 0 < x < 1, with x + y = 1."""
    # if both are vast, only the mean matters; scaled so that their sum is finite
    n = LESS if first > VAST and second > VAST else 0.0
    a = scaled(first, n)
    b = scaled(second, n)
    # by the smaller of x and y, which has more digits
    whole = a + b + 2.0
    swap = (x < 0.5 and x * whole > a + 1.0) or (x >= 0.5 and y * whole < b + 1.0)
    p = b if swap else a
    q = a if swap else b
    u = y if swap else x
    u_low = y_low if swap else x_low
    if swap and p < 1.0:
        # scaled, if its low part would be subnormal
        scale: Integer = 64 if p < TINY and q > 0.001 else 0
        return shifted(beta_near_complement(shifted(p, scale), q, u, u_low), -scale)
    if p < TINY:
        # b / (a + b), scaled
        return divide(shifted(q, 64), shifted(p, 64) + shifted(q, 64)) if q < 1.0 else 1.0
    high, low, n = beta_tail(p, q, u, u_low, x if swap else y, x_low if swap else y_low)
    return one_less(high, low, n) if swap else scaled(add(high, low), n)


@formula
def is_outside_beta(a: Real, b: Real, x: Real) -> Truth:
    """Return whether the functions have no value."""
    none = isnan(a) or isnan(b) or isnan(x) or is_negative(a) or is_negative(b) or is_negative(x) or x > 1.0
    return none or (is_zero(a) and is_zero(b)) or (isinf(a) and isinf(b))


@formula
def betainc(a: Real, b: Real, x: Real) -> Real:
    """Regularized incomplete beta function."""
    if is_outside_beta(a, b, x):
        return nan()
    if is_zero(a) or isinf(b):
        return 0.0 if is_zero(x) else 1.0
    if is_zero(b) or isinf(a):
        return 1.0 if x == 1.0 else 0.0
    if is_zero(x) or x == 1.0:
        return 0.0 if is_zero(x) else 1.0
    y, y_low = two_sum(1.0, -x)
    return beta_share(a, b, x, 0.0, y, y_low)


@formula
def betaincc(a: Real, b: Real, x: Real) -> Real:
    """Complement of the regularized incomplete beta function."""
    if is_outside_beta(a, b, x):
        return nan()
    if is_zero(a) or isinf(b):
        return 1.0 if is_zero(x) else 0.0
    if is_zero(b) or isinf(a):
        return 0.0 if x == 1.0 else 1.0
    if is_zero(x) or x == 1.0:
        return 1.0 - x
    y, y_low = two_sum(1.0, -x)
    return beta_share(b, a, y, y_low, x, 0.0)
