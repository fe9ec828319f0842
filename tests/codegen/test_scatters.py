"""Writes at many positions, sorted by where they go or not, leave the last value at each position."""

from typing import Any

import numpy as np
import pytest
from support import need_dtypes, values

import gpuarray as xp
from gpuarray.codegen import scatters
from gpuarray.runtime import plans

pytestmark = pytest.mark.wgpu

DTYPES = ("float32", "bool", "uint8", "float16", "int64", "complex64", "complex128")


@pytest.fixture(params=["direct", "sorted"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write to large arrays only, or to all, through a sort."""
    if request.param == "sorted":
        monkeypatch.setattr(scatters, "_gains_by_sorting", lambda step, _: step.extent <= 16 * step.count)
    monkeypatch.setattr(plans, "_plans", type(plans._plans)())
    return request.param


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_last_value_stays(dtype: str, way: str) -> None:
    need_dtypes("wgpu", dtype)
    random = np.random.default_rng(0)
    for count, extent in ((9000, 20000), (70000, 9000), (5000, 5000), (300, 257)):
        source, target = values((count,), dtype), values((extent,), dtype)
        positions = random.integers(0, extent, count)
        wanted = target.copy()
        wanted[positions] = source
        with xp.using(device="wgpu"):
            found = xp.asarray(target)
            found[xp.asarray(positions)] = xp.asarray(source)
            labels = str(xp.explain(found, stage="wgsl"))
            np.testing.assert_array_equal(np.asarray(found), wanted)
        assert (" move" in labels) is (way == "sorted")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [(), (0, 1), (8999, 8998), (4095, 4096)])
def test_positions_in_order_and_nearly_so(dtype: str, turned: tuple[int, ...], way: str) -> None:
    source, target = values((9000,), dtype), values((7000,), dtype)
    positions = np.sort(np.random.default_rng(2).integers(0, 7000, 9000))
    positions[list(turned)] = (6999, 0) if turned else ()
    wanted = target.copy()
    wanted[positions] = source
    with xp.using(device="wgpu"):
        found = xp.asarray(target)
        found[xp.asarray(positions)] = xp.asarray(source)
        np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16"])
def test_positions_of_other_dtypes(dtype: str, way: str) -> None:
    positions = np.random.default_rng(1).permutation(20000).astype(dtype)
    with xp.using(device="wgpu"):
        found = xp.zeros(20000, dtype=xp.float32)
        found[xp.asarray(positions)] = xp.arange(20000, dtype=xp.float32)
        np.testing.assert_array_equal(np.asarray(found)[positions], np.arange(20000))
