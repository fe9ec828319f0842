"""Functions that run on the host for now: opaque rows, counted as fallbacks where the data live on a device."""

from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.ops.spec import CallOp
from gpuarray.runtime import evaluate


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


def call(row: CallOp, inputs: list[Node], shape: Shape, dtype: DType, **parameters: Any) -> Node:
    """Return the one output of an opaque row."""
    (node,) = build.call(row, inputs, parameters, [(shape, dtype)])
    return node


def read(array: GpuArray, function: str, reason: str) -> np.ndarray[Any, Any]:
    """Return the elements on the host, for a function whose result's shape depends on them; counted as a fallback.

    Raises
    ------
    FallbackError
        If ``config.fallback`` is ``"error"``.
    """
    return evaluate.read_in_place_of_a_kernel(array.node(), array.device, function, reason)
