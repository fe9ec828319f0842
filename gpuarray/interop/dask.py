"""dask: chunks that are arrays of this package, and the array backend ``"gpuarray"``.

Most of what dask does with chunks are calls of NumPy, which accept arrays of this package. The rest is registered here:
operations that dask knows for NumPy's arrays alone, or runs on the host for arrays of unknown types. The backend is
also an entry point of the package, and tokens are made through the protocol ``__dask_tokenize__``.
"""

import sys
from collections.abc import Sequence
from math import prod
from typing import Any

import dask
import dask.array
import numpy as np
from dask.array.backends import ArrayBackendEntrypoint, array_creation_dispatch
from dask.array.dispatch import numel_lookup, percentile_lookup, to_numpy_dispatch
from dask.array.utils import meta_from_array
from dask.sizeof import sizeof
from dask.tokenize import normalize_token
from dask.utils import Dispatch

from gpuarray.array import GpuArray
from gpuarray.functions import creation
from gpuarray.functions.quantiles import percentile
from gpuarray.functions.random import Generator
from gpuarray.functions.random_bits import Philox
from gpuarray.graph.build import normalize_axis
from gpuarray.runtime import telemetry

#: Makes a chunk an array of this package.
to_gpuarray: Any = Dispatch("to_gpuarray")


def _to_gpuarray(chunk: Any, **_: Any) -> GpuArray:
    return creation.asarray(chunk)


def _to_numpy(chunk: GpuArray, **_: Any) -> Any:
    return chunk.get()


def _nbytes(chunk: GpuArray) -> int:
    return chunk.nbytes


def token(chunk: GpuArray) -> Any:
    """Return what dask makes names of: equal arrays on one device have equal names, in all processes."""
    telemetry.transfer("dask.tokenize", chunk.nbytes, chunk.device, depth=3)
    return "GpuArray", chunk.device.name, normalize_token(chunk.get())


def _percentile(chunk: GpuArray, q: Any, method: str = "linear") -> tuple[GpuArray | None, int]:
    """Return the percentiles of one chunk, None if it is empty, and the number of its elements."""
    return (percentile(chunk, q, method=method) if chunk.size else None), chunk.shape[0]


def _numel(
    chunk: GpuArray,
    axis: int | Sequence[int] | None = None,
    dtype: Any = np.float64,
    keepdims: bool = False,
    **_: Any,
) -> GpuArray:
    """Return how many elements a reduction along axes takes together, in the shape of its result."""
    given = range(chunk.ndim) if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    axes = {normalize_axis(a, chunk.ndim) for a in given}
    count = prod(chunk.shape[a] for a in axes)
    shape = tuple(1 if a in axes else n for a, n in enumerate(chunk.shape) if keepdims or a not in axes)
    return creation.full(shape, count, dtype=dtype, device=chunk.device)


class LegacyGenerator(Generator):
    """What ``dask.array.random.normal`` and its like draw from: our streams, under the older names of NumPy's."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(Philox(seed))

    def random_sample(self, size: Any = None) -> Any:
        """Return numbers from 0 to 1."""
        return self.random(size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Return integers below the end."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Return integers up to the end."""
        first, last = (1, low) if high is None else (low, high)
        return self.integers(first, last, size=size, endpoint=True)

    def tomaxint(self, size: Any = None) -> Any:
        """Return integers of 63 bits."""
        return self.integers(0, sys.maxsize, size, endpoint=True)


class GpuArrayBackend(ArrayBackendEntrypoint):  # type: ignore[misc]  # a package whose types are not looked at
    """The array backend ``"gpuarray"``: what ``dask.config.set({"array.backend": "gpuarray"})`` makes arrays with.

    New arrays are on the default device, in the process where a chunk is made.
    """

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        """Return the function that makes a chunk an array of this package."""
        return to_gpuarray

    @classmethod
    def to_backend(cls, data: Any, **keywords: Any) -> Any:
        """Return a dask array whose chunks are arrays of this package."""
        if isinstance(meta_from_array(data), GpuArray):
            return data
        return data.map_blocks(to_gpuarray, meta=_like(meta_from_array(data)), **keywords)

    @property
    def RandomState(self) -> type[Generator]:  # noqa: N802  # dask's name
        """The class behind functions such as ``dask.array.random.normal``."""
        return LegacyGenerator

    @property
    def default_bit_generator(self) -> type[Philox]:
        """The class of the bit generator behind ``dask.array.random.default_rng``."""
        return Philox

    @staticmethod
    def ones(*arguments: Any, **keywords: Any) -> Any:
        """Return ``dask.array.ones`` with chunks of this package."""
        return _created("ones", arguments, keywords)

    @staticmethod
    def zeros(*arguments: Any, **keywords: Any) -> Any:
        """Return ``dask.array.zeros`` with chunks of this package."""
        return _created("zeros", arguments, keywords)

    @staticmethod
    def empty(*arguments: Any, **keywords: Any) -> Any:
        """Return ``dask.array.empty`` with chunks of this package."""
        return _created("empty", arguments, keywords)

    @staticmethod
    def full(*arguments: Any, **keywords: Any) -> Any:
        """Return ``dask.array.full`` with chunks of this package."""
        return _created("full", arguments, keywords)

    @staticmethod
    def arange(*arguments: Any, **keywords: Any) -> Any:
        """Return ``dask.array.arange`` with chunks of this package."""
        return _created("arange", arguments, keywords, like="like")


def _like(meta: Any) -> GpuArray:
    """Return an empty array of this package with the dtype and the axes of another."""
    return creation.empty((0,) * meta.ndim, dtype=meta.dtype)


def _created(name: str, arguments: Any, keywords: dict[str, Any], like: str = "meta") -> Any:
    """Call one of dask's own creation functions, which makes chunks like the array that it is given."""
    if keywords.get(like) is None:
        keywords = {**keywords, like: creation.empty(())}
    with dask.config.set({"array.backend": "numpy"}):
        return getattr(dask.array, name)(*arguments, **keywords)


def register() -> None:
    """Fill dask's tables of array types."""
    to_gpuarray.register((GpuArray, np.ndarray), _to_gpuarray)
    to_numpy_dispatch.register(GpuArray, _to_numpy)
    sizeof.register(GpuArray, _nbytes)
    percentile_lookup.register(GpuArray, _percentile)
    numel_lookup.register(GpuArray, _numel)
    array_creation_dispatch.register_backend("gpuarray", GpuArrayBackend())
