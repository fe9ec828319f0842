"""Prepared plans: the steps of a plan, placed and prepared for the providers that run them.

Invariant: a prepared plan holds no value of an array, so that keeping it for later evaluations keeps no memory alive.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard
from weakref import WeakKeyDictionary, WeakValueDictionary

from gpuarray import logs
from gpuarray.config import config
from gpuarray.fusion.plan import Plan, PlannedStep
from gpuarray.fusion.steps import CallStep, Step
from gpuarray.fusion.templates import StepTemplates
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.graph.walk import Meaning
from gpuarray.observers import RunSampler
from gpuarray.providers.base import Provider, TranslatingProvider
from gpuarray.runtime import places
from gpuarray.runtime.ownership import Donor
from gpuarray.runtime.placement.decisions import DEVICE, HOST, Corrections, Decision, decide, name_of


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


@dataclass(frozen=True, slots=True)
class Migration:
    """The time that a placement would save if the device, or the host, had the leaves that it lacks.

    Attributes
    ----------
    target : Provider
        The device or the host.
    saving : int
        Nanoseconds that each run would take less.
    cost : float
        Nanoseconds that the transfer of these leaves takes.
    leaves : tuple of int
        The leaves, by number.
    """

    target: Provider
    saving: int
    cost: float
    leaves: tuple[int, ...]


@dataclass(slots=True)
class Placement:
    """The steps of a plan, each prepared for the place where it runs.

    Attributes
    ----------
    steps : tuple of PreparedStep
        The steps.
    fallbacks : tuple of int
        The numbers of those that run on the host for want of anything better.
    host : Provider or None
        The host's provider, if all steps run there.
    is_free : bool
        Whether the device is ``"auto"``, so that they may run elsewhere.
    time : float
        What the steps are estimated to take at least, in nanoseconds; 0 if the device is pinned.
    runs : int
        How often the steps ran.
    look : int
        The run whose steps on the host are timed next.
    migration : Migration, optional
        What would be saved if the host or the device had all leaves.
    meanwhile : Placement, optional
        All steps on the host, where they run until the kernels of the device are compiled.
    sampler : RunSampler, optional
        Of the observers.
    in_one_go : int
        The step from which on all are handed to the device together.
    schedules : dict
        Schedules of the steps, by the copies that reuse the buffer of their input.
    """

    steps: tuple[PreparedStep, ...]
    fallbacks: tuple[int, ...]
    host: Provider | None
    is_free: bool = False
    time: float = 0.0
    runs: int = 0
    look: int = 0
    migration: Migration | None = None
    meanwhile: "Placement | None" = None
    sampler: RunSampler | None = None
    in_one_go: int = 0
    schedules: dict[tuple[int, ...], Any] = field(default_factory=dict)


@dataclass(slots=True)
class PreparedPlan:
    """A plan with its steps prepared for one provider.

    *Walk indices* number the nodes of a walk over the graph; *positions* number the different nodes of the plan.

    Attributes
    ----------
    plan : Plan
        The steps.
    pinned : Placement
        Where they run if the device was chosen by the user.
    operations : int
        How many nodes are no leaves.
    kept : tuple of int or None
        The walk index of each position; None if they are the same.
    duplicates : tuple of (int, int)
        Walk indices of nodes that are equal to another, and its position.
    donors : tuple of Donor
        The leaves whose buffers may be overwritten.
    leaves : tuple of int
        Positions of the leaves.
    meanings : sequence of Meaning
        What each node of the walk says.
    nbytes : tuple of int
        The sizes of the results.
    unstored : tuple of int
        Walk indices of values that arrays had when the plan was made, and that it does not store.
    placed : dict
        Placements on the device ``"auto"``, by the situation that they were made for.
    corrections : Corrections
        What was learnt of the times of the steps.
    is_used : bool
        Whether it was found again since the cache looked at it.
    loss : float or None
        Nanoseconds that the host takes more than a typical device, if that was asked for.
    at_once : float or None
        Nanoseconds in which NumPy's functions would compute the plan one by one, if that was asked for; 0 if the plan
        has arrays that are larger than mid-sized.
    """

    plan: Plan
    pinned: Placement
    operations: int
    kept: tuple[int, ...] | None
    duplicates: tuple[tuple[int, int], ...]
    donors: tuple[Donor, ...]
    leaves: tuple[int, ...]
    meanings: Sequence[Meaning]
    nbytes: tuple[int, ...]
    unstored: tuple[int, ...]
    placed: dict[int, Placement] = field(default_factory=dict)
    corrections: Corrections = field(default_factory=Corrections)
    is_used: bool = False
    loss: float | None = None
    at_once: float | None = None

    def order(self, walked: list[Node]) -> list[Node]:
        """Return the plan's nodes by position."""
        return walked if self.kept is None else [walked[index] for index in self.kept]

    def resolve(self, walked: list[Node], order: list[Node], results: Sequence[Leaf]) -> None:
        """Record the results of an evaluation in the nodes of a graph that no other device has computed meanwhile."""
        for number, leaf in enumerate(results):
            node = order[self.plan.results[number][0]]
            if node.result is None:
                node.resolve(leaf)
        for place, position in self.duplicates:
            if (result := order[position].result) is not None and walked[place].result is None:
                walked[place].resolve(result)


