"""The cache of plans: found by the structure of a graph, without the values of scalars and without buffers.

A loop that records the same structure again pays for a comparison of its graph with the known one, and no planning.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpuarray import logs
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.fusion.plan import Plan
from gpuarray.fusion.planner import make_plan
from gpuarray.fusion.single_steps import shown_bytes
from gpuarray.fusion.steps import CallStep
from gpuarray.fusion.templates import maker_of
from gpuarray.fusion.verify import check_plan
from gpuarray.graph.cases import Cases
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import MustStay
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.graph.repeats import Operands
from gpuarray.graph.structure import Pattern
from gpuarray.graph.varying import Sizes
from gpuarray.graph.verify import check_graph
from gpuarray.graph.walk import Walk, meanings_of, merge, topological
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import places, stored, telemetry
from gpuarray.runtime.history import forget
from gpuarray.runtime.known_graphs import Graphs, KnownGraph
from gpuarray.runtime.motions import Motion
from gpuarray.runtime.ownership import donors_of
from gpuarray.runtime.placement import decisions
from gpuarray.runtime.prepared import PreparedPlan, PreparedStep, pinned
from gpuarray.settings import Config

#: How many plans are kept, and how many operations they may have together: each takes some 3 KB.
PLAN_LIMIT: Final = 2048
OPERATION_LIMIT: Final = 1 << 16
#: How many plans with other conditions a known graph whose sizes vary may have for the same results.
_TEMPLATES: Final = 16


class Plans(OrderedDict[tuple[Any, ...], PreparedPlan]):
    """Plans by known graph, provider, settings, and the places of the stored values.

    Where there are too many plans, or too many operations in them, the plans go that were not used for longest.
    """

    def __init__(self) -> None:
        super().__init__()
        self._operations = 0
        self._providers: set[Provider] = set()
        self.graphs = Graphs()

    def keep(self, key: tuple[Any, ...], prepared: PreparedPlan) -> None:
        """Add a plan for a graph, for which others may have to go; its key begins with its graph and its provider."""
        graph, provider = key[:2]
        if provider not in self._providers:  # another device was opened, perhaps as one was closed or lost
            self._forget_dead()
            self._providers.add(provider)
        self._operations += prepared.operations
        while self and (len(self) >= PLAN_LIMIT or self._operations > OPERATION_LIMIT):
            oldest, old = self.popitem(last=False)
            if old.is_used:  # since it was looked at here
                old.is_used = False
                self[oldest] = old
                continue
            self._forgotten(oldest[0], old)
        if not graph.plans:
            self.graphs.add(graph)
        graph.plans += 1
        self[key] = prepared

    def _forget_dead(self) -> None:
        """Let the plans of devices go that will never run again."""
        gone = {provider for provider in self._providers if not getattr(provider, "alive", True)}
        self._providers -= gone
        plans = [(key[0], self.pop(key)) for key in [key for key in self if key[1] in gone]]
        for graph, prepared in plans:
            self._forgotten(graph, prepared)
        forget([prepared for _, prepared in plans])

    def _forgotten(self, graph: KnownGraph, prepared: PreparedPlan) -> None:
        """Note that a plan of a graph has gone."""
        self._operations -= prepared.operations
        graph.plans -= 1
        if not graph.plans:
            self.graphs.remove(graph)


_plans: Final = Plans()


def pending_of(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return the nodes that are still to be computed, each once."""
    if len(nodes) == 1:
        return nodes if nodes[0].result is None and type(nodes[0]) is not Leaf else ()
    return [*dict.fromkeys([node for node in nodes if node.result is None and type(node) is not Leaf])]


