"""Piecewise polynomials: splines and other interpolants of one variable."""

from typing import Any, Final, cast

import numpy as np
from scipy import interpolate as scipy_interpolate

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, default_device, joint_device_of
from gpuarray.device import Device
from gpuarray.functions.arguments import as_array, is_on_host, read
from gpuarray.functions.registry import COMPOSED, Implementation
from gpuarray.runtime import telemetry
from gpuarray.scipy._mirror import IMPLEMENTATIONS, among, is_hosts, run_scipy

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator",
    "make_interp_spline",
]  # fmt: skip

_FIT: Final = "SciPy fits the interpolant on the host"


def fitted(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Device]:
    """Return what SciPy fits to host copies of arrays, which are counted as a fallback, and the device of these."""
    arrays = among(args, kwargs)
    device = joint_device_of(arrays) or default_device()
    if arrays and not is_on_host(device):
        name = f"scipy.interpolate.{original.__name__}"
        telemetry.fallback(name, _FIT, sum(array.nbytes for array in arrays))
    return original(*map(_read, args), **{key: _read(value) for key, value in kwargs.items()}), device


def _read(value: Any) -> Any:
    return read(value) if isinstance(value, GpuArray) else value


class _Interpolant:
    """A piecewise polynomial. Attributes and methods other than calls are those of SciPy's object on the host."""

    _original: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._fit(*fitted(self._original, args, kwargs))

    def _fit(self, host: Any, device: Device) -> None:
        self._host = host
        self._device = device
        self._pieces: dict[int, tuple[GpuArray, GpuArray]] = {}

    def _polynomials(self, nu: int) -> tuple[Any, Any]:
        """Return coefficients, the highest first, and breakpoints of a derivative."""
        found = self._host.derivative(nu) if nu else self._host
        return found.c, found.x

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> GpuArray:
        """Return the values, or those of a derivative, at points.

        Parameters
        ----------
        x : array_like
            The points.
        nu : int
            The order of the derivative.
        extrapolate : bool or "periodic", optional
            How the interpolant continues; by default as it was made.

        Returns
        -------
        GpuArray
            The axes of ``x`` are in place of the interpolated axis.
        """
        if is_hosts((x,), {}) and (isinstance(x, GpuArray) or is_on_host(self._device)):
            return cast(GpuArray, run_scipy(self._host, (x, nu, extrapolate), {}))
        points = x if isinstance(x, GpuArray) else as_array(x, self._device)
        points = points.astype(dtypes.float64, copy=False)
        if nu not in self._pieces:
            if nu < 0:
                raise ValueError("Order of derivative cannot be negative")
            coefficients, breaks = self._polynomials(nu)
            self._pieces[nu] = (
                as_array(np.ascontiguousarray(coefficients), points.device),
                as_array(breaks, points.device),
            )
        coefficients, breaks = self._pieces[nu]
        first, last = float(self._limits()[0]), float(self._limits()[1])
        kind = self._host.extrapolate if extrapolate is None else extrapolate
        inside = points
        if isinstance(kind, str) and kind == "periodic":
            inside = first + xp.remainder(points - first, last - first)
        place = xp.clip(xp.searchsorted(breaks, inside, side="right") - 1, 0, breaks.size - 2)
        trailing = (1,) * (coefficients.ndim - 2)
        offset = (inside - xp.take(breaks, place)).reshape(points.shape + trailing)
        terms = xp.take(coefficients, place.reshape(-1), axis=1)
        terms = terms.reshape(terms.shape[0], *points.shape, *coefficients.shape[2:])
        found = terms[0]
        for k in range(1, terms.shape[0]):
            found = found * offset + terms[k]
        missing = xp.isnan(points)
        if kind is False or (not isinstance(kind, str) and not kind):
            missing = missing | (points < first) | (points > last)
        found = xp.where(missing.reshape(points.shape + trailing), np.nan, found)
        axis = self._host.axis
        if not axis:
            return found
        order = list(range(found.ndim))
        return found.transpose(
            [*order[points.ndim : points.ndim + axis], *order[: points.ndim], *order[points.ndim + axis :]]
        )

    def _limits(self) -> tuple[Any, Any]:
        return self._host.x[0], self._host.x[-1]

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative, an interpolant of the same kind."""
        return self._same(self._host.derivative(nu))

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the antiderivative, an interpolant of the same kind."""
        return self._same(self._host.antiderivative(nu))

    def _same(self, host: Any) -> Any:
        kind = BSpline if isinstance(host, scipy_interpolate.BSpline) else PPoly
        found = kind.__new__(kind)
        found._fit(host, self._device)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._host, name)
        if callable(value):
            return lambda *args, **kwargs: run_scipy(value, args, kwargs)
        return as_array(value, self._device) if isinstance(value, np.ndarray) else value


class PPoly(_Interpolant):
    """A piecewise polynomial, as :class:`scipy.interpolate.PPoly`, evaluated on the device of the points."""

    _original = scipy_interpolate.PPoly


class CubicSpline(_Interpolant):
    """A cubic spline, as :class:`scipy.interpolate.CubicSpline`: fitted on the host, evaluated on the device."""

    _original = scipy_interpolate.CubicSpline


class CubicHermiteSpline(_Interpolant):
    """An interpolant of values and derivatives, as :class:`scipy.interpolate.CubicHermiteSpline`."""

    _original = scipy_interpolate.CubicHermiteSpline


class PchipInterpolator(_Interpolant):
    """A monotone cubic interpolant, as :class:`scipy.interpolate.PchipInterpolator`."""

    _original = scipy_interpolate.PchipInterpolator


class Akima1DInterpolator(_Interpolant):
    """Akima's cubic interpolant, as :class:`scipy.interpolate.Akima1DInterpolator`."""

    _original = scipy_interpolate.Akima1DInterpolator


class BSpline(_Interpolant):
    """A sum of B-splines, as :class:`scipy.interpolate.BSpline`, evaluated on the device as piecewise polynomials."""

    _original = scipy_interpolate.BSpline

    def _polynomials(self, nu: int) -> tuple[Any, Any]:
        spline = self._host
        if nu > spline.k:  # SciPy has no spline of these zeros
            spline = scipy_interpolate.BSpline(spline.t, 0 * spline.c, spline.k)
        elif nu:
            spline = spline.derivative(nu)
        low, high = spline.k, len(spline.t) - spline.k - 1
        shape = spline.c.shape[1:]
        lines = spline.c.reshape(len(spline.c), -1)[: len(spline.t) - spline.k - 1]
        pieces = [scipy_interpolate.PPoly.from_spline((spline.t, line, spline.k)).c[:, low:high] for line in lines.T]
        return np.stack(pieces, -1).reshape(spline.k + 1, high - low, *shape), spline.t[low : high + 1]

    def _limits(self) -> tuple[Any, Any]:
        return self._host.t[self._host.k], self._host.t[-self._host.k - 1]


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> BSpline:
    """Return the spline of order ``k`` through points, which SciPy fits on the host.

    See :func:`scipy.interpolate.make_interp_spline` for the parameters and errors.
    """
    found = BSpline.__new__(BSpline)
    found._fit(*fitted(scipy_interpolate.make_interp_spline, (x, y, k, t, bc_type, axis, check_finite), {}))
    return found


IMPLEMENTATIONS.setdefault("interpolate", {})["make_interp_spline"] = Implementation(COMPOSED, _FIT, make_interp_spline)
