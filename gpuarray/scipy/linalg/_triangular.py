"""Triangular systems, and the factors of Gauss and of Cholesky: systems are solved by triangles of one array."""

from typing import Any
from warnings import warn

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions import factorisations
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.linalg_arguments import is_checked_later, rows_in_order, run
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build, tape
from gpuarray.ops import factorisations as ops
from gpuarray.runtime import evaluate
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import (
    adjoint,
    check_all,
    computed,
    finite,
    is_square,
    refuse,
    require_finite,
    result_dtypes,
    rows_of,
    stacks,
)

__all__ = ["cho_factor", "cho_solve", "cholesky", "lu", "lu_factor", "lu_solve", "solve_triangular"]


def substituted(
    triangle: GpuArray, right: GpuArray, *, lower: bool, unit: bool = False, trans: int = 0
) -> GpuArray:  # fmt: skip
    """Return solutions of triangular systems of one dtype; elements of the other triangle are not read.

    Parameters
    ----------
    triangle : GpuArray
        Of shape (..., M, M).
    right : GpuArray
        Of shape (M,) or (..., M, K).
    lower, unit : bool
        Which triangle it is, and whether its diagonal counts as ones.
    trans : {0, 1, 2}
        Whether the triangle, its transpose or its adjoint is meant.
    """
    if trans == 2 and triangle.dtype.kind == "c":
        return xp.conj(substituted(triangle, xp.conj(right), lower=lower, unit=unit, trans=1))
    left, columns, shaped = stacks(triangle, right)
    parameters = {"lower": bool(lower), "unit": bool(unit), "transposed": bool(trans)}
    operands = [left.node(), columns.node()]
    node = build.call_one(ops.solve_triangular, operands, columns.shape, columns.dtype, **parameters)
    return shaped(wrap(node, triangle.device))


@mirrors(scipy_linalg.solve_triangular)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> GpuArray:  # fmt: skip
    """Solve triangular systems of linear equations.

    Parameters
    ----------
    a : array_like
        Triangles of shape (..., M, M); the elements of the other triangle are not read.
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    trans : {0, 1, 2, "N", "T", "C"}
        Whether ``a``, its transpose or its adjoint is meant.
    lower : bool
        Whether the lower triangle is meant.
    unit_diagonal : bool
        Whether the diagonal counts as ones.
    overwrite_b : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite. Without the check, a singular matrix is the only reason to wait for a value.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K).

    Raises
    ------
    numpy.linalg.LinAlgError
        If an element of the diagonal is 0.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    kind = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    left, right = computed(scipy_linalg.solve_triangular, a, b, check_finite=False)
    conditions = finite(left, right) if check_finite else []
    rows = rows_of(right)
    if not is_square(left) or left.shape[-1] != rows or kind not in (0, 1, 2):
        check_all(conditions, left, right)
        refuse(scipy_linalg.solve_triangular, left, right, trans)
    if not unit_diagonal and left.size:
        zero = xp.diagonal(left, axis1=-2, axis2=-1) == 0
        number = xp.arange(1, rows + 1, dtype=dtypes.int32, device=left.device)
        conditions.append((xp.where(zero, number, 0), _singular))
    result = substituted(left, right, lower=lower, unit=unit_diagonal, trans=kind)
    # the device solves while the host waits for the conditions
    check_all(conditions, left, right, *([] if left.device.kind == "cpu" else [result]))
    return result


def _singular(number: int) -> Exception:
    where = f": resolution failed at diagonal {number - 1}" if number else ""
    return np.linalg.LinAlgError(f"singular matrix{where}")


# -- LU factors --------------------------------------------------------------------------------------------------------


def packed_factors(array: GpuArray) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return both factors in one array, the rows that were pivots, and a status: the first pivot that is 0."""
    *batch, m, n = array.shape
    outputs = [(array.shape, array.dtype), ((*batch, min(m, n)), dtypes.int32), (tuple(batch), dtypes.int32)]
    packed, pivots, status = run(ops.lu, [array], outputs)
    return packed, pivots, status


