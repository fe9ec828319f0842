"""Peaks that wavelets of several widths find: ridges of maxima, followed from the widest wavelet to the narrowest one.

There is at most one ridge at a position, and ridges never cross. So all of them are arrays with an element for each
position, and each step to the next width is a few operations with these.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import scipy
from scipy import signal as scipy_signal
from scipy import stats as scipy_stats

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, elements_at, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy.signal._convolution import convolve

__all__ = ["find_peaks_cwt"]

#: Of several maxima of the narrowest wavelet that a ridge ends with, SciPy took the last one before 1.18. Since then it
#: takes any, by a sort that depends on the processor; we take the first one.
_BY_FIRST: Final = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)

_REASON = "wavelets are complex, or a largest distance is negative"


def _ricker(points: float, width: float) -> Any:
    """Return the second derivative of a Gaussian, of norm 1 and the other sign."""
    squares = (np.arange(0, points) - (points - 1.0) / 2) ** 2
    factor = 2 / (np.sqrt(3 * width) * np.pi**0.25)
    return factor * (1 - squares / width**2) * np.exp(-squares / (2 * width**2))


@by_name(scipy_signal.find_peaks_cwt, kind=COMPOSED, reason=_REASON)
def find_peaks_cwt(a: Any) -> GpuArray:
    """Return the positions of the peaks of a signal that wavelets of several widths find."""
    vector = as_array(a.vector)
    widths = np.atleast_1d(read(a.widths))
    wavelet = _ricker if a.wavelet is None else a.wavelet
    reach = widths / 4.0 if a.max_distances is None else np.asarray(read(a.max_distances))
    kernels = [np.conj(wavelet(min(10 * width, len(vector)), width)[::-1]) for width in widths]
    if any(kernel.dtype.kind == "c" for kernel in kernels) or not (reach >= 0).all():
        return run_counted(scipy_signal.find_peaks_cwt, _REASON, (), vars(a))
    if len(reach) < len(widths):
        raise ValueError("Max_distances must have at least as many rows as matr")
    rows = xp.stack([convolve.composition(vector, kernel, mode="same") for kernel in kernels])  # type: ignore[attr-defined]  # the decorator sets it
    rows = rows.astype(dtypes.float64, copy=False)
    patience = np.ceil(widths[0]) if a.gap_thresh is None else a.gap_thresh
    lengths = _ridges(rows, reach, patience)
    least = np.ceil(len(widths) / 4) if a.min_length is None else a.min_length
    narrowest, position = xp.nonzero((lengths > 0) & (lengths >= least))
    window = int(np.ceil(vector.size / 20) if a.window_size is None else a.window_size)
    scipy_stats.scoreatpercentile([0.0], a.noise_perc)  # which checks it
    noise = _percentiles(rows[0], position, window, a.noise_perc)
    ratio = xp.abs(elements_at(rows.reshape(-1), narrowest * vector.size + position) / noise)
    result = xp.sort(position[~(ratio < a.min_snr)])
    return result if result.size else result.astype(dtypes.float64)  # as in SciPy


# -- ridges -----------------------------------------------------------------------------------------------------------


class _Ridges(NamedTuple):
    """The ridges that end at each position, and one element more.

    Attributes
    ----------
    length : GpuArray
        The number of their maxima; 0 where no ridge ends.
    peak : GpuArray
        The position of each, which is that of one of its last maxima.
    born : GpuArray
        The rows of their first maxima.
    row : GpuArray
        The rows of their last maxima.
    gap : GpuArray
        How many rows ago this was.
    """

    length: GpuArray
    peak: GpuArray
    born: GpuArray
    row: GpuArray
    gap: GpuArray


def _ridges(rows: GpuArray, reach: Any, patience: float) -> GpuArray:
    """Return the lengths of ridges where they end, at the narrowest wavelet; 0 elsewhere.

    Parameters
    ----------
    rows : GpuArray
        For each width the signal after the wavelet.
    reach : ndarray
        How far the maxima of a row are from the ridges that they continue.
    patience : float
        A ridge with a longer gap ends.
    """
    count, extent = rows.shape
    position = xp.arange(extent + 1, dtype=np.int32, device=rows.device)
    zeros = xp.zeros_like(position)
    ridges = _Ridges(*[zeros] * 5)
    inner = (rows[:, 1:-1] > rows[:, 2:]) & (rows[:, 1:-1] > rows[:, :-2])
    is_maximum = xp.pad(inner, ((0, 0), (1, extent - inner.shape[1])))
    ends = xp.zeros(count * extent + 1, np.int32, device=rows.device)

    def note(is_ended: GpuArray) -> None:
        """Write the lengths of ridges that have ended to the rows and the positions where they end."""
        ends[xp.where(is_ended, ridges.row * np.int32(extent) + ridges.peak, np.int32(ends.size - 1))] = ridges.length

    for row in range(count - 1, -1, -1):
        ridges, is_continued = _continued(ridges, position, is_maximum[row], row, float(reach[row]))
        is_lost = ridges.gap > patience
        note(is_lost & (ridges.length > 0))
        is_new = is_maximum[row] & ~is_continued
        begun = np.int32(1), position, np.int32(row), np.int32(row), np.int32(0)
        left = ridges._replace(length=xp.where(is_lost, np.int32(0), ridges.length))
        ridges = _Ridges(*(xp.where(is_new, new, old) for new, old in zip(begun, left, strict=True)))
    note(ridges.length > 0)
    return ends[:-1].reshape(count, extent)


def _continued(
    ridges: _Ridges, position: GpuArray, is_maximum: GpuArray, row: int, reach: float
) -> tuple[_Ridges, GpuArray]:
    """Return ridges, which end at the last of the maxima of a row that continue them, and which maxima do."""
    none = np.int32(position.size - 1)
    is_ridge = ridges.length > 0
    nearest = _nearest(ridges, position)
    is_near = is_maximum & elements_at(is_ridge, nearest) & (xp.abs(nearest - position) <= reach)
    target = xp.where(is_near, nearest, none)
    added, last, first = xp.zeros_like(position), xp.zeros_like(position), xp.full_like(position, none)
    np.add.at(added, target, np.int32(1))
    np.maximum.at(last, target, position)
    np.minimum.at(first, target, position)
    is_longer = is_ridge & (added > 0)
    continued = (
        xp.where(is_ridge, ridges.length + added, np.int32(0)),
        xp.where(is_longer, first if _BY_FIRST else last, ridges.peak),
        ridges.born,
        xp.where(is_longer, np.int32(row), ridges.row),
        xp.where(is_longer, np.int32(0), ridges.gap + 1),
    )
    end = xp.where(is_longer, last, xp.where(is_ridge, position, none))
    moved = []
    for values in continued:
        line = xp.zeros_like(values)
        line[end] = values
        line[-1] = 0
        moved.append(line)
    return _Ridges(*moved), is_near


def _nearest(ridges: _Ridges, position: GpuArray) -> GpuArray:
    """Return the position of the nearest ridge, or any position if there is none; of two, the one that is older."""
    final, none = np.int32(position.size - 1), np.int32(1 << 29)
    is_ridge = ridges.length > 0
    before = xp.maximum.accumulate(xp.where(is_ridge, position, -none))
    behind = xp.minimum.accumulate(xp.where(is_ridge, position, none)[::-1])[::-1]
    left, right = xp.maximum(before, 0), xp.minimum(behind, final)
    is_older = elements_at(ridges.born, left) >= elements_at(ridges.born, right)
    distance = position - before, behind - position
    is_left = (distance[0] < distance[1]) | ((distance[0] == distance[1]) & is_older)
    return xp.where(is_left, left, right)


# -- noise ------------------------------------------------------------------------------------------------------------


def _percentiles(line: GpuArray, centres: GpuArray, window: int, percentage: float) -> GpuArray:
    """Return percentiles of windows of a line, between the two elements that they lie between; NaN of none."""
    half, odd = divmod(window, 2)
    starts = xp.maximum(centres - half, 0).astype(np.int32)
    ends = xp.minimum(centres + (half + odd), line.size).astype(np.int32)
    rank = percentage / 100.0 * (ends - starts - 1)
    lower = xp.floor(rank).astype(np.int32)
    share = rank - lower
    upper = xp.where(share > 0, lower + 1, lower)
    both = _of_rank(line, xp.tile(starts, 2), xp.tile(ends, 2), xp.concat([lower, upper])).reshape(2, -1)
    value = xp.where(share > 0, both[0] * (1 - share) + both[1] * share, both[0])
    return xp.where(ends > starts, value, np.nan)


def _of_rank(line: GpuArray, starts: GpuArray, ends: GpuArray, rank: GpuArray) -> GpuArray:
    """Return the elements of a rank of ranges of a line, by a wavelet matrix.

    The ranks of elements in the line are sorted by their bits, the highest one first. How many elements of a range have
    a zero there tells in which half the wanted one is, and where the range goes on.
    """
    size = line.size
    order = xp.argsort(line, stable=True)
    number = xp.arange(size, dtype=np.int32, device=line.device)
    ranks = xp.zeros_like(number)
    ranks[order] = number
    result = xp.zeros_like(rank)
    for level in range((size - 1).bit_length() - 1, -1, -1):
        is_high = ((ranks >> level) & 1) == 1
        low = xp.pad((~is_high).astype(np.int32).cumsum(0, dtype=np.int32), (1, 0))
        middle = low[-1]
        first, last = elements_at(low, starts), elements_at(low, ends)
        is_above = rank >= last - first
        rank = xp.where(is_above, rank - (last - first), rank)
        starts = xp.where(is_above, middle + starts - first, first)
        ends = xp.where(is_above, middle + ends - last, last)
        result = xp.where(is_above, result + np.int32(1 << level), result)
        sorted_ranks = xp.zeros_like(ranks)
        sorted_ranks[xp.where(is_high, middle + number - low[:-1], low[:-1])] = ranks
        ranks = sorted_ranks
    return elements_at(line, elements_at(order, xp.clip(result, 0, size - 1)))
