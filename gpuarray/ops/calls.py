"""Calls: operations on whole arrays that are not compositions of elementwise operations, reductions and views."""

from collections.abc import Callable, Iterator
from math import log2, prod
from typing import Any, Final

import numpy as np

from gpuarray.ops.columns import Shapes, Work
from gpuarray.ops.compiled import COMPILED
from gpuarray.ops.spec import CallOp


def _sort(x: Any, *, descending: bool) -> Any:
    if descending:
        if _has_nan(x):
            return np.take_along_axis(x, _falling(x), -1)
        # equal elements keep their order: the reversed array is sorted, and reversed again
        return np.flip(_sort(np.flip(x, -1), descending=False), -1)
    out = x.copy()
    _sort_copy(out, x)
    return out


def _sort_into(out: Any, x: Any, *, descending: bool) -> None:
    if descending:
        np.copyto(out, _sort(x, descending=True))
        return
    np.copyto(out, x)
    _sort_copy(out, x)


def _sort_copy(out: Any, x: Any) -> None:
    """Sort the lines of a copy of an array."""
    if x.dtype.kind == "c":
        out.sort(-1, stable=True)
        return
    # NumPy's fastest sort; afterwards only zeros of either sign and NaNs are distinguishable from each other
    out.sort(-1)
    if x.dtype.kind != "f" or not x.size:
        return
    if x.ndim > 1:
        if np.count_nonzero(x) < x.size and np.signbit(x[x == 0]).any():
            np.copyto(out, np.sort(x, stable=True))
        return
    zero = x.dtype.type(0)
    first = int(out.searchsorted(zero))
    if first + 1 < out.size and out[first + 1] == zero:
        out[first : out.searchsorted(zero, "right")] = x[x == zero]
    if out[-1] != out[-1]:
        out[out.searchsorted(out[-1]) :] = x[x != x]


def _has_nan(x: Any) -> bool:
    return x.dtype.kind in "fc" and bool(np.isnan(x).any())


def _falling(x: Any) -> Any:
    """Return the stable order of lines from large to small with NaN at the end, where it is from small to large too."""
    parts = [x.imag, x.real] if x.dtype.kind == "c" else [x]
    lost = [np.isnan(part) for part in parts]
    kind = lost[0] + 2 * lost[-1] if len(parts) > 1 else lost[0]
    return np.lexsort((*(np.where(nan, 0, -part) for part, nan in zip(parts, lost, strict=True)), kind), axis=-1)


#: Elements of a line for which NumPy's quickest order with a repair beats other stable orders, if few are equal.
_REPAIRED: Final = range(512, 1 << 18 if COMPILED is None else 3000)
#: The difference of integers, for each of them, from which on few of random ones are equal.
_SPARSE: Final = 16
#: Elements from which sorting keys together with positions beats a stable sort.
_PACKED_LEAST: Final = 2048
#: Words of a line from which on sorting them by their digits beats NumPy's sort.
_DIGITS_LEAST: Final = 64
#: Elements of a piece whose words are made.
_PIECE: Final = 1 << 16
#: The most words for which there is memory beside those that are sorted.
_SPARE: Final = 1 << 21
#: Integers from which on ordering short ones by their digits beats a stable sort.
_RADIX_LEAST: Final = 256


def _argsort(x: Any, *, descending: bool) -> Any:
    span = _span(x)
    if _is_repaired(x, descending, span):
        return _argsort_repaired(x)
    out = np.empty(x.shape, np.int64)
    _stable_order_into(out, x, descending, span)
    return out


def _argsort_into(out: Any, x: Any, *, descending: bool) -> None:
    span = _span(x)
    if out.flags.c_contiguous and not _is_repaired(x, descending, span):
        _stable_order_into(out, x, descending, span)
    else:
        np.copyto(out, _argsort(x, descending=descending))


def _stable_order_into(out: Any, x: Any, descending: bool, span: int | None) -> None:
    """Write the stable order of lines, by sorting short integers, packed keys, or the elements."""
    if descending and _has_nan(x):
        np.copyto(out, _falling(x))
        return
    is_integral = x.dtype.kind in "iu" and x.dtype.itemsize > 2
    if span is not None and span < 1 << 16:  # NumPy orders integers of one or two bytes by their digits
        kind = np.uint8 if span < 1 << 8 else np.uint16
        short = np.subtract(*((x.max(), x) if descending else (x, x.min()))).astype(kind)
        np.copyto(out, np.argsort(short, stable=True))
        return
    if x.size >= _PACKED_LEAST and (is_integral or x.dtype.kind == "f"):
        lines = x.reshape(-1, x.shape[-1])
        if _argsort_packed(out.reshape(lines.shape), lines, descending):
            return
    if not descending:
        np.copyto(out, np.argsort(x, stable=True))
    else:
        np.copyto(out, np.flip(x.shape[-1] - 1 - np.argsort(np.flip(x, -1), stable=True), -1))


