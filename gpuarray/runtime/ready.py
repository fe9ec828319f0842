"""Plans prepared for a device, the record of those that ran last, and what errors say of them.

Invariant: neither holds a value of an array. A record holds the plan, which the plan cache shares, and the lines of the
program; there are at most :data:`REMEMBERED` of them, so that an array knows of the plan that computed it no more
than a number.
"""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from gpuarray.device import Device
from gpuarray.errors import GpuArrayError
from gpuarray.fusion.plan import Plan, PlannedStep
from gpuarray.graph.describe import described
from gpuarray.graph.nodes import Node
from gpuarray.observers import RunSampler
from gpuarray.providers.base import Provider
from gpuarray.runtime.offload import DEVICE, Corrections, Decision, name_of
from gpuarray.source_locations import Origin, SourceLocation, locate

REMEMBERED: Final = 256
#: How many steps and lines an error names.
_SHOWN: Final = 6
#: How many evaluations an error names that may have come from any of them.
_SUSPECTS: Final = 3


@dataclass(slots=True)
class Timing:
    """How long a step took on its device, in nanoseconds, over the times that a profile measured it."""

    runs: int = 0
    total: int = 0
    least: int = 0

    def add(self, elapsed: int) -> None:
        """Take one more measurement."""
        self.least = min(self.least, elapsed) if self.runs else elapsed
        self.runs += 1
        self.total += elapsed

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return self.total / self.runs if self.runs else 0.0


@dataclass(slots=True)
class ReadyStep:
    """A planned step, decided and prepared for the device that runs it."""

    planned: PlannedStep
    decision: Decision
    prepared: Any
    timing: Timing


@dataclass(slots=True)
class Placed:
    """The steps of a plan, each prepared for the place where it runs.

    ``fallbacks`` are the numbers of those that run on the host for want of anything better; ``host`` is its provider if
    all of them run there. ``is_free`` says whether the device is ``"auto"``, so that they may run elsewhere; ``runs``
    counts, and ``look`` is the run that is timed next. ``saving`` are the nanoseconds that a run would take less if the
    device had the operands that only the host has: those at the positions ``away``, whose upload takes ``price``;
    ``heirs`` are the positions of what is made of them, with their parts of all its bytes. ``sampler`` is that of
    :mod:`gpuarray.observers`. ``in_one_go`` is the step from which on all are handed to the device together, after
    everything that they need has found room. ``straight`` has each :class:`gpuarray.runtime.straight.Straight` of the
    steps, by the copies that hand on their input's buffer; it is False if they need an execution, and None until they
    have run.
    """

    steps: tuple[ReadyStep, ...]
    fallbacks: tuple[int, ...]
    host: Provider | None
    is_free: bool = False
    runs: int = 0
    look: int = 0
    saving: int = 0
    away: tuple[int, ...] = ()
    price: float = 0.0
    heirs: tuple[tuple[int, float], ...] = ()
    sampler: RunSampler | None = None
    in_one_go: int = 0
    straight: Any = None


@dataclass(slots=True)
class ReadyPlan:
    """A plan with its steps prepared for one provider.

    The plan's positions count the different nodes of a graph; ``kept`` has their places in a walk over it (None if
    none says the same as another), ``twins`` the places of the others with the position that has their value;
    ``settled`` are the places of all nodes that are leaves afterwards. ``donors`` are the copies that may hand on their
    input's buffer, and the places of those inputs; ``leaves`` are the positions of leaves. ``key`` is what the walk
    says of the graph, see :func:`gpuarray.graph.describe.described`. ``met`` are the places of values that arrays had
    when the plan was made, and that it does not store. ``pinned`` are the steps on a device that was asked for,
    ``placed`` those on the device ``"auto"`` by the situation that they were placed in; ``corrections`` are what was
    learnt of them. ``is_used`` and ``head`` are those of :class:`gpuarray.runtime.plans.Plans`.
    """

    plan: Plan
    pinned: Placed
    operations: int
    kept: tuple[int, ...] | None
    twins: tuple[tuple[int, int], ...]
    settled: frozenset[int]
    donors: tuple[tuple[int, int], ...]
    leaves: tuple[int, ...]
    key: list[Hashable]
    met: tuple[int, ...]
    placed: dict[int, Placed] = field(default_factory=dict)
    corrections: Corrections = field(default_factory=Corrections)
    is_used: bool = False
    head: Hashable = None

    def order(self, walked: list[Node]) -> list[Node]:
        """Return the plan's nodes by position."""
        return walked if self.kept is None else [walked[place] for place in self.kept]


