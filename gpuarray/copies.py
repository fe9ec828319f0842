"""Copies of big arrays by several threads: one thread fills a memory bus to a tenth, and fresh pages take it longer."""

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import threads

Bytes: TypeAlias = npt.NDArray[np.uint8]

#: More threads than this gain nothing on the hosts that were measured.
_MOST: Final = 8
#: Bytes that a thread copies at least: to wake one takes as long as copying less.
_EACH: Final = 4 << 20


def begin(target: Bytes, source: Bytes) -> threads.Work[None]:
    """Copy bytes on another thread."""
    return threads.begin(np.copyto, target, source)


def copy(target: Bytes, source: Bytes, most: int | None = None) -> None:
    """Copy bytes on several threads, at most so many, if there are enough bytes."""
    count = min(threads.wanted() if most is None else most, _MOST, source.size // _EACH)
    if count < 2:
        np.copyto(target, source)
        return
    step = -(-source.size // count)
    begun = [
        begin(target[start : start + step], source[start : start + step]) for start in range(step, source.size, step)
    ]
    np.copyto(target[:step], source[:step])
    threads.wait(begun)
    for each in begun:
        each.result()


def copied(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of a C-contiguous array."""
    if array.nbytes < 2 * _EACH:
        return array.copy()
    made = np.empty(array.shape, array.dtype)
    copy(made.reshape(-1).view(np.uint8), array.reshape(-1).view(np.uint8))
    return made
