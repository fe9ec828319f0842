"""Eigenvalues, singular values, and pseudo-inverses."""

from typing import Any

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import factorisations, singular_values
from gpuarray.functions.arguments import read
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import adjoint, computed, is_square, matrices, refuse, whole
from gpuarray.scipy.linalg._triangular import substituted

__all__ = ["eigh", "eigvalsh", "pinv", "pinvh", "svd", "svdvals"]


def _spectrum(
    a: Any, b: Any, lower: bool, vectors: bool, kind: int, check_finite: bool, subset: tuple[Any, Any], driver: Any
) -> tuple[GpuArray, GpuArray | None]:
    """Return eigenvalues, and eigenvectors if they are wanted, of one matrix or of a pair."""
    original = scipy_linalg.eigh
    operands = [a] if b is None else [a, b]
    arrays = computed(original, *operands, check_finite=check_finite, pick=1, driver=driver)
    array, other = (arrays, None) if b is None else arrays
    by_index, by_value = subset
    n = array.shape[-1] if array.ndim else 0
    fits = is_square(array) and (other is None or (other.shape[-2:] == array.shape[-2:] and kind in (1, 2, 3)))
    if by_index is not None:
        fits = fits and by_value is None and 0 <= int(by_index[0]) <= int(by_index[1]) < n
    if not fits or (by_value is not None and not by_value[0] < by_value[1]):
        refuse(original, array, other, type=kind, subset_by_index=by_index, subset_by_value=by_value)
    triangle = "L" if lower else "U"
    if not array.size:
        values, states = array.real[..., 0], array
    elif other is not None:
        values, states = _of_pair(array, other, lower, kind, vectors)
    elif vectors:
        values, states = factorisations.eigh(array, triangle)
    else:
        values, states = factorisations.eigvalsh(array, triangle), None
    chosen = slice(None)
    if by_index is not None:
        chosen = slice(int(by_index[0]), int(by_index[1]) + 1)
    elif by_value is not None:
        inside = read((values > by_value[0]) & (values <= by_value[1])).reshape(-1, n)
        if (inside != inside[:1]).any():
            raise ValueError(
                "all input arrays must have the same shape: the range holds different numbers of eigenvalues"
            )
        positions = np.flatnonzero(inside[0])
        chosen = slice(positions[0], positions[-1] + 1) if positions.size else slice(0, 0)
    return values[..., chosen], None if states is None else states[..., chosen]


def _of_pair(a: GpuArray, b: GpuArray, lower: bool, kind: int, vectors: bool) -> tuple[GpuArray, GpuArray | None]:
    """Return eigenvalues of pairs of matrices, of which the second are positive definite, by their Cholesky factors."""
    factor = factorisations.cholesky(b if lower else adjoint(b))
    full = whole(a, lower, conjugated=True)
    if kind == 1:
        half = substituted(factor, full, lower=True)
        inner = adjoint(substituted(factor, adjoint(half), lower=True))
    else:
        inner = adjoint(factor) @ full @ factor
    if not vectors:
        return factorisations.eigvalsh(inner), None
    values, states = factorisations.eigh(inner)
    return values, factor @ states if kind == 3 else substituted(factor, states, lower=True, trans=2)


