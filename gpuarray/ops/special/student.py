"""Student's t distribution, which is made of the incomplete beta function (DLMF 8.17)."""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.bessel import root_words
from gpuarray.ops.special.double_word import bounded_product, exp_words, log_words, product, quotient
from gpuarray.ops.special.incomplete_beta import TINY, beta_share
from gpuarray.ops.vocabulary import *

#: The largest number of degrees of freedom that matters; from which t on it is scaled down
#: by which power of 2; and the range outside which the distribution is 1/2 or a power of t.
NORMAL: Final = constant(1e13, 1e25)
LARGE: Final = constant(1e18, 1e150)
BIG: Final = constant(64.0, 512.0)
LEVEL: Final = constant(1e-16, 1e-32)
STEEP: Final = constant(1e11, 1e100)


@formula
def stdtr(df: Real, t: Real) -> Real:
    """Distribution function of Student's t distribution with df degrees of freedom."""
    if isnan(t) or isnan(df) or is_negative(df) or is_zero(df):
        return nan()
    if isinf(t):
        return 1.0 if t > 0.0 else 0.0
    # t / sqrt(df); more degrees of freedom than this change nothing
    v = NORMAL if df > NORMAL else df
    root, root_low = root_words(v)
    n = BIG if absolute(t) > LARGE else 0.0
    if v < TINY:
        return 0.5
    r, r_low = quotient(scaled(absolute(t), -n), 0.0, root, root_low)
    if r < LEVEL:
        return 0.5
    # from STEEP on the tail is a power
    is_steep = r > STEEP or n > 0.0
    square, square_low = product(STEEP if is_steep else r, 0.0 if is_steep else r_low, STEEP if is_steep else r, 0.0)
    d, d_low = two_sum(1.0, square)
    d_low = d_low + (square_low + (0.0 if is_steep else r * r_low))
    x, x_low = quotient(1.0, 0.0, d, d_low)
    y, y_low = quotient(square, square_low + (0.0 if is_steep else r * r_low), d, d_low)
    tail = 0.5 * beta_share(0.5 * v, 0.5, x, x_low, y, y_low)
    if is_steep:
        far, far_low = quotient(r, r_low, STEEP, 0.0)
        high, low = log_words(far)
        turns, turns_low = product(n, 0.0, tables.LOG_2, tables.LOG_2_LOW)
        total, lost = two_sum(turns, high)
        e, e_low = bounded_product(-v, 0.0, total, lost + (low + turns_low + far_low / far))
        a, b, k = exp_words(e, e_low)
        p, p_low = product(a, b, tail, 0.0)
        tail = scaled(add(p, p_low), k)
    return tail if t < 0.0 else 1.0 - tail
