"""Functions that programs of tiled loops call, beside those of NumPy."""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.fusion.steps import UNIFORM, Index
from gpuarray.graph.layouts import Shape, contiguous
from gpuarray.providers.inprocess.tiles import Tile, Tiling
from gpuarray.providers.inprocess.views import kept_axes


@lru_cache(maxsize=16)
def _pattern(shape: Shape, strides: Shape) -> npt.NDArray[np.int64]:
    """Return the positions that a layout names, from position 0."""
    positions = np.zeros(shape, np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(extent, dtype=np.int64) * stride
        positions += steps.reshape(extent, *(1,) * (len(shape) - axis - 1))
    return positions


def place(target: npt.NDArray[Any], values: npt.NDArray[Any], positions: npt.NDArray[Any]) -> None:
    """Write values at positions of a target, and drop those beyond its end."""
    values, positions = np.broadcast_arrays(values, positions)
    there = positions < target.size
    target[positions[there]] = values[there]


def generator(item: Index, tiling: Tiling, outer: int, axes: Shape | None) -> Callable[..., Any]:
    """Return ``generate(tile, *parameters)``, the values of a generator for the elements of a tile.

    They have extent 1 along all axes but ``axes``, if these are given.
    """
    function, dtype = item.op.numpy, item.dtype
    layout = item.layout if item.level != UNIFORM else contiguous(())._replace(offset=item.layout.offset)
    if item.level == UNIFORM:
        return lambda at, *parameters: function(np.array(layout.offset), *(p[()] for p in parameters), dtype=dtype)
    _, strides, offset = tiling.place(layout, outer)
    is_row = len(layout.shape) != len(tiling.order)

    def compute(shape: Shape, base: int, *parameters: Any) -> Any:
        if item.op.takes_range and strides == contiguous(shape).strides:
            return function(range(base, base + prod(shape)), *parameters, dtype=dtype).reshape(shape)
        return function(_pattern(shape, strides) + base, *parameters, dtype=dtype)

    # a value that is repeated within a tile is small, and mostly the same in the next one
    cached = compute if axes is None or dtype.kind not in "iu" else lru_cache(maxsize=2)(compute)

    def generate(at: Tile, *parameters: Any) -> Any:
        shape = tiling.row_shape(at.shape) if is_row else at.shape
        shape = shape if axes is None else kept_axes(shape, axes)
        base = offset + sum(begin * stride for begin, stride in zip(at.start, strides, strict=True))
        return cached(shape, base, *(p[()] for p in parameters))

    return generate