def _span(x: Any) -> int | None:
    """Return the difference of the largest and the least of many integers of more than two bytes; None for others."""
    if x.dtype.kind not in "iu" or x.dtype.itemsize <= 2 or x.size < _RADIX_LEAST:
        return None
    return int(x.max()) - int(x.min())


def _is_repaired(x: Any, descending: bool, span: int | None) -> bool:
    if descending or x.size not in _REPAIRED or x.size != x.shape[-1]:
        return False
    return x.dtype.kind == "f" or (span is not None and span >= max(_SPARSE * x.size, 1 << 16))


def _argsort_repaired(x: Any) -> Any:
    """Return the stable order of one line from NumPy's quickest one, in which equal elements have any order."""
    order = x.argsort()
    line = order.reshape(-1)
    ordered = x.reshape(-1).take(line)
    equal = ordered[1:] == ordered[:-1]
    if ordered[-1] != ordered[-1]:
        equal |= np.isnan(ordered[:-1])
    if count := np.count_nonzero(equal):
        follows = np.concatenate(([False], equal))
        tied, runs = _runs(follows) if 2 * count < x.size else (slice(None), np.cumsum(~follows))
        bits = x.size.bit_length()
        words = runs << bits | line[tied]
        words.sort()
        line[tied] = words & ((1 << bits) - 1)
    return order


def _argsort_packed(order: Any, x: Any, descending: bool) -> bool:
    """Write the stable order from one unstable sort of words that hold key and position; False if keys hold too much.

    The words are made in pieces, and sorted where their positions will stand. Where both do not fit 64 bits the lowest
    bits of the keys are left out; words that agree in what is left, and were not in order by chance, are put in order
    afterwards.
    """
    words = order.view(np.uint64)
    pieces = list(_pieces(*x.shape))
    ends = []
    for piece in pieces:
        words[piece] = keys = _keys(x[piece])
        ends += [keys.min(), keys.max()]
    lowest, highest = min(ends), max(ends)
    low = np.uint64(max(x.shape[1] - 1, 1).bit_length())
    cut = np.uint64(max(int(highest - lowest).bit_length() + int(low) - 64, 0))
    for piece in pieces:
        some = words[piece]
        np.subtract(*((highest, some) if descending else (some, lowest)), out=some)
        some >>= cut
        some <<= low
        some |= np.arange(piece[1].start, piece[1].stop, dtype=np.uint64)
    _sort_words(words)
    follows = _agree(words, pieces, low) if cut else None
    words &= np.uint64((1 << int(low)) - 1)
    if follows is None or not follows.any():
        return True
    tied, runs = _runs(follows)
    rows, columns = np.divmod(tied, x.shape[1])
    positions = order[rows, columns]
    values = _keys(x[rows, positions])
    values = highest - values if descending else values - lowest
    if ((values[1:] < values[:-1]) & (runs[1:] == runs[:-1])).any():
        if tied.size > x.size // 8:
            return False
        order[rows, columns] = positions[np.lexsort((values, runs))]
    return True


def _sort_words(words: Any) -> None:
    """Sort lines of words in place."""
    if COMPILED is None or words.shape[-1] < _DIGITS_LEAST:
        words.sort(axis=-1)
        return
    other = np.empty(min(words.shape[-1], _SPARE), np.uint64)
    for line in words:
        COMPILED.sort(line, other)


