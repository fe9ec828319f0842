"""Systems of linear equations: solutions, inverses, determinants and powers of matrices.

All functions but :func:`det` run when they are called, where their operands are. All but :func:`lstsq` take stacks of
matrices. Integers and booleans are converted to float64, and float16 raises TypeError, as in numpy.linalg.
"""

from collections.abc import Sequence
from math import prod
from operator import index
from typing import NamedTuple

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions import few_products, lapack
from gpuarray.functions.arguments import ArrayLike, as_array, as_arrays, standard_function
from gpuarray.functions.creation import zeros
from gpuarray.functions.linalg_arguments import factor_dtype, real_dtype, run, run_checked, square
from gpuarray.functions.matrices import eye
from gpuarray.functions.products import matmul
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build, tape
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.ops import factorisations as ops

__all__ = [
    "LstsqResult", "SlogdetResult", "det", "inv", "lstsq", "matrix_power", "slogdet", "solve", "tensorinv",
    "tensorsolve",
]  # fmt: skip


class SlogdetResult(NamedTuple):
    """The result of :func:`slogdet`."""

    sign: GpuArray
    logabsdet: GpuArray


class LstsqResult(NamedTuple):
    """The result of :func:`lstsq`."""

    x: GpuArray
    residuals: GpuArray
    rank: GpuArray
    s: GpuArray


@native("linalg.det", at_once="matrices", call=lapack.det)
@standard_function
def det(x: ArrayLike, /) -> GpuArray:
    """Return determinants of matrices of shape (..., M, M); they are evaluated lazily.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square.
    """
    array = square(x)
    node = build.call_one(ops.det, [array.node()], array.shape[:-2], factor_dtype(array))
    return wrap(node, array.device)


@native("linalg.slogdet", at_once="matrices", call=lapack.slogdet)
@standard_function
def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """Return the signs of determinants and the logarithms of their absolute values.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M).

    Returns
    -------
    SlogdetResult
        ``sign`` of shape (...), 0 for singular matrices and of absolute value 1 for others, and ``logabsdet``, real and
        ``-inf`` for singular matrices.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square.
    """
    array = square(x)
    dtype, batch = factor_dtype(array), array.shape[:-2]
    return SlogdetResult(*run(ops.slogdet, [array], [(batch, dtype), (batch, real_dtype(dtype))]))


@native("linalg.inv", at_once="matrices", call=lapack.inv)
@standard_function
def inv(x: ArrayLike, /) -> GpuArray:
    """Return inverses of matrices of shape (..., M, M).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, or one is singular.
    """
    array = square(x)
    (inverse,) = run_checked(ops.inv, [array], [(array.shape, factor_dtype(array))], "Singular matrix")
    return inverse


@native("linalg.solve", at_once="solutions", call=lapack.solve)
@standard_function
def solve(x1: ArrayLike, x2: ArrayLike, /) -> GpuArray:
    """Return solutions of systems of linear equations.

    Parameters
    ----------
    x1 : array_like
        Coefficients of shape (..., M, M).
    x2 : array_like
        Right-hand sides: one vector of shape (M,), or columns of shape (..., M, K). Leading axes broadcast.

    Returns
    -------
    GpuArray
        Of shape (..., M) for one vector, else (..., M, K), and of the promoted dtype.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, or one is singular.
    ValueError
        If the shapes do not fit.
    """
    left, right = as_arrays(x1, x2)
    left = square(left)
    dtype = factor_dtype(left, right)
    if not right.ndim:
        raise ValueError("solve: x2 needs at least one axis; it is a vector of shape (M,), or of shape (..., M, K)")
    extent = right.shape[0 if right.ndim == 1 else -2]
    if extent != left.shape[-1]:
        raise ValueError(
            f"solve: x1 of shape {left.shape} has {left.shape[-1]} equations, and x2 of shape {right.shape} has "
            f"{extent} right-hand sides; the numbers must be equal"
        )
    if right.ndim == 1:
        shape = left.shape[:-1]
    else:
        batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
        if left.shape[:-2] != batch:
            left = left.broadcast((*batch, *left.shape[-2:]))
        if right.ndim > 2 and right.shape[:-2] != batch:
            right = right.broadcast((*batch, *right.shape[-2:]))
        shape = (*batch, extent, right.shape[-1])
    (solution,) = run_checked(ops.solve, [left, right], [(shape, dtype)], "Singular matrix")
    return solution


