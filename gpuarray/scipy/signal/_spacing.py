"""Peaks with a least distance: of two that are nearer to each other, the lower one is removed.

SciPy goes through the peaks from the highest to the lowest one. The rounds below decide many peaks at a time. A peak is
kept if no other one near it is higher. If a peak is kept, so is the highest one of those that are next on one side, if
the only higher ones near that are near the kept peak: such pairs are links of chains, which are followed in a number of
steps in proportion to the logarithm of their length. Signals that rise and fall slowly are long chains, so that one to
three rounds decide nearly all signals.
"""

from math import ceil

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import elements_at

__all__ = ["numbers_apart"]


class _Neighbours:
    """The peaks near each peak: the numbers of the first and of the last one, which includes the peak itself."""

    def __init__(self, positions: GpuArray, distance: int) -> None:
        number = xp.arange(positions.size, dtype=np.int32, device=positions.device)
        self.number = number
        self.first = xp.searchsorted(positions, positions - distance, side="right").astype(np.int32)
        self.last = xp.searchsorted(positions, positions + distance).astype(np.int32) - 1
        self.counts = number - self.first + 1, self.last - number + 1
        self._levels = int(xp.maximum(*self.counts).max().item()).bit_length()

    def greatest(self, values: GpuArray) -> tuple[GpuArray, GpuArray]:
        """Return the greatest values near each peak on its left, and on its right, its own included.

        Each is the greatest of two ranges whose extent is a power of two.
        """
        final = np.int32(values.size - 1)
        left = right = ranges = values  # of 1, 2, 4 ... values, by their last one
        for level in range(self._levels):
            extent = np.int32(1 << level)
            is_left, is_right = ((count >> level) == 1 for count in self.counts)
            first = elements_at(ranges, xp.minimum(self.first + (extent - 1), final))
            left = xp.where(is_left, xp.maximum(ranges, first), left)
            own = elements_at(ranges, xp.minimum(self.number + (extent - 1), final))
            right = xp.where(is_right, xp.maximum(own, elements_at(ranges, self.last)), right)
            ranges = xp.maximum(ranges, elements_at(ranges, xp.maximum(self.number - extent, 0)))
        return left, right

    def any_near(self, flags: GpuArray) -> GpuArray:
        """Return whether a flag of a peak or of one near it is set."""
        counts = flags.astype(np.int32).cumsum(0, dtype=np.int32)
        before = xp.where(self.first > 0, elements_at(counts, xp.maximum(self.first - 1, 0)), np.int32(0))
        return elements_at(counts, self.last) > before


def numbers_apart(positions: GpuArray, heights: GpuArray, distance: float) -> GpuArray:
    """Return the numbers of the peaks that are kept; of equal ones the last one comes first.

    Parameters
    ----------
    positions : GpuArray
        The positions of the peaks, in order.
    heights : GpuArray
        Their heights.
    distance : float
        The least distance.
    """
    is_selected = xp.zeros(positions.size, np.bool_, device=positions.device)
    if not positions.size:
        return xp.nonzero(is_selected)[0]
    near = _Neighbours(positions, ceil(distance))
    order = xp.argsort(heights, stable=True).astype(np.int32)
    ranks = xp.zeros_like(near.number)
    ranks[order] = near.number + 1
    while True:
        chosen = _chosen(ranks, order, near)
        is_selected = is_selected | chosen
        ranks = xp.where(near.any_near(chosen), np.int32(0), ranks)
        if not ranks.any().item():
            return xp.nonzero(is_selected)[0]


def _chosen(ranks: GpuArray, order: GpuArray, near: _Neighbours) -> GpuArray:
    """Return which peaks are known to be kept, by ranks from 1 on, which are 0 for peaks that are decided."""
    number, final = near.number, np.int32(ranks.size - 1)
    sides = near.greatest(ranks)
    chosen = (ranks > 0) & (sides[0] == ranks) & (sides[1] == ranks)
    for greatest, start, is_inside in (
        (sides[0], near.first - 1, near.first > 0),
        (sides[1], near.last + 1, near.last < final),
    ):
        rank = elements_at(greatest, xp.clip(start, 0, final))
        other = elements_at(order, xp.maximum(rank - 1, 0))
        is_link = is_inside & (rank > 0) & (elements_at(greatest, other) == rank)
        chosen = _followed(chosen, xp.where(is_link, other, number))
    return chosen


def _followed(flags: GpuArray, links: GpuArray) -> GpuArray:
    """Return flags that are set wherever links lead from those that are set; an end is linked to itself."""
    for _ in range(flags.size.bit_length()):
        reached = xp.zeros(flags.size + 1, np.bool_, device=flags.device)
        reached[xp.where(flags, links, np.int32(flags.size))] = True
        flags = flags | reached[:-1]
        links = elements_at(links, links)
    return flags
