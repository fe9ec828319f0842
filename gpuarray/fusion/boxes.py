"""Writes to boxes, and concatenations, that are read without being stored.

An element of a write is one of the values inside the box, and one of the target outside. An element of a concatenation
is one of a part. A loop computes all of them and selects. It computes values at coordinates that may be outside of
their shape, where what it reads is dropped. Such coordinates are a :class:`Beyond`.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from gpuarray.graph.layouts import Layout, Shape, coordinates
from gpuarray.graph.nodes import Concat, Generate
from gpuarray.ops import generators


class Beyond(NamedTuple):
    """Where the elements of a node are read, inside its shape or outside.

    Attributes
    ----------
    shape : tuple of int
        The index space.
    axes : tuple of Layout
        For each axis of the node a layout of the index space, whose positions are coordinates.
    """

    shape: Shape
    axes: tuple[Layout, ...]

    @property
    def size(self) -> int:
        """Number of elements of the index space."""
        return prod(self.shape)

    @lru_cache(maxsize=8192)  # noqa: B019  # of values, not of objects that live
    def seen_through(self, layout: Layout) -> Layout:
        """Return the positions in the source of a view."""
        return _sum(self.shape, self.axes, layout.strides, layout.offset)

    @lru_cache(maxsize=8192)  # noqa: B019  # as above
    def in_source(self, layout: Layout, shape: Shape) -> "Beyond | None":
        """Return the coordinates in the source, of ``shape``, of a view; None if there are none."""
        axes = coordinates(layout, shape)
        if axes is None:
            return None
        return Beyond(self.shape, tuple([_sum(self.shape, self.axes, axis.strides, axis.offset) for axis in axes]))

    def of_operand(self, operand: Shape, shape: Shape) -> "Beyond":
        """Return the coordinates in an operand that is broadcast to ``shape``."""
        if operand == shape:
            return self
        axes = self.axes[len(shape) - len(operand) :]
        still = Layout(self.shape, (0,) * len(self.shape), 0)
        aligned = zip(axes, operand, shape[len(shape) - len(operand) :], strict=True)
        return Beyond(self.shape, tuple([axis if n == m else still for axis, n, m in aligned]))


class Side(NamedTuple):
    """An axis of an array: which axis of the values lies along it, if any, where these begin, and how many they are."""

    axis: int | None
    start: int
    extent: int


@lru_cache(maxsize=1024)
def box_of(layout: Layout, shape: Shape) -> tuple[Side, ...] | None:
    """Return the sides of the region of an array of ``shape`` that a layout names; None if it is no box, or moves."""
    if layout.moves or 0 in layout.shape:
        return None
    axes = coordinates(layout, shape)
    if axes is None:
        return None
    sides = []
    used: set[int] = set()
    for steps in axes:
        along = [axis for axis, (n, step) in enumerate(zip(steps.shape, steps.strides, strict=True)) if n > 1 and step]
        if len(along) > 1 or any(steps.strides[axis] != 1 or axis in used for axis in along):
            return None
        used.update(along)
        sides.append(Side(along[0], steps.offset, steps.shape[along[0]]) if along else Side(None, steps.offset, 1))
    return tuple(sides)


def is_constant(node: Any) -> bool:
    """Return whether all elements of a node are one number."""
    return isinstance(node, Generate) and node.op is generators.full


@lru_cache(maxsize=8192)
def inside(layout: Layout, shape: Shape, read: "Layout | Beyond") -> tuple[Beyond, tuple[Layout, ...]] | None:
    """Return where the values of a write to a box are read for the elements of a view, and what is inside.

    An element is inside if the positions of all these layouts are not negative. Return None if the view has no
    coordinates.

    Parameters
    ----------
    layout : Layout
        The box.
    shape : tuple of int
        The shape of the array.
    read : Layout or Beyond
        Where the array is read.
    """
    sides = box_of(layout, shape)
    assert sides is not None
    axes = read.axes if isinstance(read, Beyond) else coordinates(read, shape)
    if axes is None:
        return None
    tests = []
    source_axes = [Layout(read.shape, (0,) * len(read.shape), 0)] * len(layout.shape)
    for side, axis, n in zip(sides, axes, shape, strict=True):
        before = axis._replace(offset=axis.offset - side.start)
        if side.axis is not None:
            source_axes[side.axis] = before
        if side.start > 0:
            tests.append(before)
        last = side.start + side.extent - 1
        if last < n - 1:
            tests.append(Layout(read.shape, tuple([-step for step in axis.strides]), last - axis.offset))
    return Beyond(read.shape, tuple(source_axes)), tuple(tests)


class Part(NamedTuple):
    """A part of a concatenation: the number of the operand, where it is read, and where it begins.

    An element is of this part, or of a later one, if the position of ``begun`` is not negative.
    """

    operand: int
    layout: Beyond
    begun: Layout


def parts(node: Concat, layout: "Layout | Beyond") -> list[Part] | None:
    """Return the parts of a concatenation that a view reads; None if the view has no coordinates."""
    axes = layout.axes if isinstance(layout, Beyond) else coordinates(layout, node.shape)
    if axes is None:
        return None
    before, along, after = axes[: node.axis], axes[node.axis], axes[node.axis + 1 :]
    low, high = along.bounds()
    overlapping: list[Part] = []
    start = 0
    for number, operand in enumerate(node.inputs):
        end = start + operand.shape[node.axis]
        if start < end and ((low < end and high >= start) or isinstance(layout, Beyond)):
            begun = along._replace(offset=along.offset - start)
            overlapping.append(Part(number, Beyond(layout.shape, (*before, begun, *after)), begun))
        start = end
    return overlapping


def _sum(shape: Shape, axes: Sequence[Layout], factors: Sequence[int], offset: int) -> Layout:
    strides = [
        sum(axis.strides[k] * factor for axis, factor in zip(axes, factors, strict=True)) for k in range(len(shape))
    ]
    return Layout(
        shape, tuple(strides), sum(axis.offset * factor for axis, factor in zip(axes, factors, strict=True)) + offset
    )
