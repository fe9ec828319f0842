"""Draws that a program repeats: those of several calls are computed together.

A draw of a few numbers takes tens of calls of NumPy, and one of a thousand numbers hardly more. What a draw takes from
the stream does not depend on its numbers, so the parts of the stream that the next calls take are known, if they are
the same call. Each row of an array is what one of them returns. A row belongs to a place in the stream, where the call
has the same numbers if it is made alone; other draws may be made between the calls.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gpuarray.dtypes import DType
from gpuarray.ops import philox, substreams
from gpuarray.ops.substreams import Substream

#: What is taken from a stream: halves of words, words, or whole blocks of four words.
HALVES: Final = "halves"
WORDS: Final = "words"
BLOCKS: Final = "blocks"
_WORDS_OF_BLOCK: Final = 4

#: The most numbers that are computed together: their arrays stay in the caches of a core.
MOST: Final = 8192
#: How many calls are computed together at first, and how many times as many the next time, if most were made.
_FIRST: Final = 16
_GROWTH: Final = 4
#: The most draws of a stream that are known.
_MOST_DRAWS: Final = 64

Take = tuple[str, int]
Array = npt.NDArray[Any]


class RecordedDrawError(Exception):
    """Raised where a draw cannot be made for several calls, because it is recorded."""


class Stream(Protocol):
    """The place in a stream of bits, and the parts of the stream that a draw has taken."""

    takes: list[Take] | None

    def place(self, unit: str, each: int) -> int | None:
        """Return the number of the next half, word or block; None if the next ``each`` are not one run."""

    def skip(self, takes: Sequence[Take]) -> None:
        """Advance as a draw does."""


class StreamSpan(NamedTuple):
    """The span of the stream that a draw takes.

    Attributes
    ----------
    unit : str
        The unit of places: :data:`HALVES`, :data:`WORDS` or :data:`BLOCKS`.
    stride : int
        The units from a call to the next one.
    takes : tuple
        What is taken, in order: the unit and how many.
    offsets : tuple of int
        Where each begins: in halves, or in words.
    """

    unit: str
    stride: int
    takes: tuple[Take, ...]
    offsets: tuple[int, ...]


def span_of(takes: Sequence[Take]) -> StreamSpan | None:
    """Return the span that a draw takes; None if it depends on the place, or is empty."""
    units = {unit for unit, _ in takes}
    offsets, end = [], 0
    for unit, count in takes:
        if unit == BLOCKS:
            end = -(-end // _WORDS_OF_BLOCK) * _WORDS_OF_BLOCK
            count *= _WORDS_OF_BLOCK
        offsets.append(end)
        end += count
    if len(units) == 1 and end != 0 and BLOCKS not in units:
        return StreamSpan(units.pop(), end, tuple(takes), tuple(offsets))
    if takes and takes[0][0] == BLOCKS and HALVES not in units:
        return StreamSpan(BLOCKS, -(-end // _WORDS_OF_BLOCK), tuple(takes), tuple(offsets))
    return None


class CallRows:
    """The bits of several calls of one draw, from which it takes arrays with a row for each call.

    Attributes
    ----------
    rows : int
        The number of calls.
    alone : set of int
        The rows whose draw is to be made alone.
    """

    def __init__(self, key: int, first: int, span: StreamSpan, rows: int) -> None:
        self.rows = rows
        self.alone: set[int] = set()
        self._span = span
        self._offsets = iter(span.offsets)
        each = {HALVES: 2 * _WORDS_OF_BLOCK, WORDS: _WORDS_OF_BLOCK, BLOCKS: 1}[span.unit]
        self._stream = philox.StreamPosition(key, first // each, first % each, None)

    def is_left(self) -> bool:
        """Return whether the draw has not taken all of its span: a signal handler has drawn during the first one."""
        return next(self._offsets, None) is not None

    def uniforms(self, size: int, kind: DType) -> Array:
        """Return numbers in [0, 1)."""
        return self._some(lambda index: philox.uniform(index, self._stream, kind), size)

    def words(self, size: int) -> Array:
        """Return words."""
        return self._some(lambda index: philox.words64(index, self._stream), size)

    def below(self, size: int, share: int, limit: int, threshold: int, kind: DType) -> Array:
        """Return integers below a limit; calls in which one is drawn again are made alone."""

        def drawn(index: range) -> Array:
            many: Any = np.arange(len(index) << share) if share else index
            numbers, left = philox.below_once(many, self._stream, share, limit, kind)
            if threshold:
                again = (left < threshold).reshape(self.rows, -1)[:, :size].any(1)
                self.alone.update(np.flatnonzero(again).tolist())
            return numbers

        return self._some(drawn, size)

    def normals(self, size: int, kind: DType) -> Array:
        """Return standard normal numbers."""
        return substreams.normals(size, self.take_substream(), kind)

    def take_substream(self) -> Substream:
        """Return the words of substreams, each of which is an element for each call."""
        offset = next(self._offsets)
        words = self._words_of_rows()[:, offset : offset + 2]
        halves = ((words & philox.LOW_HALF).astype(np.uint32), (words >> philox.HALF_BITS).astype(np.uint32))
        return Substream(*[half[:, word] for word in range(2) for half in halves])

    def _words_of_rows(self) -> Array:
        count = self.rows * self._span.stride
        return philox.stream_blocks(self._stream.key, self._stream.block, count).reshape(self.rows, -1)

    def _some(self, drawn: Callable[[range], Array], size: int) -> Array:
        """Return some of what is drawn from each word or half of all calls."""
        count = self.rows * self._span.stride * (_WORDS_OF_BLOCK if self._span.unit == BLOCKS else 1)
        offset = next(self._offsets)
        numbers = drawn(range(count))
        first = offset * (numbers.size // count)
        return numbers.reshape(self.rows, -1)[:, first : first + size]


class Repeated:
    """A draw of a program, and the rows of its next calls.

    Attributes
    ----------
    span : StreamSpan or None
        What it takes from the stream; None if its calls are made alone.
    size : int
        The number of elements of its result.
    """

    __slots__ = ("_alone", "_count", "_first", "_rows", "_used", "size", "span")

    def __init__(self, span: StreamSpan | None, size: int) -> None:
        self.span = span if 0 < size <= MOST // _GROWTH else None
        self.size = size
        self._rows: Array = np.empty(0)
        self._alone: set[int] = set()
        self._first = 0
        self._count = self._used = _FIRST // _GROWTH

    def row(self, stream: Stream) -> Any:
        """Return the row of the next call, and advance; None if there is none."""
        span = self.span
        if span is None or (place := stream.place(span.unit, span.stride)) is None:
            return None
        number, rest = divmod(place - self._first, span.stride)
        if rest or not 0 <= number < len(self._rows) or number in self._alone:
            return None
        stream.skip(span.takes)
        self._used += 1
        row = self._rows[number]
        return np.asarray(row) if self._rows.ndim == 1 else row.copy()

    def compute(self, stream: Stream, key: int, draw: Callable[[Any], Any]) -> None:
        """Compute the rows of the next calls, if the next one has none."""
        span = self.span
        if span is None or (first := stream.place(span.unit, span.stride)) is None:
            return
        if 0 <= first - self._first < len(self._rows) * span.stride:
            return  # there are rows for this place, but the draw is made alone
        # most calls of the last rows were made, or other draws have passed by them
        is_repeated = _GROWTH * self._used >= self._count
        self._count = min(_GROWTH * self._count, MOST // self.size) if is_repeated else self._count // _GROWTH
        self._used = 0
        self._rows = np.empty(0)
        if self._count > 1:
            bits = CallRows(key, first, span, self._count)
            try:
                self._rows, self._first, self._alone = np.asarray(draw(bits)), first, bits.alone
            except RecordedDrawError:
                self.span = None
            if bits.is_left():
                self.span = None


class RepeatedDraws:
    """The draws of a stream that a program may repeat, by what they draw."""

    def __init__(self) -> None:
        self.known: dict[Any, Repeated] = {}

    def drawn(self, stream: Stream, key: int, name: Any, draw: Callable[[Any], Any], limit: int) -> Any:
        """Return what ``draw(stream)`` returns, or a row of ``draw(CallRows(...))``.

        Parameters
        ----------
        stream : Stream
            The stream, whose lock the caller holds.
        key : int
            Its key.
        name : hashable
            What distinguishes the draw from others.
        draw : callable
            Draws from a stream, or from :class:`CallRows` with a new first axis.
        limit : int
            The most elements of a row.
        """
        known = self.known.get(name)
        if known is not None and known.size <= limit:
            known.compute(stream, key, draw)
            row = known.row(stream)
            if row is not None:
                return row
        takes: list[Take] = []
        before, stream.takes = stream.takes, takes
        try:
            result = draw(stream)
        finally:
            stream.takes = before
        if before is not None:
            before.extend(takes)
        if known is None:
            if len(self.known) >= _MOST_DRAWS:
                self.known.clear()
            self.known[name] = Repeated(span_of(takes), result.size)
        return result
