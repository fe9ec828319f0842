"""Ownership: whether anybody but a plan can still see a value, so that its buffer may be written to.

A value is seen through references: of arrays to nodes, of nodes to their operands, of evaluated nodes to their leaves.
Those within the walked graph are counted, and compared with how many there are in all
(:mod:`gpuarray.references`). Where that is unknown, every value counts as seen, and no buffer is written to in place.
"""

from collections.abc import Collection, Sequence
from typing import Any

from gpuarray.graph.nodes import Leaf, Node
from gpuarray.references import owner_count
from gpuarray.runtime import places


def is_shared(items: tuple[Any]) -> bool:
    """Return True if an object may have further owners than one and the tuple that it is given in."""
    return owner_count(items, 0) != 2


def is_last(items: Sequence[Node], place: int) -> bool:
    """Return True if ``items[place]`` holds the only reference to a leaf, and the leaf the only ones to its buffers."""
    return owner_count(items, place) == 1 and _has_own_buffers(items, place)


def private_leaf(items: Sequence[Node], place: int, owners: int) -> Leaf | None:
    """Return the leaf of a value that nobody else can see, and that only the host has; None if there may be others.

    Parameters
    ----------
    items : sequence of Node
        What holds the value.
    place : int
        Where.
    owners : int
        How many references the caller knows, that of ``items`` included.
    """
    if owner_count(items, place) != owners:
        return None
    node = items[place]
    leaf = node if isinstance(node, Leaf) else node.result
    if leaf is None or (leaf is not node and owner_count((leaf,), 0) != 3):  # the node's, this function's, the tuple's
        return None
    host = leaf.host
    for provider in leaf.buffers:
        if owner_count(leaf.buffers, provider) != 1 or not places.is_host(provider):
            return None
        if host is None and leaf.buffers[provider].is_shared:
            return None
    if host is None:
        return leaf
    leaf.buffers.clear()  # they are of the same memory
    return leaf if host.base is None and owner_count((host,), 0) == 3 else None


def ending_with_plan(walked: Sequence[Node], donors: Sequence[tuple[int, int]], settled: Collection[int]) -> list[int]:
    """Return which leaves nobody can see once a plan has run.

    Parameters
    ----------
    walked : sequence of Node
        The graph, operands before their users; the sequence must be the only one that holds them.
    donors : sequence of (int, int)
        What to return for a leaf, and where it is.
    settled : collection of int
        Places of the nodes that the plan evaluates. The others may be evaluated again, if somebody has them.
    """
    if not (own := [donor for donor in donors if _has_own_buffers(walked, donor[1])]):
        return []
    uses, behind = _uses(walked)
    alone = [donor for donor in own if owner_count(walked, donor[1]) == 1 + uses[id(walked[donor[1]])]]
    if not alone:
        return []
    users = _users(walked, behind)

    def is_seen(place: int) -> bool:
        reached = {id(walked[place])}
        follow = [*reached]
        while follow:
            for number, is_behind in users.get(follow.pop(), ()):
                nodes: Sequence[Node] = behind if is_behind else walked
                if id(nodes[number]) in reached or (number in settled and not is_behind):
                    continue
                if owner_count(nodes, number) != 1 + uses[id(nodes[number])]:
                    return True
                reached.add(id(nodes[number]))
                follow.append(id(nodes[number]))
        return False

    return [number for number, place in alone if not is_seen(place)]


def _has_own_buffers(walked: Sequence[Node], place: int) -> bool:
    """Return True if no other leaf shares a buffer with a leaf."""
    leaf = walked[place]
    return isinstance(leaf, Leaf) and all(owner_count(leaf.buffers, p) == 1 for p in leaf.buffers)


def _uses(walked: Sequence[Node]) -> tuple[dict[int, int], list[Node]]:
    """Return how often nodes and leaves are referred to within a graph, by id, and the evaluated nodes among them."""
    uses = dict.fromkeys(map(id, walked), 0)
    behind: list[Node] = []
    for node in walked:
        for operand in node.inputs:
            own = id(operand)
            if own in uses:
                uses[own] += 1
            else:  # it has been evaluated, and its leaf is walked in its place
                assert operand.result is not None
                behind.append(operand)
                uses[own] = 1
                uses[id(operand.result)] += 1
    return uses, behind


def _users(walked: Sequence[Node], behind: Sequence[Node]) -> dict[int, list[tuple[int, bool]]]:
    """Return by id which nodes of a graph refer to another: their places, and whether those are among ``behind``."""
    users: dict[int, list[tuple[int, bool]]] = {}
    for number, node in enumerate(walked):
        for operand in node.inputs:
            users.setdefault(id(operand), []).append((number, False))
    for number, node in enumerate(behind):
        users.setdefault(id(node.result), []).append((number, True))
    return users
