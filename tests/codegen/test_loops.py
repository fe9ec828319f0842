"""Loops without folds over strided layouts find the elements that NumPy finds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.graph.layouts import Shape

pytestmark = pytest.mark.wgpu

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "neighbours": lambda u: u[..., 1:-1] + u[..., 2:] * 2 - u[..., :-2],
    "rows": lambda u: u[1:, ...] - u[:-1, ..., ::-1],
    "a column": lambda u: u[..., 1:] + u[..., :1],
    "booleans": lambda u: (u[..., 1:] > 0) | (u[..., :-1] > 1),
    "every other": lambda u: u[..., ::2] * u[..., ::2],
}


@pytest.mark.parametrize("shape", [(9, 1030), (41, 258), (7, 66), (5, 6, 301), (9, 3), (3, 2, 3, 1001)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_strided(name: str, shape: Shape) -> None:
    x = values(shape, "float32")
    with xp.using(device="wgpu"):
        np.testing.assert_array_equal(np.asarray(FUNCTIONS[name](xp.asarray(x))), FUNCTIONS[name](x))


def test_what_is_written_in_place_is_read_before() -> None:
    x = values((5, 1030), "float32")
    with xp.using(device="wgpu"):
        y = xp.asarray(x)
        y[:, 1:-1] += y[:, 1:-1] * 2
        x[:, 1:-1] += x[:, 1:-1] * 2
        np.testing.assert_array_equal(np.asarray(y), x)
