"""Hurwitz' zeta function.

A few terms of the sum itself, and Euler and Maclaurin's formula for what is left of it. All of that is positive.
"""

from typing import Final

from gpuarray.ops.formula import (
    Integer,
    Real,
    add,
    constant,
    floor,
    formula,
    infinity,
    isinf,
    isnan,
    nan,
    power,
    shifted,
    subtract,
    two_sum,
)
from gpuarray.ops.special.parts import product, quotient

#: From here on the formula is right, after as many steps at least.
NEAR: Final = 10.0
#: The most steps that lead there, and below what numbers have no value therefore.
STEPS: Final = 1012
LOWEST: Final = -1000.0
#: From here on, and from so many exponents on, it is so without a step.
FAR: Final = constant(40.0, 100.0)
STEEP: Final = constant(2.0, 6.0)
#: Below it terms are scaled up.
SCANT: Final = 1e-18


@formula
def zeta_rest(x: Real, w: Real) -> Real:
    """Return the sum of ``(w + k)**(-x)`` over ``w**(1 - x)``, but for the integral; of w from NEAR on."""
    r = 1.0 / w
    z = r * r
    # Bernoulli's numbers over factorials, and the steps of rising factorials of x
    t = -5.284190138687493e-10 * ((x + 9.0) * (x + 10.0) * z)
    t = (2.08767569878681e-08 + t) * ((x + 7.0) * (x + 8.0) * z)
    t = (-8.267195767195767e-07 + t) * ((x + 5.0) * (x + 6.0) * z)
    t = (3.306878306878307e-05 + t) * ((x + 3.0) * (x + 4.0) * z)
    t = (-0.001388888888888889 + t) * ((x + 1.0) * (x + 2.0) * z)
    return r * (0.5 + (0.08333333333333333 + t) * (x * r))


@formula
def zeta_sum(x: Real, q: Real) -> Real:
    """``zeta(x, q)`` of x > 1, of finite q that is neither 0 nor a negative integer."""
    total = 0.0
    low = 0.0
    k = 0.0
    w = q
    w_low = 0.0
    p = power(q, -x)
    # of multiples, if any term may be subnormal
    n: Integer = 64 if q > 0.0 and p < SCANT else 0
    p = shifted(p, n)
    for _k in range(STEPS):
        # no more is added where the rest is nothing, either
        is_far = (k >= NEAR and w >= NEAR) or (w >= FAR and w >= STEEP * x)
        if w > 0.0 and (is_far or p == 0.0 or isinf(p)):
            break
        total, lost = two_sum(total, p)
        low = low + lost - p * (x * w_low / w)
        k = k + 1.0
        w, w_low = two_sum(q, k)
        p = shifted(power(w, -x), n)
    if isinf(total) or isinf(p):
        return p if isinf(p) else total
    # the integral, and what is left beside it
    e, e_low = quotient(1.0, 0.0, subtract(x, 1.0), 0.0)
    f, f_low = two_sum(e, zeta_rest(x, w))
    p = shifted(power(w, 1.0 - x), n)
    if p == 0.0:
        return shifted(add(total, low), -n)
    g, g_low = product(p, p * ((1.0 - x) * w_low / w), f, f_low + e_low)
    whole, lost = two_sum(total, g)
    return shifted(add(whole, lost + (low + g_low)), -n)


@formula
def zeta(x: Real, q: Real) -> Real:
    """Hurwitz' zeta function; of q below 0 where x is integral, and down to -1000."""
    if isnan(x) or isnan(q) or x < 1.0:
        return nan()
    if x == 1.0:
        return infinity()
    if not q > 0.0:
        if q == floor(q):
            return infinity()
        if x != floor(x) or q < LOWEST:
            return nan()
    if isinf(q):
        return 0.0
    if isinf(x):
        return 1.0 if q == 1.0 else (0.0 if q > 1.0 else infinity())
    return zeta_sum(x, q)
