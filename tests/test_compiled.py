"""The operators in C have the results of the methods in Python."""

import gc
import operator
import os
import shutil
import subprocess
import sys
import threading
import weakref
from itertools import product

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dispatch, dtypes
from gpuarray.array import compiled
from gpuarray.array.arrays import GpuArray
from gpuarray.array.operators import ComputingArray
from gpuarray.array.selection import SelectableArray
from gpuarray.functions import at_once as functions_at_once
from gpuarray.immediacy import immediacy

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None and not compiled.IS_COMPILED, reason="there is no C compiler"),
    pytest.mark.filterwarnings("error"),
]

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
UNARY = ("neg", "pos", "abs", "invert")
VALUES = (0.0, -0.0, 1.0, -2.5, 3.0, np.nan, np.inf, -np.inf, 1e308, 5e-324)
INTEGERS = (0, 1, -1, 7, 2**31, 2**62, -(2**63), 2**63 - 1)
SOME = (dtypes.bool_, dtypes.uint8, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.complex128)
NUMBERS = (True, 2, -3, 2**70, 0.5, -0.0, np.nan, 2 - 1j)
SCALARS = (
    np.bool_(True), np.int64(-3), np.uint8(200), np.int32(2**31 - 1), np.float32(1.5), np.float64(-0.0),
    np.complex128(2 - 1j), np.uint64(2**63),
)  # fmt: skip


@pytest.fixture(autouse=True)
def cpu():
    with xp.using(device="cpu", direct_limit=1 << 14):
        yield


def arrays(dtype):
    """Return an array of special values, a row and an element of it, and one that has a cell."""
    source = np.array(INTEGERS if dtype.kind in "biu" else VALUES)
    with np.errstate(all="ignore"):
        line = source.astype(dtype)
    x = xp.asarray(line)
    written = xp.asarray(line)
    written[0] = line[0]
    return x + line.dtype.type(0), x[1:3], x[3], written


def numpys(dtype):
    """Return arrays of NumPy of one and of more axes, without axes, and of another byte order."""
    line = np.asarray(arrays(dtype)[0])
    return line, line[::-1], np.stack([line, line]), line[3, ...], line.astype(line.dtype.newbyteorder())


def outcome(function, *operands):
    """Return what a call returns, as dtype, shape and bytes, or the class and text of its error."""
    try:
        result = function(*operands)
    except Exception as error:
        return type(error), str(error)
    if result is NotImplemented or result is None:
        return result
    assert type(result) is GpuArray
    host = np.asarray(result)
    return host.dtype, host.shape, host.tobytes(), result.device


def test_the_package_is_compiled():
    assert compiled.IS_COMPILED
    assert type(GpuArray.__add__) is type(object.__str__)  # a slot, not a method in Python


@pytest.mark.parametrize("name", [*BINARY, *COMPARISONS])
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_binary_operators(dtype, name):
    method = f"__{name}__"
    of_python = getattr(ComputingArray, method)
    for x in arrays(dtype):
        for other in (*NUMBERS, *SCALARS, *arrays(dtype), *arrays(dtypes.float64), *arrays(dtypes.int64), "text", [1]):
            assert outcome(getattr(x, method), other) == outcome(of_python, x, other)
        for other in (*numpys(dtype), *numpys(dtypes.float32)):
            assert outcome(getattr(x, method), other) == outcome(of_python, x, other)


