"""Singular values of matrices, and what follows from them: pseudo-inverses, ranks and condition numbers.

Each factorisation runs when it is called, where its operand is. All functions take stacks of matrices, convert integers
and booleans to float64, and raise TypeError for float16, as numpy.linalg does.
"""

from functools import partial
from math import prod
from typing import Any, Final, Literal, NamedTuple, overload

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise, lapack, logic, reductions
from gpuarray.functions.arguments import NOT_GIVEN, ArrayLike, as_array, standard_function, takes_names_of
from gpuarray.functions.at_once import at_once
from gpuarray.functions.creation import zeros
from gpuarray.functions.linalg_arguments import factor_dtype, matrices, real_dtype, run_checked, square
from gpuarray.functions.products import matmul
from gpuarray.functions.registry import implements, native
from gpuarray.functions.searching import count_nonzero
from gpuarray.graph import tape
from gpuarray.ops import factorisations as ops

__all__ = ["SVDResult", "cond", "matrix_rank", "pinv", "svd", "svdvals"]

_NOT_CONVERGED: Final = "SVD did not converge"


def _adjoint(x: GpuArray) -> GpuArray:
    """Return the conjugate transposes of matrices."""
    return elementwise.conj(x).mT


class SVDResult(NamedTuple):
    """The result of :func:`svd`."""

    U: GpuArray
    S: GpuArray
    Vh: GpuArray


def _small_svd(*arguments: Any, **parameters: Any) -> Any:
    factors = lapack.svd(*arguments, **parameters)
    return SVDResult(*factors) if isinstance(factors, tuple) else factors


