"""Whether operations on small arrays in host memory are computed at once, by NumPy, or recorded.

Each operation of a program asks ``immediacy().limit``, the most elements of an array with which it is computed at once,
or 0 if all operations are recorded. ``immediacy().covers(device)`` tells whether that holds for a device. The
settings give both, by thread or task as ``config.using`` does. Whoever must see each operation suspends it: a recording
by ``jit`` in its own thread, a derivative or a profile in all of them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

#: The most elements of several matrices that one thread computes; threads would share more.
ONE_THREAD: Final = 1 << 15
#: The same of several lines. Until they have more, threads gain less time by a sort or a Fourier transform than plans
#: take for what is computed from its results.
FEW_LINES: Final = 1 << 17
#: Kinds of devices whose small values the host always computes, unless all operations are recorded.
FREE: Final = frozenset(("auto", "cpu"))


class Immediacy:
    """The most elements of an array with which operations are computed at once.

    Attributes
    ----------
    limit : int
        The number that holds now.
    on_pinned : bool
        Whether it holds for the arrays of pinned devices other than the host, too.
    default_device : str or None
        The device of arrays that are made of numbers; None if these have other dtypes than NumPy's.
    """

    __slots__ = ("_setting", "default_device", "limit", "on_pinned")

    def __init__(self, setting: int, on_pinned: bool, default_device: str | None) -> None:
        self.set(setting, on_pinned, default_device)

    def set(self, setting: int, on_pinned: bool, default_device: str | None) -> None:
        """Set the number that holds while operations of all threads are not recorded, and for which devices."""
        self._setting, self.on_pinned, self.default_device = setting, on_pinned, default_device
        self.update()

    def update(self) -> None:
        """Note whether operations of all threads are recorded."""
        self.limit = 0 if _observers else self._setting

    def covers(self, device: Any) -> bool:
        """Return whether the host may compute small values of a device that it has."""
        return self.on_pinned or device.kind in FREE


#: How often operations of all threads are to be recorded.
_observers = 0
_lock = threading.RLock()  # a signal handler may change it, too


#: The attributes of a setting that follow from the configuration.
Chosen: TypeAlias = tuple[int, bool, str | None]
#: The setting of threads and tasks without one of their own.
_common: Final = Immediacy(0, False, None)
#: Settings of single threads and tasks.
_own: Final[dict[Chosen, Immediacy]] = {}
_chosen: Final[ContextVar[Chosen | None]] = ContextVar("gpuarray_chosen_limit", default=None)
_is_suspended: Final[ContextVar[bool]] = ContextVar("gpuarray_is_suspended", default=False)
#: The setting of this thread or task.
limit_variable: Final[ContextVar[Immediacy]] = ContextVar("gpuarray_limit", default=_common)

#: Returns it, in a hundredth of the time of an operation.
immediacy: Final[Callable[[], Immediacy]] = limit_variable.get


def set_common(chosen: Chosen) -> None:
    """Set what holds for threads and tasks that have no setting of their own."""
    _common.set(*chosen)


def set_own(chosen: Chosen | None) -> None:
    """Set what holds for this thread or task; None is what is common."""
    _chosen.set(chosen)
    _hold()


@contextmanager
def suspended() -> Iterator[None]:
    """Record all operations of this thread or task for the duration of a ``with`` block."""
    before = _is_suspended.get()
    try:  # an interrupt may come after each call
        _is_suspended.set(True)
        _hold()
        yield
    finally:
        _is_suspended.set(before)
        _hold()


def suspend_all() -> None:
    """Record all operations of all threads until :func:`resume_all` is called as often."""
    _observe(1)


def resume_all() -> None:
    """Undo a call of :func:`suspend_all`."""
    _observe(-1)


def _hold() -> None:
    chosen = (0, False, None) if _is_suspended.get() else _chosen.get()
    chosen_setting = _common if chosen is None else _own.setdefault(chosen, Immediacy(*chosen))
    chosen_setting.update()  # another thread may have called suspend_all() meanwhile
    limit_variable.set(chosen_setting)


def _observe(times: int) -> None:
    global _observers
    with _lock:
        before, _observers = _observers, _observers + times
    if before and _observers:
        return
    for setting in (_common, *_own.values()):
        setting.update()


class _Errors(threading.local):
    """Calls of NumPy with their own treatment of floating-point errors, in a context of their own for each thread.

    To enter a context takes a twentieth of the time that ``numpy.errstate`` takes.
    """

    def __init__(self, **treatment: Any) -> None:
        context = copy_context()
        context.run(partial(np.seterr, **treatment))
        self.run: Callable[..., Any] = context.run


#: Calls without warnings.
quiet: Final = _Errors(all="ignore")
#: Calls of LAPACK, which tells of failures by an invalid result.
strict: Final = _Errors(all="ignore", invalid="raise")

# glibc gives the memory of freed arrays back to the system until an array of this size, the largest that counts, has
# been freed. To map the pages of the next result again would take several times as long as to compute it.
np.empty((1 << 25) - (1 << 13), np.uint8)
