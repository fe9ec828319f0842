"""Indexing by basic and advanced keys, reading and writing, against NumPy."""

from typing import Any

import numpy as np
import pytest
from support import both, values

import gpuarray as xp
from gpuarray.testing import assert_same

KEYS = {
    "integer": 2,
    "negative integer": -1,
    "integers": (1, 2, -1),
    "numpy integer": (np.int8(1), np.uint64(2)),
    "slice": slice(1, None, 2),
    "backwards": (slice(None, None, -1), slice(3, 0, -2)),
    "beyond the end": slice(2, 100),
    "empty slice": slice(3, 1),
    "ellipsis": (..., 1),
    "newaxis": (None, 1, None, ..., None),
    "nothing": (),
    "list": [0, 2, 2],
    "negative positions": np.array([-1, 0, -4]),
    "matrix of positions": np.array([[0, 1], [2, 3]]),
    "unsigned positions": np.array([1, 3], np.uint8),
    "two arrays": ([0, 1, 2], [4, 3, 0]),
    "broadcast arrays": (np.array([[0], [2]]), np.array([1, 3, 4])),
    "array and slice": ([0, 3], slice(1, 4)),
    "slice and array": (slice(None), [1, 2]),
    "arrays apart": ([0, 1], slice(None), [1, 0]),
    "integer and array apart": (1, slice(None), [1, 0]),
    "array and integer": ([0, 1], 2),
    "ellipsis and array": (..., [0, 2, 1]),
    "newaxis and array": (None, [1, 2], slice(0, 2)),
    "empty list": [],
    "zero-dimensional array": np.array(2),
    "true": True,
    "false": False,
    "mask of the first axis": np.array([True, False, True, True]),
    "mask of two axes": np.arange(20).reshape(4, 5) % 3 == 0,
    "mask of all": np.arange(60).reshape(4, 5, 3) % 7 == 0,
    "mask and integer": (np.array([True, False, True, False]), 2),
    "slice and mask": (slice(None), np.array([True, False, True, True, False])),
    "mask and array": (np.array([True, False, False, True]), [1, 2]),
    "mask of nothing": np.zeros((4, 5, 3), bool),
}


def _here(key: Any) -> Any:
    """Return a key with its NumPy arrays as arrays of this package."""
    if isinstance(key, tuple):
        return tuple(_here(item) for item in key)
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("where", ["host keys", "device keys"])
@pytest.mark.parametrize("name", KEYS)
def test_get_and_set(name: str, where: str, device: Any) -> None:
    key = KEYS[name]
    host, x = both(values((4, 5, 3), np.float32))
    own = _here(key) if where == "device keys" else key
    assert_same(x[own], host[key])
    x[own] = 7
    host[key] = 7
    assert_same(x, host)
    new = values(host[key].shape, np.float32, seed=3)
    x[own] = new
    host[key] = new
    assert_same(x, host)
    x[own] += 1
    host[key] += 1
    assert_same(x, host)


@pytest.mark.parametrize("name", ["list", "two arrays", "mask of the first axis", "slice and array", "backwards"])
def test_through_views(name: str, device: Any) -> None:
    host, x = both(values((5, 4, 3, 2), np.float32))
    view, expected = (
        x[::-1, :, :, 1].T[:, :, :].transpose(1, 2, 0)[:, :5],
        host[::-1, :, :, 1].T.transpose(1, 2, 0)[:, :5],
    )
    key = KEYS[name]
    assert_same(view[key], expected[key])
    view[key] = -1
    expected[key] = -1
    assert_same(x, host)


def test_later_values_count(device: Any) -> None:
    x = xp.zeros(3, xp.int32)
    x[[1, 1, 1]] = [5, 6, 7]
    assert x.tolist() == [0, 7, 0]


def test_mask_with_a_scalar_reads_nothing(device: Any) -> None:
    x = xp.asarray(values(10, np.float32))
    x[x < 0] = 0
    assert xp.stats()["evaluations"] == 0
    host = values(10, np.float32)
    host[host < 0] = 0
    assert_same(x, host)


MASKED = [
    (np.arange(60).reshape(4, 5, 3) % 4 == 1, ()),
    (np.arange(20).reshape(4, 5) % 3 == 0, (3,)),
    (np.array([True, False, True, True]), (5, 3)),
    (np.ones((4, 5, 3), bool), ()),
    (np.zeros((4, 5), bool), (3,)),
]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64"])
@pytest.mark.parametrize("case", range(len(MASKED)))
def test_masks_of_leading_axes(case: int, dtype: str, device: Any) -> None:
    mask, rest = MASKED[case]
    host, x = both(values((4, 5, 3), dtype))
    own = xp.asarray(mask) != xp.asarray(False)  # computed on the device
    count = int(mask.sum())
    assert_same(x[own], host[mask])
    for shape in ((count, *rest), (1, *rest), rest, rest[1:]):
        new = values(shape, dtype, seed=len(shape))
        x[own] = xp.asarray(new)
        host[mask] = new
        assert_same(x, host)
    x[own] += x[own]
    host[mask] += host[mask]
    assert_same(x, host)
    x[::-1][own] = x[own]
    host[::-1][mask] = host[mask]
    assert_same(x, host)
    assert xp.stats()["fallbacks"] == 0


