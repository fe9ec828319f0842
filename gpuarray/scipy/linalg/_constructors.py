"""Special matrices and matrices of blocks."""

from typing import Any, Final

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_arrays
from gpuarray.scipy._mirror import designed, mirrors
from gpuarray.scipy.linalg._arguments import as_lines, check, refuse

_KNOWN: Final = {
    name: designed(getattr(scipy_linalg, name), f"linalg.{name}")
    for name in ("dft", "hadamard", "helmert", "hilbert", "invhilbert", "invpascal", "pascal")
}
globals().update(_KNOWN)

__all__ = [
    "block_diag", "companion", "diagsvd", "fiedler", "fiedler_companion", "khatri_rao", "leslie", *_KNOWN,
]  # fmt: skip


@mirrors(scipy_linalg.block_diag)
def block_diag(*arrs: Any) -> GpuArray:
    """Return matrices with given blocks on the diagonal and zeros elsewhere.

    Parameters
    ----------
    *arrs : array_like
        Blocks of shape (..., M, N); a line is a block of one row. Leading axes broadcast.
    """
    blocks = [block if block.ndim > 1 else block.reshape(1, block.size) for block in as_arrays(*(arrs or ([],)))]
    batch = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
    kind = xp.result_type(*blocks)
    width, left, rows = sum(block.shape[-1] for block in blocks), 0, []
    for block in blocks:
        m, n = block.shape[-2:]
        before, after = (
            xp.zeros((*batch, m, extent), kind, device=block.device) for extent in (left, width - left - n)
        )
        rows.append(xp.concat([before, block.broadcast((*batch, m, n)).astype(kind, copy=False), after], axis=-1))
        left += n
    return xp.concat(rows, axis=-2)


@mirrors(scipy_linalg.khatri_rao)
def khatri_rao(a: Any, b: Any) -> GpuArray:
    """Return the Kronecker products of the columns of matrices.

    Parameters
    ----------
    a, b : array_like
        Of shapes (..., N, K) and (..., M, K).

    Returns
    -------
    GpuArray
        Of shape (..., N * M, K).

    Raises
    ------
    ValueError
        If the numbers of columns differ, or there are fewer than two axes.
    """
    first, second = as_arrays(a, b)
    if min(first.ndim, second.ndim) < 2 or first.shape[-1] != second.shape[-1]:
        refuse(scipy_linalg.khatri_rao, first, second)
    result = first[..., :, None, :] * second[..., None, :, :]
    return result.reshape(*result.shape[:-3], result.shape[-3] * result.shape[-2], result.shape[-1])


@mirrors(scipy_linalg.leslie)
def leslie(f: Any, s: Any) -> GpuArray:
    """Return Leslie matrices: fecundities in the first row, and survival below the diagonal.

    Parameters
    ----------
    f, s : array_like
        Of shapes (..., N) and (..., N - 1).

    Returns
    -------
    GpuArray
        Of shape (..., N, N).

    Raises
    ------
    ValueError
        If the lengths do not fit.
    """
    first, below = as_lines(f, s)
    n = first.shape[-1]
    if n < 2 or below.shape[-1] != n - 1:
        refuse(scipy_linalg.leslie, first, below)
    kind = xp.result_type(first, below)
    batch = np.broadcast_shapes(first.shape[:-1], below.shape[:-1])
    top = first.astype(kind, copy=False)[..., None, :].broadcast((*batch, 1, n))
    unit = xp.eye(n - 1, n, dtype=xp.bool, device=first.device)
    rest = xp.where(unit, below.astype(kind, copy=False)[..., None], kind.type(0))
    return xp.concat([top, rest.broadcast((*batch, n - 1, n))], axis=-2)


@mirrors(scipy_linalg.companion)
def companion(a: Any) -> GpuArray:
    """Return companion matrices of polynomials.

    Parameters
    ----------
    a : array_like
        Coefficients of shape (..., N), the highest power first.

    Returns
    -------
    GpuArray
        Of shape (..., N - 1, N - 1).

    Raises
    ------
    ValueError
        If there are fewer than two coefficients, or the first one is 0.
    """
    (line,) = as_lines(a)
    n = line.shape[-1]
    if n < 2:
        refuse(scipy_linalg.companion, line)
    _check_leading(scipy_linalg.companion, line)
    top = -line[..., 1:] / (1.0 * line[..., 0:1])
    unit = xp.eye(n - 2, n - 1, dtype=top.dtype, device=line.device)
    return xp.concat([top[..., None, :], unit.broadcast((*line.shape[:-1], n - 2, n - 1))], axis=-2)


def _check_leading(original: Any, line: GpuArray) -> None:
    def error(number: int) -> Exception:
        try:
            original(np.zeros(max(line.shape[-1], 3)))
        except ValueError as known:
            return known
        return ValueError("Leading coefficient is zero.")

    check((line[..., 0] == 0).any(), error, line)


@mirrors(scipy_linalg.fiedler)
def fiedler(a: Any) -> GpuArray:
    """Return matrices of the distances of numbers, of shape (..., N, N), given these of shape (..., N)."""
    (line,) = as_lines(a)
    if line.size < 2:
        return xp.zeros((line.size, line.size) if line.size else 0, np.float64, device=line.device)
    return xp.abs(line[..., :, None] - line[..., None, :])


@mirrors(scipy_linalg.fiedler_companion)
def fiedler_companion(a: Any) -> GpuArray:
    """Return companion matrices of polynomials that have five diagonals.

    Parameters
    ----------
    a : array_like
        Coefficients of shape (..., N), the highest power first.

    Returns
    -------
    GpuArray
        Of shape (..., N - 1, N - 1), or (..., 0) if N is 0.

    Raises
    ------
    ValueError
        If the first coefficient is 0.
    """
    (line,) = as_lines(a)
    if line.shape[-1] < 2:
        shape = (*line.shape[:-1], 0, 0) if line.shape[-1] else line.shape
        return xp.zeros(shape, line.dtype, device=line.device)
    if line.shape[-1] == 2:
        return -(line / line[..., :1])[..., 1:, None]
    _check_leading(scipy_linalg.fiedler_companion, line)
    line = line / line[..., :1]
    n = line.shape[-1] - 1
    # which coefficient stands where; 0 is the first one, which is 1, and -1 is nothing
    positions = np.full((n, n), -1)
    positions[range(3, n, 2), range(1, n - 2, 2)] = 0
    positions[range(2, n, 2), range(1, n - 1, 2)] = range(3, n + 1, 2)
    positions[range(0, n - 2, 2), range(2, n, 2)] = 0
    positions[range(0, n - 1, 2), range(1, n, 2)] = range(2, n + 1, 2)
    positions[[0, 1], 0] = 1, 0
    signs = np.where(positions > 0, -1, positions == 0).astype(line.real.dtype)
    return line[..., np.maximum(positions, 0)] * signs


@mirrors(scipy_linalg.diagsvd)
def diagsvd(s: Any, M: int, N: int) -> GpuArray:  # noqa: N803  # SciPy's names
    """Return matrices of ``M`` rows and ``N`` columns with lines of length ``M`` or ``N`` on the diagonal."""
    (line,) = as_lines(s)
    if line.shape[-1] not in (M, N):
        refuse(scipy_linalg.diagsvd, line, M, N)
    unit = xp.eye(M, N, dtype=xp.bool, device=line.device)
    if line.shape[-1] == M:
        return xp.where(unit, line[..., :, None], line.dtype.type(0))
    return xp.where(unit, line[..., None, :], line.dtype.type(0))
