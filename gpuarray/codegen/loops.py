"""Kernels of loops under construction, and the text of their instructions.

Every kernel of a loop, with folds or without, opens its bindings here and writes its instructions with these functions.
Loops without folds become flat kernels (:mod:`gpuarray.codegen.flat`), stencils or transposes; loops with folds become
row kernels (:mod:`gpuarray.codegen.folds`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gpuarray.codegen import loop_splits
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.fast_paths import value_name
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.target import compute_type
from gpuarray.codegen.underflow import Block, arranged
from gpuarray.codegen.wgsl import (
    Kernel,
    apply_expression,
    declare,
    fast_path_function,
    generate_expression,
    parameter_dtypes,
    vec4_expression,
    vec8_expression,
    window,
)
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import (
    FULL,
    UNIFORM,
    Apply,
    Index,
    Load,
    Loop,
    Scalar,
    Store,
    Take,
)
from gpuarray.graph.layouts import Layout, Shape, contiguous_strides


@dataclass
class LoopKernel:
    """A kernel under construction for one loop, and how it reaches its buffers."""

    kernel: Kernel
    loop: Loop
    origins: dict[tuple[str, int], int]
    accesses: dict[tuple[str, int], Access]
    together: bool = False
    """Whether the lanes of an invocation are always four neighbours along the last axis."""
    lasts: dict[int, str] = field(default_factory=dict)
    """The last position of what each slot's elements are taken from, as an expression."""
    noted: bool = False
    """Whether values are in their quick forms alone, and ``fine`` says whether these are right."""

    def offset(self, kind: str, slot: int, layout: Layout) -> int:
        """Return a layout's offset counted from where the slot's window begins."""
        return layout.offset - self.origins[kind, slot]

    def taken(self, item: Take, position: str) -> str:
        """Return the element at a position that a buffer holds; a position beyond the last element means that one."""
        last = self.lasts.get(item.slot)
        if last is None:
            last = self.lasts[item.slot] = self.kernel.parameter(max(item.extent, 1) - 1)
        return self.access(item).load(f"min({position}, {last})")

    def access(self, item: Load | Take | Store) -> Access:
        """Return the binding of an instruction's or a store's slot."""
        return self.accesses["output" if isinstance(item, Store) else "input", item.slot]


def open_kernel(loop: Loop, label: str, wide: Callable[[str, int], bool], outputs: bool = True) -> LoopKernel:
    """Return a kernel with the storage bindings of a loop; ``wide(kind, slot)`` says how each is gone through."""
    kernel = Kernel(label)
    origins: dict[tuple[str, int], int] = {}
    accesses: dict[tuple[str, int], Access] = {}
    updated = dict(loop.updates)
    for (kind, slot), (low, high) in sorted(loop_splits.spans(loop).items()):
        if (kind == "output" and not outputs) or (kind == "input" and slot in updated):
            continue
        dtype = (loop.input_dtypes if kind == "input" else loop.output_dtypes)[slot]
        binding, origins[kind, slot] = window(kind, slot, low, high, dtype, writable=kind == "output")
        access = Access(f"{kind}{slot}", dtype, wide(kind, slot), kind == "output")
        accesses[kind, slot] = kernel.show(access, binding)
    for read, written in loop.updates:
        origins["input", read], accesses["input", read] = origins["output", written], accesses["output", written]
    return LoopKernel(kernel, loop, origins, accesses)


def emit_uniform(work: LoopKernel) -> None:
    """Emit what is the same for the whole step."""
    for number, item in enumerate(work.loop.instructions):
        if item.level == UNIFORM:
            work.kernel.line(declare(f"one{number}", item.dtype, uniform_expression(work, item)))


def uniform_expression(work: LoopKernel, item: object) -> str:
    """Return the expression of an instruction at level UNIFORM."""
    if isinstance(item, Scalar):
        return work.kernel.scalar(item.slot, item.dtype)
    assert isinstance(item, Apply)
    return apply_expression(item.op, [f"one{o}" for o in item.operands], item.sources, item.dtype)


def expression(work: LoopKernel, item: Apply | Take | Index, lane: int, position: str) -> str:
    """Return the expression of an instruction that has no load of its own; ``position`` is an Index's flat position."""
    instructions = work.loop.instructions
    match item:
        case Apply():
            names = [value_name(o, instructions[o].level, lane) for o in item.operands]
            return apply_expression(item.op, names, item.sources, item.dtype)
        case Take():
            where = value_name(item.position, instructions[item.position].level, lane)
            return work.taken(item, position_expression(where, instructions[item.position].dtype))
        case Index():
            return generate_expression(item.op, position, _parameters(work, item), item.dtype)


