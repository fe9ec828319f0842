"""Banded systems by parallel cyclic reduction.

Rows are taken in blocks of as many as there are diagonals on one side, so that the matrix is tridiagonal in blocks.
Each block of equations is combined with the two at a distance, which doubles the distance, until every block has only
its own unknowns. There are log2(n) steps, each of them a few loops over all equations of all systems. Rows are not
interchanged, which diagonally dominant and positive definite matrices, and those of splines, do not need. The residuals
tell whether a solution is good; if it is not, LAPACK solves the system on the host.
"""

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Final

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions.arguments import elements_at
from gpuarray.graph import build, tape, tracing
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.ops import generators
from gpuarray.runtime import evaluate
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy.linalg._arguments import check

#: Residuals, in units of the rounding errors of a product, up to which a solution counts as good.
_GOOD: Final = 30
INTERCHANGES: Final = "rows have to be interchanged, which LAPACK does"


def _from(x: GpuArray, distance: int, axis: int = -2) -> GpuArray:
    """Return for each element the one at a distance along an axis, zeros where there is none.

    It is a gather, so that loops read the elements where they are.
    """
    before, extent, behind = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    position = [
        wrap(build.reshape(build.generate(generators.arange, (0, 1), (prod(shape),), dtypes.int32), shape), x.device)
        for shape in ((*before, *(1,) * (len(behind) + 1)), (extent, *(1,) * len(behind)), behind)
    ]
    there = position[1] + distance
    inside = (there >= 0) if distance < 0 else (there < extent)
    flat = (position[0] * extent + xp.clip(there, 0, extent - 1)) * prod(behind) + position[2]
    return xp.where(inside, elements_at(x, flat), x.dtype.type(0))


def moved(line: GpuArray, distance: int) -> GpuArray:
    """Return for each element of the last axis the one at a distance, zeros where there is none."""
    extent = line.shape[-1]
    step = max(-extent, min(distance, extent))
    inside = line[..., max(step, 0) : extent + min(step, 0)]
    return xp.pad(inside, [(0, 0)] * (line.ndim - 1) + [(max(-step, 0), max(step, 0))])


def _products(x: GpuArray, others: Sequence[GpuArray]) -> list[GpuArray]:
    """Return the products of blocks with other ones; of single elements they fuse with what follows."""
    if x.shape[-1] == 1:
        return [x * other for other in others]
    return _split(x @ xp.concat(others, axis=-1), others)


def _split(joined: GpuArray, like: Sequence[GpuArray]) -> list[GpuArray]:
    ends = np.cumsum([part.shape[-1] for part in like])
    return [joined[..., end - part.shape[-1] : end] for part, end in zip(like, ends.tolist(), strict=True)]


def _without(pivots: GpuArray, others: Sequence[GpuArray]) -> tuple[list[GpuArray], GpuArray]:
    """Return the solutions of the systems of blocks, and whether all pivots are positive."""
    if pivots.shape[-1] == 1:
        return [other / pivots for other in others], (pivots.real > 0).all()
    both = xp.concat([pivots, *others], axis=-1)
    row = xp.arange(pivots.shape[-1], dtype=np.int32, device=pivots.device)[:, None]
    positive = []
    for number in range(pivots.shape[-1]):
        pivot = both[..., number : number + 1, :1]
        positive.append(pivot.real > 0)
        scaled = both[..., number : number + 1, 1:] / pivot
        both = xp.where(row == number, scaled, both[..., 1:] - both[..., :1] * scaled)
    return _split(both, others), xp.concat(positive).all()


def _solved(own: GpuArray, others: Sequence[GpuArray]) -> tuple[GpuArray, GpuArray]:
    """Return the solutions of systems, and whether all pivots are positive.

    Parameters
    ----------
    own : GpuArray
        The matrices of blocks, of shape (..., blocks, rows, rows).
    others : sequence of GpuArray
        For each block the matrix before its own one, the matrix behind it, and the right sides.
    """
    (before, behind, sides), positive = _without(own, others)
    unit = xp.eye(own.shape[-1], dtype=own.dtype, device=own.device)
    distance = 1
    while distance < own.shape[-3]:
        low, high = (
            _products(factor, [_from(part, step, -3) for part in (before, behind, sides)])
            for factor, step in ((before, -distance), (behind, distance))
        )
        rest = [-low[0], -high[1], sides - low[2] - high[2]]
        (before, behind, sides), are_positive = _without(unit - low[1] - high[0], rest)
        positive = positive & are_positive
        distance *= 2
    return sides, positive


