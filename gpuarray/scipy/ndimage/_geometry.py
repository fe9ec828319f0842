"""Arrays seen at other coordinates: shifted, enlarged, rotated, and mapped in any way."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import ndimage, special

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.autodiff import stop_gradient
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.fallback import placed
from gpuarray.functions.joining import stack
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import broadcast_to
from gpuarray.functions.mathematics import clip
from gpuarray.graph.layouts import Shape
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._calls import is_hosts, is_target
from gpuarray.scipy._derivatives import vary
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy.ndimage._arguments import checked, each, finished, output_dtype
from gpuarray.scipy.ndimage._boundary import rounded
from gpuarray.scipy.ndimage._interpolation import Places, interpolated, rest_dtype
from gpuarray.scipy.ndimage._places import ROUNDS_PRODUCTS, at_places, mapped, spline, spline_lines
from gpuarray.scipy.ndimage._splines import Coordinate, coefficients, coordinate

__all__ = [
    "affine_transform", "geometric_transform", "map_coordinates", "rotate", "shift", "spline_filter",
    "spline_filter1d", "zoom",
]  # fmt: skip


@by_name(ndimage.spline_filter1d, on_host=spline_lines)
def spline_filter1d(a: Any) -> GpuArray:
    """Return the coefficients of splines along an axis."""
    source, dtype = checked(ndimage.spline_filter1d, a.input, a.order, a.axis, output=a.output, mode=a.mode)
    axis = normalize_axis(a.axis, source.ndim)
    result = coefficients(source, a.order, [axis], a.mode, dtype) if a.order > 1 else source.astype(dtype)
    return finished(result, a.output)


@by_name(ndimage.spline_filter, on_host=spline)
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


def _seen(a: Any, positions: Places, dtype: DType) -> GpuArray:
    """Return an array at positions that are known when it is recorded."""
    result = interpolated(a.input, positions, positions.shape, a.order, a.mode, a.cval, dtype, prefilter=a.prefilter)
    return finished(_stored(result, dtype), a.output)


def _seen_at(a: Any, lines: Sequence[Any], shape: Shape) -> GpuArray:
    """Return an array at coordinates that depend on a variable, a line of them for each axis."""
    points = stack([broadcast_to(line, shape) for line in lines])
    return map_coordinates(a.input, points, a.output, a.order, a.mode, a.cval, a.prefilter)


def _grid(shape: Shape, like: GpuArray) -> list[GpuArray]:
    """Return the coordinates of a result along each axis, on the device of an array."""
    return [placed(line, like.device) for line in np.ogrid[tuple(slice(n) for n in shape)]]


def _separable(lines: Sequence[Any]) -> Places:
    """Return coordinates that depend on one axis each."""
    return Places([[(axis, line)] for axis, line in enumerate(lines)], [len(line) for line in lines])


@lru_cache(maxsize=64)
def _shifted(shape: Shape, moves: tuple[float, ...]) -> Places:
    return _separable([np.arange(n) - by for n, by in zip(shape, moves, strict=True)])


def _of_shift(a: Any) -> Places:
    return _shifted(a.input.shape, tuple(map(float, each(a.shift, a.input.ndim))))


@by_name(ndimage.shift, on_host=at_places(ndimage.shift, lambda a: _of_shift(a) if a.order > 1 else None))
def shift(a: Any) -> GpuArray:
    """Return an array moved along its axes."""
    if vary(a.shift):
        a.input = as_array(a.input)
        grid = _grid(a.input.shape, a.input)
        return _seen_at(a, [x - by for x, by in zip(grid, each(a.shift, len(grid)), strict=True)], a.input.shape)
    a.input, dtype = _checked(ndimage.shift, a, a.shift)
    return _seen(a, _of_shift(a), dtype)


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


def _of_zoom(a: Any) -> Places:
    in_grid = bool(a.grid_mode) and a.input.dtype.kind != "c"  # SciPy takes no notice of it for complex images
    return _zoomed(a.input.shape, tuple(map(float, each(a.zoom, a.input.ndim))), in_grid)


def _of_large_zoom(a: Any) -> Places | None:
    is_same = all(factor == 1 for factor in each(a.zoom, a.input.ndim))
    return None if a.order < 2 or a.grid_mode or is_same else _of_zoom(a)


@by_name(ndimage.zoom, on_host=at_places(ndimage.zoom, _of_large_zoom))
def zoom(a: Any) -> GpuArray:
    """Return an array enlarged or made smaller."""
    a.zoom = read(stop_gradient(a.zoom)) if vary(a.zoom) else a.zoom  # it decides on the number of samples alone
    enlarged = np.where((np.asarray(a.zoom) > 0) & (np.asarray(a.zoom) < 1), 2.0, a.zoom)  # SciPy checks no empty image
    a.input, dtype = _checked(ndimage.zoom, a, enlarged, grid_mode=a.grid_mode)
    if a.prefilter and all(factor == 1 for factor in each(a.zoom, a.input.ndim)):
        return finished(rounded(a.input, dtype), a.output)
    return _seen(a, _of_zoom(a), dtype)


@by_name(ndimage.map_coordinates, on_host=mapped)
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
    result = a.mapping(tuple(_grid(shape, source)), *a.extra_arguments, **(a.extra_keywords or {}))
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


def _shape_of_result(a: Any) -> Shape:
    like = a.output if is_target(a.output) else a.input
    return tuple(like.shape if a.output_shape is None else a.output_shape)


def _of_matrix(a: Any) -> Places:
    matrix, offset, ndim, shape = np.asarray(a.matrix, float), a.offset, a.input.ndim, _shape_of_result(a)
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1:
        matrix, offset = matrix[:ndim, :-1], matrix[:ndim, -1]
    moves = np.broadcast_to(np.asarray(offset, float), (ndim,))
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    return _transformed(ndim, _rows(matrix), tuple(moves.tolist()), tuple(range(ndim)), shape)


def _affine(matrix: GpuArray, offset: Any, grid: Sequence[Any]) -> list[Any]:
    """Return a matrix times coordinates, and an offset; a line is a diagonal."""
    offset = broadcast_to(offset, (len(grid),))
    if matrix.ndim == 1:
        return [factor * x + move for factor, x, move in zip(matrix, grid, offset, strict=True)]
    rows = zip(matrix, offset, strict=True)
    return [sum((factor * x for factor, x in zip(row, grid, strict=True)), move) for row, move in rows]


def _of_large_matrix(a: Any) -> Places | None:
    return _of_matrix(a) if ROUNDS_PRODUCTS and np.ndim(a.matrix) == 2 else None


@by_name(ndimage.affine_transform, on_host=at_places(ndimage.affine_transform, _of_large_matrix))
def affine_transform(a: Any) -> GpuArray:
    """Return an array at coordinates that are an affine function of those of the result."""
    if vary(a.matrix, a.offset):
        a.input = as_array(a.input)
        matrix, offset = (as_array(value, a.input.device) for value in (a.matrix, a.offset))
        count, shape = a.input.ndim, _shape_of_result(a)
        if matrix.ndim == 2 and matrix.shape[1] == count + 1:
            matrix, offset = matrix[:count, :-1], matrix[:count, -1]
        return _seen_at(a, _affine(matrix, offset, _grid(shape, a.input)), shape)
    a.matrix, a.offset = (
        value if np.ndim(value) == 0 else np.asarray(read(value), float) for value in (a.matrix, a.offset)
    )
    shown = a.matrix if np.ndim(a.matrix) != 1 else np.diag(a.matrix)  # SciPy warns of lines
    a.input, dtype = _checked(ndimage.affine_transform, a, shown, a.offset)
    return _seen(a, _of_matrix(a), dtype)


def _plane(a: Any) -> list[int]:
    """Return the axes of a rotation."""
    return sorted(normalize_axis(axis, a.input.ndim) for axis in a.axes)


def _turned(a: Any, angle: Any) -> tuple[Any, Any, Shape]:
    """Return the matrix and the offset of a rotation by an angle on the host, and the shape of its result."""
    source, axes = a.input, _plane(a)
    cosine, sine = special.cosdg(angle), special.sindg(angle)
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
    return matrix, offset, tuple(shape)


def _of_rotation(a: Any) -> Places:
    matrix, offset, shape = _turned(a, a.angle)
    return _transformed(a.input.ndim, _rows(matrix), tuple(offset.tolist()), tuple(_plane(a)), shape)


def _rotated(a: Any) -> GpuArray:
    """Return an array rotated by an angle that depends on a variable."""
    a.input = as_array(a.input)
    shape = _turned(a, read(stop_gradient(a.angle)) if a.reshape else 0.0)[2]
    grid, plane = _grid(shape, a.input), _plane(a)
    cosine, sine = (turned(elementwise.deg2rad(a.angle)) for turned in (elementwise.cos, elementwise.sin))
    x, y = (grid[axis] - (shape[axis] - 1) / 2 for axis in plane)
    for axis, line in zip(plane, (cosine * x + sine * y, cosine * y - sine * x), strict=True):
        grid[axis] = line + (a.input.shape[axis] - 1) / 2
    return _seen_at(a, grid, shape)


def _of_large_rotation(a: Any) -> Places | None:
    return _of_rotation(a) if ROUNDS_PRODUCTS and a.input.ndim == 2 else None


@by_name(ndimage.rotate, on_host=at_places(ndimage.rotate, _of_large_rotation))
def rotate(a: Any) -> GpuArray:
    """Return an array rotated in the plane of two axes."""
    if vary(a.angle):
        return _rotated(a)
    a.input, dtype = _checked(ndimage.rotate, a, a.angle, a.axes, a.reshape)
    return _seen(a, _of_rotation(a), dtype)
