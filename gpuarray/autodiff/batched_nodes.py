"""The batching rule of each kind of node: its counterpart for all elements of a batch, whose axis comes first.

Leaves and generators have no operands, and so are the same for all elements.
"""

from typing import Any

from gpuarray.autodiff import batched_calls
from gpuarray.autodiff.batches import Batch, permuted, rule
from gpuarray.graph import build
from gpuarray.graph.indexing import index_dtype
from gpuarray.graph.layouts import Layout, contiguous, permute
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Map, Node, Reduce, Scan, Scatter, View
from gpuarray.ops import elementwise as ops


@rule(Map)
def _map(batch: Batch, node: Map) -> Node:
    ndim = len(node.shape)
    if node.op is ops.positive and not batch.is_replaced(node):  # what a derivative was taken with respect to
        return batch.full(node.inputs[0])
    operands = []
    for operand in node.inputs:
        stacked = batch.value(operand)
        if stacked is not None:
            stacked = build.reshape(stacked, (batch.size, *(1,) * (ndim - len(operand.shape)), *operand.shape))
        operands.append(operand if stacked is None else stacked)
    return Map(node.op, tuple(operands), (batch.size, *node.shape), node.dtype)


def _layout(batch: Batch, layout: Layout, size: int) -> Layout:
    return Layout((batch.size, *layout.shape), (size, *layout.strides), layout.offset)


@rule(View)
def _view(batch: Batch, node: View) -> Node:
    (source,) = node.inputs
    return build.view(batch.full(source), _layout(batch, node.layout, source.size))


@rule(Concat)
def _concat(batch: Batch, node: Concat) -> Node:
    return build.concat([batch.full(source) for source in node.inputs], node.axis + 1)


@rule(Reduce)
def _reduce(batch: Batch, node: Reduce) -> Node:
    axes = tuple(axis + 1 for axis in node.axes)
    return Reduce(node.op, batch.full(node.inputs[0]), axes, (batch.size, *node.shape), node.dtype)


@rule(Scan)
def _scan(batch: Batch, node: Scan) -> Node:
    return Scan(node.op, batch.full(node.inputs[0]), node.axis + 1, node.dtype)


@rule(Gather)
def _gather(batch: Batch, node: Gather) -> Node:
    source, positions = node.inputs
    stacked = batch.value(source)
    if stacked is None:
        return build.gather(source, batch.full(positions))
    return build.gather(stacked, _positions(batch, positions, source.size))


def _positions(batch: Batch, positions: Node, size: int) -> Node:
    """Return positions in arrays of some size as positions in all of them."""
    dtype = index_dtype(batch.size * size)
    stacked = batch.value(positions)
    result = build.cast(positions if stacked is None else stacked, dtype)
    return build.elementwise(ops.add, result, batch.starts(size, len(positions.shape), dtype))


@rule(Scatter)
def _scatter(batch: Batch, node: Scatter) -> Node:
    if node.is_whole:
        values, positions = node.inputs
        position = _positions(batch, positions, node.size)
        is_kept = build.elementwise(ops.less, batch.full(positions), node.size)
        position = build.elementwise(
            ops.where, is_kept, position, build.full((), batch.size * node.size, position.dtype)
        )
        return build.scatter_all(batch.full(values), position, (batch.size, *node.shape))
    target, values, *others = node.inputs
    if node.layout is not None:
        where = _layout(batch, node.layout, target.size)
        return build.scatter(batch.full(target), batch.full(values), where)
    position = _positions(batch, others[0], target.size)
    if node.combine is not None:
        return build.scatter_combined(node.combine, batch.full(target), batch.full(values), position)
    return build.scatter(batch.full(target), batch.full(values), position)


@rule(Contract)
def _contract(batch: Batch, node: Contract) -> Node:
    left, right = node.inputs
    first, second = batch.value(left), batch.value(right)
    number, (count, rows, columns), inner = batch.size, node.shape, left.shape[2]
    if second is None:  # one product of higher matrices
        assert first is not None
        high = build.reshape(permuted(first, (1, 0, 2, 3)), (count, number * rows, inner))
        product = build.reshape(build.contract(high, right), (count, number, rows, columns))
        return permuted(product, (1, 0, 2, 3))
    if first is None and columns == 1:  # one product of the vectors, as rows, so that the batch stays in front
        product = build.view(left, permute(contiguous(left.shape), (0, 2, 1)))
        if count > 1 or not batch.is_of_units(second):
            product = build.contract(build.reshape(permuted(second, (1, 0, 2, 3)), (count, number, inner)), product)
        return permuted(build.reshape(product, (count, number, rows, 1)), (1, 0, 2, 3))
    if first is None:  # one product of wider matrices
        wide = build.reshape(permuted(second, (1, 2, 0, 3)), (count, inner, number * columns))
        product = build.reshape(build.contract(left, wide), (count, rows, number, columns))
        return permuted(product, (2, 0, 1, 3))
    stacked = [build.reshape(operand, (number * count, *operand.shape[2:])) for operand in (first, second)]
    return build.reshape(build.contract(*stacked), (number, *node.shape))


@rule(Call)
def _call(batch: Batch, node: Call) -> Any:
    return batched_calls.counterpart(batch, node)
