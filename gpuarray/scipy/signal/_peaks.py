"""Peaks of a signal: where they are, how far they stand out, and how wide they are."""

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions.arguments import as_array, concatenated, elements_at
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build, tape, tracing
from gpuarray.ops import searches
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.signal._spacing import numbers_apart

__all__ = ["find_peaks", "peak_prominences", "peak_widths"]

# -- arguments --------------------------------------------------------------------------------------------------------


def _line(x: Any) -> GpuArray:
    """Return a signal; of float32, which SciPy converts, the numbers are the same."""
    line = as_array(x)
    if line.dtype not in (dtypes.float32, dtypes.float64):
        line = line.astype(dtypes.float64)
    if line.ndim != 1:
        raise ValueError("`x` must be a 1-D array")
    return line


def _positions(peaks: Any, line: GpuArray) -> GpuArray:
    positions = as_array(peaks, line.device)
    if not positions.size:
        positions = positions.reshape(-1).astype(np.int64)
    if not np.can_cast(positions.dtype, np.intp):
        raise TypeError("cannot safely cast `peaks` to dtype('intp')")
    if positions.ndim != 1:
        raise ValueError("`peaks` must be a 1-D array")
    return positions.astype(np.int64)


def _reach(wlen: Any) -> int | None:
    """Return how far the surroundings of a peak go on each side."""
    if wlen is None:
        return None
    if not wlen > 1:
        raise ValueError(f"`wlen` must be larger than 1, was {wlen}")
    return int(ceil(wlen) if isinstance(wlen, float) else wlen) // 2


def _check(is_wrong: GpuArray, positions: GpuArray, message: str) -> None:
    """Raise an error that names the first peak for which a condition is true, unless ``jit`` or ``vmap`` record."""
    if tracing.active() is None and tape.batch_of(is_wrong.node()) is None and is_wrong.any().item():
        raise ValueError(message.format(positions[is_wrong.argmax()].item()))


def _warn(is_zero: GpuArray, name: str) -> None:
    """Let SciPy warn of peaks that do not stand out, unless ``jit`` or ``vmap`` record."""
    if tracing.active() is None and tape.batch_of(is_zero.node()) is None and is_zero.any().item():
        flat = np.zeros(3)
        if name == "prominences":
            scipy_signal.peak_prominences(flat, [1])
        else:
            scipy_signal.peak_widths(flat, [1], prominence_data=(flat[:1], np.ones(1, np.intp), np.ones(1, np.intp)))


# -- prominences and widths -------------------------------------------------------------------------------------------


def _tree(line: GpuArray, *, is_least: bool, end: float) -> GpuArray:
    """Return a line behind the extremes of its pairs, of pairs of pairs, and so on; ``end`` stands for NaN."""
    leaves = 1 << line.size.bit_length()
    level = xp.where(xp.isnan(line), line.dtype.type(end), line)
    levels = [xp.pad(level, (0, leaves - line.size))]
    while levels[-1].size > 1:
        pairs = levels[-1].reshape(-1, 2)
        levels.append((xp.minimum if is_least else xp.maximum)(pairs[:, 0], pairs[:, 1]))
    return concatenated([levels[-1], *reversed(levels)], 0)  # nothing is above the root, which is element 1


def _last_outside(tree: GpuArray, starts: GpuArray, bounds: GpuArray, inside: str) -> GpuArray:
    """Return the last positions before others where the line is not above, or not up to, a bound."""
    bounds = xp.where(xp.isnan(bounds), bounds.dtype.type(np.inf if inside == "above" else -np.inf), bounds)
    operands = tree.node(), starts.node(), bounds.node()
    node = build.call_one(searches.last_outside, operands, starts.shape, dtypes.int32, inside=inside)
    return make(node, starts.device)


def _base(line: GpuArray, positions: GpuArray, before: GpuArray) -> tuple[GpuArray, GpuArray]:
    """Return the least element on the way from peaks down to a higher element, and the last place where it is.

    Parameters
    ----------
    line : GpuArray
        The signal.
    positions : GpuArray
        The peaks.
    before : GpuArray
        Where the ways end in any case.
    """
    higher = _last_outside(_tree(line, is_least=False, end=np.inf), positions, elements_at(line, positions), "up_to")
    starts = xp.maximum(higher + 1, before)
    operands = _tree(line, is_least=True, end=np.inf).node(), starts.node(), (positions + 1).node()
    base = make(build.call_one(searches.last_least, operands, positions.shape, dtypes.int32), line.device)
    return elements_at(line, base), base


def _both_sides(
    find: Callable[[GpuArray, GpuArray, GpuArray], Any], line: GpuArray, positions: GpuArray, ends: tuple[Any, Any]
) -> tuple[Any, Any]:
    """Return the results of a function of the signal, peaks, and ends before them, also for the reversed signal."""
    last = np.int32(line.size - 1)
    left, right = (end.astype(np.int32) for end in ends)
    positions = positions.astype(np.int32)
    return find(line, positions, left), find(line[::-1], last - positions, last - right)