@overload
def svd(
    x: ArrayLike, /, full_matrices: bool = ..., compute_uv: Literal[True] = ..., hermitian: bool = ...
) -> SVDResult: ...
@overload
def svd(
    x: ArrayLike, /, full_matrices: bool = ..., *, compute_uv: Literal[False], hermitian: bool = ...
) -> GpuArray: ...
@native("linalg.svd", at_once="matrices", call=_small_svd)
@standard_function
def svd(x: ArrayLike, /, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return singular values with their left and right vectors.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N), with K = min(M, N).
    full_matrices : bool
        Return M left and N right vectors; if False, K of each.
    compute_uv : bool
        Return the vectors too. If False, return the singular values alone.
    hermitian : bool
        Whether the matrices are Hermitian, which takes less time. This is not checked.

    Returns
    -------
    SVDResult or GpuArray
        ``U`` of shape (..., M, M) or (..., M, K), ``S`` of shape (..., K), real and descending, and ``Vh`` of shape
        (..., N, N) or (..., K, N), with ``x = (U * S) @ Vh`` for K vectors.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes, Hermitian matrices are not square, or the iteration does not converge.
    """
    if not compute_uv:
        return svdvals(x, hermitian=hermitian)
    array, dtype, shape = _spectrum(x, hermitian)
    *batch, m, n = array.shape
    left, right = (m, n) if full_matrices else (shape[-1], shape[-1])
    outputs: list[Any] = [((*batch, m, left), dtype), (shape, real_dtype(dtype)), ((*batch, right, n), dtype)]
    full, symmetric = bool(full_matrices), bool(hermitian)
    return SVDResult(*run_checked(ops.svd, [array], outputs, _NOT_CONVERGED, full_matrices=full, hermitian=symmetric))


@native("linalg.svdvals", at_once="matrices", call=lapack.svdvals)
@standard_function
def svdvals(x: ArrayLike, /, *, hermitian: bool = False) -> GpuArray:
    """Return singular values, of shape (..., K); the arguments are those of :func:`svd`."""
    array, dtype, shape = _spectrum(x, hermitian)
    outputs = [(shape, real_dtype(dtype))]
    (values,) = run_checked(ops.svd, [array], outputs, _NOT_CONVERGED, compute_uv=False, hermitian=bool(hermitian))
    return values


def _spectrum(x: ArrayLike, hermitian: bool) -> tuple[GpuArray, DType, tuple[int, ...]]:
    """Return matrices, the dtype of their factors, and the shape of their singular values."""
    array = square(x) if hermitian else matrices(x)
    return array, factor_dtype(array), (*array.shape[:-2], min(array.shape[-2:]))


#: NumPy's function, which does not look for arrays of other packages.
_numpys_pinv: Final = getattr(np.linalg.pinv, "__wrapped__", np.linalg.pinv)


def _small_pinv(x: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if rcond is not None and rtol is not None:
        raise ValueError
    limit = {"rtol": rtol} if rcond is None else {"rcond": rcond}
    return _numpys_pinv(x, hermitian=hermitian, **limit)


@partial(at_once, results="matrices", call=_small_pinv)
@partial(takes_names_of, np.linalg.pinv)
@standard_function
def pinv(
    x: ArrayLike, /, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> GpuArray:
    """Return Moore-Penrose pseudo-inverses, computed from singular values.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N).
    rcond : float or array_like, optional
        NumPy's older name of ``rtol``.
    hermitian : bool
        Whether the matrices are Hermitian, which takes less time. This is not checked.
    rtol : float or array_like, optional
        Singular values up to this fraction of the largest count as zero; an array has one for each matrix. By default
        the epsilon of the dtype times max(M, N).

    Returns
    -------
    GpuArray
        Of shape (..., N, M).

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes, or the iteration does not converge.
    ValueError
        If both tolerances are given.
    """
    if rcond is not None and rtol is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    rtol = rcond if rtol is None else rtol
    array = matrices(x)
    m, n = array.shape[-2:]
    if not m * n:
        return zeros((*array.shape[:-2], n, m), array.dtype, device=array.device)
    u, s, vh = svd(array, full_matrices=False, hermitian=hermitian)
    is_large = s > reductions.max(s, axis=-1, keepdims=True) * _tolerance(rtol, array)
    inverse = logic.where(is_large, 1 / s, 0.0)
    result = matmul(_adjoint(vh) * inverse[..., None, :], _adjoint(u))
    if tape.varying(array.node()):
        again = partial(pinv, hermitian=hermitian, rtol=rtol)
        result = tape.state.with_rule(result, (array,), lambda ct, x: (_pulled(ct, x, again(x)),))
    return result


def _pulled(ct: GpuArray, x: GpuArray, inverse: GpuArray) -> GpuArray:
    """Return the cotangent of matrices by that of their pseudo-inverses, as Golub and Pereyra do (1973).

    It divides by no differences of singular values, and holds where small changes leave the rank as it is.
    """
    across, ct = _adjoint(inverse), elementwise.conj(ct)
    inside = across @ ct @ across
    left, right = _adjoint(inverse @ (across @ ct)), (across @ inverse) @ _adjoint(ct)
    outside = left - x @ (inverse @ left) + right - (right @ inverse) @ x
    return elementwise.conj(outside - inside)


def _tolerance(rtol: ArrayLike | None, array: GpuArray) -> Any:
    """Return a tolerance with an axis for the singular values of each matrix; the default one if none is given."""
    if rtol is None:
        return max(array.shape[-2:]) * float(np.finfo(factor_dtype(array)).eps)
    return rtol if isinstance(rtol, int | float) else as_array(rtol, array.device)[..., None]


@implements("linalg.pinv", at_once="matrices")
def numpy_pinv(
    a: ArrayLike, /, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: Any = NOT_GIVEN
) -> GpuArray:
    """Return pseudo-inverses as :func:`numpy.linalg.pinv` does, whose default tolerance is 1e-15."""
    if rtol is NOT_GIVEN:
        rcond, rtol = 1e-15 if rcond is None else rcond, None
    elif rcond is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    return pinv(a, rcond, hermitian, rtol=rtol)


@implements("linalg.matrix_rank", at_once="matrices")
@standard_function
def matrix_rank(
    x: ArrayLike, /, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> GpuArray | int:
    """Return ranks, the numbers of singular values above a tolerance.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, N). The rank of a vector or a number is 1 if it has an element that is not zero, else 0.
    tol : float or array_like, optional
        Singular values up to this value count as zero; an array has a value for each matrix.
    hermitian : bool
        Whether the matrices are Hermitian, which takes less time. This is not checked.
    rtol : float or array_like, optional
        The same as a fraction of the largest singular value. By default the epsilon of the dtype times max(M, N).

    Returns
    -------
    GpuArray or int
        Of shape (...) and dtype int64; an integer if there are fewer than two axes.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge.
    ValueError
        If both tolerances are given.
    """
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    array = as_array(x)
    if array.ndim < 2:
        return int((array != 0).any().item())
    s = svdvals(array, hermitian=hermitian)
    if tol is not None:
        limit = _tolerance(tol, array)
    else:
        limit = reductions.max(s, axis=-1, keepdims=True, initial=0) * _tolerance(rtol, array)
    return count_nonzero(s > limit, axis=-1)


_NORMS: Final = (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "f", "nuc")


@native("linalg.cond", at_once="matrices")
def cond(x: ArrayLike, /, p: Any = None) -> GpuArray:
    """Return condition numbers: the norm of each matrix times the norm of its inverse.

    Parameters
    ----------
    x : array_like
        Of shape (..., M, M); of shape (..., M, N) if ``p`` is None, 2 or -2.
    p : {None, 1, -1, 2, -2, inf, -inf, "fro", "nuc"}
        The norm; None is 2.

    Returns
    -------
    GpuArray
        Real, of shape (...); infinite for singular matrices.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices have no elements, or are not square where ``p`` requires it.
    ValueError
        If there is no such norm.
    """
    array = matrices(x)
    if not prod(array.shape[-2:]):
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p not in (None, 2, -2):
        array = square(array)
    if p not in _NORMS:
        raise ValueError(f"Invalid norm order for matrices: {p!r}; use one of {', '.join(map(repr, _NORMS))}")
    outputs = [(array.shape[:-2], real_dtype(factor_dtype(array)))]
    (number,) = run_checked(ops.cond, [array], outputs, _NOT_CONVERGED, p=p)
    return number
