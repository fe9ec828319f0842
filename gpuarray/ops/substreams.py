"""Substreams of Philox4x32-10: random words and normal numbers of a call that NumPy's stream has no numbers for.

Such a call draws a key and a nonce of 64 bits each from the stream. It has a block of four 32-bit words for each pair
of an element's number and an attempt. These blocks cost a quarter of those of :mod:`gpuarray.ops.philox`.
"""

import sys
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuarray.ops.compiled import COMPILED
from gpuarray.ops.philox import HALF_BITS, LOW_HALF, ROUNDS, Words, Words64, run_of, shape_of

_MULTIPLIERS_32: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL_32: Final = (0x9E3779B9, 0xBB67AE85)
#: Which half of a word in memory is the lower one, the top 24 bits of a half, and a quarter of a turn of 32 bits.
_LOWER: Final = 0 if sys.byteorder == "little" else 1
_TOP_24: Final = np.int32(-256)
#: The bits of the lower half of a pair of words that count in a number of 53 bits.
_TOP_27_OF_LOW: Final = np.uint64(0xFFFFFFE0)
_QUARTER: Final = np.int32(1 << 30)


class Substream(NamedTuple):
    """The key and the nonce of a substream, or of several, as 32-bit halves, the low half first."""

    key_0: Any
    key_1: Any
    nonce_0: Any
    nonce_1: Any


def _rows(stream: Any, attempts: Any, first: Any = 0) -> Words:
    """Return six words for each attempt: its number, the key and the nonce, and the number that others are added to.

    Each word has a line, with an element for each attempt.
    """
    rows = np.empty((6, *np.broadcast_shapes(np.shape(attempts), np.shape(first))), np.uint32)
    for number, words in enumerate((attempts, *stream, first)):
        rows[number] = words
    return rows.reshape(6, -1)


def blocks(numbers: Any, attempt: Any, stream: Substream) -> Words:
    """Return the four words of the block of each element for an attempt, along a new last axis."""
    words = np.empty((np.size(numbers), 4), np.uint32)
    for position, (pair,) in enumerate(_paired(numbers, _rows(stream, attempt))):
        words[:, 2 * position] = pair >> HALF_BITS
        words[:, 2 * position + 1] = pair & LOW_HALF
    return words.reshape(*np.shape(numbers), 4)


def _paired(numbers: Any, rows: Words) -> tuple[Words64, Words64]:
    """Return two words each of a line of blocks for each row, the first two and the last two, the earlier one above."""
    line = np.ascontiguousarray(numbers, np.uint32).reshape(-1)
    first, last = np.empty((2, rows.shape[1], line.size), np.uint64)
    if COMPILED is not None:
        COMPILED.words(line, rows, first, last)
    else:
        _compute(line, rows, first, last)
    return first, last


def _compute(numbers: Words, rows: Words, first: Words64, last: Words64) -> None:
    """Compute blocks: a round takes shifts, products and exclusive ors alone.

    It multiplies the upper halves, and the halves of a product stay together. Values that are equal in all blocks of a
    row are computed once.
    """
    attempt, key_0, key_1, nonce_0, nonce_1, number = (
        rows[:, 0].tolist() if rows.shape[1] == 1 else rows.astype(np.uint64)[:, :, None]
    )
    multiplier_0, multiplier_1 = map(int, _MULTIPLIERS_32)
    common = nonce_0 * multiplier_1 ^ (attempt ^ key_0) << 32
    last[...] = numbers
    last += np.uint64(number) if rows.shape[1] == 1 else number
    last *= _MULTIPLIERS_32[0]
    last ^= np.uint64((nonce_1 ^ key_1) << 32)
    key_0, key_1 = (key_0 + _WEYL_32[0]) & 0xFFFFFFFF, (key_1 + _WEYL_32[1]) & 0xFFFFFFFF
    np.right_shift(last, HALF_BITS, out=first)
    first *= _MULTIPLIERS_32[1]
    first ^= np.uint64((common & 0xFFFFFFFF ^ key_0) << 32)
    last <<= HALF_BITS
    last ^= np.uint64((common >> 32) * multiplier_0 ^ key_1 << 32)
    product_0, product_1 = np.empty_like(first), np.empty_like(first)
    for _ in range(ROUNDS - 2):
        key_0, key_1 = (key_0 + _WEYL_32[0]) & 0xFFFFFFFF, (key_1 + _WEYL_32[1]) & 0xFFFFFFFF
        np.right_shift(first, HALF_BITS, out=product_0)
        np.right_shift(last, HALF_BITS, out=product_1)
        product_0 *= _MULTIPLIERS_32[0]
        product_1 *= _MULTIPLIERS_32[1]
        first <<= HALF_BITS
        last <<= HALF_BITS
        first ^= product_1
        last ^= product_0
        first ^= np.uint64(key_0 << 32)
        last ^= np.uint64(key_1 << 32)


