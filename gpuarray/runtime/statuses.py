"""Statuses of calls that ``jit`` has recorded: numbers that are 0 if a call succeeded.

Such a call does not wait for its results. Its statuses are copied to the host in the background, and the next read of
any value raises the error of a status that is not 0. If too many statuses are pending, a call waits for the oldest.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.graph.nodes import Leaf
from gpuarray.providers.base import Provider
from gpuarray.runtime.placement.residency import host_values, is_on_host

#: The maximum number of pending statuses.
_MOST: Final = 8
_expected: Final[deque[tuple[Provider, Any, Callable[[], None], npt.NDArray[Any], Callable[[], Exception]]]] = deque()
"""Devices, buffers of statuses, what waits for their copies, these copies, and the errors."""


def expect(leaf: Leaf, error: Callable[[], Exception]) -> None:
    """Raise an error if a status has an element that is not 0: now if the host has it, else when values are read."""
    for provider, buffer in () if is_on_host(leaf) else [*leaf.buffers.items()]:
        if (start := getattr(provider, "read_later", None)) is not None:  # not every provider has it
            array = np.empty(leaf.shape, leaf.dtype)
            _expected.append((provider, buffer, start(buffer, array), array, error))
            if len(_expected) > _MOST:
                _check_oldest()
            return
    if host_values(leaf).any():
        raise error()


def check() -> None:
    """Check all pending statuses."""
    while _expected:
        _check_oldest()


def _check_oldest() -> None:
    try:
        provider, buffer, wait, array, error = _expected.popleft()
    except IndexError:  # another thread has it
        return
    if getattr(provider, "alive", True):
        try:
            wait()
        except KeyboardInterrupt:  # which may have ended the copy
            _expected.appendleft((provider, buffer, partial(provider.read, buffer, array), array, error))
            raise
        if array.any():
            raise error()
