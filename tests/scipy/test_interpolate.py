"""Interpolants of gpuarray.scipy.interpolate, compared with SciPy's."""

import re

import numpy as np
import pytest
from scipy import interpolate
from scipy.sparse.linalg import spsolve

import gpuarray as xp
from gpuarray.scipy import interpolate as ours

RNG = np.random.default_rng(5)
X = np.sort(RNG.uniform(0, 10, 12))
Y = RNG.standard_normal((12, 3))
POINTS = np.concatenate([np.linspace(-1, 11, 40), X, [np.nan]])


@pytest.fixture(autouse=True, params=["cpu", "wgpu"])
def place(request, monkeypatch):
    for module in ("_piecewise", "_grids"):  # compositions are tested in-process too
        monkeypatch.setattr(f"gpuarray.scipy.interpolate.{module}.host_of", lambda arrays: None)
        monkeypatch.setattr(f"gpuarray.scipy.interpolate.{module}.run_if_host", lambda *args: NotImplemented)
    monkeypatch.setattr("gpuarray.scipy.interpolate._grids.is_hosts", lambda args, kwargs: False)
    with xp.using(device=request.param):
        yield request.param


def compare(result, wanted, tolerance=1e-10):
    result, wanted = np.asarray(result), np.asarray(wanted)
    assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance * np.abs(np.nan_to_num(wanted)).max())


@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline"])
def test_splines(name):
    theirs, result = (getattr(module, name)(X, Y) for module in (interpolate, ours))
    for nu in (0, 1, 2):
        compare(result(xp.asarray(POINTS), nu), theirs(POINTS, nu), 1e-8)
    compare(result(xp.asarray(POINTS), extrapolate=False), theirs(POINTS, extrapolate=False))
    compare(result.derivative()(xp.asarray(POINTS)), theirs.derivative()(POINTS), 1e-8)
    compare(result.antiderivative()(xp.asarray(POINTS)), theirs.antiderivative()(POINTS), 1e-8)
    compare(result(xp.asarray(POINTS[:6].reshape(2, 3))), theirs(POINTS[:6].reshape(2, 3)))
    compare(result.integrate(1.0, 3.0), theirs.integrate(1.0, 3.0))


def test_splines_along_axes_and_periods():
    y = Y.copy()
    y[-1] = y[0]
    theirs, result = (m.CubicSpline(X, y, bc_type="periodic") for m in (interpolate, ours))
    compare(result(xp.asarray(POINTS)), theirs(POINTS))
    theirs, result = (m.CubicSpline(X, Y.T, axis=1) for m in (interpolate, ours))
    compare(result(xp.asarray(POINTS[:6].reshape(2, 3))), theirs(POINTS[:6].reshape(2, 3)))
    for k in (0, 1, 2, 5):
        theirs, result = (m.make_interp_spline(X, Y[:, 0], k) for m in (interpolate, ours))
        compare(result(xp.asarray(POINTS)), theirs(POINTS), 1e-6)
    with pytest.raises(ValueError, match="negative"):
        result(xp.asarray(POINTS), -1)


ENDS = [None, "not-a-knot", "natural", "clamped", "periodic", ([(1, 0.5), (2, 0.0)], None), (None, [(1, 2.0)] * 2)]


@pytest.mark.parametrize("bc_type", ENDS, ids=str)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_fits_of_b_splines(k, bc_type):
    for count in (4, 9, 40) if k == 3 else (30,):
        x = np.cumsum(np.random.default_rng(count).uniform(0.5, 1.5, count))
        y = np.sin(x)
        y[-1] = y[0]
        with xp.using(fallback="error"):
            same_or_error("make_interp_spline", x, y, k=k, bc_type=bc_type)


def same_or_error(name, x, y, **options):
    try:
        expected = getattr(interpolate, name)(x, y, **options)
    except (ValueError, np.linalg.LinAlgError) as error:
        with pytest.raises(type(error), match=re.escape(str(error).split(" [")[0])):
            getattr(ours, name)(xp.asarray(x), xp.asarray(y), **options)
        return
    result = getattr(ours, name)(xp.asarray(x), xp.asarray(y), **options)
    for part in ("t", "c"):
        compare(getattr(result, part), getattr(expected, part), 1e-8)
    assert (result.k, result.axis, result.extrapolate) == (expected.k, expected.axis, expected.extrapolate)
    points = np.append(np.linspace(x[0] - 1, x[-1] + 1, 31), x)
    for nu in (0, 1):
        compare(result(xp.asarray(points), nu), expected(points, nu), 1e-7)
    compare(result.derivative()(xp.asarray(points)), expected.derivative()(points), 1e-7)
    if y.dtype.kind == "f":  # SciPy has no integrals of others
        compare(result.integrate(x[1], 2.2 * x[-1]), expected.integrate(x[1], 2.2 * x[-1]), 1e-7)


