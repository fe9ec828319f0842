"""Faddeeva's function ``w(z) = exp(-z*z) erfc(-i z)`` (DLMF 7.2) by the trapezoidal rule with corrections at poles.

Al Azah and Chandler-Wilde, Computation of the complex error function using modified trapezoidal rules, SIAM Journal on
Numerical Analysis 59 (2021). The points are multiples of 1/2, or those moved by 1/4, so that no rounding error is near
a pole. The real part is a sum of positive terms. Sums are double words.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import exp_words, product, quotient
from gpuarray.ops.vocabulary import *

#: How many points there are on each side of 0.
POINTS: Final = constant(11, 15)
#: Below this square of the size the imaginary part is a power series, and how many terms that has.
NEAR: Final = 0.25
TERMS: Final = constant(6, 12)
#: From this imaginary part on the sum needs no correction.
HIGH: Final = 6.5
#: Beyond this the function is ``i / (sqrt(pi) z)``, and a Gaussian is 0.
VAST: Final = constant(2e4, 2e8)
FALLEN: Final = constant(12.0, 40.0)


@formula
def gaussian(x: Real, y: Real, less: Real) -> Triple:
    """``exp(y*y - x*x - less)`` as a double word times a power of 2."""
    p, p_low = two_product(y, y)
    q, q_low = two_product(x, x)
    e, e_low = two_sum(p, -q)
    f, f_low = two_sum(e, -less)
    return exp_words(f, f_low + (e_low + (p_low - q_low)))


@formula
def faddeeva_sum(x: Real, y: Real, start: Real) -> Triple:
    """``S + i T`` as the double word S over y, and T, of the points from ``start``."""
    square, square_low = two_product(y, y)
    total = 0.0
    total_low = 0.0
    other = 0.0
    other_low = 0.0
    t = start
    for _k in range(POINTS):
        a, b, n = exp_words(-t * t, 0.0)
        u, u_low = two_sum(x, -t)
        v, v_low = two_sum(x, t)
        p, p_low = product(u, u_low, u, u_low)
        q, q_low = product(v, v_low, v, v_low)
        p, lost = two_sum(p, square)
        q, more = two_sum(q, square)
        weight = scaled(a, n if t > 0.0 else n - 1.0)
        weight_low = scaled(b, n if t > 0.0 else n - 1.0)
        f, f_low = quotient(weight, weight_low, p, p_low + (lost + square_low))
        g, g_low = quotient(weight, weight_low, q, q_low + (more + square_low))
        total, lost = two_sum(total, f)
        total_low = total_low + (lost + f_low)
        total, lost = two_sum(total, g)
        total_low = total_low + (lost + g_low)
        f, f_low = product(f, f_low, u, u_low)
        g, g_low = product(g, g_low, v, v_low)
        f, lost = two_sum(f, g)
        other, more = two_sum(other, f)
        other_low = other_low + (more + lost + (f_low + g_low))
        t = t + 0.5
    p, p_low = product(total, total_low, 0.25 * tables.TWO_OVER_PI, 0.25 * tables.TWO_OVER_PI_LOW)
    return p, p_low, (other + other_low) * (0.25 * tables.TWO_OVER_PI)


@formula
def faddeeva_far(x: Real, y: Real) -> Pair:
    """Both parts for a vast number in the first quadrant."""
    m = x if x > y else y
    a = x / m
    b = y / m
    s = tables.INVERSE_ROOT_PI / (a * a + b * b)
    return s * b / m, s * a / m


@formula
def faddeeva_near(x: Real, y: Real) -> Real:
    """Imaginary part near 0, that of ``exp(-z*z) + 2i/sqrt(pi) D(z)`` for Dawson's function D."""
    u = (y - x) * (y + x)
    v = -2.0 * x * y
    real_part = 0.0
    imaginary = 0.0
    k = 2.0 * TERMS + 1.0
    for _k in range(TERMS):
        # 1 + 2 w / k times the last sum, for w = -z*z
        factor = 2.0 / k
        p = (u * real_part - v * imaginary + u) * factor
        imaginary = (u * imaginary + v * real_part + v) * factor
        real_part = p
        k = k - 2.0
    slope = 2.0 * tables.INVERSE_ROOT_PI
    return add(slope * x, slope * (x * real_part - y * imaginary) + exp(u) * sin(v))


@formula
def faddeeva_first(x: Real, y: Real) -> Pair:
    """Both parts in the first quadrant."""
    if x > VAST or y > VAST:
        return faddeeva_far(x, y)
    # the distance of 2 x from the nearest multiple of 1/2, whose parity says which points are far
    turns = rint(4.0 * x)
    rest = 2.0 * x - 0.5 * turns
    is_even = turns == 2.0 * rint(0.5 * turns)
    is_high = y >= HIGH
    s, s_low, imaginary = faddeeva_sum(x, y, 0.25 if is_even or is_high else 0.0)
    real_part, real_low = product(s, s_low, y, 0.0)
    if not is_high and x < FALLEN:
        # 2 exp(-z*z) / (1 + exp(4 pi y - 2 i phase)) for half the phase
        phase, phase_low = product(rest, 0.0, tables.PI, tables.PI_LOW)
        less = 4.0 * tables.PI * y
        a, b, n = gaussian(x, y, less)
        high, low = two_product(x, y)
        angle, lost = two_sum(phase, -2.0 * high)
        angle_low = lost + (phase_low - 2.0 * low)
        sine = sin(angle)
        cosine = cos(angle)
        sine = sine + angle_low * cosine
        cosine = cosine - angle_low * sine
        p = (1.0 + exp(-less)) * cos_reduced(phase, phase_low)
        q = -expm1(-less) * sin_reduced(phase, phase_low)
        size = scaled(2.0 * (a + b), n) / (p * p + q * q)
        real_part, lost = two_sum(real_part, size * (p * cosine - q * sine))
        real_low = real_low + lost
        imaginary = imaginary + size * (p * sine + q * cosine)
        if x * x + y * y < NEAR:
            imaginary = faddeeva_near(x, y)
    return add(real_part, real_low), imaginary


@formula
def faddeeva(x: Real, y: Real) -> Pair:
    """Both parts of Faddeeva's function of x + i y."""
    a = absolute(x)
    b = absolute(y)
    if isnan(x) or isnan(y):
        return nan(), nan()
    u, v = faddeeva_first(a, b)
    if is_negative(y):
        # 2 exp(-z*z) - w(-z)
        f, f_low, n = gaussian(a, b, 0.0)
        high, low = two_product(a, b)
        sine = sin(2.0 * high)
        cosine = cos(2.0 * high)
        u = scaled(2.0 * (f + f_low), n) * (cosine - 2.0 * low * sine) - u
        v = scaled(2.0 * (f + f_low), n) * (sine + 2.0 * low * cosine) + v
    return u, -v if is_negative(x) else v


@formula
def faddeeva_real(x: Real, y: Real) -> Real:
    """Real part of Faddeeva's function of x + i y."""
    real_part, _rest = faddeeva(x, y)
    return real_part


@formula
def faddeeva_imaginary(x: Real, y: Real) -> Real:
    """Imaginary part of Faddeeva's function of x + i y."""
    _rest, imaginary = faddeeva(x, y)
    return imaginary
