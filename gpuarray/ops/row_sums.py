"""Sums along the rows of an array, by BLAS where it can add them and by NumPy elsewhere.

NumPy adds the elements of a row pairwise. BLAS computes products with ones in many lanes, which is faster for short
rows and for sums of products; of pieces so short that errors grow no further than in NumPy's blocks.
"""

from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.dtypes import DType

Array: TypeAlias = npt.NDArray[Any]

#: Elements of the pieces that BLAS adds up, and of the shortest row where calling it pays. Pieces are so short that a
#: tile of 65,536 elements has more than 500: NumPy lets other threads run while it computes that many
#: (NPY_BEGIN_THREADS_THRESHOLDED).
_PIECE: Final = 112
_PIECE_LEAST: Final = 64
#: The longest row that BLAS adds up. NumPy's reduction takes half of the time for longer ones: it has no pieces whose
#: sums are to be added.
_SUMMED_MOST: Final = 256

#: Up to this many pieces of a row are added one after the other; more are added by a reduction.
_PIECES_FEW: Final = 4

#: The most elements of a matrix that OpenBLAS multiplies with a vector on one thread.
_MATRIX: Final = 1 << 13
#: The fewest rows of such a matrix: fewer take longer to add than to multiply.
_ROWS_LEAST: Final = 8

#: Elements that stay in a core's second-level cache.
_CACHED: Final = 1 << 17

#: How many times the squared deviations the squares are at most where the difference is as good as what is summed.
_CANCELS: Final = 2

#: The dtypes that BLAS adds.
DTYPES: Final = (dtypes.float32, dtypes.float64)
_ONES: Final = {dtype: np.ones(_PIECE, dtype) for dtype in DTYPES}


class RowPieces(NamedTuple):
    """Rows cut into pieces along a further axis, their remaining elements or None, and the shape of one value a row."""

    pieces: Array
    rest: Array | None
    shape: tuple[int, ...]


def in_pieces(operand: Array, axes: tuple[int, ...]) -> RowPieces | None:
    """Return an operand in pieces that BLAS can add along ``axes``, or None if it cannot."""
    if operand.dtype not in _ONES or operand.strides[-1:] != (operand.itemsize,):
        return None
    shape = operand.shape
    if len(axes) == len(shape) and operand.flags.c_contiguous:
        line = operand.reshape(-1)
    elif axes == (len(shape) - 1,):
        line = operand
    else:
        return None
    length = line.shape[-1]
    if length < _PIECE_LEAST:
        return None
    # a few pieces are as long as each other, as a rest would be one more call a row
    count = -(-length // _PIECE) if length <= _PIECES_FEW * _PIECE else length // _PIECE
    size = min(length // count, _PIECE)
    full = size * count
    pieces = line[..., :full].reshape(*line.shape[:-1], count, size)
    by_row = tuple([1 if axis in axes else extent for axis, extent in enumerate(shape)])
    return RowPieces(pieces, line[..., full:] if full < length else None, by_row)


def _ones(cut: RowPieces) -> RowPieces:
    """Return the factors with which BLAS adds the elements of rows."""
    ones = _ONES[cut.pieces.dtype]
    return RowPieces(ones[: cut.pieces.shape[-1]], None if cut.rest is None else ones[: cut.rest.shape[-1]], ())


def _dots(cut: RowPieces, others: tuple[RowPieces, ...], dtype: DType | None = None) -> list[Array]:
    """Return for each of ``others`` the sums of rows of products with it, made by BLAS.

    The sums of pieces are added in ``dtype``. For several others pieces are read again while they are in the cache.
    """
    pieces, rest, shape = cut
    some = max(1, len(pieces) if len(others) == 1 else _CACHED // prod(pieces.shape[1:]))
    dotted = [np.empty(pieces.shape[:-1], pieces.dtype) for _ in others]
    for start in range(0, len(pieces), some):
        span = slice(start, start + some)
        for product, factor in zip(dotted, others, strict=True):
            factors = factor.pieces if factor.pieces.ndim == 1 else factor.pieces[span]
            np.vecdot(pieces[span], factors, out=product[span])
    # reductions of a few elements each take longer than calls for them all
    count = pieces.shape[-2]
    sums = []
    for product, factor in zip(dotted, others, strict=True):
        each = product if dtype is None else product.astype(dtype, copy=False)
        total = np.add.reduce(each, -1) if count > _PIECES_FEW else sum(each[..., k] for k in range(count))
        if rest is not None and factor.rest is not None:
            total = total + np.vecdot(rest, factor.rest)
        sums.append(np.asarray(total).reshape(shape))
    return sums


def add(operand: Array, axes: tuple[int, ...], dtype: DType, out: Array | None = None, keepdims: bool = True) -> Array:
    """Return the sum of ``operand``, which has that dtype, over ``axes``, called as folds call a ufunc's ``reduce``."""
    length = prod([operand.shape[axis] for axis in axes])
    cut = in_pieces(operand, axes) if length <= _SUMMED_MOST else None
    if cut is None:
        return np.asarray(np.add.reduce(operand, axes, dtype, out=out, keepdims=True))
    sums = _dots(cut, (_ones(cut),))[0]
    if out is None:
        return sums
    out[...] = sums
    return out


def add_products(first: Array, second: Array, axes: tuple[int, ...], out: Array | None) -> Array | None:
    """Return the sum of products over ``axes``; None if BLAS cannot compute it."""
    cut, other = in_pieces(first, axes), in_pieces(second, axes)
    sums = None
    if cut is not None and other is not None:
        sums = _dots(cut, (other,))[0]
    elif axes == (*range(len(axes)),):
        sums = _weighted(first, second, len(axes))
        if sums is None:
            sums = _weighted(second, first, len(axes))
    if sums is None or out is None:
        return sums
    out[...] = sums
    return out


def _weighted(rows: Array, weights: Array, depth: int) -> Array | None:
    """Return the sums of rows, along the first axes, times one weight each; None if those are no such arrays."""
    shape, repeated = rows.shape, zip(weights.shape[depth:], weights.strides[depth:], strict=True)
    length, width = prod(shape[:depth]), prod(shape[depth:])
    is_matrix = rows.flags.c_contiguous and 1 < width <= _MATRIX // _ROWS_LEAST and length >= _PIECE_LEAST
    if not is_matrix or weights.shape[:depth] != shape[:depth] or any(n > 1 and step for n, step in repeated):
        return None
    line = np.ascontiguousarray(weights[(slice(None),) * depth + (0,) * (len(shape) - depth)]).reshape(length)
    matrix, size = rows.reshape(length, width), _MATRIX // width
    full = length - length % size
    sums = line[full:] @ matrix[full:]
    if full:
        pieces = np.matmul(line[:full].reshape(-1, 1, size), matrix[:full].reshape(-1, size, width))
        sums += np.add.reduce(pieces, 0)[0]
    return sums.reshape((1,) * depth + shape[depth:])


def moments(cut: RowPieces, count: int) -> tuple[Array, Array, Array]:
    """Return the mean of each row and the squares about it, from the squares, and whether few digits are lost so."""
    squares, sums = _dots(cut, (cut, _ones(cut)), dtypes.float64)
    mean = sums / count
    deviations = squares - mean * mean * count
    # False where something is no number, or squares are too large, which those of deviations need not be
    return mean, deviations, (squares <= _CANCELS * deviations) & (squares < np.inf)