@dataclass(slots=True)
class Evaluation:
    """One evaluation that was begun: its plan, its steps as they were placed, where it ran, and its nodes' origins.

    ``origins`` are by place in the walk, and empty if they were not recorded.
    """

    ready: ReadyPlan
    placed: Placed
    device: Device
    origins: list[Origin | None]


_numbers: Final = count(1)
#: The last ones with their numbers, each at the place that its number has.
_recent: Final[list[tuple[int, Evaluation] | None]] = [None] * REMEMBERED


def remember(evaluation: Evaluation) -> int:
    """Keep a record for a while; return its number."""
    number = next(_numbers)
    _recent[number % REMEMBERED] = number, evaluation
    return number


def forget(gone: Collection[ReadyPlan]) -> None:
    """Let the records of plans go that will not run again."""
    known = {id(ready) for ready in gone}
    _recent[:] = [None if record is None or id(record[1].ready) in known else record for record in _recent]


def recall(number: int) -> Evaluation | None:
    """Return the record of a number; None if it is none of the last ones."""
    found = _recent[number % REMEMBERED]
    return found[1] if found is not None and found[0] == number else None


def _latest() -> list[Evaluation]:
    """Return the last records, the latest first."""
    found = [record for record in _recent if record is not None]
    return [evaluation for _, evaluation in sorted(found, key=lambda record: -record[0])]


def recent(device: Device) -> list[Evaluation]:
    """Return the records of a device, the latest first."""
    return [evaluation for evaluation in _latest() if evaluation.device is device]


def inherited(ready: ReadyPlan, origins: list[Origin | None]) -> list[Origin | None]:
    """Return the origins of a walk's nodes; those inside a composition have that of what was made of them."""
    walk = described(ready.key)
    found = origins[:] or [None] * len(walk)
    for at in range(len(walk) - 1, -1, -1):
        for operand in walk[at].inputs:
            if found[operand] is None and walk[operand].kind != "leaf":
                found[operand] = found[at]
    return found


def places_of(evaluation: Evaluation, positions: Iterable[int] | None = None) -> list[SourceLocation]:
    """Return the different lines that asked for some of the plan's values, or for all, in the order of the graph."""
    where, kept = inherited(evaluation.ready, evaluation.origins), evaluation.ready.kept
    if positions is not None:
        where = [where[p if kept is None else kept[p]] for p in positions]
    return list({str(found): found for found in map(locate, filter(None, where))}.values())


def blame(error: GpuArrayError, evaluation: Evaluation, provider: Provider) -> None:
    """Add to an error the operations that were being evaluated, and the lines that asked for them.

    What a device was lost by may be what had been handed to it before.
    """
    if not getattr(provider, "alive", True):
        blame_last(error, provider.device)
    elif not getattr(error, "__notes__", None):
        _add_notes(error, "while evaluating", evaluation)


def blame_last(error: GpuArrayError, device: Device) -> None:
    """Add to an error that a wait met what had been handed to the device before, the latest first."""
    if not getattr(error, "__notes__", None):
        for number, evaluation in enumerate(recent(device)[:_SUSPECTS]):
            _add_notes(error, "the device was evaluating" if number == 0 else "or, before that,", evaluation)


def _add_notes(error: GpuArrayError, head: str, evaluation: Evaluation) -> None:
    names = "; ".join(name_of(step.planned.step) for step in evaluation.placed.steps[:_SHOWN])
    more = len(evaluation.placed.steps) - _SHOWN
    error.add_note(f"{head} {names}{f' and {more} more steps' if more > 0 else ''}")
    for found in places_of(evaluation)[-_SHOWN:]:
        error.add_note(f"  asked for at {found}: {found.text}" if found.text else f"  asked for at {found}")


def placements(limit: int = 32) -> list[str]:
    """Return where the steps of the last evaluations ran and why, one line for each step, the latest first."""
    found: list[str] = []
    for evaluation in _latest():
        for step in evaluation.placed.steps:
            where = evaluation.device.name if step.decision.where == DEVICE else step.decision.where
            found.append(f"{name_of(step.planned.step)}: {where}, {step.decision.reason}")
        if len(found) >= limit:
            break
    return found[:limit]
