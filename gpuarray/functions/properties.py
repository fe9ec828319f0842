"""Properties of arrays that are known without reading elements: shape, order, and whether memory is shared."""

from math import prod
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array
from gpuarray.functions.reductions import axes_of
from gpuarray.functions.registry import implements

__all__ = ["isfortran", "may_share_memory", "ndim", "shape", "shares_memory", "size"]


@implements("ndim")
def ndim(a: Any) -> int:
    """Return the number of axes of an array."""
    return as_array(a).ndim


@implements("shape")
def shape(a: Any) -> tuple[int, ...]:
    """Return the shape of an array."""
    return as_array(a).shape


@implements("size")
def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements of an array, or along an axis."""
    extents = as_array(a).shape
    return prod(extents[k] for k in axes_of(axis, len(extents)))


class _Shadow:
    """The layout of an array at a made-up address, by which NumPy compares memory without touching it."""

    def __init__(self, array: GpuArray, address: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{array.itemsize}",
            "shape": array.shape,
            "strides": array.strides,
            "data": (address + array._storage_layout().offset * array.unit + _part_offset(array), True),
        }


def _part_offset(array: GpuArray) -> int:
    return array.itemsize if array._part == "imag" else 0


def _shared(a: Any, b: Any, compare: Any, max_work: Any) -> bool:
    if not isinstance(a, GpuArray) or not isinstance(b, GpuArray) or a._cell is not b._cell:
        return False
    return bool(compare(*(np.asarray(_Shadow(x, 1 << 40)) for x in (a, b)), max_work))


@implements("shares_memory")
def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    """Return True if two arrays share elements in memory."""
    return _shared(a, b, np.shares_memory, max_work)


@implements("may_share_memory")
def may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    """Return True if the memory of two arrays may overlap."""
    return _shared(a, b, np.may_share_memory, max_work)


def isfortran(a: Any) -> bool:
    """Return whether an array's elements lie in Fortran order and not in C order."""
    return as_array(a).flags.fnc
