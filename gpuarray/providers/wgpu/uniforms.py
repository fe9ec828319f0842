"""The parameter words of launches on the device: one uniform buffer, in which each different block is there once.

Invariant: a block stays where it is until all launches that read it there were submitted. So launches may wait for
their submission while others are encoded, a loop that sends the same words again sends nothing, and new ones travel in
one write for each submission. Called by the dispatcher.
"""

from collections.abc import Callable
from typing import Any, Final

import wgpu

from gpuarray.providers.wgpu.driver import PublicDriver

CAPACITY: Final = 1 << 18


class Words:
    """The blocks of one device.

    Parameters
    ----------
    driver : PublicDriver
        Of the device.
    flush : callable
        Submits the launches that were told where their words are.
    """

    def __init__(self, driver: PublicDriver, flush: Callable[[], None]) -> None:
        self._driver = driver
        self._flush = flush
        self.gpu: Any = driver.create_buffer(CAPACITY, wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        #: Counts from 1 how often places were given anew: within an era a block stays where it is.
        self.era = 1
        self._places: dict[bytes, int] = {}
        self._sent = 0
        self._new = bytearray()

    def place(self, block: bytes) -> int:
        """Return the offset of a block, whose size is a multiple of the alignment, for a launch that is encoded now."""
        found = self._places.get(block)
        if found is None:
            found = self._sent + len(self._new)
            if found + len(block) > CAPACITY:
                self._flush()
                self.era += 1
                self._places.clear()
                self._new.clear()
                found = self._sent = 0
            self._new += block
            self._places[block] = found
        return found

    def send(self) -> None:
        """Have the queue write what is new, before what is submitted next."""
        if self._new:
            self._driver.write(self.gpu, self._sent, bytes(self._new))
            self._sent += len(self._new)
            self._new.clear()
