"""Factorisations of matrices: Cholesky, QR, singular values and eigenvalues.

Each runs at the call, as one opaque row with NumPy's LAPACK on the host; where the array's device is not the host it is
counted as a fallback, and the results are on the device. All take stacks of matrices, compute with integers and
booleans as float64, and raise TypeError for float16, as numpy.linalg does.
"""

from typing import Any, Literal, NamedTuple

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, standard_function
from gpuarray.functions.linalg_arguments import complex_dtype, factor_dtype, matrices, real_dtype, run, square
from gpuarray.ops import factorisations as rows


class EigResult(NamedTuple):
    """What :func:`eig` returns."""

    eigenvalues: GpuArray
    eigenvectors: GpuArray


class EighResult(NamedTuple):
    """What :func:`eigh` returns."""

    eigenvalues: GpuArray
    eigenvectors: GpuArray


class QRResult(NamedTuple):
    """What :func:`qr` returns."""

    Q: GpuArray
    R: GpuArray


class SVDResult(NamedTuple):
    """What :func:`svd` returns."""

    U: GpuArray
    S: GpuArray
    Vh: GpuArray


@standard_function
def cholesky(x: ArrayLike, /, *, upper: bool = False) -> GpuArray:
    """Return triangular factors of positive definite matrices.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M), Hermitian; only the triangle that is asked for is read.
    upper : bool
        Return upper triangular U with ``x = U^H U`` instead of lower triangular L with ``x = L L^H``.

    Returns
    -------
    GpuArray
        Of the shape of ``x``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, or not positive definite; the latter at the call.
    """
    array = square(x)
    (factor,) = run(rows.cholesky, [array], [(array.shape, factor_dtype(array))], upper=bool(upper))
    return factor


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
        ``eigenvalues`` of shape (..., M), in no order, and ``eigenvectors`` of shape (..., M, M), of unit length and in
        columns. Both are complex, whatever the dtype of ``x``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, have elements that are not finite, or the iteration does not converge; the
        latter two at the call.
    """
    array = square(x)
    dtype = complex_dtype(factor_dtype(array))
    return EigResult(*run(rows.eig, [array], [(array.shape[:-1], dtype), (array.shape, dtype)]))


@standard_function
def eigvals(x: ArrayLike, /) -> GpuArray:
    """Return eigenvalues, complex and of shape (..., M); otherwise as :func:`eig`."""
    array = square(x)
    (values,) = run(rows.eigvals, [array], [(array.shape[:-1], complex_dtype(factor_dtype(array)))])
    return values


@standard_function
def eigh(x: ArrayLike, /, *, UPLO: str = "L") -> EighResult:  # noqa: N803  # NumPy's name
    """Return eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M); only one triangle is read.
    UPLO : {"L", "U"}
        The lower or the upper one.

    Returns
    -------
    EighResult
        ``eigenvalues`` of shape (..., M), real and ascending, and ``eigenvectors`` of shape (..., M, M), in columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square, or the iteration does not converge; the latter at the call.
    ValueError
        If ``UPLO`` is anything else.
    """
    triangle = _triangle(UPLO)
    array = square(x)
    dtype = factor_dtype(array)
    outputs = [(array.shape[:-1], real_dtype(dtype)), (array.shape, dtype)]
    return EighResult(*run(rows.eigh, [array], outputs, UPLO=triangle))


@standard_function
def eigvalsh(x: ArrayLike, /, *, UPLO: str = "L") -> GpuArray:  # noqa: N803  # NumPy's name
    """Return eigenvalues of Hermitian matrices, of shape (..., M); the arguments are those of :func:`eigh`."""
    triangle = _triangle(UPLO)
    array = square(x)
    (values,) = run(rows.eigvalsh, [array], [(array.shape[:-1], real_dtype(factor_dtype(array)))], UPLO=triangle)
    return values


def _triangle(name: str) -> str:
    if name.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U', not {name!r}")
    return name.upper()


@standard_function
def qr(x: ArrayLike, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return orthogonal and upper triangular factors.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N), with K = min(M, N).
    mode : {"reduced", "complete"}
        Whether Q has the K columns that are needed, or M.

    Returns
    -------
    QRResult
        ``Q`` of shape (..., M, K) or (..., M, M), and ``R`` of shape (..., K, N) or (..., M, N), with ``x = Q R``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes.
    ValueError
        If ``mode`` is anything else.
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"Unrecognized mode {mode!r}; accepted are 'reduced' and 'complete'")
    return QRResult(*qr_factors(x, mode))


def qr_factors(x: ArrayLike, mode: str) -> tuple[GpuArray, ...]:
    """Return what NumPy's ``qr`` returns in a mode: Q and R, R alone ("r"), or reflectors and their scales ("raw")."""
    array = matrices(x)
    *batch, m, n = array.shape
    k = min(m, n)
    inner = m if mode == "complete" else k
    extents: dict[str, list[tuple[int, ...]]] = {"r": [(k, n)], "raw": [(n, m), (k,)]}
    dtype = factor_dtype(array)
    outputs = [((*batch, *extent), dtype) for extent in extents.get(mode, [(m, inner), (inner, n)])]
    return run(rows.qr, [array], outputs, mode=mode)


@standard_function
def svd(x: ArrayLike, /, *, full_matrices: bool = True, hermitian: bool = False) -> SVDResult:
    """Return singular values with their left and right vectors.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N), with K = min(M, N).
    full_matrices : bool
        Return M left and N right vectors instead of K.
    hermitian : bool
        The matrices are Hermitian, which is not checked and takes less time.

    Returns
    -------
    SVDResult
        ``U`` of shape (..., M, M) or (..., M, K), ``S`` of shape (..., K), real and descending, and ``Vh`` of shape
        (..., N, N) or (..., K, N), with ``x = (U * S) @ Vh`` for K vectors.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes, Hermitian matrices are not square, or the iteration does not converge; the
        latter at the call.
    """
    array, dtype, shape = _spectrum(x, hermitian)
    *batch, m, n = array.shape
    left, right = (m, n) if full_matrices else (shape[-1], shape[-1])
    outputs: list[Any] = [((*batch, m, left), dtype), (shape, real_dtype(dtype)), ((*batch, right, n), dtype)]
    full, symmetric = bool(full_matrices), bool(hermitian)
    return SVDResult(*run(rows.svd, [array], outputs, full_matrices=full, hermitian=symmetric))


@standard_function
def svdvals(x: ArrayLike, /, *, hermitian: bool = False) -> GpuArray:
    """Return singular values, of shape (..., K); the arguments are those of :func:`svd`."""
    array, dtype, shape = _spectrum(x, hermitian)
    outputs = [(shape, real_dtype(dtype))]
    (values,) = run(rows.svd, [array], outputs, compute_uv=False, hermitian=bool(hermitian))
    return values


def _spectrum(x: ArrayLike, hermitian: bool) -> tuple[GpuArray, DType, tuple[int, ...]]:
    """Return matrices, the dtype of their factors, and the shape of their singular values."""
    array = square(x) if hermitian else matrices(x)
    return array, factor_dtype(array), (*array.shape[:-2], min(array.shape[-2:]))
