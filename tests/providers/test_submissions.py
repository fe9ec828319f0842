"""Runs that wait for their submission: what they read, when they are submitted, and what becomes of them."""

import threading
import time

import numpy as np
import pytest
import wgpu

import gpuarray as xp
from gpuarray.codegen.programs import Binding, Launch, Program, ScalarParameter
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.providers import registry
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu import dispatch, flusher, uniforms
from gpuarray.providers.wgpu.driver import PublicDriver
from gpuarray.providers.wgpu.provider import WgpuProvider
from gpuarray.runtime.plans import plan_of

pytestmark = pytest.mark.wgpu

COUNT = 64
FOREVER = 1 << 62
ADD = """
@group(0) @binding(0) var<uniform> words: array<vec4<u32>, 1>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  result[id.x] = source[id.x] + words[0].x;
}
"""
INCREASE = """
@group(0) @binding(0) var<uniform> words: array<vec4<u32>, 1>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { result[id.x] += words[0].x; }
"""


def program(source=ADD, kinds=("input", "output")):
    """The sum of an input, or what is there, and a scalar."""
    windows = tuple(Binding(kind, 0, 0, 4 * COUNT, kind != "input") for kind in kinds)
    return Program((Launch(source, "add", windows, (0, 0, 0, 0), (ScalarParameter(0, 0, np.dtype("u4")),), (1, 1, 1)),))


class Open:
    """A provider whose runs stay open until something wants them submitted."""

    def __init__(self, provider):
        self.provider = provider
        self.add = provider.prepare_program(program())
        self.increase = provider.prepare_program(program(INCREASE, ("output",)))
        self.zeros = provider.allocate(4 * COUNT)
        provider.write(self.zeros, np.zeros(COUNT, np.uint32))
        for _ in range(2):  # compiled, and the first after a wait was submitted
            self.run(0)
        with self.provider._lock, self.provider._using("a flush"):  # a thread looks after what is open
            self.provider._dispatcher.flush()

    def run(self, scalar, source=None, result=None):
        """Enqueue an addition, and return its result."""
        result = result or self.provider.allocate(4 * COUNT)
        self.provider.run([Task(self.add, [source or self.zeros], [result], [scalar])])
        return result

    def grow(self, result, scalar):
        """Enqueue an addition in place."""
        self.provider.run([Task(self.increase, [], [result], [scalar])])

    def value(self, buffer):
        """Return the element that all elements of a buffer are."""
        result = np.empty(COUNT, np.uint32)
        self.provider.read(buffer, result)
        assert (result == result[0]).all()
        return int(result[0])

    def wait_for_the_thread(self):
        """Wait until nothing looks after what is open."""
        until = time.monotonic() + 100
        while self.provider._flusher.is_running:
            time.sleep(0.001)
            assert time.monotonic() < until

    @property
    def submits(self):
        return self.provider.stats()["submits"]

    @property
    def is_open(self):
        return self.provider._dispatcher._complete > 0


@pytest.fixture(params=["native", "public"])
def opened(request, monkeypatch):
    """A provider on each of the drivers, whose runs stay open."""
    if request.param == "public":
        monkeypatch.setattr("gpuarray.providers.wgpu.provider.open_driver", PublicDriver)
    provider = WgpuProvider(0)
    monkeypatch.setattr(dispatch, "_APART_NS", FOREVER)
    monkeypatch.setattr(dispatch, "_TOGETHER", 1000)
    monkeypatch.setattr(provider._dispatcher, "_busy_since", -FOREVER)
    monkeypatch.setattr(provider._dispatcher, "waited", lambda: None)
    yield Open(provider)
    provider.close()


