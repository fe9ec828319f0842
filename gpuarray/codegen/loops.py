"""Kernels of loops under construction, and the text of their instructions.

Every kernel of a loop, with folds or without, opens its bindings here and writes its instructions with these functions.
Loops without folds become flat kernels (:mod:`gpuarray.codegen.flat`), stencils or transposes; loops with folds become
row kernels (:mod:`gpuarray.codegen.reductions`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

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
    vector_expression,
    window,
)
from gpuarray.device import Capabilities
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import FULL, OUTER, UNIFORM, Apply, Index, Load, Loop, Scalar, Slot, Store, Take
from gpuarray.graph.layouts import Layout, contiguous_strides


@dataclass
class LoopKernel:
    """A kernel under construction for one loop.

    ``origins`` has the element of a slot at which its binding begins, and ``accesses`` how it is read and written; both
    by kind, ``"input"`` or ``"output"``, and number.
    """

    kernel: Kernel
    loop: Loop
    origins: dict[Slot, int]
    accesses: dict[Slot, Access]
    together: bool = False
    """Whether the lanes of an invocation are always four neighbours along the last axis."""
    lasts: dict[tuple[int, int], str] = field(default_factory=dict)
    """The expression of the last position of an input, by slot and extent."""
    deferred: bool = False
    """Whether only fast paths are emitted, and the variable ``fine`` says whether they are right."""

    def offset(self, kind: str, slot: int, layout: Layout) -> int:
        """Return the offset of a layout from where the binding of its slot begins."""
        return layout.offset - self.origins[kind, slot]

    def taken(self, item: Take, position: str) -> str:
        """Return the element at a position that comes from a buffer; beyond the end it is the last element."""
        key = item.slot, item.extent
        last = self.lasts.get(key)
        if last is None:
            last = self.lasts[key] = self.kernel.parameter(max(item.extent, 1) - 1)
        return self.access(item).load(f"min({position}, {last})")

    def access(self, item: Load | Take | Store) -> Access:
        """Return the access of the slot that an instruction reads or a store writes."""
        return self.accesses[item.key]


def open_kernel(loop: Loop, label: str, wide: Callable[[str, int], bool], outputs: bool = True) -> LoopKernel:
    """Return a kernel with the storage bindings of a loop.

    Parameters
    ----------
    loop : Loop
        The loop.
    label : str
        Names the kernel for people.
    wide : callable
        ``wide(kind, slot)`` says whether an array is read or written four elements at a time.
    outputs : bool
        Whether to bind the outputs.
    """
    return bind_loop(Kernel(label), loop, wide, outputs=outputs)


def bind_loop(
    kernel: Kernel,
    loop: Loop,
    wide: Callable[[str, int], bool],
    *,
    outputs: bool = True,
    name: str = "input",
    inputs_before: int | None = None,
) -> LoopKernel:
    """Add the storage bindings of a loop to a kernel.

    Parameters
    ----------
    kernel : Kernel
        Where they are added.
    loop : Loop
        The loop.
    wide : callable
        ``wide(kind, slot)`` says whether an array is read or written four elements at a time.
    outputs : bool
        Whether to bind the outputs.
    name : str
        What the names of inputs in WGSL begin with.
    inputs_before : int, optional
        For an epilogue, whose input 0 is the result of the kernel: how many inputs the step has before its others.
    """
    origins: dict[Slot, int] = {}
    accesses: dict[Slot, Access] = {}
    updated = dict(loop.updates)
    for key, (low, high) in sorted(loop.spans.items()):
        kind, slot = key
        if inputs_before is not None and kind == "input":
            if slot == 0:
                origins[key] = 0
                continue
            slot += inputs_before - 1
        if (kind == "output" and not outputs) or (kind == "input" and slot in updated):
            continue
        dtype, writable = loop.dtype_of(key), kind == "output"
        binding, origins[key] = window(kind, slot, low, high, dtype, writable=writable)
        access = Access(f"{kind if writable else name}{slot}", dtype, wide(*key), writable)
        accesses[key] = kernel.show(access, binding)
    for read, written in loop.updates:
        origins["input", read], accesses["input", read] = origins["output", written], accesses["output", written]
    return LoopKernel(kernel, loop, origins, accesses)


def emit_uniform(work: LoopKernel) -> None:
    """Emit the values that are the same for all elements of the step."""
    for number, item in enumerate(work.loop.instructions):
        if item.level == UNIFORM:
            work.kernel.line(declare(f"one{number}", item.dtype, uniform_expression(work, item)))


def emit_single(work: LoopKernel) -> None:
    """Emit the values that are not of single elements, in a loop without outer axes."""
    emit_uniform(work)
    for number, item in enumerate(work.loop.instructions):
        if item.level == OUTER:
            work.kernel.line(declare(f"one{number}", item.dtype, _single_value(work, item)))


def uniform_expression(work: LoopKernel, item: object) -> str:
    """Return the expression of an instruction at level UNIFORM."""
    if isinstance(item, Scalar):
        return work.kernel.scalar(item.slot, item.dtype)
    assert isinstance(item, Apply)
    return apply_expression(item.op, [f"one{o}" for o in item.operands], item.sources, item.dtype)


def expression(work: LoopKernel, item: Apply | Take | Index, lane: int, position: str) -> str:
    """Return the expression of an instruction in a lane; ``position`` is the flat position for an Index."""
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
        case _:
            assert_never(item)


def _parameters(work: LoopKernel, item: Index) -> list[str]:
    kinds = parameter_dtypes(item.op, item.dtype)
    return [work.kernel.scalar(s, kind) for s, kind in zip(item.parameters, kinds, strict=True)]


def makes_vec4(loop: Loop, item: object) -> bool:
    """Whether one call generates four neighbouring elements of an instruction."""
    if not (isinstance(item, Index) and item.level == FULL and compute_type(item.dtype) in item.op.vec4):
        return False
    rank, layout = len(loop.outer), item.layout
    starts = zip(layout.strides[:rank], layout.shape, strict=False)
    aligned = layout.offset % LANES == 0 and all(s % LANES == 0 for s, n in starts if n > 1)
    return aligned and layout.strides[rank:] == contiguous_strides(layout.shape[rank:])


def needs_vec4(loop: Loop) -> bool:
    """Whether a loop generates elements that cost much less four at a time."""
    return any(makes_vec4(loop, i) and isinstance(i, Index) and i.op.is_costly for i in loop.instructions)


def emit_vectors(work: LoopKernel, number: int, item: Index, position: str, count: int, first: int) -> None:
    """Emit an instruction's values in four or eight lanes from ``first`` on; the position is a multiple of four."""
    name = f"{'four' if count == LANES else 'eight'}{number}{f'_{first}' if first else ''}"
    value = vector_expression(item.op, count, position, _parameters(work, item), item.dtype)
    work.kernel.line(f"let {name} = {value};")
    vectors = [name] if count == LANES else [f"{name}.low", f"{name}.high"]
    parts = [f"{vector}.{component}" for vector in vectors for component in "xyzw"]
    work.kernel.line(
        *(declare(value_name(number, FULL, n), item.dtype, component) for n, component in enumerate(parts, first))
    )


