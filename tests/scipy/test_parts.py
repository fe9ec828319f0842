"""Filters on several threads of the host give SciPy's results to the last bit."""

import numpy as np
import pytest
from ndimage_cases import sample
from scipy import ndimage, signal

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi
import gpuarray.scipy.signal as sig
from gpuarray import config
from gpuarray.scipy.ndimage._parts import by_neighbours, in_parts

CALLS = {
    "correlate": (np.arange(15.0).reshape(5, 3),),
    "convolve": (np.arange(12.0).reshape(4, 3),),
    "correlate1d": ([1.0, 2, 1], 0),
    "convolve1d": ([1.0, 2, 5, 1],),
    "gaussian_filter": (2.0,),
    "sobel": (0,),
    "prewitt": (),
    "laplace": (),
    "median_filter": (3,),
    "rank_filter": (4, 3),
    "percentile_filter": (70, 3),
    "minimum_filter": (5,),
    "maximum_filter": ((7, 2),),
    "minimum_filter1d": (6, 0),
    "maximum_filter1d": (6,),
    "grey_erosion": (4,),
    "grey_opening": (3,),
    "grey_closing": ((5, 2),),
    "white_tophat": (3,),
    "morphological_gradient": (3,),
}
#: Calls without modes, of images and of signals.
OTHERS = {
    "steps": lambda m, s, x, k: m.binary_erosion(x > 0, iterations=3, border_value=1),
    "structure": lambda m, s, x, k: m.binary_dilation(x > 0, k[:4] > 0.5, origin=(1, 0)),
    "opening": lambda m, s, x, k: m.binary_opening(x > -9, iterations=2),
    "closing": lambda m, s, x, k: m.binary_closing(x > 9, border_value=1),
    "mask": lambda m, s, x, k: m.binary_dilation(x > 9, mask=x < 15),
    "nearest": lambda m, s, x, k: m.map_coordinates(x, np.abs([x, x.T.reshape(x.shape)]) * 5, order=0),
    "linear": lambda m, s, x, k: m.map_coordinates(x, np.abs([x, x[::-1]]) * 9, order=1, mode="mirror"),
    "cubic": lambda m, s, x, k: m.map_coordinates(x, np.abs([x, x[::-1]]) * 9, mode="reflect", output=np.int16),
    "extended": lambda m, s, x, k: m.map_coordinates(x, np.abs([x, x[::-1]]) * 9, mode="nearest", order=2),
    "moved": lambda m, s, x, k: m.shift(x, (1.3, -7), mode="wrap"),
    "moved without coordinates": lambda m, s, x, k: m.shift(x, 1.3, order=1),
    "enlarged": lambda m, s, x, k: m.zoom(x, (1.2, 0.7), order=2),
    "enlarged in a grid": lambda m, s, x, k: m.zoom(x, 1.2, grid_mode=True, mode="grid-wrap"),
    "a matrix": lambda m, s, x, k: m.affine_transform(x, [[0.9, 0.2], [-0.1, 1.1]], (3, 0.5), (300, 250), order=1),
    "homogeneous": lambda m, s, x, k: m.affine_transform(x, [[0.9, 0.2, 3], [-0.1, 1.1, 0]], output="i4"),
    "diagonal": lambda m, s, x, k: m.affine_transform(x, [0.9, 1.1], mode="mirror"),
    "turned": lambda m, s, x, k: m.rotate(x, 90),
    "turned in place": lambda m, s, x, k: m.rotate(x, -33, axes=(1, 0), reshape=False, mode="nearest"),
    "Laplacian": lambda m, s, x, k: m.gaussian_laplace(x, 2, truncate=3.0),
    "magnitude": lambda m, s, x, k: m.gaussian_gradient_magnitude(x, (1, 3), mode="mirror"),
    "ranks": lambda m, s, x, k: s.order_filter(x, k[:, :3] > 0.3, 2),
    "image": lambda m, s, x, k: s.convolve2d(x, k, "same"),
    "symmetric": lambda m, s, x, k: s.correlate2d(x, k, "same", "symm"),
    "whole": lambda m, s, x, k: s.convolve2d(x, k, boundary="wrap"),
    "medians": lambda m, s, x, k: s.medfilt2d(x, (3, 5)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_bits_of_others(name):
    x, k = sample((331, 200), "f4"), np.random.default_rng(1).random((5, 4))
    expected = OTHERS[name](ndimage, signal, x, k)
    with xp.using(device="cpu"), config.using(threads=3):
        result = OTHERS[name](ndi, sig, xp.asarray(x), k)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("name", CALLS)
def test_bits(name):
    with xp.using(device="cpu"), config.using(threads=3):
        for dtype in ("f4", "u1"):
            x = sample((331, 200), dtype)
            for mode, origin in (("reflect", 0), ("constant", 1), ("wrap", -1), ("mirror", 0)):
                chosen = {"mode": mode, "cval": 3}
                if "origin" in getattr(ndimage, name).__code__.co_varnames:
                    chosen["origin"] = origin
                result = getattr(ndi, name)(xp.asarray(x), *CALLS[name], **chosen)
                np.testing.assert_array_equal(np.asarray(result), getattr(ndimage, name)(x, *CALLS[name], **chosen))


def test_arguments_of_parts():
    x = sample((400, 300), "f4")
    with xp.using(device="cpu"), config.using(threads=3):
        a = xp.asarray(x)
        for call in (
            lambda m, a: m.gaussian_filter(a, (1, 3), order=(1, 0), radius=4),
            lambda m, a: m.median_filter(a, footprint=np.eye(3, dtype=bool)),
            lambda m, a: m.grey_dilation(a, structure=np.arange(6.0).reshape(2, 3), origin=(0, 1)),
            lambda m, a: m.maximum_filter(a, 3, axes=(1,)),
            lambda m, a: m.minimum_filter(a, 300),
            lambda m, a: m.sobel(a, output=np.float64),
        ):
            np.testing.assert_array_equal(np.asarray(call(ndi, a)), call(ndimage, x))
        target = xp.zeros((400, 300), np.float32)
        ndi.gaussian_filter(a, 2.0, output=target)
        np.testing.assert_array_equal(np.asarray(target), ndimage.gaussian_filter(x, 2.0))
        with pytest.raises(RuntimeError, match="boundary mode not supported"):
            ndi.gaussian_filter(a, 2.0, mode="none")
        with pytest.raises(ValueError, match=r"(?i)invalid origin"):
            ndi.median_filter(a, 3, origin=5)


def test_threads_take_parts():
    heights = []

    def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
        heights.append(len(input))
        return ndimage.sobel(input, axis, output, mode, cval)

    run = in_parts(sobel, by_neighbours)
    x = sample((300, 300), "f4")
    with config.using(threads=3):
        np.testing.assert_array_equal(run(x), ndimage.sobel(x))
        assert heights.pop(0) == 1  # a trial says the dtype
        assert sorted(heights) == [101, 101, 102]
        run(x, mode="wrap")
        run(x[:50])
    with config.using(threads=1):
        run(x)
    assert heights[3:] == [300, 50, 300]
