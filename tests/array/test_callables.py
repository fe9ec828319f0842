"""Functions that compute calls with small arrays at once: they are functions for whoever looks at them."""

import copy
import functools
import inspect
import pickle
import pydoc
import sys
import traceback
import tracemalloc
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array import compiled
from gpuarray.functions.at_once import NOT_COMPUTED, AtOnce

#: The folder of the package.
PACKAGE = str(Path(xp.__file__).parent)
#: Of each kind: of one ufunc, of a function of NumPy, one that writes to its argument, one that makes arrays.
FUNCTIONS = (xp.sin, xp.add, xp.sum, xp.bincount, xp.linalg.eigh, xp.copyto, xp.zeros, xp.arange, xp.fft.fft)


@pytest.fixture(autouse=True)
def cpu():
    with xp.using(device="cpu", direct_limit=1 << 14):
        yield


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_function_is_one_for_whoever_looks_at_it(function: Any) -> None:
    assert pickle.loads(pickle.dumps(function)) is copy.deepcopy(function) is weakref.ref(function)() is function
    assert callable(function)
    assert inspect.isroutine(function)
    assert inspect.isfunction(inspect.unwrap(function))
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))
    assert function.__module__.startswith("gpuarray.")
    assert function.__doc__.startswith(inspect.unwrap(function).__doc__)
    assert function.__doc__.strip().splitlines()[0] in pydoc.plain(pydoc.render_doc(function))
    assert function.__name__ in repr(function)
    assert {"__name__", "__doc__", "__module__"} <= {*dir(function)}

    @functools.wraps(function)
    def wrapped(*arguments: Any) -> Any:
        return function(*arguments)

    assert inspect.signature(wrapped) == inspect.signature(function)
    assert (wrapped.__name__, wrapped.__module__) == (function.__name__, function.__module__)


def test_a_function_is_a_method_of_a_class() -> None:
    class Named(list[float]):
        plain = staticmethod(xp.sum)
        total = xp.sum

    assert Named.total is xp.sum
    assert Named([4.0, 9.0]).plain(xp.asarray([4.0])).item() == 4
    assert Named([4.0, 9.0]).total().item() == 13


@pytest.mark.skipif(not compiled.IS_COMPILED, reason="functions in Python are called instead")
def test_no_step_in_python() -> None:
    x, y, p, bits = xp.arange(6.0), xp.ones(6), xp.arange(6), xp.arange(6, dtype="uint8")
    square, diagonal = xp.zeros((120, 120)), xp.arange(120)
    long, starts = xp.ones(1 << 13), xp.arange(0, 1 << 13, 50)
    calls: tuple[Any, ...] = (
        lambda: xp.sin(x), lambda: xp.add(x, y), lambda: xp.add(x, y, y), lambda: xp.add(x, y, out=y),
        lambda: xp.argmax(x), lambda: xp.argmax(a=x, axis=0), lambda: xp.bincount(p, weights=x),
        lambda: xp.copyto(y, x), lambda: xp.add.at(y, p, x), lambda: xp.add.reduceat(x, [0, 3]),
        lambda: xp.take(x, p, axis=0), lambda: xp.concatenate([x, y]), lambda: xp.unpackbits(bits),
        lambda: xp.clip(x, 1, 4, out=y), lambda: xp.take(x, p, 0, y), lambda: square[diagonal, diagonal],
        lambda: square[diagonal, [0] * 120], lambda: square[:, diagonal],
        lambda: xp.arange(0, 50000, 50), lambda: xp.arange(0.5, -9e6, -1e6), lambda: xp.linspace(0.0, 5e6, 4),
        lambda: xp.full((2, 3), 3e9), lambda: xp.add.reduceat(long, starts),
    )  # fmt: skip
    for number, call in enumerate(calls):
        call()
        files: set[str] = set()
        sys.setprofile(lambda frame, event, argument: files.add(frame.f_code.co_filename))
        try:
            call()
        finally:
            sys.setprofile(None)
        assert not {file for file in files if file.startswith(PACKAGE)}, number


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.bincount(x.astype(int) - 4),
        lambda x: xp.add(x, xp.ones(2)),
        lambda x: xp.sum(x, axis=3),
        lambda x: xp.concatenate([x, xp.ones((2, 2))]),
        lambda x: xp.copyto(x, xp.ones(2)),
        lambda x: xp.add.at(x, [9], 1),
        lambda x: xp.linalg.inv(x),
    ],
)
def test_errors_end_at_the_line_of_the_program(call: Any) -> None:
    with pytest.raises((ValueError, IndexError)) as info:
        call(xp.arange(3.0))
    assert traceback.extract_tb(info.value.__traceback__)[-1].filename == __file__


