"""Bessel functions of orders 0 and 1, of the first and second kind.

Near 0 the functions are power series, those of the second kind with a logarithm (DLMF 10.8). Around each of the first
zeros a function is the distance from the zero times a polynomial, which keeps relative accuracy there. Further out it
is the amplitude times the cosine or sine of the phase (DLMF 10.18). The phase is a double word: the exactly reduced
argument plus a small lag, so that values close to a zero stay accurate.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.angle_reduction import late_turns
from gpuarray.ops.special.bessel import risen, root_words, sloped
from gpuarray.ops.special.double_word import log1p_near_words, log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: Below this J1(x) is x / 2, and Y1(x) is -2 / (pi x).
MINUTE: Final = constant(1e-9, 1e-18)


@formula
def beyond(x: Real, zero: Real, zero_low: Real) -> Pair:
    """``x - zero`` as a double word."""
    d, lost = two_sum(x, -zero)
    return fast_two_sum(d, lost - zero_low)


@formula
def from_zero(d: Real, d_low: Real, first: Real, lost: Real, slope: Real) -> Real:
    """``d`` times the polynomial of the function over ``d``."""
    s, s_low = sloped(d, d_low, first, lost, slope)
    p, p_low = product(d, d_low, s, s_low)
    return add(p, p_low)


@formula
def phase_lag(x: Real, c0: Real, c1: Real, c1_low: Real, c2: Real, c2_low: Real, rest: Real, w: Real) -> Pair:
    """``(c0 + c1 w + c2 w**2 + rest w**3) / x`` for ``w = 1 / (x*x)`` as a double word."""
    q, q_low = quotient(1.0, 0.0, x, 0.0)
    v, v_low = product(q, q_low, q, q_low)
    s, s_low = risen(c2, c2_low, w * rest)
    p, p_low = product(v, v_low, s, s_low)
    t, t_low = two_sum(c1, p)
    p, p_low = product(v, v_low, t, t_low + (c1_low + p_low))
    t, t_low = two_sum(c0, p)
    return product(q, q_low, t, t_low + p_low)


@formula
def wave(x: Real, turn: Real, lag: Real, lag_low: Real, rise: Real) -> Real:
    """``(sqrt(2/pi) + rise) / sqrt(x) * sin(x - pi/4 + turn pi/2 + lag + lag_low)``."""
    high, low, quadrant = late_turns(x)
    t, lost = two_sum(high, lag)
    angle, angle_low = two_sum(t, lost + (low + lag_low))
    n = quadrant + turn
    quarter = n - 4.0 * floor(0.25 * n)
    s = sin_reduced(angle, angle_low)
    c = cos_reduced(angle, angle_low)
    value = c if quarter == 1.0 or quarter == 3.0 else s
    m, m_low = risen(tables.ROOT_TWO_OVER_PI, tables.ROOT_TWO_OVER_PI_LOW, rise)
    p, p_low = product(m, m_low, -value if quarter >= 2.0 else value, 0.0)
    r, r_low = root_words(x)
    f, f_low = quotient(p, p_low, r, r_low)
    return add(f, f_low)


@formula
def wave_0(x: Real, turn: Real) -> Real:
    """Amplitude times the sine of the phase, for order 0."""
    w = 1.0 / x / x
    lag, lag_low = phase_lag(
        x,
        -0.125,
        tables.PHASE_0_1,
        tables.PHASE_0_1_LOW,
        tables.PHASE_0_2,
        tables.PHASE_0_2_LOW,
        tables.phase_0_series(w),
        w,
    )
    return wave(x, turn, lag, lag_low, w * tables.amplitude_0_series(w))


@formula
def wave_1(x: Real, turn: Real) -> Real:
    """Amplitude times the sine of the phase, for order 1."""
    w = 1.0 / x / x
    lag, lag_low = phase_lag(
        x,
        0.375,
        tables.PHASE_1_1,
        tables.PHASE_1_1_LOW,
        tables.PHASE_1_2,
        tables.PHASE_1_2_LOW,
        tables.phase_1_series(w),
        w,
    )
    return wave(x, turn, lag, lag_low, w * tables.amplitude_1_series(w))


@formula
def j0(x: Real) -> Real:
    """Bessel function of the first kind of order 0."""
    a = absolute(x)
    if isnan(x) or isinf(x):
        return x if isnan(x) else 0.0
    if a <= 1.5:
        return tables.j0_near_series(a * a)
    if a <= 3.85:
        d, d_low = beyond(a, tables.J0_ZERO_0, tables.J0_ZERO_0_LOW)
        return from_zero(
            d, d_low, tables.j0_zero_0_series.first, tables.j0_zero_0_series.lost, tables.j0_zero_0_series.slope(d)
        )
    if a <= 7.0:
        e, e_low = beyond(a, tables.J0_ZERO_1, tables.J0_ZERO_1_LOW)
        return from_zero(
            e, e_low, tables.j0_zero_1_series.first, tables.j0_zero_1_series.lost, tables.j0_zero_1_series.slope(e)
        )
    if a <= 10.2:
        f, f_low = beyond(a, tables.J0_ZERO_2, tables.J0_ZERO_2_LOW)
        return from_zero(
            f, f_low, tables.j0_zero_2_series.first, tables.j0_zero_2_series.lost, tables.j0_zero_2_series.slope(f)
        )
    if a <= 13.4:
        g, g_low = beyond(a, tables.J0_ZERO_3, tables.J0_ZERO_3_LOW)
        return from_zero(
            g, g_low, tables.j0_zero_3_series.first, tables.j0_zero_3_series.lost, tables.j0_zero_3_series.slope(g)
        )
    return wave_0(a, 1.0)


@formula
def j1(x: Real) -> Real:
    """Bessel function of the first kind of order 1."""
    a = absolute(x)
    if isnan(x):
        return x
    if isinf(x):
        return copysign(0.0, x)
    if a < MINUTE:
        return shifted(x, -1)
    value = 0.0
    if a <= 2.2:
        value = a * tables.j1_near_series(a * a)
    else:
        if a <= 5.4:
            d, d_low = beyond(a, tables.J1_ZERO_0, tables.J1_ZERO_0_LOW)
            value = from_zero(
                d, d_low, tables.j1_zero_0_series.first, tables.j1_zero_0_series.lost, tables.j1_zero_0_series.slope(d)
            )
        else:
            if a <= 8.6:
                e, e_low = beyond(a, tables.J1_ZERO_1, tables.J1_ZERO_1_LOW)
                value = from_zero(
                    e,
                    e_low,
                    tables.j1_zero_1_series.first,
                    tables.j1_zero_1_series.lost,
                    tables.j1_zero_1_series.slope(e),
                )
            else:
                value = wave_1(a, 0.0)
    return -value if signbit(x) else value


@formula
def log_beyond(x: Real, d: Real, d_low: Real, zero: Real, zero_low: Real, log_: Real, log_low: Real) -> Pair:
    """``log(x / zero)`` as a double word, given ``d = x - zero``."""
    if absolute(d) < 0.28 * zero:
        f, f_low = quotient(d, d_low, zero, zero_low)
        a, b, c = log1p_near_words(f, f_low)
        return fast_two_sum(a, b + c)
    high, low = log_words(x)
    total, lost = two_sum(high, -log_)
    return total, lost + (low - log_low)


@formula
def y_near(j: Real, log_: Real, log_low: Real, g: Real, g_low: Real, p: Real, p_low: Real) -> Real:
    """``2/pi j (log_ + log_low) + (g + g_low) (p + p_low)``."""
    f, f_low = product(log_, log_low, tables.TWO_OVER_PI, tables.TWO_OVER_PI_LOW)
    a, a_low = product(f, f_low, j, 0.0)
    b, b_low = product(p, p_low, g, g_low)
    total, lost = two_sum(a, b)
    return add(total, lost + (a_low + b_low))


@formula
def y0(x: Real) -> Real:
    """Bessel function of the second kind of order 0."""
    if isnan(x) or is_zero(x):
        return x if isnan(x) else -infinity()
    if is_negative(x):
        return nan()
    if isinf(x):
        return 0.0
    if x <= 2.2:
        d, d_low = beyond(x, tables.Y0_ZERO_0, tables.Y0_ZERO_0_LOW)
        high, low = log_beyond(
            x, d, d_low, tables.Y0_ZERO_0, tables.Y0_ZERO_0_LOW, tables.Y0_ZERO_LOG, tables.Y0_ZERO_LOG_LOW
        )
        s, s_low = two_sum(x, tables.Y0_ZERO_0)
        p, p_low = product(d, d_low, s, s_low)
        t, t_low = two_product(x, x)
        g, g_low = sloped(
            t, t_low, tables.y0_near_series.first, tables.y0_near_series.lost, tables.y0_near_series.slope(t)
        )
        return y_near(tables.j0_near_series(t), high, low, g, g_low, p, p_low)
    if x <= 5.5:
        e, e_low = beyond(x, tables.Y0_ZERO_1, tables.Y0_ZERO_1_LOW)
        return from_zero(
            e, e_low, tables.y0_zero_1_series.first, tables.y0_zero_1_series.lost, tables.y0_zero_1_series.slope(e)
        )
    if x <= 8.6:
        f, f_low = beyond(x, tables.Y0_ZERO_2, tables.Y0_ZERO_2_LOW)
        return from_zero(
            f, f_low, tables.y0_zero_2_series.first, tables.y0_zero_2_series.lost, tables.y0_zero_2_series.slope(f)
        )
    return wave_0(x, 0.0)


@formula
def y1(x: Real) -> Real:
    """Bessel function of the second kind of order 1."""
    if isnan(x) or is_zero(x):
        return x if isnan(x) else -infinity()
    if is_negative(x):
        return nan()
    if isinf(x):
        return 0.0
    if x < MINUTE:
        # scaled, because x may be subnormal
        q, q_low = quotient(tables.TWO_OVER_PI, tables.TWO_OVER_PI_LOW, shifted(x, 64), 0.0)
        return -shifted(add(q, q_low), 64)
    if x <= 3.3:
        d, d_low = beyond(x, tables.Y1_ZERO_0, tables.Y1_ZERO_0_LOW)
        high, low = log_beyond(
            x, d, d_low, tables.Y1_ZERO_0, tables.Y1_ZERO_0_LOW, tables.Y1_ZERO_LOG, tables.Y1_ZERO_LOG_LOW
        )
        s, s_low = two_sum(x, tables.Y1_ZERO_0)
        p, p_low = product(d, d_low, s, s_low)
        f, f_low = quotient(p, p_low, x, 0.0)
        t, t_low = two_product(x, x)
        g, g_low = sloped(
            t, t_low, tables.y1_near_series.first, tables.y1_near_series.lost, tables.y1_near_series.slope(t)
        )
        j = x * tables.j1_near_series(t)
        if x > 2.2:
            e, e_low = beyond(x, tables.J1_ZERO_0, tables.J1_ZERO_0_LOW)
            j = from_zero(
                e, e_low, tables.j1_zero_0_series.first, tables.j1_zero_0_series.lost, tables.j1_zero_0_series.slope(e)
            )
        return y_near(j, high, low, g, g_low, f, f_low)
    if x <= 7.0:
        u, u_low = beyond(x, tables.Y1_ZERO_1, tables.Y1_ZERO_1_LOW)
        return from_zero(
            u, u_low, tables.y1_zero_1_series.first, tables.y1_zero_1_series.lost, tables.y1_zero_1_series.slope(u)
        )
    if x <= 10.2:
        h, h_low = beyond(x, tables.Y1_ZERO_2, tables.Y1_ZERO_2_LOW)
        return from_zero(
            h, h_low, tables.y1_zero_2_series.first, tables.y1_zero_2_series.lost, tables.y1_zero_2_series.slope(h)
        )
    return wave_1(x, 3.0)
