"""Kernels of image processing: connected parts, distances, and ranks of windows."""

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.loops import coordinates
from gpuarray.codegen.programs import Program
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep
from gpuarray.graph.layouts import contiguous_strides
from gpuarray.ops.images import Offsets, place_in_envelope, selection_network

#: Elements of a row within which each element points to the first of its run at once.
_RUN: Final = 32

# -- connected parts --------------------------------------------------------------------------------------------------

#: Follow pointers to the first element that is known of a part, and join two parts: the later first element then points
#: to the earlier one. Pointers only ever become less, so that the order of the invocations does not matter in the end.
_UNION: Final = """
fn first_of(at: u32) -> u32 {
  var place = at;
  loop {
    let next = atomicLoad(&output0[place]);
    if (next == place) { break; }
    place = next;
  }
  return place;
}
fn join(one: u32, other: u32) {
  var low = one;
  var high = other;
  loop {
    low = first_of(low);
    high = first_of(high);
    if (low == high) { break; }
    if (low > high) { let kept = low; low = high; high = kept; }
    let old = atomicMin(&output0[high], low);
    if (old == high) { break; }
    high = old;
  }
}"""


def _open(label: str, size: int, shape: Sequence[int]) -> Kernel:
    """Return a kernel with an invocation for each element: its number is ``i``, and its position ``p0``, ``p1`` ..."""
    kernel = Kernel(label)
    kernel.line(
        f"let i = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
        f"if (i >= {kernel.parameter(size)}) {{ return; }}",
    )
    if len(shape) > 1:
        coordinates(kernel, "i", [kernel.parameter(extent) for extent in shape[1:]], "p")
    else:
        kernel.line("let p0 = i;")
    return kernel


