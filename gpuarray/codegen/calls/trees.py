"""Kernels of searches in trees: one invocation for each search."""

from math import prod
from typing import Any, Final

from gpuarray import dtypes
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.programs import Program
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep


def _outside(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch that goes up to the first node that ends a search, and down to the last such element in it."""
    inside, dtype, count = dict(step.parameters)["inside"], step.input_dtypes[0], prod(step.output_shapes[0])
    kernel, tree, leaves = _open(step, f"{label} {inside}", count)
    bounds = kernel.array("input", 2, count, dtype)
    target = kernel.array("output", 0, count, dtypes.int32)
    passes = "{} > bound" if inside == "above" else "{} <= bound"
    kernel.line(
        f"let bound = {bounds.load('i')};",
        "var found = 0u;",
        "for (var node = start; node > 1u; node >>= 1u) {",
        f"if ((node & 1u) == 1u && !({passes.format(tree.load('(node - 1u)'))})) {{ found = node - 1u; break; }}",
        "}",
        f"while (found > 0u && found < {leaves}) {{",
        "found = 2u * found + 1u;",
        f"if ({passes.format(tree.load('found'))}) {{ found -= 1u; }}",
        "}",
        target.store("i", f"select(-1, i32(found - {leaves}), found > 0u)"),
    )
    return Program((kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit),))


def _least(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch that finds the best node of a range, and the last least element in it."""
    count = prod(step.output_shapes[0])
    kernel, tree, leaves = _open(step, label, count)
    ends = kernel.array("input", 2, count, dtypes.int32)
    target = kernel.array("output", 0, count, dtypes.int32)
    kernel.line(
        f"var end = u32({ends.load('i')}) + {leaves};",
        "var first = start; var left = 0u; var right = 0u;",
        "while (first < end) {",
        "if ((first & 1u) == 1u) {",
        f"if (left == 0u || {tree.load('first')} <= {tree.load('left')}) {{ left = first; }}",
        "first += 1u;",
        "}",
        "if ((end & 1u) == 1u) {",
        "end -= 1u;",
        f"if (right == 0u || {tree.load('end')} < {tree.load('right')}) {{ right = end; }}",
        "}",
        "first >>= 1u; end >>= 1u;",
        "}",
        "var found = right;",
        f"if (right == 0u || (left > 0u && {tree.load('left')} < {tree.load('right')})) {{ found = left; }}",
        f"while (found < {leaves}) {{",
        "found = 2u * found + 1u;",
        f"if ({tree.load('found')} > {tree.load('(found - 1u)')}) {{ found -= 1u; }}",
        "}",
        target.store("i", f"i32(found - {leaves})"),
    )
    return Program((kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit),))


def _open(step: CallStep, label: str, count: int) -> tuple[Kernel, Any, str]:
    """Return a kernel with an invocation for each search from ``start``, its tree, and the number of leaves."""
    dtype, size = step.input_dtypes[0], prod(step.shapes[0])
    kernel = Kernel(f"{label} {dtype.name}")
    tree = kernel.array("input", 0, size, dtype)
    starts = kernel.array("input", 1, count, dtypes.int32)
    leaves = kernel.parameter(size // 2)
    kernel.line(
        f"let i = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
        f"if (i >= {kernel.parameter(count)}) {{ return; }}",
        f"let start = u32({starts.load('i')}) + {leaves};",
    )
    return kernel, tree, leaves


OUTSIDE: Final = CallKernels(_outside)
"""The kernel of ``last_outside``."""

LEAST: Final = CallKernels(_least)
"""The kernel of ``last_least``."""
