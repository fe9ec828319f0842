"""Exact angle reduction of x and of x - pi/4, by the method of Payne and Hanek (SIGNUM Newsletter 18, 1983).

The Bessel functions need x - pi/4. It is subtracted from the fixed-point number of turns, where nothing is lost.
"""

from functools import partial
from typing import Any, Final

import numpy as np

from gpuarray.ops.formula import Primitive
from gpuarray.ops.philox import high_product
from gpuarray.ops.special import tables
from gpuarray.ops.vocabulary import two_product

_WORDS: Final = np.array(tables.TWO_OVER_PI_WORDS, np.uint64)


def _turns(x: Any, sixteenths: int) -> tuple[Any, Any, Any]:
    """Return the reduced angle and its quadrant, in 64-bit integers as ``turns`` of ``codegen/math/trigonometric``.

    ``sixteenths`` times pi/8, a sixteenth of a turn, is subtracted from the angle first.
    """
    fraction, exponent = np.frexp(np.asarray(x, np.float64))
    significand = np.ldexp(fraction, 53).astype(np.uint64)
    index, up = np.divmod(exponent + (64 - 2 - 53), 64)
    up = up.astype(np.uint64)
    # two shifts, because a shift of a 64-bit word by 64 is undefined
    down = [(_WORDS[index + k + 1] >> np.uint64(1)) >> (np.uint64(63) - up) for k in range(3)]
    first, second, third = ((_WORDS[index + k] << up) | down[k] for k in range(3))
    carried = high_product(significand, third)
    low = significand * second + carried
    high = significand * first + high_product(significand, second) + (low < carried)
    high = high - (np.uint64(sixteenths) << np.uint64(60))
    quadrant = (high + (np.uint64(1) << np.uint64(61))) >> np.uint64(62)
    left = (high - (quadrant << np.uint64(62))).view(np.int64)
    # the upper word as a floating number, its rounding error, and the lower word
    turns = left.astype(np.float64)
    rest = (left - turns.astype(np.int64)).astype(np.float64) + np.ldexp(low.astype(np.float64), -64)
    whole = turns + rest
    rest = rest - (whole - turns)
    angle, angle_low = two_product(np.ldexp(whole, -62), 0.5 * tables.PI.double)
    angle_low = angle_low + np.ldexp(rest, -62) * (0.5 * tables.PI.double)
    angle_low = angle_low + np.ldexp(whole, -62) * (0.5 * tables.PI_LOW.double)
    return angle, angle_low, quadrant.astype(np.float64)


#: For finite x >= 1/2: high, low and n with ``x = high + low + n pi/2`` modulo 2 pi.
turns: Final = Primitive("turns_{T}({0}, 0)", partial(_turns, sixteenths=0))
#: The same for ``x - pi/4``.
late_turns: Final = Primitive("turns_{T}({0}, 2)", partial(_turns, sixteenths=2))
