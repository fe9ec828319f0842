"""Elements of eight bytes and more, which an invocation of a hardware device moves one by one, a workgroup apart."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.providers import registry

pytestmark = pytest.mark.wgpu

HARDWARE = "wgpuhardware"

FUNCTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "complex": ("complex64", lambda x: x * 2 + 1),
    "magnitudes": ("complex64", abs),
    "double": ("float64", lambda x: x * 2 - 1),
    "long": ("int64", lambda x: x * 3 + 1),
    "double complex": ("complex128", lambda x: x * 2),
    "widened": ("float32", lambda x: x.astype(np.float64) + 1),
    "small": ("float64", lambda x: x > 1),
    "strided": ("float64", lambda x: x[1::3] * 2),
    "a row": ("float64", lambda x: x[:1000].reshape(100, 10) + x[:10]),
}


def _open_hardware(number: int) -> Any:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    provider = WgpuProvider(number, device=Device(HARDWARE))
    provider.capabilities = replace(provider.capabilities, kind="DiscreteGPU")
    return provider


@pytest.fixture(autouse=True)
def hardware(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The default device says that it is one of hardware."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(HARDWARE, _open_hardware)
    with xp.using(device=HARDWARE):
        yield


@pytest.mark.parametrize("size", [1000, 1024, 4099])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_long_elements(name: str, size: int) -> None:
    dtype, function = FUNCTIONS[name]
    x = values((size,), dtype)
    np.testing.assert_allclose(np.asarray(function(xp.asarray(x))), function(x), rtol=1e-6)
