"""Uniform arena: the parameter blocks of launches, in one uniform buffer that holds each different block once.

Invariant: a block keeps its offset until all launches that read it there were submitted. So launches may wait for their
submission while others are encoded, a loop that repeats its parameters uploads nothing, and new blocks are uploaded by
one write per submission. Called by the dispatcher.
"""

from collections.abc import Callable
from typing import Any, Final

import wgpu

from gpuarray.providers.wgpu.driver import PublicDriver

CAPACITY: Final = 1 << 18


class UniformArena:
    """The parameter blocks of one device.

    Parameters
    ----------
    driver : PublicDriver
        The driver of the device.
    flush : callable
        Submits the launches that were given offsets.
    """

    def __init__(self, driver: PublicDriver, flush: Callable[[], None]) -> None:
        self._driver = driver
        self._flush = flush
        self.gpu: Any = driver.create_buffer(CAPACITY, wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        #: Counts from 1 how often the arena was emptied; within a generation a block keeps its offset.
        self.generation = 1
        self._offsets: dict[bytes, int] = {}
        self._uploaded = 0
        self._new = bytearray()

    def offset_of(self, block: bytes) -> int:
        """Return the offset of a block, whose size is a multiple of the alignment, for a launch that is encoded now."""
        offset = self._offsets.get(block)
        if offset is None:
            offset = self._uploaded + len(self._new)
            if offset + len(block) > CAPACITY:
                self._flush()
                self.generation += 1
                self._offsets.clear()
                self._new.clear()
                offset = self._uploaded = 0
            self._new += block
            self._offsets[block] = offset
        return offset

    def upload(self) -> None:
        """Have the queue write the new blocks, before the next submission."""
        if self._new:
            self._driver.write(self.gpu, self._uploaded, bytes(self._new))
            self._uploaded += len(self._new)
            self._new.clear()
