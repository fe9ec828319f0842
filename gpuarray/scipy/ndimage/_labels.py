"""Connected parts of an array, and what their elements amount to."""

from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions import creation, elementwise, searching
from gpuarray.functions.arguments import as_array, as_arrays, read
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import broadcast_arrays
from gpuarray.functions.mathematics import clip
from gpuarray.functions.ranges import arange
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build
from gpuarray.ops import elementwise as ops
from gpuarray.ops import images
from gpuarray.runtime import evaluate
from gpuarray.scipy._mirror import is_target, mirrors, trial
from gpuarray.scipy._repeats import repeated
from gpuarray.scipy.ndimage._arguments import by_name

__all__ = [
    "center_of_mass", "label", "maximum", "mean", "minimum", "standard_deviation", "sum", "sum_labels", "variance",
]  # fmt: skip


def _at(line: GpuArray, positions: GpuArray) -> GpuArray:
    return make(build.gather(line.node(), positions.node()), line.device)


def _roots(inside: GpuArray, structure: Any) -> GpuArray:
    """Return for each element the position of the first element of its part; outside parts the size of the array."""
    steps = [tuple(place) for place in (np.argwhere(structure) - 1).tolist()]
    before = tuple(step for step in steps if step < (0,) * inside.ndim)
    node = build.call_one(images.first_of_part, (inside.node(),), inside.shape, dtypes.int32, before=before)
    return make(node, inside.device)


def _labels(input: Any, structure: Any, output: Any) -> Any:
    """Return SciPy's labels alone."""
    return ndimage.label(input, structure, output)[0]


def _labelled(source: GpuArray, structure: Any, dtype: Any) -> tuple[GpuArray, GpuArray]:
    """Return the labels of elements, and the largest one."""
    known = ndimage.generate_binary_structure(source.ndim, 1) if structure is None else structure.astype(bool)
    inside = source if source.dtype.kind == "b" else source != 0
    roots = _roots(inside, known).reshape(-1)
    is_root = roots == arange(source.size, dtype=np.int32, device=source.device)
    numbers = is_root.astype(np.int32).cumsum(0, dtype=np.int32)
    first = elementwise.minimum(roots, np.int32(source.size - 1))
    labels = where(inside, _at(numbers, first).reshape(source.shape), np.int32(0)).astype(dtype)
    return labels, make(numbers[-1:].node(), source.device)


@mirrors(ndimage.label, kind=COMPOSED)
@by_name(ndimage.label)
def label(a: Any) -> Any:
    """Return an array with a number for each connected part, and how many parts there are."""
    source = as_array(a.input)
    structure = None if a.structure is None else np.asarray(read(a.structure))
    wanted = a.output.dtype if is_target(a.output) else a.output
    dtype = trial(_labels, source, structure, wanted)
    if is_target(a.output) and a.output.shape != source.shape:
        raise ValueError("input and output must have the same shape")
    if source.size and source.ndim:
        labels, last = repeated(_labelled, (source, structure, dtype), {})
        evaluate.evaluate((labels.node(), last.node()), labels.device)
        count = int(last.item())
    else:
        inside = source != 0
        count = int(inside.astype(np.int32).sum().item())
        labels = inside.astype(dtype)
    if not is_target(a.output):
        return labels, count
    if isinstance(a.output, GpuArray):
        a.output[...] = labels
    else:
        np.copyto(a.output, labels.get())
    return count


# -- measurements -----------------------------------------------------------------------------------------------------


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
    wanted = np.asarray(read(a.index))
    known, order = np.unique(wanted, return_inverse=True)
    table = as_array(known, source.device)
    place = clip(searching.searchsorted(table, line), 0, known.size - 1).astype(np.int32)
    group = where(_at(table, place) == line, place, np.int32(known.size))
    return _Groups(values, group, known.size, order.reshape(wanted.shape))


def _totals(values: GpuArray, groups: _Groups) -> GpuArray:
    """Return the sum of values for each group, in float64."""
    start = build.full((groups.number + 1,), 0, dtypes.float64)
    node = build.scatter_combined(ops.add, start, values.astype(dtypes.float64).node(), groups.group.node())
    return make(node, values.device)[: groups.number]


