"""Zeros: a second guard of sums and products, for data that have many.

The guard of a block (:mod:`gpuarray.codegen.underflow`) takes every zero for a result that may have been flushed. It is
cheap, and right for most data; but images and initial states have zeros, and would take the slow path throughout. The
guard here costs more and is evaluated where the first one fails. It looks at the operands from outside of the block:
if each is 0 or large enough, nothing in the block can have been flushed, and its zeros are right.

How large that is follows from two facts. A product of numbers that are 0, or at least ``2**a`` and ``2**b``, is 0 or at
least ``2**(a + b)``. A sum of multiples of ``2**g`` is a multiple of ``2**g``, also after rounding. Called by
:mod:`gpuarray.codegen.fast_paths`. Pure; needs no GPU.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

from gpuarray.codegen.underflow import FLUSHED, Block
from gpuarray.dtypes import float32
from gpuarray.fusion.steps import FULL, Apply, Instruction
from gpuarray.ops.columns import Kind

#: The least exponent that a scalar is required to have, unless it is 0: of smaller factors and terms there are few.
SCALARS: Final = -16
#: The exponents that operands may be required to have. If less is needed, the first guard does not fail either; with
#: more, ordinary data would fail.
_EXPONENTS: Final = range(-100, -15)
#: The digits of a float32 number behind the first.
_DIGITS: Final = 23


class _Grid(NamedTuple):
    """What is known of a value: it is 0 or at least ``2**least`` in magnitude, and a multiple of ``2**unit``."""

    least: int
    unit: int


def least_operand(instructions: Sequence[Instruction], block: Block) -> int | None:
    """Return the exponent of 2 that operands of a block, if not 0, need in magnitude so that nothing is flushed.

    Parameters
    ----------
    instructions : sequence of Instruction
        All instructions of the loop.
    block : Block
        The block. Its scalars are 0 or at least ``2**SCALARS`` in magnitude.

    Returns
    -------
    int or None
        None if no such exponent is known, or one that ordinary data do not reach.
    """
    if block.functions or not block.sums:
        return None
    at = bisect_left(_EXPONENTS, True, key=lambda exponent: _is_safe(instructions, block, exponent))
    return _EXPONENTS[at] if at < len(_EXPONENTS) else None


def operands_of(instructions: Sequence[Instruction], block: Block) -> list[int]:
    """Return the float32 values from outside of a block from which it is computed."""
    operands = {o for number in block.items for o in instructions[number].operands}
    return sorted(n for n in operands.difference(block.items) if instructions[n].dtype == float32)


def _is_safe(instructions: Sequence[Instruction], block: Block, exponent: int) -> bool:
    """Whether nothing in a block is flushed if its operands are 0 or at least ``2**exponent`` in magnitude."""
    grids: dict[int, _Grid] = {}
    for number in operands_of(instructions, block):
        least = exponent if instructions[number].level == FULL else SCALARS
        grids[number] = _Grid(least, least - _DIGITS)
    for number in block.items:
        item = instructions[number]
        assert isinstance(item, Apply)
        grid = _result(item, [grids.get(n) for n in item.operands])
        if grid is not None and item.dtype == float32:
            grids[number] = grid
        if number in block.sums and (grid is None or grid.least < FLUSHED):
            return False
    return True


def _result(item: Apply, operands: Sequence[_Grid | None]) -> _Grid | None:
    """Return what is known of the result of an operation."""
    match item.op.kind:
        case Kind.CONVERSION if item.sources[0].kind in "biu":
            return _Grid(0, 0)
        case Kind.SELECTION:
            operands = operands[1:]
    known = [grid for grid in operands if grid is not None]
    if len(known) < len(operands):
        return None
    least, unit = (min(values) for values in zip(*known, strict=True))
    match item.op.kind:
        case Kind.SIGN | Kind.SELECTION | Kind.EXTREME:
            return _Grid(least, unit)
        case Kind.SUM:
            return _Grid(unit, unit)
        case Kind.PRODUCT:
            first, second = known[0], known[-1]
            return _rounded(first.least + second.least, first.unit + second.unit)
        case Kind.SCALING:  # by a constant of at least 2**-6
            return _rounded(least - 6, unit - 6 - _DIGITS)
        case _:
            return None


def _rounded(least: int, unit: int) -> _Grid:
    """Return what is known of a float32 number: it is a multiple of its last place, too."""
    return _Grid(least, max(unit, least - _DIGITS))