def find_plan(pending: Sequence[Node], provider: Provider, settings: Config) -> tuple[PreparedPlan, list[Node]]:
    """Return the plan that computes what :func:`pending_of` returned, and the nodes of its graph by walk index."""
    operands: Any = pending[0].inputs if len(pending) == 1 else None
    is_copy = type(operands) is Operands
    copied = operands.find() if is_copy else None
    walk: Walk | None = None
    if copied is not None and copied[0].plans:
        is_copy = False
        graph, order = copied
        sizes = graph.sizes_of(order)
    elif (known := _plans.graphs.find(pending)) is not None:
        graph, order, sizes = known
    else:
        walk = topological(pending)
        graph, order = _plans.graphs.new(pending, walk, shown_bytes(provider.capabilities)), walk.order
        sizes = graph.sizes_of(order)
    if is_copy:
        operands.learn(graph)
    context = graph, provider, settings.fuse, settings.math, settings.subnormals, sizes
    wanted = graph.structure.roots
    if graph.storable:
        wanted = wanted + stored.held(order, graph.storable)
    key = (*context, *wanted)
    prepared = _plans.get(key)
    if prepared is None or (prepared.unstored and stored.is_repeated(order, prepared.unstored)):
        again, unstored = stored.recomputed(order, {*wanted})
        if again:
            wanted = wanted + again
            key = (*context, *wanted)
            prepared = _plans.get(key)
        if prepared is None:
            prepared = _prepared(walk or topological(pending), wanted, graph, provider, tuple(unstored))
            _plans.keep((*context[:-1], graph.sizes_of(order), *wanted), prepared)
        else:
            prepared.is_used = True
    else:
        prepared.is_used = True
    if prepared.unstored:
        stored.note(order, prepared.unstored, graph.storable)
    return prepared, order


@dataclass(frozen=True, slots=True)
class PlanTemplate:
    """A plan for graphs of one known graph, and what prepared plans have of it whatever their sizes.

    Attributes
    ----------
    plan : callable
        Returns the plan for what :meth:`gpuarray.graph.varying.Sizes.factors` returns.
    sizes : Sizes or None
        The sizes that vary, if some do.
    kept, duplicates : list
        The different nodes, as :func:`gpuarray.graph.walk.merge` returns them.
    leaves : tuple of int
        Positions of the leaves.
    """

    plan: Callable[[Sequence[int]], Plan]
    sizes: Sizes | None
    kept: list[int]
    duplicates: list[tuple[int, int]]
    leaves: tuple[int, ...]


def _prepared(
    walk: Walk,
    wanted: Sequence[int],
    graph: KnownGraph,
    provider: Provider,
    unstored: tuple[int, ...],
) -> PreparedPlan:
    """Return a new plan for a graph, which stores the values at the walk indices ``wanted``."""
    template, factors = _template_for(walk, wanted, graph, provider)
    plan = template.plan(factors)
    indices, duplicates = template.kept, template.duplicates
    nodes = [walk.order[index] for index in indices]
    settings = config.current
    if settings.verify:
        check_graph(
            nodes, {walk.order[index]: n for index, n in [*zip(indices, range(len(indices)), strict=True), *duplicates]}
        )
        check_plan(plan, nodes)
    placed = pinned(plan.steps, provider)
    meanings = graph.structure.meanings if graph.motion is None else meanings_of(walk)
    computed = {position for position, _ in plan.results}
    # a step that fails after a buffer was written to would leave the old value lost and the new one not recorded
    safe_from = max((number + 1 for number, step in enumerate(placed.steps) if _can_fail(step)), default=0)
    copies = ((n, indices[plan.steps[n].inputs[0]]) for n in sorted(plan.donors) if n >= safe_from)
    evaluated = {
        *map(indices.__getitem__, computed),
        *(index for index, position in duplicates if position in computed),
    }
    return PreparedPlan(
        plan,
        placed,
        len(nodes) - len(template.leaves),
        tuple(indices) if duplicates else None,
        tuple(duplicates),
        donors_of(meanings, copies, evaluated),
        template.leaves,
        meanings,
        tuple([nodes[position].nbytes for position, _ in plan.results]),
        unstored,
    )


