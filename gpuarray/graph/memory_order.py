"""The order in which operations compute and store their results: that of the memory of their operands.

The operands may be views with permuted axes. NumPy keeps the order of their strides (its order ``"K"``), so that loops
read and write memory from one end to the other. Here the operation is recorded over the operands with their axes in
that order, and its result is seen through the permutation: ``f(view(a), view(b))`` becomes ``view(f(a, b))``.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.graph.layouts import Layout, Shape, contiguous, contiguous_strides, permute
from gpuarray.graph.nodes import Node, View


def shows(node: Node) -> bool:
    """Return whether a node is only a view of a value, and not itself the value of an array."""
    return type(node) is View and node.holder is None and node.result is None


def common_order(operands: Sequence[Node], ndim: int) -> tuple[int, ...] | None:
    """Return the order of axes in which an operation on operands that broadcast computes; None if that is C order."""
    for node in operands:
        if shows(node):
            own = node.detail.strides
            if [*own] != sorted(own, reverse=True):
                break
    else:  # no operand asks for another order
        return None
    strides = [node.detail.strides if shows(node) else contiguous_strides(node.shape) for node in operands]
    shapes = [node.shape for node in operands]
    return axes_in_order(tuple([_steps(*each, ndim) for each in zip(strides, shapes, strict=True)]))


@lru_cache(maxsize=8192)
def axes_in_order(strides: tuple[Shape, ...]) -> tuple[int, ...] | None:
    """Return the axes of arrays that broadcast in the order of their strides, the largest first; None if that is C's.

    Strides are 0 where an array is repeated, and of axes of one element. Where arrays disagree about two axes, their C
    order counts. The sort is NumPy's, as its result depends on the order of comparisons where some strides are 0
    (``npyiter_find_best_axis_ordering`` in ``nditer_constr.c``).
    """
    ndim = len(strides[0])
    inner_first: list[int] = []
    for axis in reversed(range(ndim)):
        place = len(inner_first)
        for number in reversed(range(place)):
            inner = inner_first[number]
            swaps = [abs(steps[inner]) > abs(steps[axis]) for steps in strides if steps[inner] and steps[axis]]
            if swaps:
                if not all(swaps):
                    break
                place = number
        inner_first.insert(place, axis)
    inner_first.reverse()
    return None if inner_first == [*range(ndim)] else tuple(inner_first)


@lru_cache(maxsize=8192)
def _steps(strides: Shape, shape: Shape, ndim: int) -> Shape:
    """Return the strides of an array among arrays with ``ndim`` axes; those of axes of one element are 0."""
    own = [0 if extent == 1 else stride for extent, stride in zip(shape, strides, strict=True)]
    return (*[0] * (ndim - len(shape)), *own)


@lru_cache(maxsize=8192)
def permuted(shape: Shape, axes: tuple[int, ...]) -> Layout:
    """Return the layout that shows an array of ``shape`` with its axes in another order, and leading ones of 1."""
    wide = (*[1] * (len(axes) - len(shape)), *shape)
    return permute(Layout(wide, contiguous_strides(wide), 0), axes)


@lru_cache(maxsize=8192)
def seen_back(shape: Shape, axes: tuple[int, ...]) -> Layout:
    """Return the layout that shows as ``shape`` an array with the axes of this shape in another order."""
    stored = tuple([shape[axis] for axis in axes])
    return permute(contiguous(stored), [axes.index(axis) for axis in range(len(axes))])


def in_memory_order(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Layout | None]:
    """Return a NumPy array with its axes in the order of its memory, and the layout that shows it as it was, if any."""
    plain = np.asarray(array)
    axes = axes_in_order((plain.strides,)) if plain.size and not plain.flags.c_contiguous else None
    return (plain, None) if axes is None else (plain.transpose(axes), seen_back(plain.shape, axes))
