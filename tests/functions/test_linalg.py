"""The linear algebra extension: factorisations put together again, values and dtypes of NumPy, errors and fallbacks."""

import inspect
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.linalg import LinAlgError

import gpuarray as xp
from gpuarray.graph.walk import topological
from gpuarray.runtime import telemetry

linalg = xp.linalg
KINDS = ("float32", "float64", "complex64")
BATCHES = ((), (2, 1), (0,))


def matrices(shape: Any, dtype: Any = "float64", seed: int = 0) -> np.ndarray[Any, Any]:
    """Return matrices whose condition numbers are small: orthogonal ones plus something less."""
    generator = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    parts = [generator.standard_normal(shape) for _ in range(2)]
    numbers = parts[0] + 1j * parts[1] if kind.kind == "c" else parts[0]
    return np.asarray(numbers + 4 * np.eye(*shape[-2:])).astype(kind)


def hermitian(shape: Any, dtype: Any = "float64", seed: int = 0) -> np.ndarray[Any, Any]:
    x = matrices(shape, dtype, seed)
    return x + np.conj(np.swapaxes(x, -1, -2))


def positive(shape: Any, dtype: Any = "float64", seed: int = 0) -> np.ndarray[Any, Any]:
    x = matrices(shape, dtype, seed)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1], dtype=x.dtype)


def close(actual: Any, expected: Any, condition: float = 1.0, *, dtype: Any = None) -> None:
    """Check dtype and shape, and that elements differ by no more than rounding, which the condition number enlarges."""
    wanted = np.asarray(expected)
    assert isinstance(actual, xp.GpuArray)
    assert actual.shape == wanted.shape
    assert actual.dtype == (wanted.dtype if dtype is None else dtype)
    if wanted.size:
        bound = 32 * condition * np.finfo(actual.dtype).eps * max(1.0, float(np.abs(wanted).max()))
        assert float(np.abs(np.asarray(actual) - wanted).max()) <= bound


def condition_of(x: np.ndarray[Any, Any]) -> float:
    return float(np.max(np.linalg.cond(x), initial=1.0))


def adjoint(x: Any) -> Any:
    return xp.conj(x).mT


# -- factorisations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_cholesky(kind: str, batch: Any, device: Any) -> None:
    host = positive((*batch, 4, 4), kind)
    x = xp.asarray(host)
    lower, upper = linalg.cholesky(x), linalg.cholesky(x, upper=True)
    close(lower @ adjoint(lower), host)
    close(adjoint(upper) @ upper, host)
    assert not np.any(np.asarray(xp.triu(lower, k=1)))
    assert not np.any(np.asarray(xp.tril(upper, k=-1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 3), (3, 5), (0, 3), (3, 0), (0, 2, 3)], ids=str)
def test_qr(kind: str, shape: Any, device: Any) -> None:
    host = matrices(shape, kind)
    m, n = shape[-2:]
    for mode, inner in (("reduced", min(m, n)), ("complete", m)):
        result = linalg.qr(xp.asarray(host), mode=mode)
        assert result._fields == ("Q", "R")
        assert result.Q.shape == (*shape[:-2], m, inner)
        close(result.Q @ result.R, host)
        close(adjoint(result.Q) @ result.Q, np.broadcast_to(np.eye(inner), (*shape[:-2], inner, inner)), dtype=kind)
        assert not np.any(np.asarray(xp.tril(result.R, k=-1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 3), (3, 5), (0, 3), (3, 0), (0, 2, 3)], ids=str)
