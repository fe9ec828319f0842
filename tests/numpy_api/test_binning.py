"""Histograms and counts: NumPy's answer for any edges, numbers of bins and dtypes, by kernels and by parts."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.functions import binning
from gpuarray.ops import calls

SIZE = 70_001  # two parts in-process
DTYPES = ("float16", "float32", "float64", "int32", "uint8")
BINS = (1, 2, 255, 256, 1023, 1024, 3000, 5000)


def _values(dtype):
    rng = np.random.default_rng(0)
    kind = np.dtype(dtype).kind
    return rng.integers(0, 200, SIZE).astype(dtype) if kind in "iu" else (rng.standard_normal(SIZE) * 20).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bins_of_one_width(dtype, put):
    x = _values(dtype)
    for bins in BINS if dtype == "float32" else (3, 256):
        counts, edges = np.histogram(put(x), bins)
        expected = np.histogram(x, bins)
        np.testing.assert_array_equal(np.asarray(counts), expected[0])
        np.testing.assert_array_equal(np.asarray(edges), expected[1])
    if dtype != "float64":  # which not every device has
        assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_edges_and_what_is_no_number(dtype, put):
    x = _values(dtype)
    x[::7], x[1::7], x[2::7], x[3::7] = np.nan, np.inf, -np.inf, -0.0
    sets = [[-3, -1, -1, 0, 2.5, np.inf], [-np.inf, 0, np.inf], [0.0, 0.0], [-1, 0, 1, 1e30], [1e-40, 2e-40, 1]]
    sets += [np.sort(np.random.default_rng(1).standard_normal(count) * 20) for count in (600, 6000)]
    for some in sets:
        edges = np.asarray(some, dtype)
        counts, _ = np.histogram(put(x), put(edges))
        np.testing.assert_array_equal(np.asarray(counts), np.histogram(x, edges)[0])
    for limits in ((-5, 5), (0, 1e-3), (1e6, 1e6 + 64)):
        counts, _ = np.histogram(put(x), 300, limits)
        np.testing.assert_array_equal(np.asarray(counts), np.histogram(x, 300, limits)[0])


def _found(x, bins):
    """Return counts and edges, or the error."""
    try:
        return [np.asarray(result).tolist() for result in np.histogram(x, bins)]
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges_that_a_device_makes_are_those_of_numpy(dtype, put, monkeypatch):
    monkeypatch.setattr(binning, "QUICKLY_SEEN", 1)
    x = _values(dtype)[:2000]
    tiny = x * np.finfo(dtype).smallest_subnormal
    huge = x * (np.finfo(dtype).max / 150)
    with_nan, with_infinity = x.copy(), x.copy()
    with_nan[7], with_infinity[7] = np.nan, np.inf
    for some in (x, abs(x), x + 1e7, tiny, huge, 0 * x, x[:1], with_nan, with_infinity):
        for bins in (1, 7, 1000):
            with np.errstate(all="ignore"):
                assert _found(put(some), bins) == _found(some, bins)
    held = put(x) * 1
    xp.evaluate(held)
    xp.reset_stats()
    counts, _ = np.histogram(held, 50, density=True)
    np.testing.assert_allclose(np.asarray(counts), np.histogram(x, 50, density=True)[0], rtol=1e-12)
    if held.device.kind == "wgpu":  # nothing that the host made was sent
        assert xp.stats()["bytes_uploaded"] == 0


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_integers_up_to_the_last(dtype, put):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max] * 9, dtype)
    for bins, ends in ((7, None), (5, (0, 3)), (4, (-0.5, 2.5)), (300, (0.2, 0.9)), (2, (limits.min, limits.max))):
        if np.dtype(dtype).itemsize == 8 and ends is None:
            continue  # differences of such integers overflow in NumPy too
        counts, edges = np.histogram(put(x), bins, ends)
        expected = np.histogram(x, bins, ends)
        np.testing.assert_array_equal(np.asarray(counts), expected[0])
        np.testing.assert_array_equal(np.asarray(edges), expected[1])


def test_elements_at_the_edges_are_in_the_bin_that_begins_there(put):
    edges = np.histogram_bin_edges(np.array([-3.3, 7.7], np.float32), 777)
    beside = np.concatenate([edges, np.nextafter(edges, np.float32(-9)), np.nextafter(edges, np.float32(9))])
    x = np.tile(beside, 8)  # enough for the guess to be made
    counts, _ = np.histogram(put(x), put(edges))
    np.testing.assert_array_equal(np.asarray(counts), np.histogram(x, edges)[0])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint32", "int64", "uint64", "bool"])
def test_counts_of_integers_of_any_width(dtype, put):
    x = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 100, SIZE).astype(dtype)
    for least in (0, 5000):
        np.testing.assert_array_equal(np.asarray(np.bincount(put(x), minlength=least)), np.bincount(x, minlength=least))
    assert xp.stats()["fallbacks"] == 0


def test_distances_tell_bins_where_edges_are_evenly_apart():
    line = np.linspace(-2, 2, 257, dtype=np.float32)
    x = np.random.default_rng(0).random(5000, dtype=np.float32) * 5 - 2.5
    x[:4] = np.nan, np.inf, -2, 2
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(calls._histogram_near(x, line), np.histogram(x, line)[0])
        assert calls._histogram_near(x, line**3) is None
        assert calls._histogram_near(x, np.float32(1e8) + 16 * line) is None
        assert calls._histogram_near(np.zeros(5000, np.float32), line) is None
