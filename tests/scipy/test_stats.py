"""Distributions and descriptions of gpuarray.scipy.stats, compared with SciPy's."""

import warnings

import numpy as np
import pytest
from scipy import stats

import gpuarray as xp
from gpuarray.scipy import stats as ours
from gpuarray.scipy.stats import _distributions

SHAPES = {
    "gamma": (2.5,), "chi2": (3.0,), "beta": (2.0, 3.5), "t": (4.0,), "f": (3.0, 7.0), "lognorm": (0.7,),
    "weibull_min": (1.7,), "poisson": (2.5,), "binom": (6, 0.3),
}  # fmt: skip
CONTINUOUS = ("norm", "expon", "uniform", "laplace", "logistic", "cauchy", *SHAPES)[:-2]
POINTS = np.asarray([-np.inf, -2.0, -0.3, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0, 7.0, np.inf, np.nan])
SHARES = np.asarray([-0.1, 0.0, 0.01, 0.3, 0.5, 0.9, 1.0, 1.1, np.nan])


def check(name, method, x, *args, **kwargs):
    with np.errstate(all="ignore"):
        expected = getattr(getattr(stats, name), method)(x, *args, **kwargs)
        distribution = getattr(ours, name)
        found = np.asarray(distribution._composed(method, xp.asarray(x), args, kwargs))
        again = np.asarray(getattr(distribution, method)(xp.asarray(x), *args, **kwargs))
    for result in (found, again):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-13, err_msg=f"{name}.{method}")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    shapes = SHAPES.get(name, ())
    with xp.using(device="cpu"):
        for method in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
            x = POINTS if method in ("cdf", "sf") else POINTS[1:-2]  # SciPy has NaN for the density at infinity
            check(name, method, x, *shapes)
            check(name, method, x, *shapes, loc=0.5, scale=np.asarray(2.0))
        for method in ("ppf", "isf"):
            check(name, method, SHARES, *shapes, loc=0.5, scale=2)
        check(name, "pdf", POINTS[1:-2], *shapes, scale=-1.0)


@pytest.mark.parametrize("name", sorted({name.partition(".")[0] for name in _distributions._FUSED}))
def test_many_elements(name):
    shapes, random = SHAPES.get(name, ()), np.random.default_rng(0)
    ends = np.asarray([-np.inf, -0.0, 0.0, 1e-300, 1.0, 1.1, 700.0, 1e300, np.inf, np.nan])
    x = np.concatenate([ends, 5 * random.standard_normal(1 << 16)])
    shares = np.concatenate([ends, random.random(1 << 16)])
    methods = {fused.partition(".")[2] for fused in _distributions._FUSED if fused.startswith(name + ".")}
    for method in sorted(methods & {*dir(getattr(stats, name))}):
        values, near = (shares, 1e-15) if method in ("ppf", "isf") else (x, 0)
        for options in ({}, {"loc": 0.5, "scale": 2}, {"scale": -1.0}, {"scale": np.where(values > 1, 2.0, 3.0)}):
            with np.errstate(all="ignore"):
                expected = getattr(getattr(stats, name), method)(values, *shapes, **options)
            result = getattr(getattr(ours, name), method)(xp.asarray(values, device="cpu"), *shapes, **options)
            np.testing.assert_allclose(result.get(), expected, rtol=1e-13, atol=near, err_msg=f"{method} {options}")


@pytest.mark.parametrize("method", ["logcdf", "logsf"])
@pytest.mark.parametrize("name", ["expon", "laplace", "cauchy", "uniform"])
def test_logarithms_of_shares_near_one(name, method):
    x = np.asarray([-1e9, -40.0, 1e-9, 0.5, 40.0, 1e9])
    with np.errstate(all="ignore"):
        expected = getattr(getattr(stats, name), method)(x)
    result = getattr(ours, name)._composed(method, xp.asarray(x), (), {})
    np.testing.assert_allclose(result.get(), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["poisson", "binom"])
def test_discrete_distributions(name):
    k = np.asarray([-1.0, 0, 1, 2, 2.5, 5, 6, 9, np.nan])
    with xp.using(device="cpu"):
        for method in ("pmf", "logpmf", "cdf", "sf"):
            check(name, method, k, *SHAPES[name])
            check(name, method, k, *SHAPES[name], loc=1)
        check(name, "ppf", SHARES, *SHAPES[name])


