"""Known graphs: those that have plans, found by their structure, or by their pattern if offsets move.

The first graphs of a pattern have plans of their own, in which offsets are numbers: kernels are fastest so. Where an
offset has had several values, it becomes a run-time parameter of the next plan, which serves all later graphs whose
other offsets, differences and overlaps are the same. A loop whose views move thus makes a constant number of plans.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from gpuarray.graph.layouts import Layout, are_apart
from gpuarray.graph.moving import PART, Moving, as_offset, at_values
from gpuarray.graph.nodes import Node, Scatter, View
from gpuarray.graph.structure import Pattern, Structure, pattern_hash, structural_hash
from gpuarray.graph.walk import Walk, current
from gpuarray.runtime import stored

#: How many nodes the hash of a graph covers, at first; of how many graphs it may be the same before it covers so many
#: times more; and how many it covers at most.
_HASHED: Final = 4
_ALIKE: Final = 8
_DEEPER: Final = 8
_DEEPEST: Final = 1 << 14
#: An offset moves once it has had more than so many values.
_STILL: Final = 3
#: How many graphs of one pattern are compared to find which offsets move together; each led to a plan.
_COMPARED: Final = 64
#: Offsets that move and are multiples of this in all graphs so far stay so: four elements are read at a time.
_ALIGNED: Final = 4


@dataclass(slots=True, eq=False)
class Motion:
    """The offsets of a graph: which of them move, and what holds of all of them in every graph of its plans.

    Attributes
    ----------
    still : list of (int, int)
        Places of nodes whose offsets are numbers, and these.
    moving : list of (int, int, int)
        Places of nodes whose offsets move, the place of the node that they follow, and the difference.
    divisors : dict of int
        A divisor of the offset of each node that is followed, by its place.
    assumed : list of (Layout, Layout)
        Pairs of layouts that plans assume to be apart.
    """

    still: list[tuple[int, int]]
    moving: list[tuple[int, int, int]]
    divisors: dict[int, int]
    assumed: list[tuple[Layout, Layout]] = field(default_factory=list)

    def fits(self, order: Sequence[Any]) -> bool:
        """Whether a graph of the pattern has such offsets."""

        def offset(place: int) -> int:
            value: int = order[place].parameters[PART]
            return value

        return (
            all(offset(place) == value for place, value in self.still)
            and all(offset(place) - offset(leader) == apart for place, leader, apart in self.moving)
            and all(offset(leader) % divisor == 0 for leader, divisor in self.divisors.items())
            and all(are_apart(_at(first, offset), _at(second, offset)) for first, second in self.assumed)
        )

    def stay(self, leader: int, order: Sequence[Any]) -> list[int]:
        """Let the offsets that follow one be numbers; return the places of their nodes."""
        places = [place for place, followed, _ in self.moving if followed == leader]
        self.still += [(place, order[place].parameters[PART]) for place in places]
        self.moving = [entry for entry in self.moving if entry[1] != leader]
        del self.divisors[leader]
        return places

    def nodes(self, order: Sequence[Any], assumed: list[tuple[Layout, Layout]]) -> dict[int, Node]:
        """Return views and writes with offsets that move, by the places of the nodes for which they stand."""
        found: dict[int, Node] = {}
        for place, leader, apart in self.moving:
            node, example = order[place], order[leader].parameters[PART]
            offset = as_offset(Moving(leader, example, self.divisors[leader], 1, apart, assumed))
            layout = node.layout._replace(offset=offset)
            operands = [*map(current, node.inputs)]
            if isinstance(node, View):
                found[place] = View(operands[0], layout)
            else:
                found[place] = Scatter(operands[0], operands[1], layout, None, node.shape, node.combine)
        return found


def _at(layout: Layout, offset: Callable[[int], int]) -> Layout:
    return layout._replace(offset=at_values(layout.offset, offset))


@dataclass(slots=True, eq=False)
class KnownPattern:
    """A pattern, and its graphs that have plans.

    Attributes
    ----------
    structure : Pattern
        What is compared.
    seen : list of tuple of int
        The offsets of graphs that needed a plan.
    staying : set of int
        Places of nodes whose offsets plans depend on.
    moving : list of KnownGraph
        The graphs in which offsets move.
    graphs : int
        How many graphs have plans.
    """

    structure: Pattern
    seen: list[tuple[int, ...]] = field(default_factory=list)
    staying: set[int] = field(default_factory=set)
    moving: "list[KnownGraph]" = field(default_factory=list)
    graphs: int = 0

    def motion(self, order: Sequence[Any], limit: int) -> Motion | None:
        """Return which offsets move, with those of one more graph; None if none does.

        Parameters
        ----------
        order : sequence of Node
            The graph.
        limit : int
            Most bytes of an array in which an offset may move.
        """
        places = self.structure.laid_out
        offsets = tuple([order[place].parameters[PART] for place in places])
        if offsets not in self.seen:
            if len(self.seen) >= _COMPARED:
                return None
            self.seen.append(offsets)
        if len(self.seen) <= _STILL:
            return None
        found = Motion([], [], {})
        leaders: list[tuple[int, tuple[int, ...]]] = []
        for place, values in zip(places, zip(*self.seen, strict=True), strict=True):
            is_still = len({*values}) <= _STILL or place in self.staying
            if is_still or order[place].inputs[0].nbytes > limit:
                found.still.append((place, order[place].parameters[PART]))
                continue
            for leader, others in leaders:
                if len({a - b for a, b in zip(values, others, strict=True)}) == 1:
                    found.moving.append((place, leader, values[0] - others[0]))
                    break
            else:
                leaders.append((place, values))
                found.moving.append((place, place, 0))
                found.divisors[place] = 1 if any(value % _ALIGNED for value in values) else _ALIGNED
        return found if found.moving else None


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
        What holds of its offsets, if some of them move.
    plans : int
        How many plans it has.
    """

    structure: Structure
    storable: list[int]
    pattern: KnownPattern | None = None
    motion: Motion | None = None
    plans: int = 0


