"""Loops under construction: the instructions for each node, and the stores of results."""

from dataclasses import dataclass, replace
from math import prod
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar

from gpuarray.dtypes import DType, canonical, uint32
from gpuarray.fusion import costs
from gpuarray.fusion.collapse import collapse_loop
from gpuarray.fusion.lowering import CannotJoin, Lowering, StoreFirst, same_map
from gpuarray.fusion.steps import FULL, OUTER, Fold, Instruction, Load, Loop, Store, Take
from gpuarray.graph.layouts import Layout, Shape, are_apart, contiguous, contiguous_strides
from gpuarray.graph.moving import PART, as_number
from gpuarray.graph.nodes import Contract, Generate, Reduce, Scatter, View
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp

#: The lists and dictionaries that a loop builder only appends to, except in :meth:`LoopBuilder.restore`.
_GROWING: Final = (
    "instructions",
    "stores",
    "inputs",
    "outputs",
    "scalars",
    "computed",
    "memo",
    "generated",
    "costs",
    "phases",
    "below",
    "updates",
    "taken",
    "repeated",
    "folds",
)
#: What else changes: it is replaced.
_REPLACED: Final = (
    "axes",
    "inner_axes",
    "outer_axes",
    "outer",
    "inner",
    "full_layout",
    "length",
    "operations",
    "walks_again",
    "walks",
    "walked",
    "repeated_operations",
    "fold_states",
)
_growing_of: Final = attrgetter(*_GROWING)
_replaced_of: Final = attrgetter(*_REPLACED)


Laid = TypeVar("Laid", Instruction, Store)


