"""Values of a loop that broadcasting repeats: along which axes each changes, and which takes are of whole lines.

A value that does not change along an axis of the tile is computed once, not for each element. :mod:`.program` asks for
these values, and NumPy's ufuncs broadcast them where they meet others. Loops with folds compute all values in full.
"""

from collections import defaultdict
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuarray.fusion.steps import FULL, Apply, Index, Instruction, Load, Loop, Take
from gpuarray.graph.layouts import Shape
from gpuarray.ops import elementwise
from gpuarray.ops.columns import Kind
from gpuarray.providers.inprocess.tiles import Tiling
from gpuarray.providers.inprocess.views import kept_axes

#: How often a value has to be repeated in a tile for a register of its own shape.
_REPEATED: Final = 8
#: Shortest line that is copied as a whole.
_LINE: Final = 2


class RepeatedAxes(NamedTuple):
    """The repetitions by broadcasting in a loop.

    Attributes
    ----------
    axes : dict of int and tuple of int
        The axes along which a value changes, in memory order, of those that are repeated.
    lines : dict of int and (int, int)
        For a take of consecutive elements of lines, where the lines begin and what is added to it along the last axis.
    """

    axes: dict[int, Shape]
    lines: dict[int, tuple[int, int]]


def repeats(loop: Loop, tiling: Tiling, used: list[int]) -> RepeatedAxes:
    """Return the repetitions by broadcasting in a loop, of whose instructions some are used."""
    if loop.folds or not tiling.order:  # a single element repeats nothing
        return RepeatedAxes({}, {})
    users: dict[int, list[int]] = defaultdict(list)
    for number in used:
        for operand in loop.instructions[number].operands:
            users[operand].append(number)
    axes = _axes(loop, tiling, used, _positions(loop, users, used))
    _drop_unsuited(loop, axes, used)
    for number in [n for n in axes if isinstance(loop.instructions[n], Load) and axes.keys().isdisjoint(users[n])]:
        del axes[number]  # NumPy broadcasts it as it is
    return RepeatedAxes(axes, _lines(loop, tiling, axes, users, used))


def _lines(
    loop: Loop, tiling: Tiling, axes: dict[int, Shape], users: dict[int, list[int]], used: list[int]
) -> dict[int, tuple[int, int]]:
    """Return the takes whose positions are those of lines, and an offset along the last axis."""
    last = len(tiling.order) - 1
    lines = {}
    for number in used:
        item = loop.instructions[number]
        if isinstance(item, Take) and item.level == FULL and tiling.block[last] >= _LINE:
            position = loop.instructions[item.position]
            is_only_for_this = users[item.position] == [number] and item.position not in loop.wanted
            if isinstance(position, Apply) and position.op is elementwise.add and is_only_for_this:
                for starts, offsets in (position.operands, position.operands[::-1]):
                    if axes.get(offsets) == (last,) and last not in axes.get(starts, (last,)):
                        lines[number] = starts, offsets
    return lines


def _positions(loop: Loop, users: dict[int, list[int]], used: list[int]) -> set[int]:
    """Return the values that nothing needs but positions of takes."""
    positions: set[int] = set()
    for number in reversed(used):
        served = [user in positions or isinstance(loop.instructions[user], Take) for user in users[number]]
        if all(served) and number not in loop.wanted:
            positions.add(number)
    return positions


def _axes(loop: Loop, tiling: Tiling, used: list[int], positions: set[int]) -> dict[int, Shape]:
    """Return the axes along which values change, of those that a tile repeats often, or once if they are positions."""
    changing: dict[int, frozenset[int]] = {}
    for number in used:
        item = loop.instructions[number]
        if item.level != FULL:
            changing[number] = frozenset()
        elif isinstance(item, Load | Index):
            strides = [item.layout.strides[axis] for axis in tiling.order]
            changing[number] = frozenset(axis for axis, stride in enumerate(strides) if stride)
        else:
            changing[number] = frozenset().union(*(changing[operand] for operand in item.operands))
    whole = prod(tiling.block)
    kept = {axes: prod(kept_axes(tiling.block, tuple(axes))) for axes in {*changing.values()}}
    return {
        number: tuple(sorted(axes))
        for number, axes in changing.items()
        if loop.instructions[number].level == FULL
        and kept[axes] * (_LINE if number in positions else _REPEATED) <= whole
    }


def _drop_unsuited(loop: Loop, axes: dict[int, Shape], used: list[int]) -> None:
    """Drop the values that something needs in full: what does not broadcast, or what is not repeated itself."""
    is_stable = False
    while not is_stable:
        is_stable = True
        for number in used:
            item = loop.instructions[number]
            operands = [o for o in item.operands if loop.instructions[o].level == FULL]
            if number in axes and any(operand not in axes for operand in operands):
                del axes[number]
                is_stable = False
            for operand in operands:
                if operand in axes and not _broadcasts(item) and axes.get(number) != axes[operand]:
                    del axes[operand]
                    is_stable = False


def _broadcasts(item: Instruction) -> bool:
    if not isinstance(item, Apply):
        return False
    op = item.op
    is_plain = isinstance(op.numpy, np.ufunc) and op.numpy.nout == 1 and not op.numpy_forms
    return is_plain or op.kind is Kind.CONVERSION


def take_lines(source: Any, starts: Any, offsets: Any, target: npt.NDArray[Any]) -> None:
    """Take the elements of ``source`` at ``starts + offsets``: whole lines if the offsets are consecutive."""
    width, line = target.shape[-1], offsets.reshape(-1)
    if not (line[1:] - line[:-1] == 1).all():  # the offsets may be indices of a program, in any order
        is_matrix = starts.size * width == target.size and target.flags.c_contiguous
        if is_matrix and (table := _table(source, starts.reshape(-1), line)) is not None:
            np.take(table, line, 1, target.reshape(-1, width), "clip")
        else:
            np.take(source, np.broadcast_to(np.add(starts, offsets), target.shape), None, target, "clip")
        return
    begin = starts[..., 0] + line[0]
    rows = begin // width
    if (rows * width == begin).all():
        table = source[: source.size // width * width].reshape(-1, width)
        np.take(table, np.broadcast_to(rows, target.shape[:-1]), 0, target, "clip")
        return
    lines: npt.NDArray[Any] = np.ndarray((source.size - width + 1, width), source.dtype, source, 0, source.strides * 2)
    target[...] = lines[begin]


def _table(source: Any, starts: Any, offsets: Any) -> Any:
    """Return the rows of a matrix that begin at ``starts``, and have elements at the offsets; None if there is none."""
    if starts.size < 2:
        return None
    first, length = int(starts[0]), int(starts[1]) - int(starts[0])
    end = first + starts.size * length
    if length <= 0 or end > source.size or not (starts[1:] - starts[:-1] == length).all():
        return None
    if not 0 <= offsets.min() <= offsets.max() < length:
        return None
    return source[first:end].reshape(-1, length)
