"""Quicker compositions of NumPy calls for operations whose NumPy function is slow.

*Powers* of zeros leave NumPy's vectorised loop, which makes all elements seven times slower: here they are computed as
powers of one, and set to zero afterwards. *Maxima and minima* with one number are not vectorised in NumPy, but ``clip``
is.

*sinc* is a series in the distance to the nearest integer, with errors of up to 2 units.

The operations name these functions in their column ``numpy_forms``.
"""

from collections.abc import Callable
from math import factorial, pi
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.dtypes import DType
from gpuarray.ops.columns import NumPyForm

Array = npt.NDArray[Any]

#: Coefficients of the powers 22, 20, ..., 2 of x in the series of sin(pi x) / (pi x).
_SINC: Final = tuple((-1) ** k * pi ** (2 * k) / factorial(2 * k + 1) for k in range(11, 0, -1))


def power(x: Array, exponent: Array, out: Array, spare: Array) -> None:
    """Write ``x``, which may be ``out``, to the power of one number."""
    # zeros to odd powers keep their sign, and NumPy has loops for roots and squares
    if exponent > 0 and exponent % 2 != 1 and exponent not in (0.5, 2):
        is_zero = np.asarray(np.equal(x, 0))  # of one element it is a scalar
        if is_zero.any():
            np.add(x, is_zero, out=spare)
            np.power(spare, exponent, out=out)
            np.logical_not(is_zero, out=is_zero)
            np.multiply(out, is_zero, out=out)
            return
    np.power(x, exponent, out=out)


def sinc(x: Array, out: Array, number: Array, square: Array, scratch: Array, divisor: Array) -> None:
    """Write ``sin(pi x) / (pi x)`` of ``x``, which may be ``out``."""
    np.rint(x, out=number)
    np.multiply(number, 0.5, out=square)
    np.rint(square, out=scratch)
    scratch += scratch
    np.subtract(number, scratch, out=scratch)  # 0 if the integer is even, else 1 or -1
    np.abs(scratch, out=scratch)
    scratch *= -2.0
    scratch += 1.0
    np.subtract(x, number, out=number)
    np.multiply(number, number, out=square)
    np.equal(x, 0, out=divisor)  # of which the quotient is 1
    number += divisor
    divisor += x
    np.divide(number, divisor, out=out)
    out *= scratch
    first, *coefficients = _SINC[-6:] if x.dtype == np.float32 else _SINC
    np.multiply(square, first, out=scratch)
    for coefficient in coefficients:
        scratch += coefficient
        scratch *= square
    scratch *= out
    out += scratch
    out += 0.0  # of negative zeros, which integers have as little as in NumPy


def largest(x: Array, least: Array, out: Array) -> None:
    """Write the larger of ``x`` and one number."""
    np.clip(x, least, np.inf, out=out)


def smallest(x: Array, most: Array, out: Array) -> None:
    """Write the smaller of ``x`` and one number."""
    np.clip(x, -np.inf, most, out=out)


def of_one_number(function: Callable[..., None], dtypes: tuple[DType, ...]) -> tuple[NumPyForm, NumPyForm]:
    """Return the forms of a symmetric operation that are for one number as the second and as the first operand."""
    second = NumPyForm(function, dtypes, calls=2, uniform=(False, True))
    return second, second._replace(uniform=(True, False), order=(1, 0))
