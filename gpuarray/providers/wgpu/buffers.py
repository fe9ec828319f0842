"""Device memory: whole GPU buffers, kept after use and handed out again.

Invariant: every byte is in exactly one of three places: *live* (behind a :class:`WgpuBuffer`), *returned* (released,
from any thread or finalizer, and not looked at yet) or *pooled* (waiting for a request of its size class). A buffer
that the pool releases is destroyed immediately, after its bind groups are dropped. The GPU runs what is
submitted in order, so a returned buffer may be handed out while earlier work still uses it.

Of several buffers that fit, the one with the lowest number is handed out. So a program that runs again gets the buffers
that it had, whatever ran before, and finds its bind groups, which take longer to make than a launch.

All methods of :class:`BufferPool` run under the provider's lock, but for :meth:`WgpuBuffer.release` and
:meth:`BufferPool.reuse`.
"""

import gc
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, Final

import wgpu

from gpuarray.config import config
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.finalizers import AtEnd
from gpuarray.providers.wgpu.driver import PublicDriver
from gpuarray.references import owner_count

_USAGE: Final = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
_SMALLEST: Final = 256
_COARSEST_STEP: Final = 1 << 24
#: Pooled memory is kept while all memory is within this much of the most that was live at once, or within the floor.
_SLACK: Final = 1.5
_FLOOR_BYTES: Final = 64 << 20
#: Memory that was not used for this long is destroyed.
_IDLE_SECONDS: Final = 30.0
#: After a garbage collection that freed no buffer, the next one waits for this long, and for this multiple of its
#: duration: a program with millions of objects would do nothing else.
_GARBAGE_SECONDS: Final = 1.0
_GARBAGE_TIMES: Final = 20
#: The time between two searches for memory that an interrupt has lost.
_AUDIT_SECONDS: Final = 30.0


