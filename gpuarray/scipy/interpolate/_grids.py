"""Interpolation between the points of grids, and of one variable by SciPy's older class."""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce, wraps
from itertools import product
from math import prod
from operator import index, or_
from typing import Any, Final, cast

import numpy as np
from scipy import interpolate as scipy_interpolate

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import along, as_array, constant, device_among, read
from gpuarray.functions.fallback import among
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import tape
from gpuarray.scipy._calls import host_of, is_hosts, run_counted, run_if_host, run_scipy
from gpuarray.scipy._mirror import hosted, mirrors
from gpuarray.scipy.interpolate._fits import Fit, picked
from gpuarray.scipy.interpolate._piecewise import BSpline, PchipInterpolator, PPoly, fitted, make_interp_spline
from gpuarray.scipy.linalg._arguments import Condition, check, check_all

__all__ = [
    "RegularGridInterpolator", "barycentric_interpolate", "griddata", "interp1d", "interpn", "krogh_interpolate",
    "pchip_interpolate", "splev", "splint", "sproot",
]  # fmt: skip

_METHODS: Final = ("linear", "nearest", "slinear", "cubic", "quintic", "pchip")
#: The methods that are products of splines, and the most points of an axis, whose coefficients are a product with a
#: matrix of as many rows.
_DEGREES: Final = {"slinear": 1, "cubic": 3, "quintic": 5}
_LONGEST: Final = 2048
_NO_COMPOSITION: Final = "it has no composition"
_INVALID: Final = "SciPy has its own rules for splines through NaN, and for lines through a single point"
#: The orders of the splines that :class:`interp1d` has by name.
_ORDERS: Final = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}


def _middles(x: Any) -> Any:
    return x[1:] / 2.0 + x[:-1] / 2.0


#: Of its kinds without slopes: where values change, on which side points that are there lie, and the first number.
_STEPS: Final[dict[Any, Callable[[Any], tuple[Any, Any, int]]]] = {
    "nearest": lambda x: (_middles(x), "left", 0),
    "nearest-up": lambda x: (_middles(x), "right", 0),
    "previous": lambda x: (np.nextafter(x, -np.inf), "left", 1),
    "next": lambda x: (np.nextafter(x, np.inf), "right", 0),
}

barycentric_interpolate = hosted(
    scipy_interpolate.barycentric_interpolate, _NO_COMPOSITION, name="interpolate.barycentric_interpolate"
)
griddata = hosted(scipy_interpolate.griddata, _NO_COMPOSITION, name="interpolate.griddata")
krogh_interpolate = hosted(scipy_interpolate.krogh_interpolate, _NO_COMPOSITION, name="interpolate.krogh_interpolate")
splev = hosted(scipy_interpolate.splev, _NO_COMPOSITION, name="interpolate.splev")
splint = hosted(scipy_interpolate.splint, _NO_COMPOSITION, name="interpolate.splint")
sproot = hosted(scipy_interpolate.sproot, _NO_COMPOSITION, name="interpolate.sproot")


