"""Statuses of calls that do not wait for their results: numbers that are 0 if a call succeeded.

They are those of functions that ``jit`` has recorded, and of others if ``config.linalg_errors`` is ``"read"``. The next
read of any value reads its status too, and raises the error if it is not 0. The statuses of many calls share one
submission, which takes as long as a call itself.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, TypeGuard

import numpy as np
import numpy.typing as npt

from gpuarray.graph.nodes import Leaf
from gpuarray.providers.base import Provider, WordProvider
from gpuarray.runtime.placement.residency import host_values, is_on_host

#: Statuses that are read together if no value is read before.
_MOST: Final = 32


@dataclass(slots=True)
class _Status:
    """A status on a device, and the function that makes its error."""

    provider: WordProvider
    buffer: Any
    itemsize: int
    error: Callable[[], Exception]


_pending: Final[deque[_Status]] = deque()
"""Statuses on devices."""
_on_the_way: Final[deque[tuple[Sequence[_Status], Callable[[], npt.NDArray[np.uint32]]]]] = deque()
"""Statuses that are being copied to the host, with the functions that wait for the copies."""
_failed: Final[deque[Callable[[], Exception]]] = deque()
"""The errors of statuses that were not 0 together with another one."""


def _reads_words(provider: Provider) -> TypeGuard[WordProvider]:
    return hasattr(provider, "read_words")


def expect(leaf: Leaf, error: Callable[[], Exception]) -> None:
    """Raise an error if a status of one element is not 0: now if the host has it, else when a value is read.

    If no value is read for many calls, one of them raises it.
    """
    for provider, buffer in () if is_on_host(leaf) else [*leaf.buffers.items()]:
        if _reads_words(provider):
            _pending.append(_Status(provider, buffer, leaf.dtype.itemsize, error))
            if len(_pending) >= _MOST:
                start()
                while len(_on_the_way) > 1:
                    _check_oldest()
            return
    if host_values(leaf).any():
        raise error()


def start() -> None:
    """Start to copy the pending statuses to the host; :func:`check` waits for them."""
    if not _pending:
        return
    taken: list[_Status] = []
    try:
        while True:
            taken.append(_pending.popleft())
    except IndexError:  # another thread may take some
        pass
    alive = [status for status in taken if getattr(status.provider, "alive", True)]
    by_name = sorted(alive, key=lambda status: status.provider.device.name)
    try:
        for provider, group in groupby(by_name, key=attrgetter("provider")):
            statuses = [*group]
            _on_the_way.append((statuses, provider.read_words([status.buffer for status in statuses])))
            by_name = by_name[len(statuses) :]
    except KeyboardInterrupt:
        _pending.extendleft(reversed(by_name))
        raise


def check() -> None:
    """Wait for all statuses, and raise the error of the first that is not 0; the next call raises that of the next."""
    if _pending:
        start()
    while _on_the_way:
        _check_oldest()
    if _failed:
        raise _failed.popleft()()


def _check_oldest() -> None:
    try:
        statuses, wait = _on_the_way.popleft()
    except IndexError:  # another thread has it
        return
    if not getattr(statuses[0].provider, "alive", True):
        return
    try:
        words = wait()
    except KeyboardInterrupt:  # which may have ended the copy
        _pending.extendleft(reversed(statuses))
        raise
    # a status of a byte has undefined bytes behind it
    rows = words.view(np.uint8).reshape(-1, 4)
    for number in np.flatnonzero(words).tolist():
        if rows[number, : statuses[number].itemsize].any():
            _failed.append(statuses[number].error)
    if _failed:
        raise _failed.popleft()()
