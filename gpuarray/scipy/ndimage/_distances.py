"""Distances to the nearest zero: along the first axis by running maxima, then the least sum along each other axis."""

from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array
from gpuarray.functions.logic import where
from gpuarray.scipy._mirror import hosted, is_target, mirrors, write
from gpuarray.scipy.ndimage._arguments import by_name, each

__all__ = ["distance_transform_edt"]

#: More than any distance.
_FAR: Final = 1 << 14
_WITH_INDICES: Final = "the indices of nearest zeros are found by SciPy"
_by_scipy = hosted(ndimage.distance_transform_edt, _WITH_INDICES)


def _squares(inside: GpuArray, sampling: Any) -> GpuArray:
    """Return the squares of the distances to the nearest zero; whole numbers if there is no sampling."""
    kind = np.dtype(np.int32 if sampling is None else np.float64)
    steps = [1.0] * inside.ndim if sampling is None else [float(step) for step in each(sampling, inside.ndim)]
    found = where(inside, kind.type(1 << 29 if sampling is None else 1e300), kind.type(0))
    for axis, (extent, step) in enumerate(zip(inside.shape, steps, strict=True)):
        there = np.arange(extent)
        away = ((there[:, None] - there) * step) ** 2  # of each result from each element
        lines = np.swapaxes(found, axis, -1)  # the axis is last, and each result needs all of it
        whole = lines.reshape(lines.shape[:-1] + (1, extent))
        sums = whole + as_array(away.astype(kind), inside.device)
        found = np.swapaxes(sums.min(-1), axis, -1)
    return found


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
