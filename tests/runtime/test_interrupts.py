"""KeyboardInterrupt anywhere: what follows gives right values, nothing is lost, and no lock stays taken."""

import gc
import signal
import sys
import threading

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import thread_pool
from gpuarray.device import Device
from gpuarray.graph import tracing
from gpuarray.jit import trace
from gpuarray.providers import registry
from gpuarray.providers.inprocess.provider import InProcessProvider
from gpuarray.providers.registry import open_device
from gpuarray.runtime import places

HOST = np.linspace(0, 1, 4000, dtype=np.float32)
BIG = np.ones(3 << 18, np.float32)


def compute():
    """Record, evaluate, update in place, and read."""
    x = xp.asarray(HOST)
    y = (x * 2 + 1).sum()
    x[3:7] = 9
    x[1:] = x[:-1] * 2
    return x.get(), float(y), xp.sort(x).get(), xp.random.default_rng(3).normal(size=100).get()


def record():
    """Record a function, and call it."""
    both = xp.jit(lambda a, b: (a * b + 1, a.sum()))
    x = xp.asarray(HOST)
    first, total = both(x, x)
    x *= 2
    return first.get(), float(total), both(x, first)[0].get()


def copy():
    """Copy what is large enough for several parts and threads."""
    x = xp.asarray(BIG)
    return (x * 2).get(), xp.asarray(np.concatenate([BIG] * 3))[::1000].get()


def interrupted(function, call):
    """Interrupt a function at a call within it, by its number; return whether there was such a call."""
    left = call

    def interrupt(frame, event, _):
        nonlocal left
        file = frame.f_code.co_filename
        if event == "call" and ("gpuarray" in file or "wgpu" in file or "threading" in file):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        function()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return left <= 0


@pytest.mark.parametrize("function", [compute, record, copy])
def test_what_follows_an_interrupt_is_right(monkeypatch, device: Device, function) -> None:
    # of interrupts while something is finalized, Python only tells; to keep what it tells would be to keep the frames
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    expected = function()
    xp.synchronize()
    gc.collect()
    provider = open_device(device)
    getattr(provider, "pool", provider).trim()
    held = provider.stats()["bytes_live"]
    call = 1
    while interrupted(function, call):
        for actual, known in zip(function(), expected, strict=True):
            np.testing.assert_array_equal(actual, known)
        call += 7
    assert call > 60
    assert tracing.state.trace is None
    assert "unlocked" in repr(places.graphs)
    assert all("unlocked" in repr(lock) for lock in places._locks.values())
    assert not places.being_updated
    assert "unlocked" in repr(trace._recording_lock)
    assert "unlocked" in repr(getattr(provider, "_lock", "unlocked"))
    gc.collect()
    getattr(provider, "pool", provider).trim()
    assert provider.stats()["bytes_live"] == held


def test_threads_go_on_after_an_interrupt() -> None:
    """Where an interrupt leaves a thread's work half begun, or its end not heard of, others are done all the same."""

    def shared():
        begun = [thread_pool.submit(divmod, 7, 2) for _ in range(3)]
        thread_pool.wait(begun)
        return [work.result() for work in begun]

    call = 1
    while interrupted(shared, call):
        done: list[list[tuple[int, int]]] = []
        other = threading.Thread(target=lambda done=done: done.append(shared()), daemon=True)
        other.start()
        other.join(10)
        assert done == [[(3, 1)] * 3]
        call += 1
    assert call > 10


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="signals of POSIX")
class TestHandlers:
    """Handlers of other signals than Ctrl-C, which use arrays."""

    @pytest.fixture
    def handled(self):
        """Values that a handler of SIGUSR1 reads, and of SIGUSR2, which raises."""
        x = xp.asarray(HOST, device="wgpu:0") * 2
        result = []

        def read(*_):
            result.append((x + 1).get())

        def leave(*_):
            raise SystemExit(3)

        before = signal.signal(signal.SIGUSR1, read), signal.signal(signal.SIGUSR2, leave)
        yield result
        signal.signal(signal.SIGUSR1, before[0])
        signal.signal(signal.SIGUSR2, before[1])

    @pytest.mark.parametrize("name", ["allocate", "submit", "create_buffer", "await_mapping", "finish_read"])
    def test_they_wait_while_the_driver_is_called(self, monkeypatch, handled, name) -> None:
        provider = open_device(Device("wgpu:0"))
        owner = provider._pool if name == "allocate" else provider._driver
        call = getattr(owner, name)
        sent = []

        def interrupted(*arguments, **keywords):
            if not sent:
                sent.append(name)
                signal.raise_signal(signal.SIGUSR1)
            return call(*arguments, **keywords)

        monkeypatch.setattr(owner, name, interrupted)
        with xp.using(device="wgpu:0"):
            provider.trim()
            np.testing.assert_array_equal((xp.asarray(HOST) - 1).get(), HOST - 1)
        assert sent
        assert len(handled) == 1
        np.testing.assert_array_equal(handled[0], HOST * 2 + 1)
        assert signal.getsignal(signal.SIGUSR1).__name__ == "read"

    def test_they_may_raise(self, monkeypatch, handled) -> None:
        provider = open_device(Device("wgpu:0"))
        submit = provider._driver.submit

        def interrupted(*arguments):
            monkeypatch.undo()
            signal.raise_signal(signal.SIGUSR2)
            signal.raise_signal(signal.SIGUSR1)
            submit(*arguments)

        x = xp.asarray(HOST, device="wgpu:0")
        monkeypatch.setattr(provider._driver, "submit", interrupted)
        with pytest.raises(SystemExit):
            (x - 1).get()
        assert len(handled) == 1
        assert signal.getsignal(signal.SIGUSR1).__name__ == "read"
        assert signal.getsignal(signal.SIGUSR2).__name__ == "leave"
        np.testing.assert_array_equal((x - 1).get(), HOST - 1)

    def test_they_wait_while_a_device_is_opened(self, monkeypatch, handled) -> None:
        def opened(number):
            signal.raise_signal(signal.SIGUSR1)
            assert not handled
            return InProcessProvider(Device("late"))

        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
        monkeypatch.setattr(registry, "_opened", dict(registry._opened))
        registry.register("late", opened)
        np.testing.assert_array_equal(xp.asarray(HOST, device="late").get(), HOST)
        open_device(Device("late"))
        assert len(handled) == 1
