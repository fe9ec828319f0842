"""Loops with folds as row kernels.

Each row is walked once a phase, by a whole workgroup (*group* mode: neighbours in a row are read by neighbouring
invocations) or by one invocation (*thread* mode: short rows, or rows whose neighbours lie side by side). Where rows are
few, a row is split among several walkers; their partial results go to scratch memory, and a second kernel folds them
and computes what follows. The order of combination is fixed by the sizes alone, so results are reproducible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen import casts
from gpuarray.codegen.loops import (
    LoopKernel,
    coordinates,
    emit_uniform,
    expression,
    is_heavy,
    open_kernel,
    value_name,
)
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access, register_type
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, apply_expression, combine_expression, declare
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import FULL, OUTER, Apply, Fold, Index, Load, Loop, Store, Take
from gpuarray.graph.layouts import Layout, contiguous_strides
from gpuarray.ops import elementwise as rows
from gpuarray.ops import reductions
from gpuarray.ops.spec import ReduceOp

GROUP: Final = "group"
THREAD: Final = "thread"
UNSET: Final = "0xffffffffu"
#: How many walkers keep a device busy, in each mode; more rows than that are not split.
BUSY_GROUPS: Final = 2048
BUSY_THREADS: Final = 1 << 17
SHORT_ROW: Final = 64


@dataclass(frozen=True)
class Shaping:
    """How a loop's rows are walked."""

    mode: str
    splits: int
    chunk: int
    """Columns that one walker takes."""
    wide: bool
    """Whether columns are walked four at a time."""
    ragged: bool
    """Whether the last four of a walk may be fewer."""


