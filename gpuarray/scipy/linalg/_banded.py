"""Functions of banded matrices."""

from typing import Any

from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_arrays
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy import _compositions
from gpuarray.scipy._calls import run_scipy
from gpuarray.scipy._mirror import hosted, mirrors
from gpuarray.scipy.linalg._arguments import computed, refuse, rows_of
from gpuarray.scipy.linalg._cyclic import INTERCHANGES, banded_solution, moved

__all__ = ["cho_solve_banded", "cholesky_banded", "solve_banded", "solveh_banded"]


@mirrors(scipy_linalg.solve_banded, kind=COMPOSED, reason=INTERCHANGES)
def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> GpuArray:
    """Solve systems of linear equations with banded matrices.

    Parameters
    ----------
    l_and_u : tuple of int
        The numbers of diagonals below and above the main one.
    ab : array_like
        The diagonals, of shape (..., l + u + 1, M), the highest first: ``ab[u + i - j, j] == a[i, j]``.
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    overwrite_ab, overwrite_b : bool
        Accepted for compatibility.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    lower, upper = l_and_u
    bands, right = as_arrays(ab, b)
    if bands.ndim < 2 or bands.shape[-2] != lower + upper + 1 or bands.shape[-1] != rows_of(right):
        refuse(scipy_linalg.solve_banded, l_and_u, bands, right)
    if not right.size:
        return run_scipy(scipy_linalg.solve_banded, (l_and_u, bands, right), {})
    bands, right = computed(scipy_linalg.solve, bands, right, check_finite=check_finite)
    lines = [moved(bands[..., upper - away, :], away) for away in range(-lower, upper + 1)]
    return banded_solution(xp.stack(lines, axis=-2), lower, right)


@mirrors(scipy_linalg.solveh_banded, kind=COMPOSED)
def solveh_banded(
    ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False,
    check_finite: bool = True,
) -> GpuArray:  # fmt: skip
    """Solve systems of linear equations with banded positive definite matrices.

    Parameters
    ----------
    ab : array_like
        The main diagonal and those above, the highest first, of shape (..., u + 1, M); with ``lower`` the main
        diagonal and those below.
    b : array_like
        Right sides of shape (M,) or (..., M, K).
    overwrite_ab, overwrite_b : bool
        Accepted for compatibility.
    lower : bool
        Whether ``ab`` has the diagonals below.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    GpuArray
        Of shape (M,) or (..., M, K).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    bands, right = as_arrays(ab, b)
    if bands.ndim < 2 or bands.shape[-1] != rows_of(right):
        refuse(scipy_linalg.solveh_banded, bands, right, lower=lower)
    if not right.size:
        return run_scipy(scipy_linalg.solveh_banded, (bands, right), {"lower": lower})
    bands, right = computed(scipy_linalg.solve, bands, right, check_finite=check_finite)
    most = bands.shape[-2] - 1
    main, *sides = (bands[..., away if lower else most - away, :] for away in range(most + 1))
    # a[i, i - away] and a[i, i + away], of which one is in column i
    conjugates = [xp.conj(side) for side in sides]
    aligned = [moved(side, -away if lower else away) for away, side in enumerate(sides, 1)]
    below, above = (aligned, conjugates) if lower else (conjugates, aligned)
    lines = [*below[::-1], main.real.astype(bands.dtype), *above]
    return banded_solution(xp.stack(lines, axis=-2), most, right, definite=True)


cholesky_banded = hosted(
    scipy_linalg.cholesky_banded,
    "each column depends on the columns before it",
    composition=_compositions.cholesky_banded,
)
cho_solve_banded = hosted(scipy_linalg.cho_solve_banded, "each row depends on the rows before it")