@pytest.mark.parametrize("dtype", [dtype for dtype in dtypes.ALL if dtype.kind in "iu"], ids=str)
def test_operators_of_integers(dtype):
    bounds = np.iinfo(dtype)
    numbers = sorted({int(bounds.min), int(bounds.min) // 2, *(0, 1, 2, 7, 100), int(bounds.max) // 2, int(bounds.max)})
    x = xp.asarray(np.array(numbers, dtype))
    for one in (x[k] for k in range(len(numbers))):
        for other in (*numbers, -1, *(x[k] for k in range(len(numbers))), 1.5, xp.asarray([2.5])[0]):
            for name in (*BINARY, *COMPARISONS):
                method = f"__{name}__"
                assert outcome(getattr(one, method), other) == outcome(getattr(ComputingArray, method), one, other)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_reflected_operators(dtype, name):
    method = f"__r{name}__"
    of_python = getattr(ComputingArray, method)
    for x in arrays(dtype):
        for other in (*NUMBERS, *SCALARS):
            assert outcome(getattr(x, method), other) == outcome(of_python, x, other)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_operators_in_place(dtype, name):
    method = f"__i{name}__"
    of_python = getattr(ComputingArray, method)
    for index, one in enumerate(arrays(dtype)):
        for other in (*NUMBERS, *SCALARS, *arrays(dtype), *arrays(dtypes.float64), *numpys(dtype)):
            x, y = one.copy(), one.copy()
            if index == 2:  # a value, which is replaced
                x, y = one, one
            assert outcome(getattr(x, method), other) == outcome(of_python, y, other)
            assert outcome(xp.asarray, x) == outcome(xp.asarray, y)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_unary_operators_and_conversions(dtype):
    for x in arrays(dtype):
        for name in UNARY:
            assert outcome(getattr(x, f"__{name}__")) == outcome(getattr(ComputingArray, f"__{name}__"), x)
        host = np.asarray(x) if x.shape else np.asarray(x)[()]
        for convert in (bool, int, float, len, operator.index):
            try:
                expected = convert(host)
            except (TypeError, ValueError, OverflowError) as error:
                with pytest.raises(type(error)):
                    convert(x)
            except np.exceptions.ComplexWarning:
                with pytest.raises(TypeError):
                    convert(x)
            else:
                np.testing.assert_equal(convert(x), expected)


KEYS = (
    1, -1, 5, (1, 2), (0, -3), (1, 5), slice(1, 3), (slice(None), 1), (Ellipsis, 0), (None, 1), None, Ellipsis,
    slice(2, 0, -1), (slice(None, None, 2), slice(1, 3)), True, "key", 1.5, (), [0, 1], (1, 2, 3), slice(3, 3),
)  # fmt: skip


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_reads_and_writes_of_elements(dtype):
    shape = 2, 3
    sources = [xp.asarray(np.arange(1, 7).reshape(shape).astype(kind)) for kind in (dtype, *SOME)]
    values = (
        *NUMBERS,
        *SCALARS,
        255,
        256,
        2**63,
        np.int16(-1),
        *(source[1, 1] for source in sources),
        sources[0][1:, 1],
    )
    places = (0, -1, 2, np.int64(1), xp.asarray([1])[0], xp.asarray([1], device="wgpu")[0], True, 1.0)
    for key in (*places, *((1, place) for place in places), (1, 1, 1)):
        x = xp.asarray(np.arange(6).reshape(shape).astype(dtype))[:, ::-1]
        assert outcome(operator.getitem, x, key) == outcome(SelectableArray.__getitem__, x, key)
        for value in values:
            y, z = (xp.asarray(np.arange(6).reshape(shape).astype(dtype))[:, ::-1] for _ in range(2))
            assert outcome(operator.setitem, y, key, value) == outcome(SelectableArray.__setitem__, z, key, value)
            assert outcome(xp.asarray, y) == outcome(xp.asarray, z)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reads_and_writes(key):
    for settled in (False, True):
        x = xp.asarray(np.arange(12.0).reshape(3, 4)) + 0
        if settled:
            x[0, 0] = 0
        assert outcome(operator.getitem, x, key) == outcome(SelectableArray.__getitem__, x, key)
        for value in (7, 2.5, True, 1j, x[0, 1], x[1], x[:, :1], np.float32(3), "text"):
            y, z = x.copy(), x.copy()
            assert outcome(operator.setitem, y, key, value) == outcome(SelectableArray.__setitem__, z, key, value)
            np.testing.assert_array_equal(np.asarray(y), np.asarray(z))


MASK = np.arange(12).reshape(3, 4) > 4
POSITIONS = (
    np.array([0, 2]), np.array([-1, 1], np.int8), np.array([5]), np.array([1.5]), np.array(1), np.zeros(0, int),
    np.array([True, False, True]), MASK, MASK[:, :2], ~MASK[:1, :1], (np.array([0, 1]), np.array([[1], [2]])),
    (slice(None), np.array([1, 1])), (np.array([0, 1]), 2), (None, np.array([0]), Ellipsis), (MASK[:, 2], 1),
)  # fmt: skip
LISTS = (
    [0, 1], [2, 0, 2], [], [7], [True, False, True], (slice(None), [0, 2]), ([0, 1], [1, 2]), [np.int64(1), 0],
    [np.uint8(2), np.int64(-1)], [np.float64(1)], [[0, 1], [1, 1]], [np.array([0, 1]), np.array([1, 0])],
)  # fmt: skip


def of_package(key):
    """Return a key of arrays of NumPy as one of arrays of this package."""
    if isinstance(key, tuple | list):
        return type(key)(map(of_package, key))
    return (
        xp.asarray([key])[0] if isinstance(key, np.generic) else xp.asarray(key) if isinstance(key, np.ndarray) else key
    )


@pytest.mark.parametrize("convert", [of_package, lambda key: key], ids=["arrays of the package", "arrays of NumPy"])
@pytest.mark.parametrize("key", [*POSITIONS, *LISTS], ids=str)
def test_reads_and_writes_by_positions(key, convert):
    key = convert(key)
    for settled in (False, True):
        x = xp.asarray(np.arange(12.0).reshape(3, 4)) + 0
        if settled:
            x[0, 0] = 0
        for view in (x, x[1], x.T):
            assert outcome(operator.getitem, view, key) == outcome(SelectableArray.__getitem__, view, key)
        for value in (7, 1j, x[0, 1], x[0, :2], x[:2, 0] * 2):
            y, z = x.copy(), x.copy()
            assert outcome(operator.setitem, y, key, value) == outcome(SelectableArray.__setitem__, z, key, value)
            np.testing.assert_array_equal(np.asarray(y), np.asarray(z))


def test_integers_of_numpy_select_views():
    x, host = xp.asarray(np.arange(12.0).reshape(3, 4)), np.arange(12.0).reshape(3, 4)
    for dtype in (np.int64, np.int8, np.uint32):
        for key in (
            dtype(1),
            (dtype(2),),
            (slice(None), dtype(3)),
            (..., dtype(0)),
            (dtype(1), slice(1, 3)),
            (None, dtype(2)),
        ):
            for a in (x, host):
                a[key] += 1
                part = a[key]
                part *= 2
            np.testing.assert_array_equal(x, host)
            assert x[key].base is x
    for wrong in ((slice(None), np.int64(4)), np.int8(-4)):
        with pytest.raises(IndexError):
            x[wrong]
    assert x[np.True_].shape == host[np.True_].shape  # a mask, not an integer


def test_booleans_select():
    x, host = xp.asarray(np.arange(6.0).reshape(3, 2)), np.arange(6.0).reshape(3, 2)
    keys = (
        True,
        False,
        [True, False, True],
        (0, [False, True]),
        (True, 1),
        ([True, 2], 0),
        [[True, False]] * 3,
        (..., True),
    )
    for key in keys:
        assert x[key].shape == host[key].shape
        np.testing.assert_array_equal(x[key], host[key])
        for a in (x, host):
            a[key] += 10
            kept = a[key]
            kept += 1  # a copy
        np.testing.assert_array_equal(x, host)
    for wrong in ([True, False], (0, [True] * 3), [[True], [False, True]]):
        with pytest.raises((IndexError, ValueError)):
            x[wrong]


def test_lists_of_lists_select():
    x, host = xp.asarray(np.arange(12.0).reshape(3, 4)), np.arange(12.0).reshape(3, 4)
    for key in (([[0], [2]], [[1, 3]]), [[0, 1], [2, 0]], ([[]], [[]]), (slice(None), [[1, 2]]), ([0, 1], [[2, 3]])):
        np.testing.assert_array_equal(x[key], host[key])
        for a in (x, host):
            a[key] = a[key] * 2 + 1
        np.testing.assert_array_equal(x, host)
    endless = [0]
    endless.append(endless)
    for wrong in ([[0, 1], [2]], [[0, 5]], [[0, 0.5]], endless):
        with pytest.raises((ValueError, IndexError, RecursionError)):
            x[wrong]


def test_positions_in_lists_are_numbers_of_arrays():
    x, host = xp.asarray(np.arange(12.0).reshape(4, 3)), np.arange(12.0).reshape(4, 3)
    for array in (x, host):
        for k in range(3):
            p = k + np.argmax(array[k:, 0])
            array[[k, p]] = array[[p, k]]
            array[[p, 0], [0, k]] += 1
    np.testing.assert_array_equal(x, host)


def test_results_of_positions_have_memory_of_their_own():
    x = xp.asarray(np.arange(12.0).reshape(3, 4)) + 0
    row, rows, masked = x[xp.asarray([0, 1])[1]], x[[0, 2]], x[x > 3]
    x[1, 0] = x[2, 0] = -1
    assert float(row[0]) == -1  # a number selects a view
    assert (float(rows[1, 0]), float(masked[0])) == (8, 4)
    x[x < 0] += 100
    assert float(row[0]) == float(x[2, 0]) == 99


CREATIONS = (
    lambda: xp.zeros(4),
    lambda: xp.zeros((2, 3), dtype=int),
    lambda: xp.zeros([2, 0], order="F"),
    lambda: xp.zeros((3,), device="cpu"),
    lambda: xp.zeros(-1),
    lambda: xp.zeros("text"),
    lambda: xp.ones((2, 2), "float32"),
    lambda: xp.empty((3, 0), np.float16),
    lambda: xp.full((2, 2), 1e300),
    lambda: xp.full((2, 2), [1, 2], order="F"),
    lambda: xp.full(2, 3, dtype=xp.uint8),
    lambda: xp.full(2, 300, dtype=xp.uint8),
    lambda: xp.arange(5),
    lambda: xp.arange(1, 9, 2, dtype=float),
    lambda: xp.arange(0.5, 3.5, step=0.25),
    lambda: xp.arange(9, 0, -2.5),
    lambda: xp.arange(0, 1, 1e-5),
    lambda: xp.arange(10**9, 10**9 + 3),
    lambda: xp.arange(3, step=0),
    lambda: xp.arange(2, dtype=bool),
    lambda: xp.arange(np.nan),
    lambda: xp.eye(3),
    lambda: xp.eye(2, 3, k=1, dtype=int),
    lambda: xp.eye(2, M=4),
    lambda: xp.eye(2.5),
    lambda: xp.identity(2, "complex64"),
    lambda: xp.tri(3, 2, -1),
    lambda: xp.linspace(0, 1, 5),
    lambda: xp.indices((2, 3)),
    lambda: xp.asarray(2.5),
    lambda: xp.array([1, 2.5, True]),
    lambda: xp.array([[1, 2], [3]]),
    lambda: xp.array([[1, 2j], (3, 4)], dtype="complex64"),
    lambda: xp.array([1, 2], ndmin=2),
    lambda: xp.array([2**63, 2**70]),
    lambda: xp.array(["text"]),
    lambda: xp.array([xp.ones(2), 2 * xp.ones(2)]),
    lambda: xp.asarray(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    lambda: xp.asarray(np.arange(3), dtype="int8"),
    lambda: xp.asarray(np.arange(3, dtype=">i4")),
    lambda: xp.asarray([1, 2], copy=False),
    lambda: xp.asarray([]),
)


@pytest.mark.parametrize("create", CREATIONS)
def test_new_arrays(create, monkeypatch):
    result = outcome(create)
    with monkeypatch.context() as patch:
        patch.setattr(immediacy(), "default_device", None)
        assert result == outcome(create)
    with xp.using(default_float="float32"):
        assert immediacy().default_device is None  # NumPy would make arrays of float64


def test_new_arrays_are_on_the_default_device():
    with xp.using(device="auto", provider="cpu"):
        assert xp.zeros(3).device == xp.arange(3).device == xp.asarray([1.0]).device == xp.Device("auto")
        assert xp.zeros(3, device="cpu").device == xp.Device("cpu")
    host = np.arange(3.0)
    x = xp.asarray(host)
    host[0] = 5
    assert float(x[0]) == 0


def test_views_share_memory():
    x = xp.asarray(np.arange(12.0).reshape(3, 4)) + 0
    row, column = x[1], x[:, 2]
    row[2] = 50
    column += 1
    x[1, 2] *= 2
    assert float(row[2]) == float(column[1]) == float(x[1, 2]) == 102
    assert row.base is x
    assert column.shape == (3,)
    frozen = xp.broadcast_to(x[0], (2, 4))
    with pytest.raises(ValueError, match="read-only"):
        frozen[0, 0] = 1
    kept = x + 0
    held = x[0]
    xp.evaluate(held)
    recorded = held.node()  # a graph may read the memory now
    x[0, 0] = -5
    assert float(held[0]) == -5
    assert float(kept[0, 0]) == 0
    assert recorded is not None


def test_ufuncs():
    x = xp.asarray([1.0, 4.0, -9.0])
    assert outcome(np.sqrt, x) == outcome(GpuArray.__array_ufunc__, x, np.sqrt, "__call__", x)
    for call in (np.sqrt, np.exp, np.isnan, np.negative):
        assert np.asarray(call(x)).tobytes() == call_quietly(call, np.asarray(x)).tobytes()
    for call in (np.maximum, np.add, np.arctan2, np.less):
        for other in (2.0, xp.asarray([0.5, 5.0, -9.0]), x[1], 3):
            host = np.asarray(other) if isinstance(other, GpuArray) else other
            assert np.asarray(call(x, other)).tobytes() == call(np.asarray(x), host).tobytes()
            assert np.asarray(call(other, x)).tobytes() == call(host, np.asarray(x)).tobytes()
    _, whole = np.modf(x)
    assert [*map(float, whole)] == [1, 4, -9]
    with pytest.raises(TypeError):
        np.bitwise_and(x, x)


def layouts(dtype):
    """Return arrays of NumPy of one dtype that broadcast to (3, 1, 4) or to each other, in several layouts."""
    source = np.random.default_rng(3).integers(0, 9, 96)
    host = (source - 2.5 * (dtype.kind in "fc")).astype(dtype)
    cube = host.reshape(4, 6, 4)
    yield from (cube[::-1, ::2, 1], cube[:1, 3:, 2:3].T[..., 0].T, cube[0, 1:4], cube[0, 0], host[7:8], cube[:0, :3, 0])
    yield from (cube[:3, :1], cube[0, :3, None, ::-1], cube[:3, 0].T[..., None].T, np.broadcast_to(host[:4], (3, 1, 4)))


@pytest.mark.parametrize("dtype", [dtype for dtype in dtypes.ALL if dtype != np.float16], ids=str)  # it has no loops
def test_loops_of_ufuncs(dtype):
    hosts = [*layouts(dtype)]
    arrays = [xp.asarray(host) for host in hosts]
    arrays[0] = xp.asarray(np.ascontiguousarray(hosts[0][::-1]))[::-1]  # a view, which keeps its strides
    arrays[8] = xp.asarray(np.ascontiguousarray(hosts[8].T)).T
    numbers = [(number, number) for number in (True, 2, -3, 0.5, 2 - 1j, hosts[0].sum())]
    both = [*zip(hosts, arrays, strict=True)]
    pairs = [*product(both, both), *product(both, numbers), *product(numbers, both)]
    operands = {1: [(one,) for one in both], 2: pairs}
    for ufunc in dispatch.UFUNC_OPS:
        for given in operands.get(ufunc.nin, ()):
            of_numpy, of_package = zip(*given, strict=True)
            try:
                expected = call_quietly(lambda values, ufunc=ufunc: ufunc(*values), of_numpy)
            except (TypeError, ValueError, OverflowError):
                continue
            actual = ufunc(*of_package)
            if isinstance(expected, np.ndarray):
                assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
                assert np.asarray(actual).tobytes() == expected.tobytes(), (ufunc, *of_numpy)


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_updates_of_overlapping_views(dtype):
    for update in (operator.iadd, operator.imul, operator.ior):
        for target, operand in (
            (slice(1, None), slice(-1)),
            (slice(-1), slice(1, None)),
            (slice(None), slice(None, None, -1)),
            (slice(None), slice(None)),
            (slice(0, 3), slice(3, 6)),
        ):
            host = np.arange(7).astype(dtype)
            x = xp.asarray(host) + host.dtype.type(0)
            try:
                update(host[target], host[operand])
            except TypeError:
                continue
            update(x[target], x[operand])
            np.testing.assert_array_equal(np.asarray(x), host)


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_ufuncs_write_to_arrays(dtype):
    places = (slice(0, 3), slice(1, 4), slice(3, 6), slice(5, 2, -1), slice(0, 4))
    for (ufunc, kind), first, second, target in product(
        ((np.add, dtype), (np.multiply, dtypes.float64), (np.less, dtypes.bool_), (np.positive, dtype)),
        places[:3], (*places[:4], 2), places,
    ):  # fmt: skip
        hosts = np.arange(1, 7).astype(dtype), np.arange(6).astype(kind)
        if kind == dtype:
            hosts = hosts[:1] * 2
        arrays = [*map(xp.asarray, hosts[:1])]
        arrays.append(arrays[0] if kind == dtype else xp.asarray(hosts[1]))
        results = []
        for x, y in (hosts, arrays):
            operands = (x[first], second if type(second) is int else x[second])[: ufunc.nin]
            try:
                out = y[target]
                assert ufunc(*operands, out=out) is out
                results.append([np.asarray(out).tobytes(), np.asarray(x).tobytes()])
            except (TypeError, ValueError):
                results.append("error")
        assert results[0] == results[1]
    x = xp.asarray([1.0, 2.0])
    for out in (np.broadcast_to(x, (2, 2))[0], x[0]):
        with pytest.raises((ValueError, TypeError)):
            np.add(x, 1, out=out)


#: Vectors and matrices within a matrix, in several layouts.
PARTS = (
    lambda a: a,
    lambda a: a.T,
    lambda a: a[0],
    lambda a: a[:, -1],
    lambda a: a[::-1],
    lambda a: a[:, ::-1],
    lambda a: a[::2],
    lambda a: a[:, :1],
    lambda a: a[:1].T,
)


@pytest.mark.parametrize("dtype", [dtype for dtype in dtypes.ALL if dtype != np.float16], ids=str)
def test_loops_of_products(dtype):
    random = np.random.default_rng(5)
    for rows, length, columns in product((1, 2, 5), (1, 3, 16), (1, 2, 7)):
        a, b = (random.integers(0, 99, shape) / 7 for shape in ((rows, length), (length, columns)))
        if dtype.kind == "c":
            a, b = a * (1 + 0.3j), b * (0.7 - 1j)
        a, b = a.astype(dtype), b.astype(dtype)
        x, y = xp.asarray(a), xp.asarray(b)
        for of_left, of_right in product(PARTS, PARTS):
            left, right = of_left(a), of_right(b)
            if left.shape[-1] == right.shape[0]:
                result, expected = of_left(x) @ of_right(y), left @ right
                assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
                assert np.asarray(result).tobytes() == expected.tobytes(), (left.strides, right.strides)


#: Shapes of the operands of products of vectors and matrices, several of which are stacks or broadcast.
STACKS = ((), (3,), (4,), (3, 4), (4, 3), (1, 4), (0, 3), (2, 3, 4), (2, 4, 3), (1, 4, 4), (5, 1, 3, 4), (2, 5, 4, 4))


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.float32, np.complex128])
@pytest.mark.parametrize(
    "ufunc", [getattr(np, name) for name in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, name)]
)
def test_products_of_stacks(ufunc, dtype):
    random = np.random.default_rng(6)
    function = getattr(xp, ufunc.__name__)
    for shapes in product(STACKS, STACKS):
        hosts = [random.integers(-3, 4, shape).astype(dtype) for shape in shapes]
        if dtype is np.complex128:
            hosts = [host * dtype(1 + 2j) for host in hosts]
        arrays = list(map(xp.asarray, hosts))
        for seen in (lambda a: a, lambda a: a.T, lambda a: a[..., ::-1] if a.ndim else a):
            left, right = seen(hosts[0]), hosts[1]
            try:
                expected = ufunc(left, right)
            except ValueError:
                with pytest.raises(ValueError, match=r"\w"):
                    function(seen(arrays[0]), arrays[1])
                continue
            result = function(seen(arrays[0]), arrays[1])
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            assert np.asarray(result).tobytes() == expected.tobytes(), (shapes, left.strides)


