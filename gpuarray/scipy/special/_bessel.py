"""Bessel functions of integer orders. The order is a Python integer, and the recurrences are recorded.

Functions that grow with the order are computed from those of orders 0 and 1, others by Miller's recurrence from a high
order down, wherever the order is larger than the argument.
"""

from collections.abc import Callable
from math import pi, sqrt
from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.functions import special
from gpuarray.functions.arguments import as_array
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._calls import run_counted, trial
from gpuarray.scipy._derivatives import with_partials
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.special._derivatives import PARTIALS
from gpuarray.scipy.special._elementary import recurrence

__all__ = ["spherical_in", "spherical_jn", "spherical_kn", "spherical_yn"]

#: Miller's recurrence starts this many orders times the order, under a root, above it.
_STARTS: Final = 160
#: The largest order whose recurrence from above is recorded.
_HIGHEST: Final = 12
_ORDERS: Final = f"the order is no Python integer from 0 to {_HIGHEST}, or numbers are complex"


def _jn(n: int, x: GpuArray) -> GpuArray:
    """Return Bessel functions: by the recurrence to higher orders beyond the order, and to lower ones (Miller) below.

    There the function is ``(x / 2)**n / n!`` times a function that is near 1, and so are those that it starts from.
    The sum of all functions of even orders, of which all but the first count twice, is 1.
    """
    order, size = abs(n), xp.abs(x)
    result = recurrence(order, special.j0(size), special.j1(size), lambda k, p, q: 2 * k / size * p - q)
    if order > 1:
        quarter = xp.where(size < order, size, 0) ** 2 / 4
        last = 2 * ((order + int(sqrt(_STARTS * order))) // 2)
        after, now = xp.zeros_like(quarter), xp.ones_like(quarter)
        total, known = 2 * now, now
        for k in range(last, 0, -1):
            if k == order:
                known = now
            factor = quarter * (1 / (k * (k + 1)))  # kernels of many quotients take long to compile
            after, now = now, now - after * factor
            if k % 2:
                total = total * factor + (2 if k > 1 else 1) * now
        product = known / total
        for k in range(1, order + 1):
            product = product * (xp.where(size < order, size, 0) * (0.5 / k))
        result = xp.where(size < order, product, result)
    result = xp.where(xp.isinf(x), np.nan, result)
    is_odd = (x < 0) if n >= 0 else (x >= 0)
    return xp.where(is_odd, -result, result) if order % 2 else result


def _kn(n: int, x: GpuArray) -> GpuArray:
    result = recurrence(abs(n), special.k0(x), special.k1(x), lambda k, p, q: q + 2 * k / x * p)
    return xp.where((x == 0) | (xp.isnan(result) & (x > 0)), np.inf, result)


def _yn(n: int, x: GpuArray) -> GpuArray:
    result = recurrence(abs(n), special.y0(x), special.y1(x), lambda k, p, q: 2 * k / x * p - q)
    result = -result if n < 0 and n % 2 else result
    sign = -1.0 if n < 0 and n % 2 else 1.0
    return xp.where((x == 0) | (xp.isnan(result) & (x > 0)), -np.inf * sign, result)


def _yv(n: int, x: GpuArray) -> GpuArray:
    return xp.where(x == np.inf, np.nan, _yn(n, x))


def _modified(
    order: int, size: GpuArray, first: GpuArray, second: GpuArray, shift: float, lower: Callable[[int], float]
) -> GpuArray:
    """Return a modified function of the first kind, for arguments that are not negative.

    Parameters
    ----------
    order : int
        The order.
    size : GpuArray
        The arguments.
    first, second : GpuArray
        The functions of orders 0 and 1.
    shift : float
        What is added to twice the order in the recurrence.
    lower : callable
        The factor of the order k in the product by which the function of small arguments is the first.
    """
    if order < 2:
        return second if order else first
    most = max(8.0, order * order / 2)  # beyond it the recurrence to higher orders loses few digits
    small = xp.where(size < most, size, 0)
    quarter = small * small / 4
    half = shift / 2
    after, now = xp.zeros_like(small), xp.ones_like(small)
    last = order + int(sqrt(37 * most + order * order)) + 4
    known = now
    for k in range(last, 0, -1):  # of the functions divided by their lowest powers, which are positive
        if k == order:
            known = now
        after, now = now, now + after * (quarter * (1 / ((k + half) * (k + 1 + half))))
    product = first * (known / now)
    for k in range(1, order + 1):
        product = product * (small * lower(k))
    large = xp.where(size < most, most, size)
    above = recurrence(order, first, second, lambda k, p, q: q - (2 * k + shift) / large * p)
    return xp.where(size < most, product, above)


def _signed(n: int, x: GpuArray, result: GpuArray) -> GpuArray:
    result = xp.where(xp.isinf(x), np.nan, result)
    return xp.where(x < 0, -result, result) if n % 2 else result


def _iv(n: int, x: GpuArray) -> GpuArray:
    size = xp.abs(x)
    result = _modified(abs(n), size, special.i0(size), special.i1(size), 0, lambda k: 0.5 / k)
    return _signed(n, x, xp.where((size > 700) & xp.isnan(result) & (x == x), np.inf, result))


def _ive(n: int, x: GpuArray) -> GpuArray:
    size = xp.abs(x)
    return _signed(n, x, _modified(abs(n), size, special.i0e(size), special.i1e(size), 0, lambda k: 0.5 / k))


def _kve(n: int, x: GpuArray) -> GpuArray:
    result = recurrence(abs(n), special.k0e(x), special.k1e(x), lambda k, p, q: q + 2 * k / x * p)
    result = xp.where((x == 0) | (xp.isnan(result) & (x > 0)), np.inf, result)
    return xp.where(x == np.inf, np.nan, result)


def _yve(n: int, x: GpuArray) -> GpuArray:
    return xp.where(x == 0, np.nan, _yv(n, x))


def _hankel(kind: int, is_scaled: bool) -> Callable[[int, GpuArray], GpuArray]:
    """Return a Hankel function of real numbers, as a function of the order and these.

    ``kind`` is 1 or 2. Negative numbers are on the upper side of the branch cut.
    """
    turn = 1 if kind == 1 else -1

    def function(n: int, x: GpuArray) -> GpuArray:
        size = xp.abs(x)
        first, second = _jn(n, size), _yn(n, size)
        mirrored = -first if kind == 1 else 3 * first
        real = xp.where(x < 0, mirrored, first)
        parts = real, turn * second
        if is_scaled:
            cosine, sine = xp.cos(x), -turn * xp.sin(x)
            parts = parts[0] * cosine - parts[1] * sine, parts[0] * sine + parts[1] * cosine
        sign = xp.where((x < 0) & bool(n % 2), -1, 1)
        return apply(ops.complex_from_parts, *(xp.where(x == 0, np.nan, sign * part) for part in parts))

    return function


#: Functions whose first argument is an order, with the number of these, and the least and largest orders.
BY_ORDER: Final[dict[str, tuple[int, Callable[..., GpuArray]]]] = {
    "jn": (1, _jn), "jv": (1, _jn), "jve": (1, _jn), "kn": (1, _kn), "kv": (1, _kn), "kve": (1, _kve), "yn": (1, _yn),
    "yv": (1, _yv), "yve": (1, _yve), "iv": (1, _iv), "ive": (1, _ive), "hankel1": (1, _hankel(1, False)),
    "hankel1e": (1, _hankel(1, True)), "hankel2": (1, _hankel(2, False)), "hankel2e": (1, _hankel(2, True)),
}  # fmt: skip
RANGES: Final[dict[str, tuple[int, int]]] = dict.fromkeys(
    ("jn", "jv", "jve", "iv", "ive", "hankel1", "hankel1e", "hankel2", "hankel2e"), (-_HIGHEST, _HIGHEST)
)


# -- spherical functions, of arguments that are not negative -----------------------------------------------------------


def _spherical_jn(n: int, x: GpuArray) -> GpuArray:
    divisor = xp.where(x == 0, 1, x)
    first = xp.where(x == 0, 1, xp.sin(x) / divisor)
    second = (first - xp.cos(x)) / divisor
    if not n:
        return xp.where(xp.isinf(x), 0, first)
    small = xp.where(x < n, x, 0)
    square = small * small
    after, now, known = xp.zeros_like(x), xp.ones_like(x), xp.ones_like(x)
    for k in range(n + int(sqrt(_STARTS * n)) // 2 + 4, 0, -1):
        if k == n:
            known = now
        below = now - after * (square * (1 / ((2 * k + 1) * (2 * k + 3))))
        if k == 1:
            after = now
            now = below
        else:
            after, now = now, below
    is_first = xp.abs(first) > xp.abs(second)  # the other one may be near a zero
    scale = xp.where(is_first, first / xp.where(is_first, now, 1), second * 3 / xp.where(is_first, 1, small * after))
    product = known * scale
    for k in range(1, n + 1):
        product = product * (small * (1 / (2 * k + 1)))
    above = recurrence(n, first, second, lambda k, p, q: (2 * k + 1) / divisor * p - q)
    return xp.where(xp.isinf(x), 0, xp.where(x < n, product, above))


def _spherical_yn(n: int, x: GpuArray) -> GpuArray:
    first = -xp.cos(x) / x
    result = recurrence(n, first, (first - xp.sin(x)) / x, lambda k, p, q: (2 * k + 1) / x * p - q)
    result = xp.where((x == 0) | (xp.isnan(result) & (x < 1)), -np.inf, result)
    return xp.where(xp.isinf(x), 0, result)


def _spherical_in(n: int, x: GpuArray) -> GpuArray:
    divisor = xp.where(x == 0, 1, x)
    first = xp.where(x == 0, 1, xp.sinh(x) / divisor)
    is_small = x < 1
    square = xp.where(is_small, x * x, 0)
    term = total = xp.ones_like(x) / 3
    for k in range(1, 10):
        term = term * square * (1 / (2 * k * (2 * k + 3)))
        total = total + term
    second = xp.where(is_small, x * total, (xp.cosh(x) - first) / divisor)
    result = _modified(n, x, first, second, 1, lambda k: 1 / (2 * k + 1))
    return xp.where((x > 700) & (x == x), xp.where(xp.isfinite(result), result, np.inf), result)


def _spherical_kn(n: int, x: GpuArray) -> GpuArray:
    first = xp.exp(-x) * (pi / 2) / x
    result = recurrence(n, first, first * (1 + 1 / x), lambda k, p, q: q + (2 * k + 1) / x * p)
    return xp.where((x == 0) | (xp.isnan(result) & (x > 0) & (x < 1)), np.inf, xp.where(x == np.inf, 0, result))


def _spherical(
    name: str, function: Callable[[int, GpuArray], GpuArray], signs: tuple[int, int] | None, slopes: tuple[int, int]
) -> Any:
    """Return a spherical Bessel function.

    Parameters
    ----------
    name : str
        Its name.
    function : callable
        Its values for arguments that are not negative, if ``signs`` are given.
    signs : tuple of int
        Of its even and odd orders, the sign at negative arguments.
    slopes : tuple of int
        In the formula of the derivative, the signs of the function of order 1, and of that of the order before.
    """
    original = getattr(scipy_special, name)

    def valued(n: int, x: GpuArray) -> GpuArray:
        if signs is None:
            return function(n, x)
        result = function(n, xp.abs(x))
        return result if signs[n % 2] > 0 else xp.where(x < 0, -result, result)

    def run(n: Any, z: Any, derivative: bool = False) -> Any:
        x = as_array(z)
        if type(n) is not int or not 0 <= n <= _HIGHEST or x.dtype.kind == "c":
            return run_counted(original, _ORDERS, (n, z, derivative), {}, f"special.{name}")
        kind = trial(original, np.ones(1, np.int64), x, derivative)
        x = x.astype(dtypes.float32 if kind == np.float32 else dtypes.float64, copy=False)
        if not derivative:
            result = valued(n, x)
        elif n:
            below = valued(n - 1, x)
            result = slopes[1] * below - (n + 1) / x * valued(n, x)
            if signs is not None and name != "spherical_yn":
                result = xp.where(x == 0, 1 / 3 if n == 1 else 0.0, result)
        else:
            result = slopes[0] * valued(1, x)
        return result.astype(kind, copy=False)

    return mirrors(original, reason=_ORDERS, name=f"special.{name}")(with_partials(run, PARTIALS[name]))


spherical_jn = _spherical("spherical_jn", _spherical_jn, (1, -1), (-1, 1))
spherical_yn = _spherical("spherical_yn", _spherical_yn, (-1, 1), (-1, 1))
spherical_in = _spherical("spherical_in", _spherical_in, (1, -1), (1, 1))
spherical_kn = _spherical("spherical_kn", _spherical_kn, None, (-1, -1))
