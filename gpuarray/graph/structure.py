"""Structures of graphs: what graphs with the same plan have in common.

Structures are found as in any hash table: :func:`structural_hash` of the roots leads to a few candidates, and
:meth:`Structure.match` compares the graph with a candidate node by node.
"""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from itertools import chain
from operator import attrgetter
from typing import Any, ClassVar, Final, NamedTuple

from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Leaf, Map, Node, Scatter, View
from gpuarray.graph.walk import Meaning, Walk, current, meanings_of
from gpuarray.ops import elementwise as ops

#: Operations whose results may have any dtype, whatever the operands have.
_CONVERSIONS: Final = frozenset((ops.cast, ops.bitcast))


class Form(NamedTuple):
    """The attributes of a node that are compared in addition to its operation, dtype and operands.

    Attributes
    ----------
    of : callable
        Returns it for a node with operands, or for the meaning of such a node.
    of_source : callable
        Returns it, with operation and dtype, for a leaf or a generator, or for the meaning of one.
    """

    of: Callable[[Node | Meaning], Hashable]
    of_source: Callable[[Node | Meaning], tuple[Hashable, ...]]


#: Everything but values.
EXACT: Final = Form(attrgetter("shape", "detail"), attrgetter("op", "dtype", "shape"))


class Structure:
    """Nodes and how they refer to each other, without the values of leaves and scalars.

    Parameters
    ----------
    meanings : list of Meaning
        The meaning of each node, by walk index.
    roots : list of int
        The walk indices of the roots, each once.

    Attributes
    ----------
    form : Form
        What is compared.
    """

    __slots__ = ("_forms", "_inner", "_none", "_roots", "_shared", "_sources", "meanings", "roots")

    form: ClassVar[Form] = EXACT

    def __init__(self, meanings: list[Meaning], roots: list[int]) -> None:
        self.meanings = meanings
        self.roots = roots
        self._none: list[Any] | None = None

    def _prepare(self) -> list[Any]:
        """Compute what :meth:`match` compares, before the first graph is compared; return a list for its nodes."""
        of, of_source = self.form
        meanings = self.meanings
        self._forms = [of(meaning) if meaning.inputs else of_source(meaning) for meaning in meanings]
        self._roots = [self._compared(index) for index in self.roots]
        # by operand, users before their operands: the index of the user, which operand, and what is compared
        self._inner: list[tuple[int, int, int, Any, Any, Any, int]] = []
        self._sources: list[tuple[int, int, int, Any]] = []
        self._shared: list[tuple[int, int, int]] = []
        known = {*self.roots}
        for user in range(len(meanings) - 1, -1, -1):
            for slot, index in enumerate(meanings[user].inputs):
                compared = self._compared(index)
                if index in known:
                    self._shared.append((user, slot, index))
                elif meanings[index].inputs:
                    if meanings[index].kind is Map and compared[1] not in _CONVERSIONS:
                        compared = (index, compared[1], None, *compared[3:])  # its operation and operands say the rest
                    self._inner.append((user, slot, *compared))
                else:
                    self._sources.append((user, slot, index, self._forms[index]))
                known.add(index)
        self._none = [None] * len(meanings)
        return self._none

    def _compared(self, index: int) -> tuple[int, Any, Any, Any, int]:
        meaning = self.meanings[index]
        return index, meaning.op, meaning.dtype, self._forms[index], len(meaning.inputs)

    def hash(self, limit: int, form: Form = EXACT) -> int:
        """Return the value of :func:`structural_hash` for graphs of this structure."""
        items: list[Any] = []
        waiting = [*self.roots]
        for index in waiting:  # which grows
            meaning = self.meanings[index]
            items += (meaning.op, form.of(meaning)) if meaning.inputs else form.of_source(meaning)
            waiting += meaning.inputs
            limit -= 1
            if not limit:
                break
        return hash(tuple(items))

    def match(self, roots: Sequence[Node]) -> list[Node] | None:
        """Return the nodes below ``roots`` by walk index if their graph has this structure, else None."""
        if len(roots) != len(self.roots):
            return None
        of, of_source = self.form
        nodes = (self._none or self._prepare())[:]
        for number, (index, op, dtype, form, count) in enumerate(self._roots):  # zip(strict=True) takes longer
            node = roots[number]
            if node.op is not op or node.dtype is not dtype or node.result is not None or len(node.inputs) != count:
                return None
            if (of(node) if count else of_source(node)) != form:
                return None
            nodes[index] = node
        for user, slot, index, op, dtype, form, count in self._inner:
            node = nodes[user].inputs[slot]
            if node.op is not op or len(node.inputs) != count:  # has been evaluated
                return None
            if dtype is not None and (node.dtype is not dtype or of(node) != form):
                return None
            nodes[index] = node
        for user, slot, index, form in self._sources:
            node = nodes[user].inputs[slot]
            if node.result is not None:
                node = node.result
            if of_source(node) != form:
                return None
            nodes[index] = node
        for user, slot, index in self._shared:
            node = nodes[user].inputs[slot]
            if node is not nodes[index] and node.result is not nodes[index]:
                return None
        return nodes if len({*nodes}) == len(nodes) else None


