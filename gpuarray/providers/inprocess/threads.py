"""The threads of the in-process provider, and the scratch memory that each of them computes in.

A :class:`Team` spreads numbered pieces of work over kept threads; NumPy lets go of the interpreter lock inside big
ufunc calls, so the pieces run side by side. Invariant: what a piece is does not depend on how many threads there are,
so neither do results. Runners of steps call :meth:`Team.spread` and :meth:`Team.lend`.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import count
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.config import config
from gpuarray.providers.inprocess.buffers import ALIGNMENT, Memory

#: Least size of an arena, so that it seldom has to move; pages that nobody touches cost nothing.
_ARENA: Final = 1 << 22

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


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Team:
    """Kept threads, started when first needed.

    Parameters
    ----------
    threads : int, optional
        How many threads compute, the calling one included; None follows ``config.threads``.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._workers = 0
        self._arenas: list[Arena] = []

    @property
    def threads(self) -> int:
        """How many threads compute, the calling one included."""
        wanted = config.current.threads if self._threads is None else self._threads
        return wanted or _cores()

    def lend(self) -> Arena:
        """Return an arena that nobody else uses until it is given back."""
        try:
            return self._arenas.pop()  # atomic, as append is
        except IndexError:
            return Arena()

    def give(self, arena: Arena) -> None:
        """Take an arena back."""
        self._arenas.append(arena)

    def spread(self, pieces: int, work: Callable[[Iterator[int]], None]) -> None:
        """Call ``work`` on several threads, each drawing piece numbers from one common iterator until none is left."""
        numbers = iter(range(pieces))
        helpers = min(self.threads, pieces) - 1
        if helpers < 1:
            work(numbers)
            return
        executor = self._pool(helpers)
        futures = [executor.submit(_quietly, work, numbers) for _ in range(helpers)]
        try:
            work(numbers)
        finally:
            wait(futures)
        for future in futures:
            future.result()

    def spread_each(self, pieces: int, work: Callable[[int], Any]) -> None:
        """Call ``work`` with every piece number."""

        def draw(numbers: Iterator[int]) -> None:
            for number in numbers:
                work(number)

        self.spread(pieces, draw)

    def copy(self, target: npt.NDArray[Any], source: npt.NDArray[Any]) -> None:
        """Copy a flat array to another of its size."""
        if source.nbytes < 1 << 22:
            target[...] = source
            return
        step = 1 << 20

        def piece(number: int) -> None:
            target[number * step : (number + 1) * step] = source[number * step : (number + 1) * step]

        self.spread_each(-(-source.size // step), piece)

    def close(self) -> None:
        """End the threads and let the scratch memory go."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()
        self._arenas = []

    def after_fork(self) -> None:
        """Forget threads that a child process does not have; new ones start when needed."""
        self._executor = None
        self._arenas = []

    def _pool(self, workers: int) -> ThreadPoolExecutor:
        executor = self._executor
        if executor is None or self._workers < workers:
            # a pool that is replaced is not shut down: another thread may be about to use it; it ends unreferenced
            workers = max(workers, _cores() - 1)
            executor = ThreadPoolExecutor(workers, thread_name_prefix="gpuarray")
            self._executor, self._workers = executor, workers
        return executor


def _quietly(work: Callable[[Iterator[int]], None], numbers: Iterator[int]) -> None:
    """Work on a thread of its own, where floating-point warnings have to be switched off again."""
    with np.errstate(all="ignore"):
        work(numbers)