def _order(pivots: GpuArray, rows: int, *, inverse: bool = False) -> GpuArray:
    """Return which row comes to each position by interchanges; ``inverse``: to which position each row goes."""
    shape = (*pivots.shape[:-1], rows)
    node = build.call_one(ops.row_order, [pivots.node()], shape, dtypes.int32, rows=rows, inverse=inverse)
    return wrap(node, pivots.device)


@mirrors(scipy_linalg.lu_factor, kind=COMPOSED)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[GpuArray, GpuArray]:
    """Return LU factors with interchanged rows, for :func:`lu_solve`.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N), with K = min(M, N).
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    lu : GpuArray
        Of shape (..., M, N): U, and below the diagonal L without its ones.
    piv : GpuArray
        Of shape (..., K) and dtype int32: row ``i`` was interchanged with row ``piv[i]``.

    Raises
    ------
    ValueError
        If an element is not finite, or there are fewer than two axes.

    Warns
    -----
    scipy.linalg.LinAlgWarning
        If a matrix is singular, unless ``jit`` or ``vmap`` record the function or ``config.linalg_errors`` is
        ``"read"``.
    """
    array = computed(scipy_linalg.lu_factor, a, check_finite=check_finite)
    if array.ndim < 2:
        refuse(scipy_linalg.lu_factor, array)
    if not array.size:
        return array, xp.zeros((*array.shape[:-2], 0), dtypes.int32, device=array.device)
    packed, pivots, status = packed_factors(array)
    if not is_checked_later() and tape.batch_of(status.node()) is None:
        codes = evaluate.read(status.node(), status.device)
        if codes.any():
            number = int(codes[codes != 0].flat[0])
            message = f"Diagonal number {number} is exactly zero. Singular matrix."
            warn(message, scipy_linalg.LinAlgWarning, stacklevel=3)
    return packed, pivots


