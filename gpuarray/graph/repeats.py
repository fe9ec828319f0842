"""Repeated graphs: copies of the graph of an earlier call with other leaves.

Creating the nodes of a copy takes longer than launching its kernel, and most copies are evaluated before anything else
reads their nodes. So a copy has only its roots at first. The nodes below are created when they are first read. The
evaluation of a single root does not read them, because it remembers how the known graph of the original was found.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, NoReturn
from weakref import ref

from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build, choices
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Leaf, Node, View, copied
from gpuarray.graph.walk import current, topological


class UnknownError(Exception):
    """A function whose graph is recorded for copies read a value, which may be another in a copy."""


class _Nowhere:
    """Stands where the provider of a value would, for values that are not known."""

    device: Final = Device("recorded")

    def __getattr__(self, name: str) -> NoReturn:
        raise UnknownError


_NOWHERE: Final = _Nowhere()


def unknown(shape: Shape, dtype: DType) -> Leaf:
    """Return a leaf whose value cannot be read: to ask for it raises UnknownError."""
    leaf = Leaf(shape, dtype)
    leaf.buffers[_NOWHERE] = None
    return leaf


class _KnownCopy(NamedTuple):
    """The known graph of a root.

    Attributes
    ----------
    graph : object
        The result of the search.
    order : list of Node
        The nodes of the original in the order of a walk.
    leaves, roots : list of (int, int)
        Positions in ``order`` of the leaves and of the roots, with their numbers.
    pending : list of Node
        The nodes that all copies share. After one of them is evaluated, the graph has another structure.
    """

    graph: Any
    order: list[Node]
    leaves: list[tuple[int, int]]
    roots: list[tuple[int, int]]
    pending: list[Node]


class CopiedGraph:
    """A graph that is copied with other nodes in place of some.

    Parameters
    ----------
    roots : sequence of Node
        The results.
    replaced : sequence of Node
        The nodes that copies replace by nodes of the same shapes and dtypes. What they are computed from is not copied.
        They need no values.
    shares_pending : bool
        Whether copies share what depends on none of these nodes, even if it is still to be computed.

    Attributes
    ----------
    steps : tuple of (Node, tuple of int)
        The nodes that copies have anew, and the numbers of their operands. A copy has the nodes in place of others
        first, then those that all copies share, then those of the steps.
    first : int
        The number of the first of them.
    results : tuple of int
        The numbers of the roots.
    """

    __slots__ = ("_choices", "_others", "_roots", "first", "results", "steps")

    def __init__(self, roots: Sequence[Node], replaced: Sequence[Node], *, shares_pending: bool) -> None:
        leaves = [*map(current, replaced)]
        depends: set[Node] = {*leaves}
        order = topological(roots).order
        for node in order:
            is_shared = shares_pending or type(node) is Leaf
            if not is_shared or any(current(operand) in depends for operand in node.inputs):
                depends.add(node)
        copied_nodes = depends.difference(leaves)
        steps = [node for node in order if node in copied_nodes]
        others = dict.fromkeys(
            below for node in steps for operand in node.inputs if (below := current(operand)) not in depends
        )
        others |= dict.fromkeys(root for root in map(current, roots) if root not in depends)
        number = {node: index for index, node in enumerate((*leaves, *others, *steps))}
        self.first = len(leaves) + len(others)
        self._roots = tuple(roots)
        self._others = tuple(others)
        self.results = tuple(number[current(root)] for root in roots)
        self._choices = {number[node]: choice for node in steps if (choice := choices.noted(node)) is not None}
        self.steps = tuple((node, tuple(number[current(operand)] for operand in node.inputs)) for node in steps)

    def nodes(self, instead: Sequence[Node]) -> list[Node]:
        """Return the nodes of a copy by number, with some nodes in place of those that copies replace."""
        copies = [*instead, *self._others]
        for node, indices in self.steps:
            inputs = tuple([copies[index] for index in indices])
            copies.append(build.view(inputs[0], node.layout) if type(node) is View else copied(node, inputs))
        self._note(copies)
        return copies

    def _note(self, copies: Sequence[Node]) -> None:
        for number, choice in self._choices.items():
            choices.note(copies[number], choice)


class RepeatedGraph(CopiedGraph):
    """A graph that is copied with other leaves, of the same shapes and dtypes.

    Parameters
    ----------
    roots : sequence of Node
        The results. At least one depends on a leaf, and none is one.
    leaves : sequence of Leaf
        The leaves that copies replace. They need no values.
    """

    __slots__ = ("_known", "_leaves")

    def __init__(self, roots: Sequence[Node], leaves: Sequence[Leaf]) -> None:
        super().__init__(roots, leaves, shares_pending=True)
        if max(self.results, default=0) < self.first or min(self.results) < len(leaves):
            raise ValueError("no root depends on a leaf, or a root is one")
        self._leaves = tuple(leaves)
        self._known: dict[int, _KnownCopy] = {}
        for node, _ in self.steps:
            node.origin = None  # a copy was recorded at another line

    def copied(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the roots of a copy with other nodes in place of the leaves."""
        if all(type(node) is Leaf for node in nodes) and len({*nodes}) == len(nodes):
            return _GraphCopy(self, nodes).roots()
        copies = self.nodes(nodes)
        return [copies[number] for number in self.results]


