"""Systems of linear equations by what is known about the matrix, inverses, determinants and least squares."""

from typing import Any

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import factorisations, linear_systems, singular_values
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._calls import run_scipy
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import (
    adjoint,
    check,
    computed,
    is_square,
    refuse,
    require_finite,
    result_dtypes,
    rows_of,
    whole,
)
from gpuarray.scipy.linalg._cyclic import tridiagonal_solution
from gpuarray.scipy.linalg._triangular import cholesky_solution, inverse_from, packed_factors, solve_triangular

__all__ = ["det", "inv", "lstsq", "solve"]

_SHORT = {
    None: "general", "gen": "general", "pos": "positive definite", "sym": "symmetric", "her": "hermitian",
    "banded": "general",
}  # fmt: skip


@mirrors(scipy_linalg.solve)
def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: Any = None, transposed: bool = False,
) -> GpuArray:  # fmt: skip
    """Solve systems of linear equations.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M).
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    lower : bool
        Which triangle of a symmetric, Hermitian or positive definite matrix is read.
    overwrite_a, overwrite_b : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.
    assume_a : str, optional
        What is known about the matrices: "general", "diagonal", "tridiagonal", "banded", "upper triangular", "lower
        triangular", "symmetric", "hermitian", "positive definite", or SciPy's short names. None is "general".
    transposed : bool
        Solve with the transposes of real matrices.

    Returns
    -------
    GpuArray
        Of shape (..., M) or (..., M, K). There is no warning of an ill-conditioned matrix.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular, or not positive definite.
    NotImplementedError
        If ``transposed`` is True for complex matrices.
    ValueError
        If the shapes do not fit, an element is not finite, or ``assume_a`` is anything else.
    """
    structure = _SHORT.get(assume_a, assume_a)
    left, right = computed(scipy_linalg.solve, a, b, check_finite=check_finite, assume_a=assume_a)
    left, right = xp.atleast_2d(left), xp.atleast_1d(right)
    rows = rows_of(right)
    if not is_square(left) or left.shape[-1] != rows or (transposed and left.dtype.kind == "c"):
        refuse(scipy_linalg.solve, left, right, transposed=transposed)
    if not left.size or not right.size:
        return right
    if structure in ("lower triangular", "upper triangular"):
        return solve_triangular(left, right, int(transposed), structure == "lower triangular", check_finite=False)
    if structure == "positive definite":
        return cholesky_solution(factorisations.cholesky(left, upper=not lower), right, lower=lower)
    if structure in ("symmetric", "hermitian"):
        left = whole(left, lower, conjugated=structure == "hermitian")
    elif transposed:
        left = left.mT
    if structure == "diagonal":
        main = xp.diagonal(left, axis1=-2, axis2=-1)
        check(main == 0, lambda number: np.linalg.LinAlgError("A singular matrix detected."), left)
        return right / main if right.ndim == 1 else right / main[..., None]
    if structure == "tridiagonal":
        low, main, high = (xp.diagonal(left, k, -2, -1) for k in (-1, 0, 1))
        return tridiagonal_solution(low, main, high, right)
    return linear_systems.solve(left, right)


@mirrors(scipy_linalg.inv)
def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: Any = None, lower: bool = False
) -> GpuArray:
    """Return inverses of matrices.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M).
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.
    assume_a : str, optional
        What is known about the matrices: "general", "diagonal", "upper triangular", "lower triangular", "sym", "her",
        or "pos".
    lower : bool
        Which triangle of a symmetric, Hermitian or positive definite matrix is read.

    Returns
    -------
    GpuArray
        Of the shape of ``a``. There is no warning of an ill-conditioned matrix.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular, or not positive definite.
    ValueError
        If the matrices are not square, or an element is not finite.
    """
    known = {} if assume_a is None else {"assume_a": assume_a}  # SciPy has the parameter since 1.17
    array: GpuArray = computed(scipy_linalg.inv, a, check_finite=check_finite, **known)
    if not is_square(array):
        refuse(scipy_linalg.inv, array)
    if not array.size:
        return array
    structure = _SHORT.get(assume_a, assume_a)
    if structure == "positive definite":
        return inverse_from(factorisations.cholesky(array if lower else adjoint(array)))
    if structure in ("symmetric", "hermitian"):
        array = whole(array, lower, conjugated=structure == "hermitian")
    if structure == "general" or structure in ("symmetric", "hermitian"):
        return linear_systems.inv(array)
    unit = xp.eye(array.shape[-1], dtype=array.dtype, device=array.device).broadcast(array.shape)
    inverse = solve(array, unit, check_finite=False, assume_a=assume_a)
    # SciPy leaves what stands beside a diagonal
    return xp.where(unit == 1, inverse, array) if structure == "diagonal" else inverse


