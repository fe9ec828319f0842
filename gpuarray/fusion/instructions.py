"""The instructions of a loop under construction, without the nodes that they compute.

:class:`~gpuarray.fusion.lowering.Lowering` adds those of nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from gpuarray.dtypes import DType
from gpuarray.fusion import costs
from gpuarray.fusion.graphs import GraphView
from gpuarray.fusion.steps import FULL, OUTER, UNIFORM, Apply, Fold, Index, Instruction, Store
from gpuarray.graph.layouts import Layout, Shape, contiguous, contiguous_strides, permute
from gpuarray.graph.moving import MustStay
from gpuarray.ops.spec import GenerateOp, MapOp


@dataclass
class Instructions:
    """Instructions over one index space, to which more are added.

    Attributes
    ----------
    source_shape : tuple of int
        The whole index space, its axes in the order of the source's.
    axes : tuple of int or None
        The inner ones: all of them while no fold has said otherwise.
    outer, inner : tuple of int
        The two index spaces.
    full_layout : Layout
        From the full index space to positions among the source shape's elements.
    """

    graph: GraphView
    source_shape: Shape
    axes: tuple[int, ...] | None
    inner_axes: tuple[int, ...] = field(init=False)
    outer_axes: tuple[int, ...] = field(init=False)
    outer: Shape = field(init=False)
    inner: Shape = field(init=False)
    full_layout: Layout = field(init=False)
    instructions: list[Instruction] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    scalars: dict[tuple[int, int], int] = field(default_factory=dict)
    """Scalar slots by position and parameter number, in their order."""
    generated: dict[tuple[Any, Any], int] = field(default_factory=dict)
    """Positions and tests of coordinates, by what generates them."""
    costs: list[int] = field(default_factory=list)
    """The operations of each instruction."""
    phases: list[int] = field(default_factory=list)
    """Of loops over rows, for each instruction the number of reductions that must precede it."""
    below: list[int] = field(default_factory=list)
    """Of loops over rows, for each instruction the bits of those at level FULL with operations that it depends on."""
    updates: list[tuple[int, int]] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    """The input slots of which elements are taken anywhere."""
    length: int = 0
    """How many instructions drivers will see: long rows count as several."""
    operations: int = 0
    """The sum of ``costs``."""
    walks_again: bool = False
    """Whether an instruction at level FULL waits for a fold."""
    walks: dict[int, int] = field(default_factory=dict)
    """The bits of the instructions that each walk over a row computes, by the reductions that precede it; replaced, not
    changed."""
    walked: int = 0
    """The bits of the instructions that any of them computes."""
    repeated_operations: int = 0
    """The operations that walks over a row do again after another one; beyond the limit no more count."""
    folds: list[int] = field(default_factory=list)
    """The numbers of the reductions."""
    fold_states: int = 0
    """How many numbers the folds of a row keep."""

    def __post_init__(self) -> None:
        space = _index_space(self.source_shape, self.axes)
        self.inner_axes, self.outer_axes, self.outer, self.inner, self.full_layout = space

    def own_row(self) -> Layout:
        """Return the layout from the full index space to the current row."""
        return _row_of_each(self.outer, self.inner)

    def add(self, item: Instruction, operands: Sequence[int] = (), length: int = 1, cost: int = 0) -> int:
        """Append an instruction, which drivers see as ``length`` instructions; return its number.

        ``cost`` are the operations of computing it once.
        """
        number = len(self.instructions)
        if self.axes is not None:
            phase = below = 0
            is_full = item.level == FULL
            if self.folds:
                for operand in operands:
                    after = self.phases[operand] + (type(self.instructions[operand]) is Fold)
                    phase = after if after > phase else phase
                self.walks_again |= phase > 0 and is_full
            if is_full:
                below = 1 << number if cost else 0
                for operand in operands:
                    below |= self.below[operand]
            self.phases.append(phase)
            self.below.append(below)
        self.length += length
        self.operations += cost
        self.instructions.append(item)
        self.costs.append(cost)
        return number

    def input_slot(self, position: int) -> int:
        """Return the slot of a stored value that the loop reads."""
        root, inputs = self.graph.root(position), self.inputs
        if root in inputs:
            return inputs.index(root)
        inputs.append(root)
        return len(inputs) - 1

    def scalar_slot(self, position: int, number: int) -> int:
        """Return the slot of a parameter of a node."""
        return self.scalars.setdefault((position, number), len(self.scalars))

    def add_index(self, op: GenerateOp, layout: Layout, slots: tuple[int, ...], dtype: DType, level: int) -> int:
        """Append a generator, whose parameters are scalar slots; return the number of the instruction."""
        layout, level = self.hoisted(layout, level)
        item = Index(op, layout, slots, dtype, level)
        return self.add(item, (), costs.instructions_of(op), op.cost * costs.width(dtype))

    def add_operation(self, op: MapOp, values: tuple[int, ...], dtype: DType, level: int = UNIFORM) -> int:
        """Append an elementwise operation, at the highest level of its operands, or at ``level``."""
        sources = []
        for value in values:
            item = self.instructions[value]
            sources.append(item.dtype)
            if item.level > level:
                level = item.level
        kinds = tuple(sources)
        return self.add(Apply(op, values, kinds, dtype, level), values, *costs.of_applied(op, dtype, kinds))

    def add_generator(self, op: GenerateOp, dtype: DType, layout: Layout, level: int) -> int:
        """Append a generator without parameters, unless there is one like it."""
        if layout.moves:
            moving: Any = layout.offset
            raise MustStay(moving.number)
        if (op, layout) not in self.generated:
            self.generated[op, layout] = self.add_index(op, layout, (), dtype, level)
        return self.generated[op, layout]

    def hoisted(self, layout: Layout, level: int) -> tuple[Layout, int]:
        """Return the layout at the lowest level that tells its elements apart."""
        return _hoisted(layout, len(self.outer)) if level == FULL else (layout, level)


@lru_cache(maxsize=1024)
def _index_space(
    shape: Shape, axes: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...], Shape, Shape, Layout]:
    """Return the inner and the outer axes, the two index spaces, and the layout of the full one."""
    every = tuple(range(len(shape)))
    if axes is None:
        return every, (), (), shape, contiguous(shape)
    others = tuple([a for a in every if a not in axes])
    outer = tuple([shape[a] for a in others])
    inner = tuple([shape[a] for a in axes])
    return axes, others, outer, inner, permute(contiguous(shape), others + axes)


@lru_cache(maxsize=1024)
def _row_of_each(outer: Shape, inner: Shape) -> Layout:
    return Layout(outer + inner, contiguous_strides(outer) + (0,) * len(inner), 0)


@lru_cache(maxsize=8192)
def _hoisted(layout: Layout, count: int) -> tuple[Layout, int]:
    """Return a layout of the full index space, of which ``count`` axes are outer ones, at the lowest level."""
    for extent, stride in zip(layout.shape[count:], layout.strides[count:], strict=True):
        if extent != 1 and (stride or not extent):  # a row without elements has none to read once either
            return layout, FULL
    return Layout(layout.shape[:count], layout.strides[:count], layout.offset), OUTER
