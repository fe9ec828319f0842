"""Subnormal sums and products of float32 on a device that flushes them: NumPy's numbers.

The device is opened with a self-test that finds it so. What it keeps nevertheless hides no mistake: the forms by
integers are compared where they are taken, and the quick ones are proven harmless by flushing in NumPy.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.providers.wgpu import selftest

pytestmark = pytest.mark.wgpu

FLUSHING = "flushing"
COUNT = 1 << 14
TINY = np.finfo(np.float32).tiny
BINARY = (np.add, np.subtract, np.multiply)
UNARY = (np.square, np.degrees, np.radians)
SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-40, -1e-40, 1e-45, -1e-45, TINY, -TINY,
     np.nextafter(TINY, np.float32(0)), 3e38, 2.0**-95, -(2.0**-95), 2.0**-96, 1e-30], np.float32,
)  # fmt: skip


def _open_flushing(number: int) -> Any:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    found = WgpuProvider._find_facts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WgpuProvider, "_find_facts", lambda self: {**found(self), selftest.SUBNORMAL: False})
        return WgpuProvider(number, device=Device(FLUSHING))


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A wgpu device that is said to flush, which is the default one; no test may need the host for a step."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(FLUSHING, _open_flushing)
    with xp.using(device=FLUSHING, subnormals="keep"), np.errstate(all="ignore"):
        yield Device(FLUSHING)
    assert xp.stats()["fallbacks"] == 0


def numbers(below: int, seed: int) -> np.ndarray:
    """Return numbers with random bits of magnitude below ``below``, of either sign."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, below, COUNT, np.uint32) | random.integers(0, 2, COUNT, np.uint32) << np.uint32(31)
    return bits.view(np.float32)


def operands() -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of subnormal, tiny and any numbers, some with the least products, and all special values."""
    whole, tiny, subnormal = 1 << 31, 1 << 29, 1 << 24
    pairs = [(subnormal, subnormal), (subnormal, tiny), (tiny, tiny), (tiny, whole), (whole, whole)]
    columns = [(numbers(a, 2 * k), numbers(b, 2 * k + 1)) for k, (a, b) in enumerate(pairs)]
    random = np.random.default_rng(7)
    for below in (subnormal, tiny, whole):
        x = numbers(below, below)
        product = random.choice([-1.0, 1.0], COUNT) * TINY * 2.0 ** random.uniform(-26, 4, COUNT)
        columns.append((x, (product / x.astype(np.float64)).astype(np.float32)))
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    columns.append((x.ravel(), y.ravel()))
    return np.concatenate([c[0] for c in columns]), np.concatenate([c[1] for c in columns])


def differ(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Return where the bits differ, except of NaN."""
    return np.flatnonzero((got.view(np.uint32) != want.view(np.uint32)) & ~(np.isnan(got) & np.isnan(want)))


def flushed(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x)


@pytest.mark.parametrize("function", [*BINARY, *UNARY], ids=lambda f: f.__name__)
def test_results_are_numpys(function: Any) -> None:
    given = operands()[: function.nin]
    got, want = np.asarray(function(*map(xp.asarray, given))), function(*given)
    bad = differ(got, want)
    assert not len(bad), [(tuple(x[i] for x in given), got[i], want[i]) for i in bad[:5]]


def quick_sum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where the kernels take plain arithmetic for a sum."""
    either = (x.view(np.uint32) | y.view(np.uint32)) & np.uint32(0x7FFFFFFF)
    return either - np.uint32(1) >= 0x0FFFFFFF


def quick_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where they do for a product, on a device that flushes."""
    is_zero = (x.view(np.uint32) << np.uint32(1) == 0) | (y.view(np.uint32) << np.uint32(1) == 0)
    return (np.abs(flushed(flushed(x) * flushed(y))) >= 2.0**-125) | is_zero


@pytest.mark.parametrize(
    ("function", "quick"), [(np.add, quick_sum), (np.subtract, quick_sum), (np.multiply, quick_product)]
)
def test_plain_arithmetic_is_right_where_it_is_taken(function: Any, quick: Callable[..., np.ndarray]) -> None:
    x, y = operands()
    taken = quick(x, y)
    bad = differ(flushed(function(flushed(x), flushed(y)))[taken], function(x, y)[taken])
    assert not len(bad), (x[taken][bad[:5]], y[taken][bad[:5]])
    ordinary = np.array([1.5, -3.0, 0.0, 1e-9, np.inf], np.float32)
    assert quick(ordinary, ordinary).all()


def test_only_kernels_that_are_asked_to_keep_subnormal_numbers_are_longer() -> None:
    x = xp.ones(8, dtype=xp.float32)
    assert "gradual_multiply_f32" in str(xp.explain(x * x + 1, stage="wgsl"))
    for other in ({"math": "fast"}, {"subnormals": "flush"}):
        with xp.using(**other):
            assert "gradual" not in str(xp.explain(x * x + 1, stage="wgsl"))
    half = xp.ones(8, dtype=xp.float16)
    assert "gradual" not in str(xp.explain(half * half + 1, stage="wgsl"))
    with xp.using(device="wgpu"):
        y = xp.ones(8, dtype=xp.float32)
        assert "gradual" not in str(xp.explain(y * y + 1, stage="wgsl"))


def test_plans_of_both_kinds_are_kept_apart() -> None:
    x = xp.asarray(np.full(4, 1e-40, np.float32))
    plans = []
    for subnormals in ("keep", "flush", "keep", "flush"):
        before = xp.stats()["plans"]
        with xp.using(subnormals=subnormals):
            xp.evaluate(x * 0.5 + 1e-41)
        plans.append(xp.stats()["plans"] - before)
    assert plans == [1, 1, 0, 0]


def test_distances_keep_the_devices_arithmetic() -> None:
    x = xp.asarray(np.ones((64, 64), np.float32))
    distances = xp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
    assert "gradual" not in str(xp.explain(distances, stage="wgsl"))
