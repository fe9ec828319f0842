"""Values that a differentiated function reads: numbers for decisions and reports, and what would compute with them."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.errors import DerivativeError

X = (0.5, 1.5, 2.5)


@pytest.fixture(autouse=True, params=["cpu", pytest.param("wgpu:0", marks=pytest.mark.wgpu)])
def device(request: pytest.FixtureRequest) -> Any:
    with xp.using(device=request.param):
        yield


def gradient(fun: Callable[[Any], Any]) -> Any:
    return xp.grad(fun)(xp.asarray(X)).tolist()


def _write_element(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0]
    return x.sum() * y[0]


def _fill(x: Any) -> Any:
    y = np.zeros(3)
    y.fill(x[0])
    return x.sum() * y[0]


@pytest.mark.parametrize(
    ("fun", "name"),
    [
        (lambda x: x[0] * math.sin(x[0]), "math.sin"),
        (lambda x: x[0] * math.fsum(x), "math.fsum"),
        (lambda x: x[0] * cmath.exp(x[0]).real, "cmath.exp"),
        (lambda x, sine=math.sin: x[0] * sine(x[0]), "math.sin"),
        (lambda x: x[0] * np.fromiter((v * v for v in x), float)[0], "numpy.fromiter"),
        (_write_element, "a write to an array of NumPy"),
        (_fill, "numpy.fill"),
    ],
)
def test_numbers_are_not_lost_in_functions_that_compute_with_them(fun: Callable[[Any], Any], name: str) -> None:
    with pytest.raises((DerivativeError, ValueError)) as caught:  # NumPy raises its own error from ours
        gradient(fun)
    error: Any = caught.value
    while not isinstance(error, DerivativeError):
        error = error.__cause__
    assert str(error).startswith(f"{name} computes with values on the host")
    assert "test_reads.py:" in str(error)


@pytest.mark.parametrize(
    "read",
    [
        float,
        bool,
        complex,
        str,
        math.isfinite,
        math.floor,
        lambda v: f"{v:.3f}",
        lambda v: "%.3f" % v,  # noqa: UP031  # asks for a number in another way
        lambda v: {"loss": float(v)},
        lambda v: math.exp(float(v)),
        lambda v: math.exp(xp.stop_gradient(v)),
        lambda v: divmod(float(v), 1),
    ],
)
def test_numbers_may_be_read(read: Callable[[Any], Any]) -> None:
    seen = []

    def fun(x: Any) -> Any:
        y = (x * x).sum()
        seen.append(read(y))
        return y

    assert gradient(fun) == [1, 3, 5]
    assert seen
