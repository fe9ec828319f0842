"""Bounds of the sizes of results, from the sizes of arguments, for functions that NumPy computes at once."""

from collections.abc import Callable, Iterable, Iterator
from math import inf, prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from gpuarray.array.compiled import ELEMENTS, INTEGERS, MATRICES, MULTIPLES, PAIRS, PRODUCTS, VECTORS
from gpuarray.array.immediate import have_few_products
from gpuarray.immediacy import FEW_LINES, ONE_THREAD, immediacy

#: The most elements of a result of one of the products and multiples.
_MOST: Final = 1 << 20

#: Arrays with sizes of at most this product have few elements, and few products.
_FEW: Final = 1 << 10

Bound: TypeAlias = Callable[[list[Any], tuple[Any, ...], dict[str, Any]], bool]


class Results(NamedTuple):
    """The results of a function that is called at once.

    Attributes
    ----------
    unbounded : float
        The largest product of the sizes of arrays for which they always are small.
    is_bounded : callable
        Returns whether those of a call are small, from the sizes of arrays and integers.
    growth : int
        For which other reason they are small, as :func:`gpuarray.array.compiled.call` takes it.
    """

    unbounded: float
    is_bounded: Bound
    growth: int = 0


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


def _has_few(axes: int, most: int) -> Bound:
    """Return the bound of functions of lines (1 axis) or matrices (2 axes), which threads share if they are many."""
    return lambda hosts, arguments, keywords: bool(hosts[0].ndim <= axes or hosts[0].size <= most)


def _has_few_multiplications(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    if len(hosts) == 2 and hosts[0].ndim and hosts[1].ndim and have_few_products(*hosts):
        return True
    return all(host.size <= immediacy().limit for host in hosts) and has_few_elements(hosts, arguments, keywords)


def _has_few_vectors(hosts: list[Any], arguments: Any, keywords: dict[str, Any]) -> bool:
    """Return whether products of vectors are few, of which all elements along an axis have one."""
    length = hosts[0].shape[keywords.get("axis", -1)]
    is_small = has_few_elements(hosts, arguments, keywords)
    return is_small or bool(np.broadcast(*hosts).size <= length * immediacy().limit)


def _has_few_solutions(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    """Return whether solutions of systems are few; those of one matrix have the extents of the arguments."""
    return all(host.ndim <= 2 for host in hosts) or has_few_elements(hosts, arguments, keywords)


def _has_few_products(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    sizes = [host.size for host in hosts]
    return bool(prod(sizes if len(sizes) > 1 else sizes * 2) <= _MOST)


def _has_few_pairs(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    return bool(prod([host.size for host in hosts]) <= immediacy().limit)


def _has_few_multiples(hosts: list[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return len(hosts) == 1 and hosts[0].size * _multiple((arguments, [*keywords.values()])) <= _MOST


def _has_few_repetitions(hosts: list[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    counts = [host.max(initial=1) for host in hosts[1:]]  # each element is repeated as often as one of them says
    return bool(hosts[0].size * prod(counts) * _multiple((arguments, [*keywords.values()])) <= _MOST)


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


#: The results of functions, by their names in registrations.
RESULTS: Final[dict[str, Results]] = {
    # they have the shape to which the arrays broadcast, or fewer elements
    "elements": Results(_FEW, has_few_elements, ELEMENTS),
    # they have fewer elements, each of many: the sums of a plan have smaller errors
    "precise": Results(ONE_THREAD, _has_few_addends),
    # they have the shape of the array, and each line along an axis is computed from one line
    "lines": Results(FEW_LINES, _has_few(1, FEW_LINES)),
    # the same with half as many elements
    "halved lines": Results(2 * FEW_LINES, _has_few(1, 2 * FEW_LINES)),
    # the same with matrices, along the last two axes
    "matrices": Results(ONE_THREAD, _has_few(2, ONE_THREAD)),
    # they have no more elements than all arrays together, whatever shapes these have
    "sums": Results(inf, has_few_elements),
    # they are products of matrices and vectors, of which NumPy computes those of few operations
    "matrix products": Results(_FEW, _has_few_multiplications, VECTORS | MATRICES),
    # they are solutions of systems of linear equations
    "solutions": Results(_FEW, _has_few_solutions, ELEMENTS | VECTORS | MATRICES),
    # they are products of vectors, of the shape to which the arrays broadcast or fewer elements
    "vector products": Results(_FEW, _has_few_vectors, ELEMENTS | VECTORS),
    # they are small, because the function refuses other calls
    "refused or few": Results(inf, has_few_elements),
    # they have an element for each span of a line
    "spans": Results(_FEW, _has_few_products, PRODUCTS | VECTORS),
    # they may have as many elements as the product of their sizes, or as the square of a single one
    "products": Results(_FEW, _has_few_products, PRODUCTS),
    # they have an element for each pair of elements, which operations that follow may compute where they need it
    "pairs": Results(_FEW, _has_few_pairs, PAIRS),
    # they may have as many elements as the size of the array times the integers among the arguments
    "multiples": Results(0, _has_few_multiples, MULTIPLES),
    # they have each element as often as an integer, or one of an array, says; the latter is read anyway
    "repetitions": Results(0, _has_few_repetitions, MULTIPLES | PRODUCTS),
    # they have as many elements as the product of the integers among the arguments
    "sizes": Results(0, _has_small_size, INTEGERS),
    # they are views of the arrays where strides allow
    "views": Results(inf, has_few_elements),
    # they are products, or views as far as NumPy returns these
    "products or views": Results(_FEW, _has_few_products, PRODUCTS),
    # they are sums of products, or views: those of a single array have no more elements than it
    "sums of products or views": Results(_FEW, _has_few_products, PRODUCTS | MULTIPLES),
    # there is none; the function writes to its first argument
    "in place": Results(inf, has_few_elements),
}
