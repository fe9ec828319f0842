"""Ufunc methods that go through elements one after the other: ``at``, ``reduceat``, and folds that do not associate.

``at`` is a scatter that combines. The others are calls of :mod:`gpuarray.ops.calls`, which fold each sequence in
NumPy's order, with NumPy's dtypes, several sequences at once.
"""

from math import prod
from typing import Any

import numpy as np

from gpuarray import dispatch, dtypes
from gpuarray.array import GpuArray, as_node, device_of, wrap
from gpuarray.array.bounds import bounds
from gpuarray.array.operands import cast
from gpuarray.array.powers import check_power
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import NOT_GIVEN, as_array, check_cast, write_out
from gpuarray.functions.cumulative import axis_of_scan
from gpuarray.functions.reductions import axes_of, write_reduced
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import broadcast_to, normalize_axis
from gpuarray.ops import calls
from gpuarray.ops.spec import MapOp


def has_line(ufunc: Any) -> bool:
    """Return whether a ufunc can fold lines on the device: it is one operation with two operands."""
    return bool(ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None and ufunc in dispatch.UFUNC_OPS)


def _op(ufunc: Any) -> MapOp:
    return dispatch.UFUNC_OPS[ufunc][0]


def _loop(ufunc: Any, source: DType, dtype: Any, out: Any) -> tuple[DType, ...]:
    """Return the dtypes of the loop in which a ufunc folds ``source``. They are equal.

    Raises
    ------
    TypeError
        If the ufunc has no such loop.
    """
    requested = None if dtype is None else dtypes.canonical(dtype)
    if requested is None and out is None and ufunc in (np.add, np.multiply) and source.kind in "biu":
        requested = dtypes.uint64 if source.kind == "u" else dtypes.int64
    dtype_of_out = None if out is None or requested is not None else out.dtype
    loop = ufunc.resolve_dtypes(
        (dtype_of_out, source, None), signature=(requested, None, None), casting="unsafe", reduction=True
    )
    return tuple(dtypes.canonical(d) for d in loop)


# --- at -------------------------------------------------------------------------------------------------------------


def update_at(ufunc: Any, target: GpuArray, key: Any, *values: Any) -> None:
    """Apply a ufunc in place to the elements at ``key``, in the order of the key, as often as each occurs.

    Results are cast to the target's dtype by any means, as NumPy does here.

    Raises
    ------
    IndexError
        If a position is out of range.
    TypeError
        If the ufunc does not accept the dtypes.
    ValueError
        If the target is read-only, or the values do not broadcast to the selection.
    """
    target.check_writeable()
    device = device_of(target, key, *values) or target.device
    nodes = [as_node(value) for value in values]
    ufunc.resolve_dtypes((target.dtype, *(node.dtype for node in nodes), None))
    positions = target.positions(key)
    operands = [_operand(node, positions.shape) for node in nodes]
    if not positions.size:
        return
    operand = operands[0] if operands else build.full(positions.shape, False, dtypes.bool_)
    if ufunc is np.power:
        check_power(target.node(), values[0], device)
    target.combine_at(_op(ufunc), positions, operand)
    target.bind_device(device)


def _operand(node: Node, shape: tuple[int, ...]) -> Node:
    """Broadcast values to the shape of the selection. Python scalars are not weak here, as in NumPy."""
    return node if node.shape == shape else build.view(node, broadcast_to(node.shape, shape))


# --- reduceat, reduce, accumulate -----------------------------------------------------------------------------------


