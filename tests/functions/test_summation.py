"""Sums of hard float32 data: as exact as NumPy's, or nearly, and the same bits at each run."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp

EPSILON = 2.0**-24
Array = np.ndarray[Any, Any]


def hard(name: str, size: int) -> Array:
    random = np.random.default_rng(3)
    normal = random.standard_normal(size)
    values = {
        "uniform": random.random(size),
        "one value": np.full(size, 0.1),
        "of all sizes": random.choice([-1, 1], size) * 2.0 ** random.uniform(-20, 20, size),
        "cancelling": np.concatenate([1e6 * normal[::2], random.random(5), -1e6 * normal[::2]]),
        "far from zero": 1e4 + normal,
        "growing": np.cumsum(random.random(size)),
    }
    return values[name].astype(np.float32)


def exact_sum(x: Array) -> float:
    return math.fsum(x.tolist())


def products(x: Array) -> Array:
    return x.astype(np.float64) * x[::-1].astype(np.float64)


#: The function, its exact value, and the sum of magnitudes to which errors are relative.
CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Any], Callable[[Array], Any]]] = {
    "sum": (np.sum, exact_sum, lambda x: exact_sum(np.abs(x))),
    "mean": (np.mean, lambda x: exact_sum(x) / x.size, lambda x: exact_sum(np.abs(x)) / x.size),
    "dot": (
        lambda x: np.dot(x, x[::-1]), lambda x: exact_sum(products(x)), lambda x: exact_sum(np.abs(products(x))),
    ),
    "cumsum": (
        np.cumsum, lambda x: np.cumsum(x.astype(np.longdouble)), lambda x: np.cumsum(np.abs(x.astype(np.float64))),
    ),
}  # fmt: skip
DATA = ("uniform", "one value", "of all sizes", "cancelling", "far from zero", "growing")


@pytest.mark.parametrize("size", [1000, 100_003])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", CASES)
def test_errors_are_numpys_or_a_few_units(name: str, data: str, size: int, device: Any) -> None:
    function, exact, scale = CASES[name]
    x = hard(data, size)
    expected, magnitude = exact(x), scale(x)

    def error(value: Any) -> float:
        return float(np.max(np.abs(np.asarray(value).astype(np.longdouble) - expected) / magnitude)) / EPSILON

    result = function(xp.asarray(x))
    assert result.dtype == np.float32
    # a running sum by a tree adds numbers at each level of it
    allowed = 12.0 if name == "cumsum" else 3.0
    assert error(result) <= max(allowed, error(function(x)))


@pytest.mark.parametrize("data", DATA)
def test_variances_do_not_lose_what_the_mean_was_rounded_by(data: str, device: Any) -> None:
    x = hard(data, 100_003)
    variance = float(x.astype(np.longdouble).var())
    assert abs(float(np.var(xp.asarray(x))) - variance) <= 6 * EPSILON * variance


def test_products_err_by_a_small_part_of_their_factors_units(device: Any) -> None:
    x = (1 + 1e-3 * hard("uniform", 50_000) - 5e-4).astype(np.float32)
    exact = float(np.prod(x.astype(np.longdouble)))
    # products of two numbers near 1 are rounded down more often than up: by a ninth of a unit here, by any library
    assert abs(float(np.prod(xp.asarray(x))) / exact - 1) <= x.size / 9 * EPSILON


@pytest.mark.parametrize("name", [*CASES, "var", "prod"])
def test_bits_are_the_same_at_each_run(name: str, device: Any) -> None:
    x = hard("far from zero", 100_003) / np.float32(1e4)
    function = CASES[name][0] if name in CASES else getattr(np, name)
    runs = {np.asarray(function(xp.asarray(x))).tobytes() for _ in range(4)}
    assert len(runs) == 1


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float16, np.float32, np.float64, np.complex64])
def test_many_equal_values_take_no_loop(dtype, device):
    x = xp.full((10**6, 10**6), 3, dtype=dtype)
    few = np.full((1, 10), 3, dtype)
    total, rows = xp.sum(x), np.sum(x, axis=1, keepdims=True)
    assert total.dtype == rows.dtype == few.sum().dtype
    assert rows.shape == (10**6, 1)
    with np.errstate(over="ignore"):
        for actual, count in ((total, 10**12), (rows[7, 0], 10**6)):
            assert actual.item() == total.dtype.type(int(few[0, 0].real) * total.dtype.type(count))
    if x.dtype.kind != "c":
        for name in ("max", "min", "any", "all"):
            actual = getattr(xp, name)(x, axis=0)[:3]
            np.testing.assert_array_equal(actual.get(), np.full(3, getattr(few, name)()), strict=True)
        for name in ("argmax", "argmin", "var", "std"):
            actual, expected = getattr(xp, name)(x), getattr(few, name)()
            np.testing.assert_array_equal(actual.get(), expected, strict=False)
            assert actual.dtype == expected.dtype
    if x.dtype.kind in "iu":
        assert x.prod().item() == pow(3, 10**12, 2**64)  # both below 2**63
        assert np.bitwise_xor.reduce(x, axis=1)[7].item() == 0  # of an even number


def test_sums_and_products_of_equal_values_stay_in_range(device):
    many = (1 << 12, 1 << 13)
    zero, small = xp.zeros(many, dtype=np.float16).sum(), xp.full(many, 1e-4, dtype=np.float16).sum()
    assert (zero.item(), zero.dtype, small.dtype) == (0.0, np.float16, np.float16)
    assert small.item() == np.float16(np.float64(np.float16(1e-4)) * 2**25)
    assert xp.full(many, complex(np.inf, 0), dtype=np.complex64).sum().item() == complex(np.inf, 0)
    for value in (0, 1, -1, 3):
        expected = np.int8(pow(value, 2**25, 2**8))
        actual = xp.full(many, value, dtype=np.int8).prod(dtype=np.int8)
        assert (actual.item(), actual.dtype) == (expected, np.int8)
