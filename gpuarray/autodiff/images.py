"""The rules of calls of image processing, by compositions of operations that have rules."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.batches import Batch
from gpuarray.autodiff.subgraph import Cotangents, Outputs, through
from gpuarray.functions.manipulation import moveaxis
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous, slice_axis
from gpuarray.graph.nodes import Call, Node, host_leaf
from gpuarray.ops import calls, images, reductions
from gpuarray.ops import elementwise as ops
from gpuarray.runtime import evaluate
from gpuarray.runtime.places import HOST_DEVICE


def ranks(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate elements of a rank as those of sorted windows."""
    x, table = operands
    call = outputs.call
    positions = _positions(call, table.node())
    results = through(lambda x: wrap(_ranked(call, x.node(), positions, None), x.device), (x,), cts[0])
    return results[0], None


def batched_ranks(batch: Batch, call: Call, _owns: Sequence[Node | None]) -> Node:
    """Return the elements of a rank of the windows of all elements of a batch."""
    x, table = call.inputs
    starts = batch.starts(x.size, len(x.shape) + 1, dtypes.int64)
    return _ranked(call, batch.full(x), _positions(call, table), starts)


def _positions(call: Call, table: Node) -> Any:
    return images.positions_of_windows(call.shape, evaluate.read(table, HOST_DEVICE), call.parameters["places"])


def _ranked(call: Call, x: Node, positions: Any, starts: Node | None) -> Node:
    """Return the elements of a rank, for arrays that begin at some positions of another one."""
    where: Node = host_leaf(np.maximum(positions, 0).astype(np.int64))
    windows = build.gather(x, where if starts is None else build.elementwise(ops.add, where, starts))
    if (positions < 0).any():
        with np.errstate(all="ignore"):
            constant = np.asarray(call.parameters["constant"]).astype(call.dtype)[()]
        outside = build.constant(constant, call.dtype)
        windows = build.elementwise(ops.where, host_leaf(positions < 0), outside, windows)
    (ordered,) = build.call(calls.sort, [windows], {"descending": False}, [(windows.shape, call.dtype)])
    last = len(ordered.shape) - 1
    one = build.view(ordered, slice_axis(contiguous(ordered.shape), last, call.parameters["rank"], 1, 1))
    return build.reshape(one, ordered.shape[:-1])


def envelope(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate the least sums as minima over all pairs of elements of a line."""
    axis = outputs.call.parameters["axis"]
    join = ops.maximum if outputs.call.parameters.get("is_largest") else ops.add

    def composed(heights: GpuArray, away: GpuArray) -> GpuArray:
        lines = moveaxis(heights, axis, -1)
        apart = np.abs(np.arange(lines.shape[-1])[:, None] - np.arange(lines.shape[-1]))
        pairs = lines[..., None, :].node()
        further = build.elementwise(join, pairs, build.gather(away.node(), host_leaf(apart)))
        sums = build.elementwise(ops.where, host_leaf(apart == 0), pairs, further)  # no element is away from itself
        least = wrap(build.reduce(reductions.min, sums, len(sums.shape) - 1), heights.device)
        return moveaxis(least, -1, axis)

    return through(composed, operands, cts[0])


def batched_parts(batch: Batch, call: Call, _owns: Sequence[Node | None]) -> Node:
    """Return the first elements of the connected parts of all elements of a batch, which no step connects."""
    (inside,) = call.inputs
    before = tuple([(0, *step) for step in call.parameters["before"]])
    whole = batch.full(inside)
    first = build.call_one(images.first_of_part, [whole], whole.shape, call.dtype, before=before)
    local = build.elementwise(ops.subtract, first, batch.starts(inside.size, len(inside.shape), call.dtype))
    is_outside = build.elementwise(ops.logical_not, whole)
    return build.elementwise(ops.where, is_outside, build.full((), inside.size, call.dtype), local)
