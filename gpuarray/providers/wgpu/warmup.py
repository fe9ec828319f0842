"""Warm-up: kernels that earlier runs compiled are compiled ahead, in the background, when the device is opened.

The texts are kept in the cache folder, by driver. Compiling takes the device's lock for one kernel at a time, so that
whoever needs the device waits for one kernel at most. Used by the provider if ``config.warm_up`` says so.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from gpuarray import records
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
    using : callable
        Returns a context in which the device may be used; entering it raises when the device is closed.
    """

    def __init__(self, pipelines: Pipelines, subject: str, using: Callable[[str], AbstractContextManager[Any]]) -> None:
        self._pipelines = pipelines
        self._subject = subject
        self._using = using
        self._stop = threading.Event()
        kept = (records.read(_KIND, subject) or {}).get("kernels")
        self._texts = [kernel for kernel in kept if _is_kernel(kernel)] if isinstance(kept, list) else []
        self._thread = threading.Thread(target=self._run, name="gpuarray warm-up", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for source, label, writable in self._texts:
            if self._stop.is_set():
                return
            try:
                with self._using("compile ahead"):
                    self._pipelines.ahead(source, label, tuple(writable))
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
        records.write(_KIND, self._subject, {"kernels": list(known.values())[-MOST:]})


def _is_kernel(kernel: object) -> bool:
    return (
        isinstance(kernel, list)
        and len(kernel) == 3
        and isinstance(kernel[0], str)
        and isinstance(kernel[1], str)
        and isinstance(kernel[2], list)
        and all(isinstance(flag, bool) for flag in kernel[2])
    )
