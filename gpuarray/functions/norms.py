"""Norms of vectors and matrices."""

from math import inf
from operator import index
from typing import Any

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise, few_products, reductions
from gpuarray.functions.arguments import ArrayLike, Axis, inexact, standard_function
from gpuarray.functions.at_once import ANY, UNSHARED
from gpuarray.functions.manipulation import expand_dims, moveaxis
from gpuarray.functions.registry import implements
from gpuarray.functions.singular_values import svdvals
from gpuarray.graph.shapes import normalize_axes, normalize_axis

__all__ = ["matrix_norm", "norm", "vector_norm"]


@implements("linalg.vector_norm", at_once="elements", most=UNSHARED)
@standard_function
def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> GpuArray:
    """Return norms of vectors: ``sum(abs(x) ** ord) ** (1 / ord)``.

    Parameters
    ----------
    x : array_like
        Numbers; integers and booleans compute as float64.
    axis : int, tuple of int or None
        The axes of the vectors, several of which are flattened; None flattens the array.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.
    ord : float
        The order. ``inf`` and ``-inf`` give the largest and the smallest absolute value, 0 the number of elements that
        are not zero.

    Returns
    -------
    GpuArray
        Of the dtype of ``x``, or of its parts if it is complex.

    Raises
    ------
    ValueError
        If ``ord`` is not a number, or is -inf for vectors without elements.
    """
    return _lengths(inexact(x), ord, axis, keepdims)


def _lengths(x: GpuArray, ord: Any, axis: Axis, keepdims: bool) -> GpuArray:
    axes = normalize_axes(axis, x.ndim)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors; it is a number")
    if ord is None or ord == 2:
        parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
        squares = [elementwise.square(part) for part in parts]
        square = squares[0] if len(squares) == 1 else squares[0] + squares[1]
        return elementwise.sqrt(reductions.sum(square, axis=axes, keepdims=keepdims))
    size = elementwise.abs(x)
    if ord == inf:
        return reductions.max(size, axis=axes, keepdims=keepdims, initial=0)
    if ord == -inf:
        return reductions.min(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        return reductions.sum((x != 0).astype(size.dtype), axis=axes, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(size, axis=axes, keepdims=keepdims)
    order = float(ord)  # a Python scalar, which does not widen the dtype
    return reductions.sum(size**order, axis=axes, keepdims=keepdims) ** (1 / order)


@implements("linalg.matrix_norm", at_once="elements", most=UNSHARED)
@standard_function
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> GpuArray:
    """Return norms of matrices.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N); integers and booleans compute as float64.
    keepdims : bool
        Keep the last two axes, with extent 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}
        The root of the sum of squares; the sum of the singular values; the largest or smallest sum of a column, the
        largest or smallest singular value, the largest or smallest sum of a row, each of absolute values. Singular
        values are those of :func:`~gpuarray.linalg.svdvals`.

    Returns
    -------
    GpuArray
        Of shape (...), and of the dtype of ``x``, or of its parts if it is complex.

    Raises
    ------
    numpy.exceptions.AxisError
        If there are fewer than two axes.
    ValueError
        If there is no such norm, or ``ord`` is negative for matrices without elements.
    """
    array = inexact(x)
    normalize_axes((-2, -1), array.ndim)
    if ord in (None, "fro", "f"):
        return _lengths(array, 2, (-2, -1), keepdims)
    if ord in (1, -1, inf, -inf):
        summed, maximised = (-2, -1) if abs(ord) == 1 else (-1, -2)
        sizes, chosen = reductions.sum(elementwise.abs(array), axis=summed, keepdims=True), maximised
    elif ord in (2, -2, "nuc"):
        sizes, chosen = expand_dims(svdvals(array), axis=-2), -1
    else:
        raise ValueError(
            f"Invalid norm order for matrices: {ord!r}; use one of 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
        )
    if ord == "nuc":
        norms = reductions.sum(sizes, axis=chosen, keepdims=True)
    elif ord > 0:
        norms = reductions.max(sizes, axis=chosen, keepdims=True, initial=0)
    else:
        norms = reductions.min(sizes, axis=chosen, keepdims=True)
    return norms if keepdims else norms.reshape(array.shape[:-2])


@implements("linalg.norm", at_once="elements", call=few_products.norm, most=ANY)
def norm(x: ArrayLike, /, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> GpuArray:
    """Return norms of vectors or matrices, as :func:`numpy.linalg.norm` chooses between them.

    Parameters
    ----------
    x : array_like
        Numbers; integers and booleans compute as float64.
    ord : float or str, optional
        As for :func:`vector_norm` or :func:`matrix_norm`; None is the root of the sum of squares.
    axis : int, tuple of int or None
        One axis of vectors or two of matrices. None is all of an array with one or two axes, and without ``ord`` of
        any.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.

    Returns
    -------
    GpuArray
        Real, without the axes.

    Raises
    ------
    TypeError
        If ``axis`` is anything else.
    ValueError
        If there are neither one nor two axes, one is named twice, or there is no such norm.
    """
    array = inexact(x)
    if axis is None and ord is None:
        return _lengths(array, None, None, keepdims)
    if axis is None:
        axes: tuple[int, ...] = tuple(range(array.ndim))
    elif isinstance(axis, tuple):
        axes = axis
    else:
        try:
            axes = (index(axis),)
        except TypeError:
            raise TypeError(f"'axis' must be None, an integer or a tuple of integers, not {axis!r}") from None
    if len(axes) == 1:
        return _lengths(array, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"Improper number of dimensions to norm: {len(axes)}; vectors have one and matrices two")
    rows, columns = (normalize_axis(a, array.ndim) for a in axes)
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    norms = matrix_norm(moveaxis(array, (rows, columns), (-2, -1)), ord=ord)
    return expand_dims(norms, axis=(min(rows, columns), max(rows, columns))) if keepdims else norms