@mirrors(scipy_linalg.det)
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> GpuArray:
    """Return determinants of matrices.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M).
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Of shape (...), and of double precision for every dtype. Of matrices of single precision, the factors have
        single precision and their product double precision.

    Raises
    ------
    ValueError
        If the matrices are not square, or an element is not finite.
    """
    array = as_array(a)
    (kind,) = result_dtypes(scipy_linalg.det, array)
    if not is_square(array):
        refuse(scipy_linalg.det, array)
    if check_finite:
        require_finite(array)
    if array.dtype not in (np.float32, np.complex64) or not array.size:
        return linear_systems.det(array.astype(kind, copy=False))
    packed, pivots, _ = packed_factors(array)
    positions = xp.arange(array.shape[-1], dtype=pivots.dtype, device=array.device)
    sign = 1 - 2 * (xp.count_nonzero(pivots != positions, axis=-1) % 2)
    return xp.prod(xp.diagonal(packed, axis1=-2, axis2=-1).astype(kind), axis=-1) * sign.astype(kind)


def _tall_lstsq(a: Any, b: Any, **parameters: Any) -> Any:
    return scipy_linalg.lstsq(np.vstack([a, a]), np.vstack([b, b]), **parameters)


@mirrors(scipy_linalg.lstsq, kind=COMPOSED)
def lstsq(
    a: Any, b: Any, cond: Any = None, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    lapack_driver: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return least-squares solutions of systems of linear equations.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N).
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    cond : float, optional
        Singular values below this fraction of the largest count as zero; by default the epsilon of the dtype.
    overwrite_a, overwrite_b : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.
    lapack_driver : {"gelsd", "gelss", "gelsy"}, optional
        With "gelsy" there are neither residues nor singular values.

    Returns
    -------
    x : GpuArray
        Of shape (N,) or (..., N, K).
    residues : GpuArray
        Sums of squares, without elements if M <= N, and NaN where the rank is less than N, as in SciPy 1.18.
    rank : int or GpuArray
        The rank.
    s : GpuArray or None
        Singular values of shape (..., min(M, N)).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    left, right = as_arrays(a, b)
    kinds = result_dtypes(_tall_lstsq, left, right, lapack_driver=lapack_driver)
    rows = rows_of(right)
    if left.ndim < 2 or left.shape[-2] != rows:
        refuse(scipy_linalg.lstsq, left, right)
    if check_finite:
        require_finite(left, right)
    left, right = (array.astype(kinds[0], copy=False) for array in (left, right))
    *batch, m, n = left.shape
    columns = right[:, None] if right.ndim == 1 else right
    if not left.size:
        # SciPy's result takes no work
        return run_scipy(scipy_linalg.lstsq, (left, right), {"lapack_driver": lapack_driver})
    u, s, vh = singular_values.svd(left, full_matrices=False)
    least = float(np.finfo(s.dtype).eps) if cond is None else float(cond)
    is_kept = s > xp.max(s, axis=-1, keepdims=True) * least
    inverse = xp.where(is_kept, 1 / s, 0)
    solution = adjoint(vh) @ (inverse[..., None] * (adjoint(u) @ columns))
    rank = xp.count_nonzero(is_kept, axis=-1).astype(np.int32)
    if m > n and lapack_driver != "gelsy":
        sums = xp.sum(xp.square(xp.abs(columns - left @ solution)), axis=-2)
        residues = xp.where((rank == n)[..., None], sums, np.nan).astype(kinds[1], copy=False)
        residues = residues[..., 0] if right.ndim == 1 else residues
    else:
        residues = xp.zeros((*batch, 0), solution.dtype, device=left.device)
    if right.ndim == 1:
        solution = solution[..., 0]
    return solution, residues, rank, None if lapack_driver == "gelsy" else s
