"""Stencils: loops that read an array at several neighbouring positions.

An invocation computes four elements of a column and reuses what it has read: of a five-point stencil it reads 14
elements instead of 20. Neighbouring invocations have neighbouring columns. Loops without anything to reuse are flat
kernels (:mod:`gpuarray.codegen.flat`).
"""

from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.lanes import Lane, flat_stores, flat_values
from gpuarray.codegen.loops import LoopKernel, emit_single, is_heavy, open_kernel
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.storage import LANES, is_packed
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, Apply, Load, Loop, Scalar

#: Elements of a column that an invocation computes.
DEPTH: Final = LANES
#: Loops with shorter rows stay flat kernels: too many neighbouring invocations would belong to different rows.
_SHORTEST: Final = 64


@dataclass
class _Column:
    """Loads of one slot that differ in the row where they begin: that row, counted from the first load's, by number."""

    first: Load
    rows: dict[int, int]

    @property
    def further(self) -> int:
        """How many more rows the column has than one load."""
        return max(self.rows.values())


def columns_of(loop: Loop, capabilities: Capabilities) -> list[_Column] | None:
    """Return the columns that an invocation reads; None if its elements share nothing."""
    if len(loop.inner) < 2 or loop.inner[-1] < _SHORTEST or loop.inner[-2] < DEPTH or loop.updates:
        return None
    if loop.moves or is_heavy(loop, capabilities):
        return None
    if not all(isinstance(item, Load | Apply | Scalar) for item in loop.instructions):
        return None
    if any(s.level != FULL or s.position is not None or is_packed(s.dtype) for s in loop.stores):
        return None
    columns: list[_Column] = []
    loads = [(item.layout.offset, n, item) for n, item in enumerate(loop.instructions) if isinstance(item, Load)]
    for offset, number, item in sorted((x for x in loads if x[2].level == FULL), key=lambda x: x[:2]):
        down = item.layout.strides[-2]
        for column in columns:
            first = column.first
            apart = offset - first.layout.offset
            is_alike = first.slot == item.slot and first.layout.strides == item.layout.strides
            if is_alike and down > 0 and apart % down == 0 and apart // down < DEPTH:
                column.rows[number] = apart // down
                break
        else:
            columns.append(_Column(item, {number: 0}))
    return columns if any(column.further for column in columns) else None


def stencil_launch(loop: Loop, columns: list[_Column], label: str, capabilities: Capabilities) -> Launch:
    """Return the launch of a stencil, a loop without folds that reads ``columns``."""
    work = open_kernel(loop, f"{label} below", lambda _kind, _slot: False)
    kernel, shape = work.kernel, loop.inner
    stacks = -(-shape[-2] // DEPTH)
    size = loop.columns // shape[-2] * stacks
    width, height, down = (kernel.parameter(n) for n in (shape[-1], shape[-2], stacks))
    kernel.line(
        f"let own = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
        f"if (own >= {kernel.parameter(size)}) {{ return; }}",
        f"var rest = own / {width};",
        f"let column = own - rest * {width};",
    )
    before = [f"p{axis}" for axis in range(len(shape) - 2)]
    if before:
        kernel.line(f"let first = rest % {down} * {DEPTH}u;", f"rest /= {down};")
    else:
        kernel.line(f"let first = rest * {DEPTH}u;")
    for axis, name in reversed(list(enumerate(before))):
        extent = kernel.parameter(shape[axis])
        kernel.line(f"let {name} = rest % {extent};", f"rest /= {extent};")
    emit_single(work)
    lanes = []
    for lane in range(DEPTH):
        kernel.line(f"let row{lane} = min(first + {lane}u, {height} - 1u);")
        flat = before[0] if before else f"row{lane}"
        for axis, name in list(enumerate([*before, f"row{lane}"]))[1:]:
            flat = f"({flat}) * {kernel.parameter(shape[axis])} + {name}"
        kernel.line(f"let i{lane} = ({flat}) * {width} + column;")
        lanes.append(Lane(f"i{lane}", [*before, f"row{lane}", "column"], {}))
    for number, column in enumerate(columns):
        _load(work, number, column, before, height, lanes)
    flat_values(work, lanes)
    flat_stores(work, lanes, 1, height)
    return kernel.launch(-(-size // WORKGROUP), capabilities.workgroup_limit)


def _load(work: LoopKernel, number: int, column: _Column, before: list[str], height: str, lanes: list[Lane]) -> None:
    """Emit the loads of a column, and give each lane the names of its own."""
    kernel, item = work.kernel, column.first
    strides = [kernel.parameter(s) if s else "" for s in item.layout.strides]
    names = [*before, "", "column"]
    terms = [f"{n} * {s}" for n, s in zip(names, strides, strict=True) if n and s]
    begin = kernel.parameter(work.offset("input", item.slot, item.layout))
    kernel.line(f"let base{number} = {' + '.join([begin, *terms])};")
    further = column.further
    for row in range(DEPTH + further if strides[-2] else 1):
        # rows below the last one belong to no element
        line = f"min(first + {row}u, {height} - 1u + {further}u)"
        index = f"base{number} + {line} * {strides[-2]}" if strides[-2] else f"base{number}"
        kernel.line(f"let l{number}_{row} = {work.access(item).load(index)};")
    for load, apart in column.rows.items():
        for lane, element in enumerate(lanes):
            element.loaded[load] = f"l{number}_{lane + apart if strides[-2] else 0}"
