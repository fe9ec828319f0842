"""From nodes to the instructions of one loop.

A :class:`LoopBuilder` has an index space and turns nodes into instructions that compute their value at an index. Views
are folded into the layouts of loads. Where a view cannot be folded, or recomputing would cost too much, lowering
raises :class:`StoreFirst` to request that a value is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final, TypeAlias, assert_never

from gpuarray.dtypes import DType, canonical
from gpuarray.fusion import costs
from gpuarray.fusion.graphs import INSTRUCTION_LIMIT, GraphView
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    Scalar,
    Store,
    Take,
    needed,
)
from gpuarray.graph.layouts import (
    Layout,
    Shape,
    are_apart,
    broadcast,
    collapse,
    compose,
    contiguous,
    contiguous_strides,
)
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Reduce, Scan, Scatter, View
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp


class StoreFirst(Exception):  # noqa: N818  # a request to the planner, not an error
    """The value at ``position`` must be stored before the loop that wants it can be built."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class CannotJoin(Exception):  # noqa: N818  # an answer to the planner, not an error
    """A value that the loop itself makes is needed at another element than the current one."""


#: At how many offsets one value may need another that is not stored: two stencils of 3 x 3 need 25.
MOST_OFFSETS: Final = 32

#: The lists that a loop builder only appends to, except in :meth:`LoopBuilder.restore`.
_GROWING: Final = ("instructions", "stores", "inputs", "outputs", "scalars", "made", "memo", "phases", "updates")


