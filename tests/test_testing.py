"""The helpers that ``gpuarray.testing`` publishes accept and refuse what their docstrings say."""

from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.providers.registry import open_device
from gpuarray.testing import TOLERANCES, Fault, assert_same, check_function, failing

ONE = np.float32(1)
NEXT = np.nextafter(ONE, np.float32(2))


def refused(actual: Any, desired: Any, **options: Any) -> str:
    """Return the message of the error that the comparison raises."""
    with pytest.raises(AssertionError) as caught:
        assert_same(actual, desired, **options)
    return str(caught.value)


class TestAssertSame:
    @pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"])
    def test_equal_arrays(self, dtype: str) -> None:
        x = np.array([0, 1, 3], dtype)
        assert_same(xp.asarray(x), x)
        assert_same(xp.asarray(x)[0], x[0])

    def test_what_differs_is_refused(self) -> None:
        x = np.arange(6.0)
        assert "shape (2, 3) is desired" in refused(xp.asarray(x), x.reshape(2, 3))
        assert "dtype float64 is desired, not float32" in refused(xp.asarray(x, dtype=xp.float32), x)
        assert "a GpuArray is desired, not ndarray" in refused(x, x)
        refused(xp.asarray(x), x + 1e-15)

    def test_messages_begin_as_wanted(self) -> None:
        assert refused(xp.asarray(ONE), np.float64(1), message="of exp").startswith("of exp: dtype")
        assert refused([xp.asarray(ONE)], [np.float64(1)], message="parts").startswith("parts[0]: dtype")

    def test_values_that_are_not_finite(self) -> None:
        special = np.array([np.nan, np.inf, -np.inf, -0.0])
        assert_same(xp.asarray(special), special)
        assert_same(xp.asarray(special), special, ulp=1)
        refused(xp.asarray(special), special[[1, 0, 2, 3]], rtol=1)
        refused(xp.asarray(special), special[[0, 2, 1, 3]], atol=np.inf)

    def test_signs_of_zeros(self) -> None:
        minus = np.array([-0.0])
        assert "signs of zeros" in refused(xp.asarray(-minus), minus)
        refused(xp.asarray(np.array([0j])), np.array([complex(0.0, -0.0)]))
        assert_same(xp.asarray(-minus), minus, signed_zeros=False)
        assert_same(xp.asarray(-minus), minus, ulp=1)

    def test_units_in_the_last_place(self) -> None:
        assert_same(xp.asarray(NEXT), ONE, ulp=1)
        assert "the worst by 1 units" in refused(xp.asarray(NEXT), ONE, ulp=0.9)
        least = np.finfo(np.float32).smallest_subnormal
        assert_same(xp.asarray(least), np.float32(0), ulp=1)
        assert_same(xp.asarray(np.complex64(NEXT + 1j)), np.complex64(1 + 1j), ulp=1)
        refused(xp.asarray(np.complex64(1.00001 + 1j)), np.complex64(1 + 1j), ulp=1)

    def test_relative_tolerances_have_a_scale(self) -> None:
        wide, narrow = np.array([100.0, 0.0]), np.array([1e-3, 0.0])
        assert_same(xp.asarray(wide + 1e-3), wide, rtol=1e-3)
        refused(xp.asarray(wide + 2e-3), wide, rtol=1e-3)
        assert_same(xp.asarray(narrow + 1e-6), narrow, rtol=1e-3)
        refused(xp.asarray(narrow + 3e-6), narrow, rtol=1e-3)
        assert_same(xp.asarray(wide + 1e-3), wide, rtol={"float64": 1e-3})
        refused(xp.asarray(wide + 1e-3), wide, rtol={"float32": 1e-3})

    def test_absolute_tolerances_also_in_lists(self) -> None:
        zero = np.zeros(2)
        near = xp.asarray(zero + 1e-9)
        assert_same(near, zero, atol=1e-8)
        refused(near, zero, atol=1e-10)
        assert_same([near, {"a": (near,)}], [zero, {"a": (zero,)}], atol=1e-8)
        refused([near, {"a": (near,)}], [zero, {"a": (zero,)}], atol=1e-10)

    def test_integers_have_no_tolerance(self) -> None:
        refused(xp.asarray([1, 2]), np.array([1, 3]), ulp=9, rtol=1, atol=9)

    def test_containers(self) -> None:
        x = np.arange(3)
        assert_same((xp.asarray(x), [xp.asarray(x)], {"k": 3}), (x, [x], {"k": 3}))
        assert "a tuple is desired, not list" in refused([xp.asarray(x)], (x,))
        assert "2 items are desired, not 1" in refused([xp.asarray(x)], [x, x])
        assert "no item 'k'" in refused({"j": 1}, {"k": 1})

    def test_other_objects_have_the_same_type_and_value(self) -> None:
        assert_same("text", "text")
        assert "a int is desired, not bool" in refused(True, 1)
        assert "3 is desired, not 2" in refused(2, 3)