def _equations(bands: GpuArray, lower: int, size: int, right: GpuArray) -> list[GpuArray]:
    """Return the blocks of the equations for :func:`_solved`; rows of the unit matrix fill the last one."""
    *batch, diagonals, rows = bands.shape
    blocks, device = -(-rows // size), bands.device
    row = xp.arange(blocks * size, dtype=np.int32, device=device).reshape(blocks, size, 1)
    system = xp.arange(prod(batch), dtype=np.int32, device=device).reshape(*batch, 1, 1, 1)
    flat = bands.astype(right.dtype).reshape(-1)
    result = []
    for start in (0, -size, size):
        column = np.arange(start, start + size, dtype=np.int32)
        away = xp.asarray(column - np.arange(size, dtype=np.int32)[:, None], device=device)
        diagonal = xp.clip(away + lower, 0, diagonals - 1)
        number = (system * diagonals + diagonal) * rows + xp.minimum(row, rows - 1)
        is_known = (row < rows) & (diagonal == away + lower)
        unit = ((row >= rows) & (away == 0)).astype(right.dtype)
        result.append(xp.where(is_known, elements_at(flat, number), unit))
    filled = xp.pad(right, [(0, 0)] * len(batch) + [(0, blocks * size - rows), (0, 0)])
    return [*result, filled.reshape(*batch, blocks, size, right.shape[-1])]


def banded_solution(bands: GpuArray, lower: int, right: GpuArray, *, definite: bool = False) -> GpuArray:
    """Return solutions of banded systems.

    Parameters
    ----------
    bands : GpuArray
        The diagonals, the lowest one first, of shape (..., D, N): ``bands[..., d, i]`` is ``a[..., i, i + d - lower]``.
    lower : int
        The number of diagonals below the main one.
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
    batch = broadcast_shapes(bands.shape[:-2], columns.shape[:-2])
    columns = columns.broadcast((*batch, *columns.shape[-2:]))
    bands = bands.broadcast((*batch, *bands.shape[-2:]))
    upper = bands.shape[-2] - 1 - lower
    size = max(lower, upper, 1)
    own, *others = _equations(bands, lower, size, columns)
    blocks, positive = _solved(own, others)
    solution = blocks.reshape(*batch, -1, columns.shape[-1])[..., : columns.shape[-2], :]
    if definite:
        check(~positive, lambda number: np.linalg.LinAlgError("leading minor not positive definite"), bands)
    result = solution[..., 0] if right.ndim == 1 else solution
    lost = _lost(bands, lower, columns, solution)
    if tracing.active() is not None or tape.batch_of(lost.node()) is not None:
        check(lost, lambda number: np.linalg.LinAlgError(f"singular matrix, or {INTERCHANGES}"))
        return result
    evaluate.evaluate_early([result.settled(), lost.settled()], result.device)
    if not evaluate.read(lost.node(), lost.device):
        return result
    lines = [moved(bands[..., lower + away, :], -away) for away in range(upper, -lower - 1, -1)]
    arguments = (lower, upper), xp.stack(lines, axis=-2), right
    computed: GpuArray = run_counted(scipy_linalg.solve_banded, INTERCHANGES, arguments, {})
    return computed


def _lost(bands: GpuArray, lower: int, right: GpuArray, solution: GpuArray) -> GpuArray:
    """Return whether the residual of a solution is more than rounding makes it."""
    lines = [bands[..., number, :, None] for number in range(bands.shape[-2])]
    rest = -right
    for number, line in enumerate(lines):
        rest = rest + line * _from(solution, number - lower)
    size = reduce(xp.add, map(xp.abs, lines))
    largest = xp.max(size, axis=-2, keepdims=True) * xp.max(xp.abs(solution), axis=-2, keepdims=True)
    largest = largest + xp.max(xp.abs(right), axis=-2, keepdims=True)
    return ~(xp.abs(rest) <= largest * (_GOOD * float(np.finfo(right.dtype).eps))).all()


def tridiagonal_solution(low: GpuArray, main: GpuArray, high: GpuArray, right: GpuArray) -> GpuArray:
    """Return :func:`banded_solution` of three diagonals, of shapes (..., N - 1), (..., N) and (..., N - 1)."""
    edge = xp.zeros((*main.shape[:-1], 1), main.dtype, device=main.device)
    lines = [xp.concat([edge, low], axis=-1), main, xp.concat([high, edge], axis=-1)]
    return banded_solution(xp.stack(lines, axis=-2), 1, right)
