"""The beta function and its logarithm.

The recurrence moves both arguments beyond 12; the product of its factors is a double word. From there on Stirling's
series of the three gamma functions (DLMF 5.11) leaves ``a log(a/s) + b log(b/s)`` with s = a + b, in which nothing
cancels. Negative arguments are reflected first (DLMF 5.5.3).
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import EXP_LIMIT, exp_words, log1p_near_words, log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: Stirling's series is used from here on.
NEAR: Final = 12.0
#: The largest number of steps that move both arguments there.
STEPS: Final = 24
#: If one argument is positive and below MINUTE, or the magnitude of either is below VERY_MINUTE, the function is
#: 1/a + 1/b.
MINUTE: Final = constant(1e-10, 1e-19)
SPECK: Final = constant(1e-18, 1e-35)
PART: Final = 0.0625
#: The smallest ``int`` of C.
LEAST: Final = -2147483648.0
#: The powers of 2 by which small ratios are scaled up, and so are factors of numbers larger than ``FAR``.
UP: Final = 30.0
FAR: Final = constant(1e25, 1e250)
#: Smaller factors are scaled up.
FAINT: Final = constant(1e-24, 1e-280)


@formula
def steps_from(a: Real) -> Real:
    """Number of steps from a >= 0 to 12 or beyond."""
    return -floor(a - NEAR) if a < NEAR else 0.0


@formula
def beta_steps(a: Real, a_low: Real, b: Real, b_low: Real) -> Triple:
    """``beta(a, b) / beta(a + m, b + n)`` for positive a and b, m and n their steps, as ``(x + y) * 2**k``."""
    m = steps_from(a)
    count = m + steps_from(b)
    s, s_low = two_sum(a, b)
    s_low = s_low + (a_low + b_low)
    e: Integer = log_exponent(s)
    e = e if e > 0 else 0
    x = 1.0
    x_low = 0.0
    y = 1.0
    y_low = 0.0
    k = 0.0
    for _k in range(STEPS):
        if k == count:
            break
        f, f_low = two_sum(s, k)
        x, x_low = product(x, x_low, shifted(f, -3 - e), shifted(f_low + s_low, -3 - e))
        g, g_low = two_sum(a if k < m else b, k if k < m else k - m)
        g_low = g_low + (a_low if k < m else b_low)
        y, y_low = product(y, y_low, 0.125 * g, 0.125 * g_low)
        k = k + 1.0
    q, q_low = quotient(x, x_low, y, y_low)
    return q, q_low, count * real(e)


@formula
def stirling_lack(x: Real) -> Real:
    """Remainder of Stirling's formula for ``log(gamma(x))``, x >= 9."""
    return tables.stirling_series(1.0 / x / x) / x


@formula
def beta_exponent(a: Real, a_low: Real, b: Real, b_low: Real) -> Pair:
    """``log(beta(a, b))`` for positive finite numbers as a double word; a is not much larger than b."""
    m = steps_from(a)
    n = steps_from(b)
    x, x_low = two_sum(a, m)
    y, y_low = two_sum(b, n)
    x_low = x_low + a_low
    y_low = y_low + b_low
    # scaled by 1/16: the sum may overflow, and the reciprocal of the largest numbers is subnormal
    part = PART * y
    part_low = PART * y_low
    s, s_low = two_sum(PART * x, part)
    s_low = s_low + (PART * x_low + part_low)
    ratio, ratio_low = quotient(PART * x, PART * x_low, part, part_low)
    # the smallest ratios have lost digits to underflow
    is_slight = ratio < MINUTE
    up = UP if is_slight else 0.0
    u, u_low = quotient(scaled(PART * x, up), scaled(PART * x_low, up), s, s_low)
    first, first_low = log_words(u)
    turns, turns_low = product(up, 0.0, tables.LOG_2, tables.LOG_2_LOW)
    first, lost = two_sum(first, -turns)
    p, p_low = product(subtract(x, 0.5), x_low, first, first_low + (lost - turns_low) + u_low / u)
    second = 0.0
    second_low = 0.0
    if ratio < 0.4:
        high, middle, low = log1p_near_words(ratio, ratio_low)
        second, second_low = fast_two_sum(-high, -(middle + low))
    else:
        v, v_low = quotient(part, part_low, s, s_low)
        second, second_low = log_words(v)
        second_low = second_low + v_low / v
    q, q_low = product(
        x if is_slight else y, x_low if is_slight else y_low, -1.0 if is_slight else second,
        0.5 * ratio if is_slight else second_low,
    )  # fmt: skip
    # one logarithm of both the product of the steps and sqrt(y)
    f, f_low, k = beta_steps(a, a_low, b, b_low)
    r = sqrt(part)
    square, square_low = two_product(r, r)
    w, w_low = quotient(f, f_low, 4.0 * r, 2.0 * (part_low + (subtract(part, square) - square_low)) / r)
    last, last_low = log_words(w)
    one, lost = two_sum(p, q)
    turns, turns_low = product(k, 0.0, tables.LOG_2, tables.LOG_2_LOW)
    two, more = two_sum(one, turns)
    three, less = two_sum(two, last)
    total, rest = two_sum(three, tables.HALF_LOG_2PI)
    rest = rest + lost + more + less + (p_low + q_low + last_low + w_low / w + tables.HALF_LOG_2PI_LOW + turns_low)
    rest = rest + (stirling_lack(x) + stirling_lack(y) - stirling_lack(s / PART))
    return fast_two_sum(total, rest)


