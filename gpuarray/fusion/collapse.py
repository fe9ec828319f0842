"""Fewer axes for the index space of a loop."""

from math import prod

from gpuarray.fusion.steps import FULL, Loop
from gpuarray.graph.layouts import Layout, Shape, collapse


def collapse_loop(loop: Loop) -> Loop:
    """Merge the axes of a loop's index space that all its layouts step through as one."""
    if len(loop.outer) <= 1 and len(loop.inner) <= 1 and 1 not in loop.outer + loop.inner:
        return loop
    rank = len(loop.outer)
    placed = loop.laid_out
    outer_parts = [Layout(loop.outer, x.layout.strides[:rank], x.layout.offset) for x in placed]
    inner_parts = [Layout(loop.inner, x.layout.strides[rank:], 0) for x in placed if x.level == FULL]
    outer, outer_parts = _merge(outer_parts, loop.outer)
    inner, inner_parts = _merge(inner_parts, loop.inner)
    rest = iter(inner_parts)
    layouts: dict[int, Layout] = {}
    for item, outer_layout in zip(placed, outer_parts, strict=True):
        layout = next(rest) if item.level == FULL else Layout((), (), 0)
        layouts[id(item)] = Layout(
            outer_layout.shape + layout.shape, outer_layout.strides + layout.strides, outer_layout.offset
        )
    return loop.over(outer, inner, lambda item: layouts[id(item)])


def _merge(parts: list[Layout], shape: Shape) -> tuple[Shape, list[Layout]]:
    """Collapse layouts of ``shape`` together; return the collapsed shape too, which exists without layouts as well."""
    if not parts:
        size = prod(shape)
        return ((size,) if size != 1 else ()), []
    merged = collapse(parts)
    return merged[0].shape, merged
