"""The polynomials of the special functions are as near to the functions as their file says.

That the file is what the script makes takes minutes to see: ``python -m bench.coefficients --check``.
"""

from typing import Any

import numpy as np
import pytest
from mpmath import mp

from bench.coefficients import special, special_bessel, special_gamma, special_oscillating
from bench.coefficients.precision import DOUBLE, SINGLE
from bench.coefficients.series import Series
from gpuarray.ops.formula import POLYNOMIALS
from gpuarray.ops.special import tables

#: Starting values, which are improved.
ESTIMATES = {"erfinv_near_series", "erfinv_far_series"}
SERIES = (*special.SERIES, *special_bessel.SERIES, *special_gamma.SERIES, *special_oscillating.SERIES)


@pytest.mark.parametrize("row", [s for s in SERIES if s.name not in ESTIMATES], ids=lambda s: s.name)
def test_polynomials_are_near_the_functions(row: Series) -> None:
    polynomial = POLYNOMIALS[row.name]
    with mp.workprec(300):
        for precision, result, lost in (
            (SINGLE, polynomial.single, polynomial.single_lost),
            (DOUBLE, polynomial.double, polynomial.double_lost),
        ):
            low, high = map(mp.mpf, row.where(precision))
            exact = [mp.mpf(float(precision.numpy(c))) for c in result]
            exact[0] += mp.mpf(lost)
            for k in range(9):
                x = low + (high - low) * (2 * k + 1) / 18
                value = sum(c * x**power for power, c in enumerate(exact))
                assert abs((value - row.function(x)) * row.weight(x)) < mp.mpf(2) ** -precision.digits * 0.46


@pytest.mark.parametrize("script", [special, special_bessel, special_gamma, special_oscillating])
def test_constants_are_two_parts_of_the_numbers(script: Any) -> None:
    with mp.workprec(300):
        for name, value in script.constants_in_parts().items():
            first, rest = getattr(tables, name), getattr(tables, f"{name}_LOW")
            assert abs(mp.mpf(first.double) + mp.mpf(rest.double) - value) < abs(value) * mp.mpf(2) ** -105
            single = mp.mpf(float(np.float32(first.single))) + mp.mpf(float(np.float32(rest.single)))
            assert abs(single - value) < abs(value) * mp.mpf(2) ** -47
