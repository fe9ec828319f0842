"""NumPy's own functions of ``numpy.linalg``: the results, defaults and errors of NumPy, as arrays of this package."""

import importlib.util

import numpy as np
import pytest
from numpy_samples import EMPTY, A, C, F, K, M, R, S, T, V, label

import gpuarray as xp
from gpuarray.array import GpuArray
from gpuarray.functions import lapack

H = S + S.T
P = S @ S.T + np.eye(4)
B = np.stack([P, H, S]).astype(np.float32)
Z = S + 1j * H

CASES = [
    lambda p: np.linalg.cholesky(p(P)),
    lambda p: np.linalg.cholesky(p(P.astype(np.complex64)), upper=True),
    lambda p: np.linalg.cond(p(A)),
    lambda p: np.linalg.cond(p(B), "fro"),
    lambda p: np.linalg.cond(p(B), -2),
    lambda p: np.linalg.cross(p(A[:, :3]), p(V[:3])),
    lambda p: np.linalg.det(p(B)),
    lambda p: np.linalg.det(p(np.zeros((2, 0, 0)))),
    lambda p: np.linalg.diagonal(p(T), offset=1),
    lambda p: np.linalg.eigvalsh(p(B)),
    lambda p: np.linalg.eigvalsh(p(S), "U"),
    lambda p: np.linalg.eigvalsh(p(Z)),
    lambda p: np.linalg.eigvals(p(H)),
    lambda p: np.linalg.eigvals(p(np.array([[0.0, 1], [-1, 0]]))).imag,
    lambda p: np.linalg.eigh(p(H))[0],
    lambda p: np.linalg.inv(p(B)),
    lambda p: np.linalg.inv(p(K[:, :3])),
    lambda p: np.linalg.inv(p(np.eye(3, dtype=bool))),
    lambda p: np.linalg.inv(p(np.zeros((0, 0)))),
    lambda p: np.linalg.lstsq(p(A.T), p(V[:4])),
    lambda p: np.linalg.lstsq(p(F), p(C), rcond=0.1),
    lambda p: np.linalg.matmul(p(T), p(R)),
    lambda p: np.linalg.matrix_norm(p(T), ord="nuc", keepdims=True),
    lambda p: np.linalg.matrix_norm(p(C)),
    lambda p: np.linalg.matrix_power(p(B), 5),
    lambda p: np.linalg.matrix_power(p(K[:, :3]), 4),
    lambda p: np.linalg.matrix_power(p(S), -3),
    lambda p: np.linalg.matrix_rank(p(T)),
    lambda p: np.linalg.matrix_rank(p(B), hermitian=True),
    lambda p: np.linalg.matrix_rank(p(A), 1.5),
    lambda p: np.linalg.matrix_rank(p(T), rtol=np.array([0.1, 0.9])),
    lambda p: np.linalg.matrix_transpose(p(T)),
    lambda p: np.linalg.multi_dot([p(V[:3]), p(A), S, p(V[:4])]),
    lambda p: np.linalg.multi_dot([p(A), p(S)]),
    lambda p: np.linalg.norm(p(T)),
    lambda p: np.linalg.norm(p(A), "nuc"),
    lambda p: np.linalg.norm(p(A), -2, (1, 0), True),
    lambda p: np.linalg.norm(p(T), -1, (2, 0)),
    lambda p: np.linalg.norm(p(K), axis=-1, keepdims=True),
    lambda p: np.linalg.norm(p(M), 1),
    lambda p: np.linalg.norm(p(V.astype(np.float16)), 3),
    lambda p: np.linalg.outer(p(V), V),
    lambda p: np.linalg.pinv(p(A)),
    lambda p: np.linalg.pinv(p(A), 0.5),
    lambda p: np.linalg.pinv(p(B), rtol=None),
    lambda p: np.linalg.pinv(p(H), hermitian=True, rtol=0.2),
    lambda p: np.linalg.pinv(p(T), np.array([0.1, 0.9])),
    lambda p: np.linalg.pinv(p(EMPTY)),
    lambda p: abs(np.linalg.qr(p(A), "r")),
    lambda p: np.linalg.qr(p(A), "raw"),
    lambda p: np.linalg.qr(p(T.astype(np.complex64)), mode="complete"),
    lambda p: np.linalg.slogdet(p(B)),
    lambda p: np.linalg.slogdet(p(Z)),
    lambda p: np.linalg.solve(p(S), V[:4]),
    lambda p: np.linalg.solve(S, p(R[0])),
    lambda p: np.linalg.solve(p(B), p(V[:4])),
    lambda p: np.linalg.svd(p(A), compute_uv=False),
    lambda p: np.linalg.svd(p(H), compute_uv=False, hermitian=True),
    lambda p: np.linalg.svd(p(T), False)[1],
    lambda p: np.linalg.svdvals(p(B)),
    lambda p: np.linalg.tensordot(p(T), p(R), axes=([1, 2], [2, 1])),
    lambda p: np.linalg.tensorinv(p(np.eye(6).reshape(2, 3, 3, 2)), ind=2),
    lambda p: np.linalg.tensorsolve(p(np.eye(6).reshape(2, 3, 6)), p(A[:2, :3])),
    lambda p: np.linalg.trace(p(T), offset=-1, dtype=np.float32),
    lambda p: np.linalg.vecdot(p(T), p(T), axis=1),
    lambda p: np.linalg.vector_norm(p(T), axis=(0, 2), ord=3, keepdims=True),
    lambda p: np.linalg.vector_norm(p(np.float64(-3))),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_function_agrees_with_numpy(case, agree):
    agree(case)


#: Calls whose results are those of LAPACK alone, by the names of their operands.
LAPACK = (
    "cholesky(P)", "cholesky(P, upper=True)", "cond(A)", "cond(P, -2)", "cond(P, 1)", "det(P)", "eigh(P)",
    "eigh(P, 'U')", "eigvalsh(P)", "eigvalsh(P, 'U')", "inv(P)", "lstsq(A, a)", "lstsq(A, A)", "lstsq(A.mT, b, .1)",
    "matrix_rank(A)", "matrix_rank(P, .5)", "pinv(A)", "pinv(A, .2)", "pinv(A.mT, rtol=.1)", "pinv(P, hermitian=True)",
    "qr(A)", "qr(A.mT)", "qr(A, 'r')", "qr(A, 'complete')", "qr(A, 'raw')", "slogdet(P)", "solve(P, b)",
    "solve(P, A.mT)", "svd(A)", "svd(A.mT, False)", "svd(A, compute_uv=False)", "svd(P, hermitian=True)", "svdvals(A)",
)  # fmt: skip


@pytest.mark.parametrize("stack", [(), (3,)], ids=["one", "stack"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
def test_small_matrices_have_numpys_bits(dtype, stack):
    host = np.random.default_rng(0).integers(-9, 9, (*stack, 5, 3)).astype(dtype)
    host = host + 1j * host[..., ::-1, :].astype(dtype) if host.dtype.kind == "c" else host
    square = host.mT.conj() @ host + np.eye(3, dtype=dtype)
    operands = {"A": host, "P": square, "a": host[..., 0], "b": host[..., 0, :]}
    with xp.using(device="cpu"):
        ours = {name: xp.asarray(value) for name, value in operands.items()}
        for text in LAPACK:
            if stack and ("lstsq" in text or text == "solve(P, b)"):
                continue
            expected, result = (
                eval(f"np.linalg.{text}", {"np": np, **operands}),
                eval(f"np.linalg.{text}", {"np": np, **ours}),
            )
            pairs = zip(expected, result, strict=True) if isinstance(expected, tuple) else [(expected, result)]
            for theirs, mine in pairs:
                assert isinstance(mine, GpuArray), text
                np.testing.assert_array_equal(theirs, np.asarray(mine), text, strict=True)


@pytest.mark.parametrize(
    "host", [S, H, B, Z, Z.astype(np.complex64), S > 0], ids=["d", "symmetric", "f", "D", "F", "?"]
)
def test_small_eigenvalues_have_numpys_bits(host):
    wanted = np.linalg.eig(host)
    with xp.using(device="cpu"):
        x = xp.asarray(host)
        for theirs, mine in zip((*wanted, wanted[0]), (*xp.linalg.eig(x), xp.linalg.eigvals(x)), strict=True):
            dtype = np.result_type(theirs, np.complex64)
            np.testing.assert_array_equal(theirs.astype(dtype), np.asarray(mine), strict=True)
        with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
            xp.linalg.eig(x / xp.zeros(x.shape))


@pytest.mark.parametrize("are_missing", [False, True])
def test_ufuncs_of_lapack_may_be_missing(are_missing, monkeypatch):
    if are_missing:
        monkeypatch.delattr(np.linalg, "_umath_linalg")
    spec = importlib.util.spec_from_file_location("lapack", lapack.__file__)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    for name in ("cholesky", "det", "eigh", "eigvalsh", "inv", "qr", "slogdet", "solve", "svd", "svdvals"):
        numpys, function = getattr(np.linalg, name), getattr(loaded, name)
        assert (function is numpys) == (are_missing and name != "svdvals")
        operands = (P, V[:4]) if name == "solve" else (P,)
        expected, result = numpys(*operands), function(*operands)
        for theirs, mine in zip(expected, result, strict=True) if isinstance(expected, tuple) else [(expected, result)]:
            np.testing.assert_array_equal(theirs, mine, name, strict=True)


@pytest.mark.parametrize("host", [S, H, B, Z, np.triu(S)], ids=["general", "symmetric", "stack", "complex", "real"])
def test_eigenvectors(host, put, same):
    x = put(host)
    values, vectors = actual = np.linalg.eig(x)
    expected = np.linalg.eig(host)
    assert actual._fields == ("eigenvalues", "eigenvectors")
    assert (values.dtype, vectors.dtype) == (expected.eigenvalues.dtype, expected.eigenvectors.dtype)
    assert np.linalg.eigvals(x).dtype == expected.eigenvalues.dtype
    same(np.matmul(x, vectors), np.asarray(vectors * values[..., None, :]))
    assert values.flags.owndata
    assert vectors.flags.owndata


@pytest.mark.parametrize("host", [A, A.T, T, C], ids=["wide", "tall", "stack", "complex"])
def test_results_have_numpys_names(host, put, same):
    x = put(host)
    q, r = (result := np.linalg.qr(x)).Q, result.R
    same(q @ r, host)
    u, s, vh = (result := np.linalg.svd(x, full_matrices=False)).U, result.S, result.Vh
    same((u * s[..., None, :]) @ vh, host)
    assert np.linalg.slogdet(x @ np.matrix_transpose(x)).logabsdet.shape == host.shape[:-2]
    assert all(isinstance(part, GpuArray) for part in (q, r, u, s, vh))


@pytest.mark.parametrize("linalg", [np.linalg, xp.linalg], ids=["numpy", "gpuarray"])
def test_the_rank_of_a_vector_is_a_number(linalg, put):
    for host in (V, np.zeros(3), np.zeros(0), np.float64(2), np.float64(0), np.array([0, np.nan]), np.float16([1, 0])):
        expected = np.linalg.matrix_rank(host)
        actual = linalg.matrix_rank(put(host))
        assert (type(actual), actual) == (type(expected), expected)


@pytest.mark.parametrize(
    "host", [A, A.T, T.astype(np.complex64), S.astype(np.int64)], ids=["wide", "tall", "stack", "int"]
)
def test_the_namespace_takes_numpys_arguments(host, put, same):
    x = put(host)
    same(xp.linalg.qr(x, "r"), np.linalg.qr(host, "r"))
    for actual, expected in zip(xp.linalg.qr(x, mode="raw"), np.linalg.qr(host, mode="raw"), strict=True):
        same(actual, expected)
    same(xp.linalg.svd(x, compute_uv=False), np.linalg.svd(host, compute_uv=False))
    same(xp.linalg.svd(x, True, False), np.linalg.svd(host, True, False))
    same(xp.linalg.matrix_rank(x, 1.5), np.linalg.matrix_rank(host, 1.5))
    same(xp.linalg.pinv(x, 0.5), np.linalg.pinv(host, 0.5))
    square = host[..., :3, :3]
    same(xp.linalg.eigh(put(square), "U")[0], np.linalg.eigh(square, "U")[0])


def test_multi_dot_writes_to_out(put, same):
    out = put(np.zeros((3, 3)))
    assert np.linalg.multi_dot([put(A), put(S), put(A.T)], out=out) is out
    same(out, A @ S @ A.T)


ERRORS = [
    lambda p: np.linalg.inv(p(np.ones((2, 2)))),
    lambda p: np.linalg.inv(p(A)),
    lambda p: np.linalg.inv(p(V)),
    lambda p: np.linalg.inv(p(S.astype(np.float16))),
    lambda p: np.linalg.cholesky(p(-P)),
    lambda p: np.linalg.solve(p(S), p(V[:3])),
    lambda p: np.linalg.solve(p(np.zeros((2, 2))), p(V[:2])),
    lambda p: np.linalg.solve(p(B), p(R)),
    lambda p: np.linalg.eig(p(np.full((2, 2), np.inf))),
    lambda p: np.linalg.eigh(p(S), "X"),
    lambda p: np.linalg.svd(p(np.full((2, 2), np.nan))),
    lambda p: np.linalg.qr(p(A), "other"),
    lambda p: np.linalg.qr(p(V)),
    lambda p: np.linalg.det(p(T)),
    lambda p: np.linalg.lstsq(p(A), p(V)),
    lambda p: np.linalg.pinv(p(A), 0.1, rtol=0.1),
    lambda p: np.linalg.matrix_rank(p(A), 0.1, rtol=0.1),
    lambda p: np.linalg.cond(p(EMPTY)),
    lambda p: np.linalg.cond(p(A), 1),
    lambda p: np.linalg.norm(p(T), 2),
    lambda p: np.linalg.norm(p(A), "other"),
    lambda p: np.linalg.norm(p(A), 2, (0, 0)),
    lambda p: np.linalg.norm(p(A), 2, (0, 5)),
    lambda p: np.linalg.matrix_norm(p(V)),
    lambda p: np.linalg.matrix_power(p(S), 0.5),
    lambda p: np.linalg.multi_dot([p(A)]),
    lambda p: np.linalg.multi_dot([p(A), p(T), p(A)]),
    lambda p: np.linalg.tensorinv(p(T), 0),
    lambda p: np.linalg.tensorsolve(p(T), p(V)),
    lambda p: np.linalg.cross(p(A), p(A)),
    lambda p: np.linalg.outer(p(A), p(V)),
]


@pytest.mark.parametrize("case", ERRORS, ids=label)
def test_errors_are_numpys(case, put):
    with pytest.raises((ValueError, TypeError)) as expected:
        case(np.array)
    with pytest.raises((ValueError, TypeError)) as actual:
        case(put)
    assert type(actual.value) is type(expected.value)
