"""Views and registers: the arrays that a program calls ufuncs on.

A :class:`StridedView` is memory of a buffer as a loop's layout shows it; a :class:`Register` is scratch memory of a
tile's shape. Invariant: both only describe. :mod:`.program` writes them and :mod:`.loops` makes the arrays when a loop
runs.
"""

from math import prod
from typing import Final, NamedTuple

from gpuarray.dtypes import DType
from gpuarray.fusion.steps import FULL
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.providers.inprocess.tiles import Tiling

#: Shortest contiguous run for which reading a layout in place, several times, beats reading a copy.
_RUN: Final = 128


def kept_axes(shape: Shape, axes: Shape) -> Shape:
    """Return a shape with extent 1 along all axes but some."""
    return tuple(extent if axis in axes else 1 for axis, extent in enumerate(shape))


class StridedView(NamedTuple):
    """Flat memory of an input or output seen as an array, shape and strides in memory order, strides in bytes."""

    slot: int
    is_output: bool
    dtype: DType
    shape: Shape
    strides: Shape
    offset: int
    by_row: bool

    @classmethod
    def of(cls, slot: int, is_output: bool, layout: Layout, dtype: DType, tiling: Tiling, outer: int) -> "StridedView":
        """Return the view of ``layout``, which is one of the whole index space or of the rows."""
        shape, strides, offset = tiling.place(layout, outer)
        width = dtype.itemsize
        by_row = len(layout.shape) != len(tiling.order)
        # memory of no element may end before the offset
        offset = offset * width if prod(shape) else 0
        return cls(slot, is_output, dtype, shape, tuple(s * width for s in strides), offset, by_row)

    def is_awkward(self, block: Shape) -> bool:
        """Whether ufuncs would read a block of this view in short or scattered runs."""
        run, expected = 1, self.dtype.itemsize
        if not any(self.strides):
            return False
        for extent, stride in zip(reversed(block), reversed(self.strides), strict=True):
            if extent > 1 and run > 1 and stride != expected:
                return run < _RUN
            if extent > 1 and run == 1:
                if stride not in (0, expected):
                    return True
                if stride == 0:
                    return extent < _RUN
            run *= extent
            expected *= extent
        return False


class Register(NamedTuple):
    """Scratch memory slot ``slot`` of a level, seen with a dtype.

    ``axes`` are those along which its value changes, in memory order; along the others it has one element. None means
    all.
    """

    level: int
    slot: int
    dtype: DType
    axes: Shape | None = None

    def shape(self, tile: Shape) -> Shape:
        """Return the shape of the register for a tile."""
        return tile if self.axes is None else kept_axes(tile, self.axes)

    @property
    def name(self) -> str:
        """The name of the register in the program."""
        along = "" if self.axes is None else "_".join(["", *map(str, self.axes)])
        return f"{'s' if self.level == FULL else 'r'}{self.slot}{self.dtype.str[1:]}{along}"
