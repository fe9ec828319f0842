"""Fits of B-splines: the values of the splines at the points are a banded matrix, whose system is solved.

The splines of all points are computed at the same time, by the recurrence of Cox and de Boor. Those of a period are a
matrix with two corners, which is divided into a banded one and a few more unknowns.
"""

from collections.abc import Sequence
from math import factorial, prod
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy import interpolate as scipy_interpolate

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import linear_systems
from gpuarray.functions.arguments import as_array, as_arrays, elements_at
from gpuarray.scipy.linalg._arguments import Condition, check_all
from gpuarray.scipy.linalg._cyclic import banded_solution


class Spline(NamedTuple):
    """Knots and coefficients, whose first axis is the interpolated one, the degree, and how the spline continues."""

    t: GpuArray
    c: GpuArray
    k: int
    extrapolate: Any
    axis: int


# -- splines at points ------------------------------------------------------------------------------------------------


def _basis(t: GpuArray, points: GpuArray, interval: GpuArray, k: int, nu: int = 0) -> list[GpuArray]:
    """Return the splines, or derivatives, of degree ``k`` that are not zero between the knots of some intervals."""
    values = [xp.ones_like(points)]
    for degree in range(1, k + 1):
        knots = [elements_at(t, interval + number) for number in range(1 - degree, degree + 1)]
        shares = []
        for number, value in enumerate(values):
            width = knots[degree + number] - knots[number]
            shares.append(xp.where(width == 0, 0.0, value / xp.where(width == 0, 1.0, width)))
        if degree <= k - nu:
            falling = [(knots[degree + n] - points) * share for n, share in enumerate(shares)]
            rising = [(points - knots[n]) * share for n, share in enumerate(shares)]
        else:
            falling, rising = [-degree * share for share in shares], [degree * share for share in shares]
        values = [falling[0], *(a + b for a, b in zip(rising[:-1], falling[1:], strict=True)), rising[-1]]
    return values


def _interval(t: GpuArray, points: GpuArray, k: int) -> GpuArray:
    """Return the numbers of the knots before points."""
    return xp.clip(xp.searchsorted(t, points, side="right") - 1, k, t.size - k - 2).astype(np.int32)


def polynomials(spline: Spline) -> tuple[GpuArray, GpuArray]:
    """Return the coefficients of a spline between its inner knots, the highest power first, and these knots."""
    t, c, k = spline.t, spline.c, spline.k
    count = t.size - 2 * k - 1
    interval = xp.arange(k, k + count, dtype=np.int32, device=t.device)
    line = (-1,) + (1,) * (c.ndim - 1)
    terms, c = [], c[: k + count]
    for power in range(k + 1):
        degree = k - power
        basis = _basis(t, t[k : k + count], interval, degree)
        value: Any = sum(part.reshape(line) * c[number : number + count] for number, part in enumerate(basis))
        terms.append(value / factorial(power))
        if degree:
            c = _difference(t[power : t.size - power], c, degree)
    return xp.stack(terms[::-1]), t[k : k + count + 1]


def _difference(t: GpuArray, c: GpuArray, k: int) -> GpuArray:
    """Return the coefficients of the derivative, whose knots are those but the first and the last one."""
    count = c.shape[0] - 1
    width = (t[k + 1 : k + 1 + count] - t[1 : 1 + count]).reshape((-1,) + (1,) * (c.ndim - 1))
    return xp.where(width == 0, 0.0, k * xp.diff(c, axis=0) / xp.where(width == 0, 1.0, width))


def derivative(spline: Spline, nu: int) -> Spline:
    """Return a derivative of a spline; of an order above the degree it is zero."""
    t, c, k = spline.t, spline.c, spline.k
    for _ in range(min(nu, k)):
        t, c, k = t[1:-1], _difference(t, c[: t.size - k - 1], k), k - 1
    return Spline(t, c if nu <= spline.k else xp.zeros_like(c), k, spline.extrapolate, spline.axis)


def antiderivative(spline: Spline, nu: int) -> Spline:
    """Return an antiderivative of a spline, which is zero at the first knot."""
    t, c, k = spline.t, spline.c, spline.k
    for _ in range(nu):
        c = c[: t.size - k - 1]
        width = (t[k + 1 :] - t[: -k - 1]).reshape((-1,) + (1,) * (c.ndim - 1))
        c = xp.concat([xp.zeros_like(c[:1]), xp.cumsum(c * width / (k + 1), axis=0)])
        t, k = xp.concat([t[:1], t, t[-1:]]), k + 1
    extrapolate = False if spline.extrapolate == "periodic" else spline.extrapolate
    return Spline(t, c, k, extrapolate, spline.axis)


# -- fits -------------------------------------------------------------------------------------------------------------


