"""Tilings: the index space of a loop cut into blocks whose working set stays in a core's second-level cache.

A :class:`Tiling` puts the axes in *memory order* (largest strides first, so that the last axis is the one that most
operands step through contiguously) and cuts each into equal blocks. Invariant: a tiling depends on the loop alone and
never on the number of threads, so that sums come out the same everywhere. The compiler of loops makes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final, NamedTuple

from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import FULL, OUTER, Apply, Fold, Index, Load, Loop, Take
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.providers.inprocess import chains

#: Bytes of one register of a tile where there are up to three. With half as many a handful fits a core's second-level
#: cache, which is faster on one thread; but then NumPy calls are so short that threads wait for the interpreter.
REGISTER_BYTES: Final = 1 << 19
TILE_LEAST: Final = 1 << 14
TILE_MOST: Final = 1 << 17

#: Elements of a tile that streams through memory without a register: the fewer calls the better.
STREAM_LEAST: Final = 1 << 18
STREAM_MOST: Final = 1 << 20

#: Elements of a tile that is only read, in blocks that are read twice.
TWICE: Final = 1 << 19

#: Blocks of loops whose operands step through memory along different axes, as in a transpose: this many elements along
#: the last axis, and along others that some operand steps through contiguously. Long and one cache line wide beats a
#: square, which for extents of powers of two falls into few sets of the cache.
_LINE: Final = 16
_RUN: Final = 1024

#: Rows of elements that a part of a reduction along the first axis has at least: parts are then few beside elements.
_COLUMN_PART: Final = 32

#: Operations of generators that call NumPy a hundred times: for small tiles the calls take as long as the arithmetic.
_LONG_GENERATOR: Final = 100
_GENERATED: Final = 1 << 16

#: Operations from which a loop of few tiles is cut finer, so that several threads can have some: 50 us of one thread.
_CUT_LEAST: Final = 300_000

#: Tiles of a tiling that are kept for further runs.
_KNOWN_MOST: Final = 256

#: Longest row that a tile holds whole when rows lie side by side in memory (a reduction along the first axis).
_COLUMN_WHOLE: Final = 512

#: The longest row that is computed column by column: loops over a few elements take longer to begin than to run.
SHORT: Final = 7


class Tile(NamedTuple):
    """One block: its index into arrays of the whole index space, into arrays of one value a row, and its shape."""

    full: tuple[slice, ...]
    rows: tuple[slice, ...]
    shape: Shape
    start: Shape
    part: int


@dataclass(frozen=True)
class Tiling:
    """Blocks of an index space.

    Attributes
    ----------
    order : tuple of int
        The logical axis of each axis in memory order.
    extents, block : tuple of int
        Extents of the index space and of a block, in memory order.
    inner : tuple of bool
        For each axis in memory order whether it is one that folds run along.
    """

    order: Shape
    extents: Shape
    inner: tuple[bool, ...]
    block: Shape

    @cached_property
    def counts(self) -> Shape:
        """Number of blocks along each axis; an empty inner axis has one empty block, an empty outer axis none."""
        return tuple(
            1 if is_inner and not extent else -(-extent // block)
            for extent, block, is_inner in zip(self.extents, self.block, self.inner, strict=True)
        )

    @cached_property
    def tiles(self) -> int:
        """Number of tiles."""
        return prod(self.counts)

    @cached_property
    def parts(self) -> int:
        """Number of tiles that a row is spread over."""
        return prod(count for count, is_inner in zip(self.counts, self.inner, strict=True) if is_inner)

    @cached_property
    def axes(self) -> Shape:
        """The inner axes, in memory order."""
        return tuple(axis for axis, is_inner in enumerate(self.inner) if is_inner)

    @cached_property
    def row_extents(self) -> Shape:
        """Shape of arrays with one value a row: the inner axes have extent 1."""
        return self.row_shape(self.extents)

    def row_shape(self, shape: Shape) -> Shape:
        """Return ``shape`` with extent 1 along the inner axes."""
        return tuple(1 if is_inner else extent for extent, is_inner in zip(shape, self.inner, strict=True))

    def tile(self, number: int) -> Tile:
        """Return the tile with the given number, in memory order."""
        known = self._known.get(number)
        if known is None:
            known = self._tile(number)
            if len(self._known) < _KNOWN_MOST:
                self._known[number] = known
        return known

    @cached_property
    def _known(self) -> dict[int, Tile]:
        return {}

    def _tile(self, number: int) -> Tile:
        full: list[slice] = []
        rows: list[slice] = []
        part, scale = 0, 1
        for axis in range(len(self.extents) - 1, -1, -1):
            number, position = divmod(number, self.counts[axis])
            begin = position * self.block[axis]
            full.append(slice(begin, min(begin + self.block[axis], self.extents[axis])))
            rows.append(_ROW if self.inner[axis] else full[-1])
            if self.inner[axis]:
                part += position * scale
                scale *= self.counts[axis]
        full.reverse()
        rows.reverse()
        shape = tuple(piece.stop - piece.start for piece in full)
        return Tile(tuple(full), tuple(rows), shape, tuple(piece.start for piece in full), part)

    def place(self, layout: Layout, outer: int) -> tuple[Shape, Shape, int]:
        """Return shape, strides and offset of a layout in memory order, be it of the whole index space or of rows."""
        present = len(layout.shape) if len(layout.shape) == len(self.order) else outer
        shape = tuple(layout.shape[a] if a < present else 1 for a in self.order)
        return shape, tuple(layout.strides[a] if a < present else 0 for a in self.order), layout.offset


_ROW: Final = slice(0, 1)


def _layouts(loop: Loop) -> list[Layout]:
    """Return the layouts through which memory is touched for every element."""
    space = loop.outer + loop.inner
    loads = [i.layout for i in loop.instructions if isinstance(i, Load) and i.level == FULL]
    return loads + [s.layout for s in loop.stores if s.layout.shape == space]


def _memory_order(layouts: Sequence[Layout], rank: int) -> Shape:
    weight = [sum(abs(layout.strides[axis]) for layout in layouts) for axis in range(rank)]
    return tuple(sorted(range(rank), key=lambda axis: -weight[axis]))


def elements(loop: Loop) -> int:
    """Return how many elements a tile of ``loop`` should have."""
    width = max([i.dtype.itemsize for i in loop.instructions if i.level == FULL], default=8)
    live = _most_live(loop)
    least, fit = STREAM_LEAST, STREAM_MOST
    if _only_spread(loop):
        least = fit = TWICE
    elif _is_chain(loop):
        least = fit = TILE_MOST
    elif live:
        least, fit = TILE_LEAST, min(TILE_MOST, REGISTER_BYTES // width * 4 // max(live + 1, 4))
        if any(isinstance(item, Index) and item.op.cost >= _LONG_GENERATOR for item in loop.instructions):
            least = _GENERATED
    # widths are left out: the tiles of a sum are the order of its additions, which is the same for all dtypes
    each = 1 + operations((i for i in loop.instructions if i.level == FULL), with_widths=False)
    size = loop.rows * loop.columns
    return max(least, min(fit, size // 8 if size * each >= _CUT_LEAST else fit))


def _is_chain(loop: Loop) -> bool:
    """Whether chains compute all elements, so that there are no registers."""
    computed = [i for i in loop.instructions if i.level == FULL and not isinstance(i, Load)]
    return len(computed) > 1 and all(isinstance(i, Apply) and chains.covers(i.op, i.sources, i.dtype) for i in computed)


def _most_live(loop: Loop) -> int:
    """Return about how many registers with a value for each element ``loop`` needs at once."""
    stored = {s.value for s in loop.stores if s.position is None}
    last = {operand: n for n, item in enumerate(loop.instructions) for operand in item.operands}
    live = most = 0
    for number, item in enumerate(loop.instructions):
        is_kept = isinstance(item, Apply | Take) and number not in stored
        if item.level == FULL and (is_kept or isinstance(item, Index)):
            live += 1
        elif isinstance(item, Fold) and _is_copied(item):
            most = max(most, live + 1)
        most = max(most, live)
        for operand in set(item.operands):
            value = loop.instructions[operand]
            if last[operand] == number and operand not in stored and isinstance(value, Apply | Take | Index):
                live -= value.level == FULL
    return most


def _only_spread(loop: Loop) -> bool:
    """Whether all that is computed of elements are values of folds that take a spare register, which is shared."""
    spread = {item.operand for item in loop.instructions if isinstance(item, Fold) and _takes_spare(item)}
    computed = {
        n for n, item in enumerate(loop.instructions) if item.level == FULL and not isinstance(item, Load | Fold)
    }
    return bool(spread) and computed <= spread


def _is_copied(fold: Fold) -> bool:
    """Whether a fold needs a register beside its operand."""
    return _takes_spare(fold) or fold.source != fold.op.accumulate(fold.source)


def _takes_spare(fold: Fold) -> bool:
    return fold.op.numpy is not None and fold.op.numpy.takes_spare


def tile_rows(loop: Loop, row_limit: int) -> Tiling | None:
    """Return a tiling into blocks of whole rows, or None if a row is too long for that.

    Rows of at most ``row_limit`` elements count as short where a loop walks them several times.
    """
    layouts = _layouts(loop)
    order = _memory_order(layouts, len(loop.outer) + len(loop.inner))
    outer = len(loop.outer)
    if 1 < loop.columns <= SHORT < loop.rows and _repeats_rows(loop):
        order = tuple(sorted(order, key=lambda axis: axis < outer))  # columns first
    is_side_by_side = bool(order) and order[-1] < outer and loop.rows > 1
    size = elements(loop)
    limit = min(_COLUMN_WHOLE, size) if is_side_by_side else size
    if loop.columns > max(limit, row_limit):
        return None
    space = loop.outer + loop.inner
    extents = tuple(space[a] for a in order)
    inner = tuple(a >= outer for a in order)
    block = [max(extent, 1) if is_inner else 1 for extent, is_inner in zip(extents, inner, strict=True)]
    least = 16 if is_side_by_side else 1
    _grow(block, extents, max(size, least * prod(block)))
    return Tiling(order, extents, inner, tuple(block))


def _repeats_rows(loop: Loop) -> bool:
    """Whether something is computed of elements and of a value that is the same for a row or for a column."""

    def is_repeated(number: int) -> bool:
        item = loop.instructions[number]
        is_row = isinstance(item, Load) and item.level == FULL and not any(item.layout.strides[: len(loop.outer)])
        return is_row or item.level == OUTER

    computed = (item for item in loop.instructions if isinstance(item, Apply) and item.level == FULL)
    return any(is_repeated(number) for item in computed for number in item.operands)


def tile_elements(loop: Loop) -> Tiling:
    """Return a tiling into blocks of about the tile size, wherever rows end."""
    layouts = _layouts(loop)
    space = loop.outer + loop.inner
    order = _memory_order(layouts, len(space))
    outer = len(loop.outer)
    extents = tuple(space[a] for a in order)
    inner = tuple(a >= outer for a in order)
    block = [1] * len(space)
    least = 1
    size = elements(loop)
    runs = {_fastest(layout, order) for layout in layouts} - {-1}
    if loop.folds and any(inner):
        runs.add(max(axis for axis, is_inner in enumerate(inner) if is_inner))
        least = max(_COLUMN_PART, size >> 12)
    elif len(runs) > 1:
        block[max(runs)] = min(extents[max(runs)], _LINE)
        least, size = _RUN, TILE_LEAST
    if len(runs) > 1:
        for axis in runs - {max(runs)}:
            block[axis] = max(min(extents[axis], least), 1)
    _grow(block, extents, size)
    return Tiling(order, extents, inner, tuple(block))


def _fastest(layout: Layout, order: Shape) -> int:
    """Return the axis, in memory order, along which ``layout`` steps least; -1 if it never steps.

    So it counts, too, if neighbours have one element of it: so few are read that it does not matter where they lie.
    """
    if not layout.strides or (not layout.strides[order[-1]] and layout.shape[order[-1]] >= _LINE):
        return -1
    steps = [(abs(layout.strides[a]), -k) for k, a in enumerate(order) if layout.strides[a] and layout.shape[a] > 1]
    return -min(steps)[1] if steps else -1


def _grow(block: list[int], extents: Shape, size: int) -> None:
    """Enlarge ``block`` from the last axis on until it has about ``size`` elements, all blocks nearly equal."""
    for axis in range(len(block) - 1, -1, -1):
        room = max(size // max(prod(block) // block[axis], 1), block[axis])
        count = max(-(-extents[axis] // room), 1)
        block[axis] = max(-(-extents[axis] // count), 1)
        if count > 1:
            return
