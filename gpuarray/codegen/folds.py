"""Loops with folds as row kernels.

A row belongs to a team of invocations: a workgroup or part of one, whose neighbours read neighbours in the row, or a
single invocation (short rows, or rows whose neighbours lie side by side). A row that fits the registers of its team is
*held*: each element is read once, and each value computed once, for all phases. A longer one is *walked* once a phase.
Where rows are few, a row is split among several teams; their partial results go to scratch memory, and a second kernel
folds them and computes what follows. The order of combination is fixed by the sizes alone, so results are reproducible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.collectives import Collectives, loaded, stored
from gpuarray.codegen.fast_paths import emit_block, value_name
from gpuarray.codegen.loops import (
    LoopKernel,
    coordinates,
    emit_uniform,
    emit_vec4,
    expression,
    makes_vec4,
    open_kernel,
)
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.row_schedule import RowSchedule, largest_team, phase_after, schedule_rows
from gpuarray.codegen.storage import LANES, Access, word_dtype
from gpuarray.codegen.underflow import Block, arranged
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, declare
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, OUTER, Apply, Fold, Index, Instruction, Load, Loop, Store, Take
from gpuarray.graph.layouts import Layout, contiguous_strides


def row_program(loop: Loop, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a loop with folds."""
    shape = schedule_rows(loop, capabilities)
    walk = RowKernel(loop, shape, label, capabilities)
    if shape.splits == 1:
        return Program((walk.whole(),))
    first, scratch = walk.partial(Place(0, shape.splits, 0))
    return Program((first, walk.finish(scratch, shape.splits)), tuple(b for _, b in scratch))


