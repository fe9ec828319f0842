"""Labels and measurements are SciPy's."""

import re

import numpy as np
import pytest
from ndimage_cases import compare, placed, same, sample
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi


def spiral(size):
    """Return a path that winds to the middle, whose ends are far apart along it."""
    result = np.zeros((size, size), bool)
    row, column, step = 0, 0, (0, 1)
    for length in [size - 1, *(n for n in range(size - 1, 0, -2) for _ in range(2))]:
        for _ in range(length):
            result[row, column] = True
            row, column = row + step[0], column + step[1]
        step = (step[1], -step[0])
    return result


def labelled(x, structure=None, **kwargs):
    expected, count = ndimage.label(x, structure, **kwargs)
    actual, number = ndi.label.composition(xp.asarray(x), structure, **kwargs)
    assert number == count
    same(actual, expected)


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
    same_or_close(name, x, labels, np.array([[4, 1, 0], [3, 1, 2]]))


def test_measurements_of_complex_numbers():
    x, labels = sample((5, 4), np.complex64), np.random.default_rng(1).integers(0, 3, (5, 4))
    for name in ("minimum", "maximum", "minimum_position", "maximum_position", "extrema"):
        compare(name, x, labels, np.array([2, 1]))
        compare(name, x)
    compare("center_of_mass", np.round(x).astype(np.complex128), labels)
    for call in (ndimage.mean, ndi.mean.composition):
        with pytest.raises(TypeError, match="Cannot cast array data from dtype"):
            call(x, labels, [1, 2])


def same_or_close(name, *args):
    expected = np.asarray(getattr(ndimage, name)(*args))
    actual = getattr(ndi, name).composition(*placed(args[:2]), *args[2:])
    actual = np.asarray(actual)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


INDICES = {"all": None, "one": 3, "several": np.array([4, 1, 1, 9]), "two axes": np.array([[1, 2], [3, 4]])}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_places_and_distributions_of_labels(device, index, dtype):
    labels = np.random.default_rng(1).integers(0, 5, (6, 7)).astype("i4")
    x = np.random.default_rng(2).permutation(42).reshape(6, 7).astype(dtype)
    if dtype == "f8" and index in ("several", "two axes"):
        x[2, 3] = np.nan
    a, b = placed((x, labels))
    for name in ("minimum_position", "maximum_position"):
        assert getattr(ndi, name).composition(a, b, INDICES[index]) == getattr(ndimage, name)(x, labels, INDICES[index])
    actual = ndi.extrema.composition(a, b, INDICES[index])
    expected = ndimage.extrema(x, labels, INDICES[index])
    assert actual[2:] == expected[2:]
    for one, other in zip(actual[:2], expected[:2], strict=True):
        same(one, other)
    same(ndi.median.composition(a, b, INDICES[index]), ndimage.median(x, labels, INDICES[index]))
    if index != "two axes":
        actual = ndi.histogram.composition(a, 2, 40, 5, b, INDICES[index])
        expected = ndimage.histogram(x, 2, 40, 5, labels, INDICES[index])
        for one, other in zip(actual, expected, strict=True) if index == "several" else [(actual, expected)]:
            assert (one is None) if other is None else np.array_equal(one, other)


def test_places_without_labels(device):
    x = np.random.default_rng(2).permutation(24).reshape(2, 3, 4).astype("f8")
    a = xp.asarray(x)
    assert ndi.extrema.composition(a) == ndimage.extrema(x)
    assert ndi.maximum_position.composition(a) == ndimage.maximum_position(x)
    assert ndi.median.composition(a) == ndimage.median(x)
    same(ndi.histogram.composition(a, 0, 20, 4), ndimage.histogram(x, 0, 20, 4))
    with pytest.raises(ValueError, match="zero-size array to reduction operation minimum which has no identity"):
        ndi.minimum_position.composition(a, xp.zeros(x.shape, np.int32))
    for name in ("sum_labels", "median", "maximum_position"):
        with pytest.raises(ValueError, match="zero-size array"):
            getattr(ndi, name).composition(xp.zeros(0), xp.zeros(0, np.int32), [1, 2])
    assert [*ndi.histogram.composition(xp.zeros(0), 0, 1, 2, xp.zeros(0, np.int32), [1, 2])] == [None, None]
    with pytest.raises(ValueError, match="index without defined labels"):
        ndi.histogram.composition(a, 0, 1, 2, None, 3)


