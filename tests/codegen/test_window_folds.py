"""Folds over windows have a kernel of their own where windows share what they read, with the values of NumPy."""

import numpy as np
import pytest
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

#: Enough rows that neighbours of a column occupy a device.
SHAPE = (1027, 520)


def is_by_windows(array):
    return "_windows\n" in str(xp.explain(array, stage="wgsl")) or " windows" in str(xp.explain(array, stage="wgsl"))


@pytest.fixture
def picture():
    return np.random.default_rng(3).standard_normal(SHAPE).astype(np.float32)


@pytest.mark.parametrize("shape", [(7, 7), (3, 20), (20, 3), (1, 5), (33, 1)])
@pytest.mark.parametrize("mode", ["mirror", "constant"])
def test_sums_of_products(picture, shape, mode):
    weights = np.random.default_rng(4).random(shape)
    with xp.using(device="wgpu"):
        result = ndi.correlate(xp.asarray(picture), weights, mode=mode, cval=2.0)
        assert is_by_windows(result)
        np.testing.assert_allclose(result, ndimage.correlate(picture, weights, mode=mode, cval=2.0), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, bool])
def test_extremes_of_any_dtype(picture, dtype):
    x = (picture * 40).astype(dtype)
    with xp.using(device="wgpu"):
        result = ndi.maximum_filter(xp.asarray(x), (5, 4))
        assert is_by_windows(result)
        assert np.array_equal(result, ndimage.maximum_filter(x, (5, 4)))


def test_what_comes_before_and_after_is_in_the_same_kernel(picture):
    with xp.using(device="wgpu"):
        result = xp.sqrt(abs(ndi.sobel(xp.asarray(picture) * 2 + 1)) + 3)
        assert is_by_windows(result)
        assert str(xp.explain(result, stage="plan")).count("1 launch")
        np.testing.assert_allclose(result, np.sqrt(abs(ndimage.sobel(picture * 2 + 1)) + 3), atol=1e-4)


def test_windows_of_volumes_and_of_views():
    x = np.random.default_rng(5).standard_normal((11, 260, 270)).astype(np.float32)
    with xp.using(device="wgpu"):
        result = ndi.uniform_filter(xp.asarray(x), 3)
        assert is_by_windows(result)
        np.testing.assert_allclose(result, ndimage.uniform_filter(x, 3), atol=1e-5)
        flat = xp.asarray(x.reshape(-1, 270))
        seen = np.lib.stride_tricks.sliding_window_view(x.reshape(-1, 270), (4, 3))
        windows = xp.lib.stride_tricks.sliding_window_view(flat, (4, 3))
        np.testing.assert_allclose(windows.max((-2, -1)), seen.max((-2, -1)))
        np.testing.assert_allclose(windows.sum((-2, -1)), seen.sum((-2, -1)), atol=1e-4)


@pytest.mark.parametrize("size", [(3, 2, 1), (3, 1, 2), (1, 3, 2), (1, 1, 4), (4, 1, 1), (1, 2, 1)])
@pytest.mark.parametrize("shape", [(5, 6, 3), (9, 260, 270)])
def test_boxes_along_some_axes(size, shape):
    x = np.random.default_rng(6).standard_normal(shape).astype(np.float32)
    origin = [(extent - 1) // 2 for extent in size]
    with xp.using(device="wgpu"):
        result = ndi.maximum_filter(xp.asarray(x), size, mode="constant", cval=0.5, origin=origin)
        assert np.array_equal(result, ndimage.maximum_filter(x, size, mode="constant", cval=0.5, origin=origin))
