"""Scans: cumulative sums and products along an axis.

All scans of ufuncs use :func:`running`.
"""

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions.arguments import (
    ArrayLike,
    DTypeLike,
    at_least_one_axis,
    check_nbytes,
    line_axis,
    standard_function,
    write_out,
)
from gpuarray.functions.reductions import accumulation_dtype
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]


def axis_of_scan(axis: Any, ndim: int) -> int:
    """Return the axis of a scan as a number of at least 0.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    TypeError
        If there are no axes at all.
    """
    if ndim == 0 and axis in (0, -1):
        raise TypeError("cannot accumulate on a scalar")
    return normalize_axis(axis, ndim)


def running(op: ReduceOp, source: GpuArray, *, axis: int = 0, dtype: Any = None, out: Any = None) -> GpuArray:
    """Return the scan of ``source`` along ``axis``, as ``ufunc.accumulate`` does."""
    number = axis_of_scan(axis, source.ndim)
    kind = accumulation_dtype(op, source.dtype, dtype, out)
    node = build.scan(op, build.cast(source.node(), kind), number, kind)
    if out is not None and tuple(out.shape) != node.shape:
        raise ValueError(f"provided out is the wrong size for the accumulation: {tuple(out.shape)}, not {node.shape}")
    return write_out(wrap(node, source.device), out, "unsafe")


def _running_line(op: ReduceOp, a: ArrayLike, axis: Any, dtype: Any, out: Any) -> GpuArray:
    source, number = line_axis(at_least_one_axis(a), None if axis is None else index(axis))
    return running(op, source, axis=number, dtype=dtype, out=out)


def scan_of(numpys: Callable[..., Any]) -> Callable[..., Any]:
    """Return a cumulative function of NumPy, which ends the process if ``out`` has no axes."""

    def run(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if out is not None and not out.ndim:
            raise ValueError
        return numpys(a, axis, dtype, out)

    return run


@native("cumsum", at_once="elements", call=scan_of(np.cumsum))
def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Any = None) -> GpuArray:
    """Return the cumulative sum along an axis, by default of all elements in C order; see :func:`cumulative_sum`."""
    return _running_line(reductions.sum, a, axis, dtype, out)


@native("cumprod", at_once="elements", call=scan_of(np.cumprod))
def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Any = None) -> GpuArray:
    """Return the cumulative product along an axis, by default of all elements in C order."""
    return _running_line(reductions.prod, a, axis, dtype, out)


def _cumulative(
    op: ReduceOp, x: ArrayLike, axis: int | None, dtype: DTypeLike, include_initial: bool, out: Any
) -> GpuArray:
    array = at_least_one_axis(x)
    if axis is None:
        if array.ndim != 1:
            raise ValueError(
                f"axis must be given for an array with {array.ndim} axes; only with one axis it can be left out"
            )
        axis = 0
    number = normalize_axis(axis, array.ndim)
    node = build.scan(op, array.node(), number, None if dtype is None else dtypes.canonical(dtype))
    if include_initial:
        shape = tuple(1 if a == number else n for a, n in enumerate(array.shape))
        node = build.concat([build.full(shape, op.identity_of(node.dtype), node.dtype), node], number)
    check_nbytes(node.shape, node.dtype)
    return write_out(wrap(node, array.device), out, "unsafe")


@native("cumulative_sum", at_once="elements")
@standard_function
def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: Any = None,
    include_initial: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the cumulative sum along an axis.

    Parameters
    ----------
    x : array_like
        Numbers.
    axis : int, optional
        May be omitted for an array with one axis.
    dtype : dtype, optional
        As for :func:`sum`.
    out : GpuArray or ndarray, optional
        Array for the result.
    include_initial : bool
        Whether to prepend 0, which makes the axis longer by one.

    Returns
    -------
    GpuArray
        Of the shape of ``x``, except for ``include_initial``.
    """
    return _cumulative(reductions.sum, x, axis, dtype, include_initial, out)


@native("cumulative_prod", at_once="elements")
@standard_function
def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: Any = None,
    include_initial: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the cumulative product along an axis. See :func:`cumulative_sum` for the parameters."""
    return _cumulative(reductions.prod, x, axis, dtype, include_initial, out)
