"""Set functions, which use runs of equal elements.

Only the number of runs is downloaded, because it determines the shapes of the results.
"""

from functools import partial
from math import prod
from typing import Any, Final, Literal, NamedTuple, overload

import numpy as np

from gpuarray import dtypes
from gpuarray.array import WEAK, GpuArray, default_device, device_of
from gpuarray.device import Device
from gpuarray.functions import manipulation, sorting
from gpuarray.functions.arguments import (
    ArrayLike,
    along,
    as_array,
    as_arrays,
    concatenated,
    elements_at,
    result,
    standard_function,
    takes_names_of,
)
from gpuarray.functions.at_once import at_once
from gpuarray.functions.host_results import wrapped
from gpuarray.functions.registry import implements, native
from gpuarray.functions.runs import runs, runs_of_rows
from gpuarray.graph import build, tracing
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import calls, reductions
from gpuarray.ops import elementwise as ops
from gpuarray.runtime import evaluate
from gpuarray.runtime.places import is_host_device

__all__ = [
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values",
]  # fmt: skip

#: NumPy, whose own types do not say that flags may be variables.
_NUMPY: Final[Any] = np
#: Up to this number, elements are compared one by one instead of being searched in a sorted array.
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


def _unique(
    array: GpuArray, index: bool = False, inverse: bool = False, counts: bool = False, equal_nan: bool = False
) -> list[GpuArray]:
    """Return the sorted unique elements, and what else is wanted of their runs.

    On the host NumPy's own function finds them, unless a function is being recorded.
    """
    if is_host_device(array.device) and tracing.active() is None:
        results: Any = _NUMPY.unique(
            evaluate.read(array.node(), array.device), index, inverse, counts, equal_nan=equal_nan
        )
        several = results if isinstance(results, tuple) else (results,)
        return [*wrapped(several, [], [], array.device, may_be_view=False)]
    ordered = runs(array, positions=index or inverse, equal_nan=equal_nan)
    return [ordered.values(), *ordered.described(index, inverse, counts)]


@native("unique_all", at_once="elements")
@standard_function
def unique_all(x: ArrayLike, /) -> UniqueAll:
    """Return the sorted unique elements, their first indices, the inverse indices, and their counts.

    Each NaN is unique. Indices, inverse indices (of the shape of ``x``) and counts are int64.
    """
    return UniqueAll(*_unique(as_array(x), True, True, True))


@native("unique_counts", at_once="elements")
@standard_function
def unique_counts(x: ArrayLike, /) -> UniqueCounts:
    """Return the sorted unique elements and their counts, as int64; see :func:`unique_all`."""
    return UniqueCounts(*_unique(as_array(x), counts=True))


@native("unique_inverse", at_once="elements")
@standard_function
def unique_inverse(x: ArrayLike, /) -> UniqueInverse:
    """Return the sorted unique elements and the inverse indices; see :func:`unique_all`."""
    return UniqueInverse(*_unique(as_array(x), inverse=True))


def _sorted_values(x: Any) -> Any:
    return _NUMPY.unique(x, equal_nan=False)  # which numpy.unique_values does not sort


@native("unique_values", at_once="elements", call=_sorted_values)
@standard_function
def unique_values(x: ArrayLike, /) -> GpuArray:
    """Return the sorted unique elements; see :func:`unique_all`."""
    return _unique(as_array(x))[0]


def _numpys_isin(x1: Any, x2: Any, *options: Any, **keywords: Any) -> Any:
    if type(x1) in WEAK or type(x2) in WEAK:
        raise TypeError  # unlike the standard, NumPy gives Python scalars a dtype of their own
    return np.isin(x1, x2, *options, **keywords)


