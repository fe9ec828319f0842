"""Norms, and properties of matrices that follow from the zeros and the symmetry of their elements."""

from typing import Any

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import norms
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import adjoint, is_square, refuse, require_finite

__all__ = ["bandwidth", "ishermitian", "issymmetric", "norm"]


@mirrors(scipy_linalg.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> GpuArray:
    """Return norms of vectors or matrices.

    Parameters
    ----------
    a : array_like
        Numbers.
    ord : float or str, optional
        The order, as for :func:`gpuarray.linalg.norm`.
    axis : int or tuple of int, optional
        One axis of vectors or two of matrices.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Real, without the axes.

    Raises
    ------
    ValueError
        If there is no such norm, the axes do not fit, or an element is not finite.
    """
    array = as_array(a)
    if check_finite:
        require_finite(array)
    return norms.norm(array, ord, axis, keepdims)


@mirrors(scipy_linalg.bandwidth, kind=COMPOSED)
def bandwidth(a: Any) -> tuple[Any, Any]:
    """Return how many diagonals below and above the main one have elements that are not zero.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N).

    Returns
    -------
    lu : tuple of int or GpuArray
        Two numbers, or two arrays of shape (...).

    Raises
    ------
    ValueError
        If there are fewer than two axes.
    """
    array = as_array(a)
    if array.ndim < 2 or not array.size:
        return scipy_linalg.bandwidth(read(array))
    row, column = (xp.arange(extent, device=array.device) for extent in array.shape[-2:])
    below = xp.where(array != 0, row[:, None] - column, 0)
    widths = [xp.max(sign * below, axis=(-2, -1)) for sign in (1, -1)]
    lower, upper = (int(count) if array.ndim == 2 else count for count in widths)
    return lower, upper


def _equals(original: Any, a: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    array = as_array(a)
    if not is_square(array) or array.dtype == np.float16:
        refuse(original, array)
    transposed = adjoint(array) if hermitian else array.mT
    if atol is None and rtol is None:
        same = array == transposed
        if array.dtype.kind != "c" or not hermitian:  # the diagonal of a Hermitian matrix is real
            same = same | xp.eye(array.shape[-1], dtype=xp.bool, device=array.device)
    else:
        same = xp.isclose(array, transposed, atol=0.0 if atol is None else atol, rtol=0.0 if rtol is None else rtol)
    result = same.all(axis=(-2, -1))
    return bool(result) if array.ndim == 2 else result


@mirrors(scipy_linalg.issymmetric, kind=COMPOSED)
def issymmetric(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """Return whether matrices are equal to their transposes.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M). The diagonal is not looked at, unless a tolerance is given.
    atol, rtol : float, optional
        How much elements may differ; by default they must be equal.

    Returns
    -------
    bool or GpuArray
        A bool for one matrix, an array of shape (...) for stacks.

    Raises
    ------
    ValueError
        If the matrices are not square.
    """
    return _equals(scipy_linalg.issymmetric, a, atol, rtol, hermitian=False)


@mirrors(scipy_linalg.ishermitian, kind=COMPOSED)
def ishermitian(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """Return whether matrices are equal to their adjoints.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, M).
    atol, rtol : float, optional
        How much elements may differ; by default they must be equal.

    Returns
    -------
    bool or GpuArray
        A bool for one matrix, an array of shape (...) for stacks.

    Raises
    ------
    ValueError
        If the matrices are not square.
    """
    return _equals(scipy_linalg.ishermitian, a, atol, rtol, hermitian=True)
