"""Gradients of small values in host memory, which NumPy computes at once, are those that are recorded."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.autodiff.subgraph import Subgraph
from gpuarray.graph.nodes import Gather

X = np.array([0.3, -1.2, 0.0, 2.5, -0.7, 1.1])
A = np.random.default_rng(0).normal(size=(2, 3, 3))
C = X[:4] + 1j * X[2:]


@xp.custom_vjp
def _halved(x: Any) -> Any:
    return x / 2


_halved.defvjp(lambda x: (x / 2, None), lambda _, ct: (ct * 5,))


def _written(x: Any) -> Any:
    y = x * 2
    y[1:3] = x[:2] ** 2
    y[::2] += x[3:]
    np.add.at(y, np.array([0, 0, 4]), x[:3])
    return y * y


#: Functions with an array as the result, and where they are looked at.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "elementwise": (lambda x: np.sin(x) * np.exp(-x) / (2 + x * x) - x, X),
    "powers": (lambda x: x**2 + (x * x + 1) ** 1.5 + x**3.0, X),
    "branches": (lambda x: np.where(x > 0, np.sqrt(x), 0) + np.where(x < 1, x * 3, 1.0), X),
    "extremes": (lambda x: np.maximum(x, 0) + x.max() * x.min() * np.minimum(x, x[::-1]), X),
    "broadcast": (lambda a: a * a.sum(-1, keepdims=True) + a[0, 0] / (1 + a[..., :1] ** 2), A),
    "mean and variance": (lambda a: (a - a.mean(0)) / np.sqrt(a.var(1, keepdims=True) + 1), A),
    "views": (lambda x: x[1:] * x[:-1] + x[::-1][1:] ** 2 * x.reshape(2, 3).T.ravel()[:5], X),
    "diagonal": (lambda a: np.diagonal(a, axis1=1, axis2=2) ** 2, A),
    "windows": (lambda x: np.lib.stride_tricks.sliding_window_view(x, 3).sum(1) ** 2, X),
    "repeated": (lambda x: np.broadcast_to(x, (3, 6)) ** 2, X),
    "positions": (lambda x: x[np.array([2, 2, 5])] ** 2, X),
    "writes": (_written, X),
    "pieces": (lambda x: np.concatenate([x[:2], x * x, np.stack([x[0], x[5]])]), X),
    "products": (lambda a: a @ a.mT @ a[0], A),
    "solve": (lambda a: np.linalg.solve(a @ a.mT + np.eye(3), a), A),
    "symmetric matrices": (lambda a: np.linalg.cholesky(a @ a.mT + np.eye(3)) * np.linalg.eigh(a + a.mT)[1], A),
    "factors": (
        lambda a: np.linalg.qr(a)[0] * np.linalg.svd(a)[2] + np.linalg.inv(a) / (1 + abs(np.linalg.det(a)).sum()),
        A,
    ),
    "singular": (lambda a: np.linalg.det(a * np.array([1.0, 1.0, 0.0])), A),
    "eigenvalues": (
        lambda a: np.linalg.eigvalsh(a + a.mT) * np.linalg.svd(a, compute_uv=False) + np.linalg.qr(a, "r")[:, 0],
        A,
    ),
    "transforms": (lambda x: np.fft.irfft(np.fft.rfft(x) * 2j, n=7) + abs(np.fft.fft(x, n=7)), X),
    "sums": (lambda x: np.cumsum(x) * np.sort(x) * np.prod(x[3:]), X),
    "complex": (lambda c: abs(c * c + 1) + (c * np.conj(c)).real + np.angle(c + 2), C),
    "casts": (lambda x: x.astype(np.float32).astype(float) * np.floor(x) * (x > 0), X),
    "a rule of one's own": (lambda x: _halved(x) * x, X),
    "special functions": (lambda x: xp.special.gammaln(x * x + 1) * xp.special.erf(x), X),
    "a value that is read": (lambda x: x * x.sum() if float(x[0]) > 0 else x, X),
    "empty": (lambda x: x[:0], X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_at_once_are_those_that_are_recorded(name: str) -> None:
    fun, value = FUNCTIONS[name]
    result = []
    for limit in (4096, 0):
        with xp.using(device="cpu", direct_limit=limit):
            x = xp.asarray(value)
            slope = xp.grad(lambda x: (fun(x) * (1 + np.arange(fun(x).shape[-1] if fun(x).ndim else 1))).sum())(x)
            assert slope.dtype == x.dtype
            result.append(slope.get())
    np.testing.assert_allclose(*result, rtol=1e-6, atol=1e-9)  # as float32 sums differ in the last bit


def test_constants_and_calls_take_no_plan() -> None:
    def fun(x: Any) -> Any:
        matrix = x[:, None] * x + 3 * np.eye(6)
        weights = np.where(x > 0, np.arange(6.0), np.cumsum(x)[np.array([3, 3, 1, 0, 5, 5])])
        return (np.linalg.cholesky(matrix) @ weights).sum() + np.sort(x) @ weights

    with xp.using(device="cpu"):
        x = xp.asarray(X)
        xp.grad(fun)(x)
        xp.reset_stats()
        slope = xp.grad(fun)(x)
        assert (xp.stats()["plans"], xp.stats()["launches"]) == (0, 0)
        with xp.using(direct_limit=0):
            np.testing.assert_allclose(slope.get(), xp.grad(fun)(x).get(), rtol=1e-9)


def test_known_positions_are_one_node() -> None:
    with xp.using(device="cpu"):
        x, rows = xp.asarray(A), xp.asarray(np.array([1, 0, 1]))

        def parts(x: Any) -> Any:
            picked = (x[rows, 1:], x[:, rows[::2]], x[x > 0], x[..., [[0], [2]]], x.T[-rows])
            assert all(type(each._cell.node) is Gather for each in picked)
            with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 3"):
                x[:, np.array([7])]
            return sum((each**2).sum() for each in picked)

        slope = xp.grad(parts)(x)
        with xp.using(direct_limit=0):
            recorded = xp.grad(lambda x: sum((each**2).sum() for each in (
                x[rows, 1:], x[:, rows[::2]], x[x > 0], x[..., [[0], [2]]], x.T[-rows]
            )))(x)  # fmt: skip
        np.testing.assert_allclose(slope.get(), recorded.get(), rtol=1e-12)


def test_nothing_is_recorded_for_small_values() -> None:
    with xp.using(device="cpu"):
        x = xp.asarray(X)
        value, slope = xp.value_and_grad(lambda x: (x[1:] * x[:-1]).sum())(x)
        xp.reset_stats()
        slope.get()
        assert float(value) == pytest.approx((X[1:] * X[:-1]).sum())
        assert xp.stats()["launches"] == 0


def test_gradients_by_numbers_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subgraph, "repeated", lambda *_: pytest.fail("the derivative was recorded"))
    with xp.using(device="cpu"):
        for number in (0.5, xp.asarray(0.5), xp.full((), 0.5)):
            slope = xp.grad(lambda x: np.sin(x) * x**3)(number)
            assert float(slope) == pytest.approx(np.cos(0.5) * 0.125 + np.sin(0.5) * 0.75)
            first, second = xp.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(number, xp.asarray(X))
            assert float(first) == pytest.approx(X.sum())
            assert second.tolist() == [0.5] * 6


def test_gradients_share_no_memory() -> None:
    with xp.using(device="cpu"):
        x = xp.asarray(X)
        first, second = xp.grad(lambda a, b: (a + b).sum(), argnums=(0, 1))(x, x)
        first += 1
        assert second.tolist() == [1.0] * 6
        _, pullback = xp.vjp(lambda a: a.reshape(2, 3), x)
        ct = xp.ones((2, 3))
        (result,) = pullback(ct)
        result += 1
        assert ct.tolist() == [[1.0] * 3] * 2
        assert pullback(ct)[0].tolist() == [1.0] * 6


def test_parts_of_a_large_array_are_added_in_place() -> None:
    with xp.using(device="cpu"):
        x = xp.ones(100_000)
        slope = xp.grad(lambda x: sum(x[i] * x[i + 1] for i in range(10)) + (x[:100] ** 2).sum())(x)
        assert slope[:12].tolist() == [3.0] + [4.0] * 9 + [3.0, 2.0]
        assert not slope[100:].any()


def test_long_loops_over_small_values_compute_each_value_once() -> None:
    def fun(x: Any) -> Any:
        y = x
        for _ in range(300):
            y = y + 0.01 * np.sin(y)
        return (y * y).sum()

    with xp.using(device="cpu"):
        x = xp.asarray(X)
        xp.reset_stats()
        slope = xp.grad(fun)(x)
        assert xp.stats()["launches"] == 0
        assert xp.stats()["operations"] == 300 * 3 + 2
        with xp.using(direct_limit=0):
            np.testing.assert_allclose(slope.get(), xp.grad(fun)(x).get(), rtol=1e-9)


def test_large_values_of_long_loops_are_not_kept_as_small_ones() -> None:
    with xp.using(device="cpu", direct_limit=16):
        x = xp.ones(100)

        def fun(x: Any) -> Any:
            for _ in range(200):
                x = x * 1.01 + 0.01
            return x.sum()

        xp.reset_stats()
        slope = xp.grad(fun)(x)
        np.testing.assert_allclose(slope.get(), np.full(100, 1.01**200))
        assert xp.stats()["launches"] > 0


@pytest.mark.parametrize(
    "fun",
    [
        lambda a, b: (a + b).sum(),
        lambda a, b: (np.sin(a) * b + b).sum(),
        lambda a, b: (a.reshape(-1)[::-1] * b.T.reshape(-1)).sum() + a[0] @ b[1],
        lambda a, b: np.cumsum(a).sum() + np.concatenate([a, b]).sum(),
    ],
)
def test_gradients_of_programs_share_no_memory(fun: Any) -> None:
    host = np.random.default_rng(0).standard_normal((2, 3, 4))
    with xp.using(device="cpu"):
        a, b = map(xp.asarray, host)
        expected = [slope.get() for slope in xp.grad(fun, (0, 1))(a, b)]
        first, second = xp.grad(fun, (0, 1))(a, b)
        first += 100
        np.testing.assert_array_equal(second.get(), expected[1])
        np.testing.assert_array_equal(first.get(), expected[0] + 100)
        seed = xp.ones((3, 4))
        _, pullback = xp.vjp(lambda a: a + b, a)
        (pulled,) = pullback(seed)
        pulled[...] = 7
        assert (seed == 1).all()
        assert (pullback(seed)[0] == 1).all()
        np.testing.assert_array_equal(np.stack([a.get(), b.get()]), host)
