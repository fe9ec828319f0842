"""Grids and joined lines that are given between brackets: ``mgrid``, ``ogrid``, ``r_`` and ``c_``."""

from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, as_arrays, as_choices, concatenated

__all__ = ["c_", "mgrid", "ogrid", "r_"]


class Grid:
    """What ``mgrid`` and ``ogrid`` are: positions of the points of a grid, which slices tell.

    Parameters
    ----------
    sparse : bool
        Whether the arrays have extents of 1 along the other axes, and broadcast to those of the grid.
    """

    def __init__(self, *, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        lines: Any = np.ogrid[key]
        if not isinstance(key, tuple):
            return as_array(lines)
        arrays: Any = as_arrays(*lines)
        if self._sparse:
            return tuple(arrays)
        extents = np.broadcast_shapes(*(line.shape for line in arrays))
        return np.stack([line.broadcast(extents) for line in arrays])


#: The points of a grid, as ``numpy.mgrid``: one array, whose first axis counts the grid's axes.
mgrid: Final = Grid(sparse=False)
#: The points of a grid, as ``numpy.ogrid``: arrays that broadcast to the grid's shape.
ogrid: Final = Grid(sparse=True)


class Joined:
    """What ``r_`` and ``c_`` are: numbers, slices that stand for ranges, and arrays, one after the other.

    Parameters
    ----------
    columns : bool
        Whether a line is a column, and all are joined along the last axis; else they are joined along the first one.
    """

    def __init__(self, *, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> GpuArray:
        items = key if isinstance(key, tuple) else (key,)
        if any(isinstance(item, str) for item in items):
            raise TypeError(
                "numbers, slices and arrays are joined here, and a text was given; concatenate and stack take an axis"
            )
        parts = as_choices(np.r_[item] if isinstance(item, slice) else item for item in items)
        if self._columns:
            parts = [
                part[:, None] if part.ndim == 1 else part.reshape(1, 1) if not part.ndim else part for part in parts
            ]
        return concatenated([part if part.ndim else part[None] for part in parts], -1 if self._columns else 0)


#: What is given between brackets as one line, as ``numpy.r_``.
r_: Final = Joined(columns=False)
#: What is given between brackets as columns of a matrix, as ``numpy.c_``.
c_: Final = Joined(columns=True)