def test_methods_take_no_step_in_python(monkeypatch):
    host = np.arange(12.0).reshape(3, 4)
    x = xp.asarray(host) + 0
    monkeypatch.setattr(dispatch, "METHODS", {})
    for call in (
        lambda a: a.dot(a[0]),
        lambda a: a.dot(a.T),
        lambda a: a.trace(),
        lambda a: a.trace(1, 1, 0, "f4"),
        lambda a: a.diagonal(),
        lambda a: a.diagonal(-1, axis1=1, axis2=0),
    ):
        np.testing.assert_array_equal(np.asarray(call(x)), call(host), strict=True)
    monkeypatch.undo()
    seen = x.diagonal()
    x[1, 1] = 99
    assert float(seen[1]) == 99
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 1
    for wrong in (lambda: x.dot(x), lambda: x.diagonal(0, 1, 1), lambda: x[0].trace()):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()


@pytest.mark.parametrize("rows", [4, 40])
def test_functions_of_numpy_take_no_step_in_python(rows, monkeypatch):
    host = np.random.default_rng(0).standard_normal((rows, rows)) + rows * np.eye(rows)
    with xp.using(direct_limit=100):  # the larger array is read as a whole
        x, v = xp.asarray(host), xp.asarray(host[0])
        calls = (
            lambda np, a, v: np.linalg.norm(a),
            lambda np, a, v: np.linalg.norm(a, np.inf),
            lambda np, a, v: np.linalg.norm(a, axis=0),
            lambda np, a, v: np.linalg.trace(a, offset=1),
            lambda np, a, v: np.linalg.multi_dot([a, a, v]),
            lambda np, a, v: np.linalg.vecdot(a, v),
            lambda np, a, v: np.tensordot(a, a),
        )
        for call in calls:  # where the elements are is known after the first call
            call(np, x, v)
        monkeypatch.setattr(dispatch, "METHODS", {})
        monkeypatch.setattr(functions_at_once, "_computed", None)
        for call in calls:
            result = call(np, x, v)
            assert type(result) is xp.ndarray
            np.testing.assert_array_equal(np.asarray(result), call(np, host, host[0]), strict=True)
        x[0] = 7.0
        host[0] = 7.0
        assert float(np.linalg.trace(x)) == np.linalg.trace(host)


