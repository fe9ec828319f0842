"""Loops without folds over strided layouts find the elements that NumPy finds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import need_dtypes, values

import gpuarray as xp
from gpuarray.device import Capabilities
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


def _chain(x: Any, more: Any) -> Any:
    return np.sin(x) * more[:1] * (np.exp(-x) + more)


@pytest.mark.parametrize("count", [4096, 1003])
@pytest.mark.parametrize("start", [0, 1], ids=["aligned", "not aligned"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 2e-15)])
def test_elements_without_fast_paths_are_computed_again(dtype: str, tolerance: float, start: int, count: int) -> None:
    """One in seven, so that each of the four places of an invocation is met, and its neighbours are ordinary."""
    need_dtypes("wgpu", dtype)
    x = np.linspace(-3, 3, count, dtype=dtype)
    x[::7] = np.resize(np.array([1e6, np.inf, -np.inf, np.nan, -0.0, -1e6, 1e-310, -2000], dtype), len(x[::7]))
    more = np.linspace(1, 2, count, dtype=dtype)
    with xp.using(device="wgpu"), np.errstate(all="ignore"):
        y, others = xp.asarray(x)[start:], xp.asarray(more)[start:]
        assert "if (!fine)" in str(xp.explain(_chain(y, others), stage="wgsl"))
        want = _chain(x[start:], more[start:])
        np.testing.assert_allclose(np.asarray(_chain(y, others)), want, rtol=tolerance)
        y *= np.exp(y)  # read and written in one place
        np.testing.assert_allclose(np.asarray(y), x[start:] * np.exp(x[start:]), rtol=tolerance)


@pytest.mark.parametrize("count", [1, 5, 65_540, 131_079])
def test_ranges_are_made_four_at_a_time(count: int) -> None:
    whole = np.arange(count, dtype="float32")
    with xp.using(device="wgpu"):
        np.testing.assert_array_equal(np.asarray(xp.arange(count, dtype="float32") * 3), whole * 3)
        start, step = np.float32(0.1), np.float32(0.7)
        steps = whole * ((start + step) - start)
        ours = xp.arange(start, start + count * step, step, dtype="float32")[:count] + 0
        np.testing.assert_array_equal(np.asarray(ours), start + steps)
        result = np.asarray(xp.linspace(-1, 2, count, dtype="float32") + 0)
        np.testing.assert_allclose(result, np.linspace(-1, 2, count, dtype="float32"), rtol=1e-6, atol=1e-7)
        assert result[-1] == (2 if count > 1 else -1)


def test_neighbours_are_gathered_for_one_element_by_an_invocation_of_a_gpu(
    monkeypatch: pytest.MonkeyPatch, nothing_prepared: None
) -> None:
    monkeypatch.setattr(Capabilities, "is_software", False)
    x, places = values((1000,), "float32"), np.random.default_rng(0).integers(0, 999, 5003, np.int32)
    with xp.using(device="wgpu"):
        y, at = xp.asarray(x), xp.asarray(places)
        assert "first = block * 256u + local;" in str(xp.explain(y[at + 1] - y[at], stage="wgsl"))
        assert "first = block * 256u" not in str(xp.explain(y[at] * 2, stage="wgsl"))
        np.testing.assert_array_equal(np.asarray(y[at + 1] - y[at]), x[places + 1] - x[places])
