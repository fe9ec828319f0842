"""The logarithm of the gamma function, and its derivative, at negative arguments, where they cross 0 between poles.

Large terms cancel near the zeros: at the float32 number nearest to one, 7e-9 is left of terms of 5. So all terms are
double words, and the large ones of the derivative triple words. An argument is ``d - n`` with an integer n and
|d| <= 1/2. At 1 + d the functions are power series whose coefficients are values of the Riemann zeta function minus 1
(DLMF 5.7.3, 5.7.4), plus the terms of the adjacent poles. From 1 + d the recurrence leads to the argument, with one
factor or one quotient for each step.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import product
from gpuarray.ops.vocabulary import *

#: The largest number of steps of the derivative. Smaller arguments are reflected.
STEPS: Final = constant(8.0, 16.0)
#: The largest number of quotients, with those of the two poles next to d.
WAY: Final = constant(10, 18)
#: The smallest argument of the logarithm, and its largest number of factors.
LOWEST: Final = -20.0
FACTORS: Final = 21
#: log(2) minus its double word.
LOG_2_LAST: Final = constant(-8.783184e-17, 5.707708438416212e-34)


@formula
def term_before(c: Real, c_low: Real, z: Real, z_low: Real, s: Real, s_low: Real) -> Pair:
    """``c + z s`` for double words, where the second term is much smaller than the first."""
    p, p_low = product(s, s_low, z, z_low)
    whole, lost = fast_two_sum(c, p)
    return whole, lost + (p_low + c_low)


@formula
def add_words(high: Real, middle: Real, low: Real, term: Real, term_low: Real) -> Triple:
    """``high + middle + low + term + term_low`` as a triple word; the first two parts are exact."""
    total, lost = two_sum(high, term)
    second, less = two_sum(middle, lost)
    second, left = two_sum(second, term_low)
    return total, second, low + (less + left)


@formula
def careful_quotient(x: Real, x_low: Real, y: Real, y_low: Real) -> Triple:
    """``(x + x_low) / (y + y_low)`` as a triple word, whatever the error of the device's quotients."""
    q = x / y
    p, p_low = two_product(q, y)
    q = add(q, (subtract(x, p) - p_low) / y)
    p, p_low = two_product(q, y)
    # exact if the low parts are 0, because q is now almost correctly rounded
    left = (subtract(x, p) - p_low) + (x_low - q * y_low)
    second = left / y
    p, p_low = two_product(second, y)
    return q, second, ((subtract(left, p) - p_low) - second * y_low) / y


@formula
def log_of_words(u: Real, u_low: Real) -> Triple:
    """``log(u + u_low)`` for positive numbers as a triple word, accurate to a double word."""
    k: Integer = log_exponent(u)
    f = log_fraction(u, k)
    f_low = shifted(u_low, -k)
    w, w_low = two_sum(2.0, f)
    s, s_next, s_last = careful_quotient(f, f_low, w, w_low + f_low)
    s_low = s_next + s_last
    z, z_low = product(s, s_low, s, s_low)
    # 2 s (1 + z/3 + z**2/5 + ...)
    t = 0.047619047619047616 + z * 0.043478260869565216
    t = 0.058823529411764705 + z * (0.05263157894736842 + z * t)
    t = 0.09090909090909091 + z * (0.07692307692307693 + z * (0.06666666666666667 + z * t))
    p, low = fast_two_sum(tables.NINTH, tables.NINTH_LOW + z * t)
    p, low = term_before(tables.SEVENTH, tables.SEVENTH_LOW, z, z_low, p, low)
    p, low = term_before(tables.FIFTH, tables.FIFTH_LOW, z, z_low, p, low)
    p, low = term_before(tables.THIRD, tables.THIRD_LOW, z, z_low, p, low)
    p, low = product(p, low, z, z_low)
    p, low = product(p, low, 2.0 * s, 2.0 * s_low)
    high, middle, rest = add_words(2.0 * s, 2.0 * s_next, 2.0 * s_last, p, low)
    n = real(k)
    v, v_low = two_product(n, tables.LOG_2)
    high, middle, rest = add_words(high, middle, rest + n * LOG_2_LAST, v, v_low)
    v, v_low = two_product(n, tables.LOG_2_LOW)
    middle, lost = two_sum(middle, v)
    return high, middle, rest + (lost + v_low)


@formula
def psi_odd_part(d: Real, z: Real, z_low: Real) -> Triple:
    """Return the odd part of ``psi(1 + d) + 1 / (1 + d)`` as a triple word, for z = d * d <= 1/4."""
    s, low = fast_two_sum(tables.ZETA_12, tables.ZETA_12_LOW + z * tables.psi_even_series(z))
    s, low = term_before(tables.ZETA_10, tables.ZETA_10_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_8, tables.ZETA_8_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_6, tables.ZETA_6_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_4, tables.ZETA_4_LOW, z, z_low, s, low)
    s, low = product(s, low, z, z_low)
    s, low = product(s, low, d, 0.0)
    p, p_low = two_product(tables.ZETA_2, d)
    high, middle, rest = add_words(p, p_low, tables.ZETA_2_LOW * d, s, low)
    return high, middle, rest


