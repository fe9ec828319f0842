"""The columns of rows: what a row kernel computes, folds and stores for each element of a row.

Columns are walked in a loop, or stay in registers. :mod:`gpuarray.codegen.reductions` makes the kernels.
"""

from dataclasses import dataclass, field

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.collectives import Collectives
from gpuarray.codegen.fast_paths import emit_block, value_name
from gpuarray.codegen.loops import LoopKernel, coordinates, emit_vectors, expression, makes_vec4
from gpuarray.codegen.row_schedule import RowSchedule, phase_after
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.underflow import Block, arranged
from gpuarray.codegen.wgsl import declare
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, Apply, Fold, Index, Instruction, Load, Loop, Store, Take, needed
from gpuarray.graph.layouts import Layout, Shape, contiguous_strides


@dataclass(frozen=True, slots=True)
class _ColumnPass:
    """The values that one pass over the columns of rows computes.

    Attributes
    ----------
    values, folds : list of int
        The numbers of instructions whose values are needed, and of the folds that take them.
    stores : list of Store
        What is stored.
    bases : dict of int to str
        The address of the row in each layout, by instruction number, or ``-1 - slot`` for stores.
    """

    values: list[int]
    folds: list[int]
    stores: list[Store]
    bases: dict[int, str]


@dataclass
class ColumnKernel:
    """Emits what the kernels of a loop with folds do with the columns."""

    loop: Loop
    shape: RowSchedule
    label: str
    capabilities: Capabilities
    work: LoopKernel = field(init=False)
    collectives: Collectives = field(init=False)
    computed: set[int] = field(default_factory=set)
    """The FULL instructions whose values are already in registers."""
    accumulators: dict[int, Accumulator] = field(init=False)

    def __post_init__(self) -> None:
        self.accumulators = {number: Accumulator(self._fold(number), number) for number in self.loop.folds}

    # -- columns -------------------------------------------------------------------------------------------------------

    def _pass(self, phase: int, *, keep: bool = False) -> None:
        """Emit one pass over the columns: the values that a phase needs, its folds and its stores."""
        loop, shape = self.loop, self.shape
        numbers = [n for n in loop.folds if loop.phases[n] == phase]
        stores = [s for s in self._full_stores() if phase_after(loop, s.value) == phase]
        if not numbers and not stores:
            return
        operands = [f.operand for n in numbers if isinstance(f := loop.instructions[n], Fold)]
        values = self._needed([*operands, *(s.value for s in stores)])
        if shape.in_registers:
            values = [n for n in values if n not in self.computed]
            self.computed.update(values)
        for number in numbers:
            self._start(number)
        columns = _ColumnPass(values, numbers, stores, self._bases(values, stores, phase))
        if shape.in_registers:
            self._block(columns, shape.unroll * LANES)
        else:
            self._column_loops(columns)
        self._gather(numbers)
        if not keep:
            for number in numbers:
                self._result(number)

    def _register_columns(self) -> None:
        """Emit the columns of the elements in an invocation's registers: ``at``, and ``i``, which is ``at`` in range.

        Values of columns beyond the end are computed, which avoids a branch, and then ignored.
        """
        kernel, shape = self.work.kernel, self.shape
        highest = self.loop.columns - 1
        last = "" if shape.fills_invocations else kernel.parameter(highest // LANES * LANES if shape.wide else highest)
        for n in range(shape.unroll * LANES):
            four, lane = divmod(n, LANES)
            if shape.wide and lane:
                column = f"i{n - lane} + {lane}u"
            elif shape.wide:
                column = f"lane * {LANES}u + {four * LANES * shape.invocations}u"
            else:
                column = f"lane + {n * shape.invocations}u"
            if shape.fills_invocations:
                kernel.line(f"let i{n} = {column};")
            elif shape.wide and lane:
                kernel.line(f"let at{n} = at{n - lane} + {lane}u;", f"let i{n} = {column};")
            else:
                kernel.line(f"let at{n} = {column};", f"let i{n} = min(at{n}, {last});")
        self._coordinates([x.layout for x in self.loop.laid_out_at(FULL)], shape.unroll * LANES)

    def _column_loops(self, columns: "_ColumnPass") -> None:
        """Emit the unrolled loop over the columns, and the loop over the remaining ones."""
        kernel, shape = self.work.kernel, self.shape
        lanes = LANES if shape.wide else 1
        step = f"{shape.invocations}u"
        if shape.splits > 1:
            step = "apart"
            kernel.line(f"let apart = {kernel.parameter(shape.splits * shape.invocations)};")
        kernel.line("{", f"var column = begin{'' if shape.invocations == 1 else f' + lane * {lanes}u'};")
        layouts = [
            x.layout for x in self.loop.laid_out_at(FULL) if isinstance(x, Store) or x in self._items(columns.values)
        ]
        if shape.unroll:
            count = shape.unroll * LANES
            last = f"{(shape.unroll - 1) * LANES}u * {step} + {LANES - 1}u" if shape.wide else f"{count - 1}u * {step}"
            kernel.line(f"for (; column + {last} < end; column += {count}u * {step}) {{")
            for n in range(count):
                four, lane = divmod(n, LANES)
                away = f"{four * LANES}u * {step} + {lane}u" if shape.wide else f"{n}u * {step}"
                kernel.line(f"let i{n} = column + {away};")
            self._coordinates(layouts, count)
            self._block(columns, count)
            kernel.line("}")
        kernel.line(f"for (; column < end; column += {lanes}u * {step}) {{")
        for n in range(lanes):
            kernel.line(f"let i{n} = column + {n}u;" if n else "let i0 = column;")
        self._coordinates(layouts, lanes)
        self._block(columns, lanes, ragged=shape.ragged)
        kernel.line("} }")

    def _items(self, numbers: list[int]) -> list[Instruction]:
        return [self.loop.instructions[n] for n in numbers]

    def _coordinates(self, layouts: list[Layout], count: int) -> None:
        """Emit the coordinates of ``count`` columns if a layout needs them."""
        loop, rank = self.loop, len(self.loop.outer)
        if len(loop.inner) > 1 and any(x.strides[rank:] != contiguous_strides(loop.inner) for x in layouts):
            for n in range(count):
                coordinates(self.work.kernel, f"i{n}", self._extents(loop.inner), f"c{n}_")

    def _extents(self, shape: Shape) -> list[str]:
        """Return the expressions of the extents of all axes but the first, as parameters."""
        return [self.work.kernel.parameter(extent) for extent in reversed(shape[1:])][::-1]

    def _block(self, columns: "_ColumnPass", count: int, *, ragged: bool = False) -> None:
        """Emit the values, folds and stores of ``count`` columns, whose numbers are ``i0``, ``i1`` and so on.

        Which columns exist: of a row in registers, those whose ``at`` is below the end; otherwise all, or if
        ``ragged``, at least the first one.
        """
        self._columns(columns, count)
        if self.shape.in_registers:
            self.work.kernel.line(*self._take_registers(columns.folds, count))
        for first in range(0, count, LANES):
            lanes = range(first, min(first + LANES, count))
            if not self.shape.in_registers:
                self.work.kernel.line(*(self._take_existing if ragged else self._take)(columns.folds, lanes))
            for store in columns.stores:
                self._column_store(store, columns.bases, lanes, guarded=ragged)

    def _take_registers(self, numbers: list[int], count: int) -> list[str]:
        """Return the statements that fold the elements in registers: together, unless their order matters."""
        shape, lines = self.shape, []
        vectors = [range(first, first + LANES) for first in range(0, count, LANES)]
        for number in numbers:
            accumulator, operand = self.accumulators[number], self._fold(number).operand
            if accumulator.is_ordered:
                for lanes in vectors:
                    lines += (
                        self._take([number], lanes) if shape.fills_invocations else self._take_existing([number], lanes)
                    )
            elif shape.fills_invocations:
                lines += self._take([number], range(count))
            else:
                level = self.loop.instructions[operand].level
                whole = shape.wide and not shape.ragged
                exist = [f"(at{lane - lane % LANES if whole else lane} < end)" for lane in range(count)]
                lines += accumulator.take_existing([value_name(operand, level, lane) for lane in range(count)], exist)
        return lines

    def _take_existing(self, numbers: list[int], lanes: range) -> list[str]:
        """Return the statements that fold the columns that exist, of at most four."""
        kind = "at" if self.shape.in_registers else "i"
        if not numbers:
            return []
        if not self.shape.ragged:
            return [f"if ({kind}{lanes[0]} < end) {{", *self._take(numbers, lanes), "}"]
        lines = [f"if ({kind}{lanes[-1]} < end) {{", *self._take(numbers, lanes), "} else {"]
        for lane in lanes[:-1]:
            lines += [f"if ({kind}{lane} < end) {{", *self._take(numbers, range(lane, lane + 1)), "}"]
        return [*lines, "}"]

    def _needed(self, values: list[int]) -> list[int]:
        """Return the numbers of the FULL instructions that values depend on, sorted."""
        items = self.loop.instructions
        return sorted(needed(items, values, lambda number: items[number].level == FULL))

    def _bases(self, values: list[int], stores: list[Store], phase: int) -> dict[int, str]:
        """Emit the address of the row in each layout, by instruction number, or ``-1 - slot`` for stores."""
        kernel = self.work.kernel
        bases: dict[int, str] = {}
        for number in values:
            item = self.loop.instructions[number]
            if isinstance(item, Load | Index):
                offset = item.layout.offset
                if isinstance(item, Load):
                    offset = self.work.offset("input", item.slot, item.layout)
                bases[number] = f"b{phase}_{number}"
                kernel.line(f"let {bases[number]} = {self._row_position(item.layout, offset)};")
        for order, store in enumerate(stores):
            bases[-1 - store.slot] = f"s{phase}_{order}"
            where = self._row_position(store.layout, self.work.offset("output", store.slot, store.layout))
            kernel.line(f"let {bases[-1 - store.slot]} = {where};")
        return bases

    def _columns(self, columns: "_ColumnPass", count: int) -> None:
        """Emit the values of instructions for ``count`` columns."""
        kernel, loop, wide, bases = self.work.kernel, self.loop, self.shape.wide, columns.bases
        for unit in arranged(loop, columns.values, alone=count == 1):
            if isinstance(unit, Block):
                emit_block(kernel, loop.instructions, unit, count)
                continue
            number, item = unit, loop.instructions[unit]
            loaded: list[str] = []
            if isinstance(item, Index) and wide and makes_vec4(loop, item):
                for first in range(0, count, LANES):
                    position = self._column_position(item.layout, bases[number], first)
                    emit_vectors(self.work, number, item, position, LANES, first)
                continue
            if isinstance(item, Load) and wide:
                for first in range(0, count, LANES):
                    index, name = f"({bases[number]} + i{first}) / 4u", f"w{number}_{first}"
                    lines, lanes = self.work.access(item).load_wide(index, name)
                    kernel.line(*lines)
                    loaded += lanes
            for n in range(count):
                kernel.line(declare(f"v{number}_{n}", item.dtype, self._column_value(number, n, bases, loaded)))

    def _column_value(self, number: int, lane: int, bases: dict[int, str], loaded: list[str]) -> str:
        item = self.loop.instructions[number]
        if loaded:
            return loaded[lane]
        if isinstance(item, Load):
            return self.work.access(item).load(self._column_position(item.layout, bases[number], lane))
        assert isinstance(item, Apply | Take | Index)
        position = self._column_position(item.layout, bases[number], lane) if isinstance(item, Index) else ""
        return expression(self.work, item, lane, position)

    def _column_position(self, layout: Layout, base: str, lane: int) -> str:
        kernel, rank = self.work.kernel, len(self.loop.outer)
        strides = layout.strides[rank:]
        if strides == contiguous_strides(self.loop.inner):
            return f"{base} + i{lane}"
        if len(strides) == 1:
            return f"{base} + i{lane} * {kernel.parameter(strides[0])}" if strides[0] else base
        terms = [f"c{lane}_{axis} * {kernel.parameter(s)}" for axis, s in enumerate(strides) if s]
        return " + ".join([base, *terms])

    def _column_store(self, store: Store, bases: dict[int, str], lanes: range, *, guarded: bool) -> None:
        """Emit the store of at most four columns, with a guard if some may not exist."""
        kernel, access, shape = self.work.kernel, self.work.access(store), self.shape
        level = self.loop.instructions[store.value].level
        values = [value_name(store.value, level, lane) for lane in lanes]
        base = bases[-1 - store.slot]
        # groups beyond the last row have an end of 0
        guards = {True: "end > 0u" if shape.invocations < shape.workgroup else "", False: f"at{lanes[0]} < end"}
        if access.wide:
            statements = access.store_wide(f"({base} + i{lanes[0]}) / 4u", values)
            guard = guards[shape.fills_invocations] if shape.in_registers else ""  # outside registers all four exist
            kernel.line(*([f"if ({guard}) {{", *statements, "}"] if guard else statements))
            return
        for lane, value in zip(lanes, values, strict=True):
            statement = access.store(self._column_position(store.layout, base, lane), value)
            if shape.in_registers:
                guard = guards[True] if shape.fills_invocations else f"at{lane} < end"
            else:
                guard = f"i{lane} < end" if guarded and lane else ""
            kernel.line(f"if ({guard}) {{ {statement} }}" if guard else statement)

    def _full_stores(self) -> list[Store]:
        return [s for s in self.loop.stores if s.level == FULL]

    def _row_position(self, layout: Layout, offset: int) -> str:
        """Return the expression of the address at which the row begins in a layout."""
        kernel, rank = self.work.kernel, len(self.loop.outer)
        names = ["row"] if rank == 1 else [f"r{axis}" for axis in range(rank)]
        terms = [kernel.parameter(offset)] if offset else []
        terms += [f"{n} * {kernel.parameter(s)}" for n, s in zip(names, layout.strides[:rank], strict=True) if s]
        return " + ".join(terms) if terms else "0u"

    # -- accumulators --------------------------------------------------------------------------------------------------

    def _fold(self, number: int) -> Fold:
        item = self.loop.instructions[number]
        assert isinstance(item, Fold)
        return item

    def _start(self, number: int) -> None:
        accumulator = self.accumulators[number]
        self.work.kernel.line(*accumulator.start())
        self.work.kernel.module += accumulator.functions()

    def _take(self, numbers: list[int], lanes: range) -> list[str]:
        """Return the statements that fold some lanes of each operand."""
        lines = []
        columns = [f"i{lane} + origin" for lane in lanes]
        for number in numbers:
            operand = self._fold(number).operand
            level = self.loop.instructions[operand].level
            values = [value_name(operand, level, lane) for lane in lanes]
            lines += self.accumulators[number].take(values, columns)
        return lines

    def _gather(self, numbers: list[int]) -> None:
        """Emit the combination of the accumulators of a group; each of its invocations gets the results."""
        folds = [self.accumulators[number] for number in numbers]
        self.collectives.reduce_all([(fold.states, fold.merge) for fold in folds])

    def _result(self, number: int) -> None:
        self.work.kernel.line(declare(f"one{number}", self._fold(number).dtype, self.accumulators[number].result()))
