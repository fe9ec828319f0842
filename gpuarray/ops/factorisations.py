"""Opaque rows of linear algebra: factorisations of matrices and what follows from them, by LAPACK through NumPy."""

from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import CallOp


def _lstsq(a: Any, b: Any, *, rcond: float | None) -> Any:
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=rcond)
    # where NumPy leaves the residuals out, the row still has that output; the rank tells that it means nothing
    columns = b.shape[1] if b.ndim == 2 else 1
    return x, residuals if residuals.size else np.zeros(columns, residuals.dtype), rank, s


cholesky: Final = CallOp(name="cholesky", numpy=np.linalg.cholesky, doc="Triangular factors of positive matrices.")
cond: Final = CallOp(name="cond", numpy=np.linalg.cond, doc="Condition numbers of matrices.")
det: Final = CallOp(name="det", numpy=np.linalg.det, doc="Determinants of matrices.")
eig: Final = CallOp(name="eig", numpy=np.linalg.eig, doc="Eigenvalues and right eigenvectors of matrices.")
eigh: Final = CallOp(name="eigh", numpy=np.linalg.eigh, doc="Eigenvalues and eigenvectors of Hermitian matrices.")
eigvals: Final = CallOp(name="eigvals", numpy=np.linalg.eigvals, doc="Eigenvalues of matrices.")
eigvalsh: Final = CallOp(name="eigvalsh", numpy=np.linalg.eigvalsh, doc="Eigenvalues of Hermitian matrices.")
inv: Final = CallOp(name="inv", numpy=np.linalg.inv, doc="Inverses of matrices.")
lstsq: Final = CallOp(name="lstsq", numpy=_lstsq, doc="Least squares, squared residuals, rank and singular values.")
qr: Final = CallOp(name="qr", numpy=np.linalg.qr, doc="Orthogonal and triangular factors of matrices.")
slogdet: Final = CallOp(name="slogdet", numpy=np.linalg.slogdet, doc="Signs and logarithms of determinants.")
solve: Final = CallOp(name="solve", numpy=np.linalg.solve, doc="Solutions of systems of linear equations.")
svd: Final = CallOp(name="svd", numpy=np.linalg.svd, doc="Singular values of matrices, and their vectors on request.")
