"""What programs written for NumPy's namespace ask of this one: methods of ufuncs, `like=`, `r_`, `as_strided`."""

from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.lib.stride_tricks import as_strided
from gpuarray.testing import assert_same

LINE = np.array([3.0, 1.5, -2.0, 4.0, 0.5], np.float32)
TABLE = np.arange(12, dtype=np.float32).reshape(3, 4)
COUNTS = np.array([1, 2, 6], np.int32)

METHODS = {
    "reduce": lambda n, line, m, i: n.add.reduce(m),
    "reduce an axis": lambda n, line, m, i: n.maximum.reduce(m, 1),
    "reduce with a start": lambda n, line, m, i: n.multiply.reduce(line, initial=2.0, where=line > 0),
    "reduce bits": lambda n, line, m, i: n.bitwise_xor.reduce(i),
    "reduce flags": lambda n, line, m, i: n.logical_and.reduce(line > -3),
    "accumulate": lambda n, line, m, i: n.minimum.accumulate(line),
    "accumulate an axis": lambda n, line, m, i: n.add.accumulate(m, axis=1),
    "reduceat": lambda n, line, m, i: n.add.reduceat(line, [0, 2, 3]),
    "outer": lambda n, line, m, i: n.multiply.outer(i, line),
    "outer of lists": lambda n, line, m, i: n.subtract.outer(i, [1, 2]),
    "reduce a unary function": lambda n, line, m, i: n.negative.reduce(line),
    "reduce a function": lambda n, line, m, i: n.hypot.reduce(m, axis=0),
    "reduce to a dtype": lambda n, line, m, i: n.add.reduce(i, 0, np.float32),
    "reduce by position": lambda n, line, m, i: n.add.reduce(m, 1, None, None, True, 1.0, m > 2),
    "reduce into a part": lambda n, line, m, i: n.add.reduce(m[:, :3], 0, None, n.zeros_like(line)[1:4]),
    "accumulate to a dtype": lambda n, line, m, i: n.add.accumulate(i, 0, np.float32),
    "reduceat to a dtype": lambda n, line, m, i: n.add.reduceat(i, [0, 1], 0, np.float32),
    "reduceat an array": lambda n, line, m, i: n.maximum.reduceat(m, n.asarray([0, 2]), axis=1),
    "outer to a dtype": lambda n, line, m, i: n.multiply.outer(i, i, dtype=np.float32),
}


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "fmin", "logical_and", "bitwise_xor"])
def test_a_list_of_arrays_is_folded_without_a_copy_of_all(name: str, dtype: str, device: Any) -> None:
    hosts = [np.random.default_rng(seed).integers(0, 5, (40, 50)).astype(dtype) for seed in range(4)]
    numpys, ours = getattr(np, name), getattr(xp, name)
    try:
        expected = numpys.reduce(hosts)
    except TypeError:
        with pytest.raises(TypeError):
            ours.reduce([xp.asarray(host, device=device) for host in hosts])
        return
    with xp.using(direct_limit=0):
        arrays = [xp.asarray(host, device=device) for host in hosts]
        assert_same(ours.reduce(arrays), expected)
        assert_same(ours.reduce(tuple(arrays), axis=0), expected)
        assert_same(ours.reduce(arrays, axis=1), numpys.reduce(hosts, axis=1))
        assert len(xp.explain(ours.reduce(arrays)).steps) == 1


@pytest.mark.parametrize("name", METHODS)
def test_functions_have_the_methods_of_ufuncs(name: str, device: Any) -> None:
    call = METHODS[name]
    try:
        expected = call(np, LINE, TABLE, COUNTS)
    except ValueError:
        with pytest.raises(ValueError, match="binary"):
            call(xp, xp.asarray(LINE), xp.asarray(TABLE), xp.asarray(COUNTS))
    else:
        assert_same(call(xp, xp.asarray(LINE), xp.asarray(TABLE), xp.asarray(COUNTS)), expected, ulp=2)


def test_at_writes_once_for_each_time(device: Any) -> None:
    host, x = TABLE.copy(), xp.asarray(TABLE)
    for namespace, table in ((np, host), (xp, x)):
        namespace.add.at(table, ([0, 0, 1], [1, 1, 2]), 10)
        namespace.negative.at(table, (slice(None), 3))
        namespace.maximum.at(table, 2, [0, 20, 0, 0])
    assert_same(x, host)
    xp.add.at(host, [0], xp.ones(4, xp.float32))  # NumPy's array is written to, and not a copy of it
    assert host[0, 0] == 1


def test_methods_take_lists_of_arrays(device: Any) -> None:
    x = xp.asarray(LINE)
    assert_same(xp.add.reduce([x, x]), LINE + LINE)
    assert_same(xp.logical_or.reduce([x > 2, x < 0]), (LINE > 2) | (LINE < 0))


