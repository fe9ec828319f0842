"""Ordered folds: one invocation applies an elementwise operation to the elements of a sequence, one after the other.

This is what ``reduceat`` and folds by operations that are not associative mean: the order is NumPy's, and
each result is rounded to the dtype in which NumPy keeps it.
"""

from math import prod
from typing import Final

from gpuarray.codegen.calls.kernels import ALL_PLACES, CallKernels
from gpuarray.codegen.casts import cast_expression, position_expression
from gpuarray.codegen.programs import Program
from gpuarray.codegen.storage import Access, register_type
from gpuarray.codegen.wgsl import WORKGROUP, Kernel, apply_expression, template_of
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep
from gpuarray.ops.spec import MapOp


def _combine(step: CallStep) -> MapOp:
    combine: object = dict(step.parameters)["combine"]
    assert isinstance(combine, MapOp)
    return combine


def _loop(step: CallStep) -> tuple[tuple[DType, ...], DType]:
    """Return the dtypes of the operation's operands, and of its result."""
    loop: tuple[DType, ...] = dict(step.parameters)["loop"]  # type: ignore[assignment]  # the caller's promise
    return loop[:-1], loop[-1]


def _unsupported(step: CallStep, capabilities: Capabilities) -> str | None:
    sources, result = _loop(step)
    for dtype in (*sources, result):
        if dtype not in capabilities.dtypes:
            return f"{dtype.name} is not supported by this device"
    op = _combine(step)
    return None if template_of(op, sources) is not None else f"{op.name} of {sources[0].name} has no kernel"


def _open(step: CallStep, label: str, count: int) -> Kernel:
    kernel = Kernel(f"{label} {_combine(step).name}")
    size = kernel.parameter(count)
    kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
    kernel.line(f"if (i >= {size}) {{ return; }}")
    return kernel


def _next(step: CallStep, value: str) -> str:
    """Return the statement that folds one more value into ``kept``, of the output's dtype."""
    (first, *others), result = _loop(step)
    folded = step.output_dtypes[0]
    operands = [cast_expression("kept", folded, first), *([value] if others else [])]
    combined = apply_expression(_combine(step), operands, (first, *others), result)
    return f"kept = {cast_expression(combined, result, folded)};"


def _line(step: CallStep, label: str, count: int) -> tuple[Kernel, Access, Access, str, str]:
    """Return a kernel over ``count`` elements; neighbours are in neighbouring columns."""
    length, columns = step.shapes[0]
    kernel = _open(step, label, count)
    values = kernel.array("input", 0, length * columns, step.input_dtypes[0])
    width, extent = kernel.parameter(columns), kernel.parameter(length)
    kernel.line(f"let row = i / {width};", f"let column = i - row * {width};")
    target = kernel.array("output", 0, prod(step.output_shapes[0]), step.output_dtypes[0])
    return kernel, values, target, width, extent


def _spans(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch that folds the rows from each index to the next, or one row if that is not greater."""
    spans, columns = step.output_shapes[0]
    kernel, values, target, width, extent = _line(step, label, spans * columns)
    indices = kernel.array("input", 1, spans, step.input_dtypes[1])
    first, second = (position_expression(indices.load(at), step.input_dtypes[1]) for at in ("row", "row + 1u"))
    kernel.line(
        f"let low = min({first}, {extent} - 1u);",
        f"var high = {extent};",
        f"if (row + 1u < {kernel.parameter(spans)}) {{ high = min(max(low + 1u, {second}), {extent}); }}",
        f"var kept: {register_type(step.output_dtypes[0])} = {values.load(f'low * {width} + column')};",
        "for (var at = low + 1u; at < high; at++) {",
        _next(step, values.load(f"at * {width} + column")),
        "}",
        target.store("i", "kept"),
    )
    return Program((kernel.launch(-(-spans * columns // WORKGROUP), capabilities.workgroup_limit),))


def _running(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch in which one invocation folds each column, and writes the result after each row."""
    columns = step.shapes[0][1]
    kernel, values, target, width, extent = _line(step, label, columns)
    kernel.line(
        f"var kept: {register_type(step.output_dtypes[0])} = {values.load('column')};",
        target.store("column", "kept"),
        f"for (var at = 1u; at < {extent}; at++) {{",
        _next(step, values.load(f"at * {width} + column")),
        target.store(f"at * {width} + column", "kept"),
        "}",
    )
    return Program((kernel.launch(-(-columns // WORKGROUP), capabilities.workgroup_limit),))


SPANS: Final = CallKernels(_spans, _unsupported, ALL_PLACES)
"""The kernel of ``fold_spans``."""

RUNNING: Final = CallKernels(_running, _unsupported, ALL_PLACES)
"""The kernel of ``running_fold``."""