def _parts(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches that find runs in rows, join neighbours, and let each element point to the first."""
    shape, before = step.shapes[0], _before(step)
    size, groups = prod(shape), -(-prod(shape) // WORKGROUP)
    last = len(shape) - 1
    run = (0,) * last + (-1,)
    has_runs = run in before

    kernel = _open(f"{label} runs", size, shape)
    inside = kernel.array("input", 0, size, dtypes.bool_)
    target = kernel.array("output", 0, size, dtypes.uint32)
    kernel.line(f"var first = {kernel.parameter(size)};", f"if ({inside.load('i')}) {{", "first = i;")
    if has_runs:
        kernel.line(
            f"let most = min(p{last}, p{last} % {_RUN}u);",
            f"for (var n = 1u; n <= most && {inside.load('(i - n)')}; n++) {{ first = i - n; }}",
        )
    kernel.line("}", target.store("i", "first"))
    runs = kernel.launch(groups, capabilities.workgroup_limit)

    kernel = _open(f"{label} joined", size, shape)
    inside = kernel.array("input", 0, size, dtypes.bool_)
    kernel.array("output", 0, size, dtypes.uint32, item="atomic<u32>")
    kernel.module.append(_UNION)
    extents = [kernel.parameter(extent) for extent in shape]
    kernel.line(f"if (!{inside.load('i')}) {{ return; }}")
    if has_runs:
        kernel.line(f"let follows = p{last} > 0u && {inside.load('max(i, 1u) - 1u')};")
    for offset in before:
        _join(kernel, inside.load, offset, shape, extents, has_runs)
    joined = kernel.launch(groups, capabilities.workgroup_limit)

    kernel = _open(f"{label} first", size, shape)
    kernel.array("output", 0, size, dtypes.uint32, item="atomic<u32>")
    kernel.module.append(_UNION)
    kernel.line(
        "let at = atomicLoad(&output0[i]);",
        f"if (at < {kernel.parameter(size)}) {{ atomicStore(&output0[i], first_of(at)); }}",
    )
    return Program((runs, joined, kernel.launch(groups, capabilities.workgroup_limit)))


def _before(step: CallStep) -> Offsets:
    return dict(step.parameters)["before"]  # type: ignore[return-value]  # the caller's promise


def _join(
    kernel: Kernel, load: Any, offset: Sequence[int], shape: Sequence[int], extents: Sequence[str], has_runs: bool
) -> None:
    """Emit that an element is joined with a neighbour, unless neighbours of both have been by the same step."""
    last = len(shape) - 1
    away = sum(n * stride for n, stride in zip(offset, contiguous_strides(tuple(shape)), strict=True))
    guards = [
        f"p{axis} >= {-n}u" if n < 0 else f"p{axis} + {n}u < {extents[axis]}" for axis, n in enumerate(offset) if n
    ]
    if has_runs and not any(offset[:last]):
        # the element before is in the same run already, but for the first one of a block
        kernel.line(f"if (follows && p{last} % {_RUN}u == 0u) {{ join(i - 1u, i); }}")
        return
    kernel.line(
        f"if ({' && '.join(guards)}) {{",
        f"let other = i - {kernel.parameter(-away)};",
        f"if ({load('other')}) {{",
    )
    if has_runs:
        column = f"p{last} >= {1 - offset[last]}u" if offset[last] < 1 else "true"
        kernel.line(
            "var is_joined = false;",
            f"if (follows && {column}) {{ is_joined = {load('(other - 1u)')}; }}",
            "if (!is_joined) { join(other, i); }",
        )
    else:
        kernel.line("join(other, i);")
    kernel.line("} }")


# -- distances --------------------------------------------------------------------------------------------------------


def _envelope(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch in which each element looks for the least sum, nearest elements first, as long as it may be.

    The element before is compared first; the first position of several is the last one before, or the own or next one.
    """
    shape, dtype = step.shapes[0], step.input_dtypes[0]
    chosen: Any = dict(step.parameters)
    axis, size = len(shape) + chosen["axis"], prod(shape)
    is_largest, is_place = chosen.get("is_largest", False), step.op is place_in_envelope
    kernel = Kernel(f"{label} {dtype.name}{' largest' if is_largest else ''}")
    heights = kernel.array("input", 0, size, dtype)
    distances = kernel.array("input", 1, shape[axis], dtype)
    target = kernel.array("output", 0, size, step.output_dtypes[0])
    across, extent = kernel.parameter(prod(shape[axis + 1 :])), kernel.parameter(shape[axis])
    joined = "max({}, away)" if is_largest else "({} + away)"
    before, behind = (joined.format(heights.load(f"(i {sign} n * {across})")) for sign in "-+")
    kernel.line(
        f"let i = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
        f"if (i >= {kernel.parameter(size)}) {{ return; }}",
        f"let place = (i / {across}) % {extent};",
        f"let after = {extent} - 1u - place;",
        "let most = max(place, after);",
        "var first = place;" if is_place else "",
        f"var best: {register_type(dtype)} = {heights.load('i')};",
        "for (var n = 1u; n <= most; n++) {",
        f"let away: {register_type(dtype)} = {distances.load('n')};",
        f"if (away {'>' if is_place else '>='} best) {{ break; }}",
    )
    for guard, neighbour, comparison, where in (
        ("n <= place", before, "<=", "place - n"),
        ("n <= after", behind, "<", "place + n"),
    ):
        update = f"if (other {comparison} best) {{ best = other; first = {where}; }}" if is_place else ""
        kernel.line(f"if ({guard}) {{ let other = {neighbour}; {update or 'best = min(best, other);'} }}")
    kernel.line("}", target.store("i", "i32(first)" if is_place else "best"))
    return Program((kernel.launch(-(-size // WORKGROUP), capabilities.workgroup_limit),))


# -- ranks ------------------------------------------------------------------------------------------------------------

#: Numbers as words whose order is theirs, with NaN last, and back.
_FLOAT_KEYS: Final = """
fn key_of(value: u32) -> i32 {
  let bits = select(value, 0x7fc00000u, (value & 0x7fffffffu) > 0x7f800000u);
  return bitcast<i32>(bits ^ ((0u - (bits >> 31u)) & 0x7fffffffu));
}
fn value_of(key: i32) -> u32 {
  let bits = bitcast<u32>(key);
  return bits ^ ((0u - (bits >> 31u)) & 0x7fffffffu);
}"""
#: The words of keys: of floating numbers, and of integers.
_RANKED: Final = (dtypes.float32, dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.uint32)


def _unsupported_ranks(step: CallStep, capabilities: Capabilities) -> str | None:
    dtype = step.input_dtypes[0]
    return None if dtype in _RANKED else f"windows of {dtype.name} have no kernel"


def _ranks(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch in which each invocation reads its window into registers and selects one of the elements."""
    shape, dtype = step.shapes[0], step.input_dtypes[0]
    chosen: Any = dict(step.parameters)
    offsets, rank, constant = chosen["places"], chosen["rank"], chosen["constant"]
    size = prod(shape)
    kernel = _open(f"{label} {dtype.name}", size, shape)
    is_float = dtype.kind == "f"
    stored = dtypes.uint32 if is_float else dtype
    source = kernel.array("input", 0, size, stored)
    table = kernel.array("input", 1, prod(step.shapes[1]), dtypes.int32)
    target = kernel.array("output", 0, size, stored)
    if is_float:
        kernel.module.append(_FLOAT_KEYS)
    begin = 0
    for axis, extent in enumerate(shape):
        first = kernel.parameter(begin)
        for n in sorted({step[axis] for step in offsets}):
            kernel.line(f"let t{axis}_{n} = {table.load(f'({first} + p{axis} + {n}u)')};")
        begin += extent + max(step[axis] for step in offsets)
    beyond = _constant(kernel, dtype, constant)
    final = kernel.parameter(size - 1)
    names = []
    for number, offset in enumerate(offsets):
        at = " + ".join(f"t{axis}_{n}" for axis, n in enumerate(offset))
        value = source.load(f"min(u32(max(a{number}, 0)), {final})")
        kernel.line(f"let a{number} = {at};")
        if beyond:
            value = f"select({value}, {beyond}, a{number} < 0)"
        names.append(f"v{number}")
        kernel.line(f"let v{number} = {f'key_of({value})' if is_float else value};")
    for number, (low, high, keeps_low, keeps_high) in enumerate(selection_network(len(offsets), rank)):
        first, second = names[low], names[high]
        if keeps_low:
            kernel.line(f"let low{number} = min({first}, {second});")
            names[low] = f"low{number}"
        if keeps_high:
            kernel.line(f"let high{number} = max({first}, {second});")
            names[high] = f"high{number}"
    kernel.line(target.store("i", f"value_of({names[rank]})" if is_float else names[rank]))
    return Program((kernel.launch(-(-size // WORKGROUP), capabilities.workgroup_limit),))


def _constant(kernel: Kernel, dtype: DType, constant: Any) -> str:
    """Return the expression of the constant beyond edges; empty if no position is there."""
    if constant is None:
        return ""
    with np.errstate(all="ignore"):
        value = np.asarray(constant).astype(dtype)
    if dtype.kind == "f":
        return kernel.parameter(int(value.view(np.uint32)))
    word = kernel.parameter(int(value))
    return f"bitcast<i32>({word})" if dtype.kind == "i" else word


PARTS: Final = CallKernels(_parts)
"""The kernels of ``first_of_part``."""

ENVELOPE: Final = CallKernels(_envelope)
"""The kernel of ``lower_envelope`` and ``place_in_envelope``."""

RANKS: Final = CallKernels(_ranks, _unsupported_ranks)
"""The kernel of ``rank_of_windows``."""
