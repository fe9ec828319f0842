"""Tridiagonal systems by parallel cyclic reduction, and the functions of banded matrices.

Each equation is combined with the two at a distance, which doubles the distance, until every equation has one unknown.
There are log2(n) steps, each of them a loop over all equations of all systems. Rows are not interchanged, which
diagonally dominant and positive definite matrices do not need. The residuals tell whether a solution is good; if it is
not, LAPACK solves the system on the host.
"""

from math import prod
from typing import Any, Final

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions.arguments import as_arrays
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build, tape, tracing
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.ops import generators
from gpuarray.runtime import evaluate
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._mirror import hosted, mirrors
from gpuarray.scipy.linalg._arguments import check, computed, refuse, rows_of

__all__ = ["cho_solve_banded", "cholesky_banded", "solve_banded", "solveh_banded"]

#: Residuals, in units of the rounding errors of a product, up to which a solution counts as good.
_GOOD: Final = 30
_WIDE: Final = "only tridiagonal matrices are solved on the device"
_INTERCHANGES: Final = "rows have to be interchanged, which LAPACK does"


def _from(x: GpuArray, distance: int) -> GpuArray:
    """Return for each row the row at a distance, zeros where there is none; rows are the axis before the last.

    It is a gather, so that loops read the rows where they are.
    """
    *batch, rows, columns = x.shape
    position = [
        wrap(build.reshape(build.generate(generators.arange, (0, 1), (extent,), dtypes.int32), shape), x.device)
        for extent, shape in ((prod(batch), (*batch, 1, 1)), (rows, (rows, 1)), (columns, (columns,)))
    ]
    there = position[1] + distance
    inside = (there >= 0) if distance < 0 else (there < rows)
    flat = (position[0] * rows + xp.clip(there, 0, rows - 1)) * columns + position[2]
    return xp.where(inside, wrap(build.gather(x.node(), flat.node()), x.device), x.dtype.type(0))


def _reduced(
    low: GpuArray, high: GpuArray, right: GpuArray, positive: GpuArray | None
) -> tuple[GpuArray, GpuArray | None]:
    """Return the solutions of systems whose diagonals are ones, and whether all pivots were positive so far."""
    distance, n = 1, right.shape[-2]
    while distance < n:
        pivot = 1 - low * _from(high, -distance) - high * _from(low, distance)
        if positive is not None:
            positive = positive & (pivot.real > 0)
        scale = 1 / pivot
        right = (right - low * _from(right, -distance) - high * _from(right, distance)) * scale
        low, high = -low * _from(low, -distance) * scale, -high * _from(high, distance) * scale
        distance *= 2
    return right, positive


def tridiagonal_solution(
    low: GpuArray, main: GpuArray, high: GpuArray, right: GpuArray, *, definite: bool = False
) -> GpuArray:
    """Return solutions of tridiagonal systems.

    Parameters
    ----------
    low, main, high : GpuArray
        The diagonals, of shapes (..., N - 1), (..., N) and (..., N - 1).
    right : GpuArray
        Of shape (N,) or (..., N, K).
    definite : bool
        Whether the matrices must be positive definite.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular, or not positive definite; if :func:`gpuarray.jit` or :func:`gpuarray.vmap` have
        recorded the function, also if rows have to be interchanged.
    """
    columns = right[:, None] if right.ndim == 1 else right
    batch = broadcast_shapes(main.shape[:-1], columns.shape[:-2])
    columns = columns.broadcast((*batch, *columns.shape[-2:]))
    edge = xp.zeros((*main.shape[:-1], 1), main.dtype, device=main.device)
    below, above = xp.concat([edge, low], axis=-1)[..., None], xp.concat([high, edge], axis=-1)[..., None]
    centre = main[..., None]
    positive = (centre.real > 0) if definite else None
    solution, positive = _reduced(below / centre, above / centre, columns / centre, positive)
    if positive is not None:
        check(~positive.all(), lambda number: np.linalg.LinAlgError("leading minor not positive definite"), main)
    result = solution[..., 0] if right.ndim == 1 else solution
    lost = _lost(below, centre, above, columns, solution)
    if tracing.active() is not None or tape.batch_of(lost.node()) is not None:
        check(lost, lambda number: np.linalg.LinAlgError(f"singular matrix, or {_INTERCHANGES}"))
        return result
    evaluate.evaluate_early([result.settled(), lost.settled()], result.device)
    if not evaluate.read(lost.node(), lost.device):
        return result
    bands = xp.stack(xp.broadcast_arrays(above[..., 0], main, below[..., 0]), axis=-2)
    rows = [xp.roll(bands[..., number, :], shift, -1) for number, shift in ((0, 1), (1, 0), (2, -1))]
    return run_counted(scipy_linalg.solve_banded, _INTERCHANGES, ((1, 1), xp.stack(rows, axis=-2), right), {})


