"""Big host arrays go to the device that they are pinned to at once, without a copy on the host."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.providers import registry
from gpuarray.runtime.placement import residency

pytestmark = pytest.mark.wgpu

SIZE = residency.AT_ONCE  # in bytes, of elements of one byte


def sample(nbytes=SIZE):
    return np.random.default_rng(0).integers(0, 256, nbytes, np.uint8)


def test_the_value_is_that_of_the_call():
    host = sample()
    x = xp.asarray(host, device="wgpu")
    expected = host.copy()
    host[:] = 0
    assert x.residency == ("wgpu:0",)
    assert np.array_equal(np.asarray(x + 1), expected + 1)
    assert np.array_equal(np.asarray(x), expected)


def test_no_copy_is_made_on_the_host():
    host = sample(16 * SIZE)
    xp.asarray(host, device="wgpu")
    xp.reset_stats()
    tracemalloc.start()
    try:
        x = xp.asarray(host, device="wgpu")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < host.nbytes // 8
    assert xp.stats()["bytes_uploaded"] == x.nbytes


@pytest.mark.parametrize(
    "host",
    [
        sample(2 * SIZE)[::2],
        sample(2 * SIZE).reshape(64, -1).T,
        sample().view(">i4"),
        sample().reshape(16, -1)[:, ::-1],
    ],
    ids=["strided", "transposed", "other byte order", "reversed"],
)
def test_values_of_any_layout_are_right(host):
    x = xp.asarray(host, device="wgpu")
    assert x.dtype == host.dtype.newbyteorder("=")
    assert np.array_equal(np.asarray(x), host)


def test_a_dtype_is_converted_there():
    host = sample()
    x = xp.asarray(host, np.float32, device="wgpu")
    assert np.array_equal(np.asarray(x), host.astype(np.float32))


@pytest.mark.parametrize(("nbytes", "device"), [(SIZE - 1, "wgpu"), (SIZE, "cpu"), (SIZE, "auto")])
def test_others_stay_on_the_host(nbytes, device):
    assert xp.asarray(sample(nbytes), device=device).residency == ("cpu",)


def test_what_the_device_has_no_kernels_for_stays_on_the_host(monkeypatch):
    provider = registry.open_device(xp.Device("wgpu"))
    without = replace(provider.capabilities, dtypes=provider.capabilities.dtypes - {np.dtype(np.uint8)})
    monkeypatch.setattr(provider, "capabilities", without)
    assert xp.asarray(sample(), device="wgpu").residency == ("cpu",)
