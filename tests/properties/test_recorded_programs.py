"""Random programs of writes, views and draws give the same through `jit`, call after call, as without it."""

import random

import numpy as np
import pytest

import gpuarray as xp

PROGRAMS = 8


def _add(p, q, a, n, around, rng):
    return p + q if p.shape == q.shape else p - a


def _add_in_place(p, q, a, n, around, rng):
    p += a


def _multiply_in_place(p, q, a, n, around, rng):
    p *= q if p.shape == q.shape else 0.5


def _write_rows(p, q, a, n, around, rng):
    p[::2] = n
    p[0] = p[-1]


def _write_around(p, q, a, n, around, rng):
    around[0, 1] += n


def _rest(p, q, a, n, around, rng):
    return p[1:] if len(p) > 1 else p[::-1]


#: What is done to two of the arrays so far; what is returned is one more.
STEPS = [
    _add,
    _add_in_place,
    _multiply_in_place,
    _write_rows,
    _write_around,
    _rest,
    lambda p, q, a, n, around, rng: p * (a * 2 + n),
    lambda p, q, a, n, around, rng: p.T,
    lambda p, q, a, n, around, rng: p.reshape(-1),
    lambda p, q, a, n, around, rng: p.copy(),
    lambda p, q, a, n, around, rng: p.sum(axis=0, keepdims=True) + p,
    lambda p, q, a, n, around, rng: np.where(p > a, p, -p),
    lambda p, q, a, n, around, rng: p[xp.asarray([0, -1, 0])],
    lambda p, q, a, n, around, rng: around[:1, 1] + p,
    lambda p, q, a, n, around, rng: p + rng.random(p.shape, dtype=np.float32),
    lambda p, q, a, n, around, rng: xp.evaluate(p),
]


def _function(seed, around, rng):
    choose = random.Random(seed)
    chosen = [(choose.choice(STEPS), choose.randrange(99), choose.randrange(99)) for _ in range(choose.randint(2, 12))]
    returned = [choose.randrange(99) for _ in range(3)]

    def function(x, y, a, n):
        arrays = [x, y]
        for step, first, second in chosen:
            made = step(arrays[first % len(arrays)], arrays[second % len(arrays)], a, n, around, rng)
            if made is not None:
                arrays.append(made)
        return [arrays[number % len(arrays)] for number in returned]

    return function


def _arguments(kind, seed):
    host = np.random.default_rng(seed).random((8, 3), dtype=np.float32)
    both = xp.asarray(host)
    pairs = [(both[:4], both[4:]), (both[::2], both[1:5]), (both, both), (both * 2, both + 1)]
    return pairs[kind]


def _visible(seed, *, is_recorded):
    """Return all that can be seen after each of four calls, of which two and two have the same signature."""
    around = xp.asarray(np.ones((4, 3), np.float32))
    function = _function(seed, around, xp.random.default_rng(seed))
    if is_recorded:
        function = xp.jit(function)
    results, visible = [], []
    for number in range(4):
        x, y = _arguments((seed + number % 2) % 4, 10 * seed + number)
        before = x * 1
        results += function(x, y, 0.5 + number / 4, number + 1)
        results[-1][...] = 7  # of arguments, of other results, or of its own
        visible.append([value.get() for value in (*results, x, y, around, before)])
    if is_recorded:
        assert function.cache_info()[:2] == (2, 2)
    return visible


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_the_same_is_seen(device, seed):
    for plain, recorded in zip(_visible(seed, is_recorded=False), _visible(seed, is_recorded=True), strict=True):
        for expected, actual in zip(plain, recorded, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-6, strict=True)
