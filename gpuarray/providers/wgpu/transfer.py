"""Copies between host arrays and device buffers.

Invariant: no view of mapped memory outlives the copy out of it or into it, and the host array may be changed as soon as
an upload returns. Small downloads go through a mappable buffer that is kept, small uploads through the queue, and
others in chunks (:mod:`gpuarray.providers.wgpu.chunks`). Called by the provider, under its lock.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.providers.wgpu.chunks import ChunkedTransfer
from gpuarray.providers.wgpu.driver import Bytes, Download, DownloadPart, PublicDriver, Staging
from gpuarray.providers.wgpu.metrics import Counters

#: Uploads from this size on go in parts.
_BIG: Final = 8 << 20
_UPLOAD_CHUNK: Final = 16 << 20
#: Reads up to this size go through one small buffer of their own.
SMALL_BYTES: Final = 64 << 10
#: Most small staging buffers that are kept: one for values that are read, and one for words that were asked for before.
_KEPT: Final = 2


def as_bytes(array: npt.NDArray[Any]) -> Bytes:
    """Return the bytes of a C-contiguous array, without a copy."""
    if not array.flags.c_contiguous:
        raise ValueError("a C-contiguous array is needed; pass it through numpy.ascontiguousarray first")
    return array.reshape(-1).view(np.uint8)


class Transfers:
    """Uploads and downloads of one device.

    Parameters
    ----------
    driver, counters
        The parts of the same provider.
    flush : callable
        Submits what the dispatcher left open, and a copy to the host after it, if one is given.
    """

    def __init__(self, driver: PublicDriver, counters: Counters, flush: Callable[[Download | None], None]) -> None:
        self._driver = driver
        self._counters = counters
        self._flush = flush
        self._free: list[Staging] = []
        self._chunked = ChunkedTransfer(driver)
        self.expected: Download | None = None
        self._unflushed = 0

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu buffers that are kept."""
        yield from (staging.gpu for staging in self._free)
        if self.expected is not None:
            yield self.expected.staging.gpu
        yield from (staging.gpu for staging in self._chunked.buffers())

    def upload(self, gpu: Any, array: npt.NDArray[Any]) -> None:
        """Copy a C-contiguous array to the start of a GPU buffer."""
        data = as_bytes(array)
        self._flush(None)  # the queue writes before the next submission
        if data.size >= _BIG and self._driver.can_map_writes:
            self._guarded(self._chunked.upload, gpu, data)
        else:
            self._write(gpu, data)
        self._counters.bytes_uploaded += data.size

    def _write(self, gpu: Any, data: Bytes) -> None:
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

    def small_download(self, gpu: Any, nbytes: int) -> Download | None:
        """Return a copy of a GPU buffer that can travel in another submission; None if it is too large for that.

        Once it is submitted it is :attr:`expected`: :meth:`download` of the same GPU buffer takes what it brings,
        unless :meth:`forget` comes before.
        """
        if not 0 < nbytes <= SMALL_BYTES:
            return None
        return Download(self._small_staging(), [DownloadPart(gpu, 0, -(-nbytes // 4) * 4)])

    def forget(self) -> None:
        """Discard the expected copy, because its source may change."""
        if self.expected is not None:
            expected, self.expected = self.expected, None
            self._discard(expected.staging)

    def _discard(self, staging: Staging) -> None:
        """Wait for a copy that nobody wants."""
        self._guarded(self._driver.finish_read, staging, np.empty(4, np.uint8))
        self.keep(staging)

    def start_download(self, gpu: Any, data: Bytes) -> Staging | None:
        """Start a copy of the start of a GPU buffer to the host.

        Return the buffer that is mapped when it is there, which :meth:`finish_download` takes. Large copies are made at
        once, into ``data``, and return None.
        """
        if data.size == 0:
            return None
        expected, self.expected = self.expected, None
        if expected is not None and (expected.copies[0].source is not gpu or data.size > expected.nbytes):
            self._discard(expected.staging)
            expected = None
        if expected is None and data.size > SMALL_BYTES:
            self._flush(None)
            self._guarded(self._chunked.download, gpu, data)
            self._counters.bytes_downloaded += data.size
            return None
        if expected is None:
            return self._start([DownloadPart(gpu, 0, -(-data.size // 4) * 4)])
        self._flush(None)  # work that was enqueued since then runs while the host waits
        return expected.staging

    def start_download_of_words(self, buffers: Sequence[Any]) -> Staging:
        """Start a copy of the first four bytes of some GPU buffers, one after the other, as :meth:`start_download`."""
        return self._start([DownloadPart(gpu, 0, 4) for gpu in buffers])

    def _start(self, copies: Sequence[DownloadPart]) -> Staging:
        staging = self._small_staging()
        self._guarded(self._flush, Download(staging, copies))
        return staging

    def finish_download(self, staging: Staging, data: Bytes) -> None:
        """Copy the downloaded bytes into host memory, and keep the staging buffer for the next download."""
        self._guarded(self._driver.finish_read, staging, data)
        self._counters.bytes_downloaded += data.size
        self.keep(staging)

    def keep(self, staging: Staging) -> None:
        """Keep a small staging buffer that is not used any more for the next download."""
        if len(self._free) < _KEPT:
            self._free.append(staging)
        else:
            staging.gpu.destroy()

    def _small_staging(self) -> Staging:
        return self._free.pop() if self._free else self._driver.create_staging(SMALL_BYTES)

    def _guarded(self, action: Callable[..., None], *arguments: Any) -> None:
        """Call a function that uses staging buffers; they are not used again if it fails."""
        try:
            action(*arguments)
        except BaseException:
            self.clear()
            raise

    def trim(self) -> None:
        """Free the staging buffers of large copies; others are created when needed."""
        self._guarded(self._chunked.trim)

    def clear(self) -> None:
        """Destroy the staging buffers; others are created when needed.

        After an error or an interrupt they may be mapped, or become so.
        """
        for gpu in self.objects():
            gpu.destroy()
        self._free.clear()
        self.expected = None
        self._chunked.clear()
