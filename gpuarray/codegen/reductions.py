"""Row kernels: the kernels of loops that contain folds.

A group of invocations reduces each row. The group is a workgroup or a part of one, and its neighbouring invocations
read neighbouring elements. Short rows, and rows that are interleaved in memory, are reduced by one invocation each.

A row that fits into the registers of its group is read once, and each value is computed once for all phases. A longer
row is read once per phase. If there are few rows, each one is split among several groups: their partial results go to
scratch memory, and a second kernel combines them and computes what follows. The order of combination depends on the
sizes alone, so results are reproducible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.collectives import Collectives, loaded, stored
from gpuarray.codegen.loops import coordinates, emit_uniform, expression, open_kernel
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.row_columns import ColumnKernel
from gpuarray.codegen.row_schedule import RowSchedule, most_invocations, phase_after, schedule_rows
from gpuarray.codegen.storage import LANES, Access, word_dtype
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, declare
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, OUTER, Apply, Fold, Index, Load, Loop, Take


def row_program(loop: Loop, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a loop with folds."""
    shape = schedule_rows(loop, capabilities)
    kernel = RowKernel(loop, shape, label, capabilities)
    if shape.splits == 1:
        return Program((kernel.whole(),))
    first, scratch = kernel.partial(ScratchRange(0, shape.splits, 0))
    return Program((first, kernel.finish(shape.splits)), tuple(b for _, b in scratch))


