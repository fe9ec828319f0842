"""The regularized incomplete beta functions.

Didonato and Morris' continued fraction (Significant digit computation of the incomplete beta function ratios, ACM
Transactions on Mathematical Software 18, 1992), of whichever of the two functions lies below the mean. The factor
before it is one exponential, of an exponent in two parts. Where the other function is near 1 because its first
parameter is small, its logarithm comes from a power series, so that what is left of 1 keeps its digits.
"""

from typing import Final

from gpuarray.ops.formula import (
    Pair,
    Real,
    Truth,
    absolute,
    add,
    constant,
    expm1,
    fast_two_sum,
    floor,
    formula,
    is_negative,
    is_zero,
    isinf,
    isnan,
    log1p,
    nan,
    scaled,
    sqrt,
    two_sum,
)
from gpuarray.ops.special.bessel import root_parts
from gpuarray.ops.special.beta import beta_log, is_minute, stirling_lack
from gpuarray.ops.special.parts import EXP_LIMIT, exp_parts, log1p_near_parts, log_in_parts, product, quotient
from gpuarray.ops.special.series import INVERSE_ROOT_2PI, INVERSE_ROOT_2PI_LOW

#: From here on Stirling's series makes the factor.
NEAR: Final = 12.0
#: How many terms of the fraction matter, at least and for each root of a parameter, as measured; the most.
SHORTEST: Final = constant(40.0, 110.0)
LENGTH: Final = constant(0.5, 0.7)
TERMS: Final = 6000
MOST: Final = 5999.0
#: Larger parameters are as good as these: the function is 0 or 1 but at the mean; and sums of them are finite.
VAST: Final = constant(1e30, 1e200)
MOST_OF_ALL: Final = constant(1e37, 1e307)
#: A bound of what does not change a sum.
UNSEEN: Final = constant(2e-8, 3e-17)


@formula
def beta_share_exponent(a: Real, b: Real, x: Real, x_low: Real, y: Real, y_low: Real) -> Pair:
    """Return ``a log(x) + b log(y)`` of x + y = 1; of large a and b, of the ratios of x and y to their shares."""
    large = a >= NEAR and b >= NEAR
    s, s_low = two_sum(a, b)
    # a y - b x: nothing cancels beyond it
    p, p_low = product(a, 0.0, y, y_low)
    q, q_low = product(b, 0.0, x, x_low)
    d, d_low = two_sum(p, -q)
    d_low = d_low + (p_low - q_low)
    total = 0.0
    low = 0.0
    for k in range(2):
        first = k == 0
        c = a if first else b
        m, m_low = quotient(-d if first else d, -d_low if first else d_low, c, 0.0)
        z = x if first else y
        z_low = x_low if first else y_low
        high = 0.0
        rest = 0.0
        if large and absolute(m) < 0.28:
            high, middle, least = log1p_near_parts(m, m_low)
            rest = middle + least
        else:
            f, f_low = product(z, z_low, s if large else 1.0, s_low if large else 0.0)
            u, u_low = quotient(f, f_low, c if large else 1.0, 0.0)
            high, rest = log_in_parts(u)
            rest = rest + u_low / u
        t, lost = two_sum(high, -m if large else 0.0)
        g, g_low = product(VAST if c > VAST else c, 0.0, t, (lost + rest) - (m_low if large else 0.0))
        total, more = two_sum(total, g)
        low = low + (more + g_low)
    return fast_two_sum(total, low)


