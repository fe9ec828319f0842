"""Work that the in-process provider shares with other threads, and the scratch memory that each of them computes in.

A :class:`Team` spreads numbered pieces of work over threads. How many gain anything is a matter of time: to wake one
takes some, and whenever NumPy comes back from a call its thread must have the interpreter, for which threads take
turns. So the first pieces of a kind of work are timed while one thread computes (:class:`Pace`), and what threads cost
is measured once (:class:`Costs`). Invariant: what a piece is does not depend on how many threads there are, so neither
do results. Runners of steps call :meth:`Team.spread` and :meth:`Team.lend`.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count, islice
from math import isqrt
from time import perf_counter_ns
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuarray import parallel_copy, thread_pool
from gpuarray.providers.inprocess.buffers import ALIGNMENT, Memory

#: Least size of an arena, so that it seldom has to move; pages that nobody touches cost nothing.
_ARENA: Final = 1 << 22

#: How often a piece is timed.
_TIMED: Final = 2
#: For how many runs fewer threads compute where more of them were a loss: at first, and at most where they still are.
_PAUSE: Final = 4
_PAUSE_MOST: Final = 64
_UNLIMITED: Final = 1 << 30

#: Threads that are measured together, how often each calls NumPy, with how many elements, and how often all that.
_CROWD: Final = 4
_TURNS: Final = 64
_TURN_SIZE: Final = 1 << 12
_REPEATS: Final = 5

_numbers = count()


class Arena:
    """Scratch memory that one thread owns for a while; it grows to the largest request and is then used again."""

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


class Costs(NamedTuple):
    """What threads cost here, in nanoseconds.

    Attributes
    ----------
    wake : int
        To begin work on another thread and to wait for its end.
    turn : int
        A call of NumPy's at least, of all threads together, where several make calls all the time.
    """

    wake: int
    turn: int


@lru_cache(maxsize=1)
def costs() -> Costs:
    """Return what threads cost, measured at the first call, in a few milliseconds."""
    helpers = max(min(thread_pool.core_count(), _CROWD) - 1, 1)
    source = np.zeros(_TURN_SIZE, np.float32)

    def call() -> None:
        target = np.empty_like(source)
        for _ in range(_TURNS):
            np.negative(source, target)

    def elapsed(work: Callable[[], object]) -> int:
        start = perf_counter_ns()
        begun = [thread_pool.submit(work) for _ in range(helpers)]
        work()
        thread_pool.wait(begun)
        return perf_counter_ns() - start

    wake = min(elapsed(int) for _ in range(_REPEATS)) // helpers
    turn = min(elapsed(call) for _ in range(_REPEATS)) // (_TURNS * (helpers + 1))
    return Costs(max(wake, 1), max(turn, 1))


class Pace:
    """How long a piece of some work takes one thread that computes alone.

    Parameters
    ----------
    calls : int
        Calls of NumPy's that a piece makes, about.
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
        """Whether a piece was timed often enough; the first of all touches fresh memory."""
        return self._timed >= _TIMED

    def take(self, elapsed: int) -> None:
        """Take note of how long a piece took: what else the machine does makes it longer, never shorter."""
        self.each = min(self.each, elapsed) if self._timed else elapsed
        self._timed += 1

    def threads(self, pieces: int, costs: Costs) -> int:
        """Return how many threads compute so many pieces soonest."""
        if self._pause:
            self._pause -= 1
            self._most = self._most if self._pause else _UNLIMITED
        # an equal share for each, and so much for waking it: the sum is least where the two are equal
        return min(isqrt(pieces * self.each // costs.wake), self.each // (self.calls * costs.turn), self._most)

    def shared(self, pieces: int, threads: int, elapsed: int) -> None:
        """Take note of how long threads took together: if that was a loss, twice running, fewer compute for a while.

        For how long doubles, so that a machine that was busy elsewhere is soon believed to be idle again.
        """
        if elapsed <= pieces * self.each:
            self._losses, self._next = 0, _PAUSE
            return
        self._losses += 1
        if self._losses == 2:
            self._losses, self._most, self._pause = 0, threads // 2, self._next
            self._next = min(2 * self._next, _PAUSE_MOST)


class Team:
    """Threads that share work with the calling one.

    Parameters
    ----------
    threads : int, optional
        How many threads compute at most, the calling one included; None follows ``config.threads``.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads
        self._arenas: list[Arena] = []

    @property
    def threads(self) -> int:
        """How many threads compute at most, the calling one included."""
        return (thread_pool.thread_count() if self._threads is None else self._threads) or thread_pool.core_count()

    def lend(self) -> Arena:
        """Return an arena that nobody else uses until it is given back."""
        try:
            return self._arenas.pop()  # atomic, as append is
        except IndexError:
            return Arena()

    def give(self, arena: Arena) -> None:
        """Take an arena back."""
        self._arenas.append(arena)

    def spread(self, pieces: int, work: Callable[[Iterator[int]], None], pace: Pace) -> None:
        """Call ``work`` with an iterator of piece numbers, on as many threads as gain from it; these share it."""
        numbers = iter(range(pieces))
        most = min(self.threads, pieces)
        if most > 1 and not pace.is_known:
            start = perf_counter_ns()
            work(islice(numbers, 1))
            pace.take(perf_counter_ns() - start)
            pieces -= 1
        helpers = min(most, pace.threads(pieces, costs())) - 1 if most > 1 else 0
        if helpers < 1:
            work(numbers)
            return
        start = perf_counter_ns()
        begun = [thread_pool.submit(_quietly, work, numbers) for _ in range(helpers)]
        try:
            work(numbers)
        finally:
            # who has not begun by now is not needed
            thread_pool.wait([each for each in begun if not each.cancel()])
        for each in begun:
            if not each.is_cancelled:
                each.result()
        pace.shared(pieces, helpers + 1, perf_counter_ns() - start)

    def spread_each(self, pieces: int, work: Callable[[int], Any], pace: Pace) -> None:
        """Call ``work`` with every piece number."""

        def draw(numbers: Iterator[int]) -> None:
            for number in numbers:
                work(number)

        self.spread(pieces, draw, pace)

    def copy(self, target: npt.NDArray[Any], source: npt.NDArray[Any]) -> None:
        """Copy a flat array to another of its dtype and size."""
        parallel_copy.copy(target.view(np.uint8), source.view(np.uint8), self.threads)

    def close(self) -> None:
        """Let the scratch memory go."""
        self._arenas = []


def _quietly(work: Callable[[Iterator[int]], None], numbers: Iterator[int]) -> None:
    """Work on a thread of its own, where floating-point warnings have to be switched off again."""
    with np.errstate(all="ignore"):
        work(numbers)
