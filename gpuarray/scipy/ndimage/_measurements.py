"""Measurements of the elements with each label: sums, extremes, medians and histograms."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions import creation, elementwise, searching
from gpuarray.functions.arguments import as_array, as_arrays, elements_at, read
from gpuarray.functions.binning import histogram as counted
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import broadcast_arrays
from gpuarray.functions.mathematics import clip
from gpuarray.functions.quantiles import median as middle
from gpuarray.functions.ranges import arange
from gpuarray.functions.registry import COMPOSED
from gpuarray.functions.sorting import lexsort
from gpuarray.graph import build, tape
from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import MapOp
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._mirror import by_name

__all__ = [
    "center_of_mass", "extrema", "histogram", "maximum", "maximum_position", "mean", "median", "minimum",
    "minimum_position", "standard_deviation", "sum", "sum_labels", "variance",
]  # fmt: skip

#: Positions below this have 32 bits.
_SMALL: Final = 1 << 31
_COMPLEX: Final = "complex numbers are ordered on the host"


class _Groups(NamedTuple):
    """Elements by group.

    Attributes
    ----------
    values : GpuArray
        The elements, along one axis.
    group : GpuArray
        The group of each; ``number`` if it is in none.
    number : int
        How many groups there are.
    order : ndarray or None
        The group of each result; None for a single result.
    """

    values: GpuArray
    group: GpuArray
    number: int
    order: Any


def _groups(a: Any) -> _Groups:
    source = as_array(a.input)
    if a.labels is None:
        values = source.reshape(-1)
        return _Groups(values, creation.zeros(values.shape, dtype=np.int32, device=source.device), 1, None)
    source, labels = broadcast_arrays(*as_arrays(source, a.labels))
    values, line = source.reshape(-1), labels.reshape(-1)
    if a.index is None or np.ndim(a.index) == 0:
        chosen = line > 0 if a.index is None else line == a.index
        return _Groups(values, where(chosen, np.int32(0), np.int32(1)), 1, None)
    if not line.size:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    indices = np.asarray(read(a.index))
    known, order = np.unique(indices, return_inverse=True)
    table = as_array(known, source.device)
    position = clip(searching.searchsorted(table, line), 0, known.size - 1).astype(np.int32)
    group = where(elements_at(table, position) == line, position, np.int32(known.size))
    return _Groups(values, group, known.size, order.reshape(indices.shape))


def _totals(values: GpuArray, groups: _Groups) -> GpuArray:
    """Return the sum of values for each group, in float64.

    Raises
    ------
    TypeError
        If they are complex.
    """
    if values.dtype.kind == "c":
        kind = repr(values.dtype)
        raise TypeError(f"Cannot cast array data from {kind} to dtype('float64') according to the rule 'safe'")
    start = build.full((groups.number + 1,), 0, dtypes.float64)
    node = build.scatter_combined(ops.add, start, values.astype(dtypes.float64).node(), groups.group.node())
    return make(node, values.device)[: groups.number]


def _counts(groups: _Groups) -> GpuArray:
    """Return the number of elements of each group, in float64."""
    return _totals(creation.ones(groups.values.shape, dtype=np.float64, device=groups.values.device), groups)


def _listed(values: GpuArray, groups: _Groups) -> GpuArray:
    return values[groups.order] if groups.order.size else values[:0].reshape(groups.order.shape)


def _sums(a: Any, *, of_squares: bool = False) -> tuple[GpuArray, GpuArray]:
    """Return the number of elements and their sum, or that of the squares of their distances from the mean."""
    groups = _groups(a)
    values = groups.values
    if groups.order is None:
        chosen = groups.group == 0
        count = chosen.sum()
        total = where(chosen, values, values.dtype.type(0)).sum()
        if of_squares:
            away = where(chosen, values - total / count, 0.0)
            total = (away * away.conj()).sum()
        return count, total
    counts, totals = _counts(groups), _totals(values, groups)
    if of_squares:
        means = totals / elementwise.maximum(counts, 1.0)
        away = values - elements_at(means, elementwise.minimum(groups.group, np.int32(groups.number - 1)))
        totals = _totals(away * away, groups)
    return _listed(counts, groups), _listed(totals, groups)


@by_name(ndimage.sum_labels)
def sum_labels(a: Any) -> GpuArray:
    """Return the sum of the elements with each label."""
    return _sums(a)[1]


@by_name(ndimage.sum)
def sum(a: Any) -> GpuArray:
    """Return the sum of the elements with each label; an old name of :func:`sum_labels`."""
    return _sums(a)[1]


@by_name(ndimage.mean)
def mean(a: Any) -> GpuArray:
    """Return the mean of the elements with each label."""
    count, total = _sums(a)
    return total / count.astype(np.float64)


@by_name(ndimage.variance)
def variance(a: Any) -> GpuArray:
    """Return the variance of the elements with each label."""
    count, total = _sums(a, of_squares=True)
    return total / count.astype(np.float64)


@by_name(ndimage.standard_deviation)
def standard_deviation(a: Any) -> GpuArray:
    """Return the standard deviation of the elements with each label."""
    count, total = _sums(a, of_squares=True)
    return elementwise.sqrt(total / count.astype(np.float64))


def _empty_bound(kind: np.dtype[Any], *, is_least: bool) -> Any:
    """Return the neutral element of minima or maxima as SciPy computes them, for which NaN is the greatest number."""
    if kind.kind == "f":
        return np.nan if is_least else -np.inf
    if kind.kind == "b":
        return is_least
    return np.iinfo(kind).max if is_least else np.iinfo(kind).min


def _check_chosen(groups: _Groups, *, is_least: bool) -> None:
    if not groups.values.size or not bool((groups.group == 0).any().item()):
        name = "minimum" if is_least else "maximum"
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")


def _extreme(groups: _Groups, *, is_least: bool) -> GpuArray:
    """Return the least or the greatest element of each group; 0 for a group without elements."""
    values = groups.values
    kind, device = values.dtype, values.device
    if groups.order is None:
        _check_chosen(groups, is_least=is_least)
        bound = np.inf if kind.kind == "f" and is_least else _empty_bound(kind, is_least=is_least)
        candidates = where(groups.group == 0, values, kind.type(bound))
        return candidates.min() if is_least else candidates.max()
    combine: MapOp = (ops.fmin if kind.kind == "f" else ops.minimum) if is_least else ops.maximum
    start = build.full((groups.number + 1,), kind.type(_empty_bound(kind, is_least=is_least)), kind)
    result = make(build.scatter_combined(combine, start, values.node(), groups.group.node()), device)
    return where(_counts(groups) > 0, result[: groups.number], kind.type(0))


def _position(groups: _Groups, extreme: GpuArray, *, is_least: bool) -> Any:
    """Return flat positions of the extremes of groups, on the host: the first ones, but the last one of the greatest.

    They are those of SciPy, which sorts the elements of several groups, and takes the first that is equal of one.
    """
    values, size = groups.values, groups.values.size
    positions = arange(size, dtype=np.int32 if size < _SMALL else np.int64, device=values.device)
    if groups.order is None:
        chosen = (groups.group == 0) & (values == extreme)
        position = int(where(chosen, positions, positions.dtype.type(size)).min().item())
        if position == size:
            raise IndexError("index 0 is out of bounds for axis 0 with size 0: there is no extreme beside NaN")
        return np.int64(position)
    extreme_of = elements_at(extreme, elementwise.minimum(groups.group, np.int32(groups.number - 1)))
    is_own = values == extreme_of
    if values.dtype.kind == "f":
        is_own = is_own | (elementwise.isnan(values) & elementwise.isnan(extreme_of))
    none = positions.dtype.type(size if is_least else -1)
    start = build.full((groups.number + 1,), none, positions.dtype)
    candidates = where(is_own, positions, none)
    combine = ops.minimum if is_least else ops.maximum
    node = build.scatter_combined(combine, start, candidates.node(), groups.group.node())
    listed = np.asarray(read(make(node, values.device)), np.int64)[: groups.number]
    return np.where(listed == none, 0, listed)[groups.order]


def _unravelled(position: Any, shape: tuple[int, ...]) -> Any:
    """Return a flat position as a tuple of numbers, several as a list of tuples."""
    index = np.unravel_index(position, shape)
    return index if np.ndim(position) == 0 else [*zip(*(line.ravel() for line in index), strict=True)]


def _result(result: GpuArray, groups: _Groups) -> GpuArray:
    return result if groups.order is None else _listed(result, groups)


def _of_extremes(original: Callable[..., Any], doc: str, compute: Callable[[_Groups, tuple[int, ...]], Any]) -> Any:
    """Return one of SciPy's functions; ``compute(groups, shape)`` returns its result for real numbers."""

    def run(a: Any) -> Any:
        source = as_array(a.input)
        if source.dtype.kind == "c":
            return run_counted(original, _COMPLEX, (source, a.labels, a.index), {})
        return compute(_groups(a), source.shape)

    run.__doc__ = doc
    return by_name(original, kind=COMPOSED, reason=_COMPLEX)(run)


