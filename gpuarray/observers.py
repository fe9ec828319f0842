"""Observers of the runtime: how a profile learns of evaluations, launches and copies, at no cost when there is none.

Invariant: no observer is called while :data:`active` is empty, and callers check that first. Reports are plain tuples,
because the measured program waits while they are made. Times are those of :func:`time.perf_counter_ns`.
The runtime and the providers report, each under its own lock; :mod:`gpuarray.diagnostics.profile` observes.
"""

from collections.abc import Sequence
from threading import get_ident
from time import perf_counter_ns
from typing import Any, Final, NamedTuple, TypeAlias

from gpuarray.immediacy import resume_all, suspend_all

#: Phases of host time: looking up and making plans; encoding launches (the rest of an evaluation, never reported as a
#: span); compiling kernels; copies to devices; copies from devices; waits for devices; operations that are
#: computed without a plan.
PLAN: Final = "plan"
ENCODE: Final = "encode"
COMPILE: Final = "compile"
UPLOAD: Final = "upload"
DOWNLOAD: Final = "download"
DIRECT: Final = "direct"
WAIT: Final = "wait"


class CompletedLaunch(NamedTuple):
    """One launch that has run.

    Attributes
    ----------
    device : str
        The name of the device.
    label : str
        The kernel's name for people.
    tag : object
        The tag of the launch's task.
    number : int
        The number of the launch within its task.
    nbytes : tuple of (int, int)
        Bytes of the bindings that it reads and of those that it writes.
    start, stop : int
        Times in nanoseconds. If ``is_device_time``, they come from the device's clock and are aligned with the host's
        clock as well as a submit and a wait allow. Otherwise they come from the host's clock and include the wait.
    is_device_time : bool
        Whether the device's clock was read.
    """

    device: str
    label: str
    tag: Any
    number: int
    nbytes: tuple[int, int]
    start: int
    stop: int
    is_device_time: bool


#: Work of the host: a phase, a name, start, stop, bytes, and the thread. The name of a span of
#: :data:`DIRECT` is the origin of the operation, or None.
Span: TypeAlias = tuple[str, Any, int, int, int, int]
#: An evaluated graph: the evaluation, its start, when its plan was found, when all was submitted, and the thread.
Evaluated: TypeAlias = tuple[Any, int, int, int, int]

#: Sampling: after this many full reports of a plan on one thread, repeats that are shorter than _SHORT_NS are sampled,
#: because a full report would take a large part of the time that it measures.
_FULL_REPORTS: Final = 2
#: Repeats that are sampled out until the next full report: this many at first, then twice, three times as many, ...
_SKIPS: Final = 32
_MAX_SKIPS: Final = 256
_SHORT_NS: Final = 200_000


class RunSampler:
    """Samples the runs of one plan on one thread: most repeats record their start time alone.

    Attributes
    ----------
    placed : Placement
        The plan's steps.
    generation : int
        The value of :data:`generation` when the sampler was made; a sampler of an older one is not used.
    thread : int
        The thread.
    starts : list of int
        Start times of the runs that were sampled out. Each is taken to have run as the last full report before it.
    """

    __slots__ = ("_full_reports", "add_start", "generation", "placed", "skips_left", "starts", "thread")

    def __init__(self, placed: Any) -> None:
        self.placed = placed
        self.generation = generation
        self.thread = get_ident()
        self.starts: list[int] = []
        self.add_start = self.starts.append
        self.skips_left = 0
        self._full_reports = 0

    def reported(self, elapsed_ns: int) -> None:
        """Note that a run was reported in full, and how long it took."""
        self._full_reports += 1
        sampled = self._full_reports - _FULL_REPORTS + 1
        can_skip = _all_accept_sampling and sampled > 0 and elapsed_ns < _SHORT_NS
        self.skips_left = min(_SKIPS * sampled, _MAX_SKIPS) if can_skip else 0


class Observer:
    """Base class of observers; a method that is not overridden ignores its reports.

    Attributes
    ----------
    accepts_sampling : bool
        Whether repeats of short evaluations may be sampled instead of reported one by one.
    """

    accepts_sampling = False

    def span(self, span: Span, /) -> None:
        """Receive work of the host."""

    def evaluation(self, evaluated: Evaluated, /) -> None:
        """Receive an evaluation."""

    def sampler(self, sampler: RunSampler, /) -> None:
        """Receive the sampler of a plan that may repeat, in which its sampled runs are found."""

    def launches(self, launches: Sequence[CompletedLaunch], /) -> None:
        """Receive launches, some time after they ran."""


active: tuple[Observer, ...] = ()
generation = 0
"""Changes whenever :data:`active` does."""
_all_accept_sampling = False

_sampled_out: Final[set[int]] = set()
"""The threads whose evaluations are sampled out now."""


def is_sampled_out() -> bool:
    """Whether the evaluation that this thread runs now is sampled out, so that its launches need no report."""
    return get_ident() in _sampled_out


def subscribe(observer: Observer) -> None:
    """Report to ``observer`` from now on, from all threads."""
    _observe((*active, observer))


def unsubscribe(observer: Observer) -> None:
    """Report to ``observer`` no more."""
    _observe(tuple(known for known in active if known is not observer))


def _observe(observers: tuple[Observer, ...]) -> None:
    global active, generation, _all_accept_sampling
    if bool(observers) != bool(active):  # it needs the line of each operation
        suspend_all() if observers else resume_all()
    _sampled_out.clear()
    _all_accept_sampling = all(observer.accepts_sampling for observer in observers)
    generation += 1
    active = observers


def span(phase: str, name: Any, start: int, stop: int, nbytes: int = 0) -> None:
    """Report work of the host."""
    for observer in active:
        observer.span((phase, name, start, stop, nbytes, get_ident()))


def skip_repeat(placed: Any, start: int) -> bool:
    """Record only the start of a repeated evaluation and return True; return False if it must be reported in full.

    After True, :func:`is_sampled_out` is true until :func:`skipped`, which the caller calls when the evaluation ends.

    Parameters
    ----------
    placed : Placement
        The plan's steps, whose attribute ``sampler`` this module uses.
    start : int
        When the evaluation began.
    """
    sampler: RunSampler | None = placed.sampler
    if sampler is None or not sampler.skips_left or sampler.generation != generation or sampler.thread != get_ident():
        return False
    sampler.skips_left -= 1
    sampler.add_start(start)
    _sampled_out.add(get_ident())
    return True


def skipped() -> None:
    """Note the end of an evaluation that was sampled out."""
    _sampled_out.discard(get_ident())


def plan_found(placed: Any) -> int:
    """Note that the plan of an evaluation was found, which is reported in full, and return the time.

    A call of :func:`evaluation_done` follows.
    """
    sampler: RunSampler | None = placed.sampler
    if sampler is None or sampler.generation != generation or sampler.thread != get_ident():
        sampler = placed.sampler = RunSampler(placed)
        for observer in active:
            observer.sampler(sampler)
    skipped()
    return perf_counter_ns()


def evaluation_done(evaluation: Any, start: int, planned: int) -> None:
    """Report an evaluation whose last submit is now; ``planned`` is when its plan was found."""
    stop = perf_counter_ns()
    sampler = evaluation.placed.sampler
    if sampler is not None:  # else its observer has left meanwhile
        sampler.reported(stop - start)
    for observer in active:
        observer.evaluation((evaluation, start, planned, stop, get_ident()))


def launches_done(launches: Sequence[CompletedLaunch]) -> None:
    """Report launches, in the order in which they ran."""
    for observer in active:
        observer.launches(launches)