@pytest.mark.parametrize("full", [True, False])
def test_svd(kind: str, shape: Any, full: bool, device: Any) -> None:
    host = matrices(shape, kind)
    actual = linalg.svd(xp.asarray(host), full_matrices=full)
    assert actual._fields == ("U", "S", "Vh")
    expected = np.linalg.svd(host, full_matrices=full)
    assert [(part.shape, part.dtype) for part in actual] == [(part.shape, part.dtype) for part in expected]
    inner = min(shape[-2:])
    close((actual.U[..., :inner] * actual.S[..., None, :]) @ actual.Vh[..., :inner, :], host)
    close(linalg.svdvals(xp.asarray(host)), expected.S)
    for vectors in (actual.U, adjoint(actual.Vh)):
        count = vectors.shape[-1]
        close(adjoint(vectors) @ vectors, np.broadcast_to(np.eye(count), (*shape[:-2], count, count)), dtype=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_eigh(kind: str, batch: Any, device: Any) -> None:
    host = hermitian((*batch, 4, 4), kind)
    x = xp.asarray(host)
    values, vectors = actual = linalg.eigh(x)
    assert actual._fields == ("eigenvalues", "eigenvectors")
    expected = np.linalg.eigvalsh(host)
    close(values, expected)
    close(linalg.eigvalsh(x), expected)
    close(linalg.eigvalsh(xp.asarray(np.triu(host)), UPLO="u"), expected)
    close(x @ vectors, vectors * values[..., None, :], dtype=kind)
    close(linalg.svdvals(x, hermitian=True), np.linalg.svd(host, compute_uv=False, hermitian=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_eigenvalues_are_complex_for_the_standard(kind: str, batch: Any, device: Any) -> None:
    host = matrices((*batch, 4, 4), kind)
    x = xp.asarray(host)
    values, vectors = result = linalg.eig(x)
    assert result._fields == ("eigenvalues", "eigenvectors")
    wide = np.result_type(kind, np.complex64)
    assert values.dtype == vectors.dtype == linalg.eigvals(x).dtype == wide
    assert values.shape == host.shape[:-1]
    close(x @ vectors, vectors * values[..., None, :], 10)
    assert linalg.eigvals(xp.asarray(hermitian((*batch, 4, 4), kind))).dtype == wide


# -- systems of equations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_inverses_and_determinants(kind: str, batch: Any, device: Any) -> None:
    host = matrices((*batch, 4, 4), kind)
    x, condition = xp.asarray(host), condition_of(host)
    close(linalg.inv(x), np.linalg.inv(host), condition)
    close(x @ linalg.inv(x), np.broadcast_to(np.eye(4), host.shape), condition, dtype=kind)
    close(linalg.pinv(x), np.linalg.inv(host), condition)
    close(linalg.det(x), np.linalg.det(host), condition)
    actual, expected = linalg.slogdet(x), np.linalg.slogdet(host)
    assert actual._fields == ("sign", "logabsdet")
    close(actual.sign, expected.sign, condition)
    close(actual.logabsdet, expected.logabsdet, condition)


@pytest.mark.parametrize(("left", "right", "shape"), [
    ((4, 4), (4,), (4,)),
    ((4, 4), (4, 2), (4, 2)),
    ((3, 4, 4), (4,), (3, 4)),
    ((3, 4, 4), (4, 4), (3, 4, 4)),
    ((3, 4, 4), (3, 4, 1), (3, 4, 1)),
    ((4, 4), (3, 4, 2), (3, 4, 2)),
    ((2, 1, 4, 4), (3, 4, 2), (2, 3, 4, 2)),
    ((4, 4), (4, 0), (4, 0)),
    ((0, 0), (0, 3), (0, 3)),
    ((0, 4, 4), (4,), (0, 4)),
], ids=str)  # fmt: skip
def test_a_right_hand_side_with_one_axis_is_a_vector(left: Any, right: Any, shape: Any, device: Any) -> None:
    a, b = matrices(left, "float32"), np.random.default_rng(1).standard_normal(right)
    result = linalg.solve(xp.asarray(a), xp.asarray(b))
    assert result.shape == shape
    close(result, np.linalg.solve(a, b), condition_of(a) if a.size else 1.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4), (0, 3), (2, 3, 0)], ids=str)
def test_pseudo_inverses(kind: str, shape: Any, device: Any) -> None:
    host = matrices(shape, kind)
    x = xp.asarray(host)
    inverse = linalg.pinv(x)
    close(inverse, np.linalg.pinv(host, rtol=None))
    close(x @ inverse @ x, host)
    close(linalg.pinv(x, rtol=0.6), np.linalg.pinv(host, rtol=0.6))


def test_tolerances_may_differ_from_matrix_to_matrix(device: Any) -> None:
    host = np.array([np.diag([4.0, 2.0, 1.0])] * 3, np.float32)
    x, shares = xp.asarray(host), np.array([0.1, 0.3, 0.6])
    assert np.asarray(linalg.matrix_rank(x, rtol=shares)).tolist() == [3, 2, 1]
    assert np.asarray(linalg.matrix_rank(x, rtol=xp.asarray(shares))).tolist() == [3, 2, 1]
    assert np.asarray(linalg.matrix_rank(x, tol=1.5)).tolist() == [2, 2, 2]
    close(linalg.pinv(x, rtol=xp.asarray(shares)), np.linalg.pinv(host, rtol=shares))


@pytest.mark.parametrize("shape", [(5, 3), (2, 4, 4), (0, 0), (3, 0), (0, 2, 2)], ids=str)
def test_ranks(shape: Any, device: Any) -> None:
    host = matrices(shape, "float32")
    if 0 not in shape:
        host[..., 1] = host[..., 0]
    for options in ({}, {"hermitian": True}) if shape[-1] == shape[-2] else ({},):
        result = linalg.matrix_rank(xp.asarray(host), **options)
        assert result.dtype == np.int64
        np.testing.assert_array_equal(np.asarray(result), np.linalg.matrix_rank(host, **options), strict=True)


@pytest.mark.parametrize("kind", ["float32", "complex128"])
@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 6, 7])
def test_matrix_power(kind: str, n: int, device: Any) -> None:
    host = matrices((2, 3, 3), kind)
    x = xp.asarray(host)
    result = linalg.matrix_power(x, n)
    close(result, np.linalg.matrix_power(host, n), condition_of(host))
    result[...] = 0
    np.testing.assert_array_equal(np.asarray(x), host)


