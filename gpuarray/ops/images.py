"""Calls of image processing: connected parts, distances, and ranks of windows."""

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np

from gpuarray.ops.columns import Shapes, Work
from gpuarray.ops.spec import CallOp

#: Positions of a window, counted from an element, one number for each axis.
Offsets = tuple[tuple[int, ...], ...]


def _slices(step: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the elements of an array that have a neighbour at a distance, and these neighbours."""
    here = tuple(slice(max(-n, 0), -n if n > 0 else None) for n in step)
    there = tuple(slice(max(n, 0), n if n < 0 else None) for n in step)
    return here, there


def _first_of_part(inside: Any, *, before: Offsets) -> Any:
    """Let elements take the least position of their neighbours, and follow it, until nothing changes."""
    size = inside.size
    numbers = np.arange(size, dtype=np.int32).reshape(inside.shape)
    pointers = np.where(inside, numbers, np.int32(size))
    while True:
        least = pointers.copy()
        for step in before:
            for here, there in (_slices(step), _slices(step)[::-1]):
                least[here] = np.minimum(least[here], pointers[there])
        line = np.append(np.where(inside, least, np.int32(size)).reshape(-1), np.int32(size))
        np.minimum.at(line, pointers.reshape(-1), line[:-1])
        for _ in range(2):
            line = line[line]
        first = np.where(inside, line[:-1].reshape(inside.shape), np.int32(size))
        if np.array_equal(first, pointers):
            return first
        pointers = first


def _lower_envelope(heights: Any, away: Any, *, axis: int, is_largest: bool = False) -> Any:
    """Compare with the elements at one distance after the other; ``axis`` is counted from the last one, -1."""
    lines = np.moveaxis(heights, axis, 0)
    least = lines.copy()
    join = np.maximum if is_largest else np.add
    for step in range(1, len(lines)):
        if away[step] >= least.max():
            break
        np.minimum(least[step:], join(lines[:-step], away[step]), out=least[step:])
        np.minimum(least[:-step], join(lines[step:], away[step]), out=least[:-step])
    return np.ascontiguousarray(np.moveaxis(least, 0, axis))


def _place_in_envelope(heights: Any, away: Any, *, axis: int, is_largest: bool = False) -> Any:
    """Do the same, and keep the first position."""
    lines = np.moveaxis(heights, axis, 0)
    least = lines.copy()
    join = np.maximum if is_largest else np.add
    places = np.arange(len(lines), dtype=np.int32).reshape(-1, *[1] * (lines.ndim - 1))
    positions = np.broadcast_to(places, lines.shape).copy()
    for step in range(1, len(lines)):
        if away[step] > least.max():
            break
        for here, there, is_better in (
            (slice(step, None), slice(-step), np.less_equal),
            (slice(-step), slice(step, None), np.less),
        ):
            joint = join(lines[there], away[step])
            chosen = is_better(joint, least[here])
            np.copyto(least[here], joint, where=chosen)
            np.copyto(positions[here], places[there], where=chosen)
    return np.ascontiguousarray(np.moveaxis(positions, 0, axis))


def positions_of_windows(shape: tuple[int, ...], table: Any, offsets: Offsets) -> Any:
    """Return the flat positions of the windows of all elements along a new last axis; negative ones are outside."""
    positions: Any = 0
    begin = 0
    for axis, extent in enumerate(shape):
        steps = np.array([step[axis] for step in offsets])
        line = table[begin:][np.arange(extent)[:, None] + steps]
        positions = positions + line.reshape([extent if a == axis else 1 for a in range(len(shape))] + [len(offsets)])
        begin += extent + steps.max()
    return positions


def _rank_of_windows(x: Any, table: Any, *, places: Offsets, rank: int, constant: Any) -> Any:
    positions = positions_of_windows(x.shape, table, places)
    window = np.where(positions < 0, np.asarray(constant or 0).astype(x.dtype), x.reshape(-1)[np.maximum(positions, 0)])
    return np.ascontiguousarray(np.partition(window, rank, -1)[..., rank])


# --- networks --------------------------------------------------------------------------------------------------------


def _comparators(count: int) -> Iterator[tuple[int, int]]:
    """Yield the comparisons of Batcher's odd-even merge sort."""
    span = 1
    while span < count:
        step = span
        while step:
            for start in range(step % span, count - step, 2 * step):
                for k in range(min(step, count - start - step)):
                    if (start + k) // (2 * span) == (start + k + step) // (2 * span):
                        yield start + k, start + k + step
            step //= 2
        span *= 2


@lru_cache(maxsize=256)
def selection_network(count: int, rank: int) -> tuple[tuple[int, int, bool, bool], ...]:
    """Return the comparisons that the element of a rank depends on, and whether the lower and the upper are used."""
    used = {rank}
    comparators = []
    for low, high in reversed([*_comparators(count)]):
        if low in used or high in used:
            comparators.append((low, high, low in used, high in used))
            used |= {low, high}
    return tuple(reversed(comparators))


# --- records ---------------------------------------------------------------------------------------------------------

#: How many elements are read for each: an estimate, as it depends on values and windows.
_SEARCHED: Final = 32


def _searching(operands: Shapes, _results: Shapes) -> int:
    return _SEARCHED * prod(operands[0])


first_of_part = CallOp(
    name="first_of_part",
    numpy=_first_of_part,
    doc="The position of the first element of the connected part of each true element; the size for others.",
    work=Work.GATHER,
    cost=_searching,
)
lower_envelope = CallOp(
    name="lower_envelope",
    numpy=_lower_envelope,
    doc="The least, along lines, of the sums, or the larger ones, of an element and a number that rises with distance.",
    work=Work.GATHER,
    cost=_searching,
)
place_in_envelope = CallOp(
    name="place_in_envelope",
    numpy=_place_in_envelope,
    doc="The positions along lines of the elements whose sums ``lower_envelope`` finds, the first ones.",
    work=Work.GATHER,
    cost=_searching,
)
rank_of_windows = CallOp(
    name="rank_of_windows",
    numpy=_rank_of_windows,
    doc="The element of a rank of the window of each element.",
    work=Work.GATHER,
    cost=_searching,
)
