"""Products of vectors, matrices and tensors. Most of them are batches of matrix products, one node of the graph."""

from math import prod
from operator import attrgetter, index
from typing import Any, Final

import numpy as np
from numpy.exceptions import AxisError

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise, few_products
from gpuarray.functions.arguments import ArrayLike, as_array, as_arrays, result, standard_function, write_out
from gpuarray.functions.at_once import ANY
from gpuarray.functions.creation import zeros_like
from gpuarray.functions.joining import concat, stack
from gpuarray.functions.manipulation import moveaxis
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import broadcast_shapes, broadcast_to, is_single, listed, normalize_axis
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.source_locations import warn

__all__ = [
    "cross", "dot", "inner", "kron", "matmul", "matrix_transpose", "matvec", "outer", "tensordot", "vdot", "vecdot",
    "vecmat",
]  # fmt: skip

_TWO_COMPONENTS: Final = (
    "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. (deprecated in NumPy "
    "2.0)"
)


def _contract(left: Node, right: Node, dtype: DType) -> Node:
    """Return the products of (B, M, K) and (B, K, N) in ``dtype``; booleans are combined with `and` and `or`."""
    batch, m, n = left.shape[0], left.shape[1], right.shape[2]
    if not batch * m * n * left.shape[2]:
        return build.full((batch, m, n), 0, dtype)
    if dtype == dtypes.bool_:
        counted = build.contract(build.cast(left, dtypes.int32), build.cast(right, dtypes.int32))
        return build.elementwise(ops.not_equal, counted, 0)
    return build.contract(build.cast(left, dtype), build.cast(right, dtype))


def _batched(node: Node, shape: Shape, batch: Shape) -> Node:
    """Return matrices of ``shape`` with the leading axes broadcast to ``batch`` and flattened to one."""
    rows_columns = shape[-2:]
    full_shape = batch + rows_columns
    if shape != full_shape:
        node = build.view(build.reshape(node, shape), broadcast_to(shape, full_shape))
    return build.reshape(node, (prod(batch), *rows_columns))


@native("linalg.matmul", at_once="matrix products", call=np.matmul, most=ANY)
@standard_function
def matmul(x1: ArrayLike, x2: ArrayLike, /, out: Any = None) -> GpuArray:
    """Return the matrix product.

    Parameters
    ----------
    x1 : array_like
        Matrices of shape (..., M, K), or a vector of shape (K,).
    x2 : array_like
        Matrices of shape (..., K, N), or a vector of shape (K,).
    out : GpuArray or ndarray, optional
        Array for the result.

    Returns
    -------
    GpuArray
        Of shape (..., M, N), without the missing axis of a vector, and of the promoted dtype. Leading axes broadcast.

    Raises
    ------
    ValueError
        If an operand is 0-d, or the shapes do not match.
    """
    left, right = as_arrays(x1, x2)
    one, two = left.shape, right.shape
    if not one or not two:
        raise ValueError("matmul: Input operand does not have enough dimensions (a scalar is no matrix; use multiply)")
    rows_of, columns_of = len(one) > 1, len(two) > 1
    inner = two[-2 if columns_of else -1]
    if one[-1] != inner:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {inner} is different from {one[-1]})"
        )
    common = left.dtype if left.dtype is right.dtype else dtypes.promote(left.dtype, right.dtype)
    if not rows_of and not columns_of:
        return write_out(_inner(left, right, common), out)
    batch = broadcast_shapes(one[:-2], two[:-2]) if len(one) > 2 or len(two) > 2 else ()
    a = _batched(left.node(), one if rows_of else (1, inner), batch)
    b = _batched(right.node(), two if columns_of else (inner, 1), batch)
    product = _contract(a, b, common)
    shape = batch + (one[-2:-1] if rows_of else ()) + (two[-1:] if columns_of else ())
    return write_out(result(build.reshape(product, shape), left, right), out)


def _inner(left: GpuArray, right: GpuArray, dtype: DType, axis: int = -1) -> GpuArray:
    """Return the sum of products along an axis, in ``dtype``."""
    products = build.elementwise(ops.multiply, build.cast(left.node(), dtype), build.cast(right.node(), dtype))
    op = reductions.any if dtype == dtypes.bool_ else reductions.sum
    return result(build.reduce(op, products, axis, dtype), left, right)