def test_integer_powers_are_exact(device: Any) -> None:
    host = np.array([[1, 1], [1, 0]])
    result = linalg.matrix_power(xp.asarray(host), 60)
    np.testing.assert_array_equal(np.asarray(result), np.linalg.matrix_power(host, 60), strict=True)


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"])
def test_condition_numbers(p: Any, device: Any) -> None:
    host = matrices((2, 3, 3), "float32")
    if p != "nuc":  # with which NumPy's inverse of a singular matrix, NaN, has no norm
        host[1] = 1.0
    with np.errstate(all="ignore"):
        expected = np.linalg.cond(host, p)
    actual = linalg.cond(xp.asarray(host), p)
    assert actual.dtype == np.float32
    # the second matrix is singular; its condition number is infinite, or as large as rounding makes it
    if device == "cpu":  # kernels compute in float32, and LAPACK in double precision
        np.testing.assert_array_equal(np.asarray(actual), expected)
        return
    close(actual[0], expected[0], 10)
    if p == "nuc":
        close(actual[1], expected[1], 10)
    else:
        assert float(actual[1]) < 1e-6 if p == -2 else float(actual[1]) > 1e6


@pytest.mark.parametrize("n", [3, 80])
def test_a_column_with_nan_is_not_singular(n: int, device: Any) -> None:
    host = np.eye(n, dtype=np.float32)
    host[0, 0] = np.nan
    x = xp.asarray(host)
    assert np.isnan(float(linalg.inv(x)[0, 0]))
    assert np.isnan(float(linalg.solve(x, xp.ones(n, dtype=np.float32))[0]))
    sign, size = linalg.slogdet(x)
    assert float(sign) == 1
    assert np.isnan(float(size))


def test_errors_of_condition_numbers_begin_with_the_shape(device: Any) -> None:
    with pytest.raises(LinAlgError, match="square"):
        linalg.cond(xp.ones((2, 3)), 5)
    assert np.linalg.pinv(xp.ones((0, 2), dtype=np.int32)).dtype == np.int32  # as NumPy's


def test_condition_numbers_of_what_is_not_finite(device: Any) -> None:
    host = np.full((2, 2), np.nan, np.float32)
    assert np.isnan(float(linalg.cond(xp.asarray(host), 1)))
    with pytest.raises(LinAlgError, match="SVD did not converge"):
        linalg.cond(xp.asarray(host))


