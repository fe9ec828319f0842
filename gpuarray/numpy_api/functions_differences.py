"""NumPy's differences, gradients and the trapezoidal rule."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.api import utility
from gpuarray.array import GpuArray
from gpuarray.graph import build
from gpuarray.numpy_api.arguments import NOT_GIVEN, as_array, concatenated
from gpuarray.numpy_api.functions_statistics import sum_
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.reduction import axes_of, given
from gpuarray.numpy_api.registry import implements, native


@native("diff")
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NOT_GIVEN, append: Any = NOT_GIVEN) -> Any:
    return utility.diff(a, n=n, axis=axis, prepend=given(prepend, None), append=given(append, None))


@native("ediff1d")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    source = as_array(ary).reshape(-1)
    middle = source[1:] - source[:-1]
    parts = []
    for part in (to_begin, middle, to_end):
        if part is not None:
            flat = as_array(part, source.device).reshape(-1)
            if not np.can_cast(flat.dtype, source.dtype, "same_kind"):
                raise TypeError(
                    f"to_begin and to_end must be of a dtype that casts to {source.dtype} under the rule 'same_kind', "
                    f"not {flat.dtype}"
                )
            parts.append(flat.astype(source.dtype, copy=False))
    return parts[0] if len(parts) == 1 else concatenated(parts, 0)


@implements("gradient")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    source = as_array(f)
    axes = axes_of(axis, source.ndim)
    steps = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order != 1 or any(np.ndim(step) for step in steps):
        kwargs = {"axis": axis, "edge_order": edge_order}
        return on_host(np.gradient, (f, *varargs), kwargs, "uneven spacing and second-order edges are NumPy's")
    if any(source.shape[a] < 2 for a in axes):
        raise ValueError(
            f"Shape of array too small to calculate a numerical gradient: {source.shape}; at least 2 elements are "
            "required along each axis"
        )
    if source.dtype.kind in "biu":
        source = source.astype(dtypes.float64)
    results = [_slope(source, number, step) for number, step in zip(axes, steps, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _slope(source: GpuArray, axis: int, step: Any) -> GpuArray:
    lead = (slice(None),) * axis

    def cut(start: Any, stop: Any) -> GpuArray:
        return source[(*lead, slice(start, stop))]

    first = (cut(1, 2) - cut(0, 1)) / step
    last = (cut(-1, None) - cut(-2, -1)) / step
    return concatenated([first, (cut(2, None) - cut(None, -2)) / (2.0 * step), last], axis, source.dtype)


@implements("trapezoid", "trapz")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    source = as_array(y)
    number = build.normalize_axis(axis, source.ndim)
    lead = (slice(None),) * number
    if x is None:
        width: Any = dx
    else:
        points = as_array(x, source.device)
        width = diff(points, axis=0 if points.ndim == 1 else number)
        if points.ndim == 1:
            width = width.reshape([-1 if a == number else 1 for a in range(source.ndim)])
    return sum_(width * (source[(*lead, slice(1, None))] + source[(*lead, slice(None, -1))]) / 2.0, number)