def fold_spans(
    ufunc: Any, source: GpuArray, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> GpuArray:
    """Fold from each index to the next one along ``axis``, as ``reduceat`` does.

    Raises
    ------
    IndexError
        If an index is out of range.
    TypeError
        If the indices are not integers.
    """
    if source.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    number = normalize_axis(axis, source.ndim)
    length = source.shape[number]
    at = _indices(indices)
    lowest, highest = bounds(at.node(), at.device) if at.size else (0, -1)
    if lowest < 0 or highest >= length:
        wrong = lowest if lowest < 0 else highest
        raise IndexError(f"index {wrong} out-of-bounds in {ufunc.__name__}.reduceat [0, {length})")
    kind = _loop(ufunc, source.dtype, dtype, out)
    line, shape = _as_rows(source, number, kind[-1])
    spans = (at.size, prod(shape))
    parameters = {"combine": _op(ufunc), "loop": kind, "method": "reduceat"}
    node = build.call_one(calls.fold_spans, [line, at.node()], spans, kind[-1], **parameters)
    return _delivered(_along(node, number, (at.size, *shape), source), out, ufunc)


def _indices(indices: Any) -> GpuArray:
    array = as_array(np.asarray(indices, dtype=np.intp) if isinstance(indices, list | tuple | int) else indices)
    if array.dtype.kind not in "iub":
        check_cast(array.dtype, dtypes.int64)
    if array.ndim != 1:
        raise ValueError(f"object of too {'small depth' if not array.ndim else 'deep'} for desired array")
    return array.astype(dtypes.int64, copy=False)


def fold_line(
    ufunc: Any,
    source: GpuArray,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NOT_GIVEN,
) -> GpuArray:
    """Fold along axes in order, as ``reduce`` does for ufuncs that are not associative.

    Raises
    ------
    ValueError
        If there are several axes and the ufunc has no identity, or there are no elements and no identity.
    """
    axes = axes_of(axis, source.ndim)
    kind = _loop(ufunc, source.dtype, dtype, out)[-1]
    if len(axes) > 1 and ufunc.identity is None:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        )
    start = ufunc.identity if initial is NOT_GIVEN or initial is None else initial
    has_initial = initial is not NOT_GIVEN and initial is not None
    rest = tuple(a for a in range(source.ndim) if a not in axes)
    ordered = source.transpose((*axes, *rest))
    length, shape = prod(source.shape[a] for a in axes), tuple(source.shape[a] for a in rest)
    line: Node = build.cast(build.reshape(ordered.node(), (length, prod(shape))), kind)
    if has_initial or not length or (length == 1 and start is not None):
        if start is None:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        value = start.item() if isinstance(start, GpuArray) else start
        line = build.concat([build.full((1, prod(shape)), value, kind), line], 0)
    first = build.full((1,), 0, dtypes.int64)
    folded = build.call_one(
        calls.fold_spans,
        [line, first],
        (1, prod(shape)),
        kind,
        combine=_op(ufunc),
        loop=(kind, kind, kind),
        method="reduce",
    )
    extents = tuple(1 if a in axes else n for a, n in enumerate(source.shape)) if keepdims else shape
    return write_reduced(ufunc.__name__, wrap(build.reshape(folded, extents), source.device), out)


def running_line(ufunc: Any, source: GpuArray, axis: Any = 0, dtype: Any = None, out: Any = None) -> GpuArray:
    """Scan along an axis in order, as ``accumulate`` does for ufuncs that are not associative."""
    number = axis_of_scan(axis, source.ndim)
    kind = _loop(ufunc, source.dtype, dtype, out)
    line, shape = _as_rows(source, number, kind[-1])
    node = build.call_one(calls.running_fold, [line], line.shape, kind[-1], combine=_op(ufunc), loop=kind)
    return _delivered(_along(node, number, (source.shape[number], *shape), source), out, ufunc)


def _as_rows(source: GpuArray, axis: int, kind: DType) -> tuple[Node, tuple[int, ...]]:
    """Return a matrix whose rows are the positions of an axis, and the shape of the other axes."""
    order = (axis, *(a for a in range(source.ndim) if a != axis))
    shape = tuple(source.shape[a] for a in order[1:])
    node = cast(source.transpose(order).node(), kind)
    return build.reshape(node, (source.shape[axis], prod(shape))), shape


def _along(node: Node, axis: int, shape: tuple[int, ...], source: GpuArray) -> GpuArray:
    """Return an array in which the rows of a matrix are the positions of ``axis``."""
    array = wrap(build.reshape(node, shape), source.device)
    return array.transpose((*range(1, axis + 1), 0, *range(axis + 1, len(shape))))


def _delivered(result: GpuArray, out: Any, ufunc: Any) -> GpuArray:
    if out is None:
        return wrap(result.node(), result.device)
    if tuple(out.shape) != result.shape:
        raise ValueError(f"provided out is the wrong size for {ufunc.__name__}: {tuple(out.shape)}, not {result.shape}")
    return write_out(result, out, "unsafe")
