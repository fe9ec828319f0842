"""Values that several threads want at once."""

import contextvars
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import GpuArray
from gpuarray.array.recorded import RecordedCells
from gpuarray.device import Device
from gpuarray.errors import DeviceError
from gpuarray.providers import registry
from gpuarray.runtime import places
from gpuarray.testing import assert_same


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("number", [1, 2])
def test_values_that_another_thread_evaluates_first(
    number: int, direct: bool, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = xp.arange(5) * 2
    expected = x + 1
    lock = places.graphs

    class Late:
        """The lock, which the other thread gets first."""

        def __enter__(self) -> None:
            monkeypatch.setattr(places, "graphs", lock)
            xp.evaluate(*(expected, x)[:number])
            lock.acquire()

        def __exit__(self, *error: object) -> None:
            lock.release()

    monkeypatch.setattr(places, "graphs", Late())
    with xp.using(direct_pinned=direct):
        xp.evaluate(expected, x)
    assert expected.tolist() == [1, 3, 5, 7, 9]
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_many_threads_read_what_is_pending(device: Device) -> None:
    x = xp.asarray(np.arange(1000, dtype=np.float32))
    shared = [x * float(i) + 1 for i in range(20)]
    with xp.using(device=device.name), ThreadPoolExecutor(4) as team:
        sums = [y.sum() for y in shared for _ in range(4)]
        result = list(team.map(float, sums))
    assert result == [float(np.float32(i) * 499_500 + 1000) for i in range(20) for _ in range(4)]


@contextmanager
def during_runs(provider: Any, call: Callable[[], object]) -> Iterator[None]:
    """Call a function at each run of a provider, before it."""
    run = provider.run

    def wrapped(*arguments: Any, **keywords: Any) -> None:
        call()
        run(*arguments, **keywords)

    provider.run = wrapped
    try:
        yield
    finally:
        del provider.run


def started(name: str) -> tuple[Any, GpuArray]:
    """Return the provider of a device, and a pending array on it."""
    x = xp.asarray(HOST, device=name)
    xp.evaluate(x + 1)
    return registry.open_device(Device(name)), x * 2


#: More elements than are computed without a plan.
HOST = np.arange(600_000, dtype=np.float32) % 8
PAIRS = [("cpu", "wgpu:0"), ("wgpu:0", "wgpuportable")]


@pytest.mark.parametrize("names", PAIRS)
def test_evaluations_on_two_devices_run_at_once(portable: Device, names: tuple[str, str]) -> None:
    """Each run waits until the other one has begun."""
    both = threading.Barrier(2, timeout=300)
    devices = [started(name) for name in names]
    with ExitStack() as stack:
        for provider, _ in devices:
            stack.enter_context(during_runs(provider, both.wait))
        with ThreadPoolExecutor(2) as team:
            result = list(team.map(lambda device: float(device[1].sum()), devices))
    assert result == [2 * float(HOST.sum())] * 2


@pytest.mark.parametrize("names", PAIRS)
def test_a_recorded_function_runs_while_another_device_is_busy(portable: Device, names: tuple[str, str]) -> None:
    both = threading.Barrier(2, timeout=300)
    (first, x), (second, y) = started(names[0]), started(names[1])
    step = xp.jit(lambda a: a * 2 + 1)
    expected = step(x).get()
    step(y).get()
    with ThreadPoolExecutor(2) as team, during_runs(first, both.wait), during_runs(second, both.wait):
        for actual in team.map(step, [x, y]):
            np.testing.assert_array_equal(actual, expected)


def test_work_that_interrupts_a_device_does_not_wait_for_another_one(portable: Device) -> None:
    """The thread that has the other device could be waiting for the first."""
    (first, x), (second, y) = started("cpu"), started("wgpu:0")
    is_running, may_end = threading.Event(), threading.Event()
    refusals = []

    def hold() -> None:
        is_running.set()
        assert may_end.wait(60)

    def interrupt() -> None:
        with pytest.raises(DeviceError, match="in use by another thread") as caught:
            xp.evaluate(y + 1)
        refusals.append(caught)

    with ThreadPoolExecutor(1) as team, during_runs(second, hold):
        held = team.submit(xp.evaluate, y)
        assert is_running.wait(60)
        with during_runs(first, interrupt):
            xp.evaluate(x)
        may_end.set()
        held.result()
        with during_runs(first, lambda: xp.evaluate(y + 1)):  # nobody else has it
            xp.evaluate(x + 1)
    assert refusals
    assert_same(y + 1, (x + 1).get())


def test_a_value_is_read_on_another_device_when_its_update_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with xp.using(provider="cpu"):
        x = xp.asarray(HOST) + 0
        xp.evaluate(x)
        other = xp.zeros(HOST.size, dtype=np.float32, device="wgpu:0")
        is_running, may_end = threading.Event(), threading.Event()
        wait_for = places.wait_for

        def wait(provider: Any) -> None:
            may_end.set()
            wait_for(provider)

        def hold() -> None:
            is_running.set()
            assert may_end.wait(60)

        monkeypatch.setattr(places, "wait_for", wait)
        x[1:] -= 1
        total = x + other
        assert total.device == "wgpu:0"
        host = registry.open_device(Device("cpu"))
        with during_runs(host, hold), ThreadPoolExecutor(1) as team:
            context = contextvars.copy_context()
            update = team.submit(context.run, xp.evaluate, x)
            assert is_running.wait(60)
            assert places.being_updated
            actual = total.get()
            update.result()
    expected = HOST.copy()
    expected[1:] -= 1
    np.testing.assert_array_equal(actual, expected)
    assert_same(x, expected)
    assert not places.being_updated


def test_writes_to_parts_of_one_array_are_not_lost(device: Device) -> None:
    def fill(i: int) -> None:
        out[i] = i + 1.0
        out[i, 3:5] *= 2
        np.add.at(out, (np.array([i]), np.array([7])), np.float32(1))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as team:
            for _ in range(10):
                out = xp.zeros((64, 50), dtype=xp.float32, device=device)
                expected = np.repeat(np.arange(1, 65, dtype=np.float32)[:, None], 50, 1)
                expected[:, 3:5] *= 2
                expected[:, 7] += 1
                list(team.map(fill, range(64)))
                assert_same(out, expected)
    finally:
        sys.setswitchinterval(interval)


def test_arrays_may_go_while_another_thread_looks_for_recorded_ones() -> None:
    held: list[Any] = []

    class Cell:
        """A cell with a value to compute. When it is looked at, another thread drops the one before it."""

        @property
        def node(self) -> Any:
            return self

        @property
        def depth(self) -> int:
            if held[0] is not self:
                del held[0]
            return 1

    held += [Cell(), Cell(), Cell()]
    recorded = RecordedCells()
    recorded.cells += [weakref.ref(cell) for cell in held]
    last = held[-1]
    recorded.clear()
    assert [note() for note in recorded.cells] == [None, None, last]