def makes_vec8(loop: Loop, item: object) -> bool:
    """Whether one call generates eight neighbouring elements of an instruction, at the cost of four."""
    return makes_vec4(loop, item) and isinstance(item, Index) and compute_type(item.dtype) in item.op.vec8


def coordinates(kernel: Kernel, index: str, extents: Sequence[str], prefix: str) -> list[str]:
    """Emit the coordinates of a flat index; return their names, slowest axis first.

    ``extents`` are the expressions of the extents of all axes but the slowest, and ``prefix`` makes names unique.
    """
    names = [f"{prefix}{axis}" for axis in range(len(extents) + 1)]
    rest = index
    for axis in range(len(extents), 0, -1):
        kernel.line(f"let {prefix}q{axis} = {rest} / {extents[axis - 1]};")
        kernel.line(f"let {names[axis]} = {rest} - {prefix}q{axis} * {extents[axis - 1]};")
        rest = f"{prefix}q{axis}"
    kernel.line(f"let {names[0]} = {rest};")
    return names


def is_heavy(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether arithmetic, not memory, limits a loop's kernel, whose text is large then.

    An invocation computes one element of such a loop rather than four: the kernel compiles faster, at no cost. A
    function with a fast path counts a quarter.
    """
    guarded = [i for i in loop.instructions if isinstance(i, Apply) and fast_path_function(i.op, i.sources)]
    return operations(loop.instructions) - operations(guarded) * 3 // 4 > capabilities.profile.heavy_weight


def has_guards(loop: Loop) -> bool:
    """Whether a loop has guarded fast paths and no positions: an index must be right before it is used."""
    if any(isinstance(item, Take) for item in loop.instructions) or any(s.position is not None for s in loop.stores):
        return False
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    return any(isinstance(unit, Block) and unit.is_guarded for unit in arranged(loop, numbers))


def _single_value(work: LoopKernel, item: object) -> str:
    """Return the expression of an instruction at level OUTER in a loop without outer axes: it has one value."""
    kernel = work.kernel
    if isinstance(item, Load):
        return work.access(item).load(kernel.parameter(work.offset("input", item.slot, item.layout)))
    if isinstance(item, Index):
        return expression(work, item, 0, kernel.parameter(item.layout.offset))
    assert isinstance(item, Apply | Take)
    return expression(work, item, 0, "")