@partial(takes_names_of, np.isin)
@standard_function
@partial(at_once, results="sums", call=_numpys_isin)
def isin(
    x1: ArrayLike, x2: ArrayLike, /, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> GpuArray:
    """Return for each element whether it is contained in another array.

    Parameters
    ----------
    x1 : array_like
        Elements to search for.
    x2 : array_like
        Elements to search in.
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

    Raises
    ------
    ValueError
        If ``kind`` is anything else.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    first = x1 if type(x1) in WEAK and type(x2) not in WEAK else as_array(x1).node()
    second = x2 if type(x2) in WEAK else as_array(x2).node()
    is_member: Node
    if type(second) in WEAK:
        is_member = build.elementwise(ops.equal, first, second)
    elif type(first) in WEAK or not first.shape:
        is_member = build.reduce(reductions.any, build.elementwise(ops.equal, second, first), None, None, False)
    else:
        is_member = _among(first, build.reshape(second, (second.size,)), device_of(x1, x2) or default_device())
    if invert:
        is_member = build.elementwise(ops.logical_not, is_member)
    return result(is_member, x1, x2)


@implements("isin", at_once="sums")
def _isin_of_numpy(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> GpuArray:
    first, second = as_arrays(element, test_elements)
    return isin(first, second, assume_unique, invert, kind=kind)


def _among(elements: Node, others: Node, device: Device) -> Node:
    if others.size <= FEW:
        is_member: Node = build.full(elements.shape, False, dtypes.bool_)
        for number in range(others.size):
            same = build.elementwise(ops.equal, elements, build.view(others, Layout((), (), number)))
            is_member = build.elementwise(ops.logical_or, is_member, same)
        return is_member
    if is_host_device(device):
        return build.call_one(calls.isin, [elements, others], elements.shape, dtypes.bool_)
    common = dtypes.promote(elements.dtype, others.dtype)
    elements, others = build.cast(elements, common), build.cast(others, common)
    (ordered,) = build.call(calls.sort, [others], {"descending": False}, [(others.shape, common)])
    (position,) = build.call(
        calls.searchsorted, [ordered, elements], {"side": "left"}, [(elements.shape, dtypes.int64)]
    )
    there = build.gather(ordered, build.elementwise(ops.minimum, position, others.size - 1))
    return build.elementwise(ops.equal, there, elements)


@overload
def unique(
    ar: Any,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> GpuArray: ...


@overload
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[GpuArray, ...]: ...


@implements("unique", at_once="elements")
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the sorted unique elements of an array."""
    array = as_array(ar)
    if axis is not None:
        number = normalize_axis(axis, array.ndim)
    if axis is None or array.ndim == 1:
        results = _unique(array, return_index, return_inverse, return_counts, equal_nan)
    else:
        lines = manipulation.moveaxis(array, number, 0)
        rows = runs_of_rows(lines.reshape(lines.shape[0], prod(lines.shape[1:])))
        results = [array[along(number, rows.values())]]
        results += rows.described(return_index, return_inverse, return_counts)
    return tuple(results) if len(results) > 1 else results[0]


@implements("in1d")
def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> GpuArray:
    """Return whether elements of a flattened array are among those of a second one."""
    return isin(as_array(ar1).reshape(-1), ar2, assume_unique, invert, kind=kind)


def _lines(*arrays: Any) -> list[GpuArray]:
    return [array.reshape(-1) for array in as_arrays(*arrays)]


@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = ..., return_indices: Literal[False] = ...
) -> GpuArray: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = ..., *, return_indices: Literal[True]
) -> tuple[GpuArray, GpuArray, GpuArray]: ...
@implements("intersect1d", at_once="sums")
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted unique elements that are in both arrays."""
    lines = _lines(ar1, ar2)
    begins: list[GpuArray] = []
    if not assume_unique:
        line_runs = [runs(line, positions=return_indices, equal_nan=True) for line in lines]
        lines = [line.values() for line in line_runs]
        begins = [line.indices() for line in line_runs] if return_indices else []
    both = concatenated(lines, 0)
    order = sorting.argsort(both)
    ordered = elements_at(both, order)
    twice = ordered[1:] == ordered[:-1]
    common = ordered[:-1][twice]
    if not return_indices:
        return common
    positions = [order[:-1][twice], order[1:][twice] - lines[0].size]
    return (common, *(map(elements_at, begins, positions) if begins else positions))


@implements("union1d", at_once="sums")
def union1d(ar1: Any, ar2: Any) -> GpuArray:
    """Return the sorted unique elements that are in either array."""
    return unique(concatenated(_lines(ar1, ar2), 0))


@implements("setdiff1d", at_once="sums")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> GpuArray:
    """Return the sorted unique elements of the first array that are not in the second."""
    first, second = _lines(ar1, ar2)
    if not assume_unique:
        first = unique(first)
    return first[isin(first, second, invert=True)]


@implements("setxor1d", at_once="sums")
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> GpuArray:
    """Return the sorted unique elements that are in exactly one of two arrays."""
    lines = _lines(ar1, ar2)
    ordered = sorting.sort(concatenated(lines if assume_unique else [unique(line) for line in lines], 0))
    if not ordered.size:
        return ordered
    end = as_array(np.ones(1, dtypes.bool_), ordered.device)
    differ = concatenated((end, ordered[1:] != ordered[:-1], end), 0)
    return ordered[differ[1:] & differ[:-1]]