def _parameters(work: LoopKernel, item: Index) -> list[str]:
    kinds = parameter_dtypes(item.op, item.dtype)
    return [work.kernel.scalar(s, kind) for s, kind in zip(item.parameters, kinds, strict=True)]


def makes_vec4(loop: Loop, item: object) -> bool:
    """Whether an instruction's elements along the inner axes are made four at a time, all in one."""
    if not (isinstance(item, Index) and item.level == FULL and compute_type(item.dtype) in item.op.vec4):
        return False
    rank, layout = len(loop.outer), item.layout
    starts = zip(layout.strides[:rank], layout.shape, strict=False)
    aligned = layout.offset % LANES == 0 and all(s % LANES == 0 for s, n in starts if n > 1)
    return aligned and layout.strides[rank:] == contiguous_strides(layout.shape[rank:])


#: A generator that costs more than this, such as random bits, costs much less for four neighbours together.
_COSTLY: Final = 100


def needs_vec4(loop: Loop) -> bool:
    """Whether a loop makes elements that cost much less four at a time."""
    return any(makes_vec4(loop, i) and isinstance(i, Index) and i.op.cost > _COSTLY for i in loop.instructions)


def emit_vec4(work: LoopKernel, number: int, item: Index, position: str, first: int = 0) -> None:
    """Emit an instruction's values in four lanes from ``first`` on, whose position is a multiple of four."""
    four = vec4_expression(item.op, position, _parameters(work, item), item.dtype)
    name = f"four{number}_{first}" if first else f"four{number}"
    work.kernel.line(f"let {name} = {four};")
    for lane, part in enumerate("xyzw", first):
        work.kernel.line(declare(value_name(number, FULL, lane), item.dtype, f"{name}.{part}"))


def makes_vec8(loop: Loop, item: object) -> bool:
    """Whether eight of an instruction's elements cost no more than four of them."""
    return makes_vec4(loop, item) and isinstance(item, Index) and compute_type(item.dtype) in item.op.vec8


def emit_vec8(work: LoopKernel, number: int, item: Index, position: str) -> None:
    """Emit an instruction's values in eight lanes, from a position that is a multiple of four on."""
    eight = vec8_expression(item.op, position, _parameters(work, item), item.dtype)
    work.kernel.line(f"let eight{number} = {eight};")
    for lane in range(2 * LANES):
        part = f"{'low' if lane < LANES else 'high'}.{'xyzw'[lane % LANES]}"
        work.kernel.line(declare(value_name(number, FULL, lane), item.dtype, f"eight{number}.{part}"))


def coordinates(kernel: Kernel, index: str, shape: Shape, prefix: str) -> list[str]:
    """Emit the coordinates in ``shape`` of a flat index; return their names, slowest axis first."""
    names = [f"{prefix}{axis}" for axis in range(len(shape))]
    rest = index
    for axis in reversed(range(len(shape))):
        if axis == 0:
            kernel.line(f"let {names[0]} = {rest};")
            break
        extent = kernel.parameter(shape[axis])
        kernel.line(f"let {prefix}q{axis} = {rest} / {extent};")
        kernel.line(f"let {names[axis]} = {rest} - {prefix}q{axis} * {extent};")
        rest = f"{prefix}q{axis}"
    return names


def is_heavy(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether arithmetic, not memory, limits a loop's kernel, whose text is large then.

    An invocation computes one element of such a loop rather than four: the kernel compiles faster, at no cost. A
    function with a fast path counts a quarter.
    """
    quick = [i for i in loop.instructions if isinstance(i, Apply) and fast_path_function(i.op, i.sources)]
    return operations(loop.instructions) - operations(quick) * 3 // 4 > capabilities.profile.heavy_weight


def dtype_of(loop: Loop, key: tuple[str, int]) -> DType:
    """Return the dtype of an input or output, given by its kind and number."""
    return (loop.input_dtypes if key[0] == "input" else loop.output_dtypes)[key[1]]


def guards_itself(loop: Loop) -> bool:
    """Whether quick forms of a loop's values may not be right, and none of them is a position, which has to be."""
    if any(isinstance(item, Take) for item in loop.instructions) or any(s.position is not None for s in loop.stores):
        return False
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    return any(isinstance(unit, Block) and unit.is_guarded for unit in arranged(loop, numbers))


def single_value(work: LoopKernel, item: object) -> str:
    """Return the expression of an instruction that has one value for a loop whose outer index space is empty."""
    kernel = work.kernel
    if isinstance(item, Load):
        return work.access(item).load(kernel.parameter(work.offset("input", item.slot, item.layout)))
    if isinstance(item, Index):
        return expression(work, item, 0, kernel.parameter(item.layout.offset))
    assert isinstance(item, Apply | Take)
    return expression(work, item, 0, "")