def test_masks_through_views_of_parts(device: Any) -> None:
    host, x = both(values((6, 4), np.complex64))
    own, mask = x.real.T > 0, host.real.T > 0
    assert_same(x.imag.T[own], host.imag.T[mask])
    x.imag.T[own] = xp.arange(int(mask.sum()), dtype=xp.float32)
    host.imag.T[mask] = np.arange(int(mask.sum()), dtype=np.float32)
    x.real[xp.asarray([True, False] * 3)] = 7
    host.real[[True, False] * 3] = 7
    assert_same(x, host)


def test_values_that_do_not_fit_a_mask(device: Any) -> None:
    host, x = both(values((4, 3), np.float32))
    mask = np.arange(12).reshape(4, 3) % 2 == 0
    rows = np.array([True, False, True, False])
    for key, new in ((mask, [1, 2]), (mask, np.ones((6, 1))), (rows, [1, 2]), (rows, np.ones((3, 3)))):
        error = TypeError if np.ndim(new) > 1 and key is mask else ValueError
        with pytest.raises(error, match=r"assign|dimension|broadcast"):
            host[key] = new
        for own in (key, xp.asarray(key) == xp.asarray(True)):
            with pytest.raises(error, match=r"assign|dimension|broadcast"):
                x[own] = new
    assert_same(x, host)


def test_assignment_casts_and_broadcasts(device: Any) -> None:
    host, x = both(np.zeros((2, 3), np.int16))
    for value in (2.9, True, np.array([[1.5, -2.5, 3]]), np.array([[[4, 5, 6]]]), np.float64(8.1)):
        x[...] = value
        host[...] = value
        assert_same(x, host)
    with pytest.warns(np.exceptions.ComplexWarning):
        x[0] = np.array([1 + 2j, 3, 4])


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((..., ...), IndexError),
        (1.0, IndexError),
        ("a", IndexError),
        ([0, 4], IndexError),
        ([0, -5], IndexError),
        (([0, 1], [0, 1, 2]), IndexError),
        (np.array([0.5]), IndexError),
        (np.ones(3, bool), IndexError),
        (np.ones((4, 4), bool), IndexError),
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["host keys", "device keys"])
def test_wrong_keys(key: Any, error: type[Exception], where: str, device: Any) -> None:
    host, x = both(values((4, 5, 3), np.float32))
    own = _here(key) if where == "device keys" else key
    with pytest.raises(error):
        host[key]
    with pytest.raises(error):
        x[own]
    with pytest.raises(error):
        x[own] = 0
    assert_same(x, host)


def test_a_computed_index_out_of_range_is_an_error_at_once(device: Any) -> None:
    x = xp.arange(5)
    positions = xp.arange(3) + 3
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        x[positions]
    with xp.using(check_indices=False):
        assert x[positions].tolist() == [3, 4, 4]


def test_wrong_values(device: Any) -> None:
    x = xp.zeros((2, 3), xp.int32)
    with pytest.raises(ValueError, match="could not broadcast"):
        x[0] = [1, 2]
    with pytest.raises(ValueError, match="broadcast"):
        x[[0, 1]] = xp.ones((3, 3))
    with pytest.raises(ValueError, match="NaN"):
        x[0] = float("nan")
    with pytest.raises(OverflowError):
        x[0] = 2**40
    with pytest.raises(TypeError):
        x[0] = 1j
    with pytest.raises(ValueError, match="literal"):
        x[0] = "text"
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_take(device: Any) -> None:
    host, x = both(values((4, 5), np.float32))
    for axis in (None, 0, 1, -1):
        assert_same(xp.take(x, xp.asarray([0, 3, -1]), axis=axis), np.take(host, [0, 3, -1], axis=axis))
        assert_same(x.take([[0, 1]], axis), host.take([[0, 1]], axis))
    for mode in ("wrap", "clip"):
        assert_same(xp.take(x, [7, -9, 2], axis=0, mode=mode), np.take(host, [7, -9, 2], axis=0, mode=mode))
    with pytest.raises(IndexError):
        xp.take(x, [5], axis=0)
    assert xp.take(x[:0], [7], axis=1).shape == np.take(host[:0], [7], axis=1).shape
    with pytest.raises(IndexError):
        xp.take(x[:, :0], [7], axis=0)
    assert_same(xp.take(x, [1.5, 0.5], axis=0), np.take(host, [1.5, 0.5], axis=0))
    for take, array in ((xp.take, x), (np.take, host)):
        with pytest.raises(TypeError, match="Cannot cast array data"):
            take(array, np.asarray([0.5]), axis=0)


