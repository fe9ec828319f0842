"""Arrays larger than one storage binding: kernels see them through windows, and nothing falls back to the host."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.runtime import evaluate


@pytest.fixture(scope="module")
def host() -> np.ndarray:
    limit = evaluate.provider_of(Device("wgpu")).capabilities.binding_limit
    rows = 4096
    columns = min(limit, 1 << 27) // (4 * rows) + 513
    return (np.arange(rows * columns, dtype=np.int64) % 97).astype(np.float32).reshape(rows, columns)


@pytest.mark.parametrize(
    "function",
    [
        lambda p, x: x * 2 + 1,
        lambda p, x: x.T + 1,
        lambda p, x: x[::2, ::-1] * 3,
        lambda p, x: x.sum(axis=0),
        lambda p, x: x.max(axis=1),
        lambda p, x: p.sum(x > 50),
        lambda p, x: x.argmax(axis=0),
        lambda p, x: (x + p.arange(x.shape[1], dtype=np.float32)).argmax(),
    ],
    ids=["flat", "transposed", "strided", "columns", "rows", "all", "positions", "position"],
)
def test_larger_than_a_binding(function, host: np.ndarray) -> None:
    x = xp.asarray(host, device="wgpu")
    xp.reset_stats()
    actual = np.asarray(function(xp, x))
    np.testing.assert_array_equal(actual, function(np, host))
    assert xp.stats()["fallbacks"] == 0


def test_a_region_of_a_large_array_is_written(host: np.ndarray) -> None:
    expected = host.copy()
    expected[1000:2000] = 0
    x = xp.asarray(host, device="wgpu")
    xp.reset_stats()
    x[1000:2000] = 0
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert xp.stats()["fallbacks"] == 0
