"""NumPy's functions that put elements in order, recorded as opaque rows; the other ones are NumPy's own."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from typing import Any

import numpy as np

from gpuarray.api import searching, sorting
from gpuarray.array import GpuArray
from gpuarray.numpy_api.arguments import as_array
from gpuarray.numpy_api.registry import native


def _line(a: Any, axis: Any, order: Any) -> tuple[GpuArray, int]:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    source = as_array(a)
    return (source.reshape(-1), 0) if axis is None else (source, axis)


@native("sort")
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return sorting.sort(*_line(a, axis, order))


@native("argsort")
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return sorting.argsort(*_line(a, axis, order))


@native("sort_complex")
def sort_complex(a: Any) -> Any:
    ordered = sorting.sort(as_array(a))
    if ordered.dtype.kind == "c":
        return ordered
    single = ordered.dtype.kind in "iu" and ordered.dtype.itemsize <= 2
    return ordered.astype(np.complex64 if single else np.complex128)


@native("searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return searching.searchsorted(a, v, side=side, sorter=sorter)
