"""Matrix products with one column as loops with a fold over rows, which suit them better than tiles."""

from dataclasses import replace
from math import prod
from typing import assert_never

from gpuarray.codegen.storage import word_dtype
from gpuarray.fusion.collapse import collapse_loop
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    ContractStep,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    Scalar,
    Store,
    Take,
)
from gpuarray.graph.layouts import Layout, Shape, contiguous, reshape
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions


def as_fold(step: ContractStep) -> Loop | None:
    """Return a product as a loop with one fold; None if its epilogue does not fit one."""
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    outer = (batch, height, width)
    dtype, word = step.dtype, word_dtype(step.dtype) if step.dtype.kind != "b" else step.dtype
    items: list[Instruction] = []
    for slot, layout in enumerate((step.left, step.right)):
        plane, first, second = layout.strides
        strides = (plane, first, 0, second) if slot == 0 else (plane, 0, second, first)
        extent = layout.bounds()[1] + 1
        items.append(Load(slot, Layout((*outer, depth), strides, layout.offset), extent, dtype, FULL))
        items.append(Apply(ops.cast, (len(items) - 1,), (dtype,), word, FULL))
    items.append(Apply(ops.multiply, (1, 3), (word, word), word, FULL))
    items.append(Fold(reductions.any if dtype.kind == "b" else reductions.sum, 4, word, dtype))
    phases = [0] * len(items)
    stores: list[Store] = [Store(0, 5, contiguous(outer), prod(outer), dtype, OUTER)]
    if step.epilogue is not None:
        if any(store.position is not None for store in step.epilogue.stores):
            return None
        numbers: dict[int, int] = {}
        for number, item in enumerate(step.epilogue.instructions):
            if isinstance(item, Load) and item.slot == 0:
                numbers[number] = 5
                continue
            moved = _by_row(item, numbers, outer)
            if moved is None:
                return None
            numbers[number] = len(items)
            operands = (
                moved.operands if isinstance(moved, Apply) else (moved.position,) if isinstance(moved, Take) else ()
            )
            phases.append(max((phases[o] + (o == 5) for o in operands), default=0))
            items.append(moved)
        stores = []
        for store in step.epilogue.stores:
            expanded = _expanded(store.layout, outer)
            if expanded is None:
                return None
            stores.append(replace(store, value=numbers[store.value], layout=expanded, level=OUTER))
    loop = Loop(
        outer, (depth,), tuple(items), tuple(stores), step.input_dtypes, step.output_dtypes, step.scalar_dtypes,
        tuple(phases),
    )  # fmt: skip
    return collapse_loop(loop)


def _by_row(item: Instruction, numbers: dict[int, int], outer: Shape) -> Instruction | None:
    """Return an instruction of an epilogue as one of the loop over the product; None if it has no layout there."""
    level = UNIFORM if item.level == UNIFORM else OUTER
    match item:
        case Apply():
            return replace(item, operands=tuple(numbers[o] for o in item.operands), level=level)
        case Take():
            return replace(item, slot=item.slot + 1, position=numbers[item.position], level=level)
        case Load() | Index():
            layout = _expanded(item.layout, outer)
            if layout is None:
                return None
            moved = replace(item, layout=layout, level=level)
            return replace(moved, slot=moved.slot + 1) if isinstance(moved, Load) else moved
        case Scalar():
            return item
        case Fold():
            return None
        case _:
            assert_never(item)


def _expanded(layout: Layout, outer: Shape) -> Layout | None:
    """Return a layout over merged axes as a layout over the axes themselves; None if there is none."""
    return Layout(outer, (0,) * len(outer), layout.offset) if layout.shape == () else reshape(layout, outer)
