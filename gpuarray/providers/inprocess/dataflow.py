"""Dataflow of a tiled loop: which values its program reads, where they end, and which go to outputs directly.

:mod:`.program` writes the program by it.
"""

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.fusion.steps import FULL, OUTER, Apply, Fold, Load, Loop, Store, Take, needed
from gpuarray.ops import elementwise
from gpuarray.ops.columns import Kind, Quirk
from gpuarray.providers.inprocess import reductions
from gpuarray.providers.inprocess.broadcast import repeats
from gpuarray.providers.inprocess.tiles import Tiling

#: Dtypes whose deviations from the mean are folded faster from elements that were not shifted.
_SHIFTED: Final = (dtypes.float32, dtypes.float64)


class Dataflow:
    """Facts about the values of a loop that are known before its program is written.

    Attributes
    ----------
    loop : Loop
        The loop, whose deviations from the mean are folded without a shift before.
    shifts : dict of int
        The shifts of these folds, by the number of the fold.
    uses : Counter of int
        How often each value is read.
    repeats : Repeats
        What broadcasting repeats.
    products : dict of (int, int)
        The two factors, by the number of the fold that adds up their products.
    written : list of int
        The instructions that have lines of their own, in order.
    last : dict of int
        The instruction that reads a value last; a number beyond all for values that are stored.
    is_whole : bool
        Whether a tile has whole rows.
    direct : dict of int
        The number of the store for each value that is computed directly into an output.
    """

    def __init__(self, loop: Loop, tiling: Tiling) -> None:
        self.loop, self.shifts = _shifts(loop)
        self._space = loop.outer + loop.inner
        self.is_whole = tiling.parts <= 1
        loop = self.loop
        used = sorted(needed(loop.instructions, loop.wanted).union(self.shifts.values()))
        self.uses = Counter(o for n in used for o in loop.instructions[n].operands)
        self.uses.update(loop.wanted)
        self.repeats = repeats(loop, tiling, used)
        self.products = self._products(used)
        self.last = {o: n for n in used for o in self.read(n)}
        self.last.update(dict.fromkeys(loop.wanted, len(loop.instructions)))
        self.direct = self._direct_stores()
        within = {self._position_of(number) for number in self.repeats.lines}
        within.update(loop.instructions[number].operands[0] for number in self.products)
        self.written = [number for number in used if number not in within]

    def _products(self, used: list[int]) -> dict[int, tuple[int, int]]:
        """Return for each sum of products that nothing else reads the two factors."""
        products = {}
        for number in used:
            item = self.loop.instructions[number]
            product = self.loop.instructions[item.operand] if isinstance(item, Fold) else None
            if isinstance(item, Fold) and isinstance(product, Apply) and reductions.adds_products(item):
                factors = product.operands * (2 if product.op is elementwise.square else 1)
                is_product = product.op in (elementwise.multiply, elementwise.square)
                is_plain = {*product.sources} == {item.source} and self.uses[item.operand] == 1
                if is_product and is_plain and all(self._fills(factor) for factor in factors):
                    products[number] = factors[0], factors[1]
        return products

    def _fills(self, number: int) -> bool:
        """Whether a value differs between all elements of a tile."""
        return self.loop.instructions[number].level == FULL and number not in self.repeats.axes

    def read(self, number: int) -> tuple[int, ...]:
        """Return the values that the line of an instruction reads."""
        return self.products.get(number) or self.loop.instructions[number].operands

    def _position_of(self, number: int) -> int:
        item = self.loop.instructions[number]
        assert isinstance(item, Take)
        return item.position

    def _direct_stores(self) -> dict[int, int]:
        """Return the number of the store for each value that is computed directly into an output."""
        stores: dict[int, int] = {}
        for number, store in enumerate(self.loop.stores):
            item = self.loop.instructions[store.value]
            is_full = item.level == FULL and store.layout.shape == self._space
            is_row = item.level == OUTER and store.layout.shape == self.loop.outer and self.is_whole
            is_computed = isinstance(item, Apply | Take) or (isinstance(item, Fold) and self.is_whole)
            once = self.uses[store.value] == 1 or store.layout.is_contiguous
            is_placed = store.position is not None
            if any(store.slot == written for _, written in self.loop.updates):
                is_computed = isinstance(item, Apply) and self._may_update(item, store)
            if isinstance(item, Apply) and Quirk.WRONG_WITH_GAPS in item.op.quirks and not store.layout.is_contiguous:
                is_computed = False
            if store.value in self.repeats.axes:
                is_computed = False
            if (is_full or is_row) and is_computed and once and not is_placed and item.dtype == store.dtype:
                stores.setdefault(store.value, number)
        return stores

    def _may_update(self, item: Apply, store: Store) -> bool:
        """Whether an operation may write to its operands: ufuncs may, and selections that replace one value."""
        if isinstance(item.op.numpy, np.ufunc):
            return True
        is_replaced = [self.is_updated(operand, store) for operand in item.operands]
        return item.op.kind is Kind.SELECTION and not is_replaced[0] and sum(is_replaced) < 2

    def is_updated(self, operand: int, store: Store) -> bool:
        """Whether an operand is loaded from the buffer that a store updates."""
        item = self.loop.instructions[operand]
        return isinstance(item, Load) and (item.slot, store.slot) in self.loop.updates


def _shifts(loop: Loop) -> tuple[Loop, dict[int, int]]:
    """Return ``loop`` with deviations from the mean folded without a shift before, and the shifts of these folds.

    Subtracting one value from all elements of a row changes no deviation. The fold itself finds out whether the mean is
    so much larger than the deviations that it needs the shift.
    """
    items, shifts = list(loop.instructions), {}
    for number, item in enumerate(loop.instructions):
        takes_shift = isinstance(item, Fold) and item.op.numpy is not None and item.op.numpy.takes_shift
        if isinstance(item, Fold) and takes_shift and item.source in _SHIFTED:
            operand = loop.instructions[item.operand]
            if (
                isinstance(operand, Apply)
                and operand.op is elementwise.subtract
                and operand.sources == (item.source,) * 2
            ):
                shifted, shift = operand.operands
                by_row = loop.instructions[shift]
                if loop.instructions[shifted].level == FULL and isinstance(by_row, Load) and by_row.level == OUTER:
                    items[number] = replace(item, operand=shifted)
                    shifts[number] = shift
    return replace(loop, instructions=tuple(items)) if shifts else loop, shifts
