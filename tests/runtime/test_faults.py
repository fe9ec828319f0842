"""Faults and interrupts: an array that is updated in place has the old value or the new one, or says that it is lost.

Every call of the provider fails once, before and after its effect, in programs with updates in place. Whatever such a
program has in its arrays afterwards is what some statement of it wrote.
"""

import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest
from support import is_interrupted_soon

import gpuarray as xp
from gpuarray.errors import GpuArrayError, LostValueError
from gpuarray.providers.registry import open_device
from gpuarray.testing import Fault, failing

SIZE = 40_000
HOST = np.arange(SIZE, dtype=np.float32) % 97
#: Whether faults come at every call, as in the scheduled run.
THOROUGH = bool(os.environ.get("GPUARRAY_SOAK"))


def _reverse(x):
    x[::2] = x[1::2]
    x[1:] = x[:-1]


def _add_at(x):
    np.add.at(x, np.array([3, 3, 7, -1]), np.float32(2))


def _rows(x):
    rows = x.reshape(100, -1)
    rows[3] -= 1
    rows[:, 5] *= 2
    rows[1:-1, 1:-1] += rows[2:, 1:-1]


def _recurrence(x):
    for i in range(1, 5):
        x[i * 100 : i * 100 + 100] = x[i * 100 - 100 : i * 100] * 0.5 + x[i * 100 : i * 100 + 100]


def _masked(x):
    x[x > 50] = 7


def _scatter(x):
    x[np.array([5, 1, 77])] -= 3
    np.put(x, np.array([9, 8]), np.array([1, 2], np.float32))


def _part(x):
    x[1:-1] -= 1


_recorded_part = xp.jit(_part)


def _recorded(x):
    (_recorded_part if isinstance(x, xp.GpuArray) else _part)(x)


#: Programs of one statement after the other, each of which updates an array.
PROGRAMS = {
    "part": [lambda x: x[1:-1].__isub__(1)] * 3,
    "whole": [lambda x: x.__isub__(1)] * 3,
    "strided": [lambda x: x[::3].__iadd__(1), lambda x: x[1::2].__iadd__(x[::2])],
    "overwritten": [lambda x: x.__setitem__(slice(3, 9000), 1), lambda x: x.fill(2)],
    "overlapping": [_reverse],
    "added": [_add_at] * 2,
    "rows": [_rows],
    "recurrence": [_recurrence],
    "masked": [_masked, lambda x: x[1:-1].__isub__(1)],
    "scattered": [_scatter] * 2,
    "with a sum": [lambda x: x[5:].__isub__(x.sum() / 1e6), lambda x: x[:9].__iadd__(1)],
    "sorted": [lambda x: x[7:].__iadd__(1), lambda x: x.sort()],
    "recorded": [_recorded] * 3,
    "copied": [lambda x: x[1:-1].__isub__(1), lambda x: x.copy(), lambda x: x[1:-1].__isub__(1)],
}


def _states(program):
    """Return what NumPy has after each statement."""
    x = HOST.copy()
    result = [x.copy()]
    for statement in program:
        statement(x)
        result.append(x.copy())
    return result


def _is_one_of(result, states):
    return any(np.allclose(result, state, rtol=1e-4, atol=1e-4) for state in states)


def _attack(program, provider, number, after, error=Fault, read=True):
    """Run a program with a fault; return whether there was such a call, and whether the value was lost."""
    states = _states(program)
    x = xp.asarray(HOST) + 0
    xp.evaluate(x)
    begun = 0
    is_hit = False
    with failing(provider, number, after=after, error=error) as made:
        try:
            for statement in program:
                begun += 1
                statement(x)
                if read:
                    xp.evaluate(x)
            x.get()
        except (error, GpuArrayError):
            is_hit = True
        is_hit |= len(made) > number
    try:
        result = x.get()
    except LostValueError:
        return is_hit, True
    assert _is_one_of(result, states[begun - 1 : begun + 1]), f"{made[number]} {'after' if after else 'before'} effect"
    return is_hit, False


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_fault_leaves_a_value_that_nothing_wrote(name, read, device):
    provider = open_device(device)
    program = PROGRAMS[name]
    states = _states(program)
    for after in (False, True):
        number, hit = 0, True
        while hit:
            hit, _ = _attack(program, provider, number, after, read=read)
            number += 1 if THOROUGH or number < 12 else 3
        assert number > 2
    x = xp.asarray(HOST) + 0
    for statement in program:
        statement(x)
    assert _is_one_of(x.get(), states[-1:])


