"""Philox, the counter-based generators behind all random rows, in NumPy.

A block of words is a function of a key and a counter alone, so any part of a stream can be made anywhere. There are:

- *streams*: Philox4x64-10 as ``numpy.random.Philox`` has it. Word ``w`` of a stream is word ``w % 4`` of the block
  whose 256-bit counter is ``w // 4``. What NumPy makes of its 64-bit words and their halves is made of these.
- *substreams*: Philox4x32-10, which costs a quarter. A call that NumPy's stream has no numbers for draws a key and a
  nonce of 64 bits each from the stream, and has blocks of four 32-bit words for every pair of numbers: of the element,
  and of the attempt.

Both are by Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import sys
import threading
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Words64 = npt.NDArray[np.uint64]

_LOW: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)
_MULTIPLIERS_32: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL_32: Final = (0x9E3779B9, 0xBB67AE85)
_MULTIPLIERS_64: Final = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
_WEYL_64: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS: Final = 10
COUNTER_MASK: Final = (1 << 256) - 1
_MASK_64: Final = (1 << 64) - 1

#: Which half of a word in memory is the lower one; the top 24 bits of a half; a quarter of a turn of 32 bits.
_LOWER: Final = 0 if sys.byteorder == "little" else 1
_TOP_24: Final = np.int32(-256)
_QUARTER: Final = np.int32(1 << 30)


def pieces(number: int, count: int, width: int) -> tuple[int, ...]:
    """Return an integer as ``count`` digits of ``width`` bits, the lowest first."""
    mask = (1 << width) - 1
    return tuple((number >> width * k) & mask for k in range(count))


def joined(digits: Any, width: int) -> int:
    """Return the integer that has these digits of ``width`` bits, the lowest first."""
    return sum(int(digit) << width * k for k, digit in enumerate(digits))


# -- streams -----------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where in a stream element 0 of an array is.

    Attributes
    ----------
    key : int
        Of 128 bits.
    block : int
        The counter of the first block, of 256 bits.
    start : int
        Of numbers of 64 bits, which word of that block belongs to element 0; of halves, which half (-1 where the half
        of element 1 is the first of the block).
    spare : int or None
        A half that was left over by an earlier call, and is element 0.
    """

    key: int
    block: int
    start: int
    spare: int | None

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The place as 15 words of uint32: key, counter, start, whether there is a spare half, and that half."""
        key, block, start, spare = self
        rest = start & 0xFFFFFFFF if spare is None else start & 0xFFFFFFFF | 1 << 32 | spare << 64
        words = key.to_bytes(16, "little") + block.to_bytes(32, "little") + rest.to_bytes(12, "little")
        return tuple(np.frombuffer(words, "<u4").astype(np.uint32, copy=False))

    @classmethod
    def of(cls, parameters: Any) -> "Place":
        """Return the place that is written as 15 words."""
        start = int(parameters[12])
        return cls(
            joined(parameters[:4], 32),
            joined(parameters[4:12], 32),
            start - (1 << 32) if start >> 31 else start,
            int(parameters[14]) if parameters[13] else None,
        )


class _Host(threading.local):
    """NumPy's own generator, one a thread, put to any place of any stream."""

    def __init__(self) -> None:
        self.bits = np.random.Philox(key=0)
        self.generator = np.random.Generator(self.bits)

    def at_word(self, place: Place, number: int) -> np.random.Generator:
        """Return NumPy's generator where the word of this number of a place is next."""
        return self._at(place.key, 4 * place.block + place.start + number)

    def at_half(self, place: Place, number: int) -> np.random.Generator:
        """Return NumPy's generator where the half of this number of a place is next."""
        half = 8 * place.block + place.start + number
        if place.spare is not None and not number:
            return self._at(place.key, half + 1 >> 1, place.spare)
        generator = self._at(place.key, half >> 1)
        if half & 1:
            generator.random(dtype=np.float32)
        return generator

    def _at(self, key: int, word: int, spare: int | None = None) -> np.random.Generator:
        block, used = divmod(word, 4)
        self.bits.state = {
            "bit_generator": "Philox",
            "state": {
                "counter": np.array(pieces(block - 1 & COUNTER_MASK, 4, 64), np.uint64),
                "key": np.array(pieces(key, 2, 64), np.uint64),
            },
            "buffer": np.zeros(4, np.uint64),
            "buffer_pos": 4,
            "has_uint32": int(spare is not None),
            "uinteger": spare or 0,
        }
        if used:
            self.bits.random_raw(used, False)
        return self.generator

    @property
    def half(self) -> int:
        """The number of the half that is next, in the stream; modulo the stream's length."""
        state: Any = self.bits.state
        word = 4 * joined(state["state"]["counter"], 64) + int(state["buffer_pos"])
        return 2 * word - int(state["has_uint32"])


