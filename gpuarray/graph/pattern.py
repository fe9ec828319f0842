"""Graphs that are met again: what was walked once is compared, node by node, without a key.

Invariant: nodes fit a pattern only if a walk over them would give the same key and the same places.
"""

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any, Final

from gpuarray.graph.nodes import Generate, Leaf, Map, Node, Reduce, Scan, View
from gpuarray.graph.walk import Walk, current, detail
from gpuarray.ops import elementwise as rows


class Pattern:
    """The structure of a walked graph: what must be found below each node, users before their operands.

    Every evaluation comes through here, so that no more is asked of a node than can differ where its operands do not.

    Parameters
    ----------
    roots : sequence of Node
        What was walked from, no node twice.
    walk : Walk
        The walk.

    Attributes
    ----------
    roots, others : list of int
        The places of the roots, and those that the walk names.
    """

    __slots__ = ("_again", "_generators", "_inner", "_leaves", "_none", "_said", "others", "roots")

    def __init__(self, roots: Sequence[Node], walk: Walk) -> None:
        order, position = walk.order, walk.position
        self.roots = [position[root] for root in roots]
        self.others = walk.others
        self._said = [_meaning(root) for root in roots]
        self._none: list[Any] = [None] * len(order)
        self._inner: list[tuple[int, int, int, Any, Any, Hashable]] = []
        self._leaves: list[tuple[int, int, int, Any, Any]] = []
        self._generators: list[tuple[int, int, int, Any, Any, Any]] = []
        self._again: list[tuple[int, int, int]] = []
        known = {*self.roots}
        for user in range(len(order) - 1, -1, -1):
            for slot, operand in enumerate(order[user].inputs):
                node = current(operand)
                place = position[node]
                edge = user, slot, place
                if place in known:
                    self._again.append(edge)
                    continue
                known.add(place)
                if isinstance(node, Leaf):
                    self._leaves.append((*edge, node.dtype, node.shape))
                elif isinstance(node, Generate):
                    self._generators.append((*edge, node.op, node.dtype, node.shape))
                else:
                    ask = _ASKED.get(type(node), _meaning)
                    if isinstance(node, Map):
                        ask = attrgetter("dtype") if node.op in _FREE else None
                    self._inner.append((*edge, node.op, ask, None if ask is None else ask(node)))

    def fit(self, roots: Sequence[Node]) -> list[Node] | None:
        """Return the nodes below ``roots`` by place if these are a graph of this structure, else None."""
        if len(roots) != len(self.roots):
            return None
        found, operands = self._none[:], self._none[:]
        for root, place, said in zip(roots, self.roots, self._said, strict=True):
            if root.result is not None or _meaning(root) != said:
                return None
            found[place] = root
            operands[place] = root.inputs
        for user, slot, place, op, ask, said in self._inner:
            node = operands[user][slot]
            if node.op is not op or node.result is not None or (ask is not None and ask(node) != said):
                return None
            found[place] = node
            operands[place] = node.inputs
        for user, slot, place, op, dtype, shape in self._generators:
            node = operands[user][slot]
            if node.op is not op or node.dtype is not dtype or node.shape != shape or node.result is not None:
                return None
            found[place] = node
        for user, slot, place, dtype, shape in self._leaves:
            node = operands[user][slot]
            if node.result is not None:
                node = node.result
            if node.op is not Leaf or node.dtype is not dtype or node.shape != shape:
                return None
            found[place] = node
        for user, slot, place in self._again:
            node = operands[user][slot]
            if node is not found[place] and node.result is not found[place]:
                return None
        return found if len({*found}) == len(found) else None


def _meaning(node: Node) -> Hashable:
    """Return all that a node says, but for its operands."""
    return type(node), node.dtype, node.shape, len(node.inputs), *detail(node)


#: Rows whose results may have any dtype, whatever the operands have.
_FREE: Final = frozenset((rows.cast, rows.bitcast))
#: What else than the row, or the kind, is asked of nodes whose operands are known to be what they should.
_ASKED: Final[dict[type, Callable[[Any], Hashable] | None]] = {
    View: attrgetter("layout"),
    Reduce: attrgetter("axes", "dtype"),
    Scan: attrgetter("axis", "dtype"),
}
