"""NumPy's functions that return positions: of diagonals, triangles and grids, as flat indices or along each axis."""

from math import prod
from operator import index
from typing import Any, Final, Literal, overload

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import creation, matrices, ranges, searching
from gpuarray.functions.arguments import DTypeLike, as_array, as_arrays, numbers
from gpuarray.functions.at_once import ANY, QUICK, created
from gpuarray.functions.joining import stack
from gpuarray.functions.mathematics import clip
from gpuarray.functions.registry import implements, native
from gpuarray.graph.layouts import contiguous_strides
from gpuarray.graph.shapes import listed

__all__ = [
    "diag_indices", "diag_indices_from", "fromfunction", "indices", "ix_", "mask_indices", "ravel_multi_index",
    "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from", "unravel_index",
]  # fmt: skip


@native("diag_indices_from", at_once="sums")
def diag_indices_from(arr: Any) -> tuple[GpuArray, ...]:
    """Return the indices of the main diagonal of an array."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return (ranges.arange(arr.shape[0], dtype=dtypes.int64, device=arr.device),) * int(arr.ndim)


def _matrix(arr: Any) -> Any:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return arr


@implements("tril_indices_from", at_once="sums", most=ANY)
def tril_indices_from(arr: Any, k: int = 0) -> tuple[GpuArray, ...]:
    """Return the indices of the lower triangle of an array."""
    shape = _matrix(arr).shape
    return searching.nonzero(matrices.tri(shape[0], shape[1], k, dtype=dtypes.bool_, device=arr.device))


@implements("triu_indices_from", at_once="sums", most=ANY)
def triu_indices_from(arr: Any, k: int = 0) -> tuple[GpuArray, ...]:
    """Return the indices of the upper triangle of an array."""
    shape = _matrix(arr).shape
    return searching.nonzero(~matrices.tri(shape[0], shape[1], k - 1, dtype=dtypes.bool_, device=arr.device))


@implements("ix_", at_once="views")
def ix_(*args: Any) -> tuple[GpuArray, ...]:
    """Return an open mesh of 1-d sequences, for indexing."""
    lines = []
    for number, (argument, line) in enumerate(zip(args, as_arrays(*args), strict=True)):
        if line.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if line.dtype.kind == "b":
            (line,) = searching.nonzero(line)
        elif not line.size and not isinstance(argument, np.ndarray | GpuArray):
            line = line.astype(dtypes.int64)  # an empty list has no dtype
        lines.append(line.reshape([-1 if axis == number else 1 for axis in range(len(args))]))
    return tuple(lines)


def _integers(value: Any, what: str, device: Any) -> GpuArray:
    array = as_array(value, device)
    if array.dtype.kind not in "biu":
        raise TypeError(f"only int indices permitted: {what} are of dtype {array.dtype}; convert with astype")
    return array.astype(dtypes.int64, copy=False)


def _strides(shape: tuple[int, ...], order: str) -> tuple[int, ...]:
    if order not in ("C", "F"):
        raise ValueError(f"order must be one of 'C' or 'F' (got {order!r})")
    return contiguous_strides(shape) if order == "C" else contiguous_strides(shape[::-1])[::-1]


#: The largest number of positions in NumPy.
_MOST: Final = np.iinfo(np.intp).max


@implements("unravel_index", at_once="elements")
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[GpuArray, ...]:
    """Convert flat indices to a tuple of coordinate arrays."""
    extents = tuple(map(index, listed(shape)))
    flat = _integers(indices, "indices", None)
    if not extents and flat.ndim:
        raise ValueError("multiple indices are not supported for 0d array")
    size = prod(extents)
    if size > _MOST:
        raise ValueError(f"dimensions are too large: {extents} have more than {_MOST} positions")
    if flat.size:
        lowest, highest = numbers(flat.min(), flat.max())
        if lowest < 0 or highest >= size:
            wrong = lowest if lowest < 0 else highest
            raise ValueError(f"index {wrong} is out of bounds for array with size {size}")
    return tuple(
        flat // stride % extent if flat.size else flat.copy()
        for stride, extent in zip(_strides(extents, order), extents, strict=True)
    )


@implements("ravel_multi_index", at_once="elements")
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> GpuArray:
    """Convert a tuple of coordinate arrays to flat indices."""
    extents = tuple(map(index, listed(dims)))
    parts = list(multi_index)
    if len(parts) != len(extents):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(extents)}")
    modes = (mode,) * len(extents) if isinstance(mode, str) else tuple(mode)
    device = as_arrays(*parts)[0].device
    flat: Any = 0
    outside = []
    for part, extent, stride, kind in zip(parts, extents, _strides(extents, order), modes, strict=True):
        position = _integers(part, "positions", device)
        if not extent and position.size:
            raise ValueError(f"cannot take positions along an axis of extent 0; dims are {extents}")
        if kind == "wrap":
            position = position % extent
        elif kind == "clip":
            position = clip(position, 0, extent - 1)
        elif kind == "raise":
            outside.append(((position < 0) | (position >= extent)).any())
        else:
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {kind!r})")
        flat = flat + position * stride
    if outside and any(numbers(*outside)):
        raise ValueError("invalid entry in coordinates array")
    return as_array(flat, device)


@implements("fromfunction")
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """Return an array whose elements a function computes from their coordinates."""
    return function(*indices(shape, dtype), **kwargs)


@overload
def indices(dimensions: Any, dtype: DTypeLike = ..., sparse: Literal[False] = ...) -> GpuArray: ...
@overload
def indices(dimensions: Any, dtype: DTypeLike = ..., *, sparse: Literal[True]) -> tuple[GpuArray, ...]: ...
@created(np.indices, lambda dimensions, *_, **others: prod(dimensions) * len(dimensions), most=QUICK)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the positions along each axis of a grid, as :func:`numpy.indices`: an array, or a tuple of sparse ones."""
    extents = tuple(map(index, dimensions))
    kind = dtypes.canonical(dtype)
    lines = [
        ranges.arange(n, dtype=kind).reshape([-1 if a == axis else 1 for a in range(len(extents))])
        for axis, n in enumerate(extents)
    ]
    if sparse:
        return tuple(lines)
    if not lines:
        return creation.zeros((0,), kind)
    return stack([line.broadcast(extents) for line in lines])


def _in_matrix(n: int, k: int = 0, m: int | None = None) -> int:
    return n * (n if m is None else m)


@created(np.diag_indices, lambda n, *_, **others: n)
def diag_indices(n: int, ndim: int = 2) -> tuple[GpuArray, ...]:
    """Return the positions of the main diagonal along each of ``ndim`` axes, as :func:`numpy.diag_indices`."""
    return (ranges.arange(n, dtype=dtypes.int64),) * ndim


@created(np.tril_indices, _in_matrix, bound=2, most=ANY)
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GpuArray, ...]:
    """Return the positions of the lower triangle of a matrix, as :func:`numpy.tril_indices`."""
    return searching.nonzero(matrices.tri(n, m, k=k, dtype=dtypes.bool_))


@created(np.triu_indices, _in_matrix, bound=2, most=ANY)
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GpuArray, ...]:
    """Return the positions of the upper triangle of a matrix, as :func:`numpy.triu_indices`."""
    return searching.nonzero(~matrices.tri(n, m, k=k - 1, dtype=dtypes.bool_))


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[GpuArray, ...]:
    """Return where ``mask_func(ones((n, n)), k)`` is not zero, as :func:`numpy.mask_indices`."""
    return searching.nonzero(mask_func(creation.ones((n, n), dtypes.int64), k))
