"""Counts of integers (``bincount``) and of elements in bins (``histogram``).

Both are atomic additions. Where the counts fit workgroup memory, each workgroup counts there and adds its counts to the
result last; elements that are all in one bin then take no longer than others.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen import binding_splits
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.calls.searching import less
from gpuarray.codegen.calls.sorting_keys import bind_array, key_functions, word_type
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.storage import Access, word_count
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType, uint32
from gpuarray.fusion.steps import CallStep

#: Counts that fit 16 KiB of workgroup memory, the least that devices have: alone, and together with edges.
_ALONE: Final = 4096
_BESIDE: Final = 2048
_EDGES: Final = 1024
#: Elements that an invocation reads at once, and how often it does so before another workgroup is worth its counts.
_TOGETHER: Final = 8
_TIMES: Final = 4
#: Most workgroups that have counts of their own.
_GROUPS: Final = 2048

#: WGSL functions from a raw value to a float32 near it.
_ROUGHLY: Final = {
    dtypes.int32: "fn roughly(raw: u32) -> f32 { return f32(bitcast<i32>(raw)); }",
    dtypes.float32: "fn roughly(raw: u32) -> f32 { return bitcast<f32>(raw); }",
    dtypes.float64: """fn roughly(raw: vec2<u32>) -> f32 {
  let exponent = clamp((raw.y >> 20u) & 0x7ffu, 897u, 1150u) - 896u;
  return bitcast<f32>((raw.y & 0x80000000u) | (exponent << 23u) | ((raw.y & 0xfffffu) << 3u) | (raw.x >> 29u));
}""",
}


def _count_at(position: str, kind: DType) -> str:
    """Return the low word of a count."""
    return f"output0[{kind.itemsize // 4}u * {position}]"


def _equal(first: str, second: str, words: int) -> str:
    """Return whether two keys are equal."""
    return f"{first} == {second}" if words == 1 else f"all({first} == {second})"


def _clear(step: CallStep, label: str, capabilities: Capabilities) -> Launch:
    """Return the launch that clears the result."""
    number, kind = prod(step.output_shapes[0]), step.output_dtypes[0]
    words = number * kind.itemsize // 4
    kernel = Kernel(f"{label} clear")
    extent = kernel.parameter(words)
    kernel.array("output", 0, words, uint32, item="atomic<u32>")
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"let i = block * {WORKGROUP}u + local;",
        f"if (i < {extent}) {{ atomicStore(&output0[i], 0u); }}",
    )
    return kernel.launch(-(-words // WORKGROUP), capabilities.workgroup_limit)


def _counting(
    kernel: Kernel,
    step: CallStep,
    length: int,
    values: Access,
    place_of: Callable[[str], str],
    capacity: int,
    capabilities: Capabilities,
) -> Launch:
    """Return the launch that counts ``length`` values; ``place_of`` returns the index of a value's count."""
    number, kind = prod(step.output_shapes[0]), step.output_dtypes[0]
    is_private = number <= capacity
    kernel.array("output", 0, number * kind.itemsize // 4, uint32, item="atomic<u32>")
    size, extent = kernel.parameter(number), kernel.parameter(length)
    some = WORKGROUP * _TOGETHER
    groups = -(-length // some)
    if is_private:
        kernel.label += " private"
        groups = min(-(-groups // _TIMES), _GROUPS)
        kernel.module.append(f"var<workgroup> counts: array<atomic<u32>, {capacity}>;")
        kernel.line(
            f"for (var i = local; i < {size}; i += {WORKGROUP}u) {{ atomicStore(&counts[i], 0u); }}",
            "workgroupBarrier();",
        )
    stride = kernel.parameter(groups * some)
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"for (var first = block * {some}u + local; first < {extent}; first += {stride}) {{",
        *(f"let v{k} = {values.load(f'min(first + {WORKGROUP * k}u, {extent} - 1u)')};" for k in range(_TOGETHER)),
    )
    for k in range(_TOGETHER):
        counted = f"counts[p{k}]" if is_private else _count_at(f"p{k}", kind)
        kernel.line(
            f"let p{k} = {place_of(f'v{k}')};",
            f"if (first + {WORKGROUP * k}u < {extent} && p{k} < {size}) {{ atomicAdd(&{counted}, 1u); }}",
        )
    kernel.line("}")
    if is_private:
        kernel.line(
            "workgroupBarrier();",
            f"for (var i = local; i < {size}; i += {WORKGROUP}u) {{",
            "let found = atomicLoad(&counts[i]);",
            f"if (found > 0u) {{ atomicAdd(&{_count_at('i', kind)}, found); }}",
            "}",
        )
    return kernel.launch(groups, capabilities.workgroup_limit)


def _of_positions(step: CallStep, label: str, piece: range, capabilities: Capabilities) -> Launch:
    """Return the launch that counts a piece of integers."""
    dtype = step.input_dtypes[0]
    kernel = Kernel(label)
    values = kernel.array("input", 0, len(piece), dtype, first=piece.start)
    return _counting(
        kernel, step, len(piece), values, lambda value: position_expression(value, dtype), _ALONE, capabilities
    )


def _bin_function(key: str, words: int, edge: str, size: str, guess: Sequence[str]) -> str:
    """Return the WGSL function from a raw value to its bin, at ``size`` or beyond for a value in none.

    Parameters
    ----------
    key : str
        The WGSL type of raw values and keys.
    words : int
        Words of a key.
    edge : str
        The expression of the key of edge ``i``.
    size : str
        The expression of the number of bins.
    guess : sequence of str
        The statements that narrow the search by ``lowest`` and ``scale``; empty for a search among all edges.
    """
    arguments = ", lowest: f32, scale: f32" if guess else ""
    lines = [
        f"fn edge(i: u32) -> {key} {{ return {edge}; }}",
        f"fn bin_of(raw: {key}{arguments}) -> u32 {{",
        "let key = sort_key(raw, 0u);",
        f"var low = 0u; var high = {size} + 1u;",
        *guess,
        "while (low < high) {",
        "let middle = (low + high) >> 1u;",
        f"if ({less('key', 'edge(middle)', words)}) {{ high = middle; }} else {{ low = middle + 1u; }}",
        "}",
        # `low` edges are at or before the element; an element at the last edge is in the last bin
        f"return select(low, {size}, low > {size} && {_equal('key', f'edge({size})', words)}) - 1u;",
        "}",
    ]
    return "\n".join(lines)


def _of_bins(step: CallStep, label: str, piece: range, capabilities: Capabilities) -> Launch:
    """Return the launch that counts a piece of elements in bins.

    Keys of sorting are compared. A binary search finds the edges around an element. Where a float32 near the element is
    known, the search begins at the bin that would be right if all bins had the same width.
    """
    (source, dtype), number = step.input_dtypes, prod(step.output_shapes[0])
    key, words = word_type(dtype), word_count(dtype)
    kernel = Kernel(label)
    if source == dtype:
        values, raw = bind_array(kernel, "input", 0, len(piece), dtype, first=piece.start), "{}"
    else:  # integers, which int32 edges are compared with
        values, raw = kernel.array("input", 0, len(piece), source, first=piece.start), "bitcast<u32>(i32({}))"
    line = bind_array(kernel, "input", 1, number + 1, dtype)
    is_near = number < _EDGES and words <= 2
    size = kernel.parameter(number)
    edge = f"sort_key({line.load('i')}, 0u)"
    kernel.module.append(key_functions(dtype))
    if is_near:
        kernel.label += " near"
        kernel.module.append(f"var<workgroup> edges: array<{key}, {_EDGES}>;")
        kernel.line(f"for (var i = local; i <= {size}; i += {WORKGROUP}u) {{ edges[i] = {edge}; }}")
        edge = "edges[i]"
    guess: list[str] = []
    if dtype in _ROUGHLY:
        kernel.module.append(_ROUGHLY[dtype])
        kernel.line(
            f"let lowest = roughly({line.load('0u')});",
            f"let scale = f32({size}) / (roughly({line.load(size)}) - lowest);",
        )
        guess = [
            f"let near = min(u32(max((roughly(raw) - lowest) * scale, 0.0)), {size} - 1u);",
            f"if ({less('key', 'edge(near)', words)}) {{ high = near; }} else {{",
            "low = near + 1u;",
            f"if ({less('key', 'edge(low)', words)}) {{ high = low; }}",
            "}",
        ]
    kernel.module.append(_bin_function(key, words, edge, size, guess))
    passed = ", lowest, scale" if guess else ""
    return _counting(
        kernel,
        step,
        len(piece),
        values,
        lambda value: f"bin_of({raw.format(value)}{passed})",
        _BESIDE if is_near else _ALONE,
        capabilities,
    )


def _program(
    launch: Callable[[CallStep, str, range, Capabilities], Launch],
    step: CallStep,
    label: str,
    capabilities: Capabilities,
) -> Program:
    length = prod(step.shapes[0])
    begins = binding_splits.piece_starts(length, capabilities, step.input_dtypes[0])
    pieces = [range(begin, min(begin + begins.step, length)) for begin in begins]
    counts = [launch(step, label, piece, capabilities) for piece in pieces]
    return Program((_clear(step, label, capabilities), *counts))


BINCOUNT: Final = CallKernels(partial(_program, _of_positions), pieces=(("input", 0),))
"""The kernels of ``bincount``."""

HISTOGRAM: Final = CallKernels(partial(_program, _of_bins), pieces=(("input", 0),))
"""The kernels of ``histogram``."""