@formula
def beta_log(a: Real, a_low: Real, b: Real, b_low: Real) -> Pair:
    """``beta_exponent`` for all positive finite numbers; if their sum overflows, all is scaled."""
    large = isinf(a + b)
    high, low = beta_exponent(PART * a if large else a, a_low, PART * b if large else b, b_low)
    return high / PART if large else high, low / PART if large else low


@formula
def is_pole(x: Real) -> Truth:
    """Return whether the gamma function has a pole at x."""
    return is_zero(x) or (x < 0.0 and x == floor(x))


@formula
def is_divisor(a: Real, b: Real) -> Truth:
    """Return whether the reflection factor is divided by, not multiplied by, beta at the reflected a <= b."""
    return a < 0.0 and (b < 0.0 or a + b >= 1.0)


@formula
def reflected_first(a: Real, b: Real) -> Pair:
    """Return the first reflected argument, which is positive, as a double word, for a <= b."""
    if a > 0.0 or not is_divisor(a, b):
        return (a if a > 0.0 else b), 0.0
    x, x_low = two_sum(1.0, -a)
    return x, x_low


@formula
def reflected_second(a: Real, b: Real) -> Pair:
    """Return the second reflected argument: b, 1 - a - b, a + b, or 1 - b."""
    if a > 0.0:
        return b, 0.0
    s, s_low = two_sum(a, b)
    divides = is_divisor(a, b)
    if divides and b > 0.0:
        return s, s_low
    y, y_low = two_sum(1.0, -(b if divides else s))
    return y, y_low - (0.0 if divides else s_low)


@formula
def sin_pi_of(x: Real, x_low: Real) -> Pair:
    """``sin(pi (x + x_low))`` as a double word, exactly 0 at integers."""
    n = rint(x)
    # near an integer the low part may be the larger
    r, r_low = two_sum(subtract(x, n), x_low)
    is_near = absolute(r) <= 0.25
    # otherwise the cosine of the distance from a quarter turn
    t, t_low = two_sum(0.5, -absolute(r))
    t_low = t_low - (r_low if r > 0.0 else -r_low)
    high, low = product(r if is_near else t, r_low if is_near else t_low, tables.PI, tables.PI_LOW)
    z, z_low = two_product(high, high)
    f = 1.0
    f_low = 0.0
    if is_near:
        s = -7.647163731819816e-13 * z
        s = (1.6059043836821613e-10 + s) * z
        s = (-2.505210838544172e-08 + s) * z
        s = (2.7557319223985893e-06 + s) * z
        s = (-0.0001984126984126984 + s) * z
        s = (0.008333333333333333 + s) * z
        s = (-0.16666666666666666 + s) * z
        f, f_low = fast_two_sum(high, low * (1.0 - 0.5 * z) + high * s)
    else:
        s = 4.779477332387385e-14 * z
        s = (-1.1470745597729725e-11 + s) * z
        s = (2.08767569878681e-09 + s) * z
        s = (-2.755731922398589e-07 + s) * z
        s = (2.48015873015873e-05 + s) * z
        s = (-0.001388888888888889 + s) * z
        s = (0.041666666666666664 + s) * z * z
        f, f_low = two_sum(1.0, -0.5 * z)
        f, f_low = fast_two_sum(f, f_low + (s - 0.5 * z_low - high * low))
    is_negative = (n != 2.0 * floor(0.5 * n)) != (not is_near and r < 0.0)
    return -f if is_negative else f, -f_low if is_negative else f_low


@formula
def reflected_up(a: Real, b: Real) -> Real:
    """Return the power of 2 by which :func:`reflection` is scaled, because it may be too small for a double word."""
    return UP if a < 0.0 and b > FAR and a != floor(a) else 0.0


