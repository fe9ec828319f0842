"""Trigonometric functions of degrees, with exact angle reduction, and ``cosm1``.

The signs of zeros make sines, tangents and cotangents odd and cosines even, as in SciPy from 1.18 on.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.angle_reduction import turns
from gpuarray.ops.special.bessel import root_words
from gpuarray.ops.special.double_word import product, quotient
from gpuarray.ops.vocabulary import *

#: pi/4, slightly rounded down.
EIGHTH: Final = 0.78
#: Beyond this the seconds of an angle may overflow.
VAST: Final = constant(1e30, 1e300)
#: Beyond this many degrees the functions are 0, as in SciPy, which reports a total loss of precision.
LOST: Final = constant(99999991988224.0, 1e14)
#: Below this sin(x) is x.
MINUTE: Final = constant(1e-9, 1e-18)


@formula
def quarters(x: Real) -> Pair:
    """Finite degrees modulo 90, in [-45, 45], and the quadrant from 0 to 3."""
    r = fmod(x, 360.0)
    n = rint(r / 90.0)
    return subtract(r, 90.0 * n), n - 4.0 * floor(0.25 * n)


@formula
def minute_radians(x: Real) -> Pair:
    """Minute degrees in radians as a double word, times 2**64 because they may be subnormal."""
    return product(shifted(x, 64), 0.0, tables.RADIAN, tables.RADIAN_LOW)


@formula
def squared_sine(h: Real, h_low: Real) -> Pair:
    """``sin(h + h_low)**2`` for |h| up to about pi/4 as a double word."""
    p, p_low = product(h, h_low, h, h_low)
    s, lost = fast_two_sum(p, -p * p * tables.squared_sine_series(p))
    return s, lost + p_low


@formula
def degrees_words(x: Real) -> Pair:
    """Sine and cosine of finite degrees."""
    d, quarter = quarters(x)
    high, low = product(d, 0.0, tables.RADIAN, tables.RADIAN_LOW)
    s = sin_reduced(high, low)
    c = cos_reduced(high, low)
    odd = quarter == 1.0 or quarter == 3.0
    sine = c if odd else s
    cosine = s if odd else c
    return -sine if quarter >= 2.0 else sine, -cosine if quarter == 1.0 or quarter == 2.0 else cosine


@formula
def sindg(x: Real) -> Real:
    """Sine of an angle in degrees."""
    if isnan(x) or absolute(x) > LOST:
        return nan() if isnan(x) else 0.0
    if absolute(x) < MINUTE:
        high, low = minute_radians(x)
        return copysign(shifted(add(high, low), -64), x)
    s, _c = degrees_words(absolute(x))
    return copysign(1.0, x) * s


@formula
def cosdg(x: Real) -> Real:
    """Cosine of an angle in degrees."""
    if isnan(x) or absolute(x) > LOST:
        return nan() if isnan(x) else 0.0
    _s, c = degrees_words(absolute(x))
    return c


@formula
def tangent_of_degrees(d: Real, inverse: Real) -> Real:
    """Tangent of up to 45 degrees, not 0, or its reciprocal."""
    if absolute(d) < MINUTE:
        high, low = minute_radians(d)
        q, q_low = quotient(1.0, 0.0, high, low)
        return shifted(add(q, q_low), 64) if inverse == 1.0 else shifted(add(high, low), -64)
    high, low = product(absolute(d), 0.0, tables.RADIAN, tables.RADIAN_LOW)
    s, s_low = squared_sine(high, low)
    c, c_low = two_sum(1.0, -s)
    inverts = inverse == 1.0
    f, f_low = quotient(
        c if inverts else s,
        c_low - s_low if inverts else s_low,
        s if inverts else c,
        s_low if inverts else c_low - s_low,
    )
    r, r_low = root_words(f)
    return copysign(add(r, r_low + 0.5 * f_low / r), d)


@formula
def tandg(x: Real) -> Real:
    """Tangent of an angle in degrees."""
    if isnan(x) or absolute(x) > LOST:
        return nan() if isnan(x) else 0.0
    if absolute(x) < MINUTE:
        return x if is_zero(x) else tangent_of_degrees(x, 0.0)
    d, quarter = quarters(x)
    odd = quarter == 1.0 or quarter == 3.0
    if is_zero(d):
        return infinity() if odd else copysign(0.0, x)
    value = tangent_of_degrees(d, 1.0 if odd else 0.0)
    return negative(value) if odd else value


@formula
def cotdg(x: Real) -> Real:
    """Cotangent of an angle in degrees."""
    if isnan(x) or absolute(x) > LOST:
        return nan() if isnan(x) else 0.0
    if absolute(x) < MINUTE:
        return infinity() if is_zero(x) else tangent_of_degrees(x, 1.0)
    d, quarter = quarters(x)
    odd = quarter == 1.0 or quarter == 3.0
    if is_zero(d):
        return copysign(0.0, x) if odd else infinity()
    value = tangent_of_degrees(d, 0.0 if odd else 1.0)
    return negative(value) if odd else value


@formula
def radian(d: Real, m: Real, s: Real) -> Real:
    """Angle of degrees, minutes and seconds, in radians."""
    whole = d * tables.RADIAN + m * (60.0 * tables.ARC_SECOND) + s * tables.ARC_SECOND
    if not absolute(whole) < VAST or not absolute(d) < VAST or is_zero(whole):
        return whole
    a, a_low = product(d, 0.0, 60.0, 0.0)
    b, b_low = two_sum(a, m)
    c, c_low = product(b, a_low + b_low, 60.0, 0.0)
    e, e_low = two_sum(c, s)
    p, p_low = product(e, c_low + e_low, tables.ARC_SECOND, tables.ARC_SECOND_LOW)
    return add(p, p_low)


@formula
def cosm1(x: Real) -> Real:
    """Cosine minus 1."""
    if isnan(x) or isinf(x):
        return nan()
    if is_zero(x):
        return 0.0
    half = 0.5 * absolute(x)
    if half < MINUTE:
        return gradual_multiply(-0.5 * x, x)
    high = half
    low = 0.0
    quadrant = 0.0
    if half > EIGHTH:
        high, low, quadrant = turns(half)
    s, s_low = squared_sine(high, low)
    if quadrant == 1.0 or quadrant == 3.0:
        return add(2.0 * s - 2.0, 2.0 * s_low)
    return add(-2.0 * s, -2.0 * s_low)
