"""Medians, quantiles and percentiles against NumPy: every method, dtype and way to give axes."""

import numpy as np
import pytest
from numpy_samples import RNG, A, C, K, M, N, T, U, V
from support import computes

import gpuarray as xp
from gpuarray.testing import assert_same

METHODS = (
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
)
HALVES = np.where(RNG.random((5, 6)) < 0.3, np.nan, np.round(RNG.standard_normal((5, 6)) * 9) / 2)
LOST = np.array([[np.nan, np.nan, np.nan], [3.0, np.nan, 1.0], [2.0, 7.0, -4.0], [np.inf, -np.inf, np.nan]])
SINGLE = HALVES.astype(np.float32)
HALF = (RNG.standard_normal((4, 7)) * 4).astype(np.float16)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nan", ["", "nan"])
def test_methods(agree, method, nan):
    quantile, percentile = getattr(np, f"{nan}quantile"), getattr(np, f"{nan}percentile")
    ends = np.array([0.0, 0.1, 0.2, 0.25, 0.5, 0.75, 0.9, 1.0])
    agree(lambda p: quantile(p(V), ends, method=method))
    agree(lambda p: quantile(p(V[:1]), 0.3, method=method))
    agree(lambda p: quantile(p(V[:2]), [0, 1], method=method))
    agree(lambda p: quantile(p(HALVES), 0.37, 1, method=method))
    agree(lambda p: quantile(p(np.sort(HALVES, 0)), ends, 0, method=method))
    agree(lambda p: percentile(p(K), [12.5, 40], 0, method=method, keepdims=True))
    agree(lambda p: quantile(p(K), [0, 1], method=method))


@pytest.mark.parametrize("nan", ["", "nan"])
def test_values(agree, nan):
    median, quantile, percentile = (getattr(np, nan + name) for name in ("median", "quantile", "percentile"))
    for host in (A, K, U, N, V, V[:1], LOST, SINGLE, HALF):
        agree(lambda p: median(p(host)))
        agree(lambda p: median(p(host), axis=0, keepdims=True))
        agree(lambda p: quantile(p(host), 0.3, axis=-1))
        agree(lambda p: percentile(p(host), [[20, 55.5]], axis=0))
    agree(lambda p: median(p(M), axis=1))
    agree(lambda p: median(p(C), axis=1))
    agree(lambda p: median(p(np.array(3.0))))
    agree(lambda p: quantile(p(np.array(3.0)), [0.1, 0.5]))
    for axes in (None, 1, (0, 2), (2, 1), ()):
        for keepdims in (False, True):
            agree(lambda p: median(p(T), axes, keepdims=keepdims))
            agree(lambda p: quantile(p(T), 0.4, axes, keepdims=keepdims))


def test_medians_of_large_numbers_do_not_overflow(agree):
    top = np.finfo(np.float64).max
    agree(lambda p: np.median(p(np.array([top, 1.0, top]))))
    agree(lambda p: np.nanmedian(p(np.array([top, np.nan, top, top]))))


def test_out(put):
    for function in (np.median, np.nanmedian, lambda a, **options: np.quantile(a, 0.3, **options)):
        out = put(np.zeros(4))
        assert function(put(A), axis=0, out=out) is out
        np.testing.assert_allclose(np.asarray(out), function(A, axis=0))
        with pytest.raises(ValueError, match="output"):
            function(put(A), axis=0, out=put(np.zeros(3)))


def test_errors(put):
    with pytest.raises(ValueError, match=r"Quantiles must be in the range \[0, 1\]"):
        np.quantile(put(V), [0.5, 1.5])
    with pytest.raises(ValueError, match=r"Percentiles must be in the range \[0, 100\]"):
        np.nanpercentile(put(V), -1)
    with pytest.raises(ValueError, match="'middle' is not a valid method"):
        np.quantile(put(V), 0.5, method="middle")
    with pytest.raises(TypeError, match="real numbers"):
        np.quantile(put(C), 0.5)
    with pytest.raises(np.exceptions.AxisError):
        np.median(put(V), axis=1)


def test_no_fallbacks():
    with xp.using(device="wgpu"):
        x = xp.asarray(LOST.astype(np.float32))
        for result in (np.median(x), np.quantile(x, 0.3, axis=1), np.nanmedian(x, axis=0)):
            np.asarray(result)
        if computes("wgpu", "float64"):
            np.asarray(np.nanpercentile(x, [10, 20], axis=1))
        np.asarray(np.quantile(x, xp.asarray(0.25)))
        assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("length", [255, 256, 1001])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_long_lines(length, axis, device):
    host = np.random.default_rng(length).standard_normal((2, length, 3)).astype(np.float32).transpose(0, 2, 1)
    host[1, 2, 5] = np.nan
    for x in (host, host.transpose(2, 0, 1)):
        array = xp.asarray(x)
        for method in ("linear", "median_unbiased", "nearest"):
            for q in (0.0, 0.31, [0.25, 0.5], np.linspace(0, 1, 12)):
                assert_same(np.quantile(array, q, axis, method=method), np.quantile(x, q, axis, method=method), ulp=4)
        assert_same(np.median(array, axis), np.median(x, axis), ulp=2)
        assert_same(np.nanmedian(array, axis), np.nanmedian(x, axis), ulp=2)
