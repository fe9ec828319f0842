"""Splines and what is interpolated with them are SciPy's."""

import re

import numpy as np
import pytest
from ndimage_cases import MODES, compare, placed, same, sample
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

ORDERS = range(6)


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_and_mode(device, order):
    modes = MODES if device.name == "cpu" else MODES[order % 5 :: 5]
    x = sample((32, 40), "f8")  # where SciPy's coefficients are exact for "reflect" too
    edges = [[0, 31, 3, -1, 31.5, 62, -31], [0, 39, 39, 2, -0.5, 78, -39]]
    points = np.concatenate([sample((2, 20), "f8", 1), edges], axis=1)
    for mode in modes:
        if order > 1 and device.name == "cpu":
            compare("spline_filter", x, order, mode=mode)
        compare("map_coordinates", x, points, order=order, mode=mode, cval=2.5)
        compare("shift", x, (1.5, -12.25), order=order, mode=mode, cval=2.5)


@pytest.mark.parametrize("dtype", ["f4", "u1", "i2", "i4", "c8", "?"])
def test_every_dtype(device, dtype):
    x = sample((9, 7), dtype)
    for order in (0, 1, 3) if device.name == "cpu" else (1,):
        compare("zoom", x, (1.7, 0.6), order=order, mode="nearest", off=1)
        compare("affine_transform", x, [[0.9, 0.2], [-0.3, 1.1]], (0.53, -1.04), order=order, mode="mirror", off=1)


def test_geometry(device):
    x = sample((8, 9), "f4")
    compare("rotate", x, 30.0)
    compare("rotate", x, -75.0, reshape=False, order=1, mode="grid-wrap")
    compare("rotate", sample((3, 6, 4), "f4"), 20.0, axes=(2, 1), order=2)
    compare("zoom", x, 2, grid_mode=True, mode="grid-constant", order=3)
    compare("zoom", x[:1], 2.5, order=1)
    compare("affine_transform", x, [[1, 0.1, 2], [0.2, 1, -1]], output_shape=(5, 12))
    compare("shift", sample((4, 5, 6), "f8"), (0.5, 0, -1.25), order=3, mode="mirror")
    compare("shift", sample((12,), "f8"), 2.5, prefilter=False)
    compare("map_coordinates", x, np.array([[1, 2, 30], [0, 3, 3]]), order=1, cval=-1.0)
    compare("map_coordinates", x, np.random.default_rng(0).random((2, 3, 4)) * 9, output=np.float64)
    compare("spline_filter1d", x, 3, 0, mode="grid-wrap")
    compare("spline_filter1d", x, 1, 0)


def test_geometric_transform_calls_the_function_once(device):
    x = sample((8, 9), "f4")

    def mapping(at, by):
        return at[0] * 0.5 + by, at[1] - 0.3 * at[0]

    expected = ndimage.geometric_transform(x, mapping, extra_arguments=(0.5,), order=1)
    same(ndi.geometric_transform(xp.asarray(x), mapping, extra_arguments=(0.5,), order=1), expected)


def test_output_has_the_shape_of_the_result(device):
    x = sample((6, 6), "f4")
    target = xp.zeros((9, 9), np.float32)
    assert ndi.zoom(xp.asarray(x), 1.5, output=target) is target
    same(target, ndimage.zoom(x, 1.5))


def test_derivatives_of_coordinates():
    with xp.using(device="cpu"):
        x, points = placed((sample((6, 7), "f8"), np.array([[2.25, 3.5], [1.75, 4.5]])))
        rate = xp.grad(lambda p: ndi.map_coordinates(x, p, order=3).sum())(points)
        step = 1e-5
        for place in np.ndindex(2, 2):
            ends = []
            for sign in (1, -1):
                moved = points.get()
                moved[place] += sign * step
                ends.append(ndimage.map_coordinates(x.get(), moved, order=3).sum())
            assert float(rate[place]) == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4)


def test_errors_are_scipys(device):
    a = xp.ones((4, 5), np.float32)
    for call, error, message in (
        (lambda: ndi.zoom(a, 2, order=7), RuntimeError, "spline order not supported"),
        (lambda: ndi.map_coordinates(a, xp.ones((3, 2))), RuntimeError, "invalid shape for coordinate array"),
        (lambda: ndi.rotate(a, 3, axes=(0, 3)), ValueError, "invalid rotation plane specified"),
        (lambda: ndi.affine_transform(a, np.ones((3, 2))), RuntimeError, "affine matrix has wrong number of rows"),
        (lambda: ndi.shift(a, 1, mode="no"), RuntimeError, "boundary mode not supported"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_rotation_is_a_few_launches():
    with xp.using(device="wgpu"):
        a = xp.ones((40, 50), np.float32)
        assert xp.explain(ndi.rotate(a, 20, order=1, reshape=False)).launches <= 3
        assert xp.explain(ndi.zoom(a, 1.5, order=3)).launches <= 6


def test_kernels_of_order_1_read_little():
    with xp.using(device="wgpu"):
        a, points = xp.asarray(sample((300, 202), "f4")), xp.asarray(sample((2, 300, 202), "f4") * 200)
        # four elements of the image, and tables of positions and rests along both axes, or the coordinates
        for result, others in ((ndi.zoom(a, 0.5, order=1), 4), (ndi.map_coordinates(a, points, order=1), 2)):
            plan = xp.explain(result, stage="wgsl")
            assert plan.launches == 1
            assert len(re.findall(r"let (?:v\d+_0|w\d+)\b.* = input", str(plan))) == 4 + others
