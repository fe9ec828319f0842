"""Calls of linear algebra: factorisations of matrices and functions of their factors, by LAPACK through NumPy."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gpuarray.ops.columns import Shapes, Work
from gpuarray.ops.spec import CallOp


def _lstsq(a: Any, b: Any, *, rcond: float | None) -> Any:
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=rcond)
    # where NumPy leaves the residuals out, the call still has that output; the rank tells that it means nothing
    columns = b.shape[1] if b.ndim == 2 else 1
    return x, residuals if residuals.size else np.zeros(columns, residuals.dtype), rank, s


def _by_matrix(function: Callable[..., Any], outputs: Any, *stacks: Any) -> Any:
    """Call a function of single matrices for each matrix of stacks, and write its first results to outputs."""
    for index in np.ndindex(stacks[0].shape[:-2]):
        for output, result in zip(outputs, function(*(stack[index] for stack in stacks)), strict=False):
            output[index] = result
    return outputs


def _lu(a: Any) -> Any:
    # NumPy has no function for the factors; SciPy calls LAPACK's
    from scipy.linalg.lapack import get_lapack_funcs

    (getrf,) = get_lapack_funcs(("getrf",), (a,))
    batch, least = a.shape[:-2], min(a.shape[-2:])
    outputs = np.empty(a.shape, getrf.dtype), np.empty((*batch, least), np.int32), np.zeros(batch, np.int32)
    return _by_matrix(getrf, outputs, a) if a.size else outputs


def _row_order(pivots: Any, *, rows: int, inverse: bool) -> Any:
    order = np.empty((*pivots.shape[:-1], rows), np.int32)
    order[...] = np.arange(rows)
    for step in range(pivots.shape[-1]):
        target = pivots[..., step, None]
        here = order[..., step].copy()
        order[..., step] = np.take_along_axis(order, target, -1)[..., 0]
        np.put_along_axis(order, target, here[..., None], -1)
    return np.argsort(order, -1).astype(np.int32) if inverse else order


def _solve_triangular(a: Any, b: Any, *, lower: bool, unit: bool, transposed: bool) -> Any:
    from scipy.linalg.lapack import get_lapack_funcs

    (trtrs,) = get_lapack_funcs(("trtrs",), (a, b))
    solutions = np.empty(b.shape, trtrs.dtype)
    if not b.size:
        return solutions

    # LAPACK's matrices have their columns one after the other: it gets the transposes
    def solve(triangle: Any, right: Any) -> Any:
        return trtrs(triangle.T, right, lower=not lower, trans=not transposed, unitdiag=unit)

    (solution,) = _by_matrix(solve, (solutions,), a, b)
    return solution


def _cubic(operands: Shapes, _results: Shapes) -> int:
    """Return n**3 for each matrix of the first operand, of n rows and columns or more."""
    *batch, rows, columns = operands[0]
    return prod(batch) * rows * columns * max(rows, columns)


def _size_of_results(_operands: Shapes, results: Shapes) -> int:
    """Return the number of elements of the results."""
    return sum(map(prod, results))


def _op(name: str, numpy: Callable[..., Any], doc: str) -> CallOp:
    return CallOp(name=name, numpy=numpy, doc=doc, work=Work.PRODUCT, cost=_cubic)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns a status too: 0 for each matrix, as NumPy raises an error for any other."""

    def call(a: Any, *others: Any, **parameters: Any) -> Any:
        results = function(a, *others, **parameters)
        return *(results if isinstance(results, tuple) else (results,)), np.zeros(a.shape[:-2], np.int32)

    return call


cholesky = _op("cholesky", _checked(np.linalg.cholesky), "Triangular factors of positive matrices.")
cond = _op("cond", _checked(np.linalg.cond), "Condition numbers of matrices.")
det = _op("det", np.linalg.det, "Determinants of matrices.")
eig = _op("eig", np.linalg.eig, "Eigenvalues and right eigenvectors of matrices.")
eigh = _op("eigh", _checked(np.linalg.eigh), "Eigenvalues and eigenvectors of Hermitian matrices.")
eigvals = _op("eigvals", np.linalg.eigvals, "Eigenvalues of matrices.")
eigvalsh = _op("eigvalsh", _checked(np.linalg.eigvalsh), "Eigenvalues of Hermitian matrices.")
inv = _op("inv", _checked(np.linalg.inv), "Inverses of matrices.")
lu = _op("lu", _lu, "LU factors of matrices in one array, and the rows that were pivots.")
lstsq = _op("lstsq", _checked(_lstsq), "Least squares, squared residuals, rank and singular values.")
qr = _op("qr", np.linalg.qr, "Orthogonal and triangular factors of matrices.")
row_order = CallOp(
    name="row_order",
    numpy=_row_order,
    doc="The order of rows after interchanges, or its inverse.",
    work=Work.GATHER,
    cost=_size_of_results,
)
slogdet = _op("slogdet", np.linalg.slogdet, "Signs and logarithms of determinants.")
solve = _op("solve", _checked(np.linalg.solve), "Solutions of systems of linear equations.")
solve_triangular = _op("solve_triangular", _solve_triangular, "Solutions of triangular systems of linear equations.")
svd = _op("svd", _checked(np.linalg.svd), "Singular values of matrices, and their vectors on request.")
