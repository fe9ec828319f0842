"""The measurement of errors measures errors, and its command line writes what the documentation reads."""

import contextlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

import gpuarray as xp
from bench.accuracy import errors, exact, measure, samples
from bench.accuracy.__main__ import main
from bench.accuracy.functions import FUNCTIONS
from bench.peers import Ours
from gpuarray import dtypes
from gpuarray.ops import special
from gpuarray.ops.spec import OPS, MapOp

#: Rows whose values are no functions of real numbers, or those of another row.
UNMEASURED = {"where", "real", "imag", "conj", "complex_from_parts", "float_power", "multiply_no_nan"}


def test_every_elementwise_function_of_floats_is_measured() -> None:
    # derivatives that no function computes are tested against differences: see tests/autodiff/test_operations.py; the
    # errors of inverses depend on the density at a place: see tests/functions/test_special_parameters.py; those of
    # operations that only gpuarray.scipy has are bounded by tests/scipy/test_special_accuracy.py
    others = special.SLOPES | special.INVERSES | special.OF_SCIPY
    rows = [row for row in OPS.values() if isinstance(row, MapOp) and row.name not in others]
    rows = [row for row in rows if not row.name.startswith("sample_")]
    names = set()
    for row in rows:
        with contextlib.suppress(TypeError):
            if row.resolve(*[dtypes.float32] * row.arity).output.kind == "f":
                names.add(row.name)
    assert names - UNMEASURED <= set(FUNCTIONS)
    assert {"gdtr", "polygamma", "nextafter"} <= names


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_are_steps_between_numbers(dtype: type) -> None:
    wide = np.float64 if dtype is np.float32 else np.longdouble
    info = np.finfo(dtype)
    exact = np.array([1.0, 1.0, -3.0, info.tiny, info.smallest_subnormal, 0.0, info.max], wide)
    result = exact.astype(dtype)
    assert not errors.of_real(result, exact, dtype).any()
    with np.errstate(over="ignore"):
        up = np.nextafter(result, dtype(np.inf))
    np.testing.assert_array_equal(errors.of_real(up, exact, dtype), np.ones(7))
    # half a step down from a power of two is a whole one of the steps there
    assert errors.of_real(np.array([1.0], dtype), np.array([1 - wide(info.epsneg) / 2]), dtype) == 0.5


def test_what_is_no_number_or_of_the_other_sign_is_wrong() -> None:
    nan, inf = np.nan, np.inf
    got = np.array([nan, 1.0, nan, -0.0, inf, 3.4e38, -inf], np.float32)
    exact = np.array([nan, nan, 1.0, 0.0, 1e300, 1e300, inf])
    result = errors.of_real(got, exact, np.float32)
    assert result[[0, 4]].tolist() == [0, 0]
    assert np.isinf(result[[1, 2, 3, 6]]).all()
    assert 1 < result[5] < 1e6


def test_a_device_computes_the_same_errors() -> None:
    x = np.linspace(-3, 3, 1000).astype(np.float32)
    exact = np.sin(x.astype(np.float64))
    result = (exact * (1 + 1e-7)).astype(np.float32)
    with xp.using(device="wgpu"):
        there = errors.of_real(xp.asarray(result), xp.asarray(exact), np.float32)
    np.testing.assert_array_equal(np.asarray(there), errors.of_real(result, exact, np.float32))


def test_exact_values() -> None:
    assert float(errors.exact_value(FUNCTIONS["sin"], (6381956970095103 * 2.0**797,))) == -4.687165924254624e-19 + 1
    assert errors.mp.isnan(errors.exact_value(FUNCTIONS["log"], (-1.0,)))
    assert errors.mp.isnan(errors.exact_value(FUNCTIONS["pow"], (-8.0, 0.5)))
    assert errors.exact_value(FUNCTIONS["pow"], (-8.0, 3.0)) == -512
    assert errors.exact_value(FUNCTIONS["remainder"], (-1.0, 3.0)) == 2
    assert errors.exact_value(FUNCTIONS["fmod"], (-1.0, 3.0)) == -1


def test_judged_errors_find_a_wrong_digit() -> None:
    function = FUNCTIONS["exp"]
    x = samples.operands(function, "float64", 1 << 10)[0]
    with np.errstate(all="ignore"):
        right = np.exp(x)
    off = right.copy()
    at = int(np.flatnonzero((right > 1) & np.isfinite(right))[5])
    off[at] = right[at] * (1 + 1e-15)
    nearly = measure.reference(Ours("cpu"), function, [x])
    good, bad = measure.judged(function, "float64", [x], nearly, {"good": right, "bad": off})
    assert good.error < 1 < 3 < bad.error < 10
    assert bad.at == [repr(x[at].item())]


def test_patterns_are_each_word_once() -> None:
    with xp.using(device="wgpu"):
        there = measure._patterns(Ours("wgpu"), 5, 1000, samples.STRIDE)
        assert there.dtype == np.float32
        np.testing.assert_array_equal(np.asarray(there).view(np.uint32), samples.words(5, 1000, samples.STRIDE))
    assert math.gcd(samples.STRIDE, 1 << 32) == 1


def test_the_command_line_writes_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    options = [
        "--functions",
        "exp",
        "--dtypes",
        "float32,float64",
        "--libraries",
        "numpy",
        "--cost",
        "--elements",
        "65536",
    ]
    assert main(["--device", "wgpu", *options, "--json", str(file)]) == 0
    document = json.loads(file.read_text())
    assert document["device"] == "gpuarray-wgpu"
    assert {(row["dtype"], row["library"]) for row in document["rows"]} == {
        (dtype, library) for dtype in ("float32", "float64") for library in ("gpuarray-wgpu", "numpy")
    }
    assert all(0.5 < row["error"] < 3 and row["wrong"] == 0 for row in document["rows"])
    assert document["gigaelements_per_second"]["float32"]["exp"] > 0
    assert "float64: largest error" in capsys.readouterr().out


def test_exact_values_are_kept_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "exact.npz"
    held = exact.ExactValues(file)
    operands, values = held.sample(FUNCTIONS["gdtr"], "float64", 8)
    held.write()
    again = exact.ExactValues(file)
    known, kept = again.sample(FUNCTIONS["gdtr"], "float64", 8)
    np.testing.assert_array_equal(kept, values)
    np.testing.assert_array_equal(known, operands)
    assert values.dtype == np.longdouble
    result = np.asarray(xp.special.gdtr(*operands))
    assert errors.of_real(result, values, np.float64).max() < 2
    # with more bits than float64 has
    third = exact.values(FUNCTIONS["reciprocal"], [np.array([3.0])])
    assert abs(third - np.longdouble(1) / 3) <= np.finfo(np.longdouble).eps / 4
