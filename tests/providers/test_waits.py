"""Waiting threads leave the processor to others."""

import threading
import time
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import thread_pool
from gpuarray.providers.wgpu import native
from gpuarray.providers.wgpu.provider import WgpuProvider
from gpuarray.runtime import places

#: How long waits last, and how much processor time they may take, in seconds.
WAIT = 0.5
USED = 0.1


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The driver of the default wgpu device, which polls before it sleeps, as on hardware, for ten seconds."""
    provider = places.provider_of(xp.Device("wgpu:0"))
    assert isinstance(provider, WgpuProvider)
    monkeypatch.setattr(provider._driver, "awake_ns", 10_000_000_000)
    return provider._driver


def test_a_wait_for_the_thread_pool_takes_no_processor_time() -> None:
    end = threading.Event()
    future = thread_pool.submit(end.wait)
    threading.Timer(WAIT, end.set).start()
    before = time.process_time()
    thread_pool.wait([future])
    assert time.process_time() - before < USED


@pytest.mark.parametrize("name", ["cpu", "wgpu:0"])
def test_what_is_idle_takes_no_processor_time(name: str) -> None:
    x = xp.asarray(np.ones(1 << 20, np.float32), device=name)
    (x + 1).get()
    time.sleep(WAIT)  # the background flusher, and threads of BLAS, end
    before = time.process_time()
    time.sleep(WAIT)
    assert time.process_time() - before < USED


def test_a_short_wait_polls_and_yields(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    yields = []
    monkeypatch.setattr(native, "_yield", lambda: yields.append(None))
    monkeypatch.setattr(native, "_BUSY_NS", 10**12)
    x = xp.asarray(np.ones((300, 300), np.float32), device="wgpu:0")
    assert (x @ x).sum() == 300**3
    xp.synchronize()
    assert yields


def test_a_wait_sleeps_where_the_machine_has_other_work(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A yield that takes long has let something else run."""
    yields = []

    def let_others_run() -> None:
        yields.append(None)
        time.sleep(2e-9 * native._BUSY_NS)

    monkeypatch.setattr(native, "_yield", let_others_run)
    driver._poll_awake(lambda: False)
    assert len(yields) == 1
