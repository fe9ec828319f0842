"""Plans that are found again: by structure, shapes and dtypes, without the values of scalars and without buffers.

A loop that records the same structure again pays for a walk over its graph and a look-up.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence, Set
from typing import Any, Final, NamedTuple
from weakref import WeakSet

from gpuarray import logs
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.fusion.plan import PlannedStep, make_plan
from gpuarray.fusion.steps import CallStep
from gpuarray.fusion.verify import check_plan
from gpuarray.graph.nodes import Call, Contract, Leaf, Map, Node, Reduce, Scan, Scatter
from gpuarray.graph.pattern import Pattern
from gpuarray.graph.verify import check_graph
from gpuarray.graph.walk import Walk, current, merge, topological
from gpuarray.providers.base import Provider
from gpuarray.runtime import places, telemetry
from gpuarray.runtime.history import forget
from gpuarray.runtime.placement import decisions
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep, Timing

#: How many plans are kept, and how many operations they may have together: each takes some 3 KB.
PLAN_LIMIT: Final = 2048
OPERATION_LIMIT: Final = 1 << 16
#: Values of at most so many bytes are stored when they are met again; larger ones if a leaf of the graph is as large.
LIGHT: Final = 1 << 26
#: Deeper than any value.
MAXIMUM: Final = 1 << 60
_KEPT: Final = frozenset((Reduce, Scan, Scatter, Contract, Call))
#: How many elements must be visited to compute one again for that to cost more than to store it.
_WORTH: Final = 8
#: Of graphs whose first roots say the same, so many are found by their patterns.
_ALIKE: Final = 16


class Met(NamedTuple):
    """A graph that was met, and its plan.

    Attributes
    ----------
    pattern : Pattern
        Its structure.
    context : tuple
        The provider and the settings that it was planned for.
    asked : list of int
        The places of what is computed because it was asked for, or is read by arrays.
    lasting : list of int
        The places of what is stored if arrays have it.
    again : list of int
        The places of what is stored because it was met again.
    ready : PreparedPlan
        The plan.
    """

    pattern: Pattern
    context: tuple[Hashable, ...]
    asked: list[int]
    lasting: list[int]
    again: list[int]
    ready: PreparedPlan


class Plans(OrderedDict[tuple[Any, ...], PreparedPlan]):
    """Plans by what they compute; those not used for long go where there are too many, or too many operations.

    Beside the key of a whole graph, plans are found by what their first root says, and the patterns of their graphs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._operations = 0
        self._providers: set[Provider] = set()
        self._met: dict[Hashable, list[Met]] = {}

    def keep(self, key: tuple[Any, ...], ready: PreparedPlan) -> None:
        """Add a plan, for which others may have to go; its key begins with its provider."""
        if key[0] not in self._providers:  # another device was opened, perhaps as one was closed or lost
            self._forget_dead()
            self._providers.add(key[0])
        self._operations += ready.operations
        while self and (len(self) >= PLAN_LIMIT or self._operations > OPERATION_LIMIT):
            oldest, old = self.popitem(last=False)
            if old.is_used:  # since it was looked at here
                old.is_used = False
                self[oldest] = old
                continue
            self._forgotten(old)
        self[key] = ready

    def _forget_dead(self) -> None:
        """Let the plans of devices go that will never run again."""
        gone = {provider for provider in self._providers if not getattr(provider, "alive", True)}
        self._providers -= gone
        plans = [self.pop(key) for key in [key for key in self if key[0] in gone]]
        for ready in plans:
            self._forgotten(ready)
        forget(plans)

    def _forgotten(self, ready: PreparedPlan) -> None:
        """Note that a plan has gone."""
        self._operations -= ready.operations
        if ready.head is not None:
            self._met[ready.head] = [met for met in self._met[ready.head] if met.ready is not ready]
            if not self._met[ready.head]:
                del self._met[ready.head]

    def note(self, root: Node, met: Met) -> None:
        """Note the graph of a plan, of which ``root`` is the first that was asked for."""
        head = _head(root)
        known = self._met.setdefault(head, [])
        if len(known) < _ALIKE:
            known.append(met)
            met.ready.head = head

    def fitting(
        self, pending: Sequence[Node], context: tuple[Hashable, ...], held_from: int
    ) -> tuple[PreparedPlan, list[Node]] | None:
        """Return the plan of a graph that has the pattern of one that was met, and its nodes as a walk has them."""
        known = self._met.get(_head(pending[0]))
        if known is not None:
            for number, met in enumerate(known):
                if met.context != context or (order := met.pattern.fit(pending)) is None:
                    continue
                asked = met.pattern.roots + _held(order, met.lasting, pending, held_from)
                if asked == met.asked and (not met.again or _met_again(order, {*asked})[0] == met.again):
                    if number:
                        known[0], known[number] = met, known[0]
                    return met.ready, order
        return None


