"""The cotangents of a pullback so far: sums of what the users of each value have contributed."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.alike import joined
from gpuarray.graph import build, indexing
from gpuarray.graph.layouts import Layout, Shape, inverse, is_injective, without_repetition
from gpuarray.graph.nodes import Generate, Node, Scatter
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.source_locations import Origin

#: So many parts of one cotangent are added by a kernel that reads all of them; small ones beyond are added in place, as
#: are those of an array to which a function writes.
_FEW: Final = 8


def is_part(layout: Layout, source: Node) -> bool:
    """Return whether a layout shows some elements of a value, each once."""
    return 0 < layout.size < source.size and is_injective(layout)


def seen_back(values: Node, layout: Layout, shape: Shape) -> Node:
    """Return an array of ``shape`` whose elements are the sums of the values that a layout shows them as."""
    repeated, layout = without_repetition(layout)
    if repeated:
        values = build.reduce(reductions.sum, values, repeated)
    whole = inverse(layout, shape)
    if whole is not None:
        return build.reshape(build.view(values, whole), shape)
    empty = build.full(shape, 0, values.dtype)
    if 0 in layout.shape:
        return empty
    if is_injective(layout):
        return build.scatter(empty, values, layout)
    positions = indexing.positions(indexing.Selection(layout, (), False), empty.size)
    return build.scatter_combined(ops.add, empty, values, positions)


class _Parts:
    """Cotangents of views of one value, which are to be added to its own.

    Attributes
    ----------
    size : int
        How many elements they have.
    origin : Origin or None
        The line of the last view.
    by_layout : dict
        For shapes and strides, the cotangents by offset.
    """

    def __init__(self) -> None:
        self.size = 0
        self.origin: Origin | None = None
        self.by_layout: dict[tuple[Shape, Shape], dict[int, GpuArray]] = {}

    def added_size(self, layout: Layout) -> int:
        """Return how many elements the cotangent of a view adds."""
        return 0 if layout.offset in self.by_layout.get(layout[:2], ()) else layout.size

    def add(self, layout: Layout, ct: GpuArray) -> None:
        """Add the cotangent of a view."""
        self.size += self.added_size(layout)
        like = self.by_layout.setdefault(layout[:2], {})
        like[layout.offset] = _sum(like.get(layout.offset), ct)

    def joined(self) -> Iterator[tuple[Layout, GpuArray]]:
        """Yield layouts and the cotangents of what they show; parts at equal distances are one."""
        for (shape, strides), like in self.by_layout.items():
            offsets = sorted(like)
            while offsets:
                count, first = 1, offsets[0]
                step = offsets[1] - first if len(offsets) > 1 else 0
                if step and is_injective(Layout((2, *shape), (step, *strides), 0)):
                    while count < len(offsets) and offsets[count] == first + count * step:
                        count += 1
                    if not is_injective(Layout((count, *shape), (step, *strides), 0)):
                        count = 1
                part = Layout(shape, strides, first)
                yield (part, like[first]) if count == 1 else _together(part, [like[n] for n in offsets[:count]], step)
                offsets = offsets[count:]


class Sums:
    """The cotangents of a pullback so far, by node, and those of joints by number.

    The cotangents of views of one value wait until its own is needed, or they have as many elements as the value. Those
    at equal distances, as of rows, columns or elements in a loop, are then joined, and added as one.

    Parameters
    ----------
    reach : callable
        Called with the depth of the graph of each sum.
    stand : callable
        Called with the source line whose derivative is recorded next.
    """

    def __init__(self, reach: Callable[[int], None], stand: Callable[[Origin | None], None]) -> None:
        self._reach = reach
        self._stand = stand
        self._known: dict[Any, Any] = {}
        self._parts: dict[Any, _Parts] = {}
        self._counts: Counter[Any] = Counter()
        """How many parts were added to each sum."""

    def add(self, node: Any, share: GpuArray) -> None:
        """Add a part to the cotangent of a node."""
        self._known[node] = share = _sum(self._known.get(node), share)
        self._reach(share._cell.node.depth)

    def add_output(self, joint: Any, number: int, share: GpuArray) -> None:
        """Add a part to the cotangent of one of the results of a joint."""
        outputs = self._known.setdefault(joint, {})
        outputs[number] = share = _sum(outputs.get(number), share)
        self._reach(share._cell.node.depth)

    def add_part(self, source: Node, layout: Layout, ct: GpuArray, origin: Origin | None) -> None:
        """Add the cotangent of a view, which :func:`is_part`, to that of its source."""
        parts = self._parts.get(source)
        if parts is not None and parts.size + parts.added_size(layout) > source.size:
            self._join(source)
            parts = None
        if parts is None:
            parts = self._parts[source] = _Parts()
        parts.origin = origin
        parts.add(layout, ct)
        self._reach(ct._cell.node.depth)

    def pop(self, node: Any) -> Any:
        """Return the cotangent of a node, or those of the outputs of a joint, and forget it; None for zeros."""
        if node in self._parts:
            self._join(node)
        return self._known.pop(node, None)

    def values(self) -> Iterator[GpuArray]:
        """Return all cotangents."""
        for source in [*self._parts]:
            self._join(source)
        return chain.from_iterable(ct.values() if isinstance(ct, dict) else (ct,) for ct in self._known.values())

    def _join(self, source: Node) -> None:
        """Add the cotangents of the views of a value to its own."""
        parts = self._parts.pop(source)
        self._stand(parts.origin)
        for layout, ct in parts.joined():
            self._counts[source] += 1
            is_updated = self._counts[source] > _FEW or _is_write(self._known.get(source))
            if is_updated and _FEW * layout.size <= source.size:
                self._known[source] = total = _added_in_place(self._known[source], ct, layout)
                self._reach(total.node().depth)
            else:
                self.add(source, wrap(seen_back(ct.node(), layout, source.shape), ct.device))


def _sum(sofar: GpuArray | None, share: GpuArray) -> GpuArray:
    return share if sofar is None else wrap(build.binary(ops.add, sofar.node(), share.node()), share.device)


def _is_write(sofar: GpuArray | None) -> bool:
    """Return whether a sum is another array in which a part was replaced, as that of one to which a loop writes."""
    node = None if sofar is None else sofar._cell.node
    return type(node) is Scatter and node.inputs != () and type(node.inputs[0]) is not Generate


def _together(first: Layout, cts: list[GpuArray], step: int) -> tuple[Layout, GpuArray]:
    """Return parts at equal distances as one part, whose axes are in the order of its memory if those of a part are.

    Parameters
    ----------
    first : Layout
        The first part.
    cts : list of GpuArray
        The cotangents of the parts.
    step : int
        The distance between their offsets.
    """
    shape, strides, offset = first
    steps = [n * stride for n, stride in zip(shape, strides, strict=True)]
    if step in steps:  # one part continues the other
        axis = steps.index(step)
        extents = (*shape[:axis], len(cts) * shape[axis], *shape[axis + 1 :])
    else:
        axis = sum(abs(stride) > step for stride in strides)
        extents = (*shape[:axis], len(cts), *shape[axis:])
        strides = (*strides[:axis], step, *strides[axis:])
    node = build.reshape(joined([ct.node() for ct in cts], axis), extents)
    return Layout(extents, strides, offset), wrap(node, cts[0].device)


def _added_in_place(array: GpuArray, share: GpuArray, layout: Layout) -> GpuArray:
    whole = array.node()
    total = build.binary(ops.add, build.view(whole, layout), share.node())
    return wrap(build.scatter(whole, total, layout), array.device)
