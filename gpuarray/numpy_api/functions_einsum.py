"""NumPy's ``einsum``: operands are brought down to batches of matrix products, pair by pair from the left.

Subscripts with an ellipsis, and operands given as lists of axes, are NumPy's.
"""

from collections import Counter
from math import prod
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.numpy_api.arguments import as_arrays, deliver
from gpuarray.numpy_api.functions_selection import diagonal
from gpuarray.numpy_api.functions_statistics import sum_
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.registry import native


def _parsed(subscripts: str) -> tuple[list[str], str]:
    """Return the labels of each operand and those of the result, worked out where they are not given."""
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    if not arrow:
        counts = Counter(given.replace(",", ""))
        result = "".join(sorted(label for label, times in counts.items() if times == 1))
    return given.split(","), result


def _checked(labels: list[str], result: str, arrays: list[GpuArray]) -> None:
    if len(labels) != len(arrays):
        raise ValueError("more operands provided to einstein sum function than specified in the subscripts string")
    extents: dict[str, int] = {}
    for names, array in zip(labels, arrays, strict=True):
        if len(names) != array.ndim:
            raise ValueError(f"einstein sum subscripts string {names!r} does not fit an operand of {array.ndim} axes")
        for name, extent in zip(names, array.shape, strict=True):
            if extents.setdefault(name, extent) not in (extent, 1) and extent != 1:
                raise ValueError(
                    f"operands could not be broadcast together: label {name!r} has extents {extents[name]} and {extent}"
                )
            extents[name] = max(extents[name], extent)
    for name in result:
        if name not in extents or result.count(name) > 1:
            raise ValueError(f"einstein sum subscripts string has an output label {name!r} that is missing or repeated")


def _reduced(names: str, array: GpuArray, needed: set[str], dtype: Any) -> tuple[str, GpuArray]:
    """Take the diagonal of labels that occur twice, and sum over labels that nobody needs."""
    while len(set(names)) < len(names):
        double = next(n for n in names if names.count(n) > 1)
        first = names.index(double)
        second = names.index(double, first + 1)
        array = diagonal(array, 0, first, second)
        names = names[:first] + names[first + 1 : second] + names[second + 1 :] + double
    gone = tuple(k for k, n in enumerate(names) if n not in needed)
    if gone:
        array = sum_(array, gone, dtype)
        names = "".join(n for n in names if n in needed)
    return names, array


def _aligned(names: str, array: GpuArray, order: list[str]) -> GpuArray:
    return array.transpose([names.index(n) for n in order]) if order else array


def _contracted(left: tuple[str, GpuArray], right: tuple[str, GpuArray], needed: set[str]) -> tuple[str, GpuArray]:
    """Return the product of two operands, summed over the labels that both have and nobody needs."""
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
        shape = prod(sizes(batch)), prod(sizes(rows)), prod(sizes(inner)), prod(sizes(columns))
        product = np.matmul(one.reshape(shape[0], shape[1], shape[2]), two.reshape(shape[0], shape[2], shape[3]))
    else:
        product = one.reshape([*sizes(batch), *sizes(rows), *[1] * len(columns)]) * two.reshape(
            [*sizes(batch), *[1] * len(rows), *sizes(columns)]
        )
    return "".join([*batch, *rows, *columns]), product.reshape([*sizes(batch), *sizes(rows), *sizes(columns)])


@native("einsum")
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    """Return the sum of products that subscripts say; the arguments are those of ``numpy.einsum``."""
    subscripts = operands[0]
    unusual = not isinstance(subscripts, str) or "." in subscripts or kwargs.keys() - {"order", "dtype", "casting"}
    if unusual:
        keywords = {"out": out, "optimize": optimize, **kwargs}
        return on_host(np.einsum, operands, keywords, "einsum with an ellipsis or lists of axes is NumPy's")
    arrays = as_arrays(*operands[1:])
    labels, result = _parsed(subscripts)
    _checked(labels, result, arrays)
    common = np.result_type(*(a.dtype for a in arrays)) if kwargs.get("dtype") is None else np.dtype(kwargs["dtype"])
    extents: dict[str, int] = {}
    for names, array in zip(labels, arrays, strict=True):
        extents |= {n: max(extents.get(n, 1), e) for n, e in zip(names, array.shape, strict=True)}
    terms = [
        (names, array.astype(common, copy=False).broadcast(tuple(extents[n] for n in names)))
        for names, array in zip(labels, arrays, strict=True)
    ]
    for k, (names, array) in enumerate(terms):
        elsewhere = {n for m, (other, _) in enumerate(terms) if m != k for n in other}
        terms[k] = _reduced(names, array, elsewhere | set(result), common)
    current = terms[0]
    for k in range(1, len(terms)):
        needed = set(result).union(*(names for names, _ in terms[k + 1 :]))
        current = _contracted(current, terms[k], needed)
    names, array = _reduced(*current, set(result), common)
    value = _aligned(names, array, list(result))
    return deliver(value if len(terms) > 1 else value.copy(), out, kwargs.get("casting", "safe"))
