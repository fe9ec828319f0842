"""Double-word arithmetic, with exponentials and logarithms of double words.

A *double word* ``x, x_low`` is the unevaluated sum of a floating number and a much smaller one, which holds its
rounding error (Dekker, Numerische Mathematik 18, 1971). A *triple word* has a third part. Formulas carry intermediate
results as double words where errors of a few units would add up, and round the final result once.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.vocabulary import *

#: Products for exponents are limited to this magnitude, at which exp is 0 or infinite.
BOUND: Final = constant(1e4, 1e5)
#: Below this ``log(1 + x) - x`` is a short series.
SLIGHT: Final = constant(1e-3, 1e-6)
INVERSE_LN2: Final = 1.4426950408889634
#: Beyond this exp is infinite or 0, whatever it is multiplied by, even a factorial.
EXP_LIMIT: Final = constant(260.0, 1500.0)


@formula
def exp_words(high: Real, low: Real) -> Triple:
    """``exp(high + low)`` as ``(a + b) * 2**n`` with a near 1 and an integral n."""
    bounded = EXP_LIMIT if high > EXP_LIMIT else (-EXP_LIMIT if high < -EXP_LIMIT else high)
    n = rint(bounded * INVERSE_LN2)
    first, rest = two_sum(opaque(bounded - n * tables.LOG_2_SHORT), low - n * tables.LOG_2_REST)
    one, less = fast_two_sum(1.0, first)
    whole, left = fast_two_sum(one, less + expm1_rest(first, rest))
    return whole, left, n


@formula
def exp_times(x: Real, factor: Real) -> Real:
    """``exp(x) * factor``, almost correctly rounded, for a factor of moderate size."""
    a, b, n = exp_words(x, 0.0)
    product, lost = two_product(a, factor)
    return scaled(add(product, lost + b * factor), n)


@formula
def log1p_near_words(f: Real, f_low: Real) -> Triple:
    """``log(1 + f + f_low)`` for -0.3 <= f <= 0.42 as a triple word, the sum of whose first two parts is exact."""
    # s = f / (2 + f) as a double word
    whole, whole_low = fast_two_sum(2.0, f)
    s = f / whole
    taken, taken_low = two_product(s, whole)
    s_low = (((opaque(f - taken) - taken_low) + f_low) - s * (whole_low + f_low)) / whole
    # 2 s + 2/3 s**3 + ...
    z, z_low = two_product(s, s)
    cube, cube_low = two_product(s, z)
    third, third_low = two_product(cube, tables.TWO_THIRDS)
    rest = third_low + cube * tables.TWO_THIRDS_LOW + (cube_low + s * z_low) * tables.TWO_THIRDS
    rest = rest + cube * z * tables.log_pair_series(z) + s_low * (2.0 + 2.0 * z)
    sum_, sum_low = two_sum(2.0 * s, third)
    return sum_, sum_low, rest


@formula
def log1p_less(f: Real, f_low: Real) -> Pair:
    """``log(1 + f + f_low) - f - f_low`` for |f| <= 0.28 as a double word, accurate relative to the difference."""
    if absolute(f) < SLIGHT:
        p, p_low = product(f, f_low, f, f_low)
        return -0.5 * p, 0.5 * (p * f * (tables.TWO_THIRDS - f * (0.5 - f * 0.4)) - p_low)
    high, middle, low = log1p_near_words(f, f_low)
    total, lost = two_sum(high, -f)
    return total, lost + ((middle + low) - f_low)


@formula
def bounded_product(x: Real, x_low: Real, y: Real, y_low: Real) -> Pair:
    """``(x + x_low) * (y + y_low)`` as a double word, limited to BOUND, for exponents."""
    f = x * y
    if absolute(f) > BOUND:
        return copysign(BOUND, f), 0.0
    p, p_low = product(x, x_low, y, y_low)
    return p, p_low


@formula
def log_words(x: Real) -> Pair:
    """``log(x)`` for positive finite x as a double word."""
    k: Integer = log_exponent(x)
    n = real(k)
    a, b, c = log1p_near_words(log_fraction(x, k), 0.0)
    total, lost = two_sum(n * tables.LOG_2_SHORT, a)
    return fast_two_sum(total, lost + (b + (c + n * tables.LOG_2_REST)))


@formula
def quotient(x: Real, x_low: Real, y: Real, y_low: Real) -> Pair:
    """``(x + x_low) / (y + y_low)`` as a double word, for y far from overflow and underflow.

    The high part is the device's own quotient, which need not be correctly rounded: a correctly rounded one takes ten
    times as much code.
    """
    q = x / y
    taken, taken_low = two_product(q, y)
    return q, ((subtract(x, taken) - taken_low) + (x_low - q * y_low)) / y


@formula
def product(x: Real, x_low: Real, y: Real, y_low: Real) -> Pair:
    """``(x + x_low) * (y + y_low)`` as a double word."""
    p, p_low = two_product(x, y)
    return p, p_low + (x * y_low + x_low * y)
