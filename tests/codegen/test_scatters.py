"""Writes at many positions leave the last value at each, or combine all of them with what is there, in order."""

from typing import Any

import numpy as np
import pytest
from support import need_dtypes, values

import gpuarray as xp
from gpuarray.codegen import scatters

pytestmark = pytest.mark.wgpu

DTYPES = ("float32", "bool", "uint8", "float16", "int64", "complex64", "complex128")


@pytest.fixture(params=["direct", "sorted"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, nothing_prepared: None) -> Any:
    """Write to large arrays only, or to all, through a sort."""
    if request.param == "sorted":
        monkeypatch.setattr(scatters, "_should_sort", lambda step, _: step.extent <= 16 * step.count)
    return request.param


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_last_value_stays(dtype: str, way: str) -> None:
    need_dtypes("wgpu", dtype)
    random = np.random.default_rng(0)
    for count, extent in ((9000, 20000), (70000, 9000), (5000, 5000), (300, 257)):
        source, target = values((count,), dtype), values((extent,), dtype)
        positions = random.integers(0, extent, count)
        expected = target.copy()
        expected[positions] = source
        with xp.using(device="wgpu"):
            result = xp.asarray(target)
            result[xp.asarray(positions)] = xp.asarray(source)
            labels = str(xp.explain(result, stage="wgsl"))
            np.testing.assert_array_equal(np.asarray(result), expected)
        assert (" move" in labels) is (way == "sorted")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [(), (0, 1), (8999, 8998), (4095, 4096)])
def test_positions_in_order_and_nearly_so(dtype: str, turned: tuple[int, ...], way: str) -> None:
    source, target = values((9000,), dtype), values((7000,), dtype)
    positions = np.sort(np.random.default_rng(2).integers(0, 7000, 9000))
    positions[list(turned)] = (6999, 0) if turned else ()
    expected = target.copy()
    expected[positions] = source
    with xp.using(device="wgpu"):
        result = xp.asarray(target)
        result[xp.asarray(positions)] = xp.asarray(source)
        np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16"])
def test_positions_of_other_dtypes(dtype: str, way: str) -> None:
    positions = np.random.default_rng(1).permutation(20000).astype(dtype)
    with xp.using(device="wgpu"):
        result = xp.zeros(20000, dtype=xp.float32)
        result[xp.asarray(positions)] = xp.arange(20000, dtype=xp.float32)
        np.testing.assert_array_equal(np.asarray(result)[positions], np.arange(20000))


UPDATES = (np.add, np.subtract, np.multiply, np.minimum, np.maximum)


def small(count: int, dtype: str) -> Any:
    """Return numbers whose products stay in range."""
    given = values((count,), dtype)
    return given if np.dtype(dtype).kind in "biu" else (given / 3 + 1).astype(dtype)


@pytest.mark.parametrize("ufunc", UPDATES, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int32", "uint32", "int64", "complex64", "float64"])
@pytest.mark.parametrize("place", ["cpu", "wgpu"])
def test_updates_have_the_bits_of_numpy(ufunc: Any, dtype: str, place: str) -> None:
    if place == "wgpu":
        need_dtypes("wgpu", dtype)
    random = np.random.default_rng(3)
    for count, extent in ((5000, 700), (300, 70000), (1, 5), (2000, 1000)):
        source, target = small(count, dtype), small(extent, dtype)
        positions = random.integers(-extent, extent, count)
        expected = target.copy()
        with np.errstate(all="ignore"):
            ufunc.at(expected, positions, source)
        with xp.using(device=place, fallback="error"):
            result = xp.asarray(target)
            ufunc.at(result, xp.asarray(positions), xp.asarray(source))
            np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("place", ["cpu", "wgpu"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12), ("int64", 0), ("int16", 0)])
def test_many_values_of_few_elements(dtype: str, tolerance: float, place: str) -> None:
    if place == "wgpu":
        need_dtypes("wgpu", dtype)
    source, target = values((30000,), dtype), values((9,), dtype)
    positions = np.random.default_rng(4).integers(0, 8, 30000)
    for ufunc in (np.add, np.maximum):
        expected = target.copy()
        ufunc.at(expected, positions, source)
        result = []
        for _ in range(2):
            with xp.using(device=place, fallback="error"):
                x = xp.asarray(target)
                ufunc.at(x, xp.asarray(positions), xp.asarray(source))
                result.append(np.asarray(x))
        np.testing.assert_allclose(result[0], expected, rtol=tolerance, atol=100 * tolerance)
        assert result[0].tobytes() == result[1].tobytes()


@pytest.mark.parametrize("place", ["cpu", "wgpu"])
def test_updates_of_other_dtypes_views_and_one_operand(place: str) -> None:
    positions = np.random.default_rng(5).integers(0, 40, 200)
    with xp.using(device=place):
        for dtype, value in (("float32", np.arange(200, dtype="int32")), ("int32", np.ones(200, "float32"))):
            expected, result = np.arange(40).astype(dtype), xp.asarray(np.arange(40).astype(dtype))
            np.add.at(expected, positions, value)
            np.add.at(result, xp.asarray(positions), xp.asarray(value))
            np.testing.assert_array_equal(np.asarray(result), expected)
        expected, result = np.arange(80, dtype="f4").reshape(40, 2), xp.arange(80, dtype="f4").reshape(40, 2)
        np.negative.at(expected[:, 1], positions)
        np.negative.at(result[:, 1], xp.asarray(positions))
        np.maximum.at(expected[::-1], (positions, positions % 2), 50)
        np.maximum.at(result[::-1], (xp.asarray(positions), xp.asarray(positions % 2)), 50)
        np.testing.assert_array_equal(np.asarray(result), expected)
        expected, result = np.zeros(40, "c8"), xp.zeros(40, dtype="c8")
        np.add.at(expected.imag, positions, np.float32(2))
        np.add.at(result.imag, xp.asarray(positions), np.float32(2))
        np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("place", ["cpu", "wgpu"])
def test_positions_of_updates_are_checked(place: str) -> None:
    for wrong in (5, -6):
        with xp.using(device=place), pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            np.add.at(xp.zeros(5), xp.asarray([0, wrong]), 1.0)
