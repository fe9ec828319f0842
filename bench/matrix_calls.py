"""The calls of ``bench.functions`` for ``numpy.linalg`` and ``scipy.linalg``: every function, as text.

The size of a call is the number of rows of its matrices. :func:`calls` returns those of NumPy's functions,
and :func:`scipy_calls` those of SciPy's.
"""

from typing import Any, Final

import numpy as np
from scipy import linalg

#: Default numbers of rows.
SIZES: Final = (2, 4, 16, 64, 256, 1000)
NUMPY: Final = """
cholesky(S)
cholesky(Q)
cond(A)
cond(A, 1)
cond(Q, "fro")
cross(X, X)
det(A)
det(Q)
diagonal(A)
eig(A)
eigh(S)
eigh(Q)
eigvals(A)
eigvalsh(S)
inv(A)
inv(Q)
lstsq(A, a)
lstsq(R, r)
matmul(A, A)
matrix_norm(A)
matrix_norm(A, ord=2)
matrix_power(A, 3)
matrix_power(A, -1)
matrix_rank(A)
matrix_transpose(A)
multi_dot([A, A, a])
norm(A)
norm(a)
norm(A, 1)
norm(A, "nuc")
norm(A, axis=1)
outer(a, a)
pinv(A)
pinv(S, hermitian=True)
qr(A)
qr(R)
qr(R, "complete")
qr(A, "r")
qr(Q)
slogdet(A)
solve(A, a)
solve(A, A)
solve(Q, Q)
svd(A)
svd(R, False)
svd(A, compute_uv=False)
svd(Q)
svdvals(A)
tensordot(A, A, axes=1)
tensorinv(A, 1)
tensorsolve(A, a)
trace(A)
vecdot(A, A)
vector_norm(a)
"""
SCIPY: Final = """
bandwidth(A)
block_diag(A, A)
cho_factor(S)
cho_solve((F, True), a)
cho_solve_banded((K, False), a)
cholesky(S)
cholesky(Q)
cholesky_banded(B)
circulant(a)
companion(a + 1)
convolution_matrix(a, 9)
cosm(N)
coshm(N)
det(A)
det(Q)
dft(n)
diagsvd(a, n, n)
eig(A)
eigh(S)
eigh(S, subset_by_index=[0, 1])
eigh(S, S)
eigvals(A)
eigvalsh(S)
expm(N)
expm_frechet(N, N)
fiedler(a)
fractional_matrix_power(S, .5)
hadamard(n)
hankel(a)
helmert(n)
hessenberg(A)
hilbert(n)
inv(A)
inv(S, assume_a="pos")
inv(Q)
ishermitian(S)
issymmetric(S)
khatri_rao(A, A)
ldl(S)
leslie(a, a[1:])
logm(S)
lstsq(A, a)
lstsq(R, r)
lu(A)
lu(Q)
lu_factor(A)
lu_solve((L, p), a)
matmul_toeplitz(a, a)
norm(A)
norm(a)
null_space(R.T)
orth(A)
orthogonal_procrustes(A, S)
pascal(9)
pinv(A)
pinvh(S)
polar(A)
qr(A)
qr(R, mode="economic")
qr(A, mode="r")
qr(A, pivoting=True)
schur(A)
sinm(N)
solve(A, a)
solve(A, A)
solve(S, a, assume_a="pos")
solve(Q, Q)
solve_banded((1, 1), T, a)
solve_circulant(a, a)
solve_sylvester(A, S, A)
solve_toeplitz(t, a)
solve_triangular(F, a, lower=True)
solve_triangular(F, A, lower=True)
solveh_banded(B, a)
sqrtm(S)
subspace_angles(R, R)
svd(A)
svd(R, full_matrices=False)
svd(A, compute_uv=False)
svdvals(A)
toeplitz(a)
toeplitz(a, a)
"""


def calls() -> list[str]:
    """Return the calls of NumPy's functions."""
    return NUMPY.strip().splitlines()


def scipy_calls() -> list[str]:
    """Return the calls of SciPy's functions."""
    return SCIPY.strip().splitlines()


def operands(size: int) -> dict[str, Any]:
    """Return the operands of calls for matrices of ``size`` rows, by name.

    ``A``, ``S`` and ``N`` are general, positive definite and of a small norm, ``R`` has half as many columns, and
    ``X`` has three. ``Q`` is a stack of eight positive definite matrices, with 64 rows at the most. ``F`` is the
    Cholesky factor of ``S``, and ``L`` and ``p`` are the LU factors of ``A``. ``T``, ``B`` and ``K`` are the
    diagonals of a tridiagonal matrix, of a positive definite one, and of its Cholesky factor. The vectors ``a``, ``r``
    and ``t``, whose first element is large, have as many elements as ``A`` has rows.
    """
    random = np.random.default_rng(0)
    general = random.random((size, size)) + 2 * np.sqrt(size) * np.eye(size)
    noise = random.random((size, size))
    positive = noise @ noise.T + size * np.eye(size)
    small = min(size, 64)
    a, bands = random.random(size), random.random((3, size))
    bands[1] += 3
    banded = bands[:2].copy()
    lu, pivots = linalg.lu_factor(general)
    return {
        **{"n": size, "A": general, "S": positive, "N": noise / size, "R": noise[:, : max(1, size // 2)].copy()},
        **{
            "X": random.random((size, 3)),
            "Q": np.stack([positive[:small, :small] + k * np.eye(small) for k in range(8)]),
        },
        **{"F": linalg.cholesky(positive, lower=True), "L": lu, "p": pivots},
        **{"T": bands, "B": banded, "K": linalg.cholesky_banded(banded)},
        **{"a": a, "r": random.random(size), "t": a + size * (np.arange(size) == 0)},
    }
