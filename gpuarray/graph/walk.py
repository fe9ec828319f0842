"""Walks over graphs, without recursion, and the key by which plans are found again."""

from collections.abc import Hashable, Iterable, Mapping
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
    """The nodes of a graph, operands before their users.

    Attributes
    ----------
    order : list of Node
        The nodes; those that have been evaluated stand for themselves as leaves.
    position : dict
        Places in ``order`` by node.
    key : list
        What tells the graph from others, but for the values of leaves and scalars.
    others : list of int
        Places of nodes that are no leaves, generators or elementwise rows.
    """

    order: list[Node]
    position: dict[Node, int]
    key: list[Hashable]
    others: list[int]


def topological(roots: Iterable[Node]) -> Walk:
    """Return the nodes below ``roots``, operands before their users."""
    order: list[Node] = []
    position: dict[Node, int] = {}
    key: list[Hashable] = []
    others: list[int] = []
    stack: list[Node] = list(roots)
    stack.reverse()
    pop, push, place_of, add = stack.pop, stack.append, position.get, order.append
    # Every evaluation comes through here: no calls of Python functions, and the places of operands, which the key
    # names, are what tells whether a node's turn has come. Until then it waits below the operand that is missing.
    # Leaves and generators, which have no operands, need not be waited for.
    while stack:
        node = pop()
        if node.result is not None:
            node = node.result
        if node in position:
            continue
        inputs = node.inputs
        kind = type(node)
        if kind is Map and len(inputs) == 2:
            first, second = inputs
            if first.result is not None:
                first = first.result
            if second.result is not None:
                second = second.result
            one = place_of(first)
            if one is None:
                if first.inputs:
                    push(node)
                    push(first)
                    continue
                one = position[first] = len(order)
                add(first)
                key += (first.op, first.dtype, first.shape)
            two = place_of(second)
            if two is None:
                if second.inputs:
                    push(node)
                    push(second)
                    continue
                two = position[second] = len(order)
                add(second)
                key += (second.op, second.dtype, second.shape)
            key += (node.op, node.dtype, node.shape, one, two)
        elif len(inputs) == 1:
            (first,) = inputs
            one = place_of(first if first.result is None else first.result)
            if one is None:
                push(node)
                push(first)
                continue
            if kind is Map:
                key += (node.op, node.dtype, node.shape, one)
            else:
                others.append(len(order))
                key.append(_meaning(node, (one,)))
        elif not inputs:
            key += (node.op, node.dtype, node.shape)
        else:
            places = [place_of(operand if operand.result is None else operand.result) for operand in inputs]
            if None in places:
                push(node)
                stack += [inputs[i] for i in range(len(inputs) - 1, -1, -1) if places[i] is None]
                continue
            if kind is Map:
                key += (node.op, node.dtype, node.shape, *places)
            else:
                others.append(len(order))
                key.append(_meaning(node, tuple(places)))  # type: ignore[arg-type]  # none is None
        position[node] = len(order)
        add(node)
    return Walk(order, position, key, others)


class Merged(NamedTuple):
    """The different nodes of a graph: of those that say the same of the same operands, the first.

    Attributes
    ----------
    order : list of Node
        The nodes, operands before their users.
    position : dict
        Places in ``order`` by node, of all nodes that were walked.
    kept : list of int
        Places in the walk of the nodes in ``order``.
    twins : list of (int, int)
        The others: their place in the walk, and the place in ``order`` of the one that says the same.
    """

    order: list[Node]
    position: dict[Node, int]
    kept: list[int]
    twins: list[tuple[int, int]]


def merge(walk: Walk) -> Merged:
    """Return the different nodes of a walk.

    Leaves are not compared, nor scalars: a plan must not change when two of them happen to be equal.
    """
    found = Merged([], {}, [], [])
    first: dict[Hashable, int] = {}
    for place, node in enumerate(walk.order):
        number = len(found.order)
        if node.inputs:
            known = first.setdefault(_meaning(node, operands(node, found.position)), number)
            if known != number:
                found.position[node] = known
                found.twins.append((place, known))
                continue
        found.position[node] = number
        found.order.append(node)
        found.kept.append(place)
    return found


def operands(node: Node, position: Mapping[Node, int]) -> tuple[int, ...]:
    """Return the positions of a node's operands."""
    return tuple([position[i if i.result is None else i.result] for i in node.inputs])


def _meaning(node: Node, places: tuple[int, ...]) -> Hashable:
    """Return what a node says of its operands, which are named by their places."""
    return (type(node), node.dtype, node.shape, places, *detail(node))


def detail(node: Node) -> tuple[Hashable, ...]:
    """Return what a node says of its operands beside its kind, its dtype and its shape."""
    match node:  # the most frequent first
        case View():
            return (node.layout,)
        case Reduce():
            return (node.op, node.axes)
        case Contract():
            return ()
        case Concat():
            return (node.axis,)
        case Scan():
            return (node.op, node.axis)
        case Scatter():
            return (node.layout, node.combine)
        case Call():
            return (node.op, node.output, freeze(node.parameters))
        case Map() | Generate():
            return (node.op,)
        case Leaf() | Gather():
            return ()
        case _:
            assert_never(node)


def freeze(value: Any) -> Hashable:
    """Return a hashable stand-in for the parameters of a call."""
    if isinstance(value, dict):
        return tuple((k, freeze(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(freeze(v) for v in value)
    return value if isinstance(value, Hashable) else repr(value)
