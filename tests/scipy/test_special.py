"""Functions of gpuarray.scipy.special, compared with SciPy's."""

from inspect import unwrap

import numpy as np
import pytest
from scipy import special

import gpuarray as xp
from gpuarray.scipy import special as ours
from gpuarray.scipy.special import _elliptic, _kernels


@pytest.fixture(autouse=True, params=["cpu", "wgpu"])
def place(request):
    with xp.using(device=request.param):
        yield request.param


def check(name, *args, tolerance=1e-10, **kwargs):
    """Compare a function, as it is called and as a composition, with SciPy's."""
    expected = getattr(special, name)(*args, **kwargs)
    function = getattr(ours, name)
    put = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    for call in (function, getattr(function, "composition", function)):
        result = call(*put, **kwargs)
        pairs = zip(result, expected, strict=True) if isinstance(expected, tuple) else [(result, expected)]
        for one, other in pairs:
            one, other = np.asarray(one), np.asarray(other)
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_every_name_is_there():
    assert not [name for name in special.__all__ if not hasattr(ours, name)]


@pytest.mark.parametrize("dtypes", [("float16",), ("int32",), ("float32",), ("float16", "float32")])
def test_dtypes_are_scipys(dtypes):
    for name in ("erf", "gammaln", "expit") if len(dtypes) == 1 else ("beta", "xlogy", "gammainc"):
        x = [np.asarray([0.5, 1, 2]).astype(kind) for kind in dtypes]
        result, expected = getattr(ours, name)(*map(xp.asarray, x)), getattr(special, name)(*x)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result.get(), expected, rtol=1e-5)


def test_kernels_at_usual_points(place):
    x = np.asarray([0.3, 0.5, 1.5, 4.0])
    names = _kernels.__all__ if place == "cpu" else _kernels.__all__[::9]
    for name in names:
        function = unwrap(getattr(special, name))  # SciPy wraps some of its ufuncs
        args = [x, x[::-1].copy(), np.full(4, 0.25)][: function.nin]
        with np.errstate(all="ignore"):
            try:
                expected = function(*args)
            except (TypeError, SystemError):
                continue  # a number of trials must be an integer, or SciPy warns, which is an error here
        np.testing.assert_allclose(np.asarray(getattr(ours, name)(*map(xp.asarray, args))), expected, rtol=1e-10)


@pytest.mark.parametrize("namespace", [ours, special])
@pytest.mark.parametrize("name", ["ellipe", "erf", "gammainc", "j0", "sici"])
@pytest.mark.parametrize("size", [9, 700])
def test_masks_select_elements(name, size, namespace):
    # SciPy 1.17 writes beyond its results if it is called with a mask, so the reference is made without
    function = getattr(namespace, name)
    ufunc = unwrap(getattr(special, name))
    x = np.linspace(0.1, 0.9, size)
    mask = np.arange(size) % 3 > 0
    inputs = [xp.asarray(x)] * ufunc.nin
    expected = ufunc(*[x] * ufunc.nin)
    for kind in (xp.asarray, np.asarray):
        outs = tuple([xp.full(size, -1.0) for _ in range(ufunc.nout)])
        results = function(*inputs, out=outs if len(outs) > 1 else outs[0], where=kind(mask))
        both = (results, expected) if len(outs) > 1 else ((results,), (expected,))
        for out, result, values in zip(outs, *both, strict=True):
            assert result is out
            np.testing.assert_allclose(out.get(), np.where(mask, values, -1.0), rtol=1e-10)


def test_complex_numbers_and_functions_without_kernels_are_counted(place):
    z = np.asarray([0.5 + 1j, 2.0])
    for name in ("digamma", "loggamma", "erf"):
        np.testing.assert_allclose(np.asarray(getattr(ours, name)(xp.asarray(z))), getattr(special, name)(z))
    np.testing.assert_allclose(np.asarray(ours.xlogy(xp.asarray(z), xp.asarray(z))), special.xlogy(z, z))
    check("jv", 1.5, z.real)
    check("eval_jacobi", -2, 0.5, 0.5, z.real)
    check("lpmv", 1, 2.5, np.asarray([0.1, 0.5]))
    check("sph_harm_y", np.asarray([1, 2]), 1, np.asarray([0.1, 0.5]), 0.3)
    check("airy", np.asarray([0.1, 0.5]))
    assert xp.stats()["fallbacks"] == (0 if place == "cpu" else 14)


POINTS = np.asarray([0, 0.3, -0.3, 1, -1, 0.7, 2, 2.5, -2.5, 4, 9, 12, 30, -30, 1e-3, np.nan])


