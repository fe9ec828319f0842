"""Arrays larger than one storage binding: kernels see them through windows, and nothing falls back to the host."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.errors import FallbackError
from gpuarray.providers import registry
from gpuarray.runtime import evaluate

SMALL = "wgpusmall"
LIMIT = 1 << 18


def _open_small(number: int) -> Any:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    provider = WgpuProvider(number, device=Device(SMALL))
    provider.capabilities = replace(provider.capabilities, binding_limit=LIMIT)
    return provider


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The default device is one whose bindings show little."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(SMALL, _open_small)
    with xp.using(device=SMALL, fallback="error"):
        yield


def larger(limit: int, rows: int) -> np.ndarray:
    """Return rows that are together longer than a binding that shows so many bytes."""
    columns = limit // (4 * rows) + 513
    return (np.arange(rows * columns, dtype=np.int64) % 97).astype(np.float32).reshape(rows, columns)


@pytest.fixture(scope="module")
def host() -> np.ndarray:
    return larger(min(evaluate.provider_of(Device("wgpu")).capabilities.binding_limit, 1 << 27), 4096)


POSITIONS = np.random.default_rng(0).integers(0, 1 << 16, 70_000)


def written(p: Any, x: Any) -> Any:
    """Write more values than one binding shows to an array that is larger, some of them to one place."""
    found = p.concat([x.reshape(-1), x.reshape(-1)])
    found[p.asarray(POSITIONS * 3)] = p.asarray(np.arange(70_000, dtype=np.float32))
    found[p.asarray(POSITIONS[:9])] = p.asarray(-np.arange(9, dtype=np.float32))
    return found


def bytes_written(p: Any, x: Any) -> Any:
    """Write bytes to an array of bytes that is larger than a binding shows."""
    found = p.concat([x.reshape(-1)] * 3) > 50
    found[p.asarray(POSITIONS * 7 // 2)] = p.asarray(POSITIONS % 3 == 0)
    return found


FUNCTIONS = {
    "taken": lambda p, x: x.reshape(-1)[p.asarray(POSITIONS * 3)] * 2,
    "taken and summed": lambda p, x: x.reshape(-1)[p.asarray(POSITIONS * 3)].reshape(100, -1).sum(axis=1),
    "bytes taken": lambda p, x: (p.concat([x.reshape(-1)] * 5) > 50)[p.asarray(POSITIONS * 15)],
    "wide numbers taken": lambda p, x: x.reshape(-1).astype(np.int64)[p.asarray(POSITIONS * 3)],
    "counted": lambda p, x: np.bincount(x.reshape(-1).astype(np.int64)),
    "histogram": lambda p, x: np.histogram(x, bins=50)[0],
    "searched": lambda p, x: np.searchsorted(p.arange(97, dtype=np.float32), x.reshape(-1)),
    "selected": lambda p, x: x[x > 3],
    "where it is not zero": lambda p, x: p.nonzero(x)[1],
    "written": written,
    "bytes written": bytes_written,
    "flat": lambda p, x: x * 2 + 1,
    "transposed": lambda p, x: x.T + 1,
    "strided": lambda p, x: x[::2, ::-1] * 3,
    "columns": lambda p, x: x.sum(axis=0),
    "rows": lambda p, x: x.max(axis=1),
    "all": lambda p, x: p.sum(x > 50),
    "positions": lambda p, x: x.argmax(axis=0),
    "position": lambda p, x: (x + p.arange(x.shape[1], dtype=np.float32)).argmax(),
    "joined": lambda p, x: p.concat([x, x[:, ::2], x], axis=1),
    "padded": lambda p, x: np.pad(x[:, 0], 100_000, constant_values=3),
    "variance": lambda p, x: p.var(x // 97),
    "variances": lambda p, x: p.var(x // 97, axis=0),
    "sorted lines": lambda p, x: p.sort(x[:, ::-1], axis=1),
    "product": lambda p, x: x @ x[:9].T,
    "product with a vector, and more": lambda p, x: (x @ x[5]) * 2 + 1,
    "products": lambda p, x: x[:, :768].reshape(16, 192, 64) @ x[:16, :640].reshape(16, 64, 10),
    "wide product": lambda p, x: x[:250, :4] @ x[:4, :400],
    "order of lines": lambda p, x: np.argsort(x[:, :768], axis=1, kind="stable"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_larger_than_a_small_binding(small: None, name: str) -> None:
    function, x = FUNCTIONS[name], larger(LIMIT, 256)
    np.testing.assert_array_equal(np.asarray(function(xp, xp.asarray(x))), function(np, x))
    assert xp.stats()["fallbacks"] == 0


def test_transforms_of_lines_beyond_a_binding(small: None) -> None:
    x = larger(LIMIT, 256)[:, :768]
    found, wanted = np.asarray(np.fft.fft(xp.asarray(x))), np.fft.fft(x)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * abs(wanted).max())
    real = np.asarray(np.fft.irfft(np.fft.rfft(xp.asarray(x)), 768))
    np.testing.assert_allclose(real, x, rtol=0, atol=1e-4)
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("name", ["strided", "rows", "position"])
def test_larger_than_a_binding(name: str, host: np.ndarray) -> None:
    function, x = FUNCTIONS[name], xp.asarray(host, device="wgpu")
    xp.reset_stats()
    np.testing.assert_array_equal(np.asarray(function(xp, x)), function(np, host))
    assert xp.stats()["fallbacks"] == 0


def test_a_region_of_a_large_array_is_written(host: np.ndarray) -> None:
    expected = host.copy()
    expected[1000:2000] = 0
    x = xp.asarray(host, device="wgpu")
    xp.reset_stats()
    x[1000:2000] = 0
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert xp.stats()["fallbacks"] == 0


#: Few long rows, some rows to a piece, columns, columns of which a usual block is too large; and narrow operands.
RUNNING = [
    ("float32", (5 * LIMIT // 4 + 3,), 0),
    ("float32", (3, LIMIT // 4 + 8), 1),
    ("float32", (50, 4, 1001), 2),
    ("float32", (50, 4, 1001), 1),
    ("float32", (2, 1000, 90), 1),
    ("float32", (90, 9000), 0),
    ("float32", (9000, 9), 0),
    ("bool", (LIMIT + 77,), 0),
]


@pytest.mark.parametrize(("dtype", "shape", "axis"), RUNNING, ids=str)
def test_running_sums_go_on_from_piece_to_piece(small: None, dtype: str, shape: tuple[int, ...], axis: int) -> None:
    x = values(shape, dtype)
    wanted, found = np.cumsum(x, axis=axis), np.cumsum(xp.asarray(x), axis=axis)
    np.testing.assert_array_equal(np.asarray(found), wanted)  # sums of halves are exact
    np.testing.assert_array_equal(np.asarray(found * 2 > 5), wanted * 2 > 5)


def test_what_lies_side_by_side_is_not_cut(small: None) -> None:
    x = xp.asarray(values((3, LIMIT), "float32"))
    with pytest.raises(FallbackError, match="binding"):
        xp.evaluate(np.cumsum(x, axis=0))
