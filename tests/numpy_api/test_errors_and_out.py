"""Errors of NumPy's functions are NumPy's, and ``out=`` takes the result, ours or NumPy's."""

import operator

import numpy as np
import pytest
from numpy_samples import EMPTY, A, B, K, M, N, S, U, V

ERRORS = [
    (lambda p: np.sum(p(A), axis=2), np.exceptions.AxisError),
    (lambda p: np.min(p(EMPTY)), ValueError),
    (lambda p: np.max(p(A), where=p(M)), ValueError),
    (lambda p: np.sum(p(A), where=p(U)), TypeError),
    (lambda p: np.argmax(p(EMPTY)), ValueError),
    (lambda p: np.concatenate([]), ValueError),
    (lambda p: np.concatenate([p(A), p(V)]), ValueError),
    (lambda p: np.stack([p(A), p(V)]), ValueError),
    (lambda p: np.reshape(p(A), (5, 5)), ValueError),
    (lambda p: np.broadcast_to(p(A), (3, 5)), ValueError),
    (lambda p: np.squeeze(p(A), axis=0), ValueError),
    (lambda p: np.split(p(V), 5), ValueError),
    (lambda p: np.dot(p(A), p(A)), ValueError),
    (lambda p: np.tensordot(p(A), p(A), 1), ValueError),
    (lambda p: np.take(p(A), [99]), IndexError),
    (lambda p: np.take(p(A), p(V)), TypeError),
    (lambda p: np.moveaxis(p(A), 5, 0), np.exceptions.AxisError),
    (lambda p: np.average(p(V), weights=p(np.zeros(12))), ZeroDivisionError),
    (lambda p: np.einsum("ij,jk", p(A), p(A)), ValueError),
    (lambda p: np.nanargmax(p(np.full((2, 2), np.nan)), axis=0), ValueError),
    (lambda p: np.linalg.norm(p(V), "fro"), ValueError),
    (lambda p: np.gradient(p(V[:1])), ValueError),
    (lambda p: np.cumulative_sum(p(A)), ValueError),
    (lambda p: np.sum(p(A), axis=0, out=p(np.zeros(3))), ValueError),
    (lambda p: np.clip(p(A), 0, 1, out=p(np.zeros((3, 4), int))), TypeError),
    (lambda p: np.copyto(p(U), 300, where=M), OverflowError),
    (lambda p: np.copyto(p(U), -1, where=p(M), casting="unsafe"), OverflowError),
    (lambda p: p(M) ** -1, ValueError),
    (lambda p: np.sum(p(A > 0), initial=np.float64("nan")), ValueError),
    (lambda p: np.max(p(U), initial=300), OverflowError),
    (lambda p: p(U).min(initial=300), OverflowError),
]


@pytest.mark.parametrize("position", range(len(ERRORS)))
def test_errors_are_those_of_numpy(position, put):
    case, error = ERRORS[position]
    with pytest.raises(error):
        case(np.array)
    with pytest.raises(error):
        case(put)


OUTS = [
    (lambda p, out: np.sum(p(A * 3), axis=0, out=out), (4,), int),
    (lambda p, out: np.mean(p(A * 3), axis=0, out=out), (4,), int),
    (lambda p, out: np.add.accumulate(p(A * 3), out=out), (3, 4), np.int16),
    (lambda p, out: np.add.reduce(p(U * 30), axis=None, out=out), (), np.uint8),
    (lambda p, out: np.sum(p(A), axis=0, out=out), (4,), float),
    (lambda p, out: np.sum(p(K), axis=0, out=out), (4,), np.float32),
    (lambda p, out: np.max(p(A), 1, out), (3,), float),
    (lambda p, out: np.any(p(A), axis=1, out=out), (3,), float),
    (lambda p, out: np.argmax(p(A), axis=1, out=out), (3,), np.int64),
    (lambda p, out: np.mean(p(A), axis=1, out=out), (3,), float),
    (lambda p, out: np.std(p(A), axis=0, out=out), (4,), float),
    (lambda p, out: np.cumsum(p(A), axis=0, out=out), (3, 4), float),
    (lambda p, out: np.clip(p(A), -1, 1, out=out), (3, 4), float),
    (lambda p, out: np.round(p(A), 1, out=out), (3, 4), float),
    (lambda p, out: np.concatenate([p(A), p(B)], out=out), (6, 4), float),
    (lambda p, out: np.stack([p(A), p(B)], out=out), (2, 3, 4), float),
    (lambda p, out: np.dot(p(A), p(S), out=out), (3, 4), float),
    (lambda p, out: np.outer(p(V), p(V), out), (12, 12), float),
    (lambda p, out: np.take(p(A), [1, 2], axis=0, out=out), (2, 4), float),
    (lambda p, out: np.einsum("ij,kj->ik", p(A), p(B), out=out), (3, 3), float),
    (lambda p, out: np.nanmax(p(N), axis=0, out=out), (4,), float),
    (lambda p, out: np.median(p(A), axis=0, out=out), (4,), float),
    (lambda p, out: np.percentile(p(A), 30, 0, out), (4,), float),
]


@pytest.mark.parametrize("kind", ["ours", "numpy"])
@pytest.mark.parametrize("position", range(len(OUTS)))
def test_out_takes_the_result(position, kind, put, same):
    case, shape, dtype = OUTS[position]
    expected = np.full(shape, 9, dtype)
    case(np.array, expected)
    out = np.full(shape, 9, dtype)
    out = put(out) if kind == "ours" else out
    assert case(put, out) is out
    same(out if kind == "ours" else put(out), expected)


@pytest.mark.parametrize(
    "call", [operator.xor, np.bitwise_xor, np.gcd, np.arctan2], ids=["^", "bitwise_xor", "gcd", "arctan2"]
)
def test_dtypes_are_checked_before_shapes(call, put):
    kind = np.complex64 if call is np.arctan2 else np.float32
    for operands in (np.ones((4, 3), kind), np.ones(2, bool)), (put(np.ones((4, 3), kind)), put(np.ones(2, bool))):
        with pytest.raises(TypeError):
            call(*operands)
