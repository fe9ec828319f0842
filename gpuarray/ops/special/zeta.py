"""Hurwitz' zeta function (DLMF 25.11).

A few terms are summed directly; the Euler-Maclaurin formula gives the rest. All terms are positive.
"""

from typing import Final

from gpuarray.ops.special.double_word import EXP_LIMIT, exp_words, log_words, product, quotient
from gpuarray.ops.vocabulary import *

#: From here on, after at least as many terms, the Euler-Maclaurin formula is accurate.
NEAR: Final = constant(10.0, 16.0)
#: The largest number of terms before it, and the smallest q that they reach; smaller q give NaN.
STEPS: Final = constant(1022, 1034)
LOWEST: Final = -1000.0
#: From this q and this exponent on the formula is accurate without a term before it.
FAR: Final = constant(40.0, 100.0)
STEEP: Final = constant(2.0, 6.0)
#: Terms below this power of 2 are scaled up to it; the integral is larger than a term.
UP: Final = 64.0
#: The largest number of bits of an integral exponent.
BITS: Final = constant(128, 1024)


@formula
def zeta_rest(x: Real, r: Real) -> Real:
    """Return the terms of the Euler-Maclaurin formula after the integral and half a term, for 1/r >= NEAR."""
    z = r * r
    # Bernoulli numbers over factorials, and the factors of rising factorials of x
    t = -5.284190138687493e-10 * ((x + 9.0) * (x + 10.0) * z)
    t = (2.08767569878681e-08 + t) * ((x + 7.0) * (x + 8.0) * z)
    t = (-8.267195767195767e-07 + t) * ((x + 5.0) * (x + 6.0) * z)
    t = (3.306878306878307e-05 + t) * ((x + 3.0) * (x + 4.0) * z)
    t = (-0.001388888888888889 + t) * ((x + 1.0) * (x + 2.0) * z)
    return (0.08333333333333333 + t) * (x * z)


@formula
def whole_power(w: Real, w_low: Real, x: Real) -> Pair:
    """``abs(w + w_low)**(-x)`` for integral x > 0 as a double word, by repeated squaring."""
    p = 1.0
    p_low = 0.0
    b, b_low = quotient(1.0, 0.0, absolute(w), w_low if w > 0.0 else -w_low)
    left = x
    for _k in range(BITS):
        if left < 1.0:
            break
        half = floor(0.5 * left)
        if left != 2.0 * half:
            p, p_low = product(p, p_low, b, b_low)
        b, b_low = product(b, b_low, b, b_low)
        left = half
    return p, p_low


@formula
def zeta_term(w: Real, w_low: Real, x: Real, is_whole: Truth) -> Triple:
    """``abs(w + w_low)**(-x)`` as ``(a + b) * 2**n``.

    For integral x, terms on both sides of 0 cancel, so the result has the accuracy of a double word. For other x it
    has a few digits more than a single number.
    """
    if is_whole:
        p, p_low = whole_power(w, w_low, x)
        return p, p_low, 0.0
    high, low = log_words(w)
    e, e_low = product(-x, 0.0, high, low + w_low / w)
    if absolute(e) > EXP_LIMIT:
        return (0.0 if e < 0.0 else infinity()), 0.0, 0.0
    a, b, n = exp_words(e, e_low)
    return a, b, n


@formula
def zeta_words(x: Real, q: Real) -> Triple:
    """``zeta(x, q)`` for x > 1 and finite q that is neither 0 nor a negative integer, as ``(a + b) * 2**-n``."""
    is_whole = q < 0.0
    # the sign of terms with negative w
    sign = -1.0 if x != 2.0 * floor(0.5 * x) else 1.0
    total = 0.0
    low = 0.0
    k = 0.0
    w = q
    w_low = 0.0
    a = 1.0
    b = 0.0
    n = 0.0
    p = 0.0
    up = 0.0
    for _k in range(STEPS):
        a, b, n = zeta_term(w, w_low, x, is_whole)
        # scaled, if any term may be subnormal
        up = -n - UP if k == 0.0 and n < -UP else up
        p = scaled(a, n + up)
        # the sum also ends where the rest is negligible
        is_far = (k >= NEAR and w >= (2.0 * NEAR if is_whole else NEAR)) or (w >= FAR and w >= STEEP * x)
        if (w > 0.0 and (is_far or p == 0.0)) or isinf(p):
            break
        total, lost = two_sum(total, sign * p if w < 0.0 else p)
        p_low = scaled(b, n + up)
        low = low + (lost + (sign * p_low if w < 0.0 else p_low))
        k = k + 1.0
        w, w_low = two_sum(q, k)
    if isinf(p):
        return (sign * p if is_whole and q < rint(q) else p), 0.0, 0.0
    if a == 0.0:
        return total, low, up
    # the integral and the remainder, divided by the first term that is not summed
    e: Integer = log_exponent(w)
    d, d_low = quotient(1.0, 0.0, subtract(x, 1.0), 0.0)
    r, r_low = quotient(0.5, 0.0, w, w_low)
    f, f_low = two_sum(d, r)
    f, lost = two_sum(f, zeta_rest(x, 2.0 * r))
    g, g_low = product(shifted(w, -e), shifted(w_low, -e), f, lost + (f_low + d_low + r_low))
    g, g_low = product(g, g_low, a, b)
    n = n + up + real(e)
    whole, lost = two_sum(total, scaled(g, n))
    return whole, lost + (low + scaled(g_low, n)), up


@formula
def zeta(x: Real, q: Real) -> Real:
    """Hurwitz' zeta function; q may be negative down to -1000 if x is an integer."""
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
    # for odd x, terms at equal distances from 0 cancel
    cancels = q < 0.0 and subtract(q, floor(q)) == 0.5 and x != 2.0 * floor(0.5 * x)
    a, b, n = zeta_words(x, subtract(1.0, q) if cancels else q)
    value = scaled(add(a, b), -n)
    return absolute(value) if q > 0.0 else value
