"""Matrices that are given by a row and a column: they are written out, multiplied by, and solved with."""

from typing import Any

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray, wrap
from gpuarray.functions import fourier, linear_systems
from gpuarray.functions.arguments import as_arrays
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, contiguous
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import as_lines, check, refuse, require_finite, result_dtypes, rows_of

__all__ = [
    "circulant", "convolution_matrix", "hankel", "matmul_toeplitz", "solve_circulant", "solve_toeplitz", "toeplitz",
]  # fmt: skip


def _strided(lines: GpuArray, shape: tuple[int, int], down: int, across: int, offset: int) -> GpuArray:
    """Return matrices whose elements are those of lines, at distances from row to row and from column to column."""
    source = contiguous(lines.shape)
    layout = Layout((*lines.shape[:-1], *shape), (*source.strides[:-1], down, across), offset)
    return wrap(build.view(lines.node(), layout), lines.device)


def _edges(c: Any, r: Any) -> tuple[GpuArray, GpuArray]:
    """Return the first columns and the first rows of matrices."""
    column, row = as_lines(c, c if r is None else r)
    if r is None:
        return column, xp.conj(column)
    batch = np.broadcast_shapes(column.shape[:-1], row.shape[:-1])
    return column.broadcast((*batch, column.shape[-1])), row.broadcast((*batch, row.shape[-1]))


@mirrors(scipy_linalg.toeplitz)
def toeplitz(c: Any, r: Any = None) -> GpuArray:
    """Return matrices with constant diagonals.

    Parameters
    ----------
    c : array_like
        First columns, of shape (..., M).
    r : array_like, optional
        First rows, of shape (..., N); by default the conjugates of ``c``. Their first elements are not read.

    Returns
    -------
    GpuArray
        Of shape (..., M, N).
    """
    column, row = _edges(c, r)
    m = column.shape[-1]
    line = xp.concat([column[..., ::-1], row[..., 1:]], axis=-1)
    return _strided(line, (m, row.shape[-1]), -1, 1, m - 1)


@mirrors(scipy_linalg.circulant)
def circulant(c: Any) -> GpuArray:
    """Return circulant matrices of shape (..., N, N), given their first columns of shape (..., N)."""
    (column,) = as_lines(c)
    return toeplitz(column, xp.concat([column[..., :1], column[..., :0:-1]], axis=-1))


@mirrors(scipy_linalg.hankel)
def hankel(c: Any, r: Any = None) -> GpuArray:
    """Return a matrix with constant diagonals from the right to the left.

    Parameters
    ----------
    c : array_like
        The first column, of shape (M,).
    r : array_like, optional
        The last row, of shape (N,); by default zeros. Its first element is not read.

    Returns
    -------
    GpuArray
        Of shape (M, N).
    """
    column, row = as_arrays(c, c if r is None else r)
    if max(column.ndim, row.ndim) > 1:  # SciPy warns of its future meaning
        scipy_linalg.hankel(*(np.zeros((1,) * line.ndim) for line in (column, row)))
    column, row = column.reshape(-1), (xp.zeros_like(row) if r is None else row).reshape(-1)
    line = xp.concat([column, row[1:]])
    return _strided(line, (column.size, row.size), 1, 1, 0)