@pytest.mark.parametrize("columns", [(), (2,), (0,)], ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3), (0, 3), (3, 0)], ids=str)
def test_least_squares(shape: Any, columns: Any, device: Any) -> None:
    a, b = matrices(shape, "float32"), matrices((shape[0], 2), "complex64")[:, 0]
    if columns:
        b = np.repeat(b[:, None], columns[0], 1)
    actual, expected = linalg.lstsq(xp.asarray(a), xp.asarray(b)), np.linalg.lstsq(a, b)
    assert int(actual.rank) == expected[2]
    assert actual.rank.dtype == np.int32
    for k in (0, 1, 3):
        close(actual[k], expected[k], 10)


def test_least_squares_of_deficient_rank_have_no_residuals(device: Any) -> None:
    a = np.ones((4, 2), np.float32)
    result = linalg.lstsq(xp.asarray(a), xp.arange(4, dtype="float32"))
    assert result.residuals.shape == (0,)
    assert int(result.rank) == 1


def test_tensor_equations(device: Any) -> None:
    a = np.random.default_rng(3).standard_normal((4, 3, 2, 6)).astype(np.float32)
    x, condition = xp.asarray(a), condition_of(a.reshape(12, 12))
    close(linalg.tensorinv(x), np.linalg.tensorinv(a), condition)
    b = a[:, :, 0, 0]
    close(linalg.tensorsolve(x, xp.asarray(b)), np.linalg.tensorsolve(a, b), condition)
    swapped = np.moveaxis(a, 2, 0)
    close(linalg.tensorsolve(xp.asarray(swapped), xp.asarray(b), (0,)), np.linalg.tensorsolve(swapped, b, (0,)), 100)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64", "bool"])
def test_integers_compute_as_float64(dtype: str, device: Any) -> None:
    host = np.eye(3, dtype=dtype)
    x = xp.asarray(host)
    for result in (linalg.inv(x), linalg.cholesky(x), linalg.det(x), linalg.svdvals(x), linalg.vector_norm(x)):
        assert result.dtype == np.float64
        assert np.isfinite(np.asarray(result)).all()
    assert linalg.solve(x, xp.ones(3, "float32")).dtype == np.float64


# -- products and norms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("left", "right", "axis"), [
    ((3,), (3,), -1),
    ((4, 3), (3,), -1),
    ((2, 3, 4), (3, 4), -2),
    ((3, 4), (3, 1), 0),
    ((0, 3), (3,), -1),
], ids=str)  # fmt: skip
def test_cross(left: Any, right: Any, axis: int, device: Any) -> None:
    generator = np.random.default_rng(5)
    a, b = (generator.integers(-9, 9, shape) for shape in (left, right))
    result = linalg.cross(xp.asarray(a), xp.asarray(b), axis=axis)
    np.testing.assert_array_equal(np.asarray(result), np.cross(a, b, axis=axis), strict=True)


def test_a_diagonal_is_a_read_only_view(device: Any) -> None:
    x = xp.asarray(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4))
    seen = linalg.diagonal(x, offset=1)
    with pytest.raises(ValueError, match="read-only"):
        seen[...] = 0
    x[1, 0, 1] = -5
    x[0, 2, 3] = -7
    np.testing.assert_array_equal(np.asarray(seen), [[1, 6, -7], [-5, 18, 23]])
    assert linalg.diagonal(x, offset=-9).shape == (2, 0)


@pytest.mark.parametrize("offset", [0, 2, -1, 9])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "complex64", "bool"])
def test_traces(dtype: str, offset: int, device: Any) -> None:
    host = np.arange(24).reshape(2, 3, 4).astype(dtype)
    expected = np.linalg.trace(host, offset=offset)
    np.testing.assert_array_equal(np.asarray(linalg.trace(xp.asarray(host), offset=offset)), expected, strict=True)
    assert linalg.trace(xp.asarray(host), dtype=xp.float32).dtype == np.float32


def test_outer_takes_vectors_only(device: Any) -> None:
    x, y = xp.arange(3), xp.asarray([1j, 2])
    np.testing.assert_array_equal(np.asarray(linalg.outer(x, y)), np.outer(np.arange(3), [1j, 2]), strict=True)
    with pytest.raises(ValueError, match="one-dimensional"):
        linalg.outer(x, xp.ones((2, 2)))


