"""Integrals and elliptic functions of elements that are made of others. Operands have the dtype of the result."""

from collections.abc import Callable
from math import exp, pi, sqrt
from typing import Any, Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import special
from gpuarray.functions.elementwise import unary
from gpuarray.ops.special import OF_SCIPY

#: Steps of the arithmetic-geometric mean, after which the difference is below rounding for parameters up to 1 - 1e-10.
_MEANS: Final = 7
#: The distance of the points of a sum for Voigt's profile, whose error is below rounding, and how many it has on each
#: side of the largest one.
_SPACING: Final = 0.5183214804300859
_POINTS: Final = 12
#: Terms of continued fractions, beyond the arguments from which they are used.
_TERMS: Final = 50
_FRACTIONS: Final = 24


def _expn(n: int, x: GpuArray) -> GpuArray:
    """Return exponential integrals: by the recurrence to higher orders below 2, and by their continued fraction."""
    if n < 0:
        return x * np.nan
    decay = xp.exp(-x)
    if n < 2:
        return xp.where(x < 0, np.nan, special.exp1(x) if n else decay / x)
    is_small = x <= 2
    small = xp.where(is_small, x, 1)
    result = special.exp1(xp.where(small > 0, small, 1))
    falling = xp.exp(-small)
    for k in range(1, n):
        result = (falling - small * result) / k
    result = xp.where(x == 0, 1 / (n - 1), result)
    large = xp.where(is_small, 2, xp.minimum(x, 1e4))
    fraction = large * 0
    for k in range(_TERMS, 0, -1):
        fraction = k * (n - 1 + k) / (large + (n + 2 * k) - fraction)
    beyond = decay / (large + n - fraction)
    return xp.where(x < 0, np.nan, xp.where(is_small, result, beyond))


def _shichi(x: GpuArray) -> tuple[GpuArray, GpuArray]:
    """Return the hyperbolic sine and cosine integrals, half of the sum and difference of exponential integrals."""
    size = xp.abs(x)
    square = xp.where(size < 1, x * x, 0)
    term = total = xp.ones_like(x)
    for k in range(1, 10):
        term = term * square * (1 / (2 * k * (2 * k + 1)))
        total = total + term * (1 / (2 * k + 1))
    growing, falling = special.expi(size), special.exp1(size)
    sine = xp.where(size < 1, x * total, xp.copysign((growing + falling) / 2, x))
    return sine, xp.where(size == 0, -np.inf, (growing - falling) / 2)


def _ellipj(u: GpuArray, m: GpuArray) -> tuple[GpuArray, GpuArray, GpuArray, GpuArray]:
    """Return Jacobi's elliptic functions sn, cn and dn, and the amplitude, by descending means."""
    tiny, top = 1e-9, 1 - 1e-10
    is_middle = (m >= tiny) & (m < top)
    parameter = xp.where(is_middle, m, 0.5)
    mean, other = xp.ones_like(u + m), xp.sqrt(1 - parameter)
    differences, means = [xp.sqrt(parameter)], [mean]
    for _ in range(_MEANS):
        differences.append((mean - other) / 2)
        mean, other = (mean + other) / 2, xp.sqrt(mean * other)
        means.append(mean)
    phase = 2.0**_MEANS * mean * u
    before = phase
    for difference, mean in zip(differences[:0:-1], means[:0:-1], strict=True):
        before, phase = phase, (xp.arcsin(difference * xp.sin(phase) / mean) + phase) / 2
    sine, cosine, factor = xp.sin(phase), xp.cos(phase), xp.cos(phase - before)
    is_steep = xp.abs(factor) < 0.1
    delta = xp.where(is_steep, xp.sqrt(1 - parameter * sine * sine), cosine / xp.where(is_steep, 1, factor))
    # near the ends the functions are those of angles, and hyperbolic ones, with a term of first order
    sin, cos = xp.sin(u), xp.cos(u)
    low = 0.25 * m * (u - sin * cos)
    cosh, tanh = xp.cosh(u), xp.tanh(u)
    rest = 0.25 * (1 - m)
    twist = xp.sinh(u) * cosh
    high = rest * (twist - u) / cosh
    gudermann = 2 * xp.arctan(xp.exp(u)) - pi / 2
    is_low, is_inside = m < tiny, (m >= 0) & (m <= 1)
    ends = (
        xp.where(is_low, sin - low * cos, tanh + rest * (twist - u) / (cosh * cosh)),
        xp.where(is_low, cos + low * sin, 1 / cosh - rest * tanh * (twist - u) / cosh),
        xp.where(is_low, 1 - 0.5 * m * sin * sin, 1 / cosh + rest * tanh * (twist + u) / cosh),
        xp.where(is_low, u - low, gudermann + high),
    )
    middle = sine, cosine, delta, phase
    first, second, third, fourth = [
        xp.where(is_inside, xp.where(is_middle, a, b), np.nan) for a, b in zip(middle, ends, strict=True)
    ]
    return first, second, third, fourth


