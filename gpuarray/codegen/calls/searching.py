"""Binary search in a sorted line, one invocation a value."""

from math import prod
from typing import Final

from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.casts import cast_expression
from gpuarray.codegen.programs import Program
from gpuarray.codegen.storage import Access, register_type
from gpuarray.codegen.wgsl import WORKGROUP, Kernel, apply_expression, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType, bool_, uint32
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import elementwise as rows


def before_expression(first: str, second: str, dtype: DType) -> str:
    """Return whether ``first`` comes before ``second`` in sorted order, in which NaN is last."""
    less = apply_expression(rows.less, (first, second), (dtype, dtype), bool_)
    if dtype.kind != "f":
        return less
    late, early = (apply_expression(rows.isnan, (x,), (dtype,), bool_) for x in (second, first))
    return f"({less} || ({late} && !{early}))"


def _program(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    dtype = step.input_dtypes[0]
    length, count = prod(step.shapes[0]), prod(step.output_shapes[0])
    side = dict(step.parameters)["side"]
    kernel = Kernel(f"{label} {side}")
    accesses = []
    for slot, elements in enumerate((length, count)):
        binding, _ = window("input", slot, 0, elements - 1, dtype, writable=False)
        accesses.append(kernel.bind(Access(f"input{slot}", dtype, False, False), binding))
    binding, _ = window("output", 0, 0, count - 1, step.output_dtypes[0], writable=True)
    target = kernel.bind(Access("output0", step.output_dtypes[0], False, True), binding)
    line, values = accesses
    size, extent_word = kernel.word(count), kernel.word(length)
    if side == "left":
        passed = before_expression("other", "value", dtype)
    else:
        passed = f"!{before_expression('value', 'other', dtype)}"
    kind = register_type(dtype)
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"let i = block * {WORKGROUP}u + local;",
        f"if (i >= {size}) {{ return; }}",
        f"let value: {kind} = {values.load('i')};",
        f"var low = 0u; var high = {extent_word};",
        "while (low < high) {",
        "let middle = low + ((high - low) >> 1u);",
        f"let other: {kind} = {line.load('middle')};",
        f"if ({passed}) {{ low = middle + 1u; }} else {{ high = middle; }}",
        "}",
        target.store("i", cast_expression("low", uint32, step.output_dtypes[0])),
    )
    return Program((kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit),))


def _unsupported(step: CallStep, capabilities: Capabilities) -> str | None:
    if step.input_dtypes[0].kind == "c":
        return "a search among complex numbers has no kernel"
    return None


SEARCHSORTED: Final = CallKernels(_program, _unsupported)
