"""What happens, told to whoever listens: how a profile learns of launches and copies, at no cost when there is none.

Invariant: nothing is called while :data:`listeners` is empty; whoever tells looks at that first. Times are those of
:func:`time.perf_counter_ns`. Told by the runtime and by providers, each under its own lock; heard by
:mod:`gpuarray.diagnostics.profile`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

#: What host time is spent on: looking up and making plans; encoding launches, or running them in-process; compiling
#: kernels; copies to devices; copies from devices and waits for them.
PLAN: Final = "plan"
ENCODE: Final = "encode"
COMPILE: Final = "compile"
UPLOAD: Final = "upload"
DOWNLOAD: Final = "download"
WAIT: Final = "wait"


@dataclass(frozen=True, slots=True)
class Launch:
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


class Listener(Protocol):
    """Whoever wants to know."""

    def span(self, phase: str, name: str, start: int, stop: int, nbytes: int = 0) -> None:
        """Hear of something that the host did from ``start`` to ``stop``; ``phase`` is one of the constants above."""

    def evaluation(self, evaluation: Any, start: int, stop: int) -> None:
        """Hear that the runtime evaluated a graph: everything between finding its plan and the last submit."""

    def launches(self, launches: Sequence[Launch]) -> None:
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
        listener.span(phase, name, start, stop, nbytes)
