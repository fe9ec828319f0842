"""Stages: a loop whose rows do not fit a tile, split at its folds.

The folds of one phase make one loop, which only stores their results. Later loops read the results as one value a row.
Values that several stages need are computed by each. Invariant: the stages in order compute what the loop does, and no
stage has both a fold and a use of its result. :class:`~gpuarray.providers.inprocess.loops.PreparedLoop` calls this for
loops that :mod:`.tiles` cannot cut into whole rows.
"""

from dataclasses import dataclass, replace
from typing import assert_never

from gpuarray.dtypes import DType
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    Apply,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    Scalar,
    Store,
    Take,
    needed,
)
from gpuarray.graph.layouts import contiguous


@dataclass(frozen=True)
class Stages:
    """Loops to run in order, and the dtypes of the fold results that they pass on.

    Fold result number ``k``, with one element a row, is output ``len(output_dtypes) + k`` of the loop that makes it and
    input ``len(input_dtypes) + k`` of those that read it, both counted in the original loop.
    """

    loops: tuple[Loop, ...]
    results: tuple[DType, ...]


def phases(loop: Loop) -> list[int]:
    """Return for each instruction how many folds must have finished before it can run."""
    phase_of: list[int] = []
    for item in loop.instructions:
        phase_of.append(max((phase_of[o] + isinstance(loop.instructions[o], Fold) for o in item.operands), default=0))
    return phase_of


def stages(loop: Loop) -> Stages:
    """Return the loops that compute ``loop`` one after the other."""
    folds = [n for n in sorted(needed(loop.instructions, loop.wanted)) if isinstance(loop.instructions[n], Fold)]
    taker = _Taker(loop, folds)
    phase = phases(loop)
    last = max(phase[n] for n in folds) + 1
    full = loop.outer + loop.inner
    ready = [phase[s.value] + isinstance(loop.instructions[s.value], Fold) for s in loop.stores]
    loops = []
    for number in range(last):
        here = [s for s, when in zip(loop.stores, ready, strict=True) if s.layout.shape == full and when == number]
        loops.append(taker.take([n for n in folds if phase[n] == number], here))
    rest = [s for s, when in zip(loop.stores, ready, strict=True) if s.layout.shape == full and when == last]
    if rest:
        loops.append(taker.take([], rest))
    by_row = [s for s in loop.stores if s.layout.shape != full]
    if by_row:
        loops.append(_rows_only(taker.take([], by_row)))
    return Stages(tuple(loops), taker.results)


class _Taker:
    """Takes stages out of a loop; folds of earlier stages become loads."""

    def __init__(self, loop: Loop, folds: list[int]) -> None:
        self.loop = loop
        self.slots = {number: k for k, number in enumerate(folds)}
        self.results = tuple(loop.instructions[n].dtype for n in folds)

    def take(self, folds: list[int], stores: list[Store]) -> Loop:
        """Return the loop that computes ``folds``, which it stores as results, and ``stores``."""
        loop, rows = self.loop, self.loop.rows
        layout = contiguous(loop.outer)
        numbers: dict[int, int] = {}
        instructions: list[Instruction] = []
        for number in self._order(folds, stores):
            numbers[number] = len(instructions)
            item = loop.instructions[number]
            if isinstance(item, Fold) and number not in folds:
                slot = len(loop.input_dtypes) + self.slots[number]
                instructions.append(Load(slot, layout, rows, item.dtype, OUTER))
            else:
                instructions.append(_renumbered(item, numbers))
        renumbered = [replace(s, value=numbers[s.value]) for s in stores]
        for number in folds:
            slot = len(loop.output_dtypes) + self.slots[number]
            renumbered.append(Store(slot, numbers[number], layout, rows, loop.instructions[number].dtype, OUTER))
        return replace(
            loop,
            instructions=tuple(instructions),
            stores=tuple(renumbered),
            input_dtypes=loop.input_dtypes + self.results,
            output_dtypes=loop.output_dtypes + self.results,
            phases=(),
        )

    def _order(self, folds: list[int], stores: list[Store]) -> list[int]:
        visited: set[int] = set()
        pending = [*folds, *(s.value for s in stores)]
        while pending:
            number = pending.pop()
            if number in visited:
                continue
            visited.add(number)
            if number in folds or number not in self.slots:
                pending += self.loop.instructions[number].operands
        return sorted(visited)


def _renumbered(item: Instruction, numbers: dict[int, int]) -> Instruction:
    match item:
        case Apply():
            return replace(item, operands=tuple(numbers[o] for o in item.operands))
        case Take():
            return replace(item, position=numbers[item.position])
        case Fold():
            return replace(item, operand=numbers[item.operand])
        case Scalar() | Load() | Index():
            return item
        case _:
            assert_never(item)


def _rows_only(loop: Loop) -> Loop:
    """Return a loop of values of rows as a loop whose elements are the rows."""
    items = tuple(replace(i, level=FULL) if i.level == OUTER else i for i in loop.instructions)
    stores = tuple(replace(s, level=FULL) if s.level == OUTER else s for s in loop.stores)
    return replace(loop, outer=(), inner=loop.outer, instructions=items, stores=stores)
