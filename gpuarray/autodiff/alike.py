"""Equal expressions over parts of arrays at equal distances, as one expression over all of these parts."""

from collections.abc import Hashable, Sequence
from functools import reduce
from itertools import groupby, pairwise
from typing import Any, Final

import numpy as np

from gpuarray.graph import build, tape
from gpuarray.graph.layouts import Layout, broadcast, contiguous, permute
from gpuarray.graph.nodes import Generate, Map, Node, Reduce, View
from gpuarray.graph.shapes import broadcast_shapes

#: Deeper expressions depend on each other, one row on the one before, and so are not equal.
_DEPTH: Final = 64
_FOLLOWED: Final = frozenset((Generate, Map, Reduce, View))


def joined(nodes: Sequence[Node], axis: int) -> Node:
    """Return nodes of one shape stacked along a new axis.

    Neighbours are one expression if they have the same operations, constants and operands, but for views of one array
    at equal distances.
    """
    parts: list[Node] = []
    for _, group in groupby(nodes, _Outlines().of):
        alike = [*group]
        one = _stacked(alike, axis) if len(alike) > 1 else None
        parts += [build.reshape(node, _with(node.shape, axis, 1)) for node in alike] if one is None else [one]
    return parts[0] if len(parts) == 1 else build.concat(parts, axis)


def _stacked(nodes: Sequence[Node], axis: int) -> Node | None:
    """Return nodes stacked as one expression; None if they are not equal."""
    first = nodes[0]
    one = _Expressions(len(nodes), axis, len(first.shape)).joined(tuple(nodes))
    return None if one is None else build.view(one, broadcast(one.shape, _with(first.shape, axis, len(nodes))))


class _Outlines:
    """Hashable outlines of expressions, equal where these may be."""

    def __init__(self) -> None:
        self._known: dict[Node, Hashable] = {}
        self._numbers: dict[Any, int] = {}

    def of(self, node: Node) -> Hashable:
        """Return the outline of an expression; the expression itself if it is deep, or if a tape knows more of it."""
        if node not in self._known:
            self._known[node] = self._outline(node)
        return self._known[node]

    def _outline(self, node: Node) -> Hashable:
        if node.depth > _DEPTH or node.result is not None or type(node) not in _FOLLOWED or tape.is_distinct(node):
            return node
        detail = node.detail
        if type(node) is View:
            detail = detail[:2]
        elif type(node) is Generate:  # -0.0 is not 0.0
            detail = tuple([np.asarray(value).tobytes() for value in detail])
        outline = node.op, detail, node.dtype, node.shape, *map(self.of, node.inputs)
        return self._numbers.setdefault(outline, len(self._numbers))


def _with(shape: Sequence[int], axis: int, extent: int) -> tuple[int, ...]:
    return (*shape[:axis], extent, *shape[axis:])


class _Expressions:
    """The translation of equal expressions to one with another axis, which is 1 long in what is the same in all.

    Parameters
    ----------
    count, axis, rank : int
        The number of the expressions, the new axis, and the number of axes of an expression.
    """

    def __init__(self, count: int, axis: int, rank: int) -> None:
        self._count, self._axis, self._rank = count, axis, rank
        self._known: dict[tuple[Node, ...], Node | None] = {}

    def joined(self, nodes: tuple[Node, ...]) -> Node | None:
        """Return the expressions as one; None if they are not equal."""
        if nodes not in self._known:
            self._known[nodes] = self._join(nodes)
        return self._known[nodes]

    def _join(self, nodes: tuple[Node, ...]) -> Node | None:
        first, kind = nodes[0], type(nodes[0])
        if all(node is first for node in nodes):
            return self._same(first)
        if kind is View:
            return self._view(nodes)
        if kind is Generate:
            return self._same(first)
        if isinstance(first, Reduce):
            return self._reduction(first, [node.inputs[0] for node in nodes])
        if kind is not Map:
            return None
        operands = []
        for of_all in zip(*[node.inputs for node in nodes], strict=True):
            operand = self.joined(of_all)
            if operand is None:
                return None
            operands.append(operand)
        shape = reduce(broadcast_shapes, [operand.shape for operand in operands])
        result = Map(first.op, tuple(operands), shape, first.dtype)
        result.origin = first.origin
        return result

    def _same(self, node: Node) -> Node:
        """Return what is the same in all expressions."""
        return build.reshape(node, self._beside(node.shape, 1)) if node.shape else node

    def _view(self, nodes: tuple[Node, ...]) -> Node | None:
        """Return views of one array at equal distances, or of equal expressions, as one view."""
        layouts = [node.detail for node in nodes]
        sources = [node.inputs[0] for node in nodes]
        (source, *others), (shape, strides, offset) = sources, layouts[0]
        steps = {after.offset - before.offset for before, after in pairwise(layouts)}
        if len(steps) > 1:
            return None
        (step,) = steps
        if any(other is not source for other in others):
            stack = None if step else _stacked(sources, 0)
            if stack is None:
                return None
            source, step = stack, source.size
        lead = (0,) * (self._rank - len(shape))
        extents = self._beside(shape, self._count if step else 1)
        return build.view(source, Layout(extents, _with((*lead, *strides), self._axis, step), offset))

    def _reduction(self, first: Reduce, sources: Sequence[Node]) -> Node | None:
        """Return reductions, of which one is given, as one of their operands."""
        source = _stacked(sources, 0)
        if source is None:
            return None
        result = build.reduce(first.op, source, tuple([axis + 1 for axis in first.detail]))
        if result.dtype != first.dtype:
            return None
        result.origin = first.origin
        place = max(self._axis - self._rank + len(first.shape), 0)
        order = (*range(1, place + 1), 0, *range(place + 1, len(result.shape)))
        moved = build.view(result, permute(contiguous(result.shape), order))
        return build.reshape(moved, self._beside(first.shape, self._count))

    def _beside(self, shape: Sequence[int], extent: int) -> tuple[int, ...]:
        """Return the shape of an operand with the new axis."""
        return _with((*(1,) * (self._rank - len(shape)), *shape), self._axis, extent)