@pytest.mark.filterwarnings("ignore:floating point number truncated", "ignore:non-integer arg n")
@pytest.mark.parametrize("name", [*_kernels.OF_ARRAYS, *_kernels.BY_DEGREE])
def test_functions_made_of_others(name):
    degrees = _kernels.BY_DEGREE.get(name, (0,))[0]
    function = unwrap(getattr(special, name))
    count = function.nin - degrees
    points = [np.roll(POINTS, k) for k in range(count)]
    for first in [[()], [(0,), (1,), (6,)], [(0, 3), (2, 3), (-1, 2)]][degrees]:
        with xp.using(fallback="error"), np.errstate(all="ignore"):
            result = getattr(ours, name)(*first, *map(xp.asarray, points))
            expected = function(*first, *points)
        if function.nout > 1:
            result, expected = xp.stack(result), np.stack(expected)
        assert result.dtype == expected.dtype
        result = result.get()
        if name == "eval_gegenbauer":  # SciPy's formula has poles there
            has_pole = (points[0] < 0) & (points[0] % 0.5 == 0)
            result, expected = result[~has_pole], expected[~has_pole]
        if name in ("eval_jacobi", "eval_sh_jacobi"):  # so has this one, but for some values since SciPy 1.18
            alpha = points[0] if name == "eval_jacobi" else points[0] - points[1]
            has_pole = (alpha < 0) & (alpha % 1 == 0)
            result, expected = result[~has_pole], expected[~has_pole]
        np.testing.assert_allclose(result, expected, rtol=1e-10)


def test_jacobi_polynomials_at_poles_of_their_formula():
    x = xp.asarray([-0.5, 0.25, 3.0], device="wgpu")  # SciPy computes them on the host
    np.testing.assert_allclose(ours.eval_jacobi(1, -1.0, 1.0, x), x.get() - 1, rtol=1e-14)
    np.testing.assert_allclose(
        ours.eval_jacobi(3, -2.0, 0.5, x), -special.eval_jacobi(3, 0.5, -2, -x.get()), rtol=1e-13
    )


def test_degrees_that_are_not_recorded_are_counted():
    x = xp.asarray([0.5, 2.0])
    for n in (x, 2.5, 1000):
        given = n.get() if isinstance(n, xp.ndarray) else n
        np.testing.assert_allclose(ours.eval_legendre(n, x).get(), special.eval_legendre(given, x.get()))
    assert xp.stats()["fallbacks"] == (0 if xp.config.device == "cpu" else 3)


def test_counts():
    things, taken = np.asarray([5, 10, 0, 4, -1, 60]), np.asarray([2, 4, 0, 5, 1, 30])
    for repetition in (False, True):
        check("comb", things, taken, repetition=repetition)
    check("perm", things[:5], taken[:5])
    check("factorial", np.asarray([0, 1, 5, -1, 20]))
    check("sinc", np.asarray([0, 0.5, 1, 7.2]))
    check("softplus", np.asarray([-800.0, 0, 1, 800]))
    check("sph_harm_y", 3, -2, np.asarray([0.1, 0.5, 3.0]), np.asarray([0.3, 4.0, 6.0]))
    check("sph_harm_y", 1, 3, np.asarray([0.1, 0.5]), 0.3)
    check("comb", 50, 20, exact=True)


@pytest.mark.parametrize("name", ["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"])
def test_spherical_bessel_functions(name, place):
    size = np.concatenate([np.geomspace(1e-3, 300, 60), [0.0, 4.493409457909064, np.inf, np.nan, 1e5]])
    x = size if name == "spherical_kn" else np.concatenate([size, -size])
    with xp.using(fallback="error"), np.errstate(all="ignore"):
        for n in (0, 1, 2, 7, 12) if place == "cpu" else (2,):  # kernels take long to compile
            for derivative in (False, True) if place == "cpu" else (False,):
                expected = getattr(special, name)(n, x, derivative)
                for function in (getattr(ours, name), getattr(ours, name).composition):
                    result = function(n, xp.asarray(x), derivative).get()
                    is_known = (x != 0) & np.isfinite(x) if derivative else x != np.inf  # else SciPy has NaN
                    is_known &= ~np.isnan(expected) | np.isnan(x)
                    np.testing.assert_allclose(result[is_known], expected[is_known], rtol=1e-10, atol=1e-15)
    check(name, 2, x[:9].astype(np.float32), tolerance=1e-6)
    check(name, 2.0, x[:9])
    check(name, 1, x[:9] + 0.5j)