def _pieces(lines: int, length: int) -> Iterator[tuple[slice, slice]]:
    """Yield pieces of ``lines`` lines of ``length`` elements."""
    some = max(1, _PIECE // max(length, 1))
    for line in range(0, lines, some):
        for start in range(0, length, _PIECE):
            yield slice(line, line + some), slice(start, min(start + _PIECE, length))


def _agree(words: Any, pieces: Any, low: Any) -> Any:
    """Return which words agree with the one before in their line but for ``low`` bits."""
    follows = np.zeros(words.shape, np.bool_)
    for lines, span in pieces:
        start = max(span.start - 1, 0)
        heads = words[lines, start : span.stop] >> low
        np.equal(heads[:, 1:], heads[:, :-1], out=follows[lines, start + 1 : span.stop])
    return follows


def _runs(follows: Any) -> tuple[Any, Any]:
    """Return the flat positions of elements that agree with a neighbour in their line, and the numbers of their runs.

    ``follows`` tells which elements agree with the one before.
    """
    follows = follows.reshape(-1)
    tied = follows.copy()
    tied[:-1] |= follows[1:]
    positions = np.flatnonzero(tied)
    return positions, np.cumsum(~follows[positions])


def _keys(x: Any) -> Any:
    """Return unsigned words in the order of numbers: zeros of either sign are equal, NaN is greater than all else."""
    if x.dtype.kind == "u":
        return x.astype(np.uint64)
    if x.dtype.kind == "i":
        return (x.astype(np.int64) ^ np.iinfo(np.int64).min).view(np.uint64)
    x = x.astype(np.float32) + np.float32(0) if x.dtype.itemsize < 8 else x + 0.0
    bits = x.view(f"i{x.dtype.itemsize}")
    limits = np.iinfo(bits.dtype)
    keys = bits ^ ((bits >> (limits.bits - 1)) & limits.max)
    keys[np.isnan(x)] = limits.max
    return _keys(keys)


def _partition_into(out: Any, x: Any, *, kth: tuple[int, ...]) -> None:
    np.copyto(out, x)
    out.partition(kth, -1)


#: A search by a table: least values for each element of the line, buckets for each, and most elements of a bucket.
_SEARCHED, _BUCKETS, _SHARING = 8, 8, 3


def _searchsorted(x1: Any, x2: Any, *, side: Any) -> Any:
    if x1.dtype.kind == "f" and x1.dtype.itemsize > 2 and x1.size > 1 and x2.size >= _SEARCHED * x1.size:
        with np.errstate(all="ignore"):
            insertions = _search_by_table(x1, x2, np.less if side == "left" else np.less_equal)
        if insertions is not None:
            return insertions
    return np.asarray(np.searchsorted(x1, x2, side=side))


def _search_by_table(line: Any, values: Any, precedes: Any) -> Any:
    """Return insertion positions by a table of equal buckets; None if elements crowd in one, or a value is NaN.

    The bucket of a number never falls as numbers rise. So all elements in lower buckets are less than a value, and only
    those in its own are compared with it. Binary searches of values in no order mispredict half of their branches.
    """
    number = _BUCKETS * line.size
    scale = line.dtype.type(number / (line[-1] - line[0]))
    if not 0 < scale < np.inf or (line[1:] < line[:-1]).any():  # in a line without order, each method finds others
        return None

    def bucket(x: Any) -> Any:
        return np.clip((x - line[0]) * scale, 0, number)

    counts = np.bincount(bucket(line).astype(np.intp), minlength=number + 1)
    sharing = counts.max()
    if sharing > _SHARING:
        return None
    lower = np.cumsum(counts) - counts
    ended = np.append(line, line.dtype.type(np.nan))  # which nothing follows
    insertions = np.empty(values.size, np.intp)
    for start in range(0, values.size, _PIECE):
        some = values.reshape(-1)[start : start + _PIECE]
        buckets = bucket(some)
        if np.isnan(buckets.max()):
            return None
        positions = lower.take(buckets.astype(np.intp))
        for _ in range(sharing):
            positions += precedes(ended.take(positions), some)
        insertions[start : start + _PIECE] = positions
    return insertions.reshape(values.shape)


def _bincount(x: Any, *, number: int) -> Any:
    return np.bincount(x.astype(np.int64, copy=False), minlength=number)


#: Of a part of the elements, as many may lie so near to edges that these have to tell their bin one by one.
_DOUBTFUL: Final = 1 / 8


def _histogram(x: Any, edges: Any) -> Any:
    number = len(edges) - 1
    if edges.dtype.kind == "f" and x.size > 4 * number:
        with np.errstate(all="ignore"):
            counts = _histogram_near(x, edges)
        if counts is not None:
            return counts
    ordered = np.sort(x.astype(edges.dtype, copy=False))
    below = ordered.searchsorted(edges)
    below[-1] = ordered.searchsorted(edges[-1], "right")
    return np.diff(below)


def _histogram_near(x: Any, edges: Any) -> Any:
    """Count elements where their distance from the first edge says that they are; None if that is often in doubt.

    The computed distance never falls as elements rise. So one that is further from a whole number than that of any edge
    tells on which side of each edge its element is.
    """
    number = len(edges) - 1
    scale = edges.dtype.type(number / (edges[-1] - edges[0]))
    slack = np.max(np.abs((edges - edges[0]) * scale - np.arange(number + 1)))
    rest = x - edges[0]
    rest *= scale
    whole = np.floor(rest)
    rest -= whole
    doubtful = np.flatnonzero(~((rest > slack) & (rest < 1 - slack)))
    if not doubtful.size <= _DOUBTFUL * x.size:
        return None
    values = x[doubtful]
    np.clip(whole, -1, number, out=whole)
    before = whole.astype(np.int32)  # edges before the element
    before += 1
    before[doubtful] = edges.searchsorted(values, "right") - (values == edges[-1])
    return np.bincount(before, minlength=number + 2)[1 : number + 1]


#: Ufuncs whose vectorised loops in NumPy 2 take only the last element of a line that they should fold.
_SKIPPING: Final = (np.power, np.float_power, np.arctan2)


def _fold_spans(x: Any, indices: Any, *, combine: Any, loop: Any, method: str) -> Any:
    """Fold spans of rows; ``method`` is the method of the ufunc that was called, which errors name."""
    if combine.numpy not in _SKIPPING:
        return combine.numpy.reduceat(x, indices, 0, dtype=loop[-1])
    stops = np.maximum(np.append(indices[1:], len(x)), indices + 1)
    folded = x[indices]
    for step in range(1, int((stops - indices).max(initial=1))):
        going = stops - indices > step
        folded[going] = combine.numpy(folded[going], x[indices[going] + step])
    return folded


def _running_fold(x: Any, *, combine: Any, loop: Any) -> Any:
    return combine.numpy.accumulate(x, 0, dtype=loop[-1])


def _fft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.ifft if inverse else np.fft.fft)(x, n, norm=norm)


