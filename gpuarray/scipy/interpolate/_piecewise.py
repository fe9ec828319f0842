"""Piecewise polynomials: splines and other interpolants of one variable."""

from typing import Any, Final, cast

import numpy as np
from scipy import interpolate as scipy_interpolate
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, default_device, joint_device_of
from gpuarray.device import Device
from gpuarray.functions.arguments import as_array, as_arrays, read
from gpuarray.functions.fallback import among
from gpuarray.functions.registry import COMPOSED, Implementation
from gpuarray.runtime import telemetry
from gpuarray.runtime.places import is_host_device
from gpuarray.scipy._calls import host_of, run_if_host, run_scipy
from gpuarray.scipy._mirror import IMPLEMENTATIONS
from gpuarray.scipy.interpolate import _bsplines, _fits
from gpuarray.scipy.interpolate._bsplines import Spline
from gpuarray.scipy.interpolate._fits import Fit, picked

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator",
    "make_interp_spline",
]  # fmt: skip

_FIT: Final = "SciPy fits the interpolant on the host"


def fitted(
    original: Any, args: tuple[Any, ...], kwargs: dict[str, Any], device: Device | None = None
) -> tuple[Any, Device]:
    """Return the object that SciPy fits to host copies of arrays, and the device of these.

    Copies of arrays count as a fallback, unless the host is known to be their device.
    """
    if device is None:
        arrays = among(args, kwargs)
        device = joint_device_of(arrays) or default_device()
        if arrays and not is_host_device(device):
            name = f"scipy.interpolate.{original.__name__}"
            telemetry.fallback(name, _FIT, sum(array.nbytes for array in arrays))
    args = tuple([value.get() if type(value) is GpuArray else value for value in args])
    if kwargs:
        kwargs = {key: value.get() if type(value) is GpuArray else value for key, value in kwargs.items()}
    return original(*args, **kwargs), device


