"""Functions that start from a driver's estimates, on a device whose self-test is made to say that these are close."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.providers.wgpu import selftest

pytestmark = pytest.mark.wgpu

CLOSE = "close"
TINY = np.finfo(np.float32).tiny
SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45, 1e-40, TINY, -TINY, 2.0**126, 1.5 * 2.0**126, 2.0**127,
     -3.4e38, 3.4e38, 2.0**-78, 2.0**-79, 2.0**-100, 2.0**-101, 2.0**-126, 1e-30, 3.0], np.float32,
)  # fmt: skip


def _open_close(number: int) -> Any:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    result = WgpuProvider._find_facts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WgpuProvider, "_find_facts", lambda self: {**result(self), selftest.CLOSE: True})
        return WgpuProvider(number, device=Device(CLOSE))


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A device of that kind, which is the default one."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(CLOSE, _open_close)
    with xp.using(device=CLOSE), np.errstate(all="ignore"):
        yield


def units(result: np.ndarray, exact: np.ndarray) -> float:
    """Return the largest error in units of the last place, of normal results."""
    unit = np.spacing(np.maximum(abs(exact), TINY).astype(np.float32)).astype(np.float64)
    return float(np.max(abs(result - exact) / unit))


def test_hyperbolic_tangents() -> None:
    # a driver's exp2 may err by more than the self-test asks for
    numbers = np.linspace(-30, 30, 100_001).astype(np.float32)
    assert units(np.asarray(np.tanh(xp.asarray(numbers))), np.tanh(numbers.astype(np.float64))) < 4
    special = np.concatenate((SPECIAL, np.float32([0.6, -0.6, 1e-4, 2.0**-13, 60, 64, 65, 100, -100])))
    result, want = np.asarray(np.tanh(xp.asarray(special))), np.tanh(special)
    np.testing.assert_allclose(result, want, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(result)[~np.isnan(want)], np.signbit(want)[~np.isnan(want)])


def test_quotients() -> None:
    bits = np.random.default_rng(0).integers(0, 1 << 32, (2, 200_000), np.uint32)
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    for left, right in (bits.view(np.float32), (x.ravel(), y.ravel()), (bits[0].view(np.float32), SPECIAL[-1:])):
        result, want = np.asarray(xp.asarray(left) / xp.asarray(right)), left / right
        same = (result.view(np.uint32) == want.view(np.uint32)) | (np.isnan(result) & np.isnan(want))
        assert same.all(), [(left[i], right[i], result[i], want[i]) for i in np.flatnonzero(~same)[:5]]
