"""Threads of the in-process provider: how many share work, and that they do it right."""

import threading
import time

import pytest

import gpuarray as xp
from gpuarray import thread_pool
from gpuarray.providers.inprocess import workers
from gpuarray.providers.inprocess.workers import ChunkTiming, ThreadCosts, WorkerPool

FREE = ThreadCosts(wake=1, handoff=1)


def known(each, calls=1):
    """Return the timing of chunks that take so many nanoseconds."""
    timing = ChunkTiming(calls)
    timing.record(10 * each)  # fresh memory
    timing.record(each)
    return timing


@pytest.fixture
def free(monkeypatch):
    """Let threads cost nothing."""
    monkeypatch.setattr(workers, "thread_costs", lambda: FREE)


class TestChunkTiming:
    def test_the_shortest_time_counts(self):
        timing = ChunkTiming(1)
        for elapsed in (900, 300):
            assert not timing.is_known
            timing.record(elapsed)
        assert timing.is_known
        assert timing.each == 300

    def test_work_that_is_soon_over_is_not_shared(self):
        costs = ThreadCosts(wake=20_000, handoff=1)
        assert known(10_000).best_threads(4, costs) < 2
        assert known(10_000).best_threads(8, costs) == 2
        assert known(10_000).best_threads(800, costs) == 20

    def test_short_calls_are_not_shared(self):
        costs = ThreadCosts(wake=1, handoff=5000)
        assert known(40_000, calls=10).best_threads(1000, costs) < 2
        assert known(40_000, calls=2).best_threads(1000, costs) == 4

    def test_fewer_threads_compute_where_more_of_them_were_a_loss(self):
        costs = ThreadCosts(wake=1, handoff=1)
        timing = known(1000)
        assert timing.best_threads(4096, costs) == 1000
        timing.record_shared(10, 8, 10_001)
        timing.record_shared(10, 8, 5000)
        timing.record_shared(10, 8, 10_001)
        assert timing.best_threads(4096, costs) == 1000
        timing.record_shared(10, 8, 10_001)
        assert [timing.best_threads(4096, costs) for _ in range(3)] == [4] * 3
        assert timing.best_threads(4096, costs) == 1000  # what else the machine did may be over

    def test_where_they_still_are_a_loss_it_is_for_longer(self):
        costs = ThreadCosts(wake=1, handoff=1)
        timing = known(1000)
        pauses = []
        for gains in (False, False, False, False, False, False, True, False):
            if gains:
                timing.record_shared(10, 8, 5000)
            timing.record_shared(10, 8, 10_001)
            timing.record_shared(10, 8, 10_001)
            pauses.append(1)
            while timing.best_threads(4096, costs) == 4:
                pauses[-1] += 1
        assert pauses == [4, 8, 16, 32, 64, 64, 4, 8]


class TestWorkerPool:
    @pytest.mark.parametrize("chunks", [0, 1, 2, 3, 100])
    @pytest.mark.parametrize("count", [1, 2, 7])
    def test_every_chunk_is_computed_once(self, free, chunks, count):
        done = []
        timing = ChunkTiming(1)
        for _ in range(3):
            WorkerPool(count).run_each(chunks, done.append, timing)
        assert sorted(done) == sorted([*range(chunks)] * 3)

    def test_work_is_on_several_threads_at_once(self, free):
        meeting = threading.Barrier(3, timeout=100)

        def work(numbers):
            next(numbers)
            meeting.wait()

        WorkerPool(3).run(3, work, known(1000))
        assert not meeting.broken

    def test_what_gains_nothing_stays_on_the_calling_thread(self, monkeypatch):
        monkeypatch.setattr(workers, "thread_costs", lambda: ThreadCosts(wake=20_000, handoff=5000))
        seen = set()
        WorkerPool(8).run_each(50, lambda _: seen.add(threading.get_ident()), known(100))
        assert seen == {threading.get_ident()}

    @pytest.mark.parametrize("culprit", ["caller", "helper"])
    def test_errors_arrive(self, free, culprit):
        caller, meeting = threading.get_ident(), threading.Barrier(2, timeout=100)

        def work(numbers):
            meeting.wait()
            if (threading.get_ident() == caller) == (culprit == "caller"):
                raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            WorkerPool(2).run(2, work, known(1000))

    def test_helpers_that_come_too_late_are_not_waited_for(self, free):
        blocked = threading.Event()
        begun = [
            thread_pool.submit(blocked.wait, 10)
            for _ in range(max(thread_pool.core_count(), thread_pool.thread_count()))
        ]
        done = []
        WorkerPool(2).run_each(5, done.append, known(1000))
        blocked.set()
        assert done == [0, 1, 2, 3, 4]
        assert all(each.result() for each in begun)


class TestPool:
    @pytest.mark.parametrize("cores", [1, 2, 16])
    def test_what_threads_cost_is_measured(self, monkeypatch, cores):
        monkeypatch.setattr(thread_pool, "core_count", lambda: cores)
        costs = workers.thread_costs.__wrapped__()
        assert 0 < costs.handoff < 10_000_000
        assert 0 < costs.wake < 100_000_000

    def test_there_is_one_pool_for_all(self):
        xp.evaluate(xp.exp(xp.ones(3_000_000, device="cpu")))
        thread_pool.submit(int).result()
        pools = {thread.name.rpartition("_")[0] for thread in threading.enumerate() if "gpuarray" in thread.name}
        assert pools - {""} == {"gpuarray"}  # others are one thread each

    def test_more_threads_are_started_where_more_are_wanted(self):
        count = thread_pool.core_count() + 2
        meeting = threading.Barrier(count, timeout=100)
        with xp.using(threads=count):
            begun = [thread_pool.submit(meeting.wait) for _ in range(count)]
        assert sorted(each.result() for each in begun) == list(range(count))

    def test_errors_arrive(self):
        with pytest.raises(ZeroDivisionError):
            thread_pool.submit(divmod, 1, 0).result()


class TestInterrupts:
    def test_all_threads_stop_soon(self, free):
        done = []

        def work(numbers):
            for number in numbers:
                done.append(number)
                time.sleep(0.001)
                if len(done) > 20 and threading.current_thread() is threading.main_thread():
                    raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            WorkerPool(4).run(100_000, work, known(10**6))
        assert len(done) < 8000
        before = len(done)
        time.sleep(0.02)
        assert len(done) == before

    def test_a_wait_goes_on_after_interrupts(self):
        """What other threads write to belongs to them until they are done."""
        calls = []

        class Slow:
            is_done = False
            interrupts = 3

            def wait(self):
                if self.interrupts:
                    self.interrupts -= 1
                    raise KeyboardInterrupt
                self.is_done = True

        slow = Slow()
        with pytest.raises(KeyboardInterrupt):
            thread_pool.wait([slow], lambda: calls.append(True))
        assert slow.is_done
        assert len(calls) == 3
