"""Derivatives at ties, at zero, and at matrices where a formula for others would divide by zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import check_grads

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NAN, INF = np.nan, np.inf
TIE = (2.0, 2.0)
ZERO = (0.0, 0.0)
SINGULAR = np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])


@pytest.fixture(params=["cpu", pytest.param("wgpu:0", marks=pytest.mark.wgpu)])
def everywhere(request: pytest.FixtureRequest) -> Any:
    with xp.using(device=request.param):
        yield


@pytest.fixture
def on_host() -> Any:
    with xp.using(device="cpu"):
        yield


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        # several elements are the extreme one
        (np.max, TIE, (0.5, 0.5)),
        (np.nanmax, (NAN, 2.0, 2.0), (0, 0.5, 0.5)),
        (lambda x: np.maximum(x, 2.0), TIE, (0.5, 0.5)),
        (lambda x: np.minimum(x, 2.0), TIE, (0.5, 0.5)),
        (lambda x: np.fmax(x, 2.0), TIE, (0.5, 0.5)),
        (lambda x: np.fmin(x, 2.0), TIE, (0.5, 0.5)),
        (lambda x: np.fmax(x, np.asarray([NAN, 3.0])), TIE, (1, 0)),
        (lambda x: np.clip(x, 0.0, 2.0), TIE, (0.5, 0.5)),
        (lambda x: np.sort(x) * np.asarray([1.0, 3.0]), TIE, (1, 3)),
        (np.median, (2.0, 2.0, 2.0), (0, 1, 0)),
        (np.ptp, TIE, (0, 0)),
        # lengths are 0
        (np.abs, ZERO, (0, 0)),
        (np.sqrt, ZERO, (INF, INF)),
        (np.cbrt, ZERO, (INF, INF)),
        (lambda x: np.hypot(x[0], x[1]), ZERO, (0, 0)),
        (lambda x: np.hypot(x[0], x[1]), (0.0, 1.0), (0, 1)),
        (np.linalg.norm, ZERO, (0, 0)),
        (lambda x: np.linalg.norm(x, 1), ZERO, (0, 0)),
        (lambda x: np.linalg.norm(x, 3), ZERO, (0, 0)),
        (lambda x: np.linalg.norm(x, np.inf), ZERO, (0, 0)),
        (np.std, TIE, (0, 0)),
        (np.var, TIE, (0, 0)),
        (np.sign, ZERO, (0, 0)),
        (lambda x: np.copysign(x, -1.0), ZERO, (0, 0)),
        # powers of 0
        (lambda x: x**2, ZERO, (0, 0)),
        (lambda x: x**1.0, ZERO, (1, 1)),
        (lambda x: x**0.0, ZERO, (0, 0)),
        (lambda x: x**0.5, ZERO, (INF, INF)),
        (lambda x: np.zeros(2) ** x, TIE, (0, 0)),
        (np.sinc, ZERO, (0, 0)),
        # several factors are 0
        (np.prod, (0.0, 2.0, 3.0), (6, 0, 0)),
        (np.prod, (0.0, 0.0, 3.0), (0, 0, 0)),
        (np.prod, (1e200, 1e200), (1e200, 1e200)),
        (np.prod, (1e-200, 1e-200), (1e-200, 1e-200)),
        (np.prod, (INF, 2.0), (2, INF)),
        (lambda x: np.cumprod(x), (1.0, 0.0, 3.0), (1, 4, 0)),
    ],
)
def test_points_without_a_unique_derivative(function: Callable[[Any], Any], point: Any, expected: Any) -> None:
    result = xp.grad(lambda x: function(x).sum())(xp.asarray(point))
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.usefixtures("everywhere")
def test_singular_matrices_have_cofactors() -> None:
    det = xp.grad(np.linalg.det)
    np.testing.assert_allclose(det(xp.asarray(SINGULAR)), [[4, 4, -4], [-2, -2, 2], [0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(det(xp.zeros((3, 3))), np.zeros((3, 3)))
    np.testing.assert_allclose(det(xp.zeros((1, 1))), [[1]])
    both = xp.asarray(np.stack([SINGULAR, np.eye(3)]))
    np.testing.assert_allclose(xp.grad(lambda a: np.linalg.det(a).sum())(both)[1], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(xp.vmap(det)(both), [det(both[0]), np.eye(3)], atol=1e-12)


@pytest.mark.usefixtures("on_host")
def test_singular_complex_matrices_have_cofactors() -> None:
    check_grads(np.linalg.det, (xp.asarray([[1, 1j], [1j, -1]]),), order=1)


@pytest.mark.usefixtures("everywhere")
def test_equal_singular_values_are_no_obstacle_where_only_values_are_used() -> None:
    eye, zero = xp.asarray(np.eye(3)), xp.zeros((3, 3))
    weights = np.arange(3.0)
    values = xp.grad(lambda a: (np.linalg.eigvalsh(a) * weights).sum())(eye)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(values.get())), weights, atol=1e-6)
    for singular in (eye, zero):
        slope = xp.grad(lambda a: np.linalg.svd(a, compute_uv=False).sum())(singular)
        np.testing.assert_allclose(slope.get() @ slope.get().T, np.eye(3), atol=1e-6)


@pytest.mark.usefixtures("on_host")
@pytest.mark.parametrize("matrix", [np.eye(3), np.eye(4, 3), np.diag([2.0, 2, 1])])
def test_pseudo_inverses_of_equal_singular_values_have_derivatives(matrix: Any) -> None:
    check_grads(np.linalg.pinv, (xp.asarray(matrix),), order=2)


@pytest.mark.usefixtures("on_host")
def test_the_pseudo_inverse_of_zeros_keeps_its_rank() -> None:
    assert not xp.grad(lambda a: np.linalg.pinv(a).sum())(xp.zeros((3, 3))).get().any()


@pytest.mark.usefixtures("on_host")
def test_vectors_of_equal_eigenvalues_have_none() -> None:
    slope = xp.grad(lambda a: np.linalg.eigh(a)[1][0, 1])(xp.asarray(np.eye(2)))
    assert np.isnan(slope.get()).all()


@pytest.mark.usefixtures("on_host")
@pytest.mark.parametrize("function", [np.lib.scimath.arcsin, np.lib.scimath.arccos, np.lib.scimath.arctanh])
def test_beyond_branch_points_the_derivative_is_that_of_the_side_of_the_cut(function: Callable[[Any], Any]) -> None:
    check_grads(function, (xp.asarray([-2.0, 0.3, 2.0]),), order=1)
