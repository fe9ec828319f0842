"""Creation functions against NumPy."""

from typing import Any

import numpy as np
import pytest
from support import DTYPES, values

import gpuarray as xp
from gpuarray.testing import assert_same


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), 3, (2, 3), (0, 4)], ids=str)
def test_filled(shape: Any, dtype: str, device: Any) -> None:
    assert_same(xp.zeros(shape, dtype), np.zeros(shape, dtype))
    assert_same(xp.ones(shape, dtype=dtype), np.ones(shape, dtype))
    assert_same(xp.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
    assert xp.empty(shape, dtype=dtype).shape == np.empty(shape).shape
    like = xp.zeros(shape, dtype)
    assert_same(xp.ones_like(like), np.ones(shape, dtype))
    assert_same(xp.full_like(like, 1, dtype="int32"), np.full(shape, 1, "int32"))


@pytest.mark.parametrize("value", [True, 3, 2.5, 1j, np.float32(2), np.float64(2.5), np.int8(1), [1, 2, 3]], ids=repr)
def test_full_takes_the_dtype_of_its_value(value: Any, device: Any) -> None:
    assert_same(xp.full((2, 3), value), np.full((2, 3), value))


RANGES = [
    (5,), (2, 7), (7, 2, -2), (0, 1, 0.1), (0.5, 4, 0.7), (3, 0), (0, -1, -0.25), (10, 0, -3), (1, 2, 5), (0,), (2.0,),
    (0, 0.3, 0.1), (1, 1.3, 0.1), (-3, 3, 1.5), (np.float32(1), 3, 1),
]  # fmt: skip


@pytest.mark.parametrize("arguments", RANGES, ids=str)
@pytest.mark.parametrize("dtype", [None, "float32", "int32", "float64", "uint8", "float16"])
def test_arange(arguments: Any, dtype: Any, device: Any) -> None:
    if dtype == "uint8" and min(*arguments, 0) < 0:
        return  # C leaves the conversion of negative floats to unsigned integers open
    expected = np.arange(*arguments, dtype=dtype)
    result = xp.arange(*arguments, dtype=dtype)
    if dtype is None and any(isinstance(v, np.float32) for v in arguments):
        expected = expected.astype(np.float64)
    assert_same(result, expected, ulp=1)


@pytest.mark.parametrize(
    "arguments", [(0, 1, 5), (0, 1, 1), (3, -2, 7), (1, 1, 4), (0, 10, 0), (0.1, 0.9, 50)], ids=str
)
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [None, "float32", "int32", "complex64"])
def test_linspace(arguments: Any, endpoint: bool, dtype: Any, device: Any) -> None:
    expected = np.linspace(*arguments, endpoint=endpoint, dtype=dtype)
    result = xp.linspace(*arguments, endpoint=endpoint, dtype=dtype)
    assert result.dtype == expected.dtype
    # float32 is computed in float32, with the rounding of the largest number
    scale = np.abs(arguments[:2]).max()
    epsilon = np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
    np.testing.assert_allclose(np.asarray(result), expected, rtol=0, atol=2 * epsilon * scale)
    if dtype is None and arguments[2]:
        assert float(xp.linspace(*arguments)[-1]) == np.linspace(*arguments)[-1]


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_ranges_of_dates_are_refused(unit: str) -> None:
    first, last = (np.datetime64(day, unit) for day in ("2020-01-01", "2020-01-05"))
    for arguments in ((first, last), (first, last, np.timedelta64(1, unit)), (np.timedelta64(5, unit),)):
        with pytest.raises(TypeError, match="keep them in NumPy arrays"):
            xp.arange(*arguments)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linspace_counts_beyond_32_bits(dtype: str, device: Any) -> None:
    line = xp.linspace(0, 1, 2**33, dtype=dtype)
    step = 1 / (2**33 - 1)
    assert [float(line[k]) for k in (0, 2**31, 2**33 - 1)] == [0, np.dtype(dtype).type(2**31 * step), 1]
    assert float(xp.linspace(0, 2**32, 2**32, endpoint=False, dtype=dtype)[2**31 + 256]) == 2**31 + 256


def test_linspace_of_arrays(device: Any) -> None:
    assert_same(xp.linspace([0, 1], [4, 2], 5), np.linspace([0, 1], [4, 2], 5), ulp=2)


@pytest.mark.parametrize("k", [-3, -1, 0, 1, 2, 9])
@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (0, 3), (3, 0)], ids=str)
def test_matrices(shape: Any, k: int, device: Any) -> None:
    assert_same(xp.eye(*shape, k=k), np.eye(*shape, k=k))
    assert_same(xp.tri(*shape, k=k, dtype="int32"), np.tri(*shape, k=k, dtype="int32"))
    host = values((2, *shape), np.float32)
    assert_same(xp.tril(xp.asarray(host), k=k), np.tril(host, k))
    assert_same(xp.triu(xp.asarray(host), k=k), np.triu(host, k))


def test_diag(device: Any) -> None:
    for k in (-2, 0, 1):
        assert_same(xp.diag(xp.asarray([1, 2, 3]), k), np.diag([1, 2, 3], k))
        assert_same(xp.diag(xp.asarray(np.eye(3, 4)), k), np.diag(np.eye(3, 4), k))


