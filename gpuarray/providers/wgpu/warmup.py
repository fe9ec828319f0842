"""Warm-up: when a device is opened, kernels of earlier runs are compiled in the background.

The sources are kept in the disk cache, by driver. Half of the cores compile several kernels at a time. A program that
needs the device meanwhile waits only for the kernels that it uses. The provider enables this by ``config.warm_up``.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from gpuarray import disk_cache, thread_pool
from gpuarray.errors import GpuArrayError
from gpuarray.providers.wgpu.pipelines import Pipelines

_KIND: Final = "kernels"
#: Most kernel sources that are kept: the most recently used ones.
MOST: Final = 512


class WarmUp:
    """Compiles the kernels that are recorded for a driver.

    Parameters
    ----------
    pipelines : Pipelines
        The compiled kernels.
    subject : str
        The driver.
    lock : context manager
        Lock that guards all calls of the driver.
    using : callable
        Returns a context in which the device may be used. Entering it raises an error when the device is closed.
    """

    def __init__(
        self,
        pipelines: Pipelines,
        subject: str,
        lock: AbstractContextManager[Any],
        using: Callable[[str], AbstractContextManager[Any]],
    ) -> None:
        self._pipelines = pipelines
        self._subject = subject
        self._lock = lock
        self._using = using
        self._stop = threading.Event()
        stored = (disk_cache.read(_KIND, subject) or {}).get("kernels")
        self._kernels = [kernel for kernel in stored if _is_kernel(kernel)] if isinstance(stored, list) else []
        self._thread = threading.Thread(target=self._run, name="gpuarray warm-up", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        kernels = [(source, label, tuple(writable)) for source, label, writable in self._kernels]
        batch = max(1, thread_pool.core_count() // 2)
        for first in range(0, len(kernels), batch):
            if self._stop.is_set():
                return
            try:
                with self._lock, self._using("compile ahead"):
                    pending = self._pipelines.begin(kernels[first : first + batch])
                thread_pool.wait(pending)
                with self._lock, self._using("compile ahead"):
                    for kernel in kernels[first : first + batch]:
                        self._pipelines.ahead(*kernel)
            except GpuArrayError:  # a source of another driver, or a lost device: later uses raise the error
                return

    def wait(self) -> None:
        """Wait until all kernels are compiled."""
        self._thread.join()

    def close(self) -> None:
        """Stop compiling, and record the kernels that were used for the next run."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join()
        known = {(source, tuple(writable)): [source, label, writable] for source, label, writable in self._kernels}
        for source, label, writable in self._pipelines.used():
            known.pop((source, writable), None)
            known[source, writable] = [source, label, list(writable)]
        disk_cache.write(_KIND, self._subject, {"kernels": list(known.values())[-MOST:]})


def _is_kernel(kernel: object) -> bool:
    return (
        isinstance(kernel, list)
        and len(kernel) == 3
        and isinstance(kernel[0], str)
        and isinstance(kernel[1], str)
        and isinstance(kernel[2], list)
        and all(isinstance(flag, bool) for flag in kernel[2])
    )
