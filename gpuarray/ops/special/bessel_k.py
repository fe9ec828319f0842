"""Modified Bessel functions of the second kind (DLMF 10.25, 10.31).

Up to 1 the functions are power series plus a logarithm and 1/x. Beyond 1 they are exp(-x) / sqrt(x) times a polynomial
in (x - 1) / (x + 1).
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.bessel import grown, root_words, sloped
from gpuarray.ops.special.double_word import log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: The upper end of the power series.
NEAR: Final = 1.0
#: Below this K1(x) is 1 / x.
MINUTE: Final = constant(1e-9, 1e-18)


@formula
def k0_near(x: Real) -> Pair:
    """``k0(x)`` for 0 < x <= NEAR as a double word."""
    t, t_low = two_product(x, x)
    high, low = log_words(x)
    p, p_low = product(-high, -low, tables.i0_near_series(t), 0.0)
    s, s_low = sloped(t, t_low, tables.k0_near_series.first, tables.k0_near_series.lost, tables.k0_near_series.slope(t))
    total, lost = two_sum(p, s)
    return total, lost + (p_low + s_low)


@formula
def k1_near(x: Real) -> Pair:
    """``k1(x)`` for MINUTE <= x <= NEAR as a double word."""
    t = x * x
    high, low = log_words(x)
    q, q_low = quotient(1.0, 0.0, x, 0.0)
    p, p_low = product(high, low, tables.i1_near_series(t), 0.0)
    s, s_low = two_sum(tables.k1_near_series(t), p)
    f, f_low = product(x, 0.0, s, s_low + p_low)
    total, lost = two_sum(q, f)
    return total, lost + (q_low + f_low)


@formula
def k0_shrunk(x: Real) -> Pair:
    """``exp(x) * k0(x)`` for finite x > NEAR as a double word."""
    u = 1.0 - 2.0 / (x + 1.0)  # devices take a quotient by numbers beyond 2**126 for 0
    f, f_low = sloped(u, 0.0, tables.k0_far_series.first, tables.k0_far_series.lost, tables.k0_far_series.slope(u))
    r, r_low = root_words(x)
    return quotient(f, f_low, r, r_low)


@formula
def k1_shrunk(x: Real) -> Pair:
    """``exp(x) * k1(x)`` for finite x > NEAR as a double word."""
    u = 1.0 - 2.0 / (x + 1.0)
    f, f_low = sloped(u, 0.0, tables.k1_far_series.first, tables.k1_far_series.lost, tables.k1_far_series.slope(u))
    r, r_low = root_words(x)
    return quotient(f, f_low, r, r_low)


@formula
def decaying_end(x: Real) -> Real:
    """Return the value at zero, at negative and infinite numbers, and at NaN, which all four functions share."""
    if isnan(x) or isinf(x) or is_negative(x):
        return nan() if isnan(x) or is_negative(x) else 0.0
    return infinity()


@formula
def k0(x: Real) -> Real:
    """Modified Bessel function of the second kind of order 0."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x <= NEAR:
        g, g_low = k0_near(x)
        return add(g, g_low)
    f, f_low = k0_shrunk(x)
    return grown(-x, f, f_low)


@formula
def k0e(x: Real) -> Real:
    """Modified Bessel function of the second kind of order 0, times exp(x)."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x <= NEAR:
        g, g_low = k0_near(x)
        return grown(x, g, g_low)
    f, f_low = k0_shrunk(x)
    return add(f, f_low)


@formula
def k1(x: Real) -> Real:
    """Modified Bessel function of the second kind of order 1."""
    if isnan(x) or isinf(x) or is_zero(x) or is_negative(x):
        return decaying_end(x)
    if x < MINUTE:
        # scaled, because x may be subnormal
        q, q_low = quotient(1.0, 0.0, shifted(x, 64), 0.0)
        return shifted(add(q, q_low), 64)
    if x <= NEAR:
        g, g_low = k1_near(x)
        return add(g, g_low)
    f, f_low = k1_shrunk(x)
    return grown(-x, f, f_low)


@formula
def k1e(x: Real) -> Real:
    """Modified Bessel function of the second kind of order 1, times exp(x)."""
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
