"""Walks over graphs, without recursion, and the key by which plans are found again."""

from collections.abc import Hashable, Iterable
from typing import Any, assert_never

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


def topological(roots: Iterable[Node]) -> tuple[list[Node], dict[int, int], list[Hashable]]:
    """Return all nodes below ``roots``, operands before their users; each one's position by ``id``; and their keys.

    Nodes that have been evaluated stand for themselves as leaves. Each key tells its node from others of a plan, but
    for the values of leaves and scalars; all of them together tell plans apart.
    """
    order: list[Node] = []
    position: dict[int, int] = {}
    keys: list[Hashable] = []
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
            position[id(node)] = len(order)
            order.append(node)
            kind = type(node)
            if kind is Map:
                keys.append((node.op, node.dtype, node.shape, *places))  # type: ignore[union-attr]  # kind narrows nothing
            elif kind is Leaf:
                keys.append((node.dtype, node.shape))
            else:
                keys.append(_rare_key(node, tuple(places)))
    return order, position, keys


def operands(node: Node, position: dict[int, int]) -> tuple[int, ...]:
    """Return the positions of a node's operands."""
    return tuple([position[id(i if i.result is None else i.result)] for i in node.inputs])


def _rare_key(node: Node, places: tuple[int, ...]) -> Hashable:
    if type(node) is Generate:
        return (node.op, node.dtype, node.shape)
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