@pytest.mark.parametrize("shapes", [
    [(5, 4), (4, 6)],
    [(5, 40), (40, 2), (2, 30)],
    [(5, 4), (4, 6), (6, 2), (2, 30), (30, 3)],
    [(4,), (4, 6), (6, 2), (2,)],
    [(4,), (4, 6), (6, 2)],
    [(3, 4), (4, 6), (6,)],
], ids=str)  # fmt: skip
def test_chains_of_products(shapes: Any, device: Any) -> None:
    generator = np.random.default_rng(7)
    hosts = [generator.integers(-3, 3, shape) for shape in shapes]
    result = linalg.multi_dot([xp.asarray(host) for host in hosts])
    np.testing.assert_array_equal(np.asarray(result), np.linalg.multi_dot(hosts), strict=True)


@pytest.mark.usefixtures("planned")
def test_chains_take_the_cheapest_order(device: Any) -> None:
    column, row = xp.ones((100, 1)) + 0, xp.ones((1, 100)) + 0
    for operands in ([column, row, column], [row, column, row, column], [column, row, column, row, column]):
        result = linalg.multi_dot(operands)
        # no product of a column and a row is made
        assert max(node.size for node in topological([result.node()]).order) == 100
        assert float(result[0, 0]) == 100.0 ** (len(operands) // 2)


ORDERS = (2, 1, 0, np.inf, -np.inf, 0.5, -1, np.float64(3))


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_vector_norms(order: Any, kind: str, device: Any) -> None:
    host = matrices((2, 3, 4), kind)
    host[0, 1, 1] = 0 if order in (0, 1, 2, np.inf) else 1
    x = xp.asarray(host)
    for axis in (None, 0, -1, (0, 2), (2, 0, 1), ()):
        for keepdims in (False, True):
            expected = np.linalg.vector_norm(host, axis=axis, keepdims=keepdims, ord=order)
            actual = linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=order)
            close(actual, expected, 10)


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_matrix_norms(order: Any, kind: str, device: Any) -> None:
    for shape in ((3, 4), (2, 4, 3), (0, 2, 2)):
        host = matrices(shape, kind)
        for keepdims in (False, True):
            expected = np.linalg.matrix_norm(host, ord=order, keepdims=keepdims)
            close(linalg.matrix_norm(xp.asarray(host), ord=order, keepdims=keepdims), expected)


def test_norms_without_elements(device: Any) -> None:
    x = xp.zeros((0, 3), xp.float32)
    for order in ("fro", "nuc", 1, 2, np.inf):
        assert float(linalg.matrix_norm(x, ord=order)) == 0
    for order in (-1, -2, -np.inf):
        assert linalg.matrix_norm(xp.zeros((0, 3, 3)), ord=order).shape == (0,)
    with pytest.raises(ValueError, match="zero-size"):
        linalg.matrix_norm(x, ord=-2)
    with pytest.raises(ValueError, match="zero-size"):
        linalg.vector_norm(x, ord=-np.inf)
    assert np.asarray(linalg.vector_norm(x, axis=0, ord=np.inf)).tolist() == [0, 0, 0]


def test_norms_of_nan_and_infinity(device: Any) -> None:
    x = xp.asarray(np.array([[1, np.nan], [np.inf, 2], [-np.inf, 0]], np.float32))
    for order in (1, 2, 3, np.inf, -np.inf):
        expected = np.linalg.vector_norm(np.asarray(x), axis=1, ord=order)
        np.testing.assert_array_equal(np.asarray(linalg.vector_norm(x, axis=1, ord=order)), expected)


# -- errors -----------------------------------------------------------------------------------------------------------

SQUARE = ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet")
FACTORING = (*SQUARE, "qr", "svd", "svdvals", "pinv", "cond")


