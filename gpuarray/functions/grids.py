"""Objects that are indexed to make arrays: ``mgrid``, ``ogrid``, ``r_`` and ``c_``."""

from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_choices, concatenated
from gpuarray.functions.at_once import NOT_COMPUTED, AtOnce
from gpuarray.functions.creation import asarray
from gpuarray.immediacy import immediacy

__all__ = ["c_", "mgrid", "ogrid", "r_"]


class Grid:
    """The class of ``mgrid`` and ``ogrid``, which return coordinates of the points of a grid given by slices.

    Parameters
    ----------
    sparse : bool
        Whether the arrays have extent 1 along the other axes, and broadcast to the shape of the grid.
    """

    def __init__(self, *, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        lines: Any = np.ogrid[key]
        if not isinstance(key, tuple):
            return asarray(lines)
        arrays: Any = [*map(asarray, lines)]
        if self._sparse:
            return tuple(arrays)
        extents = np.broadcast_shapes(*(line.shape for line in arrays))
        return np.stack([np.broadcast_to(line, extents) for line in arrays])


#: Coordinates of a grid, as ``numpy.mgrid``: one array, whose first axis has an item for each axis of the grid.
mgrid: Final = Grid(sparse=False)
#: Coordinates of a grid, as ``numpy.ogrid``: arrays that broadcast to the shape of the grid.
ogrid: Final = Grid(sparse=True)


class Joined:
    """The class of ``r_`` and ``c_``, which concatenate numbers, arrays, and slices that stand for ranges.

    Parameters
    ----------
    columns : bool
        Whether 1-d arrays are columns, and arrays are joined along the last axis instead of the first.
    """

    def __init__(self, *, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> GpuArray:
        items = key if isinstance(key, tuple) else (key,)
        if any(isinstance(item, str) for item in items):
            raise TypeError(
                "r_ and c_ accept numbers, slices and arrays, but no texts; concatenate and stack have an axis"
            )
        if immediacy().limit:
            joined = _AT_ONCE[self._columns].compute(key)
            if joined is not NOT_COMPUTED:
                return joined
        parts = as_choices(np.r_[item] if isinstance(item, slice) else item for item in items)
        if self._columns:
            parts = [
                array[:, None] if array.ndim == 1 else array.reshape(1, 1) if not array.ndim else array
                for array in parts
            ]
        return concatenated([array if array.ndim else array[None] for array in parts], -1 if self._columns else 0)


#: How ``r_`` and ``c_`` are computed at once.
_AT_ONCE: Final = AtOnce(np.r_.__getitem__, "sums"), AtOnce(np.c_.__getitem__, "sums")
#: Concatenates along the first axis, as ``numpy.r_``.
r_: Final = Joined(columns=False)
#: Joins columns to a matrix, as ``numpy.c_``.
c_: Final = Joined(columns=True)
