"""NumPy's functions that write to an argument, ours or NumPy's, and functions called with ``like=``."""

import numpy as np
import pytest

import gpuarray
from gpuarray.array import GpuArray

A = np.arange(12.0).reshape(3, 4)
SQUARE = np.arange(16.0).reshape(4, 4)
ORDER = np.array([[0, 3], [1, 0], [2, 2]])

WRITERS = [
    lambda p, x: np.copyto(x, 7),
    lambda p, x: np.copyto(x, p(-A)),
    lambda p, x: np.copyto(x, p(A[0]), where=p(A > 5)),
    lambda p, x: np.copyto(x, 3.5, where=A[:1] > 1),
    lambda p, x: np.putmask(x, p(A > 5), p(-A)),
    lambda p, x: np.putmask(x, A > 2, [1.0, 2.0, 3.0]),
    lambda p, x: np.place(x, p(A > 5), [1.0, 2.0, 3.0]),
    lambda p, x: np.put(x, [0, 5, -1], [10.0, 20.0, 30.0]),
    lambda p, x: np.put(x, p(np.array([0, 25])), 5.0, mode="wrap"),
    lambda p, x: np.put_along_axis(x, p(ORDER), p(np.full((3, 2), -1.0)), 1),
    lambda p, x: np.put_along_axis(x, np.array([3, 4]), 0.5, None),
    lambda p, x: np.fill_diagonal(x, 99),
    lambda p, x: np.fill_diagonal(x, p(np.array([1.0, 2.0, 3.0]))),
    lambda p, x: np.nan_to_num(x, copy=False),
    lambda p, x: np.add.at(x, (np.array([0, 0, 1]), np.array([1, 1, 2])), p(np.array([1.0, 2.0, 3.0]))),
    lambda p, x: np.negative.at(x, [0, 2]),
    lambda p, x: np.maximum.at(x, (p(np.array([0, 0])), 1), 50.0),
]


@pytest.mark.parametrize("target", ["ours", "numpy"])
@pytest.mark.parametrize("position", range(len(WRITERS)))
def test_writers(position, target, put, same):
    write = WRITERS[position]
    expected = A.copy()
    write(np.array, expected)
    actual = put(A) if target == "ours" else A.copy()
    assert write(put, actual) is None or position == 13
    same(actual if target == "ours" else put(actual), expected)


def test_writes_reach_the_storage_of_a_view(put, same):
    expected, actual = A.copy(), put(A)
    for x in (expected, actual):
        np.copyto(x[::2], -1)
        np.add.at(x[1], [0, 0], 5.0)
        np.fill_diagonal(x[:, 1:], 8)
    same(actual, expected)


def test_a_failing_write_leaves_the_array_as_it_was(put, same):
    result = put(A)
    with pytest.raises(TypeError):
        np.copyto(result, 1j)
    with pytest.raises(IndexError):
        np.put(result, [99], 1)
    with pytest.raises(ValueError, match="same size"):
        np.putmask(result, A[0] > 0, 1)
    same(result, A)


LIKE = [
    lambda like: np.zeros((2, 3), like=like),
    lambda like: np.ones(3, np.int8, like=like),
    lambda like: np.full((2, 2), 7, like=like),
    lambda like: np.full(3, 2.5, np.float32, like=like),
    lambda like: np.arange(5, like=like),
    lambda like: np.arange(1, 2, 0.25, like=like),
    lambda like: np.arange(9, 0, -2, np.float32, like=like),
    lambda like: np.eye(3, 4, 1, like=like),
    lambda like: np.identity(3, like=like),
    lambda like: np.tri(3, like=like),
    lambda like: np.array([[1, 2], [3, 4]], like=like),
    lambda like: np.asarray([1.0, 2.0], like=like),
    lambda like: np.ascontiguousarray([1, 2], like=like),
    lambda like: np.require([1, 2], np.float64, like=like),
    lambda like: np.fromiter(range(4), float, like=like),
    lambda like: np.fromfunction(lambda i, j: i + j, (2, 3), like=like),
    lambda like: np.frombuffer(b"1234", np.uint8, like=like),
]


@pytest.mark.parametrize("position", range(len(LIKE)))
def test_like_makes_arrays_of_this_package(position, put, same):
    result = LIKE[position](put(A))
    assert isinstance(result, GpuArray)
    same(result, LIKE[position](None))


@pytest.mark.parametrize("position", range(len(LIKE)))
def test_like_tells_the_device(position):
    with gpuarray.using(device="wgpu"):
        assert LIKE[position](gpuarray.zeros(2, device="cpu")).device == "cpu"


def test_shared_memory_is_what_numpy_says(put):
    for ask in (np.shares_memory, np.may_share_memory):
        for pair in [
            lambda x: (x, x.T),
            lambda x: (x[0], x[1]),
            lambda x: (x[:, ::2], x[:, 1::2]),
            lambda x: (x, x + 1),
        ]:
            assert ask(*pair(put(SQUARE))) == ask(*pair(SQUARE.copy()))


def test_unknown_array_types_get_their_turn(put):
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return "other"

        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return "other"

    assert np.concatenate([put(A), Other()]) == "other"
    assert np.add(put(A), Other()) == "other"
    masked = np.ma.masked_array(A, A > 5)
    with pytest.raises(TypeError):
        np.add(put(A), object())
    assert np.ma.isMaskedArray(np.ma.add(np.asarray(put(A)), masked))


INTEGERS = np.array([1, 2, 3], np.int8)
NUMBERS = [np.int64(300), np.uint32(2**31), np.float32(1e30), np.float64("nan"), np.float64(2.7), np.int16(-3)]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, bool, np.float32])
@pytest.mark.parametrize("value", [*NUMBERS, np.array(300), 300, -1, 1j], ids=repr)
def test_scalars_are_assigned_or_refused_as_numpy_does(value, dtype, put, same):
    for key in (..., slice(0, 2), 0, slice(0, 0), np.array([True, False, True]), [0, 1]):
        expected, actual = INTEGERS.astype(dtype), put(INTEGERS.astype(dtype))
        with np.errstate(all="ignore"):
            try:
                expected[key] = value
            except (TypeError, ValueError, OverflowError) as error:
                with pytest.raises(type(error)):
                    actual[key] = value
            else:
                actual[key] = value
        same(actual, expected)


@pytest.mark.parametrize(
    "update",
    [
        lambda x, y: x.__ipow__(y),
        lambda x, y: x[1:].__ipow__(y[1:]),
        lambda x, y: np.power(x, y, out=x),
        lambda x, y: gpuarray.power(x, y, out=x),
        lambda x, y: np.power.at(x, [0, 1, 2], y[:3]),
    ],
)
def test_a_power_that_raises_an_error_has_updated_nothing(update, device):
    x, exponents = gpuarray.asarray([2, 3, 4, 5]), gpuarray.asarray([2, 2, -1, 2])
    with pytest.raises(ValueError, match="negative integer powers"):
        update(x, exponents)
    assert x.tolist() == [2, 3, 4, 5]
    update(x, abs(exponents))
    assert x.tolist() in ([4, 9, 4, 25], [2, 9, 4, 25], [4, 9, 4, 5])