@pytest.mark.parametrize("name", FACTORING)
def test_shapes_and_dtypes_are_checked(name: str, device: Any) -> None:
    function = getattr(linalg, name)
    with pytest.raises(LinAlgError, match="at least two-dimensional"):
        function(xp.ones(3))
    with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
        function(xp.ones((2, 2), xp.float16))
    if name in SQUARE:
        with pytest.raises(LinAlgError, match="must be square"):
            function(xp.ones((2, 3)))
    assert xp.stats()["evaluations"] == 0


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: linalg.solve(x, xp.ones(2)), ValueError, "must be equal"),
    (lambda x: linalg.solve(x, xp.ones((3, 2, 1))), ValueError, "must be equal"),
    (lambda x: linalg.solve(xp.stack([x, x]), xp.ones((3, 3, 1))), ValueError, "broadcast"),
    (lambda x: linalg.solve(x, xp.asarray(1.0)), ValueError, "at least one axis"),
    (lambda x: linalg.solve(x[:2], xp.ones(2)), LinAlgError, "must be square"),
    (lambda x: linalg.solve(x, xp.ones(3, xp.float16)), TypeError, "float16"),
    (lambda x: linalg.lstsq(x, xp.ones(2)), LinAlgError, "Incompatible dimensions"),
    (lambda x: linalg.lstsq(x[None], xp.ones(3)), LinAlgError, "must be two-dimensional"),
    (lambda x: linalg.qr(x, mode="economic"), ValueError, "Unrecognized mode"),
    (lambda x: linalg.eigh(x, UPLO="M"), ValueError, "UPLO"),
    (lambda x: linalg.matrix_rank(x, rtol=0.1, tol=0.1), ValueError, "can't be both set"),
    (lambda x: linalg.matrix_power(x, 1.5), TypeError, "must be an integer"),
    (lambda x: linalg.matrix_power(x[:2], 2), LinAlgError, "must be square"),
    (lambda x: linalg.matrix_norm(x, ord=3), ValueError, "Invalid norm order"),
    (lambda x: linalg.matrix_norm(x[0]), ValueError, "out of bounds"),
    (lambda x: linalg.vector_norm(x, ord="fro"), ValueError, "Invalid norm order"),
    (lambda x: linalg.norm(x[None], 2), ValueError, "Improper number of dimensions"),
    (lambda x: linalg.norm(x, 2, (0, -2)), ValueError, "Duplicate axes"),
    (lambda x: linalg.norm(x, 2, [0, 1]), TypeError, "integer or a tuple"),
    (lambda x: linalg.cond(x, 3), ValueError, "Invalid norm order"),
    (lambda x: linalg.cond(x[:2], 1), LinAlgError, "must be square"),
    (lambda x: linalg.cond(x[:0]), LinAlgError, "empty"),
    (lambda x: linalg.cross(x, x[:2], axis=0), ValueError, "3 and 2 dimensional"),
    (lambda x: linalg.multi_dot([x]), ValueError, "at least two"),
    (lambda x: linalg.multi_dot([x, x[0], x]), LinAlgError, "must be two-dimensional"),
    (lambda x: linalg.tensorinv(x, 0), ValueError, "Invalid ind"),
    (lambda x: linalg.tensorinv(x[:2], 1), LinAlgError, "must be square"),
    (lambda x: linalg.tensorsolve(x[:2], x[:2, 0]), LinAlgError, "must satisfy"),
    (lambda x: linalg.trace(x[0]), ValueError, "two dimensions"),
])  # fmt: skip
def test_arguments_are_checked(call: Any, error: Any, message: str, device: Any) -> None:
    x = xp.asarray(np.arange(9, dtype=np.float32).reshape(3, 3))
    with pytest.raises(error, match=message):
        call(x)


