"""Transposes: loops without folds whose inputs and outputs are contiguous along different axes.

Neighbouring invocations should read, and write, neighbours in memory. So a workgroup takes a tile over both axes: it
copies the tile of a transposed input into workgroup memory, reading along the input's contiguous axis, and computes
and writes along the output's. Other inputs are read as in a flat kernel.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.lanes import Lane, flat_stores, flat_values, wide_loads, wide_slots
from gpuarray.codegen.loops import LoopKernel, emit_single, is_heavy, needs_vec4, open_kernel
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.storage import LANES, is_packed, register_type, word_dtype
from gpuarray.codegen.wgsl import WORKGROUP, window
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, Load, Loop, Take
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import is_multiple

#: Elements of a tile, and its longest side, for elements of up to four bytes; larger elements make smaller tiles.
_AREA: Final = 1024
_SIDE: Final = 32
#: Loops with shorter axes are flat kernels.
_SHORTEST: Final = 8


@dataclass(frozen=True, slots=True)
class Tile:
    """The tiles of a loop: the contiguous axis of the outputs, that of the transposed inputs, and a tile's sides."""

    fast: int
    other: int
    columns: int
    rows: int
    transposed: tuple[int, ...]
    """The numbers of the loads that are contiguous along the other axis."""


def tile_of(loop: Loop, capabilities: Capabilities) -> Tile | None:
    """Return the tiles of a loop without folds; None if a flat kernel is as good."""
    shape = loop.inner
    if len(shape) < 2 or is_heavy(loop, capabilities) or loop.updates or needs_vec4(loop):
        return None
    if any(store.level != FULL or store.position is not None for store in loop.stores):
        return None
    fast = {_nearest(store.layout) for store in loop.stores}
    if len(fast) != 1:
        return None
    (column,) = fast
    if column is None or shape[column] < _SHORTEST:
        return None
    loads: dict[int, list[int]] = {}
    for number, item in enumerate(loop.instructions):
        if isinstance(item, Load) and item.level == FULL:
            near = _nearest(item.layout)
            if near not in (None, column) and item.layout.strides[column] and shape[near] >= _SHORTEST:
                loads.setdefault(near, []).append(number)
    if not loads:
        return None
    slow = max(loads, key=lambda axis: len(loads[axis]))
    transposed = tuple(loads[slow])
    sizes = _sides(shape[column], shape[slow], loop, transposed, capabilities)
    if sizes is None:
        return None
    tile = Tile(column, slow, *sizes, transposed)
    wide = _wide_slots(loop, tile)
    # single elements of packed outputs need atomic operations, which a flat kernel does without
    if any(is_packed(store.dtype) and not wide[store.key] for store in loop.stores):
        return None
    return tile


def _nearest(layout: Layout) -> int | None:
    """Return the axis with the shortest stride; None if there is only one element."""
    steps = {axis: abs(s) for axis, s in enumerate(layout.strides) if s and layout.shape[axis] > 1}
    # of equal strides the last: so do loops walk a layout that overlaps itself
    return min(reversed(steps), key=steps.__getitem__, default=None)


