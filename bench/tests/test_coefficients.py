"""The polynomials and constants of the WGSL library are what their script computes, and are what they should be."""

from typing import Any

import numpy as np
import pytest
from mpmath import mp

from bench.coefficients import constants
from bench.coefficients.__main__ import FILES, FOLDER
from bench.coefficients.minimax import largest_error, polynomial
from bench.coefficients.precision import DOUBLE, SINGLE, Precision
from bench.coefficients.series import SERIES, Series


# the special functions' file takes minutes: bench/tests/test_special_series.py looks at what it says
@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".wgsl")])
def test_the_file_is_what_the_script_makes(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == FILES[name]()


def test_the_exchange_finds_the_best_polynomial() -> None:
    # Chebyshev: the least error on [0, 1] of a line for x**2 is 1/8, of a parabola for x**3 1/32
    line = polynomial(lambda x: x**2, lambda x: 1, (0, 1), 2, DOUBLE.rounded)
    assert abs(float(largest_error(lambda x: x**2, lambda x: 1, (0, 1), line)) * 8 - 1) < 1e-2
    parabola = polynomial(lambda x: x**3, lambda x: 1, (0, 1), 3, DOUBLE.rounded)
    assert abs(float(largest_error(lambda x: x**3, lambda x: 1, (0, 1), parabola)) * 32 - 1) < 1e-2


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.name)
def test_errors_are_far_below_a_unit(series: Series) -> None:
    for precision in series.terms:
        # the cube root's estimate has as many bits as the step after it triples
        allowed = 2.0 ** (precision.digits * 2 / 3) if series.name == "cbrt_series" else 0.1
        assert series.error(precision) < allowed


@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=lambda p: p.float_)
def test_parts_add_up_and_have_few_bits(precision: Precision) -> None:
    with mp.workprec(400):
        value = mp.pi / 2
        texts = constants.split(precision, value, 9, 9)
        parts: list[Any] = [mp.mpf(float(precision.numpy(text.rstrip("lf")))) for text in texts]
        assert all(part.man_exp[0].bit_length() <= 9 for part in parts[:2])
        assert abs(sum(parts) - value) <= abs(parts[2]) * mp.mpf(2) ** -24
        with pytest.raises(ValueError, match="is no f"):
            precision.literal(mp.mpf(1) / 3)


def test_literals_are_read_as_the_number() -> None:
    for number in (np.float32(0.1), np.float32(1e-30), np.float32(16777215)):
        assert np.float32(SINGLE.literal(mp.mpf(float(number))).rstrip("f")) == number
    assert DOUBLE.literal(mp.mpf(0.1)) == "0.1lf"
