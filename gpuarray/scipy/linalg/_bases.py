"""Bases of ranges and null spaces, angles between them, and the closest orthogonal matrices."""

from typing import Any

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import singular_values
from gpuarray.functions.arguments import as_arrays, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import tape
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import adjoint, computed, matrices, refuse

__all__ = ["null_space", "orth", "orthogonal_procrustes", "polar", "subspace_angles"]


def _rank(s: GpuArray, rcond: Any, m: int, n: int) -> int:
    """Return the number of singular values that are not negligible, which is read; it must be one for all matrices."""
    least = float(np.finfo(s.dtype).eps) * max(m, n) if rcond is None else rcond
    if tape.state.tapes:
        tape.check_batched([s.node()], is_shape=True)
    ranks = read(xp.count_nonzero(s > xp.max(s, axis=-1, keepdims=True, initial=0) * least, axis=-1))
    if ranks.size and (ranks != ranks.flat[0]).any():
        raise ValueError("all input arrays must have the same shape: the ranks of the matrices differ")
    return int(ranks.flat[0]) if ranks.size else 0


@mirrors(scipy_linalg.orth, kind=COMPOSED)
def orth(A: Any, rcond: Any = None) -> GpuArray:  # noqa: N803  # SciPy's name
    """Return orthonormal bases of the ranges of matrices, in columns.

    Parameters
    ----------
    A : array_like
        Of shape (..., M, N).
    rcond : float, optional
        Singular values up to this fraction of the largest count as zero; by default the epsilon times max(M, N).

    Returns
    -------
    GpuArray
        Of shape (..., M, K), where K is the rank.

    Raises
    ------
    ValueError
        If an element is not finite, or the ranks of matrices differ.
    """
    array = matrices(scipy_linalg.svd, A)
    u, s, _ = singular_values.svd(array, full_matrices=False)
    return u[..., : _rank(s, rcond, *array.shape[-2:])]


@mirrors(scipy_linalg.null_space, kind=COMPOSED)
def null_space(
    A: Any, rcond: Any = None, *, overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd"  # noqa: N803
) -> GpuArray:  # fmt: skip
    """Return orthonormal bases of the null spaces of matrices, in columns.

    Parameters
    ----------
    A : array_like
        Of shape (..., M, N).
    rcond : float, optional
        Singular values up to this fraction of the largest count as zero; by default the epsilon times max(M, N).
    overwrite_a : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.
    lapack_driver : {"gesdd", "gesvd"}
        It is checked, and makes no difference.

    Returns
    -------
    GpuArray
        Of shape (..., N, N - K), where K is the rank.

    Raises
    ------
    ValueError
        If an element is not finite, or the ranks of matrices differ.
    """
    array = matrices(scipy_linalg.svd, A, check_finite=check_finite, lapack_driver=lapack_driver)
    _, s, vh = singular_values.svd(array)
    return adjoint(vh[..., _rank(s, rcond, *array.shape[-2:]) :, :])


@mirrors(scipy_linalg.subspace_angles, kind=COMPOSED)
def subspace_angles(A: Any, B: Any) -> GpuArray:  # noqa: N803  # SciPy's names
    """Return the angles between the ranges of two matrices, descending.

    Parameters
    ----------
    A, B : array_like
        Of shapes (..., M, N) and (..., M, K).

    Raises
    ------
    ValueError
        If the numbers of rows differ, or an element is not finite.
    """
    first, second = as_arrays(A, B)
    if min(first.ndim, second.ndim) < 2 or first.shape[-2] != second.shape[-2]:
        refuse(scipy_linalg.subspace_angles, first, second)
    one, other = orth(first), orth(second)
    inner = adjoint(one) @ other
    cosines = singular_values.svdvals(inner)
    rest = other - one @ inner if one.shape[-1] >= other.shape[-1] else one - other @ adjoint(inner)
    # a small angle is exact by its sine, and a large one by its cosine
    sines = xp.asin(xp.clip(singular_values.svdvals(rest), -1, 1))
    return xp.where(cosines**2 >= 0.5, sines, xp.acos(xp.clip(cosines[..., ::-1], -1, 1)))


@mirrors(scipy_linalg.orthogonal_procrustes)
def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> tuple[GpuArray, GpuArray]:  # noqa: N803
    """Return the orthogonal matrices that map matrices most closely to others, and the sums of singular values.

    Parameters
    ----------
    A, B : array_like
        Of shape (..., M, N).
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    R : GpuArray
        Of shape (..., N, N).
    scale : GpuArray
        Of shape (...).

    Raises
    ------
    ValueError
        If the shapes differ, or an element is not finite.
    """
    first, second = as_arrays(A, B)
    if min(first.ndim, second.ndim) < 2 or first.shape[-2:] != second.shape[-2:]:
        refuse(scipy_linalg.orthogonal_procrustes, first, second)
    first, second = computed(scipy_linalg.orthogonal_procrustes, first, second, check_finite=check_finite)
    u, s, vh = singular_values.svd(adjoint(first) @ second)
    return u @ vh, xp.sum(s, axis=-1)


@mirrors(scipy_linalg.polar)
def polar(a: Any, side: str = "right") -> tuple[GpuArray, GpuArray]:
    """Return polar factors of matrices: one with orthonormal rows or columns, and a positive semidefinite one.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N).
    side : {"right", "left"}
        Whether ``a = u p`` or ``a = p u``.

    Returns
    -------
    u, p : GpuArray
        Of shapes (..., M, N), and (..., N, N) or (..., M, M).

    Raises
    ------
    ValueError
        If ``side`` is anything else, there are fewer than two axes, or an element is not finite.
    """
    array = matrices(scipy_linalg.polar, a, side=side)
    w, s, vh = singular_values.svd(array, full_matrices=False)
    if tape.varying(array.node()):
        unitary = tape.state.with_rule(w @ vh, (array,), _unitary_pulled)
        return unitary, adjoint(unitary) @ array if side == "right" else array @ adjoint(unitary)
    positive = (adjoint(vh) * s[..., None, :]) @ vh if side == "right" else (w * s[..., None, :]) @ adjoint(w)
    return w @ vh, positive


def _unitary_pulled(ct: GpuArray, x: GpuArray) -> tuple[GpuArray]:
    """Return the cotangent of matrices by that of their factors; it divides by no differences of singular values."""
    w, s, vh = singular_values.svd(x, full_matrices=False)
    ct = xp.conj(ct)
    inner = adjoint(w) @ ct @ adjoint(vh)
    pulled = w @ ((inner - adjoint(inner)) / (s[..., None, :] + s[..., None])) @ vh
    rows, columns = (ct @ adjoint(vh)) / s[..., None, :], (adjoint(w) @ ct) / s[..., None]
    pulled = pulled + (rows - w @ (adjoint(w) @ rows)) @ vh + w @ (columns - (columns @ adjoint(vh)) @ vh)
    return (xp.conj(pulled),)
