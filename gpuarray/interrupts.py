"""Sections in which Ctrl-C waits: what has effects that must be recorded, such as an update in place.

Python runs the handler of SIGINT between any two of its instructions. In a section another handler takes its place, for
as long as :data:`PATIENCE_NS` at most: long loops ask :func:`waits_long` now and then and end where it is so. Handlers
of other signals run at once, as they may not raise.
"""

import threading
from signal import SIGINT, default_int_handler
from time import perf_counter_ns
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
"""Those that are under way in the main thread, the innermost last."""


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
        """Whether an interrupt that ends what is under way has waited for long."""
        ends = self._previous is default_int_handler
        return ends and bool(self._arrived) and perf_counter_ns() - self._arrived > PATIENCE_NS


def waits_long() -> bool:
    """Whether an interrupt of this thread has waited for long, so that what can stop should."""
    return bool(_sections) and threading.current_thread() is _main() and any(s.waits_long() for s in _sections)
