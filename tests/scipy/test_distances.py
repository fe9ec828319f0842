"""Distances to the nearest zero are SciPy's, by every metric, and so are the places of nearest zeros."""

import numpy as np
import pytest
from ndimage_cases import same
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

IMAGES = [np.random.default_rng(len(shape)).random(shape) < 0.85 for shape in ((40,), (9, 14), (5, 6, 7), (3, 4, 3, 5))]
IMAGES += [np.ones((3, 4), bool), np.zeros((2, 3), bool), np.ones((1, 5), bool)]
CALLS = [
    ("distance_transform_edt", {}),
    ("distance_transform_edt", {"sampling": 0.5}),
    ("distance_transform_bf", {}),
    ("distance_transform_bf", {"sampling": 2.5}),
    ("distance_transform_bf", {"metric": "Taxicab"}),
    ("distance_transform_bf", {"metric": "chessboard"}),
    ("distance_transform_cdt", {}),
    ("distance_transform_cdt", {"metric": "taxicab"}),
]


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: str(image.shape))
@pytest.mark.parametrize(("name", "options"), CALLS)
def test_distances(name, options, image, device):
    with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):  # the former has no float64
        result = getattr(ndi, name).composition(xp.asarray(image), **options)
    same(result, getattr(ndimage, name)(image, **options))


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: str(image.shape))
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("distance_transform_edt", {}),
        ("distance_transform_edt", {"sampling": 1.5, "return_distances": False}),
        ("distance_transform_bf", {}),
        ("distance_transform_bf", {"metric": "taxicab"}),
        ("distance_transform_bf", {"metric": "chessboard"}),
        ("distance_transform_cdt", {"metric": "chessboard"}),
        ("distance_transform_cdt", {"metric": "taxicab", "return_distances": False}),
    ],
)
def test_indices(name, options, image, device):
    options = {"return_indices": True} | options
    with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):
        result = getattr(ndi, name).composition(xp.asarray(image), **options)
    same(result, getattr(ndimage, name)(image, **options))


@pytest.mark.parametrize(
    ("name", "dtype"), [("edt", np.float64), ("bf", np.float64), ("cdt", np.int32)], ids=lambda v: str(v)
)
def test_results_in_arrays(name, dtype, device):
    name = f"distance_transform_{name}"
    x = IMAGES[1]
    expected = getattr(ndimage, name)(x)
    function = getattr(ndi, name).composition
    distances = xp.zeros(x.shape, dtype)
    assert function(xp.asarray(x), distances=distances) is None
    same(distances, expected)
    for wrong in (np.zeros(x.shape, np.int16), np.zeros((2, *x.shape), dtype)):
        with pytest.raises((RuntimeError, ValueError)) as error:
            getattr(ndimage, name)(x, distances=wrong)
        with pytest.raises(error.type, match=str(error.value)):
            function(xp.asarray(x), distances=xp.asarray(wrong))


def test_metrics_of_steps(device):
    x = xp.asarray(IMAGES[1])
    for connectivity in (1, 2):
        steps = ndimage.generate_binary_structure(2, connectivity)
        with xp.using(fallback="error"):
            result = ndi.distance_transform_cdt(x, steps)
        same(result, ndimage.distance_transform_cdt(IMAGES[1], steps))


STRUCTURES = [[[1, 0, 1], [0, 0, 0], [0, 0, 0]], [[0, 0, 1], [1, 0, 0], [1, 1, 1]], [[0] * 3] * 3, [[9, 5, 0]] * 3]


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_structures_of_steps(structure, dtype, device):
    image = np.random.default_rng(0).random((30, 17)) < 0.97
    structure = np.array(structure, dtype)
    with xp.using(fallback="error"):
        result = ndi.distance_transform_cdt.composition(xp.asarray(image), structure, return_indices=True)
    same(result, ndimage.distance_transform_cdt(image, structure, return_indices=True))


def test_long_axes(device):
    x = np.ones((2, 20000), bool)
    x[1, 5000] = x[0, 19000] = False
    options = {"return_indices": True}
    with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):
        for name in ("distance_transform_edt", "distance_transform_cdt"):
            result = getattr(ndi, name).composition(xp.asarray(x), **options)
            same(result, getattr(ndimage, name)(x, **options))


def test_invalid_metrics(device):
    for name in ("distance_transform_bf", "distance_transform_cdt"):
        with pytest.raises((RuntimeError, ValueError)) as error:
            getattr(ndimage, name)(IMAGES[1], "none")
        with pytest.raises(error.type, match=str(error.value)):
            getattr(ndi, name).composition(xp.asarray(IMAGES[1]), "none")
