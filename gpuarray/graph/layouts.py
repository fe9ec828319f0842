"""Layouts: a shape, strides and an offset over flat storage, and the algebra of views on them.

A layout maps an index of its shape to a position in flat storage, ``offset + sum(index[k] * strides[k])``, all counted
in elements. Every view operation makes a new layout and touches no data. :func:`compose` is the heart: it says what a
view of a view is, or that no single layout can say it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import gcd, prod
from typing import Any, NamedTuple, TypeAlias

from gpuarray.graph.moving import MustStay, is_moving
from gpuarray.graph.varying import at_example, varies

Shape: TypeAlias = tuple[int, ...]


class Layout(NamedTuple):
    """Where the elements of an array of ``shape`` lie in flat storage.

    While a plan is made, the offset may be one that moves (:mod:`gpuarray.graph.moving`), and each number may be one
    that varies (:mod:`gpuarray.graph.varying`).
    """

    shape: Shape
    strides: Shape
    offset: int

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps, from any offset."""
        return self.strides == contiguous_strides(self.shape) or _collapsed(self).strides in ((), (1,))

    @property
    def moves(self) -> bool:
        """Whether the offset is a run-time parameter."""
        return is_moving(self.offset)

    def at_example(self) -> "Layout":
        """Return the layout in the graph for which a plan was made."""
        return self.at(at_example)

    def at(self, value_of: Callable[[int], int]) -> "Layout":
        """Return the layout with other numbers in place of its own."""
        return Layout(tuple(map(value_of, self.shape)), tuple(map(value_of, self.strides)), value_of(self.offset))

    def bounds(self) -> tuple[int, int]:
        """Return the lowest and the highest position touched; (0, -1) if there is no element."""
        if 0 in self.shape:
            return 0, -1
        low = high = self.offset
        for extent, stride in zip(self.shape, self.strides, strict=True):
            reach = (extent - 1) * stride
            if reach < 0:
                low += reach
            else:
                high += reach
        return low, high


