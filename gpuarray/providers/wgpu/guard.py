"""The guard of a provider: one thread at a time calls the driver, and none does once the device cannot be used.

A provider is alive, closed, lost (its device failed) or left behind (by ``fork``). Only a live provider calls the
driver; the others raise a DeviceError that states the cause. :class:`gpuarray.providers.wgpu.provider.WgpuProvider`
enters by this class.
"""

import threading
from contextlib import AbstractContextManager
from typing import Any

import wgpu

from gpuarray import interrupts
from gpuarray.device import Device
from gpuarray.errors import DeviceError, DeviceMemoryError, GpuArrayError
from gpuarray.providers.wgpu.buffers import BufferPool
from gpuarray.providers.wgpu.dispatch import Dispatcher


class _Using:
    """The context manager of :meth:`Guarded._using`, without state.

    A generator would take three times as long at each call.
    """

    __slots__ = ("doing", "provider")

    def __init__(self, provider: "Guarded", doing: str) -> None:
        self.provider = provider
        self.doing = doing

    def __enter__(self) -> None:
        if self.provider._dead:
            raise DeviceError(self.provider._dead)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, wgpu.GPUError):
            raise self.provider._translated(error, self.doing) from error
        if error is not None and not isinstance(error, GpuArrayError):
            self.provider._pool.audit()  # after an interrupt, which may come between any two calls


class Guarded:
    """The lock of a provider, and whether its device can be used.

    Parameters
    ----------
    device : Device
        The name of the device.
    """

    _pool: BufferPool  # set by the provider
    _dispatcher: Dispatcher

    def __init__(self, device: Device) -> None:
        self.device = device
        self.alive = True
        """Whether the device can be used."""
        self._dead = ""
        self._uses: dict[str, _Using] = {}
        self._renew_lock()

    def _renew_lock(self) -> None:
        """Make a new lock; another thread may have had the old one when the process was forked."""
        self._lock = threading.RLock()
        self._is_inside = self._lock._is_owned  # type: ignore[attr-defined]  # threading.Condition uses it too
        """Whether this thread holds the lock of the provider."""

    def _using(self, doing: str) -> "_Using":
        """Refuse if the device cannot be used, and translate wgpu's errors; the lock is held.

        This context does not take the lock, because an interrupt in its Python code could leave the lock taken.
        """
        known = self._uses.get(doing)
        if known is None:
            known = self._uses[doing] = _Using(self, doing)
        return known

    def _entered(self) -> AbstractContextManager[Any]:
        """Return a context to enter before the lock is taken, so that signal handlers wait until it is released.

        Raises
        ------
        DeviceError
            If a finalizer, a callback or the handler of an unusual signal interrupted a call of the device in this
            thread. That call is incomplete, and the new one cannot wait for it.
        """
        if self._is_inside():
            raise DeviceError(
                f"the device {self.device.name!r} is in use by the code that this signal handler, finalizer or "
                "callback interrupted; set a flag in it, and use arrays afterwards"
            )
        # the lock is reentrant, so taking it twice is cheap
        return interrupts.deferral if interrupts.has_handlers() else self._lock

    def _translated(self, error: wgpu.GPUError, doing: str) -> DeviceError | DeviceMemoryError:
        """Return the error of this package for an error of wgpu."""
        if isinstance(error, wgpu.GPUOutOfMemoryError):
            return DeviceMemoryError(
                f"the device {self.device.name!r} ran out of memory in {doing} ({self._pool.live_bytes:,} bytes "
                "are in use); drop arrays that are not needed, or work in parts"
            )
        message = str(error)
        if "lost" in message.lower() or self._dispatcher.has_failed:
            self._mark_lost(message)
            return DeviceError(self._dead)
        return DeviceError(f"the device {self.device.name!r} refused {doing}: {message}")

    def _mark_lost(self, message: str) -> None:
        self._end(
            f"the device {self.device.name!r} was lost ({' '.join(message.split())}); arrays that were read are still "
            "right, others must be made again, for which the device is opened anew"
        )
        self._pool.abandon(self._dead)

    def _end(self, why: str) -> None:
        self._dead = self._dead or why
        self.alive = False
