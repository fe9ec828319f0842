"""All-pairs reductions: loops that fold over all pairs of a row and a column, such as distances between all points.

Each input of such a loop depends on one of two outer axes, so that the pairs of a tile of rows and columns share what
they read. A workgroup takes a tile. It copies the inputs of its rows and of its columns into workgroup memory, a piece
of the folded axis at a time, and each invocation folds a patch of pairs. So the elements of the pairs are never stored,
and inputs are read once a tile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.loops import emit_uniform, open_kernel
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.reductions import RowKernel
from gpuarray.codegen.row_schedule import RowSchedule, is_single_pass
from gpuarray.codegen.storage import register_type, word_dtype
from gpuarray.codegen.wgsl import WORKGROUP, apply_expression, declare
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, OUTER, UNIFORM, Apply, Fold, Load, Loop

#: Rows and columns of a tile, elements of the folded axis in workgroup memory at a time, and the sides of a patch.
_TILE: Final = 64
_DEPTH: Final = 16
_PATCH: Final = 4
_ACROSS: Final = _TILE // _PATCH
_PAD: Final = 1
#: Row kernels are as fast where either axis is shorter.
_SHORTEST: Final = 16

ROW: Final = "row"
COLUMN: Final = "column"
PAIR: Final = "pair"
ALONE: Final = "alone"


@dataclass(frozen=True, slots=True)
class AllPairs:
    """The two axes of an all-pairs reduction, and on which of them each of its values depends."""

    row: int
    column: int
    sides: dict[int, str]
    """``ROW``, ``COLUMN``, ``PAIR`` or ``ALONE`` by the number of an instruction at level FULL."""


def all_pairs_of(loop: Loop, capabilities: Capabilities) -> AllPairs | None:
    """Return the axes of a loop with folds if it is an all-pairs reduction, else None."""
    if len(loop.outer) < 2 or len(loop.inner) != 1 or loop.updates or not is_single_pass(loop):
        return None
    items = loop.instructions
    folds = [items[n] for n in loop.folds]
    if any(isinstance(f, Fold) and len(Accumulator(f, 0).states) > 1 for f in folds):
        return None
    if any(store.level == FULL for store in loop.stores):
        return None
    column = len(loop.outer) - 1
    for row in sorted(range(column), key=loop.outer.__getitem__, reverse=True):
        if min(loop.outer[row], loop.outer[column]) < _SHORTEST:
            continue
        sides = _sides(loop, row, column)
        if sides is None or {ROW, COLUMN} - set(sides.values()):
            continue
        nbytes = sum(word_dtype(items[n].dtype).itemsize for n in sides if isinstance(items[n], Load))
        if nbytes * _DEPTH * (_TILE + _PAD) <= capabilities.workgroup_memory:
            return AllPairs(row, column, sides)
    return None


def _sides(loop: Loop, row: int, column: int) -> dict[int, str] | None:
    """Return on which axis each value depends; None if a load depends on both, or there are other instructions."""
    sides: dict[int, str] = {}
    for number, item in enumerate(loop.instructions):
        if item.level != FULL:
            continue
        if isinstance(item, Load):
            by_row, by_column = item.layout.strides[row] != 0, item.layout.strides[column] != 0
            if by_row and by_column:
                return None
            sides[number] = ROW if by_row else COLUMN if by_column else ALONE
        elif isinstance(item, Apply):
            levels = {loop.instructions[o].level for o in item.operands}
            if OUTER in levels:
                return None
            used = {sides[o] for o in item.operands if loop.instructions[o].level == FULL} - {ALONE}
            sides[number] = PAIR if len(used) > 1 else used.pop() if used else ALONE
        else:
            return None
    return sides


class AllPairsKernel(RowKernel):
    """Emits the kernel of an all-pairs reduction."""

    def __init__(self, loop: Loop, pairs: AllPairs, label: str, capabilities: Capabilities) -> None:
        super().__init__(loop, RowSchedule(1), label, capabilities)
        self.pairs = pairs

    def launch(self) -> Launch:
        """Return the one launch."""
        loop, pairs = self.loop, self.pairs
        self.work = open_kernel(loop, f"{self.label} pairs", lambda _kind, _slot: False)
        kernel = self.work.kernel
        down, across = (-(-loop.outer[axis] // _TILE) for axis in (pairs.row, pairs.column))
        batch = [axis for axis in range(len(loop.outer)) if axis not in (pairs.row, pairs.column)]
        groups = down * across * prod(loop.outer[axis] for axis in batch)
        rows, columns = kernel.parameter(loop.outer[pairs.row]), kernel.parameter(loop.outer[pairs.column])
        depth = kernel.parameter(loop.columns)
        kernel.line(
            "let block = group.x + group.y * groups.x;",
            f"if (block >= {kernel.parameter(groups)}) {{ return; }}",
            f"var rest = block / {kernel.parameter(across)};",
            f"let left = (block - rest * {kernel.parameter(across)}) * {_TILE}u;",
            f"let top = rest % {kernel.parameter(down)} * {_TILE}u;",
        )
        if batch:
            kernel.line(f"rest /= {kernel.parameter(down)};")
        for axis in reversed(batch):
            extent = kernel.parameter(loop.outer[axis])
            kernel.line(f"let r{axis} = rest % {extent}; rest /= {extent};")
        kernel.line(f"let x = local % {_ACROSS}u; let y = local / {_ACROSS}u * {_PATCH}u;")
        emit_uniform(self.work)
        totals = {number: self._several(number, _PATCH * _PATCH) for number in loop.folds}
        for number in loop.folds:
            for total in totals[number]:
                kernel.line(*(line.replace("var ", "var total_", 1) for line in total.start()))
        reads = [line for number in pairs.sides for line in self._fill(number, batch, rows, columns)]
        kernel.line(f"for (var start = 0u; start < {depth}; start += {_DEPTH}u) {{", *reads, "workgroupBarrier();")
        for number in loop.folds:
            for accumulator in totals[number]:
                kernel.line(*accumulator.start())
        kernel.line(f"let count = min({_DEPTH}u, {depth} - start);", "for (var k = 0u; k < count; k++) {")
        self._elements(totals)
        kernel.line("}")
        for number in loop.folds:
            for accumulator in totals[number]:
                state = next(iter(accumulator.states))
                merging = accumulator.merge([f"total_{state}"])
                kernel.line(f"{merging} total_{state} = {state};")
        kernel.line("workgroupBarrier();", "}")
        operands = [
            f"let r{pairs.row} = top + y + n / {_PATCH}u;",
            f"let r{pairs.column} = left + x + n % {_PATCH}u * {_ACROSS}u;",
        ]
        self._finish_several(totals, operands, f"r{pairs.row} < {rows} && r{pairs.column} < {columns}", "total_")
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    # -- workgroup memory ----------------------------------------------------------------------------------------------

    def _fill(self, number: int, batch: Sequence[int], rows: str, columns: str) -> list[str]:
        """Return the statements that copy a piece of an input into workgroup memory; emit the addresses they use."""
        item, side = self.loop.instructions[number], self.pairs.sides[number]
        if not isinstance(item, Load):
            return []
        kernel = self.work.kernel
        kind = register_type(item.dtype) if item.dtype.kind != "b" else "u32"
        size = 1 if side == ALONE else _TILE
        pitch = size + (0 if side == ALONE else _PAD)
        kernel.module.append(f"var<workgroup> tile{number}: array<{kind}, {_DEPTH * pitch}>;")
        axis = self.pairs.row if side == ROW else self.pairs.column
        along, deep = item.layout.strides[axis], item.layout.strides[-1]
        offset = self.work.offset("input", item.slot, item.layout)
        terms = [kernel.parameter(offset)]
        terms += [f"r{a} * {kernel.parameter(item.layout.strides[a])}" for a in batch if item.layout.strides[a]]
        kernel.line(f"let base{number} = {' + '.join(terms)};")
        if side != ALONE:
            edge, extent = ("top", rows) if side == ROW else ("left", columns)
            terms = [f"base{number}", f"min({edge} + e, {extent} - 1u) * {kernel.parameter(along)}"]
        else:
            terms = [f"base{number}"]
        where = " + ".join([*terms, f"(start + d) * {kernel.parameter(deep)}"])
        # neighbouring invocations read neighbours in memory
        nearest_deep = side == ALONE or abs(deep) < abs(along)
        index = (
            f"let d = n % {_DEPTH}u; let e = n / {_DEPTH}u;"
            if nearest_deep
            else f"let e = n % {size}u; let d = n / {size}u;"
        )
        value = self.work.access(item).load(where)
        word = f"select(0u, 1u, {value})" if item.dtype.kind == "b" else value
        return [
            f"for (var n = local; n < {_DEPTH * size}u; n += {WORKGROUP}u) {{ {index}",
            f"if (start + d < {kernel.parameter(self.loop.columns)}) {{ tile{number}[d * {pitch}u + e] = {word}; }} }}",
        ]

    # -- elements ------------------------------------------------------------------------------------------------------

    def _name(self, number: int, i: int, j: int) -> str:
        """Return the name of an instruction's value for a pair."""
        if self.loop.instructions[number].level == UNIFORM:
            return f"one{number}"
        side = self.pairs.sides[number]
        suffix = {ROW: f"_r{i}", COLUMN: f"_c{j}", PAIR: f"_{i}_{j}", ALONE: ""}[side]
        return f"v{number}{suffix}"

    def _elements(self, totals: dict[int, list[Accumulator]]) -> None:
        """Emit the folds of one position on the folded axis into all pairs of a patch."""
        kernel = self.work.kernel
        for side, instances in (
            (ALONE, [(0, 0)]), (ROW, [(i, 0) for i in range(_PATCH)]), (COLUMN, [(0, j) for j in range(_PATCH)]),
        ):  # fmt: skip
            for i, j in instances:
                self._values(side, i, j)
        for i in range(_PATCH):
            for j in range(_PATCH):
                kernel.line("{")
                self._values(PAIR, i, j)
                for number, parts in totals.items():
                    operand = self._fold(number).operand
                    kernel.line(*parts[i * _PATCH + j].take([self._name(operand, i, j)], ["0u"]))
                kernel.line("}")

    def _values(self, side: str, i: int, j: int) -> None:
        for number, operand_side in self.pairs.sides.items():
            if operand_side != side:
                continue
            item = self.loop.instructions[number]
            if isinstance(item, Apply):
                names = [self._name(o, i, j) for o in item.operands]
                value = apply_expression(item.op, names, item.sources, item.dtype, plain=True)
            else:
                pitch = 1 if side == ALONE else _TILE + _PAD
                shift = {ROW: f" + y + {i}u", COLUMN: f" + x + {j * _ACROSS}u", ALONE: ""}[side]
                value = f"tile{number}[k * {pitch}u{shift}]"
                value = f"({value} != 0u)" if item.dtype.kind == "b" else value
            self.work.kernel.line(declare(self._name(number, i, j), item.dtype, value))
