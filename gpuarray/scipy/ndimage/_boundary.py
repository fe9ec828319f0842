"""Elements beyond the edges of an array: for each mode a map from positions along an axis to positions inside.

Filters see an array through it that is extended at its edges; interpolation takes single elements through it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, concatenated
from gpuarray.functions.logic import where
from gpuarray.graph import build
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators


def inside(positions: Any, extent: int, mode: str) -> Any:
    """Return the positions inside an axis that stand for positions anywhere, as NumPy's integers; -1 for a constant.

    Parameters
    ----------
    positions : ndarray
        Integers.
    extent : int
        The extent of the axis, at least 1.
    mode : str
        One of SciPy's modes, with the meaning that it has for filters.
    """
    if mode in ("constant", "grid-constant"):
        return np.where((positions >= 0) & (positions < extent), positions, -1)
    if mode == "nearest":
        return np.clip(positions, 0, extent - 1)
    if mode in ("wrap", "grid-wrap"):
        return positions % extent
    if mode == "mirror":
        period = max(2 * extent - 2, 1)
        rest = positions % period
        return np.minimum(rest, period - rest) if extent > 1 else rest
    rest = positions % (2 * extent)
    return np.minimum(rest, 2 * extent - 1 - rest)


#: Larger arrays are extended by joining edges to them, which are stored; others by a gather, which other loops inline.
LARGE: Final = 1 << 18


@lru_cache(maxsize=256)
def _table(extent: int, start: int, stop: int, mode: str) -> Node:
    """Return the positions inside an axis for a range of positions."""
    return host_leaf(inside(np.arange(start, stop), extent, mode).astype(np.int32))


def extended(
    source: GpuArray, before: Sequence[int], after: Sequence[int], modes: Sequence[str], cval: Any
) -> GpuArray:
    """Return an array with additional elements ``before`` and ``after`` the edges of each axis."""
    ends = [(-first, extent + last) for first, extent, last in zip(before, source.shape, after, strict=True)]
    if source.size < LARGE:
        return seen_through(source, ends, modes, cval)
    for axis, (start, stop) in enumerate(ends):
        extent = source.shape[axis]
        parts = [edge(source, axis, start, 0, modes[axis], cval)] if start else []
        parts.append(source)
        if stop > extent:
            parts.append(edge(source, axis, extent, stop, modes[axis], cval))
        source = concatenated(parts, axis) if len(parts) > 1 else source
    return source


def edge(source: GpuArray, axis: int, start: int, stop: int, mode: str, cval: Any) -> GpuArray:
    """Return the elements of an array at a range of positions along an axis, inside or outside."""
    ends = [(start, stop) if a == axis else (0, extent) for a, extent in enumerate(source.shape)]
    return seen_through(source, ends, [mode] * source.ndim, cval)


def seen_through(source: GpuArray, ends: Sequence[tuple[int, int]], modes: Sequence[str], cval: Any) -> GpuArray:
    """Return the elements of an array at a range of positions along each axis: one gather for any number of axes."""
    shape, ndim = source.shape, source.ndim
    if all(end == (0, extent) for end, extent in zip(ends, shape, strict=True)):
        return source
    positions: Any = None
    outside: Any = None
    stride = 1
    for axis in reversed(range(ndim)):
        start, stop = ends[axis]
        if (start, stop) != (0, shape[axis]):
            node: Node = _table(shape[axis], start, stop, modes[axis])
        else:
            node = build.generate(generators.arange, (0, 1), (stop,), np.dtype(np.int32))
        node = build.reshape(node, (stop - start, *(1,) * (ndim - 1 - axis)))
        if modes[axis] in ("constant", "grid-constant") and (start < 0 or stop > shape[axis]):
            beyond = build.binary(ops.less, node, 0)
            outside = beyond if outside is None else build.binary(ops.bitwise_or, outside, beyond)
            node = build.binary(ops.maximum, node, 0)
        term = node if stride == 1 else build.binary(ops.multiply, node, stride)
        positions = term if positions is None else build.binary(ops.add, positions, term)
        stride *= shape[axis]
    result = make(build.gather(source.node(), positions), source.device)
    if outside is None:
        return result
    return where(make(outside, source.device), as_array(cval, source.device).astype(source.dtype), result)


def rounded(value: GpuArray, dtype: Any) -> GpuArray:
    """Return numbers in the dtype of a result, as SciPy stores them: integers are cut off, and wrap around."""
    if value.dtype == dtype:
        return value
    if dtype.kind == "b" and value.dtype.kind in "fc":
        return elementwise.trunc(value.real).astype(dtype)
    if dtype.kind in "iu" and value.dtype.kind == "f" and dtype.itemsize < 8:
        value = value.astype(np.int32 if dtype.itemsize < 4 else np.int64)
    return value.astype(dtype)


def widened(source: GpuArray, modes: Sequence[str], cval: Any) -> GpuArray:
    """Return the array in a dtype that holds the constant beyond its edges, as SciPy, which computes in float64."""
    if source.dtype.kind not in "biu" or not any("constant" in mode for mode in modes):
        return source
    with np.errstate(invalid="ignore"):
        is_exact = np.array_equal(np.asarray(cval).astype(source.dtype), cval)
    return source if is_exact else source.astype(dtypes.float64)


def wrapped_constant(cval: Any, dtype: Any) -> Any:
    """Return the constant beyond edges as SciPy's footprint filters convert it: truncated, and integers wrap around."""
    return np.trunc(cval).astype(np.int64).astype(dtype) if dtype.kind in "biu" else cval
