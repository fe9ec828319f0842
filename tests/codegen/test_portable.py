"""A GPU that has no more than every GPU has: each kind of kernel has NumPy's answers, and only float64 needs the host.

The device is opened without any feature and with WebGPU's least limits, which the driver enforces.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support import capabilities_of, special_values, values

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.device import Device
from gpuarray.providers.wgpu.device import LEAST_LIMITS
from gpuarray.runtime import telemetry
from gpuarray.testing import assert_same

pytestmark = pytest.mark.wgpu

#: From an array to results, which are NumPy's to the bit for every dtype with the operations.
Program = Callable[[Any], tuple[Any, ...]]

#: Each size and kind once; pairs of words and random numbers have tests of their own, on this device too.
NUMBERS = ("int8", "uint16", "int32", "uint64", "float16", "float32")
#: One of each way in which elements lie in memory.
WAYS = ("bool", "float16", "uint64")

PROGRAMS: dict[str, tuple[tuple[str, ...], Program]] = {
    "arithmetic": (NUMBERS, lambda x: (x + x[::-1], x - x[::-1], x * x, -x, abs(x))),
    "quotients": (("int8", "uint16", "int32", "uint64"), lambda x: (x // 3, x % 3, x // x[::-1], x % x[::-1])),
    "comparisons": (
        ("bool", *NUMBERS, "complex64"),
        lambda x: (x == x[::-1], x != x[::-1], np.where(x == x[::-1], x, x[::-1])),
    ),
    "folds of all": (("int8", "uint64", "float32"), lambda x: (x.max(), x.argmin(), x.any(), x.all())),
    "folds of rows": (("int8", "float16", "float32"), lambda x: (x.reshape(-1, 4).max(1), x.reshape(-1, 40).argmin(1))),
    "folds of columns": (("uint16", "uint64", "float32"), lambda x: (x.reshape(-1, 4).min(0), x.reshape(-1, 4).any(0))),
    "sorts": (("int8", "uint64"), lambda x: (np.sort(x), np.argsort(x, stable=True))),
    "movement": (WAYS, lambda x: (x.reshape(4, -1).T.copy(), x[::-3].copy(), np.concatenate([x, x[5:]]))),
    "indices": (WAYS, lambda x: (x[[3, 1, -2]], x.reshape(-1, 4)[:, [2, 0]], np.repeat(x, 3), x[x == x[3]])),
    "writes": (WAYS, lambda x: (written(x, slice(1, None, 3), x[1]), written(x, [5, 2, 5], x[:3]))),
    "positions": (("int8",), lambda x: (np.nonzero(x)[0], np.searchsorted(np.sort(x), x[:9]))),
}


def written(x: Any, index: Any, value: Any) -> Any:
    result = x.copy()
    result[index] = value
    return result


@pytest.fixture(autouse=True)
def device(portable: Device) -> Iterator[Device]:
    with xp.using(device=portable), np.errstate(all="ignore"):
        yield portable


def agree(program: Program, host: np.ndarray[Any, Any], *, fallbacks: int = 0, **bounds: Any) -> None:
    """Check a program of one array, all of its results together."""
    result, expected = program(xp.asarray(host)), program(host)
    xp.evaluate(*result)
    for one, other in zip(result, expected, strict=True):
        assert_same(one, other, **bounds)
    assert xp.stats()["fallbacks"] == fallbacks


def test_it_has_no_more_than_every_gpu(device: Device) -> None:
    result = capabilities_of(device)
    limits = dict(result.limits)
    assert {name: limits[name] for name in LEAST_LIMITS} == LEAST_LIMITS
    assert not result.features & {"shader-f64", "shader-int64", "shader-f16", "subgroup", "timestamp-query"}
    assert not result.native_int64
    assert result.subgroup_size == 0
    assert result.dtypes == frozenset(dtypes.ALL) - {dtypes.float64, dtypes.complex128}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    kinds, program = PROGRAMS[name]
    for kind in kinds:
        xp.reset_stats()
        ordinary = values((1200,), kind)
        agree(program, np.concatenate([ordinary, np.resize(special_values(kind), 40)]), signed_zeros=name != "sorts")


def test_sums() -> None:
    def program(x: Any) -> tuple[Any, ...]:
        rows = x.reshape(-1, 1000)
        return x.sum(), rows.sum(axis=0), rows.cumsum(axis=1), x.cumsum(), rows.mean(axis=1), rows.var(axis=1)

    agree(program, values((40_000,), "float32"), ulp=4)  # sums of halves are exact
    agree(lambda x: program(x)[:4], values((40_000,), "uint16"))


@pytest.mark.parametrize("kind", ["float32", "complex64", "int64", "uint8"])
def test_products(kind: str) -> None:
    x = values((2, 70, 70), kind)
    agree(lambda x: (x @ x, x[0, :, :33] @ x[1, :33], x @ x[0, 0]), x)


def test_transforms() -> None:
    real, parts = np.random.default_rng(0).standard_normal((2, 3, 1000), np.float32)
    for host in (real, real + 1j * parts):
        x = xp.asarray(host)
        for name in ("fft", "ifft", "fft2"):
            result = np.asarray(getattr(xp.fft, name)(x))
            expected = getattr(np.fft, name)(host.astype(complex))
            assert result.dtype == np.complex64
            assert np.max(np.abs(result - expected)) < 2e-6 * np.max(np.abs(expected))
    assert xp.stats()["fallbacks"] == 0


def test_subnormal_numbers_are_kept() -> None:
    tiny = np.finfo(np.float32).tiny
    x = np.concatenate([np.linspace(-2, 2, 999, dtype=np.float32) * tiny, values((999,), "float32")])
    agree(lambda x: (x + tiny, x - x[::-1], x * np.float32(0.5), (x * 2 - tiny) * np.float32(0.25) + x), x)


def test_more_arrays_than_a_kernel_binds() -> None:
    hosts = [values((300,), "float32", seed) for seed in range(30)]
    arrays = [xp.asarray(host) for host in hosts]
    totals = [array.sum() for array in arrays]
    result = [sum(arrays), xp.stack(arrays), *totals, *(array.var() for array in arrays)]
    xp.evaluate(*result)
    np.testing.assert_array_equal(np.asarray(result[0]), sum(hosts))
    np.testing.assert_array_equal(np.asarray(result[1]), np.stack(hosts))
    np.testing.assert_array_equal([float(total) for total in totals], [host.sum() for host in hosts])
    np.testing.assert_allclose([float(v) for v in result[-30:]], [host.var() for host in hosts], rtol=1e-6)
    assert xp.stats()["fallbacks"] == 0


def test_several_folds_of_split_rows_bind_what_they_keep() -> None:
    x = values((1 << 18,), "float32")
    functions = (np.var, np.argmax, np.sum, np.max, np.argmin, np.std)
    agree(lambda x: tuple(f(x * np.float32(0.5)) for f in functions), x, ulp=8)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_what_it_has_no_numbers_for_runs_on_the_host(kind: str) -> None:
    x = values((40, 40), kind)
    agree(lambda x: (np.exp(x) * 2 + x, x @ x), x, fallbacks=2, ulp=8)
    assert all(reason == f"{kind} is not supported by this device" for _, reason in telemetry.fallbacks())
