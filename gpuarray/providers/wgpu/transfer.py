"""Copies between host arrays and device buffers.

Invariant: no view of mapped memory outlives the copy out of it, and the host array may be changed as soon as an
upload returns. Downloads go through a ring of mappable buffers that are kept: while one is copied into the array, the
device fills the others. Called by the provider, under its lock.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.providers.wgpu.driver import Bytes, PublicDriver, Staging
from gpuarray.providers.wgpu.metrics import Counters

_UPLOAD_CHUNK: Final = 64 << 20
_STAGING_BYTES: Final = 16 << 20
_STAGING_COUNT: Final = 4
#: Reads up to this size go through one small buffer of their own.
SMALL_BYTES: Final = 64 << 10


def as_bytes(array: npt.NDArray[Any]) -> Bytes:
    """Return the bytes of a C-contiguous array, without a copy."""
    if not array.flags.c_contiguous:
        raise ValueError("a C-contiguous array is needed; pass it through numpy.ascontiguousarray first")
    return array.reshape(-1).view(np.uint8)


class Transfer:
    """Uploads and downloads of one device."""

    def __init__(self, driver: PublicDriver, counters: Counters) -> None:
        self._driver = driver
        self._counters = counters
        self._small: Staging | None = None
        self._ring: list[Staging] = []
        self._retired: list[Staging] = []
        self._unflushed = 0

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu buffers that are kept for downloads."""
        if self._small is not None:
            yield self._small.gpu
        yield from (staging.gpu for staging in self._ring)
        yield from (staging.gpu for staging in self._retired)

    def upload(self, gpu: Any, array: npt.NDArray[Any]) -> None:
        """Copy a C-contiguous array to the start of a GPU buffer."""
        data = as_bytes(array)
        whole = data.size // 4 * 4
        for start in range(0, whole, _UPLOAD_CHUNK):
            stop = min(start + _UPLOAD_CHUNK, whole)
            self._driver.write(gpu, start, data[start:stop])
            self._unflushed += stop - start
            if self._unflushed >= _UPLOAD_CHUNK:
                # the copy that a write makes lives until a submit: without one, the arrays would be in memory twice
                self._driver.flush()
                self._unflushed = 0
        if whole < data.size:
            self._driver.write(gpu, whole, data[whole:].tobytes().ljust(4, b"\0"))
        self._counters.bytes_uploaded += data.size

    def download(self, gpu: Any, array: npt.NDArray[Any]) -> None:
        """Wait, and copy the start of a GPU buffer into a C-contiguous array."""
        data = as_bytes(array)
        if data.size == 0:
            return
        try:
            if data.size <= SMALL_BYTES:
                if self._small is None:
                    self._small = self._driver.create_staging(SMALL_BYTES)
                self._driver.start_read(gpu, 0, self._small, -(-data.size // 4) * 4)
                self._driver.finish_read(self._small, data)
            else:
                self._download_in_parts(gpu, data)
        except BaseException:
            self._retire()
            raise
        self._counters.bytes_downloaded += data.size

    def _download_in_parts(self, gpu: Any, data: Bytes) -> None:
        starts = range(0, data.size, _STAGING_BYTES)
        while len(self._ring) < min(_STAGING_COUNT, len(starts)):
            self._ring.append(self._driver.create_staging(_STAGING_BYTES))
        free = deque(self._ring)
        started: deque[tuple[Staging, Bytes]] = deque()
        for start in starts:
            if not free:
                free.append(self._finish(started))
            part = data[start : start + _STAGING_BYTES]
            staging = free.popleft()
            self._driver.start_read(gpu, start, staging, -(-part.size // 4) * 4)
            started.append((staging, part))
        while started:
            self._finish(started)

    def _finish(self, started: "deque[tuple[Staging, Bytes]]") -> Staging:
        staging, part = started.popleft()
        self._driver.finish_read(staging, part)
        return staging

    def _retire(self) -> None:
        """Take new buffers from now on: after an error or an interrupt, the old ones may be mapped, or become so.

        They are not dropped, because the device will still call back for a mapping that was asked for.
        """
        self._retired += [*self._ring, *([self._small] if self._small is not None else [])]
        self.clear()

    def clear(self) -> None:
        """Destroy the buffers that are kept."""
        for gpu in self.objects():
            gpu.destroy()
        self._small = None
        self._ring.clear()
