"""Whether operations on small arrays in host memory are computed at once, by NumPy, or recorded.

:data:`immediacy` is asked by each operation of a program, so the answer is one number. The settings give it, and
whoever must see each operation (a derivative, a recording by ``jit``, a profile) suspends it for that time.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Final

import numpy as np


class Immediacy:
    """The largest arrays whose operations are computed at once.

    Attributes
    ----------
    limit : int
        The most elements of an array; 0 if all operations are recorded.
    """

    __slots__ = ("_lock", "_setting", "_suspensions", "limit")

    def __init__(self) -> None:
        self.limit = 0
        self._setting = 0
        self._suspensions = 0
        self._lock = threading.RLock()  # a signal handler may change it, too

    def set(self, limit: int) -> None:
        """Set the most elements of an array."""
        with self._lock:
            self._setting = limit
            self.limit = 0 if self._suspensions else limit

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Record all operations of all threads for the duration of a ``with`` block."""
        self._suspend(1)
        try:
            yield
        finally:
            self._suspend(-1)

    def suspend(self) -> None:
        """Record all operations until :meth:`resume` is called as often."""
        self._suspend(1)

    def resume(self) -> None:
        """Undo a call of :meth:`suspend`."""
        self._suspend(-1)

    def _suspend(self, times: int) -> None:
        with self._lock:
            self._suspensions += times
            self.limit = 0 if self._suspensions else self._setting


class _Quiet(threading.local):
    """Calls of NumPy without warnings of floating point, in a context of their own for each thread.

    To enter a context takes a twentieth of the time that ``numpy.errstate`` takes.
    """

    def __init__(self) -> None:
        context = copy_context()
        context.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = context.run


immediacy: Final = Immediacy()
quiet: Final = _Quiet()
