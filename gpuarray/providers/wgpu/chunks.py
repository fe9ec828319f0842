"""Chunked transfers: threads copy between arrays and mapped staging buffers while the device copies other chunks.

Invariant: a mapped buffer is unmapped only after the thread that has a view of it is done. Staging buffers are made at
first need and kept; only the calling thread calls the device. Called by :mod:`gpuarray.providers.wgpu.transfer`, under
the provider's lock.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

import wgpu

from gpuarray import parallel_copy, thread_pool
from gpuarray.providers.wgpu.driver import Bytes, PublicDriver, Staging
from gpuarray.thread_pool import Future

#: Bytes of a chunk, and how many staging buffers of that size there are in each direction. wgpu-native takes memory for
#: mappable buffers in blocks of 64 MiB, from which it also serves every small write; if the staging buffers filled a
#: block, each write would allocate and free a block of its own, which costs milliseconds.
CHUNK_BYTES: Final = 4 << 20
_RING_SIZE: Final = 8
#: Bytes of the smallest chunk of a download: to wake a thread takes as long as copying less.
_MIN_CHUNK_BYTES: Final = 2 << 20
#: A larger download has at least this many chunks, unless they would be smaller than that.
_MIN_CHUNKS: Final = 4
#: Chunks that the device fills while threads empty the others.
_PREFETCH: Final = 2


class StagingRing:
    """Mappable buffers of one chunk each, used in turn.

    Parameters
    ----------
    create : callable
        Returns another buffer.
    """

    def __init__(self, create: Callable[[], Staging]) -> None:
        self._create = create
        self.all: list[Staging] = []
        self.free: deque[Staging] = deque()

    def acquire(self) -> Staging | None:
        """Return the buffer that has been free for longest, or a new one; None if all are in use."""
        if not self.free and len(self.all) < _RING_SIZE:
            try:
                staging = self._create()
            except wgpu.GPUOutOfMemoryError:
                if not self.all:
                    raise
                return None
            self.all.append(staging)
            return staging
        return self.free.popleft() if self.free else None

    def release(self, staging: Staging) -> None:
        """Take a buffer back."""
        self.free.append(staging)

    def clear(self) -> None:
        """Forget all buffers."""
        self.all.clear()
        self.free.clear()


class ChunkedTransfer:
    """Large uploads and downloads of one device."""

    def __init__(self, driver: PublicDriver) -> None:
        self._driver = driver
        self._downloads = StagingRing(lambda: driver.create_staging(CHUNK_BYTES))
        self._uploads = StagingRing(lambda: driver.create_source(CHUNK_BYTES))

    def buffers(self) -> Iterator[Staging]:
        """Yield the staging buffers that are kept."""
        yield from self._downloads.all
        yield from self._uploads.all

    def upload(self, gpu: Any, data: Bytes) -> None:
        """Copy bytes to the start of a GPU buffer."""
        filling: deque[tuple[Staging, int, int, Future[None]]] = deque()

        def send() -> None:
            staging, start, nbytes, future = filling[0]
            future.result()
            filling.popleft()
            self._driver.send(staging, gpu, start, -(-nbytes // 4) * 4)
            self._uploads.release(staging)

        try:
            for start in range(0, data.size, CHUNK_BYTES):
                chunk = data[start : start + CHUNK_BYTES]
                while (staging := self._uploads.acquire()) is None:
                    send()
                self._driver.start_write(staging, -(-chunk.size // 4) * 4)
                future = parallel_copy.start(self._driver.mapped(staging, chunk.size), chunk)
                filling.append((staging, start, chunk.size, future))
            while filling:
                send()
        except BaseException:
            thread_pool.wait([future for *_, future in filling])
            raise

    def download(self, gpu: Any, data: Bytes) -> None:
        """Copy the start of a GPU buffer to bytes of the host."""
        if data.size <= _MIN_CHUNK_BYTES and (staging := self._downloads.acquire()) is not None:
            self._driver.start_read(gpu, 0, staging, -(-data.size // 4) * 4)
            self._driver.finish_read(staging, data)
            self._downloads.release(staging)
            return
        nbytes = min(max(data.size // _MIN_CHUNKS // 4 * 4, _MIN_CHUNK_BYTES), CHUNK_BYTES)
        reading: deque[tuple[Staging, Bytes]] = deque()
        emptying: deque[tuple[Staging, Future[None]]] = deque()

        def release_first() -> None:
            staging, future = emptying[0]
            future.result()
            emptying.popleft()
            self._driver.unmap(staging)
            self._downloads.release(staging)

        def empty_first() -> None:
            staging, chunk = reading.popleft()
            emptying.append((staging, parallel_copy.start(chunk, self._driver.mapped(staging, chunk.size))))

        try:
            for start in range(0, data.size, nbytes):
                chunk = data[start : start + nbytes]
                while (staging := self._downloads.acquire()) is None:
                    if len(reading) > _PREFETCH or not emptying:
                        empty_first()
                    else:
                        release_first()
                self._driver.start_read(gpu, start, staging, -(-chunk.size // 4) * 4)
                reading.append((staging, chunk))
            while reading:
                empty_first()
            while emptying:
                release_first()
        except BaseException:
            thread_pool.wait([future for _, future in emptying])
            raise

    def trim(self) -> None:
        """Give the memory of the staging buffers back; others are made when they are needed."""
        for staging in self.buffers():
            staging.gpu.destroy()
        self.clear()

    def clear(self) -> None:
        """Forget the staging buffers."""
        self._downloads.clear()
        self._uploads.clear()