_host: Final = _Host()


def stream_blocks(key: int, first: int, count: int) -> Words64:
    """Return the words of ``count`` blocks of a stream, from the counter ``first`` on, one after the other."""
    return _words_from(Place(key, first, 0, None), 0, 4 * count)


def high_product(first: Words64, second: Any) -> Words64:
    """Return the upper 64 of the 128 bits of a product."""
    a0, a1, b0, b1 = first & _LOW, first >> _SHIFT, second & _LOW, second >> _SHIFT
    middle = a1 * b0 + (a0 * b0 >> _SHIFT)
    product: Words64 = a1 * b1 + (middle >> _SHIFT) + ((a0 * b1 + (middle & _LOW)) >> _SHIFT)
    return product


def scattered_blocks(key: int, first: int, numbers: Words64) -> Words64:
    """Return the four words of blocks with the counters ``first`` plus each number, along a new last axis."""
    counter = [np.full(numbers.shape, digit, np.uint64) for digit in pieces(first, 4, 64)]
    carry = numbers
    for digit in counter:
        digit += carry
        carry = (digit < carry).astype(np.uint64)
    v0, v1, v2, v3 = counter
    k0, k1 = pieces(key, 2, 64)
    for _ in range(ROUNDS):
        high_0, low_0 = high_product(v0, _MULTIPLIERS_64[0]), v0 * _MULTIPLIERS_64[0]
        high_1, low_1 = high_product(v2, _MULTIPLIERS_64[1]), v2 * _MULTIPLIERS_64[1]
        v0, v1, v2, v3 = high_1 ^ v1 ^ np.uint64(k0), low_1, high_0 ^ v3 ^ np.uint64(k1), low_0
        k0, k1 = (k0 + _WEYL_64[0]) & _MASK_64, (k1 + _WEYL_64[1]) & _MASK_64
    return np.stack((v0, v1, v2, v3), -1)


def words64(index: Any, place: Place) -> Words64:
    """Return the 64-bit word of each element."""
    run = run_of(index)
    if run is not None:
        return _words_from(place, run[0], run[1] + 1 - run[0]).reshape(_shape_of(index))
    return _at(np.asarray(index) + place.start, place)


def _words_from(place: Place, first: int, count: int) -> Words64:
    words: Words64 = _host.at_word(place, first).integers(0, _MASK_64, count, np.uint64, endpoint=True)
    return words


def _at(word: npt.NDArray[np.int64], place: Place) -> Words64:
    """Return words of a stream by their numbers, counted from the first block."""
    if not word.size:
        return np.empty(word.shape, np.uint64)
    least, most = int(word.min()) // 4, int(word.max()) // 4
    if most - least < word.size:  # blocks side by side: NumPy makes them faster than they are picked
        found = stream_blocks(place.key, place.block + least & COUNTER_MASK, most - least + 1)
        return found[word - 4 * least]
    blocks = scattered_blocks(place.key, place.block, (word >> 2).astype(np.uint64))
    return np.take_along_axis(blocks, (word & 3)[..., None], -1)[..., 0]


def words32(index: Any, place: Place) -> Words:
    """Return the half of a word of each element: of each word the lower half comes first."""
    run = run_of(index)
    if run is not None:
        half, behind = place.start + run[0], place.start + run[1] + 1
        words = _words_from(place._replace(start=0), half >> 1, (behind + 1 >> 1) - (half >> 1))
        found = words.astype("<u8", copy=False).view("<u4")[half & 1 :][: behind - half].astype(np.uint32, copy=False)
        if place.spare is not None and not run[0]:
            found[0] = place.spare
        return found.reshape(_shape_of(index))
    at = np.asarray(index)
    numbers = at + place.start
    # where the spare half is element 0, its own place does not matter
    word = _at(np.maximum(numbers >> 1, 0), place)
    halves = (word >> ((numbers & 1) * 32).astype(np.uint64)).astype(np.uint32)
    return halves if place.spare is None else np.where(at == 0, np.uint32(place.spare), halves)


