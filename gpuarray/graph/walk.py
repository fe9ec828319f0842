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


def topological(roots: Iterable[Node]) -> tuple[list[Node], dict[int, int]]:
    """Return all nodes below ``roots``, operands before their users, and each one's position by ``id``.

    Nodes that have been evaluated stand for themselves as leaves.
    """
    order: list[Node] = []
    position: dict[int, int] = {}
    stack: list[Node] = [current(root) for root in roots]
    stack.reverse()
    while stack:
        node = stack[-1]
        if id(node) in position:
            stack.pop()
            continue
        waiting = False
        for operand in node.inputs:
            operand = operand if operand.result is None else operand.result
            if id(operand) not in position:
                stack.append(operand)
                waiting = True
        if not waiting:
            stack.pop()
            position[id(node)] = len(order)
            order.append(node)
    return order, position


def operands(node: Node, position: dict[int, int]) -> tuple[int, ...]:
    """Return the positions of a node's operands."""
    return tuple([position[id(i if i.result is None else i.result)] for i in node.inputs])


def key_of(node: Node, position: dict[int, int]) -> Hashable:
    """Return what tells a node from others of a plan, but for the values of leaves and scalars."""
    kind = type(node)
    if kind is Map:
        return (node.op, node.dtype, node.shape, operands(node, position))  # type: ignore[union-attr]
    if kind is Leaf:
        return (node.dtype, node.shape)
    return _rare_key(node, position)


def _rare_key(node: Node, position: dict[int, int]) -> Hashable:
    head: tuple[Any, ...] = (type(node), node.dtype, node.shape, operands(node, position))
    match node:
        case Generate():
            return (*head, node.op)
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
        case Leaf() | Map() | Gather() | Contract():
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
