"""Matrices of diagonals and triangles."""

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, made_of, make
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import (
    ArrayLike,
    DeviceLike,
    DTypeLike,
    as_array,
    checked_shape,
    result,
)
from gpuarray.functions.at_once import created
from gpuarray.functions.creation import chosen_dtype, is_immediate, ones, target_device, zeros
from gpuarray.functions.joining import concat
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators
from gpuarray.ops.spec import GenerateOp

__all__ = ["diag", "eye", "identity", "tri", "tril", "triu", "vander"]


@native("eye", makes=created(np.eye, bound=2))
def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike = None, order: str = "C", *,
    M: int | None = None, device: DeviceLike = None, like: Any = None,  # noqa: N803  # NumPy's name
) -> GpuArray:  # fmt: skip
    """Return a matrix with ones on diagonal ``k`` (positive above the main diagonal) and zeros elsewhere.

    ``M`` is NumPy's name of ``n_cols``; ``order`` is accepted for compatibility with NumPy.
    """
    kind = chosen_dtype(dtype)
    n_cols = M if n_cols is None else n_cols
    shape = checked_shape((n_rows, n_rows if n_cols is None else n_cols), kind)
    return _generated(np.eye, generators.eye, shape, k, kind, target_device(device, like))


@native("identity", makes=created(np.identity, bound=2))
def identity(n: int, dtype: DTypeLike = None, *, device: DeviceLike = None, like: Any = None) -> GpuArray:
    """Return the identity matrix with ``n`` rows."""
    return eye(n, dtype=dtype, device=device, like=like)


@native("tri", makes=created(np.tri, bound=2))
def tri(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike = None, *,
    M: int | None = None,  # noqa: N803  # NumPy's name
    device: DeviceLike = None, like: Any = None,
) -> GpuArray:  # fmt: skip
    """Return a matrix with ones at and below the diagonal ``k`` and zeros elsewhere; ``M`` is NumPy's ``n_cols``."""
    kind = chosen_dtype(dtype)
    n_cols = M if n_cols is None else n_cols
    shape = checked_shape([max(0, n) for n in (n_rows, n_rows if n_cols is None else n_cols)], kind)
    return _generated(np.tri, generators.tri, shape, k, kind, target_device(device, like))


def _generated(
    function: Callable[..., Any], op: GenerateOp, shape: tuple[int, ...], k: int, kind: DType, device: Device
) -> GpuArray:
    """Return the matrix that a function of NumPy makes, at once if it is small."""
    rows, columns = shape
    k = _diagonal(k, shape)
    if is_immediate(shape, device):
        return made_of(function(rows, columns, k, kind), device)
    return make(build.generate(op, (columns, k), shape, kind), device)


def _diagonal(k: int, shape: tuple[int, ...]) -> int:
    """Limit ``k`` to the nearest diagonals outside of the matrix."""
    return max(-shape[0] - 1, min(k, shape[1] + 1))


@native("tril", at_once="elements")
def tril(x: ArrayLike, /, k: int = 0) -> GpuArray:
    """Return the lower triangle of matrices up to diagonal ``k``, with zeros elsewhere."""
    return _triangle(as_array(x), k, lower=True)


@native("triu", at_once="elements")
def triu(x: ArrayLike, /, k: int = 0) -> GpuArray:
    """Return the upper triangle of matrices from diagonal ``k`` on, with zeros elsewhere."""
    return _triangle(as_array(x), k - 1, lower=False)


def _triangle(matrices: GpuArray, k: int, *, lower: bool) -> GpuArray:
    if not matrices.ndim:
        raise ValueError("a triangle needs an array with at least one axis, not a number")
    if matrices.ndim == 1:
        matrices = matrices.broadcast(matrices.shape * 2)  # as NumPy: each row is that vector
    shape, k = matrices.shape[-2:], index(k)
    below = build.generate(generators.tri, (shape[1], _diagonal(k, shape)), shape, dtypes.bool_)
    zero = build.full((), 0, matrices.dtype)
    chosen = (below, matrices.node(), zero) if lower else (below, zero, matrices.node())
    return result(build.elementwise(ops.where, *chosen), matrices)


@native("diag", at_once="products or views")
def diag(x: ArrayLike, /, k: int = 0) -> GpuArray:
    """Return a diagonal of a matrix, or the matrix with a diagonal."""
    array = as_array(x)
    if array.ndim > 2:
        raise ValueError(f"Input must be 1- or 2-d, not {array.ndim}-d; x.diagonal() takes those of stacked matrices")
    k = index(k)
    if array.ndim != 1:
        return array.diagonal(k)
    side = array.size + abs(k)
    matrix = zeros((side, side), array.dtype, device=array.device)
    offset, stride = (k if k >= 0 else -k * side), side + 1
    matrix.store(Layout((array.size,), (stride,), offset), array.node())
    return matrix


@implements("vander", at_once="products")
def vander(x: Any, N: Any = None, increasing: bool = False) -> GpuArray:  # noqa: N803
    """Return a Vandermonde matrix, whose columns are powers of the input vector."""
    source = as_array(x)
    if source.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = source.size if N is None else index(N)
    kind = np.promote_types(source.dtype, np.int_)
    repeated = source.astype(kind, copy=False)[:, None].broadcast((source.size, max(columns - 1, 0)))
    ones_ = ones((source.size, min(columns, 1)), kind, device=source.device)
    powers = elementwise.multiply.accumulate(concat([ones_, repeated], axis=1), axis=1)
    return powers if increasing else powers[:, ::-1]
