"""Loops as kernels.

A loop without folds becomes a *flat* kernel: each invocation computes four elements, consecutive ones where something
can be read or written four at a time, else a workgroup apart. A loop with folds becomes a *row* kernel, see
:mod:`gpuarray.codegen.folds`. Both use the same instruction text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gpuarray.codegen import loop_splits
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.fast_paths import can_settle, emit_block, emit_settled, emit_slow_path, value_name
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.storage import LANES, Access, is_packed, register_type
from gpuarray.codegen.subgroup_stores import can_shuffle_stores, emit_shuffled_stores
from gpuarray.codegen.target import compute_type
from gpuarray.codegen.underflow import Block, arranged
from gpuarray.codegen.wgsl import (
    WINDOW_END,
    WORKGROUP,
    Kernel,
    apply_expression,
    declare,
    fast_path_function,
    generate_expression,
    parameter_dtypes,
    vec4_expression,
    vec8_expression,
    window,
)
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    ContractStep,
    Index,
    Load,
    Loop,
    Scalar,
    ScanStep,
    Store,
    Take,
    stride_class,
)
from gpuarray.graph.layouts import Layout, Shape, contiguous_strides


@dataclass
class LoopKernel:
    """A kernel under construction for one loop, and how it reaches its buffers."""

    kernel: Kernel
    loop: Loop
    origins: dict[tuple[str, int], int]
    accesses: dict[tuple[str, int], Access]
    together: bool = False
    """Whether the lanes of an invocation are always four neighbours along the last axis."""
    lasts: dict[int, str] = field(default_factory=dict)
    """The last position of what each slot's elements are taken from, as an expression."""
    noted: bool = False
    """Whether values are in their quick forms alone, and ``fine`` says whether these are right."""

    def offset(self, kind: str, slot: int, layout: Layout) -> int:
        """Return a layout's offset counted from where the slot's window begins."""
        return layout.offset - self.origins[kind, slot]

    def taken(self, item: Take, position: str) -> str:
        """Return the element at a position that a buffer holds; a position beyond the last element means that one."""
        last = self.lasts.get(item.slot)
        if last is None:
            last = self.lasts[item.slot] = self.kernel.parameter(max(item.extent, 1) - 1)
        return self.access(item).load(f"min({position}, {last})")

    def access(self, item: Load | Take | Store) -> Access:
        """Return the binding of an instruction's or a store's slot."""
        return self.accesses["output" if isinstance(item, Store) else "input", item.slot]


def open_kernel(loop: Loop, label: str, wide: Callable[[str, int], bool], outputs: bool = True) -> LoopKernel:
    """Return a kernel with the storage bindings of a loop; ``wide(kind, slot)`` says how each is gone through."""
    kernel = Kernel(label)
    origins: dict[tuple[str, int], int] = {}
    accesses: dict[tuple[str, int], Access] = {}
    updated = dict(loop.updates)
    for (kind, slot), (low, high) in sorted(loop_splits.spans(loop).items()):
        if (kind == "output" and not outputs) or (kind == "input" and slot in updated):
            continue
        dtype = (loop.input_dtypes if kind == "input" else loop.output_dtypes)[slot]
        binding, origins[kind, slot] = window(kind, slot, low, high, dtype, writable=kind == "output")
        access = Access(f"{kind}{slot}", dtype, wide(kind, slot), kind == "output")
        accesses[kind, slot] = kernel.show(access, binding)
    for read, written in loop.updates:
        origins["input", read], accesses["input", read] = origins["output", written], accesses["output", written]
    return LoopKernel(kernel, loop, origins, accesses)


def emit_uniform(work: LoopKernel) -> None:
    """Emit what is the same for the whole step."""
    for number, item in enumerate(work.loop.instructions):
        if item.level == UNIFORM:
            work.kernel.line(declare(f"one{number}", item.dtype, uniform_expression(work, item)))


