"""Opaque rows: operations on whole arrays that are no composition of elementwise rows, folds and views."""

from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import CallOp


def _sort(x: Any, *, descending: bool) -> Any:
    if descending:  # equal elements keep their order: the reversed array is sorted, and reversed again
        return np.flip(_sort(np.flip(x, -1), descending=False), -1)
    if x.dtype.kind == "c":
        return np.sort(x, stable=True)
    # NumPy's quickest way, after which only zeros of either sign can be told from each other
    found = np.sort(x)
    if x.dtype.kind == "f" and x.ndim:
        first = np.searchsorted(found, x.dtype.type(0)) if x.ndim == 1 else 0
        has_zeros = x.ndim > 1 or (first < x.size and found[first] == 0)
        if has_zeros and np.signbit(x[x == 0]).any():
            return np.sort(x, stable=True)
    return found


#: Elements from which sorting keys together with positions beats a stable sort.
_PACKED_LEAST: Final = 2048


def _argsort(x: Any, *, descending: bool) -> Any:
    if x.size >= _PACKED_LEAST and x.dtype.kind in "iuf" and (x.dtype.itemsize > 2 or x.dtype.kind == "f"):
        found = _argsort_packed(x, descending)
        if found is not None:
            return found
    if not descending:
        return np.argsort(x, stable=True)
    return np.flip(x.shape[-1] - 1 - np.argsort(np.flip(x, -1), stable=True), -1)


def _argsort_packed(x: Any, descending: bool) -> Any:
    """Return the stable order from one unstable sort of words that hold key and position; None if keys hold too much.

    Where both do not fit 64 bits the lowest bits of the keys are left out; words that agree in what is left, and were
    not in order by chance, are put in order afterwards.
    """
    keys = _keys(x)
    lowest, highest = keys.min(), keys.max()
    keys = highest - keys if descending else np.subtract(keys, lowest, out=keys)
    low = np.uint64(max(x.shape[-1] - 1, 1).bit_length())
    cut = np.uint64(max(int(highest - lowest).bit_length() + int(low) - 64, 0))
    words = keys >> cut
    words <<= low
    words |= np.arange(x.shape[-1], dtype=np.uint64)
    words.sort(axis=-1)
    order = (words & np.uint64((1 << int(low)) - 1)).view(np.int64)
    if not cut:
        return order
    words >>= low
    follows = np.zeros(x.shape, np.bool_)
    np.equal(words[..., 1:], words[..., :-1], out=follows[..., 1:])
    among = follows.copy()
    among[..., :-1] |= follows[..., 1:]
    tied = np.flatnonzero(among)
    runs = np.cumsum(~follows.reshape(-1)[tied])
    rows = tied // x.shape[-1] * x.shape[-1]
    places = order.reshape(-1)[tied]
    values = keys.reshape(-1)[rows + places]
    if not ((values[1:] < values[:-1]) & (runs[1:] == runs[:-1])).any():
        return order
    if tied.size > x.size // 8:
        return None
    order.reshape(-1)[tied] = places[np.lexsort((values, runs))]
    return order


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


def _searchsorted(x1: Any, x2: Any, *, side: Any) -> Any:
    return np.asarray(np.searchsorted(x1, x2, side=side))


def _tally(x: Any, *, number: int) -> Any:
    return np.bincount(x[(x >= 0) & (x < number)], minlength=number).astype(np.int64, copy=False)


def _segment_sum(x: Any, edges: Any) -> Any:
    numbers = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    return np.bincount(numbers, weights=x[edges[0] : edges[-1]], minlength=len(edges) - 1)


#: Ufuncs whose vectorised loops in NumPy 2 take only the last element of a line that they should fold.
_SKIPPING: Final = (np.power, np.float_power, np.arctan2)


def _fold_runs(start: Any, keys: Any, *values: Any, row: Any, loop: Any) -> Any:
    is_first = np.append(True, keys[1:] != keys[:-1])
    runs = np.cumsum(is_first) - 1
    kept = start[is_first]
    with np.errstate(all="ignore"):
        row.numpy.at(kept, runs, *values)
    return kept[runs]


def _fold_spans(x: Any, indices: Any, *, row: Any, loop: Any) -> Any:
    if row.numpy not in _SKIPPING:
        return row.numpy.reduceat(x, indices, 0, dtype=loop[-1])
    stops = np.maximum(np.append(indices[1:], len(x)), indices + 1)
    kept = x[indices]
    for step in range(1, int((stops - indices).max(initial=1))):
        going = stops - indices > step
        kept[going] = row.numpy(kept[going], x[indices[going] + step])
    return kept


def _running_fold(x: Any, *, row: Any, loop: Any) -> Any:
    return row.numpy.accumulate(x, 0, dtype=loop[-1])


def _fft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.ifft if inverse else np.fft.fft)(x, n, norm=norm)


def _rfft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.ihfft if inverse else np.fft.rfft)(x, n, norm=norm)


def _irfft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.irfft if inverse else np.fft.hfft)(x, n, norm=norm)


sort: Final = CallOp(name="sort", numpy=_sort, by_line=True, doc="Elements in order along the last axis; stable.")
argsort: Final = CallOp(
    name="argsort", numpy=_argsort, by_line=True, doc="Positions that put the last axis in order; stable."
)
searchsorted: Final = CallOp(name="searchsorted", numpy=_searchsorted, doc="Positions that keep a sorted line sorted.")
segment_sum: Final = CallOp(
    name="segment_sum", numpy=_segment_sum, doc="Sums of float64 elements between edges, which do not fall."
)
tally: Final = CallOp(
    name="tally", numpy=_tally, doc="How often each of the first integers occurs in a line; others are left out."
)
fold_runs: Final = CallOp(
    name="fold_runs",
    numpy=_fold_runs,
    doc="For each run of equal keys its start folded with its values in order by a row, at the place of its last.",
)
fold_spans: Final = CallOp(
    name="fold_spans", numpy=_fold_spans, doc="Rows folded in order from each index to the next one, as ``reduceat``."
)
running_fold: Final = CallOp(
    name="running_fold", numpy=_running_fold, doc="Rows folded in order, with the result after each one."
)
fft: Final = CallOp(
    name="fft", numpy=_fft, by_line=True, doc="Fourier transforms of n points along the last axis, or inverse ones."
)
rfft: Final = CallOp(
    name="rfft", numpy=_rfft, by_line=True, doc="The first half of Fourier transforms of real numbers."
)
irfft: Final = CallOp(
    name="irfft", numpy=_irfft, by_line=True, doc="Real Fourier transforms of rows whose first half is given."
)
