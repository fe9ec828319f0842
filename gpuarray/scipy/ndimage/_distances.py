"""Distances to the nearest zero: along one axis after the other, the least sum with the distances along that axis.

Of several zeros that are as near, SciPy returns the place that its algorithm finds, and so do these functions.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.device import Device
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, elements_at
from gpuarray.functions.joining import stack
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import flip
from gpuarray.functions.ranges import arange
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import images
from gpuarray.scipy._calls import is_target, run_scipy, write
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy.ndimage._arguments import each

__all__ = ["distance_transform_bf", "distance_transform_edt"]

#: More than any distance along an axis whose squares have sums of 32 bits.
_FAR: Final = 1 << 14
#: What stands for a distance where there is no zero, in whole numbers and in others.
NONE: Final = np.int32(1 << 29)
_NONE_WIDE: Final = 1e300


@lru_cache(maxsize=64)
def _away(extent: int, step: float, power: int, dtype: Any) -> Node:
    """Return a power of the distance of each number of elements."""
    return host_leaf(((np.arange(extent) * step) ** power).astype(dtype))


class _Distances(NamedTuple):
    """Distances to the nearest zero, or their squares.

    Attributes
    ----------
    distances : GpuArray
        The distances.
    positions : list of GpuArray
        For each axis, in the order in which they are treated, the position along it of the nearest zero, as far as
        it and the axes before it go. Of several it is the first one.
    """

    distances: GpuArray
    positions: list[GpuArray]


def least_distances(
    inside: GpuArray, steps: Sequence[float] | None, axes: Sequence[int], power: int, *, is_largest: bool = False,
    with_positions: bool = False,
) -> _Distances:  # fmt: skip
    """Return the sums, or the largest, of powers of the distances along axes; whole numbers if there are no steps."""
    kind = dtypes.int32 if steps is None else dtypes.float64
    node = where(inside, kind.type(NONE if steps is None else _NONE_WIDE), kind.type(0)).node()
    indices = []
    for axis in axes:
        operands = node, _away(inside.shape[axis], 1.0 if steps is None else steps[axis], power, kind)
        parameters = {"axis": axis - inside.ndim, "is_largest": is_largest}
        if with_positions:
            index = build.call_one(images.place_in_envelope, operands, inside.shape, dtypes.int32, **parameters)
            indices.append(make(index, inside.device))
        node = build.call_one(images.lower_envelope, operands, inside.shape, kind, **parameters)
    return _Distances(make(node, inside.device), indices)


def _lines(shape: Sequence[int], device: Device) -> list[GpuArray]:
    """Return the positions along each axis, which broadcast with each other."""
    return [
        arange(extent, dtype=np.int32, device=device).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        for axis, extent in enumerate(shape)
    ]


def numbers(shape: Sequence[int], device: Device) -> GpuArray:
    """Return the position of each element in C order."""
    return arange(prod(shape), dtype=np.int32, device=device).reshape(shape)


def unravelled(numbers: GpuArray, shape: Sequence[int]) -> GpuArray:
    """Return the positions along axes of the elements of some numbers, along a new first axis."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return stack([numbers // np.int32(n) % np.int32(extent) for n, extent in zip(strides, shape, strict=True)], 0)


def _nearest(indices: Sequence[GpuArray], axes: Sequence[int]) -> GpuArray:
    """Return the positions of the nearest zeros along a new first axis: the last axis was treated with all others."""
    shape, device = indices[0].shape, indices[0].device
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    result = _lines(shape, device)
    for axis, index in zip(reversed(axes), reversed(indices), strict=True):
        flat: Any = sum(number * np.int32(stride) for number, stride in zip(result, strides, strict=True))
        result[axis] = elements_at(index.reshape(-1), flat)
    return stack(result, 0)


def checked(function: Callable[..., Any], a: Any, **arguments: Any) -> GpuArray:
    """Return the array, after SciPy's checks of the arguments with small ones in place of the arrays."""
    source = as_array(a.input)
    small = (1,) * source.ndim
    for name, shape in (("distances", source.shape), ("indices", (source.ndim, *source.shape))):
        target = getattr(a, name)
        if is_target(target):
            shape_of_target = small if name == "distances" else (source.ndim, *small)
            arguments[name] = np.zeros(
                shape_of_target if target.shape == shape else (2, *shape_of_target), target.dtype
            )
    function(
        np.zeros(small), return_distances=a.return_distances, return_indices=a.return_indices, **arguments
    )  # fmt: skip
    return source


def results(a: Any, distances: GpuArray | None, indices: GpuArray | None) -> Any:
    """Write results to the arrays that were given for them, and return the others."""
    results = []
    for result, target in ((distances, a.distances), (indices, a.indices)):
        if result is not None and is_target(target):
            write(result, target)
        elif result is not None:
            results.append(result)
    return tuple(results) if len(results) > 1 else results[0] if results else None


# -- Euclidean --------------------------------------------------------------------------------------------------------


def _beyond(inside: GpuArray, steps: Sequence[float] | None) -> GpuArray:
    """Return the squares of the distances to the position before the first element of the first axis."""
    kind = dtypes.int32 if steps is None else dtypes.float64
    outside: Any = None
    for axis, extent in enumerate(inside.shape):
        line = build.view(
            _away(extent + 1, 1.0 if steps is None else steps[axis], 2, kind),
            Layout((extent, *(1,) * (inside.ndim - axis - 1)), (1,) + (0,) * (inside.ndim - axis - 1), int(axis == 0)),
        )
        outside = line if outside is None else build.binary(ops.add, outside, line)
    return make(outside, inside.device)


