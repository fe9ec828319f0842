"""Known graphs: those that have plans, found by their structure, or by their pattern if numbers of it change.

The first graphs of a pattern have plans of their own: kernels are fastest so. Where a number has had several values,
the next plan serves others of its values as well. An offset becomes a run-time parameter of that plan
(:mod:`gpuarray.graph.moving`). Extents, strides, and offsets on which plans depend vary
(:mod:`gpuarray.graph.varying`): the plan is a template, of which each set of sizes has an instance. A loop whose views
move, grow or shrink thus makes a constant number of plans.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Generic, TypeVar

from gpuarray.adapter_profile import LAUNCH_BOUND
from gpuarray.graph.cases import Cases
from gpuarray.graph.nodes import Node
from gpuarray.graph.structure import Form, Pattern, Structure, structural_hash, structure_of
from gpuarray.graph.walk import Walk
from gpuarray.runtime import stored
from gpuarray.runtime.motions import Motion, Picker, picker

#: How many nodes the hash of a graph covers, at first; of how many graphs it may be the same before it covers so many
#: times more; and how many it covers at most.
_HASHED: Final = 4
_ALIKE: Final = 8
_DEEPER: Final = 8
_DEEPEST: Final = 1 << 14
#: A number may change once it has had more than so many values.
_STILL: Final = 3
#: How many graphs of one pattern are compared to find which numbers change together; each led to a plan.
_COMPARED: Final = 64
#: Offsets that move and are multiples of this in all graphs so far stay so: four elements are read at a time.
_ALIGNED: Final = 4
#: How many nodes a graph with a pattern has at most. The graphs of a loop have fewer, as they are evaluated before.
_PATTERNED: Final = 1 << 12
#: How many graphs of one pattern may have numbers that change.
_MOTIONS: Final = 16


@dataclass(slots=True, eq=False)
class KnownPattern:
    """A pattern, and its graphs that have plans.

    Attributes
    ----------
    first : Structure
        The structure of the first graph, of which the pattern is made when another graph may have it.
    seen : dict of list
        The numbers of some graphs, by those numbers that are no offsets.
    fixed : dict of bool
        Numbers on whose values plans depend. True is of those that do not even vary.
    moving : list of KnownGraph
        The graphs with numbers that change, those with fewer such numbers first.
    graphs : int
        How many graphs have plans.
    """

    first: Structure
    seen: dict[tuple[int, ...], list[tuple[int, ...]]] = field(default_factory=dict)
    fixed: dict[int, bool] = field(default_factory=dict)
    moving: "list[KnownGraph]" = field(default_factory=list)
    graphs: int = 0
    _structure: Pattern | None = None
    _sizes: Picker = field(init=False)

    @property
    def structure(self) -> Pattern:
        """The pattern, made when it is first compared."""
        pattern = self._structure
        if pattern is None:
            pattern = self._structure = Pattern(self.first.meanings, self.first.roots)
            self._sizes = picker([n for n in range(len(pattern.extents)) if n not in pattern.offsets])
            self._note(pattern.numbers(self.first.meanings))
        return pattern

    def hash(self, limit: int) -> int:
        """Return the hash of its graphs for a table of patterns."""
        return self.first.hash(limit, Pattern.form)

    def fitting(self, numbers: tuple[int, ...]) -> "KnownGraph | None":
        """Return the graph with numbers that change whose plans serve a graph with such numbers, if there is one.

        None is returned too if offsets in arrays of these sizes have become many: they are to move.
        """
        for graph in self.moving:
            assert graph.motion is not None
            if graph.motion.fits(numbers):
                is_many = graph.motion.varying and len(self.moving) < _MOTIONS and self._note(numbers)
                return None if is_many else graph
        return None

    def _note(self, numbers: tuple[int, ...]) -> bool:
        """Note the numbers of a graph; return whether only its offsets differ from those of several others."""
        alike = self.seen.setdefault(self._sizes(numbers), [])
        if len(alike) < _COMPARED and numbers not in alike:
            alike.append(numbers)
        if len(self.seen) > _COMPARED:
            del self.seen[next(iter(self.seen))]
        return len(alike) > _STILL and not any(number in self.fixed for number in self.structure.offsets)

    def motion(self, order: Sequence[Node], limit: int) -> Motion | None:
        """Return which numbers change, with those of one more graph; None if none does.

        Parameters
        ----------
        order : sequence of Node
            The graph.
        limit : int
            Most bytes of an array in which an offset may move.
        """
        if len(self.moving) >= _MOTIONS:
            return None
        numbers = self.structure.numbers(order)
        self._note(numbers)
        return self._motion(numbers, order, limit)

    def _motion(self, numbers: tuple[int, ...], order: Sequence[Node], limit: int) -> Motion | None:
        offsets = self.structure.offsets
        seen = self.seen[self._sizes(numbers)]
        may_move = len(seen) > _STILL
        if not may_move:
            seen = [*chain.from_iterable(self.seen.values())]
            # where sizes vary, there is a plan for each, and kernels of many elements are faster if offsets are numbers
            may_move = max([node.size for node in order]) <= LAUNCH_BOUND
        still: dict[int, int] = {}
        following: dict[int, tuple[int, int]] = {}
        divisors: dict[int, int] = {}
        varying: list[int] = []
        leaders: list[tuple[int, bool, tuple[int, ...]]] = []
        for number, values in enumerate(zip(*seen, strict=True)):
            if len({*values}) <= _STILL or self.fixed.get(number):
                still[number] = numbers[number]
                continue
            moves = may_move and number in offsets and number not in self.fixed
            moves = moves and order[offsets[number]].inputs[0].nbytes <= limit
            for leader, leads_moving, others in leaders:
                if moves == leads_moving and len({a - b for a, b in zip(values, others, strict=True)}) == 1:
                    following[number] = leader, values[0] - others[0]
                    break
            else:
                leaders.append((number, moves, values))
                following[number] = number, 0
                if moves:
                    divisors[number] = 1 if any(value % _ALIGNED for value in values) else _ALIGNED
                else:
                    varying.append(number)
        if may_move or not offsets.keys() >= following.keys():
            return Motion(still, following, divisors, varying) if following else None
        return None

    def fix(self, fixed: Sequence[int], motion: Motion, order: Sequence[Node], limit: int) -> Motion:
        """Return the numbers that change if the plan depends on the values of some leading numbers."""
        for leader in fixed:
            is_value = leader not in motion.divisors
            self.fixed |= {n: is_value for n, (followed, _) in motion.following.items() if followed == leader}
        numbers = self.structure.numbers(order)
        self._note(numbers)
        return self._motion(numbers, order, limit) or motion.without_sizes(numbers)


@dataclass(slots=True, eq=False)
class KnownGraph:
    """A structure with plans.

    Attributes
    ----------
    structure : Structure
        What is compared.
    storable : list of int
        The walk indices of values that are stored if arrays have them.
    pattern : KnownPattern or None
        Its pattern, if it has offsets.
    motion : Motion or None
        What holds of its numbers, if some of them change.
    plans : int
        How many plans it has.
    templates : dict of Cases
        Its plans in which numbers vary.
    next : KnownGraph or None
        The graph that was found after it last time: programs of loops come to the same graphs in the same order.
    """

    structure: Structure
    storable: list[int]
    pattern: KnownPattern | None = None
    motion: Motion | None = None
    plans: int = 0
    templates: dict[tuple[Any, ...], Cases] = field(default_factory=dict)
    next: "KnownGraph | None" = None

    def hash(self, limit: int) -> int:
        """Return the hash of its structure for a table of structures."""
        return self.structure.hash(limit)

    def served(self, order: Sequence[Node]) -> tuple[Any, ...] | None:
        """Return :meth:`sizes` of a graph of its structure, or of its pattern; None if its plans do not serve that."""
        if self.motion is None:
            return ()
        assert self.pattern is not None
        numbers = self.pattern.structure.numbers(order)
        return self.sizes(numbers) if self.pattern.fitting(numbers) is self else None

    def sizes(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        """Return the part of a key of plans that differs between graphs of it, given the numbers of one."""
        motion = self.motion
        if motion is None:
            return ()
        return (motion, *motion.sizes(numbers)) if motion.varying else (motion,)

    def sizes_of(self, order: Sequence[Node]) -> tuple[Any, ...]:
        """Return :meth:`sizes` of a graph."""
        if self.motion is None:
            return ()
        assert self.pattern is not None
        return self.sizes(self.pattern.structure.numbers(order))


def _changing(graph: KnownGraph) -> int:
    """Return how many numbers of a graph change."""
    return 0 if graph.motion is None else len(graph.motion.following)


K = TypeVar("K", KnownGraph, KnownPattern)


class Table(Generic[K]):
    """Known graphs, or known patterns, by structure.

    It is a hash table whose hashes cover more nodes where many graphs begin alike.

    Parameters
    ----------
    hashed : int
        How many nodes the hashes cover.
    form : Form
        What they cover of each node.
    """

    __slots__ = ("_buckets", "_deeper", "_form", "_hashed")

    def __init__(self, hashed: int, form: Form) -> None:
        self._hashed = hashed
        self._form = form
        self._buckets: dict[int, list[K]] = {}
        self._deeper: dict[int, Table[K]] = {}
        """Where a bucket would be too long."""

    def find(self, roots: Sequence[Node]) -> tuple[K, list[Node]] | None:
        """Return the known graph below some nodes, and its nodes by walk index; None if it is not known."""
        number = structural_hash(roots, self._hashed, self._form)
        bucket = self._buckets.get(number)
        if bucket is None:
            return self._deeper[number].find(roots) if number in self._deeper else None
        for index, known in enumerate(bucket):
            order = known.structure.match(roots)
            if order is not None:
                if index:
                    bucket[0], bucket[index] = known, bucket[0]
                return known, order
        return None

    def add(self, graph: K) -> None:
        """Add a graph that is not known yet."""
        number = graph.hash(self._hashed)
        if number in self._deeper:
            self._deeper[number].add(graph)
            return
        bucket = self._buckets.setdefault(number, [])
        bucket.append(graph)
        if len(bucket) > _ALIKE and self._hashed < _DEEPEST:
            self._deeper[number] = Table(self._hashed * _DEEPER, self._form)
            for known in self._buckets.pop(number):
                self._deeper[number].add(known)

    def remove(self, graph: K) -> None:
        """Forget a known graph."""
        number = graph.hash(self._hashed)
        if number in self._deeper:
            self._deeper[number].remove(graph)
            if not self._deeper[number]:
                del self._deeper[number]
        else:
            self._buckets[number].remove(graph)
            if not self._buckets[number]:
                del self._buckets[number]

    def __iter__(self) -> Iterator[K]:
        for bucket in self._buckets.values():
            yield from bucket
        for deeper in self._deeper.values():
            yield from deeper

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values())) + sum(map(len, self._deeper.values()))


class Graphs:
    """All known graphs."""

    __slots__ = ("_exact", "_last", "_patterns")

    def __init__(self) -> None:
        self._last: KnownGraph | None = None
        self._exact: Table[KnownGraph] = Table(_HASHED, Structure.form)
        self._patterns: Table[KnownPattern] = Table(_HASHED, Pattern.form)

    def find(self, roots: Sequence[Node]) -> tuple[KnownGraph, list[Node], tuple[Any, ...]] | None:
        """Return the known graph below some nodes, its nodes by walk index, and its sizes; None if it is not known."""
        last = self._last
        if last is not None and (expected := last.next) is not None and expected.plans:
            order = expected.structure.match(roots)
            if order is not None and (sizes := expected.served(order)) is not None:
                self._last = expected
                return expected, order, sizes
        exact = self._exact.find(roots)
        if exact is not None:
            match = *exact, ()
        else:
            pattern = self._patterns.find(roots)
            if pattern is None:
                return None
            numbers = pattern[0].structure.numbers(pattern[1])
            graph = pattern[0].fitting(numbers)
            if graph is None:
                return None
            match = graph, pattern[1], graph.sizes(numbers)
        if last is not None:
            last.next = match[0]
        self._last = match[0]
        return match

    def new(self, roots: Sequence[Node], walk: Walk, limit: int) -> KnownGraph:
        """Return a graph that is not known yet; offsets in arrays of at most ``limit`` bytes may move."""
        storable = stored.storable(walk, roots)
        structure = structure_of(roots, walk)
        if len(walk.order) > _PATTERNED:
            return KnownGraph(structure, storable)
        known = self._patterns.find(roots)
        if known is None:
            return KnownGraph(structure, storable, KnownPattern(structure))
        # the nodes of a pattern are those of its walk, in its order
        pattern = known[0]
        motion = pattern.motion(walk.order, limit)
        return KnownGraph(structure if motion is None else pattern.structure, storable, pattern, motion)

    def add(self, graph: KnownGraph) -> None:
        """Add a graph that is not known yet."""
        pattern = graph.pattern
        if pattern is not None:
            if not pattern.graphs:
                self._patterns.add(pattern)
            pattern.graphs += 1
        if pattern is not None and graph.motion is not None:
            pattern.moving.append(graph)
            pattern.moving.sort(key=_changing)
        else:
            self._exact.add(graph)

    def remove(self, graph: KnownGraph) -> None:
        """Forget a known graph."""
        pattern = graph.pattern
        if pattern is not None:
            pattern.graphs -= 1
            if not pattern.graphs:
                self._patterns.remove(pattern)
        if pattern is not None and graph.motion is not None:
            pattern.moving.remove(graph)
        else:
            self._exact.remove(graph)
        graph.next = None
        if self._last is graph:
            self._last = None

    def __len__(self) -> int:
        return len(self._exact) + sum(len(pattern.moving) for pattern in self._patterns)
