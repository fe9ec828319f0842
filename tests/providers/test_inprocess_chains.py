"""Chains of elementwise operations in C: each bit is that of NumPy's functions, called one after the other."""

import shutil

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.ops import references
from gpuarray.ops.compiled import CHAINS
from gpuarray.providers.inprocess import chains
from gpuarray.providers.inprocess.loops import PreparedLoop
from gpuarray.runtime import evaluate

pytestmark = pytest.mark.skipif(shutil.which("cc") is None and CHAINS is None, reason="there is no C compiler")

PROGRAMS = {
    "arithmetic": lambda n, x, y: ((x + y) * x - 2) / (y * y + 1) + x,
    "functions": lambda n, x, y: n.exp(-(x * x)) * n.sin(y) + n.sqrt(abs(x)),
    "selections": lambda n, x, y: n.where(x > y, x, n.where(y > 0.5, y - 1, -x)),
    "truths": lambda n, x, y: (x > 0.2) & (y < 0.8) | n.isnan(x * y),
    "limits": lambda n, x, y: n.clip(x - y, -0.5, 0.5) + n.maximum(x, 0),
    "columns and rows": lambda n, x, y: (x - y[:, :1]) * y[0] + x[:, 3:4] * 2,
    "every other": lambda n, x, y: (x[::2, ::-1] + y[1::2]) * x[1::2, ::-1],
    "transposed": lambda n, x, y: (x.T * 2 + y.T).T - y,
    "folds": lambda n, x, y: n.exp(x - x.max(1, keepdims=True)) * 2 + y.min(0),
    "a write": lambda n, x, y: _write(x * 1, y * 2 + x),
}
DTYPES = (np.float16, np.float32, np.float64, np.complex64, np.complex128, np.int8, np.int32, np.int64, np.uint8)

#: Programs that compare numbers, which complex ones do not.
ORDERED = ("selections", "truths", "limits", "folds")


def _write(target, values):
    target[2:] = values[2:] + target[2:] * 3
    return target


def both(program, *arrays):
    with xp.using(device="cpu", direct_limit=0), np.errstate(all="ignore"):
        return np.asarray(program(xp, *(xp.asarray(x) for x in arrays))), program(np, *arrays)


def text_of(x):
    planned = evaluate.plan_of((x.node(),), x.device)
    assert planned is not None
    return "".join(PreparedLoop(one.step).describe() for one in planned[0].plan.steps)


def test_the_module_is_there():
    assert CHAINS is not None


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in PROGRAMS for dtype in DTYPES if np.dtype(dtype).kind != "c" or name not in ORDERED],
)
@pytest.mark.parametrize("shape", [(3000, 70), (40, 5), (2, 9000)])
def test_bits_are_numpys(name, dtype, shape):
    rng = np.random.default_rng(5)
    x, y = (rng.normal(0, 2, (*shape, 2)).astype(dtype)[..., 0] for _ in range(2))
    x[0], y[:, -1] = 0, 1
    actual, expected = both(PROGRAMS[name], x, y)
    assert actual.dtype == expected.dtype
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("source", [np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("target", [np.uint8, np.int16, np.int64, np.float32, np.float64])
def test_conversions(source, target):
    x = np.array([0, 1, 100, 127, 7] * 400).astype(source)[::2]
    actual, expected = both(lambda n, x: (x + x).astype(target) + (x * x).astype(target), x)
    np.testing.assert_array_equal(actual, expected, strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3000, 7), (2, 9000), (1,)])
def test_products_with_derivatives_are_those_of_the_reference(dtype, shape):
    rng = np.random.default_rng(5)
    x, y = (rng.choice([0.0, -0.0, np.inf, np.nan, 2.5, -1e-30, 1e30], shape).astype(dtype) for _ in range(2))
    numbers = np.dtype(dtype)
    product = CHAINS.make(3, 0, [("multiply_no_nan", (numbers,) * 3, (0, 1, 2))])
    for one, other in ((x, y), (x[::-1], y), (x[:1], y), (x, y[:, -1:] if y.ndim > 1 else y)):
        actual, expected = np.empty_like(x), np.empty_like(x)
        product(one, other, actual)
        with np.errstate(all="ignore"):
            references.multiply_no_nan(one, other, out=expected)
        assert actual.view(f"u{numbers.itemsize}").tobytes() == expected.view(f"u{numbers.itemsize}").tobytes()
        assert not np.signbit(actual[actual == 0]).any()


def test_numbers_and_values_of_rows_are_computed_by_chains():
    x = np.linspace(-1, 1, 12).reshape(3, 4)

    def program(n, x):
        scale = x[0, 1] * 3 + x[1, 2] - 1
        rows = n.exp(x.sum(1)) * scale + 2
        return (x * rows[:, None] - scale) * 2

    actual, expected = both(program, x)
    assert actual.tobytes() == expected.tobytes()
    with xp.using(device="cpu", direct_limit=0):
        one = xp.asarray(x)
        assert text_of((one[0, 1] * 3 + one[1, 2] - 1) * one[2, 2]).count("chain_") == 1
        slope = xp.grad(lambda x: np.sin(x[0, 1]) * np.exp(x[1, 1] * x[0, 0]))(one)
        assert "= multiply_no_nan(" in text_of(slope)


def test_long_chains_are_cut():
    x = np.linspace(0, 1, 5000)

    def program(n, x):
        for k in range(100):
            x = x * 0.5 + k
        return x

    actual, expected = both(program, x)
    np.testing.assert_array_equal(actual, expected)


def test_values_of_many_widths_at_once():
    def program(n, x):
        truths = [x > k for k in range(6)]
        parts = [n.where(each, x, k) for k, each in enumerate(truths)]
        return sum(parts, x) * sum((each.astype(n.float32) for each in truths), 1)

    actual, expected = both(program, np.linspace(-1, 8, 3333))
    np.testing.assert_array_equal(actual, expected)


def test_errors_of_loops_are_raised():
    with xp.using(device="cpu", direct_limit=0):
        x = xp.asarray(np.arange(2000) - 1000)
        with pytest.raises(ValueError, match="negative integer powers"):
            np.asarray((x + 1) ** (x * 2))


def test_text_has_the_operations_of_a_chain():
    with xp.using(device="cpu", direct_limit=0):
        x = xp.asarray(np.ones(5000))
        text = text_of(x * 3 + x)
    assert "# v0 = multiply(x0, c1)\n    # y0 = add(v0, x0)\n    chain_3(x0, c1, y0)" in text


def test_without_the_module_there_are_single_calls(monkeypatch):
    monkeypatch.setattr(chains, "CHAINS", None)
    chains.covers.cache_clear()
    with xp.using(device="cpu", direct_limit=0):
        x = xp.asarray(np.ones(5001))
        assert "chain" not in text_of(x * 5 + x)
    chains.covers.cache_clear()


def test_arrays_that_do_not_fit_are_refused():
    assert CHAINS is not None
    double = np.dtype(np.float64)
    one = CHAINS.make(3, 0, [(np.add, (double,) * 3, (0, 1, 2))])
    x = np.ones(4)
    with pytest.raises(ValueError, match="broadcast"):
        one(x, np.ones(3), x)
    with pytest.raises(TypeError, match="3 arrays"):
        one(x, x)
    with pytest.raises(TypeError, match="aligned"):
        one(x, x, np.ones(33, np.int8)[1:].view(np.float64))
    for operations in ([(np.add, (double,) * 3, (0, 1, 3))], [(np.add, (double,) * 2, (0, 1))], [("convert", (), ())]):
        with pytest.raises(ValueError, match="no such operation"):
            CHAINS.make(3, 0, operations)
