"""Set functions, which sort the elements and find the runs of equal ones.

Only the number of runs is downloaded, because it determines the shapes of the results.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gpuarray import dtypes
from gpuarray.array import WEAK, Compaction, GpuArray, compaction, make
from gpuarray.functions import sorting
from gpuarray.functions.arguments import ArrayLike, as_array, result, standard_function
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node
from gpuarray.ops import calls, generators, reductions
from gpuarray.ops import elementwise as rows

#: Up to so many elements are compared one by one instead of being searched in order.
FEW = 8


class UniqueAll(NamedTuple):
    """Result of :func:`unique_all`."""

    values: GpuArray
    indices: GpuArray
    inverse_indices: GpuArray
    counts: GpuArray


class UniqueCounts(NamedTuple):
    """Result of :func:`unique_counts`."""

    values: GpuArray
    counts: GpuArray


class UniqueInverse(NamedTuple):
    """Result of :func:`unique_inverse`."""

    values: GpuArray
    inverse_indices: GpuArray


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
        Their positions in the array in C order, where these were asked for.
    first : Compaction
        Where each run begins.
    """

    source: GpuArray
    ordered: Node
    order: Node | None
    first: Compaction

    def values(self) -> GpuArray:
        """Return the element of each run."""
        return self._made(self.first.take(self.ordered))

    def indices(self) -> GpuArray:
        """Return for each run the position of the first of its elements."""
        assert self.order is not None
        return self._made(self.first.take(self.order))

    def inverse_indices(self) -> GpuArray:
        """Return for each element the number of its run, in the array's shape."""
        assert self.order is not None
        numbers = build.cast(self.first.ranks, dtypes.int64)
        return self._made(build.reshape(build.place(numbers, self.order, self.order.shape), self.source.shape))

    def counts(self) -> GpuArray:
        """Return how many elements each run has."""
        begins = self.first.positions()
        last = self.first.count - 1
        number = _numbers(begins.size)
        following = build.gather(begins, build.elementwise(rows.minimum, build.elementwise(rows.add, number, 1), last))
        ends = build.elementwise(rows.where, build.elementwise(rows.equal, number, last), self.ordered.size, following)
        return self._made(build.elementwise(rows.subtract, ends, begins))

    def _made(self, node: Node) -> GpuArray:
        return make(node, self.source.device)


def _numbers(size: int) -> Node:
    return build.generate(generators.arange, (0, 1), (size,), dtypes.int64)


def runs(array: GpuArray, *, positions: bool, equal_nan: bool = False) -> Runs:
    """Put the elements of an array in order and find the runs of equal ones.

    Parameters
    ----------
    array : GpuArray
        Any array.
    positions : bool
        Whether the positions of the elements are wanted.
    equal_nan : bool
        Whether all NaN are one run; otherwise each is one by itself.
    """
    line = array.reshape(-1)
    order = sorting.argsort(line).node() if positions else None
    ordered = build.gather(line.node(), order) if order is not None else sorting.sort(line).node()
    number = _numbers(ordered.size)
    before = build.elementwise(rows.maximum, build.elementwise(rows.subtract, number, 1), 0)
    previous = build.gather(ordered, before)
    begins = build.elementwise(rows.not_equal, ordered, previous)
    if equal_nan and array.dtype.kind in "fc":
        both = build.elementwise(rows.logical_and, *(build.elementwise(rows.isnan, x) for x in (ordered, previous)))
        begins = build.elementwise(rows.logical_and, begins, build.elementwise(rows.logical_not, both))
    begins = build.elementwise(rows.logical_or, build.elementwise(rows.equal, number, 0), begins)
    kept = [ordered] if order is None else [ordered, order]
    return Runs(array, ordered, order, compaction(begins, array.device, kept))


@standard_function
def unique_all(x: ArrayLike, /) -> UniqueAll:
    """Return the sorted unique elements, their first indices, the inverse indices, and their counts.

    Each NaN is unique. Indices, inverse indices (of the shape of ``x``) and counts are int64.
    """
    found = runs(as_array(x), positions=True)
    return UniqueAll(found.values(), found.indices(), found.inverse_indices(), found.counts())


@standard_function
def unique_counts(x: ArrayLike, /) -> UniqueCounts:
    """Return the sorted unique elements and their counts, as int64; see :func:`unique_all`."""
    found = runs(as_array(x), positions=False)
    return UniqueCounts(found.values(), found.counts())


@standard_function
def unique_inverse(x: ArrayLike, /) -> UniqueInverse:
    """Return the sorted unique elements and the inverse indices; see :func:`unique_all`."""
    found = runs(as_array(x), positions=True)
    return UniqueInverse(found.values(), found.inverse_indices())


@standard_function
def unique_values(x: ArrayLike, /) -> GpuArray:
    """Return the sorted unique elements; see :func:`unique_all`."""
    return runs(as_array(x), positions=False).values()


@standard_function
def isin(
    x1: ArrayLike, x2: ArrayLike, /, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> GpuArray:
    """Return for each element whether it is contained in another array.

    Parameters
    ----------
    x1 : array_like
        Elements to search for.
    x2 : array_like
        Among what.
    assume_unique : bool
        Accepted for compatibility with NumPy.
    invert : bool
        Whether to invert the result.
    kind : {"sort", "table"}, optional
        Accepted for compatibility with NumPy.

    Returns
    -------
    GpuArray
        Of the shape of ``x1`` and dtype bool. NaN is never contained.
    """
    first = x1 if type(x1) in WEAK and type(x2) not in WEAK else as_array(x1).node()
    second = x2 if type(x2) in WEAK else as_array(x2).node()
    found: Node
    if type(second) in WEAK:
        found = build.elementwise(rows.equal, first, second)
    elif type(first) in WEAK or not first.shape:
        found = build.reduce(reductions.any, build.elementwise(rows.equal, second, first), None, None, False)
    else:
        found = _among(first, build.reshape(second, (second.size,)))
    if invert:
        found = build.elementwise(rows.logical_not, found)
    return result(found, x1, x2)


def _among(elements: Node, others: Node) -> Node:
    if others.size <= FEW:
        found: Node = build.full(elements.shape, False, dtypes.bool_)
        for number in range(others.size):
            same = build.elementwise(rows.equal, elements, build.view(others, Layout((), (), number)))
            found = build.elementwise(rows.logical_or, found, same)
        return found
    common = dtypes.promote(elements.dtype, others.dtype)
    elements, others = build.cast(elements, common), build.cast(others, common)
    (ordered,) = build.call(calls.sort, [others], {"descending": False}, [(others.shape, common)])
    (place,) = build.call(calls.searchsorted, [ordered, elements], {"side": "left"}, [(elements.shape, dtypes.int64)])
    there = build.gather(ordered, build.elementwise(rows.minimum, place, others.size - 1))
    return build.elementwise(rows.equal, there, elements)