@mirrors(scipy_linalg.convolution_matrix)
def convolution_matrix(a: Any, n: int, mode: str = "full") -> GpuArray:
    """Return matrices whose product with a vector of length ``n`` is its convolution with a line.

    Parameters
    ----------
    a : array_like
        Lines, of shape (..., M).
    n : int
        The number of columns.
    mode : {"full", "valid", "same"}
        Which part of the convolution.

    Returns
    -------
    GpuArray
        Of shape (..., K, n).

    Raises
    ------
    ValueError
        If a parameter has another value, or lines have no elements.
    """
    (line,) = as_arrays(a)
    if n <= 0 or not line.size or mode not in ("full", "valid", "same"):
        refuse(scipy_linalg.convolution_matrix, line, n, mode)
    zeros = xp.zeros((*line.shape[:-1], n - 1), line.dtype, device=line.device)
    padded = xp.concat([zeros, line, zeros], axis=-1)
    length = line.shape[-1]
    edge = min(n, length) - 1
    first, last = {"full": (0, 0), "valid": (edge, edge), "same": (edge // 2, edge - edge // 2)}[mode]
    rows = length + n - 1 - first - last
    return _strided(padded, (rows, n), 1, -1, first + n - 1)


# -- products and systems ----------------------------------------------------------------------------------------------


def _diagonals(original: Any, c_or_cr: Any, x: Any, check_finite: bool, *, square: bool) -> tuple[GpuArray, ...]:
    """Return first columns, first rows and right sides, of double precision as in SciPy."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    column, row, right = as_arrays(c, c if r is None else r, x)
    if r is None:
        row = xp.conj(row)
    rows = rows_of(right)
    fits = column.ndim and row.ndim and row.shape[-1] == rows and not (square and column.shape[-1] != rows)
    if not fits:
        refuse(original, (column, row), right)
    if check_finite:
        require_finite(column, row, right)
    kind = np.complex128 if "c" in (column.dtype.kind, row.dtype.kind, right.dtype.kind) else np.float64
    return tuple(array.astype(kind, copy=False) for array in (column, row, right))


@mirrors(scipy_linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> GpuArray:
    """Return products of matrices with constant diagonals, by Fourier transforms.

    Parameters
    ----------
    c_or_cr : array_like or tuple of array_like
        First columns of shape (..., M), and first rows of shape (..., N); without rows, the conjugates of columns.
    x : array_like
        Of shape (N,) or (..., N, K).
    check_finite : bool
        Whether elements must be finite.
    workers : int, optional
        Accepted for compatibility.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K), and of double precision.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    column, row, right = _diagonals(scipy_linalg.matmul_toeplitz, c_or_cr, x, check_finite, square=False)
    m, n = column.shape[-1], row.shape[-1]
    column, row = _edges(column, row)
    embedded = xp.concat([column, row[..., :0:-1]], axis=-1)
    columns = right[:, None] if right.ndim == 1 else right
    length = m + n - 1
    if right.dtype.kind == "c":
        factor = fourier.fft(embedded, length)[..., None]
        result = fourier.ifft(factor * fourier.fft(columns, length, -2), length, -2)[..., :m, :]
    else:
        factor = fourier.rfft(embedded, length)[..., None]
        result = fourier.irfft(factor * fourier.rfft(columns, length, -2), length, -2)[..., :m, :]
    return result[..., 0] if right.ndim == 1 else result


@mirrors(scipy_linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> GpuArray:
    """Solve systems whose matrices have constant diagonals; on a device, the matrices are written out.

    Parameters
    ----------
    c_or_cr : array_like or tuple of array_like
        First columns and first rows, of shape (..., M); without rows, the conjugates of columns.
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K), and of double precision.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    column, row, right = _diagonals(scipy_linalg.solve_toeplitz, c_or_cr, b, check_finite, square=True)
    return linear_systems.solve(toeplitz(column, row), right)


@mirrors(scipy_linalg.solve_circulant)
def solve_circulant(
    c: Any, b: Any, singular: str = "raise", tol: Any = None, caxis: int = -1, baxis: int = 0, outaxis: int = 0
) -> GpuArray:
    """Solve systems with circulant matrices, by Fourier transforms.

    Parameters
    ----------
    c : array_like
        First columns along the axis ``caxis``, of length N.
    b : array_like
        Right sides along the axis ``baxis``. The other axes of both broadcast.
    singular : {"raise", "lstsq"}
        Whether a matrix that is singular is an error, or solved by least squares.
    tol : float, optional
        Eigenvalues up to this one count as zero; by default the largest times N times the epsilon of float64.
    caxis, baxis, outaxis : int
        The axes of the systems in ``c``, in ``b`` and in the result.

    Returns
    -------
    GpuArray
        The solutions along ``outaxis``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an eigenvalue is almost zero, and ``singular`` is "raise".
    ValueError
        If the lengths differ, or an axis is out of bounds.
    """
    column, right = as_lines(c, b)
    (kind,) = result_dtypes(scipy_linalg.solve_circulant, column, right, tol=-1.0)
    inside = -column.ndim <= caxis < column.ndim and -right.ndim <= baxis < right.ndim
    if not inside or column.shape[caxis] != right.shape[baxis] or not right.size:
        return refuse(scipy_linalg.solve_circulant, column, right, caxis=caxis, baxis=baxis)
    spectrum = fourier.fft(xp.moveaxis(column, caxis, -1))
    sizes = xp.abs(spectrum)
    if tol is None:
        tol = xp.max(sizes, axis=-1, keepdims=True) * (column.shape[caxis] * float(np.finfo(np.float64).eps))
    is_zero = sizes <= tol
    if singular == "raise":
        check(is_zero.any(), lambda number: np.linalg.LinAlgError("near singular circulant matrix."), column)
    transformed = fourier.fft(xp.moveaxis(right, baxis, -1))
    quotient = xp.where(is_zero, 0, transformed / xp.where(is_zero, 1, spectrum))
    result = fourier.ifft(quotient)
    result = result if kind.kind == "c" else result.real
    return xp.moveaxis(result, -1, outaxis).astype(kind, copy=False)