def _prominences(line: GpuArray, positions: GpuArray, reach: int | None) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return the prominences of peaks, and their bases to the left and to the right."""
    away = line.size if reach is None else reach
    ends = xp.maximum(positions - away, 0), xp.minimum(positions + away, line.size - 1)
    (low, left), (other, right) = _both_sides(_base, line, positions, ends)
    result = elements_at(line, positions).astype(np.float64) - xp.maximum(low, other).astype(np.float64)
    return result, left.astype(np.int64), line.size - 1 - right.astype(np.int64)


def _widths(
    line: GpuArray, positions: GpuArray, rel_height: float, prominences: GpuArray, left: GpuArray, right: GpuArray
) -> tuple[GpuArray, GpuArray, GpuArray, GpuArray]:
    """Return the widths of peaks, the heights at which they are measured, and between which positions."""
    heights = elements_at(line, positions).astype(np.float64) - prominences * rel_height

    def crossing(line: GpuArray, positions: GpuArray, before: GpuArray) -> tuple[GpuArray, GpuArray]:
        """Return the last positions before peaks that are not above the heights, and the distances to the crossings."""
        tree = _tree(line.astype(np.float64), is_least=True, end=-np.inf)
        crossing_before = xp.maximum(_last_outside(tree, positions + 1, heights, "above"), before)
        low, high = (
            elements_at(line, index).astype(np.float64)
            for index in (crossing_before, xp.minimum(crossing_before + 1, positions))
        )
        return crossing_before.astype(np.float64), xp.where(low < heights, (heights - low) / (high - low), 0.0)

    (start, behind), (end, ahead) = _both_sides(crossing, line, positions, (left, right))
    start, end = start + behind, line.size - 1 - end - ahead
    return end - start, heights, start, end


@mirrors(scipy_signal.peak_prominences, kind=COMPOSED)
def peak_prominences(x: Any, peaks: Any, wlen: Any = None) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return how far peaks stand out from the signal around them.

    Parameters
    ----------
    x : array_like
        The signal.
    peaks : array_like of int
        The positions of the peaks.
    wlen : int, optional
        How many samples around a peak are looked at.

    Returns
    -------
    prominences : GpuArray
        The heights of the peaks over the higher of their two bases.
    left_bases, right_bases : GpuArray
        The positions of the lowest samples on both sides, before there are higher ones than the peak.

    Raises
    ------
    ValueError
        If a position is not in the signal, or ``wlen`` is not larger than 1.
    """
    line = _line(x)
    positions = _positions(peaks, line)
    reach = _reach(wlen)
    _check((positions < 0) | (positions >= line.size), positions, "peak {} is not a valid index for `x`")
    result = _prominences(line, positions, reach)
    _warn(result[0] == 0, "prominences")
    return result


@mirrors(scipy_signal.peak_widths, kind=COMPOSED)
def peak_widths(
    x: Any, peaks: Any, rel_height: float = 0.5, prominence_data: Any = None, wlen: Any = None
) -> tuple[GpuArray, GpuArray, GpuArray, GpuArray]:
    """Return how wide peaks are at a share of their prominences.

    Parameters
    ----------
    x : array_like
        The signal.
    peaks : array_like of int
        The positions of the peaks.
    rel_height : float
        The share, measured from the peak on.
    prominence_data : tuple of array_like, optional
        What :func:`peak_prominences` returns.
    wlen : int, optional
        How many samples around a peak are looked at.

    Returns
    -------
    widths : GpuArray
        The widths in samples.
    width_heights : GpuArray
        The heights at which they are measured.
    left_ips, right_ips : GpuArray
        Where the signal crosses these heights.

    Raises
    ------
    ValueError
        If a position is not in the signal, a base is not on its side of the peak, or a parameter is out of range.
    """
    line = _line(x)
    positions = _positions(peaks, line)
    if prominence_data is None:
        prominence_data = peak_prominences.composition(line, positions, wlen)  # type: ignore[attr-defined]  # the decorator sets it
    prominences, left, right = (as_array(array, line.device) for array in prominence_data)
    if rel_height < 0:
        raise ValueError("`rel_height` must be greater or equal to 0.0")
    if not positions.shape == prominences.shape == left.shape == right.shape:
        raise ValueError("arrays in `prominence_data` must have the same shape as `peaks`")
    is_wrong = (left < 0) | (left > positions) | (right < positions) | (right >= line.size)
    _check(is_wrong, positions, "prominence data is invalid for peak {}")
    result = _widths(line, positions, rel_height, prominences, left, right)
    _warn(result[0] == 0, "widths")
    return result


# -- peaks ------------------------------------------------------------------------------------------------------------