class TestTogether:
    def test_each_run_reads_its_own_words(self, opened):
        before = opened.submits
        results = [opened.run(scalar) for scalar in (3, 5, 3, 7)]
        assert opened.submits == before
        assert [opened.value(result) for result in results] == [3, 5, 3, 7]
        assert opened.submits == before + 1

    def test_runs_are_in_order(self, opened):
        result = opened.run(1)
        for scalar in range(100):
            opened.grow(result, scalar)
        assert opened.value(opened.run(1000, source=result)) == 1 + 4950 + 1000

    def test_words_that_are_there_are_not_sent_again(self, opened, monkeypatch):
        sent = []
        write = opened.provider._driver.write
        monkeypatch.setattr(opened.provider._driver, "write", lambda *given: (sent.append(given), write(*given)))
        for scalars in ((3, 5), (5, 3), (5, 6)):
            results = [opened.run(scalar) for scalar in scalars]
            assert [opened.value(result) for result in results] == list(scalars)
        assert len(sent) == 2
        assert len(sent[1][2]) == opened.provider._dispatcher.alignment

    def test_words_begin_anew_when_there_is_no_room(self, opened, monkeypatch):
        monkeypatch.setattr(uniforms, "CAPACITY", 4 * opened.provider._dispatcher.alignment)
        before = opened.submits
        results = [opened.run(scalar) for scalar in range(10, 30)]
        assert [opened.value(result) for result in results] == list(range(10, 30))
        assert opened.submits - before >= 5

    def test_a_write_comes_after_what_was_run(self, opened):
        source = opened.run(4)
        result = opened.run(1, source=source)
        opened.provider.write(source, np.full(COUNT, 100, np.uint32))
        assert opened.value(result) == 5
        assert opened.value(source) == 100

    def test_memory_is_used_again_in_order(self, opened):
        results = []
        for scalar in range(10):
            source = opened.run(scalar)
            results.append(opened.run(1, source=source))
            source.release()
        assert [opened.value(result) for result in results] == list(range(1, 11))
        assert opened.provider.stats()["buffers_live"] == 11

    def test_memory_that_is_given_back_was_used(self, opened):
        source = opened.run(4)
        result = opened.run(1, source=source)
        source.release()
        opened.provider.trim()
        assert opened.value(result) == 5

    def test_a_memory_limit_holds(self, opened):
        source = opened.run(4)
        result = opened.run(1, source=source)
        source.release()
        opened.provider.trim()
        source = opened.run(5)
        again = opened.run(1, source=source)
        source.release()
        with config.using(memory_limit=opened.provider.stats()["bytes_live"] + 4096):
            opened.provider.allocate(4096)  # for which the released one is destroyed
        assert opened.provider.stats()["bytes_pooled"] == 4096
        assert [opened.value(result), opened.value(again)] == [5, 6]

    def test_two_threads(self, opened):
        wrong = []

        def work(seed):
            for number in range(50):
                result = opened.run(seed + number)
                opened.grow(result, 1)
                if number % 5 == 0 and opened.value(result) != seed + number + 1:
                    wrong.append((seed, number))

        workers = [threading.Thread(target=work, args=(seed,)) for seed in (1000, 2000, 3000)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert not wrong


class TestWhen:
    def test_a_read_travels_with_what_it_reads(self, opened, monkeypatch):
        result = opened.run(9)
        submits = []
        submit = opened.provider._driver.submit
        monkeypatch.setattr(opened.provider._driver, "submit", lambda *given: (submits.append(given), submit(*given)))
        assert opened.value(result) == 9
        assert len(submits) == 1

    @pytest.mark.parametrize("cause", ["synchronize", "export", "write", "collect"])
    def test_what_submits(self, opened, cause):
        result = opened.run(2)
        assert opened.is_open
        calls = {
            "synchronize": opened.provider.synchronize,
            "export": lambda: opened.provider.export(result),
            "write": lambda: opened.provider.write(opened.zeros, np.zeros(COUNT, np.uint32)),
            "collect": opened.provider.collect,
        }
        calls[cause]()
        assert not opened.is_open

    def test_many_are_submitted(self, opened, monkeypatch):
        monkeypatch.setattr(dispatch, "_TOGETHER", 8)
        before = opened.submits
        for _ in range(80):
            opened.run(1)
        assert opened.submits == before + 10

    def test_much_work_is_submitted(self, opened):
        opened.add.work = dispatch._WORK // 4
        before = opened.submits
        for _ in range(40):
            opened.run(1)
        assert opened.submits == before + 10

    def test_others_submissions_find_what_was_run(self, opened):
        """What others have is submitted at once, as before them."""
        result = opened.provider.allocate(4 * COUNT)
        gpu = opened.provider.export(result)
        opened.run(8, result=result)
        assert not opened.is_open
        assert bytes(opened.provider.gpu_device.queue.read_buffer(gpu, 0, 4)) == b"\x08\0\0\0"
        opened.run(8)
        assert opened.is_open

    def test_time_passes(self, opened, monkeypatch):
        monkeypatch.setattr(dispatch, "_LINGER_NS", 50_000_000)
        for _ in range(2):
            monkeypatch.setattr(dispatch, "_APART_NS", FOREVER)
            result = opened.run(6)
            assert opened.is_open
            monkeypatch.setattr(dispatch, "_APART_NS", 1_000_000)
            until = time.monotonic() + 100
            while opened.is_open and time.monotonic() < until:
                time.sleep(0.001)
            assert not opened.is_open
            opened.wait_for_the_thread()
            assert opened.value(result) == 6

    def test_the_thread_leaves_the_device_alone_as_long_as_there_is_nothing_to_do(self, opened, monkeypatch):
        opened.wait_for_the_thread()
        flusher, taken = opened.provider._flusher, []
        using = flusher._using
        monkeypatch.setattr(flusher, "_using", lambda doing: taken.append(doing) or using(doing))
        result = opened.run(3)
        assert flusher.is_running
        time.sleep(0.05)  # for many looks
        assert opened.is_open
        assert not taken
        monkeypatch.setattr(dispatch, "_APART_NS", 0)
        until = time.monotonic() + 100
        while opened.is_open:
            time.sleep(0.001)
            assert time.monotonic() < until
        assert taken
        assert opened.value(result) == 3

    def test_without_a_thread_it_is_submitted_at_once(self, opened, monkeypatch):
        def refuse(function, arguments):
            raise RuntimeError("can't create new thread at interpreter shutdown")

        monkeypatch.setattr(dispatch, "_LINGER_NS", 0)
        opened.wait_for_the_thread()
        monkeypatch.setattr(flusher, "start_new_thread", refuse)
        opened.run(1)
        assert not opened.is_open

    def test_the_longer_runs_follow_each_other_the_more_go_together(self, monkeypatch):
        now = [10**18]
        provider = WgpuProvider(0)
        opened = Open(provider)
        monkeypatch.setattr(dispatch, "perf_counter_ns", lambda: now[0])
        monkeypatch.setattr(provider._flusher, "start", lambda: None)

        def submitted(count, microseconds):
            """Return the numbers of the runs that were submitted at once, with all that were open."""
            result = []
            for number in range(count):
                now[0] += 1000 * microseconds
                opened.run(1)
                if not opened.is_open:
                    result.append(number)
            return result

        provider.synchronize()
        numbers = submitted(1000, 20)
        together = np.diff(numbers)
        assert numbers[:4] == [*range(4)]
        assert (np.diff(together) >= 0).all()
        assert together[-1] == 32
        provider.synchronize()
        assert submitted(4, 100) == [*range(4)], "a wait begins anew"
        assert submitted(5, 5000) == [*range(5)], "and so does a pause"
        provider.close()


class TestTrouble:
    def test_an_interrupt_before_the_submission_loses_nothing(self, opened, monkeypatch):
        first = opened.run(1)
        with monkeypatch.context() as patch:

            def interrupt(commands, download):
                raise KeyboardInterrupt

            patch.setattr(opened.provider._driver, "submit", interrupt)
            with pytest.raises(KeyboardInterrupt):
                opened.value(first)
            monkeypatch.setattr(dispatch, "_TOGETHER", 2)
            with pytest.raises(KeyboardInterrupt):
                opened.grow(first, 10)
        assert opened.value(first) == 1, "what was run is, and what was interrupted is not"

    def test_an_interrupt_after_the_submission_runs_nothing_twice(self, opened, monkeypatch):
        result = opened.run(1)
        opened.grow(result, 10)
        submit = opened.provider._driver.submit
        with monkeypatch.context() as patch:

            def interrupt(commands, download):
                submit(commands, download)
                raise KeyboardInterrupt

            patch.setattr(opened.provider._driver, "submit", interrupt)
            with pytest.raises(KeyboardInterrupt):
                opened.provider.synchronize()
        assert opened.value(result) == 11

    def test_no_room_for_words_loses_nothing(self, opened, monkeypatch):
        result = opened.run(77)
        with monkeypatch.context() as patch:

            def full(gpu, offset, data):
                raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

            patch.setattr(opened.provider._driver, "write", full)
            with pytest.raises(DeviceMemoryError):
                opened.provider.synchronize()
        assert opened.value(result) == 77

    @pytest.mark.parametrize("more", [0, 10])
    def test_what_is_read_next_is_on_its_way_unless_it_is_written_to(self, opened, more):
        result = opened.provider.allocate(4 * COUNT)
        opened.provider.run([Task(opened.add, [opened.zeros], [result], [3])], result)
        expected = opened.provider._transfers.expected
        assert expected is not None
        later = opened.run(5)
        if more:
            opened.grow(result, more)
        assert opened.provider._transfers.expected is (None if more else expected)
        assert opened.value(result) == 3 + more
        assert not opened.is_open, "what came later was submitted before the wait"
        assert opened.value(later) == 5

    def test_a_run_that_fails_leaves_the_others_alone(self, opened):
        first = opened.run(1)
        released = opened.provider.allocate(4 * COUNT)
        released.release()
        with pytest.raises(DeviceError, match="after its release"):
            opened.provider.run([Task(opened.increase, [], [first], [5]), Task(opened.increase, [], [released], [5])])
        assert opened.value(first) == 1

    def test_what_cannot_be_submitted_is_lost_with_the_device(self, opened, monkeypatch):
        """Arrays whose values were to be there must not be read."""
        result = opened.run(1)

        def refuse(commands, download):
            raise wgpu.GPUValidationError("no such thing")

        with monkeypatch.context() as patch:
            patch.setattr(opened.provider._driver, "submit", refuse)
            with pytest.raises(DeviceError, match="was lost"):
                opened.provider.synchronize()
        with pytest.raises(DeviceError, match="was lost"):
            opened.value(result)

    def test_closing_forgets_them(self, opened):
        opened.run(1)
        opened.provider.close()
        assert not opened.is_open


def test_work_is_what_a_step_moves_and_computes():
    provider = registry.open_device(Device("wgpu"))
    with xp.using(device="wgpu"):
        x = xp.asarray(np.ones((256, 256), np.float32))
        copied, multiplied = (plan_of((y._cell.node,), y.device)[0].pinned.steps for y in (x + 1, x @ x))
    assert copied[0].prepared.work == 16 * 2 * 4 * 256**2
    assert multiplied[0].prepared.work == 2 * 256**3
    assert provider.prepare_program(program()).work == 0


def test_errors_name_all_lines_that_were_open(monkeypatch):
    device = Device("wgpu")
    provider = registry.open_device(device)
    monkeypatch.setattr(dispatch, "_APART_NS", FOREVER)
    x = xp.asarray(np.ones(100, np.float32), device=device)
    for made in (x + 1, x * 3):  # what is submitted does not wait for a compiler then
        xp.evaluate(made)
    xp.synchronize(device)
    monkeypatch.setattr(provider._dispatcher, "_busy_since", -FOREVER)
    one = x + 1
    xp.evaluate(one)
    assert provider._dispatcher._complete

    def refuse(commands, download):
        raise wgpu.GPUValidationError("no such thing")

    monkeypatch.setattr(provider._driver, "submit", refuse)
    monkeypatch.setattr(dispatch, "_TOGETHER", 2)
    with pytest.raises(DeviceError, match="was lost") as caught:
        xp.evaluate(x * 3)
    notes = "\n".join(caught.value.__notes__)
    assert notes.index(": x * 3") < notes.index(": x + 1")
    again = xp.asarray(np.ones(100, np.float32), device=device) + 1
    assert float(again.sum()) == 200, "the device is opened anew"


class TestRepeated:
    """Runs with a key, whose commands are kept."""

    def grow(self, opened, result, scalar):
        """Enqueue an addition in place that can be repeated; return whether it was a repetition."""
        key = (1, result.serial)
        if opened.provider.repeat(key, [scalar]):
            return True
        opened.provider.run([Task(opened.increase, [], [result], [scalar])], None, key)
        return False

    def repeated(self, opened):
        """Return a buffer of zeros for which additions are repeated."""
        result = self.compiled(opened, 0)
        assert [self.grow(opened, result, 0) for _ in range(3)] == [False, False, True]
        return result

    def compiled(self, opened, scalar):
        """Return a buffer of a value, after the kernel was compiled."""
        result = opened.run(scalar)
        opened.grow(opened.run(0), 0)
        assert opened.value(result) == scalar
        return result

    def test_the_second_run_is_kept(self, opened):
        result = self.compiled(opened, 1)
        launches = opened.provider.stats()["launches"]
        assert [self.grow(opened, result, 2**n) for n in range(1, 7)] == [False, False, True, True, True, True]
        assert opened.provider.stats()["launches"] == launches + 6
        assert opened.value(result) == 127

    def test_other_scalars_have_other_words(self, opened):
        result = self.repeated(opened)
        before = opened.submits
        assert all(self.grow(opened, result, scalar) for scalar in (3, 3, 5, 3, 7))
        assert opened.submits == before
        assert opened.value(result) == 21

    def test_other_buffers_have_other_commands(self, opened):
        result = self.repeated(opened)
        other = opened.run(100)
        assert not self.grow(opened, other, 1)
        assert self.grow(opened, result, 2)
        assert [opened.value(result), opened.value(other)] == [2, 101]

    def test_words_begin_anew_when_there_is_no_room(self, opened, monkeypatch):
        result = self.repeated(opened)
        monkeypatch.setattr(uniforms, "CAPACITY", 4 * opened.provider._dispatcher.alignment)
        kept = [self.grow(opened, result, scalar) for scalar in range(10, 30)]
        assert set(kept) == {True, False}
        assert opened.value(result) == sum(range(10, 30))

    def test_released_memory_ends_it(self, opened):
        result = self.repeated(opened)
        released = opened.run(1)
        released.release()
        opened.provider.trim()
        assert not self.grow(opened, result, 5)
        assert opened.value(result) == 5

    def test_dropped_kernels_end_it(self, opened):
        result = self.repeated(opened)
        opened.increase.unbind()
        assert not self.grow(opened, result, 5)
        assert opened.value(result) == 5

    def test_a_closed_device_is_an_error(self, opened):
        result = self.repeated(opened)
        opened.provider.close()
        with pytest.raises(DeviceError):
            self.grow(opened, result, 5)

    def test_a_released_buffer_is_an_error(self, opened):
        result = self.repeated(opened)
        result.release()
        with pytest.raises(DeviceError, match="release"):
            self.grow(opened, result, 5)

    def test_shared_memory_is_submitted_at_once(self, opened):
        result = self.repeated(opened)
        opened.provider.export(result)
        before = opened.submits
        assert [self.grow(opened, result, 5) for _ in range(3)] == [False] * 3
        assert opened.submits == before + 3
        assert opened.value(result) == 15
        other = opened.run(0)
        assert [self.grow(opened, other, 1) for _ in range(3)][-1]

    def test_a_copy_to_the_host_travels_along(self, opened):
        result = self.repeated(opened)
        before = opened.submits
        assert opened.provider.repeat((1, result.serial), [4], result)
        assert opened.submits == before + 1
        assert opened.value(result) == 4
        assert opened.submits == before + 1

    def test_a_failed_submission_is_not_forgotten(self, opened, monkeypatch):
        result = self.repeated(opened)
        opened.value(result)
        monkeypatch.setattr(dispatch, "_TOGETHER", 1)

        def fail(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(opened.provider._driver, "submit", fail)
            with pytest.raises(KeyboardInterrupt):
                self.grow(opened, result, 4)
        assert self.grow(opened, result, 8)
        assert opened.value(result) == 8

    def test_long_programs_are_submitted_in_parts(self, opened, monkeypatch):
        monkeypatch.setattr(dispatch, "_BATCH", 8)
        monkeypatch.setattr(dispatch, "_FIRST", 2)
        result = self.compiled(opened, 0)
        tasks = [Task(opened.increase, [], [result], [scalar]) for scalar in range(30)]
        key = (2, result.serial)
        for _ in range(2):
            opened.provider.run(tasks, None, key)
        opened.value(result)
        before = opened.submits
        assert opened.provider.repeat(key, [*range(30)])
        assert opened.value(result) == 3 * 435
        assert opened.submits - before == 5  # of 2, 4, 8, 8 and 8 launches


def test_recordings_are_repeated(monkeypatch):
    """Programs that run again with the same memory, and scratch memory, do not bind their tasks again."""
    step = xp.jit(lambda x, a: (xp.sort(x, axis=0) * a).var() + x)
    x = xp.asarray(np.random.default_rng(0).random((300, 40), dtype=np.float32), device="wgpu")
    expected = np.asarray(x)
    for number in range(4):
        step(x, number)
        xp.synchronize()
    runs = []
    run = WgpuProvider.run
    monkeypatch.setattr(WgpuProvider, "run", lambda *given: (runs.append(given), run(*given))[1])
    for number in range(10):
        result = np.asarray(step(x, number))
        np.testing.assert_allclose(result, (expected * number).var() + expected, rtol=1e-5)
        del result
    assert len(runs) <= 2