class TestCheckFunction:
    def test_results_and_changed_arguments(self, device: Device) -> None:
        def function(x: Any, parts: dict[str, Any]) -> Any:
            x[1:] += parts["y"][0]
            return np.exp(x), [x.sum(), "done"]

        check_function(function, np.arange(5.0), {"y": np.ones(3)}, devices=[device])

    def test_arguments_of_the_caller_stay_as_they_are(self) -> None:
        x = np.arange(5.0)
        check_function(lambda x: x.__iadd__(1), x, devices=["cpu"])
        assert x.tolist() == [0, 1, 2, 3, 4]

    def test_what_differs_names_the_device(self) -> None:
        def differs(x: Any) -> Any:
            return x + isinstance(x, xp.GpuArray)

        with pytest.raises(AssertionError, match="on cpu, result"):
            check_function(differs, np.arange(3.0), devices=["cpu"])

        def writes(x: Any) -> None:
            x[0] = isinstance(x, xp.GpuArray)

        with pytest.raises(AssertionError, match="on cpu, argument 0 after the call"):
            check_function(writes, np.zeros(3), devices=["cpu"])

    def test_errors_have_the_class_of_numpys(self) -> None:
        check_function(lambda x: x.reshape(7), np.arange(3.0), devices=["cpu"])
        with pytest.raises(AssertionError, match="ValueError is desired, but the function returned"):
            check_function(lambda x: x if isinstance(x, xp.GpuArray) else x.reshape(7), np.arange(3.0), devices=["cpu"])

        def other(x: Any) -> Any:
            raise KeyError(1) if isinstance(x, xp.GpuArray) else ValueError(1)

        with pytest.raises(AssertionError, match="ValueError is desired, not KeyError"):
            check_function(other, np.arange(3.0), devices=["cpu"])

        def fails(x: Any) -> Any:
            if isinstance(x, xp.GpuArray):
                raise KeyError(1)

        with pytest.raises(AssertionError, match="was raised, but NumPy returned"):
            check_function(fails, np.arange(3.0), devices=["cpu"])

    def test_tolerances_are_those_of_the_table(self) -> None:
        near = 1 + TOLERANCES["float32"]

        def function(x: Any) -> Any:
            return x * np.float32(near) if isinstance(x, xp.GpuArray) else x

        check_function(function, np.ones(3, np.float32), devices=["cpu"])
        with pytest.raises(AssertionError):
            check_function(function, np.ones(3, np.float32), devices=["cpu"], rtol=0)


class TestFailing:
    @pytest.fixture
    def x(self) -> Any:
        """An array, and evaluation by plans, which call the provider."""
        with xp.using(direct_limit=0):
            yield xp.asarray(np.ones(1000, np.float32), device="cpu")

    @pytest.mark.parametrize("after", [False, True])
    def test_one_call_fails_before_or_after_its_effect(self, x: Any, after: bool) -> None:
        provider = open_device(Device("cpu"))
        xp.evaluate(x + 1)  # the plan is prepared
        with failing(provider, -1, after=after) as calls:
            xp.evaluate(x + 1)
        number = calls.index("run")
        launches = provider.stats()["launches"]
        failure = pytest.raises(Fault, match=f"call {number} of the device, run")
        with failing(provider, number, after=after) as calls, failure:
            xp.evaluate(x + 1)
        assert calls[-1] == "run"
        assert provider.stats()["launches"] - launches == after
        assert "run" not in vars(provider)

    def test_the_error_can_be_chosen(self, x: Any) -> None:
        provider = open_device(Device("cpu"))
        with failing(provider, 0, after=False, error=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
            xp.evaluate(x + 1)