def _end(groups: _Groups, *, is_least: bool) -> GpuArray:
    return _result(_extreme(groups, is_least=is_least), groups)


def _end_position(groups: _Groups, shape: tuple[int, ...], *, is_least: bool) -> Any:
    return _unravelled(_position(groups, _extreme(groups, is_least=is_least), is_least=is_least), shape)


def _ends(groups: _Groups, shape: tuple[int, ...]) -> Any:
    ends = [(_extreme(groups, is_least=is_least), is_least) for is_least in (True, False)]
    positions = [_unravelled(_position(groups, extreme, is_least=is_least), shape) for extreme, is_least in ends]
    return *(_result(extreme, groups) for extreme, _ in ends), *positions


minimum = _of_extremes(
    ndimage.minimum, "Return the least of the elements with each label.", lambda g, _: _end(g, is_least=True)
)
maximum = _of_extremes(
    ndimage.maximum, "Return the greatest of the elements with each label.", lambda g, _: _end(g, is_least=False)
)
minimum_position = _of_extremes(
    ndimage.minimum_position,
    "Return the positions of the least elements with each label: tuples of numbers, as in SciPy.",
    partial(_end_position, is_least=True),
)
maximum_position = _of_extremes(
    ndimage.maximum_position,
    "Return the positions of the greatest elements with each label: tuples of numbers, as in SciPy.",
    partial(_end_position, is_least=False),
)
extrema = _of_extremes(
    ndimage.extrema, "Return the least and the greatest of the elements with each label, and their positions.", _ends
)


