"""Windows around the elements of an array: sums of products with weights, and other reductions.

On devices they are reductions over a gather of all elements of windows (:mod:`gpuarray.scipy.ndimage._elements`). On
the host, and where derivatives are taken, few elements are shifted views of an extended array, and more are a reduction
over overlapping views.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, apply, make
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import as_array, concatenated
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, Shape, contiguous
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators, reductions
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import MapOp
from gpuarray.scipy.ndimage._boundary import LARGE, edge, extended, widened
from gpuarray.scipy.ndimage._elements import Window, are_gathered, constants, elements, window

#: The most shifted views that one loop reads.
MOST_VIEWS: Final = 64
#: Of boxes, zeros among the weights are left out at the end if there are fewer than the rest of this.
_DENSE: Final = 0.75
#: Weights that SciPy takes for zero.
_NEAR_ZERO: Final = float(np.finfo(np.float64).eps)
#: Integers below this are exact in 32 bits.
_EXACT: Final = 1 << 31


def sum_dtype(source: DType, result: DType, weights: Any) -> DType:
    """Return the dtype in which products are added so that the result is SciPy's, which adds in float64.

    float32 in and out is added in float32, and small integers with whole weights in int32, which is exact.
    """
    kind = weights.dtype.kind
    if "c" in (source.kind, kind):
        return dtypes.complex64 if result == dtypes.complex64 else dtypes.complex128
    if source == result == dtypes.float32:
        return dtypes.float32
    if source.kind in "biu" and source.itemsize < 4 and isinstance(weights, np.ndarray):
        whole = weights.astype(np.int64)
        if np.array_equal(whole, weights) and np.abs(whole).sum() * 2 ** (8 * source.itemsize) < _EXACT:
            return dtypes.int32
    return dtypes.float64


def shifted(padded: GpuArray, shape: Sequence[int], offsets: Sequence[int]) -> Node:
    """Return the part of an extended array that begins at offsets."""
    strides = contiguous(padded.shape).strides
    first = sum(o * s for o, s in zip(offsets, strides, strict=True))
    return build.view(padded.node(), Layout(tuple(shape), strides, first))


def windows(padded: GpuArray, shape: Sequence[int], extents: Sequence[int]) -> Node:
    """Return the window of each element, its axes last."""
    strides = contiguous(padded.shape).strides
    return build.view(padded.node(), Layout((*shape, *extents), (*strides, *strides), 0))


def weighted(
    source: GpuArray,
    weights: Any,
    before: Sequence[int],
    modes: Sequence[str],
    cval: Any,
    result: DType,
    *,
    has_gaps: bool = True,
) -> GpuArray:
    """Return the sum of the products of weights and the window of each element, before it is stored.

    Parameters
    ----------
    source : GpuArray
        The array.
    weights : ndarray or GpuArray
        One axis for each axis of the array.
    before : sequence of int
        How many elements the window begins before the element, along each axis.
    modes : sequence of str
        The mode of each axis.
    cval : number
        The constant beyond edges.
    result : dtype
        The dtype of the result.
    has_gaps : bool
        Whether elements with a weight of zero do not count, so that it does not matter whether they are finite. SciPy
        leaves them out of windows, but not of lines along one axis.
    """
    if source.dtype.kind == "c" and weights.dtype.kind != "c":  # infinities and NaN of a part stay in it, as in SciPy
        kind = dtypes.float32 if result == dtypes.complex64 else dtypes.float64
        number = complex(cval)
        sides = ((source.real, number.real), (source.imag, number.imag))
        parts = [weighted(x, weights, before, modes, end, kind, has_gaps=has_gaps) for x, end in sides]
        return apply(ops.complex_from_parts, *(part.astype(kind, copy=False) for part in parts))
    source = widened(source, modes, cval)
    if are_gathered(source):
        if isinstance(weights, GpuArray):
            known = _of_array(weights, before, source.dtype, result)
        else:
            numbers = weights.tobytes(), weights.dtype, weights.shape
            known = _of_numbers(*numbers, tuple(before), source.dtype, result, has_gaps)
        if known is not None:
            seen = build.cast(elements(source, known.window, modes, cval), known.dtype)
            if known.line is not None:
                if known.has_zeros:  # a weight of zero takes no notice of infinities
                    zero = build.constant(known.dtype.type(0), known.dtype)
                    counted = build.binary(ops.not_equal, known.line, zero)
                    seen = build.elementwise(ops.where, counted, seen, zero)
                # last, as products that are only added need no care for subnormal numbers
                seen = build.binary(ops.multiply, seen, known.line)
            return _reduced(source, seen, reductions.sum, known.dtype)
    after = [extent - 1 - lead for extent, lead in zip(weights.shape, before, strict=True)]
    dtype = sum_dtype(source.dtype, result, weights)
    positions: Any = None
    if not isinstance(weights, GpuArray):
        positions = np.argwhere(_are_counted(weights, has_gaps))
    if positions is None or len(positions) > MOST_VIEWS:
        line = weights if positions is None else as_array(weights.astype(dtype), source.device)
        return _by_parts(source, before, after, modes, cval, lambda padded, shape: _folded(padded, shape, line, dtype))
    listed = positions.tolist()
    return _by_parts(
        source, before, after, modes, cval, lambda padded, shape: _products(padded, shape, weights, listed, dtype)
    )


class _Weights(NamedTuple):
    """The weights of a window.

    Attributes
    ----------
    window : Window
        Its elements.
    line : Node or None
        A weight for each of them; None if all are 1.
    has_zeros : bool
        Whether some weights are zero; their elements do not count.
    dtype : dtype
        The dtype in which products are added.
    """

    window: Window
    line: Node | None
    has_zeros: bool
    dtype: DType


@lru_cache(maxsize=256)
def _of_numbers(
    values: bytes, kind: DType, extents: Shape, before: Shape, source: DType, result: DType, has_gaps: bool
) -> _Weights | None:
    """Return weights that are not zero; None if a sum has no terms, or only in SciPy's order is what SciPy returns."""
    weights = np.frombuffer(values, kind).reshape(extents)
    dtype = sum_dtype(source, result, weights)
    positions = np.argwhere(_are_counted(weights, has_gaps))
    if not len(positions) or (result.kind not in "fc" and dtype.kind == "f"):  # rounded sums become integers
        return None
    first, last = positions.min(0), positions.max(0) + 1
    box = weights[tuple(slice(*ends) for ends in zip(first.tolist(), last.tolist(), strict=True))].astype(dtype)
    is_counted = _are_counted(box, has_gaps)
    if is_counted.mean() < _DENSE:
        box, is_counted = weights[tuple(positions.T)].astype(dtype), np.ones(len(positions), bool)
    else:
        box, positions = np.where(is_counted, box, 0).astype(dtype), np.argwhere(np.ones(box.shape, bool)) + first
    known = window(positions - np.array(before))
    line = build.reshape(constants(box.tobytes(), dtype), known.shape)
    return _Weights(known, None if (box == 1).all() else line, not is_counted.all(), dtype)


