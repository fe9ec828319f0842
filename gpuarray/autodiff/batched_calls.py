"""The batching rules of calls: most take stacks of lines or matrices, and others become calls that do.

A rule takes the batch, one of the outputs of a call, and the counterparts of its operands, each None where it is the
same for all elements. It returns the counterpart of the only output, or a function that makes that of an output: the
counterparts of all outputs of one call come from one function, so that they stay the outputs of one call.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray import dtypes
from gpuarray.autodiff import images as image_rules
from gpuarray.autodiff.batches import Batch, moved, permuted
from gpuarray.autodiff.errors import name_of, without_rule
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, contiguous, slice_axis
from gpuarray.graph.nodes import Call, Node
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.ops import calls, factorisations, images, reductions, searches
from gpuarray.ops import elementwise as ops

_Made: TypeAlias = Node | Callable[[Call], Node]
_Owns: TypeAlias = Sequence[Node | None]
_Rule: TypeAlias = Callable[[Batch, Call, _Owns], _Made]


def counterpart(batch: Batch, node: Call) -> Node:
    """Return the counterpart of an output of a call."""
    key = node.op, node.inputs, node.detail[1]
    stacked = batch.calls.get(key)
    if stacked is None:
        rule = RULES.get(node.op)
        if rule is None:
            raise without_rule(node, name_of(node))
        stacked = batch.calls[key] = rule(batch, node, [batch.value(operand) for operand in node.inputs])
    return stacked(node) if callable(stacked) else stacked


def _called(batch: Batch, node: Call, *inputs: Node) -> _Made:
    """Return a function that makes outputs with the axis of the batch in front."""
    shape = (batch.size,)
    return lambda output: Call(output.op, inputs, node.parameters, output.output, shape + output.shape, output.dtype)


def _stacked(batch: Batch, node: Call, owns: _Owns) -> _Made:
    return _called(batch, node, *[batch.full(operand) for operand in node.inputs])


def _solve(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Solve stacks of systems; one matrix with more right-hand sides, if it is the same for all elements."""
    left, right = node.inputs
    if owns[0] is None and len(left.shape) == 2 and len(right.shape) <= 2:
        columns = moved(batch.full(right), 0, 1)  # (rows, batch) or (rows, batch, columns)
        flat = build.reshape(columns, (columns.shape[0], columns.size // max(columns.shape[0], 1)))
        return _solution(
            batch, (left, flat), owns, lambda solution: moved(build.reshape(solution, columns.shape), 1, 0)
        )
    if len(right.shape) == 1:  # a vector is one only without a stack
        shape = (*right.shape, 1) if owns[1] is None else (batch.size, *(1,) * (len(left.shape) - 2), *right.shape, 1)
        side = build.reshape(right if owns[1] is None else owns[1], shape)
        known = left if owns[0] is None else owns[0]
    else:
        lead = max(len(left.shape), len(right.shape)) + 1
        known, side = (
            operand
            if stacked is None
            else build.reshape(stacked, (stacked.shape[0], *(1,) * (lead - len(stacked.shape)), *stacked.shape[1:]))
            for operand, stacked in zip(node.inputs, owns, strict=True)
        )
    return _solution(batch, (known, side), owns)


def _triangular(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Solve stacks of triangular systems; one triangle with more right-hand sides, if it is the same for all."""
    left, right = node.inputs
    if owns[0] is not None or len(left.shape) > 2:
        return _stacked(batch, node, owns)
    columns = moved(batch.full(right), 0, 1)
    flat = build.reshape(columns, (columns.shape[0], batch.size * right.shape[1]))
    solved = Call(node.op, (left, flat), node.parameters, 0, flat.shape, node.dtype)
    return lambda output: moved(build.reshape(solved, columns.shape), 1, 0)


def _solution(
    batch: Batch, operands: tuple[Node, Node], owns: _Owns, apart: Callable[[Node], Node] = lambda node: node
) -> _Made:
    """Return a function that makes the solutions, and the status of the matrices."""
    known, side = operands
    stack = broadcast_shapes(known.shape[:-2], side.shape[:-2])

    def output_of(output: Call) -> Node:
        if not output.output:
            solved = Call(output.op, operands, output.parameters, 0, (*stack, *side.shape[-2:]), output.dtype)
            return build.reshape(apart(solved), (batch.size, *output.shape))
        status = Call(output.op, operands, output.parameters, output.output, known.shape[:-2], output.dtype)
        return batch.repeated(status) if owns[0] is None else build.reshape(status, (batch.size, *output.shape))

    return output_of


def _lstsq(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Solve for the right-hand sides of all elements at once, if they have one matrix."""
    left, right = node.inputs
    if owns[0] is not None:
        return _by_singular_values(node, owns[0], batch.full(right))
    columns = moved(batch.full(right), 0, 1)
    flat = build.reshape(columns, (columns.shape[0], columns.size // max(columns.shape[0], 1)))

    def output_of(output: Call) -> Node:
        if output.output > 1:  # rank and singular values
            return batch.repeated(
                Call(node.op, (left, flat), node.parameters, output.output, output.shape, output.dtype)
            )
        lead = output.shape[:1] if output.output == 0 else ()
        shape = (*lead, flat.shape[1])
        whole = Call(node.op, (left, flat), node.parameters, output.output, shape, output.dtype)
        apart = moved(build.reshape(whole, (*lead, *columns.shape[1:])), len(lead), 0)
        return build.reshape(apart, (batch.size, *output.shape))

    return output_of


def _by_singular_values(node: Call, left: Node, right: Node) -> _Made:
    """Return least squares from the factors of stacks of matrices."""
    number, m, n = left.shape
    k, rcond = min(m, n), node.parameters["rcond"]
    kinds = [output for output in (left.dtype, right.dtype) if output.kind in "fc"] or [dtypes.float64]
    dtype = dtypes.promote(*kinds) if len(kinds) > 1 else kinds[0]
    real = dtype if dtype.kind == "f" else build.elementwise(ops.real, build.full((), 0, dtype)).dtype
    shapes = [((number, m, k), dtype), ((number, k), real), ((number, k, n), dtype), ((number,), dtypes.int32)]
    matrices = build.cast(left, dtype)
    u, s, vh, status = build.call(factorisations.svd, [matrices], {"full_matrices": False, "hermitian": False}, shapes)
    least = np.finfo(np.float64).eps * max(m, n) if rcond is None else rcond
    largest = build.reduce(reductions.max, s, 1, None, True)
    is_kept = build.elementwise(ops.greater, s, build.elementwise(ops.multiply, largest, float(least)))
    scale = build.elementwise(ops.where, is_kept, build.elementwise(ops.divide, 1.0, s), build.full((), 0, real))
    columns = build.cast(build.reshape(right, (number, m, right.size // max(number * m, 1))), dtype)
    inner = build.contract(_adjoint(u), columns)
    inner = build.elementwise(ops.multiply, inner, build.cast(build.reshape(scale, (number, k, 1)), dtype))
    solution = build.contract(_adjoint(vh), inner)
    apart = build.elementwise(ops.subtract, columns, build.contract(matrices, solution))
    size = build.elementwise(ops.abs, apart)
    residuals = build.reduce(reductions.sum, build.elementwise(ops.multiply, size, size), 1)
    rank = build.reduce(reductions.sum, build.cast(is_kept, dtypes.int32), 1, dtypes.int32)
    results = (solution, residuals, rank, s, status)
    return lambda output: build.reshape(results[output.output], (number, *output.shape))


def _adjoint(node: Node) -> Node:
    turned = permuted(node, (0, 2, 1))
    return build.elementwise(ops.conj, turned) if node.dtype.kind == "c" else turned


def _search(batch: Batch, node: Call, owns: _Owns) -> _Made:
    line, values = node.inputs
    if owns[0] is None:
        return _called(batch, node, line, batch.full(values))
    if line.dtype.kind == "c":
        raise without_rule(node, name_of(node), " of complex numbers in lines that differ along the batch")
    return _searched(batch, owns[0], batch.full(values), node.parameters["side"])


def _searched(batch: Batch, lines: Node, values: Node, side: str) -> Node:
    """Return insertion positions in a line for each element, by binary searches that halve spans together."""
    length, ndim = lines.shape[1], len(values.shape) - 1
    low: Node = build.full(values.shape, 0, dtypes.int64)
    if not length:
        return low
    high: Node = build.full(values.shape, length, dtypes.int64)
    starts = batch.starts(length, ndim, dtypes.int64)
    for _ in range(length.bit_length()):
        middle = build.elementwise(ops.bitwise_right_shift, build.elementwise(ops.add, low, high), 1)
        near = build.elementwise(ops.minimum, middle, length - 1)  # where the span is empty
        there = build.gather(lines, build.elementwise(ops.add, near, starts))
        before = _precedes(there, values) if side == "left" else _not(_precedes(values, there))
        before = build.elementwise(ops.logical_and, before, build.elementwise(ops.less, low, high))
        low = build.elementwise(ops.where, before, build.elementwise(ops.add, middle, 1), low)
        high = build.elementwise(ops.where, before, high, middle)
    return low


def _precedes(first: Node, second: Node) -> Node:
    """Return whether numbers are less than others in the order of sorts, where NaN is greatest."""
    less = build.elementwise(ops.less, first, second)
    if first.dtype.kind != "f":
        return less
    nan, number = build.elementwise(ops.isnan, second), _not(build.elementwise(ops.isnan, first))
    return build.elementwise(ops.logical_or, less, build.elementwise(ops.logical_and, nan, number))


def _not(node: Node) -> Node:
    return build.elementwise(ops.logical_not, node)


def _isin(batch: Batch, node: Call, owns: _Owns) -> _Made:
    elements, others = node.inputs
    if owns[1] is None:
        return _called(batch, node, batch.full(elements), others)
    common = dtypes.promote(elements.dtype, others.dtype)
    lines = build.cast(build.reshape(owns[1], (batch.size, others.size)), common)
    (ordered,) = build.call(calls.sort, [lines], {"descending": False}, [(lines.shape, common)])
    sought = build.cast(batch.full(elements), common)
    if common.kind == "c":
        raise without_rule(node, name_of(node), " of complex numbers")
    position = build.elementwise(ops.minimum, _searched(batch, ordered, sought, "left"), others.size - 1)
    starts = batch.starts(others.size, len(elements.shape), dtypes.int64)
    there = build.gather(ordered, build.elementwise(ops.add, position, starts))
    return build.elementwise(ops.equal, there, sought)


def _bincount(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Count in one line, in which each element has positions of its own."""
    (positions,) = node.inputs
    return _counted(batch, batch.full(positions), node.parameters["number"])


def _counted(batch: Batch, positions: Node, number: int) -> Node:
    wide = build.cast(positions, dtypes.int64)
    position = build.elementwise(ops.add, wide, batch.starts(number, len(positions.shape) - 1, dtypes.int64))
    total = batch.size * number
    line = build.reshape(position, (position.size,))
    return build.reshape(
        build.call_one(calls.bincount, [line], (total,), dtypes.int64, number=total), (batch.size, number)
    )


def _histogram(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Search each element among the edges, and count the positions."""
    elements, edges = node.inputs
    values = build.cast(batch.full(elements), edges.dtype)
    number = edges.size - 1
    if owns[1] is None:
        bins = build.call_one(calls.searchsorted, [edges, values], values.shape, dtypes.int64, side="right")
        last = build.view(edges, Layout((), (), number))
    else:
        bins = _searched(batch, owns[1], values, "right")
        last = build.view(owns[1], slice_axis(contiguous(owns[1].shape), 1, number, 1, 1))
    at_end = build.elementwise(ops.equal, values, last)
    position = build.elementwise(ops.where, at_end, build.full((), number, dtypes.int64), bins)
    counts = _counted(batch, position, number + 2)
    return build.view(counts, slice_axis(contiguous(counts.shape), 1, 1, 1, number))


def _folded(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Fold lines that lie side by side."""
    source, *rest = node.inputs
    if any(stacked is not None for stacked in owns[1:]):
        raise without_rule(node, name_of(node), " with indices that differ along the batch")
    side = moved(batch.full(source), 0, 1)
    line = build.reshape(side, (side.shape[0], batch.size * source.shape[1]))

    def output_of(output: Call) -> Node:
        length, width = output.shape
        shape = (length, batch.size * width)
        whole = Call(output.op, (line, *rest), output.parameters, output.output, shape, output.dtype)
        return moved(build.reshape(whole, (length, batch.size, width)), 1, 0)

    return output_of


def _enveloped(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Find the least sums along the same axis of a stack; it is counted from the last one."""
    return _called(batch, node, batch.full(node.inputs[0]), node.inputs[1])


def _walked(batch: Batch, node: Call, owns: _Owns) -> _Made:
    """Search one line from the positions of all elements; lines that differ are the parts of one line."""
    tree, starts, third = node.inputs[0], *[batch.full(operand) for operand in node.inputs[1:]]
    if owns[0] is None:
        return _called(batch, node, tree, starts, third)
    offsets = batch.starts(tree.size // 2, len(starts.shape) - 1, dtypes.int32)
    inputs = [_one_tree(owns[0]), build.elementwise(ops.add, starts, offsets), third]
    if node.op is searches.last_least:
        inputs[2] = build.elementwise(ops.add, third, offsets)
    positions = build.elementwise(
        ops.subtract, build.call_one(node.op, inputs, starts.shape, node.dtype, **node.parameters), offsets
    )
    return build.elementwise(ops.maximum, positions, -1)  # what a search finds in an earlier part is not its own


def _one_tree(trees: Node) -> Node:
    """Return the tree of lines side by side; no search of a part reads the values above the parts."""
    number, size = trees.shape
    count = 1 << (number - 1).bit_length()
    levels: list[Node] = [build.full((count,), 0, trees.dtype)]
    width = 1
    while width < size:
        level = build.view(trees, slice_axis(contiguous(trees.shape), 1, width, 1, width))
        levels.append(build.reshape(level, (number * width,)))
        if count > number:
            levels.append(build.full(((count - number) * width,), 0, trees.dtype))
        width *= 2
    return build.concat(levels, 0)


#: The rules of calls; a call without one is an error that names it.
RULES: Final[dict[Any, _Rule]] = {
    calls.sort: _stacked,
    calls.argsort: _stacked,
    calls.partition: _stacked,
    calls.argpartition: _stacked,
    calls.packbits: _stacked,
    calls.unpackbits: _stacked,
    calls.fft: _stacked,
    calls.rfft: _stacked,
    calls.irfft: _stacked,
    calls.searchsorted: _search,
    calls.isin: _isin,
    calls.bincount: _bincount,
    calls.histogram: _histogram,
    calls.fold_spans: _folded,
    calls.running_fold: _folded,
    images.first_of_part: image_rules.batched_parts,
    images.rank_of_windows: image_rules.batched_ranks,
    images.lower_envelope: _enveloped,
    images.place_in_envelope: _enveloped,
    searches.last_least: _walked,
    searches.last_outside: _walked,
    factorisations.cholesky: _stacked,
    factorisations.cond: _stacked,
    factorisations.det: _stacked,
    factorisations.eig: _stacked,
    factorisations.eigh: _stacked,
    factorisations.eigvals: _stacked,
    factorisations.eigvalsh: _stacked,
    factorisations.inv: _stacked,
    factorisations.lstsq: _lstsq,
    factorisations.lu: _stacked,
    factorisations.qr: _stacked,
    factorisations.row_order: _stacked,
    factorisations.slogdet: _stacked,
    factorisations.solve: _solve,
    factorisations.solve_triangular: _triangular,
    factorisations.svd: _stacked,
}
