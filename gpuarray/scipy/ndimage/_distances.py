"""Distances to the nearest zero: along one axis after the other, the least sum with the distances along that axis."""

from functools import lru_cache
from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array
from gpuarray.functions.logic import where
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import images
from gpuarray.scipy._mirror import by_name, hosted, is_target, mirrors, write
from gpuarray.scipy.ndimage._arguments import each

__all__ = ["distance_transform_edt"]

#: More than any distance whose square has 32 bits.
_FAR: Final = 1 << 14
_WITH_INDICES: Final = "the indices of nearest zeros are found by SciPy"
_by_scipy = hosted(ndimage.distance_transform_edt, _WITH_INDICES)


@lru_cache(maxsize=64)
def _away(extent: int, step: float, dtype: Any) -> Node:
    """Return the square of the distance of each number of elements."""
    return host_leaf(((np.arange(extent) * step) ** 2).astype(dtype))


def _squares(inside: GpuArray, sampling: Any) -> GpuArray:
    """Return the squares of the distances to the nearest zero; whole numbers if there is no sampling.

    Without any zero they are, as in SciPy, those to the place before the first element of the first axis.
    """
    kind = dtypes.int32 if sampling is None else dtypes.float64
    steps = [1.0] * inside.ndim if sampling is None else [float(step) for step in each(sampling, inside.ndim)]
    far = kind.type(1 << 29 if sampling is None else 1e300)
    node = where(inside, far, kind.type(0)).node()
    outside: Any = None
    for axis, (extent, step) in enumerate(zip(inside.shape, steps, strict=True)):
        operands = node, _away(extent, step, kind)
        node = build.call_one(images.lower_envelope, operands, inside.shape, kind, axis=axis - inside.ndim)
        line = build.view(
            _away(extent + 1, step, kind),
            Layout((extent, *(1,) * (inside.ndim - axis - 1)), (1,) + (0,) * (inside.ndim - axis - 1), int(axis == 0)),
        )
        outside = line if outside is None else build.binary(ops.add, outside, line)
    found = make(node, inside.device)
    return where(found == far, make(outside, inside.device), found)


@mirrors(ndimage.distance_transform_edt, reason=f"with return_indices, {_WITH_INDICES}")
@by_name(ndimage.distance_transform_edt)
def distance_transform_edt(a: Any) -> Any:
    """Return the Euclidean distance of each element to the nearest zero."""
    if a.return_indices or not a.return_distances:
        return _by_scipy(**vars(a))
    source = as_array(a.input)
    if not source.ndim or not source.size or max(source.shape) > _FAR:
        return _by_scipy(**vars(a))
    ndimage.distance_transform_edt(np.zeros((1,) * source.ndim), a.sampling)
    found = elementwise.sqrt(_squares(source != 0, a.sampling).astype(np.float64))
    if not is_target(a.distances):
        return found
    if a.distances.shape != source.shape:
        raise RuntimeError("distances array has wrong shape")
    write(found, a.distances)
    return None
