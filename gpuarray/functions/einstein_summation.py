"""NumPy's ``einsum``. Operands are contracted in pairs, by batches of matrix products, in NumPy's order."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import inf, prod
from operator import index
from string import ascii_letters
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import reductions
from gpuarray.functions.arguments import as_arrays, write_out
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.manipulation import diagonal
from gpuarray.functions.products import matmul
from gpuarray.functions.registry import implements, native
from gpuarray.graph.layouts import Layout, Shape

__all__ = ["einsum", "einsum_path"]


def _parsed(operands: tuple[Any, ...]) -> tuple[Sequence[str], str, list[GpuArray]]:
    """Return the labels of each operand, those of the result, and the operands.

    Subscripts are a string, or a list of axes after each operand and one for the result.
    """
    if not operands:
        raise ValueError("einsum takes subscripts and at least one operand; none are given")
    if isinstance(operands[0], str):
        arrays, text = as_arrays(*operands[1:]), operands[0].replace(" ", "")
    else:
        pairs = len(operands) // 2
        arrays = as_arrays(*operands[: 2 * pairs : 2])
        text = ",".join(map(_letters, operands[1 : 2 * pairs : 2]))
        text += f"->{_letters(operands[-1])}" if len(operands) % 2 else ""
    return *_labels(text, tuple([array.ndim for array in arrays])), arrays


@lru_cache(256)
def _labels(text: str, dimensions: tuple[int, ...]) -> tuple[Sequence[str], str]:
    """Return the labels of operands with some numbers of axes, and those of the result.

    The axes of an ellipsis get letters that are not used otherwise. They are counted from the last axis, because they
    broadcast.
    """
    operand_terms, arrow, result = text.partition("->")
    labels = operand_terms.split(",")
    if len(labels) != len(dimensions):
        more = "more" if len(labels) < len(dimensions) else "fewer"
        raise ValueError(f"{more} operands provided to einstein sum function than specified in the subscripts string")
    free = "".join(letter for letter in ascii_letters if letter not in text)
    widest = ""
    for k, (names, ndim) in enumerate(zip(labels, dimensions, strict=True)):
        if "..." in names:
            extra = ndim - len(names) + 3
            labels[k] = names.replace("...", free[:extra][::-1] if extra > 0 else "")
            widest = max(widest, free[: max(extra, 0)][::-1], key=len)
    if arrow:
        return tuple(labels), result.replace("...", widest)
    counts = Counter(operand_terms.replace(",", "").replace(".", ""))
    return tuple(labels), widest + "".join(sorted(label for label, times in counts.items() if times == 1))


def _letters(axes: Any) -> str:
    """Return a list of axes as subscripts."""
    numbers = [axis for axis in axes if axis is not Ellipsis]
    if not all(0 <= index(axis) < len(ascii_letters) for axis in numbers):
        raise ValueError(f"subscript is not within the valid range [0, {len(ascii_letters)}): {numbers}")
    return "".join("..." if axis is Ellipsis else ascii_letters[index(axis)] for axis in axes)


@lru_cache(256)
def _checked(labels: Sequence[str], result: str, shapes: tuple[Shape, ...]) -> dict[str, int]:
    """Return the extents of labels; raise ValueError if they do not fit."""
    extents: dict[str, int] = {}
    for names, shape in zip(labels, shapes, strict=True):
        if len(names) != len(shape):
            raise ValueError(f"einstein sum subscripts string {names!r} does not fit an operand of {len(shape)} axes")
        sizes: dict[str, int] = {}
        for name, extent in zip(names, shape, strict=True):
            if sizes.setdefault(name, extent) != extent:
                raise ValueError(
                    f"dimensions in one operand for collapsing index {name!r} don't match ({sizes[name]} != {extent})"
                )
        for name, extent in zip(names, shape, strict=True):
            if extents.setdefault(name, extent) not in (extent, 1) and extent != 1:
                raise ValueError(
                    f"operands could not be broadcast together: label {name!r} has extents {extents[name]} and {extent}"
                )
            if extents[name] == 1:  # the other may be 0
                extents[name] = extent
    for name in result:
        if name not in extents or result.count(name) > 1:
            raise ValueError(f"einstein sum subscripts string has an output label {name!r} that is missing or repeated")
    return extents


def _reduced(names: str, array: GpuArray, needed: set[str], dtype: Any) -> tuple[str, GpuArray]:
    """Take diagonals for labels that occur twice, and sum over labels that are not needed."""
    while len(set(names)) < len(names):
        double = next(n for n in names if names.count(n) > 1)
        first = names.index(double)
        second = names.index(double, first + 1)
        array = diagonal(array, 0, first, second)
        names = names[:first] + names[first + 1 : second] + names[second + 1 :] + double
    gone = tuple(k for k, n in enumerate(names) if n not in needed)
    if gone:
        array = reductions.sum(array, gone, dtype)
        names = "".join(n for n in names if n in needed)
    return names, array


def _view(names: str, result: str, array: GpuArray) -> GpuArray | None:
    """Return the result as a view of the operand with permuted axes and diagonals; None if a sum is needed."""
    if not result or set(names) != set(result):
        return None
    layout = array._storage_layout()
    extents = dict(zip(names, layout.shape, strict=True))
    strides = [sum(step for name, step in zip(names, layout.strides, strict=True) if name == n) for n in result]
    return array.view_of(Layout(tuple(extents[name] for name in result), tuple(strides), layout.offset))


def _aligned(names: str, array: GpuArray, order: list[str]) -> GpuArray:
    return array if order == list(names) else array.transpose([names.index(n) for n in order])


def _spread(array: GpuArray, shape: Shape) -> GpuArray:
    return array if array.shape == shape else array.broadcast(shape)


def _shaped(array: GpuArray, shape: list[int]) -> GpuArray:
    return array if array.shape == tuple(shape) else array.reshape(shape)


def _contracted(left: tuple[str, GpuArray], right: tuple[str, GpuArray], needed: set[str]) -> tuple[str, GpuArray]:
    """Return the product of two operands, summed over their common labels that are not needed."""
    (names, first), (others, second) = left, right
    batch = [n for n in names if n in others and n in needed]
    inner = [n for n in names if n in others and n not in needed]
    rows = [n for n in names if n not in others]
    columns = [n for n in others if n not in names]
    extent = dict(zip(others, second.shape, strict=True)) | dict(zip(names, first.shape, strict=True))

    def sizes(labels: list[str]) -> list[int]:
        return [extent[n] for n in labels]

    one = _aligned(names, first, [*batch, *rows, *inner])
    two = _aligned(others, second, [*batch, *inner, *columns])
    if inner:
        # vectors and matrices where there is no batch, for which NumPy has quicker products
        between = [prod(sizes(inner))]
        before, above, beside = ([prod(sizes(labels))] if labels or batch else [] for labels in (batch, rows, columns))
        product = matmul(_shaped(one, before + above + between), _shaped(two, before + between + beside))
    else:
        spread = _shaped(one, [*sizes(batch), *sizes(rows), *[1] * len(columns)])
        product = spread * _shaped(two, [*sizes(batch), *[1] * len(rows), *sizes(columns)])
    return "".join([*batch, *rows, *columns]), _shaped(product, sizes([*batch, *rows, *columns]))


def _path(labels: Sequence[str], result: str, arrays: list[GpuArray], optimize: Any) -> list[tuple[int, ...]]:
    """Return the groups of operands to contract in order. NumPy searches for them by the shapes alone."""
    if len(arrays) < 3:
        return [tuple(range(len(arrays)))]
    shapes = [np.broadcast_to(np.empty((), array.dtype), array.shape) for array in arrays]
    steps = np.einsum_path(f"{','.join(labels)}->{result}", *shapes, optimize=optimize or "greedy")[0]
    return steps[1:]


@implements("einsum_path")
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], Any]:
    """Return the order in which to contract operands; the arguments are those of ``numpy.einsum_path``."""
    shadows = [np.broadcast_to(np.empty((), x.dtype), x.shape) if isinstance(x, GpuArray) else x for x in operands]
    return np.einsum_path(*shadows, optimize=optimize, einsum_call=einsum_call)  # type: ignore[arg-type]  # private


def _of_numpy(*operands: Any, **keywords: Any) -> Any:
    result = np.einsum(*operands, **keywords)
    if "dtype" in keywords and result.dtype != keywords["dtype"]:
        raise TypeError("NumPy's views have the dtype of the operand")  # those that are recorded have the given one
    return result


def _has_few_multiplications(hosts: Any, arguments: tuple[Any, ...], keywords: Any) -> bool:
    """Return whether NumPy, which multiplies one number for each value of all labels, takes less time than a graph."""
    return _multiplications(arguments[0], tuple([x.shape for x in arguments[1:]])) <= QUICK


@lru_cache(256)
def _multiplications(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> float:
    labels = subscripts.partition("->")[0].replace(" ", "").split(",")
    extents: Counter[str] = Counter()
    for names, shape in zip(labels, shapes, strict=True):
        extents |= Counter(dict(zip(names, shape, strict=True)))  # the larger ones
    return inf if "." in extents else prod(extents.values())


@native("einsum", at_once="sums of products or views", call=_of_numpy)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> GpuArray:
    """Return the Einstein summation of operands; the arguments are those of ``numpy.einsum``."""
    unknown = kwargs.keys() - {"order", "dtype", "casting"}
    if unknown:
        raise TypeError(f"einsum() got unexpected keyword arguments {sorted(unknown)}")
    if kwargs.get("order", "K") not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {kwargs['order']!r})")
    labels, result, arrays = _parsed(operands)
    extents = _checked(labels, result, tuple([array.shape for array in arrays]))
    casting = kwargs.get("casting", "safe")
    common = np.result_type(*(a.dtype for a in arrays)) if kwargs.get("dtype") is None else np.dtype(kwargs["dtype"])
    for array in arrays:
        if not np.can_cast(array.dtype, common, casting):
            raise TypeError(
                f"Iterator operand required copying or buffering: cannot cast {array.dtype} to {common} with casting "
                f"rule {casting!r}"
            )
    view = _view(labels[0], result, arrays[0]) if len(arrays) == 1 and out is None else None
    if view is not None and view.dtype == common:
        return view
    terms = [
        (names, _spread(array.astype(common, copy=False), tuple([extents[n] for n in names])))
        for names, array in zip(labels, arrays, strict=True)
    ]
    for k, (names, array) in enumerate(terms):
        elsewhere = {n for m, (other, _) in enumerate(terms) if m != k for n in other}
        terms[k] = _reduced(names, array, elsewhere | set(result), common)
    for group in _path(labels, result, arrays, optimize):
        chosen = [terms.pop(k) for k in sorted(group, reverse=True)][::-1]
        current = chosen.pop(0)
        while chosen:
            following = chosen.pop(0)
            needed = set(result).union(*(names for names, _ in (*terms, *chosen)))
            current = _contracted(current, following, needed)
        terms.append(current)
    names, array = _reduced(*terms[0], set(result), common)
    value = _aligned(names, array, list(result))
    return write_out(value if len(arrays) > 1 else value.copy(), out, casting)


einsum.at_once.is_bounded = _has_few_multiplications  # type: ignore[attr-defined]  # the others know sizes alone
