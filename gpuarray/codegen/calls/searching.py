"""Binary search in a sorted line: one invocation a value, with the keys of sorting."""

from math import prod
from typing import Final

from gpuarray.codegen import binding_splits
from gpuarray.codegen.calls.kernels import ALL_PLACES, CallKernels
from gpuarray.codegen.calls.sorting_keys import bind_array, key_functions, word_type
from gpuarray.codegen.casts import cast_expression
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.storage import word_count
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import uint32
from gpuarray.fusion.steps import CallStep


def less(first: str, second: str, words: int) -> str:
    """Return whether a key is less than another."""
    if words == 1:
        return f"{first} < {second}"
    less = f"{first}.x < {second}.x"
    for part in "yzw"[: words - 1]:
        less = f"{first}.{part} < {second}.{part} || ({first}.{part} == {second}.{part} && ({less}))"
    return less


def _program(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    count = prod(step.output_shapes[0])
    begins = binding_splits.piece_starts(count, capabilities, step.input_dtypes[1], step.output_dtypes[0])
    pieces = [range(begin, min(begin + begins.step, count)) for begin in begins]
    return Program(tuple(_search(step, label, piece, capabilities) for piece in pieces))


def _search(step: CallStep, label: str, piece: range, capabilities: Capabilities) -> Launch:
    """Return the launch that searches for a piece of the values."""
    dtype = step.input_dtypes[0]
    length, count = prod(step.shapes[0]), len(piece)
    side = dict(step.parameters)["side"]
    kernel = Kernel(f"{label} {side}")
    line = bind_array(kernel, "input", 0, length, dtype)
    values = bind_array(kernel, "input", 1, count, dtype, first=piece.start)
    target = kernel.array("output", 0, count, step.output_dtypes[0], first=piece.start)
    size, extent = kernel.parameter(count), kernel.parameter(length)
    words = word_count(dtype)
    kernel.module.append(key_functions(dtype))
    passed = less("other", "key", words) if side == "left" else f"!({less('key', 'other', words)})"
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"let i = block * {WORKGROUP}u + local;",
        f"if (i >= {size}) {{ return; }}",
        f"let key: {word_type(dtype)} = sort_key({values.load('i')}, 0u);",
        f"var low = 0u; var high = {extent};",
        "while (low < high) {",
        "let middle = low + ((high - low) >> 1u);",
        f"let other: {word_type(dtype)} = sort_key({line.load('middle')}, 0u);",
        f"if ({passed}) {{ low = middle + 1u; }} else {{ high = middle; }}",
        "}",
        target.store("i", cast_expression("low", uint32, step.output_dtypes[0])),
    )
    return kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit)


SEARCHSORTED: Final = CallKernels(_program, pieces=ALL_PLACES)
"""The kernels of ``searchsorted``."""
