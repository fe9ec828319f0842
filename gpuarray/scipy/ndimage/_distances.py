"""Distances to the nearest zero: along one axis after the other, the least sum with the distances along that axis."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.joining import stack
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import flip
from gpuarray.functions.ranges import arange
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import images
from gpuarray.scipy._mirror import by_name, hosted, is_target, mirrors, write
from gpuarray.scipy.ndimage._arguments import each
from gpuarray.scipy.ndimage._labels import at

__all__ = ["distance_transform_bf", "distance_transform_cdt", "distance_transform_edt"]

#: More than any distance whose square has 32 bits.
_FAR: Final = 1 << 14
#: What stands for a distance where there is no zero, in whole numbers and in others.
_NONE: Final = 1 << 29
_NONE_WIDE: Final = 1e300
_LONG: Final = f"axes have more than {_FAR} elements"
_MANY: Final = f"{_LONG}, or many zeros are as near by the chessboard metric, and indices are wanted"
_PASSES: Final = "with indices, or a metric of one's own, each step depends on the steps before it"


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


def _distances(
    inside: GpuArray, steps: Sequence[float] | None, axes: Sequence[int], power: int, *, is_largest: bool = False,
    with_positions: bool = False,
) -> _Distances:  # fmt: skip
    """Return the sums, or the largest, of powers of the distances along axes; whole numbers if there are no steps."""
    kind = dtypes.int32 if steps is None else dtypes.float64
    node = where(inside, kind.type(_NONE if steps is None else _NONE_WIDE), kind.type(0)).node()
    indices = []
    for axis in axes:
        operands = node, _away(inside.shape[axis], 1.0 if steps is None else steps[axis], power, kind)
        parameters = {"axis": axis - inside.ndim, "is_largest": is_largest}
        if with_positions:
            index = build.call_one(images.place_in_envelope, operands, inside.shape, dtypes.int32, **parameters)
            indices.append(make(index, inside.device))
        node = build.call_one(images.lower_envelope, operands, inside.shape, kind, **parameters)
    return _Distances(make(node, inside.device), indices)


def _nearest(indices: Sequence[GpuArray], axes: Sequence[int]) -> GpuArray:
    """Return the positions of the nearest zeros along a new first axis: the last axis was treated with all others."""
    shape, device = indices[0].shape, indices[0].device
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    lines = [arange(extent, dtype=np.int32, device=device) for extent in shape]
    result = [line.reshape([-1 if a == axis else 1 for a in range(len(shape))]) for axis, line in enumerate(lines)]
    for axis, index in zip(reversed(axes), reversed(indices), strict=True):
        flat: Any = sum(number * np.int32(stride) for number, stride in zip(result, strides, strict=True))
        result[axis] = at(index.reshape(-1), flat)
    return stack(result, 0)


def _checked(function: Callable[..., Any], a: Any, **arguments: Any) -> GpuArray:
    """Return the array, after SciPy's checks of the arguments with small ones in place of the arrays."""
    source = as_array(a.input)
    small = (1,) * source.ndim
    for name, shape in (("distances", source.shape), ("indices", (source.ndim, *source.shape))):
        target = getattr(a, name)
        if is_target(target):
            wanted = small if name == "distances" else (source.ndim, *small)
            arguments[name] = np.zeros(wanted if target.shape == shape else (2, *wanted), target.dtype)
    function(
        np.zeros(small), return_distances=a.return_distances, return_indices=a.return_indices, **arguments
    )  # fmt: skip
    return source


def _results(a: Any, distances: GpuArray | None, indices: GpuArray | None) -> Any:
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


def _steps(sampling: Any, ndim: int) -> list[float] | None:
    return None if sampling is None else [float(step) for step in each(sampling, ndim)]


_edt_by_scipy = hosted(ndimage.distance_transform_edt, _LONG)


