"""Rows of a few elements, which are computed column by column: each bit is NumPy's."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.providers.inprocess.loops import PreparedLoop
from gpuarray.runtime import evaluate

CASES = {
    "sum": lambda n, x: x.sum(-1),
    "product": lambda n, x: n.prod(x, -1),
    "extremes": lambda n, x: x.max(-1) - x.min(-1),
    "truths": lambda n, x: n.any(x > 1, -1) ^ n.all(x > 0, -1),
    "integers": lambda n, x: n.sum(n.floor(x).astype(n.int32), -1),
    "row of weights": lambda n, x: (x * x[0]).sum(-1),
    "two folds": lambda n, x: (x * x[0]).sum(-1) + x.max(-1),
    "unit vectors": lambda n, x: x / n.sqrt((x * x).sum(-1, keepdims=True)),
    "middle axis": lambda n, x: (x[: len(x) // 5 * 5].reshape(5, -1, x.shape[-1]) * x[:1]).sum(1),
    "every other column": lambda n, x: x[:, ::2].sum(-1),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("columns", [2, 3, 7, 8])
def test_bits_are_numpys(name, dtype, columns):
    x = np.random.default_rng(3).normal(size=(30_000, columns)).astype(dtype)
    x[::5] = 1 - x[::5]
    if name == "sum":
        x[1::5] = -0.0
    with xp.using(device="cpu", direct_limit=0):
        actual = CASES[name](xp, xp.asarray(x))
    expected = CASES[name](np, x)
    if dtype is np.float16 or name == "middle axis":  # which NumPy adds in another precision, or in another order
        xp.testing.assert_same(actual, expected, ulp=64)
    else:
        np.testing.assert_array_equal(
            np.asarray(actual).view(f"u{actual.dtype.itemsize}"), expected.view(f"u{expected.dtype.itemsize}")
        )


def test_columns_come_first_where_a_row_is_repeated():
    x = xp.asarray(np.ones((100_000, 3)), device="cpu")
    with xp.using(device="cpu", direct_limit=0):
        planned = evaluate.plan_of(((x * x[0]).sum(-1).node(),), x.device)
    assert planned is not None
    text = "".join(PreparedLoop(one.step).describe() for one in planned[0].plan.steps)
    assert text.startswith("# 3 x 100000 elements in")
