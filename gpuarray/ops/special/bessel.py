"""Modified Bessel functions of the first kind.

Polynomials of x*x up to 2, of x up to 8 (or 5) beside exp(x), and beyond it in 1/x beside exp(x) / sqrt(x).
"""

from typing import Final

from gpuarray.ops.formula import (
    Pair,
    Real,
    absolute,
    add,
    constant,
    copysign,
    formula,
    isinf,
    isnan,
    scaled,
    shifted,
    sqrt,
    subtract,
    two_product,
    two_sum,
)
from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import exp_parts, product, quotient

#: Where the one takes over from the other.
NEAR: Final = 2.0
FAR: Final = constant(5.0, 8.0)
#: Below it I1(x) is x / 2.
MINUTE: Final = constant(1e-9, 1e-18)


@formula
def root_parts(x: Real) -> Pair:
    """``sqrt(x)`` of ordinary x in two parts."""
    r = sqrt(x)
    square, lost = two_product(r, r)
    return r, 0.5 * (subtract(x, square) - lost) / r


@formula
def over_root(f: Real, x: Real) -> Pair:
    """``f / sqrt(x)`` in two parts."""
    r, r_low = root_parts(x)
    return quotient(f, 0.0, r, r_low)


@formula
def grown(x: Real, f: Real, f_low: Real) -> Real:
    """``exp(x) * (f + f_low)``."""
    a, b, n = exp_parts(x, 0.0)
    p, p_low = product(a, b, f, f_low)
    return scaled(add(p, p_low), n)


@formula
def i0_near(x: Real) -> Pair:
    """``i0(x)`` of 0 <= x <= NEAR in two parts: the second is what rounding x*x loses, by about I1(x) / I0(x)."""
    t, lost = two_product(x, x)
    f = tables.i0_near_series(t)
    return f, 0.5 * lost * f / (1.0 + sqrt(1.0 + t))


@formula
def i1_near(x: Real) -> Pair:
    """``i1(x)`` of 0 <= x <= NEAR in two parts, by about I2(x) / I1(x)."""
    t, lost = two_product(x, x)
    f = tables.i1_near_series(t)
    return product(x, 0.0, f, 0.5 * lost * f / (2.0 + sqrt(4.0 + t)))


@formula
def risen(x: Real, x_low: Real, y: Real) -> Pair:
    """``x + x_low + y`` in two parts."""
    total, lost = two_sum(x, y)
    return total, lost + x_low


@formula
def sloped(x: Real, x_low: Real, first: Real, lost: Real, slope: Real) -> Pair:
    """``first + lost + (x + x_low) slope`` in two parts."""
    p, p_low = product(x, x_low, slope, 0.0)
    s, s_low = two_sum(first, p)
    return s, s_low + (p_low + lost)


@formula
def i0_shrunk(x: Real) -> Pair:
    """``exp(-x) * i0(x)`` of finite x above NEAR in two parts."""
    if x <= FAR:
        return risen(tables.I0_MIDDLE, tables.I0_MIDDLE_LOW, (x - 5.0) * tables.i0_middle_series(x - 5.0))
    return over_root(tables.i0_far_series(1.0 / x), x)


@formula
def i1_shrunk(x: Real) -> Pair:
    """``exp(-x) * i1(x)`` of finite x above NEAR in two parts."""
    if x <= FAR:
        return risen(tables.I1_MIDDLE, tables.I1_MIDDLE_LOW, (x - 5.0) * tables.i1_middle_series(x - 5.0))
    return over_root(tables.i1_far_series(1.0 / x), x)


@formula
def i0(x: Real) -> Real:
    """Bessel function of order 0, modified, of the first kind."""
    a = absolute(x)
    if isnan(x) or isinf(x):
        return a
    if a <= NEAR:
        g, g_low = i0_near(a)
        return add(g, g_low)
    f, f_low = i0_shrunk(a)
    return grown(a, f, f_low)


@formula
def i0e(x: Real) -> Real:
    """exp(-abs(x)) times the modified Bessel function of order 0."""
    a = absolute(x)
    if isnan(x):
        return x
    if isinf(x):
        return 0.0
    if a <= NEAR:
        g, g_low = i0_near(a)
        return grown(-a, g, g_low)
    f, f_low = i0_shrunk(a)
    return add(f, f_low)


@formula
def i1(x: Real) -> Real:
    """Bessel function of order 1, modified, of the first kind."""
    a = absolute(x)
    if isnan(x) or isinf(x):
        return x
    if a < MINUTE:
        return shifted(x, -1)
    if a <= NEAR:
        g, g_low = i1_near(a)
        return copysign(add(g, g_low), x)
    f, f_low = i1_shrunk(a)
    return copysign(grown(a, f, f_low), x)


@formula
def i1e(x: Real) -> Real:
    """exp(-abs(x)) times the modified Bessel function of order 1."""
    a = absolute(x)
    if isnan(x):
        return x
    if isinf(x):
        return copysign(0.0, x)
    if a < MINUTE:
        return shifted(x, -1)
    if a <= NEAR:
        g, g_low = i1_near(a)
        return copysign(grown(-a, g, g_low), x)
    f, f_low = i1_shrunk(a)
    return copysign(add(f, f_low), x)