def _rfft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.ihfft if inverse else np.fft.rfft)(x, n, norm=norm)


def _irfft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.irfft if inverse else np.fft.hfft)(x, n, norm=norm)


# --- costs: of operands and results, given their shapes --------------------------------------------------------------


def _largest(operands: Shapes, results: Shapes) -> int:
    return max((prod(shape) for shape in (*operands, *results)), default=0)


def _log_linear(operands: Shapes, results: Shapes) -> int:
    """Return n log2 n of the largest array, as sorts and transforms take."""
    size = _largest(operands, results)
    return int(size * log2(size)) if size > 1 else size


def _counting(operands: Shapes, _results: Shapes) -> int:
    """Return two for each element: its bin is found, and a count is raised."""
    return 2 * prod(operands[0])


def _sorting(name: str, numpy: Callable[..., Any], doc: str, **columns: Any) -> CallOp:
    return CallOp(name=name, numpy=numpy, doc=doc, work=Work.SORT, cost=_log_linear, **columns)


def _counted(name: str, numpy: Callable[..., Any], doc: str) -> CallOp:
    return CallOp(name=name, numpy=numpy, doc=doc, work=Work.GATHER, cost=_counting, by_part=True)


def _transform(name: str, numpy: Callable[..., Any], doc: str) -> CallOp:
    return CallOp(name=name, numpy=numpy, doc=doc, work=Work.TRANSFORM, cost=_log_linear, by_line=True)


sort = _sorting("sort", _sort, "Stable sort along the last axis.", by_line=True, into=_sort_into)
argsort = _sorting(
    "argsort", _argsort, "Stable argsort along the last axis.", by_line=True, into=_argsort_into,
    bounds=lambda shape: (0, shape[-1] - 1),
)  # fmt: skip
partition = _sorting(
    "partition", lambda x, *, kth: np.partition(x, kth, -1), "Partitions along the last axis, on the host.",
    by_line=True, into=_partition_into,
)  # fmt: skip
argpartition = _sorting(
    "argpartition", lambda x, *, kth: np.argpartition(x, kth, -1),
    "Positions that partition the last axis, on the host.", by_line=True,
    bounds=lambda shape: (0, shape[-1] - 1),
)  # fmt: skip
isin = _sorting("is_in", np.isin, "Whether elements are among others, on the host.")
# a search in a sorted line compares once for each binary digit of its length, and folds in order leave the arithmetic
# units as idle as sorts do: the rate of sorts estimates them all
searchsorted = _sorting("searchsorted", _searchsorted, "Insertion positions in a sorted line.")
fold_spans = _sorting(
    "fold_spans", _fold_spans, "Sequential reductions of rows from each index to the next, as ``reduceat``."
)
running_fold = _sorting("running_fold", _running_fold, "Sequential scans of rows.")
bincount = _counted("bincount", _bincount, "Number of occurrences of each integer.")
histogram = _counted(
    "histogram",
    _histogram,
    "Number of elements in each bin; the last bin includes its upper edge.",
)
packbits = CallOp(
    name="packbits", work=Work.GATHER, cost=_largest, by_line=True,
    numpy=lambda x, *, bitorder: np.packbits(x, -1, bitorder), doc="Bits of lines packed into bytes, on the host.",
)  # fmt: skip
unpackbits = CallOp(
    name="unpackbits", work=Work.GATHER, cost=_largest, by_line=True,
    numpy=lambda x, *, bitorder: np.unpackbits(x, -1, None, bitorder), doc="Bits of the bytes of lines, on the host.",
)  # fmt: skip
fft = _transform("fft", _fft, "Fourier transforms of n points along the last axis, or inverse ones.")
rfft = _transform("rfft", _rfft, "The non-redundant half of Fourier transforms of real numbers.")
irfft = _transform("irfft", _irfft, "Real Fourier transforms of conjugate-symmetric rows.")