def test_like_names_the_device(device: Any) -> None:
    x = xp.asarray(LINE, device=device)
    with xp.using(device="cpu"):
        made = [
            xp.zeros(3, like=x), xp.ones((2, 2), like=x), xp.empty(2, like=x), xp.full(2, 7, like=x), xp.eye(3, like=x),
            xp.identity(2, like=x), xp.tri(3, like=x), xp.arange(3, like=x), xp.asarray([1, 2], like=x),
            xp.array([1, 2], like=x), xp.arange(2, dtype=bool, like=x),
        ]  # fmt: skip
        assert all(array.device == x.device for array in made)
        assert xp.zeros(2, like=x, device="cpu").device == "cpu"
        assert xp.asarray(x, like=xp.zeros(2)).device == x.device
        assert xp.zeros(2, like=LINE).device == "cpu"  # NumPy's arrays are on no device of ours


JOINED = {
    "line": lambda n, line, m, i: n.r_[line, 1, 2.5],
    "ranges": lambda n, line, m, i: n.r_[0:3, i, 0:1:3j],
    "rows": lambda n, line, m, i: n.r_[m, m],
    "element": lambda n, line, m, i: n.r_[line[0], line],
    "columns": lambda n, line, m, i: n.c_[i, m, line[:3]],
    "numbers": lambda n, line, m, i: n.c_[1, 2],
    "column": lambda n, line, m, i: n.c_[line],
    "no match": lambda n, line, m, i: n.r_[m, line],
}


@pytest.mark.parametrize("name", JOINED)
def test_brackets_join(name: str, device: Any) -> None:
    call = JOINED[name]
    try:
        expected = call(np, LINE, TABLE, COUNTS)
    except ValueError:
        with pytest.raises(ValueError, match="dimension"):
            call(xp, xp.asarray(LINE), xp.asarray(TABLE), xp.asarray(COUNTS))
    else:
        assert_same(call(xp, xp.asarray(LINE), xp.asarray(TABLE), xp.asarray(COUNTS)), expected)


def test_texts_join_nothing() -> None:
    with pytest.raises(TypeError, match="concatenate and stack"):
        _ = xp.r_["0,2", [1], [2]]


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((3, 4), (16, 4)),
        ((4, 3), (4, 16)),
        ((2, 3), (8, 4)),
        ((3, 5), (0, 4)),
        ((6,), (8,)),
        ((2, 0), (400, 4)),
        ((), ()),
    ],
)
def test_views_of_any_strides(shape: tuple[int, ...], strides: tuple[int, ...], device: Any) -> None:
    x = xp.asarray(TABLE)
    view, expected = as_strided(x, shape, strides), np.lib.stride_tricks.as_strided(TABLE, shape, strides)
    assert_same(view, expected)
    assert view.strides == expected.strides
    places = np.lib.stride_tricks.as_strided(np.arange(12), shape, [2 * step for step in strides])
    apart = np.unique(places).size == places.size
    assert view.flags.writeable == apart
    if apart and view.size:
        view[...] = 7
        assert (np.asarray(x) == 7).sum() >= view.size


def test_views_begin_where_the_array_does_and_stay_in_its_memory(device: Any) -> None:
    x = xp.asarray(TABLE)
    assert_same(as_strided(x[1:, 1:], (2, 2), (16, 8)), TABLE[1:, 1:][:2, ::2])
    assert_same(as_strided(x[:, ::-1], (4,), (-4,)), TABLE[0, ::-1])
    assert not as_strided(x, writeable=False).flags.writeable
    for shape, strides in (((13,), (4,)), ((2,), (-4,)), ((4, 4), (16, 4))):
        with pytest.raises(ValueError, match="outside"):
            as_strided(x, shape, strides)
    for strides in ((3,), (4, 4)):
        with pytest.raises(ValueError, match="multiples of 4 bytes"):
            as_strided(x, (2,), strides)


def test_names_that_are_missing_are_told() -> None:
    for module, name, hint in (
        (xp, "get_include", "numpy.get_include"),
        (xp.random, "MT19937", "Philox"),
        (xp, "nothing", "'nothing'$"),
    ):
        with pytest.raises(AttributeError, match=hint):
            getattr(module, name)
        assert not hasattr(module, name)


@pytest.mark.parametrize("other", [2, 2.5, np.float64(3), np.int8(3), 1j])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_elements_say_the_dtype_of_a_range(dtype: Any, other: Any, device: Any) -> None:
    x = np.array([1, 5], dtype)
    assert_same(xp.linspace(xp.asarray(x)[0], other, 4), np.linspace(x[0], other, 4), ulp=2)
    assert_same(xp.linspace(other, xp.asarray(x)[1], 4), np.linspace(other, x[1], 4), ulp=2)
