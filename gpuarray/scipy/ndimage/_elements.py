"""The elements of windows, read through the edges: one gather, whatever the number of elements and of axes.

The positions are a small graph of tables, which is made once for a shape and a window. A loop that reads them inlines
it, so that no padded array, and no window, is stored.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import as_array
from gpuarray.functions.logic import where
from gpuarray.graph import build, tape
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators
from gpuarray.runtime import evaluate
from gpuarray.scipy.ndimage._boundary import inside

#: The most entries of the tables for all positions of a window along an axis.
_TABLED: Final = 1 << 22
#: Positions below this have 32 bits.
_SMALL: Final = 1 << 31


class Window(NamedTuple):
    """Where the elements of a window lie, counted from the element whose window it is.

    Attributes
    ----------
    offsets : bytes
        An int64 for each element and axis.
    shape : tuple of int
        The axes that the elements have: those of a box, whose offsets along an axis have even distances, or one axis.
    """

    offsets: bytes
    shape: Shape


def are_gathered(source: GpuArray) -> bool:
    """Return whether windows of an array are read by a gather.

    On the host NumPy computes with whole views instead, and derivatives and batches of views are cheaper than those of
    gathers.
    """
    if tape.state.tapes and tape.is_followed(source.node()):
        return False
    return not evaluate.is_host_device(source.device)


def window(offsets: Any) -> Window:
    """Return a window of the elements at offsets from an element, of shape (elements, axes), in C order."""
    lines = [np.unique(along) for along in offsets.T]
    shape = tuple(len(line) for line in lines if len(line) > 1)
    is_even = all(len(line) < 3 or not np.ptp(np.diff(line)) for line in lines)
    is_box = is_even and bool(shape) and prod(shape) == len(offsets)
    return Window(np.ascontiguousarray(offsets, np.int64).tobytes(), shape if is_box else (len(offsets),))


def elements(source: GpuArray, window: Window, modes: Sequence[str], cval: Any) -> Node:
    """Return the elements of the window of each element, along last axes of the window's shape.

    Parameters
    ----------
    source : GpuArray
        The array, with at least one element.
    window : Window
        Where the elements of a window lie.
    modes : sequence of str
        The mode of each axis.
    cval : number
        The constant beyond edges.
    """
    positions, is_open = _positions(source.shape, window, tuple(modes))
    if not is_open:
        return build.gather(source.node(), positions)
    result = build.gather(source.node(), build.binary(ops.maximum, positions, 0))
    beyond = make(build.binary(ops.less, positions, 0), source.device)
    constant = as_array(cval, source.device).astype(source.dtype)
    return where(beyond, constant, make(result, source.device)).node()


def _position_dtype(shape: Shape) -> DType:
    return dtypes.int32 if len(shape) * prod(shape) < _SMALL else dtypes.int64


@lru_cache(maxsize=256)
def constants(values: bytes, dtype: DType) -> Node:
    """Return numbers along one axis, such as one for each element of a window, as a leaf, which devices keep."""
    return host_leaf(np.frombuffer(values, dtype).copy())


@lru_cache(maxsize=32)
def _positions(shape: Shape, window: Window, modes: tuple[str, ...]) -> tuple[Node, bool]:
    """Return the flat positions of the elements of windows, and whether some are negative, as those beyond edges."""
    ndim, dtype = len(shape), _position_dtype(shape)
    away = np.frombuffer(window.offsets, np.int64).reshape(-1, ndim)
    is_flat = len(window.shape) == 1
    total: Any = None
    is_open = False
    spot = 0
    for axis in range(ndim):
        offsets = away[:, axis]
        reaches = offsets.min() < 0 or offsets.max() > 0
        is_open = is_open or ("constant" in modes[axis] and bool(reaches))
        positions = np.unique(offsets)
        positions = offsets if is_flat and len(positions) > 1 else positions
        before = spot if len(positions) > 1 else 0
        node = _along(
            shape, axis, positions, modes[axis], dtype, (1,) * before, (1,) * (len(window.shape) - 1 - before)
        )
        spot += not is_flat and len(positions) > 1
        total = node if total is None else build.binary(ops.add, total, node)
    return total, is_open


def _entries(shape: Shape, axis: int, first: int, last: int, mode: str) -> Any:
    """Return the steps in flat positions of positions from ``first`` to ``last`` beyond an axis; or ``-size``."""
    known = inside(np.arange(first, shape[axis] + last), shape[axis], mode)
    return np.where(known < 0, -prod(shape), known * prod(shape[axis + 1 :]))


@lru_cache(maxsize=128)
def edge_table(shape: Shape, ends: tuple[tuple[int, int], ...], modes: tuple[str, ...]) -> tuple[Node, bool]:
    """Return the steps in flat positions of positions along each axis, one axis after the other.

    Parameters
    ----------
    shape : tuple of int
        The shape of an array.
    ends : tuple of (int, int)
        The first and the last offset along each axis.
    modes : tuple of str
        The mode of each axis.

    Returns
    -------
    tuple of (Node, bool)
        The numbers, and whether there are negative ones, with which positions that stand for a constant are negative.
    """
    lines = [_entries(shape, axis, *end, mode) for axis, (end, mode) in enumerate(zip(ends, modes, strict=True))]
    table = np.concatenate(lines)
    return host_leaf(table.astype(np.int32)), bool((table < 0).any())


def _along(shape: Shape, axis: int, offsets: Any, mode: str, dtype: DType, before: Shape, after: Shape) -> Node:
    """Return the steps in flat positions of the positions of windows along an axis, with the axes of windows.

    Neighbouring elements read neighbouring entries: of one table if positions are at even distances, which caches keep
    best, else of one for each position. ``before`` and ``after`` are the other axes of windows, of one element.
    """
    ndim, extent, stride = len(shape), shape[axis], prod(shape[axis + 1 :])
    if not offsets.any():
        ones = (1,) * (ndim - axis + len(before) + len(after))
        return build.generate(generators.arange, (0, stride), (extent, *ones), dtype)
    first, apart = int(offsets.min()), {*np.diff(offsets).tolist()} or {1}
    table = _entries(shape, axis, first, int(offsets.max()), mode).astype(dtype)
    steps = offsets - first
    extents = [extent if a == axis else 1 for a in range(ndim)]
    strides = [1 if a == axis else 0 for a in range(ndim)]
    if len(apart) == 1 and min(apart) > 0:
        along = (*before, len(steps), *after), (*(0,) * len(before), min(apart), *(0,) * len(after))
        return build.view(host_leaf(table), Layout((*extents, *along[0]), (*strides, *along[1]), 0))
    if len(steps) * extent <= _TABLED:
        lines = host_leaf(np.stack([table[step : step + extent] for step in steps]))
        return build.view(lines, Layout((*extents, len(steps)), (*strides, extent), 0))
    positions = build.generate(generators.arange, (0, 1), (extent, *(1,) * (ndim - axis)), dtype)
    return build.gather(host_leaf(table), build.elementwise(ops.add, positions, host_leaf(steps.astype(dtype))))
