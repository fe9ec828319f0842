"""Boxes, indices and functions of the parts of an array are SciPy's."""

import numpy as np
import pytest
from ndimage_cases import same
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

SHAPES = [(40,), (9, 14), (3, 4, 5), (2, 3, 2, 4), (1, 6), (0, 3), ()]


def labels(shape, dtype="int32"):
    return np.random.default_rng(len(shape)).integers(0, 9, shape).astype(dtype)


def outcome(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except (ValueError, TypeError, OverflowError) as error:
        return error


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("most", [0, 3, 20])
def test_find_objects(shape, most, device):
    for dtype in ("int32", "int64", "uint8"):
        x = labels(shape, dtype)
        expected = outcome(ndimage.find_objects, x, most)
        result = outcome(ndi.find_objects.composition, xp.asarray(x), most)
        assert type(result) is type(expected)
        assert isinstance(result, ValueError) or result == expected
    assert ndi.find_objects.composition(xp.zeros((2, 3), int)) == []


def test_boxes_of_negative_and_other_labels(device):
    for x, most in ((np.array([-3, 2, 5, 2]), 0), (np.array([1.5, 2.7, -1]), 4), (np.array([False, True]), 1)):
        assert ndi.find_objects.composition(xp.asarray(x), most) == ndimage.find_objects(x, most)
    for x in (np.array([1.5]), np.array([True]), np.array([1j])):
        for call in (lambda x: ndimage.find_objects(x), lambda x: ndi.find_objects.composition(xp.asarray(x))):
            with pytest.raises(TypeError, match=r"cannot be interpreted as an integer|Complex type not supported"):
                call(x)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("ignored", [None, 0, 30])
def test_value_indices(shape, ignored, device):
    for dtype in ("int16", "int64", "uint32"):
        x = labels(shape, dtype)
        expected = ndimage.value_indices(x, ignore_value=ignored)
        result = ndi.value_indices.composition(xp.asarray(x), ignore_value=ignored)
        assert list(result) == list(expected)
        same(tuple(result.values()), tuple(expected.values()))


def test_values_without_indices(device):
    for x, ignored in ((np.array([1.5]), None), (np.array([True]), None), (np.array([1], np.uint8), -1)):
        with pytest.raises((ValueError, OverflowError)) as error:
            ndimage.value_indices(x, ignore_value=ignored)
        with pytest.raises(error.type, match=str(error.value)):
            ndi.value_indices.composition(xp.asarray(x), ignore_value=ignored)


X = np.random.default_rng(0).random((9, 14))
Y = labels((9, 14))


def spread_of(values):
    return np.max(values) - np.min(values)


def first_place(values, positions):
    return positions[np.argmax(values)]


@pytest.mark.parametrize("index", [None, 3, 30, [1, 4], np.array([8, 2, 50, 2])], ids=str)
@pytest.mark.parametrize(
    ("function", "passes"), [(spread_of, False), (np.median, False), (len, False), (first_place, True)]
)
def test_comprehensions(index, function, passes, device):
    for labels, dtype in ((Y, float), (Y.astype(np.int64), np.float32), (Y[:1], np.int32)):
        args = (index, function, dtype, -1, passes)
        expected = ndimage.labeled_comprehension(X, labels, *args)
        same(xp.asarray(ndi.labeled_comprehension.composition(xp.asarray(X), xp.asarray(labels), *args)), expected)
    if index is None:
        expected = ndimage.labeled_comprehension(X, None, *args)
        same(xp.asarray(ndi.labeled_comprehension.composition(xp.asarray(X), None, *args)), expected)


def test_comprehensions_of_wrong_arguments(device):
    for args in ((None, [1], len, int, 0), (Y, [1.5], len, int, 0), (Y[:5], [1], len, int, 0), (Y, [], len, int, 0)):
        with pytest.raises(ValueError, match=r"labels|zero-size") as error:
            ndimage.labeled_comprehension(X, *args)
        with pytest.raises(ValueError, match=str(error.value).split("(")[0].split("<")[0]):
            ndi.labeled_comprehension.composition(xp.asarray(X), *args)


def test_comprehensions_have_derivatives(device):
    gradient = xp.grad(lambda x: ndi.labeled_comprehension(x, Y, [1, 2], np.sum, float, 0) @ np.array([3.0, 5]))
    np.testing.assert_array_equal(gradient(xp.asarray(X)), 3 * (Y == 1) + 5 * (Y == 2))


def test_nothing_runs_on_the_host():
    with xp.using(device="wgpu", fallback="error"):
        x, y = xp.asarray(X), xp.asarray(Y)
        ndi.find_objects(y)
        ndi.value_indices(y)
        ndi.labeled_comprehension(x, y, [1, 2], np.mean, float, 0)
