"""Manipulation, linear algebra, searching, sorting and sets against NumPy."""

from typing import Any

import numpy as np
import pytest
from support import both, values

import gpuarray as xp
from gpuarray.testing import assert_same

SAME = {
    "expand_dims": lambda p, a: p.expand_dims(a, axis=(0, -1)),
    "flip": lambda p, a: p.flip(a),
    "flip of an axis": lambda p, a: p.flip(a, axis=1),
    "moveaxis": lambda p, a: p.moveaxis(a, 0, -1),
    "moveaxis of two": lambda p, a: p.moveaxis(a, (0, 1), (2, 0)),
    "permute_dims": lambda p, a: p.permute_dims(a, (2, 0, 1)),
    "matrix_transpose": lambda p, a: p.matrix_transpose(a),
    "reshape": lambda p, a: p.reshape(a, (4, -1)),
    "reshape of a transpose": lambda p, a: p.reshape(a.T, (4, 6)),
    "reshape in Fortran order": lambda p, a: p.reshape(a, (6, 4), order="F"),
    "roll": lambda p, a: p.roll(a, 5),
    "roll of axes": lambda p, a: p.roll(a, (1, -2), axis=(0, 2)),
    "roll far": lambda p, a: p.roll(a, 11, axis=1),
    "roll of two axes by one shift": lambda p, a: p.roll(a, 1, axis=(0, 1)),
    "repeat": lambda p, a: p.repeat(a, 3),
    "repeat along an axis": lambda p, a: p.repeat(a, 2, axis=1),
    "repeat by counts": lambda p, a: p.repeat(a, p.asarray([0, 2, 1]), axis=1),
    "tile": lambda p, a: p.tile(a, (2, 1, 2, 1)),
    "tile by a number": lambda p, a: p.tile(a, 2),
    "squeeze": lambda p, a: p.squeeze(a[:1, :, None], axis=(0, 2)),
    "concat": lambda p, a: p.concat([a, a[:, :2], p.asarray(a, dtype="float64")], axis=1),
    "concat of all": lambda p, a: p.concat([a, a[0]], axis=None),
    "stack": lambda p, a: p.stack([a, a + 1], axis=-1),
    "broadcast_to": lambda p, a: p.broadcast_to(a[0], (5, 3, 4)),
    "swapaxes": lambda p, a: a.swapaxes(0, -1),
    "trace": lambda p, a: p.asarray(a[0].trace()),
    "diagonal": lambda p, a: a.diagonal(1, 0, 2),
    "ravel": lambda p, a: a.T.ravel(),
    "ravel in memory order": lambda p, a: a.T.ravel("K"),
    "flatten": lambda p, a: a.flatten("F"),
}


@pytest.mark.parametrize("name", SAME)
def test_manipulation(name: str, device: Any) -> None:
    host, x = both(values((2, 3, 4), np.float32))
    assert_same(SAME[name](xp, x), SAME[name](np, host))


def test_broadcast_arrays_of_one_shape_are_the_arrays(device: Any) -> None:
    x, y = xp.ones(3, device=device), xp.zeros(3, device=device)
    first, second = xp.broadcast_arrays(x, y)
    assert first is x
    second[1] = 5
    np.testing.assert_array_equal(np.asarray(y), [0, 5, 0])


def test_unstack_and_broadcast_arrays(device: Any) -> None:
    host, x = both(values((2, 3), np.float32))
    for axis in (0, 1):
        for part, expected in zip(xp.unstack(x, axis=axis), np.unstack(host, axis=axis), strict=True):
            assert_same(part, expected)
    for part, expected in zip(xp.broadcast_arrays(x, x[0], 2), np.broadcast_arrays(host, host[0], 2), strict=True):
        assert_same(part, expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: xp.reshape(a, (5, 5)), ValueError),
        (lambda a: xp.reshape(a, (-1, -1)), ValueError),
        (lambda a: xp.reshape(a.T, -1, copy=False), ValueError),
        (lambda a: xp.squeeze(a, axis=0), ValueError),
        (lambda a: xp.concat([]), ValueError),
        (lambda a: xp.concat([a, a[0]]), ValueError),
        (lambda a: xp.concat([a, a[:, :, :2]]), ValueError),
        (lambda a: xp.concat([xp.asarray(1)]), ValueError),
        (lambda a: xp.stack([a, a[0]]), ValueError),
        (lambda a: xp.stack([]), ValueError),
        (lambda a: xp.broadcast_to(a, (3, 3)), ValueError),
        (lambda a: xp.permute_dims(a, (0, 0, 1)), ValueError),
        (lambda a: xp.permute_dims(a, (0, 1)), ValueError),
        (lambda a: xp.expand_dims(a, axis=5), np.exceptions.AxisError),
        (lambda a: xp.moveaxis(a, 0, 7), np.exceptions.AxisError),
        (lambda a: xp.repeat(a, -1), ValueError),
        (lambda a: xp.repeat(a, [1, 2], axis=1), ValueError),
        (lambda a: xp.repeat(a, 1.5), TypeError),
        (lambda a: xp.roll(a, (1, 2), axis=(0, 1, 2)), ValueError),
        (lambda a: xp.matrix_transpose(a[0, 0]), ValueError),
        (lambda a: xp.unstack(xp.asarray(1)), ValueError),
        (lambda a: xp.tile(a, 2**60), ValueError),
        (lambda a: a + a[:, :2], ValueError),
        (lambda a: a @ a, ValueError),
        (lambda a: a @ 2, ValueError),
        (lambda a: xp.tensordot(a, a, axes=1), ValueError),
        (lambda a: xp.vecdot(a, a[..., :2]), ValueError),
        (lambda a: a & a, TypeError),
        (lambda a: xp.add(a, "text"), TypeError),
        (lambda a: a + "text", TypeError),
        (lambda a: a + None, TypeError),
        (lambda a: xp.add(a, object()), TypeError),
    ],
)
def test_errors(call: Any, error: type[Exception]) -> None:
    x = xp.zeros((2, 3, 4))
    with pytest.raises(error):
        call(x)
    assert_same(x, np.zeros((2, 3, 4)))


