"""Legendre functions and spherical harmonics. Degrees and orders are Python integers, and recurrences are recorded."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import factorial, pi, sqrt
from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import as_array
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.special._elementary import HIGHEST, associated

__all__ = [
    "assoc_legendre_p", "assoc_legendre_p_all", "legendre_p", "legendre_p_all", "sph_harm_y", "sph_harm_y_all",
    "sph_legendre_p", "sph_legendre_p_all",
]  # fmt: skip

#: The largest degree and order of the functions that return all up to these.
_ALL: Final = 12


def _normalized(m: int, n: int, cosine: GpuArray, sine: GpuArray) -> Iterator[GpuArray]:
    """Yield the associated Legendre functions of order m >= 0 and degrees m to n with the factors of harmonics."""
    start = cosine * 0 + sqrt(1 / (4 * pi))
    for k in range(1, m + 1):
        start = start * sine * -sqrt((2 * k + 1) / (2 * k))
    before = cosine * 0
    for k in range(m + 1, n + 2):
        yield start
        factor = sqrt((4 * k * k - 1) / (k * k - m * m))
        less = sqrt(((k - 1) ** 2 - m * m) / (4 * (k - 1) ** 2 - 1)) if k > m + 1 else 0.0
        before, start = start, (cosine * start - less * before) * factor


def _sign(m: int) -> int:
    return -1 if m < 0 and m % 2 else 1


def _legendre(n: int, m: int, x: GpuArray) -> GpuArray:
    """Return the associated Legendre function of degree n and order m; of other orders than 0 NaN beyond 1."""
    return _legendre_all([m], n, x)[n][0]


def _legendre_all(orders: Sequence[int], n: int, x: GpuArray) -> list[list[GpuArray]]:
    """Return the associated Legendre functions of all degrees up to n, and of some orders."""
    is_inside = xp.abs(x) <= 1
    inside = xp.where(is_inside, x, 0)
    sine = xp.sqrt(1 - inside * inside)
    result = [[xp.zeros_like(x)] * len(orders) for _ in range(n + 1)]
    for place, m in enumerate(orders):
        for degree, value in enumerate(associated(abs(m), n, inside if m else x, sine), abs(m)):
            scale = _sign(m) * (factorial(degree + m) / factorial(degree - m) if m < 0 else 1.0)
            result[degree][place] = xp.where(is_inside, scale * value, np.nan) if m else value
    return result


def _harmonics(orders: Sequence[int], n: int, theta: GpuArray) -> list[list[GpuArray]]:
    """Return the parts of spherical harmonics that depend on the polar angle, of all degrees up to n."""
    cosine, sine = xp.cos(theta), xp.abs(xp.sin(theta))
    result = [[xp.zeros_like(theta)] * len(orders) for _ in range(n + 1)]
    known = {m: list(_normalized(m, n, cosine, sine)) for m in {abs(m) for m in orders if abs(m) <= n}}
    for place, m in enumerate(orders):
        for degree, value in enumerate(known.get(abs(m), []), abs(m)):
            result[degree][place] = _sign(m) * value
    return result


def _harmonic(part: GpuArray, m: int, phi: GpuArray) -> GpuArray:
    return apply(ops.complex_from_parts, part * xp.cos(m * phi), part * xp.sin(m * phi))


def _all_orders(m: int) -> list[int]:
    return [*range(m + 1), *range(-m, 0)]


def _stacked(rows: Sequence[Sequence[GpuArray]]) -> GpuArray:
    return xp.stack([xp.stack(row) for row in rows])


@cache
def _dtype_of(name: str, numbers: tuple[int, ...], arguments: tuple[DType, ...]) -> DType:
    """Return the dtype of a function's results for arrays of some dtypes."""
    function = getattr(scipy_special, name)
    return dtypes.canonical(function(*numbers, *(np.zeros(1, dtype) for dtype in arguments)).dtype)


def _mirrored(
    name: str, count: int, most: int, function: Callable[..., GpuArray], *, has_orders: bool = True
) -> Callable[..., Any]:
    """Return the definition of a function of degrees and orders.

    Parameters
    ----------
    name : str
        Its name.
    count : int
        How many arrays it takes.
    most : int
        The largest degree and order that are recorded.
    function : callable
        Takes the degree, the order and the arrays.
    has_orders : bool
        Whether there is an order.
    """
    original = getattr(scipy_special, name)
    reason = f"a degree or an order is no Python integer of at most {most}, or derivatives are asked for"
    degrees = 1 + has_orders
    are_all = name.endswith("_all")

    def run(*args: Any, **kwargs: Any) -> Any:
        numbers = args[:degrees]
        known = len(args) == degrees + count and all(type(v) is int and abs(v) <= most for v in numbers)
        arrays = [as_array(v) for v in args[degrees:]] if known else []
        known = known and numbers[0] >= 0 and not (are_all and numbers[-1] < 0)
        if kwargs or not known or any(x.dtype.kind == "c" for x in arrays):
            return run_counted(original, reason, args, kwargs, f"special.{name}")
        kind = _dtype_of(name, (1,) * degrees, tuple(x.dtype for x in arrays))
        result = function(*numbers, *(x.astype(dtypes.float64, copy=False) for x in arrays))
        return result.astype(kind, copy=False)

    run.__doc__ = f"Return :func:`scipy.special.{name}` of arrays."
    return mirrors(original, reason=reason, name=f"special.{name}")(run)


def _surface(n: int, m: int, theta: GpuArray, phi: GpuArray) -> GpuArray:
    """Return a spherical harmonic."""
    return _harmonic(_harmonics([m], n, theta)[n][0] + phi * 0, m, phi)


def _surfaces(n: int, m: int, theta: GpuArray, phi: GpuArray) -> GpuArray:
    """Return all spherical harmonics up to a degree and an order."""
    orders = _all_orders(m)
    waves = [(xp.cos(k * phi), xp.sin(k * phi)) for k in range(m + 1)]
    parts = [
        [
            (part * waves[abs(k)][0], part * waves[abs(k)][1] * (-1 if k < 0 else 1))
            for k, part in zip(orders, row, strict=True)
        ]
        for row in _harmonics(orders, n, theta)
    ]
    real, imaginary = (_stacked([[pair[which] for pair in row] for row in parts]) for which in (0, 1))
    return apply(ops.complex_from_parts, real, imaginary)


legendre_p = _mirrored("legendre_p", 1, HIGHEST, lambda n, x: _legendre(n, 0, x)[None], has_orders=False)
legendre_p_all = _mirrored(
    "legendre_p_all", 1, HIGHEST, lambda n, x: xp.stack([row[0] for row in _legendre_all([0], n, x)])[None],
    has_orders=False,
)  # fmt: skip
assoc_legendre_p = _mirrored("assoc_legendre_p", 1, HIGHEST, lambda n, m, x: _legendre(n, m, x)[None])
assoc_legendre_p_all = _mirrored(
    "assoc_legendre_p_all", 1, _ALL, lambda n, m, x: _stacked(_legendre_all(_all_orders(m), n, x))[None]
)
sph_legendre_p = _mirrored("sph_legendre_p", 1, HIGHEST, lambda n, m, theta: _harmonics([m], n, theta)[n][0][None])
sph_legendre_p_all = _mirrored(
    "sph_legendre_p_all", 1, _ALL, lambda n, m, theta: _stacked(_harmonics(_all_orders(m), n, theta))[None]
)
sph_harm_y = _mirrored("sph_harm_y", 2, HIGHEST, _surface)
sph_harm_y_all = _mirrored("sph_harm_y_all", 2, _ALL, _surfaces)