def test_products_of_small_stacks_are_computed_at_once():
    with xp.using(device="cpu"):
        stack, many = xp.ones((8, 16, 16)), xp.ones((4096, 16, 16))
        assert (stack @ stack).is_computed()
        assert xp.matmul(stack, stack[0]).is_computed()
        assert not (many @ many).is_computed()


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_products(dtype):
    for left, right in (
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((3,), (4,)),
    ):
        x, y = (xp.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype)) for shape in (left, right))
        assert outcome(operator.matmul, x, y) == outcome(ComputingArray.__matmul__, x, y)
        if left[-1] == right[0]:
            for function in (np.matmul, xp.matmul):
                assert outcome(function, x, y) == outcome(ComputingArray.__matmul__, x, y)
        assert outcome(operator.matmul, x, 2) == outcome(ComputingArray.__matmul__, x, 2)
    assert outcome(operator.matmul, x, np.ones(3)) == outcome(ComputingArray.__matmul__, x, np.ones(3))


def test_views_of_other_shapes():
    x = xp.asarray(np.arange(12.0).reshape(3, 4)) + 0
    for view, host in (
        (x.T, np.asarray(x).T),
        (x.transpose(1, 0), np.asarray(x).T),
        (x.reshape(4, -1), np.asarray(x).reshape(4, -1)),
        (x[1:].T, np.asarray(x)[1:].T),
        (x.T.reshape(-1), np.asarray(x).T.reshape(-1)),
        (x.reshape((2, 6), order="F"), np.asarray(x).reshape((2, 6), order="F")),
    ):
        np.testing.assert_array_equal(np.asarray(view), host)
    for same in (
        np.flip(x, 0)[::-1],
        xp.flip(x)[::-1, ::-1],
        xp.swapaxes(x, 0, 1).T,
        np.squeeze(x[None]),
        xp.ravel(x).reshape(3, 4),
    ):
        same[2, 3] += 1
    assert float(x[2, 3]) == 16
    x.T[0, 1] = 50
    x.reshape(-1)[5] += 1
    x.T.reshape(-1)[0] = 99
    assert float(x[1, 0]) == 50
    assert float(x[1, 1]) == 6
    assert float(x[0, 0]) == 0
    for wrong in ((5, 2), "text", (2.5,)):
        with pytest.raises((ValueError, TypeError)):
            x.reshape(wrong)
    with pytest.raises(ValueError, match="axes"):
        x.transpose(0, 0)
    assert x.sum().T.shape == ()