def _listed(found: GpuArray, groups: _Groups) -> GpuArray:
    result: GpuArray = found[groups.order] if groups.order.size else found[:0].reshape(groups.order.shape)
    return result


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
    counts = _totals(creation.ones(values.shape, dtype=np.float64, device=values.device), groups)
    totals = _totals(values, groups)
    if of_squares:
        means = totals / elementwise.maximum(counts, 1.0)
        away = values - _at(means, elementwise.minimum(groups.group, np.int32(groups.number - 1)))
        totals = _totals(away * away, groups)
    return _listed(counts, groups), _listed(totals, groups)


@mirrors(ndimage.sum_labels)
@by_name(ndimage.sum_labels)
def sum_labels(a: Any) -> GpuArray:
    """Return the sum of the elements with each label."""
    return _sums(a)[1]


@mirrors(ndimage.sum)
@by_name(ndimage.sum)
def sum(a: Any) -> GpuArray:
    """Return the sum of the elements with each label; an old name of :func:`sum_labels`."""
    return _sums(a)[1]


@mirrors(ndimage.mean)
@by_name(ndimage.mean)
def mean(a: Any) -> GpuArray:
    """Return the mean of the elements with each label."""
    count, total = _sums(a)
    return total / count.astype(np.float64)


@mirrors(ndimage.variance)
@by_name(ndimage.variance)
def variance(a: Any) -> GpuArray:
    """Return the variance of the elements with each label."""
    count, total = _sums(a, of_squares=True)
    return total / count.astype(np.float64)


@mirrors(ndimage.standard_deviation)
@by_name(ndimage.standard_deviation)
def standard_deviation(a: Any) -> GpuArray:
    """Return the standard deviation of the elements with each label."""
    count, total = _sums(a, of_squares=True)
    return elementwise.sqrt(total / count.astype(np.float64))


def _extreme(a: Any, combine: Any, *, is_least: bool) -> GpuArray:
    groups = _groups(a)
    kind = groups.values.dtype
    if kind.kind == "f":
        bound = np.inf if is_least else -np.inf
    elif kind.kind == "b":
        bound = is_least
    else:
        bound = np.iinfo(kind).max if is_least else np.iinfo(kind).min
    if groups.order is None:
        if not bool((groups.group == 0).any().item()):
            raise ValueError("zero-size array to reduction operation which has no identity: no element has the label")
        kept = where(groups.group == 0, groups.values, kind.type(bound))
        return kept.min() if is_least else kept.max()
    start = build.full((groups.number + 1,), kind.type(bound), kind)
    node = build.scatter_combined(combine, start, groups.values.node(), groups.group.node())
    counts = _totals(creation.ones(groups.values.shape, dtype=np.float64, device=groups.values.device), groups)
    found = where(counts > 0, make(node, groups.values.device)[: groups.number], kind.type(0))
    return _listed(found, groups)


@mirrors(ndimage.minimum, kind=COMPOSED)
@by_name(ndimage.minimum)
def minimum(a: Any) -> GpuArray:
    """Return the least of the elements with each label."""
    return _extreme(a, ops.minimum, is_least=True)


@mirrors(ndimage.maximum, kind=COMPOSED)
@by_name(ndimage.maximum)
def maximum(a: Any) -> GpuArray:
    """Return the greatest of the elements with each label."""
    return _extreme(a, ops.maximum, is_least=False)


@mirrors(ndimage.center_of_mass, kind=COMPOSED)
@by_name(ndimage.center_of_mass)
def center_of_mass(a: Any) -> Any:
    """Return the centre of mass of the elements with each label: tuples of numbers, as in SciPy."""
    source = as_array(a.input)
    weights = source.astype(np.float64)
    total = _sums(a)[1]
    centres = []
    for axis, extent in enumerate(source.shape):
        line = as_array(np.arange(extent, dtype=float), source.device)
        a.input = weights * line.reshape([-1 if axis == other else 1 for other in range(source.ndim)])
        centres.append(_sums(a)[1] / total)
    found = np.stack([centre.get() for centre in centres], axis=-1)
    if found.ndim == 1:
        return tuple(found)
    return [tuple(row) for row in found]
