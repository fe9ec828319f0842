"""Elliptic integrals by Carlson's forms (DLMF 19.25 and 19.36). Operands have the dtype of the result."""

from collections.abc import Callable
from math import pi
from typing import Any, Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import special

#: Duplications of Carlson's forms, after which arguments that differ by 300 orders of magnitude are nearly equal.
_DUPLICATIONS: Final = 16
#: The arithmetic-geometric mean of such arguments.
_MEANS: Final = 14


def _agm(a: GpuArray, b: GpuArray) -> GpuArray:
    """Return the arithmetic-geometric mean."""
    have_same_sign = ((a > 0) & (b > 0)) | ((a < 0) & (b < 0))
    is_usual = have_same_sign & xp.isfinite(a) & xp.isfinite(b)
    first, second = (xp.where(is_usual, xp.abs(v), 1) for v in (a, b))
    for _ in range(_MEANS):
        first, second = (first + second) / 2, xp.sqrt(first) * xp.sqrt(second)
    result = xp.copysign(first, a)
    zero = xp.where((a == 0) | (b == 0), 0.0 * (a + b), np.nan)
    is_infinite = have_same_sign & (xp.isinf(a) | xp.isinf(b))
    return xp.where(is_usual, result, xp.where(is_infinite, a + b, zero))


def _duplicated(x: GpuArray, y: GpuArray, z: GpuArray) -> tuple[GpuArray, GpuArray, GpuArray, GpuArray]:
    """Return arguments of Carlson's forms that are nearly equal, and the rest of the form of the second kind."""
    rest, power = x * 0, 1.0
    for _ in range(_DUPLICATIONS):
        roots = xp.sqrt(x), xp.sqrt(y), xp.sqrt(z)
        mean = roots[0] * roots[1] + roots[0] * roots[2] + roots[1] * roots[2]
        rest = rest + power / (roots[2] * (z + mean))
        x, y, z = (x + mean) / 4, (y + mean) / 4, (z + mean) / 4
        power /= 4
    return x, y, z, rest


def _first_kind(x: GpuArray, y: GpuArray, z: GpuArray) -> GpuArray:
    x, y, z, _ = _duplicated(x, y, z)
    return 1 / xp.sqrt((x + y + z) / 3)


def _second_kind(x: GpuArray, y: GpuArray, z: GpuArray) -> GpuArray:
    x, y, z, rest = _duplicated(x, y, z)
    mean = (x + y + 3 * z) / 5
    return 3 * rest + 0.25**_DUPLICATIONS / (mean * xp.sqrt(mean))


def _inside(form: Callable[..., GpuArray], *arguments: GpuArray, at: Any) -> GpuArray:
    """Return a form where a condition holds, and NaN elsewhere."""
    return xp.where(at, form(*(xp.where(at, v, 1) for v in arguments)), np.nan)


def _few_zeros(x: GpuArray, y: GpuArray) -> Any:
    return (x >= 0) & (y >= 0) & (x + y > 0) & xp.isfinite(x + y)


def _elliprf(x: GpuArray, y: GpuArray, z: GpuArray) -> GpuArray:
    is_usual = _few_zeros(x, y) & _few_zeros(x, z) & _few_zeros(y, z)
    return _with_ends(_first_kind, x, y, z, is_usual)


def _elliprd(x: GpuArray, y: GpuArray, z: GpuArray) -> GpuArray:
    is_usual = _few_zeros(x, y) & (z > 0) & xp.isfinite(z)
    return _with_ends(_second_kind, x, y, z, is_usual)


def _with_ends(kind: Callable[..., GpuArray], x: GpuArray, y: GpuArray, z: GpuArray, is_usual: Any) -> GpuArray:
    """Return an integral of Carlson, which is 0 for infinite arguments, infinite for several zeros, and else NaN."""
    result = _inside(kind, x, y, z, at=is_usual)
    is_negative = (x < 0) | (y < 0) | (z < 0) | ~(x + y + z == x + y + z)
    has_infinity = xp.isinf(x) | xp.isinf(y) | xp.isinf(z)
    return xp.where(is_usual | is_negative, result, xp.where(has_infinity, 0.0, np.inf))


def _elliprc(x: GpuArray, y: GpuArray) -> GpuArray:
    """Return Carlson's degenerate form, for negative y its principal value."""
    is_negative = y < 0
    first, second = xp.where(is_negative, x - y, x), xp.abs(y)
    is_usual = (x >= 0) & (second > 0) & xp.isfinite(first + second)
    result = _inside(_first_kind, first, second, second, at=is_usual)
    share = xp.where(is_negative & is_usual, xp.sqrt(x / first), 1)
    has_infinity = (x >= 0) & ~(y <= 0) & (xp.isinf(x) | xp.isinf(y))
    return xp.where(has_infinity, 0.0, result * share)


def _sorted(x: GpuArray, y: GpuArray, z: GpuArray) -> tuple[GpuArray, GpuArray, GpuArray]:
    low, high = xp.minimum(x, y), xp.maximum(x, y)
    return xp.minimum(low, z), xp.maximum(low, xp.minimum(high, z)), xp.maximum(high, z)


