"""Positions of elements, through masks and in sorted lines, against NumPy; on devices only counts are read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import DTYPES, special_values, values

import gpuarray as xp
from gpuarray.testing import assert_same

MEANT: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "strided": lambda x: x[::-2, :, 1:],
    "transposed": lambda x: x.T,
    "line": lambda x: x.reshape(-1),
    "row": lambda x: x[2, 3],
    "empty": lambda x: x[:0],
    "empty rows": lambda x: x[:, :, :0],
    "single": lambda x: x[1:2, 1:2, 1:2],
}


def _read(before: dict[str, int]) -> int:
    return xp.stats()["bytes_downloaded"] - before["bytes_downloaded"]


@pytest.mark.parametrize("view", MEANT)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"])
def test_nonzero(dtype: str, view: str, device: Any) -> None:
    whole = values((5, 4, 3), dtype)
    whole[::2, 1] = 0
    host, x = MEANT[view](whole), MEANT[view](xp.asarray(whole))
    for actual, expected in zip(xp.nonzero(x), host.nonzero(), strict=True):
        assert_same(actual, expected)
    for actual, expected in zip(x.nonzero(), np.nonzero(host), strict=True):
        assert_same(actual, expected)
    assert_same(xp.argwhere(x), np.argwhere(host))
    assert_same(xp.flatnonzero(x), np.flatnonzero(host))
    assert_same(np.flatnonzero(x), np.flatnonzero(host))
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero_of_special_values(dtype: str, device: Any) -> None:
    host = special_values(dtype)
    assert_same(xp.nonzero(xp.asarray(host))[0], host.nonzero()[0])


def test_nonzero_of_broadcast_and_zero_dimensional_arrays(device: Any) -> None:
    line = np.array([0, 2, 0, -1])
    for actual, expected in zip(
        xp.nonzero(xp.broadcast_to(xp.asarray(line), (3, 4))), np.nonzero(np.broadcast_to(line, (3, 4))), strict=True
    ):
        assert_same(actual, expected)
    for scalar in (0, 3):
        assert_same(xp.argwhere(xp.asarray(scalar)), np.argwhere(scalar))
        assert_same(xp.flatnonzero(xp.asarray(scalar)), np.flatnonzero(scalar))
    with pytest.raises(ValueError, match="0d"):
        xp.nonzero(xp.asarray(1))
    actual = xp.nonzero(xp.asarray(line))[0]
    actual[0] = 7  # results are arrays to write to
    assert actual.tolist() == [7, 3]


@pytest.mark.parametrize("size", [255, 2048, 2049, 70_000])
def test_many_blocks(size: int, device: Any) -> None:
    host = np.random.default_rng(size).random(size, np.float32)
    for limit in (-1.0, 0.5, 0.999, 2.0):
        x = xp.asarray(host)
        assert_same(xp.nonzero(x > limit)[0], np.nonzero(host > limit)[0])
        assert_same(x[x > limit], host[host > limit])


def test_only_the_count_is_read(device: Any) -> None:
    x = xp.asarray(values((300, 50), np.float32))
    is_host = device.kind != "wgpu"
    for function in (
        lambda: xp.nonzero(x > 1),
        lambda: (xp.argwhere(x > 1),),
        lambda: (xp.flatnonzero(x),),
        lambda: (x[x > 1], x[:, x[0] > 1]),
        lambda: xp.unique_all(x),
        lambda: (xp.isin(x, x[3]),),
    ):
        xp.evaluate(x + 1)
        before = xp.stats()
        xp.evaluate(*function())
        assert is_host or _read(before) <= 8
        assert xp.stats()["fallbacks"] == 0


def test_positions_along_all_axes_are_one_launch() -> None:
    x = xp.asarray(values((40, 30, 20), np.float32), device="wgpu")
    assert xp.explain(*xp.nonzero(x > 1)).launches == 1
    mask = x > 1
    assert xp.explain((x * 2 + 1)[mask]).launches == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side: str, dtype: str, device: Any) -> None:
    host = special_values(dtype)
    line = np.sort(np.tile(host, 3))
    if np.dtype(dtype).kind == "c":
        line = np.append(line, np.array([complex(1, np.nan), complex(np.nan, 2), complex(np.nan, np.nan)], dtype))
    for expected in (host, line, host[::-2], host[:0], host[:1].reshape(()), line.reshape(3, -1).T):
        result = xp.searchsorted(xp.asarray(line), xp.asarray(expected), side=side)
        assert_same(result, np.asarray(np.searchsorted(line, expected, side=side)))
        assert_same(xp.searchsorted(xp.asarray(line[:0]), xp.asarray(expected)), np.zeros(expected.shape, np.int64))
    if dtype not in ("float64", "complex128"):
        assert xp.stats()["fallbacks"] == 0


def test_searchsorted_arguments(device: Any) -> None:
    host = np.array([3, 1, 2, 1], np.float32)
    x, order = xp.asarray(host), np.argsort(host, stable=True)
    for sorter in (order, xp.asarray(order), order.tolist()):
        assert_same(xp.searchsorted(x, [1, 2.5], sorter=sorter), np.searchsorted(host, [1, 2.5], sorter=order))
        assert_same(x.searchsorted(host, "right", sorter), host.searchsorted(host, "right", order))
    line = np.array([0.1, 0.2], np.float32)
    assert int(xp.searchsorted(xp.asarray(line), 0.1, side="right")) == np.searchsorted(line, 0.1, side="right")
    assert int(np.searchsorted(xp.asarray(line), 2)) == 2
    assert_same(xp.searchsorted(xp.asarray([1, 5]), xp.asarray([1.5])), np.searchsorted([1, 5], [1.5]))
    for arguments, words in (
        ((xp.ones((2, 2)), 1), "one axis"),
        ((x, 1, {"side": "middle"}), "side"),
        ((x, 1, {"sorter": [0, 1]}), "sorter"),
    ):
        with pytest.raises(ValueError, match=words):
            xp.searchsorted(*arguments[:2], **(arguments[2] if len(arguments) > 2 else {}))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("length", [2, 3, 50, 5000])
def test_many_values_in_a_short_line(dtype: Any, side: str, length: int) -> None:
    random = np.random.default_rng(2)
    numbers = random.normal(size=length)
    for line in (np.sort(numbers), np.arange(length), np.sort(random.integers(0, length, length)), np.full(length, 2)):
        line = line.astype(dtype)
        values = random.normal(size=9 * length + 9).astype(dtype)
        values[: length + 7] = [*line, np.inf, -np.inf, 0.0, -0.0, *np.nextafter(line[-1], [0, 9, -9]).astype(dtype)]
        for some in (values, np.append(values, dtype(np.nan)), -np.abs(values), values.reshape(3, -1)):
            with xp.using(device="cpu"):
                result = xp.searchsorted(xp.asarray(line), xp.asarray(some), side=side)
            np.testing.assert_array_equal(np.asarray(result), np.searchsorted(line, some, side))
