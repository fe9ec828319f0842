"""QR factors by Householder reflectors: panels by one workgroup for each matrix, products for the rest.

The reflectors of a panel, as columns of V, act together as ``I - V T V^H`` with an upper triangle T (Schreiber and Van
Loan, 1989). V has ones on its diagonal and zeros above, so that it is the operand of products.
"""

from dataclasses import dataclass

from gpuarray.codegen.calls.linear_algebra.blocks import move, update
from gpuarray.codegen.calls.linear_algebra.householder_panel import factorise_panel
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix


@dataclass(frozen=True)
class Reflectors:
    """The panels of reflectors: V, V T, their adjoints, and the triangles T, all of the columns of the factors."""

    v: Matrix
    adjoint: Matrix
    """The conjugates of V, transposed by its strides."""
    vt: Matrix
    vt_adjoint: Matrix
    t: Matrix
    scales: Matrix
    """One column: the numbers by which LAPACK scales its reflectors."""
    work: Matrix
    """The intermediate result of two products, with as many rows as a panel has columns."""


def factorise(builder: Builder, a: Matrix, widest: int = 0) -> Reflectors:
    """Factorise in place, for products with matrices of as many columns, or up to ``widest``.

    Make a matrix R in its upper triangle, and below it the reflectors but for their ones; return them.
    """
    steps, block, is_complex = min(a.rows, a.columns), builder.block, builder.dtype.kind == "c"
    v, vt = builder.matrix(a.rows, steps), builder.matrix(a.rows, steps)
    conj, conj_vt = (builder.matrix(a.rows, steps) if is_complex else x for x in (v, vt))
    q = Reflectors(
        v,
        conj.T,
        vt,
        conj_vt.T,
        builder.matrix(block, steps),
        builder.matrix(steps, 1),
        builder.matrix(block, max(widest, a.columns)),
    )
    for k in range(0, steps, block):
        end = min(k + block, steps)
        here = slice(k, end)
        factorise_panel(builder, a[k:, here], q, k)
        update(builder, vt[k:, here], v[k:, here], q.t[: end - k, here], sign=0)
        if is_complex:
            move(builder, vt[k:, here], conj_vt[k:, here], conjugated=True)
        apply(builder, q, a[k:, end:], k, end, adjoint=True)
    return q


def multiply(builder: Builder, q: Reflectors, x: Matrix, *, adjoint: bool = False) -> None:
    """Multiply the rows of a matrix by Q, or by its adjoint, in place."""
    steps, block = q.v.columns, q.work.rows
    starts = range(0, steps, block)
    for k in starts if adjoint else reversed(starts):
        apply(builder, q, x[k:, :], k, min(k + block, steps), adjoint=adjoint)


def apply(builder: Builder, q: Reflectors, x: Matrix, begin: int, end: int, *, adjoint: bool) -> None:
    """Multiply by the reflectors of a panel, ``x -= (V T) V^H x``, or by their adjoint, ``x -= V (V T)^H x``."""
    if not x.columns:
        return
    here = slice(begin, end)
    work = q.work[: end - begin, : x.columns]
    left, right = (q.v, q.vt_adjoint) if adjoint else (q.vt, q.adjoint)
    update(builder, work, right[here, begin:], x, sign=0)
    update(builder, x, left[begin:, here], work)
