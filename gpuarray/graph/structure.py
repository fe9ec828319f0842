"""Structures of graphs: what graphs have in common that one plan computes.

A structure is found as in any hash table: :func:`structural_hash` of the nodes that are asked for leads to a few, and
:meth:`Structure.match` compares the graph with one of them, node by node.
"""

from collections.abc import Hashable, Sequence
from typing import Any, Final

from gpuarray.graph.nodes import Map, Node, Scatter, View
from gpuarray.graph.walk import Meaning, Walk, meaning
from gpuarray.ops import elementwise as ops

#: Operations whose results may have any dtype, whatever the operands have.
_CONVERSIONS: Final = frozenset((ops.cast, ops.bitcast))


class Structure:
    """Nodes and how they refer to each other, without the values of leaves and scalars.

    Parameters
    ----------
    roots : sequence of Node
        The nodes that the walk began with, none twice.
    walk : Walk
        The walk over the graph.

    Attributes
    ----------
    meanings : list of Meaning
        What each node says, by its place in the walk.
    roots : list of int
        The places of the roots.
    """

    __slots__ = ("_inner", "_none", "_roots", "_shared", "_sources", "meanings", "roots")

    def __init__(self, roots: Sequence[Node], walk: Walk) -> None:
        self.meanings: list[Meaning] = [meaning(node, walk.position) for node in walk.order]
        self.roots = [walk.position[root] for root in roots]
        self._none: list[Any] = [None] * len(walk.order)
        self._roots = [self._compared(place) for place in self.roots]
        # by operand, users before their operands: the place of the user, which operand, and what is compared
        self._inner: list[tuple[int, int, int, Any, Any, Any, Hashable, int]] = []
        self._sources: list[tuple[int, int, int, Any, Any, Any]] = []
        self._shared: list[tuple[int, int, int]] = []
        known = {*self.roots}
        for user in range(len(walk.order) - 1, -1, -1):
            for slot, place in enumerate(self.meanings[user].inputs):
                compared = self._compared(place)
                if place in known:
                    self._shared.append((user, slot, place))
                elif self.meanings[place].inputs:
                    if self.meanings[place].kind is Map and compared[1] not in _CONVERSIONS:
                        compared = (place, compared[1], None, *compared[3:])  # its row and its operands say the rest
                    self._inner.append((user, slot, *compared))
                else:
                    self._sources.append((user, slot, *compared[:4]))
                known.add(place)

    def _compared(self, place: int) -> tuple[int, Any, Any, Any, Hashable, int]:
        _, op, dtype, shape, detail, inputs = self.meanings[place]
        return place, op, dtype, shape, detail, len(inputs)

    def hash(self, limit: int) -> int:
        """Return what :func:`structural_hash` returns for graphs of this structure."""
        said: list[Any] = []
        waiting = [*self.roots]
        for place in waiting:  # which grows
            _, op, _, shape, detail, inputs = self.meanings[place]
            said += (op, shape, detail) if inputs else (op, shape)
            waiting += inputs
            limit -= 1
            if not limit:
                break
        return hash(tuple(said))

    def match(self, roots: Sequence[Node]) -> list[Node] | None:
        """Return the nodes below ``roots`` by their places if their graph has this structure, else None."""
        if len(roots) != len(self._roots):
            return None
        found, operands = self._none[:], self._none[:]
        for node, (place, op, dtype, shape, detail, count) in zip(roots, self._roots, strict=True):
            if node.op is not op or node.dtype is not dtype or node.shape != shape or node.result is not None:
                return None
            inputs = node.inputs
            if len(inputs) != count or (count and node.detail != detail):  # the detail of generators are values
                return None
            found[place] = node
            operands[place] = inputs
        for user, slot, place, op, dtype, shape, detail, count in self._inner:
            node = operands[user][slot]
            inputs = node.inputs  # none of what has been evaluated
            if node.op is not op or len(inputs) != count:
                return None
            if dtype is not None and (node.dtype is not dtype or node.detail != detail or node.shape != shape):
                return None
            found[place] = node
            operands[place] = inputs
        return self._matched_sources(found, operands)

    def _matched_sources(self, found: list[Any], operands: list[Any]) -> list[Node] | None:
        """Return the nodes by place if the leaves, and the nodes with several users, fit too."""
        for user, slot, place, op, dtype, shape in self._sources:
            node = operands[user][slot]
            if node.result is not None:
                node = node.result
            if node.op is not op or node.dtype is not dtype or node.shape != shape:
                return None
            found[place] = node
        for user, slot, place in self._shared:
            node = operands[user][slot]
            if node is not found[place] and node.result is not found[place]:
                return None
        return found if len({*found}) == len(found) else None


