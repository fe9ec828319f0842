"""Minimum and maximum filters, and the grey morphology that is made of them."""

from collections.abc import Callable, Sequence
from math import ceil, isqrt, prod
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, read
from gpuarray.graph import build
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import MapOp
from gpuarray.scipy._mirror import below, by_name, chosen
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished, footprint_of, spread
from gpuarray.scipy.ndimage._boundary import extended, rounded, widened, wrapped_constant
from gpuarray.scipy.ndimage._elements import are_gathered
from gpuarray.scipy.ndimage._parts import LARGE, by_line, by_two_windows, by_window, in_parts, is_narrow
from gpuarray.scipy.ndimage._windows import folded

__all__ = [
    "black_tophat", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "maximum_filter",
    "maximum_filter1d", "minimum_filter", "minimum_filter1d", "morphological_gradient", "morphological_laplace",
    "white_tophat",
]  # fmt: skip


class Extreme(NamedTuple):
    """An extreme of windows.

    Attributes
    ----------
    combine : MapOp
        The extreme of two elements.
    fold : ReduceOp
        That of many.
    sign : int
        The sign with which a structure is added: -1 for minima.
    """

    combine: MapOp
    fold: ReduceOp
    sign: int


MINIMUM: Final = Extreme(ops.minimum, reductions.min, -1)
MAXIMUM: Final = Extreme(ops.maximum, reductions.max, 1)
#: Longer windows are made of shorter ones.
_LONGEST: Final = 32
#: The most elements of a window that is read at once, in place of lines along one axis after the other.
_ONE_WINDOW: Final = 64


def line_extreme(
    source: GpuArray, size: int, axis: int, mode: str, cval: Any, origin: int, extreme: Extreme
) -> GpuArray:
    """Return the extremes of windows along an axis; long windows are covered by shorter ones at even distances."""
    if size <= 1 or not source.size:
        return source
    before, modes = [0] * source.ndim, [mode] * source.ndim
    before[axis] = size // 2 + origin
    if size <= _LONGEST:
        footprint = np.ones([size if a == axis else 1 for a in range(source.ndim)], bool)
        return folded(source, footprint, before, modes, cval, extreme.combine, extreme.fold)
    block = isqrt(size - 1) + 1
    starts = np.zeros(size, bool)
    starts[[min(k * block, size - block) for k in range(ceil(size / block))]] = True

    wide = extended(
        source,
        [before[a] if a == axis else 0 for a in range(source.ndim)],
        [size - 1 - before[a] if a == axis else 0 for a in range(source.ndim)],
        modes,
        cval,
    )
    short = _valid(wide, np.ones(block, bool), axis, extreme)
    result = _valid(short, starts[: size - block + 1], axis, extreme)
    return chosen(result, f"extremes of windows of {block} elements, which cover those of {size} along axis {axis}")


def _box_extreme(source: GpuArray, lines: Sequence[tuple[int, int, str, int]], cval: Any, extreme: Extreme) -> GpuArray:
    """Return the extremes of boxes, whose extent, mode and origin along axes are listed."""
    if 1 < prod(size for _, size, _, _ in lines) <= _ONE_WINDOW and are_gathered(source):
        shape, before, modes = [1] * source.ndim, [0] * source.ndim, ["reflect"] * source.ndim
        for axis, size, mode, origin in lines:
            shape[axis], before[axis], modes[axis] = size, size // 2 + origin, mode
        result = folded(source, np.ones(shape, bool), before, modes, cval, extreme.combine, extreme.fold)
        return chosen(
            result, f"one window: {prod(shape)} elements, which are no more than {_ONE_WINDOW}, are read once"
        )
    for axis, size, mode, origin in lines:
        source = line_extreme(source, size, axis, mode, cval, origin, extreme)
    return source


def _valid(source: GpuArray, footprint: Any, axis: int, extreme: Extreme) -> GpuArray:
    """Return the extremes of the windows that lie inside an array."""
    length = source.shape[axis] - footprint.size + 1
    total: Any = None
    for position in np.flatnonzero(footprint).tolist():
        window = source[(slice(None),) * axis + (slice(position, position + length),)]
        node = window.node()
        total = node if total is None else build.binary(extreme.combine, total, node)
    return as_array(source)._fresh(total)