def _local_maxima(line: GpuArray) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return the middles of runs of equal samples between lower ones, and the first and last positions of runs."""
    before, after = line[:-1], line[1:]
    number = xp.arange(max(line.size - 1, 0), dtype=np.int32, device=line.device)
    # at each position, twice the last place before a change of the signal, and one more if it rises there
    last = xp.maximum.accumulate(xp.where(before != after, 2 * number + (before < after), np.int32(0)))
    (ends,) = xp.nonzero((before > after)[1:] & (last[:-1] & 1).astype(bool))
    starts = (elements_at(last, ends) >> 1).astype(np.int64) + 1
    ends = ends + 1
    return (starts + ends) // 2, starts, ends


class _Peaks:
    """Peaks with their properties, which conditions restrict one after the other."""

    def __init__(self, line: GpuArray, positions: GpuArray) -> None:
        self.line = line
        self.positions = positions
        self.properties: dict[str, GpuArray] = {}

    def keep(self, numbers: GpuArray) -> None:
        """Keep the peaks of some numbers."""
        self.positions = elements_at(self.positions, numbers)
        self.properties = {name: elements_at(values, numbers) for name, values in self.properties.items()}

    def require(self, interval: Any, lowest: GpuArray, highest: GpuArray | None = None) -> None:
        """Keep the peaks with a property in an interval; its ends are numbers, one for each sample, or None."""
        try:
            low, high = interval
        except (TypeError, ValueError):
            low, high = interval, None
        ends = self._end(low, "lower"), self._end(high, "upper")
        conditions = [] if ends[0] is None else [ends[0] <= lowest]
        conditions += [] if ends[1] is None else [(lowest if highest is None else highest) <= ends[1]]
        if conditions:
            self.keep(xp.nonzero(conditions[0] & conditions[-1])[0])

    def _end(self, end: Any, side: str) -> Any:
        """Return an end of an interval, of an array for all samples those of the peaks."""
        if not isinstance(end, np.ndarray) and not (isinstance(end, GpuArray) and end.ndim):
            return end
        if end.size != self.line.size:
            raise ValueError(f"array size of {side} interval border must match x")
        return as_array(end, self.line.device)[self.positions]


@mirrors(scipy_signal.find_peaks, kind=COMPOSED)
def find_peaks(
    x: Any, height: Any = None, threshold: Any = None, distance: Any = None, prominence: Any = None, width: Any = None,
    wlen: Any = None, rel_height: float = 0.5, plateau_size: Any = None,
) -> tuple[GpuArray, dict[str, GpuArray]]:  # fmt: skip
    """Return the peaks of a signal: samples, or the middles of runs of equal samples, between lower ones.

    Parameters
    ----------
    x : array_like
        The signal.
    height, threshold : number, array_like or tuple, optional
        The least height, and the least height over both neighbours. Of these and of other properties, a pair is an
        interval, and an array has a number for each sample.
    distance : number, optional
        The least distance between peaks; the highest ones are kept, and the last one of equal ones.
    prominence, width : number, array_like or tuple, optional
        The least prominence and width.
    wlen : int, optional
        How many samples around a peak are looked at for its prominence.
    rel_height : float
        The share of the prominence at which the width is measured.
    plateau_size : number, array_like or tuple, optional
        The least number of equal samples.

    Returns
    -------
    peaks : GpuArray
        The positions of the peaks.
    properties : dict
        For each given condition, the property of these peaks, by SciPy's names.

    Raises
    ------
    ValueError
        If a parameter is out of range, or an array has another size.
    """
    line = _line(x)
    if distance is not None and distance < 1:
        raise ValueError("`distance` must be greater or equal to 1")
    positions, starts, ends = _local_maxima(line)
    peaks = _Peaks(line, positions)
    if plateau_size is not None:
        peaks.properties |= {"plateau_sizes": ends - starts + 1, "left_edges": starts, "right_edges": ends}
        peaks.require(plateau_size, peaks.properties["plateau_sizes"])
    if height is not None:
        peaks.properties["peak_heights"] = elements_at(line, peaks.positions).astype(np.float64)
        peaks.require(height, peaks.properties["peak_heights"])
    if threshold is not None:
        wide = line.astype(np.float64)
        sides = [elements_at(wide, peaks.positions) - elements_at(wide, peaks.positions + n) for n in (-1, 1)]
        peaks.properties |= {"left_thresholds": sides[0], "right_thresholds": sides[1]}
        peaks.require(threshold, xp.minimum(*sides), xp.maximum(*sides))
    if distance is not None:
        peaks.keep(numbers_apart(peaks.positions, elements_at(line, peaks.positions), distance))
    if prominence is not None or width is not None:
        measured = _prominences(line, peaks.positions, _reach(wlen))
        peaks.properties |= dict(zip(("prominences", "left_bases", "right_bases"), measured, strict=True))
        if wlen is not None:
            _warn(measured[0] == 0, "prominences")
    if prominence is not None:
        peaks.require(prominence, peaks.properties["prominences"])
    if width is not None:
        if rel_height < 0:
            raise ValueError("`rel_height` must be greater or equal to 0.0")
        measured_bases = (peaks.properties[name] for name in ("prominences", "left_bases", "right_bases"))
        widths = _widths(line, peaks.positions, rel_height, *measured_bases)
        _warn(widths[0] == 0, "widths")
        peaks.properties |= dict(zip(("widths", "width_heights", "left_ips", "right_ips"), widths, strict=True))
        peaks.require(width, peaks.properties["widths"])
    return peaks.positions, peaks.properties
