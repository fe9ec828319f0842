"""Labels, measurements and distances are SciPy's."""

import numpy as np
import pytest
from ndimage_cases import compare, placed, same, sample
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi


def spiral(size):
    """Return a path that winds to the middle, whose ends are far apart along it."""
    found = np.zeros((size, size), bool)
    row, column, step = 0, 0, (0, 1)
    for length in [size - 1, *(n for n in range(size - 1, 0, -2) for _ in range(2))]:
        for _ in range(length):
            found[row, column] = True
            row, column = row + step[0], column + step[1]
        step = (step[1], -step[0])
    return found


def labelled(x, structure=None, **kwargs):
    expected, count = ndimage.label(x, structure, **kwargs)
    found, number = ndi.label.composition(xp.asarray(x), structure, **kwargs)
    assert number == count
    same(found, expected)


def test_labels(device):
    rng = np.random.default_rng(0)
    labelled(spiral(40))
    labelled(rng.random((30, 40)) < 0.6)
    labelled(rng.random((30, 40)) < 0.6, np.ones((3, 3)), output=np.int64)
    labelled((rng.random((5, 6, 7)) < 0.4).astype("f4"))
    labelled(rng.random(50) < 0.5)
    labelled(rng.random((20, 90)) < 0.7, np.eye(3))
    labelled(rng.random((40, 70)) < 0.9)
    labelled(np.zeros((0, 3)))
    labelled(np.zeros((4, 3)))
    target = xp.zeros((4, 4), np.int32)
    assert ndi.label(xp.asarray(np.eye(4)), output=target) == 4
    same(target, ndimage.label(np.eye(4))[0])


@pytest.mark.parametrize(
    "name", ["sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "center_of_mass"]
)
def test_measurements(device, name):
    labels = np.random.default_rng(1).integers(0, 5, (6, 7)).astype("i4")
    for dtype in ("f8", "i4") if device.name == "cpu" else ("f8",):
        x = np.abs(sample((6, 7), dtype))
        same_or_close(name, x)
        same_or_close(name, x, labels)
        same_or_close(name, x, labels, 3)
        same_or_close(name, x, labels, np.array([4, 1, 1, 2]))


def same_or_close(name, *args):
    expected = np.asarray(getattr(ndimage, name)(*args))
    found = getattr(ndi, name).composition(*placed(args[:2]), *args[2:])
    found = np.asarray(found)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_distances(device):
    x = np.random.default_rng(0).random((20, 17)) < 0.9
    compare("distance_transform_edt", x)
    compare("distance_transform_edt", x, (0.5, 2.0))
    compare("distance_transform_edt", np.random.default_rng(0).random((5, 6, 7)) < 0.9)
    same(ndi.distance_transform_edt(xp.asarray(x), return_indices=True)[0], ndimage.distance_transform_edt(x))
    distances = xp.zeros(x.shape)
    assert ndi.distance_transform_edt(xp.asarray(x), distances=distances) is None
    same(distances, ndimage.distance_transform_edt(x))


def test_functions_of_the_host(device):
    x = np.random.default_rng(1).integers(0, 5, (6, 7)).astype("i4")
    a = xp.asarray(x)
    assert ndi.find_objects(a) == ndimage.find_objects(x)
    same(ndi.median(a, a, np.arange(5)), ndimage.median(x, x, np.arange(5)))
    assert ndi.maximum_position(a) == ndimage.maximum_position(x)
    same(ndi.generic_filter(a, np.ptp, 3), ndimage.generic_filter(x, np.ptp, 3))


@pytest.mark.skipif(not hasattr(ndimage, "vectorized_filter"), reason="this SciPy lacks it")
def test_vectorized_filter(device):
    x = sample((6, 7), "f4")
    for keywords in ({"size": 3}, {"footprint": np.tri(3) > 0, "mode": "wrap"}, {"size": (2, 3), "mode": "valid"}):
        expected = ndimage.vectorized_filter(x, np.max, **keywords)
        same(ndi.vectorized_filter(xp.asarray(x), xp.max, **keywords), expected)


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
def test_filters_and_distances_of_batches(device):
    x = sample((3, 12, 9), "f4")
    with xp.using(device=device):
        for name, arguments in (
            ("gaussian_filter", (1.0,)),
            ("median_filter", (3,)),
            ("distance_transform_edt", ()),
        ):
            values = np.maximum(x, 0)
            found = xp.vmap(lambda a, n=name, r=arguments: getattr(ndi, n)(a, *r))(xp.asarray(values))
            same(found, np.stack([getattr(ndimage, name)(a, *arguments) for a in values]))
