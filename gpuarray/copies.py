"""Copies of big arrays by several threads: one thread fills a memory bus to a tenth, and fresh pages take it longer.

NumPy lets go of the interpreter lock while it copies. The threads are kept once they were needed; a child of ``fork``
starts its own.
"""

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray.config import config

Bytes: TypeAlias = npt.NDArray[np.uint8]

#: More threads than this gain nothing on the hosts that were measured.
_MOST = 8
#: Copies of fewer bytes are made by one thread.
_BIG = 16 << 20

_executors: dict[int, ThreadPoolExecutor] = {}


def begin(target: Bytes, source: Bytes) -> "Future[None]":
    """Copy bytes on another thread; at once where Python is ending, and begins nothing on others."""
    try:
        return _executor(_threads()).submit(np.copyto, target, source)
    except RuntimeError:
        done: Future[None] = Future()
        np.copyto(target, source)
        done.set_result(None)
        return done


def copied(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of a C-contiguous array."""
    if array.nbytes < _BIG or _threads() == 1:
        return array.copy()
    made = np.empty(array.shape, array.dtype)
    target, source = (each.reshape(-1).view(np.uint8) for each in (made, array))
    step = -(-array.nbytes // _threads())
    begun = [begin(target[start : start + step], source[start : start + step]) for start in range(0, source.size, step)]
    wait(begun)
    for each in begun:
        each.result()
    return made


def _threads() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(config.current.threads or cores, _MOST)


def _executor(threads: int) -> ThreadPoolExecutor:
    found = _executors.get(threads)
    if found is None:
        found = _executors.setdefault(threads, ThreadPoolExecutor(threads, thread_name_prefix="gpuarray copies"))
    return found


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_executors.clear)
