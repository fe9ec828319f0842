"""Eviction: a device with little memory, and more arrays than it has room for."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError
from gpuarray.providers import registry

SIZE = 1 << 18


def room():
    """Return the bytes that the device's buffers take now."""
    return registry.open_device(Device("wgpu")).stats()["bytes_live"]


@pytest.fixture
def quarter():
    """Limit the device to what it has and a quarter of fifty arrays."""
    xp.synchronize()
    with xp.using(memory_limit=room() + 50 * 4 * SIZE // 4):
        yield


def test_fifty_live_arrays_in_a_quarter_of_their_memory(quarter):
    data = [np.random.default_rng(k).random(SIZE, dtype="f4") for k in range(50)]
    xp.reset_stats()
    arrays = [xp.asarray(a, device="wgpu") * 2 for a in data]
    xp.evaluate(*arrays[:20])  # more than there is room for at once
    for array in arrays:
        xp.evaluate(array)
    sums = [x + y for x, y in zip(arrays, reversed(arrays), strict=True)]
    for k, result in enumerate(sums):
        np.testing.assert_array_equal(np.asarray(result), data[k] * 2 + data[-1 - k] * 2)
    for k, array in enumerate(arrays):
        np.testing.assert_array_equal(np.asarray(array), data[k] * 2)
    assert xp.stats()["evictions"] >= 38
    assert all(array.device == "wgpu:0" for array in arrays)


def test_what_was_used_last_stays(quarter):
    kept = xp.asarray(np.ones(SIZE, "f4"), device="wgpu") + 1
    xp.evaluate(kept)
    others = []
    for _ in range(30):
        others.append(xp.full(SIZE, 3.0, dtype="float32", device="wgpu") + kept)
        xp.evaluate(others[-1])
    assert "wgpu:0" in kept.residency
    assert others[0].residency == ("cpu",)
    assert "wgpu:0" in others[-1].residency


def test_one_plan_beyond_the_limit_is_an_error_and_loses_nothing():
    x = xp.asarray(np.arange(SIZE, dtype="f4"), device="wgpu") + 1
    xp.evaluate(x)
    with xp.using(memory_limit=room() + 2 * SIZE):
        y = x * 2
        with pytest.raises(DeviceMemoryError):
            xp.evaluate(xp.concat([y, y, y]))
    np.testing.assert_array_equal(np.asarray(x), np.arange(SIZE, dtype="f4") + 1)
    np.testing.assert_array_equal(np.asarray(y), (np.arange(SIZE, dtype="f4") + 1) * 2)
