"""Interpolation between the points of grids, and of one variable by SciPy's older class."""

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from operator import index
from typing import Any, Final, cast

import numpy as np
from scipy import interpolate as scipy_interpolate

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, device_among, numbers, read
from gpuarray.functions.fallback import on_host
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._mirror import hosted, is_hosts, mirrors, run_scipy
from gpuarray.scipy.interpolate._piecewise import BSpline, PPoly, fitted

__all__ = [
    "RegularGridInterpolator", "barycentric_interpolate", "griddata", "interp1d", "interpn", "krogh_interpolate",
    "pchip_interpolate", "splev", "splint", "sproot",
]  # fmt: skip

_METHODS: Final = ("linear", "nearest", "slinear", "cubic", "quintic", "pchip")
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
pchip_interpolate = hosted(scipy_interpolate.pchip_interpolate, _NO_COMPOSITION, name="interpolate.pchip_interpolate")
splev = hosted(scipy_interpolate.splev, _NO_COMPOSITION, name="interpolate.splev")
splint = hosted(scipy_interpolate.splint, _NO_COMPOSITION, name="interpolate.splint")
sproot = hosted(scipy_interpolate.sproot, _NO_COMPOSITION, name="interpolate.sproot")


class RegularGridInterpolator:
    """Interpolation of values on a rectangular grid, as :class:`scipy.interpolate.RegularGridInterpolator`.

    The methods "linear" and "nearest" are computed on the device of the values; SciPy computes the others on the host.

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
        array = as_array(values, device_among(values))
        self.values = (
            array if array.dtype.kind in "fc" and array.dtype != dtypes.float16 else array.astype(dtypes.float64)
        )
        grid = [np.asarray(read(line), float) for line in points]
        if len(grid) > array.ndim:
            raise ValueError(f"There are {len(grid)} point arrays, but values has {array.ndim} dimensions")
        for axis, line in enumerate(grid):
            if line.ndim != 1:
                raise ValueError(f"The points in dimension {axis} must be 1-dimensional")
            steps = np.diff(line)
            if (steps < 0).all() and len(line) > 1:
                grid[axis] = line[::-1].copy()
                self.values = xp.flip(self.values, axis)
            elif not (steps > 0).all():
                raise ValueError(f"The points in dimension {axis} must be strictly ascending or descending")
            if array.shape[axis] != len(line):
                raise ValueError(f"There are {len(line)} points and {array.shape[axis]} values in dimension {axis}")
        self.grid = tuple(grid)
        self._host: Any = None

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
        method = self.method if method is None else method
        if method not in _METHODS:
            raise ValueError(f"Method '{method}' is not defined")
        if method not in ("linear", "nearest") or nu is not None or is_hosts((xi, self.values), {}):
            return cast(GpuArray, self._by_scipy(xi, method, nu))
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
        found = self._nearest(lines) if method == "nearest" else self._linear(lines)
        trailing = (1,) * (self.values.ndim - len(self.grid))
        if not self.bounds_error and self.fill_value is not None:
            found = xp.where(outside.reshape(outside.shape + trailing), self.fill_value, found)
        invalid = lines[0] != lines[0]
        for line in lines[1:]:
            invalid = invalid | (line != line)
        return xp.where(invalid.reshape(invalid.shape + trailing), np.nan, found)

    def _by_scipy(self, xi: Any, method: str, nu: Any) -> Any:
        if self._host is None:
            solver, arguments = self._solver
            self._host, _ = fitted(
                scipy_interpolate.RegularGridInterpolator,
                (self.grid, self.values, self.method, self.bounds_error, self.fill_value),
                {"solver": solver, "solver_args": arguments},
            )
        return run_scipy(self._host, (xi,), {"method": method, "nu": nu})

    def _outside(self, lines: list[GpuArray]) -> GpuArray:
        found: GpuArray | None = None
        for axis, (line, grid) in enumerate(zip(lines, self.grid, strict=True)):
            beyond = (line < grid[0]) | (line > grid[-1])
            if self.bounds_error and bool(beyond.any()):
                raise ValueError(f"One of the requested xi is out of bounds in dimension {axis}")
            found = beyond if found is None else found | beyond
        assert found is not None
        return found

    def _cells(self, lines: list[GpuArray]) -> list[tuple[GpuArray, GpuArray]]:
        """Return the number of the cell of points along each axis, and how far within it they are."""
        found = []
        for line, grid in zip(lines, self.grid, strict=True):
            points = as_array(grid.astype(line.dtype), line.device)
            if len(grid) == 1:
                found.append((xp.zeros_like(line, dtype=dtypes.int64), xp.zeros_like(line)))
                continue
            place = xp.clip(xp.searchsorted(points, line) - 1, 0, len(grid) - 2)
            low, high = xp.take(points, place), xp.take(points, place + 1)
            found.append((place, (line - low) / (high - low)))
        return found

    def _at(self, places: Sequence[GpuArray]) -> GpuArray:
        """Return the values at the points of the grid with given numbers."""
        shape = self.values.shape[: len(self.grid)]
        flat = self.values.reshape(prod(shape), *self.values.shape[len(shape) :])
        number = places[0]
        for place, extent in zip(places[1:], shape[1:], strict=True):
            number = number * extent + place
        return xp.take(flat, number.reshape(-1), axis=0).reshape(*number.shape, *flat.shape[1:])

    def _nearest(self, lines: list[GpuArray]) -> GpuArray:
        return self._at([xp.where(part <= 0.5, place, place + 1) for place, part in self._cells(lines)])

    def _linear(self, lines: list[GpuArray]) -> GpuArray:
        cells = self._cells(lines)
        trailing = (1,) * (self.values.ndim - len(self.grid))
        total: Any = None
        for corner in product((0, 1), repeat=len(cells)):
            places, weight = [], None
            for bit, (place, part), grid in zip(corner, cells, self.grid, strict=True):
                places.append(xp.minimum(place + bit, len(grid) - 1))
                share = part if bit else 1 - part
                weight = share if weight is None else weight * share
            assert weight is not None
            term = self._at(places) * weight.reshape(weight.shape + trailing)
            total = term if total is None else total + term
        return cast(GpuArray, total)


@mirrors(scipy_interpolate.interpn, kind=COMPOSED)
def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> GpuArray:
    """Return the values at points between those of a rectangular grid."""
    found = RegularGridInterpolator(points, values, method, bounds_error, fill_value)
    return found(xi)


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
        self._host, self._device = fitted(
            scipy_interpolate.interp1d, (x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted), {}
        )
        self._axis = index(axis) % self._host.y.ndim
        self._inside = self._evaluator(kind)

    def _evaluator(self, kind: Any) -> Callable[[GpuArray], GpuArray] | None:
        """Return what computes the values at points, also beyond the ends; None if SciPy does."""
        x, y, axis = self._host.x, self._host.y, self._axis
        if kind in _STEPS:
            values, count = as_array(y, self._device), len(x)
            edges, side, first = _STEPS[kind](x)
            line = as_array(edges, self._device)

            def taken(points: GpuArray) -> GpuArray:
                places = xp.clip(xp.searchsorted(line, points, side=side), first, count - 1 + first) - first
                return xp.take(values, places, axis=axis)

            return taken
        spline: PPoly | BSpline
        if kind == "linear" and len(x) > 1:
            lines, breaks = np.moveaxis(y, axis, 0), x.astype(np.float64)
            slopes = np.diff(lines, axis=0) / np.diff(breaks).reshape(-1, *(1,) * (lines.ndim - 1))
            spline = PPoly.__new__(PPoly)
            pieces = scipy_interpolate.PPoly.construct_fast(np.stack([slopes, lines[:-1]]), breaks, True, axis)
            spline._fit(pieces, self._device)
            return spline
        if kind == "linear" or np.isnan(x).any() or np.isnan(y).any():
            return None
        spline = BSpline.__new__(BSpline)
        fit = scipy_interpolate.make_interp_spline(x, y, k=_ORDERS.get(kind, kind), axis=axis)
        spline._fit(fit, self._device)
        return spline

    def __call__(self, x: Any) -> GpuArray:
        """Return the values at points, whose axes are in place of the interpolated axis."""
        host = self._host
        if is_hosts((x,), {}):
            return cast(GpuArray, run_scipy(host, (x,), {}))
        if self._inside is None:
            return cast(GpuArray, on_host(host, (x,), {}, _INVALID, "scipy.interpolate.interp1d"))
        points = x if isinstance(x, GpuArray) else as_array(x, self._device)
        below, above = points < host.x[0], points > host.x[-1]
        if host.bounds_error:
            (is_beyond,) = numbers((below | above).any())
            if is_beyond:
                raise ValueError("A value in x_new is outside the interpolation range.")
        found = self._inside(points)
        fill = host.fill_value
        if isinstance(fill, str):  # "extrapolate"
            return found
        others = host.y.shape[: self._axis], host.y.shape[self._axis + 1 :]
        for beyond, value in zip((below, above), fill if isinstance(fill, tuple) else (fill, fill), strict=True):
            given = np.broadcast_to(value, others[0] + others[1]).astype(found.dtype)
            put = as_array(given.reshape((*others[0], *(1,) * points.ndim, *others[1])), found.device)
            found = xp.where(beyond.reshape((*points.shape, *(1,) * len(others[1]))), put, found)
        return found