CALLS = (
    lambda np, x, y: np.where(x > 2, x, y),
    lambda np, x, y: np.dot(x, y),
    lambda np, x, y: np.concatenate([x, y, x]),
    lambda np, x, y: np.stack((x, y)),
    lambda np, x, y: np.sort(-x),
    lambda np, x, y: np.linalg.norm(x),
    lambda np, x, y: np.outer(x, y),
    lambda np, x, y: np.einsum("i,i->i", x, y),
    lambda np, x, y: np.cumsum(x),
    lambda np, x, y: np.searchsorted(x, y),
    lambda np, x, y: np.real(x),
    lambda np, x, y: np.stack((x, y), axis=1),
    lambda np, x, y: np.sum(x, axis=0, keepdims=True),
    lambda np, x, y: np.sum(x, where=x > 1),
    lambda np, x, y: np.concatenate([x, y], dtype="float32", casting="same_kind"),
    lambda np, x, y: np.clip(x, 1, a_max=3, out=None),
    lambda np, x, y: np.flip(x),
    lambda np, x, y: np.flip(x[1:4])[::2],
    lambda np, x, y: np.squeeze(x[None]),
    lambda np, x, y: np.swapaxes(np.expand_dims(x, 0), 0, 1),
    lambda np, x, y: np.diagonal(np.outer(x, y)),
    lambda np, x, y: x.sum(),
    lambda np, x, y: x.max(keepdims=True),
    lambda np, x, y: x.reshape(1, 5).mean(axis=0),
    lambda np, x, y: x.argmax(),
    lambda np, x, y: (x > 2).any(axis=0),
    lambda np, x, y: np.ravel(x),
    lambda np, x, y: np.broadcast_to(x, (2, 5)),
    lambda np, x, y: np.modf(x)[1],
    lambda np, x, y: np.linalg.solve(np.eye(5), x),
    lambda np, x, y: np.float32(2) * np.astype(x, np.float16),
    lambda np, x, y: np.repeat(x, 3),
    lambda np, x, y: np.repeat(x, [1, 0, 2, 1, 3]),
    lambda np, x, y: np.tile(x, (2, 3)),
    lambda np, x, y: np.roll(np.outer(x, y), (1, -2), (0, 1)),
    lambda np, x, y: np.sum(np.outer(x, y), axis=1, dtype=np.float32),
    lambda np, x, y: np.zeros_like(x, dtype=int) + np.std(x),
    lambda np, x, y: np.concatenate(([np.inf, 2], x[:2], [True])),
    lambda np, x, y: np.split(np.append(x, 1), 3)[1],
)


