"""Distances to the nearest zero in steps to neighbours.

SciPy goes through the array twice. Each element looks at the neighbours of the first half of a structure, which are
before it in the first pass and behind it in the second one. Here all elements take any number of steps to one
neighbour, then to the next one, and so on, until no distance changes, which for the two metrics with names is after
the first time. The distances after each pass are SciPy's, and so it is known to which neighbour each element turns. The
nearest zeros are found by following neighbours.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, elements_at, read
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import flip
from gpuarray.functions.padding import pad
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._calls import run_scipy
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy.ndimage._distances import NONE, checked, least_distances, numbers, results, unravelled

__all__ = ["distance_transform_cdt"]

_Offset = tuple[int, ...]


@by_name(ndimage.distance_transform_cdt, kind=COMPOSED)
def distance_transform_cdt(a: Any) -> Any:
    """Return the number of steps from each element to the nearest zero, and where this is.

    Steps lead along one axis ("taxicab"), along any of them ("chessboard"), or to the elements of a structure.
    """
    source = as_array(a.input)
    metric = a.metric if isinstance(a.metric, str) else read(a.metric)
    if not source.ndim or not source.size:
        return run_scipy(ndimage.distance_transform_cdt, (), vars(a), source.device)
    checked(ndimage.distance_transform_cdt, a, metric=metric)
    connectivity = _connectivity(metric, source.ndim)
    nearest = None
    if connectivity and not a.return_indices:
        steps = least_distances(source != 0, None, range(source.ndim), 1, is_largest=connectivity > 1).distances
    else:
        structure = ndimage.generate_binary_structure(source.ndim, connectivity) if connectivity else metric
        steps, nearest = _two_passes(source != 0, _before(structure))
    indices = unravelled(nearest, source.shape) if a.return_indices and nearest is not None else None
    return results(a, where(steps == NONE, np.int32(-1), steps) if a.return_distances else None, indices)


def _connectivity(metric: Any, ndim: int) -> int:
    """Return along how many axes a step of a metric may lead; 0 if it is neither one axis nor all."""
    if isinstance(metric, str):
        return {"chessboard": ndim}.get(metric, 1)
    structure = _as_bytes(metric)
    choices = (n for n in (1, ndim) if np.array_equal(structure, ndimage.generate_binary_structure(ndim, n)))
    return next(choices, 0)


def _as_bytes(metric: Any) -> Any:
    """Return a structure as SciPy reads it: the first bytes of its memory, whatever the dtype."""
    structure = np.ascontiguousarray(metric)
    return (structure.reshape(-1).view(np.uint8)[: structure.size] != 0).reshape(structure.shape)


def _before(metric: Any) -> list[_Offset]:
    """Return the neighbours of the first half of a structure."""
    structure = _as_bytes(metric)
    structure.reshape(-1)[structure.size // 2 :] = False
    return [tuple(index) for index in (np.argwhere(structure) - 1).tolist()]


def _two_passes(inside: GpuArray, before: Sequence[_Offset]) -> tuple[GpuArray, GpuArray]:
    """Return the numbers of steps, and the positions in C order of the nearest zeros."""
    steps = where(inside, NONE, np.int32(0))
    nearest = numbers(inside.shape, inside.device)
    for _ in range(2):
        fewest = _fewest(steps, before)
        nearest = elements_at(nearest.reshape(-1), _ends(steps, fewest, before))
        steps, nearest = flip(fewest), flip(nearest)
    return steps, nearest


def _fewest(steps: GpuArray, before: Sequence[_Offset]) -> GpuArray:
    """Return the fewest steps if each element may go on from its neighbours before it."""
    while True:
        start = steps
        for offset in before:
            extent = min(extent for extent, n in zip(steps.shape, offset, strict=True) if n)
            for level in range((extent - 1).bit_length()):
                count = 1 << level
                far = _moved(steps, [n * count for n in offset])
                steps = elementwise.minimum(steps, far + np.int32(count))
        if not (start != steps).any().item():
            return steps


def _ends(start: GpuArray, fewest: GpuArray, before: Sequence[_Offset]) -> GpuArray:
    """Return where the ways lead that take the first of the best neighbours, up to elements that do not gain by it."""
    own = number = numbers(start.shape, start.device)
    best = start
    for offset in before:
        other = _moved(fewest, offset) + np.int32(1)
        away = sum(n * int(np.prod(start.shape[axis + 1 :])) for axis, n in enumerate(offset))
        number = where(other < best, own + np.int32(away), number)
        best = elementwise.minimum(best, other)
    longest = where(fewest == NONE, np.int32(0), fewest).max().item()
    for _ in range(int(longest).bit_length()):
        number = elements_at(number.reshape(-1), number)
    return number


def _moved(steps: GpuArray, offset: Sequence[int]) -> GpuArray:
    """Return for each element the element at an offset; there is no zero outside."""
    inside = tuple(slice(max(n, 0), n if n < 0 else None) for n in offset)
    return pad(steps[inside], [(max(-n, 0), max(n, 0)) for n in offset], constant_values=NONE)
