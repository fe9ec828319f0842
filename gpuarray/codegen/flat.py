"""Flat kernels: loops without folds, each element by itself.

An invocation computes four elements: neighbours where something can be read or written four at a time, else elements
that lie a workgroup apart. It computes one where arithmetic takes longer than memory traffic, or where each is computed
from several elements of an array that it has the positions of, and eight where a generator makes as many at once.
"""

from collections import Counter
from typing import Final

from gpuarray.codegen.fast_paths import can_check, emit_checked, emit_second_guard, emit_slow_path, value_name
from gpuarray.codegen.lanes import Lane, flat_addresses, flat_loads, flat_stores, flat_values, has_vec4_rows, wide_slots
from gpuarray.codegen.loops import (
    LoopKernel,
    emit_single,
    expression,
    has_guards,
    is_heavy,
    makes_vec8,
    needs_vec4,
    open_kernel,
)
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.storage import LANES, is_packed
from gpuarray.codegen.subgroup_stores import can_shuffle_stores, emit_shuffled_stores
from gpuarray.codegen.underflow import arranged
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, declare
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, Apply, Index, Load, Loop, Take, stride_class


def flat_launch(loop: Loop, label: str, capabilities: Capabilities) -> Launch:
    """Return the launch of a loop without folds."""
    is_vec4 = needs_vec4(loop)
    is_single = is_heavy(loop, capabilities) or (not capabilities.is_software and _gathers_neighbours(loop))
    lanes = 1 if is_single and not is_vec4 else 2 * LANES if _takes_vec8(loop) else LANES
    is_narrow = lanes == 1 or (not is_vec4 and _is_spread(loop, capabilities))
    work = open_kernel(loop, label, (lambda _kind, _slot: False) if is_narrow else wide_slots(loop))
    kernel = work.kernel
    size = loop.columns
    consecutive = is_vec4 or any(access.wide for access in work.accesses.values())
    whole = all(access.wide for access in work.accesses.values()) and not any(
        isinstance(i, Index | Take) for i in loop.instructions
    )
    count = kernel.parameter(size)
    kernel.line("let block = group.x + group.y * groups.x;")
    kernel.line(f"let first = block * {lanes * WORKGROUP}u + local{f' * {lanes}u' if consecutive else ''};")
    in_pairs = lanes > LANES and can_shuffle_stores(loop, capabilities)
    begin = f"first - (local & 1u) * {lanes}u" if in_pairs else "first"
    kernel.line(f"if ({begin} >= {count}) {{ return; }}")
    emit_single(work)
    step = 1 if consecutive else WORKGROUP
    work.together = consecutive and lanes > 1 and has_vec4_rows(loop)
    names = flat_loads(work, lanes, whole, step, count)
    work.deferred = lanes == LANES and not is_vec4 and _can_recompute(work)
    if work.deferred:
        kernel.line("var fine = true;")
    blocks = flat_values(work, names, quads=consecutive and lanes > 1)
    if work.deferred:
        has_second_guard = emit_second_guard(kernel, loop.instructions, blocks, range(lanes), "fine")
        _recompute(work, lanes, step, count, checks=not has_second_guard)
    if in_pairs:
        emit_shuffled_stores(work, names, f"{begin} + {lanes}u < {count}")
    else:
        flat_stores(work, names, step, count)
    return kernel.launch(-(-size // (lanes * WORKGROUP)), capabilities.workgroup_limit)


def _gathers_neighbours(loop: Loop) -> bool:
    """Whether an element is computed from several elements of one array, at positions that are known to the loop only.

    They are often neighbours, as for interpolation, and share lines of the cache. Those of three further elements would
    be read between them: the interpolation of a 2048 x 2048 image at random coordinates took 197 us on an H100, and 147
    with one element to an invocation. A CPU's cache keeps them all.
    """
    takes = Counter(item.key for item in loop.instructions if isinstance(item, Take) and item.level == FULL)
    return any(count > 1 for count in takes.values())


#: Functions that cost no more than a square root may be computed twice.
_CHEAP: Final = 6


def _can_recompute(work: LoopKernel) -> bool:
    """Whether a kernel has guards and can compute single elements again from its inputs where they fail.

    Nothing is kept for it, so that it takes no registers. Not for functions that are long and have no fast path: they
    would be computed twice.
    """
    loop = work.loop
    if not all(access.is_plain for access in work.accesses.values()):
        return False
    if any(stride_class(x.layout).startswith("s") for x in loop.laid_out_at(FULL)) or not has_guards(loop):
        return False
    numbers = [n for n, item in enumerate(loop.instructions) if item.level == FULL]
    others = [loop.instructions[unit] for unit in arranged(loop, numbers) if isinstance(unit, int)]
    return not any(isinstance(item, Apply) and item.op.cost > _CHEAP for item in others)


def _recompute(work: LoopKernel, lanes: int, step: int, count: str, *, checks: bool) -> None:
    """Emit the branch that reads, computes and stores an invocation's elements one by one, by slow paths.

    If it ``checks``, it finds out first whether each sum and product was right.
    """
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
            value = work.access(item).reference(where)
        else:
            assert isinstance(item, Index)
            value = expression(work, item, 0, flat_addresses(kernel, item.layout, item.layout.offset)(here))
        names[number] = value_name(number, FULL, 0)
        lines.append(f"  {declare(names[number], item.dtype, value)}")
    applied = [n for n, item in enumerate(loop.instructions) if item.level == FULL and isinstance(item, Apply)]
    kernel.line("if (!fine) {")
    if checks and can_check(loop.instructions, applied):
        kernel.line("fine = true;", *lines)
        emit_checked(kernel, loop.instructions, applied, names, "fine")
        kernel.line("}", "}", "if (!fine) {")
    kernel.line(*lines)
    names = emit_slow_path(kernel, loop.instructions, applied, names)
    for store in loop.stores:
        where = flat_addresses(kernel, store.layout, work.offset("output", store.slot, store.layout))(here)
        value = names.get(store.value) or value_name(store.value, loop.instructions[store.value].level, 0)
        kernel.line(f"  {work.access(store).reference(where)} = {value};")
    kernel.line("}", "return;", "}")


def _is_spread(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether the lanes of an invocation lie a workgroup apart, so that neighbours access whole sectors of memory.

    That suits elements of eight bytes: a vector of four would be read in two halves, with a gap to the neighbour's.
    Small elements have to be written four at a time, and strided layouts need coordinates once for four.
    """
    if capabilities.is_software or any(stride_class(x.layout).startswith("s") for x in loop.laid_out_at(FULL)):
        return False
    is_small = any(is_packed(dtype) for dtype in loop.output_dtypes)
    return not is_small and any(loop.dtype_of(key).itemsize >= 8 for key in loop.spans)


def _takes_vec8(loop: Loop) -> bool:
    """Whether an invocation of a loop without folds makes eight elements: where that is cheaper, and all are moved."""
    is_wide, keys = wide_slots(loop), list(loop.spans)
    if not any(makes_vec8(loop, item) for item in loop.instructions) or not all(is_wide(*key) for key in keys):
        return False
    # buffers have WINDOW_END bytes of slack, and elements of a larger array behind the last one must not be overwritten
    fit = all(loop.dtype_of(key).itemsize * 2 * LANES <= WINDOW_END for key in keys)
    return fit and (loop.columns % (2 * LANES) == 0 or not any(s.layout.size < s.extent for s in loop.stores))