def structural_hash(roots: Sequence[Node], limit: int, form: Form = EXACT) -> int:
    """Return a hash of the first ``limit`` nodes of the graph below ``roots``, in breadth-first order.

    Graphs of one structure have the same hash, whatever the values of leaves and scalars.
    """
    of, of_source = form
    parts: list[Any] = []
    waiting = [*roots]
    for node in waiting:  # which grows
        leaf = node.result
        if leaf is not None:
            parts += of_source(leaf)
        elif inputs := node.inputs:
            parts += (node.op, of(node))
            waiting += inputs
        else:
            parts += of_source(node)
        limit -= 1
        if not limit:
            break
    return hash(tuple(parts))


def _rank(node: Node | Meaning) -> tuple[Hashable, ...]:
    return node.op, node.dtype, len(node.shape)


def _pattern(node: Node | Meaning) -> Hashable:
    """Return the attributes that define a node, without its numbers."""
    kind = node.kind if type(node) is Meaning else type(node)
    if kind is View:
        return len(node.shape)
    if kind is Scatter:
        layout, combine = node.detail
        return len(node.shape), None if layout is None else len(layout.shape), combine
    return len(node.shape), node.detail


_shape_of: Final = attrgetter("shape")


class Pattern(Structure):
    """A structure without its numbers: extents, and the strides and offsets of layouts.

    Attributes
    ----------
    extents : list of bool
        Whether each number of a graph is an extent, in the order of :meth:`numbers`.
    offsets : dict of int
        The walk indices of nodes with an offset, by the place of the offset among the numbers.
    """

    __slots__ = ("_laid_out", "_starts", "extents", "offsets")

    form: ClassVar[Form] = Form(_pattern, _rank)

    def __init__(self, meanings: list[Meaning], roots: list[int]) -> None:
        super().__init__(meanings, roots)
        self.extents: list[bool] = []
        self.offsets: dict[int, int] = {}
        self._starts: list[int] = []
        for meaning in meanings:
            self._starts.append(len(self.extents))
            self.extents += [True] * len(meaning.shape)
        self._laid_out: dict[int, tuple[int, bool]] = {}
        for index, meaning in enumerate(meanings):
            is_write = meaning.kind is Scatter
            if not is_write and meaning.kind is not View:
                continue
            if is_write and meaning.detail[0] is None:
                continue
            rank = len(_layout(meaning).shape)
            self._laid_out[index] = len(self.extents), is_write
            self.extents += [True] * (rank * is_write) + [False] * (rank + 1)
            self.offsets[len(self.extents) - 1] = index

    def numbers(self, order: Sequence[Node | Meaning]) -> tuple[int, ...]:
        """Return the numbers of a graph of this pattern: the shapes of nodes, and the numbers of their layouts."""
        extents: list[int] = [*chain.from_iterable(map(_shape_of, order))]
        for index, (_, is_write) in self._laid_out.items():
            shape, strides, offset = _layout(order[index])
            if is_write:
                extents += shape
            extents += strides
            extents.append(offset)
        return tuple(extents)

    def with_numbers(self, order: Sequence[Node], numbers: Sequence[int]) -> dict[int, Node]:
        """Return copies of the nodes of a graph with other numbers, by walk index.

        They have each other as operands. Leaves among them have no values.
        """
        nodes: dict[int, Node] = {}
        stands_for: dict[int, Node] = {}
        for index, node in enumerate(order):
            start, rank = self._starts[index], len(node.shape)
            shape = tuple(numbers[start : start + rank])
            inputs = tuple([stands_for[id(current(operand))] for operand in node.inputs])
            renumbered = nodes[index] = stands_for[id(node)] = self._node(index, node, shape, inputs, numbers)
            renumbered.origin = node.origin
        return nodes

    def _node(self, index: int, node: Node, shape: Shape, inputs: tuple[Node, ...], numbers: Sequence[int]) -> Node:
        if isinstance(node, Leaf):
            return Leaf(shape, node.dtype)
        if index in self._laid_out:
            start, is_write = self._laid_out[index]
            rank = len(_layout(node).shape)
            extents = shape
            if is_write:
                extents = tuple(numbers[start : start + rank])
                start += rank
            layout = Layout(extents, tuple(numbers[start : start + rank]), numbers[start + rank])
            if isinstance(node, Scatter):
                return Scatter(inputs[0], inputs[1], layout, None, shape, node.combine)
            return View(inputs[0], layout)
        stand_in = copy(node)
        stand_in.shape, stand_in.inputs, stand_in.holder = shape, inputs, None
        return stand_in


def _layout(node: Node | Meaning) -> Layout:
    """Return the layout of a view or of a write to a region, given the node or its meaning."""
    return node.detail if isinstance(node.detail, Layout) else node.detail[0]


def structure_of(roots: Sequence[Node], walk: Walk) -> Structure:
    """Return the structure of the graph below some nodes, from which a walk began."""
    return Structure(meanings_of(walk), [walk.position[root] for root in roots])
