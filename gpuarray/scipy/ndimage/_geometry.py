"""Arrays seen at other coordinates: shifted, enlarged, rotated, and mapped in any way."""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, Final

import numpy as np
from scipy import ndimage, special

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.logic import where
from gpuarray.functions.mathematics import clip
from gpuarray.graph.layouts import Shape
from gpuarray.graph.shapes import normalize_axis
from gpuarray.providers.inprocess.workers import ChunkTiming
from gpuarray.scipy._calls import is_hosts, is_target, placed
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy._threads import LEAST, shared
from gpuarray.scipy.ndimage._arguments import checked, each, finished, output_dtype
from gpuarray.scipy.ndimage._boundary import rounded
from gpuarray.scipy.ndimage._interpolation import Places, interpolated, rest_dtype
from gpuarray.scipy.ndimage._splines import Coordinate, coefficients, coordinate

__all__ = [
    "affine_transform", "geometric_transform", "map_coordinates", "rotate", "shift", "spline_filter",
    "spline_filter1d", "zoom",
]  # fmt: skip

#: Results of a part that a thread computes.
_PLACES: Final = 1 << 15


@by_name(ndimage.spline_filter1d)
def spline_filter1d(a: Any) -> GpuArray:
    """Return the coefficients of splines along an axis."""
    source, dtype = checked(ndimage.spline_filter1d, a.input, a.order, a.axis, output=a.output, mode=a.mode)
    axis = normalize_axis(a.axis, source.ndim)
    result = coefficients(source, a.order, [axis], a.mode, dtype) if a.order > 1 else source.astype(dtype)
    return finished(result, a.output)


@by_name(ndimage.spline_filter)
def spline_filter(a: Any) -> GpuArray:
    """Return the coefficients of the spline through an array."""
    source, dtype = checked(ndimage.spline_filter, a.input, a.order, output=a.output, mode=a.mode)
    is_filtered = a.order > 1 and source.size
    result = coefficients(source, a.order, range(source.ndim), a.mode, dtype) if is_filtered else source.astype(dtype)
    return finished(result, a.output)


def _checked(original: Callable[..., Any], a: Any, *arguments: Any, **more: Any) -> tuple[GpuArray, DType]:
    """Return the array and the dtype of the result, which is that of an array given for it, after SciPy's checks."""
    output = None if is_target(a.output) else a.output
    source, dtype = checked(
        original,
        a.input,
        *arguments,
        order=a.order,
        output=output,
        mode=a.mode,
        cval=a.cval,
        prefilter=a.prefilter,
        **more,
    )
    return source, np.dtype(a.output.dtype) if is_target(a.output) else dtype


def _stored(result: GpuArray, dtype: DType) -> GpuArray:
    """Return interpolated numbers in the dtype of a result: integers are rounded, and clipped to their range."""
    if dtype.kind not in "iu":
        return rounded(result, dtype)
    limits = np.iinfo(dtype)
    real = result.real if result.dtype.kind == "c" else result
    upward = elementwise.floor(real + 0.5)
    nearest = upward if dtype.kind == "u" else where(real > 0, upward, elementwise.ceil(real - 0.5))
    if dtype.itemsize < 8:
        return clip(nearest, float(limits.min), float(limits.max)).astype(dtype)
    largest = np.nextafter(float(limits.max), 0)
    return clip(nearest, float(limits.min), largest).astype(dtype)


def _seen(source: GpuArray, positions: Places, a: Any, dtype: DType) -> GpuArray:
    """Return an array at positions that are known when it is recorded."""
    result = interpolated(source, positions, positions.shape, a.order, a.mode, a.cval, dtype, prefilter=a.prefilter)
    return finished(_stored(result, dtype), a.output)


def _separable(lines: Sequence[Any]) -> Places:
    """Return coordinates that depend on one axis each."""
    return Places([[(axis, line)] for axis, line in enumerate(lines)], [len(line) for line in lines])


@lru_cache(maxsize=64)
def _shifted(shape: Shape, moves: tuple[float, ...]) -> Places:
    return _separable([np.arange(n) - by for n, by in zip(shape, moves, strict=True)])