NAN = np.full((3, 3), np.nan, np.float32)
FAILING = [
    (linalg.inv, np.ones((3, 3), np.float32), "Singular matrix"),
    (linalg.inv, np.stack([np.eye(3), np.ones((3, 3))]), "Singular matrix"),
    (lambda x: linalg.solve(x, xp.ones(3)), np.ones((3, 3), np.float32), "Singular matrix"),
    (lambda x: linalg.matrix_power(x, -2), np.ones((3, 3), np.float32), "Singular matrix"),
    (linalg.cholesky, -np.eye(3, dtype=np.float32), "not positive definite"),
    (linalg.svd, NAN, "SVD did not converge"),
    (linalg.svdvals, NAN, "SVD did not converge"),
    (linalg.pinv, NAN, "SVD did not converge"),
    (linalg.matrix_rank, NAN, "SVD did not converge"),
    (lambda x: linalg.matrix_norm(x, ord=2), NAN, "SVD did not converge"),
    (lambda x: linalg.lstsq(x, xp.ones(3)), NAN, "did not converge"),
    (linalg.eig, NAN, "infs or NaNs"),
    (linalg.eigvals, NAN, "infs or NaNs"),
]


@pytest.mark.parametrize(("function", "host", "message"), FAILING)
def test_values_raise_at_the_call_and_leave_no_trace(function: Any, host: Any, message: str, device: Any) -> None:
    source = xp.asarray(host)
    pending = source + 0  # not computed yet: the failing row is part of the graph that computes it
    sibling = pending * 2
    live = None
    for _ in range(2):
        with pytest.raises(LinAlgError, match=message):
            function(pending)
        live = live or xp.stats()["bytes_live"]
    assert xp.stats()["bytes_live"] == live
    np.testing.assert_array_equal(np.asarray(pending), host)
    np.testing.assert_array_equal(np.asarray(sibling), host * 2)
    np.testing.assert_array_equal(np.asarray(source), host)
    pending[...] = np.eye(3)
    if function in (linalg.inv, linalg.cholesky):
        np.testing.assert_array_equal(np.asarray(function(pending)), np.asarray(pending))


@pytest.mark.parametrize(("function", "host", "message"), FAILING[:5])
def test_recorded_values_raise_at_the_call_even_if_they_are_not_used(
    function: Any, host: Any, message: str, device: Any
) -> None:
    def program(x: Any) -> Any:
        function(x)
        return x + 1

    fast, good = xp.jit(program), xp.asarray(np.broadcast_to(np.eye(3, dtype=host.dtype), host.shape).copy())
    for _ in range(4):
        np.testing.assert_array_equal(fast(good), np.asarray(good) + 1)
        with pytest.raises(LinAlgError, match=message):
            np.asarray(fast(xp.asarray(host)))


# -- where it runs ----------------------------------------------------------------------------------------------------


#: A call of each function that never runs on the host.
ON_THE_DEVICE: dict[str, Any] = {
    **dict.fromkeys(
        ("cholesky", "det", "diagonal", "eigh", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "matrix_transpose",
         "norm", "pinv", "qr", "slogdet", "svd", "svdvals", "trace", "vector_norm"), lambda function, x: function(x)
    ),
    "cond": lambda function, x: [function(x, p) for p in (None, -2, 1, np.inf, "fro", "nuc")],
    "cross": lambda function, x: function(x[:, 0], x[:, 1]),
    "lstsq": lambda function, x: function(x[0], x[1]),
    "matrix_power": lambda function, x: [function(x, n) for n in (-2, 0, 5)],
    "multi_dot": lambda function, x: function([x[0], x[1], x[0]]),
    "outer": lambda function, x: function(x[0, 0], x[0, 1]),
    "tensordot": lambda function, x: function(x[0], x, axes=([0, 1], [2, 1])),
    "tensorinv": lambda function, x: function(x[0], 1),
    "tensorsolve": lambda function, x: function(x[0], x[0, 0]),
    **dict.fromkeys(("matmul", "solve", "vecdot"), lambda function, x: function(x, x)),
}  # fmt: skip
ON_THE_HOST = ("eig", "eigvals")


def test_functions_do_not_fall_back() -> None:
    functions = {name for name in linalg.__all__ if inspect.isfunction(inspect.unwrap(getattr(linalg, name)))}
    assert functions == {*ON_THE_DEVICE, *ON_THE_HOST}
    with xp.using(device="wgpu", fallback="error"):
        x = xp.asarray(positive((2, 3, 3), "float32"))
        for name, call in ON_THE_DEVICE.items():
            result = call(getattr(linalg, name), x)
            for part in result if isinstance(result, list | tuple) else (result,):
                assert np.isfinite(np.asarray(part)).all(), name
        for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            assert np.isfinite(np.asarray(linalg.matrix_norm(x, ord=order))).all()
        assert xp.stats()["fallbacks"] == 0
        with pytest.raises(xp.errors.FallbackError, match="eigvals would run on the host"):
            linalg.eigvals(x)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (2, 0, 0), (0, 3, 3)])