def _voigt(x: GpuArray, sigma: GpuArray, gamma: GpuArray) -> GpuArray:
    """Return Voigt's profile, the real part of Faddeeva's function, which has a reflection for negative widths.

    Near 0 it is Algorithm 916 of Zaghloul and Ali, whose sums are taken about their largest terms, and beyond 6 the
    continued fraction of Laplace. All sums are positive but one that matters only where it is small.
    """
    width = xp.where(sigma == 0, 1, sigma) * sqrt(2)
    scaled, signed = xp.abs(x / width), gamma / width
    y = xp.abs(signed)
    is_near = (scaled < 6) & (y < 7)
    near, low = xp.where(is_near, scaled, 0), xp.where(is_near, y, 1)
    fall, square = xp.exp(-near * near), low * low
    center = xp.rint(near * (1 / _SPACING))
    rest = near - center * _SPACING
    growth, scale = xp.exp(rest * (2 * _SPACING)), xp.exp(-rest * rest)
    above = below = scale
    sums = xp.where(center == 0, 0, scale / xp.where(center == 0, 1, (center * _SPACING) ** 2 + square))
    first = near * 0
    for n in range(1, _POINTS + 1):
        weight = exp(-((n * _SPACING) ** 2))
        above, below = above * growth, below / growth
        at_zero = center == n
        places = (center + n) * _SPACING, xp.where(at_zero, 1, (center - n) * _SPACING)
        sums = sums + weight * (above / (places[0] ** 2 + square))
        sums = sums + xp.where(at_zero, 0, weight * (below / (places[1] ** 2 + square)))
        first = first + weight / ((n * _SPACING) ** 2 + square)
    angle = near * low
    sine, turned = xp.sin(angle), xp.cos(2 * angle)
    ratio = xp.where(angle == 0, 1, sine / xp.where(angle == 0, 1, angle))
    inside = fall * (special.erfcx(low) * turned + (2 * _SPACING / pi) * near * sine * ratio) + (
        2 * _SPACING / pi
    ) * low * (sums / 2 - fall * turned * first)
    real, imaginary = xp.where(is_near, 10, scaled), xp.where(is_near, 10, y)
    up, right = imaginary, real
    for k in range(_FRACTIONS, 0, -1):
        size = (0.5 * k) / (right * right + up * up)
        right, up = real - size * right, imaginary + size * up
    outside = up / (right * right + up * up) / sqrt(pi)
    outside = outside + xp.where(real < 6, 0, xp.exp(-real * real))  # which the fraction lacks next to the real line
    profile = xp.where(is_near, inside, outside)
    mirrored = 2 * xp.exp(y * y - scaled * scaled) * xp.cos(2 * scaled * y) - profile
    profile = xp.where(signed < 0, mirrored, profile)
    profile = xp.where(gamma == 0, xp.exp(-scaled * scaled), profile) / (width * sqrt(pi))
    lorentz = gamma / pi / (x * x + gamma * gamma)
    return xp.where(sigma != 0, profile, xp.where(gamma != 0, lorentz, xp.where(x == 0, np.inf, x * 0)))


def _each(*names: str) -> Callable[..., tuple[GpuArray, ...]]:
    """Return the function whose results are those of several operations."""
    functions = [unary(OF_SCIPY[name]) for name in names]
    return lambda x: tuple(function(x) for function in functions)


#: Functions of arrays, by SciPy's names.
OF_ARRAYS: Final[dict[str, Callable[..., Any]]] = {
    "ellipj": _ellipj, "shichi": _shichi, "voigt_profile": _voigt,
    "sici": _each("sine_integral", "cosine_integral"), "fresnel": _each("fresnel_sine", "fresnel_cosine"),
    "wrightomega": unary(OF_SCIPY["wrightomega"]),
}  # fmt: skip
#: The exponential integrals, by the number of orders before the array.
BY_ORDER: Final[dict[str, tuple[int, Callable[..., GpuArray]]]] = {"expn": (1, _expn)}
RANGES: Final[dict[str, tuple[int, int]]] = {"expn": (-20, 20)}