@dataclass
class LoopBuilder:
    """The instructions of one loop under construction.

    Attributes
    ----------
    source_shape : tuple of int
        The whole index space, its axes in the order of the source's.
    axes : tuple of int or None
        The inner ones: all of them while no fold has said otherwise.
    outer, inner : tuple of int
        The two index spaces.
    full_layout : Layout
        From the full index space to positions among the source shape's elements.
    """

    graph: GraphView
    source_shape: Shape
    axes: tuple[int, ...] | None
    inner_axes: tuple[int, ...] = field(init=False)
    outer_axes: tuple[int, ...] = field(init=False)
    outer: Shape = field(init=False)
    inner: Shape = field(init=False)
    full_layout: Layout = field(init=False)
    instructions: list[Instruction] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    scalars: list[tuple[int, int]] = field(default_factory=list)
    """(position, parameter number) of each scalar slot."""
    made: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Stored values that this loop makes: position to instruction, and the level at which it has elements."""
    memo: dict[tuple[int, Layout, int], int] = field(default_factory=dict)
    phases: list[int] = field(default_factory=list)
    updates: list[tuple[int, int]] = field(default_factory=list)

    length: int = 0
    """How many instructions drivers will see: long rows count as several."""
    fold_count: int = 0
    fold_states: int = 0
    """How many numbers the folds of a row keep."""

    def __post_init__(self) -> None:
        axes, shape = range(len(self.source_shape)), self.source_shape
        self.inner_axes = tuple(axes) if self.axes is None else self.axes
        self.outer_axes = tuple([a for a in axes if a not in self.inner_axes])
        self.outer = tuple([shape[a] for a in self.outer_axes])
        self.inner = tuple([shape[a] for a in self.inner_axes])
        strides = contiguous_strides(shape)
        order = self.outer_axes + self.inner_axes
        self.full_layout = Layout(self.outer + self.inner, tuple([strides[a] for a in order]), 0)

    # -- trial and undo -----------------------------------------------------------------------------------------------

    def mark(self) -> "Mark":
        """Return what :meth:`restore` needs to undo all later changes."""
        fields = dict(self.__dict__)
        return fields, [len(fields[name]) for name in _GROWING]

    def restore(self, mark: "Mark") -> None:
        """Undo all changes since ``mark`` was made."""
        fields, lengths = mark
        self.__dict__.update(fields)
        for name, length in zip(_GROWING, lengths, strict=True):
            grown = fields[name]
            while len(grown) > length:
                grown.popitem() if isinstance(grown, dict) else grown.pop()

    # -- instructions --------------------------------------------------------------------------------------------------

    def own_row(self) -> Layout:
        """Return the layout from the full index space to the row at hand."""
        return Layout(self.outer + self.inner, contiguous_strides(self.outer) + (0,) * len(self.inner), 0)

    def add(self, item: Instruction, operands: Sequence[int] = ()) -> int:
        """Append an instruction; return its number."""
        phase = 0
        if self.fold_count:
            phase = max((self.phases[o] + isinstance(self.instructions[o], Fold) for o in operands), default=0)
        if isinstance(item, Apply | Index):
            self.length += costs.instructions_of(item.op)
        else:
            self.length += 1
            if isinstance(item, Fold):
                self.fold_count += 1
                self.fold_states += item.op.state_size
        self.instructions.append(item)
        self.phases.append(phase)
        return len(self.instructions) - 1

    def input_slot(self, position: int) -> int:
        """Return the slot of a stored value that the loop reads."""
        root = self.graph.root(position)
        if root not in self.inputs:
            self.inputs.append(root)
        return self.inputs.index(root)

    def lower(self, position: int, layout: Layout, level: int) -> int:
        """Return the instruction that computes a node at ``layout``, a map from the level's indices to its elements."""
        memo = self.memo
        root = (position, layout, level)
        wanted_at: dict[int, int] = {}  # by node: at how many layouts
        stack: list[tuple[_Place, list[_Place] | None]] = [(root, None)]
        while stack:
            item, wanted = stack[-1]
            if wanted is None:
                if item in memo:
                    stack.pop()
                    continue
                times = wanted_at[item[0]] = wanted_at.get(item[0], 0) + 1
                if times > 1:
                    self._refuse_growth(item[0], times)
                wanted = self._wanted(*item)
                missing = [(w, None) for w in wanted if w not in memo]
                if missing:
                    stack[-1] = (item, wanted)
                    stack += reversed(missing)
                    continue
            stack.pop()
            memo[item] = self._emit(*item, [memo[w] for w in wanted])
        return memo[root]

    def _wanted(self, position: int, layout: Layout, level: int) -> list["_Place"]:
        """Return what must be lowered before a node."""
        graph = self.graph
        if position in graph.stored:
            return []
        node = graph.nodes[position]
        inputs = graph.inputs[position]
        match node:
            case Map():
                if layout.shape != node.shape:
                    self._refuse_repetition(position, layout)
                wanted = []
                for i in inputs:
                    own = graph.nodes[i].shape
                    inner = layout if own == node.shape else compose(layout, broadcast(own, node.shape))
                    if inner is None:
                        raise StoreFirst(position)
                    wanted.append((i, inner, level))
                return wanted
            case View():
                inner = compose(layout, node.layout)
                if inner is None:
                    raise StoreFirst(position)
                return [(inputs[0], inner, level)]
            case Gather():
                return [(inputs[1], layout, level)]
            case Generate():
                return []
            case Leaf() | Concat() | Reduce() | Scan() | Scatter() | Contract() | Call():
                raise AssertionError(f"{type(node).__name__} is stored before it is used")
            case _:
                assert_never(node)

    def _refuse_growth(self, position: int, times: int) -> None:
        """Request that a value is stored which one value needs at very many offsets, or which makes a loop too long.

        Where each level of a graph reads the one below at two offsets, the instructions double with each level.
        """
        is_open = position not in self.graph.stored and isinstance(self.graph.nodes[position], Map)
        if is_open and (times > MOST_OFFSETS or self.length > 2 * INSTRUCTION_LIMIT):
            raise StoreFirst(position)

    def _refuse_repetition(self, position: int, layout: Layout) -> None:
        """Request that a small value is stored where broadcasting would recompute it for many elements."""
        graph = self.graph
        size = graph.nodes[position].size
        if layout.size <= 2 * size:
            return
        is_long = graph.cost(position, enough=costs.STORE) >= costs.STORE
        if (is_long and self._depends_on_data(position)) or (
            not is_long and size > 1 and graph.is_stored_along(position)
        ):
            raise StoreFirst(position)

    def _depends_on_data(self, position: int) -> bool:
        stack = [position]
        while stack:
            current = stack.pop()
            node = self.graph.nodes[current]
            if current in self.graph.stored or (isinstance(node, Generate) and not node.op.is_constant):
                return True
            stack += self.graph.inputs[current]
        return False

    def _emit(self, position: int, layout: Layout, level: int, values: list[int]) -> int:
        if position in self.graph.stored:
            return self._read(position, layout, level)
        node = self.graph.nodes[position]
        match node:
            case View():
                return values[0]
            case Generate():
                return self._generate(position, node, layout, level)
            case Map():
                operand_level = max([self.instructions[v].level for v in values], default=UNIFORM)
                sources = tuple([self.instructions[v].dtype for v in values])
                return self.add(Apply(node.op, tuple(values), sources, node.dtype, operand_level), values)
            case Gather():
                source = self.graph.inputs[position][0]
                if self.graph.root(source) in self.made:
                    raise CannotJoin
                extent = self.graph.nodes[source].size
                slot = self.input_slot(source)
                taken_level = max(self.instructions[values[0]].level, OUTER)
                return self.add(Take(slot, values[0], extent, node.dtype, taken_level), values)
            case Leaf() | Concat() | Reduce() | Scan() | Scatter() | Contract() | Call():
                raise AssertionError(f"{type(node).__name__} is stored before it is used")
            case _:
                assert_never(node)

    def _generate(self, position: int, node: Generate, layout: Layout, level: int) -> int:
        slots = []
        for number in range(len(node.parameters)):
            if (position, number) not in self.scalars:
                self.scalars.append((position, number))
            slots.append(self.scalars.index((position, number)))
        if node.op.is_constant:
            return self.add(Scalar(slots[0], node.dtype))
        layout, level = self._hoisted(layout, level)
        return self.add(Index(node.op, layout, tuple(slots), node.dtype, level))

    def _read(self, position: int, layout: Layout, level: int) -> int:
        root = self.graph.root(position)
        if root in self.made:
            instruction, own = self.made[root]
            if own > level:
                raise CannotJoin
            here = self.full_layout if own == FULL else self.own_row() if level == FULL else contiguous(self.outer)
            if not _same_map(layout, here):
                raise CannotJoin
            return instruction
        slot = self.input_slot(root)
        layout, level = self._hoisted(layout, level)
        node = self.graph.nodes[position]
        return self.add(Load(slot, layout, node.size, node.dtype, level))

    def _hoisted(self, layout: Layout, level: int) -> tuple[Layout, int]:
        """Return the layout at the lowest level that tells its elements apart."""
        count = len(self.outer)
        inner = zip(layout.shape[count:], layout.strides[count:], strict=True)
        # a row without elements has none to read once either
        if level == FULL and all(extent == 1 or (extent and not stride) for extent, stride in inner):
            return Layout(self.outer, layout.strides[:count], layout.offset), OUTER
        return layout, level

    # -- results ---------------------------------------------------------------------------------------------

    def adopt_axes(self, axes: tuple[int, ...]) -> None:
        """Split a loop without folds into rows, and lower everything in it again."""
        if any(store.position is not None for store in self.stores):
            raise CannotJoin
        made = list(self.made)
        outputs = list(self.outputs)
        fresh = LoopBuilder(self.graph, self.source_shape, axes)
        for position in made:
            fresh.make_elementwise(position, store=position in outputs)
        self.__dict__.update(fresh.__dict__)

    def make_elementwise(self, position: int, *, store: bool = True) -> None:
        """Compute a stored node of the source's shape at every element."""
        layout = self.full_layout
        value = self._lower_root(position, layout, FULL)
        self._made(position, value, store, layout, FULL)

    def make_given(self, position: int) -> None:
        """Take the result of the head, of the source's shape, as first input."""
        layout = self.full_layout
        node = self.graph.nodes[position]
        value = self.add(Load(self.input_slot(position), layout, node.size, node.dtype, FULL))
        self._made(position, value, True, layout, FULL)

    def make_row_value(self, position: int) -> None:
        """Compute a stored node that has one element a row."""
        layout = contiguous(self.outer)
        shape = self.graph.nodes[position].shape
        value = self._lower_root(position, Layout(self.outer, _row_strides(shape, self.outer), 0), OUTER)
        self._made(position, value, True, layout, OUTER)

    def make_fold(self, position: int) -> None:
        """Fold the rows of a reduction's source."""
        node = self.graph.nodes[position]
        assert isinstance(node, Reduce)
        source = self.graph.inputs[position][0]
        operand = self.lower(source, self.full_layout, FULL)
        self._made_fold(position, node.op, operand, self.graph.nodes[source].dtype)

    def _made_fold(self, position: int, op: ReduceOp, operand: int, kind: DType) -> None:
        """Fold an instruction over rows."""
        if self.instructions[operand].level != FULL:
            operand = self.add(Apply(ops.cast, (operand,), (kind,), kind, FULL), (operand,))
        value = self.add(Fold(op, operand, kind, self.graph.nodes[position].dtype), (operand,))
        self._made(position, value, True, contiguous(self.outer), OUTER)

    def make_product(self, position: int) -> None:
        """Fold the rows or columns of a matrix, of which the source has the shape, times those of a vector."""
        node = self.graph.nodes[position]
        left, right = self.graph.inputs[position]
        (depth,) = self.inner
        strides = (depth, 0)[-len(self.outer) :]
        vector = Layout(self.outer + self.inner, (*strides, 1), 0)
        layouts = (self.full_layout, vector) if node.shape[2] == 1 else (vector, self.full_layout)
        kind = node.dtype
        factors = tuple(self.lower(i, layout, FULL) for i, layout in zip((left, right), layouts, strict=True))
        level = max(self.instructions[factor].level for factor in factors)
        product = self.add(Apply(ops.multiply, factors, (kind, kind), kind, level), factors)
        self._made_fold(position, reductions.sum, product, kind)

    def make_operand(self, position: int) -> None:
        """Compute an operand of a matrix product at every element: the prologue."""
        value = self.lower(position, self.full_layout, FULL)
        if any(isinstance(i, Load) and i.level == FULL and i.layout.strides[-1] > 1 for i in self.instructions):
            raise StoreFirst(position)  # tiles read along the last axis
        kind = self.graph.nodes[position].dtype
        if self.instructions[value].level != FULL:
            value = self.add(Apply(ops.cast, (value,), (kind,), kind, FULL), (value,))
        self._made(position, value, True, self.full_layout, FULL)

    def make_region(self, value: int, slot_of: int, layout: Layout, extent: int) -> None:
        """Store an instruction to a region of a stored node; ``layout`` has the source's shape."""
        order = self.outer_axes + self.inner_axes
        region = Layout(self.outer + self.inner, tuple(layout.strides[a] for a in order), layout.offset)
        if slot_of not in self.outputs:
            self.outputs.append(slot_of)
        dtype = self.instructions[value].dtype
        self.stores.append(Store(self.outputs.index(slot_of), value, region, extent, dtype, FULL))

    def updates_only(self, target: int, region: Layout, *, elsewhere: bool) -> bool:
        """Whether the loop reads of a stored value only the elements that a region store writes, if any.

        Elements that the store does not write may be read, too, if ``elsewhere`` allows it.
        """
        if target not in self.inputs:
            return True
        slot = self.inputs.index(target)
        for item in self.instructions:
            if isinstance(item, Take) and item.slot == slot:
                return False
            if isinstance(item, Load) and item.slot == slot:
                single = region.size == 1 and item.layout.offset == region.offset
                same = single or (item.level == FULL and _same_map(item.layout, region))
                if not same and not (elsewhere and are_apart(item.layout, region)):
                    return False
        return True

    def read_from_output(self, target: int, position: int) -> None:
        """Read a stored value from the output ``position``, which holds a copy of it."""
        if target in self.inputs:
            slot = self.inputs.index(target)
            self.inputs[slot] = position
            self.updates.append((slot, self.outputs.index(position)))

    def make_placed(self, position: int) -> None:
        """Store the values of a stored scatter without a target, which have the source's shape, at their positions."""
        values, places = self.graph.inputs[position]
        layout = self.full_layout
        value, place = self.lower(values, layout, FULL), self.lower(places, layout, FULL)
        node = self.graph.nodes[position]
        self.outputs.append(position)
        self.stores.append(Store(len(self.outputs) - 1, value, layout, node.size, node.dtype, FULL, place))

    def _lower_root(self, position: int, layout: Layout, level: int) -> int:
        """Lower a node that is stored itself, so that its own operands are computed here."""
        self.graph.stored.discard(position)
        try:
            return self.lower(position, layout, level)
        finally:
            self.graph.stored.add(position)
            self.memo.pop((position, layout, level), None)

    def _made(self, position: int, value: int, store: bool, layout: Layout, level: int) -> None:
        self.made[position] = (value, level)
        if store:
            self.outputs.append(position)
            node = self.graph.nodes[position]
            self.stores.append(Store(len(self.outputs) - 1, value, layout, node.size, node.dtype, level))

    # -- the finished loop ---------------------------------------------------------------------------------------------

    def has_row_program(self) -> bool:
        """Whether anything at level FULL waits for a fold."""
        return self.fold_count > 0 and (
            any(item.level == FULL and phase > 0 for item, phase in zip(self.instructions, self.phases, strict=True))
            or any(s.level == FULL and self._value_phase(s.value) > 0 for s in self.stores)
        )

    def repeated(self) -> dict[int, int]:
        """Return how often small values that are not stored are computed, for all elements, by position.

        Empty if memory traffic limits the loop: then the arithmetic takes no extra time.
        """
        graph, space = self.graph, prod(self.source_shape)
        found: dict[int, int] = {}
        for position, layout, level in self.memo:
            size = graph.nodes[position].size
            if level == FULL and size > 1 and 2 * size < layout.size and position not in graph.stored:
                found[position] = layout.size
        if found:
            loaded = [item.layout for item in self.instructions if isinstance(item, Load) and item.level == FULL]
            loaded += [store.layout for store in self.stores if store.level == FULL]
            large = sum(2 * costs.touched(layout) > space for layout in loaded)
            computed = costs.operations(item for item in self.instructions if item.level == FULL)
            if computed <= int(large * graph.recompute * costs.HIDDEN):
                return {}
        return found

    def repeated_operations(self) -> int:
        """Return the operations that walks over a row do again after an earlier one did them."""
        walks: dict[int, set[int]] = {}
        for number, item in enumerate(self.instructions):
            if isinstance(item, Fold):
                walks.setdefault(self.phases[number], set()).update(self._needed(item.operand))
        for store in self.stores:
            if store.level == FULL:
                walks.setdefault(self._value_phase(store.value), set()).update(self._needed(store.value))
        once: set[int] = set().union(*walks.values())
        return sum(self._operations(walk) for walk in walks.values()) - self._operations(once)

    def _operations(self, numbers: set[int]) -> int:
        return costs.operations(self.instructions[number] for number in numbers)

    def _needed(self, value: int) -> set[int]:
        """Return the instructions at level FULL that a value depends on."""
        return needed(self.instructions, [value], lambda number: self.instructions[number].level == FULL)

    def _value_phase(self, value: int) -> int:
        return self.phases[value] + isinstance(self.instructions[value], Fold)

    def finish(self, unstored: set[int]) -> Loop:
        """Return the loop without the stores of ``unstored`` positions, its layouts collapsed."""
        kept = [s for s in self.stores if self.outputs[s.slot] not in unstored]
        outputs = [o for o in self.outputs if o not in unstored]
        stores = [replace(s, slot=outputs.index(self.outputs[s.slot])) for s in kept]
        self.outputs = outputs
        loop = Loop(
            self.outer,
            self.inner,
            tuple(self.instructions),
            tuple(stores),
            tuple(self.graph.nodes[i].dtype for i in self.inputs),
            tuple(self.graph.nodes[o].dtype for o in outputs),
            tuple(self._scalar_dtype(*s) for s in self.scalars),
            tuple(self.phases),
            tuple(self.updates),
        )
        return collapse_loop(loop)

    def _scalar_dtype(self, position: int, number: int) -> DType:
        node = self.graph.nodes[position]
        assert isinstance(node, Generate)
        names = node.op.parameter_types or ("result",) * node.op.parameters
        return node.dtype if names[number] == "result" else canonical(names[number])


