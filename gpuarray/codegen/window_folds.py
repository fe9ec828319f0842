"""Folds over windows: loops in which each row folds elements around a position, as filters of images do.

An invocation folds the windows of several neighbours of a column. What depends on the position in the window only, such
as weights, is read once for them, and elements that several of their windows share are read once. Neighbouring
invocations have neighbouring columns, so that they read neighbouring elements. Other loops with folds are row kernels
(:mod:`gpuarray.codegen.reductions`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.loops import coordinates, emit_uniform, expression, is_heavy, open_kernel
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.reductions import RowKernel
from gpuarray.codegen.row_schedule import BUSY_THREADS, RowSchedule, is_single_pass
from gpuarray.codegen.wgsl import WORKGROUP, apply_expression, declare
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, OUTER, UNIFORM, Apply, Fold, Index, Load, Loop, Take, needed
from gpuarray.ops.columns import Kind

#: Neighbours of a column whose windows an invocation folds, and the most positions of a window in unrolled text.
_DEPTH: Final = 4
_UNROLL: Final = 16
#: Loops with shorter rows, or with larger windows, are row kernels.
_SHORTEST: Final = 32
_LARGEST: Final = 1 << 12
#: The largest part of the reads without sharing that are left with it.
_SHARED: Final = 0.8
#: The most values at the unrolled positions: more do not fit into registers.
_MOST_VALUES: Final = 320


@dataclass(frozen=True, slots=True)
class Dependence:
    """On what the value of an instruction depends among the windows of an invocation.

    Attributes
    ----------
    row, position : bool
        Whether it depends on the neighbour, and on the position along the unrolled axis of the window.
    step : int
        How many neighbours further a value is the same if it is one position less; 0 if it depends on both apart.
    others : bool
        Whether it depends on the other axes of the window.
    """

    row: bool = False
    position: bool = False
    step: int = 0
    others: bool = False

    def joined(self, other: "Dependence") -> "Dependence":
        """Return on what a value depends that is computed from two others."""
        row, step_along = self.row or other.row, self.position or other.position
        steps = {dependence.step for dependence in (self, other) if dependence.row or dependence.position}
        return Dependence(row, step_along, steps.pop() if len(steps) == 1 else 0, self.others or other.others)

    def instances(self, count: int) -> dict[str, tuple[int, int]]:
        """Return the suffixes of the names of different values at ``count`` positions, and where each is."""
        ranges: dict[str, tuple[int, int]] = {}
        for row in range(_DEPTH):
            for position in range(count):
                ranges.setdefault(self.suffix(row, position), (row, position))
        return ranges

    def suffix(self, row: int, position: int) -> str:
        """Return the end of the name of the value of a neighbour at a position."""
        if self.step:
            return f"_s{row + position * self.step}"
        return (f"_r{row}" if self.row else "") + (f"_p{position}" if self.position else "")


@dataclass(frozen=True, slots=True)
class Windows:
    """The axes of a fold over windows, and on what each of its values depends.

    Attributes
    ----------
    axis : int
        The axis of the window that is unrolled.
    values : dict of int to Dependence
        By the number of an instruction.
    """

    axis: int
    values: dict[int, Dependence]


def windows_of(loop: Loop, capabilities: Capabilities) -> Windows | None:
    """Return how windows share their reads; None if they share little, or if the loop is another one."""
    if len(loop.outer) < 2 or not loop.inner or loop.updates or loop.moves or not is_single_pass(loop):
        return None
    if loop.outer[-1] < _SHORTEST or loop.outer[-2] < _DEPTH or loop.rows < _DEPTH * BUSY_THREADS:
        return None
    items = loop.instructions
    folds = [Accumulator(fold, 0) for number in loop.folds if isinstance(fold := items[number], Fold)]
    if any(len(fold.states) > 1 or fold.is_ordered for fold in folds) or is_heavy(loop, capabilities):
        return None
    if not 1 < loop.columns <= _LARGEST or any(store.level == FULL for store in loop.stores):
        return None
    choices = [Windows(axis, _values(loop, axis)) for axis in range(len(loop.inner))]
    best = min(choices, key=lambda choice: _reads(loop, choice))
    count = min(loop.inner[best.axis], _UNROLL)
    is_small = sum(len(fold.instances(count)) for fold in best.values.values()) <= _MOST_VALUES
    return best if is_small and _reads(loop, best) <= _SHARED else None


def _values(loop: Loop, axis: int) -> dict[int, Dependence]:
    """Return on what the values depend that the folds need."""
    items = loop.instructions
    folded = [fold.operand for number in loop.folds if isinstance(fold := items[number], Fold)]
    values: dict[int, Dependence] = {}
    for number in sorted(needed(items, folded, lambda number: items[number].level != UNIFORM)):
        item = items[number]
        if isinstance(item, Load | Index):
            steps = item.layout.strides
            before, after = steps[: len(loop.outer)], steps[len(loop.outer) :]
            row, position = before[-2], after[axis] if after else 0
            times = position // row if row and position and position % row == 0 else 0
            others = any(step for n, step in enumerate(after) if n != axis)
            values[number] = Dependence(row != 0, position != 0, times if 0 < times < _DEPTH else 0, others)
            continue
        dependence = Dependence()
        for operand in item.operands:
            dependence = dependence.joined(values[operand]) if operand in values else dependence
        values[number] = dependence
    return values


def _reads(loop: Loop, windows: Windows) -> float:
    """Return how many of the reads without sharing are left with it."""
    count = min(loop.inner[windows.axis], _UNROLL)
    items = loop.instructions
    loaded = [v for n, v in windows.values.items() if isinstance(items[n], Load | Take) and items[n].level == FULL]
    return sum(len(values.instances(count)) for values in loaded) / max(len(loaded) * _DEPTH * count, 1)


class WindowKernel(RowKernel):
    """Emits the kernel of a fold over windows."""

    def __init__(self, loop: Loop, windows: Windows, label: str, capabilities: Capabilities) -> None:
        super().__init__(loop, RowSchedule(1), label, capabilities)
        self.windows = windows
        self._parameters: dict[tuple[int, str], str] = {}

    def launch(self) -> Launch:
        """Return the one launch."""
        loop = self.loop
        self.work = open_kernel(loop, f"{self.label} windows", lambda _kind, _slot: False)
        kernel, rank = self.work.kernel, len(loop.outer)
        stacks = -(-loop.outer[-2] // _DEPTH)
        size = loop.rows // loop.outer[-2] * stacks
        width, height, down = (kernel.parameter(n) for n in (loop.outer[-1], loop.outer[-2], stacks))
        kernel.line(
            f"let own = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
            f"if (own >= {kernel.parameter(size)}) {{ return; }}",
            f"var rest = own / {width};",
            f"let r{rank - 1} = own - rest * {width};",
            f"let first = rest % {down} * {_DEPTH}u;",
            f"rest /= {down};",
        )
        for axis in reversed(range(rank - 2)):
            extent = kernel.parameter(loop.outer[axis])
            kernel.line(f"let r{axis} = rest % {extent}; rest /= {extent};")
        emit_uniform(self.work)
        totals = {number: self._several(number, _DEPTH) for number in loop.folds}
        for parts in totals.values():
            kernel.line(*(line for accumulator in parts for line in accumulator.start()))
        values = self.windows.values
        self._first_addresses(values)
        self._emit([number for number in values if loop.instructions[number].level == OUTER], 1)
        whole, rest = divmod(loop.inner[self.windows.axis], _UNROLL)
        if whole:
            ahead = f"for (var start = 0u; start < {whole * _UNROLL}u; start += {_UNROLL}u) {{"
            kernel.line(*([ahead] if whole > 1 else ["{", "let start = 0u;"]))
            self._window(totals, _UNROLL)
            kernel.line("}")
        if rest:
            kernel.line("{", f"let start = {whole * _UNROLL}u;")
            self._window(totals, rest)
            kernel.line("}")
        row = f"r{rank - 2}"
        self._finish_several(totals, [f"let {row} = first + n;"], f"{row} < {height}")
        return kernel.launch(-(-size // WORKGROUP), self.capabilities.workgroup_limit)

    # -- elements ------------------------------------------------------------------------------------------------------

    def _window(self, totals: dict[int, list[Accumulator]], count: int) -> None:
        """Emit the folds of ``count`` positions from ``start`` on along the unrolled axis."""
        loop, kernel = self.loop, self.work.kernel
        rank, values = len(loop.outer), self.windows.values
        others = [axis for axis in range(len(loop.inner)) if axis != self.windows.axis]
        full = [number for number in values if loop.instructions[number].level == FULL]
        self._emit([number for number in full if not values[number].others], count)
        number_of_others = prod(loop.inner[axis] for axis in others)
        if number_of_others > 1:
            kernel.line(f"for (var other = 0u; other < {kernel.parameter(number_of_others)}; other++) {{")
        names = ["other"] * len(others)
        if len(others) > 1:
            names = coordinates(kernel, "other", [kernel.parameter(loop.inner[axis]) for axis in others[1:]], "c")
        for number, dependence in values.items():
            item = loop.instructions[number]
            if dependence.others and isinstance(item, Load | Index):
                pairs = [(name, rank + axis) for name, axis in zip(names, others, strict=True)]
                kernel.line(f"let a{number} = b{number} + {self._position(item, 0, pairs)};")
        self._emit([number for number in full if values[number].others], count)
        for number, parts in totals.items():
            operand = self._fold(number).operand
            for row, accumulator in enumerate(parts):
                names = [self._name(operand, row, position) for position in range(count)]
                kernel.line(*accumulator.take(names, ["0u"] * count))
        if number_of_others > 1:
            kernel.line("}")

    def _first_addresses(self, numbers: Iterable[int]) -> None:
        """Emit the address of the first neighbour and the first position in each layout."""
        axes = [axis for axis in range(len(self.loop.outer)) if axis != len(self.loop.outer) - 2]
        for number in numbers:
            item = self.loop.instructions[number]
            if isinstance(item, Load):
                offset = self.work.offset("input", item.slot, item.layout)
            elif isinstance(item, Index):
                offset = item.layout.offset
            else:
                continue
            base = self._position(item, offset, [(f"r{axis}", axis) for axis in axes])
            self.work.kernel.line(f"let b{number} = {base};")

    def _position(self, item: Load | Index, offset: int, coordinates: Iterable[tuple[str, int]]) -> str:
        """Return the sum of an offset and of positions along axes, as far as a layout has steps there."""
        kernel, steps = self.work.kernel, item.layout.strides
        terms = [f"{name} * {kernel.parameter(steps[axis])}" for name, axis in coordinates if steps[axis]]
        return " + ".join([*([kernel.parameter(offset)] if offset else []), *terms]) or "0u"

    def _emit(self, numbers: Sequence[int], count: int) -> None:
        """Emit the different values of instructions at ``count`` positions."""
        for number in numbers:
            item = self.loop.instructions[number]
            for suffix, (row, position) in self.windows.values[number].instances(count).items():
                value = self._value(number, row, position)
                self.work.kernel.line(declare(f"v{number}{suffix}", item.dtype, value))

    def _value(self, number: int, row: int, position: int) -> str:
        item = self.loop.instructions[number]
        if isinstance(item, Apply):
            names = [self._name(operand, row, position) for operand in item.operands]
            return apply_expression(item.op, names, item.sources, item.dtype, plain=self._is_summed(number))
        if isinstance(item, Take):
            where = position_expression(
                self._name(item.position, row, position), self.loop.instructions[item.position].dtype
            )
            return self.work.taken(item, where)
        assert isinstance(item, Load | Index)
        where = self._address(number, item, row, position)
        return self.work.access(item).load(where) if isinstance(item, Load) else expression(self.work, item, 0, where)

    def _address(self, number: int, item: Load | Index, row: int, position: int) -> str:
        """Return the address of an element; neighbours beyond the last one read what belongs to no result."""
        dependence, steps, rank = self.windows.values[number], item.layout.strides, len(self.loop.outer)
        height = self.loop.outer[-2]
        terms = [f"a{number}" if dependence.others else f"b{number}"]
        if dependence.row:
            down = self._parameter(number, "down", steps[rank - 2])
            ahead = f"start * {dependence.step}u + " if dependence.step > 1 else "start + " if dependence.step else ""
            further = dependence.step * (self.loop.inner[self.windows.axis] - 1)
            last = self._parameter(number, "last", height - 1 + further)
            terms.append(f"min(first + {ahead}{row + dependence.step * position}u, {last}) * {down}")
        if dependence.position and not dependence.step:
            terms.append(f"(start + {position}u) * {self._parameter(number, 'along', steps[rank + self.windows.axis])}")
        return " + ".join(terms)

    def _parameter(self, number: int, what: str, value: int) -> str:
        """Return the parameter with a number of an instruction, which is added once."""
        if (number, what) not in self._parameters:
            self._parameters[number, what] = self.work.kernel.parameter(value)
        return self._parameters[number, what]

    def _name(self, number: int, row: int, position: int) -> str:
        """Return the name of the value of a neighbour at a position."""
        if self.loop.instructions[number].level == UNIFORM:
            return f"one{number}"
        return f"v{number}{self.windows.values[number].suffix(row, position)}"

    def _is_summed(self, number: int) -> bool:
        """Return whether a value is only added to sums, which take subnormal numbers as the device does."""
        users = [item for item in self.loop.instructions if isinstance(item, Apply) and number in item.operands]
        folds = [item for item in self.loop.instructions if isinstance(item, Fold) and item.operand == number]
        return not users and all(fold.op.combine is not None and fold.op.combine.kind == Kind.SUM for fold in folds)
