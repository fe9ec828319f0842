"""The example of a provider in the documentation is one: arrays on it behave as on any device."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.testing import assert_same

EXAMPLE = Path(__file__).parents[2] / "docs" / "how-to" / "tiny_provider.py"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, which registers its provider; the default device is its."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(registry, "_opened", dict(registry._opened))
    spec = importlib.util.spec_from_file_location("tiny_provider", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with xp.using(device="tiny"):
        yield module


def test_it_has_all_members_of_the_protocol(tiny: Any) -> None:
    expected = {name for name in vars(Provider) if not name.startswith("_")} | {"device", "capabilities"}
    assert {name for name in expected if not hasattr(tiny.TinyProvider(0), name)} == set()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64", "complex64"])
def test_elementwise_chains_and_views(tiny: Any, dtype: str) -> None:
    one, other = values((6, 7), dtype, 1), values((6, 7), dtype, 2)
    x, y = xp.asarray(one), xp.asarray(other)
    assert_same(x.T + y.T[:, ::-1], one.T + other.T[:, ::-1])
    assert_same(xp.where(x == y, x, y * x)[1::2], np.where(one == other, one, other * one)[1::2])
    assert xp.stats()["fallbacks"] == 0
    assert xp.stats()["launches"] > 0


def test_writes_in_place(tiny: Any) -> None:
    expected = np.arange(20.0)
    x = xp.arange(20.0) + 0
    for array in (expected, x):
        array[3:9] = array[1:7]
        array[::2] *= 10
    assert_same(x, expected)


def test_the_rest_runs_on_the_host_and_is_counted(tiny: Any) -> None:
    host = np.linspace(0, 1, 30).reshape(5, 6)
    x = xp.asarray(host)
    assert_same(xp.sum(x * 2, axis=0), np.sum(host * 2, axis=0), ulp=2)
    assert_same(xp.sort(x[::-1], axis=0), host)
    assert xp.stats()["fallbacks"] == 2
    with xp.using(fallback="error"), pytest.raises(xp.errors.FallbackError, match="Fold"):
        np.asarray(xp.sum(x))


def test_memory_is_given_back_and_has_an_end(tiny: Any) -> None:
    registry.register("tiny", lambda number: tiny.TinyProvider(number, room=1900))
    x = xp.asarray(np.ones(100))
    xp.evaluate(y := x + 1)
    provider: Any = registry.open_device(Device("tiny"))
    assert provider.stats()["bytes_live"] >= 800
    del x, y
    assert provider.stats()["bytes_live"] == 0
    with pytest.raises(DeviceMemoryError, match="cannot allocate"):
        xp.evaluate(xp.asarray(np.ones(300)) + 1)
    provider.close()
    with pytest.raises(DeviceError, match="closed"):
        provider.allocate(1)
