"""Sums of segments of a line: some invocations of a workgroup for each segment, in an order that is always the same."""

from math import prod
from typing import Final

from gpuarray.codegen.calls.kernels import ALL_PLACES, CallKernels
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.programs import Program
from gpuarray.codegen.storage import Access, register_type
from gpuarray.codegen.wgsl import WORKGROUP, Kernel, combine_expression, window
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import elementwise as rows

#: The fewest invocations a segment: one that is much longer than the others must not take one of them for ever.
_FEWEST: Final = 32


def _program(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    dtype, kind = step.input_dtypes
    length, count = prod(step.shapes[0]), prod(step.output_shapes[0])
    kernel = Kernel(label)

    def bind(end: str, slot: int, size: int) -> Access:
        held = kind if (end, slot) == ("input", 1) else dtype
        binding, _ = window(end, slot, 0, size - 1, held, writable=end == "output")
        return kernel.show(Access(f"{end}{slot}", held, False, end == "output"), binding)

    values, edges, target = bind("input", 0, length), bind("input", 1, count + 1), bind("output", 0, count)
    together = min(max(1 << (-(-length // count) - 1).bit_length(), _FEWEST), WORKGROUP)
    size, lanes, shift = (
        kernel.parameter(count),
        kernel.parameter(together),
        kernel.parameter(together.bit_length() - 1),
    )
    extent = kernel.parameter(length)
    low, high = (position_expression(edges.load(at), kind) for at in ("segment", "segment + 1u"))
    sum_of_both = combine_expression(rows.add, "parts[local]", "parts[local + half]", dtype)
    kernel.module.append(f"var<workgroup> parts: array<{register_type(dtype)}, {WORKGROUP}>;")
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"let lane = local & ({lanes} - 1u);",
        f"let segment = block * ({WORKGROUP}u >> {shift}) + (local >> {shift});",
        f"var total = {register_type(dtype)}();",
        f"if (segment < {size}) {{",
        f"let end = min({high}, {extent});",
        f"for (var i = {low} + lane; i < end; i += {lanes}) {{",
        f"total = {combine_expression(rows.add, 'total', values.load('i'), dtype)};",
        "}",
        "}",
        "parts[local] = total;",
        "workgroupBarrier();",
        f"for (var half = {lanes} >> 1u; half > 0u; half >>= 1u) {{",
        f"if (lane < half) {{ parts[local] = {sum_of_both}; }}",
        "workgroupBarrier();",
        "}",
        f"if (lane == 0u && segment < {size}) {{ {target.store('segment', 'parts[local]')} }}",
    )
    return Program((kernel.launch(-(-count * together // WORKGROUP), capabilities.workgroup_limit),))


SEGMENT_SUM: Final = CallKernels(_program, pieces=ALL_PLACES)
"""The kernel of ``segment_sum``."""
