"""Set functions. The elements are read to the host, as they decide the shapes of the results."""

from typing import Any, NamedTuple

import numpy as np

from gpuarray.api import host_functions
from gpuarray.api.arguments import ArrayLike, as_array
from gpuarray.array import GpuArray, from_host


class UniqueAll(NamedTuple):
    """What :func:`unique_all` returns."""

    values: GpuArray
    indices: GpuArray
    inverse_indices: GpuArray
    counts: GpuArray


class UniqueCounts(NamedTuple):
    """What :func:`unique_counts` returns."""

    values: GpuArray
    counts: GpuArray


class UniqueInverse(NamedTuple):
    """What :func:`unique_inverse` returns."""

    values: GpuArray
    inverse_indices: GpuArray


def _unique(x: ArrayLike, function: Any) -> list[GpuArray]:
    array = as_array(x)
    host = host_functions.read(array, function.__name__, "the elements decide the shape of the result")
    found = function(host)
    return [from_host(part, array.device) for part in (found if isinstance(found, tuple) else (found,))]


def unique_all(x: ArrayLike, /) -> UniqueAll:
    """Return the different elements, sorted, their first positions, which of them each element is, and counts."""
    return UniqueAll(*_unique(x, np.unique_all))


def unique_counts(x: ArrayLike, /) -> UniqueCounts:
    """Return the different elements, sorted, and how often each occurs."""
    return UniqueCounts(*_unique(x, np.unique_counts))


def unique_inverse(x: ArrayLike, /) -> UniqueInverse:
    """Return the different elements, sorted, and which of them each element is."""
    return UniqueInverse(*_unique(x, np.unique_inverse))


def unique_values(x: ArrayLike, /) -> GpuArray:
    """Return the different elements."""
    return _unique(x, np.unique_values)[0]