def _lost(low: GpuArray, main: GpuArray, high: GpuArray, right: GpuArray, solution: GpuArray) -> GpuArray:
    """Return whether the residual of a solution is more than rounding makes it."""
    before, after = _from(solution, -1), _from(solution, 1)
    rest = xp.abs(low * before + main * solution + high * after - right)
    size = xp.abs(low) + xp.abs(main) + xp.abs(high)
    largest = xp.max(size, axis=-2, keepdims=True) * xp.max(xp.abs(solution), axis=-2, keepdims=True)
    largest = largest + xp.max(xp.abs(right), axis=-2, keepdims=True)
    return ~(rest <= largest * (_GOOD * float(np.finfo(right.dtype).eps))).all()


@mirrors(scipy_linalg.solve_banded, kind=COMPOSED, reason=f"{_WIDE}; so are those without interchanges of rows")
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
        Of shape (M,) or (..., M, K). Tridiagonal matrices are solved on the device.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    lower, upper = l_and_u
    bands, right = as_arrays(ab, b)
    if lower != 1 or upper != 1 or bands.ndim < 2 or bands.shape[-1] < 2:
        return run_counted(scipy_linalg.solve_banded, _WIDE, (l_and_u, bands, right), {"check_finite": check_finite})
    rows = rows_of(right)
    if bands.shape[-2] != 3 or bands.shape[-1] != rows:
        refuse(scipy_linalg.solve_banded, l_and_u, bands, right)
    bands, right = computed(scipy_linalg.solve, bands, right, check_finite=check_finite)
    return tridiagonal_solution(bands[..., 2, :-1], bands[..., 1, :], bands[..., 0, 1:], right)


@mirrors(scipy_linalg.solveh_banded, kind=COMPOSED, reason=_WIDE)
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
        Of shape (M,) or (..., M, K). Tridiagonal matrices are solved on the device.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite.
    ValueError
        If the shapes do not fit, or an element is not finite.
    """
    bands, right = as_arrays(ab, b)
    if bands.ndim < 2 or bands.shape[-2] != 2 or not right.size:
        options = {"lower": lower, "check_finite": check_finite}
        return run_counted(scipy_linalg.solveh_banded, _WIDE, (bands, right), options)
    rows = rows_of(right)
    if bands.shape[-1] != rows:
        refuse(scipy_linalg.solveh_banded, bands, right)
    bands, right = computed(scipy_linalg.solve, bands, right, check_finite=check_finite)
    main = bands[..., 0 if lower else 1, :].real.astype(bands.dtype)
    side = bands[..., 1, :-1] if lower else bands[..., 0, 1:]
    turned = xp.conj(side)
    low, high = (side, turned) if lower else (turned, side)
    return tridiagonal_solution(low, main, high, right, definite=True)


cholesky_banded = hosted(scipy_linalg.cholesky_banded, "each column depends on the columns before it")
cho_solve_banded = hosted(scipy_linalg.cho_solve_banded, "each row depends on the rows before it")
