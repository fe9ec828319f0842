"""Quicker compositions of NumPy calls for operations whose NumPy function is slow.

*Sine and cosine* of float64 are the C library's in NumPy, one element after the other. Here an angle is reduced to a
number of quadrants and a remainder of at most pi / 4; both polynomials are computed, and one is taken. That is about
fifty NumPy calls on a tile in the cache, which take less than half the time. Errors are up to 1.6 units in the last
place, and zero where the result is 1. Large, infinite and NaN operands go to NumPy's functions, so that the value of an
element never depends on its neighbours. *Powers* of zeros leave NumPy's vectorised loop, which makes all elements seven
times slower: here they are computed as powers of one, and set to zero afterwards. *Maxima and minima* with one number
are not vectorised in NumPy, but ``clip`` is.

*sinc* is a series in the distance to the nearest integer, with errors of up to 2 units.

The operations name these functions in their column ``numpy_forms``.
"""

from collections.abc import Callable
from math import factorial, pi
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.dtypes import DType
from gpuarray.ops import angles
from gpuarray.ops.columns import NumPyForm

Array = npt.NDArray[Any]

#: Largest angle whose number of quadrants the parts of half pi are exact for.
_LARGE: Final = 65536.0

#: Adding this leaves an integer in the lowest bits of a number.
_INTEGER: Final = 1.5 * 2.0**52
_SIGN: Final = np.int64(-(2**63))

#: Coefficients of the powers 22, 20, ..., 2 of x in the series of sin(pi x) / (pi x).
_SINC: Final = tuple((-1) ** k * pi ** (2 * k) / factorial(2 * k + 1) for k in range(11, 0, -1))


def sine(x: Array, out: Array, number: Array, square: Array, other: Array) -> None:
    """Write the sine of ``x``, which may be ``out``."""
    large, values = _of_large(x, np.sin)
    _sine_ahead(x, 0.0, out, number, square, other)
    if large is not None:
        out[large] = values


def cosine(x: Array, out: Array, number: Array, square: Array, other: Array) -> None:
    """Write the cosine of ``x``, which may be ``out``."""
    large, values = _of_large(x, np.cos)
    _sine_ahead(x, 1.0, out, number, square, other)
    if large is not None:
        out[large] = values


def _of_large(x: Array, function: Callable[[Array], Array]) -> tuple[Array | None, Array | None]:
    """Return where angles are too large to reduce here, and the function of them; None and None if none is."""
    if x.max(initial=0.0) <= _LARGE and x.min(initial=0.0) >= -_LARGE:
        return None, None
    large = ~(np.abs(x) <= _LARGE)
    return large, function(x[large])


def _sine_ahead(x: Array, quadrants: float, out: Array, number: Array, square: Array, other: Array) -> None:
    """Write the sine of ``x`` plus a number of quadrants."""
    np.multiply(x, angles.QUADRANTS_PER_RADIAN, out=number)
    # to the nearest integer, and never to a negative zero, which would take its sign off that of x
    number += _INTEGER
    number -= _INTEGER
    np.multiply(number, angles.HALF_PI[0], out=other)
    np.subtract(x, other, out=out)
    for part in angles.HALF_PI[1:]:
        np.multiply(number, part, out=other)
        out -= other
    number += _INTEGER + quadrants
    np.multiply(out, out, out=square)
    np.multiply(square, angles.SINE[0], out=other)
    for coefficient in angles.SINE[1:]:
        other += coefficient
        other *= square
    other += 0.0  # of negative zeros, whose sign the sum below would else lose
    other *= out
    out += other
    np.multiply(square, angles.COSINE[0], out=other)
    for coefficient in (*angles.COSINE[1:], -0.5):
        other += coefficient
        other *= square
    other += 1.0
    # the cosine where the number of quadrants is odd, and the other sign where half of it is
    bits, odd, result, cosines = (array.view(np.int64) for array in (number, square, out, other))
    np.left_shift(bits, 63, out=odd)
    odd >>= 63
    cosines ^= result
    cosines &= odd
    result ^= cosines
    bits <<= 62
    bits &= _SIGN
    result ^= bits


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


def sinc(x: Array, out: Array, number: Array, square: Array, other: Array, divisor: Array) -> None:
    """Write ``sin(pi x) / (pi x)`` of ``x``, which may be ``out``."""
    np.rint(x, out=number)
    np.multiply(number, 0.5, out=square)
    np.rint(square, out=other)
    other += other
    np.subtract(number, other, out=other)  # 0 if the integer is even, else 1 or -1
    np.abs(other, out=other)
    other *= -2.0
    other += 1.0
    np.subtract(x, number, out=number)
    np.multiply(number, number, out=square)
    np.equal(x, 0, out=divisor)  # of which the quotient is 1
    number += divisor
    divisor += x
    np.divide(number, divisor, out=out)
    out *= other
    first, *coefficients = _SINC[-6:] if x.dtype == np.float32 else _SINC
    np.multiply(square, first, out=other)
    for coefficient in coefficients:
        other += coefficient
        other *= square
    other *= out
    out += other
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
