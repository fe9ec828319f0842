"""The quicker compositions of NumPy calls: values, special values, and elements beside any others."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.ops import numpy_forms, substreams
from gpuarray.ops.special import OPS

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 0.5, -2.0, 3.7, 1e300]


@pytest.fixture(autouse=True)
def quiet():
    """Do as the provider does, which tells of no floating-point events."""
    with np.errstate(all="ignore"):
        yield


def units(actual, expected):
    """Return the greatest difference in units in the last place."""
    return (np.abs(actual - expected) / np.spacing(np.abs(expected))).max()


def same_bits(actual, expected):
    is_nan = np.isnan(expected)
    words = f"u{expected.itemsize}"
    return bool((np.isnan(actual) == is_nan).all() and (actual.view(words) == expected.view(words))[~is_nan].all())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
class TestPowers:
    @pytest.mark.parametrize("exponent", [1.8, 0.5, 2, 3, 1, 0, -1, -0.5, np.inf, -np.inf, np.nan, 4, 0.1])
    def test_powers_are_numpys(self, dtype, exponent):
        x = np.tile(np.array(SPECIAL).astype(dtype), 9)
        one = np.array(exponent, dtype)
        out = np.empty_like(x)
        numpy_forms.power(x, one, out, np.empty_like(x))
        assert same_bits(out, np.power(x, one[()]))

    @pytest.mark.parametrize("value", SPECIAL)
    def test_one_element(self, dtype, value):
        x = np.array(value, dtype)
        there = xp.asarray(x, device="cpu")
        for exponent in (1.8, 4, -0.5):
            np.testing.assert_array_equal(xp.asnumpy(there**exponent), x**exponent)
        for large in (x, x + np.asarray(1e9, dtype)):
            result = xp.asnumpy(xp.sin(xp.asarray(large, device="cpu")) + 0)
            np.testing.assert_allclose(result, np.sin(large), 1e-6 if dtype == "f4" else 1e-15)

    @pytest.mark.parametrize("bound", [0.0, -1.0, np.inf, -np.inf, np.nan])
    def test_extremes_are_numpys(self, dtype, bound):
        x = np.array(SPECIAL).astype(dtype)
        one = np.array(bound, dtype)
        for function, numpys in ((numpy_forms.largest, np.maximum), (numpy_forms.smallest, np.minimum)):
            out = np.empty_like(x)
            function(x, one, out)
            np.testing.assert_array_equal(out, numpys(x, one))
            there = xp.asarray(x, device="cpu")
            ours = getattr(xp, numpys.__name__)
            for result in (ours(there, float(bound)), ours(float(bound), there)):
                assert result.dtype == x.dtype
                np.testing.assert_array_equal(xp.asnumpy(result), out)

    def test_one_program_has_maxima_of_either_kind(self, dtype):
        x = np.linspace(-2, 2, 100).astype(dtype)
        there = xp.asarray(x, device="cpu")
        result = xp.maximum(xp.maximum(there, 0.5) * 2, there**2) ** 1.5
        np.testing.assert_allclose(xp.asnumpy(result), np.maximum(np.maximum(x, 0.5) * 2, x**2) ** 1.5, 1e-6)


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize(("first", "size"), [(0, 1000), (3, 998), (5, 2), (6, 1)])
def test_a_range_of_normal_numbers_is_what_its_index_is(kind, first, size):
    stream = substreams.Substream(1, 2, 3, 4)
    result = substreams.normal(range(first, first + size), stream, np.dtype(kind))
    assert same_bits(result, substreams.normal(np.arange(first, first + size), stream, np.dtype(kind)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("in_place", [False, True])
class TestSinc:
    def called(self, x, in_place):
        out = x.copy() if in_place else np.empty_like(x)
        numpy_forms.sinc(out if in_place else x, out, *(np.empty_like(x) for _ in range(4)))
        return out

    def test_errors_are_small(self, dtype, in_place):
        random = np.random.default_rng(0)
        near = np.arange(-20, 20) + random.normal(size=40) * 1e-6
        x = np.concatenate([random.uniform(-9, 9, 3000), random.normal(size=300) / 1e4, near]).astype(dtype)
        assert (
            units(self.called(x, in_place), OPS["sinc"].numpy(x, out=np.empty_like(x))) <= 3
        )  # both are within 1.7 of the exact values

    def test_special_values(self, dtype, in_place):
        x = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -19, 1e30, 1e-30, -2], dtype)
        expected = np.array([1, 1, np.nan, np.nan, np.nan, 0, 0, 0, 1, 0], dtype)
        assert same_bits(self.called(x, in_place), expected)
