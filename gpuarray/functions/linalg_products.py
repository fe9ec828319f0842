"""Products of the linear algebra extension of the standard, and NumPy's products of several matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import few_products, manipulation, products, reductions
from gpuarray.functions.arguments import ArrayLike, DTypeLike, as_arrays, standard_function, write_out
from gpuarray.functions.at_once import ANY
from gpuarray.functions.registry import implements, native
from gpuarray.graph.shapes import normalize_axis

__all__ = ["cross", "diagonal", "multi_dot", "outer", "trace"]


@native("linalg.cross", at_once="sums")
@standard_function
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> GpuArray:
    """Return cross products of vectors with three components.

    Parameters
    ----------
    x1, x2 : array_like
        Vectors; all other axes broadcast.
    axis : int
        The axis of the vectors, in each operand and in the result.

    Returns
    -------
    GpuArray
        Of the broadcast shape and the promoted dtype.

    Raises
    ------
    ValueError
        If the extent of the axis is not 3.
    """
    left, right = as_arrays(x1, x2)
    extents = [a.shape[normalize_axis(axis, a.ndim)] for a in (left, right)]
    if extents != [3, 3]:
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {extents[0]} and {extents[1]} "
            "dimensional instead."
        )
    left, right = (manipulation.moveaxis(a, axis, -1) for a in (left, right))
    return manipulation.moveaxis(products.cross_product(left, right), -1, axis)


def _diagonals(x: Any, /, *, offset: Any = 0) -> Any:
    return x.diagonal(offset, -2, -1)


@native("linalg.diagonal", at_once="views", call=_diagonals)
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> GpuArray:
    """Return the diagonals of matrices of shape (..., M, N), as a read-only view.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N).
    offset : int
        Which diagonal: above the main one if positive, below it if negative.

    Raises
    ------
    ValueError
        If there are fewer than two axes.
    """
    return manipulation.diagonal(x, offset=offset, axis1=-2, axis2=-1)


def _traces(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    return x.trace(offset, -2, -1, dtype)


@native("linalg.trace", at_once="elements", call=_traces, most=ANY)
@standard_function
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> GpuArray:
    """Return the sums of the diagonals of matrices.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N).
    offset : int
        Which diagonal: above the main one if positive, below it if negative.
    dtype : dtype, optional
        Of the sum; by default that of :func:`~gpuarray.sum`.

    Raises
    ------
    ValueError
        If there are fewer than two axes.
    """
    return reductions.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def _outer(x1: Any, x2: Any, /) -> Any:
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError
    return np.multiply.outer(x1, x2)


@native("linalg.outer", at_once="pairs", call=_outer)
@standard_function
def outer(x1: ArrayLike, x2: ArrayLike, /) -> GpuArray:
    """Return the products of all elements of two vectors, as a matrix.

    Raises
    ------
    ValueError
        If an operand does not have exactly one axis.
    """
    left, right = as_arrays(x1, x2)
    if left.ndim != 1 or right.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {left.ndim=} and {right.ndim=}.")
    return products.outer(left, right)


@implements("linalg.multi_dot", at_once="refused or few", call=few_products.multi_dot, most=ANY)
def multi_dot(arrays: Sequence[ArrayLike], /, *, out: Any = None) -> GpuArray:
    """Return the product of several matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices; the first and the last may be vectors.
    out : GpuArray or ndarray, optional
        Array for the result.

    Returns
    -------
    GpuArray
        Of shape (M, N), without the axis that a vector lacks.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an operand does not have two axes, or one if it is the first or the last.
    ValueError
        If there are fewer than two operands, or the shapes do not fit.
    """
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    operands = as_arrays(*arrays)
    if len(operands) == 2:
        return products.dot(operands[0], operands[1], out=out)
    for number, operand in enumerate(operands):
        if operand.ndim != 2 and not (operand.ndim == 1 and number in (0, len(operands) - 1)):
            raise np.linalg.LinAlgError(
                f"{operand.ndim}-dimensional array given. Array must be two-dimensional, but for vectors at the ends"
            )
    extents = [1 if operands[0].ndim == 1 else operands[0].shape[0], *(a.shape[0] for a in operands[1:])]
    extents.append(1 if operands[-1].ndim == 1 else operands[-1].shape[1])
    _, order = few_products.cheapest_order(extents)
    return write_out(few_products.in_order(products.matmul, operands, order), out)