def test_take_along_axis(device: Any) -> None:
    host, x = both(values((4, 5), np.float32))
    for axis in (0, 1, -1):
        order = np.argsort(host, axis=axis)
        assert_same(xp.take_along_axis(x, xp.asarray(order), axis=axis), np.take_along_axis(host, order, axis=axis))
    single = np.argmax(host, axis=1, keepdims=True)
    assert_same(xp.take_along_axis(x, xp.argmax(x, axis=1, keepdims=True)), np.take_along_axis(host, single, axis=1))


def test_put_and_compress(device: Any) -> None:
    host, x = both(values((4, 5), np.float32))
    x.put([1, -1, 7], [10, 20, 30])
    host.put([1, -1, 7], [10, 20, 30])
    assert_same(x, host)
    assert_same(x.compress([True, False, True], axis=0), host.compress([True, False, True], axis=0))


def test_iteration(device: Any) -> None:
    host, x = both(values((3, 2), np.float32))
    for row, expected in zip(x, host, strict=True):
        assert_same(row, expected)
    for row in x:
        row += 1
    assert_same(x, host + 1)
    assert len(x) == 3
    assert [float(v) for v in x[0]] == (host[0] + 1).tolist()


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0), (0,)])
def test_masks_without_elements_fit_any_axis(shape, device):
    host, array = both(values((2, 3)))
    mask = np.zeros(shape, bool)
    for key in (mask, xp.asarray(mask)):
        assert_same(array[key], host[mask])
        array[key] = 7
    assert_same(array, host)
    with pytest.raises(IndexError, match="boolean index did not match"):
        array[np.zeros((0, 2), bool)]


def test_positions_that_choose_nothing_are_not_looked_at(device: Any) -> None:
    host, x = both(values((2, 4, 3), np.float32))
    nothing, beyond = np.array([], int), np.array([5])
    for array in (host, x):
        array[nothing, beyond] = 7
        assert array[nothing, beyond].shape == (0, 3)
        for key in ((nothing, 7), (slice(0, 0), beyond), (nothing, slice(None), 9)):
            with pytest.raises(IndexError):
                array[key]
    assert_same(x, host)


def test_positions_are_looked_at_once(device: Any) -> None:
    """Indexing by one array again asks nothing of the device; another value, or too short an axis, is seen."""
    size = 1 << 17
    x, positions = xp.arange(size, dtype=np.float32), xp.remainder(xp.arange(size) * 3, size)
    xp.evaluate(positions, x)
    first = x[positions]
    xp.reset_stats()
    again = x[positions] + 1
    assert xp.stats()["evaluations"] == 0
    np.testing.assert_array_equal(np.asarray(again), np.asarray(first) + 1)
    with pytest.raises(IndexError, match=f"index {size - 1} is out of bounds"):
        x[1:][positions]
    positions[5] = -size - 1
    with pytest.raises(IndexError, match=f"index {-size - 1} is out of bounds"):
        x[positions]


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    ("positions", "evaluations"),
    [
        (lambda x: xp.argsort(x), 0),
        (lambda x: xp.argsort(x.reshape(4, 300), axis=0), 0),
        (lambda x: xp.argsort(x)[:, None], 0),
        (lambda x: xp.arange(len(x) - 1, -1, -2), 0),
        (lambda x: xp.argsort(x)[:3], 1),
        (lambda x: xp.argsort(x)[::-1], 0),
    ],
    ids=["sort", "axis", "column", "range", "part", "reversed"],
)
def test_positions_that_say_their_bounds(positions: Any, evaluations: int, device: Any) -> None:
    host = np.random.default_rng(0).standard_normal(1200).astype(np.float32)
    x = xp.asarray(host)
    xp.reset_stats()
    result = x[positions(x)]
    assert xp.stats()["evaluations"] == evaluations
    np.testing.assert_array_equal(np.asarray(result), host[np.asarray(positions(x))])
    with pytest.raises(IndexError):
        x[:1][positions(x)]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "float32", "complex64"])
@pytest.mark.parametrize(("size", "count"), [(1001, 3000), (4099, 300), (40000, 50)])
def test_scattered_values_and_what_is_between_keep_their_bits(dtype: str, size: int, count: int, device: Any) -> None:
    """Of values for one position the last stays, where they are many and where they are few."""
    generator = np.random.default_rng(size)

    def bits(length: int) -> np.ndarray:
        if dtype == "bool":
            return generator.integers(0, 2, length).astype(bool)
        return np.frombuffer(generator.bytes(length * np.dtype(dtype).itemsize), dtype).copy()

    host, scattered, positions = bits(size), bits(count), generator.integers(-size, size, count)
    x = xp.asarray(host)
    x[xp.asarray(positions)] = xp.asarray(scattered)
    host[positions] = scattered
    assert np.asarray(x).tobytes() == host.tobytes()
