"""Huber's loss, and its smooth relative."""

from typing import Final

from gpuarray.ops.formula import (
    Real,
    absolute,
    divide,
    formula,
    gradual_multiply,
    infinity,
    is_negative,
    is_zero,
    isinf,
    isnan,
    nan,
    shifted,
    sqrt,
    subtract,
)

#: A ratio whose square is so much larger than 1 that the root of their sum is the ratio.
STEEP: Final = 1e9


@formula
def huber(delta: Real, r: Real) -> Real:
    """Huber's loss: r * r / 2 up to delta, and a line beyond."""
    if isnan(delta) or isnan(r):
        return nan()
    if is_negative(delta):
        return infinity()
    a = absolute(r)
    if a <= delta:
        return gradual_multiply(shifted(a, -1), a)
    return 0.0 if is_zero(delta) else gradual_multiply(delta, subtract(a, shifted(delta, -1)))


@formula
def pseudo_huber(delta: Real, r: Real) -> Real:
    """Smooth relative of Huber's loss, delta**2 * (sqrt(1 + (r / delta)**2) - 1)."""
    if isnan(delta) or isnan(r):
        return nan()
    if is_negative(delta):
        return infinity()
    a = absolute(r)
    if is_zero(delta) or is_zero(r):
        return 0.0
    if isinf(a):
        return a
    v = divide(a, delta)
    if v > STEEP:
        return gradual_multiply(delta, a)
    return gradual_multiply(a, divide(a, 1.0 + sqrt(1.0 + v * v)))
