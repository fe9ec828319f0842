"""What is kept beside arrays is bounded: a process that runs for days does not grow."""

import gc
from weakref import ref

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import source_locations
from gpuarray.device import Device
from gpuarray.errors import TransferWarning
from gpuarray.jit import signature
from gpuarray.providers import registry
from gpuarray.providers.wgpu.buffers import BufferPool
from gpuarray.providers.wgpu.dispatch import Dispatcher
from gpuarray.runtime import plans, telemetry
from gpuarray.scipy import signal


def read_in_cells(count):
    """Run lines that no other call has run, as notebooks do."""
    for number in range(count):
        code = compile("np.asarray(array)", f"<cell {number}>", "exec")
        exec(code, {"np": np, "array": xp.asarray([number], device="wgpu")})


@pytest.mark.wgpu
def test_lines_are_told_apart_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(telemetry, "_MOST_APART", 8)
    monkeypatch.setattr(telemetry, "_MOST_UNCOUNTED", 4)
    monkeypatch.setattr(source_locations, "_MAX_FILES", 8)
    read_in_cells(50)
    assert sum(telemetry.sites().values()) == xp.stats()["transfers"] == 50
    assert len(telemetry._sites) <= 9
    assert len(telemetry._uncounted) <= 5
    assert len(source_locations.USER_FILES) <= 8


@pytest.mark.wgpu
def test_lines_that_were_warned_of_are_known_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(telemetry, "_MOST_APART", 8)
    with xp.using(transfer="warn"), pytest.warns(TransferWarning) as warned:
        read_in_cells(50)
    assert len(warned) == 50
    assert len(telemetry._warned) <= 8


def test_functions_that_fall_back_are_told_apart_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(telemetry, "_MOST_APART", 8)
    for number in range(50):
        telemetry.fallback(f"function {number}", "a reason")
    assert sum(telemetry.fallbacks().values()) == xp.stats()["fallbacks"] == 50
    assert len(telemetry.fallbacks()) == 9


def test_settings_are_known_up_to_a_bound(monkeypatch, device):
    monkeypatch.setattr(signature, "_MOST_SETTINGS", 8)
    doubled = xp.jit(lambda x: x * 2)
    for number in range(50):
        with xp.using(pending_limit=1000 + number):
            assert doubled(xp.asarray([number])).item() == 2 * number
    assert len(signature._numbers_of_settings) <= 8
    with xp.using(pending_limit=1049):
        doubled(xp.asarray([1]))
    assert doubled.cache_info().misses == 50


@pytest.mark.parametrize("kind", ["cpu", pytest.param("wgpu", marks=pytest.mark.wgpu)])
def test_closed_devices_are_let_go(monkeypatch, kind):
    opener = registry._registered[kind].factory
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register("other", opener)
    monkeypatch.setattr(plans, "_plans", plans.Plans())
    closed = []
    for _ in range(3):
        assert (xp.arange(5, device="other") * 2).sum().item() == 20
        provider = registry.open_device(Device("other"))
        closed.append(ref(provider))
        provider.close()
    del provider
    assert xp.ones(3, device="cpu").sum().item() == 3
    registry._opened.pop(("other", 0))
    gc.collect()
    assert plans.plan_count() == 1
    assert [result() for result in closed] == [None] * 3


def _slope(x):
    value, slope = xp.value_and_grad(lambda x: xp.sum(xp.sin(xp.sin(x) * 0.9 + x)))(x)
    return slope, value


@pytest.mark.wgpu
@pytest.mark.parametrize(
    "function",
    [
        _slope,
        xp.linalg.inv,
        lambda x: signal.convolve2d(x[0], x[1, :3, :3]),
        lambda x: signal.fftconvolve(x.reshape(-1), x.reshape(-1)[:99]),
        lambda x: signal.stft(x.reshape(-1))[2],
    ],
    ids=["value_and_grad", "inv", "convolve2d", "fftconvolve", "stft"],
)
def test_queued_calls_take_the_buffers_of_those_before(monkeypatch, function):
    made = []
    for owner, name in ((BufferPool, "_create"), (Dispatcher, "_create_groups")):
        old = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda self, *args, old=old: made.append(old) or old(self, *args))
    x = xp.asarray(
        np.random.default_rng(0).random((20, 16, 16), dtype=np.float32) + np.eye(16, dtype=np.float32), device="wgpu"
    )
    result = None
    for number in range(25):
        result = function(x)  # the result before is there until this one is
        xp.evaluate(*result if isinstance(result, tuple) else (result,))
        if number == 4:
            made.clear()
    assert made == []