def _are_counted(weights: Any, has_gaps: bool) -> Any:
    return np.abs(weights) > _NEAR_ZERO if has_gaps else np.ones(weights.shape, bool)


def _of_array(weights: GpuArray, before: Sequence[int], source: DType, result: DType) -> _Weights | None:
    """Return the weights of an array of this package, whose values are not read."""
    dtype = sum_dtype(source, result, weights)
    if not weights.size or (result.kind not in "fc" and dtype.kind == "f"):
        return None
    positions = np.argwhere(np.ones(weights.shape, bool))
    known = window(positions - np.array(before))
    return _Weights(known, build.cast(weights.reshape(known.shape).node(), dtype), False, dtype)


def _reduced(source: GpuArray, windows: Node, fold: ReduceOp, dtype: DType | None = None) -> GpuArray:
    axes = tuple(range(source.ndim, len(windows.shape)))
    return make(build.reduce(fold, windows, axes, dtype=dtype), source.device)


def _by_parts(
    source: GpuArray,
    before: Sequence[int],
    after: Sequence[int],
    modes: Sequence[str],
    cval: Any,
    compute: Callable[[GpuArray, Sequence[int]], Node],
) -> GpuArray:
    """Return the results of a function of windows.

    Of large arrays with windows along one axis, the function gets the array itself for the windows that lie inside, and
    the edges apart. Others are extended first.
    """
    shape = source.shape
    axes = [axis for axis, ends in enumerate(zip(before, after, strict=True)) if any(ends)]
    if len(axes) != 1 or source.size < LARGE or min(*before, *after) < 0:
        padded = _extended(source, before, after, modes, cval)
        return make(compute(padded, shape), source.device)
    (axis,) = axes
    extent, first, last = shape[axis], before[axis], after[axis]
    if extent < 4 * (first + last):
        padded = _extended(source, before, after, modes, cval)
        return make(compute(padded, shape), source.device)

    def part(array: GpuArray, length: int) -> GpuArray:
        return make(compute(array, (*shape[:axis], length, *shape[axis + 1 :])), source.device)

    parts = [part(source, extent - first - last)]
    if first:
        parts.insert(0, part(edge(source, axis, -first, first + last, modes[axis], cval), first))
    if last:
        parts.append(part(edge(source, axis, extent - last - first, extent + last, modes[axis], cval), last))
    return concatenated(parts, axis)


