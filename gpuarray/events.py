"""What happens, kept for whoever listens: how a profile learns of launches and copies, at no cost when there is none.

Invariant: nothing is called while :data:`listeners` is empty; whoever tells looks at that first. What is told are
plain tuples, since a program that is measured waits for it. Times are those of :func:`time.perf_counter_ns`.
Told by the runtime and by providers, each under its own lock; read by :mod:`gpuarray.diagnostics.profile`.
"""

from collections.abc import Sequence
from threading import get_ident
from typing import Any, Final, NamedTuple, TypeAlias

#: What host time is spent on: looking up and making plans; encoding launches (what is left of an evaluation, so that
#: nobody tells of it); compiling kernels; copies to devices; copies from devices and waits for them.
PLAN: Final = "plan"
ENCODE: Final = "encode"
COMPILE: Final = "compile"
UPLOAD: Final = "upload"
DOWNLOAD: Final = "download"
WAIT: Final = "wait"


class Launch(NamedTuple):
    """One launch that has run.

    Attributes
    ----------
    device : str
        Where.
    label : str
        The kernel's name for people.
    tag : object
        What the task that it belongs to was given to be known by.
    number : int
        Which launch of its task it is.
    nbytes : tuple of (int, int)
        Bytes of the windows that it reads and that it writes.
    start, stop : int
        When, in nanoseconds. By the device's clock where ``is_device_time``, and then set by the host's as well as
        a submit and a wait allow; else by the host's, which has the wait in it.
    """

    device: str
    label: str
    tag: Any
    number: int
    nbytes: tuple[int, int]
    start: int
    stop: int
    is_device_time: bool


#: Something that the host did: one of the constants above, a name, begin, end, bytes, and the thread.
Span: TypeAlias = tuple[str, str, int, int, int, int]
#: A graph that was evaluated: what of, when that began, when its plan was found, when all was submitted, the thread.
Evaluated: TypeAlias = tuple[Any, int, int, int, int]


class Listener:
    """Whoever wants to know; one that says nothing else ignores what it hears."""

    def span(self, told: Span, /) -> None:
        """Hear of something that the host did."""

    def evaluation(self, told: Evaluated, /) -> None:
        """Hear that the runtime evaluated a graph."""

    def launches(self, told: Sequence[Launch], /) -> None:
        """Hear of launches, some time after they ran."""


listeners: tuple[Listener, ...] = ()


def listen(listener: Listener) -> None:
    """Tell ``listener`` what happens from now on, on all threads."""
    global listeners
    listeners = (*listeners, listener)


def leave(listener: Listener) -> None:
    """Tell ``listener`` no more."""
    global listeners
    listeners = tuple(known for known in listeners if known is not listener)


def span(phase: str, name: str, start: int, stop: int, nbytes: int = 0) -> None:
    """Tell all listeners of something that the host did."""
    for listener in listeners:
        listener.span((phase, name, start, stop, nbytes, get_ident()))


def evaluated(evaluation: Any, start: int, planned: int, stop: int) -> None:
    """Tell all listeners of an evaluation: everything from looking for its plan to the last submit."""
    for listener in listeners:
        listener.evaluation((evaluation, start, planned, stop, get_ident()))


def launched(launches: Sequence[Launch]) -> None:
    """Tell all listeners of launches, in the order in which they ran."""
    for listener in listeners:
        listener.launches(launches)