def _template_for(
    walk: Walk, wanted: Sequence[int], graph: KnownGraph, provider: Provider
) -> tuple[PlanTemplate, Sequence[int]]:
    """Return a plan for graphs of these sizes and others, and the factors of the sizes of this graph."""
    settings = config.current
    while True:
        motion = graph.motion
        numbers = graph.structure.numbers(walk.order) if isinstance(graph.structure, Pattern) else ()
        sizes = () if motion is None else motion.sizes(numbers)
        key = motion, provider, settings.fuse, settings.math, settings.subnormals, *wanted
        cases = graph.templates.get(key)
        case = None if cases is None else cases.find(sizes)
        if case is not None:
            return case
        if motion is not None and cases is not None and cases.count >= _TEMPLATES:
            motion = motion.without_sizes(numbers)
        try:
            template = _template(walk, wanted, graph, motion, provider)
        except MustStay as request:
            assert graph.pattern is not None
            assert motion is not None
            limit = shown_bytes(provider.capabilities)
            graph.motion = graph.pattern.fix(request.numbers, motion, walk.order, limit)
            continue
        if template.sizes is None:
            return template, ()
        graph.templates.setdefault(key, Cases()).add(template.sizes, template)
        return template, template.sizes.factors(sizes)


def _template(
    walk: Walk, wanted: Sequence[int], graph: KnownGraph, motion: Motion | None, provider: Provider
) -> PlanTemplate:
    """Return a new plan.

    Raises
    ------
    MustStay
        If the plan depends on a number that changes.
    """
    telemetry.counters["plans"] += 1
    instead: Mapping[int, Node] = {}
    followed: dict[int, Node] = {}
    sizes: Sizes | None = None
    assumed: list[tuple[Layout, Layout]] = []
    if motion is not None:
        pattern = graph.structure
        assert isinstance(pattern, Pattern)
        numbers, assumed, sizes = motion.changed(pattern.numbers(walk.order), pattern.extents)
        instead = pattern.with_numbers(walk.order, numbers)
        followed = {number: walk.order[pattern.offsets[number]] for number in motion.divisors}
    merged = merge(walk, instead, graph.structure.meanings if motion is None else None)
    symbols = {number: merged.position[node] for number, node in followed.items()}
    targets = {merged.position[walk.order[index]] for index in wanted}
    settings = config.current
    with logs.report_if_long(
        "plan", f"making a plan of {len(merged.order):,} operations, once for all graphs of this structure"
    ):
        plan = make_plan(merged.order, merged.position, targets, provider.capabilities, symbols, fuse=settings.fuse)
    if motion is not None:
        motion.assumed += assumed
    leaves = tuple([position for position, node in enumerate(merged.order) if type(node) is Leaf])
    make = None if sizes is None else maker_of(plan)
    return PlanTemplate(make or (lambda _: plan), sizes, merged.kept, merged.duplicates, leaves)


def _can_fail(step: PreparedStep) -> bool:
    """Whether running a step may raise an error of the user's making: host functions check values."""
    return step.decision.where == decisions.HOST or isinstance(step.planned.step, CallStep)


def plan_of(nodes: Sequence[Node], device: Device) -> tuple[PreparedPlan, list[Node], Provider] | None:
    """Return the plan that evaluating ``nodes`` would run, without running it, and the nodes of its graph.

    None if nothing is pending.
    """
    provider = registry.open_device(device)
    with places.graphs:
        pending = pending_of(nodes)
        if not pending:
            return None
        prepared, walked = find_plan(pending, provider, config.current)
        return prepared, walked, provider


def forget_placements() -> None:
    """Place all plans anew when they run next, without the corrections of their steps."""
    with places.graphs:
        for prepared in _plans.values():
            prepared.placed.clear()
            prepared.corrections = decisions.Corrections()


def plan_count() -> int:
    """Return how many plans are kept."""
    return len(_plans)
