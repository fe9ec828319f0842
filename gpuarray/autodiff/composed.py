"""The transposes of calls whose derivatives are those of other functions: least squares, condition numbers, and folds.

Spans that a ufunc folds in order are folded again by steps that have derivatives, in pairs if the ufunc is associative.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.elementwise import adjoint, conj, converted
from gpuarray.autodiff.subgraph import Cotangents, Outputs, through
from gpuarray.functions.linear_systems import inv
from gpuarray.functions.norms import norm
from gpuarray.functions.singular_values import pinv, svd, svdvals
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous, slice_axis
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.runtime import evaluate


def least_squares(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate least squares as Golub and Pereyra do (1973), where small changes leave the rank as it is."""
    left, right = operands
    is_line = right.ndim == 1
    columns = right[:, None] if is_line else right
    inverse = pinv(left, rcond=outputs.call.parameters["rcond"])
    solution = inverse @ columns
    rest = columns - left @ solution
    of_left: Any = 0
    of_right: Any = 0
    if 0 in cts:
        ct = conj(cts[0][:, None] if is_line else cts[0])
        turned = adjoint(inverse) @ ct
        of_right = turned
        of_left = -turned @ adjoint(solution) + rest @ adjoint(inverse @ turned)
        of_left = of_left + (adjoint(inverse) @ solution) @ adjoint(ct - inverse @ (left @ ct))
    if 1 in cts:
        twice = converted(2 * cts[1], rest.dtype) * rest
        of_right, of_left = of_right + twice, of_left - twice @ adjoint(solution)
    if 3 in cts:
        u, _, vh = svd(left, full_matrices=False)
        of_left = of_left + (u * converted(cts[3], u.dtype)) @ vh
    ends = [None if isinstance(ct, int) else conj(ct) for ct in (of_left, of_right)]
    return ends[0], ends[1] if ends[1] is None or not is_line else ends[1][:, 0]


def condition(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate condition numbers as quotients of singular values, or products of norms."""
    p = outputs.call.parameters["p"]

    def composed(x: GpuArray) -> GpuArray:
        if p in (None, 2, -2):
            s = svdvals(x)
            first, last = s[..., 0], s[..., -1]
            return last / first if p == -2 else first / last
        return norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))

    return through(composed, operands, cts[0])


def spans(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate ``reduceat``: the rows of each span are folded again."""
    source, indices = operands
    op = outputs.call.parameters["combine"]
    starts = evaluate.read(indices.node(), indices.device)
    stops = np.maximum(np.append(starts[1:], source.shape[0]), starts + 1)
    positions = starts[:, None] + np.arange(int((stops - starts).max(initial=1)))
    is_there = positions < stops[:, None]
    width = source.shape[1]
    rows = np.minimum(positions, source.shape[0] - 1)[:, :, None] * width + np.arange(width)

    def composed(x: GpuArray) -> GpuArray:
        lines = converted(x, outputs.call.dtype).node()
        taken = build.gather(lines, host_leaf(rows.astype(np.int64)))
        return wrap(_folded(op, taken, is_there), x.device)

    (result,) = through(composed, (source,), cts[0])
    return result, None


def _folded(op: Any, lines: Node, is_there: Any) -> Node:
    """Fold the second axis of an array, where elements are there; the first ones are."""
    while (length := lines.shape[1]) > 1:
        half = length // 2 if op.is_associative else 1
        if op.is_associative:  # neighbours, so that the order stays
            first, second, rest = (0, 2, half), (1, 2, half), (2 * half, 1, length - 2 * half)
        else:
            first, second, rest = (0, 1, 1), (1, 1, 1), (2, 1, length - 2)
        left, right, others = (_part(lines, *lines_and_op) for lines_and_op in (first, second, rest))
        known = is_there[:, second[0] :: second[1]][:, : second[2], None]
        pairs = build.elementwise(ops.where, host_leaf(known.copy()), build.elementwise(op, left, right), left)
        lines = build.concat([pairs, others], 1) if others.shape[1] else pairs
        is_there = np.concatenate([
            is_there[:, first[0] :: first[1]][:, : first[2]], is_there[:, rest[0] :]
        ], axis=1)  # fmt: skip
    return build.reshape(lines, (lines.shape[0], lines.shape[2]))


def _part(node: Node, start: int, step: int, extent: int) -> Node:
    return build.view(node, slice_axis(contiguous(node.shape), 1, start, step, extent))


def running(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate ``accumulate`` of a ufunc that is not associative, step by step."""
    op = outputs.call.parameters["combine"]

    def composed(x: GpuArray) -> GpuArray:
        x = converted(x, outputs.call.dtype)
        lines = [x[:1]]
        for number in range(1, x.shape[0]):
            lines.append(GpuArray._apply(op, lines[-1], x[number : number + 1]))
        return wrap(build.concat([line.node() for line in lines], 0), x.device)

    return through(composed, operands, cts[0])