@mirrors(scipy_linalg.eigh, kind=COMPOSED)
def eigh(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, type: int = 1, check_finite: bool = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    """Return eigenvalues and eigenvectors of Hermitian matrices, or of pairs of them.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M); only one triangle is read.
    b : array_like, optional
        Positive definite matrices of the same shape.
    lower : bool
        Whether the lower triangle is read.
    eigvals_only : bool
        Return eigenvalues alone.
    overwrite_a, overwrite_b : bool
        Accepted for compatibility.
    type : {1, 2, 3}
        Whether ``a v = w b v``, ``a b v = w v`` or ``b a v = w v``.
    check_finite : bool
        Whether elements must be finite.
    subset_by_index : sequence of int, optional
        The first and the last eigenvalue that are returned.
    subset_by_value : sequence of float, optional
        Bounds of the eigenvalues that are returned; the lower one is outside.
    driver : str, optional
        A method of LAPACK; it is checked, and makes no difference.

    Returns
    -------
    w : GpuArray
        Eigenvalues of shape (..., M), ascending.
    v : GpuArray
        Eigenvectors of shape (..., M, M), in columns, unless ``eigvals_only``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge, or ``b`` is not positive definite.
    ValueError
        If the shapes do not fit, an element is not finite, or a parameter has another value.
    """
    subset = subset_by_index, subset_by_value
    values, vectors = _spectrum(a, b, lower, not eigvals_only, type, check_finite, subset, driver)
    return values if eigvals_only else (values, vectors)


@mirrors(scipy_linalg.eigvalsh, kind=COMPOSED)
def eigvalsh(
    a: Any, b: Any = None, *, lower: bool = True, overwrite_a: bool = False, overwrite_b: bool = False, type: int = 1,
    check_finite: bool = True, subset_by_index: Any = None, subset_by_value: Any = None, driver: Any = None,
) -> GpuArray:  # fmt: skip
    """Return eigenvalues of Hermitian matrices, of shape (..., M); parameters are those of :func:`eigh`."""
    return _spectrum(a, b, lower, False, type, check_finite, (subset_by_index, subset_by_value), driver)[0]


@mirrors(scipy_linalg.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """Return singular values with their left and right vectors.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N), with K = min(M, N).
    full_matrices : bool
        Return M left and N right vectors; if False, K of each.
    compute_uv : bool
        Return the vectors too.
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.
    lapack_driver : {"gesdd", "gesvd"}
        It is checked, and makes no difference.

    Returns
    -------
    U, s, Vh : GpuArray
        Of shapes (..., M, M) or (..., M, K), (..., K), and (..., N, N) or (..., K, N); ``s`` alone if not
        ``compute_uv``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge.
    ValueError
        If there are fewer than two axes, or an element is not finite.
    """
    array = matrices(scipy_linalg.svd, a, check_finite=check_finite, lapack_driver=lapack_driver)
    if not compute_uv:
        return singular_values.svdvals(array)
    return tuple(singular_values.svd(array, full_matrices=bool(full_matrices)))


@mirrors(scipy_linalg.svdvals)
def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> GpuArray:
    """Return singular values of matrices, of shape (..., min(M, N)) and descending."""
    return singular_values.svdvals(matrices(scipy_linalg.svd, a, check_finite=check_finite))


# -- inverses ----------------------------------------------------------------------------------------------------------


def _limit(largest: GpuArray, atol: Any, rtol: Any, shape: tuple[int, ...]) -> Any:
    atol = 0.0 if atol is None else atol
    rtol = max(shape[-2:]) * float(np.finfo(largest.dtype).eps) if rtol is None else rtol
    if atol < 0 or rtol < 0:
        raise ValueError("atol and rtol values must be positive.")
    return atol + largest * rtol


@mirrors(scipy_linalg.pinv)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False, check_finite: bool = True) -> Any:
    """Return pseudo-inverses of matrices, by their singular values.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N).
    atol, rtol : float, optional
        Singular values up to ``atol + rtol * largest`` count as zero; by default 0, and the epsilon of the dtype times
        max(M, N).
    return_rank : bool
        Return the ranks too.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    B : GpuArray
        Of shape (..., N, M).
    rank : GpuArray
        Of shape (...), if ``return_rank``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge.
    ValueError
        If a tolerance is negative, or an element is not finite.
    """
    array = matrices(scipy_linalg.pinv, a, check_finite=check_finite)
    u, s, vh = singular_values.svd(array, full_matrices=False)
    is_kept = s > _limit(xp.max(s, axis=-1, keepdims=True, initial=0), atol, rtol, array.shape)
    result = adjoint(vh) @ (xp.where(is_kept, 1 / s, 0)[..., None] * adjoint(u))
    return (result, xp.count_nonzero(is_kept, axis=-1)) if return_rank else result


@mirrors(scipy_linalg.pinvh)
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """Return pseudo-inverses of Hermitian matrices, by their eigenvalues.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M); only one triangle is read.
    atol, rtol : float, optional
        As for :func:`pinv`, of the absolute values of eigenvalues.
    lower : bool
        Whether the lower triangle is read.
    return_rank : bool
        Return the ranks too.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    B : GpuArray
        Of the shape of ``a``.
    rank : GpuArray
        Of shape (...), if ``return_rank``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge.
    ValueError
        If the matrices are not square, a tolerance is negative, or an element is not finite.
    """
    array = computed(scipy_linalg.pinvh, a, check_finite=check_finite)
    if not is_square(array):
        refuse(scipy_linalg.pinvh, array)
    values, vectors = factorisations.eigh(array, "L" if lower else "U")
    sizes = xp.abs(values)
    is_kept = sizes > _limit(xp.max(sizes, axis=-1, keepdims=True, initial=0), atol, rtol, array.shape)
    result = (vectors * xp.where(is_kept, 1 / values, 0)[..., None, :]) @ adjoint(vectors)
    return (result, xp.count_nonzero(is_kept, axis=-1)) if return_rank else result
