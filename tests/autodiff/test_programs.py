"""Random NumPy programs have the derivatives that differences of NumPy's own values show."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpuarray as xp

EXTENT = 6
_STEP = 1e-6
_POSITIONS = np.array([0, 3, 3, 1, 5, 0])
_WEIGHTS = np.linspace(-0.7, 1.1, EXTENT)


def _write_part(p: Any, q: Any) -> None:
    p[1:4] = q[2:5] * 0.5


def _write_reversed(p: Any, q: Any) -> None:
    p[::-2] += q[::2]


def _write_positions(p: Any, q: Any) -> None:
    p[_POSITIONS[1:4]] = q[:3]


def _write_mask(p: Any, q: Any) -> None:
    p[q > 0.3] = 0.25


def _write_element(p: Any, q: Any) -> None:
    p[2] = p[1] * q[-1]


def _scale_in_place(p: Any, q: Any) -> None:
    p *= 0.5 + np.cos(q)


def _write_to_view(p: Any, q: Any) -> None:
    view = p.reshape(2, 3).T
    view[1] -= q[:2]


def _add_at(p: Any, q: Any) -> None:
    np.add.at(p, _POSITIONS, q * 0.3)


def _read(p: Any, q: Any) -> None:
    assert np.isfinite(float(p.sum()))


def _choose(p: Any, q: Any) -> Any:
    return np.where(p > q + 0.01, np.sqrt(np.abs(p - q) + 0.1), q * p)


#: What is done to two of the vectors so far; what is returned is one more, and None is a write.
STEPS: list[Callable[[Any, Any], Any]] = [
    _write_part,
    _write_reversed,
    _write_positions,
    _write_mask,
    _write_element,
    _scale_in_place,
    _write_to_view,
    _add_at,
    _read,
    _read,
    _choose,
    lambda p, q: p + q,
    lambda p, q: np.sin(p) * q,
    lambda p, q: p / (1.5 + q * q),
    lambda p, q: p[::-1],
    lambda p, q: p[_POSITIONS],
    lambda p, q: np.concatenate([p[3:], q[:3]]),
    lambda p, q: np.cumsum(p) * 0.3,
    lambda p, q: p - p.mean(),
    lambda p, q: np.tanh(np.outer(p, q)) @ _WEIGHTS,
    lambda p, q: p.max() * q,
    lambda p, q: np.prod(p[:3] + 1) * q * 0.1,
    lambda p, q: np.sort(p),
    lambda p, q: np.clip(p, -0.81, 0.79),
    lambda p, q: np.stack([p, q]).reshape(2, 3, 2).sum(0).reshape(-1),
    lambda p, q: p.copy(),
    lambda p, q: np.exp(-np.abs(p)) + 0 * q,
]


def program(seed: int, steps: Sequence[Callable[[Any, Any], Any]] = STEPS) -> Callable[[Any], Any]:
    """Return a function of a vector."""
    choose = random.Random(seed)
    chosen = [(choose.choice(steps), choose.randrange(99), choose.randrange(99)) for _ in range(choose.randint(2, 9))]

    def function(x: Any) -> Any:
        vectors = [x * 1.0, np.cos(x)]
        for step, first, second in chosen:
            made = step(vectors[first % len(vectors)], vectors[second % len(vectors)])
            if made is not None:
                vectors.append(made)
        return sum((vector * (_WEIGHTS + number)).sum() for number, vector in enumerate(vectors))

    return function


def _is_smooth(function: Callable[[Any], Any], x: Any, direction: Any) -> bool:
    """Return whether differences on both sides agree: no branch is taken within a step."""
    before, here, after = (function(x + step * direction) for step in (-10 * _STEP, 0, 10 * _STEP))
    return bool(np.isclose(after - here, here - before, rtol=1e-3, atol=1e-8))


@settings(max_examples=120)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from([0, 4096]), is_forward=st.booleans())
def test_random_programs_agree_with_differences(seed: int, limit: int, is_forward: bool) -> None:
    host = np.random.default_rng(seed)
    x, direction = host.uniform(-1, 1, (2, EXTENT))
    function = program(seed)
    if not _is_smooth(function, x, direction):
        return
    expected = (function(x + _STEP * direction) - function(x - _STEP * direction)) / (2 * _STEP)
    with xp.using(device="cpu", direct_limit=limit):
        if is_forward:
            result = float(xp.jvp(function, (xp.asarray(x),), (xp.asarray(direction),))[1])
        else:
            result = float(xp.grad(function)(xp.asarray(x)).get() @ direction)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_second_derivatives_of_random_programs(seed: int) -> None:
    host = np.random.default_rng(seed)
    x, direction = host.uniform(-1, 1, (2, EXTENT))
    gradient = xp.grad(program(seed))

    def at(point: Any) -> Any:
        return gradient(xp.asarray(point)).get()

    with xp.using(device="cpu"):
        if not _is_smooth(lambda point: at(point).sum(), x, direction):
            return
        expected = (at(x + _STEP * direction) - at(x - _STEP * direction)) / (2 * _STEP)
        result = xp.hessian(program(seed))(xp.asarray(x)).get()
    np.testing.assert_allclose(result @ direction, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result, result.T, rtol=1e-9, atol=1e-9)


#: Reads, and masks as indices, need values.
_WITH_VALUES = (_read,)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from([0, 4096]), is_gradient=st.booleans())
def test_batches_of_random_programs_agree_with_loops(seed: int, limit: int, is_gradient: bool) -> None:
    function = program(seed, [step for step in STEPS if step not in _WITH_VALUES])
    batch = np.random.default_rng(seed).uniform(-1, 1, (3, EXTENT))
    if is_gradient:
        function = xp.grad(function)
    with xp.using(device="cpu", direct_limit=limit):
        result = xp.vmap(function)(xp.asarray(batch))
        expected = np.stack([function(xp.asarray(x)).get() for x in batch])
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_of_batches_of_random_programs(seed: int) -> None:
    function = program(seed, [step for step in STEPS if step not in _WITH_VALUES])
    batch = xp.asarray(np.random.default_rng(seed).uniform(-1, 1, (3, EXTENT)), device="cpu")
    result = xp.grad(lambda x: (xp.vmap(function)(x) ** 2).sum())(batch)
    expected = xp.grad(lambda x: sum(function(one) ** 2 for one in x))(batch)
    np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-10)
    nested = xp.vmap(xp.vmap(function, in_axes=1), in_axes=0)(xp.stack([batch.T, 2 * batch.T]))
    np.testing.assert_allclose(nested[1], xp.vmap(function)(2 * batch), rtol=1e-9, atol=1e-12)


def _layers(n: int, weights: Any) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        for _ in range(n):
            x = np.tanh(x @ weights)
        return x.sum()

    return function


def _orbit(n: int) -> Callable[[Any], Any]:
    def function(v: Any) -> Any:
        a, b, c = v
        for _ in range(n):
            a, b, c = a + 0.01 * (b - a), b + 0.01 * (a * (2 - c) - b), c + 0.01 * (a * b - c)
        return (a * a + b * b + c * c).sum()

    return function


def test_long_programs_take_launches_and_operations_in_proportion() -> None:
    weights = np.random.default_rng(0).standard_normal((8, 8)) / 3
    with xp.using(device="cpu", direct_limit=0):
        x = xp.asarray(np.random.default_rng(1).standard_normal((3, 8)))
        for make, most in ((lambda n: _layers(n, xp.asarray(weights)), 2.4), (_orbit, 0.5)):
            for n in (60, 120):
                xp.grad(make(n))(x)
                xp.reset_stats()
                xp.grad(make(n))(x).get()
                assert xp.stats()["launches"] < most * n


@pytest.mark.parametrize("n", [30, 80])
def test_long_programs_have_the_derivatives_of_short_ones(n: int) -> None:
    weights = np.random.default_rng(0).standard_normal((8, 8)) / 3
    x = np.random.default_rng(1).standard_normal((3, 8))
    for make in (lambda n: _layers(n, xp.asarray(weights)), _orbit):
        result = []
        for limit, pending in ((0, 128), (0, 1 << 30), (4096, 128)):
            with xp.using(device="cpu", direct_limit=limit, pending_limit=pending):
                slope = xp.grad(make(n))
                _, forward = xp.jvp(make(n), (xp.asarray(x),), (xp.ones((3, 8)),))
                parts = xp.grad(partial(sum_of, make(n // 10)))(xp.asarray(x))
                result.append([slope(xp.asarray(x)).get(), float(forward), parts.get()])
        for other in result[1:]:
            for first, second in zip(result[0], other, strict=True):
                np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def sum_of(function: Callable[[Any], Any], v: Any) -> Any:
    """Return the sum of checkpointed results, each of which the next one depends on."""
    total = 0.0
    for _ in range(10):
        part = xp.checkpoint(function)(v)
        v = v + 0.1 * part
        total = total + part
    return total
