"""Singular values by Jacobi's method on columns (Hestenes, 1958).

Rotations of two columns make these orthogonal, until all are. The matrix is then U S, and the product of the rotations
is V. One workgroup turns few columns in one launch, in the rounds of a tournament; of more columns, blocks meet each
other (:mod:`gpuarray.codegen.calls.linear_algebra.meetings`).

The columns of a triangle, of which a QR factorisation was made twice, are nearly orthogonal already (Drmac and Veselic,
2008): A = Q R, R^H = Q' R', and the columns of R'^H are turned. Others may take many sweeps, as those of a matrix whose
rows are of different sizes.
"""

from dataclasses import replace

from gpuarray.codegen.calls.linear_algebra.blocks import IDENTITY, LOWER, move
from gpuarray.codegen.calls.linear_algebra.columns import Columns, measure, normalise, sort
from gpuarray.codegen.calls.linear_algebra.householder import Reflectors, factorise, multiply
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Buffer, Frame, Matrix
from gpuarray.codegen.calls.linear_algebra.meetings import sweep, tournament
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.calls.linear_algebra.rounds import ALONE, turn_all
from gpuarray.codegen.calls.linear_algebra.scaling import scale
from gpuarray.codegen.storage import LANES

#: Most sweeps in which blocks meet.
_SWEEPS = 20


def orthogonalise(frame: Frame, a: Matrix, status: Buffer, *, vectors: bool = False) -> Columns:
    """Return columns that are orthogonal, made of those of a matrix, which may be overwritten.

    The status becomes 1 if the last sweep turned columns, or a length is not finite.
    """
    if a.columns <= ALONE:
        return _turned(frame, a, status, vectors=vectors)
    left, lower = _triangle(frame, a)
    right, core = _triangle(frame, lower)
    columns = _turned(frame, core, status, vectors=vectors)
    if columns.vectors is None:
        return columns
    work = columns.work
    if a.rows > a.columns:
        work = frame.matrix(a.rows, a.columns)
        move(frame, work, work, IDENTITY)
        move(frame, columns.work, work[: a.columns, :])
    multiply(frame, left, work)
    multiply(frame, right, columns.vectors)
    return replace(columns, work=work)


def _triangle(frame: Frame, a: Matrix) -> tuple[Reflectors, Matrix]:
    """Return the factor Q of a matrix, which is overwritten, and the adjoint of R."""
    q = factorise(frame, a)
    lower = frame.matrix(a.columns, a.columns)
    move(frame, a[: a.columns, :].T, lower, LOWER, conjugated=True)
    return q, lower


def _turned(frame: Frame, a: Matrix, status: Buffer, *, vectors: bool) -> Columns:
    """Return columns that are orthogonal, after rotations of those of a matrix."""
    n, real = a.columns, Numbers(frame.dtype).real_dtype
    turned = frame.buffer(frame.batch * _SWEEPS, INDEX)
    both, work, v = _columns(frame, a, vectors=vectors)
    scales = scale(frame, both, a.rows, turned)
    columns = Columns(work, v, scales, frame.buffer(frame.batch * n, real), frame.buffer(frame.batch * n, INDEX))
    if n <= ALONE:
        turn_all(frame, both, a.rows, turned)
    else:
        blocks = tournament(frame, both, a.rows, turned, _SWEEPS)
        for number in range(_SWEEPS):
            sweep(frame, blocks, number)
    measure(frame, work, columns.lengths)
    if v is not None:
        units = frame.buffer(frame.batch * n, real)
        measure(frame, v, units)
        normalise(frame, v, units)
    sort(frame, columns, turned, 0 if n <= ALONE else _SWEEPS - 1, status)
    return columns


def _columns(frame: Frame, a: Matrix, *, vectors: bool) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return a copy of the columns with room for V below, so that what turns the former turns the latter, and both."""
    below = -(-a.rows // LANES) * LANES
    both = frame.matrix(below + a.columns if vectors else a.rows, a.columns)
    work, v = both[: a.rows, :], both[below:, :] if vectors else None
    move(frame, a, work)
    return both, work, v