@by_name(ndimage.median, kind=COMPOSED)
def median(a: Any) -> GpuArray:
    """Return the median of the elements with each label."""
    groups = _groups(a)
    if groups.order is None:
        return middle(groups.values[groups.group == 0])
    values = groups.values
    order = lexsort((values, groups.group))
    values, group = elements_at(values, order), elements_at(groups.group, order)
    known = arange(groups.number, dtype=np.int32, device=values.device)
    first, end = (searching.searchsorted(group, known, side=side) for side in ("left", "right"))
    step = (end - first - 1) // 2
    if values.dtype.kind in "biu":
        values = values.astype(np.float64)
    last = max(values.size - 1, 0)
    low, high = (
        elements_at(values, clip(position, 0, last).astype(np.int32)) for position in (first + step, end - 1 - step)
    )
    # of a label without elements it is the least element with the least label, as in SciPy
    line = as_array(a.labels, values.device)
    a.index = line.min()
    lowest = _groups(a)
    least = where(lowest.group == 0, lowest.values, values.dtype.type(np.inf)).min()
    return _listed(where(end > first, (low + high) / 2.0, least.astype(values.dtype)), groups)


@by_name(ndimage.histogram, kind=COMPOSED)
def histogram(a: Any) -> Any:
    """Return the histogram of the elements with each label: an array, or NumPy's array of arrays for several labels."""
    edges = np.linspace(a.min, a.max, a.bins + 1)
    if a.labels is None and a.index is not None:
        raise ValueError("index without defined labels")
    if np.ndim(a.index) and not np.size(a.labels):
        return np.full(np.shape(a.index), None, object)
    groups = _groups(a)
    if groups.order is None:
        is_all = a.labels is None
        chosen = groups.values if is_all else groups.values[groups.group == 0]
        counts: GpuArray = counted(chosen, as_array(edges, groups.values.device))[0]
        if np.ndim(a.index) or a.index is None or chosen.size:
            return counts
        return None
    values = groups.values.astype(np.float64)
    table = as_array(edges, values.device)
    position = searching.searchsorted(table, values, side="right").astype(np.int32) - np.int32(1)
    position = where(values == edges[-1], np.int32(a.bins - 1), position)
    is_inside = (values >= edges[0]) & (values <= edges[-1]) & (groups.group < groups.number)
    position = where(is_inside, groups.group * np.int32(a.bins) + position, np.int32(groups.number * a.bins))
    start = build.full((groups.number * a.bins + 1,), 0, dtypes.int64)
    ones = build.full(position.shape, 1, dtypes.int64)
    node = build.scatter_combined(ops.add, start, ones, position.node())
    rows = make(node, values.device)[:-1].reshape(groups.number, a.bins)
    is_there = np.asarray(read(_counts(groups))) > 0
    listed = np.empty(groups.order.shape, object)
    for result, number in np.ndenumerate(groups.order):
        listed[result] = rows[int(number)] if is_there[number] else None
    return listed


@by_name(ndimage.center_of_mass, kind=COMPOSED)
def center_of_mass(a: Any) -> Any:
    """Return the centre of mass of the elements with each label: tuples of numbers, as in SciPy.

    While a function is differentiated with respect to the elements, the numbers are arrays without axes.
    """
    source = as_array(a.input)
    weights = source if source.dtype.kind == "c" else source.astype(np.float64)
    total = _sums(a)[1]
    centres = []
    for axis, extent in enumerate(source.shape):
        line = as_array(np.arange(extent, dtype=float), source.device)
        a.input = weights * line.reshape([-1 if axis == a else 1 for a in range(source.ndim)])
        centres.append(_sums(a)[1] / total)
    if tape.state.tapes and any(tape.is_followed(centre.node()) for centre in centres):
        return [*zip(*centres, strict=True)] if centres[0].ndim else tuple(centres)
    centre_array = np.array([centre.get() for centre in centres]).T
    return tuple(centre_array) if centre_array.ndim == 1 else [tuple(row) for row in centre_array]
