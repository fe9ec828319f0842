"""Threads that share the work of the in-process provider, and the scratch memory that each of them computes in.

A :class:`WorkerPool` runs numbered chunks of work on several threads. How many threads gain anything is a question of
time: waking one takes some, and after every NumPy call a thread waits for the interpreter, which one thread has at a
time. So the first chunks of a kind of work are timed on one thread (:class:`ChunkTiming`), and what threads cost is
measured once (:class:`ThreadCosts`). Invariant: the chunks do not depend on the number of threads, so neither do
results. Prepared steps call :meth:`WorkerPool.run` and :meth:`WorkerPool.borrow_arena`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from itertools import count, islice
from math import isqrt
from time import perf_counter_ns
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuarray import interrupts, logs, parallel_copy, thread_pool
from gpuarray.providers.inprocess.buffers import ALIGNMENT, Memory

#: The minimum size of an arena, so that it seldom moves; untouched pages cost nothing.
_ARENA: Final = 1 << 22

#: How many chunks are timed before threads share the work.
_TIMED: Final = 2
#: For how many runs fewer threads compute after more of them were a loss: at first, and at most.
_PAUSE: Final = 4
_LONGEST_PAUSE: Final = 64
_UNLIMITED: Final = 1 << 30
#: Nanoseconds on one thread from which on a run is reported as long.
_LONG_NS: Final = 2_000_000_000

#: The measurement of thread costs: threads at once, NumPy calls of each, elements of a call, and repetitions.
_MEASURED_THREADS: Final = 4
_CALLS: Final = 64
_CALL_SIZE: Final = 1 << 12
_REPEATS: Final = 5

_numbers = count()


class Arena:
    """Scratch memory that one thread owns for a while. It grows to the largest request and is reused."""

    __slots__ = ("memory", "number")

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.memory: Memory = np.empty(0, np.uint8)

    def reserve(self, nbytes: int) -> int:
        """Make room for ``nbytes`` and return a number that changes whenever the memory moves."""
        if self.memory.nbytes < nbytes:
            nbytes = max(nbytes, _ARENA)
            raw = np.empty(nbytes + ALIGNMENT, np.uint8)
            start = -raw.ctypes.data % ALIGNMENT
            self.memory = raw[start : start + nbytes]
            self.number = next(_numbers)
        return self.number


class ThreadCosts(NamedTuple):
    """The costs of threads on this machine, in nanoseconds.

    Attributes
    ----------
    wake : int
        Starting work on another thread and waiting for its end.
    handoff : int
        The least time between two NumPy calls, of any threads, while several threads make calls all the time.
    """

    wake: int
    handoff: int


@lru_cache(maxsize=1)
def thread_costs() -> ThreadCosts:
    """Return the cost of threads. The first call measures it, in a few milliseconds."""
    helpers = max(min(thread_pool.core_count(), _MEASURED_THREADS) - 1, 1)
    source = np.zeros(_CALL_SIZE, np.float32)

    def call() -> None:
        target = np.empty_like(source)
        for _ in range(_CALLS):
            np.negative(source, target)

    def elapsed(work: Callable[[], object]) -> int:
        start = perf_counter_ns()
        begun = [thread_pool.submit(work) for _ in range(helpers)]
        work()
        thread_pool.wait(begun)
        return perf_counter_ns() - start

    wake = min(elapsed(int) for _ in range(_REPEATS)) // helpers
    handoff = min(elapsed(call) for _ in range(_REPEATS)) // (_CALLS * (helpers + 1))
    return ThreadCosts(max(wake, 1), max(handoff, 1))


class ChunkTiming:
    """The time of a chunk of one kind of work on one thread, and whether more threads gained.

    Parameters
    ----------
    calls : int
        About how many NumPy functions a chunk calls.
    """

    __slots__ = ("_losses", "_most", "_next", "_pause", "_timed", "calls", "each")

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.each = 0
        self._timed = 0
        self._losses = 0
        self._most = _UNLIMITED
        self._pause = 0
        self._next = _PAUSE

    @property
    def is_known(self) -> bool:
        """Whether enough chunks were timed; the very first one touches fresh memory."""
        return self._timed >= _TIMED

    def record(self, elapsed: int) -> None:
        """Record the time of one chunk. The least counts: other work on the machine only makes times longer."""
        self.each = min(self.each, elapsed) if self._timed else elapsed
        self._timed += 1

    def best_threads(self, chunks: int, costs: ThreadCosts) -> int:
        """Return the number of threads that finish a number of chunks first."""
        if self._pause:
            self._pause -= 1
            self._most = self._most if self._pause else _UNLIMITED
        # chunks * each / n of computing plus n * wake is least where the two are equal
        return min(isqrt(chunks * self.each // costs.wake), self.each // (self.calls * costs.handoff), self._most)

    def record_shared(self, chunks: int, threads: int, elapsed: int) -> None:
        """Record the time that several threads took. After two losses in a row fewer threads compute for some runs.

        The number of runs doubles each time, so that one busy moment of the machine is soon forgotten.
        """
        if elapsed <= chunks * self.each:
            self._losses, self._next = 0, _PAUSE
            return
        self._losses += 1
        if self._losses == 2:
            self._losses, self._most, self._pause = 0, threads // 2, self._next
            self._next = min(2 * self._next, _LONGEST_PAUSE)


class WorkerPool:
    """Threads that share work with the calling thread.

    Parameters
    ----------
    threads : int, optional
        The most threads that compute, the calling one included; None follows ``config.threads``.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads
        self._arenas: list[Arena] = []

    @property
    def threads(self) -> int:
        """The most threads that compute, the calling one included."""
        return (thread_pool.thread_count() if self._threads is None else self._threads) or thread_pool.core_count()

    def borrow_arena(self) -> Arena:
        """Return an arena that no other thread uses until it is returned."""
        try:
            return self._arenas.pop()  # atomic, as append is
        except IndexError:
            return Arena()

    def return_arena(self, arena: Arena) -> None:
        """Take back an arena that was borrowed."""
        self._arenas.append(arena)

    def run(self, chunks: int, work: Callable[[Iterator[int]], None], timing: ChunkTiming) -> None:
        """Call ``work`` with an iterator of chunk numbers that as many threads share as gain from it."""
        numbers = iter(range(chunks))
        most = min(self.threads, chunks)
        if most > 1 and not timing.is_known:
            start = perf_counter_ns()
            work(islice(numbers, 1))
            timing.record(perf_counter_ns() - start)
            chunks -= 1
        helpers = min(most, timing.best_threads(chunks, thread_costs())) - 1 if most > 1 else 0
        if helpers < 1:
            work(_until_interrupted(numbers, chunks * timing.each > _LONG_NS))
            return
        start = perf_counter_ns()
        stopped: list[bool] = []
        begun: list[thread_pool.Future[None]] = []
        is_done = False
        try:
            for _ in range(helpers):
                begun.append(thread_pool.submit(_quietly, work, _until(stopped, numbers)))
            work(_until_interrupted(numbers, chunks * timing.each > _LONG_NS))
            is_done = True
        finally:
            if not is_done:
                stopped.append(True)
            # helpers that have not started by now are not needed
            thread_pool.wait([each for each in begun if not each.cancel()], lambda: stopped.append(True))
        for each in begun:
            if not each.is_cancelled:
                each.result()
        timing.record_shared(chunks, helpers + 1, perf_counter_ns() - start)

    def run_each(self, chunks: int, work: Callable[[int], Any], timing: ChunkTiming) -> None:
        """Call ``work`` with every chunk number, on as many threads as gain from it."""

        def draw(numbers: Iterator[int]) -> None:
            for number in numbers:
                work(number)

        self.run(chunks, draw, timing)

    def copy(self, target: npt.NDArray[Any], source: npt.NDArray[Any]) -> None:
        """Copy a flat array to another of its dtype and size."""
        parallel_copy.copy(target.view(np.uint8), source.view(np.uint8), self.threads)

    def close(self) -> None:
        """Free the scratch memory."""
        self._arenas = []


def _until(stopped: Sequence[bool], numbers: Iterator[int]) -> Iterator[int]:
    """Yield numbers until another thread says that work is to stop."""
    for number in numbers:
        if stopped:
            return
        yield number


def _until_interrupted(numbers: Iterator[int], is_long: bool) -> Iterator[int]:
    """Yield numbers; raise an interrupt that has waited for long. Long work is reported."""
    with logs.report_if_long("host", logs.ON_HOST) if is_long else nullcontext():
        for number in numbers:
            if interrupts.waits_long():
                raise KeyboardInterrupt
            yield number


def _quietly(work: Callable[[Iterator[int]], None], numbers: Iterator[int]) -> None:
    """Work on a thread of its own, where floating-point warnings have to be switched off again."""
    with np.errstate(all="ignore"):
        work(numbers)
