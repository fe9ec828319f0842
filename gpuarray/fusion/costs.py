"""What a step moves and computes at least: the figures that measured times are held against.

Bytes are those of the different elements that a step reads and writes, as if each crossed the memory once; operations
are simple float32 operations, by the costs that the rows declare. A kernel that moves more, because it walks its input
twice or reaches across cache lines, shows as a lower rate.
"""

from dataclasses import dataclass
from math import log2, prod
from typing import assert_never

from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Load,
    Loop,
    ScanStep,
    ScatterStep,
    Step,
    Take,
    weight,
)
from gpuarray.graph.layouts import Layout

#: Operations of one multiplication and addition.
_PRODUCT = {"f": 2, "c": 8}


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes read, bytes written, and simple operations."""

    read: int
    written: int
    operations: int

    @property
    def nbytes(self) -> int:
        """Bytes read and written."""
        return self.read + self.written


def cost(step: Step) -> Cost:
    """Return what a step moves and computes at least."""
    match step:
        case Loop():
            return _loop_cost(step)
        case ScanStep():
            size = step.before * step.length * step.after
            own = Cost(size * step.source.itemsize, size * step.dtype.itemsize, size)
            return _with_epilogue(own, step.epilogue, step.dtype.itemsize * size)
        case ContractStep():
            return _product_cost(step)
        case CallStep():
            read = sum(prod(s) * d.itemsize for s, d in zip(step.shapes, step.input_dtypes, strict=True))
            written = sum(prod(s) * d.itemsize for s, d in zip(step.output_shapes, step.output_dtypes, strict=True))
            # sorts and transforms: n log n of the largest operand, which says more than nothing
            size = max((prod(s) for s in (*step.shapes, *step.output_shapes)), default=0)
            return Cost(read, written, int(size * log2(size)) if size > 1 else size)
        case CopyStep():
            return Cost(step.extent * step.dtype.itemsize, step.extent * step.dtype.itemsize, 0)
        case ScatterStep():
            moved = step.count * step.dtype.itemsize
            read = step.count * sum(kind.itemsize for kind in step.input_dtypes)
            return Cost(read, moved, 0 if step.combine is None else step.count * step.combine.cost)
        case _:
            assert_never(step)


def _touched(layout: Layout, extent: int) -> int:
    """Return how many different elements a layout reaches at most."""
    return min(extent, prod(n for n, stride in zip(layout.shape, layout.strides, strict=True) if stride))


def _loop_cost(loop: Loop) -> Cost:
    elements = {FULL: loop.rows * loop.columns, OUTER: loop.rows}
    inputs: dict[int, int] = {}
    operations = 0
    for item in loop.instructions:
        count = elements.get(item.level, 1)
        if isinstance(item, Load):
            touched = _touched(item.layout, item.extent)
            inputs[item.slot] = min(item.extent, inputs.get(item.slot, 0) + touched)
        elif isinstance(item, Take):
            inputs[item.slot] = min(item.extent, inputs.get(item.slot, 0) + count)
        elif isinstance(item, Fold):
            operations += elements[FULL]
        operations += weight((item,)) * count
    read = sum(size * loop.input_dtypes[slot].itemsize for slot, size in inputs.items())
    written = sum(min(store.extent, store.layout.size) * store.dtype.itemsize for store in loop.stores)
    return Cost(read, written, operations)


def _with_epilogue(own: Cost, epilogue: Loop | None, result: int) -> Cost:
    """Return the cost of a step whose result, of so many bytes, goes to a loop instead of to memory."""
    if epilogue is None:
        return own
    after = _loop_cost(epilogue)
    return Cost(own.read + max(0, after.read - result), after.written, own.operations + after.operations)


def _product_cost(step: ContractStep) -> Cost:
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    itemsize = step.dtype.itemsize
    operations = _PRODUCT.get(step.dtype.kind, 2) * batch * height * depth * width
    read = 0
    for layout, prologue in zip((step.left, step.right), step.prologues, strict=True):
        before = Cost(_touched(layout, layout.size) * itemsize, 0, 0) if prologue is None else _loop_cost(prologue)
        read, operations = read + before.read, operations + before.operations
    result = batch * height * width * itemsize
    return _with_epilogue(Cost(read, result, operations), step.epilogue, result)
