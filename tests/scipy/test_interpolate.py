"""Interpolants of gpuarray.scipy.interpolate, compared with SciPy's."""

import numpy as np
import pytest
from scipy import interpolate

import gpuarray as xp
from gpuarray.scipy import interpolate as ours

RNG = np.random.default_rng(5)
X = np.sort(RNG.uniform(0, 10, 12))
Y = RNG.standard_normal((12, 3))
POINTS = np.concatenate([np.linspace(-1, 11, 40), X, [np.nan]])


@pytest.fixture(autouse=True, params=["cpu", "wgpu"])
def place(request, monkeypatch):
    for module in ("_piecewise", "_grids"):  # compositions are tested in-process too
        monkeypatch.setattr(f"gpuarray.scipy.interpolate.{module}.is_hosts", lambda args, kwargs: False)
    with xp.using(device=request.param):
        yield request.param


def compare(found, wanted, tolerance=1e-10):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(np.nan_to_num(wanted)).max())


@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline"])
def test_splines(name):
    theirs, found = (getattr(module, name)(X, Y) for module in (interpolate, ours))
    for nu in (0, 1, 2):
        compare(found(xp.asarray(POINTS), nu), theirs(POINTS, nu), 1e-8)
    compare(found(xp.asarray(POINTS), extrapolate=False), theirs(POINTS, extrapolate=False))
    compare(found.derivative()(xp.asarray(POINTS)), theirs.derivative()(POINTS), 1e-8)
    compare(found.antiderivative()(xp.asarray(POINTS)), theirs.antiderivative()(POINTS), 1e-8)
    compare(found(xp.asarray(POINTS[:6].reshape(2, 3))), theirs(POINTS[:6].reshape(2, 3)))
    compare(found.integrate(1.0, 3.0), theirs.integrate(1.0, 3.0))


def test_splines_along_axes_and_periods():
    y = Y.copy()
    y[-1] = y[0]
    theirs, found = (m.CubicSpline(X, y, bc_type="periodic") for m in (interpolate, ours))
    compare(found(xp.asarray(POINTS)), theirs(POINTS))
    theirs, found = (m.CubicSpline(X, Y.T, axis=1) for m in (interpolate, ours))
    compare(found(xp.asarray(POINTS[:6].reshape(2, 3))), theirs(POINTS[:6].reshape(2, 3)))
    for k in (0, 1, 2, 5):
        theirs, found = (m.make_interp_spline(X, Y[:, 0], k) for m in (interpolate, ours))
        compare(found(xp.asarray(POINTS)), theirs(POINTS), 1e-6)
    with pytest.raises(ValueError, match="negative"):
        found(xp.asarray(POINTS), -1)


def test_fits_of_arrays_of_a_device_are_counted(place):
    found = ours.CubicSpline(xp.asarray(X), xp.asarray(Y))
    assert xp.stats()["fallbacks"] == (place == "wgpu")
    compare(found(2.5), interpolate.CubicSpline(X, Y)(2.5))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_regular_grids(dtype):
    grid = (np.linspace(0, 3, 5), np.asarray([5.0, 3, 2, 0]))
    values = RNG.standard_normal((5, 4, 2)).astype(dtype)
    points = np.stack([RNG.uniform(-0.3, 3.3, 30), RNG.uniform(-0.3, 5.3, 30)], -1).astype(dtype)
    points[3, 0] = np.nan
    tolerance = 1e-5 if dtype == "float32" else 1e-10
    for method in ("linear", "nearest"):
        for fill in (np.nan, None, 7.0):
            both = (
                m.RegularGridInterpolator(grid, v, method, False, fill)
                for m, v in ((interpolate, values), (ours, xp.asarray(values)))
            )
            theirs, found = both
            wanted = theirs(points)
            got = np.asarray(found(xp.asarray(points)))
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * 10)
    with pytest.raises(ValueError, match="out of bounds in dimension 0"):
        ours.RegularGridInterpolator(grid, values)(xp.asarray(points))
    with pytest.raises(ValueError, match="points and 5 values in dimension 0"):
        ours.RegularGridInterpolator((grid[0][:3], grid[1]), values)
    compare(
        ours.interpn(grid, values, (1.0, np.asarray([1.0, 2.5]))),
        interpolate.interpn(grid, values, (1.0, np.asarray([1.0, 2.5]))),
        tolerance,
    )


def test_interp1d():
    for axis in (0, 1):
        y = np.moveaxis(Y, 0, axis)
        theirs, found = (m.interp1d(X, y, axis=axis, bounds_error=False) for m in (interpolate, ours))
        compare(found(xp.asarray(POINTS)), theirs(POINTS))
    with pytest.raises(ValueError, match="interpolation range"):
        ours.interp1d(X, Y[:, 0])(xp.asarray(POINTS))


KINDS = ["linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic", 4]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fill", [np.nan, 2.5, "extrapolate", (-1.0, 2.0), (np.arange(Y.shape[1]), 3.0)], ids=str)
def test_kinds_and_ends_of_interp1d(kind, fill):
    at = np.concatenate([POINTS, X, (X[1:] + X[:-1]) / 2])
    before = xp.stats()["fallbacks"]
    for axis, points in ((0, at), (1, at[:12].reshape(3, 4)), (0, at[3])):
        y = np.moveaxis(Y, 0, axis)
        options = {"kind": kind, "axis": axis, "fill_value": fill, "bounds_error": False}
        theirs, found = (m.interp1d(X, y, **options) for m in (interpolate, ours))
        compare(found(xp.asarray(points)), theirs(points))
    assert xp.stats()["fallbacks"] == before


def test_interp1d_of_other_points_runs_on_the_host():
    gaps = np.where(np.arange(len(X)) == 3, np.nan, Y[:, 0])
    for x, y, kind in ((X, gaps, "cubic"), (X[:1], Y[:1, 0], "linear")):
        theirs, found = (m.interp1d(x, y, kind, bounds_error=False) for m in (interpolate, ours))
        before = xp.stats()["fallbacks"]
        compare(found(xp.asarray(POINTS)), theirs(POINTS))
        assert xp.stats()["fallbacks"] - before == (xp.config.device == "wgpu")


def test_derivatives_of_a_higher_order_than_the_spline():
    theirs, found = (m.make_interp_spline(X, Y, k=1) for m in (interpolate, ours))
    compare(found(xp.asarray(POINTS[:-1]), 2), theirs(POINTS[:-1], 2))