class _GraphCopy:
    """The copy of a graph with other leaves.

    Parameters
    ----------
    original : RepeatedGraph
        The graph.
    leaves : sequence of Leaf
        The other leaves.
    """

    __slots__ = ("_leaves", "_original", "_roots")

    def __init__(self, original: RepeatedGraph, leaves: Sequence[Node]) -> None:
        self._original = original
        self._leaves = leaves
        self._roots: dict[int, ref[Node]] = {}

    def roots(self) -> list[Node]:
        """Return the roots, whose operands are created when they are first read."""
        original = self._original
        nodes = []
        first = len(self._leaves)
        shared = first + len(original._others)
        for root, number in zip(original._roots, original.results, strict=True):
            if number < shared:
                nodes.append(original._others[number - first])
                continue
            known = self._roots.get(number)
            node = None if known is None else known()
            if node is None:
                node = copied(root, ())
                operands: Any = Operands(self, number)
                node.inputs = operands
                node.depth = root.depth
                if number in original._choices:
                    choices.note(node, original._choices[number])
                self._roots[number] = ref(node)
            nodes.append(node)
        return nodes

    def operands(self, result: int) -> tuple[Node, ...]:
        """Return the operands of a root, given its number. All roots get their operands now."""
        original = self._original
        copies = [*self._leaves, *original._others]
        inputs_of_copy: tuple[Node, ...] = ()
        for node, indices in original.steps:
            number = len(copies)
            inputs = tuple([copies[index] for index in indices])
            known = self._roots.get(number)
            root: Any = None if known is None else known()
            if root is not None and type(root.inputs) is Operands:
                root.inputs = inputs
                if root.result is not None:  # another thread has evaluated it meanwhile
                    root.inputs = ()
            if number == result:
                inputs_of_copy = inputs
            copies.append(copied(node, inputs) if root is None else root)
        original._note(copies)
        return inputs_of_copy

    def find(self, result: int) -> tuple[Any, list[Node]] | None:
        """Return the known graph of a root, given its number, and its nodes; None if :meth:`learn` was not called."""
        known = self._original._known.get(result)
        if known is None or any(node.result is not None for node in known.pending):
            return None
        order = known.order[:]
        for index, number in known.leaves:
            order[index] = self._leaves[number]
        for index, number in known.roots:
            root = self._roots[number]()
            if root is not None:
                if root.result is not None:
                    return None
                order[index] = root
        return known.graph, order

    def learn(self, result: int, graph: Any) -> None:
        """Store the known graph of a root, given its number, unless a root that it may contain was evaluated."""
        original = self._original
        if any((other := known()) is not None and other.result is not None for known in self._roots.values()):
            return
        order, position = topological((original._roots[original.results.index(result)],))
        numbers = {
            index: number for number, node in enumerate(original._leaves) if (index := position.get(node)) is not None
        }
        steps = {node for node, _ in original.steps}
        original._known[result] = _KnownCopy(
            graph,
            order,
            [*numbers.items()],
            [
                (position[node], number)
                for node, number in zip(original._roots, original.results, strict=True)
                if node in steps and node in position
            ],
            [node for node in order if node.inputs and node not in steps],
        )


class Operands:
    """The operands of a root of a copy: a lazy tuple, whose items are created when they are first read."""

    __slots__ = ("_copy", "_nodes", "_number")

    def __init__(self, copy: _GraphCopy, number: int) -> None:
        self._copy = copy
        self._number = number
        self._nodes: tuple[Node, ...] | None = None

    def find(self) -> tuple[Any, list[Node]] | None:
        """Return the known graph of the root and its nodes in the order of a walk, or None."""
        return None if self._nodes is not None else self._copy.find(self._number)

    def learn(self, graph: Any) -> None:
        """Store the known graph of the root, for this copy and others."""
        self._copy.learn(self._number, graph)

    def nodes(self) -> tuple[Node, ...]:
        """Return the operands."""
        if self._nodes is None:
            self._nodes = self._copy.operands(self._number)
        return self._nodes

    def __len__(self) -> int:
        return len(self.nodes())

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes())

    def __getitem__(self, key: Any) -> Any:
        return self.nodes()[key]

    def __contains__(self, node: object) -> bool:
        return node in self.nodes()

    def __eq__(self, other: object) -> bool:
        return self.nodes() == (other.nodes() if isinstance(other, Operands) else other)

    def __hash__(self) -> int:
        return hash(self.nodes())
