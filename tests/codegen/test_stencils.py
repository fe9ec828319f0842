"""Loops that read an array at neighbouring places keep what they read for the elements below: NumPy's values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import need_dtypes, values

import gpuarray as xp
from gpuarray.codegen import emit, stencils
from gpuarray.graph.layouts import Shape

pytestmark = pytest.mark.wgpu

Function = Callable[[Any], Any]

FUNCTIONS: dict[str, Function] = {
    "five points": lambda x: x[..., 1:-1, 1:-1] * 2 + x[..., 2:, 1:-1] - x[..., :-2, 1:-1] + x[..., 1:-1, 2:] * 3,
    "the element below": lambda x: x[..., 1:, 1:] - x[..., :-1, 1:],
    "three rows apart": lambda x: x[..., 10:, 2:] - x[..., 7:-3, 2:] + x[..., :-10, 2:],
    "a row for all": lambda x: (
        x[..., 1:, 3:] * x[..., :1, 3:] - x[..., :-1, 3:] + np.arange(x.shape[-1] - 3, dtype="f4")
    ),
    "upside down and reversed": lambda x: x[..., 2:, ::-1] + x[..., :-2, ::-1] - x[..., 1:-1, :] * x[..., -2:0:-1, :],
    "every other": lambda x: x[..., 2::2, ::2] + x[..., :-2:2, ::2],
}


@pytest.fixture
def stacked(monkeypatch: pytest.MonkeyPatch, nothing_prepared: None) -> list[str]:
    """The labels of the kernels that keep what they read."""
    seen: list[str] = []

    def launch(*arguments: Any) -> Any:
        seen.append(arguments[2])
        return stencils.stencil_launch(*arguments)

    monkeypatch.setattr(emit, "stencil_launch", launch)
    return seen


@pytest.mark.parametrize("shape", [(16, 131), (15, 200), (21, 140), (3, 18, 129), (2, 3, 16, 130)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_numpys(name: str, shape: Shape, stacked: list[str]) -> None:
    x = values(shape, "float32")
    with xp.using(device="wgpu"):
        result = FUNCTIONS[name](xp.asarray(x))
        np.testing.assert_array_equal(np.asarray(result), FUNCTIONS[name](x))
    assert stacked


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex64", "int16", "bool"])
def test_dtypes(dtype: str, stacked: list[str]) -> None:
    need_dtypes("wgpu", np.result_type(dtype, np.float32))
    x = values((19, 150), dtype)
    with xp.using(device="wgpu"):
        y = xp.asarray(x)
        result = np.asarray(y[1:, 1:] + y[:-1, 1:] * np.float32(2))
        np.testing.assert_array_equal(result, x[1:, 1:] + x[:-1, 1:] * np.float32(2))
        assert len(stacked) == 1
        # packed elements are written four at a time, by flat kernels
        np.testing.assert_array_equal(np.asarray(y[1:, 1:] == y[:-1, 1:]), x[1:, 1:] == x[:-1, 1:])
    assert len(stacked) == 1


def test_what_shares_nothing_stays_a_flat_kernel(stacked: list[str]) -> None:
    x = values((64, 130), "float32")
    with xp.using(device="wgpu"):
        y = xp.asarray(x)
        for function in (lambda x: x[1:] - x[:-1], lambda x: x[8:, 1:] + x[:-8, 1:], lambda x: x[:3, 1:] - x[1:4, 1:]):
            np.testing.assert_array_equal(np.asarray(function(y)), function(x))
    assert not stacked