@pytest.mark.skipif(not compiled.IS_COMPILED, reason="functions in Python have frames")
def test_warnings_are_those_of_the_line_of_the_program() -> None:
    x = xp.ones((3, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        xp.median(xp.asarray([np.nan, 1.0]))
        xp.polyfit(x[0], x[0], 2)
    assert all(warning.filename == __file__ for warning in caught)


def test_targets_and_masks() -> None:
    x, out = xp.arange(4.0), xp.zeros(4)
    assert xp.add(x, 1, out) is out
    assert out.tolist() == [1, 2, 3, 4]
    assert xp.add(x, 2, out=out) is out
    assert out.tolist() == [2, 3, 4, 5]
    assert xp.add(x, 3, out=(out,)) is out
    assert xp.add(x, 9, out, where=xp.asarray([True, False, False, True])).tolist() == [9, 4, 5, 12]
    assert xp.sum(x, where=xp.asarray([True, False, False, True])).item() == 3
    total = xp.zeros(())
    assert xp.sum(x, None, None, total) is total
    assert xp.add.reduce(x, 0, None, total) is total
    assert total.item() == 6
    lines = xp.zeros(2)
    assert xp.add.reduceat(x, [0, 2], 0, None, lines) is lines
    assert lines.tolist() == [1, 5]
    with pytest.raises(ValueError, match="read-only"):
        xp.add(x, 1, out=xp.broadcast_to(xp.ones(1), (4,)))
    with pytest.raises(TypeError, match="Cannot cast"):
        xp.add(x, 1, out=xp.zeros(4, "int64"))


def test_large_and_unusual_results_are_computed_once() -> None:
    calls = []

    def made(host: Any, size: int) -> Any:
        calls.append(size)
        return np.zeros(size)

    rule = AtOnce(made, "sums")
    for size in (10, 1 << 15):
        assert rule.compute(xp.ones(3), size).shape == (size,)
        assert rule.compute(xp.ones(3), size=size).shape == (size,)
    assert calls == [10, 10, 1 << 15, 1 << 15]
    assert AtOnce(lambda host: object(), "sums").compute(xp.ones(3)) is NOT_COMPUTED


def test_empty_arrays_are_those_of_numpy() -> None:
    for shape, dtype, order in (((3, 4), None, "C"), (7, "int16", "C"), ((2, 3), "complex64", "F"), ((), bool, "C")):
        actual, expected = xp.empty(shape, dtype, order), np.empty(shape, dtype, order)
        assert (actual.shape, actual.dtype, actual.strides) == (expected.shape, expected.dtype, expected.strides)
        assert actual.flags.writeable
        actual[...] = 1
        assert actual.sum().item() == actual.size
    before = tracemalloc_peak(lambda: xp.empty(1 << 13))
    assert before < 2 * (1 << 16)
    with pytest.raises(ValueError, match="negative dimensions"):
        xp.empty(-1)


def test_results_in_another_order_are_not_copied() -> None:
    x = xp.ones((100, 100))
    for call in (xp.asfortranarray, lambda x: xp.copy(x.T)):
        assert call(x).flags.f_contiguous
    assert tracemalloc_peak(lambda: xp.asfortranarray(x)) < 1.5 * x.nbytes


def tracemalloc_peak(call: Any) -> int:
    """Return the most memory that a call takes, in bytes."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_arrays_of_numbers_are_where_the_settings_say() -> None:
    for device in ("cpu", "auto", "cpu"):
        with xp.using(device=device):
            arrays = [xp.zeros(3), xp.arange(3), xp.asarray([1.0]), xp.array(np.ones(2)), xp.linspace(0, 1, 3)]
            assert {str(array.device) for array in arrays} == {device}
            with xp.using(default_float="float32"):
                assert xp.zeros(3).dtype == xp.linspace(0, 1, 3).dtype == xp.asarray([1.5]).dtype == np.float32
            assert xp.zeros(3).dtype == np.float64
    assert xp.arange(start=2, stop=5).tolist() == [2, 3, 4]
    assert xp.arange(dtype="int8", stop=4, step=2, start=0).tolist() == [0, 2]
    x = xp.ones(3)
    same, other = xp.asarray(x), xp.array(x)
    assert same is x
    assert other is not x
    other[0] = 5
    assert x.tolist() == [1, 1, 1]
    assert xp.array(x, copy=False) is x
    assert xp.array(x, copy=False, ndmin=2).base is x
    assert xp.array(x, "int8", ndmin=2, order="F").tolist() == [[1, 1, 1]]
    assert np.array([1.0], like=xp.ones(1)).tolist() == np.asfortranarray([1.0], like=xp.ones(1)).tolist() == [1]


def test_comparisons_of_one_dtype_run_the_loop_for_it() -> None:
    values = [0, 1, -5, 7, 2**63 - 1, -(2**63), 3]
    for kind in ("int64", "uint64", "int8", "float32", "float64", "complex128", "bool"):
        first = np.array(values).astype(kind)
        second = first[::-1].copy()
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum", "subtract"):
            if name == "subtract" and kind == "bool":
                continue
            for other in (second, 1, True):
                expected = getattr(np, name)(first, other)
                other = xp.asarray(other) if other is second else other
                actual = getattr(xp, name)(xp.asarray(first), other)
                assert actual.dtype == expected.dtype
                assert actual.tolist() == expected.tolist()
    assert xp.less(xp.asarray([2**64 - 1], dtype="uint64"), -1).tolist() == [False]
    assert xp.greater(xp.asarray([-1]), 2**64).tolist() == [False]
    assert xp.equal(xp.asarray([-1]), np.uint64(2**64 - 1)).tolist() == [False]
