"""The transpose of each kind of node: how the cotangent of a value becomes those of the operands.

Cotangents are arrays of the dtype and the shape of the value. Values and cotangents pair as ``sum(real(a * b))``, so
that the transpose of a transpose is the map itself, for complex numbers too. Each rule takes the node, the operands
that it had, the cotangent, and which operands need one; it returns a cotangent for each operand, or None.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff import elementwise, folds, subgraph
from gpuarray.autodiff.subgraph import Cotangents, through
from gpuarray.autodiff.sums import seen_back
from gpuarray.device import Device
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous, permute
from gpuarray.graph.nodes import Concat, Contract, Gather, Map, Node, Reduce, Scan, Scatter, View, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops.columns import Kind
from gpuarray.ops.spec import MapOp
from gpuarray.runtime import evaluate


def _view(node: View, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device) -> Cotangents:
    (source,) = inputs
    return (wrap(seen_back(ct.node(), node.layout, source.shape), device),)


def _concat(node: Concat, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device) -> Cotangents:
    cts: list[GpuArray | None] = []
    start = 0
    for source, is_needed in zip(inputs, needed, strict=True):
        stop = start + source.shape[node.axis]
        cts.append(ct[(slice(None),) * node.axis + (slice(start, stop),)] if is_needed else None)
        start = stop
    return cts


def _gather(node: Gather, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device) -> Cotangents:
    source, positions = inputs
    empty = build.full(source.shape, 0, source.dtype)
    if not node.size:
        return wrap(empty, device), None
    return wrap(build.scatter_combined(ops.add, empty, ct.node(), positions), device), None


def _scatter(node: Scatter, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device) -> Cotangents:
    if node.is_whole:
        return _placed(node, inputs, ct, device)
    target, values, *positions = inputs
    if node.combine is not None:
        return _combined(node, inputs, ct, device)
    cts: list[GpuArray | None] = [None] * len(inputs)
    where: Any = node.layout if node.layout is not None else positions[0]
    if needed[0]:
        cts[0] = wrap(build.scatter(ct.node(), build.full((), 0, target.dtype), where), device)
    if needed[1] and node.layout is not None:
        cts[1] = wrap(build.view(ct.node(), node.layout), device)
    elif needed[1] and values.size:
        (position,) = positions
        # of several values for one position the last has replaced the others
        numbers = build.reshape(build.generate(folds.ARANGE, (0, 1), (values.size,), dtypes.int64), values.shape)
        last = build.scatter(build.full(target.shape, 0, dtypes.int64), numbers, position)
        is_last = build.elementwise(ops.equal, build.gather(last, position), numbers)
        seen = build.gather(ct.node(), position)
        cts[1] = wrap(build.elementwise(ops.where, is_last, seen, build.full((), 0, values.dtype)), device)
    return cts


def _placed(node: Scatter, inputs: Sequence[Node], ct: GpuArray, device: Device) -> Cotangents:
    values, positions = inputs
    if not node.size:
        return wrap(build.full(values.shape, 0, values.dtype), device), None
    is_kept = build.elementwise(ops.less, positions, node.size)
    within = build.elementwise(ops.where, is_kept, positions, 0)
    seen = build.gather(ct.node(), within)
    return wrap(build.elementwise(ops.where, is_kept, seen, build.full((), 0, values.dtype)), device), None


def _combined(node: Scatter, inputs: Sequence[Node], ct: GpuArray, device: Device) -> Cotangents:
    op, (_, values, positions) = node.combine, inputs
    assert op is not None
    if values.dtype.kind in "fc" and op in (ops.add, ops.subtract):
        term = elementwise.converted(_seen(ct, positions), values.dtype)
        return ct, -term if op is ops.subtract else term, None
    if values.dtype.kind != "f" or op.kind is not Kind.EXTREME:
        operands = [wrap(operand, device) for operand in inputs[:2]]
        return *through(partial(_in_rounds, op, evaluate.read(positions, device)), operands, ct), None
    target, new, result = (wrap(value, device) for value in (inputs[0], values, node))
    is_kept, is_taken = target == result, new == _seen(result, positions)
    first, others = (mask.astype(ct.dtype).node() for mask in (is_kept, is_taken))
    share = ct / wrap(build.scatter_combined(ops.add, first, others, positions), device)
    term = elementwise.apply(ops.where, is_taken, _seen(share, positions), 0.0)
    return elementwise.apply(ops.where, is_kept, share, 0.0), elementwise.converted(term, values.dtype), None


def _in_rounds(op: MapOp, positions: Any, target: GpuArray, values: GpuArray) -> GpuArray:
    """Return a target after ``ufunc.at``, by writes in rounds: in each, no position is repeated."""
    places = positions.reshape(-1)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    rounds = np.arange(places.size) - np.searchsorted(ordered, ordered)
    node, lines = target.node(), values.reshape(-1).node()
    for members in np.split(order[np.argsort(rounds, kind="stable")], np.cumsum(np.bincount(rounds))[:-1]):
        positions_of_round = host_leaf(places[members])
        operands = build.gather(node, positions_of_round), build.gather(lines, host_leaf(members))
        updated = build.elementwise(op, *operands[: op.arity])
        node = build.scatter(node, build.cast(updated, node.dtype), positions_of_round)
    return wrap(node, target.device)


def _seen(array: GpuArray, positions: Node) -> GpuArray:
    return wrap(build.gather(array.node(), positions), array.device)


def _contract(
    node: Contract, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device
) -> Cotangents:
    left, right = inputs
    first = second = None
    if needed[0]:
        first = wrap(build.contract(ct.node(), _transposed(right)), device)
    if needed[1]:
        second = wrap(build.contract(_transposed(left), ct.node()), device)
    return first, second


def _transposed(node: Node) -> Node:
    return build.view(node, permute(contiguous(node.shape), (0, 2, 1)))


#: Leaves and generators have no operands, and calls are joints of their outputs.
subgraph.rules.update(
    {
        Map: elementwise.transpose,
        View: _view,
        Concat: _concat,
        Reduce: folds.reduction,
        Scan: folds.scan,
        Gather: _gather,
        Scatter: _scatter,
        Contract: _contract,
    }
)
