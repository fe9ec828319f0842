"""Modified Bessel functions of the first kind (DLMF 10.25).

Up to 2 the functions are polynomials in x*x. Up to 8 (5 in single precision) they are exp(x) times a polynomial in x,
and beyond that exp(x) / sqrt(x) times a polynomial in 1/x.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import exp_words, product, quotient
from gpuarray.ops.vocabulary import *

#: The upper ends of the first and the second interval.
NEAR: Final = 2.0
FAR: Final = constant(5.0, 8.0)
#: Below this I1(x) is x / 2.
MINUTE: Final = constant(1e-9, 1e-18)


@formula
def root_words(x: Real) -> Pair:
    """``sqrt(x)`` as a double word, for x far from overflow and underflow."""
    r = sqrt(x)
    square, lost = two_product(r, r)
    return r, 0.5 * (subtract(x, square) - lost) / r


@formula
def over_root(f: Real, x: Real) -> Pair:
    """``f / sqrt(x)`` as a double word."""
    r, r_low = root_words(x)
    return quotient(f, 0.0, r, r_low)


@formula
def grown(x: Real, f: Real, f_low: Real) -> Real:
    """``exp(x) * (f + f_low)``."""
    a, b, n = exp_words(x, 0.0)
    p, p_low = product(a, b, f, f_low)
    return scaled(add(p, p_low), n)


@formula
def i0_near(x: Real) -> Pair:
    """``i0(x)`` for 0 <= x <= NEAR as a double word; the low part corrects the rounding of x*x."""
    t, lost = two_product(x, x)
    f = tables.i0_near_series(t)
    return f, 0.5 * lost * f / (1.0 + sqrt(1.0 + t))


@formula
def i1_near(x: Real) -> Pair:
    """``i1(x)`` for 0 <= x <= NEAR as a double word, corrected by about I2(x) / I1(x)."""
    t, lost = two_product(x, x)
    f = tables.i1_near_series(t)
    return product(x, 0.0, f, 0.5 * lost * f / (2.0 + sqrt(4.0 + t)))


@formula
def risen(x: Real, x_low: Real, y: Real) -> Pair:
    """``x + x_low + y`` as a double word."""
    total, lost = two_sum(x, y)
    return total, lost + x_low


@formula
def sloped(x: Real, x_low: Real, first: Real, lost: Real, slope: Real) -> Pair:
    """``first + lost + (x + x_low) slope`` as a double word."""
    p, p_low = product(x, x_low, slope, 0.0)
    s, s_low = two_sum(first, p)
    return s, s_low + (p_low + lost)


@formula
def i0_shrunk(x: Real) -> Pair:
    """``exp(-x) * i0(x)`` for finite x > NEAR as a double word."""
    if x <= FAR:
        return risen(tables.I0_MIDDLE, tables.I0_MIDDLE_LOW, (x - 5.0) * tables.i0_middle_series(x - 5.0))
    return over_root(tables.i0_far_series(1.0 / x), x)


@formula
def i1_shrunk(x: Real) -> Pair:
    """``exp(-x) * i1(x)`` for finite x > NEAR as a double word."""
    if x <= FAR:
        return risen(tables.I1_MIDDLE, tables.I1_MIDDLE_LOW, (x - 5.0) * tables.i1_middle_series(x - 5.0))
    return over_root(tables.i1_far_series(1.0 / x), x)


@formula
def i0(x: Real) -> Real:
    """Modified Bessel function of the first kind of order 0."""
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
    """Modified Bessel function of the first kind of order 0, times exp(-abs(x))."""
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
    """Modified Bessel function of the first kind of order 1."""
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
    """Modified Bessel function of the first kind of order 1, times exp(-abs(x))."""
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
