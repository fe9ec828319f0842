"""Linear algebra: the ``linalg`` extension of the Array API standard, and the other functions of :mod:`numpy.linalg`.

All functions but :func:`eig` and :func:`eigvals` run where the array is: on GPUs by kernels in the precision of the
dtype, in-process by LAPACK. Factorisations run when they are called, as their errors depend on values. Those two run on
the host, and are counted as fallbacks.
"""

from numpy.linalg import LinAlgError

from gpuarray.functions.factorisations import (
    EighResult,
    EigResult,
    QRResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
)
from gpuarray.functions.linalg_products import cross, diagonal, multi_dot, outer, trace
from gpuarray.functions.linear_systems import (
    LstsqResult,
    SlogdetResult,
    det,
    inv,
    lstsq,
    matrix_power,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)
from gpuarray.functions.norms import matrix_norm, norm, vector_norm
from gpuarray.functions.products import matmul, matrix_transpose, tensordot, vecdot
from gpuarray.functions.singular_values import SVDResult, cond, matrix_rank, pinv, svd, svdvals

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "LstsqResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