@mirrors(ndimage.distance_transform_edt, reason=_LONG)
@by_name(ndimage.distance_transform_edt)
def distance_transform_edt(a: Any) -> Any:
    """Return the Euclidean distance of each element to the nearest zero, and where this is."""
    source = as_array(a.input)
    if not source.ndim or not source.size or max(source.shape) > _FAR:
        return _edt_by_scipy(**vars(a))
    _checked(ndimage.distance_transform_edt, a, sampling=a.sampling)
    inside, steps, axes = source != 0, _steps(a.sampling, source.ndim), range(source.ndim)
    squares, nearest = _distances(inside, steps, axes, 2, with_positions=a.return_indices)
    # without any zero SciPy has the distances to a position outside
    is_none = squares == squares.dtype.type(_NONE if steps is None else _NONE_WIDE)
    distances = indices = None
    if a.return_distances:
        squares = where(is_none, _beyond(inside, steps), squares)
        distances = elementwise.sqrt(squares.astype(np.float64))
    if a.return_indices:
        outside = as_array(np.array([-1] + [0] * (source.ndim - 1), np.int32), source.device)
        indices = where(is_none, outside.reshape(-1, *[1] * source.ndim), _nearest(nearest, axes))
    return _results(a, distances, indices)


# -- other metrics ----------------------------------------------------------------------------------------------------

_bf_by_scipy = hosted(ndimage.distance_transform_bf, _MANY)


@mirrors(ndimage.distance_transform_bf, reason=_MANY)
@by_name(ndimage.distance_transform_bf)
def distance_transform_bf(a: Any) -> Any:
    """Return the distance of each element to the nearest zero by a metric, and where this is: the last place."""
    source = as_array(a.input)
    metric = a.metric.lower()
    is_euclidean, is_largest = metric == "euclidean", metric == "chessboard"
    if not source.ndim or not source.size or max(source.shape) > _FAR or (is_largest and a.return_indices):
        return _bf_by_scipy(**vars(a))
    _checked(ndimage.distance_transform_bf, a, metric=a.metric, sampling=a.sampling)
    steps = _steps(a.sampling, source.ndim) if is_euclidean else None
    axes = range(source.ndim)[::-1]
    inside = flip(source != 0)
    result, nearest_axes = _distances(
        inside, steps, axes, 1 + is_euclidean, is_largest=is_largest, with_positions=a.return_indices
    )
    is_none = result == result.dtype.type(_NONE if steps is None else _NONE_WIDE)
    distances = indices = None
    if a.return_distances:
        values = elementwise.sqrt(result.astype(np.float64)) if is_euclidean else result.astype(np.uint32)
        most = np.sqrt(np.finfo(np.float64).max) if is_euclidean else np.uint32(np.iinfo(np.uint32).max)
        distances = flip(where(is_none, most, values))
    if a.return_indices:
        last = as_array(np.array(source.shape, np.int32) - 1, source.device).reshape(-1, *[1] * source.ndim)
        nearest = where(is_none, np.int32(0), last - _nearest(nearest_axes, axes))
        indices = flip(nearest, tuple(range(1, source.ndim + 1)))
    return _results(a, distances, indices)


_cdt_by_scipy = hosted(ndimage.distance_transform_cdt, _PASSES)


def _connectivity(metric: Any, ndim: int) -> int:
    """Return along how many axes a step of a metric may lead; 0 if it is neither one axis nor all."""
    if isinstance(metric, str):
        return {"chessboard": ndim}.get(metric, 1)
    known = np.asarray(read(metric))
    choices = (1, ndim) if known.dtype.itemsize == 1 else ()  # SciPy takes bytes for booleans
    return next((n for n in choices if np.array_equal(known != 0, ndimage.generate_binary_structure(ndim, n))), 0)


@mirrors(ndimage.distance_transform_cdt, reason=_PASSES)
@by_name(ndimage.distance_transform_cdt)
def distance_transform_cdt(a: Any) -> Any:
    """Return the distance of each element to the nearest zero in steps along one axis, or along all of them."""
    source = as_array(a.input)
    if not source.ndim or not source.size or a.return_indices:
        return _cdt_by_scipy(**vars(a))
    metric = a.metric if isinstance(a.metric, str) else read(a.metric)
    _checked(ndimage.distance_transform_cdt, a, metric=metric)
    connectivity = _connectivity(metric, source.ndim)
    if not connectivity:
        return _cdt_by_scipy(**vars(a))
    result, _ = _distances(source != 0, None, range(source.ndim), 1, is_largest=connectivity > 1)
    return _results(a, where(result == np.int32(_NONE), np.int32(-1), result), None)
