"""Subgroup stores: two neighbouring invocations with eight elements each exchange halves before they write.

Each store of both then writes 32 contiguous bytes, a whole sector of memory. Stores of half a sector, with a gap to
those of the neighbour, take GPUs twice as long.
"""

from collections.abc import Sequence

from gpuarray.codegen.fast_paths import value_name
from gpuarray.codegen.lanes import Lane, wide_index
from gpuarray.codegen.loops import LoopKernel
from gpuarray.codegen.storage import LANES, register_type
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import Load, Loop, Take, stride_class


def can_shuffle_stores(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether invocations with eight elements each can exchange halves of them before they are stored."""
    plain = all(s.position is None and s.dtype.itemsize == 4 and stride_class(s.layout) == "c" for s in loop.stores)
    reads = any(isinstance(item, Load | Take) for item in loop.instructions)
    return capabilities.subgroup_size > 1 and plain and not reads


def emit_shuffled_stores(work: LoopKernel, lanes: Sequence[Lane], both: str) -> None:
    """Emit the stores of eight elements: two neighbours write those of the even one, then those of the odd one.

    ``both`` is the condition that both neighbours have elements.
    """
    kernel, loop = work.kernel, work.loop
    kernel.line("let odd = (local & 1u) == 1u;")
    for number, store in enumerate(loop.stores):
        level, access = loop.instructions[store.value].level, work.access(store)
        values = [value_name(store.value, level, lane) for lane in range(len(lanes))]
        index = wide_index(kernel, store.layout, work.offset("output", store.slot, store.layout), lanes, 0)
        kind = f"vec4<{register_type(access.dtype)}>"
        low, high, stored, first, second = (f"{name}{number}" for name in ("low", "high", "given", "here", "there"))
        kernel.line(
            f"let {low} = {kind}({', '.join(values[:LANES])});",
            f"let {high} = {kind}({', '.join(values[LANES:])});",
            f"let {stored} = subgroupShuffleXor(select({high}, {low}, odd), 1u);",
            f"let {first} = select({low}, {stored}, odd);",
            f"let {second} = select({stored}, {high}, odd);",
        )
        where = f"{index} - select(0u, 1u, odd)"
        kernel.line(*access.store_wide(where, [f"{first}.{component}" for component in "xyzw"]))
        behind = " ".join(access.store_wide(f"{where} + 2u", [f"{second}.{component}" for component in "xyzw"]))
        kernel.line(f"if ({both}) {{ {behind} }}")