@mirrors(scipy_linalg.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> GpuArray:
    """Solve systems of linear equations by their LU factors.

    Parameters
    ----------
    lu_and_piv : tuple of array_like
        What :func:`lu_factor` returns for matrices of shape (..., M, M).
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    trans : {0, 1, 2}
        Whether the matrix, its transpose or its adjoint is meant.
    overwrite_b : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements of ``b`` must be finite.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K).

    Raises
    ------
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    packed, pivots = (as_array(value) for value in lu_and_piv)
    packed, right = computed(scipy_linalg.solve_triangular, packed, b, check_finite=False)
    if check_finite:
        require_finite(right)
    rows = rows_of(right)
    if not is_square(packed) or packed.shape[-1] != rows or trans not in (0, 1, 2):
        refuse(scipy_linalg.lu_solve, (packed, pivots), right, trans)
    is_line = right.ndim == 1
    columns = right[:, None] if is_line else right
    if not trans:
        columns = rows_in_order(columns, _order(pivots, rows))
        columns = substituted(packed, columns, lower=True, unit=True)
        columns = substituted(packed, columns, lower=False)
    else:
        columns = substituted(packed, columns, lower=False, trans=trans)
        columns = substituted(packed, columns, lower=True, unit=True, trans=trans)
        columns = rows_in_order(columns, _order(pivots, rows, inverse=True))
    return columns[..., 0] if is_line else columns


@mirrors(scipy_linalg.lu)
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> tuple[GpuArray, ...]:
    """Return LU factors of matrices, with interchanged rows.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N), with K = min(M, N).
    permute_l : bool
        Return the product of the permutation and L.
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.
    p_indices : bool
        Return the row of ``l`` for each row of ``a``, of shape (..., M) and dtype int32, instead of a matrix.

    Returns
    -------
    tuple of GpuArray
        ``(p, l, u)`` of shapes (..., M, M), (..., M, K) and (..., K, N), or ``(pl, u)``.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or an element is not finite.
    """
    array = computed(scipy_linalg.lu, a, check_finite=check_finite, permute_l=True)
    if array.ndim < 2:
        refuse(scipy_linalg.lu, array)
    *batch, m, n = array.shape
    k = min(m, n)
    device = array.device
    if not array.size:
        lower, upper = (xp.zeros((*batch, *shape), array.dtype, device=device) for shape in ((m, k), (k, n)))
        order = xp.zeros((*batch, 0), dtypes.int32, device=device)
    else:
        packed, pivots, _ = packed_factors(array)
        lower = xp.tril(packed[..., :k], -1) + xp.eye(m, k, dtype=array.dtype, device=device)
        upper = xp.triu(packed[..., :k, :])
        order = _order(pivots, m, inverse=True)
    if permute_l:
        return rows_in_order(lower, order) if array.size else lower, upper
    if p_indices:
        return order, lower, upper
    real = result_dtypes(scipy_linalg.lu, array)[0]
    columns = xp.arange(order.shape[-1], dtype=dtypes.int32, device=device)
    return (order[..., None] == columns).astype(real), lower, upper


# -- Cholesky factors --------------------------------------------------------------------------------------------------


def _cholesky(original: Any, a: Any, lower: bool, check_finite: bool) -> GpuArray:
    array: GpuArray = computed(original, a, check_finite=check_finite)
    if array.ndim < 2 and array.size == 1:
        array = array.reshape(1, 1)
    if not is_square(array):
        refuse(original, array)
    if not array.size:
        return array
    return factorisations.cholesky(array, upper=not lower)


@mirrors(scipy_linalg.cholesky)
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> GpuArray:
    """Return triangular factors of positive definite matrices.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M), Hermitian; only one triangle is read.
    lower : bool
        Return L with ``a = L L^H`` instead of U with ``a = U^H U``, and read the lower triangle.
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Of shape (..., M, M).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite.
    ValueError
        If a matrix is not square, or an element is not finite.
    """
    return _cholesky(scipy_linalg.cholesky, a, lower, check_finite)


@mirrors(scipy_linalg.cho_factor)
def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[GpuArray, bool]:
    """Return triangular factors of positive definite matrices, for :func:`cho_solve`.

    Parameters are those of :func:`cholesky`. The triangle that the factor does not use has no meaning; it has zeros.
    """
    return _cholesky(scipy_linalg.cholesky, a, lower, check_finite), lower


@mirrors(scipy_linalg.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> GpuArray:
    """Solve systems of linear equations by their Cholesky factors.

    Parameters
    ----------
    c_and_lower : tuple of (array_like, bool)
        What :func:`cho_factor` returns for matrices of shape (..., M, M).
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    overwrite_b : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K).

    Raises
    ------
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    c, which = c_and_lower
    lower = bool(np.all(read(which)))  # of stacks, SciPy's cho_factor returns an array
    factor, right = computed(scipy_linalg.solve_triangular, c, b, check_finite=check_finite)
    rows = rows_of(right)
    if not is_square(factor) or factor.shape[-1] != rows:
        refuse(scipy_linalg.cho_solve, (factor, lower), right)
    return cholesky_solution(factor, right, lower=lower)


def cholesky_solution(factor: GpuArray, right: GpuArray, *, lower: bool) -> GpuArray:
    """Return solutions for right sides of shape (M,) or (..., M, K), given Cholesky factors."""
    columns = right[:, None] if right.ndim == 1 else right
    first = substituted(factor, columns, lower=lower, trans=0 if lower else 2)
    result = substituted(factor, first, lower=lower, trans=2 if lower else 0)
    return result[..., 0] if right.ndim == 1 else result


def inverse_from(factor: GpuArray) -> GpuArray:
    """Return the inverses of matrices, given their lower Cholesky factors."""
    unit = xp.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device).broadcast(factor.shape)
    half = substituted(factor, unit, lower=True)
    return adjoint(half) @ half
