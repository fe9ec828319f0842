"""The pool of threads that compute, copy and compile beside the calling thread; it starts at first use.

NumPy releases the interpreter's lock in calls on large arrays, so such work runs in parallel. Invariant: no work of the
pool waits for other work of the pool, so none can block another. The threads end with Python, and whoever submits work
that must not outlive something waits for it. A child of ``fork`` has none of its parent's threads and starts its own.
Used by the in-process provider, by :mod:`gpuarray.parallel_copy` and by the wgpu provider, which compiles kernels in
parallel.

:mod:`concurrent.futures` is not used because it takes locks in Python code: a KeyboardInterrupt between two of its
calls can leave a lock taken for ever. Here work is handed over by queues, lists and locks whose every call is atomic in
the interpreter, so an interrupted thread leaves nothing behind on which another one waits.
"""

import os
import threading
from _thread import RLock, allocate_lock, start_new_thread
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Generic, ParamSpec, TypeVar

from gpuarray.config import config

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds after which a waiting thread checks again whether the work is done.
_POLL_SECONDS: Final = 0.25


def thread_count() -> int:
    """Return how many threads may compute, the calling one included: ``config.threads``, or one a core."""
    return config.current.threads or core_count()


def core_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Future(Generic[T]):
    """The result of submitted work.

    Parameters
    ----------
    work : callable
        The function to call.
    """

    __slots__ = ("_error", "_finished", "_is_done", "_pending", "_result", "is_cancelled")

    def __init__(self, work: Callable[[], T]) -> None:
        self._pending = [work]  # of two threads that pop it, one gets it
        self._is_done = False
        self._error: BaseException | None = None
        self._finished = allocate_lock()
        self._finished.acquire()
        self.is_cancelled = False
        """Whether the work was cancelled before a thread began it."""

    def run(self) -> None:
        """Do the work, unless another thread does or it is cancelled."""
        try:
            work = self._pending.pop()
        except IndexError:
            return
        try:
            self._result = work()
        except BaseException as error:
            self._error = error
        self._is_done = True
        self._finished.release()

    @property
    def is_done(self) -> bool:
        """Whether the work is done, or has failed."""
        return self._is_done

    @property
    def has_failed(self) -> bool:
        """Whether the work has raised an error."""
        return self._error is not None

    def cancel(self) -> bool:
        """Cancel the work and return True; return False if a thread has begun or done it."""
        try:
            self._pending.pop()
        except IndexError:
            return self.is_cancelled
        self.is_cancelled = True
        return True

    def wait(self, check: Callable[[], object] = int) -> None:
        """Wait until the work is done; ``check`` is called several times a second, and may raise an exception."""
        while not self._is_done:
            if self._finished.acquire(timeout=_POLL_SECONDS):
                self._finished.release()  # for the next thread that waits
            else:
                check()

    def result(self) -> T:
        """Wait, and return the result of the work, or raise its error."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result


def submit(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Call ``work`` on another thread, or here if no thread can be started because Python is ending."""
    future = Future(partial(work, *args, **kwargs))
    try:
        _pool.submit(future, max(thread_count(), core_count()))
    except RuntimeError:
        future.run()
    return future


def wait(futures: Iterable[Future[Any]], interrupted: Callable[[], object] = int) -> None:
    """Wait until all work is done, even if interrupts come meanwhile: the work may write to memory of the caller.

    Parameters
    ----------
    futures : iterable of Future
        The work.
    interrupted : callable, optional
        Called at each interrupt, to tell the work to stop.

    Raises
    ------
    BaseException
        The last interrupt, once all work is done.
    """
    waiting = [*futures]
    interrupt: BaseException | None = None
    while waiting:
        try:
            waiting[-1].wait()
            waiting.pop()
        except BaseException as error:
            interrupt = error
            interrupted()
    if interrupt is not None:
        raise interrupt


class _Threads:
    """The threads; it grows when more are allowed."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Future[Any]] = SimpleQueue()
        self._lock = RLock()  # a signal handler may submit work while the thread that it interrupts does
        self._count = 0
        self._idle = 0  # threads that wait for work, less futures that wait for a thread

    def submit(self, future: Future[Any], max_threads: int) -> None:
        """Queue some work, and start a thread for it if none is idle and fewer than ``max_threads`` exist."""
        self._queue.put(future)
        with self._lock:
            self._idle -= 1
            if self._idle < 0 and self._count < max_threads:
                start_new_thread(self._run, (self._count,))
                self._count += 1
                self._idle += 1

    def _run(self, number: int) -> None:
        threading.current_thread().name = f"gpuarray_{number}"
        while True:
            future = self._queue.get()
            future.run()
            del future  # it may hold arrays
            with self._lock:
                self._idle += 1


_pool = _Threads()


def _after_fork() -> None:
    global _pool
    _pool = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
