"""Random calls of functions with arguments that are often invalid: values, dtypes and classes of errors are NumPy's."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_calls import RandomCall, random_call

import gpuarray as xp
from gpuarray.settings import Config

#: Errors that follow from how a function computes: its name, NumPy's class and ours; None is a result.
OTHERS = {
    ("concatenate", TypeError, ValueError),  # what is wrong twice has the error of what is checked first
    ("fft.fftshift", ValueError, None),
    ("fft.rfft", IndexError, TypeError),
    ("flip", None, TypeError),
    ("insert", OverflowError, IndexError),
    ("insert", TypeError, IndexError),
    ("interp", None, TypeError),  # NumPy drops imaginary parts of numbers
    ("interp", ValueError, TypeError),
    ("linalg.norm", None, TypeError),  # NumPy ignores the rest of the axis 1.5
    ("linalg.norm", np.exceptions.AxisError, TypeError),
    ("repeat", None, ValueError),  # NumPy checks nothing where there are no elements
    ("roll", None, TypeError),  # NumPy accepts 1.5, and ignores the rest
    ("split", ZeroDivisionError, ValueError),
    ("take_along_axis", AttributeError, ValueError),
    ("take_along_axis", IndexError, ValueError),
    ("tensordot", IndexError, ValueError),
    ("tile", None, ValueError),
    ("tril", TypeError, ValueError),
    ("triu", TypeError, ValueError),
    ("unwrap", ValueError, TypeError),
}
#: Results of which NumPy leaves open the order of positions, and of elements along an axis.
UNORDERED = {"argsort"}
UNSORTED = {"partition"}
#: What is rounded to float16 once, at the end, so that what follows an overflow of NumPy's may be finite.
ROUNDED_ONCE = {"cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "nancumprod", "nancumsum"}
TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}


def outcome(call: RandomCall, namespace: Any, put: Any) -> Any:
    """Return the arrays that a call returns, or its error."""
    try:
        return [np.asarray(part) for part in parts(call.run(namespace, put))]
    except Exception as error:
        return error


def parts(value: Any) -> list[Any]:
    return [part for item in value for part in parts(item)] if isinstance(value, list | tuple) else [value]


def error_class(result: Any) -> type[BaseException] | None:
    return type(result) if isinstance(result, BaseException) else None


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
@settings(phases=[Phase.generate])  # a case is a seed: nothing shrinks
@given(seed=st.integers(0, 2**48))
def test_random_calls(device: str, seed: int) -> None:
    call = random_call(seed)
    limit = Config().direct_limit if device == "cpu" and seed % 2 else 0
    with xp.using(device=device, direct_limit=limit), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = outcome(call, np, np.array)
        actual = outcome(call, xp, lambda host: xp.asarray(host, device=device))
    theirs, ours = error_class(expected), error_class(actual)
    if theirs or ours:
        is_related = theirs is not None and ours is not None and (issubclass(ours, theirs) or issubclass(theirs, ours))
        assert is_related or (call.name, theirs, ours) in OTHERS, f"seed {seed}: {call}: {expected!r}, {actual!r}"
        return
    assert [(a.dtype, a.shape) for a in actual] == [(a.dtype, a.shape) for a in expected], f"seed {seed}: {call}"
    if call.name in UNORDERED:
        return
    if call.name == "interp" and np.any(np.diff(np.ravel(call.arguments[1])) <= 0):
        return  # NumPy leaves open what positions that do not increase mean
    if call.name in UNSORTED and expected[0].size:
        axis, position = call.keywords.get("axis", -1), call.arguments[1]
        chosen = [[np.take(part, position, axis) for part in actual] for actual in (actual, expected)]
        np.testing.assert_array_equal(*chosen, err_msg=f"seed {seed}: {call}")
        axis = -1 if axis is None else axis
        actual, expected = ([np.sort(part, axis) for part in actual] for actual in (actual, expected))
    for mine, other in zip(actual, expected, strict=True):
        if call.name in ROUNDED_ONCE and mine.dtype == np.float16:
            mine, other = (part[np.isfinite(other)] for part in (mine, other))
        tolerance = TOLERANCES.get(mine.dtype.name, 1e-9) if mine.dtype.kind in "fc" else 0
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance, err_msg=f"seed {seed}: {call}")


def test_most_random_calls_are_valid() -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = [outcome(random_call(seed), np, np.array) for seed in range(500)]
    assert 250 < sum(isinstance(value, list) for value in result) < 450