def _sides(
    columns: int, rows: int, loop: Loop, transposed: tuple[int, ...], capabilities: Capabilities
) -> tuple[int, int] | None:
    """Return the columns and rows of a tile whose copies fit workgroup memory; None if none does."""
    nbytes = sum(word_dtype(loop.instructions[n].dtype).itemsize for n in transposed)
    area = _AREA // max(1, nbytes // 4)
    while area >= WORKGROUP * LANES // 4:
        side = min(_SIDE, 1 << (area.bit_length() - 1) // 2)
        across, down = min(side, _power(columns)), min(side, _power(rows))
        if across < side:
            down = min(_power(rows), area // across)
        elif down < side:
            across = min(_power(columns), area // down)
        if (across + 1) * down * nbytes <= capabilities.workgroup_memory and across * down >= WORKGROUP:
            return across, down
        area //= 4
    return None


def _power(extent: int) -> int:
    return 1 << (extent - 1).bit_length()


def _wide_slots(loop: Loop, tile: Tile) -> dict[tuple[str, int], bool]:
    """Return which arrays are read or written four elements at a time."""
    straight = wide_slots(loop)
    follows = tile.fast == len(loop.inner) - 1 and loop.inner[tile.fast] % LANES == 0
    is_wide: dict[tuple[str, int], bool] = {}
    for key, (low, high) in loop.spans.items():
        origin = window(key[0], key[1], low, high, loop.dtype_of(key), writable=False)[1]
        transposed = [loop.instructions[n] for n in tile.transposed]
        across = [x for x in transposed if isinstance(x, Load) and key == x.key]
        along = [
            x
            for n, x in enumerate(loop.instructions)
            if isinstance(x, Load | Take) and key == x.key and n not in tile.transposed
        ]
        aligned = all(_is_aligned(x.layout, tile.other, origin) for x in across)
        if across and along:
            is_wide[key] = False
        else:
            is_wide[key] = aligned if across else follows and straight(*key)
    return is_wide


def _is_aligned(layout: Layout, axis: int, origin: int) -> bool:
    """Whether ``axis`` consists of aligned vectors of four contiguous elements."""
    others = [s for a, s in enumerate(layout.strides) if a != axis and layout.shape[a] > 1]
    return (
        layout.strides[axis] == 1
        and layout.shape[axis] % LANES == 0
        and is_multiple(layout.offset - origin, LANES)
        and all(s % LANES == 0 for s in others)
    )


def transposing_launch(loop: Loop, tile: Tile, label: str, capabilities: Capabilities) -> Launch:
    """Return the launch of a transpose."""
    wide = _wide_slots(loop, tile)
    work = open_kernel(loop, f"{label} transposed", lambda kind, slot: wide[kind, slot])
    kernel, shape = work.kernel, loop.inner
    fast, slow = tile.fast, tile.other
    across, down = -(-shape[fast] // tile.columns), -(-shape[slow] // tile.rows)
    batch = [axis for axis in range(len(shape)) if axis not in (fast, slow)]
    groups = across * down
    for axis in batch:
        groups *= shape[axis]
    extents = {axis: kernel.parameter(extent) for axis, extent in enumerate(shape)}
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"if (block >= {kernel.parameter(groups)}) {{ return; }}",
        f"var rest = block / {kernel.parameter(across)};",
        f"let left = (block - rest * {kernel.parameter(across)}) * {tile.columns}u;",
        f"let top = (rest % {kernel.parameter(down)}) * {tile.rows}u;",
    )
    names = [""] * len(shape)
    if batch:
        kernel.line(f"rest /= {kernel.parameter(down)};")
    for axis in reversed(batch):
        names[axis] = f"p{axis}"
        kernel.line(f"let p{axis} = rest % {extents[axis]}; rest /= {extents[axis]};")
    emit_single(work)
    for number in tile.transposed:
        _fill(work, number, tile, names, extents)
    kernel.line("workgroupBarrier();")
    _compute(work, tile, names, extents)
    return kernel.launch(groups, capabilities.workgroup_limit)


def _position(work: LoopKernel, layout: Layout, offset: int, names: list[str]) -> str:
    """Return the position in a layout of the element with the coordinates ``names``; empty names count as 0."""
    kernel = work.kernel
    terms = [f"{n} * {kernel.parameter(s)}" for n, s in zip(names, layout.strides, strict=True) if s and n]
    return " + ".join([kernel.parameter(offset), *terms])


def _fill(work: LoopKernel, number: int, tile: Tile, names: list[str], extents: dict[int, str]) -> None:
    """Emit the copy of an input's tile into workgroup memory, read along its contiguous axis."""
    kernel, item = work.kernel, work.loop.instructions[number]
    assert isinstance(item, Load)
    access = work.access(item)
    kind = register_type(item.dtype) if item.dtype.kind != "b" else "u32"
    pitch = tile.columns + 1
    kernel.module.append(f"var<workgroup> tile{number}: array<{kind}, {pitch * tile.rows}>;")
    unit = LANES if access.wide else 1
    units = tile.rows // unit
    rounds = tile.columns * units // WORKGROUP
    base = f"base{number}"
    kernel.line(f"let {base} = {_position(work, item.layout, work.offset('input', item.slot, item.layout), names)};")
    steps = {axis: kernel.parameter(item.layout.strides[axis]) for axis in (tile.fast, tile.other)}
    for s in range(max(rounds, 1)):
        kernel.line("{", f"let n = local + {s * WORKGROUP}u;")
        kernel.line(f"let row = n % {units}u * {unit}u; let column = n / {units}u;")
        inside = [f"top + row < {extents[tile.other]}", f"left + column < {extents[tile.fast]}"]
        if rounds == 0:
            inside.append(f"column < {tile.columns}u")
        kernel.line(f"if ({' && '.join(inside)}) {{")
        where = f"{base} + (left + column) * {steps[tile.fast]} + (top + row) * {steps[tile.other]}"
        if access.wide:
            lines, values = access.load_wide(f"({where}) / {LANES}u", "loaded")
            kernel.line(*lines)
        else:
            values = [access.load(where)]
        for lane, value in enumerate(values):
            word = f"select(0u, 1u, {value})" if item.dtype.kind == "b" else value
            kernel.line(f"tile{number}[(row + {lane}u) * {pitch}u + column] = {word};")
        kernel.line("} }")


def _compute(work: LoopKernel, tile: Tile, names: list[str], extents: dict[int, str]) -> None:
    """Emit the loop that computes and stores the elements of a tile, four an invocation at a time.

    They are neighbours along the contiguous axis where something is read or written four at a time. Otherwise they lie
    along the other axis, so that neighbouring invocations write neighbours.
    """
    kernel, loop = work.kernel, work.loop
    transposed = {item.key for n in tile.transposed if isinstance(item := loop.instructions[n], Load)}
    beside = any(access.wide for key, access in work.accesses.items() if key not in transposed)
    line, gap = (tile.fast, 1) if beside else (tile.other, tile.rows // LANES)
    units = tile.columns // LANES if beside else tile.columns
    kernel.line(
        f"for (var n = local; n < {tile.columns * tile.rows // LANES}u; n += {WORKGROUP}u) {{",
        f"let row = n / {units}u; let column = n % {units}u{f' * {LANES}u' if beside else ''};",
        "let along = left + column; let down = top + row;",
        f"if (along < {extents[tile.fast]} && down < {extents[tile.other]}) {{",
    )
    local_names = list(names)
    local_names[tile.fast], local_names[tile.other] = "along", "down"
    flat = local_names[0]
    for axis in range(1, len(local_names)):
        flat = f"({flat}) * {extents[axis]} + {local_names[axis]}"
    kernel.line(f"let first = {flat};", f"let end = first + {extents[line]} - {local_names[line]};")
    step = " * ".join(["", *(extents[axis] for axis in range(line + 1, len(local_names)))])
    lanes = []
    for lane in range(LANES):
        kernel.line(f"let more{lane} = min({lane * gap}u, {extents[line]} - 1u - {local_names[line]});")
        kernel.line(f"let i{lane} = first + more{lane}{step};")
        for axis, name in enumerate(local_names):
            kernel.line(f"let c{lane}_{axis} = {name}{f' + more{lane}' if axis == line else ''};")
        lanes.append(Lane(f"i{lane}", [f"c{lane}_{axis}" for axis in range(len(local_names))], {}))
    pitch = tile.columns + 1
    for number in tile.transposed:
        apart = 1 if beside else gap * pitch
        values = [f"tile{number}[row * {pitch}u + column + {lane * apart}u]" for lane in range(LANES)]
        if loop.instructions[number].dtype.kind == "b":
            values = [f"({value} != 0u)" for value in values]
        for names_of_lane, value in zip(lanes, values, strict=True):
            names_of_lane.loaded[number] = value
    wide_loads(work, lanes)
    flat_values(work, lanes)
    flat_stores(work, lanes, gap, "end")
    kernel.line("} }")
