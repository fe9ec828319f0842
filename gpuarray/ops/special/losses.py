"""Huber's loss and the pseudo-Huber loss."""

from typing import Final

from gpuarray.ops.special.bessel import root_words
from gpuarray.ops.special.double_word import product, quotient
from gpuarray.ops.vocabulary import *

#: Beyond this ratio v the sum 1 + v * v is v * v.
STEEP: Final = constant(1e9, 1e18)
#: Numbers below SMALL and beyond LARGE are scaled up and down by these powers of 2.
SCANT: Final = constant(1e-6, 1e-90)
FAR: Final = constant(1e15, 1e100)
UP: Final = constant(64.0, 800.0)
DOWN: Final = constant(-64.0, -800.0)


@formula
def huber(delta: Real, r: Real) -> Real:
    """Huber's loss: r * r / 2 up to delta, and a straight line beyond."""
    if is_negative(delta):
        return nan() if isnan(delta) else infinity()
    if isnan(delta) or isnan(r):
        return nan()
    a = absolute(r)
    if a <= delta:
        return gradual_multiply(shifted(a, -1), a)
    return 0.0 if is_zero(delta) else gradual_multiply(delta, subtract(a, shifted(delta, -1)))


@formula
def pseudo_huber(delta: Real, r: Real) -> Real:
    """Pseudo-Huber loss, delta**2 * (sqrt(1 + (r / delta)**2) - 1)."""
    if is_negative(delta):
        return nan() if isnan(delta) else infinity()
    if isnan(delta) or isnan(r):
        return nan()
    a = absolute(r)
    if is_zero(delta) or is_zero(r):
        return 0.0
    if isinf(a):
        return a
    v = divide(a, delta)
    if v > STEEP:
        return gradual_multiply(delta, a)
    # a * a / (1 + sqrt(1 + v * v)), with a scaled so that its square neither overflows nor underflows
    square, lost = product(v, 0.0, v, 0.0)
    h, h_low = two_sum(1.0, square)
    root, root_low = root_words(h)
    d, d_low = two_sum(1.0, root)
    n = UP if a < SCANT else (DOWN if a > FAR else 0.0)
    m = scaled(a, n)
    q, q_low = quotient(m, 0.0, d, d_low + (root_low + 0.5 * (h_low + lost) / root))
    p, p_low = product(q, q_low, m, 0.0)
    return scaled(add(p, p_low), -2.0 * n)
