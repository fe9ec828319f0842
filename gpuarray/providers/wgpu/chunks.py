"""Big copies in parts: threads move bytes between arrays and mapped buffers while the device moves other parts.

Invariant: a mapped buffer is unmapped only when the thread that has a view of it is done. Buffers are made when they
are first needed, and kept; the device's calls are made by the calling thread alone. Called by
:mod:`gpuarray.providers.wgpu.transfer`, under the provider's lock.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

import wgpu

from gpuarray import parallel_copy, thread_pool
from gpuarray.providers.wgpu.driver import Bytes, PublicDriver, Staging
from gpuarray.thread_pool import Future

#: Bytes of a part, and how many parts are under way at once, in each direction. wgpu-native takes memory for mappable
#: buffers in blocks of 64 MiB, from which it also serves every small write; were a block filled by parts, each write
#: would take a block of its own and give it back, which costs milliseconds.
PART: Final = 4 << 20
_COUNT: Final = 8
#: Bytes of the smallest part of a download: to wake a thread takes as long as copying less.
_SMALLEST: Final = 2 << 20
#: How many parts a download of more has at least, if they are not smaller than that.
_FEWEST: Final = 4
#: Parts that the device fills while threads empty the others.
_AHEAD: Final = 2


class Ring:
    """Mappable buffers of one part each.

    Parameters
    ----------
    make : callable
        Returns another buffer.
    """

    def __init__(self, make: Callable[[], Staging]) -> None:
        self._make = make
        self.all: list[Staging] = []
        self.free: deque[Staging] = deque()

    def take(self) -> Staging | None:
        """Return a buffer that nobody uses, that of the longest ago; None if all are used."""
        if not self.free and len(self.all) < _COUNT:
            try:
                made = self._make()
            except wgpu.GPUOutOfMemoryError:
                if not self.all:
                    raise
                return None
            self.all.append(made)
            return made
        return self.free.popleft() if self.free else None

    def give(self, staging: Staging) -> None:
        """Take a buffer back."""
        self.free.append(staging)

    def clear(self) -> None:
        """Forget all buffers."""
        self.all.clear()
        self.free.clear()


class Parts:
    """Big uploads and downloads of one device."""

    def __init__(self, driver: PublicDriver) -> None:
        self._driver = driver
        self._down = Ring(lambda: driver.create_staging(PART))
        self._up = Ring(lambda: driver.create_source(PART))

    def buffers(self) -> Iterator[Staging]:
        """Yield the buffers that are kept."""
        yield from self._down.all
        yield from self._up.all

    def upload(self, gpu: Any, data: Bytes) -> None:
        """Copy bytes to the start of a GPU buffer, through buffers that the device reads when they are full."""
        filling: deque[tuple[Staging, int, int, Future[None]]] = deque()

        def send() -> None:
            staging, start, nbytes, copied = filling[0]
            copied.result()
            filling.popleft()
            self._driver.send(staging, gpu, start, -(-nbytes // 4) * 4)
            self._up.give(staging)

        try:
            for start in range(0, data.size, PART):
                part = data[start : start + PART]
                while (staging := self._up.take()) is None:
                    send()
                self._driver.start_write(staging, -(-part.size // 4) * 4)
                copied = parallel_copy.start(self._driver.mapped(staging, part.size), part)
                filling.append((staging, start, part.size, copied))
            while filling:
                send()
        except BaseException:
            thread_pool.wait([copied for *_, copied in filling])
            raise

    def download(self, gpu: Any, data: Bytes) -> None:
        """Copy the start of a GPU buffer to bytes of the host, through buffers that the device fills."""
        if data.size <= _SMALLEST and (staging := self._down.take()) is not None:
            self._driver.start_read(gpu, 0, staging, -(-data.size // 4) * 4)
            self._driver.finish_read(staging, data)
            self._down.give(staging)
            return
        each = min(max(data.size // _FEWEST // 4 * 4, _SMALLEST), PART)
        started: deque[tuple[Staging, Bytes]] = deque()
        copying: deque[tuple[Staging, Future[None]]] = deque()

        def empty() -> None:
            staging, copied = copying[0]
            copied.result()
            copying.popleft()
            self._driver.unmap(staging)
            self._down.give(staging)

        def hand_on() -> None:
            staging, part = started.popleft()
            copying.append((staging, parallel_copy.start(part, self._driver.mapped(staging, part.size))))

        try:
            for start in range(0, data.size, each):
                part = data[start : start + each]
                while (staging := self._down.take()) is None:
                    if len(started) > _AHEAD or not copying:
                        hand_on()
                    else:
                        empty()
                self._driver.start_read(gpu, start, staging, -(-part.size // 4) * 4)
                started.append((staging, part))
            while started:
                hand_on()
            while copying:
                empty()
        except BaseException:
            thread_pool.wait([copied for _, copied in copying])
            raise

    def trim(self) -> None:
        """Give the memory of the buffers back; others are made when they are needed."""
        for staging in self.buffers():
            staging.gpu.destroy()
        self._down.clear()
        self._up.clear()

    def clear(self) -> None:
        """Forget the buffers."""
        self._down.clear()
        self._up.clear()