def test_distributions_on_a_device():
    with xp.using(device="wgpu"):
        check("norm", "cdf", POINTS, 0.5, 2.0)
        check("gamma", "logpdf", POINTS[3:-2], 2.5)
        frozen = ours.norm(1.0, 2.0)
        np.testing.assert_allclose(frozen.pdf(xp.asarray(POINTS)).get(), stats.norm(1.0, 2.0).pdf(POINTS))
        fallbacks = xp.stats()["fallbacks"]
        ours.poisson.ppf(xp.asarray(SHARES), 2.5)
        sample = ours.norm.rvs(1.0, size=5, random_state=0)
        assert xp.stats()["fallbacks"] > fallbacks
        np.testing.assert_array_equal(np.asarray(sample), stats.norm.rvs(1.0, size=5, random_state=0))
    assert float(ours.norm.mean()) == 0
    with pytest.raises(TypeError, match="missing parameters: a"):
        ours.gamma._composed("pdf", 1.0, (), {})


def test_quantiles_on_a_device():
    with xp.using(device="wgpu", fallback="error"):
        for name, method in (("gamma", "ppf"), ("gamma", "isf"), ("beta", "isf"), ("t", "ppf"), ("f", "isf")):
            check(name, method, np.asarray([0.0, 1e-6, 0.3, 0.5, 0.97, 1.0, 1.1]), *SHAPES[name])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_descriptions(dtype):
    x = (np.random.default_rng(1).standard_normal((20, 4)) * 9).astype(dtype)
    tolerance = 1e-4 if dtype == "float32" else 1e-10

    def compare(name, *args, **kwargs):
        expected = getattr(stats, name)(x, *args, **kwargs)
        function = getattr(ours, name)
        for call in (function, function.composition):
            result = call(xp.asarray(x), *args, **kwargs)
            for one, other in zip(result, expected, strict=True) if name == "describe" else [(result, expected)]:
                np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=tolerance, atol=tolerance)
                assert name == "describe" or np.asarray(one).dtype == np.asarray(other).dtype

    with xp.using(device="cpu"):
        for axis in (0, 1, None):
            compare("zscore", axis, 1)
            compare("sem", axis)
            compare("skew", axis, False)
            compare("kurtosis", axis, True, False)
            compare("describe", axis)
        with pytest.raises(ValueError, match="nan values"):
            ours.zscore.composition(xp.asarray([1.0, np.nan]), nan_policy="raise")


def test_gaussian_kde():
    data = np.random.default_rng(2).standard_normal((2, 50))
    points = np.random.default_rng(3).standard_normal((2, 7))
    for sample, where in ((data, points), (data[0], points[0])):
        theirs = stats.gaussian_kde(sample, weights=np.arange(1.0, 51))
        for device in ("cpu", "wgpu"):
            with xp.using(device=device):
                result = ours.gaussian_kde(xp.asarray(sample), weights=np.arange(1.0, 51))
                np.testing.assert_allclose(result(xp.asarray(where)).get(), theirs(where), rtol=1e-9)
                np.testing.assert_allclose(result.logpdf(xp.asarray(where)).get(), theirs.logpdf(where), rtol=1e-9)
                assert result.factor == theirs.factor


@pytest.mark.parametrize("place", ["cpu", "wgpu"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_are_left_out(place):
    x = np.random.default_rng(0).standard_normal((6, 9))
    x[2, 3] = x[0, 3] = x[4, 8] = np.nan
    calls = [(name, {}) for name in ("zscore", "sem", "skew", "kurtosis")]
    calls += [("skew", {"bias": False}), ("kurtosis", {"bias": False, "fisher": False}), ("sem", {"ddof": 0})]
    with xp.using(device=place):
        before = xp.stats()["fallbacks"]
        for name, options in calls:
            for axis in (0, 1, None):
                expected = getattr(stats, name)(x, axis=axis, nan_policy="omit", **options)
                result = getattr(ours, name).composition(xp.asarray(x), axis=axis, nan_policy="omit", **options)
                np.testing.assert_allclose(result.get(), expected, rtol=1e-9, err_msg=name)
        expected = stats.zmap(x[0], x[1:], nan_policy="omit")
        np.testing.assert_allclose(
            ours.zmap.composition(xp.asarray(x[0]), xp.asarray(x[1:]), nan_policy="omit"), expected
        )
        assert xp.stats()["fallbacks"] == before
        few = np.asarray([[1.0, np.nan], [2.0, 3.0]])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = stats.sem(few, ddof=0, nan_policy="omit")
        np.testing.assert_allclose(ours.sem.composition(xp.asarray(few), ddof=0, nan_policy="omit"), expected)
        result, expected = (
            ours.describe.composition(xp.asarray(x), nan_policy="omit"),
            stats.describe(x, nan_policy="omit"),
        )
        np.testing.assert_allclose(np.asarray(result.mean), expected.mean)
        with pytest.raises(ValueError, match="contains nan values"):
            ours.skew.composition(xp.asarray(x), nan_policy="raise")
