"""Products, norms, linear algebra, transforms: NumPy's arrays and ours give the same dtypes, shapes and values."""

import numpy as np
import pytest
from numpy_samples import A, B, C, F, K, R, S, T, V, label


def _of_eigenvectors(values, vectors):
    """Return what the signs of vectors, which are arbitrary, do not change."""
    return values, abs(vectors), (vectors * values) @ vectors.T


def _of_singular_vectors(left, values, right):
    return values, abs(left), abs(right), (left * values) @ right


CASES = [
    lambda p: np.dot(p(A), p(S)),
    lambda p: np.dot(p(V), p(V)),
    lambda p: np.dot(p(T), p(S)),
    lambda p: np.dot(p(A), 2),
    lambda p: np.dot(p(F), p(F.T)),
    lambda p: np.inner(p(A), p(B)),
    lambda p: np.inner(p(T), p(A)),
    lambda p: np.outer(p(V), p(A)),
    lambda p: np.vdot(p(C), p(C[::-1])),
    lambda p: np.matmul(p(T), p(S)),
    lambda p: np.tensordot(p(T), p(S), 1),
    lambda p: np.tensordot(p(T), p(T), ([0, 2], [0, 2])),
    lambda p: np.tensordot(p(A), p(V), 0),
    lambda p: np.kron(p(A), p(S)),
    lambda p: np.kron(p(V), p(A)),
    lambda p: np.cross(p(A[:, :3]), p(B[:, :3])),
    lambda p: np.cross(p(A), p(B), axis=0),
    lambda p: np.vecdot(p(C), p(A)),
    lambda p: np.einsum("ij,ij->i", p(A), p(B)),
    lambda p: np.einsum("ij,kj->ik", p(A), p(B)),
    lambda p: np.einsum("ii->i", p(S)),
    lambda p: np.einsum("ii", p(S)),
    lambda p: np.einsum("ij->ji", p(A)),
    lambda p: np.einsum("bij,bjk->bik", p(T), p(R)),
    lambda p: np.einsum("ij,jk,kl->il", p(A), p(S), p(S)),
    lambda p: np.einsum("i,j->ij", p(V), p(V)),
    lambda p: np.einsum("ij,ji", p(S), p(S)),
    lambda p: np.einsum("bij->b", p(T)),
    lambda p: np.einsum("...ij->...", p(T)),
    lambda p: np.einsum("i,i,i->", p(V), p(V), p(V)),
    lambda p: np.einsum("ij,ij->", p(A[:0]), p(B[:0])),
    lambda p: np.einsum("ij,kj->ik", p(A[:, :0]), p(B[:, :0])),
    lambda p: np.einsum("ij,j->ij", p(A[:, :1]), p(V[:0])),
    lambda p: np.linalg.multi_dot([p(A), p(S), p(B.T)]),
    lambda p: np.linalg.matrix_power(p(S), 3),
    lambda p: np.linalg.matrix_power(p(S), -2),
    lambda p: np.linalg.matrix_power(p(S), 0),
    lambda p: np.linalg.norm(p(A)),
    lambda p: np.linalg.norm(p(V), 3),
    lambda p: np.linalg.norm(p(A), axis=1),
    lambda p: np.linalg.norm(p(A), 1),
    lambda p: np.linalg.norm(p(A), np.inf, (0, 1), True),
    lambda p: np.linalg.norm(p(A), 2),
    lambda p: np.linalg.norm(p(C), "fro"),
    lambda p: np.linalg.norm(p(V), -np.inf),
    lambda p: np.linalg.norm(p(K), 0, axis=0),
    lambda p: np.linalg.norm(p(F), axis=0),
    lambda p: np.linalg.vector_norm(p(T), axis=(0, 1)),
    lambda p: np.linalg.matrix_norm(p(T), ord=-1),
    lambda p: np.linalg.outer(p(V), p(V)),
    lambda p: np.linalg.matmul(p(A), p(S)),
    lambda p: np.linalg.vecdot(p(A), p(B), axis=0),
    lambda p: np.linalg.cross(p(A[:, :3]), p(B[:, :3])),
    lambda p: np.linalg.tensordot(p(A), p(S), axes=1),
    lambda p: np.linalg.matrix_transpose(p(A)),
    lambda p: np.linalg.inv(p(S)),
    lambda p: np.linalg.solve(p(S), p(A.T)),
    lambda p: _of_eigenvectors(*np.linalg.eigh(p(S + S.T))),
    lambda p: _of_singular_vectors(*np.linalg.svd(p(A), full_matrices=False)),
    lambda p: np.linalg.det(p(S)),
    lambda p: np.fft.fft(p(A)),
    lambda p: np.fft.irfft(p(C)),
    lambda p: np.convolve(p(V), p(V[:3])),
    lambda p: np.correlate(p(V), p(V[:3])),
    lambda p: np.polyval(p(V[:4]), p(A)),
    lambda p: np.polyfit(p(V), p(V**2), 2),
    lambda p: np.lib.stride_tricks.sliding_window_view(p(V), 3),
    lambda p: np.lib.scimath.sqrt(p(V)),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_function_agrees_with_numpy(case, agree):
    agree(case)