def _elliprg(x: GpuArray, y: GpuArray, z: GpuArray) -> GpuArray:
    """Return the symmetric integral of the second kind, by the other two, whose terms have one sign."""
    low, middle, high = _sorted(x, y, z)
    is_usual = (low >= 0) & (middle > 0) & xp.isfinite(high)
    a, b, c = (xp.where(is_usual, v, 1) for v in (low, middle, high))
    result = (
        b * _first_kind(a, c, b) + (b - a) * (c - b) / 3 * _second_kind(a, c, b) + xp.sqrt(a) * xp.sqrt(c / b)
    ) / 2
    of_zeros = xp.where((low == 0) & (middle == 0), xp.sqrt(xp.where(high >= 0, high, 0)) / 2, np.nan)
    of_infinity = xp.where((low >= 0) & (high == np.inf), np.inf, of_zeros)
    return xp.where(is_usual, result, of_infinity)


def _third_kind(x: GpuArray, y: GpuArray, z: GpuArray, p: GpuArray) -> GpuArray:
    total, power = xp.zeros_like(x), 1.0
    difference = (p - x) * (p - y) * (p - z)
    for _ in range(_DUPLICATIONS):
        a, b, c, d = xp.sqrt(x), xp.sqrt(y), xp.sqrt(z), xp.sqrt(p)
        mean = a * b + a * c + b * c
        divisor = (d + a) * (d + b) * (d + c)
        ratio = power**3 * (difference / divisor) / divisor
        root = xp.sqrt(xp.abs(ratio))
        is_small, is_positive = root < 1e-4, ratio > 0
        angle = xp.where(is_small, 1, root)
        arc = xp.where(is_positive, xp.arctan(angle), xp.arctanh(xp.where(is_positive | is_small, 0.5, angle))) / angle
        total = total + 6 * power / divisor * xp.where(is_small, 1 - ratio / 3, arc)
        x, y, z, p = ((v + mean) / 4 for v in (x, y, z, p))
        power /= 4
    average = (x + y + z + 2 * p) / 5
    return total + power / (average * xp.sqrt(average))


def _elliprj(x: GpuArray, y: GpuArray, z: GpuArray, p: GpuArray) -> GpuArray:
    """Return Carlson's form of the third kind, for negative p its principal value (DLMF 19.20.14)."""
    low, middle, high = _sorted(x, y, z)
    is_usual = (low >= 0) & (middle > 0) & (p != 0) & xp.isfinite(high + p)
    is_negative = p < 0
    a, b, c, size = (xp.where(is_usual, v, 1) for v in (low, middle, high, xp.abs(p)))
    q = xp.where(is_negative, size, 1)
    other = ((a + b + q) * c - a * b) / (c + q)
    result = _third_kind(a, b, c, xp.where(is_negative, other, size))
    product, rest = a * b + other * q, other * q
    share = 3 * xp.sqrt(a * b * c / product) * _first_kind(product, rest, rest)
    mirrored = ((other - c) * result - 3 * _first_kind(a, b, c) + share) / (c + q)
    is_outside = ~(low >= 0) | (p != p)
    has_infinity = xp.isinf(high) | xp.isinf(p)
    ends = xp.where(is_outside, np.nan, xp.where(has_infinity, 0.0, np.inf))
    return xp.where(is_usual, xp.where(is_negative, mirrored, result), ends)


def _ellipe(m: GpuArray) -> GpuArray:
    """Return the complete integral of the second kind, by the forms of the first and second kind."""
    rest = xp.where(m < 1, 1 - m, 1)
    zero, one = m * 0, m * 0 + 1
    result = _first_kind(zero, rest, one) - xp.where(m < 1, m, 0) / 3 * _second_kind(zero, rest, one)
    result = xp.where(m < 1, result, xp.where(m == 1, 1.0, np.nan))
    return xp.where(m == -np.inf, np.inf, result)


def _incomplete(phi: GpuArray, m: GpuArray, *, is_second: bool) -> GpuArray:
    """Return the incomplete integral of the first or second kind for angles of any size."""
    turns = xp.rint(phi / pi)
    angle = phi - turns * pi
    sine, cosine = xp.sin(angle), xp.cos(angle)
    delta = 1 - m * sine * sine
    is_usual = (m <= 1) & xp.isfinite(phi) & xp.isfinite(m)
    arguments = [xp.where(is_usual, v, 1) for v in (cosine * cosine, delta, sine * 0 + 1)]
    result = sine * _first_kind(*arguments)
    if is_second:
        result = result - m / 3 * sine**3 * _second_kind(*arguments)
        whole = _ellipe(xp.where(m <= 1, m, 0))
    else:
        whole = special.ellipk(xp.where(m <= 1, m, 0))
    result = result + xp.where(turns == 0, 0, 2 * turns * whole)
    at_end = xp.where(xp.isinf(phi) & xp.isfinite(m), phi, np.nan)
    if is_second:
        at_end = xp.where(xp.isinf(m), -m, at_end)
    else:
        at_end = xp.where(xp.isinf(m) & xp.isfinite(phi), 0, at_end)
    return xp.where(is_usual, result, xp.where(m <= 1, at_end, np.nan))


#: Functions of arrays, by SciPy's names.
OF_ARRAYS: Final[dict[str, Callable[..., GpuArray]]] = {
    "agm": _agm, "elliprc": _elliprc, "elliprd": _elliprd, "elliprf": _elliprf, "elliprg": _elliprg,
    "elliprj": _elliprj, "ellipe": _ellipe,
    "ellipkinc": lambda phi, m: _incomplete(phi, m, is_second=False),
    "ellipeinc": lambda phi, m: _incomplete(phi, m, is_second=True),
}  # fmt: skip
