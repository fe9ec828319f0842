"""The Box-Cox transformations and their inverses (Box and Cox, J. Royal Statistical Society B 26, 1964)."""

from typing import Final

from gpuarray.ops.special.double_word import EXP_LIMIT, exp_words, log1p_near_words, log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: Up to the first, exp(x) - 1 is a series; from the second on, it is exp(x).
NEAR: Final = 0.34
APART: Final = 40.0
#: Below this exponent the transformation is a logarithm.
MINUTE: Final = constant(1e-11, 1e-20)
#: Exponents beyond this are scaled down.
FAR: Final = constant(1e19, 1e100)
#: Numbers below this are scaled up.
SCANT: Final = constant(1e-30, 1e-290)


@formula
def log1p_words(x: Real, x_low: Real) -> Pair:
    """``log(1 + x + x_low)`` for finite x > -1 as a double word."""
    if x > -0.3 and x < 0.4:
        a, b, c = log1p_near_words(x, x_low)
        return fast_two_sum(a, b + c)
    first, lost = two_sum(1.0, x)
    whole, rest = two_sum(first, lost + x_low)
    high, low = log_words(whole)
    return high, low + rest / whole


@formula
def expm1_over(high: Real, low: Real, divisor: Real, up: Integer) -> Real:
    """``(exp(high + low) - 1) / divisor * 2**up`` for |high| <= EXP_LIMIT."""
    if absolute(high) < NEAR:
        first, rest = fast_two_sum(high, expm1_rest(high, low))
        q, q_low = quotient(first, rest, divisor, 0.0)
        return shifted(add(q, q_low), up)
    a, b, n = exp_words(high, low)
    if high > APART:
        f, f_low = quotient(a, b, divisor, 0.0)
        return scaled(add(f, f_low), n + real(up))
    whole, lost = two_sum(scaled(a, n), -1.0)
    g, g_low = quotient(whole, lost + scaled(b, n), divisor, 0.0)
    return shifted(add(g, g_low), up)


@formula
def boxcox_of(high: Real, low: Real, lmbda: Real) -> Real:
    """Return the transformation of x, given log(x) as a double word."""
    t = lmbda * high
    if absolute(t) < MINUTE:
        return add(high, low)
    if isinf(high) or absolute(t) > EXP_LIMIT:
        return copysign(infinity(), lmbda) if t > 0.0 else divide(-1.0, lmbda)
    p, p_low = product(lmbda, 0.0, high, low)
    return expm1_over(p, p_low, lmbda, 0)


@formula
def boxcox(x: Real, lmbda: Real) -> Real:
    """Box-Cox transformation, ``(x**lmbda - 1) / lmbda``; log(x) where lmbda is 0."""
    if isnan(x) or isnan(lmbda) or is_negative(x):
        return nan()
    if is_zero(x) or isinf(x):
        end = infinity() if isinf(x) else -infinity()
        return end if is_zero(lmbda) else boxcox_of(end, 0.0, lmbda)
    high, low = log_words(x)
    return boxcox_of(high, low, lmbda)


@formula
def boxcox1p(x: Real, lmbda: Real) -> Real:
    """Box-Cox transformation of 1 + x, ``((1 + x)**lmbda - 1) / lmbda``; log(1 + x) where lmbda is 0."""
    if isnan(x) or isnan(lmbda) or x < -1.0:
        return nan()
    if x == -1.0 or isinf(x):
        end = infinity() if isinf(x) else -infinity()
        return end if is_zero(lmbda) else boxcox_of(end, 0.0, lmbda)
    if isinf(lmbda) and not is_zero(x):
        return boxcox_of(copysign(1.0, x), 0.0, lmbda)
    if absolute(x) < SCANT:
        # scaled, because x may be subnormal
        v = shifted(lmbda, -64)
        p, p_low = product(v, 0.0, shifted(x, 64), 0.0)
        if absolute(p) < MINUTE:
            return x
        if absolute(p) < EXP_LIMIT:
            return expm1_over(p, p_low, v, -64)
    high, low = log1p_words(x, 0.0)
    return boxcox_of(high, low, lmbda)


@formula
def is_slight(x: Real, lmbda: Real) -> Truth:
    """Return whether the inverse of the transformation is exp(x)."""
    return is_zero(lmbda) or absolute(lmbda * x) < MINUTE


@formula
def inverse_exponent(x: Real, lmbda: Real) -> Pair:
    """``log(1 + lmbda x) / lmbda`` as a double word."""
    if is_slight(x, lmbda):
        return x, 0.0
    # a large exponent is scaled down: x may be too small for a double word
    n: Integer = -64 if absolute(lmbda) > FAR else 0
    t, t_low = product(shifted(lmbda, n), 0.0, shifted(x, -n), 0.0)
    if t < -1.0 or (t == -1.0 and t_low <= 0.0) or isinf(x):
        return (nan() if t < -1.0 else copysign(infinity(), t) * copysign(1.0, lmbda)), 0.0
    # if the product overflows, the logarithms of the factors' roots: their rounding is negligible beside the logarithm
    far = isinf(t)
    root = sqrt(absolute(lmbda)) * sqrt(absolute(x))
    high, low = log1p_words(root if far else t, 0.0 if far else t_low)
    q, q_low = quotient(2.0 * high if far else high, 2.0 * low if far else low, shifted(lmbda, n), 0.0)
    if n == 0:
        return q, q_low
    # added before the scaling, after which the low part may be subnormal and flushed
    whole, rest = fast_two_sum(q, q_low)
    return shifted(whole, n), shifted(rest, n)


@formula
def inv_boxcox(x: Real, lmbda: Real) -> Real:
    """Inverse of the Box-Cox transformation."""
    if isnan(x) or isnan(lmbda) or isinf(lmbda):
        return nan()
    e, e_low = inverse_exponent(x, lmbda)
    if isnan(e) or absolute(e) > EXP_LIMIT:
        return e if isnan(e) else (infinity() if e > 0.0 else 0.0)
    a, b, n = exp_words(e, e_low)
    return scaled(add(a, b), n)


@formula
def inv_boxcox1p(x: Real, lmbda: Real) -> Real:
    """Inverse of the Box-Cox transformation of 1 + x."""
    if isnan(x) or isnan(lmbda) or isinf(lmbda):
        return nan()
    e, e_low = inverse_exponent(x, lmbda)
    if isnan(e) or absolute(e) > EXP_LIMIT:
        return e if isnan(e) else (infinity() if e > 0.0 else -1.0)
    if absolute(e) < MINUTE:
        return e if e_low == 0.0 else add(e, e_low)
    return expm1_over(e, e_low, 1.0, 0)