def uniform_expression(work: LoopKernel, item: object) -> str:
    """Return the expression of an instruction at level UNIFORM."""
    if isinstance(item, Scalar):
        return work.kernel.scalar(item.slot, item.dtype)
    assert isinstance(item, Apply)
    return apply_expression(item.op, [f"one{o}" for o in item.operands], item.sources, item.dtype)


def expression(work: LoopKernel, item: Apply | Take | Index, lane: int, position: str) -> str:
    """Return the expression of an instruction that has no load of its own; ``position`` is an Index's flat position."""
    instructions = work.loop.instructions
    match item:
        case Apply():
            names = [value_name(o, instructions[o].level, lane) for o in item.operands]
            return apply_expression(item.op, names, item.sources, item.dtype)
        case Take():
            where = value_name(item.position, instructions[item.position].level, lane)
            return work.taken(item, position_expression(where, instructions[item.position].dtype))
        case Index():
            return generate_expression(item.op, position, _parameters(work, item), item.dtype)


def _parameters(work: LoopKernel, item: Index) -> list[str]:
    kinds = parameter_dtypes(item.op, item.dtype)
    return [work.kernel.scalar(s, kind) for s, kind in zip(item.parameters, kinds, strict=True)]


def makes_vec4(loop: Loop, item: object) -> bool:
    """Whether an instruction's elements along the inner axes are made four at a time, all in one."""
    if not (isinstance(item, Index) and item.level == FULL and compute_type(item.dtype) in item.op.vec4):
        return False
    rank, layout = len(loop.outer), item.layout
    starts = zip(layout.strides[:rank], layout.shape, strict=False)
    aligned = layout.offset % LANES == 0 and all(s % LANES == 0 for s, n in starts if n > 1)
    return aligned and layout.strides[rank:] == contiguous_strides(layout.shape[rank:])


#: A generator that costs more than this, such as random bits, costs much less for four neighbours together.
_COSTLY: Final = 100


def needs_vec4(loop: Loop) -> bool:
    """Whether a loop makes elements that cost much less four at a time."""
    return any(makes_vec4(loop, i) and isinstance(i, Index) and i.op.cost > _COSTLY for i in loop.instructions)


def emit_vec4(work: LoopKernel, number: int, item: Index, position: str, first: int = 0) -> None:
    """Emit an instruction's values in four lanes from ``first`` on, whose position is a multiple of four."""
    four = vec4_expression(item.op, position, _parameters(work, item), item.dtype)
    name = f"four{number}_{first}" if first else f"four{number}"
    work.kernel.line(f"let {name} = {four};")
    for lane, part in enumerate("xyzw", first):
        work.kernel.line(declare(value_name(number, FULL, lane), item.dtype, f"{name}.{part}"))


def makes_vec8(loop: Loop, item: object) -> bool:
    """Whether eight of an instruction's elements cost no more than four of them."""
    return makes_vec4(loop, item) and isinstance(item, Index) and compute_type(item.dtype) in item.op.vec8


def emit_vec8(work: LoopKernel, number: int, item: Index, position: str) -> None:
    """Emit an instruction's values in eight lanes, from a position that is a multiple of four on."""
    eight = vec8_expression(item.op, position, _parameters(work, item), item.dtype)
    work.kernel.line(f"let eight{number} = {eight};")
    for lane in range(2 * LANES):
        part = f"{'low' if lane < LANES else 'high'}.{'xyzw'[lane % LANES]}"
        work.kernel.line(declare(value_name(number, FULL, lane), item.dtype, f"eight{number}.{part}"))


def coordinates(kernel: Kernel, index: str, shape: Shape, prefix: str) -> list[str]:
    """Emit the coordinates in ``shape`` of a flat index; return their names, slowest axis first."""
    names = [f"{prefix}{axis}" for axis in range(len(shape))]
    rest = index
    for axis in reversed(range(len(shape))):
        if axis == 0:
            kernel.line(f"let {names[0]} = {rest};")
            break
        extent = kernel.parameter(shape[axis])
        kernel.line(f"let {prefix}q{axis} = {rest} / {extent};")
        kernel.line(f"let {names[axis]} = {rest} - {prefix}q{axis} * {extent};")
        rest = f"{prefix}q{axis}"
    return names


