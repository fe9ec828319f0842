"""The transposes of reductions and scans."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.elementwise import Scale, apply, conj, converted, scaled
from gpuarray.autodiff.errors import undefined
from gpuarray.autodiff.subgraph import through
from gpuarray.device import Device
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape, contiguous, flip, slice_axis
from gpuarray.graph.nodes import Node, Reduce, Scan
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators, reductions
from gpuarray.ops.reduce_spec import ReduceOp

Axes: TypeAlias = tuple[int, ...]

SUM: Final = reductions.sum
ARANGE: Final = generators.arange


def reduction(
    node: Reduce, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device
) -> Sequence[GpuArray | None]:
    """Return the cotangent of the reduced array."""
    (source,) = inputs
    if node.op not in RULES:
        raise undefined(node, node.op.name)
    beside = shape_beside(node, source)
    result = wrap(build.reshape(node, beside), device)
    ct = converted(ct, node.dtype).reshape(beside)
    return (converted(RULES[node.op](node.axes, wrap(source, device), result, ct, scaled), source.dtype),)


def shape_beside(node: Reduce, source: Node) -> Shape:
    """Return the shape of a reduction whose axes are kept with the extent 1."""
    return tuple([1 if a in node.axes else n for a, n in enumerate(source.shape)])


def _extreme(axes: Axes, x: Any, result: Any, ct: Any, scale: Scale) -> Any:
    """Share the cotangent among the elements that are the extreme one."""
    is_extreme = x == result
    part = 1 / is_extreme.astype(x.dtype).sum(axis=axes, keepdims=True)  # infinite if the result is NaN
    return apply(ops.where, is_extreme, scale(ct, part), scale(ct, 0 * part))


def _product(axes: Axes, x: Any, result: Any, ct: Any, scale: Scale) -> Any:
    if not isinstance(x, GpuArray) and _is_normal(result):  # a quotient, which nothing differentiates again
        return scale(ct, result / x)
    outer = tuple([a for a in range(x.ndim) if a not in axes])
    order = outer + axes
    moved = x.transpose(order)
    lines = moved.reshape((*[x.shape[a] for a in outer], math.prod([x.shape[a] for a in axes])))
    return scale(ct, products_of_others(lines).reshape(moved.shape).transpose([order.index(a) for a in range(x.ndim)]))


def _is_normal(values: Any) -> bool:
    """Return whether no value of NumPy is 0, subnormal, infinite or NaN."""
    size = np.abs(values)
    return bool(((size >= np.finfo(size.dtype).tiny) & (size < np.inf)).all())


def products_of_others(lines: Any) -> Any:
    """Return for each element of lines the product of those before and after it: zeros need no care."""
    return _products_before(lines) * _products_before(lines[..., ::-1])[..., ::-1]


def _products_before(lines: Any) -> Any:
    ones = np.ones_like(lines[..., :1])
    return np.concatenate([ones, lines[..., :-1]], -1).cumprod(-1)


def scan(
    node: Scan, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device
) -> Sequence[GpuArray | None]:
    """Return the cotangent of the operand of a scan."""
    (source,) = inputs
    combine = node.op.combine
    if node.op is SUM:
        return (converted(wrap(_reverse_sums(ct.node(), node.axis), device), source.dtype),)
    if combine is None or node.op not in RULES:
        raise undefined(node, f"{node.op.name} along an axis")
    axis = node.axis
    (result,) = through(lambda x: _doubled(x, axis, combine), (wrap(source, device),), ct)
    return (result,)


def _reverse_sums(node: Node, axis: int) -> Node:
    backwards = flip(contiguous(node.shape), (axis,))
    return build.view(build.scan(SUM, build.view(node, backwards), axis), backwards)


def _doubled(x: GpuArray, axis: int, op: Any) -> GpuArray:
    """Return the running fold of lines by steps of 1, 2, 4, ... elements."""
    length, step = x.shape[axis], 1
    while step < length:
        node = x.node()
        whole = contiguous(node.shape)
        first = build.view(node, slice_axis(whole, axis, 0, 1, step))
        before = build.view(node, slice_axis(whole, axis, 0, 1, length - step))
        after = build.view(node, slice_axis(whole, axis, step, 1, length - step))
        x = wrap(build.concat([first, build.elementwise(op, before, after)], axis), x.device)
        step *= 2
    return x


#: The rules of reductions: they take the axes, the operand, the result and its cotangent with these axes, and what
#: multiplies cotangents by derivatives. That of sums takes arrays of this package alone.
RULES: Final[dict[ReduceOp, Callable[[Axes, Any, Any, Any, Scale], Any]]] = {
    reductions.sum: lambda axes, x, result, ct, scale: ct.broadcast(x.shape),
    reductions.prod: _product,
    reductions.min: _extreme,
    reductions.max: _extreme,
    reductions.fmin: _extreme,
    reductions.fmax: _extreme,
    reductions.squared_deviations: lambda axes, x, result, ct, scale: scale(
        ct, 2 * conj(x - x.mean(axis=axes, keepdims=True))
    ),
    reductions.logsumexp: lambda axes, x, result, ct, scale: scale(
        ct, apply(ops.exp, apply(ops.where, x == result, 0.0, x - result))
    ),
}
