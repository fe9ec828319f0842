"""What lies beyond the edges of an array: for each mode a map from positions along an axis to positions inside.

Filters see an array through it that is extended at its edges; interpolation takes single elements through it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gpuarray.array import GpuArray, make
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array
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


@lru_cache(maxsize=256)
def _table(extent: int, before: int, after: int, mode: str) -> Node:
    """Return the positions that an extended axis shows."""
    return host_leaf(inside(np.arange(-before, extent + after), extent, mode).astype(np.int32))


def extended(
    source: GpuArray, before: Sequence[int], after: Sequence[int], modes: Sequence[str], cval: Any
) -> GpuArray:
    """Return an array with elements beyond its edges, so many before and after each axis.

    It is one gather, whatever the number of axes.
    """
    if not any((*before, *after)):
        return source
    shape, ndim = source.shape, source.ndim
    positions: Any = None
    outside: Any = None
    stride = 1
    for axis in reversed(range(ndim)):
        line = (-1,) + (1,) * (ndim - 1 - axis)
        if before[axis] or after[axis]:
            table = _table(shape[axis], before[axis], after[axis], modes[axis])
            node = build.reshape(table, (table.shape[0], *line[1:]))
            if modes[axis] in ("constant", "grid-constant"):
                beyond = build.binary(ops.less, node, 0)
                outside = beyond if outside is None else build.binary(ops.bitwise_or, outside, beyond)
                node = build.binary(ops.maximum, node, 0)
        else:
            node = build.generate(generators.arange, (0, 1), (shape[axis],), np.dtype(np.int32))
            node = build.reshape(node, (shape[axis], *line[1:]))
        term = node if stride == 1 else build.binary(ops.multiply, node, stride)
        positions = term if positions is None else build.binary(ops.add, positions, term)
        stride *= shape[axis]
    found = make(build.gather(source.node(), positions), source.device)
    if outside is None:
        return found
    filled: GpuArray = where(make(outside, source.device), as_array(cval, source.device).astype(source.dtype), found)
    return filled


def rounded(value: GpuArray, dtype: Any) -> GpuArray:
    """Return numbers in the dtype of a result, as SciPy stores them: integers are cut off, and wrap around."""
    if value.dtype == dtype:
        return value
    if dtype.kind == "b" and value.dtype.kind in "fc":
        return elementwise.trunc(value.real).astype(dtype)
    if dtype.kind in "iu" and value.dtype.kind == "f" and dtype.itemsize < 8:
        value = value.astype(np.int32 if dtype.itemsize < 4 else np.int64)
    return value.astype(dtype)
