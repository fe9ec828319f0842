"""``synchronize`` computes what is recorded, so that a program can be timed as with libraries that compute at once."""

from contextlib import suppress

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array import recorded
from gpuarray.errors import RecordingError


@pytest.fixture(autouse=True)
def _nothing_pending():
    xp.synchronize()


@pytest.mark.usefixtures("planned")
def test_recorded_values_are_computed():
    x = xp.asarray(np.arange(1000.0))
    y, rows = x * 2, [x + k for k in range(5)]
    assert y.residency == ()
    xp.synchronize()
    assert all(array.residency for array in (y, *rows))
    assert np.array_equal(rows[3], np.arange(1000.0) + 3)


def test_values_written_to_arrays_are_computed():
    x = xp.zeros(100)
    x[3:] = xp.sin(xp.arange(97.0))
    x += 1
    view = x[::2]
    xp.synchronize()
    assert x.residency
    assert view.residency


def test_random_numbers_are_computed_and_ranges_are_not():
    x, y = xp.random.default_rng(0).random(1000), xp.arange(10**12)
    xp.synchronize()
    assert x.residency
    assert y.residency == ()


def test_values_that_are_gone_are_not_computed():
    x = xp.asarray(np.ones(1000))
    xp.synchronize()
    xp.reset_stats()
    y = x + 1
    del y
    xp.synchronize()
    assert xp.stats()["evaluations"] == 0


def test_a_device_is_waited_for_alone():
    x = xp.asarray(np.ones(10), device="cpu") + 1
    y = xp.asarray(np.ones(10), device="wgpu") + 1
    xp.synchronize("cpu")
    assert x.residency
    assert y.residency == ()
    xp.synchronize()
    assert y.residency


def test_list_of_cells_stays_short():
    x = xp.asarray(np.ones(10))
    for _ in range(20_000):
        y = x + 1
    assert len(recorded.cells) < 10_000
    assert len(recorded.pending()) <= 2
    del y


def test_while_a_function_is_recorded_nothing_is_computed():
    @xp.jit
    def function(x):
        y = x + 1
        xp.synchronize()
        return y * 2

    for _ in range(3):
        assert np.array_equal(function(xp.ones(3)), np.full(3, 4.0))


def test_arrays_kept_from_a_recording_do_not_matter():
    kept = []

    @xp.jit
    def function(x):
        kept.append(x * 3)
        return x + 1

    with suppress(RecordingError):
        function(xp.asarray(np.ones(3)))
    y = xp.asarray(np.ones(3)) + 1
    xp.synchronize()
    assert y.residency


@pytest.mark.usefixtures("planned")
def test_an_array_without_a_value_is_told_of_once():
    with xp.using(device="cpu"):
        wrong = xp.asarray([1, 2]) ** xp.asarray([-1, 2])
        right = xp.asarray([1.0, 2.0]) + xp.asarray([3.0, 4.0])
    with pytest.raises(ValueError, match="negative integer powers"):
        xp.synchronize()
    assert right.residency
    xp.synchronize()
    with pytest.raises(ValueError, match="negative integer powers"):
        wrong.get()