@formula
def beta_fraction(a: Real, b: Real, x: Real, x_low: Real, d: Real, d_low: Real) -> Pair:
    """Return what the factor is divided by, in two parts; ``d = a y - b x``.

    From its end, of as many terms as matter, all in two parts: rounded ones would add up to several units.
    """
    # as many as for two equal parameters of the same variance
    n = floor(SHORTEST + LENGTH * sqrt(2.0 * a * (b / (a + b))))
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
        # the denominator, and n (b - n) x (a + n - 1) (a + b + n - 1) x / (a + 2 n - 1)**2 over it
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
    """``log(beta(a, b))`` of positive numbers in two parts."""
    low = a if a < b else b
    high = b if a < b else a
    if is_minute(low, high):
        # 1/a + 1/b
        first, first_low = log_in_parts(low)
        return -first, log1p(low / high) - first_low
    e, e_low = beta_log(low, 0.0, high, 0.0)
    return e, e_low


@formula
def beta_near_complement(a: Real, b: Real, x: Real, x_low: Real) -> Real:
    """Return what the lower function lacks of 1, of a below 1 and x below the mean."""
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
    s, s_low = product(a, 0.0, total, total_low)
    high, low = log_in_parts(x)
    p, p_low = product(a, 0.0, high, low + x_low / x)
    e, e_low = beta_log_of(a, b)
    f, f_low = log_in_parts(a)
    # log(a beta(a, b)) is small where a is
    g, lost = two_sum(e, f)
    whole, more = two_sum(p, -g)
    rest = (more - lost) + (p_low - e_low - f_low) + s_low / (1.0 + s)
    first, lost = two_sum(whole, log1p(s))
    whole = add(first, lost + rest)
    return -expm1(whole) if whole < 0.0 else 0.0


@formula
def beta_tail(a: Real, b: Real, x: Real, x_low: Real, y: Real, y_low: Real) -> Real:
    """Return the lower function, of x below the mean or not much above it."""
    e, e_low = beta_share_exponent(a, b, x, x_low, y, y_low)
    s = 1.0
    s_low = 0.0
    if a >= NEAR and b >= NEAR:
        # sqrt(a b / (2 pi (a + b)))
        q, q_low = quotient(a, 0.0, a + b, 0.0)
        h, h_low = product(q, q_low, b, 0.0)
        r, r_low = root_parts(h)
        s, s_low = product(r, r_low + 0.5 * h_low / r, INVERSE_ROOT_2PI, INVERSE_ROOT_2PI_LOW)
        e_low = e_low - (stirling_lack(a) + stirling_lack(b) - stirling_lack(a + b))
    else:
        f, f_low = beta_log_of(a, b)
        e, lost = two_sum(e, -f)
        e_low = e_low + (lost - f_low)
    if e < -EXP_LIMIT:
        return 0.0
    p, p_low = product(a, 0.0, y, y_low)
    t, t_low = product(b, 0.0, x, x_low)
    gap, lost = two_sum(p, -t)
    d, d_low = beta_fraction(a, b, x, x_low, gap, lost + (p_low - t_low))
    g, g_low, n = exp_parts(e, e_low)
    v, v_low = product(g, g_low, s, s_low)
    w, w_low = quotient(v, v_low, d, d_low)
    return scaled(add(w, w_low), n)


@formula
def beta_share(first: Real, second: Real, x: Real, x_low: Real, y: Real, y_low: Real) -> Real:
    """Return the lower function of positive finite parameters, and 0 < x < 1, where x + y = 1."""
    a = MOST_OF_ALL if first > MOST_OF_ALL else first
    b = MOST_OF_ALL if second > MOST_OF_ALL else second
    # by the smaller of x and y, which says more
    whole = a + b + 2.0
    swap = (x < 0.5 and x * whole > a + 1.0) or (x >= 0.5 and y * whole < b + 1.0)
    p = b if swap else a
    q = a if swap else b
    u = y if swap else x
    u_low = y_low if swap else x_low
    if swap and p < 1.0:
        return beta_near_complement(p, q, u, u_low)
    value = beta_tail(p, q, u, u_low, x if swap else y, x_low if swap else y_low)
    return 1.0 - value if swap else value


@formula
def is_outside_beta(a: Real, b: Real, x: Real) -> Truth:
    """Whether there is no value."""
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
