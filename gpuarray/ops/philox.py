"""Streams of Philox4x64-10 as ``numpy.random.Philox`` has them, in NumPy.

A block of words is a function of a key and a counter alone, so any part of a stream can be computed anywhere. Word
``w`` of a stream is word ``w % 4`` of the block whose 256-bit counter is ``w // 4``. NumPy makes its numbers of these
64-bit words and of their halves. :mod:`gpuarray.ops.substreams` has the numbers that NumPy's streams do not have.

Philox is by Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import threading
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuarray.ops.compiled import COMPILED

Words = npt.NDArray[np.uint32]
Words64 = npt.NDArray[np.uint64]

LOW_HALF: Final = np.uint64(0xFFFFFFFF)
HALF_BITS: Final = np.uint64(32)
_MULTIPLIERS_64: Final = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
_WEYL_64: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS: Final = 10
COUNTER_MASK: Final = (1 << 256) - 1
_MASK_64: Final = (1 << 64) - 1


def pieces(number: int, count: int, width: int) -> tuple[int, ...]:
    """Return an integer as ``count`` digits of ``width`` bits, the lowest first."""
    mask = (1 << width) - 1
    return tuple((number >> width * k) & mask for k in range(count))


def joined(digits: Any, width: int) -> int:
    """Return the integer that has these digits of ``width`` bits, the lowest first."""
    return sum(int(digit) << width * k for k, digit in enumerate(digits))


class StreamPosition(NamedTuple):
    """The position of element 0 of an array in a stream.

    Attributes
    ----------
    key : int
        The key, of 128 bits.
    block : int
        The counter of the first block, of 256 bits.
    start : int
        The number of the word of element 0 in that block; for halves of words the number of the half, which is -1 if
        element 1 is the first half of the block.
    spare : int or None
        The half that an earlier call left over, which is element 0.
    """

    key: int
    block: int
    start: int
    spare: int | None

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The position as 15 words of uint32: key, counter, start, whether there is a spare half, and that half."""
        key, block, start, spare = self
        rest = start & 0xFFFFFFFF if spare is None else start & 0xFFFFFFFF | 1 << 32 | spare << 64
        words = key.to_bytes(16, "little") + block.to_bytes(32, "little") + rest.to_bytes(12, "little")
        return tuple(np.frombuffer(words, "<u4").astype(np.uint32, copy=False))

    @classmethod
    def of(cls, parameters: Any) -> "StreamPosition":
        """Return the position of 15 words."""
        start = int(parameters[12])
        return cls(
            joined(parameters[:4], 32),
            joined(parameters[4:12], 32),
            start - (1 << 32) if start >> 31 else start,
            int(parameters[14]) if parameters[13] else None,
        )

    def state_at(self, number: int) -> Words64:
        """Return key, counter and place in the block of the word of this number after the position, as 7 words."""
        block, place = divmod(4 * self.block + self.start + number, 4)
        state = self.key.to_bytes(16, "little") + (block & COUNTER_MASK).to_bytes(32, "little")
        return np.frombuffer(state + place.to_bytes(8, "little"), "<u8").astype(np.uint64, copy=False)


class _Host(threading.local):
    """NumPy's generator, one for each thread, which can be set to any position of any stream."""

    def __init__(self) -> None:
        self.bits = np.random.Philox(key=0)
        self.generator = np.random.Generator(self.bits)

    def words(self, state: Words64, count: int) -> Words64:
        """Return words of the stream that has a state."""
        before = joined(state[2:6], 64) - 1 & COUNTER_MASK
        self.bits.state = {
            "bit_generator": "Philox",
            "state": {"counter": np.array(pieces(before, 4, 64), np.uint64), "key": state[:2]},
            "buffer": np.zeros(4, np.uint64),
            "buffer_pos": 4,
            "has_uint32": 0,
            "uinteger": 0,
        }
        self.bits.random_raw(int(state[6]), False)
        return self.generator.integers(0, _MASK_64, count, np.uint64, endpoint=True)


_host: Final = _Host()


def stream_blocks(key: int, first: int, count: int) -> Words64:
    """Return the words of ``count`` consecutive blocks of a stream, from the counter ``first`` on."""
    return _words_from(StreamPosition(key, first, 0, None), 0, 4 * count)


def high_product(first: Words64, second: Any) -> Words64:
    """Return the upper 64 of the 128 bits of a product."""
    a0, a1, b0, b1 = first & LOW_HALF, first >> HALF_BITS, second & LOW_HALF, second >> HALF_BITS
    middle = a1 * b0 + (a0 * b0 >> HALF_BITS)
    return a1 * b1 + (middle >> HALF_BITS) + ((a0 * b1 + (middle & LOW_HALF)) >> HALF_BITS)


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


def words64(index: Any, stream: StreamPosition) -> Words64:
    """Return the 64-bit word of each element."""
    run = run_of(index)
    if run is not None:
        return _words_from(stream, run[0], run[1] + 1 - run[0]).reshape(shape_of(index))
    return _at(np.asarray(index) + stream.start, stream)


def _words_from(stream: StreamPosition, first: int, count: int) -> Words64:
    state = stream.state_at(first)
    if COMPILED is None:
        return _host.words(state, count)
    words = np.empty(count, np.uint64)
    COMPILED.stream_words(state, words)
    return words


