"""Powers, chains, contractions and norms of small arrays of NumPy, and nothing else.

For 16 rows, a third or more of the time of NumPy's functions is that of their arguments. These functions have the
parameters of NumPy's, and the same results bit for bit. They are called at once (see
:mod:`gpuarray.functions.at_once`), and refuse calls with large results.
"""

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any, Final

import numpy as np

from gpuarray.functions.at_once import UNSHARED, fresh
from gpuarray.graph.shapes import listed, normalize_axis
from gpuarray.immediacy import immediacy

#: NumPy's functions, which do not look for arrays of other packages.
_matrix_power: Final = fresh(np.linalg.matrix_power)
_multi_dot: Final = getattr(np.linalg.multi_dot, "__wrapped__", np.linalg.multi_dot)
_norm: Final = getattr(np.linalg.norm, "__wrapped__", np.linalg.norm)
#: The norms of matrices that are an extreme of sums, by order: along which axis are the sums, and which extreme.
_EXTREMES: Final = {
    1: (0, np.maximum.reduce), -1: (0, np.minimum.reduce), inf: (1, np.maximum.reduce), -inf: (1, np.minimum.reduce)
}  # fmt: skip
#: The norms of vectors that are a reduction of sizes, by order.
_FOLDS: Final = {1: np.add.reduce, inf: np.maximum.reduce, -inf: np.minimum.reduce}


def matrix_power(a: Any, n: Any) -> Any:
    """Compute as :func:`numpy.linalg.matrix_power`, with a new array for the first power."""
    if type(n) is not int or not 1 < n < 4 or a.ndim < 2:
        return _matrix_power(a, n)
    square = np.matmul(a, a)
    return square if n == 2 else np.matmul(square, a)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Compute as :func:`numpy.linalg.multi_dot`.

    Raises
    ------
    NotImplementedError
        If there are more multiplications than in as many products of the largest square matrices, or many results.
    ValueError
        If the arrays are no matrices, with vectors at the ends.
    """
    limit = immediacy().limit
    first, *inner, last = arrays
    left, right = first if first.ndim > 1 else first[None], last if last.ndim > 1 else last[:, None]
    (rows, one), (two, columns) = left.shape, right.shape
    is_small = max(rows, one, two, columns) ** 2 <= limit
    if is_small and not inner:
        return np.dot(first, last, out)
    if is_small and out is None and len(inner) == 1:
        middle = inner[0]  # the order of more products takes longer than products of small matrices
        if middle.ndim != 2:
            raise ValueError
        is_first_cheaper = rows * two * (one + columns) < one * columns * (rows + two)
        product = np.dot(np.dot(left, middle), right) if is_first_cheaper else np.dot(left, np.dot(middle, right))
    else:
        extents = [rows, one, *[extent for matrix in inner for _, extent in (matrix.shape,)], columns]
        multiplications, order = cheapest_order(extents)
        if multiplications**2 > len(arrays) ** 2 * limit**3 or rows * columns > limit:
            raise NotImplementedError
        if out is not None or not inner:
            return _multi_dot(arrays, out=out)
        product = in_order(np.dot, [left, *inner, right], order)
    if first.ndim == last.ndim:
        return product if first.ndim > 1 else product[0, 0]
    return product.ravel()


def cheapest_order(extents: Sequence[int]) -> tuple[int, Any]:
    """Return the fewest multiplications of a chain of products (Cormen et al., chapter 15.2), and their order.

    Parameters
    ----------
    extents : sequence of int
        The rows of each matrix, and the columns of the last one.

    Returns
    -------
    tuple
        The number, and a pair of the orders of both factors, each of which is a pair or the number of a matrix.
    """
    count = len(extents) - 1
    best: list[list[tuple[int, Any]]] = [[(0, number)] for number in range(count)]  # by first matrix and length
    for length in range(1, count):
        for first in range(count - length):
            ends = extents[first] * extents[first + length + 1]
            least, order = -1, None
            for split in range(first, first + length):
                left, right = best[first][split - first], best[split + 1][first + length - split - 1]
                cost = left[0] + right[0] + ends * extents[split + 1]
                if order is None or cost < least:
                    least, order = cost, (left[1], right[1])
            best[first].append((least, order))
    return best[0][-1]


def in_order(multiply: Callable[[Any, Any], Any], factors: Sequence[Any], order: Any) -> Any:
    """Return the product of factors in the order of :func:`cheapest_order`."""
    left, right = [factors[each] if type(each) is int else in_order(multiply, factors, each) for each in order]
    return multiply(left, right)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """Compute as :func:`numpy.linalg.norm`.

    Raises
    ------
    NotImplementedError
        If threads share the elements: what is computed is no product of a vector with itself.
    """
    if axis is None and (ord is None or (ord == 2 if x.ndim == 1 else x.ndim == 2 and ord in ("fro", "f"))):
        if x.dtype.kind != "f":
            return _norm(x, None, None, keepdims)
        elements = x.ravel("K")
        length = np.sqrt(elements.dot(elements))
        return length.reshape((1,) * x.ndim) if keepdims else length
    if x.size > UNSHARED:
        raise NotImplementedError
    if axis is None and x.size and x.dtype.kind in "fc" and not keepdims:
        if x.ndim == 2 and ord in _EXTREMES:
            summed, extreme = _EXTREMES[ord]
            return extreme(np.add.reduce(np.abs(x), summed))
        if x.ndim == 1 and ord in _FOLDS:
            return _FOLDS[ord](np.abs(x))
    if ord is None and type(axis) is int and x.ndim and x.dtype.kind == "f":
        return np.sqrt(np.add.reduce(x * x, axis, keepdims=keepdims))
    return _norm(x, ord, axis, keepdims)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Compute as :func:`numpy.tensordot`.

    Raises
    ------
    NotImplementedError
        If there are many results.
    ValueError
        If the extents differ.
    """
    if type(axes) is int:
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError
        kept, shared = a.shape[: a.ndim - axes], a.shape[a.ndim - axes :]
        others, matched = b.shape[axes:], b.shape[:axes]
    else:
        one, two = map(listed, axes)
        first, second = [normalize_axis(k, a.ndim) for k in one], [normalize_axis(k, b.ndim) for k in two]
        a = a.transpose([*[k for k in range(a.ndim) if k not in first], *first])
        b = b.transpose([*second, *[k for k in range(b.ndim) if k not in second]])
        count, number = a.ndim - len(first), len(second)
        kept, shared, others, matched = a.shape[:count], a.shape[count:], b.shape[number:], b.shape[:number]
    if shared != matched:
        raise ValueError
    if prod(kept) * prod(others) > immediacy().limit:
        raise NotImplementedError
    addends = prod(shared)
    product = np.dot(a.reshape(-1, addends), b.reshape(addends, -1))
    return product.reshape(kept + others)