def test_matrices_without_elements_are_no_work_for_the_host(shape: Any) -> None:
    host = np.zeros(shape, np.float32)
    with xp.using(device="wgpu", fallback="error"):
        x = xp.asarray(host)
        for actual, expected in zip(linalg.svd(x), np.linalg.svd(host), strict=True):
            np.testing.assert_array_equal(np.asarray(actual), expected)
        np.testing.assert_array_equal(np.asarray(linalg.matrix_rank(x)), np.linalg.matrix_rank(host))
        if len(shape) == 2:
            assert linalg.lstsq(x, x).rank == 0
        if shape[-1] == shape[-2]:
            assert np.asarray(linalg.eigvalsh(x)).shape == shape[:-1]
        assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("name", ON_THE_HOST)
def test_eigenvalues_of_general_matrices_are_one_fallback(name: str) -> None:
    with xp.using(device="wgpu"):
        result = getattr(linalg, name)(xp.asarray(positive((2, 3, 3), "float32")))
        for part in result if isinstance(result, tuple) else (result,):
            assert part.device == "wgpu"
            assert np.isfinite(np.asarray(part)).all()
        ((function, _),) = telemetry.fallbacks()
        assert function == name


@pytest.mark.parametrize("is_view", [False, True])
def test_operands_are_computed_once(is_view: bool) -> None:
    with xp.using(device="wgpu"):
        a = xp.asarray(matrices((3, 3), "float32"))
        x = a @ a.mT + 1
        x = x.mT if is_view else x
        linalg.inv(x)
        counts = []
        for _ in range(2):
            launches = xp.stats()["launches"]
            linalg.inv(x)
            linalg.qr(x)
            counts.append(xp.stats()["launches"] - launches)
        other = xp.asarray(np.ascontiguousarray(x))
        launches = xp.stats()["launches"]
        linalg.inv(other)
        linalg.qr(other)
        # the products are not computed again; views are copied for each call
        assert counts == [xp.stats()["launches"] - launches + (2 if is_view else 0)] * 2


@pytest.mark.usefixtures("planned")
def test_determinants_are_lazy_and_others_are_not(device: Any) -> None:
    x = xp.asarray(positive((3, 3), "float32")) * 2
    value = linalg.det(x)
    assert xp.stats()["evaluations"] == 0
    q, r = linalg.qr(x)
    assert xp.stats()["evaluations"] == 1
    close(q @ r, np.asarray(x))
    close(value, np.linalg.det(np.asarray(x)))


# -- the namespace ----------------------------------------------------------------------------------------------------


def test_the_extension_is_complete() -> None:
    standard = {*array_api_strict.linalg.__all__, "eig", "eigvals"}
    assert standard <= set(linalg.__all__)
    assert {name for name in np.linalg.__all__ if hasattr(np.linalg, name)} <= set(linalg.__all__)
    assert not [name for name in linalg.__all__ if not hasattr(linalg, name)]
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(linalg, name) is getattr(xp, name)


@pytest.mark.parametrize("name", sorted(array_api_strict.linalg.__all__))
def test_signatures_are_those_of_the_standard(name: str) -> None:
    expected = inspect.signature(getattr(array_api_strict.linalg, name)).parameters
    result = inspect.signature(getattr(linalg, name)).parameters
    for parameter in expected.values():
        if parameter.kind is parameter.POSITIONAL_ONLY:
            continue
        assert result[parameter.name].default == parameter.default
    positional = [[p.kind for p in s.values()].count(inspect.Parameter.POSITIONAL_ONLY) for s in (expected, result)]
    assert positional[0] == positional[1]
    extra = [p for p in result.values() if p.name not in expected and p.kind is not p.POSITIONAL_ONLY]
    assert all(p.default is not p.empty for p in extra)
