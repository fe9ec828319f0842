"""Runs of equal elements, or equal rows, of sorted arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import Compaction, GpuArray, compaction, make
from gpuarray.functions import ranges, sorting
from gpuarray.functions.arguments import concatenated
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators


@dataclass(frozen=True)
class Runs:
    """The elements of an array in order, as runs of equal ones.

    Attributes
    ----------
    source : GpuArray
        The array.
    ordered : Node
        Its elements in order.
    order : Node or None
        Their positions in the array in C order, if they are wanted.
    first : Compaction
        The selection of the first element of each run.
    """

    source: GpuArray
    ordered: Node
    order: Node | None
    first: Compaction

    def values(self) -> GpuArray:
        """Return the element of each run."""
        return self._array(self.first.take(self.ordered))

    def indices(self) -> GpuArray:
        """Return for each run the position of the first of its elements."""
        assert self.order is not None
        return self._array(self.first.take(self.order))

    def inverse_indices(self) -> GpuArray:
        """Return for each element the number of its run, in the array's shape."""
        assert self.order is not None
        numbers = build.cast(self.first.ranks, dtypes.int64)
        return self._array(build.reshape(build.scatter_all(numbers, self.order, self.order.shape), self.source.shape))

    def counts(self) -> GpuArray:
        """Return the number of elements of each run."""
        begins = self.first.positions()
        last = self.first.count - 1
        number = _numbers(begins.size)
        following = build.gather(begins, build.elementwise(ops.minimum, build.elementwise(ops.add, number, 1), last))
        ends = build.elementwise(ops.where, build.elementwise(ops.equal, number, last), self.ordered.size, following)
        return self._array(build.elementwise(ops.subtract, ends, begins))

    def described(self, index: bool, inverse: bool, counts: bool) -> list[GpuArray]:
        """Return the requested ones of indices, inverse indices and counts."""
        descriptions = ((index, self.indices), (inverse, self.inverse_indices), (counts, self.counts))
        return [describe() for is_wanted, describe in descriptions if is_wanted]

    def _array(self, node: Node) -> GpuArray:
        return make(node, self.source.device)


def _numbers(size: int) -> Node:
    return build.generate(generators.arange, (0, 1), (size,), dtypes.int64)


def runs(array: GpuArray, *, positions: bool, equal_nan: bool) -> Runs:
    """Put the elements of an array in order and find the runs of equal ones.

    Parameters
    ----------
    array : GpuArray
        Any array.
    positions : bool
        Whether the positions of the elements are wanted.
    equal_nan : bool
        Whether all NaN are one run; otherwise each is a run.
    """
    line = array.reshape(-1)
    order = sorting.argsort(line).node() if positions else None
    ordered = build.gather(line.node(), order) if order is not None else sorting.sort(line).node()
    number = _numbers(ordered.size)
    before = build.elementwise(ops.maximum, build.elementwise(ops.subtract, number, 1), 0)
    previous = build.gather(ordered, before)
    begins = build.elementwise(ops.not_equal, ordered, previous)
    if equal_nan and array.dtype.kind in "fc":
        both = build.elementwise(ops.logical_and, *(build.elementwise(ops.isnan, x) for x in (ordered, previous)))
        begins = build.elementwise(ops.logical_and, begins, build.elementwise(ops.logical_not, both))
    begins = build.elementwise(ops.logical_or, build.elementwise(ops.equal, number, 0), begins)
    shared = [ordered] if order is None else [ordered, order]
    return Runs(array, ordered, order, compaction(begins, array.device, shared))


def runs_of_rows(table: GpuArray) -> Runs:
    """Return the runs of equal rows of a matrix, whose values are the positions of their first rows."""
    count, columns = table.shape
    number = ranges.arange(count, dtype=dtypes.int64, device=table.device)
    if not columns or not count:
        order, begins = number, number == 0
    else:
        order = sorting.lexsort([table[:, k] for k in range(columns - 1, -1, -1)])
        ordered = table[order]
        differ: Any = np.any(ordered[1:] != ordered[:-1], axis=1)
        begins = concatenated([number[:1] == 0, differ], 0)
    first = compaction(begins.node(), table.device, [order.node()])
    return Runs(number, order.node(), order.node(), first)
