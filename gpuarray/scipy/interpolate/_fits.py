"""Fits of cubic interpolants: slopes at the points, from which the polynomials between them follow.

The points and values are checked as SciPy checks them, by one read. Shapes and other arguments are checked by SciPy's
own class, with few points.
"""

from collections.abc import Callable
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import interpolate as scipy_interpolate

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_arrays, elements_at
from gpuarray.scipy.linalg._arguments import Condition, check_all
from gpuarray.scipy.linalg._cyclic import tridiagonal_solution

#: The most points that SciPy's checks get: there are rules for two and for three points.
_FEW: Final = 5
#: Slopes of Akima's method are defined where the sum of the differences around a point is larger than this share.
_DEFINED: Final = 1e-9


def picked(values: GpuArray, positions: GpuArray, axis: int = 0) -> GpuArray:
    """Return the elements at positions along an axis, as ``numpy.take``; these are in range and are not read."""
    lead, extent, rest = values.shape[:axis], values.shape[axis], values.shape[axis + 1 :]
    kind = dtypes.int32 if values.size < np.iinfo(np.int32).max else dtypes.int64
    number = positions.reshape(-1, 1).astype(kind, copy=False)
    if lead:
        number = number + xp.arange(prod(lead), dtype=kind, device=values.device)[:, None, None] * extent
    if rest:
        number = number * prod(rest) + xp.arange(prod(rest), dtype=kind, device=values.device)
    return elements_at(values.reshape(-1), number).reshape(*lead, *positions.shape, *rest)


class Fit(NamedTuple):
    """The polynomials of an interpolant: coefficients, the highest power first, breakpoints, and how it continues."""

    c: GpuArray
    x: GpuArray
    extrapolate: Any
    axis: int


class _Data(NamedTuple):
    """Points, values with the axis of the points in front, and their widths and slopes, all floating."""

    x: GpuArray
    y: GpuArray
    widths: GpuArray
    slopes: GpuArray


def _prepared(
    x: GpuArray, y: GpuArray, axis: int, known: Any, *derivatives: GpuArray, more: Callable[[_Data], list[Condition]]
) -> tuple[_Data, list[GpuArray]]:
    """Return checked data and derivatives; ``known`` is what SciPy's class makes of few zeros of these shapes."""
    points = x.astype(dtypes.float64)
    lines = [xp.moveaxis(line, axis, 0).astype(known.c.dtype, copy=False) for line in (y, *derivatives)]
    steps = xp.diff(points)
    widths = steps.reshape(steps.shape + (1,) * (y.ndim - 1))
    data = _Data(points, lines[0], widths, xp.diff(lines[0], axis=0) / widths)
    conditions: list[Condition] = [
        (
            (~xp.isfinite(line)).any(),
            lambda number, name=name: ValueError(f"`{name}` must contain only finite values."),  # type: ignore[misc]  # mypy infers no lambda with defaults
        )
        for name, line in zip(("x", "y", "dydx"), (points, *lines), strict=False)
    ]
    conditions.append(((steps <= 0).any(), lambda number: ValueError("`x` must be strictly increasing sequence.")))
    check_all(conditions + more(data), x, y, *derivatives)
    return data, lines[1:]


def _few(original: Any, x: GpuArray, y: GpuArray, axis: int, *slopes: GpuArray, **options: Any) -> Any:
    """Return the object that SciPy makes of a few zeros in place of values, which raises its errors of arguments."""
    count = min(x.size, _FEW)
    ends = options.get("bc_type", "")
    has_values = not all(isinstance(end, str) for end in ends)
    shape = [extent if has_values else min(extent, 1) for extent in y.shape]
    if shape:
        number = axis % len(shape)
        shape[number] = count if y.shape[number] == x.size else count + 1
    points = np.arange(count).reshape((count,) + (1,) * (x.ndim - 1)) if x.ndim else np.zeros(())
    kind = np.complex128 if x.dtype.kind == "c" else np.float64
    zeros = [np.zeros(shape, line.dtype) for line in (y, *slopes)]
    return original(points.astype(kind), *zeros, axis=axis, **options)