def test_a_lost_value_is_told(device, monkeypatch):
    x = xp.asarray(HOST) + 0
    xp.evaluate(x)
    provider = open_device(device)

    def fail(call, *arguments, **keywords):
        if call(*arguments, **keywords) is not False:  # by which ``repeat`` tells that it has done nothing
            raise Fault

    x[1:-1] -= 1
    with monkeypatch.context() as changes:
        for name in {"run", "repeat"}.intersection(dir(provider)):
            changes.setattr(provider, name, partial(fail, getattr(provider, name)))
        with pytest.raises(Fault):
            xp.evaluate(x)
    with pytest.raises(LostValueError, match="make the array again"):
        x.get()
    x[...] = 3
    assert (x.get() == 3).all()


def test_a_small_value_on_the_host_is_kept():
    small = HOST[:9000]
    x = xp.asarray(small, device="cpu") + 0
    xp.evaluate(x)
    with xp.using(direct_limit=0):
        x[1:-1] -= 1
        with failing(open_device(x.device), 0, after=True), pytest.raises(Fault):
            xp.evaluate(x)
        expected = small.copy()
        expected[1:-1] -= 1
        np.testing.assert_array_equal(x.get(), expected)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of threads")
@pytest.mark.parametrize("size", [3000, 1_000_000])
def test_ctrl_c_leaves_updates_whole(size, device):
    """No value is torn, none is written twice, and none is lost."""
    x = xp.zeros(size, dtype=xp.float32) + 0
    x[1:-1] -= 1
    x.get()  # an import that is interrupted would not be whole
    x = xp.zeros(size, dtype=xp.float32) + 0
    xp.evaluate(x)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident
    random = np.random.default_rng()
    stop = time.monotonic() + (100 if THOROUGH else 0)  # ten minutes for all sizes and devices
    tries = counted = 0
    try:
        while tries < 25 or time.monotonic() < stop:
            tries += 1
            timer = threading.Timer(random.uniform(0.001, 0.02), signal.pthread_kill, (main, signal.SIGINT))
            done = begun = 0
            try:
                timer.start()
                while True:
                    begun += 1
                    x[1:-1] -= 1
                    xp.evaluate(x)
                    done += 1
            except KeyboardInterrupt:
                counted += 1
            timer.join()
            values = np.unique(x.get()[1:-1])
            assert len(values) == 1
            assert begun - 1 <= -values[0] <= begun
            x = xp.zeros(size, dtype=xp.float32) + 0
            xp.evaluate(x)
    finally:
        signal.signal(signal.SIGINT, before)
    assert counted == tries
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers")
def test_handlers_that_use_arrays_work_or_raise_at_once(device):
    x = xp.asarray(HOST)
    actual = {"right": 0}
    refused = []
    is_within = False

    def handle(*_):
        nonlocal is_within
        if is_within:
            return
        is_within = True
        try:
            y = x[:100] * 2
            y[::2] += 1
            expected = HOST[:100] * 2
            expected[::2] += 1
            np.testing.assert_array_equal(y.get(), expected)
            actual["right"] += 1
        except GpuArrayError as error:
            refused.append(str(error))
        finally:
            is_within = False
            signal.setitimer(signal.ITIMER_REAL, 0.003)

    handle()  # an import that is interrupted would not be whole
    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        stop = time.monotonic() + (60 if THOROUGH else 2)
        while time.monotonic() < stop:
            z = x * 1.5 + 1
            z[1:-1] -= 1
            expected = HOST * np.float32(1.5) + 1
            expected[1:-1] -= 1
            np.testing.assert_allclose(z.get(), expected, rtol=1e-6)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # a handler that is due would start the timer again
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert actual["right"]
    assert all("interrupted" in message for message in refused)


def _evaluate_and_wait(x):
    xp.evaluate(x)
    time.sleep(60)  # on a machine that is done by then


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of threads")
def test_an_interrupt_of_a_long_update_does_not_wait_for_its_end():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    x = xp.zeros(30_000_000, dtype=xp.float32, device="cpu") + 0
    xp.evaluate(x)
    try:
        x[1:-1] = np.sin(x[1:-1]) ** 1.3 + np.exp(x[1:-1]) ** 0.3
        assert is_interrupted_soon(lambda: _evaluate_and_wait(x))
    finally:
        signal.signal(signal.SIGINT, before)
