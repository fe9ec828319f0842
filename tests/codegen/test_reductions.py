"""Row kernels: rows of every class of length, held and walked, with subgroups and without, give what NumPy gives."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import need_dtypes

import gpuarray as xp
from gpuarray.adapter_profile import AdapterProfile
from gpuarray.codegen import row_schedule, scans
from gpuarray.codegen.collectives import uses_subgroups
from gpuarray.device import Capabilities, Device
from gpuarray.providers import registry

pytestmark = pytest.mark.wgpu

#: Rows and columns: a row to an invocation, parts of a workgroup, whole ones of each size, walked rows, split rows.
SHAPES = [
    (300, 5), (300, 30), (5, 3), (7, 128), (5, 1001), (2, 4096), (3, 5000), (2, 16384), (2, 40000), (1, 100_003),
]  # fmt: skip
PLAIN = "wgpuplain"


def _open_plain(number: int) -> Any:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    return WgpuProvider(number, device=Device(PLAIN), without=("subgroup", "subgroup-barrier"))


@pytest.fixture(params=["subgroups", "memory"], autouse=True)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The default device is one with subgroups, or the same without."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(PLAIN, _open_plain)
    name = "wgpu" if request.param == "subgroups" else PLAIN
    if name == PLAIN:
        assert registry.open_device(Device(name)).capabilities.subgroup_size == 0
    elif not registry.open_device(Device(name)).capabilities.subgroup_size:
        pytest.skip("the device has no subgroups")
    with xp.using(device=name):
        yield


def elements(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """Return small whole numbers, whose sums are exact."""
    return np.random.default_rng(0).integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows(shape: tuple[int, int]) -> None:
    x = elements(shape)
    y = xp.asarray(x)
    result = [y.sum(axis=1), y.max(axis=1), y.argmin(axis=1), (y - y.max(axis=1, keepdims=True)).sum(axis=1)]
    expected = [x.sum(axis=1), x.max(axis=1), x.argmin(axis=1), (x - x.max(axis=1, keepdims=True)).sum(axis=1)]
    variance = y.var(axis=1)
    xp.evaluate(*result, variance)
    for one, other in zip(result, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), other)
    np.testing.assert_allclose(np.asarray(variance), x.astype(np.float64).var(axis=1), rtol=2e-6)


@pytest.mark.parametrize("shape", SHAPES[::2], ids=str)
def test_rows_are_used_again_by_every_element(shape: tuple[int, int]) -> None:
    x = elements(shape)
    y = xp.asarray(x)
    powers = np.exp(y - y.max(axis=1, keepdims=True))
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(powers / powers.sum(axis=1, keepdims=True)), exact, rtol=3e-6)


def test_functions_of_many_held_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = registry.open_device(Device("wgpu"))
    limits = provider.capabilities
    like_a_gpu = replace(limits.profile, register_weight=AdapterProfile().register_weight)
    monkeypatch.setattr(provider, "capabilities", replace(limits, profile=like_a_gpu))
    x = elements((6, 1001))
    x[1, ::7] = -200.0  # too small for the fast paths of the functions, in some elements of each four
    x[2, 5] = np.inf
    x[3, 1000] = np.nan
    y = xp.asarray(x)
    with np.errstate(all="ignore"):
        powers, exact = np.exp(y - y.max(axis=1, keepdims=True)), np.exp(x - x.max(axis=1, keepdims=True))
        result, expected = powers / powers.sum(axis=1, keepdims=True), exact / exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=3e-6)


@pytest.mark.parametrize("shape", [(5, 7), (1000, 7), (700, 300), (40, 4096), (3, 1000, 301)], ids=str)
def test_columns(shape: tuple[int, ...]) -> None:
    x = elements(shape)
    axis = len(shape) - 2
    y = xp.asarray(x)
    names = ("sum", "argmax", "min", "var")
    result = [getattr(y, name)(axis=axis) for name in names]
    xp.evaluate(*result)
    for name, one in zip(names, result, strict=True):
        np.testing.assert_allclose(np.asarray(one), getattr(x.astype(np.float64), name)(axis=axis), rtol=2e-6)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "int64", "uint64", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(300, 20), (33, 301)], ids=str)
def test_dtypes(dtype: str, shape: tuple[int, int]) -> None:
    need_dtypes("wgpu", dtype)
    x = np.abs(elements(shape)).astype(dtype) if dtype[0] in "bu" else elements(shape, dtype)
    y = xp.asarray(x)
    names = ("sum", "any") if dtype == "complex64" else ("sum", "max", "argmax", "argmin", "any")
    for axis in (0, 1):
        result = [getattr(y, name)(axis=axis) for name in names]
        xp.evaluate(*result)
        for name, one in zip(names, result, strict=True):
            np.testing.assert_array_equal(np.asarray(one), getattr(x, name)(axis=axis))


@pytest.mark.parametrize("columns", [9, 3000, 50_000])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_what_is_no_ordinary_number(name: str, columns: int) -> None:
    worst = -np.inf if name == "argmax" else np.inf
    rows = [np.full(columns, worst), np.full(columns, np.nan), np.zeros(columns), np.arange(columns), np.ones(columns)]
    rows[2][columns // 2 :] = -0.0
    rows[3] = rows[3] * (-1 if name == "argmax" else 1) % 7
    rows[4][[columns // 3, columns - 1]] = np.nan
    x = np.stack(rows).astype(np.float32)
    for given, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        result = np.asarray(getattr(xp.asarray(given), name)(axis=axis))
        np.testing.assert_array_equal(result, getattr(given, name)(axis=axis))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("columns", [1, 30, 512, 3001, 40_000])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_what_is_no_ordinary_number(name: str, columns: int, dtype: str) -> None:
    worst = -np.inf if name == "max" else np.inf
    small = np.finfo(dtype).smallest_subnormal
    kinds = [worst, np.nan, np.copysign(np.nan, -1), -worst, small, -small, -0.0, 65504.0, -65504.0]
    x = np.full((len(kinds), columns), worst, dtype)
    x[5] = -1 if name == "max" else 1
    x[np.arange(len(kinds)), columns * 2 // 3] = kinds
    for given, axis in ((x, 1), (np.ascontiguousarray(np.tile(x, (4, 1)).T), 0)):
        result = np.asarray(getattr(xp.asarray(given), name)(axis=axis))
        np.testing.assert_array_equal(result, getattr(given, name)(axis=axis))


@pytest.mark.parametrize("columns", [60, 512])
def test_rows_that_are_held_in_part_of_a_workgroup_end_with_the_array(columns: int) -> None:
    x = elements((259, columns))
    y = xp.asarray(x)
    result = y - y.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(np.asarray(result), x - x.sum(axis=1, keepdims=True))


def test_results_are_the_same_again() -> None:
    x = xp.asarray(np.random.default_rng(1).normal(size=(40, 5003)).astype(np.float32))
    for fold in (lambda: x.sum(axis=1), lambda: x.var(axis=0), lambda: xp.cumulative_sum(x, axis=1)):
        assert np.asarray(fold()).tobytes() == np.asarray(fold()).tobytes()


def _softmax(x: Any) -> Any:
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


ROW_BY_ROW = {
    "sum": lambda x: x.sum(axis=1),
    "var": lambda x: x.var(axis=1),
    "softmax": _softmax,
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=1),
}


@pytest.mark.parametrize("columns", [10, 17, 1001, 8191])
def test_a_row_has_the_same_bits_in_every_batch(columns: int) -> None:
    x = np.random.default_rng(2).normal(size=(260, columns)).astype(np.float32)
    for name, function in ROW_BY_ROW.items():
        if name == "cumulative_sum" and columns > scans.TILE:
            continue
        whole = np.asarray(function(xp.asarray(x)))
        for first, last in ((0, 1), (2, 66)):
            part = np.asarray(function(xp.asarray(x[first:last])))
            assert part.tobytes() == whole[first:last].tobytes(), (name, last - first)


@pytest.mark.parametrize("rows", [1, 3, 300])
def test_running_sums_of_short_rows_are_added_up_one_by_one(rows: int) -> None:
    x = np.random.default_rng(3).normal(size=(rows, scans.SHORT_ROW)).astype(np.float32)
    for n in (2, 6, 31, 32):
        result = np.asarray(xp.cumulative_sum(xp.asarray(x[:, :n]), axis=1))
        np.testing.assert_array_equal(result, np.cumsum(x[:, :n], axis=1))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(1, 3 * scans.TILE + 8), (1, 3 * scans.TILE + 5), (700, 33), (2, 300, 40)], ids=str)
def test_blocks_of_several_tiles(dtype: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "BUSY_GROUPS", 2)
    x = elements(shape, dtype)
    axis = 1 if shape[0] < 3 else 0
    result = np.cumsum(xp.asarray(x), axis=axis)
    np.testing.assert_array_equal(np.asarray(result), np.cumsum(x, axis=axis))
    np.testing.assert_array_equal(np.asarray(result + result), 2 * np.cumsum(x, axis=axis))


def test_lengths_share_few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {team * turn for team, turn in row_schedule._REGISTER_SHAPES}
    assert len(sizes) <= 12
    before = xp.stats()["compiles"]
    for columns in (1028, 1500, 1996, 2048):
        np.asarray(xp.asarray(elements((3, columns))).max(axis=1))
    assert xp.stats()["compiles"] - before <= 2, "one for rows that fill their team, and one for all others"


def test_values_of_64_bits_go_through_memory() -> None:
    device = Capabilities(adapter="GPU", subgroup_size=32)
    kinds = [np.dtype(name) for name in ("float32", "bool", "complex64", "float64", "int64", "complex128")]
    assert [uses_subgroups([kind], device) for kind in kinds] == [True, True, True, False, False, False]
    assert not uses_subgroups(kinds[:1], Capabilities(adapter="GPU"))