def _head(root: Node) -> Hashable:
    return root.op, root.depth, root.dtype, root.shape


_plans: Final = Plans()
_met: Final[WeakSet[Node]] = WeakSet()
"""Values that arrays had while something was computed from them, and not they."""


def find_plan(pending: list[Node], provider: Provider, held_from: int = MAXIMUM) -> tuple[PreparedPlan, list[Node]]:
    """Return the plan that computes ``pending``, and the nodes below as they were walked.

    Values that arrays have are computed too where their depth is ``held_from`` at least.
    """
    settings = config.current
    context: tuple[Any, ...] = (provider, settings.fuse, settings.math, settings.subnormals)
    fitting = _plans.fitting(pending, context, held_from)
    if fitting is not None:
        found, order = fitting
        found.is_used = True
        for place in found.met:
            _met.add(order[place])
        return fitting
    walk = topological(pending)
    order, position, structure, _ = walk
    roots = [node for node in pending if node.result is None]  # another thread may have been here
    lasting = _lasting(walk, roots)
    asked = [position[node] for node in roots] + _held(order, lasting, pending, held_from)
    wanted = asked
    key = (*context, tuple(wanted), *structure)
    known = _plans.get(key)
    again: list[int] = []
    met: list[int] = []
    if known is None:
        again, met = _met_again(order, {*wanted})
        if again:
            wanted = asked + again
            key = (*context, tuple(wanted), *structure)
            known = _plans.get(key)
    if known is not None:
        known.is_used = True
        for place in known.met:
            _met.add(order[place])
        return known, order
    telemetry.count("plans")
    merged = merge(walk)
    if settings.verify:
        check_graph(merged.order, merged.position)
    targets = {merged.position[order[place]] for place in wanted}
    plan = make_plan(merged.order, merged.position, targets, provider.capabilities, fuse=settings.fuse)
    if settings.verify:
        check_plan(plan, merged.order)
    placed = prepare_steps(plan.steps, [decisions.decide(provider.supports(p.step)) for p in plan.steps], provider)
    place_of = merged.kept.__getitem__
    computed = {position for position, _ in plan.results}
    # what can fail after a buffer was written to would leave the old value lost and the new one not recorded
    safe_from = max((number + 1 for number, step in enumerate(placed.steps) if _can_fail(step)), default=0)
    ready = PreparedPlan(
        plan,
        placed,
        sum(1 for node in merged.order if type(node) is not Leaf),
        tuple(merged.kept) if merged.twins else None,
        tuple(merged.twins),
        frozenset([*map(place_of, computed), *(place for place, position in merged.twins if position in computed)]),
        tuple((n, place_of(plan.steps[n].inputs[0])) for n in sorted(plan.donors) if n >= safe_from),
        tuple(position for position, node in enumerate(merged.order) if type(node) is Leaf),
        structure,
        tuple(met),
    )
    _met.update(order[place] for place in met)
    _plans.keep(key, ready)
    if len({*roots}) == len(pending):
        _plans.note(pending[0], Met(Pattern(pending, walk), context, asked, lasting, again, ready))
    return ready, order