def range_of(window, scale=1.0, *, offset=0.0):
    return (window.max() - np.sort(window)[1]) * scale + offset


def branching(window):
    return window[0] if window[1] > 0 else window[2]


def doubled(line, result):
    result[...] = 2 * line[1:-1] - line[2:]


def test_generic_filters_record_functions_once():
    x = np.round(sample((6, 7), "f4") * 8)
    with xp.using(device="wgpu"):
        a = xp.asarray(x)
        for arguments in (
            {"function": np.median, "size": 3},
            {"function": range_of, "footprint": np.tri(3) > 0, "mode": "wrap", "origin": (1, 0), "output": np.int32},
            {"function": range_of, "size": (2, 3), "extra_arguments": (2.0,), "extra_keywords": {"offset": 1.0}},
        ):
            same(ndi.generic_filter(a, **arguments), ndimage.generic_filter(x, **arguments))
        for axis in (0, 1):
            same(ndi.generic_filter1d(a, doubled, 3, axis), ndimage.generic_filter1d(x, doubled, 3, axis))
        assert not xp.stats()["fallbacks"]
        same(ndi.generic_filter(a, branching, 3), ndimage.generic_filter(x, branching, 3))
        assert xp.stats()["fallbacks"] == 1
        with pytest.raises(RuntimeError, match="no footprint or filter size"):
            ndi.generic_filter(a, np.median)
        with pytest.raises(ValueError, match="invalid origin"):
            ndi.generic_filter1d(a, doubled, 3, origin=5)


def test_functions_of_the_host(device):
    x = np.random.default_rng(1).integers(0, 5, (6, 7)).astype("i4")
    assert ndi.find_objects(xp.asarray(x)) == ndimage.find_objects(x)


@pytest.mark.skipif(not hasattr(ndimage, "vectorized_filter"), reason="this SciPy lacks it")
def test_vectorized_filter(device):
    x = sample((6, 7), "f4")
    for keywords in ({"size": 3}, {"footprint": np.tri(3) > 0, "mode": "wrap"}, {"size": (2, 3), "mode": "valid"}):
        expected = ndimage.vectorized_filter(x, np.max, **keywords)
        same(ndi.vectorized_filter(xp.asarray(x), xp.max, **keywords), expected)
    x = sample((3, 4, 5), "f4")
    keywords = {"footprint": np.array([[True, True, False]]), "axes": (2, 1)}
    same(ndi.vectorized_filter(xp.asarray(x), xp.max, **keywords), ndimage.vectorized_filter(x, np.max, **keywords))
    with pytest.raises(ValueError, match="compatible only with `mode='constant'`"):
        ndi.vectorized_filter(xp.asarray(x), xp.max, size=2, cval=1.0)


@pytest.mark.skipif(not hasattr(ndimage, "vectorized_filter"), reason="this SciPy lacks it")
@pytest.mark.parametrize("mode", ["reflect", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "valid"])
@pytest.mark.parametrize("shape", [(6, 7), (260, 270)])
def test_modes_of_vectorized_filter(device, mode, shape):
    x = sample(shape, "f4")
    for keywords in ({"size": 2}, {"size": (4, 3)}, {"size": 3, "origin": (1, -1)}, {"size": 2, "origin": 1}):
        keywords["mode"] = mode
        try:
            expected = ndimage.vectorized_filter(x, np.max, **keywords)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                ndi.vectorized_filter(xp.asarray(x), xp.max, **keywords)
        else:
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
            result = xp.vmap(lambda a, n=name, r=arguments: getattr(ndi, n)(a, *r))(xp.asarray(values))
            same(result, np.stack([getattr(ndimage, name)(a, *arguments) for a in values]))


def test_recorded_labels_have_their_number_as_an_array(device):
    images = np.random.default_rng(0).random((3, 6, 7)) > 0.5
    recorded = xp.jit(lambda x: ndi.label(x))
    for image in images:
        labels, count = recorded(xp.asarray(image))
        expected, parts = ndimage.label(image)
        np.testing.assert_array_equal(labels, expected)
        assert (count.shape, int(count)) == ((), parts)
    result = xp.vmap(lambda x: ndi.label(x)[1])(xp.asarray(images))
    np.testing.assert_array_equal(result, [ndimage.label(image)[1] for image in images])