def fit(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Spline:
    """Return the spline through points, as :func:`scipy.interpolate.make_interp_spline`."""
    points, values = as_arrays(x, y)
    known = _few(points, values, k, bc_type, axis, check_finite, has_knots=t is not None)
    points = points.astype(dtypes.float64)
    lines = xp.moveaxis(values, axis, 0).astype(known.c.dtype, copy=False)
    is_periodic = isinstance(bc_type, str) and bc_type == "periodic"
    knots = _knots(points, k, bc_type) if t is None else as_array(t, points.device).astype(dtypes.float64)
    if t is not None:
        _check_knots(points, knots, k)
    _check(points, lines, knots, k, check_finite=check_finite, is_periodic=is_periodic)
    if k == 0 or (k == 1 and t is None) or not lines.size:
        count = knots.size - k - 1
        return Spline(knots, lines if lines.size else xp.zeros((count, *lines.shape[1:])), k, True, known.axis)
    if is_periodic:
        return Spline(knots, _periodic(points, lines, knots, k), k, "periodic", known.axis)
    ends = [_ends(end, lines.shape[1:]) for end in ((bc_type,) * 2 if isinstance(bc_type, str) else bc_type or "  ")]
    if knots.size - k - 1 - points.size != sum(map(len, ends)):
        missing, counts = knots.size - k - 1 - points.size, "+".join(str(len(end)) for end in ends)
        raise ValueError(f"The number of derivatives at boundaries does not match: expected {missing}, got {counts}")
    return Spline(knots, _coefficients(points, lines, knots, k, ends), k, True, known.axis)


def _few(x: GpuArray, y: GpuArray, k: Any, bc_type: Any, axis: int, check_finite: bool, *, has_knots: bool) -> Any:
    """Return the spline that SciPy makes of a few zeros in place of values, which raises its errors of arguments."""
    if has_knots:  # whose conditions say more about them
        bc_type, k = None, min(k, 1)
    few = 2 * k + 4 if isinstance(k, int) else 4
    count = min(x.size, few)
    has_values = not (bc_type is None or isinstance(bc_type, str))
    shape = [extent if has_values else min(extent, 1) for extent in y.shape]
    if shape:
        number = axis % len(shape)
        shape[number] = count
        if x.ndim == 1 and y.shape[number] != x.size:
            moved = (y.shape[number], *y.shape[:number], *y.shape[number + 1 :])
            raise ValueError(f"Shapes of x {x.shape} and y {moved} are incompatible")
    points = np.arange(count).reshape((count,) + (1,) * (x.ndim - 1)) if x.ndim else np.zeros(())
    kind = np.complex128 if x.dtype.kind == "c" else np.float64
    make = scipy_interpolate.make_interp_spline
    return make(points.astype(kind), np.zeros(shape, y.dtype), k, None, bc_type, axis, check_finite)


def _check_knots(x: GpuArray, t: GpuArray, k: int) -> None:
    if t.ndim != 1:
        raise ValueError("Expect t to be a 1-D sorted array_like.")
    if t.size < x.size + k + 1:
        raise ValueError(f"Got {t.size} knots, need at least {x.size + k + 1}.")


def _check(x: GpuArray, y: GpuArray, t: GpuArray, k: int, *, check_finite: bool, is_periodic: bool) -> None:
    """Raise SciPy's errors of values, by one read."""

    def condition(failed: GpuArray, message: str) -> Condition:
        return failed.any(), lambda number: ValueError(message)

    conditions: list[Condition] = []
    if check_finite:
        infinite = "Array must not contain infs or nans."
        conditions += [condition(~xp.isfinite(array), infinite) for array in (x, y)]
    if is_periodic and y.size:
        differs = ~(xp.abs(y[0] - y[-1]) <= 1e-15 + 1e-5 * xp.abs(y[-1]))
        conditions.append(condition(differs, "First and last points does not match while periodic case expected"))
    conditions.append(condition(x[1:] == x[:-1], "Expect x to not have duplicates"))
    conditions.append(condition(x[1:] < x[:-1], "Expect x to be a 1D strictly increasing sequence."))
    conditions.append(condition(t[1:] < t[:-1], "Expect t to be a 1-D sorted array_like."))
    if k:
        is_outside = (x[0] < t[k]) | (x[-1] > t[-k])
        conditions.append((is_outside, lambda number: ValueError(f"Out of bounds w/ x = {x.get()}.")))
    check_all(conditions, x, y, t)


def _ends(end: Any, shape: tuple[int, ...]) -> list[tuple[int, Any]]:
    """Return the orders and the values of the derivatives that a condition states."""
    if isinstance(end, str):
        return {"clamped": [(1, np.zeros(shape))], "natural": [(2, np.zeros(shape))]}.get(end, [])
    return [(int(order), value) for order, value in end or ()]


def _knots(x: GpuArray, k: int, bc_type: Any) -> GpuArray:
    """Return the knots that SciPy takes for points."""
    if k == 0:
        return xp.concat([x, x[-1:]])
    if k > 1 and isinstance(bc_type, str) and bc_type == "periodic":
        return _knots_of_period(x, k)
    first, last = xp.tile(x[:1], k), xp.tile(x[-1:], k)
    has_ends = bc_type is not None and bc_type not in ("not-a-knot", (None, None), ("not-a-knot", "not-a-knot"))
    if k == 1 or has_ends:
        return xp.concat([first, x, last])
    inner = x[(k + 1) // 2 : -((k + 1) // 2)] if k % 2 else ((x[1:] + x[:-1]) / 2)[k // 2 : -(k // 2)]
    return xp.concat([first, x[:1], inner, x[-1:], last])


def _knots_of_period(x: GpuArray, k: int) -> GpuArray:
    """Return knots of which the widths before the first point and after the last one are those of the other end."""
    if k % 2 == 0:
        x = xp.concat([x[:1], x[1:-1] - xp.diff(x)[:-1] / 2, x[-1:]])
    widths = xp.diff(x)
    number = xp.arange(k, dtype=np.int32, device=x.device) % widths.size
    before = x[0] - xp.cumsum(elements_at(widths, widths.size - 1 - number))
    return xp.concat([before[::-1], x, x[-1] + xp.cumsum(elements_at(widths, number))])


def _coefficients(x: GpuArray, y: GpuArray, t: GpuArray, k: int, ends: Sequence[list[tuple[int, Any]]]) -> GpuArray:
    """Return the coefficients of the spline through points, with derivatives at the ends.

    The order of the equations makes rows that need no interchanges: at each end the point comes first, and then its
    derivatives, the lowest one first.
    """
    equations = [(x[:1], 0, y[:1])]
    equations += [(x[:1], order, value) for order, value in sorted(ends[0], key=itemgetter(0))]
    equations.append((x[1:-1], 0, y[1:-1]))
    equations += [(x[-1:], order, value) for order, value in sorted(ends[1], key=itemgetter(0), reverse=True)]
    equations.append((x[1:][-1:], 0, y[1:][-1:]))
    intervals = [_interval(t, points, k) for points, _, _ in equations]
    rows = [
        _basis(t, points, interval, k, order) for (points, order, _), interval in zip(equations, intervals, strict=True)
    ]
    values = xp.stack([xp.concat(parts) for parts in zip(*rows, strict=True)])
    sides = [
        as_array(value, y.device)
        .astype(y.dtype)
        .broadcast((*points.shape, *y.shape[1:]))
        .reshape(points.size, prod(y.shape[1:]))
        for points, _, value in equations
    ]
    try:
        solved = banded_solution(_bands(values, xp.concat(intervals) - k, k), k, xp.concat(sides))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Colocation matrix is singular.") from None
    return solved.reshape(-1, *y.shape[1:])


def _bands(values: GpuArray, first: GpuArray, k: int) -> GpuArray:
    """Return the diagonals, ``k`` on each side, of a matrix from the elements of rows that begin at some columns."""
    count, rows = values.shape
    row = xp.arange(rows, dtype=np.int32, device=values.device)
    number = xp.arange(2 * k + 1, dtype=np.int32, device=values.device)[:, None] - k + row - first
    inside = (number >= 0) & (number < count)
    return xp.where(inside, elements_at(values.reshape(-1), xp.clip(number, 0, count - 1) * rows + row), 0.0)


def _periodic(x: GpuArray, y: GpuArray, t: GpuArray, k: int) -> GpuArray:
    """Return the coefficients of a period, of which the first ones follow the last ones again."""
    period, shape = x.size - 1, y.shape[1:]
    right = y[:-1].reshape(period, -1)
    points = x[:-1]
    interval = _interval(t, points, k)
    basis = xp.stack(_basis(t, points, interval, k))
    row = xp.arange(period, dtype=np.int32, device=x.device)
    away = k // 2  # the largest spline of a row is on the diagonal
    columns = row + xp.arange(-away, k + 1 - away, dtype=np.int32, device=x.device)[:, None]
    last = xp.arange(max(period - k, 0), period, dtype=np.int32, device=x.device)
    corner = (basis[:, :, None] * (columns[:, :, None] % period == last)).sum(0)
    if period > 2 * k:
        inner = period - k
        bands = _bands(basis[:, :inner], row[:inner] - away, k)
        solved = banded_solution(bands, k, xp.concat([right[:inner], corner[:inner].astype(right.dtype)], axis=1))
        known, share = solved[:, : right.shape[1]], solved[:, right.shape[1] :]
        wrapped = columns[:, inner:] % period
        factors = xp.where(wrapped < inner, basis[:, inner:], 0.0)[..., None]

        def below(lines: GpuArray) -> GpuArray:
            """Return the products of the last rows with the first unknowns."""
            return (factors * lines[xp.minimum(wrapped, inner - 1)]).sum(0)

        rest = linear_systems.solve(corner[inner:] - below(share), right[inner:] - below(known))
        solved = xp.concat([known - share @ rest, rest])
    else:
        every = xp.arange(period, dtype=np.int32, device=x.device)
        matrix = (basis[:, :, None] * (columns[:, :, None] % period == every)).sum(0)
        solved = linear_systems.solve(matrix.astype(right.dtype), right)
    number = xp.arange(period + k, dtype=np.int32, device=x.device) - away
    return solved[number % period].reshape(-1, *shape)
