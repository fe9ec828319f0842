"""Ownership: whether anything except a plan can still read a value, so that its buffer may be overwritten.

A value is reachable through references: from arrays to nodes, from nodes to operands, and from evaluated nodes to
leaves. The references within the walked graph are counted and compared with the reference count
(:mod:`gpuarray.references`). If the count is unknown, every value counts as reachable, and nothing is updated in place.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from gpuarray.graph.nodes import Leaf, Node
from gpuarray.graph.walk import Meaning
from gpuarray.references import owner_count
from gpuarray.runtime import places


def is_shared(items: tuple[Any]) -> bool:
    """Return True if an object may have more than one owner, besides the tuple in which it is passed."""
    return owner_count(items, 0) != 2


def is_last(items: Sequence[Node], index: int) -> bool:
    """Return True if ``items[index]`` holds the only reference to a leaf, and the leaf the only ones to its buffers."""
    return owner_count(items, index) == 1 and _has_own_buffers(items, index)


def private_leaf(operands: Sequence[Node], views: int = 0) -> Leaf | None:
    """Return the leaf of the first operand if only the host holds its value and only ``operands`` refers to it.

    Return None if there may be another reference. ``views`` is the number of views of the memory that are allowed.
    """
    if owner_count(operands, 0) != 1:
        return None
    node = operands[0]
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
    return leaf if host.base is None and owner_count((host,), 0) == 3 + views else None


class Donor(NamedTuple):
    """A leaf whose buffer a plan may overwrite if nothing refers to the leaf after the plan has run.

    Attributes
    ----------
    copy : int
        The step that copies the leaf, and may reuse its buffer instead.
    leaf : int
        The walk index of the leaf.
    uses : tuple of (int, int)
        The walk indices of the nodes of which it is an operand, and the numbers of the operand.
    above : tuple of (int, int)
        The walk indices of the nodes that are computed from it and that the plan does not evaluate, and how often they
        are operands. They may be evaluated later if something else refers to them.
    """

    copy: int
    leaf: int
    uses: tuple[tuple[int, int], ...]
    above: tuple[tuple[int, int], ...]


def donors_of(
    meanings: Sequence[Meaning], copies: Iterable[tuple[int, int]], evaluated: Collection[int]
) -> tuple[Donor, ...]:
    """Return the donors of a plan.

    Parameters
    ----------
    meanings : sequence of Meaning
        The meaning of each node of the walk.
    copies : iterable of (int, int)
        Steps that copy leaves, and the walk indices of these leaves.
    evaluated : collection of int
        Walk indices of the nodes that the plan evaluates.
    """
    copied = [*copies]
    if not copied:
        return ()
    users: dict[int, list[tuple[int, int]]] = {}
    for user, meaning in enumerate(meanings):
        for slot, operand in enumerate(meaning.inputs):
            users.setdefault(operand, []).append((user, slot))
    donors = []
    for copy, index in copied:
        above: dict[int, int] = {}
        follow = [index]
        while follow:
            for user, _ in users.get(follow.pop(), ()):
                if user not in above and user not in evaluated:
                    above[user] = len(users.get(user, ()))
                    follow.append(user)
        donors.append(Donor(copy, index, tuple(users.get(index, ())), tuple(above.items())))
    return tuple(donors)


def ending_with_plan(walked: Sequence[Node], donors: Sequence[Donor]) -> list[int]:
    """Return the copies whose donors nothing refers to after a plan has run.

    Parameters
    ----------
    walked : sequence of Node
        The graph, operands before their users. No other sequence may hold the nodes.
    donors : sequence of Donor
        The donors of its plan.
    """
    return [donor.copy for donor in donors if _ends(walked, donor)]


def _ends(walked: Sequence[Node], donor: Donor) -> bool:
    index = donor.leaf
    if not _has_own_buffers(walked, index):
        return False
    own = 1
    behind: dict[int, list[Any]] = {}
    for user, slot in donor.uses:
        operands = walked[user].inputs
        if operands[slot] is walked[index]:
            own += 1
        elif (known := behind.get(id(operands[slot]))) is not None:
            known[2] += 1
        else:  # an evaluated node, which the graph refers to instead of its leaf
            behind[id(operands[slot])] = [operands, slot, 1]
    if owner_count(walked, index) != own + len(behind):
        return False
    return all(owner_count(operands, slot) == uses for operands, slot, uses in behind.values()) and all(
        owner_count(walked, number) == 1 + uses for number, uses in donor.above
    )


def _has_own_buffers(walked: Sequence[Node], index: int) -> bool:
    """Return True if no other leaf shares a buffer with a leaf."""
    buffers = walked[index].buffers  # type: ignore[union-attr]  # it is a leaf
    return all(owner_count(buffers, provider) == 1 for provider in buffers)
