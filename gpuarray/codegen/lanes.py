"""Lanes: the elements that one invocation computes of a loop without folds, and how they are read and written.

An invocation has one, four or eight elements, its *lanes*. Each has a flat index, and coordinates where a layout is
strided. Arrays whose elements lie side by side are read and written four at a time; all others element by element.
Used by every kernel of loops without folds, and by loops inside other kernels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.fast_paths import emit_block, value_name
from gpuarray.codegen.loops import LoopKernel, coordinates, emit_vectors, expression, makes_vec4, makes_vec8
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.underflow import Block, arranged
from gpuarray.codegen.wgsl import Kernel, declare, window
from gpuarray.fusion.steps import FULL, Apply, Index, Load, Loop, Store, Take, stride_class
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import is_multiple


def wide_slots(loop: Loop) -> Callable[[str, int], bool]:
    """Return which arrays of a loop without folds can be read or written four elements at a time."""
    narrow: set[tuple[str, int]] = set()
    origins = {
        key: window(key[0], key[1], low, high, loop.dtype_of(key), writable=False)[1]
        for key, (low, high) in loop.spans.items()
    }
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Take) or (isinstance(item, Store) and item.position is not None):
            narrow.add(item.key)
        elif isinstance(item, Load | Store):
            aligned = is_multiple(item.layout.offset - origins[item.key], LANES)
            together = is_vec4_rows(item.layout) or (stride_class(item.layout) == "c" and not _cuts_neighbours(item))
            if item.level != FULL or not aligned or not together:
                narrow.add(item.key)
    for read, written in loop.updates:  # one binding for both
        if ("input", read) in narrow or ("output", written) in narrow:
            narrow |= {("input", read), ("output", written)}
    return lambda kind, slot: (kind, slot) not in narrow


def is_vec4_rows(layout: Layout) -> bool:
    """Whether a layout consists of aligned vectors of four contiguous elements, its offset aside."""
    if not layout.shape or layout.strides[-1] != 1 or layout.shape[-1] % LANES:
        return False
    return all(stride % LANES == 0 for stride in layout.strides[:-1])


def has_vec4_rows(loop: Loop) -> bool:
    """Whether the last axis of a loop without folds is a multiple of four."""
    return bool(loop.inner) and loop.inner[-1] % LANES == 0


def _cuts_neighbours(item: Load | Store) -> bool:
    """Whether storing four elements at a time would write past the end of a region of a larger array."""
    if not isinstance(item, Store):
        return False
    size = item.layout.size
    return size % LANES != 0 and (item.layout.moves or item.layout.offset + size < item.extent)


@dataclass
class Lane:
    """The names of a lane's flat index, of its coordinates, and of the values that it has loaded by wide loads."""

    index: str
    coordinates: list[str]
    loaded: dict[int, str]


def flat_loads(work: LoopKernel, lane_count: int, whole: bool, step: int, count: str) -> list[Lane]:
    """Emit indices, coordinates where something is strided, and the wide loads."""
    kernel, loop = work.kernel, work.loop
    strided = any(stride_class(x.layout).startswith("s") for x in loop.laid_out_at(FULL))
    lanes: list[Lane] = []
    extents = [kernel.parameter(n) for n in loop.inner[1:]] if strided else []
    for lane in range(lane_count):
        if strided or not whole:
            raw = f"first + {lane * step}u"
            kernel.line(f"let i{lane} = {f'min({raw}, {count} - 1u)' if lane else 'first'};")
        if strided and lane and work.together:
            *outer, last = lanes[0].coordinates
            names = [*outer, f"({last} + {lane}u)"]
        else:
            names = coordinates(kernel, f"i{lane}", extents, f"c{lane}_") if strided else []
        lanes.append(Lane(f"i{lane}", names, {}))
    wide_loads(work, lanes)
    return lanes


def wide_loads(work: LoopKernel, lanes: list[Lane]) -> None:
    """Emit the loads that take four elements at a time, from the flat index ``first`` on."""
    kernel = work.kernel
    for number, item in enumerate(work.loop.instructions):
        if not isinstance(item, Load) or item.level != FULL or number in lanes[0].loaded:
            continue
        access = work.accesses.get(("input", item.slot))  # what a kernel computes itself has none
        if access is not None and access.wide:
            offset = work.offset("input", item.slot, item.layout)
            for first in range(0, len(lanes), LANES):
                index, name = wide_index(kernel, item.layout, offset, lanes, first), f"w{number}"
                lines, values = access.load_wide(index, f"{name}_{first}" if first else name)
                kernel.line(*lines)
                for lane, value in zip(lanes[first:], values, strict=False):
                    lane.loaded[number] = value


