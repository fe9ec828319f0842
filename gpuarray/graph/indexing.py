"""Index expressions: a layout for basic indexing, flat positions for advanced indexing.

The rules are NumPy's. Basic keys (integers, slices, ellipsis, None) make views. As soon as a key has an integer array
or a boolean array it is advanced: array parts broadcast together, their axes come where the first of them stood if they
stand together, else in front, and the result is a new array.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from operator import index
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.graph import build, tracing
from gpuarray.graph.layouts import Layout, Shape, contiguous, slice_axis
from gpuarray.graph.nodes import Map, Node
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators

#: The types of bounds of slices that need no conversion.
_BOUNDS: Final = frozenset((int, type(None)))
#: Types of the items of basic keys that are no ellipsis.
_ITEMS: Final = frozenset((int, slice, type(None)))

INDEX_LIMIT = 1 << 31


def index_dtype(size: int) -> DType:
    """Return the dtype of positions in arrays of a size."""
    return dtypes.int32 if size < INDEX_LIMIT else dtypes.int64


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """An integer array (a node, already in range and not negative) that indexes one axis of the layout so far."""

    axis: int
    node: Node


@dataclass(frozen=True, slots=True)
class Selection:
    """A parsed key: the layout after its basic parts, and the array parts that index some axes of that layout."""

    layout: Layout
    arrays: tuple[ArrayPart, ...]
    front: bool
    """Whether the broadcast axes of the array parts come first in the result."""


@dataclass(frozen=True, slots=True)
class Integers:
    """An integer-array key element: a node of signed 64-bit or unsigned positions that may be negative.

    ``extent`` is what the axis must have, if they are those at which a boolean array holds. If ``exact`` is given, the
    positions are between ``lowest`` and ``highest``, and it finds the exact ones.
    """

    node: Node
    lowest: int | None
    highest: int | None
    extent: int | None = None
    exact: Callable[[], tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True)
class Mask:
    """A boolean-array key element: for each of its axes the positions at which it holds, and its shape."""

    positions: tuple[Node, ...]
    shape: Shape


def is_basic(key: Any) -> bool:
    """Whether a key element is of the kinds that make views."""
    return key is None or key is Ellipsis or (isinstance(key, slice | int | np.integer) and not isinstance(key, bool))


def part(layout: Layout, key: Any) -> Layout | None:
    """Return the layout that a key of Python integers, slices of them, None and ``...`` selects; None for other keys.

    Loops move such keys over arrays, so this does by itself what :func:`select` does for keys of all kinds.

    Raises
    ------
    IndexError
        If the key does not fit.
    """
    shape, strides, offset = layout
    if type(key) is int and shape and -shape[0] <= key < shape[0]:
        return Layout(shape[1:], strides[1:], offset + (key if key >= 0 else key + shape[0]) * strides[0])
    if type(key) is not tuple:
        key = (key,)
    extents: list[int] = []
    steps: list[int] = []
    axis, ndim = 0, len(shape)
    for item in key:
        kind = type(item)
        if axis < ndim and kind is int:
            extent = shape[axis]
            if not -extent <= item < extent:
                integer_in_range(item, axis, extent)
            offset += (item if item >= 0 else item + extent) * strides[axis]
            axis += 1
        elif axis < ndim and kind is slice:
            if item.step is None and item.start is None and item.stop is None:
                extents.append(shape[axis])
                steps.append(strides[axis])
            elif _BOUNDS.issuperset((type(item.start), type(item.stop), type(item.step))):
                start, stop, step = item.indices(shape[axis])
                count = len(range(start, stop, step))
                if count:
                    offset += start * strides[axis]
                extents.append(count)
                steps.append(strides[axis] * step)
            else:
                return None
            axis += 1
        elif item is None:
            extents.append(1)
            steps.append(0)
        elif item is Ellipsis and sum([other is Ellipsis for other in key]) == 1:
            later = key[key.index(Ellipsis) + 1 :]
            if not _ITEMS.issuperset(map(type, later)):  # masks take any number of axes
                return _part(layout, key)
            after = ndim - len(later) + later.count(None)
            if after < axis:
                return _part(layout, key)
            extents += shape[axis:after]
            steps += strides[axis:after]
            axis = after
        else:
            return _part(layout, key)
    return Layout((*extents, *shape[axis:]), (*steps, *strides[axis:]), offset)


def _part(layout: Layout, key: tuple[Any, ...]) -> Layout | None:
    """Return the selection of :func:`part` for a key with NumPy integers, or with too many elements."""
    for item in key:
        if type(item) is slice:
            if not _BOUNDS.issuperset((type(item.start), type(item.stop), type(item.step))):
                return None
        elif not (type(item) is int or item is None or item is Ellipsis or isinstance(item, np.integer)):
            return None
    items = [int(item) if isinstance(item, np.integer) else item for item in key]
    consumed = [0 if item is None or item is Ellipsis else 1 for item in items]
    return part(layout, tuple(expand(items, len(layout.shape), consumed)))


def expand(key: Sequence[Any], ndim: int, consumed: Sequence[int]) -> list[Any]:
    """Return the key elements with the ellipsis written out, unless it stands for no axis.

    ``consumed`` is how many axes each element takes.

    Raises
    ------
    IndexError
        If there are too many indices, or more than one ellipsis.
    """
    used = sum(consumed)
    if used > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed")
    dots = [i for i, item in enumerate(key) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest: list[Any] = [slice(None)] * (ndim - used)
    if not dots:
        return [*key, *rest]
    return [*key[: dots[0]], *(rest or [Ellipsis]), *key[dots[0] + 1 :]]


def integer_in_range(position: Any, axis: int, extent: int) -> int:
    """Return ``position`` counted from the front.

    Raises
    ------
    IndexError
        If it is out of range.
    """
    number = index(position)
    if not -extent <= number < extent:
        raise IndexError(f"index {number} is out of bounds for axis {axis} with size {extent}")
    return number + extent if number < 0 else number


def select(layout: Layout, items: Sequence[Any]) -> Selection:
    """Apply expanded key elements (integers, slices, None, ``...``, :class:`Integers`) to a layout."""
    shape: list[int] = []
    strides: list[int] = []
    arrays: list[ArrayPart] = []
    offset = layout.offset
    axis = 0
    kinds: list[bool] = []
    mixed = any(isinstance(item, Integers) for item in items)
    chosen = all(item.node.size for item in items if isinstance(item, Integers))
    for item in items:
        if item is None or item is Ellipsis:
            if item is None:
                shape.append(1)
                strides.append(0)
            kinds.append(False)
            continue
        extent, stride = layout.shape[axis], layout.strides[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(extent)
            count = len(range(start, stop, step))
            sliced = slice_axis(Layout((extent,), (stride,), 0), 0, start, step, count)
            shape.append(sliced.shape[0])
            strides.append(sliced.strides[0])
            offset += sliced.offset
            kinds.append(False)
        elif isinstance(item, Integers):
            arrays.append(ArrayPart(len(shape), _checked(item, axis, extent, chosen=chosen)))
            shape.append(extent)
            strides.append(stride)
            kinds.append(True)
        else:
            offset += integer_in_range(item, axis, extent) * stride
            if mixed:
                kinds.append(True)
        axis += 1
    groups = [i for i, kind in enumerate(kinds) if kind]
    together = not groups or groups[-1] - groups[0] + 1 == len(groups)
    return Selection(Layout(tuple(shape), tuple(strides), offset), tuple(arrays), not together)


def _are_in_range(item: Integers, extent: int) -> bool:
    return all(bound is not None and -extent <= bound < extent for bound in (item.lowest, item.highest))


def _checked(item: Integers, axis: int, extent: int, *, chosen: bool) -> Node:
    """Return the positions counted from the front; raise IndexError for the first that is out of range.

    Where the arrays of a key together choose nothing, NumPy does not look at what is in them.
    """
    node = item.node
    if item.exact is not None and not _are_in_range(item, extent):
        item = Integers(node, *item.exact(), item.extent)
    for bound in (item.lowest, item.highest) if chosen else ():
        if bound is not None and not -extent <= bound < extent:
            raise IndexError(f"index {bound} is out of bounds for axis {axis} with size {extent}")
    if item.lowest is not None:
        tracing.mode().require(node, -extent if item.lowest < 0 else 0, extent)
    narrow = index_dtype(extent)
    signed = build.cast(node, narrow) if node.dtype != narrow else node
    if item.lowest is None or item.lowest < 0:
        wrapped = build.elementwise(ops.add, signed, extent)
        signed = build.elementwise(ops.where, build.elementwise(ops.less, signed, 0), wrapped, signed)
    if item.lowest is None:
        signed = build.elementwise(ops.maximum, build.elementwise(ops.minimum, signed, extent - 1), 0)
    return signed


def positions_to_write(selection: Selection, storage_size: int) -> Node:
    """Return the positions of :func:`positions` in any integer dtype: one array of indices of a line as it was given.

    A scatter reads them from memory, where a conversion would have to put them first.
    """
    chosen = rows(selection, storage_size) if len(selection.layout.shape) == 1 else None
    return positions(selection, storage_size) if chosen is None else chosen


def rows(selection: Selection, storage_size: int) -> Node | None:
    """Return the numbers of the rows that a selection consists of, in any integer dtype, as they were given.

    None if it does not consist of whole rows of a storage that is cut into rows of that length.
    """
    layout, arrays = selection.layout, selection.arrays
    if len(arrays) != 1 or arrays[0].axis or layout.offset:
        return None
    width = prod(layout.shape[1:])
    if not width or storage_size % width or layout.strides != (width, *contiguous(layout.shape[1:]).strides):
        return None
    node = arrays[0].node
    return node.inputs[0] if isinstance(node, Map) and node.op is ops.cast and node.inputs else node


def positions(selection: Selection, storage_size: int) -> Node:
    """Return the flat storage positions of a selection, in the shape of its result."""
    layout = selection.layout
    dtype = index_dtype(storage_size)
    arrays = selection.arrays
    if not arrays:
        return _affine(layout, dtype)
    indexed = {element.axis for element in arrays}
    common: Shape = ()
    for element in arrays:
        common = broadcast_shapes(common, element.node.shape)
    free = [a for a in range(len(layout.shape)) if a not in indexed]
    before = [] if selection.front else [a for a in free if a < arrays[0].axis]
    after = [a for a in free if a not in before]
    result_shape = tuple(layout.shape[a] for a in before) + common + tuple(layout.shape[a] for a in after)
    basic = Layout(
        result_shape,
        tuple(layout.strides[a] for a in before) + (0,) * len(common) + tuple(layout.strides[a] for a in after),
        layout.offset,
    )
    total: Node | None = None
    for element in arrays:
        term, stride = build.cast(element.node, dtype), layout.strides[element.axis]
        term = term if stride == 1 else build.elementwise(ops.multiply, term, stride)
        total = term if total is None else build.elementwise(ops.add, total, term)
    assert total is not None
    lead = (1,) * len(before) + total.shape + (1,) * len(after)
    total = build.reshape(total, lead)
    is_all = lead == result_shape and not basic.offset
    return total if is_all else build.elementwise(ops.add, total, _affine(basic, dtype))


def _affine(layout: Layout, dtype: dtypes.DType) -> Node:
    """Return the positions that a layout names, as a sum of ranges, one an axis."""
    total: Node = build.full(layout.shape, layout.offset, dtype)
    ndim = len(layout.shape)
    for axis, (extent, stride) in enumerate(zip(layout.shape, layout.strides, strict=True)):
        if stride == 0 or extent == 1:
            continue
        line = build.generate(generators.arange, (0, stride), (extent,), dtype)
        shape = tuple(extent if a == axis else 1 for a in range(ndim))
        total = build.elementwise(ops.add, total, build.reshape(line, shape))
    return total


def elements(item: Any) -> tuple[list[Any], list[int]]:
    """Return a key element as what :func:`select` takes, and how many axes each part consumes."""
    if item is None or item is Ellipsis:
        return [item], [0]
    if isinstance(item, slice):
        return [item], [1]
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return [item], [1]
    if isinstance(item, Integers):
        return [item], [1]
    if isinstance(item, Mask):
        return _mask_elements(item)
    host = np.asarray(item)
    tracing.mode().looked_at(host)
    if host.size == 0 and not isinstance(item, np.ndarray):
        host = host.astype(np.int64)
    if host.dtype == np.bool_:
        return _mask_elements(Mask(tuple(build.host_node(p) for p in np.nonzero(host)), host.shape))
    if host.dtype.kind not in "iu":
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, not {host.dtype}; only integers, slices "
            "(`:`), ellipsis (`...`), None and integer or boolean arrays are valid indices"
        )
    lowest, highest = (int(host.min()), int(host.max())) if host.size else (0, -1)
    return [Integers(build.host_node(host), lowest, highest if host.size else None)], [1]


def _mask_elements(mask: Mask) -> tuple[list[Any], list[int]]:
    pairs = zip(mask.positions, mask.shape, strict=True)
    return [Integers(node, 0, None, extent) for node, extent in pairs], [1] * len(mask.shape)


def check_masks(items: Sequence[Any], shape: Shape) -> None:
    """Raise IndexError unless the extents of boolean arrays are those of the axes that they index.

    An extent of 0, which selects nothing, fits all.
    """
    axis = 0
    for item in items:
        if isinstance(item, Integers) and item.extent not in (None, 0, shape[axis]):
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is {shape[axis]} but size "
                f"of corresponding boolean axis is {item.extent}"
            )
        axis += item is not None and item is not Ellipsis
