"""Factorisations of matrices: Cholesky, QR and eigenvalues.

Each factorisation runs when it is called, where its operand is. All functions take stacks of matrices, convert integers
and booleans to float64, and raise TypeError for float16, as numpy.linalg does.
"""

from functools import partial
from typing import Any, Final, Literal, NamedTuple, overload

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import lapack
from gpuarray.functions.arguments import ArrayLike, as_array, standard_function, takes_names_of
from gpuarray.functions.at_once import at_once
from gpuarray.functions.linalg_arguments import (
    by_lapack,
    complex_dtype,
    factor_dtype,
    matrices,
    real_dtype,
    run,
    run_checked,
    square,
)
from gpuarray.functions.registry import native
from gpuarray.ops import factorisations as ops

__all__ = ["EigResult", "EighResult", "QRResult", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr"]

_NOT_CONVERGED: Final = "Eigenvalues did not converge"


class EigResult(NamedTuple):
    """The result of :func:`eig`."""

    eigenvalues: GpuArray
    eigenvectors: GpuArray


class EighResult(NamedTuple):
    """The result of :func:`eigh`."""

    eigenvalues: GpuArray
    eigenvectors: GpuArray


class QRResult(NamedTuple):
    """The result of :func:`qr`."""

    Q: GpuArray
    R: GpuArray


@native("linalg.cholesky", at_once="matrices", call=lapack.cholesky)
@standard_function
def cholesky(x: ArrayLike, /, *, upper: bool = False) -> GpuArray:
    """Return triangular factors of positive definite matrices.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M), Hermitian; only the triangle that ``upper`` selects is read.
    upper : bool
        Return upper triangular U with ``x = U^H U`` instead of lower triangular L with ``x = L L^H``.

    Returns
    -------
    GpuArray
        Of the shape of ``x``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square or not positive definite.
    """
    array = square(x)
    outputs = [(array.shape, factor_dtype(array))]
    (factor,) = run_checked(ops.cholesky, [array], outputs, "Matrix is not positive definite", upper=bool(upper))
    return factor


@partial(at_once, results="elements", call=lapack.eig)
@partial(takes_names_of, np.linalg.eig)
@standard_function
def eig(x: ArrayLike, /) -> EigResult:
    """Return eigenvalues and right eigenvectors.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M).

    Returns
    -------
    EigResult
        ``eigenvalues`` of shape (..., M), in no particular order, and ``eigenvectors`` of shape (..., M, M), whose
        columns have unit length. Both are complex for every dtype of ``x``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, have elements that are not finite, or the iteration does not converge.
    """
    array = square(x)
    dtype = complex_dtype(factor_dtype(array))
    return EigResult(*run(ops.eig, [array], [(array.shape[:-1], dtype), (array.shape, dtype)]))


@partial(at_once, results="elements", call=lapack.eigvals)
@partial(takes_names_of, np.linalg.eigvals)
@standard_function
def eigvals(x: ArrayLike, /) -> GpuArray:
    """Return eigenvalues of shape (..., M), which are complex; see :func:`eig`."""
    array = square(x)
    (values,) = run(ops.eigvals, [array], [(array.shape[:-1], complex_dtype(factor_dtype(array)))])
    return values


@native("linalg.eigh", at_once="matrices", call=lapack.eigh)
@standard_function
def eigh(x: ArrayLike, /, UPLO: str = "L") -> EighResult:  # noqa: N803  # NumPy's name
    """Return eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M); only one triangle is read.
    UPLO : {"L", "U"}
        Which triangle is read, the lower or the upper one.

    Returns
    -------
    EighResult
        ``eigenvalues`` of shape (..., M), real and ascending, and ``eigenvectors`` of shape (..., M, M), in columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, or the iteration does not converge.
    ValueError
        If ``UPLO`` is anything else.
    """
    triangle = _triangle(UPLO)
    array = square(x)
    dtype = factor_dtype(array)
    outputs = [(array.shape[:-1], real_dtype(dtype)), (array.shape, dtype)]
    return EighResult(*run_checked(ops.eigh, [array], outputs, _NOT_CONVERGED, UPLO=triangle))


@native("linalg.eigvalsh", at_once="matrices", call=lapack.eigvalsh)
@standard_function
def eigvalsh(x: ArrayLike, /, UPLO: str = "L") -> GpuArray:  # noqa: N803  # NumPy's name
    """Return eigenvalues of Hermitian matrices, of shape (..., M); the arguments are those of :func:`eigh`."""
    triangle = _triangle(UPLO)
    array = square(x)
    outputs = [(array.shape[:-1], real_dtype(factor_dtype(array)))]
    (values,) = run_checked(ops.eigvalsh, [array], outputs, _NOT_CONVERGED, UPLO=triangle)
    return values


def _triangle(name: str) -> str:
    if name.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U', not {name!r}")
    return name.upper()


def _small_qr(a: Any, mode: str = "reduced") -> Any:
    if mode == "raw":
        return np.linalg.qr(a, "raw")
    factors = lapack.qr(a, mode)
    return factors if mode == "r" else QRResult(*factors)


@overload
def qr(x: ArrayLike, /, mode: Literal["reduced", "complete"] = ...) -> QRResult: ...
@overload
def qr(x: ArrayLike, /, mode: Literal["r"]) -> GpuArray: ...
@overload
def qr(x: ArrayLike, /, mode: Literal["raw"]) -> tuple[GpuArray, GpuArray]: ...
@native("linalg.qr", at_once="matrices", call=_small_qr)
@standard_function
def qr(x: ArrayLike, /, mode: str = "reduced") -> Any:
    """Return orthogonal and upper triangular factors.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N), with K = min(M, N).
    mode : {"reduced", "complete", "r", "raw"}
        With "reduced" Q has K columns, with "complete" M columns. "r" returns R alone, and "raw" the Householder
        reflectors of LAPACK with their scales.

    Returns
    -------
    QRResult, GpuArray or tuple of GpuArray
        ``Q`` of shape (..., M, K) or (..., M, M), and ``R`` of shape (..., K, N) or (..., M, N), with ``x = Q R``. For
        "r" an array, ``R`` of shape (..., K, N). For "raw" the reflectors of shape (..., N, M) and the scales of shape
        (..., K).

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes.
    ValueError
        If ``mode`` is anything else.
    """
    array = matrices(x)
    *batch, m, n = array.shape
    k = min(m, n)
    extents: dict[str, list[tuple[int, ...]]] = {
        "reduced": [(m, k), (k, n)],
        "complete": [(m, m), (m, n)],
        "r": [(k, n)],
        "raw": [(n, m), (k,)],
    }
    if mode not in extents:
        raise ValueError(f"Unrecognized mode {mode!r}; use one of {', '.join(map(repr, extents))}")
    dtype = factor_dtype(array)
    factors = run(ops.qr, [array], [((*batch, *extent), dtype) for extent in extents[mode]], mode=mode)
    if mode == "r":
        return factors[0]
    return factors if mode == "raw" else QRResult(*factors)


# --- eigenvalues as NumPy returns them --------------------------------------------------------------------------------

#: Before 2.5 NumPy returns the eigenvalues of a real array as real numbers if all of them are.
_GIVES_REAL: Final = np.lib.NumpyVersion(np.__version__) < "2.5.0"


def _is_real(a: ArrayLike, values: GpuArray) -> bool:
    return _GIVES_REAL and as_array(a).dtype.kind != "c" and not (values.imag != 0).any().item()


@by_lapack("linalg.eig", at_once="elements")
def numpy_eig(a: ArrayLike, /) -> EigResult:
    """Return eigenvalues and right eigenvectors as :func:`numpy.linalg.eig` does, which may be real."""
    values, vectors = result = eig(a)
    return EigResult(values.real.copy(), vectors.real.copy()) if _is_real(a, values) else result


@by_lapack("linalg.eigvals", at_once="elements")
def numpy_eigvals(a: ArrayLike, /) -> GpuArray:
    """Return eigenvalues as :func:`numpy.linalg.eigvals` does, which may be real."""
    values = eigvals(a)
    return values.real.copy() if _is_real(a, values) else values
