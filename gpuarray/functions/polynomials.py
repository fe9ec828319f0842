"""NumPy's functions of polynomials, which are arrays of coefficients. If an argument is a ``poly1d``, so is the result.

``roots``, and ``poly`` of a matrix, need NumPy's LAPACK.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import sorting
from gpuarray.functions.arguments import as_array, as_arrays, at_least_one_axis, concatenated, constant
from gpuarray.functions.creation import zeros_like
from gpuarray.functions.factorisations import numpy_eigvals
from gpuarray.functions.fallback import on_host
from gpuarray.functions.linear_systems import inv, lstsq
from gpuarray.functions.matrices import vander
from gpuarray.functions.padding import pad
from gpuarray.functions.registry import DIVISION, EIGENVALUES, HOST, LAPACK, implements, native
from gpuarray.functions.signals import convolve
from gpuarray.graph import tape
from gpuarray.source_locations import warn

__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots",
]  # fmt: skip


def _coefficients(*polynomials: Any) -> list[GpuArray]:
    """Return the coefficients of polynomials."""
    lines = as_arrays(*(p.coeffs if isinstance(p, np.poly1d) else p for p in polynomials))
    return [at_least_one_axis(line) for line in lines]


def _like(result: GpuArray, *polynomials: Any) -> GpuArray:
    """Return a ``poly1d`` of coefficients if an argument was one, otherwise the coefficients."""
    typed: Any = np.poly1d(result) if any(isinstance(p, np.poly1d) for p in polynomials) else result
    return cast(GpuArray, typed)


def _longer(line: GpuArray, before: int, after: int = 0) -> GpuArray:
    """Pad coefficients with zeros."""
    return pad(line, (before, after)) if before or after else line


def _term_by_term(ufunc: Any, first: Any, second: Any) -> GpuArray:
    one, two = _coefficients(first, second)
    length = max(one.size, two.size)
    return _like(ufunc(*(_longer(line, length - line.size) for line in (one, two))), first, second)


@native("polyadd", at_once="sums")
def polyadd(a1: Any, a2: Any) -> GpuArray:
    """Return the sum of two polynomials."""
    return _term_by_term(np.add, a1, a2)


@native("polysub", at_once="sums")
def polysub(a1: Any, a2: Any) -> GpuArray:
    """Return the difference of two polynomials."""
    return _term_by_term(np.subtract, a1, a2)


@native("polymul", at_once="products")
def polymul(a1: Any, a2: Any) -> GpuArray:
    """Return the product of two polynomials."""
    return _like(convolve(*_coefficients(a1, a2)), a1, a2)


@implements("polydiv", at_once="sums", kind=HOST, reason=DIVISION)
def polydiv(u: Any, v: Any) -> tuple[GpuArray, GpuArray]:
    """Return the quotient and the remainder of two polynomials, which NumPy divides on the host."""
    operands = _coefficients(u, v)
    are_varying = any(tape.varying(line.node()) for line in operands)
    quotient, rest = _divided(*operands) if are_varying else on_host(np.polydiv, tuple(operands), {}, DIVISION)
    return _like(quotient, u, v), _like(rest, u, v)


def _divided(u: GpuArray, v: GpuArray) -> tuple[GpuArray, GpuArray]:
    """Return the quotient and the remainder as NumPy computes them, by operations that have derivatives."""
    rest, divisor = (line + 0.0 for line in (u, v))
    degree = divisor.size - 1
    terms: list[GpuArray] = []
    rest = rest.astype((rest[0] + divisor[0]).dtype)
    for start in range(rest.size - degree):
        terms.append(rest[start : start + 1] / divisor[0])
        rest[start : start + degree + 1] -= terms[-1] * divisor
    terms = terms or [rest[:1] * 0]
    while rest.size > 1 and np.allclose(rest[0], 0, rtol=1e-14):
        rest = rest[1:]
    return concatenated(terms, 0), rest


@native("polyder", at_once="sums")
def polyder(p: Any, m: Any = 1) -> GpuArray:
    """Return a derivative of a polynomial."""
    times = index(m)
    if times < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    (line,) = _coefficients(p)
    for _ in range(times):
        line = line[:-1] * np.arange(line.size - 1, 0, -1)
    return _like(line, p)


@native("polyint", at_once="sums")
def polyint(p: Any, m: Any = 1, k: Any = None) -> GpuArray:
    """Return an antiderivative of a polynomial."""
    times = index(m)
    if times < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    (line,) = _coefficients(p)
    constants = as_array(np.zeros(max(times, 1)) if k is None else k, line.device).reshape(-1)
    if constants.size == 1:
        constants = constants.broadcast((max(times, 1),))
    if constants.size < times:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for order in range(times):
        line = concatenated([line / np.arange(line.size, 0, -1), constants[order : order + 1]], 0)
    return _like(line, p)


def _horner(coefficients: Iterable[Any], start: Any, x: Any) -> GpuArray:
    """Evaluate a polynomial at ``x`` by Horner's method, from the highest coefficient to the lowest."""
    result: GpuArray = start
    for coefficient in coefficients:
        result = result * x + coefficient
    return result


