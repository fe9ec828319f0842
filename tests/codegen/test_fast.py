"""`config.math = "fast"`: the driver's functions on request, and never without."""

from typing import Any

import numpy as np
import pytest

import gpuarray as xp

BUILTINS = ("return sin(x)", "return exp(x)", "return log(x)", "return sqrt(x)", "return x / y")


def functions(x: Any) -> Any:
    """Use one of each."""
    return np.sin(x) * np.exp(-x) + np.log(x + 1) / np.sqrt(x + 2)


@pytest.fixture
def values() -> np.ndarray:
    return np.linspace(0.1, 3, 1000, dtype=np.float32)


def test_fast_functions_are_the_drivers_and_close(values: np.ndarray) -> None:
    x = xp.asarray(values, device="wgpu")
    with xp.using(math="fast"):
        source = str(xp.explain(functions(x), stage="wgsl"))
        result = np.asarray(functions(x))
    assert all(builtin in source for builtin in BUILTINS)
    np.testing.assert_allclose(result, functions(values.astype(np.float64)), rtol=1e-3)


def test_precise_functions_are_not_the_drivers(values: np.ndarray) -> None:
    x = xp.asarray(values, device="wgpu")
    source = str(xp.explain(functions(x), stage="wgsl"))
    assert not any(builtin in source for builtin in BUILTINS)
    np.testing.assert_allclose(np.asarray(functions(x)), functions(values.astype(np.float64)), rtol=2e-6)


def test_plans_of_both_kinds_are_kept_apart(values: np.ndarray) -> None:
    x = xp.asarray(values[:1], device="wgpu")
    plans = []
    for math in ("precise", "fast", "precise", "fast"):
        before = xp.stats()["plans"]
        with xp.using(math=math):
            xp.evaluate(np.exp(x) + 0.125)
        plans.append(xp.stats()["plans"] - before)
    assert plans == [1, 1, 0, 0]