def _at(word: npt.NDArray[np.int64], stream: StreamPosition) -> Words64:
    """Return words of a stream by their numbers, counted from the first block."""
    if not word.size:
        return np.empty(word.shape, np.uint64)
    least, most = int(word.min()) // 4, int(word.max()) // 4
    if most - least < word.size:  # NumPy computes consecutive blocks faster than scattered ones
        words = stream_blocks(stream.key, stream.block + least & COUNTER_MASK, most - least + 1)
        return words[word - 4 * least]
    blocks = scattered_blocks(stream.key, stream.block, (word >> 2).astype(np.uint64))
    return np.take_along_axis(blocks, (word & 3)[..., None], -1)[..., 0]


def words32(index: Any, stream: StreamPosition) -> Words:
    """Return half a word for each element; the lower half of each word comes first."""
    run = run_of(index)
    if run is not None:
        half, behind = stream.start + run[0], stream.start + run[1] + 1
        words = _words_from(stream._replace(start=0), half >> 1, (behind + 1 >> 1) - (half >> 1))
        drawn = words.astype("<u8", copy=False).view("<u4")[half & 1 :][: behind - half].astype(np.uint32, copy=False)
        if stream.spare is not None and not run[0]:
            drawn[0] = stream.spare
        return drawn.reshape(shape_of(index))
    at = np.asarray(index)
    numbers = at + stream.start
    # where the spare half is element 0, its own position does not matter
    word = _at(np.maximum(numbers >> 1, 0), stream)
    halves = (word >> ((numbers & 1) * 32).astype(np.uint64)).astype(np.uint32)
    return halves if stream.spare is None else np.where(at == 0, np.uint32(stream.spare), halves)


def uniform(index: Any, stream: StreamPosition, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return numbers in [0, 1): the top 24 bits of a half, or the top 53 of a word.

    Consecutive indices may be given as a range, here and below, which saves comparing them.
    """
    if kind == np.float32:
        return (words32(index, stream) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    run = run_of(index)
    if run is None or COMPILED is None:
        return (words64(index, stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    numbers = np.empty(shape_of(index))
    COMPILED.stream_uniforms(stream.state_at(run[0]), numbers)
    return numbers


#: The largest number of draws for an element; each is rejected with a probability of at most 1/2.
REDRAWS: Final = 64


def redrawn(stream: StreamPosition, attempt: int) -> StreamPosition:
    """Return the position of the numbers of an attempt. Attempts from 1 on have streams with other keys."""
    if not attempt:
        return stream
    key = (stream.key ^ attempt) ^ (_MASK_64 << 64)
    return stream._replace(key=key, start=stream.start + (stream.spare is not None), spare=None)


def below(
    index: Any, stream: StreamPosition, share: int, limit: int, threshold: int, kind: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return integers from 0 to ``limit - 1`` by Lemire's method, as NumPy does up to the first rejection.

    A limit of 0 is two to the width in bits. Each half of a word makes ``2**share`` numbers, from the lowest bits on; a
    64-bit number takes a word. A number is rejected if the lower half of its product with the limit is below
    ``threshold``. The same bits of a stream with another key then replace it.
    """
    is_range = isinstance(index, range)
    at = index if is_range and not share else np.arange(index.start, index.stop) if is_range else np.asarray(index)
    numbers = below_once(at, stream, share, limit, kind)
    if threshold:
        again = np.flatnonzero(numbers[1] < threshold)
        for attempt in range(1, REDRAWS):
            if not again.size:
                break
            flat = again + index.start if is_range else at.reshape(-1)[again]
            values, left = below_once(flat, redrawn(stream, attempt), share, limit, kind)
            numbers[0].reshape(-1)[again] = values
            again = again[left < threshold]
    return numbers[0]


def below_once(
    at: Any, stream: StreamPosition, share: int, limit: int, kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return numbers, the upper halves of products with the limit, and the lower halves."""
    if kind == np.uint64:
        word = words64(at, stream)
        if not limit:
            return word, word
        return high_product(word, np.uint64(limit)), word * np.uint64(limit)
    width = 32 >> share
    lower = np.uint64((1 << width) - 1)
    if share:
        half = words32(at >> share, stream)
        bits = half >> ((at & ((1 << share) - 1)) * width).astype(np.uint32) & np.uint32(lower)
    else:
        bits = words32(at, stream)
    if not limit:
        return bits, bits
    product = bits.astype(np.uint64)
    product *= np.uint64(limit)
    numbers = (product >> np.uint64(width)).astype(np.uint32)
    product &= lower
    return numbers, product


def run_of(index: Any) -> tuple[int, int] | None:
    """Return the first and the last of flat indices that are one run in C order, else None."""
    if isinstance(index, range):
        return (index[0], index[-1]) if index.step == 1 and index else None
    flat = np.asarray(index).reshape(-1)
    if flat.size < 2:
        return None
    first, last = int(flat[0]), int(flat[-1])
    is_run = last - first == flat.size - 1 and bool((flat[1:] - flat[:-1] == 1).all())
    return (first, last) if is_run else None


def shape_of(index: Any) -> tuple[int, ...]:
    """Return the shape of flat indices, which may be a range."""
    return (len(index),) if isinstance(index, range) else np.shape(index)
