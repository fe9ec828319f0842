"""Calls that search a line from many positions at once.

The line is the second half of a *tree*, whose element ``i`` is the least or the greatest of the elements ``2 * i`` and
``2 * i + 1``, so that a search passes many elements by one comparison. The number of leaves is a power of two.
"""

from math import prod
from typing import Any, Final

import numpy as np

from gpuarray.ops.columns import Shapes, Work
from gpuarray.ops.spec import CallOp

#: Nodes that are read for each search: an estimate, as it depends on values.
_READ: Final = 32


def _last_outside(tree: Any, starts: Any, bounds: Any, *, inside: str) -> Any:
    """Go up until the node to the left has an element that ends the search, and down to the last of them."""

    def is_end(node: Any) -> Any:
        values = tree[node]
        return ~(values > bounds) if inside == "above" else ~(values <= bounds)

    leaves = len(tree) // 2
    node, result = starts + leaves, np.zeros_like(starts)
    for _ in range(leaves.bit_length() - 1):
        is_found = (result == 0) & (node % 2 == 1) & is_end(node - 1)
        result = np.where(is_found, node - 1, result)
        node = node // 2
    for _ in range(leaves.bit_length() - 1):
        right = np.minimum(2 * result + 1, 2 * leaves - 1)
        result = np.where((result > 0) & (result < leaves), right - ~is_end(right), result)
    return np.where(result > 0, result - leaves, -1).astype(starts.dtype)


def _last_least(tree: Any, starts: Any, ends: Any) -> Any:
    """Compare the nodes that ranges consist of, and go down to the last least element of the best one."""
    leaves = len(tree) // 2
    first, end = starts + leaves, ends + leaves
    left, right = np.zeros_like(first), np.zeros_like(first)
    for _ in range(leaves.bit_length()):
        is_open = first < end
        is_left = is_open & (first % 2 == 1)
        left = np.where(is_left & ((left == 0) | (tree[first % len(tree)] <= tree[left])), first, left)
        first = (first + is_left) // 2
        is_right = is_open & (end % 2 == 1)
        end = end - is_right
        right = np.where(is_right & ((right == 0) | (tree[end % len(tree)] < tree[right])), end, right)
        end = end // 2
    child = np.where((right == 0) | ((left > 0) & (tree[left] < tree[right])), left, right)
    for _ in range(leaves.bit_length() - 1):
        after = np.minimum(2 * child + 1, len(tree) - 1)
        child = np.where(child < leaves, after - (tree[after] > tree[after - 1]), child)
    return (child - leaves).astype(starts.dtype)


def _searching(operands: Shapes, _results: Shapes) -> int:
    return _READ * prod(operands[1])


last_outside = CallOp(
    name="last_outside",
    numpy=_last_outside,
    doc="The last position before a start whose element is not above, or not up to, a bound; -1 if there is none.",
    work=Work.GATHER,
    cost=_searching,
)
last_least = CallOp(
    name="last_least",
    numpy=_last_least,
    doc="The last position of the least element of ranges, none of which is empty.",
    work=Work.GATHER,
    cost=_searching,
)
