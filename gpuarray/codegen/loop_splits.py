"""Splits of loops whose arrays are larger than a storage binding can show.

A piece is a loop over a box of the index space, whose layouts begin where the box does. So pieces are ordinary loops,
and share the text of their kernel.
"""

from collections.abc import Collection
from dataclasses import replace

from gpuarray.codegen.wgsl import window_bytes
from gpuarray.device import Capabilities
from gpuarray.fusion.collapse import collapse_loop
from gpuarray.fusion.steps import FULL, Index, Load, Loop, Slot, Store, Take
from gpuarray.graph.layouts import Layout, slice_axis

ALIGNED = 1024
ELEMENT_LIMIT = 1 << 30


def widest(loop: Loop, beside: Collection[Slot] = ()) -> int:
    """Return the bytes of the widest window that a loop needs, without those of the slots ``beside``."""
    return max((_bytes(loop, key, span) for key, span in loop.spans.items() if key not in beside), default=0)


def windows_needed(loop: Loop, capabilities: Capabilities) -> dict[Slot, int]:
    """Return how many windows the slots need that are larger than one and are indexed by computed positions."""
    by_layout: set[Slot] = {item.key for item in loop.instructions if isinstance(item, Load)}
    by_layout |= {store.key for store in loop.stores if store.position is None}
    by_layout |= {key for read, written in loop.updates for key in (("input", read), ("output", written))}
    return {
        key: -(-_bytes(loop, key, span) // window_bytes(capabilities.binding_limit))
        for key, span in loop.spans.items()
        if key not in by_layout and _bytes(loop, key, span) > capabilities.binding_limit
    }


def separate_takes(loop: Loop, capabilities: Capabilities) -> tuple[Loop, dict[int, int]]:
    """Return a loop in which large inputs that are both loaded and taken from are two inputs each.

    Loads can be split, but takes need all windows at once. With the loop come the added inputs, each with the number of
    the input that it stands for.
    """
    loaded = {item.slot for item in loop.instructions if isinstance(item, Load)}
    takes = {
        item.slot
        for item in loop.instructions
        if isinstance(item, Take)
        and item.slot in loaded
        and item.extent * loop.input_dtypes[item.slot].itemsize + 512 > capabilities.binding_limit
    }
    if not takes:
        return loop, {}
    numbers = {slot: len(loop.input_dtypes) + number for number, slot in enumerate(sorted(takes))}
    instructions = tuple(
        replace(item, slot=numbers.get(item.slot, item.slot)) if isinstance(item, Take) else item
        for item in loop.instructions
    )
    dtypes = (*loop.input_dtypes, *(loop.input_dtypes[slot] for slot in numbers))
    return replace(loop, instructions=instructions, input_dtypes=dtypes), {n: slot for slot, n in numbers.items()}


def _bytes(loop: Loop, key: Slot, span: tuple[int, int]) -> int:
    return (span[1] - span[0] + 1) * loop.dtype_of(key).itemsize + 512


def split_loop(loop: Loop, capabilities: Capabilities) -> list[Loop] | None:
    """Return loops that together do what ``loop`` does, each within the limits; None if there are none.

    Axes that are folded are not split.
    """
    axis: int | None
    beside = windows_needed(loop, capabilities)
    if widest(loop, beside) > capabilities.binding_limit:
        axis = _longest_reach(loop, beside)
    elif loop.rows * loop.columns > ELEMENT_LIMIT:
        free = _free_axes(loop)
        axis = max(free, key=(loop.outer + loop.inner).__getitem__) if free else None
    else:
        return [loop]
    if axis is None:
        return None
    result: list[Loop] = []
    for start, count in _halves((loop.outer + loop.inner)[axis]):
        parts = split_loop(sliced(loop, axis, start, count), capabilities)
        if parts is None:
            return None
        result += parts
    return result


def _halves(extent: int) -> list[tuple[int, int]]:
    """Return the first position and the number of positions of both halves of an axis."""
    half = extent // 2
    if half > ALIGNED:
        half -= half % ALIGNED
    return [(0, half), (half, extent - half)]


def _free_axes(loop: Loop) -> list[int]:
    space = loop.outer + loop.inner
    return [a for a in range(len(loop.outer) if loop.folds else len(space)) if space[a] > 1]


def _longest_reach(loop: Loop, beside: Collection[Slot]) -> int | None:
    """Return the axis along which the widest window reaches farthest; None if no split makes it narrower."""
    spans = {key: span for key, span in loop.spans.items() if key not in beside}
    worst = max(spans, key=lambda key: _bytes(loop, key, spans[key]))
    layouts = [item.layout for item in loop.laid_out if not isinstance(item, Index) and item.key == worst]
    space = loop.outer + loop.inner

    def reach(axis: int) -> int:
        return max((abs(x.strides[axis]) * (space[axis] - 1) for x in layouts if axis < len(x.strides)), default=0)

    free = _free_axes(loop)
    best = max(free, key=reach, default=None)
    taken = any(isinstance(x, Take) and worst == x.key for x in loop.instructions)
    taken |= any(x.position is not None and worst == x.key for x in loop.stores)
    return None if best is None or taken or reach(best) == 0 else best


def sliced(loop: Loop, axis: int, start: int, count: int) -> Loop:
    """Return the loop over ``count`` positions of ``axis`` from ``start``."""
    rank = len(loop.outer)

    def cut(item: Load | Index | Store) -> Layout:
        if axis >= rank and item.level != FULL:
            return item.layout
        return slice_axis(item.layout, axis, start, 1, count)

    space = list(loop.outer + loop.inner)
    space[axis] = count
    return collapse_loop(loop.over(tuple(space[:rank]), tuple(space[rank:]), cut))


def split_columns(loop: Loop, capabilities: Capabilities, column: int = 0) -> list[tuple[Loop, int]] | None:
    """Return loops over some columns each, within the limits, with each one's first column; None if there are none.

    Only for loops whose rows may be folded in parts. The first inner axis is split, so that columns stay in order.
    """
    if (
        widest(loop, windows_needed(loop, capabilities)) <= capabilities.binding_limit
        and loop.rows * loop.columns <= ELEMENT_LIMIT
    ):
        return [(loop, column)]
    if not loop.inner or loop.inner[0] < 2:
        return None
    result: list[tuple[Loop, int]] = []
    for start, count in _halves(loop.inner[0]):
        begin = column + start * (loop.columns // loop.inner[0])
        parts = split_columns(sliced(loop, len(loop.outer), start, count), capabilities, begin)
        if parts is None:
            return None
        result += parts
    return result
