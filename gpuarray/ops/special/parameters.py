"""Inverses of the incomplete gamma and beta functions by their parameters.

The logarithm of the odds of a probability is a monotonic function of a parameter, which is solved for by secants of it
over the logarithm of the parameter. The solution stays enclosed: where a secant leads out of the interval, or steps
do not become half as long in two rounds, the interval is halved.
"""

from typing import Final

from gpuarray.ops.special import tables
from gpuarray.ops.special.double_word import quotient
from gpuarray.ops.special.incomplete_beta import beta_share
from gpuarray.ops.special.inverses import gamma_tail_share, log_of
from gpuarray.ops.vocabulary import *

#: The most rounds, and the step from which on the next one would change nothing.
ROUNDS: Final = constant(80, 160)
CLOSE: Final = constant(1e-5, 1e-10)
NEAR: Final = 0.1
#: The logarithm of a tail that is not representable.
ABSENT: Final = -3e3
LEAST: Final = constant(1e-30, 1e-100)
MOST: Final = constant(1e30, 1e100)


@formula
def log_odds(tail: Real, n: Real, is_upper: Truth) -> Real:
    """Return the logarithm of the odds of a probability, of which ``tail * 2**n`` is the smaller side or nearly so."""
    e = log_of(tail) + n * tables.LOG_2 if tail > 0.0 else ABSENT
    e = e - log1p(-scaled(tail, n))
    return -e if is_upper else e


@formula
def secant(a: Real, low: Real, high: Real, step: Real, last: Real, older: Real) -> Triple:
    """Return the next parameter, the logarithm of its quotient by this one, and 1 if the search ends.

    ``step`` is that of a secant, ``last`` is the last step, and ``older`` the one before.
    """
    following = a * exp(step) if absolute(step) < 60.0 else 0.0
    is_secant = following > low and following < high and absolute(step) <= 0.5 * absolute(older)
    middle = sqrt(low) * sqrt(high)
    if absolute(step) < CLOSE and absolute(last) < NEAR:
        return a * exp(step), step, 1.0
    return following if is_secant else middle, step if is_secant else log(middle / a), 0.0


@formula
def gamma_order(p: Real, q: Real, x: Real) -> Real:
    """Order of which the regularized incomplete gamma function at x is p = 1 - q."""
    if isnan(p) or isnan(q) or isnan(x) or is_negative(p) or is_negative(q) or is_negative(x) or is_zero(x):
        return nan()
    if is_zero(p) or is_zero(q) or isinf(x):
        return infinity() if is_zero(p) or isinf(x) else 0.0
    level = log_of(p) - log_of(q)
    low = LEAST
    high = MOST
    a = x if x > 1e-3 else 1e-3
    gap = 0.0
    last = 0.0
    step = 0.0
    older = 6.0
    for _k in range(ROUNDS):
        is_upper = x > a
        tail, n = gamma_tail_share(a, x, is_upper)
        gap = log_odds(tail, n, is_upper) - level
        low = a if gap > 0.0 else low
        high = high if gap > 0.0 else a
        slope = (gap - last) / step if absolute(step) > 0.0 else -1.0
        last = gap
        a, following, end = secant(a, low, high, -gap / slope, step, older)
        older = step if absolute(step) > 0.0 else 60.0
        step = following
        if end > 0.0:
            break
    return a


@formula
def beta_parameter(p: Real, q: Real, b: Real, x: Real, y: Real, is_split: Truth, is_moving: Truth) -> Real:
    """Return the first shape a of which the incomplete beta function is p.

    The other one is b, or b - a if it ``is_split``. The position is x = 1 - y, or a / (a + x) if it ``is_moving``.
    """
    level = log_of(p) - log_of(q)
    low = LEAST
    high = b if is_split else MOST
    a = 0.5 * b if is_split else (x if is_moving and x > 1.0 else 1.0)
    gap = 0.0
    last = 0.0
    step = 0.0
    older = 6.0
    for _k in range(ROUNDS):
        other = b - a if is_split else b
        u = x
        u_low = 0.0
        v = y
        v_low = 0.0
        if is_moving:
            u = a
            v = x
        share, share_low = two_sum(u, v)
        u, u_low = quotient(u, 0.0, share, share_low)
        v, v_low = quotient(v, 0.0, share, share_low)
        is_upper = u * (a + other) > a
        tail = beta_share(
            other if is_upper else a,
            a if is_upper else other,
            v if is_upper else u,
            v_low if is_upper else u_low,
            u if is_upper else v,
            u_low if is_upper else v_low,
        )
        gap = log_odds(tail, 0.0, is_upper) - level
        low = a if gap > 0.0 else low
        high = high if gap > 0.0 else a
        slope = (gap - last) / step if absolute(step) > 0.0 else -1.0
        last = gap
        a, following, end = secant(a, low, high, -gap / slope, step, older)
        older = step if absolute(step) > 0.0 else 60.0
        step = following
        if end > 0.0:
            break
    return a


@formula
def is_no_share(p: Real, q: Real) -> Truth:
    """Return whether two numbers are no parts of 1 between 0 and 1."""
    return isnan(p) or isnan(q) or not (p > 0.0 and q > 0.0)


@formula
def beta_shape(p: Real, q: Real, b: Real, x: Real, y: Real) -> Real:
    """First shape of which the regularized incomplete beta function at x = 1 - y, with the second b, is p = 1 - q."""
    if is_no_share(p, q) or is_no_share(x, y) or not b > 0.0 or isinf(b):
        return nan()
    return beta_parameter(p, q, b, x, y, False, False)


@formula
def beta_split(p: Real, q: Real, total: Real, x: Real, y: Real) -> Real:
    """First of two shapes with a sum of which the regularized incomplete beta function at x = 1 - y is p = 1 - q."""
    if is_no_share(p, q) or is_no_share(x, y) or not total > 0.0 or isinf(total):
        return nan()
    return beta_parameter(p, q, total, x, y, True, False)


@formula
def beta_freedom(p: Real, q: Real, b: Real, s: Real) -> Real:
    """First shape a of which the regularized incomplete beta function at a / (a + s), with b, is p = 1 - q."""
    if is_no_share(p, q) or not s > 0.0 or isinf(s):
        return nan()
    return beta_parameter(p, q, b, s, 0.0, False, True)