# -- flat kernels ------------------------------------------------------------------------------------------------------


def is_heavy(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether arithmetic, not memory, limits a loop's kernel, whose text is large then.

    An invocation computes one element of such a loop rather than four: the kernel compiles faster, at no cost. A
    function with a fast path counts a quarter.
    """
    quick = [i for i in loop.instructions if isinstance(i, Apply) and fast_path_function(i.op, i.sources)]
    return operations(loop.instructions) - operations(quick) * 3 // 4 > capabilities.profile.heavy_weight


def wide_slots(loop: Loop) -> Callable[[str, int], bool]:
    """Return which slots of a loop without folds can be gone through four elements at a time."""
    narrow: set[tuple[str, int]] = set()
    origins = {
        key: window(key[0], key[1], low, high, _dtype_of(loop, key), writable=False)[1]
        for key, (low, high) in loop_splits.spans(loop).items()
    }
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Take):
            narrow.add(("input", item.slot))
        elif isinstance(item, Store) and item.position is not None:
            narrow.add(("output", item.slot))
        elif isinstance(item, Load | Store):
            key = ("output" if isinstance(item, Store) else "input", item.slot)
            aligned = (item.layout.offset - origins[key]) % LANES == 0
            together = is_vec4_rows(item.layout) or (stride_class(item.layout) == "c" and not _cuts_neighbours(item))
            if item.level != FULL or not aligned or not together:
                narrow.add(key)
    for read, written in loop.updates:  # one binding for both
        if ("input", read) in narrow or ("output", written) in narrow:
            narrow |= {("input", read), ("output", written)}
    return lambda kind, slot: (kind, slot) not in narrow


def is_vec4_rows(layout: Layout) -> bool:
    """Whether a layout's elements are rows of whole fours, each four side by side and, but for the offset, aligned."""
    if not layout.shape or layout.strides[-1] != 1 or layout.shape[-1] % LANES:
        return False
    return all(stride % LANES == 0 for stride in layout.strides[:-1])


def _has_vec4_rows(loop: Loop) -> bool:
    """Whether the last axis of a loop without folds is a number of whole fours."""
    return bool(loop.inner) and loop.inner[-1] % LANES == 0


def _cuts_neighbours(item: Load | Store) -> bool:
    """Whether writing four elements at a time would write past the end of a region inside a larger array."""
    if not isinstance(item, Store):
        return False
    size = item.layout.size
    return size % LANES != 0 and item.layout.offset + size < item.extent


def _dtype_of(loop: Loop, key: tuple[str, int]) -> DType:
    return (loop.input_dtypes if key[0] == "input" else loop.output_dtypes)[key[1]]


def flat_launch(loop: Loop, label: str, capabilities: Capabilities) -> Launch:
    """Return the launch of a loop without folds."""
    fours = needs_vec4(loop)
    lanes = 1 if is_heavy(loop, capabilities) and not fours else 2 * LANES if _takes_vec8(loop) else LANES
    is_narrow = lanes == 1 or (not fours and _goes_apart(loop, capabilities))
    work = open_kernel(loop, label, (lambda _kind, _slot: False) if is_narrow else wide_slots(loop))
    kernel = work.kernel
    size = loop.columns
    consecutive = fours or any(access.wide for access in work.accesses.values())
    whole = all(access.wide for access in work.accesses.values()) and not any(
        isinstance(i, Index | Take) for i in loop.instructions
    )
    count = kernel.parameter(size)
    kernel.line("let block = group.x + group.y * groups.x;")
    kernel.line(f"let first = block * {lanes * WORKGROUP}u + local{f' * {lanes}u' if consecutive else ''};")
    in_pairs = lanes > LANES and can_shuffle_stores(loop, capabilities)
    begin = f"first - (local & 1u) * {lanes}u" if in_pairs else "first"
    kernel.line(f"if ({begin} >= {count}) {{ return; }}")
    emit_uniform(work)
    for number, item in enumerate(loop.instructions):
        if item.level == OUTER:
            kernel.line(declare(f"one{number}", item.dtype, single_value(work, item)))
    step = 1 if consecutive else WORKGROUP
    work.together = consecutive and lanes > 1 and _has_vec4_rows(loop)
    names = flat_loads(work, lanes, whole, step, count)
    work.noted = lanes == LANES and not fours and _can_begin_again(work)
    if work.noted:
        kernel.line("var fine = true;")
    flat_values(work, names, quads=consecutive and lanes > 1)
    if work.noted:
        _begin_again(work, lanes, step, count)
    if in_pairs:
        _exchanged_stores(work, names, f"{begin} + {lanes}u < {count}")
    else:
        flat_stores(work, names, step, count)
    return kernel.launch(-(-size // (lanes * WORKGROUP)), capabilities.workgroup_limit)


#: What costs no more than this may be computed twice: a root.
_SHORT: Final = 6


def _can_begin_again(work: LoopKernel) -> bool:
    """Whether a kernel asks whether quick forms were right, and can compute single elements from what they are made of.

    That takes no registers beside those of the quick forms: nothing is kept for it. What is long and has no quick form
    would be computed twice.
    """
    loop = work.loop
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    others = [loop.instructions[unit] for unit in arranged(loop, numbers) if isinstance(unit, int)]
    if any(isinstance(item, Apply) and item.op.cost > _SHORT for item in others):
        return False
    moved = [i for i in (*loop.instructions, *loop.stores) if isinstance(i, Load | Index | Store) and i.level == FULL]
    if any(stride_class(item.layout).startswith("s") for item in moved) or not _asks(loop):
        return False
    return all(access.is_plain for access in work.accesses.values())


def _begin_again(work: LoopKernel, lanes: int, step: int, count: str) -> None:
    """Emit what computes and stores the elements of an invocation one by one, in careful forms, unless all is fine."""
    kernel, loop = work.kernel, work.loop
    here = Lane("at", [], {})
    names, lines = (
        {},
        [
            f"for (var lane = 0u; lane < {lanes}u; lane++) {{",
            f"  let at = first + lane{f' * {step}u' if step > 1 else ''};",
            f"  if (at >= {count}) {{ break; }}",
        ],
    )
    for number, item in enumerate(loop.instructions):
        if item.level != FULL or isinstance(item, Apply):
            continue
        if isinstance(item, Load):
            where = flat_addresses(kernel, item.layout, work.offset("input", item.slot, item.layout))(here)
            value = work.access(item).place(where)
        else:
            assert isinstance(item, Index)
            value = expression(work, item, 0, flat_addresses(kernel, item.layout, item.layout.offset)(here))
        names[number] = value_name(number, FULL, 0)
        lines.append(f"  {declare(names[number], item.dtype, value)}")
    applied = [n for n, item in enumerate(loop.instructions) if item.level == FULL and isinstance(item, Apply)]
    kernel.line("if (!fine) {")
    if can_settle(loop.instructions, applied):
        kernel.line("fine = true;", *lines)
        emit_settled(kernel, loop.instructions, applied, names, "fine")
        kernel.line("}", "}", "if (!fine) {")
    kernel.line(*lines)
    names = emit_slow_path(kernel, loop.instructions, applied, names)
    for store in loop.stores:
        where = flat_addresses(kernel, store.layout, work.offset("output", store.slot, store.layout))(here)
        value = names.get(store.value) or value_name(store.value, loop.instructions[store.value].level, 0)
        kernel.line(f"  {work.access(store).place(where)} = {value};")
    kernel.line("}", "return;", "}")


def _asks(loop: Loop) -> bool:
    """Whether quick forms of a loop's values may not be right, and none of them is a position, which has to be."""
    if any(isinstance(item, Take) for item in loop.instructions) or any(s.position is not None for s in loop.stores):
        return False
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    return any(isinstance(unit, Block) and unit.asks for unit in arranged(loop, numbers))


def _goes_apart(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether an invocation's elements lie a workgroup apart: neighbours then move what makes up whole sectors.

    Four elements of eight bytes would be moved in two halves, with a gap between those of neighbours. Small elements
    have to be written four at a time, and coordinates are worked out once for four.
    """
    items = [x for x in (*loop.instructions, *loop.stores) if isinstance(x, Load | Index | Store) and x.level == FULL]
    if capabilities.is_software or any(stride_class(x.layout).startswith("s") for x in items):
        return False
    is_small = any(is_packed(dtype) for dtype in loop.output_dtypes)
    return not is_small and any(_dtype_of(loop, key).itemsize >= 8 for key in loop_splits.spans(loop))


def _takes_vec8(loop: Loop) -> bool:
    """Whether an invocation of a loop without folds makes eight elements: where that is cheaper, and all are moved."""
    is_wide, keys = wide_slots(loop), list(loop_splits.spans(loop))
    if not any(makes_vec8(loop, item) for item in loop.instructions) or not all(is_wide(*key) for key in keys):
        return False
    # buffers have room for no more bytes behind the last element, and what is there of a larger array is not to be lost
    fit = all(_dtype_of(loop, key).itemsize * 2 * LANES <= WINDOW_END for key in keys)
    return fit and (loop.columns % (2 * LANES) == 0 or not any(s.layout.size < s.extent for s in loop.stores))


def single_value(work: LoopKernel, item: object) -> str:
    """Return the expression of an instruction that has one value for a loop whose outer index space is empty."""
    kernel = work.kernel
    if isinstance(item, Load):
        return work.access(item).load(kernel.parameter(work.offset("input", item.slot, item.layout)))
    if isinstance(item, Index):
        return expression(work, item, 0, kernel.parameter(item.layout.offset))
    assert isinstance(item, Apply | Take)
    return expression(work, item, 0, "")


@dataclass
class Lane:
    """The names that one of the four elements of an invocation has for its index and coordinates."""

    index: str
    coordinates: list[str]
    loaded: dict[int, str]


def flat_loads(work: LoopKernel, lane_count: int, whole: bool, step: int, count: str) -> list[Lane]:
    """Emit indices, coordinates where something is strided, and the wide loads."""
    kernel, loop = work.kernel, work.loop
    strided = any(
        isinstance(x, Load | Index | Store) and x.level == FULL and stride_class(x.layout).startswith("s")
        for x in (*loop.instructions, *loop.stores)
    )
    lanes: list[Lane] = []
    extents: list[str] = []
    if strided:
        extents = [kernel.parameter(n) for n in loop.inner[1:]]
    for lane in range(lane_count):
        if strided or not whole:
            raw = f"first + {lane * step}u"
            kernel.line(f"let i{lane} = {f'min({raw}, {count} - 1u)' if lane else 'first'};")
        if strided and lane and work.together:
            *outer, last = lanes[0].coordinates
            names = [*outer, f"({last} + {lane}u)"]
        else:
            names = _lane_coordinates(kernel, f"i{lane}", lane, extents) if strided else []
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
                index, name = _wide_index(kernel, item.layout, offset, lanes, first), f"w{number}"
                lines, values = access.load_wide(index, f"{name}_{first}" if first else name)
                kernel.line(*lines)
                for lane, value in zip(lanes[first:], values, strict=False):
                    lane.loaded[number] = value


def _wide_index(kernel: Kernel, layout: Layout, offset: int, lanes: Sequence[Lane], first: int) -> str:
    """Return the index of the four elements from lane ``first`` on, counted in fours."""
    if stride_class(layout) != "c":
        return f"({flat_addresses(kernel, layout, offset)(lanes[first])}) / 4u"
    index = "first / 4u" if offset == 0 else f"({kernel.parameter(offset)} + first) / 4u"
    return f"{index} + {first // LANES}u" if first else index


def _lane_coordinates(kernel: Kernel, index: str, lane: int, extents: Sequence[str]) -> list[str]:
    names = [f"c{lane}_{axis}" for axis in range(len(extents) + 1)]
    rest = index
    for axis in range(len(extents), 0, -1):
        extent = extents[axis - 1]
        kernel.line(f"let q{lane}_{axis} = {rest} / {extent};")
        kernel.line(f"let {names[axis]} = {rest} - q{lane}_{axis} * {extent};")
        rest = f"q{lane}_{axis}"
    kernel.line(f"let {names[0]} = {rest};")
    return names


def flat_addresses(kernel: Kernel, layout: Layout, offset: int) -> Callable[[Lane], str]:
    """Return how to write the position of a lane's element in a layout; parameters are added once."""
    if stride_class(layout) == "c":
        base = "" if offset == 0 else f" + {kernel.parameter(offset)}"
        return lambda lane: f"{lane.index}{base}"
    base = kernel.parameter(offset)
    if stride_class(layout) == "b":
        return lambda lane: base
    strides = [kernel.parameter(s) if s else "" for s in layout.strides]
    return lambda lane: " + ".join([base, *(f"{c} * {s}" for c, s in zip(lane.coordinates, strides, strict=True) if s)])


def flat_values(work: LoopKernel, lanes: list[Lane], *, quads: bool = False) -> None:
    """Emit the values at every element; ``quads`` if the lanes are four aligned neighbours."""
    kernel, loop = work.kernel, work.loop
    addresses: dict[int, Callable[[Lane], str]] = {}
    for number, item in enumerate(loop.instructions):
        if isinstance(item, Load) and item.level == FULL and number not in lanes[0].loaded:
            addresses[number] = flat_addresses(kernel, item.layout, work.offset("input", item.slot, item.layout))
        elif isinstance(item, Index) and item.level == FULL:
            addresses[number] = flat_addresses(kernel, item.layout, item.layout.offset)
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    for unit in arranged(loop, numbers, alone=len(lanes) == 1):
        if isinstance(unit, Block):
            emit_block(kernel, loop.instructions, unit, len(lanes), noted=work.noted)
            continue
        number, item = unit, loop.instructions[unit]
        if quads and isinstance(item, Index) and makes_vec4(loop, item):
            if len(lanes) > LANES and makes_vec8(loop, item):
                emit_vec8(work, number, item, addresses[number](lanes[0]))
                continue
            for first in range(0, len(lanes), LANES):
                emit_vec4(work, number, item, addresses[number](lanes[first]), first)
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


def _placed_store(work: LoopKernel, store: Store, lane: int, extent: str) -> str:
    """Return the statement that stores a lane's element at its computed position, if that is below ``extent``."""
    instructions = work.loop.instructions
    value, given = (value_name(n, instructions[n].level, lane) for n in store.operands)
    position = position_expression(given, instructions[store.operands[1]].dtype)
    return f"if ({position} < {extent}) {{ {work.access(store).store(position, value)} }}"


def flat_stores(work: LoopKernel, lanes: Sequence[Lane], step: int, count: str) -> None:
    """Emit the stores of lanes that are ``step`` apart, from the flat index ``first`` on, those before ``count``."""
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
                index = _wide_index(kernel, store.layout, offset, lanes, first)
                kernel.line(*access.store_wide(index, values[first : first + LANES]))
            continue
        address = flat_addresses(kernel, store.layout, offset)
        for lane, names in enumerate(lanes):
            statement = access.store(address(names), values[lane])
            kernel.line(f"if (first + {lane * step}u < {count}) {{ {statement} }}" if lane else statement)


def _exchanged_stores(work: LoopKernel, lanes: Sequence[Lane], both: str) -> None:
    """Emit the stores of eight elements that neighbours exchange; ``both`` says whether both have elements."""
    kernel, loop = work.kernel, work.loop
    kernel.line("let odd = (local & 1u) == 1u;")
    for number, store in enumerate(loop.stores):
        level = loop.instructions[store.value].level
        values = [value_name(store.value, level, lane) for lane in range(len(lanes))]
        index = _wide_index(kernel, store.layout, work.offset("output", store.slot, store.layout), lanes, 0)
        emit_shuffled_stores(kernel, number, work.access(store), index, values, both)


# -- loops inside other kernels ----------------------------------------------------------------------------------------


def add_epilogue(
    kernel: Kernel, loop: Loop, inputs_before: int, *, lanes: int = 1, aligned: bool = False
) -> LoopKernel:
    """Add the function that runs a loop without folds on results of the kernel, which are the loop's input 0.

    With one lane it is ``finish(first, result0)``, for the result of that flat index; with four ``finish(first, end,
    result0, ..., result3)``, for those from ``first`` on that come before ``end``. ``aligned`` says that ``first`` is
    a multiple of four. Further inputs of the loop are the step's from number ``inputs_before`` on.
    """
    origins: dict[tuple[str, int], int] = {}
    accesses: dict[tuple[str, int], Access] = {}
    wide = wide_slots(loop) if aligned else lambda _kind, _slot: False
    for (kind, slot), (low, high) in sorted(loop_splits.spans(loop).items()):
        if (kind, slot) == ("input", 0):
            origins[kind, slot] = 0
            continue
        dtype = _dtype_of(loop, (kind, slot))
        number = slot - 1 + inputs_before if kind == "input" else slot
        binding, origins[kind, slot] = window(kind, number, low, high, dtype, writable=kind == "output")
        access = Access(f"{kind}{number}", dtype, wide(kind, slot), kind == "output")
        accesses[kind, slot] = kernel.show(access, binding)
    work = LoopKernel(kernel, loop, origins, accesses, together=aligned and lanes > 1 and _has_vec4_rows(loop))
    _finish_function(work, lanes)
    return work


def add_fast_path_epilogue(work: LoopKernel) -> bool:
    """Add ``fast_path_finish``, which takes four results as the ``finish`` of an epilogue, and may not be right.

    It returns whether it was; if not, ``finish`` has to run on the same results. Return whether it is of any use.
    """
    if not _asks(work.loop):
        return False
    _finish_function(replace(work, noted=True), LANES)
    return True


def _finish_function(work: LoopKernel, lanes: int) -> None:
    """Add the function over so many results."""
    kernel, loop = work.kernel, work.loop
    outside, kernel.body = kernel.body, []
    emit_uniform(work)
    for number, item in enumerate(loop.instructions):
        if item.level == OUTER:
            kernel.line(declare(f"one{number}", item.dtype, single_value(work, item)))
    names = flat_loads(work, lanes, False, 1, "end")
    kind = register_type(loop.input_dtypes[0])
    results = [f"result{lane}" for lane in range(lanes)]
    for number, item in enumerate(loop.instructions):
        if isinstance(item, Load) and item.slot == 0:
            for lane, result in zip(names, results, strict=True):
                lane.loaded[number] = result
    flat_values(work, names)
    flat_stores(work, names, 1, "end")
    given = ", ".join(f"{result}: {kind}" for result in results)
    head = f"finish({'first: u32' if lanes == 1 else 'first: u32, end: u32'}, {given})"
    body = [f"  {line}" for line in kernel.body]
    if work.noted:
        kernel.module += [f"fn fast_path_{head} -> bool {{", "  var fine = true;", *body, "  return fine;", "}"]
    else:
        kernel.module += [f"fn {head} {{", *body, "}"]
    kernel.body = outside


@dataclass(frozen=True, slots=True)
class Computed:
    """What a kernel reads from no binding but computes: a function of the flat index, for one element or four."""

    name: str
    wide: bool

    def load(self, index: str) -> str:
        """Return the element at ``index``."""
        return f"{self.name}({index})"

    def load_wide(self, index: str, target: str) -> tuple[list[str], list[str]]:
        """Return statements, and the four lane expressions, for the elements from ``4 * index``."""
        lines = [f"let {target} = {self.name}(({index}) * {LANES}u);"]
        return lines, [f"{target}[{lane}]" for lane in range(LANES)]


def add_prologue(kernel: Kernel, loop: Loop, name: str, *, wide: bool) -> Computed:
    """Add the function that computes the one result of a loop without folds, at a flat index.

    ``wide`` says that it computes four from a multiple of four on. The loop's inputs are the step's.
    """
    origins: dict[tuple[str, int], int] = {}
    accesses: dict[tuple[str, int], Access] = {}
    is_wide = wide_slots(loop) if wide else lambda _kind, _slot: False
    for (kind, slot), (low, high) in sorted(loop_splits.spans(loop).items()):
        if kind == "output":
            continue
        dtype = loop.input_dtypes[slot]
        binding, origins[kind, slot] = window(kind, slot, low, high, dtype, writable=False)
        accesses[kind, slot] = kernel.show(Access(f"{name}{slot}", dtype, is_wide(kind, slot), False), binding)
    work = LoopKernel(kernel, loop, origins, accesses)
    outside, kernel.body = kernel.body, []
    emit_uniform(work)
    for number, item in enumerate(loop.instructions):
        if item.level == OUTER:
            kernel.line(declare(f"one{number}", item.dtype, single_value(work, item)))
    work.together = wide and _has_vec4_rows(loop)
    names = flat_loads(work, LANES if wide else 1, False, 1, kernel.parameter(loop.columns))
    flat_values(work, names)
    (store,) = loop.stores
    values = [value_name(store.value, FULL, lane) for lane in range(len(names))]
    kind = register_type(store.dtype)
    found = f"array<{kind}, {LANES}>" if wide else kind
    kernel.line(f"return {found}({', '.join(values)});" if wide else f"return {values[0]};")
    kernel.module += [f"fn {name}(first: u32) -> {found} {{", *(f"  {line}" for line in kernel.body), "}"]
    kernel.body = outside
    return Computed(name, wide)


def result_store(
    kernel: Kernel, step: ContractStep | ScanStep, span: tuple[int, int], inputs: int
) -> Callable[[str, str], str]:
    """Bind what a step's results go to; return how to write the statement that stores, or finishes, one result.

    The statement takes the index of the result among those from the first to the last of a span, and its value; where
    there is an epilogue, the span must be of all results. ``inputs`` is how many the step has of its own.
    """
    if step.epilogue is not None:
        add_epilogue(kernel, step.epilogue, inputs)
        return lambda index, value: f"finish({index}, {value});"
    binding, _ = window("output", 0, *span, step.dtype, writable=True)
    return kernel.show(Access("output0", step.dtype, False, True), binding).store


def vec4_store(
    kernel: Kernel, step: ContractStep | ScanStep, span: tuple[int, int], inputs: int
) -> Callable[[str, list[str]], list[str]]:
    """Do as :func:`result_store`, for four neighbouring results from an index that is a multiple of four."""
    if step.epilogue is not None:
        add_epilogue(kernel, step.epilogue, inputs, lanes=LANES, aligned=True)
        return lambda first, values: [f"finish({first}, {first} + {LANES}u, {', '.join(values)});"]
    binding, _ = window("output", 0, *span, step.dtype, writable=True)
    access = kernel.show(Access("output0", step.dtype, True, True), binding)
    return lambda first, values: access.store_wide(f"({first}) / {LANES}u", values)
