"""Derivatives and batches of the calls of image processing."""

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.array import wrap
from gpuarray.graph import build
from gpuarray.ops import images
from gpuarray.testing import check_grads

X = np.random.default_rng(0).standard_normal((6, 7))


@pytest.fixture(params=["cpu", pytest.param("wgpu", marks=pytest.mark.wgpu)], autouse=True)
def place(request: pytest.FixtureRequest) -> Any:
    with xp.using(device=request.param):
        yield request.param


@pytest.mark.parametrize("edges", [{}, {"mode": "constant", "cval": 0.3}])
def test_ranks_of_windows(edges: dict[str, Any]) -> None:
    def fun(x: Any) -> Any:
        return xp.scipy.ndimage.median_filter(x, size=3, **edges) ** 2

    check_grads(fun, (xp.asarray(X),), order=1)
    batch = np.stack([X, 2 * X]).astype(np.float32)
    expected = [ndimage.median_filter(x, size=3, **edges) ** 2 for x in batch]
    np.testing.assert_allclose(xp.vmap(fun)(xp.asarray(batch)), expected, rtol=1e-5)


@pytest.mark.parametrize("is_largest", [False, True])
@pytest.mark.parametrize("axis", [-1, -2])
def test_least_sums_along_lines(axis: int, is_largest: bool) -> None:
    def fun(heights: Any, away: Any) -> Any:
        operands, parameters = (heights.node(), away.node()), {"axis": axis, "is_largest": is_largest}
        node = build.call_one(images.lower_envelope, operands, X.shape, dtypes.float64, **parameters)
        return wrap(node, heights.device)

    away = xp.asarray((np.arange(X.shape[axis]) * 0.3) ** 2)
    check_grads(fun, (xp.asarray(X * X), away), order=1)


def test_connected_parts_are_those_of_each_element() -> None:
    def fun(inside: Any) -> Any:
        before = ((-1, 0), (0, -1))
        node = build.call_one(images.first_of_part, (inside.node(),), X.shape, dtypes.int32, before=before)
        return wrap(node, inside.device)

    batch = xp.asarray(np.stack([X > 0, X > 0.5]))
    np.testing.assert_array_equal(xp.vmap(fun)(batch), np.stack([fun(one).get() for one in batch]))