@pytest.mark.parametrize("call", CALLS)
def test_functions(call):
    hosts = np.arange(5.0), np.array([0.5, 3.0, -1.0, np.nan, 2.0])
    arrays = [xp.asarray(host) for host in hosts]
    expected = call_quietly(lambda hosts: call(np, *hosts), hosts)
    for namespace in (np, xp):
        actual = call(namespace, *arrays)
        assert type(actual) is GpuArray
        assert actual.dtype == expected.dtype
        assert np.asarray(actual).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x, y: x * y + x - 2 * y,
        lambda np, x, y: ~(x > y) | (x < 0.5) ^ (y == x),
        lambda np, x, y: np.maximum(x.T, y) ** 2,
        lambda np, x, y: x[0] @ y + (x @ y[:, 1])[::-1],
        lambda np, x, y: np.where(x > y, x, y),
        lambda np, x, y: np.roll(x, 3),
        lambda np, x, y: np.concatenate([x[k] for k in range(40)]),
        lambda np, x, y: np.outer(x[0], y[:, 0]),
        lambda np, x, y: np.repeat(x, 2, 1),
        lambda np, x, y: x[x > 0.5],
        lambda np, x, y: y[np.asarray([3, 1, 3])] + x[:3].astype("float32"),
        lambda np, x, y: np.stack([x, y], axis=1).max(axis=(0, 2), keepdims=True),
    ],
)
def test_mid_sized_arrays(call):
    hosts = [np.random.default_rng(seed).random((300, 300)) for seed in range(2)]
    with xp.using(direct_limit=1 << 18):
        arrays = [xp.asarray(host) for host in hosts]
        result, expected = call(xp, *arrays), call_quietly(lambda hosts: call(np, *hosts), hosts)
        assert result.is_computed()
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
        assert np.asarray(result).tobytes() == expected.tobytes()


