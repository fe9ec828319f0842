"""What NumPy computes of arrays that are pinned to a GPU."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.runtime import direct
from gpuarray.settings import recording


@pytest.fixture(autouse=True)
def direct_limit():
    """Compute small arrays as users do by default."""
    with xp.using(device="wgpu", direct_limit=1 << 14, direct_pinned=True):
        yield


def launches():
    return xp.stats()["launches"]


def test_small_arrays_take_no_launch():
    x = xp.asarray(np.arange(6.0).reshape(2, 3))
    y = np.sqrt(x @ x.T) + 1
    y[0, 1] = x[1].sum()
    y += xp.linspace(0, 1, 2)
    assert launches() == 0
    assert y.device == "wgpu"
    assert y.residency == ("cpu",)
    expected = np.sqrt(np.arange(6.0).reshape(2, 3) @ np.arange(6.0).reshape(2, 3).T) + 1
    expected[0, 1] = 12
    expected += np.linspace(0, 1, 2)
    np.testing.assert_array_equal(np.asarray(y), expected)


def test_what_a_kernel_computes_stays_on_the_gpu():
    large = xp.ones((300, 300), dtype=xp.float32)
    small = xp.asarray(np.arange(300, dtype=np.float32))
    rows = large @ small
    total = rows.sum() + small
    xp.evaluate(rows, total)
    assert launches() > 0
    assert rows.residency == total.residency == ("wgpu:0",)
    np.testing.assert_allclose(np.asarray(total), 300 * 44850 + np.arange(300), rtol=1e-6)


def test_what_a_loop_reads_and_writes_by_parts_moves_to_the_host():
    matrix = np.random.default_rng(0).random((300, 300)) + 300 * np.eye(300)
    a, x = xp.asarray(np.stack([matrix, matrix])), xp.zeros(300)
    for _ in range(3):
        expected = np.zeros(300)
        for rows, solution in ((a[0], x), (matrix, expected)):
            for i in range(300):
                solution[i] = (1.0 - rows[i, :i] @ solution[:i]) / rows[i, i]
        before = launches()
    assert before > 0
    assert x.residency == ("cpu",)
    assert a.residency == ("cpu", "wgpu:0")  # it is only read
    assert (a[1, 2, :7] * x[:7]).is_computed()
    assert launches() == before
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-12)


def test_few_parts_of_what_a_kernel_computes_are_recorded():
    large = xp.ones((300, 300), dtype=xp.float32)
    for _ in range(30):
        means = large.mean(axis=1)
        large = large * means[0] + means[1] - means[2]
    assert large.residency == means.residency == ()
    np.testing.assert_array_equal(np.asarray(large), 1)


def test_a_value_that_leaves_the_host_again_moves_ever_less_often():
    x, large = xp.zeros(300), xp.asarray(np.ones((600, 600)))
    moves, is_on_host = 0, True
    for i in range(900):
        x[i % 300] = x[i % 7] + 1
        if i % 60 == 0:
            x[0] = large.sum()  # recorded
        moves += not is_on_host and x.is_computed()
        is_on_host = x.is_computed()
    assert 1 < moves < 8


def test_an_operation_does_not_try_again_to_compute_what_needs_a_kernel(monkeypatch):
    x = xp.asarray(np.ones((600, 600)))[:100, 0] * 2
    assert not (x + 1).is_computed()
    tried = []
    monkeypatch.setattr(direct, "compute", lambda *given, **keywords: tried.append(given))
    y = x
    for _ in range(3):
        y = y * x + y
    assert not tried
    assert not y.is_computed()


def test_values_of_kernels_and_of_the_host_meet():
    large = xp.ones((300, 300), dtype=xp.float32)
    small = xp.zeros(4, dtype=xp.float32)
    small[1] = large.sum()  # recorded, as the value is pending
    small[2] = 5
    np.testing.assert_array_equal(np.asarray(small), [0, 90000, 5, 0])
    view = small[1:3]
    view -= 1
    np.testing.assert_array_equal(np.asarray(small), [0, 89999, 4, 0])


def test_larger_arrays_are_recorded():
    x = xp.zeros(1 << 18, dtype=xp.float32) + 1
    assert x.residency == ()
    assert float(x[0]) == 1
    assert launches() > 0


@pytest.mark.parametrize("setting", [{"direct_pinned": False}, {"offload": "always"}])
def test_everything_is_computed_on_the_gpu(setting):
    with xp.using(**setting):
        x = xp.asarray(np.arange(6, dtype=np.float32))
        y = x * 2 + 1
        assert y.residency == ()
        np.testing.assert_array_equal(np.asarray(y), np.arange(6) * 2 + 1)
    assert launches() == 1


def test_the_setting_holds_for_arrays_that_numpy_has_computed():
    computed = xp.asarray(np.arange(6, dtype=np.float32)) + 1
    written = computed.copy()
    written[0] = 5
    with xp.using(direct_pinned=False):
        for x in (computed, written):
            for call in (
                lambda x: x * 2, lambda x: -x, lambda x: x + x, np.sqrt, lambda x: x.sum(),
                lambda x: xp.where(x > 1, x, 0), lambda x: np.dot(x, x), lambda x: x @ x, xp.exp, lambda x: x[2] + 1,
            ):  # fmt: skip
                assert call(x).residency == ()
    np.testing.assert_array_equal(np.asarray(computed), np.arange(6) + 1)


def test_random_numbers_and_factorisations():
    matrix = xp.random.default_rng(3).normal(size=(4, 4))
    solved = xp.linalg.solve(matrix, xp.ones(4))
    assert launches() == 0
    assert solved.device == "wgpu"
    with xp.using(device="cpu"):
        expected = np.asarray(xp.random.default_rng(3).normal(size=(4, 4)))
    np.testing.assert_array_equal(np.asarray(matrix), expected)
    np.testing.assert_array_equal(np.asarray(solved), np.linalg.solve(expected, np.ones(4)))


def test_a_recorded_function_runs_on_the_gpu():
    double = xp.jit(lambda x: x * 2 + 1)
    x = xp.asarray(np.arange(5.0, dtype=np.float32))
    for _ in range(3):
        y = double(x)
    assert launches() > 0
    np.testing.assert_array_equal(np.asarray(y), np.arange(5) * 2 + 1)


def test_a_trial_begins_without_a_search_for_a_gpu():
    with xp.using(direct_limit=1 << 17):
        x = xp.ones(1 << 16, dtype=xp.float32)
        try:
            for _ in range(4000):  # NumPy takes more time than a trial costs
                x = x + 1
                if recording.midsize:
                    break
            assert recording.midsize
            assert (x + 1).residency == ()
        finally:
            xp.config.record_midsize(False)


def test_operations_on_a_value_of_the_device_are_not_tried_on_the_host(monkeypatch):
    matrix, vector = xp.asarray(np.ones((400, 400), np.float32)), xp.asarray(np.ones(400, np.float32))
    product = matrix @ vector  # the matrix has too many elements to be computed at once
    tried = []
    monkeypatch.setattr(direct, "compute", lambda *arguments, **keywords: tried.append(arguments))
    norm = np.sqrt(product @ product)
    scaled = (product / 2 + 1) @ product
    assert not tried
    monkeypatch.undo()
    assert float(norm) == pytest.approx(400 * np.sqrt(400))
    assert float(scaled) == pytest.approx(400 * 201 * 400)