@native("linalg.vecdot", at_once="vector products", call=np.vecdot, most=ANY)
@standard_function
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> GpuArray:
    """Return the dot product of vectors along an axis, with the first operand conjugated.

    Parameters
    ----------
    x1, x2 : array_like
        Vectors; all other axes broadcast.
    axis : int
        The axis of the vectors in each operand.

    Raises
    ------
    ValueError
        If the vectors differ in length.
    """
    left, right = as_arrays(x1, x2)
    if not left.ndim or not right.ndim:
        raise ValueError("vecdot: operands need at least one axis")
    ndim = max(left.ndim, right.ndim)
    if axis >= 0 and left.ndim != right.ndim:  # NumPy counts the axes of each operand
        left, right, axis = moveaxis(left, axis, -1), moveaxis(right, axis, -1), -1
    position = normalize_axis(axis, ndim) - ndim
    lengths = [a.shape[position] if -position <= a.ndim else 1 for a in (left, right)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"vecdot: the vectors have different lengths, {lengths[0]} and {lengths[1]}")
    common = dtypes.promote(left.dtype, right.dtype)
    return _inner(left.conj() if left.dtype.kind == "c" else left, right, common, position)


@native("matrix_transpose", "linalg.matrix_transpose", at_once="views", call=attrgetter("mT"))
def matrix_transpose(x: ArrayLike, /) -> GpuArray:
    """Return a view with the last two axes exchanged.

    Raises
    ------
    ValueError
        If there are fewer than two axes.
    """
    return as_array(x).mT


@native("tensordot", "linalg.tensordot", at_once="refused or few", call=few_products.tensordot, most=ANY)
@standard_function
def tensordot(x1: ArrayLike, x2: ArrayLike, /, axes: Any = 2) -> GpuArray:
    """Return the sum of products over several axes.

    Parameters
    ----------
    x1, x2 : array_like
        The operands.
    axes : int or pair of sequences of int
        Number of last axes of ``x1`` and first axes of ``x2`` to contract, or the axes of each operand.

    Returns
    -------
    GpuArray
        With the remaining axes of ``x1``, then those of ``x2``.

    Raises
    ------
    ValueError
        If the extents differ.
    """
    left, right = as_arrays(x1, x2)
    first, second = _paired_axes(left, right, axes)
    if [left.shape[a] for a in first] != [right.shape[a] for a in second]:
        raise ValueError(
            f"shape-mismatch for sum: shapes {left.shape} and {right.shape} along axes {first} and {second}"
        )
    rest = [a for a in range(left.ndim) if a not in first]
    others = [a for a in range(right.ndim) if a not in second]
    inner = prod(left.shape[a] for a in first)
    shape = tuple(left.shape[a] for a in rest) + tuple(right.shape[a] for a in others)
    a = build.reshape(left.transpose([*rest, *first]).node(), (1, prod(left.shape[k] for k in rest), inner))
    b = build.reshape(right.transpose([*second, *others]).node(), (1, inner, prod(right.shape[k] for k in others)))
    product = _contract(a, b, dtypes.promote(left.dtype, right.dtype))
    return result(build.reshape(product, shape), left, right)


def _paired_axes(left: GpuArray, right: GpuArray, axes: Any) -> tuple[list[int], list[int]]:
    if is_single(axes):
        axes = index(axes)
        if not 0 <= axes <= min(left.ndim, right.ndim):
            raise AxisError(f"axes={axes} is out of range for arrays with {left.ndim} and {right.ndim} axes")
        return list(range(left.ndim - axes, left.ndim)), list(range(axes))
    first, second = map(listed, axes)
    if len(first) != len(second):
        raise ValueError(f"axes pair {len(first)} with {len(second)} axes; the numbers must be equal")
    return [normalize_axis(a, left.ndim) for a in first], [normalize_axis(a, right.ndim) for a in second]


