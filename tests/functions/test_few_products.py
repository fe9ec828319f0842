"""Powers, chains, contractions and norms of small arrays of NumPy are those of NumPy, bit for bit."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.functions import few_products

DTYPES = ("?", "i4", "f4", "f8", "c8")
RNG = np.random.default_rng(5)
TENSOR = 3 * RNG.normal(size=(4, 5, 5))
ERRORS = (ValueError, IndexError)  # LinAlgError and AxisError among them
CONTRACTIONS = [
    ((4, 5, 3), (3, 5, 2), ([1, 2], [1, 0])), ((4, 5, 3), (3, 5, 2), ((-2,), (1,))), ((4, 5, 3), (3, 5, 2), 1),
    ((4, 5), (4, 5), 2), ((4, 5), (3, 2), 0), ((4, 5), (5, 4), (1, 0)), ((7,), (7,), 1),
]  # fmt: skip


def assert_identical(result, expected):
    assert type(result) is type(expected)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(result, expected, strict=True)


def of_shape(shape, dtype):
    return (3 * RNG.normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("one", "two", "axes"), CONTRACTIONS)
def test_contractions(one, two, axes, dtype):
    for a, b in ((of_shape(one, dtype), of_shape(two, dtype)), (of_shape(one[::-1], dtype).T, of_shape(two, "f8"))):
        assert_identical(few_products.tensordot(a, b, axes), np.tensordot(a, b, axes))


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("vectors", ["", "first", "last", "both"])
@pytest.mark.parametrize(
    "extents", [(3, 7, 2), (3, 7, 2, 9), (9, 2, 7, 3), (4, 4, 4, 4), (5, 1, 8, 2, 3), (2, 9, 3, 8, 4, 7)]
)
def test_chains(extents, vectors, dtype):
    factors = [of_shape(shape, dtype) for shape in pairwise(extents)]
    if vectors in ("first", "both"):
        factors[0] = factors[0][0]
    if vectors in ("last", "both"):
        factors[-1] = factors[-1][:, 0]
    assert_identical(few_products.multi_dot(factors), np.linalg.multi_dot(factors))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("a", [TENSOR, TENSOR[0], TENSOR.mT], ids=["stack", "matrix", "transposes"])
def test_powers_and_norms(a, dtype):
    a = a.astype(dtype)
    for n in (0, 1, 2, 3, 6, np.int64(2)):
        assert_identical(few_products.matrix_power(a, n), np.linalg.matrix_power(a, n))
    for array in (a, a[..., 0], a[..., ::2], a.ravel()[::3]):
        assert_identical(few_products.norm(array), np.linalg.norm(array))
        assert_identical(few_products.norm(array, keepdims=True), np.linalg.norm(array, keepdims=True))
        assert_identical(few_products.norm(array, axis=-1), np.linalg.norm(array, axis=-1))
        for order in (None, 2, 1, np.inf, 0.5, "fro"):
            for axis in (None, 0, (0, 1)):
                for keepdims in (False, True):
                    calls = [partial(f, array, order, axis, keepdims) for f in (few_products.norm, np.linalg.norm)]
                    try:
                        expected = calls[1]()
                    except ERRORS:
                        with pytest.raises(ERRORS):
                            calls[0]()
                    else:
                        assert_identical(calls[0](), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda np, a: np.tensordot(a, a, 3),
        lambda np, a: np.tensordot(a[:3], a, ([0], [1])),
        lambda np, a: np.tensordot(a, a, ([0, 0], [0, 0])),
        lambda np, a: np.linalg.multi_dot([a, a[0], a]),
        lambda np, a: np.linalg.multi_dot([a, a[:2], a]),
        lambda np, a: np.linalg.matrix_power(a[:, :3], 2),
        lambda np, a: np.linalg.matrix_power(a[0], 2),
        lambda np, a: np.linalg.norm(a[0, 0], axis=0),
    ],
    ids=["axes", "extents", "repeated", "vector within", "chain", "not square", "vector", "number"],
)
def test_errors_where_numpy_has_them(call):
    with pytest.raises(ERRORS):
        call(np, TENSOR[0])
    with pytest.raises(ERRORS), xp.using(device="cpu"):
        call(xp, xp.asarray(TENSOR[0]))


def test_large_results_are_recorded():
    with xp.using(device="cpu"):
        a, v = xp.ones((128, 128)), xp.ones((4096, 1))
        assert np.linalg.multi_dot([a, a, a, a[0]]).is_computed()
        assert np.linalg.multi_dot([a, a]).is_computed()
        assert np.einsum("ij->i", xp.ones((700, 700))).is_computed()
        assert np.einsum("ij,jk->ik", a[:9, :9], a[:9, :9], dtype="complex128", optimize=True).is_computed()
        assert not np.einsum("i,j->ij", v[:, 0], v[:, 0]).is_computed()
        assert np.tensordot(a, a, 1).is_computed()
        assert np.tensordot(a, a).is_computed()
        assert np.linalg.multi_dot([v.T, v, v.T]).is_computed()
        assert not np.linalg.multi_dot([v, v.T]).is_computed()
        assert not np.linalg.multi_dot([v, v.T, v, v.T]).is_computed()
        assert not np.tensordot(v, v.T, 1).is_computed()
