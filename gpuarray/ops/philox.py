"""Philox4x32-10, the counter-based generator behind all random rows, and what is made of its words, in NumPy.

A block of four 32-bit words is a function of a key and a counter alone, so any part of a stream can be made anywhere.
Functions take flat indices; where these are one run, as in the tiles of contiguous arrays, each block is computed once.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_LOW: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)
_MULTIPLIERS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL: Final = (0x9E3779B9, 0xBB67AE85)
ROUNDS: Final = 10


class Stream(NamedTuple):
    """A place in a stream: the halves of the 64-bit key, and the number of the first block, low half first."""

    key_0: Any
    key_1: Any
    offset_0: Any
    offset_1: Any

    @property
    def first_block(self) -> np.uint64:
        """The number of the first block."""
        return np.uint64(int(self.offset_0) | int(self.offset_1) << 32)


def blocks(numbers: npt.NDArray[np.uint64], stream: Stream) -> Words:
    """Return the four words of each block (Salmon, Moraes, Dror and Shaw, SC 2011), along a new last axis."""
    counter = (np.asarray(numbers) + stream.first_block).reshape(-1)
    c0, c1 = counter & _LOW, counter >> _SHIFT
    c2, c3 = np.zeros_like(c0), np.zeros_like(c0)
    p0, p1 = np.empty_like(c0), np.empty_like(c0)
    key_0, key_1 = int(stream.key_0), int(stream.key_1)
    for _ in range(ROUNDS):
        np.multiply(c0, _MULTIPLIERS[0], out=p0)
        np.multiply(c2, _MULTIPLIERS[1], out=p1)
        np.right_shift(p1, _SHIFT, out=c0)
        c0 ^= c1
        c0 ^= np.uint64(key_0)
        np.right_shift(p0, _SHIFT, out=c2)
        c2 ^= c3
        c2 ^= np.uint64(key_1)
        np.bitwise_and(p1, _LOW, out=c1)
        np.bitwise_and(p0, _LOW, out=c3)
        key_0, key_1 = (key_0 + _WEYL[0]) & 0xFFFFFFFF, (key_1 + _WEYL[1]) & 0xFFFFFFFF
    found = np.empty((c0.size, 4), np.uint32)
    for number, word in enumerate((c0, c1, c2, c3)):
        found[:, number] = word
    return found.reshape(*np.shape(numbers), 4)


def run_of(index: Any) -> tuple[int, int] | None:
    """Return the first and the last of flat indices that are one run in C order, else None."""
    flat = np.asarray(index).reshape(-1)
    if flat.size < 2:
        return None
    first, last = int(flat[0]), int(flat[-1])
    is_run = last - first == flat.size - 1 and bool((flat[1:] - flat[:-1] == 1).all())
    return (first, last) if is_run else None


def words(index: Any, each: int, stream: Stream) -> Words:
    """Return the words from number ``each * i`` on for each index i, ``each`` of them (1, 2 or 4) along a last axis."""
    at = np.asarray(index)
    share = 4 // each
    run = run_of(at)
    if run is not None:
        first, last = run
        found = blocks(np.arange(first // share, last // share + 1, dtype=np.uint64), stream).reshape(-1, each)
        start = first % share
        return found[start : start + at.size].reshape(*at.shape, each)
    found = blocks((at // share).astype(np.uint64), stream).reshape(*at.shape, share, each)
    return np.take_along_axis(found, (at % share)[..., None, None], axis=-2)[..., 0, :]


def uniform(found: Words, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return numbers in [0, 1) from the words of each: the top 24 bits of one, or the top 53 of two."""
    if kind == np.float32:
        return (found[..., 0] >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return _fraction(found) * 2.0**-53


def _fraction(found: Words) -> npt.NDArray[np.float64]:
    """Return the top 53 bits of two words, the low one first, as an integral number."""
    high = (found[..., 1] >> np.uint32(5)).astype(np.float64)
    return high * 67108864.0 + (found[..., 0] >> np.uint32(6))


def normal(index: Any, stream: Stream, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return standard normal numbers by Box and Muller's method: elements 2 j and 2 j + 1 are of one pair."""
    at = np.asarray(index)
    run = run_of(at)
    if run is None:
        radius, cosine, sine = _polar(at >> 1, stream, kind)
        mixed: npt.NDArray[Any] = (radius * np.where(at & 1, sine, cosine)).astype(kind)
        return mixed
    first, last = run
    radius, cosine, sine = _polar(np.arange(first >> 1, (last >> 1) + 1), stream, kind)
    pairs = np.empty((radius.size, 2), kind)
    np.multiply(radius, cosine, out=pairs[:, 0])
    np.multiply(radius, sine, out=pairs[:, 1])
    return pairs.reshape(-1)[first & 1 : (first & 1) + at.size].reshape(at.shape)


def _polar(pair: Any, stream: Stream, kind: np.dtype[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Return radius, cosine and sine of pairs, of which each takes two words, or four in double precision."""
    if kind == np.float32:
        found = words(pair, 2, stream)
        share = found[..., 0].astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33)
        turns = (found[..., 1] >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-23)
        return np.sqrt(np.float32(-2) * np.log(share)), _sine(turns, np.float32(0.5)), _sine(turns, np.float32(0))
    found = words(pair, 4, stream)
    share = (_fraction(found[..., :2]) + 1.0) * 2.0**-53
    angle = _fraction(found[..., 2:]) * (2 * np.pi * 2.0**-53)
    return np.sqrt(-2.0 * np.log(share)), np.cos(angle), np.sin(angle)


def _sine(turns: npt.NDArray[np.float32], ahead: np.float32) -> npt.NDArray[np.float32]:
    """Return the sine of half turns plus ``ahead``; what is left after whole ones is exact."""
    whole = np.rint(turns + ahead)
    rest = (turns - whole) + ahead
    even = np.float32(1) - np.float32(2) * np.remainder(whole, np.float32(2))
    found: npt.NDArray[np.float32] = np.sin(rest * np.float32(np.pi)) * even
    return found


def below(index: Any, stream: Stream, limit: int, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return integers from 0 to ``limit - 1`` (0 means two to the width): random fractions times ``limit``, cut off.

    The fractions have twice the width of the result, so a number is more likely than another by at most ``limit`` in
    two to that width.
    """
    if kind == np.uint32:
        found = words(index, 2, stream).astype(np.uint64)
        scale = np.uint64(limit or 1 << 32)
        # at the full range the product with the low word has 64 bits, and its high half is the word itself
        return ((found[..., 1] * scale + (found[..., 0] * scale >> _SHIFT)) >> _SHIFT).astype(np.uint32)
    found = words(index, 4, stream).astype(np.uint64)
    low, high = found[..., 0] | found[..., 1] << _SHIFT, found[..., 2] | found[..., 3] << _SHIFT
    if not limit:
        return high
    scale = np.uint64(limit)
    middle = high * scale
    product: npt.NDArray[Any] = _high_product(high, scale) + (middle + _high_product(low, scale) < middle)
    return product


def _high_product(first: Any, second: np.uint64) -> Any:
    """Return the upper 64 of the 128 bits of a product."""
    a0, a1, b0, b1 = first & _LOW, first >> _SHIFT, second & _LOW, second >> _SHIFT
    middle = a1 * b0 + (a0 * b0 >> _SHIFT)
    return a1 * b1 + (middle >> _SHIFT) + ((a0 * b1 + (middle & _LOW)) >> _SHIFT)
