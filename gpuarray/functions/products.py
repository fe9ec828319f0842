"""NumPy's products of vectors, matrices and tensors that are written over the matrix product."""

from typing import Any, Final

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise, linalg_products, matrix_products
from gpuarray.functions.arguments import as_arrays
from gpuarray.functions.joining import concatenate
from gpuarray.functions.manipulation import moveaxis
from gpuarray.functions.registry import native
from gpuarray.source_locations import warn

__all__ = ["cross", "inner", "kron", "matvec", "vdot", "vecmat"]

_TWO_COMPONENTS: Final = (
    "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. (deprecated in NumPy "
    "2.0)"
)


@native("inner")
def inner(a: Any, b: Any, /) -> GpuArray:
    """Return the inner product over the last axes of two arrays."""
    first, second = as_arrays(a, b)
    if first.ndim == 0 or second.ndim == 0:
        return first * second
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"shapes {first.shape} and {second.shape} not aligned: the last extents differ")
    return matrix_products.tensordot(first, second, ((-1,), (-1,)))


@native("vdot")
def vdot(a: Any, b: Any, /) -> GpuArray:
    """Return the dot product of two flattened arrays; the first one is conjugated."""
    first, second = (x.reshape(-1) for x in as_arrays(a, b))
    if first.size != second.size:
        raise ValueError("cannot reshape array: vdot needs arrays of the same size")
    return matrix_products.vecdot(first, second)


@native("kron")
def kron(a: Any, b: Any) -> GpuArray:
    """Return the Kronecker product of two arrays."""
    first, second = as_arrays(a, b)
    ndim = max(first.ndim, second.ndim)
    shapes = [(1,) * (ndim - x.ndim) + x.shape for x in (first, second)]
    left = first.reshape([n for extent in shapes[0] for n in (extent, 1)])
    right = second.reshape([n for extent in shapes[1] for n in (1, extent)])
    return (left * right).reshape([n * m for n, m in zip(*shapes, strict=True)])


@native("cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> GpuArray:
    """Return the cross product of vectors with two or three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = as_arrays(a, b)
    if first.ndim == 0 or second.ndim == 0:
        raise ValueError("At least one array has zero dimension")
    first, second = moveaxis(first, axisa, -1), moveaxis(second, axisb, -1)
    if first.shape[-1] not in (2, 3) or second.shape[-1] not in (2, 3):
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {first.shape[-1]} and "
            f"{second.shape[-1]} dimensional instead."
        )
    if first.shape[-1] != 3 or second.shape[-1] != 3:
        warn(_TWO_COMPONENTS, DeprecationWarning)
    if first.shape[-1] == second.shape[-1] == 2:
        return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    first, second = (concatenate([v, v[..., :1] * 0], -1) if v.shape[-1] == 2 else v for v in (first, second))
    return moveaxis(linalg_products.cross(first, second), -1, axisc)


def matvec(x1: Any, x2: Any, /) -> GpuArray:
    """Return the products of matrices and vectors, as ``numpy.matvec``: shapes (..., M, N) and (..., N)."""
    left, right = as_arrays(x1, x2)
    return matrix_products.matmul(left, right[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> GpuArray:
    """Return the products of conjugated vectors and matrices, as ``numpy.vecmat``: shapes (..., M) and (..., M, N)."""
    left, right = as_arrays(x1, x2)
    conjugated = elementwise.conj(left) if left.dtype.kind == "c" else left
    return matrix_products.matmul(conjugated[..., None, :], right)[..., 0, :]