PRODUCTS = [
    ((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
    ((0, 4), (4, 2)), ((3, 0), (0, 2)), ((1, 1), (1, 1)), ((17, 33), (33, 9)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool", "complex64", "uint8"])
@pytest.mark.parametrize(("first", "second"), PRODUCTS, ids=str)
def test_matmul(first: Any, second: Any, dtype: str, device: Any) -> None:
    a, b = values(first, dtype), values(second, dtype, seed=1)
    assert_same(xp.asarray(a) @ xp.asarray(b), a @ b, ulp=8)


def test_products(device: Any) -> None:
    a, b = values((3, 4, 5), np.float32), values((4, 5, 2), np.float32)
    x, y = xp.asarray(a), xp.asarray(b)
    assert_same(xp.tensordot(x, y), np.tensordot(a, b), ulp=8)
    assert_same(xp.tensordot(x, y, axes=((1,), (0,))), np.tensordot(a, b, axes=((1,), (0,))), ulp=8)
    assert_same(xp.tensordot(x, y, axes=0), np.tensordot(a, b, axes=0))
    assert_same(xp.vecdot(x, x), np.vecdot(a, a), ulp=8)
    assert_same(xp.vecdot(x[:, :, 0], y[:, 0, :1].T, axis=-1), np.vecdot(a[:, :, 0], b[:, 0, :1].T), ulp=8)
    c = values((3, 4), np.complex64)
    assert_same(xp.vecdot(xp.asarray(c), xp.asarray(c), axis=0), np.vecdot(c, c, axis=0), ulp=8)
    assert_same(x.T @ x.T.mT, a.T @ a.T.mT, ulp=8)
    assert_same(x[0].dot(y[:, :, 0].T), a[0].dot(b[:, :, 0].T), ulp=8)
    assert_same(a[0] @ y[:, :, 0].T, a[0] @ b[:, :, 0].T, ulp=8)
    assert_same(xp.outer(x[0, 0], y[0, 0]), np.outer(a[0, 0], b[0, 0]))
    square = xp.asarray(a[0, :, :4])
    square @= square
    assert_same(square, a[0, :, :4] @ a[0, :, :4], ulp=8)


def test_searching(device: Any) -> None:
    host, x = both(values((4, 5), np.int32))
    for actual, expected in zip(xp.nonzero(x > 2), np.nonzero(host > 2), strict=True):
        assert_same(actual, expected)
    for actual, expected in zip(x.nonzero(), host.nonzero(), strict=True):
        assert_same(actual, expected)
    assert_same(xp.argwhere(x), np.argwhere(host))
    assert_same(xp.flatnonzero(x), np.flatnonzero(host))
    assert_same(xp.where(x > 0)[0], np.where(host > 0)[0])
    line = np.sort(host.ravel())
    for side in ("left", "right"):
        assert_same(xp.searchsorted(xp.asarray(line), x, side=side), np.searchsorted(line, host, side=side))
    with pytest.raises(ValueError, match="0d"):
        xp.nonzero(xp.asarray(1))


def test_sorting(device: Any) -> None:
    host, x = both(np.append(values(30, np.float32), np.nan).astype(np.float32))
    assert_same(xp.sort(x), np.sort(host))
    assert_same(xp.argsort(x), np.argsort(host, stable=True))
    assert_same(xp.sort(x[:-1], descending=True), np.sort(host[:-1])[::-1])
    matrix = values((4, 5), np.int64)
    assert_same(xp.sort(xp.asarray(matrix), axis=0), np.sort(matrix, axis=0))
    order = xp.argsort(xp.asarray([1, 0, 1, 0]), descending=True)
    assert order.tolist() == [0, 2, 1, 3]
    x.sort()
    assert_same(x, np.sort(host))


def test_sets(device: Any) -> None:
    host, x = both(values((4, 5), np.int32))
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        for actual, expected in zip(getattr(xp, name)(x), getattr(np, name)(host), strict=True):
            assert_same(actual, expected)
    assert sorted(xp.unique_values(x).tolist()) == sorted(np.unique_values(host).tolist())