@formula
def psi_even_part(z: Real, z_low: Real) -> Pair:
    """Return the even part of ``psi(1 + d) + 1 / (1 + d)`` as a double word."""
    s, low = fast_two_sum(tables.ZETA_13, tables.ZETA_13_LOW + z * tables.psi_odd_series(z))
    s, low = term_before(tables.ZETA_11, tables.ZETA_11_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_9, tables.ZETA_9_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_7, tables.ZETA_7_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_5, tables.ZETA_5_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_3, tables.ZETA_3_LOW, z, z_low, s, low)
    s, low = term_before(tables.EULER_REST, tables.EULER_REST_LOW, -z, -z_low, s, low)
    return s, low


@formula
def psi_far(x: Real, x_low: Real) -> Triple:
    """``psi(x + x_low)`` for x >= 9 (17 in double precision) as a triple word."""
    high, middle, low = log_of_words(x, x_low)
    r, r_next, r_last = careful_quotient(1.0, 0.0, x, x_low)
    r_low = r_next + r_last
    w, w_low = product(r, r_low, r, r_low)
    v, v_low = product(w, w_low, tables.TWELFTH, tables.TWELFTH_LOW)
    t = 0.0210927960927961 - w * 0.08333333333333333
    t = 0.007575757575757576 - w * t
    t = 0.004166666666666667 - w * t
    t = 0.003968253968253968 - w * t
    t = w * w * (0.008333333333333333 - w * t)
    high, middle, low = add_words(high, middle, low, -0.5 * r, -0.5 * r_low)
    high, middle, low = add_words(high, middle, low, -v, t - v_low)
    return high, middle, low


@formula
def digamma_below(x: Real) -> Real:
    """Logarithmic derivative of the gamma function for finite x <= -1/4 that is no integer."""
    nearest = rint(x)
    d = subtract(x, nearest)
    z, z_low = two_product(d, d)
    odd, odd_next, odd_low = psi_odd_part(d, z, z_low)
    last = -nearest
    if last > STEPS:
        # psi(1 - x) - pi / tan(pi x); the odd part is half of the second term without its poles
        y, y_low = two_sum(1.0, -x)
        high, middle, low = psi_far(y, y_low)
        high, middle, low = add_words(high, middle, low + 2.0 * odd_low, 2.0 * odd, 2.0 * odd_next)
        last = 1.0
    else:
        even, even_low = psi_even_part(z, z_low)
        high, middle, low = add_words(even, even_low, odd_low, odd, odd_next)
    k = -1.0
    for _k in range(WAY):
        if k > last:
            break
        w, w_low = two_sum(d, -k)
        q, q_next, q_low = careful_quotient(1.0, 0.0, w, w_low)
        high, middle, low = add_words(high, middle, low - q_low, -q, -q_next)
        k = k + 1.0
    total, lost = two_sum(high, middle)
    return add(total, lost + low)


@formula
def gammaln_below(x: Real) -> Real:
    """Logarithm of the absolute value of the gamma function for LOWEST <= x < 0 that is no pole."""
    nearest = rint(x)
    d = subtract(x, nearest)
    z, z_low = two_product(d, d)
    s, low = fast_two_sum(tables.ZETA_OVER_13, tables.ZETA_OVER_13_LOW + z * tables.lgamma_odd_series(z))
    s, low = term_before(tables.ZETA_OVER_11, tables.ZETA_OVER_11_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_9, tables.ZETA_OVER_9_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_7, tables.ZETA_OVER_7_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_5, tables.ZETA_OVER_5_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_3, tables.ZETA_OVER_3_LOW, z, z_low, s, low)
    s, low = term_before(tables.EULER_REST, tables.EULER_REST_LOW, -z, -z_low, s, low)
    odd, odd_low = product(s, low, d, 0.0)
    s, low = fast_two_sum(tables.ZETA_OVER_12, tables.ZETA_OVER_12_LOW + z * tables.lgamma_even_series(z))
    s, low = term_before(tables.ZETA_OVER_10, tables.ZETA_OVER_10_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_8, tables.ZETA_OVER_8_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_6, tables.ZETA_OVER_6_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_4, tables.ZETA_OVER_4_LOW, z, z_low, s, low)
    s, low = term_before(tables.ZETA_OVER_2, tables.ZETA_OVER_2_LOW, z, z_low, s, low)
    even, even_low = product(s, low, z, z_low)
    # the product of 1 + d, d, d - 1, ... and x
    u, u_low = two_sum(1.0, d)
    k = 0.0
    for _k in range(FACTORS):
        if k > -nearest:
            break
        w, w_low = two_sum(d, -k)
        u, u_low = product(u, u_low, w, w_low)
        k = k + 1.0
    high, high_low, _rest = log_of_words(absolute(u), u_low if u > 0.0 else -u_low)
    total, lost = two_sum(odd, -high)
    total, more = two_sum(total, even)
    return add(total, lost + more + (odd_low + even_low - high_low))
