"""Rank filters: networks that select one of the elements of small windows, and sorts of larger ones."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray, make
from gpuarray.functions import sorting
from gpuarray.functions.arguments import concatenated, read
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.ops import images
from gpuarray.ops.images import Offsets, selection_network
from gpuarray.scipy._mirror import below, by_name, chosen
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished, footprint_of, spread
from gpuarray.scipy.ndimage._boundary import rounded, widened, wrapped_constant
from gpuarray.scipy.ndimage._elements import are_gathered, edge_table
from gpuarray.scipy.ndimage._extremes import MAXIMUM, MINIMUM, extreme_filter
from gpuarray.scipy.ndimage._parts import by_window, in_parts, is_network
from gpuarray.scipy.ndimage._windows import along_last, taken

__all__ = ["median_filter", "percentile_filter", "rank_filter"]

#: The most elements of a window that a network selects from.
_LARGEST: Final = 49
#: Dtypes of which a kernel selects; of others a network of recorded operations does.
_IN_REGISTERS: Final = frozenset(map(np.dtype, ("f4", "i1", "u1", "i2", "u2", "i4", "u4")))
#: Of fewer elements SciPy selects on the host.
_FEWEST: Final = 1 << 14
#: The most elements of windows that are sorted at once.
_AT_ONCE: Final = 1 << 27


def _selected(nodes: list[Node], rank: int) -> Node:
    nodes = [*nodes]
    for low, high, keeps_low, keeps_high in selection_network(len(nodes), rank):
        first, second = nodes[low], nodes[high]
        if keeps_low:
            nodes[low] = build.binary(ops.minimum, first, second)
        if keeps_high:
            nodes[high] = build.binary(ops.maximum, first, second)
    return nodes[rank]


@lru_cache(maxsize=256)
def _offsets(footprint: bytes, extents: Shape, before: Shape) -> tuple[Offsets, tuple[tuple[int, int], ...]]:
    """Return the elements of a window, from the first of each axis on, and the first and last offset of each axis."""
    offsets = np.argwhere(np.frombuffer(footprint, bool).reshape(extents)) - np.array(before)
    first, last = offsets.min(0), offsets.max(0)
    return tuple(map(tuple, (offsets - first).tolist())), tuple(zip(first.tolist(), last.tolist(), strict=True))


def _by_kernel(
    source: GpuArray, footprint: Any, before: Sequence[int], rank: int, modes: Sequence[str], cval: Any
) -> GpuArray:
    """Return the elements of a rank of windows, which one kernel selects in registers."""
    offsets, ends = _offsets(footprint.tobytes(), footprint.shape, tuple(before))
    table, is_open = edge_table(source.shape, ends, tuple(modes))
    node = build.call_one(
        images.rank_of_windows, (source.node(), table), source.shape, source.dtype,
        places=offsets, rank=rank, constant=cval if is_open else None,
    )  # fmt: skip
    return make(node, source.device)


def _sorted(source: GpuArray, rank: int, *window: Any) -> GpuArray:
    """Return the elements of a rank of large windows, which are sorted for some rows of the array at a time."""
    lined = along_last(source, *window)
    rows = max(1, _AT_ONCE * source.shape[0] // max(lined.size, 1))
    parts = [sorting.sort(lined[k : k + rows])[..., rank] for k in range(0, source.shape[0], rows)]
    return concatenated(parts, 0)


def _ranked(source: GpuArray, footprint: Any, rank: int, a: Any, dtype: Any) -> GpuArray:
    axes = axes_of(a.axes, source.ndim)
    known = footprint_of(footprint, a.size, axes, source.ndim)
    count = int(known.sum())
    rank = rank + count if rank < 0 else rank
    origins = spread(a.origin, axes, source.ndim)
    mode = ["constant"] * source.ndim
    for axis, kind in zip(axes, each(a.mode, len(axes)), strict=True):
        mode[axis] = kind
    if rank in (0, count - 1):
        extreme = MINIMUM if rank == 0 else MAXIMUM
        numbers = range(source.ndim)
        return extreme_filter(source, None, known, None, mode, a.cval, origins, numbers, extreme, dtype)
    if not source.size:
        return source.astype(dtype)
    before = [extent // 2 + lead for extent, lead in zip(known.shape, origins, strict=True)]
    cval = a.cval if source.ndim == 1 else wrapped_constant(a.cval, source.dtype)
    source = widened(source, mode, cval)
    if count > _LARGEST:
        result = _sorted(source, rank, known, before, mode, cval)
        return chosen(
            rounded(result, dtype), f"sorted windows: {count} elements are more than the {_LARGEST} of a network"
        )
    if source.dtype in _IN_REGISTERS and are_gathered(source):
        result = _by_kernel(source, known, before, rank, mode, cval)
    else:
        result = make(_selected(taken(source, known, before, mode, cval), rank), source.device)
    return chosen(
        rounded(result, dtype), f"a network of minima and maxima: {count} elements are no more than {_LARGEST}"
    )


def _declared(original: Callable[..., Any]) -> Callable[[Callable[[Any], GpuArray]], Callable[..., GpuArray]]:
    """Return a decorator of the definition of one of SciPy's functions."""
    return by_name(
        original, on_host=in_parts(original, by_window), by_scipy=below(_FEWEST, original, unless=is_network)
    )


def _filter(function: Any, a: Any, *number: Any) -> tuple[GpuArray, Any, Any, int]:
    """Return the array, the footprint, the dtype of the result and the size of the window, after SciPy's checks."""
    footprint = None if a.footprint is None else np.asarray(read(a.footprint), bool)
    source, dtype = checked(
        function, a.input, *number, a.size, footprint, output=a.output, mode=a.mode, cval=a.cval, origin=a.origin,
        axes=a.axes,
    )  # fmt: skip
    known = footprint_of(footprint, a.size, axes_of(a.axes, source.ndim), source.ndim)
    return source, footprint, dtype, int(known.sum())


@_declared(ndimage.rank_filter)
def rank_filter(a: Any) -> GpuArray:
    """Return the element of a rank of each window."""
    source, footprint, dtype, _ = _filter(ndimage.rank_filter, a, a.rank)
    return finished(_ranked(source, footprint, int(a.rank), a, dtype), a.output)


@_declared(ndimage.median_filter)
def median_filter(a: Any) -> GpuArray:
    """Return the medians of windows."""
    source, footprint, dtype, count = _filter(ndimage.median_filter, a)
    return finished(_ranked(source, footprint, count // 2, a, dtype), a.output)


@_declared(ndimage.percentile_filter)
def percentile_filter(a: Any) -> GpuArray:
    """Return a percentile of each window."""
    source, footprint, dtype, count = _filter(ndimage.percentile_filter, a, a.percentile)
    percentile = a.percentile + 100.0 if a.percentile < 0 else a.percentile
    rank = count - 1 if percentile == 100.0 else int(float(count) * percentile / 100.0)
    return finished(_ranked(source, footprint, rank, a, dtype), a.output)