def structural_hash(roots: Sequence[Node], limit: int) -> int:
    """Return a hash of the graph below ``roots``, of the first ``limit`` nodes in breadth-first order.

    Graphs of one structure have the same, whatever the values of leaves and scalars.
    """
    said: list[Any] = []
    waiting = [*roots]
    for node in waiting:  # which grows
        leaf = node.result
        if leaf is not None:
            said += (leaf.op, leaf.shape)
        elif inputs := node.inputs:
            said += (node.op, node.shape, node.detail)
            waiting += inputs
        else:
            said += (node.op, node.shape)
        limit -= 1
        if not limit:
            break
    return hash(tuple(said))


class Pattern(Structure):
    """What graphs have in common that differ only in the offsets of views and of writes to regions.

    Attributes
    ----------
    laid_out : list of int
        The places of the nodes with such an offset.
    """

    __slots__ = ("laid_out",)

    def __init__(self, roots: Sequence[Node], walk: Walk) -> None:
        super().__init__(roots, walk)
        self.laid_out = [place for place, node in enumerate(walk.order) if _has_offset(node)]
        self.meanings = [said._replace(detail=_without_offset(said.kind, said.detail)) for said in self.meanings]
        self._roots = [self._compared(place) for place in self.roots]
        self._inner = [
            (user, slot, place, op, dtype, shape, _without_offset(op, detail), count)
            for user, slot, place, op, dtype, shape, detail, count in self._inner
        ]

    def match(self, roots: Sequence[Node]) -> list[Node] | None:
        """Return the nodes below ``roots`` by their places if their graph has this pattern, else None."""
        if len(roots) != len(self._roots):
            return None
        found, operands = self._none[:], self._none[:]
        inner = ((root, *compared) for root, compared in zip(roots, self._roots, strict=True))
        for node, place, op, dtype, shape, detail, count in inner:
            if node.op is not op or node.dtype is not dtype or node.shape != shape or node.result is not None:
                return None
            if len(node.inputs) != count or (count and _without_offset(op, node.detail) != detail):
                return None
            found[place] = node
            operands[place] = node.inputs
        for user, slot, place, op, dtype, shape, detail, count in self._inner:
            node = operands[user][slot]
            inputs = node.inputs
            if node.op is not op or len(inputs) != count:
                return None
            if dtype is not None and (
                node.dtype is not dtype or node.shape != shape or _without_offset(op, node.detail) != detail
            ):
                return None
            found[place] = node
            operands[place] = inputs
        return self._matched_sources(found, operands)


def _has_offset(node: Node) -> bool:
    return bool(node.inputs) and (type(node) is View or (type(node) is Scatter and node.layout is not None))


def _without_offset(op: Any, detail: Any) -> Any:
    """Return the detail of a node without the offset of its layout; ``op`` is the class of such nodes."""
    if op is View:
        return detail.strides
    if op is Scatter:
        layout, combine = detail
        return (None if layout is None else layout[:2]), combine
    return detail


def pattern_hash(roots: Sequence[Node], limit: int) -> int:
    """Return a hash of the graph below ``roots`` as :func:`structural_hash` does, without the offsets."""
    said: list[Any] = []
    waiting = [*roots]
    for node in waiting:  # which grows
        leaf = node.result
        if leaf is not None:
            said += (leaf.op, leaf.shape)
        elif inputs := node.inputs:
            said += (node.op, node.shape, _without_offset(node.op, node.detail))
            waiting += inputs
        else:
            said += (node.op, node.shape)
        limit -= 1
        if not limit:
            break
    return hash(tuple(said))