def call_quietly(call, value):
    with np.errstate(all="ignore"):
        return call(value)


@pytest.mark.parametrize("name", ["qr", "svd", "eig", "eigh", "slogdet"])
def test_several_results(name):
    host = np.array([[2.0, 1.0], [1.0, 3.0]])
    function = getattr(np.linalg, name)
    actual, expected = function(xp.asarray(host)), function(host)
    assert type(actual).__name__.lower() == type(expected).__name__.lower()
    for each, other in zip(actual, expected, strict=True):
        assert type(each) is GpuArray
        assert each.dtype == other.dtype
        assert np.asarray(each).tobytes() == np.asarray(other).tobytes()


def test_several_results_are_computed_once():
    calls = []

    def counted(x):
        calls.append(x)
        return x + 1, x * 2

    x = xp.asarray([1.0, 2.0])
    results = compiled.call(counted, (x,), {}, 100, 0, False)
    assert [type(each) for each in results] == [GpuArray, GpuArray]
    assert len(calls) == 1
    assert compiled.call(lambda x: (x + 1, x), (x,), {}, 100, 0, False)[1] is x
    for unusual in (lambda x: (x + 1, object()), lambda x: (x + 1, None)):
        assert compiled.call(unusual, (x,), {}, 100, 0, False) is None
    assert len(compiled.call(counted, (x,), {}, 100, 0, True)) == 2
    assert len(calls) == 2


def test_an_array_that_is_several_results():
    with xp.using(device="cpu"):
        rows, columns = xp.diag_indices(4)
        assert rows is columns
        assert rows.flags.writeable
        first, second, third = np.diag_indices_from(xp.zeros((3, 3, 3)))
        assert first is second is third
        lower = xp.tril_indices(3)
        assert [line.tolist() for line in lower] == [line.tolist() for line in np.tril_indices(3)]
        assert lower[0] is not lower[1]


def test_views_among_several_results():
    x = xp.asarray([1.0, 2.0, 3.0])
    same, view, fixed, new, flag = compiled.call(
        lambda x: [x, x[1:], np.broadcast_to(x, (2, 3)), x + 1, True], (x,), {}, 100, 0, True
    )
    assert same is x
    assert flag is True
    view[0] = new[0] = 7
    np.testing.assert_array_equal(x, [1, 7, 3])
    np.testing.assert_array_equal(fixed, [[1, 7, 3]] * 2)
    with pytest.raises(ValueError, match="read-only"):
        fixed[0, 0] = 1


