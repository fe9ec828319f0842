"""Walks over graphs, without recursion."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Generate, Node


def current(node: Node) -> Node:
    """Return the leaf with the value of a node that was evaluated, or the node itself."""
    return node if node.result is None else node.result


class Meaning(NamedTuple):
    """The attributes that define a node of a graph, without the values of leaves and scalars.

    Attributes
    ----------
    kind : type
        Its class.
    op : Op or type
        Its operation; its class, if it has none.
    dtype : dtype
        Of the value.
    shape : tuple of int
        Of the value.
    detail : object
        What else the kind needs, such as axes; None of generators, whose parameters are values.
    inputs : tuple of int
        Its operands, by number.
    """

    kind: type
    op: Any
    dtype: DType
    shape: Shape
    detail: Any
    inputs: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its operation, or of its kind if it has none."""
        return self.kind.__name__.lower() if self.op is self.kind else str(self.op.name)

    @property
    def text(self) -> str:
        """The detail as text for people, such as axes."""
        return self.kind.describe(self.detail)  # type: ignore[attr-defined]  # a class of nodes has it


def meaning(node: Node, position: Mapping[Node, int]) -> Meaning:
    """Return the meaning of a node, with its operands numbered by ``position``."""
    detail = None if type(node) is Generate else node.detail
    return Meaning(type(node), node.op, node.dtype, node.shape, detail, operands(node, position))


def operands(node: Node, position: Mapping[Node, int]) -> tuple[int, ...]:
    """Return the positions of a node's operands."""
    return tuple([position[i if i.result is None else i.result] for i in node.inputs])


class Walk(NamedTuple):
    """The nodes of a graph, operands before their users.

    Attributes
    ----------
    order : list of Node
        The nodes; the leaf of a node stands for it where it has been evaluated.
    position : dict
        Indices in ``order`` by node.
    """

    order: list[Node]
    position: dict[Node, int]


def meanings_of(walk: Walk) -> list[Meaning]:
    """Return the meaning of each node of a walk."""
    return [meaning(node, walk.position) for node in walk.order]


def topological(roots: Iterable[Node]) -> Walk:
    """Return the nodes below ``roots``, operands before their users."""
    order: list[Node] = []
    position: dict[Node, int] = {}
    stack: list[Node] = [*map(current, roots)]
    stack.reverse()
    while stack:
        node = stack[-1]
        if node not in position:
            missing = [below for operand in node.inputs if (below := current(operand)) not in position]
            if missing:
                stack += reversed(missing)
                continue
            position[node] = len(order)
            order.append(node)
        stack.pop()
    return Walk(order, position)


class Merged(NamedTuple):
    """The different nodes of a graph. Of nodes with the same meaning and operands, it has the first.

    Attributes
    ----------
    order : list of Node
        The nodes, operands before their users.
    position : dict
        Positions in ``order`` by node, of all nodes that were walked.
    kept : list of int
        Walk indices of the nodes in ``order``.
    duplicates : list of (int, int)
        Walk indices of the other nodes, and the positions of the equal nodes in ``order``.
    """

    order: list[Node]
    position: dict[Node, int]
    kept: list[int]
    duplicates: list[tuple[int, int]]


def merge(
    walk: Walk, instead: Mapping[int, Node] = MappingProxyType({}), meanings: Sequence[Meaning] | None = None
) -> Merged:
    """Return the different nodes of a walk.

    Leaves are not compared, nor generators: a plan must not depend on whether two values happen to be equal.

    Parameters
    ----------
    walk : Walk
        The walk.
    instead : dict
        Nodes that replace those of the walk, by walk index. They have each other as operands.
    meanings : sequence of Meaning, optional
        What :func:`meanings_of` the nodes returns, if it is known.
    """
    merged = Merged([], {}, [], [])
    first: dict[Meaning, int] = {}
    for index, node in enumerate(walk.order):
        number = len(merged.order)
        stand_in = instead.get(index, node)
        if node.inputs:
            if meanings is not None and number == index:  # its operands have the numbers of the walk
                means = meanings[index]
            else:
                means = meaning(stand_in, merged.position)
            known = first.setdefault(means, number)
            if known != number:
                merged.position[node] = merged.position[stand_in] = known
                merged.duplicates.append((index, known))
                continue
        merged.position[node] = merged.position[stand_in] = number
        merged.order.append(stand_in)
        merged.kept.append(index)
    return merged
