"""Reductions in-process of many rows with few elements each, which are reduced as fewer rows of many."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.ops import row_sums
from gpuarray.testing import assert_same

pytestmark = pytest.mark.usefixtures("planned")


@pytest.fixture
def planned():
    with xp.using(device="cpu", direct_limit=0):
        yield


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(63, 3), (64, 1), (65, 8), (4097, 5), (300_001, 2), (5000, 64), (5000, 65)], ids=str)
def test_folds_along_the_first_axis(dtype, shape):
    host = (np.random.default_rng(1).standard_normal(shape) * 2).astype(dtype)
    x = xp.asarray(host)
    for name in ("max", "min", "any") if host.dtype.kind != "c" else ("any",):
        assert_same(getattr(np, name)(x, axis=0), getattr(np, name)(host, axis=0))
    sums, expected = np.sum(x, axis=0), np.sum(host, axis=0)
    assert sums.dtype == expected.dtype
    if host.dtype.kind not in "fc":
        assert_same(sums, expected)
        assert_same(np.prod(x, axis=0), np.prod(host, axis=0))
    else:
        exact = host.astype(np.result_type(dtype, np.float64))
        error = np.abs(np.asarray(sums) - exact.sum(axis=0))
        assert np.all(error <= 16 * np.finfo(dtype).eps * np.abs(exact).sum(axis=0))


def test_special_values():
    host = np.zeros((5000, 6), np.float32)
    host[4000, 1], host[10, 2], host[4999, 3], host[:, 4] = np.nan, np.inf, -np.inf, -0.0
    x = xp.asarray(host)
    for name in ("sum", "max", "min"):
        assert_same(getattr(np, name)(x, axis=0), getattr(np, name)(host, axis=0))


def test_several_axes_and_programs():
    host = np.random.default_rng(2).standard_normal((70, 90, 2, 3))
    x = xp.asarray(host)
    np.testing.assert_allclose((np.exp(x) * 2).sum(axis=(0, 1)), (np.exp(host) * 2).sum(axis=(0, 1)), rtol=1e-13)
    weights = np.linspace(0, 1, 90 * 70)
    table = host[:, :, 0].reshape(-1, 3)
    actual = (0.5 * xp.asarray(table).T) @ xp.asarray(weights)
    np.testing.assert_allclose(actual, (0.5 * table.T) @ weights, rtol=1e-12)


@pytest.mark.parametrize("shape", [(64, 2), (5000, 8), (300, 40, 8), (4097, 100), (100, 1000), (70, 3, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_have_weights_are_added_by_products(shape, dtype):
    depth = len(shape) - 1 if shape[0] == 300 else 1
    generator = np.random.default_rng(4)
    rows = generator.standard_normal(shape).astype(dtype)
    weights = generator.standard_normal((*shape[:depth], *[1] * (len(shape) - depth))).astype(dtype)
    expected = (rows.astype(float) * weights).sum((*range(depth),), keepdims=True)
    for one in (weights, np.broadcast_to(weights, shape)):
        for factors in ((rows, one), (one, rows)):
            sums = row_sums.add_products(*factors, (*range(depth),), None)
            assert sums is not None
            assert (sums.shape, sums.dtype) == (expected.shape, dtype)
            scale = np.abs(rows * weights).sum((*range(depth),), keepdims=True)
            assert np.all(np.abs(sums - expected) <= 16 * np.finfo(dtype).eps * scale)


def test_rows_whose_weights_differ_along_them_are_not():
    rows = np.ones((100, 8))
    assert row_sums.add_products(rows, rows, (0,), None) is None
    assert row_sums.add_products(rows[:, ::2], np.ones((100, 1)), (0,), None) is None


def test_a_product_of_a_transposed_array_with_a_prologue_is_one_step():
    generator = np.random.default_rng(5)
    x, v = generator.standard_normal((30_000, 8)), generator.standard_normal(30_000)
    with xp.using(device="cpu", direct_limit=0):
        product = (0.5 * xp.asarray(x).T) @ (xp.asarray(v) - 1)
        assert len(xp.explain(product).steps) == 1
        assert np.allclose(product.get(), (0.5 * x.T) @ (v - 1), rtol=1e-12)
