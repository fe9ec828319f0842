"""What was left open is submitted soon, whatever the program does meanwhile: a thread looks after it.

The thread looks every few milliseconds while runs are left open now and then, and ends when none was for a while. It
takes the device's lock only where there is something to do: a program that submits would have to wait for the thread
to be woken, twice, which takes longer than a launch. Used by the provider.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import sleep
from typing import Any, Final

from gpuarray.errors import GpuArrayError
from gpuarray.providers.wgpu.dispatch import Dispatcher

#: Seconds between two looks, and while the program submits itself: each look takes Python from it.
_SOON: Final = 1e-3
_LATER: Final = 4e-3


class Late:
    """Looks after one dispatcher.

    Parameters
    ----------
    dispatcher : Dispatcher
        What leaves runs open.
    lock : context manager
        Held around everything that reaches the driver.
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
        self.is_looking = False

    def look(self) -> None:
        """Begin to look; called where the device may be used."""
        self.is_looking = True
        try:
            threading.Thread(target=self._look, name="gpuarray submissions", daemon=True).start()
        except RuntimeError:  # the interpreter is about to end, or there are too many threads
            self.is_looking = False
            self._dispatcher.flush()

    def _look(self) -> None:
        dispatcher = self._dispatcher
        goes_on, seen = True, 0
        while goes_on:
            submitted = dispatcher.submitted
            sleep(_SOON if submitted == seen else _LATER)
            seen = submitted
            if not dispatcher.is_waiting:
                continue
            try:
                with self._lock, self._using("a launch"):
                    self.is_looking = False
                    self.is_looking = goes_on = dispatcher.flush_late()
            except GpuArrayError:  # whoever uses the device next hears of it
                return