def test_knots_of_b_splines():
    y = Y[:, 0] + 1j * Y[:, 1]
    knots = np.concatenate([X[:1].repeat(4), X[2:-2], X[-1:].repeat(4)])
    for t in (knots, knots[1:], knots[::-1], np.sort(RNG.uniform(0, 10, 16))):
        same_or_error("make_interp_spline", X, y, t=t)
    for points, options in (
        (X[::-1], {}),
        (X[:5], {}),
        (X, {"k": -1}),
        (X, {"bc_type": "periodic"}),
        (X, {"k": 0, "bc_type": "natural"}),
    ):
        same_or_error("make_interp_spline", points, y.real, **options)


def values(count, dtype, rest=(3,)):
    y = np.random.default_rng(count).standard_normal((count, *rest)) * 9
    return (y + 1j * y[::-1] if dtype == "complex128" else y).astype(dtype)


ENDS = ["not-a-knot", "natural", "clamped", ((1, np.ones(3)), "natural"), ("not-a-knot", (2, np.arange(3.0)))]
FITS = [("CubicSpline", {"bc_type": ends}) for ends in (*ENDS, "periodic")] + [
    ("PchipInterpolator", {}), ("Akima1DInterpolator", {}), ("Akima1DInterpolator", {"method": "makima"}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize(("name", "options"), FITS, ids=lambda value: str(value)[:40])
def test_fits_on_the_device(name, options):
    for count, dtype in ((2, "float64"), (3, "float64"), (4, "float32"), (5, "complex128"), (12, "int32")):
        if dtype == "complex128" and name != "CubicSpline":
            continue
        y = values(count, dtype)
        if options.get("bc_type") == "periodic":
            y[-1] = y[0]
        for axis in (0, 1):
            turned = y if axis == 0 else y.T
            theirs = getattr(interpolate, name)(X[:count], turned, axis=axis, **options)
            result = getattr(ours, name)(xp.asarray(X[:count]), xp.asarray(turned), axis=axis, **options)
            assert (result.axis, result.extrapolate) == (theirs.axis, theirs.extrapolate)
            scale = 1e-8 * max(1, np.abs(theirs.c).max())
            pairs = [(result.c, theirs.c), (result.x, theirs.x), (result(POINTS[:-1]), theirs(POINTS[:-1]))]
            pairs += [(result(POINTS[:6].reshape(2, 3), nu), theirs(POINTS[:6].reshape(2, 3), nu)) for nu in (1, 4)]
            for one, other in (
                (result.derivative(), theirs.derivative()), (result.antiderivative(2), theirs.antiderivative(2))
            ):  # fmt: skip
                pairs.append((one(POINTS[9:15]), other(POINTS[9:15])))
            if theirs.extrapolate != "periodic":
                pairs.append((result.integrate(1.0, 2.0), theirs.integrate(1.0, 2.0)))
            for one, other in pairs:
                one = np.asarray(one)
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
                np.testing.assert_allclose(one, other, rtol=1e-8, atol=scale)
    assert xp.stats()["fallbacks"] == 0


def test_fits_of_slopes():
    slopes = values(12, "float64")[::-1]
    theirs, result = (
        m.CubicHermiteSpline(put(X), put(Y), put(slopes)) for m, put in ((interpolate, np.asarray), (ours, xp.asarray))
    )
    compare(result(POINTS), theirs(POINTS))


BAD = {
    "order": (X[::-1], Y), "values": (X, np.where(Y > 1, np.nan, Y)), "points": (np.where(X < 3, np.inf, X), Y),
    "length": (X, Y[:-1]), "one point": (X[:1], Y[:1]), "axes": (X[None], Y), "complex": (X * 1j, Y),
}  # fmt: skip


@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator"])
@pytest.mark.parametrize("data", BAD)
def test_fits_have_the_errors_of_scipy(name, data):
    with pytest.raises(ValueError, match=r"`[xy]`|have to be increasing") as theirs:
        getattr(interpolate, name)(*BAD[data])
    with pytest.raises(ValueError, match=r"`[xy]`|have to be increasing") as result:
        getattr(ours, name)(*map(xp.asarray, BAD[data]))
    assert str(result.value) == str(theirs.value)


def test_interpolation_by_one_call():
    for order in (0, 1, [0, 2]):
        for axis in (0, 1):
            y = np.moveaxis(Y, 0, axis)
            expected = interpolate.pchip_interpolate(X, y, POINTS[9:15], order, axis)
            result = ours.pchip_interpolate(xp.asarray(X), xp.asarray(y), xp.asarray(POINTS[9:15]), order, axis)
            for one, other in zip(result, expected, strict=True) if isinstance(order, list) else [(result, expected)]:
                compare(one, other, 1e-8)
    assert xp.stats()["fallbacks"] == 0


def test_fits_of_periods_need_equal_ends():
    with pytest.raises(ValueError, match="must be identical"):
        ours.CubicSpline(xp.asarray(X), xp.asarray(Y), bc_type="periodic")


def test_fits_are_recorded_and_have_derivatives():
    at = np.asarray([1.0, 2.5])
    recorded = xp.jit(lambda x, y: ours.CubicSpline(x, y)(at))
    for scale in (1.0, 2.0, 3.0):
        compare(recorded(xp.asarray(X), xp.asarray(scale * Y)), interpolate.CubicSpline(X, scale * Y)(at))
    result = xp.jacrev(lambda y: ours.CubicSpline(X, y)(at))(xp.asarray(Y[:, 0]))
    compare(result, interpolate.CubicSpline(X, np.eye(12))(at))
    result = xp.vmap(lambda y: ours.PchipInterpolator(X, y)(at))(xp.asarray(np.ascontiguousarray(Y.T)))
    compare(result, interpolate.PchipInterpolator(X, Y)(at).T)


def test_other_methods_of_fits_are_counted(place):
    result = ours.CubicSpline(xp.asarray(X), xp.asarray(Y[:, 0]))
    compare(ours.make_interp_spline(xp.asarray(X), xp.asarray(Y))(2.5), interpolate.make_interp_spline(X, Y)(2.5))
    assert xp.stats()["fallbacks"] == 0
    compare(result.roots(), interpolate.CubicSpline(X, Y[:, 0]).roots())
    assert xp.stats()["fallbacks"] == (place == "wgpu")


@pytest.mark.parametrize("method", ["slinear", "cubic", "quintic"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_splines_on_regular_grids(method, dtype):
    grid = (np.sort(RNG.uniform(0, 4, 7)), np.linspace(5, 0, 9))
    image = values(7, dtype, (9, 2))
    points = RNG.uniform(-0.5, 5.5, (6, 4, 2))
    points[0, 1, 0] = np.nan
    for fill in (np.nan, None, 3.0):
        theirs = interpolate.RegularGridInterpolator(grid, image, method, False, fill, solver=spsolve)
        result = ours.RegularGridInterpolator(grid, xp.asarray(image), method, False, fill)
        for nu in (None, (1, 0), (0, 2)):
            compare(result(xp.asarray(points), nu=nu), theirs(points, nu=nu), 1e-7)
    assert xp.stats()["fallbacks"] == 0
    for nu in ((1,), (0, -1)):
        with pytest.raises(ValueError, match="derivative"):
            result(xp.asarray(points), nu=nu)
    with pytest.raises(ValueError, match="points per dimension"):
        ours.RegularGridInterpolator((np.arange(3),), np.ones(3), "cubic")


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
            theirs, result = both
            expected = theirs(points)
            got = np.asarray(result(xp.asarray(points)))
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * 10)
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
        theirs, result = (m.interp1d(X, y, axis=axis, bounds_error=False) for m in (interpolate, ours))
        compare(result(xp.asarray(POINTS)), theirs(POINTS))
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
        theirs, result = (m.interp1d(X, y, **options) for m in (interpolate, ours))
        compare(result(xp.asarray(points)), theirs(points))
    assert xp.stats()["fallbacks"] == before


def test_interp1d_of_other_points_runs_on_the_host():
    gaps = np.where(np.arange(len(X)) == 3, np.nan, Y[:, 0])
    for x, y, kind in ((X, gaps, "cubic"), (X[:1], Y[:1, 0], "linear")):
        theirs, result = (m.interp1d(x, y, kind, bounds_error=False) for m in (interpolate, ours))
        before = xp.stats()["fallbacks"]
        compare(result(xp.asarray(POINTS)), theirs(POINTS))
        assert xp.stats()["fallbacks"] - before == (xp.config.device == "wgpu")


def test_derivatives_of_a_higher_order_than_the_spline():
    theirs, result = (m.make_interp_spline(X, Y, k=1) for m in (interpolate, ours))
    compare(result(xp.asarray(POINTS[:-1]), 2), theirs(POINTS[:-1], 2))