@pytest.mark.parametrize("name", ["jvp", "yvp", "ivp", "kvp"])
def test_derivatives_of_bessel_functions(name, place):
    x = np.geomspace(0.1, 30, 20)
    with xp.using(fallback="error"):
        for n in range(4) if place == "cpu" else (1,):
            check(name, n, x, abs(2 - n))
    check(name, 0.5, x)
    for function in (getattr(ours, name), getattr(ours, name).composition):
        with pytest.raises(ValueError, match="n must be a non-negative integer"):
            function(1, xp.asarray(x), -1)


def test_modified_bessel_functions_of_all_sizes(place):
    x = np.concatenate([np.geomspace(1e-3, 300, 100), -np.geomspace(1e-3, 300, 100)])
    with xp.using(fallback="error"), np.errstate(all="ignore"):
        for n in (0, 1, 2, 5, -6, 12) if place == "cpu" else (-3,):
            for name in ("iv", "ive", "kve", "jve", "yve"):
                result, expected = getattr(ours, name)(n, xp.asarray(x)).get(), getattr(special, name)(n, x)
                np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-15)


def test_integrals_of_all_sizes(place):
    rng = np.random.default_rng(0)
    x = np.concatenate([np.geomspace(1e-6, 100, 200), -np.geomspace(1e-6, 60, 100)])
    shares = np.concatenate([rng.random(280), np.geomspace(1e-14, 1e-7, 10), 1 - np.geomspace(1e-13, 1e-8, 10)])
    widths, slopes = rng.uniform(0.1, 3, 300), 10.0 ** rng.uniform(-12, 2, 300)
    calls = [
        ("shichi", (x,)), ("ellipj", (rng.uniform(-9, 9, 300), shares)), ("expn", (2, abs(x))), ("expn", (9, abs(x))),
        ("voigt_profile", (x, widths, slopes)), ("voigt_profile", (x, widths, slopes * 0)),
        ("voigt_profile", (x, widths * 0, slopes)), ("voigt_profile", (x - x[::-1], -widths, -slopes)),
    ]  # fmt: skip
    if place == "wgpu":
        calls = calls[2::3]
    for name, arguments in calls:
        with xp.using(fallback="error"):
            result = getattr(ours, name)(*(xp.asarray(v) if isinstance(v, np.ndarray) else v for v in arguments))
        expected = getattr(special, name)(*arguments)
        for one, other in zip(result, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-15)


def test_polynomials_and_products_that_scipy_defines_in_python():
    x = np.linspace(-0.9, 3, 9)
    for kind in (np.float32, np.float64):
        with xp.using(fallback="error"):
            check("assoc_laguerre", x.astype(kind), 3, 0.5, tolerance=1e-6 if kind is np.float32 else 1e-10)
            check("legendre_p", 4, x.astype(kind) / 4, tolerance=1e-6 if kind is np.float32 else 1e-10)
            check("sph_legendre_p", 4, -3, x.astype(kind))
            check("sph_legendre_p", 4, 5, x.astype(kind))
    check("legendre_p", 4, x / 4, diff_n=1)
    check("sph_legendre_p", np.asarray([1, 2]), 1, 0.5)
    check("assoc_laguerre", x, 2.5)
    for kind in (np.int8, np.int64):
        check("factorial2", np.asarray([0, 1, 2, 5, 6, -1, -3, 20, 31], kind))
    check("factorial2", 7, exact=True)
    with xp.using(fallback="error"):
        for k in (1, 3):
            check("factorialk", np.asarray([-1, 0, 1, 5, 7, 30]), k)
    check("factorialk", np.asarray([2, 7]), 3, exact=True)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_all_degrees_and_orders(kind, place):
    x = np.asarray([0.3, -0.6, 1.5, 1.0, -1.0, np.nan, -2.0], kind)
    tolerance = 1e-6 if kind is np.float32 else 1e-12
    with xp.using(fallback="error"), np.errstate(all="ignore"):
        check("legendre_p_all", 5, x, tolerance=tolerance)
        for m in (-3, -2, 0, 1, 3) if place == "cpu" else (-2,):
            check("assoc_legendre_p", 2, m, x, tolerance=tolerance)
        for n, m in ((3, 2), (1, 2)) if place == "cpu" else ((1, 1),):
            check("assoc_legendre_p_all", n, m, x, tolerance=tolerance)
            check("sph_legendre_p_all", n, m, x[:5], tolerance=tolerance)
            check("sph_harm_y_all", n, m, x[:5], x[:5] * 3, tolerance=tolerance)
            check("sph_harm_y_all", n, m, 0.3, x, tolerance=tolerance)
    check("sph_legendre_p", 95, -90, x[:2])  # the factors without the normalization exceed the range
    check("assoc_legendre_p", 2, 1, x, norm=True)
    for name in ("assoc_legendre_p_all", "legendre_p_all"):
        for function in (getattr(ours, name), getattr(ours, name).composition):
            with pytest.raises(ValueError, match="non-negative integer"):
                function(*(-1,) * (1 + ("assoc" in name)), xp.asarray(x))


