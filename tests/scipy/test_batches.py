"""Functions of gpuarray.scipy that run on the host, mapped over batches."""

import numpy as np
import pytest
from scipy import interpolate as scipy_interpolate

import gpuarray as xp
from gpuarray.errors import BatchingError
from gpuarray.scipy import linalg

_GENERATOR = np.random.default_rng(5)
_NORMAL = _GENERATOR.standard_normal((3, 2, 4, 4))
#: Positive definite matrices, in two axes of a batch.
MATRICES = _NORMAL @ _NORMAL.swapaxes(-1, -2) + 4 * np.eye(4)

#: Functions of one matrix, by name.
FUNCTIONS = {
    **{name: getattr(linalg, name) for name in ("hessenberg", "logm", "rq", "schur", "signm", "sqrtm")},
    "fractional_matrix_power": lambda a: linalg.fractional_matrix_power(a, 0.3),
    "ldl": linalg.ldl,
    "lyapunov": lambda a: linalg.solve_continuous_lyapunov(a, a.T),
    "lyapunov of steps": lambda a: linalg.solve_discrete_lyapunov(a / 50, a + a.T),
    "riccati": lambda a: linalg.solve_continuous_are(a, np.eye(4), np.eye(4), xp.asarray(np.eye(4))),
    "riccati of steps": lambda a: linalg.solve_discrete_are(a / 9, np.eye(4), np.eye(4), np.eye(4)),
    "sylvester": lambda a: linalg.solve_sylvester(a, xp.asarray(np.eye(2)), a[:, :2] @ np.ones((2, 2))),
}


def parts(result):
    return [part.get() for part in (result if isinstance(result, tuple) else (result,))]


def compare(result, wanted):
    """Compare the results of a mapped function with those for the elements."""
    for part, each in zip(parts(result), zip(*map(parts, wanted), strict=True), strict=True):
        np.testing.assert_allclose(part, np.stack(each), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_matrices_are_mapped(name):
    function = FUNCTIONS[name]
    with xp.using(device="cpu"):
        each = [[function(xp.asarray(matrix)) for matrix in row] for row in MATRICES]
        compare(xp.vmap(function)(xp.asarray(MATRICES[:, 0])), [row[0] for row in each])
        compare(xp.vmap(function, in_axes=-1)(xp.asarray(np.moveaxis(MATRICES[:, 0], 0, -1))), [row[0] for row in each])
        nested = xp.vmap(xp.vmap(function, in_axes=2))(xp.asarray(np.moveaxis(MATRICES, 1, -1)))
        rows = [parts(result) for row in each for result in row]
        for part, expected in zip(parts(nested), zip(*rows, strict=True), strict=True):
            np.testing.assert_allclose(part.reshape(6, *part.shape[2:]), np.stack(expected), rtol=1e-9, atol=1e-12)


def test_matrices_that_only_an_outer_batch_has_are_mapped():
    with xp.using(device="cpu"):
        first, second = xp.asarray(MATRICES[:, 0]), xp.asarray(MATRICES[:, 1])
        solve = linalg.solve_sylvester
        result = xp.vmap(lambda a: xp.vmap(lambda q: solve(a, a + xp.eye(4), linalg.sqrtm(a) @ q))(second))(first)
        for row, a in zip(result, first, strict=True):
            compare(row, [solve(a, a + xp.eye(4), linalg.sqrtm(a) @ q) for q in second])


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")  # SciPy's, in single precision
@pytest.mark.parametrize("function", [linalg.logm, linalg.sqrtm])
def test_functions_of_matrices_are_one_call_for_a_batch(function):
    with xp.using(device="wgpu"):
        stack = xp.asarray(MATRICES[:, 0].astype(np.float32))
        before = xp.stats()["fallbacks"]
        result = xp.vmap(function)(stack)
        assert xp.stats()["fallbacks"] - before == 1
        np.testing.assert_allclose(result.get(), [function(matrix).get() for matrix in stack], rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("function", [linalg.logm, linalg.sqrtm])
def test_functions_of_matrices_have_derivatives_in_batches(function):
    weights = np.arange(16.0).reshape(4, 4)
    with xp.using(device="cpu"):
        stack = xp.asarray(MATRICES[:, 0])
        slope = xp.grad(lambda a: (function(a @ a) * weights).sum())
        expected = [slope(matrix).get() for matrix in stack]
        np.testing.assert_allclose(xp.vmap(slope)(stack).get(), expected, rtol=1e-9, atol=1e-12)
        of_all = xp.grad(lambda stack: xp.vmap(lambda a: (function(a @ a) * weights).sum())(stack).sum())
        np.testing.assert_allclose(of_all(stack).get(), expected, rtol=1e-9, atol=1e-12)


def test_results_are_written_to_arguments():
    with xp.using(device="cpu"):
        stack = xp.asarray(MATRICES[:, 0])
        expected = [linalg.sqrtm(matrix) for matrix in stack]

        def replace(a):
            a[...] = linalg.sqrtm(a)
            return a.sum()

        xp.vmap(replace)(stack)
        compare(stack, expected)


def test_arguments_that_are_not_matrices_are_mapped():
    exponents, matrix = np.asarray([0.5, 1.5]), xp.asarray(MATRICES[0, 0])
    with xp.using(device="cpu"):
        power = linalg.fractional_matrix_power
        compare(xp.vmap(lambda t: power(matrix, t))(xp.asarray(exponents)), [power(matrix, t) for t in exponents])
        special = xp.scipy.special
        mapped = xp.vmap(lambda x: special.mathieu_a(2, x))(xp.asarray(MATRICES[0]))
        np.testing.assert_array_equal(mapped.get(), special.mathieu_a(2, MATRICES[0]))
        spline = scipy_interpolate.splrep(np.arange(6.0), np.arange(6.0) ** 2)
        knots = xp.asarray(np.stack([spline[0], spline[0] * 2]))
        points = np.linspace(0, 5, 4)
        each = [xp.scipy.interpolate.splev(points, (t.get(), *spline[1:])) for t in knots]
        compare(xp.vmap(lambda t: xp.scipy.interpolate.splev(points, (t, *spline[1:])))(knots), each)


def test_what_is_not_an_array_or_has_no_elements_is_refused():
    with xp.using(device="cpu"):
        with pytest.raises(BatchingError, match=r"unique_roots has a result whose shape depends.*test_batches\.py:"):
            xp.vmap(lambda p: xp.scipy.signal.unique_roots(p))(xp.asarray([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
        with pytest.raises(BatchingError, match="without elements"):
            xp.vmap(linalg.sqrtm)(xp.zeros((0, 3, 3)))


def test_real_and_complex_results_are_complex_for_all():
    with xp.using(device="cpu"):
        stack = xp.asarray(np.stack([np.eye(2), np.diag([1.0, -1.0])]))
        compare(xp.vmap(linalg.sqrtm)(stack), [linalg.sqrtm(matrix) for matrix in stack])


@pytest.mark.parametrize("function", [linalg.orth, linalg.null_space])
def test_results_whose_shape_depends_on_values_are_refused_with_the_line(function):
    text = f"{function.__name__} has a result whose shape depends on values.*test_batches.py:"
    with xp.using(device="cpu"), pytest.raises(BatchingError, match=text):
        xp.vmap(function)(xp.asarray(MATRICES[:, 0]))
