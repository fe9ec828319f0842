"""Creation functions that take arrays, triangles, diagonals: what NumPy gives for its own arrays."""

import numpy as np
import pytest
from numpy_samples import A, K, T, V, label

CASES = [
    lambda p: np.zeros_like(p(A)),
    lambda p: np.ones_like(p(A), dtype=np.int8),
    lambda p: np.full_like(p(K), 7.9),
    lambda p: np.full_like(p(A), p(A[0])),
    lambda p: np.zeros_like(p(A), shape=(2, 2)),
    lambda p: np.copy(p(A)),
    lambda p: np.astype(p(A), np.float32),
    lambda p: np.linspace(p(np.array(1.0)), 4.0, 7),
    lambda p: np.linspace(p(V[:2]), p(V[2:4]), 5, axis=1),
    lambda p: np.linspace(0, p(np.array(9.0)), 4, False, True),
    lambda p: np.linspace(p(np.array(0)), 10, 5, dtype=int),
    lambda p: np.logspace(p(np.array(0.0)), 2, 5),
    lambda p: np.meshgrid(p(V[:3]), p(V[:2])),
    lambda p: np.meshgrid(p(V[:3]), p(V[:2]), indexing="ij", sparse=True),
    lambda p: np.tril(p(A)),
    lambda p: np.triu(p(T), 1),
    lambda p: np.tril(p(V[:3]), -1),
    lambda p: np.vander(p(V[:4])),
    lambda p: np.vander(p(K[0]), 3, increasing=True),
    lambda p: np.diag(p(V[:3])),
    lambda p: np.diag(p(V[:3]), -1),
    lambda p: np.diag(p(A), 1),
    lambda p: np.diagflat(p(A), 2),
    lambda p: np.diagonal(p(T), 1, 1, 2),
    lambda p: np.diagonal(p(A), -1),
    lambda p: np.trace(p(A)),
    lambda p: np.trace(p(T), axis1=1, axis2=2),
    lambda p: np.linalg.diagonal(p(T)),
    lambda p: np.linalg.trace(p(T)),
    lambda p: np.geomspace(p(np.array(1.0)), 8, 4),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_function_agrees_with_numpy(case, agree):
    agree(case)
