"""Integrals and elliptic functions of elements that are made of others. Operands have the dtype of the result."""

from collections.abc import Callable
from math import pi, sqrt
from typing import Any, Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray, apply
from gpuarray.functions import special
from gpuarray.functions.elementwise import unary
from gpuarray.ops import elementwise as ops
from gpuarray.ops.special import OF_SCIPY

#: Steps of the arithmetic-geometric mean, after which the difference is below rounding for parameters up to 1 - 1e-10.
_MEANS: Final = 7
#: Terms of the continued fraction beyond 2.
_TERMS: Final = 50


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
    """Return Voigt's profile, the real part of Faddeeva's function."""
    width = xp.where(sigma == 0, 1, sigma) * sqrt(2)
    profile = apply(OF_SCIPY["faddeeva_real"], x / width, gamma / width) / (width * sqrt(pi))
    lorentz = gamma / pi / (x * x + gamma * gamma)
    return xp.where(sigma != 0, profile, xp.where(gamma != 0, lorentz, xp.where(x == 0, np.inf, x * 0)))


def _faddeeva(x: GpuArray, y: GpuArray) -> GpuArray:
    parts = (apply(OF_SCIPY[f"faddeeva_{part}"], x, y) for part in ("real", "imaginary"))
    return apply(ops.complex_from_parts, *parts)


def _dawsn(x: GpuArray) -> GpuArray:
    """Return Dawson's function."""
    result = apply(OF_SCIPY["faddeeva_imaginary"], x, 0) * (sqrt(pi) / 2)
    return xp.where(xp.abs(x) < 1e-20, x, result)


def _erfi(x: GpuArray) -> GpuArray:
    return xp.where(xp.isinf(x), x, _dawsn(x) * xp.exp(x * x) * (2 / sqrt(pi)))


def _modified_fresnel(turn: int) -> Callable[[GpuArray], tuple[GpuArray, GpuArray]]:
    """Return the function of both modified Fresnel integrals, which are multiples of Faddeeva's function."""

    def function(x: GpuArray) -> tuple[GpuArray, GpuArray]:
        place = x * sqrt(0.5)
        parts = [apply(OF_SCIPY[f"faddeeva_{part}"], place, place) / 2 for part in ("real", "imaginary")]
        scaled = apply(ops.complex_from_parts, parts[0], turn * parts[1])
        angle = x * x + pi / 4
        wave = apply(ops.complex_from_parts, xp.cos(angle), turn * xp.sin(angle))
        return scaled * wave * sqrt(pi), scaled

    return function


def _each(*names: str) -> Callable[..., tuple[GpuArray, ...]]:
    """Return the function whose results are those of several operations."""
    functions = [unary(OF_SCIPY[name]) for name in names]
    return lambda x: tuple(function(x) for function in functions)


#: Functions of arrays, by SciPy's names.
OF_ARRAYS: Final[dict[str, Callable[..., Any]]] = {
    "ellipj": _ellipj, "shichi": _shichi, "voigt_profile": _voigt,
    "sici": _each("sine_integral", "cosine_integral"), "fresnel": _each("fresnel_sine", "fresnel_cosine"),
    "wrightomega": unary(OF_SCIPY["wrightomega"]), "dawsn": _dawsn, "erfi": _erfi,
    "modfresnelp": _modified_fresnel(1), "modfresnelm": _modified_fresnel(-1),
}  # fmt: skip
#: Functions of complex arrays.
OF_COMPLEX: Final[dict[str, Callable[..., GpuArray]]] = {
    "wofz": lambda z: _faddeeva(z.real, z.imag), "erfcx": lambda z: _faddeeva(-z.imag, z.real),
}  # fmt: skip
#: The exponential integrals, by the number of orders before the array.
BY_ORDER: Final[dict[str, tuple[int, Callable[..., GpuArray]]]] = {"expn": (1, _expn)}
RANGES: Final[dict[str, tuple[int, int]]] = {"expn": (-20, 20)}
