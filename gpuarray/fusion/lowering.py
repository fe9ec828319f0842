"""From nodes to instructions.

A :class:`Lowering` has an index space and turns nodes into instructions that compute their value at an index. Views are
folded into the layouts of loads. Where a view cannot be folded, or recomputing would cost too much, lowering raises
:class:`StoreFirst` to request that a value is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.fusion import boxes, costs
from gpuarray.fusion.boxes import Beyond, Part
from gpuarray.fusion.graphs import INSTRUCTION_LIMIT
from gpuarray.fusion.instructions import Instructions
from gpuarray.fusion.steps import FULL, OUTER, Load, Scalar, Take
from gpuarray.graph.layouts import Layout, broadcast, compose, contiguous
from gpuarray.graph.moving import MustStay
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Reduce, Scan, Scatter, View
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators


class StoreFirst(Exception):  # noqa: N818  # a request to the planner, not an error
    """The value at ``position`` must be stored before the loop that wants it can be built."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class CannotJoin(Exception):  # noqa: N818  # an answer to the planner, not an error
    """A value that the loop itself makes is needed at another element than the current one."""


@dataclass
class Lowering(Instructions):
    """Instructions under construction that compute nodes of a graph."""

    computed: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Stored values that this loop makes: position to instruction, and the level at which it has elements."""
    memo: dict[tuple[int, Layout | Beyond, int], int] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    """How often small values that are not stored are computed, for all elements, by position."""

    def lower(self, position: int, layout: Layout | Beyond, level: int) -> int:
        """Return the instruction that computes a node at ``layout``, a map from the level's indices to its elements."""
        memo, stored, nodes = self.memo, self.graph.stored, self.graph.nodes
        request: _Request = (position, layout, level)
        value = memo.get(request)
        if value is not None:
            return value
        if position in stored:
            value = memo[request] = self._stored(*request)
            return value
        stack: list[tuple[_Request, list[_Request], list[int]]] = [(request, self._wanted(*request), [])]
        while stack:
            request, wanted, values = stack[-1]
            while len(values) < len(wanted):
                operand = wanted[len(values)]
                value = memo.get(operand)
                if value is None:
                    position, inner, _ = operand
                    if position in stored:
                        value = memo[operand] = self._stored(*operand)
                        values.append(value)
                        continue
                    if self.length > 2 * INSTRUCTION_LIMIT:
                        self._refuse_growth(position)
                    kind = type(nodes[position])
                    if kind is View and type(inner) is Layout:
                        wanted[len(values)] = self._seen_through(*operand)
                        continue
                    operands = self._wanted(*operand)
                    if operands:
                        stack.append((operand, operands, []))
                        break
                    value = memo[operand] = self._emit(*operand, [])
                values.append(value)
            else:
                stack.pop()
                value = memo[request] = self._emit(*request, values)
                if stack:
                    stack[-1][2].append(value)
        assert value is not None
        return value

    def _wanted(self, position: int, layout: Layout | Beyond, level: int) -> list["_Request"]:
        """Return the operands that must be lowered before a node."""
        graph = self.graph
        node = graph.nodes[position]
        inputs = graph.inputs[position]
        if type(node) is Map and type(layout) is Layout:  # the most frequent first
            shape = node.shape
            if layout.shape != shape:
                self._refuse_repetition(position, layout, level)
            wanted: list[_Request] = []
            for i in inputs:
                operand_shape = graph.nodes[i].shape
                inner = layout if operand_shape == shape else compose(layout, broadcast(operand_shape, shape))
                if inner is None:
                    raise StoreFirst(position)
                wanted.append((i, inner, level))
            return wanted
        if isinstance(node, Scatter):
            return self._wanted_of_write(position, node, layout, level)
        if isinstance(node, Concat):
            return self._wanted_of_parts(position, node, layout, level)
        if isinstance(layout, Beyond):
            return self._wanted_beyond(position, layout, level)
        match node:
            case View():
                return [self._seen_through(position, layout, level)]
            case Gather():
                return [(inputs[1], layout, level)]
            case Generate():
                return []
            case Map() | Leaf() | Reduce() | Scan() | Contract() | Call():
                raise AssertionError(f"{type(node).__name__} is stored before it is used")
            case _:
                assert_never(node)

    def _seen_through(self, position: int, layout: Any, level: int) -> "_Request":
        """Return the operand of a view, and the layout in which it is read."""
        view: Any = self.graph.nodes[position]
        inner = compose(layout, view.layout)
        if inner is None:
            raise StoreFirst(position)
        return self.graph.inputs[position][0], inner, level

    def _parts(self, position: int, node: Concat, layout: Layout | Beyond) -> list[Part]:
        parts = boxes.parts(node, layout)
        if parts is None:
            raise StoreFirst(position)
        return parts

    def _wanted_of_parts(self, position: int, node: Concat, layout: Layout | Beyond, level: int) -> list["_Request"]:
        """Return the parts of a concatenation, where they are read for its elements; none if their positions do."""
        if isinstance(layout, Layout) and layout.moves:
            raise StoreFirst(position)
        if self.axes is not None or self.folds:
            raise CannotJoin if self.computed else StoreFirst(position)
        if self.graph.source(position) is not None:
            return []
        inputs = self.graph.inputs[position]
        return [(inputs[part.operand], part.layout, level) for part in self._parts(position, node, layout)]

    def _wanted_of_write(self, position: int, node: Scatter, layout: Layout | Beyond, level: int) -> list["_Request"]:
        """Return the values and the target of a write to a box, where they are read for its elements."""
        if self.axes is not None or self.folds:
            raise CannotJoin if self.computed else StoreFirst(position)
        assert node.layout is not None
        box = boxes.inside(node.layout, node.shape, layout)
        if box is None:
            raise StoreFirst(position)
        target, values = self.graph.inputs[position]
        return [(values, box[0], level), (target, layout, level)]

    def _wanted_beyond(self, position: int, layout: Beyond, level: int) -> list["_Request"]:
        """Return the operands that must be lowered before a node that is also read outside of its shape."""
        graph, node = self.graph, self.graph.nodes[position]
        inputs = graph.inputs[position]
        if isinstance(node, Map):
            return [(i, layout.of_operand(graph.nodes[i].shape, node.shape), level) for i in inputs]
        if isinstance(node, View) and inputs[0] in graph.stored:
            return []
        if isinstance(node, View):
            inner = layout.in_source(node.layout, graph.nodes[inputs[0]].shape)
            if inner is not None:
                return [(inputs[0], inner, level)]
        if boxes.is_constant(node):
            return []
        raise StoreFirst(position)

    def _refuse_growth(self, position: int) -> None:
        """Refuse to compute a value in a loop that has become too long, as it computes other values many times."""
        if self.computed:
            raise CannotJoin
        if isinstance(self.graph.nodes[position], Map | Scatter):
            raise StoreFirst(position)

    def _refuse_repetition(self, position: int, layout: Layout, level: int) -> None:
        """Request that a small value is stored where broadcasting would recompute it for many elements, or note it."""
        graph = self.graph
        size = graph.nodes[position].size
        if layout.size <= 2 * size:
            return
        is_long = graph.cost(position, enough=costs.STORE) >= costs.STORE
        if (is_long and self._depends_on_data(position)) or (
            not is_long and size > 1 and graph.is_stored_along(position)
        ):
            raise StoreFirst(position)
        if level == FULL and size > 1:
            self.repeated[position] = layout.size

    def _depends_on_data(self, position: int) -> bool:
        below = ((current in self.graph.stored, self.graph.nodes[current]) for current in self.graph.below(position))
        return any(stored or (isinstance(node, Generate) and not node.op.is_constant) for stored, node in below)

    def _stored(self, position: int, layout: Layout | Beyond, level: int) -> int:
        """Return the instruction that reads a stored value."""
        if isinstance(layout, Layout):
            return self._read(position, layout, level)
        return self._take(position, layout.seen_through(contiguous(self.graph.nodes[position].shape)), level)

    def _emit(self, position: int, layout: Layout | Beyond, level: int, values: list[int]) -> int:
        """Return the instruction that computes a value from those that :meth:`_wanted` named."""
        node = self.graph.nodes[position]
        if type(node) is Map:  # the most frequent first
            return self.add_operation(node.op, tuple(values), node.dtype)
        if isinstance(node, View) and isinstance(layout, Beyond) and not values:
            return self._take(self.graph.inputs[position][0], layout.seen_through(node.layout), level)
        match node:
            case View():
                return values[0]
            case Generate():
                return self._generate(position, node, layout, level)
            case Scatter():
                return self._select(node, layout, level, values)
            case Concat():
                return self._select_part(position, node, layout, level, values)
            case Gather():
                source = self.graph.inputs[position][0]
                if self.graph.root(source) in self.computed:
                    raise CannotJoin
                extent = self.graph.nodes[source].size
                return self._take_of(source, values[0], extent, max(self.instructions[values[0]].level, OUTER))
            case Map() | Leaf() | Reduce() | Scan() | Contract() | Call():
                raise AssertionError(f"{type(node).__name__} is stored before it is used")
            case _:
                assert_never(node)

    def _generate(self, position: int, node: Generate, layout: Layout | Beyond, level: int) -> int:
        if isinstance(layout, Layout) and layout.moves and not node.op.is_constant:
            moving: Any = layout.offset
            raise MustStay(moving.number)
        slots = []
        for number in range(len(node.parameters)):
            slots.append(self.scalar_slot(position, number))
        if node.op.is_constant:
            return self.add(Scalar(slots[0], node.dtype))
        assert isinstance(layout, Layout)
        return self.add_index(node.op, layout, tuple(slots), node.dtype, level)

    def _read(self, position: int, layout: Layout, level: int) -> int:
        root = self.graph.root(position)
        if root in self.computed:
            instruction, level_read = self.computed[root]
            if level_read > level:
                raise CannotJoin
            here = (
                self.full_layout if level_read == FULL else self.own_row() if level == FULL else contiguous(self.outer)
            )
            if not same_map(layout, here):
                raise CannotJoin
            return instruction
        slot = self.input_slot(root)
        layout, level = self.hoisted(layout, level)
        node = self.graph.nodes[position]
        return self.add(Load(slot, layout, node.size, node.dtype, level))

    def _take(self, position: int, layout: Layout, level: int) -> int:
        """Read a stored value at positions of which some are outside of it, where the result is dropped."""
        return self._take_at(position, self.add_generator(generators.position, dtypes.int32, layout, level))

    def _take_at(self, position: int, index: int) -> int:
        """Read a stored value at the positions that an instruction computes."""
        root = self.graph.root(position)
        if root in self.computed:
            raise CannotJoin
        return self._take_of(root, index, self.graph.nodes[position].size, self.instructions[index].level)

    def _take_of(self, source: int, index: int, extent: int, level: int) -> int:
        slot = self.input_slot(source)
        self.taken.append(slot)
        return self.add(Take(slot, index, extent, self.graph.nodes[source].dtype, level), (index,))

    def _select_part(self, position: int, node: Concat, layout: Layout | Beyond, level: int, values: list[int]) -> int:
        """Select between the parts of a concatenation, or between the positions of its elements in its source."""
        source = self.graph.source(position)
        if source is not None:
            return self._take_at(source, self._position(position, layout, level))
        return self._chosen(self._parts(position, node, layout), values, node.dtype, level)

    def _chosen(self, parts: Sequence[Part], values: Sequence[int], dtype: DType, level: int) -> int:
        chosen = values[0]
        for part, value in zip(parts[1:], values[1:], strict=True):
            is_begun = self.add_generator(generators.not_negative, dtypes.bool_, part.begun, level)
            chosen = self.add_operation(ops.where, (is_begun, value, chosen), dtype)
        return chosen

    def _position(self, position: int, layout: Layout | Beyond, level: int) -> int:
        """Return the instruction that computes the position of an element of a concatenation in its source."""
        graph, node = self.graph, self.graph.nodes[position]
        if isinstance(node, Concat) and (position not in graph.stored or isinstance(layout, Layout)):
            parts = self._parts(position, node, layout)
            inputs = graph.inputs[position]
            positions = [self._position(inputs[part.operand], part.layout, level) for part in parts]
            return self._chosen(parts, positions, dtypes.int32, level)
        assert isinstance(layout, Beyond)
        if isinstance(node, View) and position not in graph.stored:
            (source,) = graph.inputs[position]
            if source in graph.stored:
                return self.add_generator(generators.position, dtypes.int32, layout.seen_through(node.layout), level)
            inner = layout.in_source(node.layout, graph.nodes[source].shape)
            if inner is None:
                raise StoreFirst(source)
            return self._position(source, inner, level)
        return self.add_generator(generators.position, dtypes.int32, layout.seen_through(contiguous(node.shape)), level)

    def _select(self, node: Scatter, layout: Layout | Beyond, level: int, values: list[int]) -> int:
        """Select between the values and the target of a write to a box."""
        assert node.layout is not None
        box = boxes.inside(node.layout, node.shape, layout)
        assert box is not None
        written, target = values
        tests = [self.add_generator(generators.not_negative, dtypes.bool_, layout, level) for layout in box[1]]
        if not tests:
            return written
        is_inside, *others = tests
        for operand in others:
            both = is_inside, operand
            if (ops.logical_and, both) not in self.generated:
                self.generated[ops.logical_and, both] = self.add_operation(ops.logical_and, both, dtypes.bool_)
            is_inside = self.generated[ops.logical_and, both]
        return self.add_operation(ops.where, (is_inside, written, target), node.dtype)

    def _lower_root(self, position: int, layout: Layout, level: int) -> int:
        """Lower a node that is stored itself, so that its own operands are computed here."""
        self.graph.stored.discard(position)
        try:
            return self.lower(position, layout, level)
        finally:
            self.graph.stored.add(position)
            self.memo.pop((position, layout, level), None)


_Request: TypeAlias = tuple[int, Layout | Beyond, int]


def same_map(first: Layout, second: Layout) -> bool:
    """Whether two layouts of one shape name the same positions: strides of extent 1 do not count."""
    return first is second or (
        first.offset == second.offset
        and all(extent == 1 or a == b for extent, a, b in zip(first.shape, first.strides, second.strides, strict=True))
    )