@lru_cache(maxsize=1024)
def size_class(nbytes: int) -> int:
    """Return the size of the buffer that serves a request: powers of two with quarter steps, and steps of 16 MiB.

    Examples
    --------
    >>> size_class(1), size_class(257), size_class(600), size_class(100 << 20) >> 20
    (256, 320, 640, 112)
    """
    if nbytes <= _SMALLEST:
        return _SMALLEST
    step = min(1 << max(0, (nbytes - 1).bit_length() - 3), _COARSEST_STEP)
    return -(-nbytes // step) * step


#: Of buffers of all devices.
_serials: Final = count(1)


class Storage:
    """One GPU buffer; ``serial`` is unique among the buffers of all devices, and never used again."""

    __slots__ = ("gpu", "idle_since", "nbytes", "owned", "serial")

    def __init__(self, gpu: Any, nbytes: int, serial: int, *, owned: bool) -> None:
        self.gpu = gpu
        self.nbytes = nbytes
        self.serial = serial
        self.owned = owned
        self.idle_since = 0.0


class WgpuBuffer:
    """Allocated memory; it returns to its pool when it is released or dropped."""

    __slots__ = ("at_end", "is_shared", "nbytes", "pool", "serial")

    def __init__(self, pool: "BufferPool", storage: Storage, nbytes: int) -> None:
        self.pool = pool
        self.nbytes = nbytes
        self.is_shared = not storage.owned  # whether code outside this package has the memory
        #: Returns the storage, its argument, when it is dropped; None once the buffer is released, as ``serial`` is 0
        self.at_end: AtEnd | None = AtEnd(pool.returned.append, storage)
        self.serial = storage.serial

    def release(self) -> None:
        """Give the memory back; the buffer must not be used again. Releasing twice is allowed."""
        self.at_end = None
        self.serial = 0

    def __repr__(self) -> str:
        return f"<WgpuBuffer of {self.nbytes:,} bytes{', released' if self.at_end is None else ''}>"

    def storage(self, pool: "BufferPool") -> Storage:
        """Return the storage, for the provider that owns ``pool``.

        Raises
        ------
        DeviceError
            If the buffer was released, or belongs to another device, a closed one, or another process.
        """
        if self.pool is not pool:
            raise DeviceError(self.pool.closed or "a buffer belongs to another device; copy it with to_device() first")
        at_end = self.at_end
        if at_end is None:
            raise DeviceError("a buffer was used after its release; keep a reference to the array that owns it")
        storage: Storage = at_end.args[0]
        return storage


class BufferPool:
    """All buffers of one device.

    Parameters
    ----------
    driver : PublicDriver
        Creates buffers, and waits.
    buffer_limit : int
        Largest buffer of the device, in bytes.
    drop_groups : callable
        Called with a storage whose bind groups must go.
    """

    def __init__(self, driver: PublicDriver, buffer_limit: int, drop_groups: Callable[[Storage], None]) -> None:
        self.returned: deque[Storage] = deque()
        self.closed = ""
        self.pooled_bytes = self.peak_bytes = 0
        self._owned_bytes = self._high_water = 0
        self._next_search = float("-inf")
        self._next_audit = time.monotonic() + _AUDIT_SECONDS
        self._driver = driver
        self._buffer_limit = buffer_limit
        self._drop_groups = drop_groups
        self._owned: dict[int, Storage] = {}
        self._idle: OrderedDict[int, Storage] = OrderedDict()  # by time of return
        self._shelves: dict[int, list[int]] = {}  # heaps of the serial numbers of idle buffers, by size

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu buffers that this pool created and did not destroy."""
        return (storage.gpu for storage in self._owned.values())

    @property
    def live_bytes(self) -> int:
        """Bytes that are not pooled."""
        return self._owned_bytes - self.pooled_bytes

    @property
    def live_count(self) -> int:
        """Number of buffers that are not pooled."""
        return 0 if self.closed else len(self._owned) - len(self._idle)

    def restart_peak(self) -> None:
        """Set the peak of memory to the memory in use."""
        self._high_water = max(self._high_water, self.peak_bytes)
        self.peak_bytes = self.live_bytes

    def reuse(self, nbytes: int) -> WgpuBuffer | None:
        """Return a buffer over memory that was released and still counts as live; None if other memory is to be used.

        A loop asks for what it has just released. This needs no lock: of two threads that pop, one gets the memory.
        """
        try:
            storage = self.returned.pop()
        except IndexError:
            return None
        size = storage.nbytes
        if size == size_class(nbytes) and storage.owned and not self.returned and not self.closed:
            lowest = self._shelves.get(size, [])[:1]
            if not (lowest and lowest[0] < storage.serial) and not config.current.memory_limit:
                return WgpuBuffer(self, storage, nbytes)
        self.returned.append(storage)
        return None

    def allocate(self, nbytes: int) -> WgpuBuffer:
        """Return a buffer of at least ``nbytes`` bytes with undefined contents.

        Raises
        ------
        DeviceMemoryError
            If it is larger than buffers can be, over ``config.memory_limit``, or more than the device has left.
        """
        if nbytes > self._buffer_limit:
            raise DeviceMemoryError(
                f"cannot allocate a buffer of {nbytes:,} bytes, because the limit of this device is "
                f"{self._buffer_limit:,} bytes; process the array in parts, or use device='cpu'"
            )
        size = min(size_class(nbytes), self._buffer_limit)
        limit = config.current.memory_limit
        if self.returned:
            self.reap()
        shelf = self._shelves.get(size)
        # a limit may have been set since the pool grew: pooled memory is not a way around it
        if shelf and not (limit and self.live_bytes + size > limit):
            storage = self._idle.pop(heappop(shelf))
            self.pooled_bytes -= size
        else:
            storage = self._create(size)
        live = self._owned_bytes - self.pooled_bytes
        if live > self.peak_bytes:
            self.peak_bytes = live
        return WgpuBuffer(self, storage, nbytes)

    def adopt(self, gpu: Any, nbytes: int) -> WgpuBuffer:
        """Return a buffer over a foreign ``GPUBuffer``, which is neither pooled nor destroyed nor counted."""
        if gpu.usage & _USAGE != _USAGE:
            raise DeviceError("an adopted buffer needs the usages STORAGE, COPY_SRC and COPY_DST; create it with these")
        if gpu.size < nbytes:
            raise DeviceError(f"the buffer holds {gpu.size:,} bytes, and {nbytes:,} were announced")
        return WgpuBuffer(self, Storage(gpu, gpu.size, next(_serials), owned=False), nbytes)

    def reap(self) -> None:
        """Reuse the memory that was released."""
        now = time.monotonic()
        if now > self._next_audit:
            self.audit()
        while self.returned:
            storage = self.returned.popleft()
            if self.closed:
                continue
            if not storage.owned:
                self._drop_groups(storage)
                continue
            self.pooled_bytes += storage.nbytes
            storage.idle_since = now
            self._idle[storage.serial] = storage
            heappush(self._shelves.setdefault(storage.nbytes, []), storage.serial)
        most = max(_FLOOR_BYTES, int(max(self._high_water, self.peak_bytes) * _SLACK))
        if self._owned_bytes > most:
            self._trim_to(most - self.live_bytes)
        while self._idle and now - next(iter(self._idle.values())).idle_since > _IDLE_SECONDS:
            self._destroy_oldest()

    def audit(self) -> None:
        """Count all memory again after an interrupt, and take back the buffers that it lost.

        An interrupt may end any function, including finalizers, between two calls. Lost memory is memory to which only
        the table of all memory refers.
        """
        self._next_audit = time.monotonic() + _AUDIT_SECONDS
        if self.closed:
            return
        owned, idle = self._owned, self._idle
        lost = [serial for serial in owned if serial not in idle and owner_count(owned, serial) == 1]
        self.returned.extend(owned[serial] for serial in lost)
        self._shelves.clear()
        for serial in sorted(idle):
            self._shelves.setdefault(idle[serial].nbytes, []).append(serial)
        self.pooled_bytes = sum(storage.nbytes for storage in idle.values())
        self._owned_bytes = sum(storage.nbytes for storage in owned.values())

    def trim(self) -> None:
        """Destroy all pooled buffers."""
        self.audit()
        self.reap()
        self._trim_to(0)

    def _trim_to(self, nbytes: int) -> None:
        while self._idle and self.pooled_bytes > nbytes:
            self._destroy_oldest()

    def _destroy_oldest(self) -> None:
        _, storage = self._idle.popitem(last=False)
        shelf = self._shelves[storage.nbytes]
        shelf.remove(storage.serial)
        heapify(shelf)
        if not shelf:
            del self._shelves[storage.nbytes]
        self.pooled_bytes -= storage.nbytes
        del self._owned[storage.serial]
        self._owned_bytes -= storage.nbytes
        self._drop_groups(storage)
        storage.gpu.destroy()

    def _create(self, size: int) -> Storage:
        limit = config.current.memory_limit
        if limit and self.live_bytes + self.pooled_bytes + size > limit:
            self._trim_to(max(0, limit - self.live_bytes - size))
            if self.live_bytes + size > limit:
                self._collect()
            if self.live_bytes + size > limit:
                raise self._out_of_memory(size, f"config.memory_limit is {limit:,} bytes")
        try:
            gpu = self._create_gpu(size)
        except wgpu.GPUOutOfMemoryError:
            self._collect()
            self._driver.wait()
            try:
                gpu = self._create_gpu(size)
            except wgpu.GPUOutOfMemoryError as error:
                raise self._out_of_memory(size, f"the device says: {error}") from error
        storage = Storage(gpu, size, next(_serials), owned=True)
        self._owned[storage.serial] = storage
        self._owned_bytes += size
        return storage

    def _create_gpu(self, size: int) -> Any:
        return self._driver.create_buffer(size, _USAGE)

    def _collect(self) -> None:
        """Collect buffers in reference cycles, which takes long; not again at once if there were none."""
        start = time.monotonic()
        if start > self._next_search:
            gc.collect()
            if not self.returned:
                stop = time.monotonic()
                self._next_search = stop + max(_GARBAGE_SECONDS, _GARBAGE_TIMES * (stop - start))
        self.trim()

    def _out_of_memory(self, size: int, reason: str) -> DeviceMemoryError:
        return DeviceMemoryError(
            f"no room for {size:,} bytes on the device: {self.live_bytes:,} bytes are in use in {self.live_count} "
            f"buffers; {reason}; drop arrays that are not needed, or work in parts"
        )

    def close(self, reason: str) -> None:
        """Destroy everything; buffers that are used later raise ``reason``."""
        self.abandon(reason)
        for gpu in self.objects():
            gpu.destroy()
        self._owned.clear()

    def abandon(self, reason: str) -> None:
        """Stop allocating, and call the driver no more."""
        self.closed = reason
        self.returned.clear()
        self._idle.clear()
        self._shelves.clear()
        self._owned_bytes = self.pooled_bytes = 0