_Place: TypeAlias = tuple[int, Layout, int]
Mark: TypeAlias = tuple[dict[str, Any], list[int]]


def _row_strides(shape: Shape, outer: Shape) -> Shape:
    """Return the strides over ``outer`` of a node that has the same elements with any shape."""
    if prod(shape) != prod(outer):
        raise CannotJoin
    return contiguous_strides(outer)


def _same_map(first: Layout, second: Layout) -> bool:
    """Whether two layouts of one shape name the same positions: strides of extent 1 do not count."""
    return first.offset == second.offset and all(
        extent == 1 or a == b for extent, a, b in zip(first.shape, first.strides, second.strides, strict=True)
    )


def collapse_loop(loop: Loop) -> Loop:
    """Merge the axes of a loop's index space that all its layouts step through as one."""
    rank = len(loop.outer)
    placed = loop.placed
    outer_parts = [Layout(loop.outer, x.layout.strides[:rank], x.layout.offset) for x in placed]
    inner_parts = [Layout(loop.inner, x.layout.strides[rank:], 0) for x in placed if x.level == FULL]
    outer, outer_parts = _merge(outer_parts, loop.outer)
    inner, inner_parts = _merge(inner_parts, loop.inner)
    rest = iter(inner_parts)
    layouts: dict[int, Layout] = {}
    for item, part in zip(placed, outer_parts, strict=True):
        own = next(rest) if item.level == FULL else Layout((), (), 0)
        layouts[id(item)] = Layout(part.shape + own.shape, part.strides + own.strides, part.offset)
    return replace(loop.with_layouts(lambda item: layouts[id(item)]), outer=outer, inner=inner)


def _merge(parts: list[Layout], shape: Shape) -> tuple[Shape, list[Layout]]:
    """Collapse layouts of ``shape`` together; return the collapsed shape too, which exists without layouts as well."""
    if not parts:
        size = prod(shape)
        return ((size,) if size != 1 else ()), []
    merged = collapse(parts)
    return merged[0].shape, merged