def _steps(sampling: Any, shape: Sequence[int]) -> list[float] | None:
    """Return the distances of neighbours along axes; None if they are ones and squares of distances have 32 bits."""
    if sampling is None and max(shape) <= _FAR:
        return None
    return [float(step) for step in each(1.0 if sampling is None else sampling, len(shape))]


@by_name(ndimage.distance_transform_edt)
def distance_transform_edt(a: Any) -> Any:
    """Return the Euclidean distance of each element to the nearest zero, and where this is."""
    source = as_array(a.input)
    if not source.ndim or not source.size:
        return run_scipy(ndimage.distance_transform_edt, (), vars(a), source.device)
    checked(ndimage.distance_transform_edt, a, sampling=a.sampling)
    inside, steps, axes = source != 0, _steps(a.sampling, source.shape), range(source.ndim)
    squares, nearest = least_distances(inside, steps, axes, 2, with_positions=a.return_indices)
    # without any zero SciPy has the distances to a position outside
    is_none = squares == squares.dtype.type(NONE if steps is None else _NONE_WIDE)
    distances = indices = None
    if a.return_distances:
        squares = where(is_none, _beyond(inside, steps), squares)
        distances = elementwise.sqrt(squares.astype(np.float64))
    if a.return_indices:
        outside = as_array(np.array([-1] + [0] * (source.ndim - 1), np.int32), source.device)
        indices = where(is_none, outside.reshape(-1, *[1] * source.ndim), _nearest(nearest, axes))
    return results(a, distances, indices)


# -- all distances ----------------------------------------------------------------------------------------------------


@by_name(ndimage.distance_transform_bf)
def distance_transform_bf(a: Any) -> Any:
    """Return the distance of each element to the nearest zero by a metric, and where this is: the last place."""
    source = as_array(a.input)
    metric = a.metric.lower()
    is_euclidean, is_largest = metric == "euclidean", metric == "chessboard"
    if not source.ndim or not source.size:
        return run_scipy(ndimage.distance_transform_bf, (), vars(a), source.device)
    checked(ndimage.distance_transform_bf, a, metric=a.metric, sampling=a.sampling)
    steps = _steps(a.sampling, source.shape) if is_euclidean else None
    axes = range(source.ndim)[::-1]
    inside = flip(source != 0)
    result, nearest_axes = least_distances(
        inside, steps, axes, 1 + is_euclidean, is_largest=is_largest,
        with_positions=a.return_indices and not is_largest,
    )  # fmt: skip
    is_none = result == result.dtype.type(NONE if steps is None else _NONE_WIDE)
    distances = indices = None
    if a.return_distances:
        values = elementwise.sqrt(result.astype(np.float64)) if is_euclidean else result.astype(np.uint32)
        most = np.sqrt(np.finfo(np.float64).max) if is_euclidean else np.uint32(np.iinfo(np.uint32).max)
        distances = flip(where(is_none, most, values))
    if a.return_indices and is_largest:
        indices = where(flip(is_none), np.int32(0), _last_zeros(source, flip(result)))
    elif a.return_indices:
        last = as_array(np.array(source.shape, np.int32) - 1, source.device).reshape(-1, *[1] * source.ndim)
        nearest = where(is_none, np.int32(0), last - _nearest(nearest_axes, axes))
        indices = flip(nearest, tuple(range(1, source.ndim + 1)))
    return results(a, distances, indices)


def _last_zeros(source: GpuArray, reach: GpuArray) -> GpuArray:
    """Return the positions of the last zeros that are up to a distance away along all axes.

    Where the distance is from ``radius`` to twice as much, the boxes of this radius around the corners of a smaller box
    cover all of it.
    """
    number = numbers(source.shape, source.device)
    lines = _lines(source.shape, source.device)
    result = boxes = where(source != 0, np.int32(-1), number)
    radius = 0
    while radius < max(source.shape):
        for axis in range(source.ndim):
            step = max(radius, 1)
            ends = [_taken(boxes, [line + n * (a == axis) for a, line in enumerate(lines)]) for n in (-step, step)]
            boxes = elementwise.maximum(boxes, elementwise.maximum(*ends))
        radius = max(2 * radius, 1)
        away = reach - np.int32(radius)
        corners = [
            _taken(boxes, [line + sign * away for line, sign in zip(lines, signs, strict=True)])
            for signs in product((-1, 1), repeat=source.ndim)
        ]
        result = where((away >= 0) & (reach < 2 * radius), reduce(elementwise.maximum, corners), result)
    return unravelled(result, source.shape)


def _taken(values: GpuArray, positions: Sequence[GpuArray]) -> GpuArray:
    """Return the elements at positions along each axis; those outside are moved to the edge."""
    flat: Any = 0
    for position, extent in zip(positions, values.shape, strict=True):
        inside = elementwise.maximum(elementwise.minimum(position, np.int32(extent - 1)), np.int32(0))
        flat = flat * np.int32(extent) + inside
    return elements_at(values.reshape(-1), flat)