def uniform(index: Any, place: Place, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return numbers in [0, 1): the top 24 bits of a half, or the top 53 of a word.

    An index that is a run can be a range, here and below, whose elements nobody has to write and compare.
    """
    run = run_of(index)
    if run is not None:
        numpys = _host.at_half(place, run[0]) if kind == np.float32 else _host.at_word(place, run[0])
        return numpys.random(_shape_of(index), kind)
    if kind == np.float32:
        return (words32(index, place) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return (words64(index, place) >> np.uint64(11)).astype(np.float64) * 2.0**-53


#: How often a rejected number is drawn again: each time with a chance of at most a half.
REDRAWS: Final = 64


def redrawn(place: Place, attempt: int) -> Place:
    """Return where the numbers of an attempt are, the first being 0: in streams of other keys from number 1 on."""
    if not attempt:
        return place
    key = (place.key ^ attempt) ^ (_MASK_64 << 64)
    return place._replace(key=key, start=place.start + (place.spare is not None), spare=None)


def below(index: Any, place: Place, share: int, limit: int, threshold: int, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return integers from 0 to ``limit - 1`` by Lemire's method, as NumPy has it but for what follows a rejection.

    A limit of 0 is two to the width. ``2**share`` numbers are made of each half of a word, from the lowest bits on; for
    results of 64 bits each takes a word. A number is rejected if the lower half of its product with the limit is below
    ``threshold``; the same bits of the streams of other keys then take its place.
    """
    run = run_of(index)
    drawn = None if run is None else _below_in_run(run, place, share, limit, threshold, kind)
    if drawn is not None:
        return drawn.reshape(_shape_of(index))
    at = np.arange(index.start, index.stop) if isinstance(index, range) else np.asarray(index)
    found = _below_once(at, place, share, limit, kind)
    if threshold:
        again = np.flatnonzero(found[1] < threshold)
        for attempt in range(1, REDRAWS):
            if not again.size:
                break
            values, left = _below_once(at.reshape(-1)[again], redrawn(place, attempt), share, limit, kind)
            found[0].reshape(-1)[again] = values
            again = again[left < threshold]
    return found[0]


#: What NumPy makes ``2**share`` of each half of.
_PARTS: Final = {0: np.uint32, 1: np.uint16, 2: np.uint8}


def _below_in_run(
    run: tuple[int, int], place: Place, share: int, limit: int, threshold: int, kind: np.dtype[Any]
) -> npt.NDArray[Any] | None:
    """Return a run of what :func:`below` returns as NumPy draws it; None where it has to reject, or draws otherwise."""
    first, last = run
    is_wide = kind == np.uint64
    dtype, width = (np.uint64, 64) if is_wide else (_PARTS.get(share), 32 >> share)
    skipped = first & ((1 << share) - 1)
    count = skipped + last + 1 - first
    count += -count & ((1 << share) - 1)  # whole halves: one more is taken if any number is rejected
    if dtype is None or count * threshold >> (width - 3) or (is_wide and 0 < limit <= 1 << 32):
        return None
    numpys = _host.at_word(place, first) if is_wide else _host.at_half(place, first >> share)
    before = _host.half
    found: npt.NDArray[Any] = numpys.integers(0, (limit or 1 << width) - 1, count, dtype, endpoint=True)
    if threshold and (_host.half - before) % (8 * COUNTER_MASK + 8) != (2 * count if is_wide else count >> share):
        return None
    return found[skipped : skipped + last + 1 - first].astype(kind, copy=False)


def _below_once(
    at: npt.NDArray[np.int64], place: Place, share: int, limit: int, kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return numbers, and the lower halves of the products that they are the upper halves of."""
    if kind == np.uint64:
        word = words64(at, place)
        if not limit:
            return word, word
        return high_product(word, np.uint64(limit)), word * np.uint64(limit)
    width = 32 >> share
    lower = np.uint64((1 << width) - 1)
    half = words32(at >> share, place).astype(np.uint64)
    part = half >> ((at & ((1 << share) - 1)) * width).astype(np.uint64) & lower
    if not limit:
        return np.ascontiguousarray(part.astype(np.uint32)), part
    product = part * np.uint64(limit)
    return (product >> np.uint64(width)).astype(np.uint32), product & lower


# -- substreams --------------------------------------------------------------------------------------------------------


class Substream(NamedTuple):
    """What one call's numbers are made of: the halves of its key and of its nonce, low half first."""

    key_0: Any
    key_1: Any
    nonce_0: Any
    nonce_1: Any


def blocks(numbers: Any, attempt: int, stream: Substream) -> Words:
    """Return the four words of the block of each element's number and attempt, along a new last axis."""
    flat = np.asarray(numbers).reshape(-1)
    found = np.empty((flat.size, 4), np.uint32)
    for position, pair in enumerate(_paired(flat, attempt, stream)):
        found[:, 2 * position] = pair >> _SHIFT
        found[:, 2 * position + 1] = pair & _LOW
    return found.reshape(*np.shape(numbers), 4)


def _paired(numbers: Any, attempt: int, stream: Substream) -> tuple[Words64, Words64]:
    """Return the first two words and the last two of each block, the earlier one in the upper half.

    A round multiplies the upper halves, and the halves of a product change places as they are: this takes no other
    operations than shifts, products and exclusive ors. What is equal in all blocks is computed once.
    """
    key_0, key_1 = int(stream.key_0), int(stream.key_1)
    multiplier_0, multiplier_1 = map(int, _MULTIPLIERS_32)
    common = int(stream.nonce_0) * multiplier_1 ^ (int(attempt) ^ key_0) << 32
    last = numbers.astype(np.uint64)
    last *= _MULTIPLIERS_32[0]
    last ^= np.uint64((int(stream.nonce_1) ^ key_1) << 32)
    key_0, key_1 = (key_0 + _WEYL_32[0]) & 0xFFFFFFFF, (key_1 + _WEYL_32[1]) & 0xFFFFFFFF
    first = last >> _SHIFT
    first *= _MULTIPLIERS_32[1]
    first ^= np.uint64((common & 0xFFFFFFFF ^ key_0) << 32)
    last <<= _SHIFT
    last ^= np.uint64((common >> 32) * multiplier_0 ^ key_1 << 32)
    product_0, product_1 = np.empty_like(first), np.empty_like(first)
    for _ in range(ROUNDS - 2):
        key_0, key_1 = (key_0 + _WEYL_32[0]) & 0xFFFFFFFF, (key_1 + _WEYL_32[1]) & 0xFFFFFFFF
        np.right_shift(first, _SHIFT, out=product_0)
        np.right_shift(last, _SHIFT, out=product_1)
        product_0 *= _MULTIPLIERS_32[0]
        product_1 *= _MULTIPLIERS_32[1]
        first <<= _SHIFT
        last <<= _SHIFT
        first ^= product_1
        last ^= product_0
        first ^= np.uint64(key_0 << 32)
        last ^= np.uint64(key_1 << 32)
    return first, last


def run_of(index: Any) -> tuple[int, int] | None:
    """Return the first and the last of flat indices that are one run in C order, else None."""
    if isinstance(index, range):
        return (index[0], index[-1]) if index.step == 1 and len(index) > 1 else None
    flat = np.asarray(index).reshape(-1)
    if flat.size < 2:
        return None
    first, last = int(flat[0]), int(flat[-1])
    is_run = last - first == flat.size - 1 and bool((flat[1:] - flat[:-1] == 1).all())
    return (first, last) if is_run else None


def _shape_of(index: Any) -> tuple[int, ...]:
    return (len(index),) if isinstance(index, range) else np.shape(index)


def fraction(found: Words) -> npt.NDArray[np.float64]:
    """Return the top 53 bits of two words, the low one first, as an integral number."""
    high = (found[..., 1] >> np.uint32(5)).astype(np.float64)
    return high * 67108864.0 + (found[..., 0] >> np.uint32(6))


def normal(index: Any, stream: Substream, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return standard normal numbers by Box and Muller's method: elements 2 j and 2 j + 1 are of one pair."""
    run = run_of(index)
    each = 4 if kind == np.float32 else 2  # numbers of a block, of which each takes a word or two
    if run is None:
        at = np.asarray(index).reshape(-1)
        numbers = np.empty((at.size, each), kind)
        _fill_normal(at // each, stream, numbers)
        return np.take_along_axis(numbers, at[:, None] % each, 1).reshape(np.shape(index))
    first, last = run
    numbers = _normal_blocks(first // each, last // each - first // each + 1, stream, kind)
    return numbers.reshape(-1)[first % each : last - first + first % each + 1].reshape(_shape_of(index))


#: So many blocks are made at once at most: arrays of them stay in a core's cache, and do not come from fresh pages.
_TOGETHER: Final = 12288


def _normal_blocks(first: int, count: int, stream: Substream, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the normal numbers of neighbouring blocks along a new last axis."""
    found = np.empty((count, 4 if kind == np.float32 else 2), kind)
    pieces = -(-count // _TOGETHER)
    for begin, end in pairwise([count * piece // pieces for piece in range(pieces + 1)]):
        _fill_normal(np.arange(first + begin, first + end), stream, found[begin:end])
    return found


def _fill_normal(numbers: npt.NDArray[np.int64], stream: Substream, found: npt.NDArray[Any]) -> None:
    """Write the normal numbers of blocks along the last axis."""
    pairs = _paired(numbers, 0, stream)
    if found.dtype != np.float32:
        radius, angle = map(_fraction, pairs)
        radius += 1.0
        radius *= 2.0**-53
        np.log(radius, out=radius)
        radius *= -2.0
        np.sqrt(radius, out=radius)
        angle *= 2.0**-53
        np.multiply(radius, _cosine_of_turns(angle), out=found[:, 0])
        angle -= 0.25
        np.multiply(radius, _cosine_of_turns(angle), out=found[:, 1])
        return
    lower = np.empty(numbers.size, np.int32)
    for position, pair in enumerate(pairs):
        halves = pair.view(np.uint32)
        radius = halves[1 - _LOWER :: 2].astype(np.float32)
        radius *= np.float32(2.0**-32)
        radius += np.float32(2.0**-33)
        np.log(radius, out=radius)
        radius *= np.float32(-2)
        np.sqrt(radius, out=radius)
        np.bitwise_and(halves.view(np.int32)[_LOWER::2], _TOP_24, out=lower)
        np.multiply(radius, _cosine(lower), out=found[:, 2 * position])
        lower -= _QUARTER
        np.multiply(radius, _cosine(lower), out=found[:, 2 * position + 1])


def _fraction(pair: Words64) -> npt.NDArray[np.float64]:
    """Return the top 53 bits of two words as an integral number; the word in the upper half has the lower bits."""
    high = ((pair & _LOW) >> np.uint64(5)).astype(np.float64)
    high *= 67108864.0
    high += (pair >> np.uint64(38)).astype(np.float64)
    return high


#: The sine of x quarter turns is x, half a pi less one times x, and these times its odd powers from the third on.
_HALF_PI_LESS_ONE: Final = 0.5707963267948966192
_SINE: Final = (
    -0.6459640975062463, 0.07969262624616705, -0.004681754135318688, 0.00016044118478735983,
    -3.598843235212085e-06, 5.692172921967927e-08, -6.688035109811468e-10, 6.0669357311061955e-12,
    -4.377065467313742e-14, 2.571422892860474e-16,
)  # fmt: skip


def _cosine_of_turns(angle: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the cosine of angles in turns, multiples of 2^-53, at most one: quicker than NumPy's of radians."""
    quarters = np.rint(angle)
    np.subtract(angle, quarters, out=quarters)
    np.abs(quarters, out=quarters)
    quarters *= -4.0
    quarters += 1.0  # exact, as all before: what the sine is taken of
    square = quarters * quarters
    found = square * _SINE[-1]
    for factor in _SINE[-2::-1]:
        found += factor
        found *= square
    # quarters are added apart, as pi / 2 of them would be rounded to half as many digits
    found += _HALF_PI_LESS_ONE
    found *= quarters
    found += quarters
    return found


def _cosine(angle: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Return the cosine of angles in units of 2^-31 half turns, whose last eight bits are 0."""
    turns = angle.astype(np.float32)
    np.abs(turns, out=turns)
    turns *= np.float32(2.0**-31)
    np.subtract(np.float32(0.5), turns, out=turns)  # exact, as all before
    turns *= np.float32(np.pi)
    return np.sin(turns, out=turns)


def pair_of_uniforms(
    numbers: Any, attempt: int, stream: Substream, kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return two numbers in (0, 1] from the block of each element's number and attempt."""
    found = blocks(numbers, attempt, stream)
    if kind == np.float32:
        scale, shift = np.float32(2.0**-32), np.float32(2.0**-33)
        return found[..., 0].astype(kind) * scale + shift, found[..., 1].astype(kind) * scale + shift
    return (fraction(found[..., :2]) + 1.0) * 2.0**-53, (fraction(found[..., 2:]) + 1.0) * 2.0**-53