class _Interpolant:
    """A piecewise polynomial. Attributes and methods other than those below are those of SciPy's object on the host."""

    _original: Any = None
    _fitted: Any = None
    """Fits the interpolant on the device; None if SciPy does so on the host."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        arrays = among(args, kwargs)
        device = host_of(arrays)
        if self._fitted is None or not arrays or device is not None:
            self._fit(*fitted(self._original, args, kwargs, device))
        else:
            self._take(self._fitted(*args, **kwargs))

    def _fit(self, host: Any, device: Device) -> None:
        """Take what SciPy has fitted."""
        self._host, self._device = host, device
        self._how = host.extrapolate, host.axis
        self._pieces: dict[int, tuple[GpuArray, GpuArray]] = {}

    def _take(self, fit: Fit) -> None:
        """Take the coefficients that have been fitted on the device."""
        self._host, self._device = None, fit.c.device
        self._how = fit.extrapolate, fit.axis
        self._pieces = {0: (fit.c, fit.x)}

    def _known(self) -> Any:
        """Return SciPy's object, whose making on the host is counted for arrays of another device."""
        if self._host is None:
            extrapolate, axis = self._how
            self._host, _ = fitted(scipy_interpolate.PPoly, (*self._pieces[0], extrapolate, axis), {})
        return self._host

    def _polynomials(self, nu: int) -> tuple[Any, Any]:
        """Return coefficients, the highest first, and breakpoints of a derivative."""
        if self._host is not None:
            polynomials = self._host.derivative(nu) if nu else self._host
            return polynomials.c, polynomials.x
        c, x = self._pieces[0]
        if nu >= c.shape[0]:
            return xp.zeros_like(c[:1]), x
        factors = scipy_special.poch(np.arange(c.shape[0] - nu, 0, -1), nu)
        return c[: c.shape[0] - nu] * factors.reshape(-1, *(1,) * (c.ndim - 1)), x

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
        if self._host is not None and (isinstance(x, GpuArray) or is_host_device(self._device)):
            result = run_if_host(self._host, (x, nu, extrapolate), {})
            if result is not NotImplemented:
                return cast(GpuArray, result)
        points = x if isinstance(x, GpuArray) else as_array(x, self._device)
        points = points.astype(dtypes.float64, copy=False)
        coefficients, breaks = self._derivative(nu, points.device)
        first, last = breaks[0], breaks[-1]
        by_default, axis = self._how
        kind = by_default if extrapolate is None else extrapolate
        inside = points
        if isinstance(kind, str) and kind == "periodic":
            inside = first + xp.remainder(points - first, last - first)
        piece = self.interval(inside)
        trailing = (1,) * (coefficients.ndim - 2)
        offset = (inside - picked(breaks, piece)).reshape(points.shape + trailing)
        result = _value(picked(coefficients, piece, 1), offset)
        missing = xp.isnan(points)
        if kind is False or (not isinstance(kind, str) and not kind):
            missing = missing | (points < first) | (points > last)
        result = xp.where(missing.reshape(points.shape + trailing), np.nan, result)
        if not axis:
            return result
        order = list(range(result.ndim))
        return result.transpose(
            [*order[points.ndim : points.ndim + axis], *order[: points.ndim], *order[points.ndim + axis :]]
        )

    def _derivative(self, nu: int, device: Device) -> tuple[GpuArray, GpuArray]:
        """Return coefficients and breakpoints of a derivative on the device, where they are kept."""
        if nu not in self._pieces:
            if nu < 0:
                raise ValueError("Order of derivative cannot be negative")
            coefficients, breaks = self._polynomials(nu)
            self._pieces[nu] = as_array(coefficients, device), as_array(breaks, device)
        return self._pieces[nu]

    def interval(self, points: GpuArray) -> GpuArray:
        """Return the numbers of the polynomials that points belong to."""
        _, breaks = self._derivative(0, points.device)
        return xp.clip(xp.searchsorted(breaks, points, side="right") - 1, 0, breaks.size - 2)

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative, an interpolant of the same kind."""
        if self._host is not None:
            return self._same(self._host.derivative(nu))
        return self._of(*self._polynomials(nu), self._how[0]) if nu >= 0 else self.antiderivative(-nu)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the antiderivative, an interpolant of the same kind."""
        if self._host is not None:
            return self._same(self._host.antiderivative(nu))
        if nu <= 0:
            return self.derivative(-nu)
        c, x = self._pieces[0]
        for _ in range(nu):
            powers = np.arange(c.shape[0], 0, -1.0).reshape(-1, *(1,) * (c.ndim - 1))
            terms = xp.concat([c / powers, xp.zeros_like(c[:1])])
            rises = _value(terms, xp.diff(x).reshape(-1, *(1,) * (c.ndim - 2)))
            starts = xp.concat([xp.zeros_like(rises[:1]), rises[:-1].cumsum(0)])
            c = xp.concat([terms[:-1], starts[None]])
        extrapolate = self._how[0]
        return self._of(c, x, False if extrapolate == "periodic" else extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> GpuArray:
        """Return the integral between two numbers.

        Parameters
        ----------
        a, b : float
            The limits.
        extrapolate : bool or "periodic", optional
            How the interpolant continues; by default as it was made.
        """
        kind = self._how[0] if extrapolate is None else extrapolate
        if self._host is not None:
            return cast(GpuArray, run_scipy(self._host.integrate, (a, b, extrapolate), {}, self._device))
        whole = self.antiderivative()
        if not (isinstance(kind, str) and kind == "periodic"):
            return cast(GpuArray, whole(b, extrapolate=kind) - whole(a, extrapolate=kind))
        first, last = (self._pieces[0][1][end] for end in (0, -1))

        def until(end: Any) -> GpuArray:
            periods = xp.floor((end - first) / (last - first))
            return periods * (whole(last) - whole(first)) + cast(GpuArray, whole(end - periods * (last - first)))

        return until(b) - until(a)

    def _same(self, host: Any) -> Any:
        kind = BSpline if isinstance(host, scipy_interpolate.BSpline) else PPoly
        copied = kind.__new__(kind)
        copied._fit(host, self._device)
        return copied

    def _of(self, c: GpuArray, x: GpuArray, extrapolate: Any) -> Any:
        result = PPoly.__new__(PPoly)
        result._take(Fit(c, x, extrapolate, self._how[1]))
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._host is None and name in ("c", "x", "axis", "extrapolate"):
            c, x = self._pieces[0]
            return {"c": c, "x": x, "extrapolate": self._how[0], "axis": self._how[1]}[name]
        value = getattr(self._known(), name)
        if callable(value):
            return lambda *args, **kwargs: run_scipy(value, args, kwargs)
        return as_array(value, self._device) if isinstance(value, np.ndarray) else value


def _value(terms: GpuArray, at: GpuArray) -> GpuArray:
    """Return the value of polynomials, whose coefficients are along the first axis, the highest power first."""
    result = terms[0]
    for k in range(1, terms.shape[0]):
        result = result * at + terms[k]
    return result


def _pieces(c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> Fit:
    """Return polynomials, whose arguments SciPy checks."""
    coefficients, _ = as_arrays(c, x)
    host = scipy_interpolate.PPoly(np.zeros(coefficients.shape, coefficients.dtype), read(x), extrapolate, axis)
    for _ in range(2 if host.axis else 0):
        coefficients = xp.moveaxis(coefficients, host.axis + 1, 0)
    breaks = as_array(host.x, coefficients.device)
    return Fit(coefficients.astype(host.c.dtype, copy=False), breaks, host.extrapolate, host.axis)


class PPoly(_Interpolant):
    """A piecewise polynomial, as :class:`scipy.interpolate.PPoly`, evaluated on the device of the points."""

    _original = scipy_interpolate.PPoly
    _fitted = staticmethod(_pieces)


class CubicSpline(_Interpolant):
    """A cubic spline, as :class:`scipy.interpolate.CubicSpline`, fitted and evaluated on the device."""

    _original = scipy_interpolate.CubicSpline
    _fitted = staticmethod(_fits.spline)


class CubicHermiteSpline(_Interpolant):
    """An interpolant of values and derivatives, as :class:`scipy.interpolate.CubicHermiteSpline`."""

    _original = scipy_interpolate.CubicHermiteSpline
    _fitted = staticmethod(_fits.hermite)


class PchipInterpolator(_Interpolant):
    """A monotone cubic interpolant, as :class:`scipy.interpolate.PchipInterpolator`."""

    _original = scipy_interpolate.PchipInterpolator
    _fitted = staticmethod(_fits.pchip)


class Akima1DInterpolator(_Interpolant):
    """Akima's cubic interpolant, as :class:`scipy.interpolate.Akima1DInterpolator`."""

    _original = scipy_interpolate.Akima1DInterpolator
    _fitted = staticmethod(_fits.akima)


class BSpline(_Interpolant):
    """A sum of B-splines, as :class:`scipy.interpolate.BSpline`, evaluated on the device as piecewise polynomials."""

    _original = scipy_interpolate.BSpline

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        arrays = among((t, c), {})
        device = host_of(arrays)
        if not arrays or device is not None:
            self._fit(*fitted(self._original, (t, c, k, extrapolate, axis), {}, device))
            return
        coefficients, _ = as_arrays(c, t)
        host = self._original(read(t), np.zeros(coefficients.shape, coefficients.dtype), k, extrapolate, axis)
        coefficients = xp.moveaxis(coefficients.astype(host.c.dtype, copy=False), host.axis, 0)
        knots = as_array(host.t, coefficients.device)
        self._take_spline(Spline(knots, coefficients, host.k, host.extrapolate, host.axis))

    def _take_spline(self, spline: Spline) -> None:
        """Take the coefficients that have been fitted on the device."""
        self._spline = spline
        self._take(Fit(*_bsplines.polynomials(spline), spline.extrapolate, spline.axis))

    def _known(self) -> Any:
        if self._host is None:
            self._host, _ = fitted(scipy_interpolate.BSpline.construct_fast, tuple(self._spline), {})
        return self._host

    def _same(self, host: Any) -> Any:
        if not isinstance(host, Spline):
            return super()._same(host)
        result = BSpline.__new__(BSpline)
        result._take_spline(host)
        return result

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative, a spline."""
        if self._host is not None:
            return super().derivative(nu)
        return self._same(_bsplines.derivative(self._spline, nu)) if nu >= 0 else self.antiderivative(-nu)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the antiderivative, a spline."""
        if self._host is not None:
            return super().antiderivative(nu)
        return self._same(_bsplines.antiderivative(self._spline, nu)) if nu >= 0 else self.derivative(-nu)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and self._host is None and name in Spline._fields:
            return getattr(self._spline, name)
        return super().__getattr__(name)

    def _polynomials(self, nu: int) -> tuple[Any, Any]:
        spline = self._host
        if spline is None:
            return super()._polynomials(nu)
        if nu > spline.k:  # SciPy has no spline of these zeros
            spline = scipy_interpolate.BSpline(spline.t, 0 * spline.c, spline.k)
        elif nu:
            spline = spline.derivative(nu)
        low, high = spline.k, len(spline.t) - spline.k - 1
        shape = spline.c.shape[1:]
        lines = spline.c.reshape(len(spline.c), -1)[: len(spline.t) - spline.k - 1]
        pieces = [scipy_interpolate.PPoly.from_spline((spline.t, line, spline.k)).c[:, low:high] for line in lines.T]
        return np.stack(pieces, -1).reshape(spline.k + 1, high - low, *shape), spline.t[low : high + 1]


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> BSpline:
    """Return the spline of degree ``k`` through points.

    See :func:`scipy.interpolate.make_interp_spline` for the parameters and errors.
    """
    spline = BSpline.__new__(BSpline)
    arrays = among((x, y, t, bc_type), {})
    device = host_of(arrays)
    if not arrays or device is not None:
        arguments = x, y, k, t, bc_type, axis, check_finite
        spline._fit(*fitted(scipy_interpolate.make_interp_spline, arguments, {}, device))
    else:
        spline._take_spline(_bsplines.fit(x, y, k, t, bc_type, axis, check_finite))
    return spline


IMPLEMENTATIONS.setdefault("interpolate", {})["make_interp_spline"] = Implementation(COMPOSED, "", make_interp_spline)