@native("linalg.lstsq", at_once="solutions")
def lstsq(a: ArrayLike, b: ArrayLike, /, rcond: float | None = None) -> LstsqResult:
    """Return the least-squares solution of a system of linear equations.

    Parameters
    ----------
    a : array_like
        Coefficients of shape (M, N).
    b : array_like
        Right-hand sides, of shape (M,) or (M, K).
    rcond : float, optional
        Singular values below this fraction of the largest count as zero. By default it is epsilon times max(M, N), with
        the epsilon of float64, in which LAPACK computes in-process, or of the dtype in kernels.

    Returns
    -------
    LstsqResult
        The solution ``x`` of shape (N,) or (N, K); ``residuals``, the sums of squares of shape (1,) or (K,), without
        elements if the rank is below N or M <= N; ``rank``, a 0-d int32 array; the singular values ``s``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the shapes of the operands do not fit, or the iteration does not converge.
    """
    left, right = as_arrays(a, b)
    for array, fewest in ((left, 2), (right, 1)):
        if not fewest <= array.ndim <= 2:
            raise np.linalg.LinAlgError(f"{array.ndim}-dimensional array given. Array must be two-dimensional")
    if left.shape[0] != right.shape[0]:
        raise np.linalg.LinAlgError(
            f"Incompatible dimensions: a of shape {left.shape} and b of shape {right.shape} differ in the first"
        )
    m, n = left.shape
    dtype = factor_dtype(left, right)
    real = real_dtype(dtype)
    columns = right.shape[1:]
    solution, residuals, rank, s = run_checked(
        ops.lstsq,
        [left, right],
        [((n, *columns), dtype), (columns or (1,), real), ((), dtypes.int32), ((min(m, n),), real)],
        "SVD did not converge in Linear Least Squares",
        rcond=None if rcond is None else float(rcond),
    )
    if m <= n or (tape.batch_of(rank.node()) is None and int(rank) != n):  # a batch has residuals in any case
        residuals = zeros(0, real, device=residuals.device)
    return LstsqResult(solution, residuals, rank, s)


@implements("linalg.matrix_power", at_once="elements", call=few_products.matrix_power)
@standard_function
def matrix_power(x: ArrayLike, n: int, /) -> GpuArray:
    """Return powers of matrices by repeated squaring. Negative powers are those of the inverse.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M).
    n : int
        The exponent; 0 gives identity matrices.

    Returns
    -------
    GpuArray
        Of the shape of ``x``, and of its dtype if ``n`` is not negative.

    Raises
    ------
    TypeError
        If ``n`` is not an integer.
    numpy.linalg.LinAlgError
        If the matrices are not square, or ``n`` is negative and one is singular.
    """
    base = square(x)
    try:
        power = index(n)
    except TypeError:
        raise TypeError(f"exponent must be an integer, not {n!r}") from None
    if power == 0:
        return eye(base.shape[-1], dtype=base.dtype, device=base.device).broadcast(base.shape).copy()
    if power < 0:
        base, power = inv(base), -power
    result = base if power & 1 else None
    while power := power >> 1:
        base = matmul(base, base)
        if power & 1:
            result = base if result is None else matmul(result, base)
    assert result is not None
    return result.copy() if result is x else result


@implements("linalg.tensorinv", at_once="elements")
def tensorinv(a: ArrayLike, /, ind: int = 2) -> GpuArray:
    """Return the inverse of a tensor as a map from its last axes to its first.

    Parameters
    ----------
    a : array_like
        The product of the first ``ind`` extents is that of the others.
    ind : int
        How many axes are the first.

    Returns
    -------
    GpuArray
        Of shape ``a.shape[ind:] + a.shape[:ind]``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the two products of extents differ, or the tensor is singular.
    ValueError
        If ``ind`` is not positive.
    """
    if ind <= 0:
        raise ValueError(f"Invalid ind argument: {ind!r}; it counts axes from the front and must be positive")
    array = as_array(a)
    first, last = array.shape[:ind], array.shape[ind:]
    return inv(array.reshape(prod(first), prod(last))).reshape(last + first)


@implements("linalg.tensorsolve", at_once="elements")
def tensorsolve(a: ArrayLike, b: ArrayLike, /, axes: Sequence[int] | None = None) -> GpuArray:
    """Return the tensor x with ``tensordot(a, x, x.ndim) == b``.

    Parameters
    ----------
    a : array_like
        Coefficients of shape ``b.shape + Q``, with as many elements in Q as in ``b``.
    b : array_like
        The right-hand side.
    axes : sequence of int, optional
        Axes of ``a`` to move to the end first.

    Returns
    -------
    GpuArray
        Of shape Q.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the numbers of elements do not fit, or the tensor is singular.
    """
    left, right = as_arrays(a, b)
    order = list(range(left.ndim))
    for axis in axes or ():
        order.remove(axis)
        order.append(axis)
    left = left.transpose(order)
    shape = left.shape[right.ndim :]
    if left.size != prod(shape) ** 2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]); the "
            f"shapes are {left.shape} and {right.shape}"
        )
    return solve(left.reshape(prod(shape), prod(shape)), right.reshape(-1)).reshape(shape)