@by_name(ndimage.shift)
def shift(a: Any) -> GpuArray:
    """Return an array moved along its axes."""
    source, dtype = _checked(ndimage.shift, a, a.shift)
    return _seen(source, _shifted(source.shape, tuple(map(float, each(a.shift, source.ndim)))), a, dtype)


@lru_cache(maxsize=64)
def _zoomed(shape: Shape, factors: tuple[float, ...], grid_mode: bool) -> Places:
    lines = []
    for extent, factor in zip(shape, factors, strict=True):
        length = round(extent * factor)
        if grid_mode:
            lines.append((np.arange(length) + 0.5) * (extent / length if length else 1.0) - 0.5)
        else:
            lines.append(np.arange(length) * ((extent - 1) / (length - 1) if length != 1 else 1.0))
    return _separable(lines)


@by_name(ndimage.zoom)
def zoom(a: Any) -> GpuArray:
    """Return an array enlarged or made smaller."""
    enlarged = np.where((np.asarray(a.zoom) > 0) & (np.asarray(a.zoom) < 1), 2.0, a.zoom)  # SciPy checks no empty image
    source, dtype = _checked(ndimage.zoom, a, enlarged, grid_mode=a.grid_mode)
    factors = tuple(map(float, each(a.zoom, source.ndim)))
    if a.prefilter and all(factor == 1 for factor in factors):
        return finished(rounded(source, dtype), a.output)
    in_grid = bool(a.grid_mode) and dtype.kind != "c"  # SciPy takes no notice of it for complex images
    return _seen(source, _zoomed(source.shape, factors, in_grid), a, dtype)


_MAPPED: Final = lru_cache(maxsize=64)(lambda *_call: ChunkTiming(calls=1))


