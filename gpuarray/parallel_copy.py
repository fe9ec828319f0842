"""Copies of large arrays on several threads: one thread uses a tenth of the memory bandwidth, less on new pages."""

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import thread_pool

Bytes: TypeAlias = npt.NDArray[np.uint8]

#: More threads gained nothing on the measured hosts.
_MAX_THREADS: Final = 8
#: Fewest bytes per thread: to wake a thread takes as long as copying less.
_MIN_BYTES: Final = 4 << 20


def start(target: Bytes, source: Bytes) -> thread_pool.Future[None]:
    """Start a copy of bytes on another thread."""
    return thread_pool.submit(np.copyto, target, source)


def copy(target: Bytes, source: Bytes, max_threads: int | None = None) -> None:
    """Copy bytes, on several threads if there are enough bytes; at most on ``max_threads``."""
    allowed = thread_pool.thread_count() if max_threads is None else max_threads
    count = min(allowed, _MAX_THREADS, source.size // _MIN_BYTES)
    if count < 2:
        np.copyto(target, source)
        return
    step = -(-source.size // count)
    futures: list[thread_pool.Future[None]] = []
    try:
        for first in range(step, source.size, step):
            futures.append(start(target[first : first + step], source[first : first + step]))
        np.copyto(target[:step], source[:step])
    finally:
        thread_pool.wait(futures)
    for future in futures:
        future.result()


def copy_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of a C-contiguous array."""
    if array.nbytes < 2 * _MIN_BYTES:
        return array.copy()
    result = np.empty(array.shape, array.dtype)
    copy(result.reshape(-1).view(np.uint8), array.reshape(-1).view(np.uint8))
    return result