@lru_cache(maxsize=8192)
def contiguous_strides(shape: Shape) -> Shape:
    """Return the C-order strides of ``shape``, in elements."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@lru_cache(maxsize=8192)
def contiguous(shape: Shape) -> Layout:
    """Return the C-order layout of ``shape`` from position 0."""
    return Layout(shape, contiguous_strides(shape), 0)


def is_identity(layout: Layout, size: int) -> bool:
    """Whether ``layout`` covers storage of ``size`` elements exactly, in C order."""
    return layout.offset == 0 and layout.size == size and layout.is_contiguous


@lru_cache(maxsize=8192)
def broadcast(shape: Shape, target: Shape) -> Layout:
    """Return the layout through which contiguous storage of ``shape`` appears with the shape ``target``."""
    return broadcast_layout(contiguous(shape), target)


def broadcast_layout(layout: Layout, target: Shape) -> Layout:
    """Return ``layout`` broadcast to ``target``, which must be compatible with its shape."""
    lead = len(target) - len(layout.shape)
    strides = [0] * lead
    for extent, stride, target_extent in zip(layout.shape, layout.strides, target[lead:], strict=True):
        strides.append(stride if extent == target_extent else 0)
    return Layout(target, tuple(strides), layout.offset)


def permute(layout: Layout, axes: Sequence[int]) -> Layout:
    """Return ``layout`` with its axes, or some of them, in the order ``axes``."""
    return Layout(tuple(layout.shape[a] for a in axes), tuple(layout.strides[a] for a in axes), layout.offset)


def slice_axis(layout: Layout, axis: int, start: int, step: int, extent: int) -> Layout:
    """Return ``layout`` with ``axis`` restricted to ``extent`` positions from ``start`` in steps of ``step``."""
    shape, strides = list(layout.shape), list(layout.strides)
    offset = layout.offset + (start * strides[axis] if extent else 0)
    shape[axis] = extent
    strides[axis] *= step
    return Layout(tuple(shape), tuple(strides), offset)


def complement(shape: Shape, region: Layout) -> list[Layout] | None:
    """Return boxes that cover the rest of contiguous storage of ``shape``.

    Return None if ``region`` is not a box, or moves.
    """
    rest = contiguous(shape)
    if region.moves or region.strides != rest.strides:
        return None
    boxes = []
    first = region.offset
    for axis, (extent, stride) in enumerate(zip(region.shape, region.strides, strict=True)):
        start, first = divmod(first, stride)
        stop = start + extent
        if stop > shape[axis]:
            return None
        boxes += [
            slice_axis(rest, axis, begin, 1, end - begin)
            for begin, end in ((0, start), (stop, shape[axis]))
            if end > begin
        ]
        rest = slice_axis(rest, axis, start, 1, extent)
    return boxes


def flip(layout: Layout, axes: Sequence[int]) -> Layout:
    """Return ``layout`` with the order of elements reversed along ``axes``."""
    for axis in axes:
        extent = layout.shape[axis]
        layout = slice_axis(layout, axis, max(extent - 1, 0), -1, extent)
    return layout


@lru_cache(maxsize=8192)
def reshape(layout: Layout, shape: Shape) -> Layout | None:
    """Return ``layout`` seen with ``shape`` (of equal size), or None if that needs a copy."""
    if layout.shape == shape:
        return layout
    if 0 in shape:
        return Layout(shape, contiguous_strides(shape), layout.offset)
    old = _collapsed(layout)
    strides: list[int] = []
    axis = len(old.shape) - 1
    remaining, step = (old.shape[axis], old.strides[axis]) if axis >= 0 else (1, 1)
    for extent in reversed(shape):
        if extent == 1:
            strides.append(step)
            continue
        if remaining == 1:
            axis -= 1
            remaining, step = old.shape[axis], old.strides[axis]
        if remaining % extent:
            return None
        strides.append(step)
        remaining //= extent
        step *= extent
    return Layout(shape, tuple(reversed(strides)), layout.offset)


@lru_cache(maxsize=8192)
def _collapsed(layout: Layout) -> Layout:
    """Return a layout with the axes merged that it steps through as one."""
    return collapse((layout,))[0]


def collapse(layouts: Sequence[Layout]) -> list[Layout]:
    """Merge the adjacent axes that every one of ``layouts`` (all of one shape) steps through as one.

    Axes of extent 1 vanish; the result has one common shape, in the same order of elements.
    """
    shape = layouts[0].shape
    merged: list[int] = []
    strides: list[list[int]] = [[] for _ in layouts]
    for axis in range(len(shape)):
        extent = shape[axis]
        if extent == 1:
            continue
        steps = [layout.strides[axis] for layout in layouts]
        if merged and all(line[-1] == step * extent for line, step in zip(strides, steps, strict=True)):
            merged[-1] *= extent
            for line, step in zip(strides, steps, strict=True):
                line[-1] = step
        else:
            merged.append(extent)
            for line, step in zip(strides, steps, strict=True):
                line.append(step)
    common = tuple(merged)
    return [Layout(common, tuple(line), layout.offset) for line, layout in zip(strides, layouts, strict=True)]


def are_apart(first: Layout, second: Layout) -> bool:
    """Whether two layouts surely name no position in common: their ranges are apart, or they take turns.

    Examples
    --------
    >>> are_apart(Layout((5,), (2,), 0), Layout((5,), (2,), 3))
    True
    """
    if first.moves or second.moves:
        return _stay_apart(first, second)
    (low, high), (least, most) = first.bounds(), second.bounds()
    if high < least or most < low:
        return True
    if 0 in first.shape or 0 in second.shape:
        return True
    steps = [step for layout in (first, second) for step, n in zip(layout.strides, layout.shape, strict=True) if n > 1]
    if any(map(varies, steps)):
        return False
    step = gcd(*steps)
    return step > 1 and (first.offset - second.offset) % step != 0


def _stay_apart(first: Layout, second: Layout) -> bool:
    """Return the result of :func:`are_apart` for offsets that move: it is right, or noted as an assumption."""
    moving: Any = first.offset if first.moves else second.offset
    if first.moves and second.moves and moving.follows(second.offset):
        return are_apart(first._replace(offset=first.offset - second.offset), second._replace(offset=0))
    if not are_apart(first.at_example(), second.at_example()):
        return False
    if moving.assumed is None:
        raise MustStay(moving.number)
    moving.assumed.append((first, second))
    return True


def _digits(position: int, strides: Shape) -> list[int]:
    digits = []
    for stride in strides:
        digit, position = divmod(position, stride)
        digits.append(digit)
    return digits


@lru_cache(maxsize=65536)
def compose(outer: Layout, inner: Layout) -> Layout | None:
    """Return the layout of ``outer``, a view over the elements of ``inner`` in C order; None if there is none.

    ``outer`` counts positions among the elements of ``inner`` (as if these were stored contiguously); the result
    counts positions in the storage of ``inner``.
    """
    if outer.shape == inner.shape and outer.offset == 0 and outer.strides == contiguous_strides(outer.shape):
        return inner
    if 0 in outer.shape:
        return Layout(outer.shape, (0,) * len(outer.shape), 0)
    base = _collapsed(inner)
    if not base.shape:
        return Layout(outer.shape, (0,) * len(outer.shape), base.offset)
    if len(base.shape) == 1:
        step = base.strides[0]
        return Layout(outer.shape, tuple(s * step for s in outer.strides), base.offset + outer.offset * step)
    axes = coordinates(outer, base.shape)
    if axes is None:
        return None
    offset = base.offset + sum(axis.offset * s for axis, s in zip(axes, base.strides, strict=True))
    strides = [
        sum(coordinate.strides[axis] * s for coordinate, s in zip(axes, base.strides, strict=True))
        for axis in range(len(outer.shape))
    ]
    return Layout(outer.shape, tuple(strides), offset)


@lru_cache(maxsize=8192)
def coordinates(layout: Layout, shape: Shape) -> tuple[Layout, ...] | None:
    """Return the coordinates of the positions of a layout in an array of ``shape``, as one layout for each axis.

    Return None if there is none: if a step along an axis of the layout passes from one line of the array to the next.

    Examples
    --------
    >>> coordinates(Layout((2, 3), (5, 1), 6), (4, 5))
    (Layout(shape=(2, 3), strides=(1, 0), offset=1), Layout(shape=(2, 3), strides=(0, 1), offset=1))
    """
    radix = contiguous_strides(shape)
    start = _digits(layout.offset, radix)
    low, high = list(start), list(start)
    steps = []
    for extent, stride in zip(layout.shape, layout.strides, strict=True):
        sign = -1 if stride < 0 else 1
        digits = [sign * digit for digit in _digits(abs(stride), radix)]
        steps.append(digits)
        for k, step in enumerate(digits):
            reach = step * (extent - 1)
            low[k] += min(reach, 0)
            high[k] += max(reach, 0)
    if any(lowest < 0 for lowest in low) or any(top >= n for top, n in zip(high, shape, strict=True)):
        return None
    return tuple([Layout(layout.shape, tuple([digits[k] for digits in steps]), start[k]) for k in range(len(shape))])


@lru_cache(maxsize=8192)
def without_repetition(layout: Layout) -> tuple[tuple[int, ...], Layout]:
    """Return the axes along which a layout shows the same elements again, and the layout without them."""
    shape, strides, offset = layout
    if all(strides):
        return (), layout
    repeated = tuple([a for a, (n, s) in enumerate(zip(shape, strides, strict=True)) if n > 1 and s == 0])
    distinct = [a for a in range(len(shape)) if a not in repeated]
    return repeated, Layout(tuple([shape[a] for a in distinct]), tuple([strides[a] for a in distinct]), offset)


@lru_cache(maxsize=8192)
def is_injective(layout: Layout) -> bool:
    """Return whether a layout names no position twice, as far as strides alone tell."""
    reach = 0
    for stride, extent in sorted((abs(s), n) for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1):
        if stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


@lru_cache(maxsize=8192)
def is_permutation(layout: Layout) -> bool:
    """Return whether a layout shows contiguous storage from position 0 with its axes in another order than C's."""
    order = sorted(range(len(layout.shape)), key=lambda axis: (-layout.strides[axis], layout.shape[axis]))
    return not layout.offset and not layout.is_contiguous and permute(layout, order).is_contiguous


@lru_cache(maxsize=8192)
def inverse(layout: Layout, shape: Shape) -> Layout | None:
    """Return the layout that shows the elements of a layout in the order of the storage, if it names each once."""
    order = sorted(range(len(layout.shape)), key=lambda a: (-abs(layout.strides[a]), layout.shape[a] > 1))
    sorted_ = permute(layout, order)
    long_axes = [a for a, n in enumerate(sorted_.shape) if n > 1]
    extents = tuple(sorted_.shape[a] for a in long_axes)
    size = 1
    for extent in shape:
        size *= extent
    if layout.size != size or not size:
        return None
    if tuple(abs(sorted_.strides[a]) for a in long_axes) != contiguous_strides(extents):
        return None
    permuted = permute(contiguous(layout.shape), order)
    strides, offset = [], 0
    for a in long_axes:
        step, extent = permuted.strides[a], permuted.shape[a]
        if sorted_.strides[a] < 0:
            offset += step * (extent - 1)
            step = -step
        strides.append(step)
    return Layout(extents, tuple(strides), offset)