def shaping(loop: Loop) -> Shaping:
    """Decide how a loop's rows are walked."""
    columns, row_count = loop.columns, max(loop.rows, 1)
    mode = _mode(loop)
    one_walk = is_one_walk(loop)
    if mode == GROUP:
        wide = _is_wide(loop) and not is_heavy(loop)
        most = max(1, columns // (WORKGROUP * LANES * 4))
        splits = min(most, max(1, BUSY_GROUPS // row_count)) if one_walk else 1
        unit = WORKGROUP * LANES
    else:
        wide = False
        most = max(1, columns // 32)
        splits = min(most, max(1, BUSY_THREADS // row_count)) if one_walk else 1
        unit = 1
    chunk = -(-columns // (splits * unit)) * unit if splits > 1 else max(columns, 1)
    splits = max(1, -(-columns // chunk))
    return Shaping(mode, splits, chunk, wide, wide and columns % LANES != 0)


def _late_full(loop: Loop) -> list[bool]:
    values = loop.instructions
    late = [p > 0 for item, p in zip(values, loop.phases, strict=True) if item.level == FULL]
    late += [s.level == FULL and _phase_after(loop, s.value) > 0 for s in loop.stores]
    return late


def _phase_after(loop: Loop, value: int) -> int:
    """Return the phase in which a value is there to be used."""
    return loop.phases[value] + isinstance(loop.instructions[value], Fold)


def _mode(loop: Loop) -> str:
    if loop.columns <= SHORT_ROW and loop.rows >= WORKGROUP:
        return THREAD
    along = across = 0
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Load | Store) and item.level == FULL and item.layout.strides:
            along += abs(item.layout.strides[-1]) == 1
            across += len(loop.outer) > 0 and abs(item.layout.strides[len(loop.outer) - 1]) == 1
    return THREAD if across > along else GROUP


def _is_wide(loop: Loop) -> bool:
    """Whether every access along the rows is to four aligned neighbours."""
    rank = len(loop.outer)
    found = False
    slots: set[tuple[str, int]] = set()
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Take):
            return False
        if not isinstance(item, Load | Store):
            continue
        key = ("output" if isinstance(item, Store) else "input", item.slot)
        if item.level != FULL:
            slots.add(key)
            continue
        steps, extents = item.layout.strides[rank:], item.layout.shape[rank:]
        aligned = item.layout.offset % LANES == 0 and all(
            s % LANES == 0 for s, n in zip(item.layout.strides[:rank], item.layout.shape, strict=False) if n > 1
        )
        if steps != contiguous_strides(extents) or not aligned:
            return False
        if isinstance(item, Store) and loop.columns % LANES:
            return False
        found = True
    full = {
        ("output" if isinstance(x, Store) else "input", x.slot)
        for x in (*loop.instructions, *loop.stores)
        if isinstance(x, Load | Store) and x.level == FULL
    }
    return found and not full & slots


def accumulator(op: ReduceOp, source: DType) -> DType:
    """Return the dtype in which a fold accumulates."""
    return source if op.indexed else op.accumulate(source)


def neutral_literal(op: ReduceOp, dtype: DType) -> str:
    """Return the WGSL literal of a fold's neutral value."""
    value = (op.neutral or {}).get(dtype.kind, 0)
    if value in ("lowest", "highest"):
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            value = info.min if value == "lowest" else info.max
        else:
            value = -np.inf if value == "lowest" else np.inf
            if dtype.kind == "c":
                value = complex(value, value)
    return casts.literal(value, dtype)


def row_program(loop: Loop, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a loop with folds."""
    shape = shaping(loop)
    walk = RowKernel(loop, shape, label, capabilities)
    if shape.splits == 1:
        return Program((walk.whole(),))
    first, scratch = walk.partial(Place(0, shape.splits, 0))
    return Program((first, walk.finish(scratch, shape.splits)), tuple(b for _, b in scratch))


def is_one_walk(loop: Loop) -> bool:
    """Whether a loop needs to see each column once: then a row may be folded in parts."""
    return not any(loop.phases[n] for n in loop.folds) and not any(_late_full(loop))


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
    shapes = [shaping(part) for part, _ in parts]
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
    shape: Shaping
    label: str
    capabilities: Capabilities
    work: LoopKernel = field(init=False)
    shared: dict[str, str] = field(default_factory=dict)

    # -- kernels -------------------------------------------------------------------------------------------------------

    def whole(self) -> Launch:
        """One kernel that walks rows, computes what follows, and stores."""
        loop = self.loop
        self._open(self.label, outputs=True)
        groups = self._row_index(split=False)
        emit_uniform(self.work)
        self.work.kernel.line("let origin = 0u;")
        self._row_values(0)
        last = max((_phase_after(loop, i) for i in range(len(loop.instructions))), default=0)
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
        self.work.kernel.line(f"let origin = {self.work.kernel.word(place.column)};")
        self._walk(0, keep=True)
        kernel = self.work.kernel
        before, total = kernel.word(place.split), kernel.word(max(self.loop.rows, 1))
        kernel.line(f"let part = ({before} + split) * {total} + row;")
        names = iter(scratch)
        for number in self.loop.folds:
            for state in self._state_names(number):
                access, _ = next(names)
                value = _held(state, self._state_dtype(number, state))
                store = f"{access.name}[part] = {value};"
                kernel.line(store if self.shape.mode == THREAD else f"if (local == 0u) {{ {store} }}")
        return kernel.launch(groups, self.capabilities.workgroup_limit), scratch

    def finish(self, scratch: list[tuple[Access, int]], splits: int) -> Launch:
        """Return the kernel that folds the parts of each row and computes what follows."""
        mode = GROUP if splits > SHORT_ROW else THREAD
        self.shape = Shaping(mode, 1, splits, False, False)
        self.shared = {}
        self._open(f"{self.label} end", outputs=True, full=False)
        groups = self._row_index(split=False)
        emit_uniform(self.work)
        self._row_values(0)
        kernel = self.work.kernel
        accesses = self._scratch(splits, writable=False)
        count, total = kernel.word(splits), kernel.word(max(self.loop.rows, 1))
        for number in self.loop.folds:
            self._start(number)
        start, step = ("local", f"{WORKGROUP}u") if mode == GROUP else ("0u", "1u")
        kernel.line(f"for (var part = {start}; part < {count}; part += {step}) {{")
        names = iter(accesses)
        for number in self.loop.folds:
            parts = []
            for state in self._state_names(number):
                access, _ = next(names)
                read = f"{access.name}[part * {total} + row]"
                parts.append(_seen(read, self._state_dtype(number, state)))
            self._combine(number, parts)
        kernel.line("}")
        for number in self.loop.folds:
            self._gather(number)
            self._result(number)
        self._row_values(1)
        self._row_stores()
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    # -- what kernels consist of ---------------------------------------------------------------------------------------

    def _open(self, label: str, *, outputs: bool, full: bool = True) -> None:
        loop, wide = self.loop, self.shape.wide
        full_slots = {
            ("output" if isinstance(x, Store) else "input", x.slot)
            for x in (*loop.instructions, *loop.stores)
            if isinstance(x, Load | Store) and x.level == FULL
        }
        self.work = open_kernel(
            loop if full else _without_columns(loop), label, lambda k, s: wide and (k, s) in full_slots, outputs
        )
        self.work.loop = loop

    def _full_stores(self) -> list[Store]:
        return [s for s in self.loop.stores if s.level == FULL]

    def _row_index(self, *, split: bool) -> int:
        """Emit the row (and the split) of this walker, and where its walk begins and ends; return the workgroups."""
        kernel, shape = self.work.kernel, self.shape
        walkers = max(self.loop.rows, 1) * (shape.splits if split else 1)
        kernel.line("let block = group.x + group.y * groups.x;")
        unit = "block"
        if shape.mode == THREAD:
            kernel.line(f"let walker = block * {WORKGROUP}u + local;")
            unit = "walker"
        kernel.line(f"if ({unit} >= {kernel.word(walkers)}) {{ return; }}")
        columns = kernel.word(self.loop.columns)
        if split:
            total, chunk = kernel.word(max(self.loop.rows, 1)), kernel.word(shape.chunk)
            kernel.line(f"let split = {unit} / {total};", f"let row = {unit} - split * {total};")
            kernel.line(f"let begin = split * {chunk};", f"let end = min(begin + {chunk}, {columns});")
        else:
            kernel.line(f"let row = {unit};", "let begin = 0u;", f"let end = {columns};")
        if len(self.loop.outer) > 1:
            coordinates(kernel, "row", self.loop.outer, "r")
        return walkers if shape.mode == GROUP else -(-walkers // WORKGROUP)

    def _row_position(self, layout: Layout, offset: int) -> str:
        """Return where a layout's row begins."""
        kernel, rank = self.work.kernel, len(self.loop.outer)
        names = ["row"] if rank == 1 else [f"r{axis}" for axis in range(rank)]
        terms = [kernel.word(offset)] if offset else []
        terms += [f"{n} * {kernel.word(s)}" for n, s in zip(names, layout.strides[:rank], strict=True) if s]
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
            kernel.line(statement if self.shape.mode == THREAD else f"if (local == 0u) {{ {statement} }}")

    # -- walking a row -------------------------------------------------------------------------------------------------

    def _walk(self, phase: int, *, keep: bool = False) -> None:
        """Emit one walk over the columns: what the folds and stores of a phase need, and the folds themselves."""
        loop, kernel, shape = self.loop, self.work.kernel, self.shape
        numbers = [n for n in loop.folds if loop.phases[n] == phase]
        stores = [s for s in self._full_stores() if _phase_after(loop, s.value) == phase]
        if not numbers and not stores:
            return
        operands = [f.operand for n in numbers if isinstance(f := loop.instructions[n], Fold)]
        needed = self._needed([*operands, *(s.value for s in stores)])
        for number in numbers:
            self._start(number)
        bases = self._bases(needed, stores, phase)
        lanes = LANES if shape.wide else 1
        start = f"begin + local * {lanes}u" if shape.mode == GROUP else "begin"
        step = WORKGROUP * lanes if shape.mode == GROUP else 1
        kernel.line(f"for (var column = {start}; column < end; column += {step}u) {{")
        self._columns(needed, bases, lanes)
        for lane in range(lanes):
            body = [self._fold_lane(n, lane) for n in numbers]
            if shape.ragged and lane:
                kernel.line(f"if (column + {lane}u < end) {{", *body, "}")
            else:
                kernel.line(*body)
        for store in stores:
            self._column_store(store, bases, lanes)
        kernel.line("}")
        for number in numbers:
            self._gather(number)
            if not keep:
                self._result(number)

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

    def _columns(self, needed: list[int], bases: dict[int, str], lanes: int) -> None:
        kernel, loop, rank = self.work.kernel, self.loop, len(self.loop.outer)
        layouts = [i.layout for n in needed if isinstance(i := loop.instructions[n], Load | Index)]
        layouts += [s.layout for s in self._full_stores() if -1 - s.slot in bases]
        strided = any(x.strides[rank:] != contiguous_strides(loop.inner) for x in layouts) and len(loop.inner) > 1
        for lane in range(lanes):
            kernel.line(f"let i{lane} = column + {lane}u;")
            if strided:
                coordinates(kernel, f"i{lane}", loop.inner, f"c{lane}_")
        for number in needed:
            item = loop.instructions[number]
            loaded: list[str] = []
            if isinstance(item, Load) and self.shape.wide:
                lines, loaded = self.work.access(item).load_wide(f"({bases[number]} + column) / 4u", f"w{number}")
                kernel.line(*lines)
            for lane in range(lanes):
                kernel.line(declare(f"v{number}_{lane}", item.dtype, self._column_value(number, lane, bases, loaded)))

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
            return f"{base} + i{lane} * {kernel.word(strides[0])}" if strides[0] else base
        terms = [f"c{lane}_{axis} * {kernel.word(s)}" for axis, s in enumerate(strides) if s]
        return " + ".join([base, *terms])

    def _column_store(self, store: Store, bases: dict[int, str], lanes: int) -> None:
        kernel, access = self.work.kernel, self.work.access(store)
        level = self.loop.instructions[store.value].level
        values = [value_name(store.value, level, lane) for lane in range(lanes)]
        base = bases[-1 - store.slot]
        if access.wide:
            kernel.line(*access.store_wide(f"({base} + column) / 4u", values))
            return
        for lane in range(lanes):
            statement = access.store(self._column_position(store.layout, base, lane), values[lane])
            kernel.line(f"if (column + {lane}u < end) {{ {statement} }}" if lane else statement)

    # -- accumulators --------------------------------------------------------------------------------------------------

    def _fold(self, number: int) -> Fold:
        item = self.loop.instructions[number]
        assert isinstance(item, Fold)
        return item

    def _dtype(self, number: int) -> DType:
        fold = self._fold(number)
        return accumulator(fold.op, fold.source)

    def _state_names(self, number: int) -> list[str]:
        return [f"a{number}", f"p{number}"] if self._fold(number).op.indexed else [f"a{number}"]

    def _state_dtype(self, number: int, state: str) -> DType:
        return dtypes.uint32 if state.startswith("p") else self._dtype(number)

    def _start(self, number: int) -> None:
        fold, dtype = self._fold(number), self._dtype(number)
        kernel = self.work.kernel
        kernel.line(f"var a{number}: {register_type(dtype)} = {neutral_literal(fold.op, dtype)};")
        if fold.op.indexed:
            kernel.line(f"var p{number}: u32 = {UNSET};")
            self._declare_better(number)

    def _fold_lane(self, number: int, lane: int) -> str:
        fold, dtype = self._fold(number), self._dtype(number)
        level = self.loop.instructions[fold.operand].level
        value = value_name(fold.operand, level, lane)
        if fold.op.indexed:
            return self._better_update(number, value, f"i{lane} + origin")
        value = casts.cast_expression(value, fold.source, dtype)
        return f"a{number} = {combine_expression(fold.op.combine, f'a{number}', value, dtype)};"

    def _combine(self, number: int, parts: list[str]) -> None:
        fold, dtype, kernel = self._fold(number), self._dtype(number), self.work.kernel
        if fold.op.indexed:
            kernel.line(self._better_update(number, parts[0], parts[1]))
        else:
            kernel.line(f"a{number} = {combine_expression(fold.op.combine, f'a{number}', parts[0], dtype)};")

    def _better_update(self, number: int, value: str, place: str) -> str:
        a, p = f"a{number}", f"p{number}"
        return f"if (better{number}({a}, {p}, {value}, {place})) {{ {a} = {value}; {p} = {place}; }}"

    def _declare_better(self, number: int) -> None:
        """Add the function that says whether the second of two candidates is the extreme one: NaN first, then place."""
        fold, dtype, kernel = self._fold(number), self._dtype(number), self.work.kernel
        row = rows.greater if fold.op.name == reductions.argmax.name else rows.less
        kind = register_type(dtype)
        if dtype.kind == "b":
            beats = {"argmax": "(!{1} && {0})", "argmin": "({1} && !{0})"}[fold.op.name]
            forward, backward = beats.format("b", "a"), beats.format("a", "b")
        else:
            forward = apply_expression(row, ["b", "a"], (dtype, dtype), dtypes.bool_)
            backward = apply_expression(row, ["a", "b"], (dtype, dtype), dtypes.bool_)
        lines = [
            f"fn better{number}(a: {kind}, i: u32, b: {kind}, j: u32) -> bool {{",
            f"  if (j == {UNSET}) {{ return false; }}",
            f"  if (i == {UNSET}) {{ return true; }}",
        ]
        if dtype.kind in "fc":
            first, second = (apply_expression(rows.isnan, [n], (dtype,), dtypes.bool_) for n in "ab")
            lines.append(f"  if ({first} || {second}) {{ return select({second}, j < i, {first} && {second}); }}")
        lines += [
            f"  if ({forward}) {{ return true; }}",
            f"  if ({backward}) {{ return false; }}",
            "  return j < i;",
            "}",
        ]
        kernel.module += lines

    def _gather(self, number: int) -> None:
        """Fold the accumulators of a workgroup into one that all its invocations have."""
        if self.shape.mode == THREAD:
            return
        kernel = self.work.kernel
        states = self._state_names(number)
        kinds = [self._state_dtype(number, state) for state in states]
        names = [self._shared(kind, place) for place, kind in enumerate(kinds)]
        stores = [f"{n}[local] = {_held(s, k)};" for n, s, k in zip(names, states, kinds, strict=True)]
        kernel.line(*stores, "workgroupBarrier();")
        kernel.line(f"for (var half = {WORKGROUP // 2}u; half > 0u; half >>= 1u) {{", "if (local < half) {")
        self._combine(number, [_seen(f"{n}[local + half]", k) for n, k in zip(names, kinds, strict=True)])
        kernel.line(*stores, "}", "workgroupBarrier();", "}")
        kernel.line(*(f"{s} = {_seen(f'{n}[0]', k)};" for n, s, k in zip(names, states, kinds, strict=True)))
        kernel.line("workgroupBarrier();")

    def _shared(self, dtype: DType, place: int) -> str:
        kind = "u32" if dtype == dtypes.bool_ else register_type(dtype)
        name = f"shared{place}_{kind.replace('<', '_').replace('>', '')}"
        if name not in self.shared:
            self.shared[name] = kind
            self.work.kernel.module.append(f"var<workgroup> {name}: array<{kind}, {WORKGROUP}>;")
        return name

    def _result(self, number: int) -> None:
        fold, dtype = self._fold(number), self._dtype(number)
        if fold.op.indexed:
            value = casts.cast_expression(f"p{number}", dtypes.uint32, fold.dtype)
        elif dtype == fold.dtype:
            value = casts.wrap_expression(f"a{number}", dtype)
        else:
            value = casts.cast_expression(f"a{number}", dtype, fold.dtype)
        self.work.kernel.line(declare(f"one{number}", fold.dtype, value))

    def _scratch(self, splits: int, *, writable: bool) -> list[tuple[Access, int]]:
        """Bind the scratch memory of the partial results; return it with its sizes in bytes."""
        found: list[tuple[Access, int]] = []
        count = max(self.loop.rows, 1) * splits
        for number in self.loop.folds:
            for state in self._state_names(number):
                dtype = self._state_dtype(number, state)
                held = dtypes.uint32 if dtype == dtypes.bool_ else _word_dtype(dtype)
                nbytes = -(-count * held.itemsize // WINDOW_END) * WINDOW_END
                slot = len(found)
                access = Access(f"scratch{slot}", held, False, writable)
                self.work.kernel.bind(access, Binding("scratch", slot, 0, nbytes, writable))
                found.append((access, nbytes))
        return found


def _held(value: str, dtype: DType) -> str:
    """Return a value as it lies in scratch and workgroup memory: booleans as words, which have a layout everywhere."""
    return f"select(0u, 1u, {value})" if dtype == dtypes.bool_ else value


def _seen(held: str, dtype: DType) -> str:
    """Return the value that scratch or workgroup memory holds."""
    return f"({held} != 0u)" if dtype == dtypes.bool_ else held


def _word_dtype(dtype: DType) -> DType:
    """Return a dtype of whole words with the same register type."""
    if dtype.itemsize >= 4:
        return dtype
    return dtypes.float32 if dtype.kind == "f" else dtypes.uint32 if dtype.kind == "u" else dtypes.int32


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
