"""dask: arrays of this package as chunks, and the array backend ``"gpuarray"``.

dask calls mostly functions of NumPy, which accept arrays of this package. The other operations are registered here:
dask implements them for NumPy's arrays only, or runs them on the host for arrays of unknown types. The backend is also
an entry point of the package, and tokens come from the protocol ``__dask_tokenize__``.
"""

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
from gpuarray.functions.random_bits import Philox
from gpuarray.functions.random_legacy import RandomState
from gpuarray.graph.shapes import normalize_axis
from gpuarray.runtime import telemetry

#: Converts a chunk to an array of this package.
to_gpuarray: Any = Dispatch("to_gpuarray")


def _to_gpuarray(chunk: Any, **_: Any) -> GpuArray:
    return creation.asarray(chunk)


def _to_numpy(chunk: GpuArray, **_: Any) -> Any:
    return chunk.get()


def _nbytes(chunk: GpuArray) -> int:
    return chunk.nbytes


def token(chunk: GpuArray) -> Any:
    """Return the token of a chunk. Equal arrays on one device have equal tokens in all processes."""
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
    """Return the number of elements of each result of a reduction along axes, in the shape of the result."""
    chosen = range(chunk.ndim) if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    axes = {normalize_axis(a, chunk.ndim) for a in chosen}
    count = prod(chunk.shape[a] for a in axes)
    shape = tuple(1 if a in axes else n for a, n in enumerate(chunk.shape) if keepdims or a not in axes)
    return creation.full(shape, count, dtype=dtype, device=chunk.device)


def _creation(name: str, like: str = "meta") -> Any:
    """Return dask's own creation function with that name, which makes chunks like the array given as ``like``."""

    def create(*arguments: Any, **keywords: Any) -> Any:
        if keywords.get(like) is None:
            keywords = {**keywords, like: creation.empty(())}
        with dask.config.set({"array.backend": "numpy"}):
            return getattr(dask.array, name)(*arguments, **keywords)

    create.__name__ = name
    create.__doc__ = f"Return ``dask.array.{name}`` with chunks of this package."
    return staticmethod(create)


class GpuArrayBackend(ArrayBackendEntrypoint):  # type: ignore[misc]  # mypy skips dask
    """The array backend ``"gpuarray"``, chosen by ``dask.config.set({"array.backend": "gpuarray"})``.

    New chunks are on the default device of the process that computes them.
    """

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        """Return the function that converts a chunk to an array of this package."""
        return to_gpuarray

    @classmethod
    def to_backend(cls, data: Any, **keywords: Any) -> Any:
        """Return a dask array whose chunks are arrays of this package."""
        if isinstance(meta_from_array(data), GpuArray):
            return data
        return data.map_blocks(to_gpuarray, meta=_like(meta_from_array(data)), **keywords)

    @property
    def RandomState(self) -> type[RandomState]:  # noqa: N802  # dask's name
        """The class behind functions such as ``dask.array.random.normal``."""
        return RandomState

    @property
    def default_bit_generator(self) -> type[Philox]:
        """The class of the bit generator behind ``dask.array.random.default_rng``."""
        return Philox

    ones = _creation("ones")
    zeros = _creation("zeros")
    empty = _creation("empty")
    full = _creation("full")
    arange = _creation("arange", like="like")


def _like(meta: Any) -> GpuArray:
    """Return an empty array of this package with the dtype and the axes of another."""
    return creation.empty((0,) * meta.ndim, dtype=meta.dtype)


def register() -> None:
    """Fill dask's tables of array types."""
    to_gpuarray.register((GpuArray, np.ndarray), _to_gpuarray)
    to_numpy_dispatch.register(GpuArray, _to_numpy)
    sizeof.register(GpuArray, _nbytes)
    percentile_lookup.register(GpuArray, _percentile)
    numel_lookup.register(GpuArray, _numel)
    array_creation_dispatch.register_backend("gpuarray", GpuArrayBackend())