class RegularGridInterpolator:
    """Interpolation of values on a rectangular grid, as :class:`scipy.interpolate.RegularGridInterpolator`.

    The values are on the device. SciPy computes the method "pchip", and splines along axes of more than 2048 points,
    on the host.

    Parameters
    ----------
    points : sequence of array_like
        The coordinates of the grid along each axis, ascending or descending.
    values : array_like
        The values, of shape (m1, ..., mn, ...).
    method : {"linear", "nearest", "slinear", "cubic", "quintic", "pchip"}
        The method of interpolation.
    bounds_error : bool
        Whether a point outside of the grid is an error.
    fill_value : number or None
        The value outside of the grid; None continues the interpolant.
    solver : callable, optional
        As in SciPy.
    solver_args : dict, optional
        As in SciPy.

    Raises
    ------
    ValueError
        If the shapes do not fit, coordinates are not in order, or the method is none of these.
    """

    def __init__(
        self, points: Sequence[Any], values: Any, method: str = "linear", bounds_error: bool = True,
        fill_value: Any = np.nan, *, solver: Any = None, solver_args: Any = None,
    ) -> None:  # fmt: skip
        if method not in _METHODS:
            raise ValueError(f"Method '{method}' is not defined")
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self._solver = solver, solver_args
        self._data = points, values
        self._splines: dict[str, tuple[GpuArray, list[BSpline]]] = {}
        self._device = host_of(among(self._data, {}))
        """The device of the data, if it is the host's."""
        if self._device is not None:
            _ = self._host
        elif method in ("pchip", *_DEGREES):
            self._check_extents(method)
        else:
            _ = self._checked

    @cached_property
    def _host(self) -> Any:
        """SciPy's object."""
        solver, arguments = self._solver
        points, values = self._data
        return fitted(
            scipy_interpolate.RegularGridInterpolator,
            (tuple(map(read, points)), values, self.method, self.bounds_error, self.fill_value),
            {"solver": solver, "solver_args": arguments},
            self._device,
        )[0]

    @property
    def grid(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The coordinates along each axis, ascending."""
        return self._checked[0]

    @property
    def values(self) -> GpuArray:
        """The values on this grid."""
        return self._checked[1]

    @cached_property
    def _checked(self) -> tuple[tuple[np.ndarray[Any, Any], ...], GpuArray]:
        points, data = self._data
        array = as_array(data, device_among(data))
        values = array if array.dtype.kind in "fc" and array.dtype != dtypes.float16 else array.astype(dtypes.float64)
        grid = [np.asarray(read(line), float) for line in points]
        if len(grid) > array.ndim:
            raise ValueError(f"There are {len(grid)} point arrays, but values has {array.ndim} dimensions")
        for axis, line in enumerate(grid):
            if line.ndim != 1:
                raise ValueError(f"The points in dimension {axis} must be 1-dimensional")
            steps = np.diff(line)
            if (steps < 0).all() and len(line) > 1:
                grid[axis] = line[::-1].copy()
                values = xp.flip(values, axis)
            elif not (steps > 0).all():
                raise ValueError(f"The points in dimension {axis} must be strictly ascending or descending")
            if array.shape[axis] != len(line):
                raise ValueError(f"There are {len(line)} points and {array.shape[axis]} values in dimension {axis}")
        return tuple(grid), values

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> GpuArray:
        """Return the values at points.

        Parameters
        ----------
        xi : array_like or tuple of array_like
            The points, of shape (..., n), or their coordinates, which broadcast.
        method : str, optional
            The method; by default that of the interpolator.
        nu : sequence of int, optional
            Orders of derivatives, for the methods of splines.
        """
        if type(xi) is GpuArray and xi.device is self._device:
            result = run_if_host(self._host, (xi, method), {"nu": nu})
            if result is not NotImplemented:
                return cast(GpuArray, result)
        method = self.method if method is None else method
        if method not in _METHODS:
            raise ValueError(f"Method '{method}' is not defined")
        if is_hosts((xi, *self._data), {}):
            return cast(GpuArray, run_scipy(self._host, (xi,), {"method": method, "nu": nu}))
        is_spline = method in _DEGREES and max(map(len, self.grid)) <= _LONGEST
        if not (is_spline or (method in ("linear", "nearest") and nu is None)):
            return cast(GpuArray, run_scipy(self._host, (xi,), {"method": method, "nu": nu}, self.values.device))
        if isinstance(xi, tuple):
            lines = [*xp.broadcast_arrays(*(as_array(line, self.values.device) for line in xi))]
        else:
            whole = as_array(xi, self.values.device)
            whole = whole.reshape(1, -1) if whole.ndim < 2 and len(self.grid) > 1 else whole
            whole = whole[..., None] if whole.ndim == 1 else whole
            lines = [whole[..., k] for k in range(whole.shape[-1])]
        if len(lines) != len(self.grid):
            raise ValueError(
                f"The requested sample points xi have dimension {len(lines)} but this RegularGridInterpolator has "
                f"dimension {len(self.grid)}"
            )
        lines = [line.astype(dtypes.float64, copy=False) for line in lines]
        outside = self._outside(lines)
        result = (
            self._spline(lines, method, nu) if is_spline
            else self._nearest(lines) if method == "nearest" else self._linear(lines)
        )  # fmt: skip
        trailing = (1,) * (self.values.ndim - len(self.grid))
        if not self.bounds_error and self.fill_value is not None:
            result = xp.where(outside.reshape(outside.shape + trailing), self.fill_value, result)
        invalid = reduce(or_, [line != line for line in lines])
        return xp.where(invalid.reshape(invalid.shape + trailing), np.nan, result)

    def _check_extents(self, method: str) -> None:
        least = _DEGREES.get(method, 3) + 1
        for axis, line in enumerate(self.grid):
            if len(line) < least:
                raise ValueError(
                    f"There are {len(line)} points in dimension {axis}, but method {method} requires at least  {least} "
                    "points per dimension."
                )

    def _fitted(self, method: str) -> tuple[GpuArray, list[BSpline]]:
        """Return the coefficients of products of splines, and for each axis the splines that they are products of.

        Of the splines with a coefficient of 1, as many as are not 0 at a point follow one another. A column has those
        whose numbers have one remainder, so that there is one of each at a point.
        """
        degree = _DEGREES[method]
        self._check_extents(method)
        coefficients, splines = self.values, []
        for axis, line in enumerate(self.grid):
            fit = scipy_interpolate.make_interp_spline(line, np.eye(len(line)), degree)
            matrix = as_array(fit.c, self.values.device)
            coefficients = xp.moveaxis(xp.tensordot(matrix, coefficients, (1, axis)), 0, axis)
            one_each = np.eye(degree + 1)[np.arange(len(line)) % (degree + 1)]
            spline = BSpline.__new__(BSpline)
            spline._fit(scipy_interpolate.BSpline(fit.t, one_each, degree), self.values.device)
            splines.append(spline)
        return coefficients, splines

    def _spline(self, lines: list[GpuArray], method: str, nu: Any) -> GpuArray:
        """Return the values of products of splines, of which a sum over a box of coefficients is not 0."""
        orders = [0] * len(lines) if nu is None else [index(order) for order in nu]
        if len(orders) != len(lines):
            raise ValueError(f"invalid number of derivative orders nu = {nu} for ndim = {len(lines)}.")
        if min(orders) < 0:
            raise ValueError(f"derivatives must be positive, got nu = {nu}")
        if method not in self._splines:
            self._splines[method] = self._fitted(method)
        coefficients, splines = self._splines[method]
        width, ndim = _DEGREES[method] + 1, lines[0].ndim
        remainders = xp.arange(width, device=lines[0].device)
        cells, weight = [], None
        for axis, (line, spline, order) in enumerate(zip(lines, splines, orders, strict=True)):
            shape = (*line.shape, *(width if n == axis else 1 for n in range(len(lines))))
            first = spline.interval(line)[..., None]
            cells.append((first + xp.remainder(remainders - first, width)).reshape(shape))
            share = spline(line, order, True).reshape(shape)
            weight = share if weight is None else weight * share
        assert weight is not None
        terms = self._at(cells, coefficients)
        terms = terms * weight.reshape(weight.shape + (1,) * (terms.ndim - weight.ndim))
        return terms.sum(tuple(range(ndim, ndim + len(lines))))

    def _outside(self, lines: list[GpuArray]) -> GpuArray:
        outside: list[GpuArray] = []
        conditions: list[Condition] = []
        for axis, (line, grid) in enumerate(zip(lines, self.grid, strict=True)):
            outside.append((line < grid[0]) | (line > grid[-1]))
            message = f"One of the requested xi is out of bounds in dimension {axis}"
            conditions.append((outside[-1].any(), lambda number, message=message: ValueError(message)))  # type: ignore[misc]  # mypy infers no lambda with defaults
        if self.bounds_error:
            check_all(conditions, *lines)
        return reduce(or_, outside)

    def _cells(self, lines: list[GpuArray]) -> list[tuple[GpuArray, GpuArray]]:
        """Return the number of the cell of points along each axis, and how far within it they are."""
        cells = []
        for line, grid in zip(lines, self.grid, strict=True):
            points = as_array(grid.astype(line.dtype), line.device)
            if len(grid) == 1:
                cells.append((xp.zeros_like(line, dtype=dtypes.int64), xp.zeros_like(line)))
                continue
            cell = xp.clip(xp.searchsorted(points, line) - 1, 0, len(grid) - 2)
            low, high = (picked(points, cell + n) for n in (0, 1))
            cells.append((cell, (line - low) / (high - low)))
        return cells

    def _at(self, cells: Sequence[GpuArray], values: GpuArray) -> GpuArray:
        """Return values at the points of the grid with given numbers."""
        shape = values.shape[: len(self.grid)]
        flat = values.reshape(prod(shape), *values.shape[len(shape) :])
        number = cells[0]
        for cell, extent in zip(cells[1:], shape[1:], strict=True):
            number = number * extent + cell
        return picked(flat, number)

    def _nearest(self, lines: list[GpuArray]) -> GpuArray:
        cells = [xp.where(fraction <= 0.5, cell, cell + 1) for cell, fraction in self._cells(lines)]
        return self._at(cells, self.values)

    def _linear(self, lines: list[GpuArray]) -> GpuArray:
        cells = self._cells(lines)
        trailing = (1,) * (self.values.ndim - len(self.grid))
        total: Any = None
        for corner in product((0, 1), repeat=len(cells)):
            corner_cells, weight = [], None
            for bit, (cell, fraction), grid in zip(corner, cells, self.grid, strict=True):
                corner_cells.append(xp.minimum(cell + bit, len(grid) - 1))
                share = fraction if bit else 1 - fraction
                weight = share if weight is None else weight * share
            assert weight is not None
            term = self._at(corner_cells, self.values) * weight.reshape(weight.shape + trailing)
            total = term if total is None else total + term
        return cast(GpuArray, total)


@wraps(scipy_interpolate.interpn)
def _interpn(points: Any, values: Any, *args: Any, **kwargs: Any) -> Any:
    """Call SciPy's function with values that can be written to, for which it has a faster way."""
    return scipy_interpolate.interpn(points, np.array(values), *args, **kwargs)


@mirrors(_interpn, kind=COMPOSED)
def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> GpuArray:
    """Return the values at points between those of a rectangular grid."""
    interpolator = RegularGridInterpolator(points, values, method, bounds_error, fill_value)
    return interpolator(xi)


@mirrors(scipy_interpolate.pchip_interpolate, kind=COMPOSED)
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """Return the values, or derivatives, of the monotone interpolant of points; a list for a list of orders."""
    result = PchipInterpolator(xi, yi, axis)
    return [result(x, order) for order in der] if np.ndim(der) else result(x, der)


class interp1d:  # noqa: N801  # SciPy's name
    """Interpolation of one variable, as :class:`scipy.interpolate.interp1d`.

    SciPy fits splines on the host; all kinds are evaluated on the device of the points. Only splines through
    NaN, and lines through a single point, run on the host.

    Parameters
    ----------
    x, y : array_like
        The points, and the values along an axis.
    kind : str or int
        The kind of interpolation.
    axis : int
        The axis of ``y``.
    copy, bounds_error, fill_value, assume_sorted
        As in SciPy.
    """

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True, bounds_error: Any = None,
        fill_value: Any = np.nan, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        is_varying = bool(tape.state.tapes) and isinstance(y, GpuArray) and tape.varying(y.node())
        arguments = (x, constant(y) if is_varying else y, kind, axis, copy, bounds_error, fill_value, assume_sorted)
        self._host, self._device = fitted(scipy_interpolate.interp1d, arguments, {})
        self._axis = index(axis) % self._host.y.ndim
        self._kind = kind
        self._varying: GpuArray | None = None
        """The values in the order of the points, if a function is differentiated with respect to them."""
        if is_varying:
            order = slice(None) if assume_sorted else np.argsort(read(x), kind="mergesort")
            self._varying = y.astype(self._host.y.dtype, copy=False)[along(self._axis, order)]

    @cached_property
    def _inside(self) -> Callable[[GpuArray], GpuArray] | None:
        """The function that computes the values at points, also beyond the ends; None if SciPy does so."""
        x, axis, kind = self._host.x, self._axis, self._kind
        y: Any = self._host.y if self._varying is None else self._varying
        if kind in _STEPS:
            values, count = as_array(y, self._device), len(x)
            edges, side, first = _STEPS[kind](x)
            line = as_array(edges, self._device)

            def taken(points: GpuArray) -> GpuArray:
                cells = xp.clip(xp.searchsorted(line, points, side=side), first, count - 1 + first) - first
                return picked(values, cells, axis)

            return taken
        if kind == "linear" and len(x) > 1:
            lines, breaks = np.moveaxis(y, axis, 0), x.astype(np.float64)
            slopes = np.diff(lines, axis=0) / np.diff(breaks).reshape(-1, *(1,) * (lines.ndim - 1))
            pieces: Any = np.stack([slopes, lines[:-1]])
            spline = PPoly.__new__(PPoly)
            if isinstance(pieces, GpuArray):
                spline._take(Fit(pieces, as_array(breaks, self._device), True, axis))
            else:
                spline._fit(scipy_interpolate.PPoly.construct_fast(pieces, breaks, True, axis), self._device)
            return spline
        if kind == "linear" or np.isnan(x).any() or np.isnan(self._host.y).any():
            return None
        return make_interp_spline(x, y, k=_ORDERS.get(kind, kind), axis=axis)

    def __call__(self, x: Any) -> GpuArray:
        """Return the values at points, whose axes are in place of the interpolated axis."""
        host = self._host
        if self._varying is None:
            result = run_if_host(host, (x,), {})
            if result is not NotImplemented:
                return cast(GpuArray, result)
        if self._inside is None:
            if self._varying is not None:
                read(self._varying)  # raises the error of derivatives
            return run_counted(host, _INVALID, (x,), {}, "interpolate.interp1d")
        points = x if isinstance(x, GpuArray) else as_array(x, self._device)
        below, above = points < host.x[0], points > host.x[-1]
        if host.bounds_error:
            message = "A value in x_new is outside the interpolation range."
            check((below | above).any(), lambda number: ValueError(message), points)
        result = self._inside(points)
        fill = host.fill_value
        if isinstance(fill, str):  # "extrapolate"
            return result
        others = host.y.shape[: self._axis], host.y.shape[self._axis + 1 :]
        for beyond, value in zip((below, above), fill if isinstance(fill, tuple) else (fill, fill), strict=True):
            filled = np.broadcast_to(value, others[0] + others[1]).astype(result.dtype)
            put = as_array(filled.reshape((*others[0], *(1,) * points.ndim, *others[1])), result.device)
            result = xp.where(beyond.reshape((*points.shape, *(1,) * len(others[1]))), put, result)
        return result