def wide_index(kernel: Kernel, layout: Layout, offset: int, lanes: Sequence[Lane], first: int) -> str:
    """Return the index of the vector of four elements from lane ``first`` on."""
    if stride_class(layout) != "c":
        return f"({flat_addresses(kernel, layout, offset)(lanes[first])}) / 4u"
    index = "first / 4u" if offset == 0 else f"({kernel.parameter(offset)} + first) / 4u"
    return f"{index} + {first // LANES}u" if first else index


def flat_addresses(kernel: Kernel, layout: Layout, offset: int) -> Callable[[Lane], str]:
    """Return a function from a lane to the position of its element in a layout; parameters are added once."""
    if stride_class(layout) == "c":
        base = "" if offset == 0 else f" + {kernel.parameter(offset)}"
        return lambda lane: f"{lane.index}{base}"
    base = kernel.parameter(offset)
    if stride_class(layout) == "b":
        return lambda lane: base
    strides = [kernel.parameter(s) if s else "" for s in layout.strides]
    return lambda lane: " + ".join([base, *(f"{c} * {s}" for c, s in zip(lane.coordinates, strides, strict=True) if s)])


def flat_values(work: LoopKernel, lanes: list[Lane], *, quads: bool = False) -> list[Block]:
    """Emit the values of all lanes, and return the blocks of instructions with a guard each.

    ``quads`` says that the lanes are aligned neighbours in vectors of four.
    """
    kernel, loop = work.kernel, work.loop
    addresses: dict[int, Callable[[Lane], str]] = {}
    for number, item in enumerate(loop.instructions):
        if isinstance(item, Load) and item.level == FULL and number not in lanes[0].loaded:
            addresses[number] = flat_addresses(kernel, item.layout, work.offset("input", item.slot, item.layout))
        elif isinstance(item, Index) and item.level == FULL:
            addresses[number] = flat_addresses(kernel, item.layout, item.layout.offset)
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    units = arranged(loop, numbers, alone=len(lanes) == 1)
    for unit in units:
        if isinstance(unit, Block):
            emit_block(kernel, loop.instructions, unit, len(lanes), deferred=work.deferred)
            continue
        number, item = unit, loop.instructions[unit]
        if quads and isinstance(item, Index) and makes_vec4(loop, item):
            count = 2 * LANES if len(lanes) > LANES and makes_vec8(loop, item) else LANES
            for first in range(0, len(lanes), count):
                emit_vectors(work, number, item, addresses[number](lanes[first]), count, first)
            continue
        for lane, names in enumerate(lanes):
            if isinstance(item, Load) and lane and work.together and item.layout.strides[-1] == 0:
                value = f"v{number}_0"
            elif isinstance(item, Load):
                value = names.loaded.get(number) or work.access(item).load(addresses[number](names))
            else:
                assert isinstance(item, Apply | Take | Index)
                position = addresses[number](names) if number in addresses else ""
                value = expression(work, item, lane, position)
            kernel.line(declare(f"v{number}_{lane}", item.dtype, value))
    return [unit for unit in units if isinstance(unit, Block)]


def _placed_store(work: LoopKernel, store: Store, lane: int, extent: str) -> str:
    """Return the statement that stores a lane's element at its computed position, if that is below ``extent``."""
    instructions = work.loop.instructions
    value, current = (value_name(n, instructions[n].level, lane) for n in store.operands)
    position = position_expression(current, instructions[store.operands[1]].dtype)
    return f"if ({position} < {extent}) {{ {work.access(store).store(position, value)} }}"


def flat_stores(work: LoopKernel, lanes: Sequence[Lane], step: int, count: str) -> None:
    """Emit the stores of lanes that are ``step`` apart from the flat index ``first`` on, as far as ``count``."""
    kernel, loop = work.kernel, work.loop
    for store in loop.stores:
        access = work.access(store)
        if store.position is not None:
            extent = kernel.parameter(store.extent)
            for lane in range(len(lanes)):
                statement = _placed_store(work, store, lane, extent)
                kernel.line(f"if (first + {lane * step}u < {count}) {{ {statement} }}" if lane else statement)
            continue
        offset = work.offset("output", store.slot, store.layout)
        level = loop.instructions[store.value].level
        values = [value_name(store.value, level, lane) for lane in range(len(lanes))]
        if access.wide:
            for first in range(0, len(lanes), LANES):
                index = wide_index(kernel, store.layout, offset, lanes, first)
                kernel.line(*access.store_wide(index, values[first : first + LANES]))
            continue
        address = flat_addresses(kernel, store.layout, offset)
        for lane, names in enumerate(lanes):
            statement = access.store(address(names), values[lane])
            kernel.line(f"if (first + {lane * step}u < {count}) {{ {statement} }}" if lane else statement)