@dataclass
class LoopBuilder(Lowering):
    """One loop under construction."""

    # -- trial and undo -----------------------------------------------------------------------------------------------

    def mark(self) -> "Mark":
        """Return the state from which :meth:`restore` undoes all later changes."""
        growing = _growing_of(self)
        return growing, [*map(len, growing)], _replaced_of(self)

    def restore(self, mark: "Mark") -> None:
        """Undo all changes since ``mark`` was made."""
        growing, lengths, replaced = mark
        self.__dict__.update(zip(_REPLACED, replaced, strict=True))
        self.__dict__.update(zip(_GROWING, growing, strict=True))  # lowering everything again replaces them, too
        for grown, length in zip(growing, lengths, strict=True):
            if len(grown) == length:
                continue
            if isinstance(grown, list):
                del grown[length:]
                continue
            while len(grown) > length:
                grown.popitem()

    # -- results ---------------------------------------------------------------------------------------------

    def adopt_axes(self, axes: tuple[int, ...]) -> None:
        """Split a loop without folds into rows, and lower everything in it again."""
        if self.generated or any(store.position is not None for store in self.stores):
            raise CannotJoin
        kept = list(self.computed)
        outputs = list(self.outputs)
        fresh = LoopBuilder(self.graph, self.source_shape, axes)
        for position in kept:
            fresh.make_elementwise(position, store=position in outputs)
        self.__dict__.update(fresh.__dict__)

    def make(self, position: int) -> None:
        """Compute a stored node over the index space of its own loop."""
        node = self.graph.nodes[position]
        if isinstance(node, Reduce):
            self._make_fold(position, node)
        elif isinstance(node, Contract):
            self._make_product(position, node)
        elif isinstance(node, Scatter) and node.is_whole:
            self._make_placed(position, node)
        else:
            self.make_elementwise(position)

    def make_elementwise(self, position: int, *, store: bool = True) -> None:
        """Compute a stored node of the source's shape at every element."""
        layout = self.full_layout
        value = self._lower_root(position, layout, FULL)
        self._keep_value(position, value, store, layout, FULL)

    def make_given(self, position: int) -> None:
        """Take the result of the head, of the source's shape, as first input."""
        layout = self.full_layout
        node = self.graph.nodes[position]
        value = self.add(Load(self.input_slot(position), layout, node.size, node.dtype, FULL))
        self._keep_value(position, value, True, layout, FULL)

    def make_row_value(self, position: int) -> None:
        """Compute a stored node that has one element a row."""
        layout = contiguous(self.outer)
        shape = self.graph.nodes[position].shape
        value = self._lower_root(position, Layout(self.outer, _row_strides(shape, self.outer), 0), OUTER)
        self._keep_value(position, value, True, layout, OUTER)

    def _make_fold(self, position: int, node: Reduce) -> None:
        """Fold the rows of a reduction's source."""
        source = self.graph.inputs[position][0]
        operand = self.lower(source, self.full_layout, FULL)
        self._made_fold(position, node.op, operand, self.graph.nodes[source].dtype)

    def _made_fold(self, position: int, op: ReduceOp, operand: int, kind: DType) -> None:
        """Fold an instruction over rows."""
        if self.instructions[operand].level != FULL:
            operand = self.add_operation(ops.cast, (operand,), kind, FULL)
        value = self.add(Fold(op, operand, kind, self.graph.nodes[position].dtype), (operand,))
        self.folds.append(value)
        self._walk(operand, self.phases[value])
        self.fold_states += op.state_size
        self._keep_value(position, value, True, contiguous(self.outer), OUTER)

    def _make_product(self, position: int, node: Contract) -> None:
        """Fold the rows or columns of a matrix, of which the source has the shape, times those of a vector."""
        left, right = self.graph.inputs[position]
        (depth,) = self.inner
        strides = (depth, 0)[-len(self.outer) :]
        vector = Layout(self.outer + self.inner, (*strides, 1), 0)
        layouts = (self.full_layout, vector) if node.shape[2] == 1 else (vector, self.full_layout)
        kind = node.dtype
        factors = tuple(self.lower(i, layout, FULL) for i, layout in zip((left, right), layouts, strict=True))
        product = self.add_operation(ops.multiply, factors, kind)
        self._made_fold(position, reductions.sum, product, kind)

    def make_operand(self, position: int) -> None:
        """Compute an operand of a matrix product at every element: the prologue."""
        value = self.lower(position, self.full_layout, FULL)
        if any(isinstance(i, Load) and i.level == FULL and i.layout.strides[-1] > 1 for i in self.instructions):
            raise StoreFirst(position)  # tiles read along the last axis
        kind = self.graph.nodes[position].dtype
        if self.instructions[value].level != FULL:
            value = self.add_operation(ops.cast, (value,), kind, FULL)
        self._keep_value(position, value, True, self.full_layout, FULL)

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
                same = single or (item.level == FULL and same_map(item.layout, region))
                if not same and not (elsewhere and are_apart(item.layout, region)):
                    return False
        return True

    def read_from_output(self, target: int, position: int) -> None:
        """Read a stored value from the output ``position``, which holds a copy of it."""
        if target in self.inputs:
            slot = self.inputs.index(target)
            self.inputs[slot] = position
            self.updates.append((slot, self.outputs.index(position)))

    def _make_placed(self, position: int, node: Scatter) -> None:
        """Store the values of a stored scatter without a target, which have the source's shape, at their positions."""
        values, positions = self.graph.inputs[position]
        layout = self.full_layout
        value, at = self.lower(values, layout, FULL), self.lower(positions, layout, FULL)
        self.outputs.append(position)
        self.stores.append(Store(len(self.outputs) - 1, value, layout, node.size, node.dtype, FULL, at))

    def _keep_value(self, position: int, value: int, store: bool, layout: Layout, level: int) -> None:
        self.computed[position] = (value, level)
        if store:
            self.outputs.append(position)
            node = self.graph.nodes[position]
            self.stores.append(Store(len(self.outputs) - 1, value, layout, node.size, node.dtype, level))
            if level == FULL and self.axes is not None:
                self._walk(value, self._value_phase(value))

    def _walk(self, value: int, phase: int) -> None:
        """Note that the walk over a row which ``phase`` reductions precede computes an instruction."""
        known = self.walks.get(phase, 0)
        new = self.below[value] & ~known
        again = new & self.walked
        while again and self.repeated_operations <= costs.REPEATED_LIMIT:
            number = again.bit_length() - 1
            self.repeated_operations += self.costs[number]
            again ^= 1 << number
        self.walks = {**self.walks, phase: known | new}
        self.walked |= new

    def makes_elsewhere(self, reader: "LoopBuilder") -> bool:
        """Whether an elementwise loop reads what this one, over the same elements, makes, but at another element."""
        if self.axes is not None or reader.axes is not None or prod(self.source_shape) == 1:
            return False
        slots = [slot for slot, position in enumerate(reader.inputs) if position in self.computed]
        reads = (
            [item for item in reader.instructions if isinstance(item, Load | Take) and item.slot in slots]
            if slots
            else ()
        )
        return any(
            isinstance(item, Take) or item.level != FULL or not same_map(item.layout, self.full_layout)
            for item in reads
        )

    # -- the finished loop ---------------------------------------------------------------------------------------------

    def has_row_program(self) -> bool:
        """Whether anything at level FULL waits for a fold."""
        return bool(self.folds) and (self.walks_again or any(self.walks))

    def refuse_repetition(self) -> None:
        """Request that a small value is stored which is computed for many elements, if that takes longer than a launch.

        Where memory traffic limits the loop, the arithmetic takes no extra time.
        """
        graph = self.graph
        positions = [
            position for position, times in self.repeated.items() if graph.is_cheaper_to_store(position, times)
        ]
        if not positions:
            return
        space = prod(self.source_shape)
        layouts = [
            x.layout for x in (*self.instructions, *self.stores) if isinstance(x, Load | Store) and x.level == FULL
        ]
        large = sum(2 * costs.touched(layout) > space for layout in layouts)
        items = zip(self.costs, self.instructions, strict=True)
        if sum(cost for cost, item in items if item.level == FULL) > int(large * graph.recompute * costs.HIDDEN):
            raise StoreFirst(positions[0])

    def _value_phase(self, value: int) -> int:
        return self.phases[value] + isinstance(self.instructions[value], Fold)

    def finish(self, unstored: set[int]) -> Loop:
        """Return the loop without the stores of ``unstored`` positions, its layouts collapsed."""
        instructions, stores, outputs = self.instructions, self.stores, self.outputs
        if not unstored.isdisjoint(outputs):
            remaining = [s for s in stores if outputs[s.slot] not in unstored]
            self.outputs = [o for o in outputs if o not in unstored]
            stores = [replace(s, slot=self.outputs.index(outputs[s.slot])) for s in remaining]
            outputs = self.outputs
        if self.graph.symbols:  # offsets move
            instructions, stores = [*map(self._with_slot, instructions)], [*map(self._with_slot, stores)]
        loop = Loop(
            self.outer,
            self.inner,
            tuple(instructions),
            tuple(stores),
            tuple(self.graph.nodes[i].dtype for i in self.inputs),
            tuple(self.graph.nodes[o].dtype for o in outputs),
            tuple(self._scalar_dtype(*s) for s in self.scalars),
            tuple(self.phases) if self.phases else (0,) * len(self.instructions),
            tuple(self.updates),
        )
        return collapse_loop(loop)

    def _with_slot(self, item: Laid) -> Laid:
        """Return an instruction or a store whose offset, if it moves, is a scalar of this loop."""
        if not isinstance(item, Load | Store) or not item.layout.moves:  # type: ignore[redundant-expr]  # of a TypeVar
            return item
        moving: Any = item.layout.offset
        scalar = self.graph.symbols[moving.symbol], PART
        offset = as_number(moving.renamed(self.scalar_slot(*scalar)))
        return replace(item, layout=item.layout._replace(offset=offset))

    def _scalar_dtype(self, position: int, number: int) -> DType:
        node = self.graph.nodes[position]
        if isinstance(node, View | Scatter):
            return uint32
        assert isinstance(node, Generate)
        names = node.op.parameter_types or ("result",) * node.op.parameters
        return node.dtype if names[number] == "result" else canonical(names[number])


Mark: TypeAlias = tuple[tuple[Any, ...], list[int], tuple[Any, ...]]


def _row_strides(shape: Shape, outer: Shape) -> Shape:
    """Return the strides over ``outer`` of a node that has the same elements with any shape."""
    if prod(shape) != prod(outer):
        raise CannotJoin
    return contiguous_strides(outer)
