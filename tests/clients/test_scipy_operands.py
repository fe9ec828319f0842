"""SciPy's sparse arrays and optimisers with arrays: values as with NumPy's, or errors that say what to write."""

import operator

import numpy as np
import pytest

import gpuarray as xp

sparse = pytest.importorskip("scipy.sparse")
optimize = pytest.importorskip("scipy.optimize")

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.5]])
OTHER = np.arange(9.0).reshape(3, 3) - 2
OPERATORS = (operator.add, operator.sub, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def _dense(value):
    return value.toarray() if sparse.issparse(value) else np.asarray(value)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize("call", [*OPERATORS, operator.mul, operator.matmul], ids=lambda call: call.__name__)
def test_sparse_operands(call, make, device):
    known, x = make(DENSE), xp.asarray(OTHER)
    for given in ((known, x), (x, known)):
        expected = call(*(OTHER if value is x else value for value in given))
        actual = call(*given)
        assert type(actual) is type(expected)
        np.testing.assert_array_equal(_dense(actual), _dense(expected))


def test_sparse_divided_by_results(device):
    x = xp.asarray(OTHER)
    np.testing.assert_allclose((sparse.csr_array(DENSE) / x.max()).toarray(), DENSE / OTHER.max())


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize(
    "call",
    [
        lambda s, x: x.mean() * s,
        lambda s, x: sparse.csr_array(s) * x.mean(),
        lambda s, x: s.multiply(x),
        lambda s, x: sparse.kron(s, x),
        lambda s, x: sparse.linalg.spsolve(s.tocsc(), x[0]),
    ],
)
def test_sparse_calls(call, make, device):
    actual, expected = call(make(DENSE), xp.asarray(OTHER)), call(make(DENSE), OTHER)
    assert type(actual) is type(expected)
    np.testing.assert_array_equal(_dense(actual), _dense(expected))


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: sparse.csr_matrix(DENSE) * x.mean(), "could not interpret dimensions"),
        (lambda x: sparse.csr_array(DENSE).maximum(x), "Operands not compatible"),
        (lambda x: sparse.csr_array(DENSE).maximum(x.mean()), "Operands not compatible"),
        (lambda x: sparse.csr_array(DENSE) ** x.max(), "input is not scalar"),
        (lambda x: sparse.diags(x[0]), "number of diagonals"),
        (lambda x: sparse.linalg.splu(sparse.csc_array(DENSE)).solve(x[0]), "must be numpy.ndarray, not GpuArray"),
    ],
)
def test_what_asks_for_numpys_class_alone(call, message, device):
    """SciPy tests for the class and calls nothing of the array first, so the page names the conversion."""
    x = xp.asarray(OTHER)
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=message):
        call(x)
    call(xp.asnumpy(x))


MATRIX = np.diag(np.arange(1.0, 7)) + 0.1
WIDE = np.arange(12.0).reshape(2, 6) + 1j


@pytest.mark.parametrize(
    "call",
    [
        lambda a: sparse.linalg.aslinearoperator(a) @ np.ones(6),
        lambda a: sparse.linalg.cg(a, a[0], rtol=1e-12)[0],
        lambda a: sparse.linalg.gmres(a, a[0], rtol=1e-12)[0],
        lambda a: sparse.linalg.lsqr(a, a[0], atol=1e-14, btol=1e-14)[0],
        lambda a: sparse.linalg.eigsh(a, k=2, v0=np.ones(6), return_eigenvectors=False),
        lambda a: sparse.linalg.svds(a, k=2, v0=np.ones(6), return_singular_vectors=False),
        lambda a: sparse.linalg.onenormest(a),
    ],
    ids=["operator", "cg", "gmres", "lsqr", "eigsh", "svds", "onenormest"],
)
def test_matrices_are_linear_operators(call, device):
    np.testing.assert_allclose(np.asarray(call(xp.asarray(MATRIX))), call(MATRIX), rtol=1e-6, atol=1e-9)


def test_adjoints_of_linear_operators(device):
    actual, expected = (sparse.linalg.aslinearoperator(a).H for a in (xp.asarray(WIDE), WIDE))
    for operand in (np.ones(2), np.ones((2, 3))):
        np.testing.assert_allclose(actual @ operand, expected @ operand)


@pytest.mark.parametrize("options", [{}, {"method": "dogbox"}, {"tr_solver": "lsmr"}], ids=repr)
def test_jacobians_may_be_on_a_device(options, device):
    matrix, goal = xp.asarray(MATRIX), xp.ones(6)
    result = optimize.least_squares(lambda p: matrix @ p - goal, np.zeros(6), jac=lambda p: matrix, **options)
    np.testing.assert_allclose(result.x, np.linalg.solve(MATRIX, np.ones(6)), rtol=1e-5)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "SLSQP", "CG", "TNC"])
def test_minimisation(method, device):
    matrix, goal = xp.asarray(np.diag([1.0, 2.0, 3.0])), xp.ones(3)
    result = optimize.minimize(
        lambda p: 0.5 * p @ matrix @ p - goal @ p,
        np.zeros(3),
        jac=lambda p: xp.asnumpy(matrix @ p - goal),
        method=method,
    )
    np.testing.assert_allclose(result.x, 1 / np.array([1.0, 2.0, 3.0]), rtol=1e-3)


@pytest.mark.parametrize("method", ["L-BFGS-B", "SLSQP"])
def test_gradients_on_a_device_are_refused(method, device):
    with pytest.raises(TypeError, match=r"numpy\.ndarray, not GpuArray"):
        optimize.minimize(lambda p: p @ p, np.ones(3), jac=lambda p: 2 * xp.asarray(p), method=method)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_with_a_jacobian_by_forward_mode(method):
    t = xp.asarray(np.linspace(0, 4, 50))
    measured = 2.5 * np.exp(-1.3 * t) + 0.5

    def residuals(p):
        return p[0] * np.exp(-p[1] * t) + p[2] - measured

    jacobian = xp.jacfwd(residuals)
    result = optimize.least_squares(
        lambda p: residuals(xp.asarray(p)).get(),
        np.ones(3),
        jac=lambda p: jacobian(xp.asarray(p)).get(),
        method=method,
    )
    np.testing.assert_allclose(result.x, [2.5, 1.3, 0.5], rtol=1e-6)
    by_differences = optimize.least_squares(lambda p: residuals(xp.asarray(p)).get(), np.ones(3), method=method)
    np.testing.assert_allclose(result.jac, by_differences.jac, rtol=1e-4, atol=1e-6)
