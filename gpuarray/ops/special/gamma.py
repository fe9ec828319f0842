"""The gamma function, its logarithm and derivative, and the sine cardinal, which its reflection needs.

Small arguments are moved to [1, 2] by exact steps, whose product is kept in two parts. Beyond 12, Stirling's series is
the exponent, its logarithm in two parts. Negative arguments are reflected, the sine taken at the exact distance from
the nearest integer.
"""

from typing import Final

from gpuarray.ops.formula import (
    Pair,
    Real,
    Triple,
    absolute,
    add,
    constant,
    copysign,
    cos_reduced,
    divide,
    fast_two_sum,
    floor,
    formula,
    infinity,
    is_negative,
    is_zero,
    isinf,
    isnan,
    log,
    multiply,
    nan,
    rint,
    scaled,
    shifted,
    sin_reduced,
    subtract,
    two_product,
    two_sum,
)
from gpuarray.ops.special import series
from gpuarray.ops.special.parts import exp_parts, log_in_parts, product, quotient
from gpuarray.ops.special.series import (
    HALF_LOG_2PI,
    HALF_LOG_2PI_LOW,
    PI,
    PI_LOW,
    PI_SQUARED,
    PI_SQUARED_LOW,
    PSI_ROOT,
    PSI_ROOT_LOW,
)

#: Up to here arguments are moved to [1, 2]; the longest way there.
NEAR: Final = 12.0
#: Below it reflection takes over from products; single precision never comes there before the result is 0.
NEGATIVE: Final = constant(-45.0, -20.0)
#: Below it the logarithm is reflected; above, that of the value keeps its digits where it is near 0.
REFLECTED: Final = -20.0
STEPS: Final = constant(47, 22)
#: Beyond it, the function is infinite or 0.
GAMMA_LIMIT: Final = constant(50.0, 190.0)
MINUTE: Final = constant(1e-9, 1e-18)
#: From here on x - 1/2 is no matter beside x.
VAST: Final = constant(1e10, 1e20)


@formula
def sin_pi_parts(x: Real) -> Triple:
    """``sin(pi x)`` and ``cos(pi x)``; the third number is 0 where the first is."""
    n = rint(2.0 * x)
    r = subtract(x, 0.5 * n)
    high, low = product(r, 0.0, PI, PI_LOW)
    s = sin_reduced(high, low)
    c = cos_reduced(high, low)
    quarter = n - 4.0 * floor(0.25 * n)
    sine = c if quarter == 1.0 or quarter == 3.0 else s
    cosine = s if quarter == 1.0 or quarter == 3.0 else c
    return (
        -sine if quarter >= 2.0 else sine,
        -cosine if quarter == 1.0 or quarter == 2.0 else cosine,
        r if quarter == 0.0 or quarter == 2.0 else 1.0,
    )


@formula
def sinc(x: Real) -> Real:
    """sin(pi x) / (pi x)."""
    if isinf(x):
        return nan()
    if isnan(x):
        return x
    if absolute(x) < MINUTE or absolute(x) > VAST:
        return 1.0 if absolute(x) < 1.0 else 0.0
    s, _c, zero = sin_pi_parts(x)
    if zero == 0.0:
        return 0.0
    high, low = product(x, 0.0, PI, PI_LOW)
    q, rest = quotient(s, 0.0, high, low)
    return add(q, rest)


@formula
def stirling_of_log(x: Real, high: Real, low: Real) -> Pair:
    """``log(gamma(x))`` of x >= 9, below the vast ones, in two parts, from those of ``log(x)``."""
    # (x - 1/2) (log(x) - 1) - 1/2 + log(2 pi)/2 + ...
    first, rest = two_sum(high, -1.0)
    p, p_low = product(subtract(x, 0.5), 0.0, first, rest + low)
    total, lost = two_sum(p, HALF_LOG_2PI - 0.5)
    return total, lost + (p_low + (HALF_LOG_2PI_LOW + series.stirling_series(1.0 / (x * x)) / x))


@formula
def stirling_exponent(x: Real) -> Pair:
    """``log(gamma(x))`` of x >= 9, below the vast ones, in two parts."""
    high, low = log_in_parts(x)
    return stirling_of_log(x, high, low)


GAMMA_FIRST: Final = series.gamma_series.first
gamma_rest = series.gamma_series.rest()


@formula
def gamma_by_steps(x: Real) -> Triple:
    """``gamma(x)`` of x within reach of [1, 2] as ``(a + b) * 2**n``."""
    # the product of the steps, each an eighth of what it should be
    p = 1.0
    p_low = 0.0
    n = 0.0
    y = x
    for _k in range(STEPS):
        if y >= 1.0 and y <= 2.0:
            break
        y = subtract(y, 1.0) if x > 1.0 else y
        p, p_low = product(p, p_low, 0.125 * y, 0.0)
        y = y if x > 1.0 else add(y, 1.0)
        n = n + 3.0
    g, g_low = fast_two_sum(GAMMA_FIRST, gamma_rest(y - 1.5))
    if x > 1.0:
        a, b = product(p, p_low, g, g_low)
        return a, b, n
    a, b = quotient(g, g_low, p, p_low)
    return a, b, -n


@formula
def gamma_parts(x: Real) -> Triple:
    """``gamma(x)`` of finite x that is no pole as ``(a + b) * 2**n``."""
    if x > NEAR or x < NEGATIVE:
        t = absolute(x)
        high, low = stirling_exponent(GAMMA_LIMIT if t > GAMMA_LIMIT else t)
        a, b, n = exp_parts(high if x > 0.0 else -high, low if x > 0.0 else -low)
        if x > 0.0:
            return a, b, n
        # -pi / (t sin(pi t) gamma(t))
        s, _c, _zero = sin_pi_parts(x)
        d, d_low = two_product(t, s)
        f, f_low = quotient(PI, PI_LOW, d, d_low)
        p, p_low = product(a, b, f, f_low)
        return p, p_low, n
    if absolute(x) < MINUTE:
        # 1/x, of a multiple: x may be subnormal
        q, q_low = quotient(1.0, 0.0, shifted(x, 64), 0.0)
        return q, q_low, 64.0
    return gamma_by_steps(x)


