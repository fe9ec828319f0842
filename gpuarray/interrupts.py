"""Sections in which signal handlers wait.

Python runs handlers between any two of its instructions. In a :class:`Section`, which has effects that must be
recorded, such as an update in place, Ctrl-C waits for :data:`PATIENCE_NS` at most: long loops ask :func:`waits_long`
now and then and end where it is so. In a :class:`Deferral`, which calls a driver that cannot be called again meanwhile,
handlers of other signals wait until its end.
"""

import threading
from signal import SIGINT, Signals, default_int_handler
from time import perf_counter_ns
from types import FrameType
from typing import Any, Final

try:  # what `signal` calls; its own functions convert handlers to enumerations, which takes 8 microseconds in a section
    from _signal import getsignal, signal  # type: ignore[import-not-found]  # it has no stubs
except ImportError:
    from signal import getsignal, signal

#: How long a loop goes on after an interrupt, in nanoseconds.
PATIENCE_NS: Final = 50_000_000

_SIGINT: Final = int(SIGINT)
_main: Final = threading.main_thread
_sections: Final[list["Section"]] = []
"""The sections that the main thread is in, the innermost last."""


class Section:
    """A context in which an interrupt of the main thread waits until its end."""

    __slots__ = ("_arrived", "_previous")

    def __init__(self) -> None:
        self._arrived = 0
        self._previous: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is not _main():
            return
        previous = getsignal(_SIGINT)
        if not callable(previous):  # it ends the process, or is ignored
            return
        self._previous = previous
        try:
            signal(_SIGINT, self._arrive)
            _sections.append(self)
        except ValueError:  # only the main interpreter has signals
            self._previous = None
        except BaseException:
            self._restore()
            raise

    def __exit__(self, *_: object) -> None:
        if self._previous is None:
            return
        previous = self._previous
        self._restore()
        if self._arrived:
            previous(_SIGINT, None)

    def _restore(self) -> None:
        if self in _sections:
            del _sections[_sections.index(self) :]
        signal(_SIGINT, self._previous)

    def _arrive(self, number: int, frame: Any) -> None:
        if self in _sections:
            self._arrived = self._arrived or perf_counter_ns()
        else:  # an error of another handler has ended the section halfway
            signal(_SIGINT, self._previous)
            self._previous(number, frame)

    def waits_long(self) -> bool:
        """Whether an interrupt that ends the current work has waited for long."""
        ends = self._previous is default_int_handler
        return ends and bool(self._arrived) and perf_counter_ns() - self._arrived > PATIENCE_NS


def waits_long() -> bool:
    """Whether an interrupt of this thread has waited for long, so that work that can stop should."""
    return bool(_sections) and threading.current_thread() is _main() and any(s.waits_long() for s in _sections)


class NothingDone(KeyboardInterrupt):
    """An interrupt that came before the work that it ended had any effect."""


def end_if_long() -> None:
    """End work that has had no effect yet if an interrupt of this thread has waited for long.

    Raises
    ------
    NothingDone
        If it has.
    """
    if waits_long():
        raise NothingDone


#: Signals whose handlers deferrals make wait.
_OTHERS: Final = tuple(
    int(number)
    for number in Signals
    if number.name in ("SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGBREAK")
)


def has_handlers() -> bool:
    """Whether this thread runs handlers of signals other than SIGINT."""
    return any(map(callable, map(getsignal, _OTHERS))) and threading.current_thread() is _main()


class _Deferral:
    """A context of the main thread in which handlers of signals other than SIGINT wait until its end."""

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._arrived: dict[int, FrameType | None] = {}

    def __enter__(self) -> None:
        for number in _OTHERS:
            handler = getsignal(number)
            if callable(handler) and handler != self._arrive:
                self._handlers[number] = handler  # first: a signal that comes meanwhile is not lost
                signal(number, self._arrive)

    def __exit__(self, *_: object) -> None:
        while self._handlers:
            number, handler = self._handlers.popitem()
            if getsignal(number) == self._arrive:
                signal(number, handler)
            if number in self._arrived:
                frame = self._arrived.pop(number)
                try:
                    handler(number, frame)
                except BaseException:
                    self.__exit__()  # the other handlers
                    raise

    def _arrive(self, number: int, frame: FrameType | None) -> None:
        self._arrived[number] = frame


deferral: Final = _Deferral()