def _extended(source: GpuArray, before: Any, after: Any, modes: Any, cval: Any) -> GpuArray:
    """Return an extended array; windows that begin after the element, or end before it, need elements there too."""
    result = extended(source, [max(n, 0) for n in before], [max(n, 0) for n in after], modes, cval)
    cuts = tuple(
        slice(max(-first, 0), extent - max(-last, 0))
        for first, last, extent in zip(before, after, result.shape, strict=True)
    )
    return result if all(n >= 0 for n in (*before, *after)) else result[cuts].copy()


def _products(padded: GpuArray, shape: Any, weights: Any, positions: list[list[int]], dtype: DType) -> Node:
    """Return the sum of products. Opposite elements with equal or opposite weights are multiplied once, as in SciPy."""
    total: Any = None
    middle = [extent // 2 for extent in weights.shape]
    is_line = sum(extent > 1 for extent in weights.shape) == 1 and weights.size % 2
    sign = _symmetry(weights) if is_line else 0
    if sign:
        positions = [position for position in positions if position <= middle]
        positions = [*[p for p in positions if p == middle], *[p for p in positions if p != middle]]
    for position in positions:
        node = build.cast(shifted(padded, shape, position), dtype)
        if sign and position != middle:
            mirrored = [extent - 1 - p for extent, p in zip(weights.shape, position, strict=True)]
            opposite = build.cast(shifted(padded, shape, mirrored), dtype)
            node = build.binary(ops.add if sign > 0 else ops.subtract, node, opposite)
        weight = weights[tuple(position)].item()
        if dtype.kind == "i":
            weight = int(weight)
        term = node if weight == 1 else build.binary(ops.multiply, node, weight)
        total = term if total is None else build.binary(ops.add, total, term)
    return build.full(tuple(shape), 0, dtype) if total is None else total


def _symmetry(weights: Any) -> int:
    """Return 1 for symmetric weights, -1 for antisymmetric ones, and 0 for others, as SciPy tells them apart."""
    line = weights.reshape(-1)
    if weights.dtype.kind == "c" or line.size < 3:
        return 0
    near = np.finfo(np.float64).eps
    if (np.abs(line - line[::-1]) <= near).all():
        return 1
    half = line.size // 2
    return -1 if (np.abs(line[:half] + line[: -half - 1 : -1]) <= near).all() else 0


def _folded(padded: GpuArray, shape: Any, weights: GpuArray, dtype: DType) -> Node:
    ndim = len(shape)
    seen = build.cast(windows(padded, shape, weights.shape), dtype)
    product = build.elementwise(ops.multiply, seen, build.cast(weights.node(), dtype))
    axes = tuple(range(ndim, 2 * ndim))
    return build.reduce(reductions.sum, product, axes, dtype=dtype)


def folded(
    source: GpuArray,
    footprint: Any,
    before: Sequence[int],
    modes: Sequence[str],
    cval: Any,
    combine: MapOp,
    fold: ReduceOp,
    added: Any = None,
) -> GpuArray:
    """Return the elements of each window, combined by an operation such as a minimum.

    Parameters
    ----------
    source : GpuArray
        The array.
    footprint : ndarray
        Which elements of a window count.
    before, modes, cval
        As in :func:`weighted`.
    combine : MapOp
        The operation.
    fold : ReduceOp
        The reduction that it makes.
    added : ndarray, optional
        What is added to the elements of each window.
    """
    after = [extent - 1 - lead for extent, lead in zip(footprint.shape, before, strict=True)]
    if are_gathered(source):
        window = _of_footprint(footprint.tobytes(), footprint.shape, tuple(before))
        seen = elements(source, window, modes, cval)
        if added is not None:
            steps = constants(added[footprint].astype(source.dtype).tobytes(), source.dtype)
            seen = build.binary(ops.add, seen, build.reshape(steps, window.shape))
        return _reduced(source, seen, fold)
    positions = np.argwhere(footprint).tolist()

    def compute(padded: GpuArray, shape: Sequence[int]) -> Node:
        if len(positions) > MOST_VIEWS:
            nodes = _view_of_positions(padded, shape, footprint)
            if added is not None:
                steps = as_array(added[footprint].astype(source.dtype), source.device).node()
                nodes = build.elementwise(ops.add, nodes, steps)
            return build.reduce(fold, nodes, source.ndim)
        total: Any = None
        for position in positions:
            node = shifted(padded, shape, position)
            if added is not None:
                node = build.binary(ops.add, node, added[tuple(position)].item())
            total = node if total is None else build.binary(combine, total, node)
        return total

    return _by_parts(source, before, after, modes, cval, compute)


@lru_cache(maxsize=256)
def _of_footprint(footprint: bytes, extents: Shape, before: Shape) -> Window:
    return window(np.argwhere(np.frombuffer(footprint, bool).reshape(extents)) - np.array(before))


def _view_of_positions(padded: GpuArray, shape: Sequence[int], footprint: Any) -> Node:
    """Return the elements of each window that a footprint selects, along a last axis."""
    ndim = len(shape)
    if footprint.all() and sum(extent > 1 for extent in footprint.shape) < 2:
        axes = [axis for axis, extent in enumerate(footprint.shape) if extent > 1]
        strides = contiguous(padded.shape).strides
        layout = Layout((*shape, footprint.size), (*strides, strides[axes[0]] if axes else 0), 0)
        return build.view(padded.node(), layout)
    strides = contiguous(padded.shape).strides
    starts: Any = build.generate(generators.arange, (0, 1), (1,) * (ndim + 1), dtypes.int32)
    for axis, extent in enumerate(shape):
        line = build.generate(generators.arange, (0, strides[axis]), (extent,), dtypes.int32)
        starts = build.binary(ops.add, starts, build.reshape(line, (extent, *(1,) * (ndim - axis))))
    offsets = np.argwhere(footprint) @ np.array(strides, np.int64)
    positions = build.elementwise(ops.add, starts, host_leaf(offsets.astype(np.int32)))
    return build.gather(padded.node(), positions)


def taken(source: GpuArray, footprint: Any, before: Sequence[int], modes: Sequence[str], cval: Any) -> list[Node]:
    """Return the elements of each window as arrays, one for each position in the footprint."""
    after = [extent - 1 - lead for extent, lead in zip(footprint.shape, before, strict=True)]
    padded = _extended(source, before, after, modes, cval)
    return [shifted(padded, source.shape, position) for position in np.argwhere(footprint).tolist()]


def along_last(source: GpuArray, footprint: Any, before: Sequence[int], modes: Sequence[str], cval: Any) -> GpuArray:
    """Return the elements of each window along a last axis."""
    after = [extent - 1 - lead for extent, lead in zip(footprint.shape, before, strict=True)]
    padded = _extended(source, before, after, modes, cval)
    return make(_view_of_positions(padded, source.shape, footprint), source.device)
