"""What happens, kept for whoever listens: how a profile learns of launches and copies, at no cost when there is none.

Invariant: nothing is called while :data:`listeners` is empty; whoever tells looks at that first. What is told are
plain tuples, since a program that is measured waits for it. Times are those of :func:`time.perf_counter_ns`.
Told by the runtime and by providers, each under its own lock; read by :mod:`gpuarray.diagnostics.profile`.
"""

from collections.abc import Sequence
from threading import get_ident
from time import perf_counter_ns
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

#: A plan that was told of in detail so often is told of in brief, if it took no longer than this, in nanoseconds: what
#: is told would take a part of the time that it tells of. So many runs are brief until the next in detail, then twice,
#: three times as many, and so on up to a most.
_IN_DETAIL: Final = 2
_AGAIN: Final = 32
_AGAIN_MOST: Final = 256
_SHORT: Final = 200_000


class Repeats:
    """Runs of one plan on one thread, of which listeners hear in brief what they have heard in detail before.

    Attributes
    ----------
    placed : Placement
        The plan's steps.
    audience : int
        Which listeners hear, by :data:`audience`.
    thread : int
        The thread.
    starts : list of int
        When each run began that nothing else is told of: it went as the last one before that was told of in detail.
    """

    __slots__ = ("audience", "begin", "left", "placed", "starts", "thread", "times")

    def __init__(self, placed: Any) -> None:
        self.placed = placed
        self.audience = audience
        self.thread = get_ident()
        self.starts: list[int] = []
        self.begin = self.starts.append
        self.times = 0
        self.left = 0

    def told(self, took: int) -> None:
        """Note that listeners heard in detail of a run, and how long it took."""
        self.times += 1
        known = self.times - _IN_DETAIL + 1
        self.left = min(_AGAIN * known, _AGAIN_MOST) if _hear_in_brief and known > 0 and took < _SHORT else 0


class Listener:
    """Whoever wants to know; one that says nothing else ignores what it hears.

    Attributes
    ----------
    hears_in_brief : bool
        Whether it is enough for it to be told of evaluations that come again in brief.
    """

    hears_in_brief = False

    def span(self, told: Span, /) -> None:
        """Hear of something that the host did."""

    def evaluation(self, told: Evaluated, /) -> None:
        """Hear that the runtime evaluated a graph."""

    def repeats(self, told: Repeats, /) -> None:
        """Hear of a plan that may come again: what is told in brief is found there."""

    def launches(self, told: Sequence[Launch], /) -> None:
        """Hear of launches, some time after they ran."""


listeners: tuple[Listener, ...] = ()
audience = 0
"""Another number whenever there are other listeners."""
_hear_in_brief = False

is_brief = False
"""Whether what runs now, under the runtime's lock, is told of in brief: who runs its steps need not tell of them."""


def listen(listener: Listener) -> None:
    """Tell ``listener`` what happens from now on, on all threads."""
    _tell((*listeners, listener))


def leave(listener: Listener) -> None:
    """Tell ``listener`` no more."""
    _tell(tuple(known for known in listeners if known is not listener))


def _tell(those: tuple[Listener, ...]) -> None:
    global listeners, audience, is_brief, _hear_in_brief
    is_brief = False
    _hear_in_brief = all(listener.hears_in_brief for listener in those)
    audience += 1
    listeners = those


def span(phase: str, name: str, start: int, stop: int, nbytes: int = 0) -> None:
    """Tell all listeners of something that the host did."""
    for listener in listeners:
        listener.span((phase, name, start, stop, nbytes, get_ident()))


def again(placed: Any, start: int) -> bool:
    """Tell in brief of an evaluation that comes again, and return True; False if it must be told of in detail.

    After what is told in brief :data:`is_brief` is set, and whoever evaluates resets it.

    Parameters
    ----------
    placed : Placement
        The plan's steps, which have an attribute ``told`` for this.
    start : int
        When the evaluation began.
    """
    global is_brief
    told: Repeats | None = placed.told
    if told is None or not told.left or told.audience != audience or told.thread != get_ident():
        return False
    told.left -= 1
    told.begin(start)
    is_brief = True
    return True


def planned(placed: Any) -> int:
    """Tell that the plan of an evaluation is found that is told of in detail, and return the time.

    :func:`evaluated` follows.
    """
    global is_brief
    told: Repeats | None = placed.told
    if told is None or told.audience != audience or told.thread != get_ident():
        told = placed.told = Repeats(placed)
        for listener in listeners:
            listener.repeats(told)
    is_brief = False
    return perf_counter_ns()


def evaluated(evaluation: Any, start: int, planned: int) -> None:
    """Tell all listeners of an evaluation: everything from looking for its plan to the last submit, which is now."""
    stop = perf_counter_ns()
    evaluation.placed.told.told(stop - start)
    for listener in listeners:
        listener.evaluation((evaluation, start, planned, stop, get_ident()))


def launched(launches: Sequence[Launch]) -> None:
    """Tell all listeners of launches, in the order in which they ran."""
    for listener in listeners:
        listener.launches(launches)