def normal(index: Any, stream: Substream, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return standard normal numbers by the Box-Muller method; elements 2 j and 2 j + 1 are a pair."""
    run = run_of(index)
    each = 4 if kind == np.float32 else 2  # numbers of a block; each takes one word or two
    if run is None:
        at = np.asarray(index).reshape(-1)
        numbers = np.empty((at.size, each), kind)
        _fill_normal(at // each, _rows(stream, 0), numbers)
        return np.take_along_axis(numbers, at[:, None] % each, 1).reshape(np.shape(index))
    first, last = run
    numbers = _normal_blocks(first // each, last // each - first // each + 1, stream, kind)
    return numbers.reshape(-1)[first % each : last - first + first % each + 1].reshape(shape_of(index))


def normals(size: int, streams: Substream, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the first standard normal numbers of several substreams, a row for each, as :func:`normal` does."""
    each = 4 if kind == np.float32 else 2
    count = -(-size // each)
    rows = _rows(streams, np.zeros(np.size(streams.key_0)))
    draws = np.empty((rows.shape[1] * count, each), kind)
    _fill_normal(np.arange(count), rows, draws)
    return draws.reshape(rows.shape[1], -1)[:, :size]


#: Number of blocks that are computed together. Their arrays fit into a core's cache and reuse memory pages.
TOGETHER: Final = 20000


def _normal_blocks(first: int, count: int, stream: Substream, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the normal numbers of consecutive blocks along a new last axis."""
    draws = np.empty((count, 4 if kind == np.float32 else 2), kind)
    rows = _rows(stream, 0)
    for piece in pieces(count):
        _fill_normal(np.arange(first + piece.start, first + piece.stop), rows, draws[piece])
    return draws


def pieces(count: int) -> list[slice]:
    """Return the slices of blocks that are computed together."""
    number = -(-count // TOGETHER)
    return [slice(count * piece // number, count * (piece + 1) // number) for piece in range(number)]


def _fill_normal(numbers: npt.NDArray[np.int64], rows: Words, out: npt.NDArray[Any]) -> None:
    """Write the normal numbers of blocks along the last axis."""
    pairs = [pair.reshape(-1) for pair in _paired(numbers, rows)]
    if out.dtype != np.float32:
        radius, angle = _unit(pairs[0]), _fraction(pairs[1])
        np.log(radius, out=radius)
        radius *= -2.0
        np.sqrt(radius, out=radius)
        angle *= 2.0**-53
        np.multiply(radius, cosine_of_turns(angle), out=out[:, 0])
        angle -= 0.25
        np.multiply(radius, cosine_of_turns(angle), out=out[:, 1])
        return
    lower = np.empty(len(out), np.int32)
    for position, pair in enumerate(pairs):
        halves = pair.view(np.uint32)
        radius = halves[1 - _LOWER :: 2].astype(np.float32)
        radius *= np.float32(2.0**-32)
        radius += np.float32(2.0**-33)
        np.log(radius, out=radius)
        radius *= np.float32(-2)
        np.sqrt(radius, out=radius)
        np.bitwise_and(halves.view(np.int32)[_LOWER::2], _TOP_24, out=lower)
        np.multiply(radius, _cosine(lower), out=out[:, 2 * position])
        lower -= _QUARTER
        np.multiply(radius, _cosine(lower), out=out[:, 2 * position + 1])


def _fraction(pair: Words64) -> npt.NDArray[np.float64]:
    """Return the top 53 bits of two words as an integral number; the word in the upper half has the lower bits."""
    bits = pair & _TOP_27_OF_LOW
    bits <<= np.uint64(21)
    bits |= pair >> np.uint64(38)
    return bits.view(np.int64).astype(np.float64)


#: The sine of x quarter turns is x + (pi/2 - 1) x plus these coefficients times x**3, x**5 and so on.
_HALF_PI_LESS_ONE: Final = 0.5707963267948966192
_SINE: Final = (
    -0.6459640975062463, 0.07969262624616705, -0.004681754135318688, 0.00016044118478735983,
    -3.598843235212085e-06, 5.692172921967927e-08, -6.688035109811468e-10, 6.0669357311061955e-12,
    -4.377065467313742e-14, 2.571422892860474e-16,
)  # fmt: skip


def cosine_of_turns(angle: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the cosine of contiguous angles in turns, multiples of 2**-53 from -1/4 to 1.

    It takes a fraction of the time of NumPy's cosine of radians.
    """
    if COMPILED is not None:
        cosines = angle.copy()
        COMPILED.cosines(cosines)
        return cosines
    quarters = np.rint(angle)
    np.subtract(angle, quarters, out=quarters)
    np.abs(quarters, out=quarters)
    quarters *= -4.0
    quarters += 1.0  # the argument of the sine; exact, as all before
    square = quarters * quarters
    series = square * _SINE[-1]
    for factor in _SINE[-2::-1]:
        series += factor
        series *= square
    # x is added last, because (pi / 2) x would lose half of the digits
    series += _HALF_PI_LESS_ONE
    series *= quarters
    series += quarters
    return series


def _cosine(angle: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Return the cosine of angles in units of 2**-31 half turns, whose last eight bits are 0."""
    turns = angle.astype(np.float32)
    np.abs(turns, out=turns)
    turns *= np.float32(2.0**-31)
    np.subtract(np.float32(0.5), turns, out=turns)  # exact, as all before
    turns *= np.float32(np.pi)
    return np.sin(turns, out=turns)


def pair_of_uniforms(
    numbers: Words, attempts: Any, stream: Any, kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return two uniform numbers in (0, 1] from the block of each element and attempt.

    The elements have one substream, or each has a word in each line of ``stream``. The last axis of several attempts
    has one element, and the results have the elements along it.
    """
    shape = (*np.shape(attempts)[:-1], numbers.size)
    if np.ndim(stream) == 2:  # each element has a substream of its own
        rows, numbers = _rows(stream, attempts, numbers), np.zeros(1, np.uint32)
    else:
        rows = _rows(stream, attempts)
    if COMPILED is not None:
        first, last = np.empty((2, *shape), kind)
        COMPILED.uniforms(np.ascontiguousarray(numbers, np.uint32), rows, first, last)
        return first, last
    pairs = [pair.reshape(shape) for pair in _paired(numbers, rows)]
    if kind == np.float32:
        scale, shift = np.float32(2.0**-32), np.float32(2.0**-33)
        first, last = [half.astype(kind) * scale + shift for half in (pairs[0] >> HALF_BITS, pairs[0] & LOW_HALF)]
        return first, last
    return _unit(pairs[0]), _unit(pairs[1])


def _unit(pair: Words64) -> npt.NDArray[np.float64]:
    """Return a number in (0, 1] of 53 bits from two words."""
    fraction = _fraction(pair)
    fraction += 1.0
    fraction *= 2.0**-53
    return fraction
