"""Selection, order, sets and bins: NumPy's arrays and ours give the same dtypes, shapes and values."""

import numpy as np
import pytest
from numpy_samples import A, B, K, M, U, V, label

CASES = [
    lambda p: np.take(p(A), p(np.array([0, -1, 5]))),
    lambda p: np.take(p(A), [[0, 1], [2, 0]], axis=0),
    lambda p: np.take(p(A), 2, axis=1),
    lambda p: np.take(p(V), [13, -14], mode="wrap"),
    lambda p: np.take(p(V), p(np.array([13, -14])), mode="clip"),
    lambda p: np.take_along_axis(p(A), p(np.argsort(A, 1)), 1),
    lambda p: np.take_along_axis(p(A), np.argsort(A, 0), 0),
    lambda p: np.compress([True, False, True], p(A), axis=0),
    lambda p: np.extract(p(M), p(A)),
    lambda p: np.choose(p(U[:1] % 2), [p(A), p(B)]),
    lambda p: np.sort(p(A)),
    lambda p: np.argsort(p(A), axis=0),
    lambda p: np.partition(p(V), 3)[3],
    lambda p: np.searchsorted(p(np.sort(V)), p(A)),
    lambda p: np.unique(p(U)),
    lambda p: np.unique(p(U), return_counts=True),
    lambda p: np.nonzero(p(M)),
    lambda p: np.flatnonzero(p(M)),
    lambda p: np.argwhere(p(M)),
    lambda p: np.lexsort((p(V), p(V[::-1]))),
    lambda p: np.isin(p(U), [1, 2, 3]),
    lambda p: np.union1d(p(U), p(K)),
    lambda p: np.digitize(p(V), p(np.array([-1.0, 0.0, 1.0]))),
    lambda p: np.histogram(p(V), 5),
    lambda p: np.bincount(p(U.ravel().astype(np.int64))),
    lambda p: np.apply_along_axis(np.sort, 1, p(A)),
    lambda p: np.packbits(p(M)),
    lambda p: np.trim_zeros(p(U[0])),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_function_agrees_with_numpy(case, agree):
    agree(case)
