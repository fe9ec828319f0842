"""Warm-up: kernels that earlier runs compiled are compiled ahead, in the background, when the device is opened.

The texts are kept in the cache folder, by driver. Half the cores compile, a few kernels side by side, and whoever needs
the device meanwhile waits for none but what it asks for. Used by the provider if ``config.warm_up`` says so.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from gpuarray import disk_cache, thread_pool
from gpuarray.errors import GpuArrayError
from gpuarray.providers.wgpu.pipelines import Pipelines

_KIND: Final = "kernels"
#: How many texts are kept, those that were asked for last.
MOST: Final = 512


class WarmUp:
    """Compiles the texts that are recorded for a driver.

    Parameters
    ----------
    pipelines : Pipelines
        Where kernels are kept.
    subject : str
        The driver.
    lock : context manager
        Held around everything that reaches the driver.
    using : callable
        Returns a context in which the device may be used; entering it raises when the device is closed.
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
        kept = (disk_cache.read(_KIND, subject) or {}).get("kernels")
        self._texts = [kernel for kernel in kept if _is_kernel(kernel)] if isinstance(kept, list) else []
        self._thread = threading.Thread(target=self._run, name="gpuarray warm-up", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        kernels = [(source, label, tuple(writable)) for source, label, writable in self._texts]
        few = max(1, thread_pool.core_count() // 2)
        for first in range(0, len(kernels), few):
            if self._stop.is_set():
                return
            try:
                with self._lock, self._using("compile ahead"):
                    begun = self._pipelines.begin(kernels[first : first + few])
                thread_pool.wait(begun)
                with self._lock, self._using("compile ahead"):
                    for kernel in kernels[first : first + few]:
                        self._pipelines.ahead(*kernel)
            except GpuArrayError:  # another driver's text, or the device is gone: whoever needs it will hear of it
                return

    def wait(self) -> None:
        """Wait until all texts are compiled."""
        self._thread.join()

    def close(self) -> None:
        """End compiling, and record what was used for the next time."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join()
        known = {(source, tuple(writable)): [source, label, writable] for source, label, writable in self._texts}
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
