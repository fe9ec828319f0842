"""The threads of this process that compute and copy beside the calling one: one pool, started when first needed.

NumPy lets go of the interpreter's lock in calls on big arrays, so such work runs side by side. Invariant: no work waits
for other work of the pool, so none can block another. The threads end with Python, and whoever began work that must not
outlive something waits for it. A child of ``fork`` has none of its parent's threads and starts its own. The in-process
provider, :mod:`gpuarray.copies` and the wgpu provider, which compiles kernels side by side, begin work here.

An interrupt of the program may come between any two calls of the main thread. What is handed over here goes through
queues, lists and locks whose every call is one of the interpreter's own, so that no thread waits for ever for what an
interrupted one was about to do; :mod:`concurrent.futures` takes locks in Python code, and can be left with one taken.
"""

import os
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Generic, ParamSpec, TypeVar

from gpuarray.config import config

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds after which who waits looks whether there is anything to wait for.
_PATIENCE: Final = 1.0


def wanted() -> int:
    """Return how many threads shall compute, the calling one included: ``config.threads``, or one a core."""
    return config.current.threads or cores()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Work(Generic[T]):
    """Work that was begun.

    Parameters
    ----------
    work : callable
        What to call.
    """

    __slots__ = ("_ended", "_error", "_is_done", "_left", "_result", "is_cancelled")

    def __init__(self, work: Callable[[], T]) -> None:
        self._left = [work]  # of two threads that take it, one gets it
        self._is_done = False
        self._error: BaseException | None = None
        self._ended = allocate_lock()
        self._ended.acquire()
        self.is_cancelled = False
        """Whether it will never be done."""

    def run(self) -> None:
        """Do the work, unless another thread does or it is cancelled."""
        try:
            work = self._left.pop()
        except IndexError:
            return
        try:
            self._result = work()
        except BaseException as error:
            self._error = error
        self._is_done = True
        self._ended.release()

    def cancel(self) -> bool:
        """Have the work not done, and return True; False if it is done, or some thread is at it."""
        try:
            self._left.pop()
        except IndexError:
            return self.is_cancelled
        self.is_cancelled = True
        return True

    def wait(self) -> None:
        """Wait until the work is done."""
        while not self._is_done:
            if self._ended.acquire(timeout=_PATIENCE):
                self._ended.release()  # who else waits is next

    def result(self) -> T:
        """Wait, and return what the work returned, or raise what it raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result


def begin(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Work[T]:
    """Call ``work`` on another thread, or at once where Python is ending and begins nothing on others."""
    begun = Work(partial(work, *args, **kwargs))
    try:
        _pool.take(begun, max(wanted(), cores()))
    except RuntimeError:
        begun.run()
    return begun


def wait(begun: Iterable[Work[Any]]) -> None:
    """Wait until works are done."""
    for work in begun:
        work.wait()


class _Pool:
    """The threads; more of them where more are wanted."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Work[Any]] = SimpleQueue()
        self._lock = allocate_lock()
        self._count = 0
        self._spare = 0  # how many threads wait for work, less the works that wait for a thread

    def take(self, work: Work[Any], most: int) -> None:
        """Have a thread do some work: one of at most so many."""
        self._queue.put(work)
        with self._lock:
            self._spare -= 1
            if self._spare < 0 and self._count < most:
                start_new_thread(self._run, (self._count,))
                self._count += 1
                self._spare += 1

    def _run(self, number: int) -> None:
        threading.current_thread().name = f"gpuarray_{number}"
        while True:
            work = self._queue.get()
            work.run()
            del work  # it may hold arrays
            with self._lock:
                self._spare += 1


_pool = _Pool()


def _forget() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
