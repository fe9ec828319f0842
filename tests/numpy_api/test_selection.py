"""Selection, order, sets and bins: NumPy's arrays and ours give the same dtypes, shapes and values."""

import numpy as np
import pytest
from numpy_samples import A, B, K, M, U, V, label

WITH_NAN = np.array([1.5, np.nan, 0.5, np.nan, 1.5, 7.0])

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
    lambda p: np.compress(p(np.array([0, 1])), p(A), axis=1),
    lambda p: np.compress(p(M.ravel()), p(A)),
    lambda p: p(A).compress(p(np.array([1, 0, 1])), 0),
    lambda p: np.extract([1, 0, 1], p(A)),
    lambda p: np.unique(p(U), True, True, True),
    lambda p: np.unique(p(WITH_NAN), True, False, True),
    lambda p: np.unique(p(WITH_NAN), True, False, True, equal_nan=False),
    lambda p: np.unique(p(U), axis=0),
    lambda p: np.intersect1d(p(U), p(K)),
    lambda p: np.intersect1d(p(U), p(U[0]), return_indices=True),
    lambda p: np.intersect1d(p(np.arange(4)), p(np.arange(2, 9)), assume_unique=True, return_indices=True),
    lambda p: np.setdiff1d(p(U), p(U[0])),
    lambda p: np.setdiff1d(p(U[0]), p(U[1]), assume_unique=True),
    lambda p: np.setxor1d(p(U), p(K)),
    lambda p: np.setxor1d(p(WITH_NAN), p(WITH_NAN[:4])),
    lambda p: np.isin(p(U), p(K), invert=True, kind="sort"),
    lambda p: np.digitize(p(V), [1.0, 0.0, -1.0], right=True),
    lambda p: np.digitize(p(V), [1.0, 1.0, 2.0]),
    lambda p: np.bincount(p(np.array([], np.int8)), minlength=3),
    lambda p: np.bincount(p(np.array([3, 1, 3], np.uint64)), minlength=6),
    lambda p: np.bincount(p(np.array([True, False, True]))),
    lambda p: np.bincount(p(np.array([3, 1, 3])), p(np.array([0.5, 1.0, 2.0]))),
    lambda p: np.histogram(p(U)),
    lambda p: np.histogram(p(V), 4, (-0.5, 0.5)),
    lambda p: np.histogram(p(WITH_NAN), p(np.array([0.0, 1.0, 1.5, 9.0]))),
    lambda p: np.histogram(p(V), [-1, 0, 1], density=True),
    lambda p: np.histogram(p(V), 3, weights=p(V)),
    lambda p: np.histogram(p(V), "sturges"),
    lambda p: np.histogram_bin_edges(p(V), 6),
    lambda p: np.histogram(p(V[:0])),
    lambda p: np.trim_zeros(p(np.pad(A, 2)), "f", axis=1),
    lambda p: np.trim_zeros(p(np.pad(A, 2))),
    lambda p: np.trim_zeros(p(A * 0), "b"),
]

WRONG = [
    (lambda p: np.bincount(p(np.array([1, -1]))), ValueError),
    (lambda p: np.bincount(p(V)), TypeError),
    (lambda p: np.bincount(p(np.array([[1]]))), ValueError),
    (lambda p: np.bincount(p(np.array([1])), minlength=-1), ValueError),
    (lambda p: np.digitize(p(V), p(np.array([0.0, 2.0, 1.0]))), ValueError),
    (lambda p: np.digitize(p(V + 0j), [0.0]), TypeError),
    (lambda p: np.histogram(p(V), p(np.array([1.0, 0.0]))), ValueError),
    (lambda p: np.histogram(p(WITH_NAN), 3), ValueError),
    (lambda p: np.histogram(p(V), 0), ValueError),
    (lambda p: np.compress(p(np.ones(9, bool)), p(A), axis=0), IndexError),
    (lambda p: np.compress(p(M), p(A)), ValueError),
    (lambda p: np.trim_zeros(p(V), "x"), ValueError),
    (lambda p: np.place(p(A), p(M), []), ValueError),
    (lambda p: np.place(p(A), p(M[0]), [1.0]), ValueError),
]


@pytest.mark.parametrize(("case", "error"), WRONG, ids=range(len(WRONG)))
def test_function_refuses_what_numpy_refuses(case, error, put):
    with pytest.raises(error):
        case(np.array)
    with pytest.raises(error):
        case(put)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_function_agrees_with_numpy(case, agree):
    agree(case)
