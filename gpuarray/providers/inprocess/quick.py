"""Other ways through NumPy to what some of its functions give, where these are slow.

*Sine and cosine* of float64 are the C library's, for one element after the other. Here an angle is a number of
quadrants and a rest of at most pi / 4, of which both polynomials are computed, and one is taken: about fifty of NumPy's
calls on a tile in the cache, which take less than half as long. Errors are up to 1.6 units in the last place, and none
where the result is 1. What is large, infinite or no number goes to NumPy's functions, so that an element's value never
depends on its neighbours. *Powers* of zeros leave the vectorised loop, seven times as slow for
all elements: they are powers of one, and zeros afterwards. *Maxima and minima* with one number are not vectorised, but
``clip`` is. The writer of programs asks for a :class:`Way`.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.fusion.steps import Apply
from gpuarray.providers.inprocess import angles

Array = npt.NDArray[Any]

#: Largest angle that half pi has parts for.
_LARGE: Final = 65536.0

#: Adding this leaves an integer in the lowest bits of a number.
_INTEGER: Final = 1.5 * 2.0**52
_SIGN: Final = np.int64(-(2**63))


def sine(x: Array, out: Array, number: Array, square: Array, other: Array) -> None:
    """Write the sine of ``x``, which may be ``out``."""
    large, values = _beyond(x, np.sin)
    _turn(x, 0.0, out, number, square, other)
    if large is not None:
        out[large] = values


def cosine(x: Array, out: Array, number: Array, square: Array, other: Array) -> None:
    """Write the cosine of ``x``, which may be ``out``."""
    large, values = _beyond(x, np.cos)
    _turn(x, 1.0, out, number, square, other)
    if large is not None:
        out[large] = values


def _beyond(x: Array, function: Callable[[Array], Array]) -> tuple[Array | None, Array | None]:
    """Return where angles are too large, and the function of them; None if they are nowhere."""
    if x.max(initial=0.0) <= _LARGE and x.min(initial=0.0) >= -_LARGE:
        return None, None
    large = ~(np.abs(x) <= _LARGE)
    return large, function(x[large])


def _turn(x: Array, ahead: float, out: Array, number: Array, square: Array, other: Array) -> None:
    """Write the sine of so many quadrants more than ``x``."""
    np.multiply(x, angles.QUADRANTS_PER_RADIAN, out=number)
    # to the nearest integer, and never to a negative zero, which would take its sign off that of x
    number += _INTEGER
    number -= _INTEGER
    np.multiply(number, angles.HALF_PI[0], out=other)
    np.subtract(x, other, out=out)
    for part in angles.HALF_PI[1:]:
        np.multiply(number, part, out=other)
        out -= other
    number += _INTEGER + ahead
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


def largest(x: Array, least: Array, out: Array) -> None:
    """Write the larger of ``x`` and one number."""
    np.clip(x, least, np.inf, out=out)


def smallest(x: Array, most: Array, out: Array) -> None:
    """Write the smaller of ``x`` and one number."""
    np.clip(x, -np.inf, most, out=out)


class Way(NamedTuple):
    """A function of the operands in this order, then the output and so many spare arrays; it makes so many calls."""

    function: Callable[..., None]
    operands: tuple[int, ...]
    spare: int
    calls: int


_ANGLES: Final = {"sin": sine, "cos": cosine}
_EXTREMES: Final = {"maximum": largest, "minimum": smallest}


def way(item: Apply, is_one: tuple[bool, ...]) -> Way | None:
    """Return another way to what ``item`` computes, if there is one; ``is_one`` of operands that are one number."""
    dtype = item.dtype
    if dtype not in (dtypes.float32, dtypes.float64) or any(source != dtype for source in item.sources):
        return None
    name = item.op.name
    if name in _ANGLES and dtype == dtypes.float64:
        return Way(_ANGLES[name], item.operands, 3, 48)
    if name == "pow" and is_one == (False, True):
        return Way(power, item.operands, 1, 3)
    if name in _EXTREMES and sum(is_one) == 1:
        return Way(_EXTREMES[name], item.operands[:: -1 if is_one[0] else 1], 0, 2)
    return None
