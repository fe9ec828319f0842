"""The sine and cosine integrals (DLMF 6.2) and Fresnel's integrals (DLMF 7.2).

Near 0 they are power series, the cosine integral with a logarithm. Further out they are polynomials about a few points,
which for the cosine integral are its zeros, so that it keeps relative accuracy there. Beyond these they are waves about
their limits. The phase of the cosine integral is a double word, as that of the Bessel functions.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.angle_reduction import turns
from gpuarray.ops.special.bessel import risen, sloped
from gpuarray.ops.special.bessel_jy import beyond, from_zero, log_beyond, phase_lag
from gpuarray.ops.special.double_word import product, quotient
from gpuarray.ops.vocabulary import *

#: Below this the sine integral is x.
MINUTE: Final = constant(1e-9, 1e-18)
#: Beyond this Fresnel's integrals are 1/2.
VAST: Final = constant(1e9, 1e17)


@formula
def integral_wave(x: Real, turn: Real) -> Real:
    """``sqrt(ci(x)**2 + (pi/2 - si(x))**2) * sin(x + turn pi/2 - lag)`` for x >= 17.35."""
    w = 1.0 / x / x
    z = 256.0 * w
    lag, lag_low = phase_lag(
        x, 1.0, tables.CI_LAG_1, tables.CI_LAG_1_LOW, tables.CI_LAG_2, tables.CI_LAG_2_LOW, tables.ci_lag_series(z), w
    )
    high, low, quadrant = turns(x)
    t, lost = two_sum(high, -lag)
    angle, angle_low = two_sum(t, lost + (low - lag_low))
    n = quadrant + turn
    quarter = n - 4.0 * floor(0.25 * n)
    s = sin_reduced(angle, angle_low)
    c = cos_reduced(angle, angle_low)
    value = c if quarter == 1.0 or quarter == 3.0 else s
    m, m_low = risen(1.0, 0.0, w * tables.ci_amplitude_series(z))
    p, p_low = product(m, m_low, -value if quarter >= 2.0 else value, 0.0)
    # scaled, because the result may be subnormal
    q, q_low = quotient(p, p_low, shifted(x, -32), 0.0)
    return shifted(add(q, q_low), -32)


@formula
def sine_integral(x: Real) -> Real:
    """Sine integral, the integral of sin(t) / t from 0 to x."""
    a = absolute(x)
    if isnan(x) or a < MINUTE:
        return x
    value = 0.5 * tables.PI
    if a <= 2.0:
        z = a * a
        value = add(a, a * z * tables.si_near_series(z))
    elif a <= 4.9:
        value = tables.si_1_series(a - 3.5)
    elif a <= 8.0:
        value = tables.si_2_series(a - 6.5)
    elif a <= 11.1:
        value = tables.si_3_series(a - 9.5)
    elif a <= 14.2:
        value = tables.si_4_series(a - 12.5)
    elif a <= 17.35:
        value = tables.si_5_series(a - 15.75)
    elif not isinf(a):
        value = value + (0.5 * tables.PI_LOW - integral_wave(a, 1.0))
    return copysign(value, x)


@formula
def cosine_integral(x: Real) -> Real:
    """Cosine integral of abs(x), minus the integral of cos(t) / t from abs(x) to infinity; NaN at -infinity."""
    if isnan(x) or is_zero(x):
        return x if isnan(x) else -infinity()
    if isinf(x):
        return nan() if x < 0.0 else 0.0
    a = absolute(x)
    if a <= 2.0:
        e, e_low = beyond(a, tables.CI_ZERO_0, tables.CI_ZERO_0_LOW)
        f, f_low = log_beyond(
            a, e, e_low, tables.CI_ZERO_0, tables.CI_ZERO_0_LOW, tables.CI_ZERO_LOG, tables.CI_ZERO_LOG_LOW
        )
        s, s_low = two_sum(a, tables.CI_ZERO_0)
        p, p_low = product(e, e_low, s, s_low + tables.CI_ZERO_0_LOW)
        t, t_low = two_product(a, a)
        g, g_low = sloped(
            t, t_low, tables.ci_near_series.first, tables.ci_near_series.lost, tables.ci_near_series.slope(t)
        )
        h, h_low = product(p, p_low, g, g_low)
        total, lost = two_sum(f, h)
        return add(total, lost + (f_low + h_low))
    if a > 17.35:
        return integral_wave(a, 0.0)
    d = 0.0
    d_low = 0.0
    first = tables.ci_zero_1_series.first
    rest = tables.ci_zero_1_series.lost
    slope = 0.0
    if a <= 4.9:
        d, d_low = beyond(a, tables.CI_ZERO_1, tables.CI_ZERO_1_LOW)
        slope = tables.ci_zero_1_series.slope(d)
    elif a <= 8.0:
        first = tables.ci_zero_2_series.first
        rest = tables.ci_zero_2_series.lost
        d, d_low = beyond(a, tables.CI_ZERO_2, tables.CI_ZERO_2_LOW)
        slope = tables.ci_zero_2_series.slope(d)
    elif a <= 11.1:
        first = tables.ci_zero_3_series.first
        rest = tables.ci_zero_3_series.lost
        d, d_low = beyond(a, tables.CI_ZERO_3, tables.CI_ZERO_3_LOW)
        slope = tables.ci_zero_3_series.slope(d)
    elif a <= 14.2:
        first = tables.ci_zero_4_series.first
        rest = tables.ci_zero_4_series.lost
        d, d_low = beyond(a, tables.CI_ZERO_4, tables.CI_ZERO_4_LOW)
        slope = tables.ci_zero_4_series.slope(d)
    else:
        first = tables.ci_zero_5_series.first
        rest = tables.ci_zero_5_series.lost
        d, d_low = beyond(a, tables.CI_ZERO_5, tables.CI_ZERO_5_LOW)
        slope = tables.ci_zero_5_series.slope(d)
    return from_zero(d, d_low, first, rest, slope)


@formula
def fresnel_far(x: Real, turn: Real) -> Real:
    """``1/2 - f(x) cos(u) - g(x) sin(u)`` for ``u = (x*x + turn) pi/2`` and x >= 2 (DLMF 7.5)."""
    if x > VAST:
        return 0.5
    square, square_low = two_product(x, x)
    m = fmod(square, 4.0)
    whole = rint(m)
    part = (m - whole) + fmod(square_low, 4.0)
    more = rint(part)
    angle = (part - more) * (0.5 * tables.PI)
    n = whole + more + turn
    quarter = n - 4.0 * floor(0.25 * n)
    s = sin_reduced(angle, 0.0)
    c = cos_reduced(angle, 0.0)
    v = 1.0 / x
    f = tables.fresnel_f_series(v - 0.25)
    g = tables.fresnel_g_series(v - 0.25) * (v * v)
    value = (g * c - f * s) if quarter == 1.0 or quarter == 3.0 else (f * c + g * s)
    return 0.5 - v * (-value if quarter >= 2.0 else value)


@formula
def fresnel_sine(x: Real) -> Real:
    """Fresnel's integral S, of sin(pi/2 t*t) from 0 to x."""
    a = absolute(x)
    if isnan(x):
        return x
    value = 0.0
    if a <= 1.25:
        # scaled, because the result may be subnormal
        b = shifted(a, 32)
        square, square_low = two_product(b, b)
        cube, cube_low = product(square, square_low, b, 0.0)
        z = a * a
        p = tables.fresnel_s_near_series(z * z)
        value = shifted(cube * p + cube_low * p, -96)
    elif a <= 2.0:
        value = tables.fresnel_s_middle_series(a - 1.625)
    else:
        value = fresnel_far(a, 0.0)
    return copysign(value, x)


@formula
def fresnel_cosine(x: Real) -> Real:
    """Fresnel's integral C, of cos(pi/2 t*t) from 0 to x."""
    a = absolute(x)
    if isnan(x) or a < MINUTE:
        return x
    value = 0.0
    if a <= 1.25:
        z = a * a
        z = z * z
        value = add(a, a * z * tables.fresnel_c_near_series(z))
    elif a <= 2.0:
        value = tables.fresnel_c_middle_series(a - 1.625)
    else:
        value = fresnel_far(a, 1.0)
    return copysign(value, x)
