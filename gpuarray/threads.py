"""The threads of this process that compute and copy beside the calling one: one pool, started when first needed.

NumPy lets go of the interpreter's lock in calls on big arrays, so such work runs side by side. Invariant: no work waits
for other work of the pool, so none can block another. Python waits for the threads when it ends; whatever is begun
later runs at once. A child of ``fork`` has none of its parent's threads and starts its own. The in-process provider,
:mod:`gpuarray.copies` and the wgpu provider, which compiles kernels side by side, begin work here.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from gpuarray.config import config

P = ParamSpec("P")
T = TypeVar("T")


def wanted() -> int:
    """Return how many threads shall compute, the calling one included: ``config.threads``, or one a core."""
    return config.current.threads or cores()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
    """Call ``work`` on another thread, or at once where Python is ending and begins nothing on others."""
    try:
        return _pool.executor(wanted()).submit(work, *args, **kwargs)
    except RuntimeError:
        done: Future[T] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class _Pool:
    """The threads; more of them where more are wanted."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._most = 0

    def executor(self, threads: int) -> ThreadPoolExecutor:
        if self._executor is None or self._most < threads:
            # what is replaced is not shut down: another thread may be about to use it; it ends when nobody refers to it
            self._most = max(threads, cores())
            self._executor = ThreadPoolExecutor(self._most, thread_name_prefix="gpuarray")
        return self._executor

    def forget(self) -> None:
        self._executor = None


_pool = _Pool()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)
