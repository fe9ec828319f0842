"""Derivatives of functions by arguments that decide which elements are taken, and of those that NumPy computes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import check_grads

A = np.random.default_rng(0).standard_normal((5, 4))
X = np.linspace(-1, 2, 9)
SHARES = np.array([0.13, 0.55])
METHODS = ("linear", "hazen", "weibull", "midpoint", "median_unbiased", "lower")


def _moments(values: Any) -> Any:
    """Return real numbers that are functions of complex ones."""
    return values.real * np.arange(1, values.size + 1) + values.imag**2


@pytest.fixture(autouse=True)
def on_host() -> Any:
    with xp.using(device="cpu"):
        yield


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda a, q: np.nanquantile(a, q), (A, SHARES)),
        (lambda a, q: np.percentile(a, 100 * q, axis=1), (A, SHARES)),
        (lambda p: _moments(np.roots(p)), ([1.0, -3.0, 2.0],)),
        (lambda p: _moments(np.roots(p)), ([1.0, 2.0, 5.0, 0.3],)),
        (np.roots, ([1 + 1j, 2 - 1j, 0.5],)),
        (lambda x, y: np.polyfit(x, y, 3), (X, np.sin(X))),
        (np.polydiv, ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 3.0])),
        (np.polydiv, ([1.0], [2.0, 1.0])),
        (lambda w: np.histogram(X, 4, weights=w)[0], (X,)),
        (lambda a, w: np.cov(a, aweights=w), (A, np.arange(1.0, 5.0))),
    ],
)
def test_derivatives_agree_with_differences(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    check_grads(function, tuple(map(xp.asarray, arguments)), order=2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_change_with_their_share(method: str) -> None:
    check_grads(lambda a, q: np.quantile(a, q, axis=0, method=method), (xp.asarray(A), xp.asarray(SHARES)), order=1)


def test_edges_of_bins_move_with_the_extremes() -> None:
    weights = xp.asarray(A * A + 1)
    check_grads(lambda a, w: np.histogram(a, 4, weights=w, density=True), (xp.asarray(A), weights), order=1)
    check_grads(lambda a: np.histogramdd(a, 3)[1], (xp.asarray(A),), order=1)
    slope = xp.grad(lambda a: np.histogram_bin_edges(a, "sturges")[1])(xp.asarray(A))
    assert np.count_nonzero(slope) == 2
    assert float(slope.sum()) == pytest.approx(1)


def test_no_root_is_lost_beside_zeros() -> None:
    # the root 0 of x**3 - 3 x**2 + 2 x moves, although NumPy cuts the coefficient that moves it off
    slope = xp.grad(lambda p: np.roots(p)[2].real)(xp.asarray([1.0, -3.0, 2.0, 0.0]))
    np.testing.assert_allclose(slope, [0, 0, 0, -0.5])


def test_nothing_at_no_positions_changes_nothing() -> None:
    def fun(x: Any) -> Any:
        y = x * x
        np.multiply.at(y, np.zeros(0, int), 3.0)
        return y.sum()

    assert xp.grad(fun)(xp.asarray([1.0, 2.0])).tolist() == [2, 4]
