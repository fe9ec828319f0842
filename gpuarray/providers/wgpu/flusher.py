"""Background flusher: submits launches that were left open, whatever the program does meanwhile.

A thread wakes every few milliseconds while runs are left open now and then, and ends when none was for a while. It
takes the device's lock only when something is due: a program that submits would have to wait for the thread to be
woken, twice, which takes longer than a launch. Used by the provider.
"""

import threading
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import sleep
from typing import Any, Final

from gpuarray.errors import GpuArrayError
from gpuarray.providers.wgpu.dispatch import Dispatcher

#: Seconds between two checks, and while the program itself submits: each check takes the interpreter from it.
_INTERVAL: Final = 1e-3
_BUSY_INTERVAL: Final = 4e-3


class BackgroundFlusher:
    """Flushes one dispatcher.

    Parameters
    ----------
    dispatcher : Dispatcher
        Leaves runs open.
    lock : context manager
        Held around every call of the driver.
    using : callable
        Returns a context in which the device may be used; entering it raises when the device is closed.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        lock: AbstractContextManager[Any],
        using: Callable[[str], AbstractContextManager[Any]],
    ) -> None:
        self._dispatcher = dispatcher
        self._lock = lock
        self._using = using
        self.is_running = False

    def start(self) -> None:
        """Start the thread; called where the device may be used."""
        self.is_running = True
        try:
            start_new_thread(self._run, ())  # does not wait, so an interrupt cannot break it as it can ``Thread.start``
        except RuntimeError:  # the interpreter is ending, or there are too many threads
            self.is_running = False
            self._dispatcher.flush()

    def _run(self) -> None:
        threading.current_thread().name = "gpuarray submissions"
        dispatcher = self._dispatcher
        goes_on, seen = True, 0
        while goes_on:
            submitted = dispatcher.submitted
            sleep(_INTERVAL if submitted == seen else _BUSY_INTERVAL)
            seen = submitted
            if not dispatcher.is_overdue:
                continue
            try:
                with self._lock, self._using("a launch"):
                    self.is_running = False
                    self.is_running = goes_on = dispatcher.flush_overdue()
            except GpuArrayError:  # the next user of the device gets the error
                return