#: Steps that plans have, prepared for providers: equal ones, of which programs with loops have many, are prepared once.
_known: Final[WeakValueDictionary[tuple[Provider, Step, str, str], Any]] = WeakValueDictionary()
#: The translations of steps for a provider.
_templates: Final[WeakKeyDictionary[Provider, StepTemplates]] = WeakKeyDictionary()


def _translates(provider: Provider) -> TypeGuard[TranslatingProvider]:
    return hasattr(provider, "translate")


def _prepared(step: Step, provider: Provider) -> Any:
    """Return a step prepared for a provider, or why the provider cannot run it, as text."""
    if isinstance(step, CallStep):  # its parameters may have no hash
        return provider.supports(step) or provider.prepare(step)
    settings = config.current
    way = settings.math, settings.subnormals
    prepared = _known.get((provider, step, *way))
    if prepared is not None:
        return prepared
    if _translates(provider):
        templates = _templates.setdefault(provider, StepTemplates())
        translated = templates.derive(step, way, lambda step: provider.supports(step) or provider.translate(step))
        prepared = translated if isinstance(translated, str) else provider.prepare(step, translated)
    else:
        prepared = provider.supports(step) or provider.prepare(step)
    with suppress(TypeError):  # some objects, such as text, cannot be referred to weakly
        _known[provider, step, *way] = prepared
    return prepared


def pinned(steps: Sequence[PlannedStep], provider: Provider) -> Placement:
    """Return steps prepared for a device, or for the host where the device cannot run them."""
    prepared_steps = []
    for planned in steps:
        prepared = _prepared(planned.step, provider)
        if isinstance(prepared, str):
            prepared_steps.append(
                PreparedStep(planned, decide(planned.step, prepared), _prepared(planned.step, places.host()), Timing())
            )
        else:
            prepared_steps.append(PreparedStep(planned, decide(planned.step, None), prepared, Timing()))
    return _placement(prepared_steps)


def placed_anew(placement: Placement, decisions: Sequence[Decision], provider: Provider) -> Placement:
    """Return the steps of a placement, prepared for the places that were decided."""
    prepared_steps = []
    for step, decision in zip(placement.steps, decisions, strict=True):
        prepared = step.prepared
        if step.decision.where != decision.where:
            prepared = _prepared(step.planned.step, provider if decision.where == DEVICE else places.host())
        prepared_steps.append(PreparedStep(step.planned, decision, prepared, Timing()))
    return _placement(prepared_steps)


def _placement(steps: Sequence[PreparedStep]) -> Placement:
    for step in steps:
        logs.log(
            logs.DECISIONS, "%s: on the %s, %s", name_of(step.planned.step), step.decision.where, step.decision.reason
        )
    fallbacks = tuple(n for n, step in enumerate(steps) if step.decision.is_fallback)
    on_host = [number for number, step in enumerate(steps) if step.decision.where == HOST]
    if len(on_host) == len(steps):
        return Placement(tuple(steps), fallbacks, places.host())
    return Placement(tuple(steps), fallbacks, None, in_one_go=max(on_host, default=-1) + 1)
