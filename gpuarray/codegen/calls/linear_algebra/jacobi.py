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
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Builder, Matrix, StepBuffer
from gpuarray.codegen.calls.linear_algebra.meetings import sweep, tournament
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.calls.linear_algebra.rounds import ALONE, turn_all
from gpuarray.codegen.calls.linear_algebra.scaling import scale
from gpuarray.codegen.storage import LANES

#: Most sweeps in which blocks meet.
_SWEEPS = 20


def orthogonalise(builder: Builder, a: Matrix, status: StepBuffer, *, vectors: bool = False) -> Columns:
    """Return columns that are orthogonal, made of those of a matrix, which may be overwritten.

    The status becomes 1 if the last sweep turned columns, or a length is not finite.
    """
    if a.columns <= ALONE:
        return _turned(builder, a, status, vectors=vectors)
    left, lower = _triangle(builder, a)
    right, core = _triangle(builder, lower)
    columns = _turned(builder, core, status, vectors=vectors)
    if columns.vectors is None:
        return columns
    work = columns.work
    if a.rows > a.columns:
        work = builder.matrix(a.rows, a.columns)
        move(builder, work, work, IDENTITY)
        move(builder, columns.work, work[: a.columns, :])
    multiply(builder, left, work)
    multiply(builder, right, columns.vectors)
    return replace(columns, work=work)


def _triangle(builder: Builder, a: Matrix) -> tuple[Reflectors, Matrix]:
    """Return the factor Q of a matrix, which is overwritten, and the adjoint of R."""
    q = factorise(builder, a)
    lower = builder.matrix(a.columns, a.columns)
    move(builder, a[: a.columns, :].T, lower, LOWER, conjugated=True)
    return q, lower


def _turned(builder: Builder, a: Matrix, status: StepBuffer, *, vectors: bool) -> Columns:
    """Return columns that are orthogonal, after rotations of those of a matrix."""
    n, real = a.columns, Numbers(builder.dtype).real_dtype
    turned = builder.buffer(builder.batch * _SWEEPS, INDEX)
    both, work, v = _columns(builder, a, vectors=vectors)
    scales = scale(builder, both, a.rows, turned)
    columns = Columns(
        work, v, scales, builder.buffer(builder.batch * n, real), builder.buffer(builder.batch * n, INDEX)
    )
    if n <= ALONE:
        turn_all(builder, both, a.rows, turned)
    else:
        blocks = tournament(builder, both, a.rows, turned, _SWEEPS)
        for number in range(_SWEEPS):
            sweep(builder, blocks, number)
    measure(builder, work, columns.lengths)
    if v is not None:
        units = builder.buffer(builder.batch * n, real)
        measure(builder, v, units)
        normalise(builder, v, units)
    sort(builder, columns, turned, 0 if n <= ALONE else _SWEEPS - 1, status)
    return columns


def _columns(builder: Builder, a: Matrix, *, vectors: bool) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return a copy of the columns with room for V below, so that what turns the former turns the latter, and both."""
    below = -(-a.rows // LANES) * LANES
    both = builder.matrix(below + a.columns if vectors else a.rows, a.columns)
    work, v = both[: a.rows, :], both[below:, :] if vectors else None
    move(builder, a, work)
    return both, work, v
