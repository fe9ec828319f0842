"""Sums of products in-process: BLAS multiplies and adds tiles whose rows it can read."""

import numpy as np
import pytest

import gpuarray as xp

pytestmark = pytest.mark.usefixtures("planned")

ROWS = np.random.default_rng(0).normal(size=(300, 1030))

CASES = {
    "all elements": lambda np, x, y: (x * y).sum(),
    "squares": lambda np, x, y: np.square(x - y).mean(),
    "rows": lambda np, x, y: (x * y).sum(axis=1),
    "rows and one row": lambda np, x, y: (x * y[3]).sum(axis=1),
    "rows and a number a row": lambda np, x, y: (x * y[:, :1]).sum(axis=1),
    "columns": lambda np, x, y: (x * y).sum(axis=0),
    "short rows": lambda np, x, y: (x[:, :5] * y[:, :5]).sum(axis=1),
    "gaps": lambda np, x, y: (x[:, ::2] * y[:, ::-2]).sum(),
    "transposed": lambda np, x, y: (x.T * y.T).sum(axis=0),
    "a computed factor": lambda np, x, y: ((x + 1) * np.exp(-(y * y))).sum(axis=1, keepdims=True),
    "a product that is read again": lambda np, x, y: (x * y).sum() + (x * y).max(),
    "two sums of one factor": lambda np, x, y: (x * y).sum(axis=1) + (x * x).sum(axis=1),
    "the norm": lambda np, x, y: np.linalg.norm(x),
    "no elements": lambda np, x, y: (x[:0] * y[:0]).sum(),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
@pytest.mark.parametrize("name", CASES)
def test_sums_of_products(name, dtype):
    x, y = ((ROWS * scale).astype(dtype) for scale in (3, 7))
    exact = [array.astype({"f": float, "i": int, "c": complex}[array.dtype.kind]) for array in (x, y)]
    actual = CASES[name](xp, *(xp.asarray(array, device="cpu") for array in (x, y)))
    desired = np.asarray(CASES[name](np, *exact))
    assert actual.dtype == np.asarray(CASES[name](np, x[:9], y[:9])).dtype
    scale = np.abs(desired).max(initial=1)
    np.testing.assert_allclose(actual.get(), desired, rtol=1e-5, atol=(0 if dtype == "int32" else 3e-6) * scale)


def test_infinities_and_nan_stay():
    x = np.ones((2, 2000))
    x[0, 7], x[1, 9] = np.inf, np.nan
    result = (xp.asarray(x, device="cpu") * xp.asarray(x[::-1], device="cpu")).sum(axis=1)
    np.testing.assert_array_equal(result.get(), [np.nan, np.nan])
    assert (xp.asarray(x[0], device="cpu") ** 2).sum() == np.inf