@pytest.mark.parametrize("side", [4, 1000])
def test_diag_of_a_matrix_is_a_view_that_cannot_be_written_to(side: int, device: Any) -> None:
    x = xp.zeros((side, side))
    lines = [xp.diag(x), np.diag(x, 1)]
    x[...] = 3
    assert [float(line.max()) for line in lines] == [3, 3]
    assert not any(line.flags.writeable for line in lines)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
def test_meshgrid(indexing: Any, sparse: bool, device: Any) -> None:
    lines = [np.arange(3), np.arange(2.0), np.arange(4)]
    for count in (1, 2, 3):
        actual = xp.meshgrid(*map(xp.asarray, lines[:count]), indexing=indexing, sparse=sparse)
        for result, expected in zip(actual, np.meshgrid(*lines[:count], indexing=indexing, sparse=sparse), strict=True):
            assert_same(result, expected)
            result += 1


@pytest.mark.parametrize(
    "data",
    [
        1,
        2.5,
        True,
        1j,
        [1, 2],
        [[1.5, 2], [3, 4]],
        (1, 2),
        [],
        [[], []],
        np.float32(3),
        np.arange(6)[::2],
        range(4),
        b""[:0] or [0],
    ],
    ids=repr,
)
def test_asarray(data: Any, device: Any) -> None:
    assert_same(xp.asarray(data), np.asarray(data))
    assert_same(xp.asarray(data, dtype="float32"), np.asarray(data).real.astype("float32")) if not isinstance(
        data, complex
    ) else None


def test_asarray_of_arrays(device: Any) -> None:
    x = xp.asarray([1, 2], dtype="int32")
    assert_same(xp.asarray([x, x + 1]), np.array([[1, 2], [2, 3]], np.int32))
    assert_same(xp.asarray([x[0], 2.5]), np.array([1, 2.5]))
    assert_same(xp.asarray([[x[0], x[1]], [3, 4]]), np.array([[1, 2], [3, 4]]))
    with pytest.raises(ValueError, match="shapes"):
        xp.asarray([x, x[:1]])


def test_asarray_of_foreign_data(device: Any) -> None:
    big = np.arange(4, dtype=">i4")
    assert_same(xp.asarray(big), np.arange(4, dtype="int32"))
    assert_same(xp.asarray(memoryview(b"abc")), np.frombuffer(b"abc", np.uint8))
    assert_same(xp.from_dlpack(np.arange(3)), np.arange(3))

    class Holder:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.arange(3)

    assert_same(xp.asarray(Holder()), np.arange(3))


def test_asarray_copy(device: Any) -> None:
    x = xp.arange(3)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, dtype="int64") is x
    assert xp.asarray(x, copy=True) is not x
    with pytest.raises(ValueError, match="copy"):
        xp.asarray(x, dtype="float32", copy=False)
    with pytest.raises(ValueError, match="copy"):
        xp.asarray(np.arange(3), copy=False)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: xp.asarray("text"), TypeError),
        (lambda: xp.asarray(["a", "b"]), TypeError),
        (lambda: xp.asarray([object()]), TypeError),
        (lambda: xp.asarray(None), TypeError),
        (lambda: xp.asarray(np.array([1, "a"], object)), TypeError),
        (lambda: xp.asarray(np.array(["2020-01-01"], "M8[D]")), TypeError),
        (lambda: xp.asarray([[1, 2], [3]]), ValueError),
        (lambda: xp.zeros(3, dtype="U3"), TypeError),
        (lambda: xp.zeros(-1), ValueError),
        (lambda: xp.zeros((2, 1.5)), TypeError),
        (lambda: xp.zeros((2**40, 2**40)), ValueError),
        (lambda: xp.arange(1e300), ValueError),
        (lambda: xp.arange(0, 1, 0), ZeroDivisionError),
        (lambda: xp.arange(0, np.inf), ValueError),
        (lambda: xp.linspace(0, 1, -1), ValueError),
        (lambda: xp.full(3, 300, dtype="uint8"), OverflowError),
        (lambda: xp.zeros(3, device="nowhere"), xp.errors.DeviceError),
        (lambda: xp.zeros(3, device="wgpu:77"), xp.errors.DeviceError),
        (lambda: xp.zeros(3, device=5), TypeError),
    ],
)
def test_errors(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_a_huge_constant_takes_no_memory(device: Any) -> None:
    x = xp.zeros((2**20, 2**20))
    assert float((x + 1)[5, 7]) == 1
    assert "shape=(1048576, 1048576)" in repr(x)


def test_default_dtypes() -> None:
    assert xp.zeros(1).dtype == np.float64
    with xp.using(default_float="float32"):
        assert xp.zeros(1).dtype == np.float32
        assert xp.asarray([1.5]).dtype == np.float32
        assert xp.asarray(1j).dtype == np.complex64
        assert xp.linspace(0, 1, 3).dtype == np.float32
        assert xp.arange(0.0, 3).dtype == np.float32
        assert xp.arange(3).dtype == np.int64
        assert xp.asarray(np.array([1.5])).dtype == np.float64