@native("dot", at_once="matrix products", most=ANY, empty=True)
def dot(x1: ArrayLike, x2: ArrayLike, /, out: Any = None) -> GpuArray:
    """Return NumPy's dot product: the last axis of ``x1`` with the last but one (or only) axis of ``x2``."""
    left, right = as_arrays(x1, x2)
    if not left.ndim or not right.ndim:
        product: GpuArray = left * right
    elif right.ndim <= 2:
        product = matmul(left, right)
    else:
        product = tensordot(left, right, axes=([left.ndim - 1], [right.ndim - 2]))
    if out is not None and out.dtype != product.dtype:
        raise ValueError(f"output array is not acceptable: its dtype is {out.dtype}, and must be {product.dtype}")
    return write_out(product, out)


@native("outer", at_once="pairs", empty=True)
def outer(x1: ArrayLike, x2: ArrayLike, /, out: Any = None) -> GpuArray:
    """Return the products of all elements of one array with all elements of another, as a matrix."""
    left, right = as_arrays(x1, x2)
    return write_out(left.reshape((-1, 1)) * right.reshape((1, -1)), out)


@native("inner", at_once="matrix products", most=ANY, empty=True)
def inner(a: Any, b: Any, /) -> GpuArray:
    """Return the inner product over the last axes of two arrays."""
    first, second = as_arrays(a, b)
    if first.ndim == 0 or second.ndim == 0:
        return first * second
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"shapes {first.shape} and {second.shape} not aligned: the last extents differ")
    return tensordot(first, second, ((-1,), (-1,)))


@native("vdot", at_once="elements", most=ANY, empty=True)
def vdot(a: Any, b: Any, /) -> GpuArray:
    """Return the dot product of two flattened arrays; the first one is conjugated."""
    first, second = (x.reshape(-1) for x in as_arrays(a, b))
    if first.size != second.size:
        raise ValueError("cannot reshape array: vdot needs arrays of the same size")
    return vecdot(first, second)


@native("kron", at_once="products")
def kron(a: Any, b: Any) -> GpuArray:
    """Return the Kronecker product of two arrays."""
    first, second = as_arrays(a, b)
    ndim = max(first.ndim, second.ndim)
    shapes = [(1,) * (ndim - x.ndim) + x.shape for x in (first, second)]
    left = first.reshape([n for extent in shapes[0] for n in (extent, 1)])
    right = second.reshape([n for extent in shapes[1] for n in (1, extent)])
    return (left * right).reshape([n * m for n, m in zip(*shapes, strict=True)])


def _of_three(a: Any, b: Any, *arguments: Any, **keywords: Any) -> Any:
    if 2 in (a.shape[-1:] + b.shape[-1:]) or keywords or arguments:
        raise NotImplementedError  # the recording warns of two components
    return np.cross(a, b)


@native("cross", at_once="sums", call=_of_three)
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
    first, second = (concat([v, zeros_like(v[..., :1])], -1) if v.shape[-1] == 2 else v for v in (first, second))
    return moveaxis(cross_product(first, second), -1, axisc)


def cross_product(left: GpuArray, right: GpuArray) -> GpuArray:
    """Return the cross products of vectors of three components along the last axes."""
    x, y = ([a[..., k] for k in range(3)] for a in (left, right))
    return stack([x[k - 2] * y[k - 1] - x[k - 1] * y[k - 2] for k in range(3)], axis=-1)


def _check_axes(name: str, *operands: tuple[GpuArray, int]) -> None:
    for number, (operand, least) in enumerate(operands):
        if operand.ndim < least:
            raise ValueError(f"{name}: operand {number} has {operand.ndim} axes, and at least {least} are needed")


@implements("matvec", at_once="matrix products", most=ANY)
def matvec(x1: Any, x2: Any, /) -> GpuArray:
    """Return the products of matrices and vectors, as ``numpy.matvec``: shapes (..., M, N) and (..., N)."""
    left, right = as_arrays(x1, x2)
    _check_axes("matvec", (left, 2), (right, 1))
    return matmul(left, right[..., None])[..., 0]


@implements("vecmat", at_once="matrix products", most=ANY)
def vecmat(x1: Any, x2: Any, /) -> GpuArray:
    """Return the products of conjugated vectors and matrices, as ``numpy.vecmat``: shapes (..., M) and (..., M, N)."""
    left, right = as_arrays(x1, x2)
    _check_axes("vecmat", (left, 1), (right, 2))
    conjugated = elementwise.conj(left) if left.dtype.kind == "c" else left
    return matmul(conjugated[..., None, :], right)[..., 0, :]
