"""Beside a GPU, large values that are read and written by parts, and that products read, stay on the host."""

import numpy as np
import pytest
from support import assert_same

import gpuarray as xp
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.runtime import places
from gpuarray.runtime.placement import auto, trials
from gpuarray.runtime.placement.rates import DEVICE_DEFAULTS, HOST_DEFAULTS

GPU = Device("wgpu:0")
N = 600


@pytest.fixture(autouse=True)
def imagined(monkeypatch, compiled_at_once):
    """Let "auto" take the software device, as if it were a fast one, and no program be worth a trial."""
    fresh = {
        "_lost": 0.0,
        "_saved": 0.0,
        "_most_saved": 0.0,
        "_failures": 0,
        "_is_judging": False,
        "_per_byte": 1.0,
        "_TRIAL": 1e18,
    }
    for name, value in fresh.items():
        monkeypatch.setattr(trials, name, value)
    with xp.using(software=True, offload="auto", refine=False, direct_limit=1 << 17):
        gpu, host = registry.open_device(GPU), places.host()
        auto.set_rates(gpu, DEVICE_DEFAULTS)
        auto.set_rates(host, HOST_DEFAULTS)
        yield
        auto.set_rates(gpu, None)
        auto.set_rates(host, None)
    config.record_midsize(False)


@pytest.fixture
def matrix():
    return np.random.default_rng(0).random((N, N))


def test_a_constant_whose_parts_are_written_and_read_moves_to_the_host():
    x, expected = xp.zeros((N, N)), np.zeros((N, N))
    for k in range(1, 200):
        for a in (x, expected):
            a[k] = a[k - 1] + k
    assert x.residency == ("cpu",)
    before = xp.stats()["launches"]
    for a in (x, expected):
        a[:, 3] = a[:, 2] + 1
        a[5, 5] *= 2
    assert (x[7] + x[8]).is_computed()
    assert xp.stats()["launches"] == before
    assert_same(x, expected)


@pytest.mark.parametrize("is_trial", [False, True])
def test_a_constant_that_numpy_may_make_is_on_the_host_when_a_part_is_written(is_trial):
    config.record_midsize(is_trial)
    with xp.using(direct_limit=1 << 19):
        x = xp.zeros((N, N))
        before = xp.stats()["launches"]
        x[1] = x[0] + 1
        assert (x[1] * 2).is_computed() is not is_trial
        assert xp.stats()["launches"] == before
        assert_same(x, np.repeat([0.0, 1.0, 0.0], [N, N, (N - 2) * N]).reshape(N, N))


def test_a_value_of_the_device_moves_when_its_parts_are_written(matrix):
    x, expected = xp.asarray(matrix), matrix
    xp.prefetch(x, GPU)
    for _ in range(6):
        x, expected = np.sin(x) * x + np.exp(-x), np.sin(expected) * expected + np.exp(-expected)
    xp.evaluate(x)
    assert x.residency == ("wgpu:0",)
    for k in range(1, 200):
        for a in (x, expected):
            a[k, 1:] = a[k - 1, :-1]
    assert x.residency == ("cpu",)
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-12)


def test_parts_that_are_only_read_leave_the_value_on_the_device_too(matrix):
    x = np.sin(xp.asarray(matrix)) * 2
    with xp.using(offload="always"):
        xp.evaluate(x)
    assert x.residency == ("wgpu:0",)
    for k in range(200):
        row = x[k] + 1
    assert x.residency == ("cpu", "wgpu:0")
    assert row.is_computed()
    np.testing.assert_allclose(np.asarray(row), np.sin(matrix[199]) * 2 + 1, rtol=1e-12)


def test_writes_of_the_boundary_between_large_steps_move_nothing(matrix):
    x, expected = xp.asarray(matrix), matrix.copy()
    for _ in range(40):
        for a in (x, expected):
            a[1:-1, 1:-1] += 0.1 * np.sin(a[:-2, 1:-1])
            a[0] = 1.0
            a[-1] = 2.0
            a[:, 0] = 3.0
    assert x._cell.own is None
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-9)


def test_the_view_of_a_large_part_follows_writes_of_the_program(matrix):
    x, expected = xp.asarray(matrix), matrix.copy()
    x[0, 0] = expected[0, 0] = 5.0
    part, same = x[1:, :-1], expected[1:, :-1]
    assert part.base is x
    for a in (x, expected):
        a[1, 0] = -1.0
    assert_same(part, same)
    part += 1.0
    same += 1.0
    assert_same(x, expected)
    with xp.using(direct_limit=1 << 19):
        assert_same(part[3], same[3])
        assert_same(part @ same[0], same @ same[0])


@pytest.mark.parametrize("product", [lambda a, v: a @ v, np.dot, np.matmul])
def test_products_with_vectors_are_those_of_the_host_until_a_device_is_worth_a_trial(matrix, product, monkeypatch):
    x, v = xp.asarray(matrix), xp.asarray(matrix[0])
    w = product(x, v)
    assert w.is_computed()
    assert_same(w, product(matrix, matrix[0]))
    assert product(x[:, 1:], v[1:]).is_computed()
    assert not product(x, x).is_computed()
    assert not product(x * 2, v).is_computed()  # it is to be computed
    column = xp.asarray(matrix.reshape(-1, 2))
    assert not product(column, v[:2]).is_computed()  # the result is large
    monkeypatch.setattr(trials, "_lost", 0.0)
    monkeypatch.setattr(trials, "_TRIAL", 5e6)
    count = 0
    while product(x, v).is_computed():
        count += 1
        assert count < 100_000
    assert count > 0


def test_a_trial_of_products_that_loses_ends(matrix, monkeypatch):
    x, v = xp.asarray(matrix), xp.asarray(matrix[0])
    monkeypatch.setattr(trials, "_TRIAL", 2e6)
    while product_is_computed(x, v):
        pass
    count = 0
    while not product_is_computed(x, v):  # the software device takes longer than NumPy
        count += 1
        assert count < 10_000
    assert trials._failures == 1


def product_is_computed(x, v):
    w = x @ v
    np.asarray(w)
    return w.is_computed()
