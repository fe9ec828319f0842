"""Which operations are computed at once is a matter of each thread and task."""

import asyncio
import threading
from contextvars import copy_context

import pytest

import gpuarray as xp
from gpuarray.immediacy import immediacy, resume_all, suspend_all, suspended
from gpuarray.providers import registry


@pytest.fixture(autouse=True)
def settings_remain():
    """No test changes a setting for those after it."""
    before = xp.config.direct_limit
    yield
    assert xp.config.direct_limit == before


def limit():
    return immediacy().limit


def in_a_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


def nested():
    with xp.using(device="cpu", direct_limit=7):
        with xp.using(direct_limit=5, strict_array_api=True):
            inner = limit()
        with xp.using(offload="always"):
            always = limit()
        with suspended(), xp.using(device="cpu", direct_limit=9):
            hidden = limit()
        return inner, always, hidden, limit()


def test_blocks_are_nested():
    before = limit()
    assert nested() == (0, 0, 0, 7)
    assert limit() == before


def test_a_thread_has_a_setting_of_its_own():
    common = in_a_thread(limit)
    assert common > 0
    with xp.using(device="cpu", direct_limit=3):
        assert (limit(), in_a_thread(limit)) == (3, common)
        assert in_a_thread(nested) == (0, 0, 0, 7)
        assert limit() == 3
    with suspended():
        assert (limit(), in_a_thread(limit)) == (0, common)


def test_a_suspension_in_one_thread_leaves_the_others():
    entered, left = threading.Event(), threading.Event()

    def record():
        with suspended():
            entered.set()
            left.wait(10)
            return limit()

    result = []
    thread = threading.Thread(target=lambda: result.append(record()))
    with xp.using(device="cpu", direct_limit=11):
        thread.start()
        entered.wait(10)
        with suspended():
            assert limit() == 0
        assert limit() == 11
        left.set()
        thread.join()
        assert limit() == 11
    assert result == [0]


def test_tasks_take_turns():
    async def task(number):
        with xp.using(device="cpu", direct_limit=number):
            for _ in range(5):
                await asyncio.sleep(0)
                assert limit() == number

    async def both():
        await asyncio.gather(task(2), task(3))

    before = limit()
    copy_context().run(asyncio.run, both())
    assert limit() == before


def test_an_assignment_reaches_other_threads_but_no_block():
    def assign():
        with xp.using(device="cpu", direct_limit=4):
            before = xp.config._base
            xp.config.device, xp.config.direct_limit = "cpu", 6
            try:
                return limit(), in_a_thread(limit), in_a_thread(nested)
            finally:
                xp.config.device, xp.config.direct_limit = before.device, before.direct_limit

    with xp.using(device="cpu", direct_limit=12):
        assert in_a_thread(assign) == (6, 6, (0, 0, 0, 7))
        assert limit() == 12


def test_all_threads_are_suspended_while_operations_are_observed():
    with xp.using(device="cpu", direct_limit=5):
        suspend_all()
        try:
            assert (limit(), in_a_thread(limit), in_a_thread(nested)) == (0, 0, (0, 0, 0, 0))
        finally:
            resume_all()
        assert limit() == 5
    assert in_a_thread(limit) > 0


def test_a_gpu_computes_more_arrays():
    with xp.using(device="auto", provider="cpu", direct_limit=32):
        registry.resolution()
        assert limit() == 32  # once it is known that there is no GPU
        with xp.using(provider="wgpu", software=True):
            assert limit() == 32  # until a trial
            xp.config.record_midsize(True)
            try:
                assert limit() == 4
                with xp.using(device="wgpu"):
                    assert limit() == 4
                with xp.using(device="cpu"):
                    assert limit() == 32
            finally:
                xp.config.record_midsize(False)