def extreme_filter(
    source: GpuArray, size: Any, footprint: Any, structure: Any, modes: Any, cval: Any, origin: Any,
    axes: Sequence[int], extreme: Extreme, dtype: Any,
) -> GpuArray:  # fmt: skip
    """Return the extremes of windows, in the dtype of the result. The arguments have been checked."""
    if not source.size:
        return source.astype(dtype)
    kinds = each(modes, len(axes))
    added = None
    if structure is not None:
        steps = np.asarray(read(structure), float)
        footprint = np.ones(steps.shape, bool) if footprint is None else read(footprint)
    if structure is None and (footprint is None or np.all(footprint)):
        sizes = each(size, len(axes)) if footprint is None else np.shape(footprint)
        every = zip(axes, map(int, sizes), kinds, each(origin, len(axes)), strict=True)
        lines = [line for line in every if line[1] > 1]  # along other axes the origin does not count either
        return rounded(_box_extreme(widened(source, kinds, cval), lines, cval, extreme), dtype)
    cval = wrapped_constant(cval, source.dtype)
    known = footprint_of(footprint, size, axes, source.ndim)
    if structure is not None:
        added = extreme.sign * steps.reshape(known.shape)
        if source.dtype != dtypes.float32:
            source = source.astype(dtypes.float64)
    before = [extent // 2 + lead for extent, lead in zip(known.shape, spread(origin, axes, source.ndim), strict=True)]
    mode = ["reflect"] * source.ndim
    for axis, kind in zip(axes, kinds, strict=True):
        mode[axis] = kind
    return rounded(folded(source, known, before, mode, cval, extreme.combine, extreme.fold, added), dtype)


def _read(value: Any) -> Any:
    return None if value is None else read(value)


def _filter(function: Any, a: Any, extreme: Extreme) -> GpuArray:
    footprint = _read(a.footprint)
    source, dtype = checked(
        function, a.input, a.size, footprint, output=a.output, mode=a.mode, cval=a.cval, origin=a.origin, axes=a.axes
    )
    axes = axes_of(a.axes, source.ndim)
    result = extreme_filter(source, a.size, footprint, None, a.mode, a.cval, a.origin, axes, extreme, dtype)
    return finished(result, a.output)


@by_name(
    ndimage.minimum_filter,
    on_host=in_parts(ndimage.minimum_filter, by_window),
    by_scipy=below(LARGE, ndimage.minimum_filter, is_narrow),
)
def minimum_filter(a: Any) -> GpuArray:
    """Return the minima of windows."""
    return _filter(ndimage.minimum_filter, a, MINIMUM)


@by_name(
    ndimage.maximum_filter,
    on_host=in_parts(ndimage.maximum_filter, by_window),
    by_scipy=below(LARGE, ndimage.maximum_filter, is_narrow),
)
def maximum_filter(a: Any) -> GpuArray:
    """Return the maxima of windows."""
    return _filter(ndimage.maximum_filter, a, MAXIMUM)


def _line(function: Any, a: Any, extreme: Extreme) -> GpuArray:
    source, dtype = checked(
        function, a.input, a.size, a.axis, output=a.output, mode=a.mode, cval=a.cval, origin=a.origin
    )
    axis = normalize_axis(a.axis, source.ndim)
    wide = widened(source, [a.mode], a.cval)
    return finished(rounded(line_extreme(wide, a.size, axis, a.mode, a.cval, a.origin, extreme), dtype), a.output)


@by_name(ndimage.minimum_filter1d, on_host=in_parts(ndimage.minimum_filter1d, by_line))
def minimum_filter1d(a: Any) -> GpuArray:
    """Return the minima of windows along an axis."""
    return _line(ndimage.minimum_filter1d, a, MINIMUM)


@by_name(ndimage.maximum_filter1d, on_host=in_parts(ndimage.maximum_filter1d, by_line))
def maximum_filter1d(a: Any) -> GpuArray:
    """Return the maxima of windows along an axis."""
    return _line(ndimage.maximum_filter1d, a, MAXIMUM)


# -- grey morphology --------------------------------------------------------------------------------------------------


def _mirrored(value: Any) -> Any:
    return None if value is None else value[(slice(None, None, -1),) * value.ndim]


def _eroded(source: GpuArray, a: Any, dtype: Any) -> GpuArray:
    axes = axes_of(a.axes, source.ndim)
    shapes = _read(a.footprint), _read(a.structure)
    return extreme_filter(source, a.size, *shapes, a.mode, a.cval, a.origin, axes, MINIMUM, dtype)


def _dilated(source: GpuArray, a: Any, dtype: Any) -> GpuArray:
    axes = axes_of(a.axes, source.ndim)
    footprint, structure = _mirrored(_read(a.footprint)), _mirrored(_read(a.structure))
    shape = next((known.shape for known in (footprint, structure) if known is not None), None)
    sizes = each(a.size, len(axes)) if shape is None else shape
    origins = [-o - (extent % 2 == 0) for o, extent in zip(each(a.origin, len(axes)), sizes, strict=True)]
    return extreme_filter(source, a.size, footprint, structure, a.mode, a.cval, origins, axes, MAXIMUM, dtype)


def _difference(first: GpuArray, second: GpuArray, dtype: Any) -> GpuArray:
    if first.dtype.kind == second.dtype.kind == "b":
        return rounded(first ^ second, dtype)
    return rounded(first - second, dtype)


def _opened(source: GpuArray, a: Any, dtype: Any) -> GpuArray:
    return _dilated(_eroded(source, a, source.dtype), a, dtype)


def _closed(source: GpuArray, a: Any, dtype: Any) -> GpuArray:
    return _eroded(_dilated(source, a, source.dtype), a, dtype)


def _gradient(source: GpuArray, a: Any, dtype: Any) -> GpuArray:
    return _difference(_dilated(source, a, source.dtype), _eroded(source, a, source.dtype), dtype)


def _laplacian(source: GpuArray, a: Any, dtype: Any) -> GpuArray:
    both = _dilated(source, a, source.dtype) + _eroded(source, a, source.dtype)
    return rounded(both - source - source, dtype)


def _grey(original: Callable[..., Any], doc: str, compute: Callable[[GpuArray, Any, Any], GpuArray]) -> Any:
    """Return one of SciPy's functions; ``compute(source, arguments, dtype)`` returns its result."""

    def run(a: Any) -> GpuArray:
        shapes = _read(a.footprint), _read(a.structure)
        source, dtype = checked(
            original, a.input, a.size, *shapes, output=a.output, mode=a.mode, cval=a.cval, origin=a.origin, axes=a.axes
        )
        return finished(compute(source, a, dtype), a.output)

    run.__doc__ = doc
    on_host, by_scipy = in_parts(original, by_two_windows), below(LARGE, original, is_narrow)
    return by_name(original, on_host=on_host, by_scipy=by_scipy)(run)


grey_erosion = _grey(ndimage.grey_erosion, "Return the grey erosion.", _eroded)
grey_dilation = _grey(ndimage.grey_dilation, "Return the grey dilation.", _dilated)
grey_opening = _grey(ndimage.grey_opening, "Return the grey opening, the dilation of the erosion.", _opened)
grey_closing = _grey(ndimage.grey_closing, "Return the grey closing, the erosion of the dilation.", _closed)
morphological_gradient = _grey(
    ndimage.morphological_gradient, "Return the difference of the dilation and the erosion.", _gradient
)
morphological_laplace = _grey(
    ndimage.morphological_laplace,
    "Return the sum of the dilation and the erosion, less twice the array.",
    _laplacian,
)
white_tophat = _grey(
    ndimage.white_tophat,
    "Return the difference of the array and its opening.",
    lambda source, a, dtype: _difference(source, _opened(source, a, source.dtype), dtype),
)
black_tophat = _grey(
    ndimage.black_tophat,
    "Return the difference of the closing of the array and the array.",
    lambda source, a, dtype: _difference(_closed(source, a, source.dtype), source, dtype),
)