@formula
def gamma(x: Real) -> Real:
    """Gamma function."""
    if isnan(x) or is_zero(x) or isinf(x):
        return nan() if x == -infinity() else (copysign(infinity(), x) if is_zero(x) else x)
    if x < 0.0 and x == floor(x):
        return nan()
    a, b, n = gamma_parts(x)
    return scaled(add(a, b), n)


@formula
def rgamma(x: Real) -> Real:
    """Reciprocal of the gamma function."""
    if isnan(x) or is_zero(x) or isinf(x):
        return 0.0 if isinf(x) else x
    if x < 0.0 and x == floor(x):
        return 0.0
    a, b, n = gamma_parts(x)
    q, rest = quotient(1.0, 0.0, a, b)
    return scaled(add(q, rest), -n)


@formula
def gammaln(x: Real) -> Real:
    """Logarithm of the absolute value of the gamma function."""
    if isnan(x) or isinf(x):
        return x
    if is_zero(x) or (x < 0.0 and x == floor(x)):
        return infinity()
    t = absolute(x)
    if x >= 0.75 and x <= 3.0:
        f = subtract(x, 1.0 if x < 1.5 else 2.0)
        value = f * (series.lgamma_one_series(f) if x < 1.5 else series.lgamma_two_series(f))
        return 0.0 if f == 0.0 else value
    # one logarithm for the other cases: of x itself, or of the value
    is_far = t > NEAR and (x > 0.0 or x < REFLECTED)
    is_near = (x > 0.0 and x < 0.75) or t < MINUTE
    u = t
    rest = 0.0
    if not is_far and not is_near:
        a, b, n = gamma_parts(x)
        u = scaled(absolute(a), n)
        rest = b / a
    high, low = log_in_parts(u)
    if is_near:
        f = x if x < 0.5 else subtract(x, 1.0)
        near = f * (series.lgamma_one_series(f) if x < 0.5 else series.lgamma_two_series(f))
        return add((near if t >= MINUTE else 0.0) - low, -high)
    if not is_far:
        return add(high, low + rest)
    if t > VAST:
        return multiply(t, (high - 1.0) + low)
    total, lost = stirling_of_log(t, high, low)
    if x > 0.0:
        return add(total, lost)
    # log(pi / (t sin(pi t))) - log(gamma(t))
    s, _c, _zero = sin_pi_parts(x)
    return subtract((log(PI / absolute(s)) - high) - lost, total)


@formula
def loggamma(x: Real) -> Real:
    """Logarithm of the gamma function; NaN of negative numbers."""
    if is_negative(x):
        return nan()
    return gammaln(x)


@formula
def psi_of_next(f: Real) -> Real:
    """``psi(1 + f)`` of f >= -1/4."""
    if f >= 8.0:
        x = 1.0 + f
        w = 1.0 / x / x
        return subtract(log(x), 0.5 / x + w * series.psi_tail_series(w))
    if f <= 1.0:
        g = series.psi_near_series(f) if f < 0.5 else series.psi_next_series(f - 0.75)
        return subtract(subtract(f, PSI_ROOT), PSI_ROOT_LOW) * g
    y = f
    total = 0.0
    for _k in range(6):
        if y <= 3.0:
            break
        total = total + 1.0 / y
        y = subtract(y, 1.0)
    return add(series.psi_middle_series(y - 2.0), total)


@formula
def cotangent_parts(x: Real) -> Triple:
    """``pi / tan(pi x)`` in three parts, of x that is no integer; the third is small."""
    r = subtract(x, rint(x))
    if absolute(r) > 0.25:
        # pi tan(pi t) of the distance from the half
        t = copysign(subtract(0.5, absolute(r)), r)
        high, low = product(t, 0.0, PI_SQUARED, PI_SQUARED_LOW)
        return high, low, t * t * t * series.tangent_series(t * t)
    q, rest = quotient(1.0, 0.0, r, 0.0)
    return q, rest, -r * series.cotangent_series(r * r)


@formula
def digamma(x: Real) -> Real:
    """Logarithmic derivative of the gamma function."""
    if isnan(x) or isinf(x):
        return nan() if x < 0.0 else x
    if is_zero(x):
        return -copysign(infinity(), x)
    if x < 0.0 and x == floor(x):
        return nan()
    if absolute(x) < MINUTE:
        return divide(-1.0, x)
    # psi(x), psi(1 + x) - 1/x, or psi(1 - x) - pi / tan(pi x)
    is_small = x > -0.25 and x < 0.75
    value = psi_of_next(x if is_small else (x - 1.0 if x > 0.0 else -x))
    if x >= 0.75:
        return value
    high = 0.0
    low = 0.0
    rest = 0.0
    if is_small:
        high, low = quotient(1.0, 0.0, x, 0.0)
    else:
        high, low, rest = cotangent_parts(x)
    total, lost = two_sum(value, -high)
    return add(total, (lost - low) - rest)


@formula
def gammasgn(x: Real) -> Real:
    """Sign of the gamma function."""
    if isnan(x) or is_zero(x):
        return x if isnan(x) else copysign(1.0, x)
    if not is_negative(x):
        return 1.0
    whole = floor(x)
    if whole == x:
        return nan()
    return 1.0 if whole - 2.0 * floor(0.5 * whole) == 0.0 else -1.0
