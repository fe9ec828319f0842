"""Bounds of the sizes of results, from the sizes of arguments, for functions that NumPy computes at once."""

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from gpuarray.array.immediate import MULTIPLICATIONS, have_few_products
from gpuarray.graph.shapes import listed
from gpuarray.immediacy import ONE_THREAD, immediacy

#: The results of a function that is called at once:
#:
#: - "elements": have the shape to which the arrays broadcast, or fewer elements;
#: - "precise": have fewer elements, each of many: the sums of a plan have smaller errors;
#: - "lines": have the shape of the array, and each line along an axis is computed from one line;
#: - "matrices": the same with matrices, along the last two axes;
#: - "sums": have no more elements than all arrays together, whatever shapes these have;
#: - "matrix products": are products of matrices and vectors, of which NumPy computes those of few operations;
#: - "contractions": are sums of products over the last argument, ``axes``, of which NumPy computes those of few
#:   operations;
#: - "products": may have as many elements as the product of their sizes, or as the square of a single one;
#: - "multiples": may have as many elements as the size of the array times the integers among the arguments;
#: - "sizes": have as many elements as the product of the integers among the arguments;
#: - "views": are views of the arrays where strides allow;
#: - "products or views": are products, or views as far as NumPy returns these;
#: - "in place": there is none; the function writes to its first argument.
Results: TypeAlias = Literal[
    "elements",
    "precise",
    "lines",
    "matrices",
    "sums",
    "matrix products",
    "contractions",
    "products",
    "multiples",
    "sizes",
    "views",
    "products or views",
    "in place",
]

#: The most elements of a result of one of the products and multiples.
_MOST: Final = 1 << 20

Bound: TypeAlias = Callable[[list[Any], tuple[Any, ...], dict[str, Any]], bool]


def has_few_elements(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    """Return whether a result of the shape to which the arrays broadcast is small."""
    shape = hosts[0].shape
    for host in hosts:
        if host.shape != shape:
            break
    else:  # which the result has, too
        return True
    try:
        return bool(np.broadcast(*hosts).size <= immediacy().limit)
    except ValueError:  # as for products of matrices
        return bool(prod([host.size for host in hosts]) <= _MOST)


def _has_few_addends(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    return all(host.size <= ONE_THREAD for host in hosts)


def _has_few(axes: int) -> Bound:
    """Return the bound of functions of lines (1 axis) or matrices (2 axes), which threads share if they are many."""
    return lambda hosts, arguments, keywords: bool(hosts[0].ndim <= axes or hosts[0].size <= ONE_THREAD)


def _has_few_multiplications(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    if len(hosts) == 2 and hosts[0].ndim and hosts[1].ndim and have_few_products(*hosts):
        return True
    return all(host.size <= immediacy().limit for host in hosts) and has_few_elements(hosts, arguments, keywords)


def _has_few_contracted(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    first, second = hosts
    axes = arguments[2] if len(arguments) > 2 else keywords.get("axes", 2)
    extents = second.shape[:axes] if isinstance(axes, int) else [second.shape[axis] for axis in listed(axes[1])]
    products, shared = first.size * second.size, max(prod(extents), 1)
    return bool(products <= shared * MULTIPLICATIONS and products <= shared**2 * immediacy().limit)


def _has_few_products(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    sizes = [host.size for host in hosts]
    return bool(prod(sizes if len(sizes) > 1 else sizes * 2) <= _MOST)


def _has_few_multiples(hosts: list[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return len(hosts) == 1 and hosts[0].size * _multiple((arguments, [*keywords.values()])) <= _MOST


def _multiple(values: Iterable[Any]) -> int:
    """Return a number of times that integers among arguments can repeat elements."""
    return prod([1 + abs(value) for value in _integers(values)])


def _has_small_size(hosts: list[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return prod([abs(value) for value in _integers((arguments, [*keywords.values()]))]) <= _MOST


def _integers(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _integers(value)
        elif isinstance(value, int | np.integer):
            yield int(value)


BOUNDS: Final[dict[str, Bound]] = {
    "elements": has_few_elements,
    "precise": _has_few_addends,
    "lines": _has_few(1),
    "matrices": _has_few(2),
    "matrix products": _has_few_multiplications,
    "contractions": _has_few_contracted,
    "products": _has_few_products,
    "products or views": _has_few_products,
    "multiples": _has_few_multiples,
    "sizes": _has_small_size,
}