def test_operations_are_counted():
    x = xp.asarray([1.0, 2.0])
    xp.reset_stats()
    y = x + x
    y += 1
    np.sqrt(-y)
    assert xp.stats()["operations"] == 4
    assert xp.stats()["operations"] == 4
    xp.reset_stats()
    assert xp.stats()["operations"] == 0


def test_operations_are_recorded_where_they_must_be():
    x = xp.asarray([1.0, 2.0])
    with xp.using(offload="always", device="auto"):
        assert (x + x).residency == ()
    double = xp.jit(lambda x: x[1] + x)
    np.testing.assert_array_equal(np.asarray(double(x)), [3, 4])
    np.testing.assert_array_equal(np.asarray(double(x * 2)), [6, 8])
    slope = xp.grad(lambda x: (x * x)[1] + x[0])
    np.testing.assert_array_equal(np.asarray(slope(x)), [1, 4])


def test_nothing_leaks():
    x = xp.asarray(np.arange(12.0).reshape(3, 4)) + 0

    def work():
        for i in range(3):
            x[i, 1] = x[i, 0] + 2 * x[i, 2]
            x[i] += x[0]
            x[i, 1:3] -= 1
            y = -x[i] < 3
            bool(y[0])
            for key in (7, "key", (1, 9)):
                with pytest.raises((IndexError, TypeError)):
                    x[key]
            with pytest.raises(TypeError):
                x + "text"
            np.maximum(x[i], 1)

    for _ in range(400):  # caches of the package and of the interpreter fill
        work()
    gc.collect()
    before = sys.getallocatedblocks(), sys.getrefcount(x.device)
    for _ in range(1000):  # of each operation, at least three times
        work()
    gc.collect()
    assert sys.getallocatedblocks() - before[0] < 1500
    assert sys.getrefcount(x.device) - before[1] < 20


@pytest.mark.parametrize("body", [{}, {"__slots__": ("other",)}], ids=["dict", "slots"])
def test_instances_of_subclasses_are_not_used_again(body):
    subclass = type("Subclass", (GpuArray,), body)
    kept = [xp.asarray([1.0]) + 1 for _ in range(200)]  # which leaves none that is gone
    for _ in range(10):
        instance = object.__new__(subclass)
        instance.other = [instance]
        del instance
    gc.collect()
    assert {type(xp.asarray([1.0]) + 1) for _ in range(10)} == {GpuArray}
    assert all(float(array[0]) == 2 for array in kept)


def test_arrays_with_weak_references_are_not_used_again():
    for _ in range(100):
        array = xp.asarray([1.0]) + 1
        gone = []
        reference = weakref.ref(array, gone.append)
        del array
        assert reference() is None
        assert gone == [reference]


def test_threads_update_one_array():
    x = xp.zeros(8)

    def work(i):
        for _ in range(3000):
            x[i] += 1
            x[i : i + 1] += 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.asarray(x), [6000] * 4 + [0] * 4)


PROGRAM = """
import numpy as np
import gpuarray as xp
from gpuarray.array import compiled

x = xp.asarray(np.arange(12.0).reshape(3, 4))
for i in range(3):
    x[i, 1] = x[i, 0] + 2 * x[i, 2] - x[-1, -1]
    x[i] += x[0] ** 2
    x[i, 1:3] -= abs(-x[i, 0]) // 3
print(compiled.IS_COMPILED, np.sqrt(x).tolist(), int(x[1, 1]), bool(x[1, 1] > 2), len(x))
"""


def test_python_does_everything_without_the_module():
    result = {}
    for setting in ("0", "1"):
        environment = os.environ | {"GPUARRAY_COMPILED": setting, "GPUARRAY_DEVICE": "cpu"}
        finished = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True)
        is_compiled, result[setting] = finished.stdout.split(maxsplit=1)
        assert is_compiled == (b"True" if setting == "1" else b"False")
    assert result["0"] == result["1"]


def test_functions_that_write_to_their_argument():
    rules = np.inf, 0, False, 0, sys.maxsize, True, True, None
    copyto = compiled.of_numpy(lambda *others: others, np.copyto, np.copyto, *rules)
    x, values = xp.zeros((2, 3)), xp.asarray([1.0, 2.0, 3.0])
    before = x[1].copy()
    assert copyto(x[1], values) is None
    assert copyto(x[0], 7, where=values > 1) is None
    np.testing.assert_array_equal(x, [[0, 7, 7], [1, 2, 3]])
    np.testing.assert_array_equal(before, 0)
    node = x.node()
    assert copyto(x, 5) == (None, (x, 5), {})  # a graph may read the memory
    xp.copyto(x, 5)
    np.testing.assert_array_equal(x, 5)
    assert node is not x.node()
    for target, source in (
        (xp.broadcast_to(values, (2, 3)), 1),
        (values, x),
        (values, 1j),
        (values.sum(), 1),
        (7, values),
    ):
        others = copyto(target, source, where=True)
        assert others[0] is None
        assert others[1][0] is target
        assert others[1][1] is source
        assert others[2] == {"where": True}
    np.testing.assert_array_equal(values, [1, 2, 3])
    with pytest.raises(ValueError, match="read-only"):
        xp.copyto(xp.broadcast_to(values, (2, 3)), 1)
