"""Waiting threads leave the processor to others, and end at interrupts."""

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support import is_interrupted_soon

import gpuarray as xp
from gpuarray import thread_pool
from gpuarray.providers import registry
from gpuarray.providers.wgpu import native
from gpuarray.providers.wgpu.pipelines import Pipelines
from gpuarray.providers.wgpu.provider import WgpuProvider

#: How long waits last, and how much processor time they may take, in seconds.
WAIT = 0.5
USED = 0.1


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The driver of the default wgpu device, which polls before it sleeps, as on hardware, for ten seconds."""
    provider = registry.open_device(xp.Device("wgpu:0"))
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


@pytest.fixture
def default_handler() -> Iterator[None]:
    """Python's own handler of interrupts, whatever other packages have set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_handler")
def test_an_interrupt_ends_a_wait_for_the_device(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "awake_ns", 0)
    never = native.NativeStaging(None, 0, 0, driver)
    assert is_interrupted_soon(lambda: driver.await_mapping(never))


def test_a_wait_goes_on_while_the_device_computes(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "awake_ns", 0)
    monkeypatch.setattr(native, "_PATIENCE_NS", 100_000_000)
    x = xp.asarray(np.ones((900, 900), np.float32), device="wgpu:0")
    assert (x @ x @ x).sum() == 900**4


@pytest.mark.usefixtures("default_handler")
@pytest.mark.parametrize("in_place", [False, True])
def test_an_interrupt_ends_a_wait_for_a_compiler(monkeypatch: pytest.MonkeyPatch, in_place: bool) -> None:
    """The kernel compiles on, and the next evaluation takes it; an update has not happened."""
    compiled, end = [], threading.Event()
    compile_kernel = Pipelines._compile

    def slow(*arguments: Any) -> Any:
        compiled.append(arguments)
        end.wait(100)
        return compile_kernel(*arguments)

    x = xp.asarray(np.arange(5000, dtype=np.float32), device="wgpu:0")
    xp.evaluate(x)
    registry.open_device(xp.Device("wgpu:0"))._pipelines.forget()  # type: ignore[attr-defined]
    monkeypatch.setattr(Pipelines, "_compile", slow)
    if in_place:
        x[1:] += 1
    else:
        x = x + 1
    assert is_interrupted_soon(lambda: xp.evaluate(x))
    end.set()
    expected = np.arange(5000, dtype=np.float32) + 1
    if in_place:
        expected[0] = 0
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert len({arguments[1] for arguments in compiled}) == len(compiled)
