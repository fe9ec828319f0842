"""Pooled host memory: the buffers of the in-process provider.

Fresh memory costs a page fault for every 4 KiB, which takes an elementwise loop as long as the arithmetic. So memory is
kept by size class and reused. Invariant: every byte of a pool is either *live* (part of a buffer, or visible through an
exported array) or *pooled*, and both together never exceed ``config.memory_limit`` if there is one. The provider
allocates buffers; their owner releases or drops them.
"""

import os
from collections import deque
from functools import lru_cache
from threading import RLock
from typing import Any, Final
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray.config import config
from gpuarray.errors import DeviceMemoryError
from gpuarray.finalizers import AtEnd
from gpuarray.unprotected import unprotected

Memory = npt.NDArray[np.uint8]

ALIGNMENT: Final = 64

#: The memory of a released buffer: too small for nearly any view, so that using it raises instead of reading freed
#: memory. It has one byte because NumPy does not check views of empty memory.
_RELEASED: Final[Memory] = np.empty(1, np.uint8)


@lru_cache(maxsize=1024)
def _size_class(nbytes: int) -> int:
    """Return the size that a request is rounded up to: eight classes per octave, so at most 1/8 is wasted."""
    if nbytes <= ALIGNMENT:
        return ALIGNMENT
    shift = max((nbytes - 1).bit_length() - 4, 6)
    return -(-nbytes >> shift) << shift


def _aligned(nbytes: int) -> Memory:
    raw = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes]


def _retained() -> int:
    """Return the most unused bytes that a pool keeps: a quarter of the machine's memory."""
    try:
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE")) // 4
    except (AttributeError, ValueError, OSError):  # not every platform has these names
        return 1 << 31


