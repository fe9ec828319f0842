"""Prepared plans: the steps of a plan, placed and prepared for the providers that run them.

Invariant: a prepared plan holds no value of an array, so that keeping it for later evaluations keeps no memory alive.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from gpuarray.fusion.plan import Plan, PlannedStep
from gpuarray.graph.nodes import Node
from gpuarray.observers import RunSampler
from gpuarray.providers.base import Provider
from gpuarray.runtime.placement.decisions import Corrections, Decision


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
class PreparedStep:
    """A planned step, decided and prepared for the device that runs it."""

    planned: PlannedStep
    decision: Decision
    prepared: Any
    timing: Timing


@dataclass(slots=True)
class Placement:
    """The steps of a plan, each prepared for the place where it runs.

    ``fallbacks`` are the numbers of those that run on the host for want of anything better; ``host`` is its provider if
    all of them run there. ``is_free`` says whether the device is ``"auto"``, so that they may run elsewhere; ``runs``
    counts, and ``look`` is the run that is timed next. ``saving`` are the nanoseconds that a run would take less if the
    device had the operands that only the host has: those at the positions ``away``, whose upload takes ``price``;
    ``heirs`` are the positions of what is made of them, with their parts of all its bytes. ``sampler`` is the
    plan's :class:`gpuarray.observers.RunSampler`, if it is observed.
    ``in_one_go`` is the step from which on all are handed to the device together, after everything that they need has
    found room. ``straight`` has each :class:`gpuarray.runtime.straight.Straight` of the steps, by
    the copies that hand on their input's buffer; it is False if they need an execution, and None until they have run.
    """

    steps: tuple[PreparedStep, ...]
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
class PreparedPlan:
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
    pinned: Placement
    operations: int
    kept: tuple[int, ...] | None
    twins: tuple[tuple[int, int], ...]
    settled: frozenset[int]
    donors: tuple[tuple[int, int], ...]
    leaves: tuple[int, ...]
    key: list[Hashable]
    met: tuple[int, ...]
    placed: dict[int, Placement] = field(default_factory=dict)
    corrections: Corrections = field(default_factory=Corrections)
    is_used: bool = False
    head: Hashable = None

    def order(self, walked: list[Node]) -> list[Node]:
        """Return the plan's nodes by position."""
        return walked if self.kept is None else [walked[place] for place in self.kept]
