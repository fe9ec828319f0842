"""Subgroup stores: two neighbouring invocations with eight elements each exchange halves before they write.

Each store of both then writes 32 contiguous bytes, a whole sector of memory. Stores of half a sector, with a gap to
those of the neighbour, take GPUs twice as long.
"""

from collections.abc import Sequence

from gpuarray.codegen.storage import LANES, Access, register_type
from gpuarray.codegen.wgsl import Kernel
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import Load, Loop, Take, stride_class


def can_shuffle_stores(loop: Loop, capabilities: Capabilities) -> bool:
    """Whether invocations with eight elements each can exchange halves of them before they are stored."""
    plain = all(s.position is None and s.dtype.itemsize == 4 and stride_class(s.layout) == "c" for s in loop.stores)
    reads = any(isinstance(item, Load | Take) for item in loop.instructions)
    return capabilities.subgroup_size > 1 and plain and not reads


def emit_shuffled_stores(
    kernel: Kernel, number: int, access: Access, index: str, values: Sequence[str], both: str
) -> None:
    """Emit store ``number``: two neighbours write the elements of the even one, then those of the odd one.

    Parameters
    ----------
    kernel : Kernel
        Where statements are added. In its text ``odd`` says which of the two neighbours an invocation is.
    number : int
        Makes names unique.
    access : Access
        Where to store.
    index : str
        The index of the invocation's first vector of four.
    values : sequence of str
        The eight elements.
    both : str
        The condition that the odd neighbour has elements.
    """
    kind = f"vec4<{register_type(access.dtype)}>"
    low, high, given, first, second = (f"{name}{number}" for name in ("low", "high", "given", "here", "there"))
    kernel.line(
        f"let {low} = {kind}({', '.join(values[:LANES])});",
        f"let {high} = {kind}({', '.join(values[LANES:])});",
        f"let {given} = subgroupShuffleXor(select({high}, {low}, odd), 1u);",
        f"let {first} = select({low}, {given}, odd);",
        f"let {second} = select({given}, {high}, odd);",
    )
    where = f"{index} - select(0u, 1u, odd)"
    kernel.line(*access.store_wide(where, [f"{first}.{part}" for part in "xyzw"]))
    behind = " ".join(access.store_wide(f"{where} + 2u", [f"{second}.{part}" for part in "xyzw"]))
    kernel.line(f"if ({both}) {{ {behind} }}")