class HostBuffer:
    """Aligned host memory of at least ``nbytes`` bytes, returned to the pool when released or dropped."""

    __slots__ = ("_at_end", "_lease", "_pool", "memory", "nbytes")

    def __init__(self, nbytes: int, memory: Memory, pool: "MemoryCache | None") -> None:
        self.nbytes = nbytes
        self.memory = memory
        self._pool = pool
        self._at_end = None if pool is None else AtEnd(pool.returned.append, memory)
        self._lease: _Lease | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other code refers to the memory, because it was exported or adopted."""
        return self._pool is None or self._lease is not None

    def export(self) -> Memory:
        """Return the memory as an array. It is not reused while the array or a view of it lives."""
        if self._pool is None:
            return self.memory[: self.nbytes]
        if self._lease is None:
            self._lease = _Lease(self.memory, self._at_end)
        return np.asarray(self._lease)[: self.nbytes]

    def take(self, memory: Memory) -> bool:
        """Use the memory of a new array, which nothing else refers to, in place of the buffer's own.

        Return False if it is too small, or not the array's own, or if a limit counts the buffer's memory.
        """
        owner: Any = memory if memory.base is None else memory.base
        is_new = isinstance(owner, np.ndarray) and owner.flags.owndata and owner.nbytes == memory.nbytes
        if not is_new or self._pool is None or self.is_shared or memory.nbytes < self.nbytes:
            return False
        if config.current.memory_limit:
            return False
        self.memory, self._at_end = memory, AtEnd(self._pool.returned.append, memory)
        self._pool.include(memory)
        return True

    def release(self) -> None:
        """Return the memory to the pool; the buffer must not be used again. Releasing twice is allowed."""
        self.memory = _RELEASED
        self._at_end = self._lease = None  # if it was exported, it comes back when the last view dies

    def __repr__(self) -> str:
        return f"HostBuffer({self.nbytes} bytes)"


class _Lease:
    """The owner of exported memory: NumPy views hold it alive, and what returns the memory to the pool."""

    __slots__ = ("__array_interface__", "_at_end")

    def __init__(self, memory: Memory, at_end: AtEnd | None) -> None:
        self._at_end = at_end
        self.__array_interface__: dict[str, Any] = memory.__array_interface__


class MemoryCache:
    """Memory by size class.

    ``returned`` is where ends of buffers put their memory: appending is atomic and takes no lock, so it may happen in
    the garbage collector, in any thread and at any time.
    """

    def __init__(self) -> None:
        self.returned: deque[Memory] = deque()
        self._free: dict[int, list[Memory]] = {}
        self._obtained: dict[int, ref[Memory]] = {}
        self._lock = RLock()  # a signal handler or finalizer may allocate while the thread that it interrupts does
        self._retained = _retained()
        self.bytes_live = 0
        self.bytes_pooled = 0
        self.peak_bytes = 0

    def allocate(self, nbytes: int) -> HostBuffer:
        """Return a buffer of ``nbytes`` bytes with undefined contents.

        Raises
        ------
        DeviceMemoryError
            If ``config.memory_limit`` or the machine's memory is exhausted even without what is pooled.
        """
        size = _size_class(nbytes)
        limit = config.current.memory_limit
        if self.returned and not limit:
            # a loop needs memory that it has just returned, which still counts as live
            try:
                memory = self.returned.pop()
            except IndexError:  # another thread was here
                pass
            else:
                if memory.nbytes == size:
                    return HostBuffer(nbytes, memory, self)
                self.returned.append(memory)
        with self._lock:
            self._collect()
            free = self._free.get(size)
            # a limit may have been set since the pool grew: pooled memory is not a way around it
            if free and not (limit and self.bytes_live + size > limit):
                memory = free.pop()
                self.bytes_pooled -= size
            else:
                memory = self._obtain(size)
                self._obtained[id(memory)] = ref(memory)
            self.bytes_live += size
            self.peak_bytes = max(self.peak_bytes, self.bytes_live)
        return HostBuffer(nbytes, memory, self)

    def include(self, memory: Memory) -> None:
        """Count memory that a live buffer has got from elsewhere."""
        with self._lock:
            self._obtained[id(memory)] = ref(memory)
            self.bytes_live += memory.nbytes
            self._collect()
            self.peak_bytes = max(self.peak_bytes, self.bytes_live)

    def adopt(self, array: npt.NDArray[Any], nbytes: int) -> HostBuffer:
        """Return a buffer over an array's memory, which stays the array's."""
        if not array.flags.c_contiguous:
            raise ValueError("only a C-contiguous array can be adopted as a buffer; use numpy.ascontiguousarray")
        if array.nbytes < nbytes:
            raise ValueError(f"an array of {array.nbytes} bytes cannot be adopted as a buffer of {nbytes} bytes")
        return HostBuffer(nbytes, unprotected(array.reshape(-1).view(np.uint8)), None)

    def stats(self) -> dict[str, int]:
        """Return the gauges of memory."""
        with self._lock:
            self._collect()
            self._audit()
            return {"bytes_live": self.bytes_live, "bytes_pooled": self.bytes_pooled, "peak_bytes": self.peak_bytes}

    def restart_peak(self) -> None:
        """Count the peak of memory anew, from the memory in use now."""
        with self._lock:
            self._collect()
            self.peak_bytes = self.bytes_live

    def trim(self) -> None:
        """Let all unused memory go."""
        with self._lock:
            self._collect()
            self._let_go(self.bytes_pooled)

    def after_fork(self) -> None:
        """Make the pool usable in a child process: another thread of the parent may have held the lock."""
        self._lock = RLock()

    def _collect(self) -> None:
        """Move returned buffers to the free lists."""
        while self.returned:
            memory = self.returned.popleft()
            size = memory.nbytes
            self.bytes_live -= size
            if size > self._retained or size != _size_class(size):  # the latter is memory that NumPy allocated
                self._obtained.pop(id(memory), None)
                continue
            self._let_go(self.bytes_pooled + size - self._retained)
            # the most recently used class comes last, so that memory of unused sizes is released first
            free = self._free.pop(size, [])
            free.append(memory)
            self._free[size] = free
            self.bytes_pooled += size

    def _let_go(self, nbytes: int) -> None:
        """Release at least ``nbytes`` of pooled memory, or all."""
        while nbytes > 0 and self._free:
            size = next(iter(self._free))
            free = self._free[size]
            while free and nbytes > 0:
                self._obtained.pop(id(free.pop()), None)
                self.bytes_pooled -= size
                nbytes -= size
            if not free:
                del self._free[size]

    def _audit(self) -> None:
        """Count anew: an interrupt may come between any two calls of who takes memory or gives it back."""
        alive = {key: memory.nbytes for key, known in self._obtained.items() if (memory := known()) is not None}
        self._obtained = {key: self._obtained[key] for key in alive}
        self.bytes_pooled = sum(size * len(free) for size, free in self._free.items())
        self.bytes_live = sum(alive.values()) - self.bytes_pooled

    def _obtain(self, size: int) -> Memory:
        limit = config.current.memory_limit
        if limit:
            self._let_go(self.bytes_live + self.bytes_pooled + size - limit)
            if self.bytes_live + size > limit:
                self._audit()
            if self.bytes_live + size > limit:
                raise DeviceMemoryError(
                    f"cannot allocate {size} bytes, because {self.bytes_live} of the {limit} bytes of "
                    "config.memory_limit are in use; delete arrays, or raise the limit"
                )
        try:
            return _aligned(size)
        except MemoryError:
            self._let_go(self.bytes_pooled)
        try:
            return _aligned(size)
        except MemoryError:
            raise DeviceMemoryError(
                f"cannot allocate {size} bytes, because the host is out of memory; delete arrays, or use smaller ones"
            ) from None