def test_hankel_functions_on_the_branch_cut(place):
    x = np.asarray([0.5, 3.0, -0.5, -4.0, 15.0, -20.0, np.nan])
    with xp.using(fallback="error"):
        for name in ("hankel1", "hankel1e", "hankel2", "hankel2e") if place == "cpu" else ("hankel2e",):
            for n in (0, -1, 5) if place == "cpu" else ():  # kernels take long to compile
                check(name, n, x, tolerance=1e-12)
            check(name, 1, x.astype(np.float32), tolerance=1e-5)
        if place == "cpu":
            check("h1vp", 1, x)
            check("h2vp", 0, x, 2)
    check("hankel1", 1, x + 1j)


def test_functions_of_numbers_alone_are_not_counted():
    with xp.using(fallback="error"):
        nodes, weights = ours.roots_legendre(5)
        assert isinstance(nodes, xp.ndarray)
        np.testing.assert_array_equal(weights, special.roots_legendre(5)[1])
        np.testing.assert_array_equal(ours.jn_zeros(1, 4), special.jn_zeros(1, 4))
        np.testing.assert_array_equal(ours.bernoulli(6), special.bernoulli(6))
        assert ours.legendre(3) == special.legendre(3)
        np.testing.assert_array_equal(ours.riccati_jn(2, 0.5), special.riccati_jn(2, 0.5))


def test_compositions():
    x = np.random.default_rng(0).standard_normal((4, 5)) * 3
    x[0, 0] = -np.inf
    for axis in (None, 0, (0, 1)):
        check("logsumexp", x, axis)
        check("logsumexp", x, axis, np.asarray([1, 2, -0.5, 0, 3.0]), True, True)
        check("softmax", x, axis)
        check("log_softmax", x, axis)
    check("logsumexp", np.asarray([1000.0, 1000.0], np.float32), tolerance=1e-6)
    check("diric", np.linspace(-13, 13, 50), 7)
    check("multigammaln", np.asarray([3.5, 6.0]), 3)
    check("polygamma", np.asarray([0, 1, 2, 3]), np.asarray([0.5, 1.5, 2.5, 3.5]))
    check("zeta", np.asarray([0.0, 0.5, 0.99, 1.0, 2.0, 3.5, -0.5, -1e-10, -0.02, -0.49, -2.0, -3.0, np.inf, np.nan]))
    check("zeta", np.asarray([1.5, 2.0, 3.5]), 2.5)
    for wrong in (2.5, 0.0 + 1j):
        with pytest.raises((ValueError, TypeError)):
            ours.multigammaln.composition(xp.ones(2), wrong)


def test_dtypes_of_functions_that_scipy_defines_in_python():
    for dtype in ("float16", "float32", "int8", "int32"):
        x = np.asarray([1, 2, 5]).astype(dtype)
        check("polygamma", x, x[::-1].copy(), tolerance=1e-6)
        check("polygamma", 2, x, tolerance=1e-6)
        check("zeta", x, tolerance=1e-6)
        check("zeta", x + 1, x, tolerance=1e-6)
        check("zeta", x + 1, 2.5, tolerance=1e-6)
        check("factorial", x / 4 if dtype == "float32" else x, tolerance=1e-12)
    with np.errstate(invalid="ignore"):
        check("polygamma", np.asarray([0.5, -1.5]), 2.0)
    check("binom", np.asarray([np.inf, 4.0]), np.asarray([0.0, np.inf]))


def test_ends_of_ranges():
    x = np.array([-10.0, 0.1])
    with xp.using(device="cpu"):
        for size in (1e-30, 1e30):  # the products underflow and overflow
            numbers = np.array([size, -size], np.float32)
            result = _elliptic.OF_ARRAYS["agm"](xp.asarray(numbers), xp.asarray(numbers))
            np.testing.assert_array_equal(result.get(), numbers)
        result = xp.special.inv_boxcox(xp.asarray(x), xp.asarray(-1 / x))
    np.testing.assert_array_equal(result.get(), special.inv_boxcox(x, -1 / x))


def test_other_names_are_in_the_alias():
    assert all(hasattr(xp.special, name) for name in special.__all__)
    assert xp.special.logsumexp is ours.logsumexp
    with pytest.raises(AttributeError, match="no_such_function"):
        xp.special.no_such_function