@native("polyval", at_once="sums")
def polyval(p: Any, x: Any) -> GpuArray:
    """Evaluate a polynomial."""
    if not isinstance(p, np.poly1d) and not as_array(p).ndim:
        raise TypeError("iteration over a 0-d array: the coefficients need an axis")
    (line,) = _coefficients(p)
    if isinstance(x, np.poly1d):
        return _horner(line, 0, x)
    points = as_array(x, line.device)
    return _horner(line, zeros_like(points), points)


@implements("poly", at_once="sums", reason=EIGENVALUES)
def poly(seq_of_zeros: Any) -> GpuArray:
    """Return the coefficients of the polynomial with given roots."""
    zeros = at_least_one_axis(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.size:
        zeros = numpy_eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    zeros = zeros.astype(np.mintypecode(zeros.dtype.char), copy=False)
    if not zeros.size:
        return cast(GpuArray, 1.0)  # as NumPy
    result = as_array(np.ones(1, zeros.dtype), zeros.device)
    for zero in zeros:
        result = _longer(result, 0, 1) - zero * _longer(result, 1, 0)
    if zeros.dtype.kind == "c":
        conjugates = sorting.sort(zeros.conj())
        if (sorting.sort(zeros) == conjugates).all().item():
            return result.real.copy()
    return result


@implements("roots", at_once="sums", kind=HOST, reason=LAPACK)
def roots(p: Any) -> GpuArray:
    """Return the roots of a polynomial."""
    (line,) = _coefficients(p)
    zeros: GpuArray = on_host(np.roots, (constant(line),), {}, LAPACK)
    return tape.state.with_rule(zeros, (line,), _roots_pulled) if tape.varying(line.node()) else zeros


def _roots_pulled(ct: GpuArray, line: GpuArray) -> tuple[GpuArray]:
    """Differentiate the equations that the polynomial is 0 at its roots."""
    zeros = roots(line)
    part = (ct / -polyval(polyder(line), zeros)) @ vander(zeros, line.size)
    return (part if line.dtype.kind == "c" else part.real,)


@native("polyfit", at_once="sums")
def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> GpuArray | tuple[Any, ...]:
    """Return the coefficients of the polynomial that fits points by least squares."""
    order = int(deg) + 1
    points, values = (array + 0.0 for array in as_arrays(x, y))
    if order < 1:
        raise ValueError("expected deg >= 0")
    for is_wrong, message in (
        (points.ndim != 1, "expected 1D vector for x"),
        (points.size == 0, "expected non-empty vector for x"),
        (not 1 <= values.ndim <= 2, "expected 1D or 2D array for y"),
        (points.shape[:1] != values.shape[:1], "expected x and y to have same length"),
    ):
        if is_wrong:
            raise TypeError(message)
    rcond = points.size * np.finfo(points.dtype).eps if rcond is None else rcond
    left, right = vander(points, order), values
    if w is not None:
        weights = as_array(w, points.device) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weights.shape[0] != values.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left, right = left * weights[:, None], right * (weights if right.ndim == 1 else weights[:, None])
    scale = np.sqrt((left * left).sum(axis=0))
    left = left / scale
    solution, residuals, rank, singular_values = lstsq(left, right, rcond)
    coefficients = (solution.T / scale).T
    if not full and int(rank) != order:
        warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning)
    if full:
        return coefficients, residuals, rank, singular_values, rcond
    if not cov:
        return coefficients
    base = inv(left.T @ left) / (scale[:, None] * scale)
    if cov != "unscaled":
        if points.size <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (points.size - order)
        return coefficients, base * factor if values.ndim == 1 else base[:, :, None] * factor
    return coefficients, base if values.ndim == 1 else base[:, :, None]


# --- numpy.polynomial -----------------------------------------------------------------------------------------------


def _ascending(x: GpuArray, c: GpuArray, tensor: bool) -> GpuArray:
    """Evaluate polynomials whose coefficients are along the first axis, the lowest first."""
    if tensor:
        c = c.reshape(c.shape + (1,) * x.ndim)
    return _horner((c[k] for k in range(c.shape[0] - 2, -1, -1)), c[-1] + x * 0, x)


def _of_many(c: Any, points: Sequence[Any], *, is_grid: bool) -> GpuArray:
    """Evaluate a polynomial in several variables, one for each item of ``points``."""
    *variables, value = as_arrays(*points, c)
    if value.dtype.kind in "biu":
        value = value.astype(dtypes.float64)
    for axis, variable in enumerate(variables):
        value = _ascending(variable, value, is_grid or not axis)
    return value


@native("polynomial.polynomial.polyvalnd")
def polyvalnd(pts: Any, c: Any) -> GpuArray:
    """Evaluate a polynomial in several variables at points."""
    points = [*pts]
    if any(np.shape(point) != np.shape(points[0]) for point in points):
        names = {2: "x, y", 3: "x, y, z"}.get(len(points), "ordinates")
        raise ValueError(f"{names} are incompatible")
    return _of_many(c, points, is_grid=False)


@native("polynomial.polynomial.polyval2d")
def polyval2d(x: Any, y: Any, c: Any) -> GpuArray:
    """Evaluate a polynomial in two variables at points."""
    return polyvalnd((x, y), c)


@native("polynomial.polynomial.polygrid2d")
def polygrid2d(x: Any, y: Any, c: Any) -> GpuArray:
    """Evaluate a polynomial in two variables on the Cartesian product of points."""
    return _of_many(c, (x, y), is_grid=True)