@formula
def reflection(a: Real, b: Real) -> Pair:
    """Return the reflection factor, or its reciprocal (see :func:`is_divisor`), as a double word, for a <= b."""
    if a > 0.0:
        return 1.0, 0.0
    if a == floor(a):
        return (1.0 if b == 2.0 * floor(0.5 * b) else -1.0), 0.0
    s, s_low = two_sum(a, b)
    f, f_low = sin_pi_of(a, 0.0)
    if b > 0.0 and s >= 1.0:
        # pi / (sin(pi a) b)
        d, d_low = product(f, f_low, scaled(b, -reflected_up(a, b)), 0.0)
        q, q_low = quotient(tables.PI, tables.PI_LOW, d, d_low)
        return q, q_low
    # sin(pi s) / sin(pi a), or pi times that over sin(pi b) (1 - s)
    w, w_low = sin_pi_of(s, s_low)
    q, q_low = quotient(w, w_low, f, f_low)
    if b > 0.0:
        return q, q_low
    g, g_low = sin_pi_of(b, 0.0)
    d, d_low = two_sum(1.0, -s)
    d, d_low = product(d, d_low - s_low, g, g_low)
    w, w_low = product(q, q_low, tables.PI, tables.PI_LOW)
    q, q_low = quotient(w, w_low, d, d_low)
    return q, q_low


@formula
def is_minute(a: Real, b: Real) -> Truth:
    """Return whether ``beta(a, b)`` with a <= b is 1/a + 1/b."""
    both = absolute(a) < MINUTE and (a > 0.0 or absolute(b) < MINUTE)
    return both or absolute(a) < SPECK or absolute(b) < SPECK


@formula
def is_infinite(a: Real, b: Real) -> Truth:
    """Return whether ``beta(a, b)`` with a <= b is infinite, at a pole that no pole of gamma(a + b) cancels.

    As in SciPy, only a pole at a C ``int`` cancels a pole.
    """
    return is_pole(b) or (is_pole(a) and (b != floor(b) or a + b >= 1.0 or a <= LEAST))


@formula
def beta(a: Real, b: Real) -> Real:
    """Beta function."""
    if isnan(a) or isnan(b):
        return nan()
    low = a if a < b else b
    high = b if a < b else a
    if is_infinite(low, high):
        return infinity()
    if isinf(low) or isinf(high):
        return 0.0 if low > 0.0 else nan()
    if is_minute(low, high):
        small = absolute(low) < absolute(high)
        least = low if small else high
        most = high if small else low
        ratio = divide(least, most)
        # exact where much of the difference cancels
        return divide(1.0 + ratio if ratio > 0.0 else divide(low + high, most), least)
    x, x_low = reflected_first(low, high)
    y, y_low = reflected_second(low, high)
    factor, factor_low = reflection(low, high)
    swap = y < x
    e, rest = beta_log(y if swap else x, y_low if swap else x_low, x if swap else y, x_low if swap else y_low)
    sign = -1.0 if is_divisor(low, high) else 1.0
    if absolute(e) > EXP_LIMIT:
        return factor * (0.0 if sign * e < 0.0 else infinity())
    p, p_low, n = exp_words(sign * e, sign * rest)
    # scaled, if parts of the product would be subnormal
    m = 64.0 if absolute(factor) < FAINT else 0.0
    v, v_low = product(p, p_low, scaled(factor, m), scaled(factor_low, m))
    return scaled(add(v, v_low), n - m - reflected_up(low, high))


@formula
def betaln(a: Real, b: Real) -> Real:
    """Logarithm of the absolute value of the beta function."""
    if isnan(a) or isnan(b):
        return nan()
    least = a if a < b else b
    most = b if a < b else a
    if is_infinite(least, most):
        return infinity()
    if isinf(least) or isinf(most):
        return -infinity() if least > 0.0 else nan()
    if is_minute(least, most):
        small = absolute(least) < absolute(most)
        whole = divide(least + most, most if small else least)
        return log(absolute(whole)) - log(absolute(least if small else most))
    x, x_low = reflected_first(least, most)
    y, y_low = reflected_second(least, most)
    factor, factor_low = reflection(least, most)
    swap = y < x
    e, rest = beta_log(y if swap else x, y_low if swap else x_low, x if swap else y, x_low if swap else y_low)
    sign = -1.0 if is_divisor(least, most) else 1.0
    if factor == 0.0:
        return -infinity()
    if x == 1.0 and y == 1.0 and x_low == 0.0 and y_low == 0.0:
        return 0.0
    if isinf(e):
        return sign * e
    high, low = log_words(absolute(factor))
    turns, turns_low = product(reflected_up(least, most), 0.0, tables.LOG_2, tables.LOG_2_LOW)
    high, less = two_sum(high, -turns)
    total, lost = two_sum(sign * e, high)
    return add(total, lost + (low + less - turns_low + factor_low / factor + sign * rest))