def cut_row_program(loop: Loop, parts: Sequence[tuple[Loop, int]], label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a single-pass loop whose rows are split between bindings.

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
    shapes = [schedule_rows(piece, capabilities) for piece, _ in parts]
    total = sum(shape.splits for shape in shapes)
    launches: list[Launch] = []
    scratch: list[tuple[Access, int]] = []
    before = 0
    for (piece, column), shape in zip(parts, shapes, strict=True):
        launch, scratch = RowKernel(piece, shape, label, capabilities).partial(ScratchRange(before, total, column))
        launches.append(launch)
        before += shape.splits
    launches.append(RowKernel(loop, shapes[0], label, capabilities).finish(total))
    return Program(tuple(launches), tuple(b for _, b in scratch))


@dataclass(frozen=True)
class ScratchRange:
    """Position of the partial results of some columns among the partial results of whole rows."""

    split: int
    """Number of parts of each row that come before."""
    splits: int
    """Number of parts of each row in total."""
    column: int
    """Number of the first column."""


class RowKernel(ColumnKernel):
    """Emits the kernels of one loop with folds."""

    # -- kernels -------------------------------------------------------------------------------------------------------

    def whole(self) -> Launch:
        """Return the kernel that reduces whole rows, computes the epilogue, and stores."""
        loop = self.loop
        self._open(self.label, outputs=True)
        groups = self._row_index(split=False)
        emit_uniform(self.work)
        self.work.kernel.line("let origin = 0u;")
        self._row_values(0)
        if self.shape.in_registers:
            self._register_columns()
        last = max((phase_after(loop, i) for i in range(len(loop.instructions))), default=0)
        for phase in range(last + 1):
            self._pass(phase)
            self._row_values(phase + 1)
        self._row_stores()
        return self.work.kernel.launch(groups, self.capabilities.workgroup_limit)

    def partial(self, span: ScratchRange) -> tuple[Launch, list[tuple[Access, int]]]:
        """Return the kernel that reduces parts of rows into scratch memory, and the scratch bindings."""
        self._open(f"{self.label} parts", outputs=bool(self._full_stores()))
        groups = self._row_index(split=True)
        emit_uniform(self.work)
        self._row_values(0)
        scratch = self._scratch(span.splits, writable=True)
        self.work.kernel.line(f"let origin = {self.work.kernel.parameter(span.column)};")
        if self.shape.in_registers:
            self._register_columns()
        self._pass(0, keep=True)
        kernel = self.work.kernel
        before, total = kernel.parameter(span.split), kernel.parameter(max(self.loop.rows, 1))
        kernel.line(f"let part = ({before} + split) * {total} + row;")
        names = iter(scratch)
        for number in self.loop.folds:
            for state, dtype in self.accumulators[number].states.items():
                access, _ = next(names)
                kernel.line(self._once(f"{access.name}[part] = {stored(state, dtype)};"))
        return kernel.launch(groups, self.capabilities.workgroup_limit), scratch

    def finish(self, splits: int) -> Launch:
        """Return the kernel that combines the parts of each row and computes the epilogue."""
        together = 1 if splits <= 64 else WORKGROUP
        if splits > 2048:
            together = most_invocations(self.loop, self.capabilities)
        self.shape = RowSchedule(together)
        self._open(f"{self.label} end", outputs=True, full=False)
        groups = self._row_index(split=False)
        emit_uniform(self.work)
        self._row_values(0)
        kernel = self.work.kernel
        accesses = self._scratch(splits, writable=False)
        count, total = kernel.parameter(splits), kernel.parameter(max(self.loop.rows, 1))
        for number in self.loop.folds:
            self._start(number)
        start, step = ("lane", together) if together > 1 else ("0u", 1)
        # four loads are in flight at a time
        kernel.line(f"var part = {start};", f"for (; part + {3 * step}u < {count}; part += {4 * step}u) {{")
        self._merge_parts(accesses, total, [f"(part + {n * step}u)" for n in range(4)])
        kernel.line("}", f"for (; part < {count}; part += {step}u) {{")
        self._merge_parts(accesses, total, ["part"])
        kernel.line("}")
        self._gather([*self.loop.folds])
        for number in self.loop.folds:
            self._result(number)
        self._row_values(1)
        self._row_stores()
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    def _merge_parts(self, accesses: list[tuple[Access, int]], total: str, parts: list[str]) -> None:
        """Emit the combination of some parts of a row."""
        names = iter(accesses)
        lines: list[str] = []
        for number in self.loop.folds:
            accumulator = self.accumulators[number]
            merged: list[list[str]] = [[] for _ in parts]
            for dtype in accumulator.states.values():
                access, _ = next(names)
                for n, part in enumerate(parts):
                    name = f"{access.name}_{n}"
                    self.work.kernel.line(f"let {name} = {access.name}[{part} * {total} + row];")
                    merged[n].append(loaded(name, dtype))
            lines += [accumulator.merge(states) for states in merged]
        self.work.kernel.line(*lines)

    # -- sections of a kernel ------------------------------------------------------------------------------------------

    def _open(self, label: str, *, outputs: bool, full: bool = True) -> None:
        loop, wide = self.loop, self.shape.wide
        full_slots = {x.key for x in loop.laid_out_at(FULL) if not isinstance(x, Index)}
        self.work = open_kernel(
            loop if full else _without_columns(loop),
            label,
            lambda k, s: wide and (k, s) in full_slots,
            outputs,
        )
        self.work.loop = loop
        self.work.kernel.workgroup = self.shape.workgroup
        self.collectives = Collectives(
            self.work.kernel, self.shape.invocations, self.capabilities, self.shape.interleaved
        )
        self.computed = set()

    def _row_index(self, *, split: bool) -> int:
        """Emit the row, the split and the columns of an invocation; return the number of workgroups."""
        kernel, shape = self.work.kernel, self.shape
        count_of_parts = max(self.loop.rows, 1) * (shape.splits if split else 1)
        together = shape.workgroup // shape.invocations
        count = kernel.parameter(count_of_parts)
        kernel.line("let block = group.x + group.y * groups.x;")
        if together == 1:
            kernel.line(f"if (block >= {count}) {{ return; }}", "let walker = block;", "let lane = local;")
        elif shape.invocations == 1:
            kernel.line(f"let walker = block * {together}u + local;", f"if (walker >= {count}) {{ return; }}")
        else:
            # collectives need every invocation of a workgroup: those beyond the last row stay, without columns
            first, second = f"local / {shape.invocations}u", f"local & {shape.invocations - 1}u"
            if shape.interleaved:
                first, second = f"(local & {together - 1}u)", f"local / {together}u"
            kernel.line(
                f"let place = block * {together}u + {first};",
                f"let walker = min(place, {count} - 1u);",
                f"let lane = {second};",
            )
        columns = kernel.parameter(self.loop.columns)
        end = columns if together == 1 or shape.invocations == 1 else f"select(0u, {columns}, place < {count})"
        if split:
            total, rows_each = (
                kernel.parameter(max(self.loop.rows, 1)),
                shape.invocations * (LANES if shape.wide else 1),
            )
            kernel.line(f"let split = walker / {total};", f"let row = walker - split * {total};")
            kernel.line(f"let begin = split{f' * {rows_each}u' if rows_each > 1 else ''};")
        else:
            kernel.line("let row = walker;", "let begin = 0u;")
        kernel.line(f"let end = {end};")
        if len(self.loop.outer) > 1:
            coordinates(kernel, "row", self._extents(self.loop.outer), "r")
        return -(-count_of_parts // together)

    def _several(self, number: int, count: int) -> list[Accumulator]:
        """Return accumulators of a fold for several results of an invocation, numbered apart from all instructions."""
        fold, instructions = self._fold(number), len(self.loop.instructions)
        parts = [Accumulator(fold, instructions * (1 + n) + number) for n in range(count)]
        self.work.kernel.module += [
            line for accumulator in (self.accumulators[number], *parts) for line in accumulator.functions()
        ]
        return parts

    def _finish_several(
        self, totals: Mapping[int, Sequence[Accumulator]], positions: Sequence[str], condition: str, prefix: str = ""
    ) -> None:
        """Emit a loop over the results of an invocation that computes and stores the epilogue of the folds.

        Parameters
        ----------
        totals : mapping
            The accumulators of the results, by the number of a fold.
        positions : sequence of str
            Statements that say where the result ``n`` lies.
        condition : str
            Whether there is such a position.
        prefix : str
            What the names of the states begin with.
        """
        kernel, folds = self.work.kernel, self.loop.folds
        count = len(totals[folds[0]])
        kernel.line(f"for (var n = 0u; n < {count}u; n++) {{")
        for number in folds:
            kernel.line(*self.accumulators[number].start())
        kernel.line("switch n {")
        for n in range(count):
            takes = []
            for number in folds:
                (state,), (total,) = self.accumulators[number].states, totals[number][n].states
                takes.append(f"{state} = {prefix}{total};")
            kernel.line(f"{f'case {n}u' if n + 1 < count else 'default'}: {{ {' '.join(takes)} }}")
        kernel.line("}", *positions, f"if ({condition}) {{")
        self._row_values(0)
        for number in folds:
            self._result(number)
        self._row_values(1)
        self._row_stores()
        kernel.line("} }")

    def _row_values(self, phase: int) -> None:
        """Emit the values per row that are computed in a phase."""
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
        """Return a statement that only the first invocation of each group runs."""
        if self.shape.invocations == 1:
            return statement
        mine = "lane == 0u" if self.shape.invocations == self.shape.workgroup else "lane == 0u && end > 0u"
        return f"if ({mine}) {{ {statement} }}"

    def _scratch(self, splits: int, *, writable: bool) -> list[tuple[Access, int]]:
        """Bind scratch memory for the partial results; return its bindings and their sizes in bytes."""
        buffers: list[tuple[Access, int]] = []
        count = max(self.loop.rows, 1) * splits
        for number in self.loop.folds:
            for dtype in self.accumulators[number].states.values():
                word = word_dtype(dtype)
                nbytes = -(-count * word.itemsize // WINDOW_END) * WINDOW_END
                slot = len(buffers)
                access = Access(f"scratch{slot}", word, False, writable)
                self.work.kernel.bind(access, Binding("scratch", slot, 0, nbytes, writable))
                buffers.append((access, nbytes))
        return buffers


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
