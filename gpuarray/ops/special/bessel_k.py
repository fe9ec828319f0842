"""Modified Bessel functions of the second kind.

Up to 1 power series beside a logarithm, and 1/x; beyond, exp(-x) / sqrt(x) and a polynomial in (x - 1) / (x + 1).
"""

from typing import Final

from gpuarray.ops.formula import (
    Pair,
    Real,
    add,
    constant,
    formula,
    infinity,
    is_negative,
    is_zero,
    isinf,
    isnan,
    nan,
    shifted,
    two_product,
    two_sum,
)
from gpuarray.ops.special import tables
from gpuarray.ops.special.bessel import grown, root_parts, sloped
from gpuarray.ops.special.double_word import log_in_parts, product, quotient

#: Where the one takes over from the other.
NEAR: Final = 1.0
#: Below it K1(x) is 1 / x.
MINUTE: Final = constant(1e-9, 1e-18)
#: The polynomials' lowest coefficients in two parts, and how they go on.


@formula
def k0_near(x: Real) -> Pair:
    """``k0(x)`` of 0 < x <= NEAR in two parts."""
    t, t_low = two_product(x, x)
    high, low = log_in_parts(x)
    p, p_low = product(-high, -low, tables.i0_near_series(t), 0.0)
    s, s_low = sloped(t, t_low, tables.k0_near_series.first, tables.k0_near_series.lost, tables.k0_near_series.slope(t))
    total, lost = two_sum(p, s)
    return total, lost + (p_low + s_low)


@formula
def k1_near(x: Real) -> Pair:
    """``k1(x)`` of MINUTE <= x <= NEAR in two parts."""
    t = x * x
    high, low = log_in_parts(x)
    q, q_low = quotient(1.0, 0.0, x, 0.0)
    p, p_low = product(high, low, tables.i1_near_series(t), 0.0)
    s, s_low = two_sum(tables.k1_near_series(t), p)
    f, f_low = product(x, 0.0, s, s_low + p_low)
    total, lost = two_sum(q, f)
    return total, lost + (q_low + f_low)


@formula
def k0_shrunk(x: Real) -> Pair:
    """``exp(x) * k0(x)`` of finite x above NEAR in two parts."""
    u = 1.0 - 2.0 / (x + 1.0)  # devices take a quotient by numbers beyond 2**126 for 0
    f, f_low = sloped(u, 0.0, tables.k0_far_series.first, tables.k0_far_series.lost, tables.k0_far_series.slope(u))
    r, r_low = root_parts(x)
    return quotient(f, f_low, r, r_low)


@formula
def k1_shrunk(x: Real) -> Pair:
    """``exp(x) * k1(x)`` of finite x above NEAR in two parts."""
    u = 1.0 - 2.0 / (x + 1.0)
    f, f_low = sloped(u, 0.0, tables.k1_far_series.first, tables.k1_far_series.lost, tables.k1_far_series.slope(u))
    r, r_low = root_parts(x)
    return quotient(f, f_low, r, r_low)


@formula
def decaying_end(x: Real) -> Real:
    """Return what these functions are of zeros, of negative and infinite numbers, and of NaN."""
    if isnan(x) or isinf(x) or is_negative(x):
        return nan() if isnan(x) or is_negative(x) else 0.0
    return infinity()


@formula
def k0(x: Real) -> Real:
    """Bessel function of order 0, modified, of the second kind."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x <= NEAR:
        g, g_low = k0_near(x)
        return add(g, g_low)
    f, f_low = k0_shrunk(x)
    return grown(-x, f, f_low)


@formula
def k0e(x: Real) -> Real:
    """exp(x) times the modified Bessel function of the second kind, of order 0."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x <= NEAR:
        g, g_low = k0_near(x)
        return grown(x, g, g_low)
    f, f_low = k0_shrunk(x)
    return add(f, f_low)


@formula
def k1(x: Real) -> Real:
    """Bessel function of order 1, modified, of the second kind."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x < MINUTE:
        # of a multiple: x may be subnormal
        q, q_low = quotient(1.0, 0.0, shifted(x, 64), 0.0)
        return shifted(add(q, q_low), 64)
    if x <= NEAR:
        g, g_low = k1_near(x)
        return add(g, g_low)
    f, f_low = k1_shrunk(x)
    return grown(-x, f, f_low)


@formula
def k1e(x: Real) -> Real:
    """exp(x) times the modified Bessel function of the second kind, of order 1."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x < MINUTE:
        q, q_low = quotient(1.0, 0.0, shifted(x, 64), 0.0)
        return shifted(add(q, q_low), 64)
    if x <= NEAR:
        g, g_low = k1_near(x)
        return grown(x, g, g_low)
    f, f_low = k1_shrunk(x)
    return add(f, f_low)
