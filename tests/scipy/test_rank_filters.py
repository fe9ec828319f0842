"""Filters by order, and morphology, are SciPy's."""

import numpy as np
import pytest
from ndimage_cases import MODES, compare, sample
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

CROSS = ndimage.generate_binary_structure(2, 1)
ODD = np.array([[1, 0, 1, 1], [0, 1, 1, 0]], bool)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(device, mode):
    shapes = (((3, 2), 5), ((7,), 4), ((4, 9), 3))
    for shape, size in shapes if device.name == "cpu" else shapes[:1]:
        x = sample(shape, "f4")
        for name in ("minimum_filter", "maximum_filter", "median_filter", "grey_opening"):
            compare(name, x, size, mode=mode, cval=2.5)


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i4", "?"])
def test_every_dtype(device, dtype):
    x = sample((7, 8), dtype)
    for name, arguments, keywords in (
        ("minimum_filter", (3,), {}),
        ("maximum_filter", (), {"footprint": ODD, "origin": (0, -1)}),
        ("minimum_filter1d", (5, 0), {"origin": 1}),
        ("maximum_filter1d", (4,), {"mode": "wrap"}),
        ("median_filter", ((3, 4),), {}),
        ("rank_filter", (-2,), {"footprint": CROSS}),
        ("percentile_filter", (30, 3), {"origin": (1, 0)}),
        ("grey_erosion", (), {"footprint": ODD}),
        ("grey_dilation", (), {"footprint": ODD, "origin": (0, 1)}),
        ("grey_closing", ((2, 3),), {}),
        ("white_tophat", (3,), {}),
        ("black_tophat", (), {"footprint": CROSS}),
    ):
        compare(name, x, *arguments, **keywords)
    if dtype not in ("?", "u1"):  # whose differences below 0 are undefined
        for name in ("grey_erosion", "grey_dilation", "morphological_gradient", "morphological_laplace"):
            compare(name, x, structure=np.array([[0, 1, 0], [2, 3, 1]]))


def test_large_windows(device):
    x = sample((40, 50), "f4")
    compare("minimum_filter", x, 37)
    compare("maximum_filter1d", x, 33, 0, mode="constant", cval=3.0, origin=4)
    compare("maximum_filter", x, footprint=np.tri(12, 12, dtype=bool))
    compare("median_filter", x[:12, :12], 9)
    compare("grey_dilation", x, structure=np.ones((9, 9)))
    compare("percentile_filter", x, 20, (2, 5, 3)[:2])
    compare("median_filter", sample((4, 5, 6), "i2"), 3, axes=(0, 2))


@pytest.mark.parametrize("structure", [None, np.ones((3, 3)), ODD])
def test_binary_morphology(device, structure):
    x = sample((9, 10), "f8") > -8
    mask = sample((9, 10), "f8", 1) > -5
    for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
        compare(name, x, structure)
        compare(name, x, structure, iterations=2, border_value=1)
        if xp.config.device == "cpu":
            compare(name, x, structure, iterations=2, mask=mask)
    compare("binary_erosion", x, structure, iterations=0)
    compare("binary_dilation", ~x, structure, iterations=-1, mask=mask, origin=0)
    compare("binary_propagation", ~x, structure, mask=mask)
    compare("binary_hit_or_miss", x, structure if structure is not None else CROSS, origin1=0)


def test_binary_fill_holes(device):
    x = np.zeros((30, 31), bool)
    x[2:28, 3:20] = True
    x[4:25, 5:18] = False
    x[7:10, 8:11] = True
    x[8, 9] = False
    compare("binary_fill_holes", x)
    compare("binary_fill_holes", x.astype(int), np.ones((5, 5)))
    compare("binary_dilation", sample((3, 4, 5), "?"))
    compare("binary_erosion", np.zeros((0, 3), bool))


def test_errors_are_scipys(device):
    a = xp.ones((4, 5), np.float32)
    for call, error, message in (
        (lambda: ndi.median_filter(a), RuntimeError, "no footprint or filter size provided"),
        (lambda: ndi.rank_filter(a, 12, 3), RuntimeError, "rank not within filter footprint size"),
        (lambda: ndi.percentile_filter(a, 101, 3), RuntimeError, "invalid percentile"),
        (lambda: ndi.grey_erosion(a), ValueError, "size, footprint, or structure must be specified"),
        (lambda: ndi.binary_erosion(a, np.ones(3)), RuntimeError, "structure"),
        (lambda: ndi.binary_erosion(a, mask=xp.ones(3)), RuntimeError, "mask and input must have equal sizes"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_median_is_one_loop():
    with xp.using(device="wgpu"):
        assert xp.explain(ndi.median_filter(xp.ones((40, 50), np.float32), 5)).launches <= 2


@pytest.mark.parametrize("dtype", ["f4", "u1", "f8", "i8"])
def test_large_arrays_of_the_host(dtype):
    """Compositions take the place of SciPy's functions where that gives the same elements."""
    x, mask = sample((390, 380), dtype), sample((390, 380), "f4") > 0
    holes = x.copy()
    holes[5:9, 7] = np.nan if x.dtype.kind == "f" else 0
    with xp.using(device="cpu"):
        for image in (x, holes):
            for name, arguments, keywords in (
                ("median_filter", (3,), {"mode": "wrap"}),
                ("rank_filter", (-2,), {"footprint": CROSS, "mode": "constant", "cval": 2.5}),
                ("percentile_filter", (30, 3), {"output": np.float64}),
                ("minimum_filter", (5,), {"origin": (1, -2)}),
                ("maximum_filter", (), {"footprint": ODD, "mode": "constant"}),
                ("minimum_filter", (31,), {}),
                ("grey_opening", (3,), {"mode": "nearest"}),
                ("grey_erosion", (), {"structure": np.arange(9.0).reshape(3, 3)}),
                ("white_tophat", (3,), {}),
            ):
                result = getattr(ndi, name)(xp.asarray(image), *arguments, **keywords)
                expected = getattr(ndimage, name)(image, *arguments, **keywords)
                assert result.dtype == expected.dtype
                np.testing.assert_array_equal(result.get(), expected)
        for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
            for keywords in ({}, {"iterations": 2}, {"structure": ODD[:, :3], "border_value": 1}, {"mask": x > 1}):
                expected = getattr(ndimage, name)(mask, **keywords)
                np.testing.assert_array_equal(getattr(ndi, name)(xp.asarray(mask), **keywords).get(), expected)
