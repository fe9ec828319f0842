"""Ownership: whether anybody but a plan can still see a value, so that its buffer may be written to.

A value is seen through references: of arrays to nodes, of nodes to their operands, of evaluated nodes to their leaves.
Those within the walked graph are counted, and the interpreter is asked how many there are in all. Where it does not
count references, everything is seen by somebody.
"""

import sys
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from gpuarray.graph.nodes import Leaf, Node

_COUNTS: Final = getattr(sys, "getrefcount", None)


def _references(items: Any, key: Any) -> int:
    """Return how many references there are to an item, as :data:`_ALONE` counts them."""
    return _COUNTS(items[key]) if _COUNTS is not None else -1


#: What :func:`_references` says of an object to which only the container refers.
_ALONE: Final = _references([object()], 0)


def is_shared(items: tuple[Any]) -> bool:
    """Whether an object that has one owner besides the tuple it is given in may have further ones."""
    return _references(items, 0) != _ALONE + 1


def ends_with_plan(walked: Sequence[Node], place: int, settled: Collection[int]) -> bool:
    """Whether nobody can see a leaf once a plan has run.

    Parameters
    ----------
    walked : sequence of Node
        The graph, operands before their users; the sequence must be the only one that holds them.
    place : int
        Where the leaf is.
    settled : collection of int
        Places of the nodes that the plan evaluates. The others may be evaluated again, if somebody has them.
    """
    if _COUNTS is None or not _has_own_buffers(walked, place):
        return False
    uses, behind = _uses(walked)
    if _references(walked, place) != _ALONE + uses[id(walked[place])]:
        return False
    reached = {id(walked[place])}
    for number in range(len(behind)):
        if id(behind[number].result) in reached:
            if _references(behind, number) != _ALONE + uses[id(behind[number])]:
                return False
            reached.add(id(behind[number]))
    for number in range(len(walked)):
        if number in settled or not any(id(operand) in reached for operand in walked[number].inputs):
            continue
        if _references(walked, number) != _ALONE + uses[id(walked[number])]:
            return False
        reached.add(id(walked[number]))
    return True


def _has_own_buffers(walked: Sequence[Node], place: int) -> bool:
    """Whether no other leaf has one of a leaf's buffers."""
    leaf = walked[place]
    return isinstance(leaf, Leaf) and all(_references(leaf.buffers, p) == _ALONE for p in leaf.buffers)


def _uses(walked: Sequence[Node]) -> tuple[Counter[int], list[Node]]:
    """Return how often nodes and leaves are referred to within a graph, by id, and the evaluated nodes among them."""
    uses: Counter[int] = Counter()
    behind: list[Node] = []
    for node in walked:
        for operand in node.inputs:
            if operand.result is not None and id(operand) not in uses:
                behind.append(operand)
                uses[id(operand.result)] += 1
            uses[id(operand)] += 1
    return uses, behind