def _lasting(walk: Walk, roots: Sequence[Node]) -> list[int]:
    """Return the places of the values below ``roots`` that are stored if arrays have them.

    These are results that take a launch of their own, and what is computed of such, if to store it is little beside
    what would have to be done again. Single numbers are stored when they are met again: programs have chains of them.
    """
    order, position, _, others = walk
    if not others:
        return []
    asked = {position[root] for root in roots}
    found = []
    work = [0] * len(order)  # that is repeated to compute a value again, in elements
    for place, node in enumerate(order):
        if not node.inputs:
            continue
        if type(node) in _KEPT:
            work[place] = _repeated(node)
            found.append(place)
        else:
            work[place] = max([work[position[current(operand)]] for operand in node.inputs])
            if type(node) is Map and 1 < node.size <= work[place] // _WORTH:
                found.append(place)
    return [place for place in found if place not in asked]


def _repeated(node: Node) -> int:
    """Return how many elements a launch visits, about, to compute what is not elementwise."""
    if type(node) is Contract:
        return node.size * node.inputs[0].shape[2]
    most = max([node.size, *(operand.size for operand in node.inputs)])
    return most * (_WORTH if type(node) is Call else 1)


def _held(order: Sequence[Node], lasting: Sequence[int], pending: Sequence[Node], held_from: int) -> list[int]:
    """Return the places of further values to compute, because arrays have them."""
    found = [place for place in lasting if (node := order[place]).holder and node.is_held]
    if held_from < MAXIMUM:
        known = {*lasting}
        asked = {*pending}
        found += [
            place
            for place, node in enumerate(order)
            if node.depth >= held_from and place not in known and node.is_held and node not in asked
        ]
    return found


def _met_again(order: Sequence[Node], wanted: Set[int]) -> tuple[list[int], list[int]]:
    """Return the places of values that are met again, which are to be stored, and of those that arrays have.

    What an array has is computed where it is used, and not stored, as the array may never be asked for it. A program
    that asks for something of each value, and makes the next value from it, as iterations do until they have converged,
    would evaluate ever longer graphs, no two of them alike. So a value is stored that was met when an array had it.
    """
    most = max([LIGHT, *(node.nbytes for node in order if type(node) is Leaf)])
    again, met = [], []
    for place, node in enumerate(order):
        if node.inputs and place not in wanted and node.nbytes <= most:
            if node in _met:
                again.append(place)
            elif node.is_held:
                met.append(place)
    return again, met


def prepare_steps(
    steps: Sequence[PlannedStep],
    chosen: Sequence[decisions.Decision],
    provider: Provider,
    known: Sequence[PreparedStep] = (),
) -> Placement:
    """Return steps prepared for the places that were decided; ``known`` ones where they are for that place."""
    found = []
    for number, (planned, decision) in enumerate(zip(steps, chosen, strict=True)):
        if known and known[number].decision.where == decision.where:
            prepared = known[number].prepared
        else:
            runner = provider if decision.where == decisions.DEVICE else places.host()
            prepared = runner.prepare(planned.step)
        found.append(PreparedStep(planned, decision, prepared, Timing()))
        logs.tell(logs.DECISIONS, "%s: on the %s, %s", decisions.name_of(planned.step), decision.where, decision.reason)
    fallbacks = tuple(n for n, step in enumerate(found) if step.decision.is_fallback)
    on_host = [number for number, step in enumerate(found) if step.decision.where == decisions.HOST]
    if len(on_host) == len(found):
        return Placement(tuple(found), fallbacks, places.host())
    return Placement(tuple(found), fallbacks, None, in_one_go=max(on_host, default=-1) + 1)


def _can_fail(step: PreparedStep) -> bool:
    """Whether running a step may raise an error of the user's making: host functions check values."""
    return step.decision.where == decisions.HOST or isinstance(step.planned.step, CallStep)


def plan_of(nodes: Sequence[Node], device: Device) -> tuple[PreparedPlan, list[Node], Provider] | None:
    """Return the plan that evaluating ``nodes`` would run, without running it, and the walk over the graph.

    None if nothing is pending.
    """
    pending = [node for node in nodes if node.result is None and type(node) is not Leaf]
    if not pending:
        return None
    provider = places.provider_of(device)
    with places.lock:
        ready, walked = find_plan(pending, provider)
        return ready, walked, provider


def forget_placements() -> None:
    """Place all plans anew when they run next, without what was learnt of their steps."""
    for ready in _plans.values():
        ready.placed.clear()
        ready.corrections = decisions.Corrections()


def plan_count() -> int:
    """Return how many plans are kept."""
    return len(_plans)
