"""Calls of linear algebra: factorisations of matrices and what follows from them, by LAPACK through NumPy."""

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


def _cubic(operands: Shapes, _results: Shapes) -> int:
    """Return n**3 for each matrix of the first operand, of n rows and columns or more."""
    *batch, rows, columns = operands[0]
    return prod(batch) * rows * columns * max(rows, columns)


def _op(name: str, numpy: Callable[..., Any], doc: str) -> CallOp:
    return CallOp(name=name, numpy=numpy, doc=doc, work=Work.PRODUCT, cost=_cubic)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns a status too: 0 for each matrix, as NumPy raises an error for any other."""

    def call(a: Any, *others: Any, **parameters: Any) -> Any:
        found = function(a, *others, **parameters)
        return *(found if isinstance(found, tuple) else (found,)), np.zeros(a.shape[:-2], np.int32)

    return call


cholesky = _op("cholesky", _checked(np.linalg.cholesky), "Triangular factors of positive matrices.")
cond = _op("cond", _checked(np.linalg.cond), "Condition numbers of matrices.")
det = _op("det", np.linalg.det, "Determinants of matrices.")
eig = _op("eig", np.linalg.eig, "Eigenvalues and right eigenvectors of matrices.")
eigh = _op("eigh", _checked(np.linalg.eigh), "Eigenvalues and eigenvectors of Hermitian matrices.")
eigvals = _op("eigvals", np.linalg.eigvals, "Eigenvalues of matrices.")
eigvalsh = _op("eigvalsh", _checked(np.linalg.eigvalsh), "Eigenvalues of Hermitian matrices.")
inv = _op("inv", _checked(np.linalg.inv), "Inverses of matrices.")
lstsq = _op("lstsq", _checked(_lstsq), "Least squares, squared residuals, rank and singular values.")
qr = _op("qr", np.linalg.qr, "Orthogonal and triangular factors of matrices.")
slogdet = _op("slogdet", np.linalg.slogdet, "Signs and logarithms of determinants.")
solve = _op("solve", _checked(np.linalg.solve), "Solutions of systems of linear equations.")
svd = _op("svd", _checked(np.linalg.svd), "Singular values of matrices, and their vectors on request.")