K = TypeVar("K", KnownGraph, KnownPattern)


class Table(Generic[K]):
    """Known graphs, or known patterns, by structure.

    It is a hash table whose hashes cover more nodes where many graphs begin alike.

    Parameters
    ----------
    hashed : int
        How many nodes the hashes cover.
    hash_of : callable
        Returns the hash of a graph.
    """

    __slots__ = ("_buckets", "_deeper", "_hash_of", "_hashed")

    def __init__(self, hashed: int, hash_of: Callable[[Sequence[Node], int], int]) -> None:
        self._hashed = hashed
        self._hash_of = hash_of
        self._buckets: dict[int, list[K]] = {}
        self._deeper: dict[int, Table[K]] = {}
        """Where a bucket would be too long."""

    def find(self, roots: Sequence[Node]) -> tuple[K, list[Node]] | None:
        """Return the known graph below some nodes, and its nodes by walk index; None if it is not known."""
        number = self._hash_of(roots, self._hashed)
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
        number = graph.structure.hash(self._hashed)
        if number in self._deeper:
            self._deeper[number].add(graph)
            return
        bucket = self._buckets.setdefault(number, [])
        bucket.append(graph)
        if len(bucket) > _ALIKE and self._hashed < _DEEPEST:
            self._deeper[number] = Table(self._hashed * _DEEPER, self._hash_of)
            for known in self._buckets.pop(number):
                self._deeper[number].add(known)

    def remove(self, graph: K) -> None:
        """Forget a known graph."""
        number = graph.structure.hash(self._hashed)
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

    __slots__ = ("_exact", "_patterns")

    def __init__(self) -> None:
        self._exact: Table[KnownGraph] = Table(_HASHED, structural_hash)
        self._patterns: Table[KnownPattern] = Table(_HASHED, pattern_hash)

    def find(self, roots: Sequence[Node]) -> tuple[KnownGraph, list[Node]] | None:
        """Return the known graph below some nodes, and its nodes by walk index; None if it is not known."""
        found = self._exact.find(roots)
        if found is not None:
            return found
        pattern = self._patterns.find(roots)
        if pattern is not None:
            for graph in pattern[0].moving:
                assert graph.motion is not None
                if graph.motion.fits(pattern[1]):
                    return graph, pattern[1]
        return None

    def new(self, roots: Sequence[Node], walk: Walk, limit: int) -> KnownGraph:
        """Return a graph that is not known yet; offsets in arrays of at most ``limit`` bytes may move."""
        storable = stored.storable(walk, roots)
        found = self._patterns.find(roots)
        if found is not None:
            pattern = found[0]
        else:
            pattern = KnownPattern(Pattern(roots, walk))
            if not pattern.structure.laid_out:
                return KnownGraph(Structure(roots, walk), storable)
        motion = pattern.motion(walk.order, limit)
        structure = pattern.structure if motion is not None else Structure(roots, walk)
        return KnownGraph(structure, storable, pattern, motion)

    def add(self, graph: KnownGraph) -> None:
        """Add a graph that is not known yet."""
        pattern = graph.pattern
        if pattern is not None:
            if not pattern.graphs:
                self._patterns.add(pattern)
            pattern.graphs += 1
        if pattern is not None and graph.motion is not None:
            pattern.moving.append(graph)
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

    def __len__(self) -> int:
        return len(self._exact) + sum(len(pattern.moving) for pattern in self._patterns)
