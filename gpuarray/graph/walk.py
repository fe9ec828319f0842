"""Walks over graphs, without recursion, and the key by which plans are found again."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, assert_never

from gpuarray.graph.nodes import (
    Call,
    Concat,
    Contract,
    Gather,
    Generate,
    Leaf,
    Map,
    Node,
    Reduce,
    Scan,
    Scatter,
    View,
)


def current(node: Node) -> Node:
    """Return what stands for ``node`` now: the leaf that an evaluation made of it, or the node itself."""
    return node if node.result is None else node.result


class Walk(NamedTuple):
    """The different nodes of a graph, operands before their users.

    Attributes
    ----------
    order : list of Node
        The nodes; those that have been evaluated stand for themselves as leaves.
    position : dict
        Places in ``order`` by ``id(node)``. Nodes that say the same of the same operands share the first one's. Scalars
        are never the same: a plan must not change when two of them happen to be equal.
    keys : list
        What tells each node from others of a plan, but for the values of leaves and scalars; all of them together tell
        plans apart.
    twins : list of (Node, int)
        Nodes that are not in ``order`` because an earlier one says the same, and its place.
    """

    order: list[Node]
    position: dict[int, int]
    keys: list[Hashable]
    twins: list[tuple[Node, int]]


def topological(roots: Iterable[Node]) -> Walk:
    """Return the different nodes below ``roots``, operands before their users."""
    order: list[Node] = []
    position: dict[int, int] = {}
    keys: list[Hashable] = []
    twins: list[tuple[Node, int]] = []
    first: dict[Hashable, int] = {}
    stack: list[Node] = [node if node.result is None else node.result for node in roots]
    stack.reverse()
    while stack:
        node = stack[-1]
        if id(node) in position:
            stack.pop()
            continue
        places: list[int] = []
        for operand in node.inputs:
            if operand.result is not None:
                operand = operand.result
            place = position.get(id(operand))
            if place is None:
                stack.append(operand)
                break
            places.append(place)
        else:
            stack.pop()
            number = len(order)
            key: Hashable
            if type(node) is Map:
                key = (node.op, node.dtype, node.shape, *places)
            elif type(node) is Leaf:
                key = (node.dtype, node.shape)
            elif type(node) is Generate:
                key = (node.op, node.dtype, node.shape)
            else:
                key = _rare_key(node, tuple(places))
            if places:
                known = first.setdefault(key, number)
                if known != number:
                    position[id(node)] = known
                    twins.append((node, known))
                    continue
            position[id(node)] = number
            order.append(node)
            keys.append(key)
    return Walk(order, position, keys, twins)


def operands(node: Node, position: dict[int, int]) -> tuple[int, ...]:
    """Return the positions of a node's operands."""
    return tuple([position[id(i if i.result is None else i.result)] for i in node.inputs])


def _rare_key(node: Node, places: tuple[int, ...]) -> Hashable:
    head: tuple[Any, ...] = (type(node), node.dtype, node.shape, places)
    match node:
        case View():
            return (*head, node.layout)
        case Concat():
            return (*head, node.axis)
        case Reduce():
            return (*head, node.op, node.axes)
        case Scan():
            return (*head, node.op, node.axis)
        case Scatter():
            return (*head, node.layout)
        case Call():
            return (*head, node.op, node.output, freeze(node.parameters))
        case Leaf() | Map() | Generate() | Gather() | Contract():
            return head
        case _:
            assert_never(node)


def freeze(value: Any) -> Hashable:
    """Return a hashable stand-in for the parameters of a call."""
    if isinstance(value, dict):
        return tuple((k, freeze(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(freeze(v) for v in value)
    return value if isinstance(value, Hashable) else repr(value)
