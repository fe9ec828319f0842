"""Plans that are kept, and values that plans meet again."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.runtime import plans, stored
from gpuarray.testing import assert_same


@pytest.fixture
def no_plans(monkeypatch):
    monkeypatch.setattr(plans, "_plans", plans.Plans())
    xp.reset_stats()


def bisected(x, regions):
    """Halve a region again and again, read something of each half, and never the regions themselves."""
    sum_of = xp.sum if isinstance(x, xp.GpuArray) else np.sum
    result = []
    low, high = x
    for turn in range(regions):
        middle = (low + high) / 2
        result.append(float(sum_of((high - low) * middle)))
        low, high = (low, middle) if turn % 3 else (middle, high)
    return result


def test_small_values_that_are_met_again_are_computed_for_good(device, no_plans):
    host = np.array([[0.0, 1.0], [4.0, 8.0]], np.float32)
    np.testing.assert_allclose(bisected(xp.asarray(host), 40), bisected(host, 40), rtol=1e-6)
    # without it each turn would compute what all turns before it did, by a plan of its own
    assert xp.stats()["plans"] < 20
    assert xp.stats()["operations"] < 40 * 16


def iterated(x, turns):
    """Go on from a value, and look at each."""
    for turn in range(turns):
        x = x * 0.5 + turn
        if float(x.max()) < 0:
            break
    return x


def test_an_iteration_that_looks_at_its_values_has_one_plan(device, no_plans):
    host = np.linspace(0, 1, 100_000, dtype=np.float32)
    assert_same(iterated(xp.asarray(host), 30), iterated(host, 30), ulp=1)
    first = xp.stats()
    assert first["plans"] <= 4
    assert first["operations"] < 30 * 12
    assert first["compiles"] <= 8
    iterated(xp.asarray(host), 40)
    assert xp.stats()["plans"] <= first["plans"] + 1


def test_a_value_that_is_computed_twice_is_stored_in_the_next_turn(device, no_plans):
    x = xp.asarray(np.linspace(0, 1, 100_000, dtype=np.float32))
    with xp.using(direct_limit=0):
        iterated(x, 6)
        before = xp.stats()
        iterated(x, 40)
    after = xp.stats()
    assert after["plans"] == before["plans"]
    assert after["operations"] - before["operations"] <= 40 * 5  # two of the program, and its two scalars and maximum


def test_a_part_that_each_turn_of_a_loop_reads_is_not_made_of_the_whole_each_time(device, no_plans):
    host = np.linspace(0, 1, 100_000, dtype=np.float32)
    x = xp.asarray(host)
    w = xp.exp(-x)
    w[x < 0.5] = 0
    whole = 1 + x * w
    part, launches = whole[:1000], []
    for turn in range(5):
        xp.reset_stats()
        result = float((part > turn).sum())
        launches.append(xp.stats()["launches"])
        assert result == (1000 if turn == 0 else 0)
    assert max(launches[2:]) <= 1
    assert whole.residency


@pytest.mark.parametrize(
    "shown", [lambda y: y, lambda y: y[::-1], lambda y: y.reshape(4, -1).T], ids=["y", "turned", "T"]
)
def test_a_result_is_stored_for_arrays_that_show_it(device, shown):
    host = np.random.default_rng(1).standard_normal((400, 400)).astype(np.float32)
    x, v = xp.asarray(host), xp.asarray(host[0])
    y = shown(x @ v)  # a product of matrices, of which one has a column, and views
    low = float(y.min())
    with xp.profile() as profile:
        high = float(y.max())
        float((y + y).sum())
    assert not any("contract" in kernel.label for kernel in profile.kernels)
    expected = shown(host @ host[0])
    np.testing.assert_allclose([low, high], [expected.min(), expected.max()], rtol=1e-4)


def test_a_result_and_a_view_of_it_are_stored_once(device):
    x = xp.asarray(np.random.default_rng(1).standard_normal((100, 400, 3)).astype(np.float32))
    y = x.sum(axis=1)
    turned = y.T
    float((turned * turned).max())
    assert y.residency
    xp.reset_stats()
    float((y - 1).min())
    float((turned - 1).min())
    assert xp.stats()["launches"] == 2


def test_what_is_little_beside_the_fold_that_it_is_made_of_is_computed_for_good(device):
    x = xp.asarray(np.linspace(1, 2, 4000, dtype=np.float32).reshape(1000, 4))
    scale = 1 / xp.sum(x, axis=0)
    scaled = x * scale
    top = float(xp.max(scaled))
    assert scale.residency
    assert not scaled.residency
    xp.reset_stats()
    assert float(scale[0] * x[-1, 0]) <= top
    assert xp.stats()["launches"] == 1


def test_large_values_of_small_ones_are_not_stored(monkeypatch, device, no_plans):
    monkeypatch.setattr(stored, "LIGHT", 1000)
    line = xp.asarray(np.linspace(-1, 1, 200, dtype=np.float32))
    table = line[:, None] * line
    for fold in (xp.max, xp.min, xp.max):
        assert abs(float(fold(table))) == 1
        assert not table.residency


def test_values_that_no_array_has_are_not_stored(device, no_plans):
    x = xp.asarray([1.0, 2.0]) + 1
    first, second = xp.sum(x), xp.max(x)
    del x
    assert (float(first), float(second)) == (5, 3)
    assert xp.stats()["plans"] == 2


def test_plans_are_kept_by_the_number_of_their_operations(monkeypatch, no_plans):
    monkeypatch.setattr(plans, "OPERATION_LIMIT", 60)
    with xp.using(device="cpu"):
        for number in range(1, 12):
            x = xp.ones(number)
            for _ in range(10):
                x = xp.sqrt(x)
            xp.evaluate(x)
    assert 4 <= plans.plan_count() <= 6


def test_a_plan_of_many_operations_is_kept_alone(monkeypatch, no_plans):
    monkeypatch.setattr(plans, "OPERATION_LIMIT", 1)
    with xp.using(device="cpu"):
        for _ in range(2):
            xp.evaluate(xp.sqrt(xp.ones(3)) + 1)
    assert (plans.plan_count(), xp.stats()["plans"]) == (1, 1)
