"""Derivatives and threads: each thread has a tape of its own, and evaluations of any thread leave nothing out."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.errors import DerivativeError
from gpuarray.graph import tape

X = np.array([0.5, 1.0, 2.0])


@pytest.fixture(autouse=True)
def on_host() -> Iterator[None]:
    with xp.using(device="cpu"):
        yield


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.mark.parametrize("limit", [0, 4096])
def test_threads_differentiate_at_once(pool: ThreadPoolExecutor, limit: int) -> None:
    def slope(scale: int) -> Any:
        def fun(x: Any) -> Any:
            y = np.sin(x) * scale
            float(y.sum())
            y[0] = x[1]
            return (y * y).sum()

        with xp.using(direct_limit=limit):
            return [xp.grad(fun)(xp.asarray(X)).get() for _ in range(20)]

    for scale, result in enumerate(pool.map(slope, range(8))):
        expected = 2 * scale**2 * np.sin(X) * np.cos(X)
        expected[0] = 0
        expected[1] += 2 * X[1]
        np.testing.assert_allclose(result, [expected] * 20)
    assert not tape.state.tapes


@pytest.mark.parametrize("limit", [0, 4096])
def test_a_function_may_have_other_threads_compute(pool: ThreadPoolExecutor, limit: int) -> None:
    doubled = xp.jit(lambda x: x * 2)

    def read(x: Any) -> Any:
        y = x * x
        pool.submit(y.get).result()
        return y.sum()

    def recorded(x: Any) -> Any:
        return pool.submit(doubled, np.sin(x)).result().sum()

    def differentiated(x: Any) -> Any:
        return pool.submit(xp.grad(read), x).result().sum()

    with xp.using(direct_limit=limit):
        np.testing.assert_allclose(xp.grad(read)(xp.asarray(X)).get(), 2 * X)
        np.testing.assert_allclose(xp.grad(differentiated)(xp.asarray(X)).get(), np.full(3, 2.0))
        for _ in range(3):
            np.testing.assert_allclose(xp.grad(recorded)(xp.asarray(X)).get(), 2 * np.cos(X))


def test_rules_and_constants_hold_in_other_threads(pool: ThreadPoolExecutor) -> None:
    tenfold = xp.custom_vjp(lambda x: x * 1.0)
    tenfold.defvjp(lambda x: (x * 1.0, None), lambda _, ct: (ct * 10,))
    runs = []

    @xp.checkpoint
    def again(x: Any) -> Any:
        runs.append(1)
        return np.sin(x)

    def constant(x: Any) -> Any:
        return (x * pool.submit(xp.stop_gradient, x).result()).sum()

    def custom(x: Any) -> Any:
        return pool.submit(tenfold, x).result().sum()

    def checkpointed(x: Any) -> Any:
        return pool.submit(again, x).result().sum()

    np.testing.assert_allclose(xp.grad(constant)(xp.asarray(X)).get(), X)
    np.testing.assert_allclose(xp.grad(custom)(xp.asarray(X)).get(), np.full(3, 10.0))
    np.testing.assert_allclose(xp.grad(checkpointed)(xp.asarray(X)).get(), np.cos(X))
    assert len(runs) == 2


def test_values_that_another_thread_has_read_keep_their_derivatives(pool: ThreadPoolExecutor) -> None:
    def inner(x: Any) -> Any:
        y = x * 2
        assert float(y.sum()) > 0
        y[1:] *= 3
        assert float(y[1]) > 0
        return np.sin(y)

    expected = 2 * np.cos(2 * X)
    expected[1:] = 6 * np.cos(6 * X[1:])
    actual = xp.grad(lambda x: pool.submit(inner, x).result().sum())(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-5)


def test_a_fallback_in_another_thread_is_an_error(pool: ThreadPoolExecutor) -> None:
    with pytest.raises(DerivativeError, match="unique"):
        xp.grad(lambda x: pool.submit(np.unique, x).result().sum())(xp.asarray(X))
    assert not tape.state.tapes
