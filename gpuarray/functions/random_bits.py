"""The bit generator of random numbers: NumPy's Philox, as a key and a position in a stream of 64-bit words.

Drawing an array reserves a number of words, or halves of words, and returns the position of the first. Kernels and
their references (:mod:`gpuarray.ops.generators`) compute the words when the array is evaluated.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import DeviceLike, checked_device, checked_shape
from gpuarray.functions.random_ahead import BLOCKS, HALVES, WORDS, RepeatedDraws, Take
from gpuarray.graph import build, tracing
from gpuarray.ops import generators, philox, substreams

_WORDS: Final = 4
_PLACES: Final = (philox.COUNTER_MASK + 1) * _WORDS
_LOW: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)
#: Number of blocks that are computed together for the host.
_PAGE: Final = 128
#: Number of 32-bit words of the parameters of a position in the stream, and of a substream.
PLACE_WORDS: Final = 15
SUBSTREAM_WORDS: Final = len(substreams.Substream._fields)


class _Drawn:
    """A draw in a recorded function. Each call has another position in the stream, which is a parameter of kernels."""

    __slots__ = ("parameters",)

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.parameters = parameters

    def __getattr__(self, name: str) -> Any:
        tracing.mode().refuse("random numbers on the host")
        raise AttributeError(name)


class Philox:
    """The bit generator of ``numpy.random.Philox``, Philox4x64-10: the same words and states for the same seed.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.SeedSequence, optional
        The seed of the key; by default the operating system gives one.
    counter : int or sequence of 4 int, optional
        The counter of the first block, of up to 256 bits; 0 by default.
    key : int or sequence of 2 int, optional
        The key, of up to 128 bits, instead of a seed.

    Raises
    ------
    ValueError
        If both a seed and a key are given, or a number is negative or too large.

    Notes
    -----
    A Philox may be used from several threads. On every device its numbers equal NumPy's bit for bit.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> bits = xp.random.Philox(7)
    >>> host = np.random.Philox(7)
    >>> np.array_equal(bits.random_raw(3, device="cpu"), host.random_raw(3))
    True
    """

    #: Of several calls that are computed together; see :class:`~gpuarray.functions.random_ahead.Rows`.
    rows = None

    def __init__(self, seed: Any = None, counter: Any = None, key: Any = None) -> None:
        if seed is not None and key is not None:
            raise ValueError("seed and key cannot be both used; give one of them")
        self._seeds: Any = None
        tracing.mode().stream_created(self, is_random=seed is None and key is None)
        if key is None:
            self._seeds = seed if hasattr(seed, "generate_state") else np.random.SeedSequence(seed)
            self._key = philox.joined(self._seeds.generate_state(2, np.uint64), 64)
        else:
            self._key = _number(key, "key", 2)
        self.lock = threading.RLock()
        self.takes: list[Take] | None = None
        self._forget()
        self._put(0 if counter is None else _number(counter, "counter", _WORDS))

    def _forget(self) -> None:
        """Drop the cached words and substreams of the key."""
        self._page: tuple[int, list[int]] = (-1, [])
        """The number of the cached page of blocks, and its words."""
        self._substreams: list[tuple[Any, ...]] = []
        """Substreams that are computed ahead."""
        self._first = 0
        """The number of the block of the first of them."""
        self._repeats = RepeatedDraws()

    def _put(self, counter: int) -> None:
        """Move to the end of the block of a counter, without a spare half."""
        self._at = (counter * _WORDS + _WORDS) % _PLACES
        self._is_blank = True
        self._has_spare = False
        self._spare_from = 0
        """The number of the word whose upper half is the spare half, while its value is not known."""
        self._known_spare: int | None = 0

    def __repr__(self) -> str:
        return f"Philox(key={self._key:#x}, counter={self._counter})"

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {"state": self.state, "seed_seq": self._seeds}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.lock = threading.RLock()
        self.takes = None
        self._forget()
        self._seeds = pickled["seed_seq"]
        self.state = pickled["state"]

    # -- the position --------------------------------------------------------------------------------------------------

    @property
    def seed_seq(self) -> Any:
        """The ``numpy.random.SeedSequence`` of the key; None if the key was given."""
        return self._seeds

    #: The older attribute of NumPy's bit generators, which dask reads to spawn the seeds of chunks.
    _seed_seq = seed_seq

    @property
    def _counter(self) -> int:
        return ((self._at - 1) // _WORDS) & philox.COUNTER_MASK

    @property
    def state(self) -> dict[str, Any]:
        """The state in the form of ``numpy.random.Philox``, which may be read and set.

        Raises
        ------
        TypeError
            If the new state is not a dictionary.
        ValueError
            If it is the state of another bit generator, or its buffer does not belong to its counter.
        """
        self._touch("the state")
        with self.lock:
            counter, used = self._counter, (self._at - 1) % _WORDS + 1
            buffer = [0] * _WORDS if self._is_blank else self._block(counter)
            return {
                "bit_generator": "Philox",
                "state": {
                    "counter": np.array(philox.pieces(counter, 4, 64), np.uint64),
                    "key": np.array(philox.pieces(self._key, 2, 64), np.uint64),
                },
                "buffer": np.array(buffer, np.uint64),
                "buffer_pos": used,
                "has_uint32": int(self._has_spare),
                "uinteger": self._left_over(),
            }

    @state.setter
    def state(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f"state must be a dict, not a {type(value).__name__}")
        if value.get("bit_generator") != "Philox":
            raise ValueError(f"state must be for a Philox PRNG, not for a {value.get('bit_generator')!r}")
        self._touch("a new state")
        with self.lock:
            key, self._key = getattr(self, "_key", 0), philox.joined(value["state"]["key"], 64)
            self._forget()
            counter, used = philox.joined(value["state"]["counter"], 64), int(value["buffer_pos"])
            buffer = [int(word) for word in value["buffer"]]
            if buffer[used:] != self._block(counter)[used:]:
                self._key = key
                self._forget()
                raise ValueError(
                    "the buffer of the state is not what Philox makes of its counter and key; take a Philox's state"
                )
            self._put(counter)
            self._at = (counter * _WORDS + used) % _PLACES
            self._is_blank = not any(buffer)
            self._has_spare, self._known_spare = bool(value["has_uint32"]), int(value["uinteger"])

    def advance(self, delta: int) -> "Philox":
        """Advance by ``delta`` blocks of four words, modulo 2**256, drop the spare half, and return ``self``."""
        self._touch("advance()")
        with self.lock:
            self._put((self._counter + index(delta)) & philox.COUNTER_MASK)
        return self

    def jumped(self, jumps: int = 1) -> "Philox":
        """Return a new bit generator, advanced by ``jumps`` times 2**128 blocks."""
        self._touch("jumped()")
        jumped = Philox(key=self._key)
        jumped._seeds = None
        with self.lock:
            jumped._put((self._counter + (index(jumps) << 128)) & philox.COUNTER_MASK)
        return jumped

    def spawn(self, n_children: int) -> list["Philox"]:
        """Return independent bit generators, as ``numpy.random.BitGenerator.spawn``.

        Raises
        ------
        TypeError
            If the key was given, so that there is no seed sequence.
        """
        if not hasattr(self._seeds, "spawn"):
            raise TypeError("The underlying SeedSequence does not implement spawning: the key was given, not a seed")
        self._touch("spawn()")
        with self.lock:
            return [Philox(child) for child in self._seeds.spawn(n_children)]

    # -- taking from the stream ----------------------------------------------------------------------------------------

    def random_raw(self, size: Any = None, output: bool = True, *, device: DeviceLike = None) -> GpuArray | None:
        """Return words of the stream.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; without one a 0-d array.
        output : bool
            If False, advance without returning words.
        device : Device or str, optional
            The device of the array.

        Returns
        -------
        GpuArray
            Of uint64; None without output.
        """
        shape = checked_shape(() if size is None else size, dtypes.uint64)
        stream = self.take_words(int(np.prod(shape, dtype=object)))
        if not output:
            return None
        return make(
            build.generate(generators.random_bits, stream.parameters, shape, dtypes.uint64), checked_device(device)
        )

    def _touch(self, operation: str) -> None:
        """Refuse an operation that a recorded function cannot repeat at each call."""
        tracing.mode().touched(self, f"{operation} of a random generator")

    def take_words(self, count: int) -> Any:
        """Advance by ``count`` words, and return the :class:`~gpuarray.ops.philox.StreamPosition` of the first."""
        recorded = tracing.mode().drawn(self, lambda bits: bits.take_words(count).parameters, PLACE_WORDS)
        if recorded is not None:
            return _Drawn(recorded)
        with self.lock:
            block, start = divmod(self._at, _WORDS)
            self._skip(WORDS, count)
        return philox.StreamPosition(self._key, block, start, None)

    def take_halves(self, count: int) -> Any:
        """Advance by ``count`` halves of words, beginning with a spare half; return the position of the first."""
        recorded = tracing.mode().drawn(self, lambda bits: bits.take_halves(count).parameters, PLACE_WORDS)
        if recorded is not None:
            return _Drawn(recorded)
        with self.lock:
            block, start = divmod(self._at, _WORDS)
            spare = self._left_over() if self._has_spare and count else None
            start = 2 * start - (spare is not None)
            self._skip(HALVES, count)
        return philox.StreamPosition(self._key, block, start, spare)

    def take_substream(self) -> tuple[Any, ...]:
        """Return the words of a substream, which are those of the next whole block of the stream."""
        recorded = tracing.mode().drawn(self, Philox.take_substream, SUBSTREAM_WORDS)
        if recorded is not None:
            return tuple(recorded)
        with self.lock:
            block = self.place(BLOCKS, 1)
            number = block - self._first
            if not 0 <= number < len(self._substreams):
                words = philox.stream_blocks(self._key, block, _PAGE).reshape(_PAGE, _WORDS)[:, : SUBSTREAM_WORDS // 2]
                halves = (words & _LOW, words >> _SHIFT)
                columns = [list(half[:, n].astype(np.uint32)) for n in range(SUBSTREAM_WORDS // 2) for half in halves]
                self._substreams = list(zip(*columns, strict=True))
                self._first, number = block, 0
            self._skip(BLOCKS, 1)
            return self._substreams[number]

    def place(self, unit: str, each: int) -> Any:
        """Return the number of the next half, word or block; None if the next ``each`` halves are not one run."""
        if unit == WORDS:
            return self._at
        if unit == BLOCKS:
            return (self._at + _WORDS - 1) // _WORDS & philox.COUNTER_MASK
        if not self._has_spare:
            return 2 * self._at
        if self._known_spare is None and (each == 1 or self._spare_from + 1 == self._at):
            return 2 * self._spare_from + 1
        return None

    def skip(self, takes: Sequence[Take]) -> None:
        """Advance as a draw does."""
        for unit, count in takes:
            self._skip(unit, count)

    def _skip(self, unit: str, count: int) -> None:
        if self.takes is not None:
            self.takes.append((unit, count))
        if not count:
            return
        if unit == HALVES:
            had_spare, self._has_spare = self._has_spare, (count - self._has_spare) % 2 == 1
            words = (count - had_spare + 1) // 2
            if not words:
                return
            self._at = (self._at + words) % _PLACES
            self._spare_from, self._known_spare = (self._at - 1) % _PLACES, None
        elif unit == WORDS:
            self._at = (self._at + count) % _PLACES
        else:
            self._at = (self.place(BLOCKS, 1) + count) * _WORDS % _PLACES
        self._is_blank = False

    # -- drawing on the host -------------------------------------------------------------------------------------------

    def uniforms(self, size: int, kind: DType) -> npt.NDArray[Any]:
        """Return a line of numbers in [0, 1), computed now."""
        take = self.take_halves if kind == dtypes.float32 else self.take_words
        return philox.uniform(range(size), take(size), kind)

    def words(self, size: int) -> npt.NDArray[Any]:
        """Return a line of words, computed now."""
        return philox.words64(range(size), self.take_words(size))

    def below(self, size: int, share: int, limit: int, threshold: int, kind: DType) -> npt.NDArray[Any]:
        """Return a line of integers below a limit, computed now; see :func:`~gpuarray.ops.philox.below`."""
        stream = self.take_words(size) if kind == dtypes.uint64 else self.take_halves(-(-size >> share))
        return philox.below(range(size), stream, share, limit, threshold, kind)

    def normals(self, size: int, kind: DType) -> npt.NDArray[Any]:
        """Return a line of the normal numbers of the next substream, computed now."""

        def draw(bits: Any) -> Any:
            if bits is not self:
                return bits.normals(size, kind)
            return substreams.normals(size, substreams.Substream(*self.take_substream()), kind)[0]

        name = ("normals", size, kind)
        row = self.next_row(name, size)
        return np.asarray(self.repeated(name, draw, size) if row is None else row)

    def next_row(self, name: Any, limit: int) -> Any:
        """Return the row of the next call of a draw, which was computed together with others; None if there is none.

        Rows have at most ``limit`` elements.
        """
        known = self._repeats.known.get(name)
        if known is None or known.size > limit:
            return None
        with self.lock:
            return known.row(self)

    def repeated(self, name: Any, draw: Callable[[Any], Any], limit: int) -> Any:
        """Return what ``draw(self)`` returns, or its row after several draws of this name were computed together.

        See :meth:`~gpuarray.functions.random_ahead.RepeatedDraws.drawn`.
        """
        with self.lock:
            return self._repeats.drawn(self, self._key, name, draw, limit)

    def _block(self, counter: int) -> list[int]:
        """Return the words of a block, which the host computes together with its page."""
        page, number = divmod(counter, _PAGE)
        if self._page[0] != page:
            self._page = page, philox.stream_blocks(self._key, page * _PAGE, _PAGE).tolist()
        return self._page[1][_WORDS * number : _WORDS * (number + 1)]

    def _left_over(self) -> int:
        """Return the spare half."""
        if self._known_spare is None:
            self._known_spare = self._block(self._spare_from // _WORDS)[self._spare_from % _WORDS] >> 32
        return self._known_spare


def _number(value: Any, name: str, digits: int) -> int:
    """Return a number of ``digits`` times 64 bits, which may be given as an array of 64-bit digits."""
    if np.ndim(value):
        words = [int(digit) for digit in np.asarray(value, object)]
        if len(words) != digits or any(digit < 0 or digit >> 64 for digit in words):
            raise ValueError(f"{name} must be {digits} numbers from 0 to 2**64 - 1 when an array; {value} was given")
        return philox.joined(words, 64)
    number = index(value)
    if number < 0 or number >> 64 * digits:
        raise ValueError(f"{name} must be positive and less than 2**{64 * digits}; {number} was given")
    return number