def hermite(x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> Fit:
    """Return the interpolant of values and slopes, as :class:`scipy.interpolate.CubicHermiteSpline`."""
    points, values, slopes = as_arrays(x, y, dydx)
    if values.shape != slopes.shape:
        raise ValueError("The shapes of `y` and `dydx` must be identical.")
    known = _few(scipy_interpolate.CubicHermiteSpline, points, values, axis, slopes, extrapolate=extrapolate)
    data, (rates,) = _prepared(points, values, axis, known, slopes, more=lambda data: [])
    return _cubic(data, rates, known)


def _cubic(data: _Data, rates: GpuArray, known: Any) -> Fit:
    """Return the polynomials with given slopes at the points."""
    bend = (rates[:-1] + rates[1:] - 2 * data.slopes) / data.widths
    terms = (bend / data.widths, (data.slopes - rates[:-1]) / data.widths - bend, rates[:-1], data.y[:-1])
    return Fit(xp.stack(terms), data.x, known.extrapolate, known.axis)


# -- cubic splines ----------------------------------------------------------------------------------------------------


def spline(x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Fit:
    """Return the spline with continuous curvature, as :class:`scipy.interpolate.CubicSpline`."""
    points, values = as_arrays(x, y)
    known = _few(scipy_interpolate.CubicSpline, points, values, axis, bc_type=bc_type, extrapolate=extrapolate)
    is_periodic = isinstance(bc_type, str) and bc_type == "periodic"

    def differs(data: _Data) -> list[Condition]:
        first, last = data.y[0], data.y[-1]
        message = (
            f"The first and last `y` point along axis {known.axis} must be identical (within machine precision) when "
            "bc_type='periodic'."
        )
        is_other = (xp.abs(first - last) > 1e-15 * (1 + xp.abs(last))).any()
        return [(is_other, lambda number: ValueError(message))] if is_periodic else []

    data, _ = _prepared(points, values, axis, known, more=differs)
    if not data.y.size:
        return _cubic(data, data.y, known)
    ends = [_condition(end) for end in ((bc_type, bc_type) if isinstance(bc_type, str) else bc_type)]
    return _cubic(data, _periodic(data) if is_periodic else _spline_slopes(data, ends), known)


def _condition(end: Any) -> tuple[int, Any] | None:
    """Return the order and the value of the derivative at an end; None if the nearest inner point is no knot."""
    if isinstance(end, str):
        return {"clamped": (1, 0.0), "natural": (2, 0.0)}.get(end)
    order, value = end
    return order, value


def _inner_rows(data: _Data) -> tuple[GpuArray, GpuArray]:
    """Return the main diagonal and the right sides of the equations of all points but the first and the last."""
    before, after = data.widths[:-1], data.widths[1:]
    steps = data.widths.reshape(-1)
    return 2 * (steps[:-1] + steps[1:]), 3 * (after * data.slopes[:-1] + before * data.slopes[1:])


def _spline_slopes(data: _Data, ends: list[tuple[int, Any] | None]) -> GpuArray:
    """Return the slopes that make the curvature continuous, with a condition at each end."""
    count = data.x.size
    if count == 2:  # lines, unless derivatives are given
        ends = [(1, data.slopes[0]) if end is None else end for end in ends]
    if count == 3 and ends == [None, None]:
        return _parabola(data)
    main, right = _inner_rows(data)
    steps = data.widths.reshape(-1)
    first = _end_row(data, ends[0], steps, data.widths, data.slopes, 1)
    last = _end_row(data, ends[1], steps[::-1], data.widths[::-1], data.slopes[::-1], -1)
    low = xp.concat([steps[1:], last[1]])
    high = xp.concat([first[1], steps[:-1]])
    return _solved(low, xp.concat([first[0], main, last[0]]), high, xp.concat([first[2], right, last[2]]))


def _parabola(data: _Data) -> GpuArray:
    """Return the slopes of the parabola through three points."""
    (before, after), (left, right) = data.widths, data.slopes
    middle = (after * left + before * right) / (before + after)
    return xp.stack([2 * left - middle, middle, 2 * right - middle])


def _solved(low: GpuArray, main: GpuArray, high: GpuArray, right: GpuArray) -> GpuArray:
    return tridiagonal_solution(low, main, high, right.reshape(right.shape[0], -1)).reshape(right.shape)


def _end_row(
    data: _Data, condition: tuple[int, Any] | None, steps: GpuArray, widths: GpuArray, slopes: GpuArray, sign: int
) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return the equation of an end: the factors of its slope and of the next one, and the right side.

    Widths and slopes are in order from this end; ``sign`` is -1 at the last point.
    """
    if condition is None:
        both = widths[:1] + widths[1:2]
        right = ((widths[:1] + 2 * both) * widths[1:2] * slopes[:1] + widths[:1] ** 2 * slopes[1:2]) / both
        return steps[1:2], both.reshape(-1), right
    order, value = condition
    values = xp.asarray(value, device=data.y.device).astype(data.y.dtype, copy=False).broadcast(data.y.shape[1:])[None]
    if order == 1:
        return xp.ones_like(steps[:1]), xp.zeros_like(steps[:1]), values
    right = 3 * slopes[:1] * widths[:1] - sign * 0.5 * values * widths[:1] ** 2
    return 2 * steps[:1], steps[:1], right


def _periodic(data: _Data) -> GpuArray:
    """Return the slopes of a period: the equations without the last unknown are solved for two right sides."""
    count = data.x.size
    if count == 2:
        return xp.concat([data.slopes, data.slopes])
    if count == 3:
        mean = (data.slopes / data.widths).sum(0, keepdims=True) / (1 / data.widths).sum(0, keepdims=True)
        return xp.concat([mean, mean, mean])
    steps, widths, slopes = data.widths.reshape(-1), data.widths, data.slopes
    main, right = _inner_rows(data)
    main = xp.concat([2 * (steps[-1:] + steps[:1]), main])
    right = xp.concat([3 * (widths[:1] * slopes[-1:] + widths[-1:] * slopes[:1]), right])
    others = right[:-1].reshape(count - 2, -1)
    row = xp.arange(count - 2, device=data.x.device)
    unknown = -xp.where(row == 0, steps[0], 0.0) - xp.where(row == count - 3, steps[-3], 0.0)
    sides = xp.concat([others, unknown[:, None].astype(others.dtype)], axis=1)
    low, high = steps[1:-1], xp.concat([steps[-1:], steps[: count - 4]])
    solved = tridiagonal_solution(low, main[:-1], high, sides)
    known, share = solved[:, :-1], solved[:, -1:]
    above = right[-1].reshape(-1) - steps[-2] * known[0] - steps[-1] * known[-1]
    last = (above / (main[-1] + steps[-2] * share[0] + steps[-1] * share[-1]))[None]
    result = xp.concat([known + last * share, last])
    return xp.concat([result, result[:1]]).reshape(data.y.shape)


# -- interpolants that keep the shape of the data ---------------------------------------------------------------------


def pchip(x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> Fit:
    """Return the monotone interpolant, as :class:`scipy.interpolate.PchipInterpolator`."""
    points, values = as_arrays(x, y)
    known = _few(scipy_interpolate.PchipInterpolator, points, values, axis, extrapolate=extrapolate)
    data, _ = _prepared(points, values, axis, known, more=lambda data: [])
    if data.x.size == 2:
        return _cubic(data, xp.concat([data.slopes, data.slopes]), known)
    widths, slopes = data.widths, data.slopes
    first, second = 2 * widths[1:] + widths[:-1], widths[1:] + 2 * widths[:-1]
    is_flat = (xp.sign(slopes[1:]) != xp.sign(slopes[:-1])) | (slopes[1:] == 0) | (slopes[:-1] == 0)
    before, after = (xp.where(is_flat, 1.0, slope) for slope in (slopes[:-1], slopes[1:]))
    inner = xp.where(is_flat, 0.0, (first + second) / (first / before + second / after))
    ends = [_monotone_end(widths[::step], slopes[::step]) for step in (1, -1)]
    return _cubic(data, xp.concat([ends[0], inner, ends[1]]), known)


def _monotone_end(widths: GpuArray, slopes: GpuArray) -> GpuArray:
    """Return the slope at an end by three points, of the sign of the slope beside it and at most three times as large.

    Cleve Moler, Numerical Computing with MATLAB, section 3.6.
    """
    near, next_to = slopes[:1], slopes[1:2]
    result = ((2 * widths[:1] + widths[1:2]) * near - widths[:1] * next_to) / (widths[:1] + widths[1:2])
    is_steep = (xp.sign(near) != xp.sign(next_to)) & (xp.abs(result) > 3 * xp.abs(near))
    return xp.where(xp.sign(result) != xp.sign(near), 0.0, xp.where(is_steep, 3 * near, result))


def akima(x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> Fit:
    """Return Akima's interpolant, as :class:`scipy.interpolate.Akima1DInterpolator`."""
    points, values = as_arrays(x, y)
    known = _few(
        scipy_interpolate.Akima1DInterpolator, points, values, axis, method=method, extrapolate=extrapolate
    )  # fmt: skip
    data, _ = _prepared(points, values, axis, known, more=lambda data: [])
    slopes = data.slopes
    if data.x.size == 2:
        return _cubic(data, xp.concat([slopes, slopes]), known)
    below = 2 * slopes[:1] - slopes[1:2]
    above = 2 * slopes[-1:] - slopes[-2:-1]
    line = xp.concat([2 * below - slopes[:1], below, slopes, above, 2 * above - slopes[-1:]])
    change = xp.abs(xp.diff(line, axis=0))
    if method == "makima":
        change = change + 0.5 * xp.abs(line[1:] + line[:-1])
    after, before = change[2:], change[:-2]
    total = after + before
    is_defined = total > _DEFINED * total.max() if total.size else total > 0
    share = before / xp.where(is_defined, total, 1.0)
    rates = xp.where(
        is_defined, line[1:-2] + share * (line[2:-1] - line[1:-2]), 0.5 * (line[3:] + line[:-3])
    )  # fmt: skip
    return _cubic(data, rates, known)