@wraps(ndimage.map_coordinates)
def _mapped(
    input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    """Run SciPy's function with parts of many coordinates at the same time."""
    source, points = np.asarray(input), np.asarray(coordinates)
    known = order, mode, cval
    is_extended = order not in range(2) and prefilter and mode in ("nearest", "grid-constant")
    if points.ndim < 2 or points.size < LEAST or source.dtype.kind == "c" or is_target(output) or is_extended:
        return ndimage.map_coordinates(input, coordinates, output, *known, prefilter)
    positions = points.reshape(len(points), -1)
    few = ndimage.map_coordinates(
        np.zeros((1,) * source.ndim, source.dtype), positions[:, :1], output, *known, prefilter
    )
    if prefilter and order > 1:
        source = ndimage.spline_filter(source, order, np.float64, mode)
    result = np.empty(points.shape[1:], few.dtype)
    lines = result.reshape(-1)

    def part(number: int) -> None:
        piece = slice(number * _PLACES, (number + 1) * _PLACES)
        ndimage.map_coordinates(source, positions[:, piece], lines[piece], *known, False)

    shared(-(-lines.size // _PLACES), part, _MAPPED(source.ndim, order))
    return result


@by_name(ndimage.map_coordinates, on_host=_mapped)
def map_coordinates(a: Any) -> GpuArray:
    """Return an array at any coordinates."""
    source = as_array(a.input)
    points = as_array(a.coordinates, source.device)
    shown = np.zeros((points.shape[0], *(1,) * (points.ndim - 1)) if points.ndim else (), points.dtype)
    source, dtype = _checked(ndimage.map_coordinates, a, shown)
    kind = rest_dtype(source, dtype)
    if points.dtype.kind in "biu":
        at = [Coordinate(line.astype(dtypes.int32), line.astype(kind) * 0) for line in points]
    else:
        at = [coordinate(points[axis], kind) for axis in range(source.ndim)]
    shape = points.shape[1:]
    result = interpolated(source, at, shape, a.order, a.mode, a.cval, dtype, prefilter=a.prefilter)
    return finished(_stored(result, dtype), a.output)


@by_name(ndimage.geometric_transform, by_scipy=False)
def geometric_transform(a: Any) -> GpuArray:
    """Return an array at the coordinates that a function gives for those of the result.

    The function is called once, with an integer array for each axis of the result.
    """
    source = as_array(a.input)
    result_shape = a.output_shape if a.output_shape is not None else source.shape
    shape = tuple(a.output.shape) if a.output_shape is None and is_target(a.output) else tuple(result_shape)
    grid = [placed(line, source.device) for line in np.ogrid[tuple(slice(n) for n in shape)]]
    result = a.mapping(tuple(grid), *a.extra_arguments, **(a.extra_keywords or {}))
    if is_hosts((source,), {}):
        lines = np.empty((len(result), *shape))
        for target, line in zip(lines, result, strict=True):
            target[...] = read(line)
        return map_coordinates(source, lines, a.output, a.order, a.mode, a.cval, a.prefilter)
    checked(ndimage.map_coordinates, source, np.zeros((source.ndim, 1)), order=a.order, mode=a.mode, cval=a.cval)
    dtype = output_dtype(a.output, source)
    kind = rest_dtype(source, dtype)
    at = [coordinate(as_array(line, source.device) * 1.0, kind) for line in result]
    values = interpolated(source, at, shape, a.order, a.mode, a.cval, dtype, prefilter=a.prefilter)
    return finished(_stored(values, dtype), a.output)


@lru_cache(maxsize=64)
def _transformed(
    ndim: int, rows: tuple[tuple[float, ...], ...], offset: tuple[float, ...], axes: tuple[int, ...], shape: Shape
) -> Places:
    """Return coordinates along some axes that are a matrix times those of the result, and an offset."""
    at: list[Any] = [None] * ndim
    for row, move, axis in zip(rows, offset, axes, strict=True):
        at[axis] = [
            (along, np.arange(shape[along]) * factor + (move if number == 0 else 0.0))
            for number, (factor, along) in enumerate(zip(row, axes, strict=True))
            if factor or number == 0
        ]
    return Places(at, shape)


def _rows(matrix: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


@by_name(ndimage.affine_transform)
def affine_transform(a: Any) -> GpuArray:
    """Return an array at coordinates that are an affine function of those of the result."""
    matrix = np.asarray(read(a.matrix), float)
    offset = a.offset if np.ndim(a.offset) == 0 else np.asarray(read(a.offset), float)
    shown = matrix if matrix.ndim != 1 else np.diag(matrix)  # SciPy warns of lines
    source, dtype = _checked(ndimage.affine_transform, a, shown, offset)
    like = a.output if is_target(a.output) else source
    shape = tuple(like.shape if a.output_shape is None else a.output_shape)
    if matrix.ndim == 2 and matrix.shape[1] == source.ndim + 1:
        matrix, offset = matrix[: source.ndim, :-1], matrix[: source.ndim, -1]
    moves = np.broadcast_to(np.asarray(offset, float), (source.ndim,))
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    positions = _transformed(source.ndim, _rows(matrix), tuple(moves.tolist()), tuple(range(source.ndim)), shape)
    return _seen(source, positions, a, dtype)


@by_name(ndimage.rotate)
def rotate(a: Any) -> GpuArray:
    """Return an array rotated in the plane of two axes."""
    source, dtype = _checked(ndimage.rotate, a, a.angle, a.axes, a.reshape)
    axes = sorted(normalize_axis(axis, source.ndim) for axis in a.axes)
    cosine, sine = special.cosdg(a.angle), special.sindg(a.angle)
    matrix = np.array([[cosine, sine], [-sine, cosine]])
    plane = np.array([source.shape[axis] for axis in axes])
    extents = plane
    if a.reshape:
        rows, columns = plane
        corners = matrix @ [[0, 0, rows, rows], [0, columns, 0, columns]]
        extents = (np.ptp(corners, axis=1) + 0.5).astype(int)
    offset = (plane - 1) / 2 - matrix @ ((extents - 1) / 2)
    shape = [*source.shape]
    for axis, extent in zip(axes, extents.tolist(), strict=True):
        shape[axis] = extent
    positions = _transformed(source.ndim, _rows(matrix), tuple(offset.tolist()), tuple(axes), tuple(shape))
    return _seen(source, positions, a, dtype)