def cut_row_program(loop: Loop, parts: Sequence[tuple[Loop, int]], label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a loop of one walk whose rows are cut.

    Parameters
    ----------
    loop : Loop
        The whole loop.
    parts : sequence of (Loop, int)
        Loops over some of its columns each, and the number of the first one.
    label : str
        Of the kernels.
    capabilities : Capabilities
        Limits of the device.
    """
    shapes = [schedule_rows(part, capabilities) for part, _ in parts]
    total = sum(shape.splits for shape in shapes)
    launches: list[Launch] = []
    scratch: list[tuple[Access, int]] = []
    before = 0
    for (part, column), shape in zip(parts, shapes, strict=True):
        launch, scratch = RowKernel(part, shape, label, capabilities).partial(Place(before, total, column))
        launches.append(launch)
        before += shape.splits
    launches.append(RowKernel(loop, shapes[0], label, capabilities).finish(scratch, total))
    return Program(tuple(launches), tuple(b for _, b in scratch))


@dataclass(frozen=True)
class Place:
    """Where the partial results of some columns stand among those of the whole rows."""

    split: int
    """How many parts of each row come before."""
    splits: int
    """How many parts each row has in all."""
    column: int
    """The number of the first column."""


@dataclass
class RowKernel:
    """Emits the kernels of one loop with folds."""

    loop: Loop
    shape: RowSchedule
    label: str
    capabilities: Capabilities
    work: LoopKernel = field(init=False)
    collectives: Collectives = field(init=False)
    made: set[int] = field(default_factory=set)
    """The FULL instructions whose values a held row has already."""

    # -- kernels -------------------------------------------------------------------------------------------------------

    def whole(self) -> Launch:
        """One kernel that walks rows, computes what follows, and stores."""
        loop = self.loop
        self._open(self.label, outputs=True)
        groups = self._row_index(split=False)
        emit_uniform(self.work)
        self.work.kernel.line("let origin = 0u;")
        self._row_values(0)
        if self.shape.in_registers:
            self._held_columns()
        last = max((phase_after(loop, i) for i in range(len(loop.instructions))), default=0)
        for phase in range(last + 1):
            self._walk(phase)
            self._row_values(phase + 1)
        self._row_stores()
        return self.work.kernel.launch(groups, self.capabilities.workgroup_limit)

    def partial(self, place: Place) -> tuple[Launch, list[tuple[Access, int]]]:
        """Return the kernel that folds parts of rows into scratch memory, and that memory."""
        self._open(f"{self.label} parts", outputs=bool(self._full_stores()))
        groups = self._row_index(split=True)
        emit_uniform(self.work)
        self._row_values(0)
        scratch = self._scratch(place.splits, writable=True)
        self.work.kernel.line(f"let origin = {self.work.kernel.parameter(place.column)};")
        if self.shape.in_registers:
            self._held_columns()
        self._walk(0, keep=True)
        kernel = self.work.kernel
        before, total = kernel.parameter(place.split), kernel.parameter(max(self.loop.rows, 1))
        kernel.line(f"let part = ({before} + split) * {total} + row;")
        names = iter(scratch)
        for number in self.loop.folds:
            for state, dtype in self._accumulator(number).states.items():
                access, _ = next(names)
                kernel.line(self._once(f"{access.name}[part] = {stored(state, dtype)};"))
        return kernel.launch(groups, self.capabilities.workgroup_limit), scratch

    def finish(self, scratch: list[tuple[Access, int]], splits: int) -> Launch:
        """Return the kernel that folds the parts of each row and computes what follows."""
        team = 1 if splits <= 64 else WORKGROUP if splits <= 2048 else largest_team(self.loop, self.capabilities)
        self.shape = RowSchedule(team)
        self._open(f"{self.label} end", outputs=True, full=False)
        groups = self._row_index(split=False)
        emit_uniform(self.work)
        self._row_values(0)
        kernel = self.work.kernel
        accesses = self._scratch(splits, writable=False)
        count, total = kernel.parameter(splits), kernel.parameter(max(self.loop.rows, 1))
        for number in self.loop.folds:
            self._start(number)
        start, step = ("lane", team) if team > 1 else ("0u", 1)
        # several at once, so that they are waited for together
        kernel.line(f"var part = {start};", f"for (; part + {3 * step}u < {count}; part += {4 * step}u) {{")
        self._meet_parts(accesses, total, [f"(part + {n * step}u)" for n in range(4)])
        kernel.line("}", f"for (; part < {count}; part += {step}u) {{")
        self._meet_parts(accesses, total, ["part"])
        kernel.line("}")
        for number in self.loop.folds:
            self._gather(number)
            self._result(number)
        self._row_values(1)
        self._row_stores()
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    def _meet_parts(self, accesses: list[tuple[Access, int]], total: str, parts: list[str]) -> None:
        """Emit the folding of some of the parts of a row."""
        names = iter(accesses)
        lines: list[str] = []
        for number in self.loop.folds:
            own = self._accumulator(number)
            found: list[list[str]] = [[] for _ in parts]
            for dtype in own.states.values():
                access, _ = next(names)
                for n, part in enumerate(parts):
                    name = f"{access.name}_{n}"
                    self.work.kernel.line(f"let {name} = {access.name}[{part} * {total} + row];")
                    found[n].append(loaded(name, dtype))
            lines += [own.meet(states) for states in found]
        self.work.kernel.line(*lines)

    # -- what kernels consist of ---------------------------------------------------------------------------------------

    def _open(self, label: str, *, outputs: bool, full: bool = True) -> None:
        loop, wide = self.loop, self.shape.wide
        full_slots = {
            ("output" if isinstance(x, Store) else "input", x.slot)
            for x in (*loop.instructions, *loop.stores)
            if isinstance(x, Load | Store) and x.level == FULL
        }
        self.work = open_kernel(
            loop if full else _without_columns(loop),
            label,
            lambda k, s: wide and (k, s) in full_slots,
            outputs,
        )
        self.work.loop = loop
        self.work.kernel.workgroup = self.shape.workgroup
        self.collectives = Collectives(self.work.kernel, self.shape.team, self.capabilities, self.shape.interleaved)
        self.made = set()

    def _full_stores(self) -> list[Store]:
        return [s for s in self.loop.stores if s.level == FULL]

    def _row_index(self, *, split: bool) -> int:
        """Emit the row (and the split) of this walker, and which columns are its own; return the workgroups."""
        kernel, shape = self.work.kernel, self.shape
        walkers = max(self.loop.rows, 1) * (shape.splits if split else 1)
        together = shape.workgroup // shape.team
        count = kernel.parameter(walkers)
        kernel.line("let block = group.x + group.y * groups.x;")
        if together == 1:
            kernel.line(f"if (block >= {count}) {{ return; }}", "let walker = block;", "let lane = local;")
        elif shape.team == 1:
            kernel.line(f"let walker = block * {together}u + local;", f"if (walker >= {count}) {{ return; }}")
        else:
            # all of a workgroup stay, as folding takes all of them: those beyond the rows have no columns
            first, second = f"local / {shape.team}u", f"local & {shape.team - 1}u"
            if shape.interleaved:
                first, second = f"(local & {together - 1}u)", f"local / {together}u"
            kernel.line(
                f"let place = block * {together}u + {first};",
                f"let walker = min(place, {count} - 1u);",
                f"let lane = {second};",
            )
        columns = kernel.parameter(self.loop.columns)
        end = columns if together == 1 or shape.team == 1 else f"select(0u, {columns}, place < {count})"
        if split:
            total, own = kernel.parameter(max(self.loop.rows, 1)), shape.team * (LANES if shape.wide else 1)
            kernel.line(f"let split = walker / {total};", f"let row = walker - split * {total};")
            kernel.line(f"let begin = split{f' * {own}u' if own > 1 else ''};")
        else:
            kernel.line("let row = walker;", "let begin = 0u;")
        kernel.line(f"let end = {end};")
        if len(self.loop.outer) > 1:
            coordinates(kernel, "row", self.loop.outer, "r")
        return -(-walkers // together)

    def _row_position(self, layout: Layout, offset: int) -> str:
        """Return where a layout's row begins."""
        kernel, rank = self.work.kernel, len(self.loop.outer)
        names = ["row"] if rank == 1 else [f"r{axis}" for axis in range(rank)]
        terms = [kernel.parameter(offset)] if offset else []
        terms += [f"{n} * {kernel.parameter(s)}" for n, s in zip(names, layout.strides[:rank], strict=True) if s]
        return " + ".join(terms) if terms else "0u"

    def _row_values(self, phase: int) -> None:
        """Emit the row's values that are computed in a phase."""
        work = self.work
        for number, item in enumerate(self.loop.instructions):
            if item.level != OUTER or isinstance(item, Fold) or self.loop.phases[number] != phase:
                continue
            if isinstance(item, Load):
                where = self._row_position(item.layout, work.offset("input", item.slot, item.layout))
                value = work.access(item).load(where)
            else:
                assert isinstance(item, Apply | Take | Index)
                where = self._row_position(item.layout, item.layout.offset) if isinstance(item, Index) else ""
                value = expression(work, item, 0, where)
            work.kernel.line(declare(f"one{number}", item.dtype, value))

    def _row_stores(self) -> None:
        kernel = self.work.kernel
        for store in self.loop.stores:
            if store.level != OUTER:
                continue
            where = self._row_position(store.layout, self.work.offset("output", store.slot, store.layout))
            statement = self.work.access(store).store(where, f"one{store.value}")
            kernel.line(self._once(statement))

    def _once(self, statement: str) -> str:
        """Return a statement that one invocation of each row's team runs."""
        if self.shape.team == 1:
            return statement
        mine = "lane == 0u" if self.shape.team == self.shape.workgroup else "lane == 0u && end > 0u"
        return f"if ({mine}) {{ {statement} }}"

    # -- walking a row -------------------------------------------------------------------------------------------------

    def _walk(self, phase: int, *, keep: bool = False) -> None:
        """Emit one walk over the columns: what the folds and stores of a phase need, and the folds themselves."""
        loop, shape = self.loop, self.shape
        numbers = [n for n in loop.folds if loop.phases[n] == phase]
        stores = [s for s in self._full_stores() if phase_after(loop, s.value) == phase]
        if not numbers and not stores:
            return
        operands = [f.operand for n in numbers if isinstance(f := loop.instructions[n], Fold)]
        needed = self._needed([*operands, *(s.value for s in stores)])
        if shape.in_registers:
            needed = [n for n in needed if n not in self.made]
            self.made.update(needed)
        for number in numbers:
            self._start(number)
        bases = self._bases(needed, stores, phase)
        if shape.in_registers:
            self._block(needed, numbers, stores, bases, shape.unroll * LANES)
        else:
            self._turns(needed, numbers, stores, bases)
        for number in numbers:
            self._gather(number)
            if not keep:
                self._result(number)

    def _held_columns(self) -> None:
        """Emit the columns of the elements that an invocation holds: ``at`` as counted, ``i`` among those that exist.

        Values of columns beyond the end are computed, since that takes no branches, and go nowhere.
        """
        kernel, shape = self.work.kernel, self.shape
        highest = self.loop.columns - 1
        last = "" if shape.fills_team else kernel.parameter(highest // LANES * LANES if shape.wide else highest)
        for n in range(shape.unroll * LANES):
            four, lane = divmod(n, LANES)
            if shape.wide and lane:
                place = f"i{n - lane} + {lane}u"
            elif shape.wide:
                place = f"lane * {LANES}u + {four * LANES * shape.team}u"
            else:
                place = f"lane + {n * shape.team}u"
            if shape.fills_team:
                kernel.line(f"let i{n} = {place};")
            elif shape.wide and lane:
                kernel.line(f"let at{n} = at{n - lane} + {lane}u;", f"let i{n} = {place};")
            else:
                kernel.line(f"let at{n} = {place};", f"let i{n} = min(at{n}, {last});")
        self._coordinates([x.layout for x in self._walked()], shape.unroll * LANES)

    def _turns(self, needed: list[int], numbers: list[int], stores: list[Store], bases: dict[int, str]) -> None:
        """Emit the loops over the columns: many at once while there are that many, then as few as can be."""
        kernel, shape = self.work.kernel, self.shape
        own = LANES if shape.wide else 1
        step = f"{shape.team}u"
        if shape.splits > 1:
            step = "apart"
            kernel.line(f"let apart = {kernel.parameter(shape.splits * shape.team)};")
        kernel.line("{", f"var column = begin{'' if shape.team == 1 else f' + lane * {own}u'};")
        layouts = [x.layout for x in self._walked() if isinstance(x, Store) or x in self._items(needed)]
        if shape.unroll:
            count = shape.unroll * LANES
            last = f"{(shape.unroll - 1) * LANES}u * {step} + {LANES - 1}u" if shape.wide else f"{count - 1}u * {step}"
            kernel.line(f"for (; column + {last} < end; column += {count}u * {step}) {{")
            for n in range(count):
                four, lane = divmod(n, LANES)
                away = f"{four * LANES}u * {step} + {lane}u" if shape.wide else f"{n}u * {step}"
                kernel.line(f"let i{n} = column + {away};")
            self._coordinates(layouts, count)
            self._block(needed, numbers, stores, bases, count)
            kernel.line("}")
        kernel.line(f"for (; column < end; column += {own}u * {step}) {{")
        for n in range(own):
            kernel.line(f"let i{n} = column + {n}u;" if n else "let i0 = column;")
        self._coordinates(layouts, own)
        self._block(needed, numbers, stores, bases, own, ragged=shape.ragged)
        kernel.line("} }")

    def _walked(self) -> list[Load | Index | Store]:
        """Return what has a layout over the columns."""
        loads = [i for i in self.loop.instructions if isinstance(i, Load | Index) and i.level == FULL]
        return [*loads, *self._full_stores()]

    def _items(self, numbers: list[int]) -> list[Instruction]:
        return [self.loop.instructions[n] for n in numbers]

    def _coordinates(self, layouts: list[Layout], count: int) -> None:
        """Emit the coordinates of some columns, where a layout needs them."""
        loop, rank = self.loop, len(self.loop.outer)
        if len(loop.inner) > 1 and any(x.strides[rank:] != contiguous_strides(loop.inner) for x in layouts):
            for n in range(count):
                coordinates(self.work.kernel, f"i{n}", loop.inner, f"c{n}_")

    def _block(
        self,
        needed: list[int],
        numbers: list[int],
        stores: list[Store],
        bases: dict[int, str],
        count: int,
        *,
        ragged: bool = False,
    ) -> None:
        """Emit what becomes of ``count`` columns, ``i0`` and so on.

        On a walk all of them exist, or where it is ``ragged`` the first of four does; of a held row, those whose ``at``
        is below the end do.
        """
        self._columns(needed, bases, count)
        if self.shape.in_registers:
            self.work.kernel.line(*self._take_held(numbers, count))
        for first in range(0, count, LANES):
            lanes = range(first, min(first + LANES, count))
            if not self.shape.in_registers:
                self.work.kernel.line(*(self._take_existing if ragged else self._take)(numbers, lanes))
            for store in stores:
                self._column_store(store, bases, lanes, guarded=ragged)

    def _take_held(self, numbers: list[int], count: int) -> list[str]:
        """Return the statements that fold what an invocation holds: all at once, but for positions."""
        shape, lines = self.shape, []
        fours = [range(first, first + LANES) for first in range(0, count, LANES)]
        for number in numbers:
            own, operand = self._accumulator(number), self._fold(number).operand
            if own.is_ordered:
                for lanes in fours:
                    lines += self._take([number], lanes) if shape.fills_team else self._take_existing([number], lanes)
            elif shape.fills_team:
                lines += self._take([number], range(count))
            else:
                level = self.loop.instructions[operand].level
                whole = shape.wide and not shape.ragged
                exist = [f"(at{lane - lane % LANES if whole else lane} < end)" for lane in range(count)]
                lines += own.take_existing([value_name(operand, level, lane) for lane in range(count)], exist)
        return lines

    def _take_existing(self, numbers: list[int], lanes: range) -> list[str]:
        """Return the statements that fold those of four columns that exist."""
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
        """Return the FULL instructions that values depend on, in order."""
        found: set[int] = set()
        stack = list(values)
        while stack:
            number = stack.pop()
            item = self.loop.instructions[number]
            if number in found or item.level != FULL:
                continue
            found.add(number)
            if isinstance(item, Apply):
                stack += item.operands
            elif isinstance(item, Take):
                stack.append(item.position)
        return sorted(found)

    def _bases(self, needed: list[int], stores: list[Store], phase: int) -> dict[int, str]:
        """Emit where the row begins in each layout; keys are instruction numbers, and ``-1 - slot`` of stores."""
        kernel = self.work.kernel
        bases: dict[int, str] = {}
        for number in needed:
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

    def _columns(self, needed: list[int], bases: dict[int, str], count: int) -> None:
        """Emit the values of instructions in some columns."""
        kernel, loop, wide = self.work.kernel, self.loop, self.shape.wide
        for unit in arranged(loop, needed, alone=count == 1):
            if isinstance(unit, Block):
                emit_block(kernel, loop.instructions, unit, count)
                continue
            number, item = unit, loop.instructions[unit]
            loaded: list[str] = []
            if isinstance(item, Index) and wide and makes_vec4(loop, item):
                for first in range(0, count, LANES):
                    emit_vec4(self.work, number, item, self._column_position(item.layout, bases[number], first), first)
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
        """Emit the store of four columns or fewer: of those that exist, where they are held or ``guarded``."""
        kernel, access, shape = self.work.kernel, self.work.access(store), self.shape
        level = self.loop.instructions[store.value].level
        values = [value_name(store.value, level, lane) for lane in lanes]
        base = bases[-1 - store.slot]
        # teams beyond the last row have no end
        guards = {True: "end > 0u" if shape.team < shape.workgroup else "", False: f"at{lanes[0]} < end"}
        if access.wide:
            statements = access.store_wide(f"({base} + i{lanes[0]}) / 4u", values)
            guard = guards[shape.fills_team] if shape.in_registers else ""  # there are whole fours only
            kernel.line(*([f"if ({guard}) {{", *statements, "}"] if guard else statements))
            return
        for lane, value in zip(lanes, values, strict=True):
            statement = access.store(self._column_position(store.layout, base, lane), value)
            if shape.in_registers:
                guard = guards[True] if shape.fills_team else f"at{lane} < end"
            else:
                guard = f"i{lane} < end" if guarded and lane else ""
            kernel.line(f"if ({guard}) {{ {statement} }}" if guard else statement)

    # -- accumulators --------------------------------------------------------------------------------------------------

    def _fold(self, number: int) -> Fold:
        item = self.loop.instructions[number]
        assert isinstance(item, Fold)
        return item

    def _accumulator(self, number: int) -> Accumulator:
        return Accumulator(self._fold(number), number)

    def _start(self, number: int) -> None:
        own = self._accumulator(number)
        self.work.kernel.line(*own.start())
        self.work.kernel.module += own.functions()

    def _take(self, numbers: list[int], lanes: range) -> list[str]:
        """Return the statements that fold some lanes of each operand."""
        lines = []
        places = [f"i{lane} + origin" for lane in lanes]
        for number in numbers:
            operand = self._fold(number).operand
            level = self.loop.instructions[operand].level
            values = [value_name(operand, level, lane) for lane in lanes]
            lines += self._accumulator(number).take(values, places)
        return lines

    def _gather(self, number: int) -> None:
        """Fold the accumulators of a team into one that all its invocations have."""
        own = self._accumulator(number)
        self.collectives.reduce(own.states, own.meet)

    def _result(self, number: int) -> None:
        self.work.kernel.line(declare(f"one{number}", self._fold(number).dtype, self._accumulator(number).result()))

    def _scratch(self, splits: int, *, writable: bool) -> list[tuple[Access, int]]:
        """Bind the scratch memory of the partial results; return it with its sizes in bytes."""
        found: list[tuple[Access, int]] = []
        count = max(self.loop.rows, 1) * splits
        for number in self.loop.folds:
            for dtype in self._accumulator(number).states.values():
                held = word_dtype(dtype)
                nbytes = -(-count * held.itemsize // WINDOW_END) * WINDOW_END
                slot = len(found)
                access = Access(f"scratch{slot}", held, False, writable)
                self.work.kernel.bind(access, Binding("scratch", slot, 0, nbytes, writable))
                found.append((access, nbytes))
        return found


def _without_columns(loop: Loop) -> Loop:
    """Return the part of a loop that a finishing kernel binds: nothing at level FULL."""
    return Loop(
        loop.outer,
        (),
        tuple(i for i in loop.instructions if i.level != FULL),
        tuple(s for s in loop.stores if s.level != FULL),
        loop.input_dtypes,
        loop.output_dtypes,
        loop.scalar_dtypes,
        (),
    )
