"""Cholesky factors: blocks of the diagonal in registers, and products for the rest."""

from gpuarray.codegen.calls.linear_algebra import small
from gpuarray.codegen.calls.linear_algebra.blocks import substitute, update
from gpuarray.codegen.calls.linear_algebra.matrices import Buffer, Frame, Matrix


def factorise(frame: Frame, a: Matrix, status: Buffer) -> None:
    """Make the lower triangle of a Hermitian matrix its factor, in place; what is above the diagonal has no meaning."""
    n, block = a.rows, frame.block
    team = small.team_of(block, frame.dtype, frame.capabilities)
    assert team is not None
    for k in range(0, n, block):
        here, rest = slice(k, min(k + block, n)), slice(k + block, n)
        small.cholesky(frame, team, a[here, here], a[here, here], status, done=k)
        if k + block < n:
            substitute(frame, a[here, here], a[rest, here].T, adjoint=True, mirror=a[here, rest])
            update(frame, a[rest, rest], a[rest, here], a[here, rest], lower=True)
