"""Opaque rows: operations on whole arrays that are no composition of elementwise rows, folds and views."""

from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import CallOp


def _sort(x: Any, *, axis: int, descending: bool) -> Any:
    ordered = np.sort(x, axis=axis, stable=True)
    return np.flip(ordered, axis) if descending else ordered


def _argsort(x: Any, *, axis: int, descending: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    # equal elements keep their order: sort the reversed array, and count its positions from the other end
    order = np.argsort(np.flip(x, axis), axis=axis, stable=True)
    return np.flip(x.shape[axis] - 1 - order, axis)


def _searchsorted(x1: Any, x2: Any, *, side: Any) -> Any:
    return np.asarray(np.searchsorted(x1, x2, side=side))


sort: Final = CallOp(name="sort", numpy=_sort, doc="Elements in ascending or descending order along an axis.")
argsort: Final = CallOp(
    name="argsort", numpy=_argsort, doc="Positions that put elements in order along an axis; stable."
)
searchsorted: Final = CallOp(name="searchsorted", numpy=_searchsorted, doc="Positions that keep a sorted line sorted.")
