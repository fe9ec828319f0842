"""NumPy's reductions that ignore NaN, which are replaced by the neutral element of the reduction."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise, logic
from gpuarray.functions.arguments import NOT_GIVEN, as_array, write_out
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.cumulative import cumprod, cumsum, scan_of
from gpuarray.functions.manipulation import broadcast_to
from gpuarray.functions.reductions import extreme, fold, prod, sum
from gpuarray.functions.registry import implements, native
from gpuarray.functions.searching import argmax, argmin
from gpuarray.functions.statistics import check_precision, degrees_of_freedom, mean, spread
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
    "nanvar",
]  # fmt: skip


def _replaced(a: Any, value: Any) -> GpuArray:
    """Return the array with ``value`` for NaN; itself if its dtype has none."""
    source = as_array(a)
    if source.dtype.kind not in "fc":
        return source
    return logic.where(elementwise.isnan(source), source.dtype.type(value), source)


def _check_inexact(a: Any, dtype: Any, out: Any) -> None:
    if as_array(a).dtype.kind not in "fc":
        return
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and out.dtype.kind not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")


def _present(a: Any, where: Any) -> Any:
    source = as_array(a)
    if source.dtype.kind not in "fc":
        return True if where is NOT_GIVEN else where
    mask = ~elementwise.isnan(source)
    return mask if where is True or where is NOT_GIVEN else mask & as_array(where)


@native("nansum", at_once="elements", most=QUICK)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:  # fmt: skip
    """Return the sum over an axis; NaN count as zero."""
    return sum(_replaced(a, 0), axis, dtype, out, keepdims, initial, where)


@native("nanprod", at_once="elements", most=QUICK)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:  # fmt: skip
    """Return the product over an axis; NaN count as one."""
    return prod(_replaced(a, 1), axis, dtype, out, keepdims, initial, where)


@native("nancumsum", at_once="elements", call=scan_of(np.nancumsum))
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GpuArray:
    """Return the cumulative sum along an axis; NaN count as zero."""
    return cumsum(_replaced(a, 0), axis, dtype, out)


@native("nancumprod", at_once="elements", call=scan_of(np.nancumprod))
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GpuArray:
    """Return the cumulative product along an axis; NaN count as one."""
    return cumprod(_replaced(a, 1), axis, dtype, out)


def _nan_extreme(
    ignoring: ReduceOp, plain: ReduceOp, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> GpuArray:
    source = as_array(a)
    op = ignoring if source.dtype.kind in "fc" else plain
    return write_out(fold(op, source, axis, keepdims=keepdims, initial=initial, where=where), out, "unsafe")


@native("nanmin", at_once="elements", call=extreme(reductions.fmin), most=QUICK)
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN, where: Any = True
) -> GpuArray:
    """Return the minimum over an axis, ignoring NaN."""
    return _nan_extreme(reductions.fmin, reductions.min, a, axis, out, keepdims, initial, where)


@native("nanmax", at_once="elements", call=extreme(reductions.fmax), most=QUICK)
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN, where: Any = True
) -> GpuArray:
    """Return the maximum over an axis, ignoring NaN."""
    return _nan_extreme(reductions.fmax, reductions.max, a, axis, out, keepdims, initial, where)


def _nan_position(find: Callable[..., GpuArray], fill: float, a: Any, axis: Any, out: Any, keepdims: Any) -> GpuArray:
    source = as_array(a)
    # of no elements the fold itself says that there are none
    if source.dtype.kind in "fc" and source.size and elementwise.isnan(source).all(axis).any().item():
        raise ValueError("All-NaN slice encountered")
    return find(_replaced(source, fill), axis, out, keepdims=keepdims)


@implements("nanargmin", at_once="elements", most=QUICK)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GpuArray:
    """Return the indices of the minima along an axis, ignoring NaN."""
    return _nan_position(argmin, np.inf, a, axis, out, keepdims)


@implements("nanargmax", at_once="elements", most=QUICK)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GpuArray:
    """Return the indices of the maxima along an axis, ignoring NaN."""
    return _nan_position(argmax, -np.inf, a, axis, out, keepdims)


def _of_enough(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function where it does not warn: there are more numbers than degrees of freedom are taken."""

    def run(a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
        if function is not np.nanmean:
            check_precision(a)
        if a.dtype.kind not in "fc" or not _are_enough(a, axis, ddof):
            raise NotImplementedError
        options = {} if function is np.nanmean else {"ddof": ddof}
        return function(a, axis, dtype, keepdims=keepdims, **options)

    return run


def _are_enough(a: Any, axis: Any, ddof: Any) -> bool:
    """Return whether each line has more numbers than degrees of freedom are taken: its first elements, usually."""
    if axis is None and ddof == 0 and (number := a.item(0)) == number:
        return True
    if type(axis) is not tuple and type(ddof) is int:
        first = a.flat[: ddof + 1] if axis is None else np.take(a, range(ddof + 1), axis)
        if first.size > ddof and (first == first).all():
            return True
    return bool(np.count_nonzero(~np.isnan(a), axis=axis).min() > ddof)


@native("nanmean", at_once="elements", call=_of_enough(np.nanmean), most=QUICK)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> GpuArray:
    """Return the arithmetic mean over an axis, ignoring NaN."""
    _check_inexact(a, dtype, out)
    return mean(a, axis, dtype, out, keepdims, where=_present(a, where))


@native("nanvar", at_once="elements", call=_of_enough(np.nanvar))
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> GpuArray:  # fmt: skip
    """Return the variance over an axis, ignoring NaN; that of float16 is computed in float32.

    Parameters, results and errors are those of :func:`numpy.nanvar`.
    """
    return _nan_spread(a, axis, dtype, out, degrees_of_freedom(ddof, correction), keepdims, where, mean, root=False)


@native("nanstd", at_once="elements", call=_of_enough(np.nanstd))
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> GpuArray:  # fmt: skip
    """Return the standard deviation over an axis, ignoring NaN; that of float16 is computed in float32.

    Parameters, results and errors are those of :func:`numpy.nanstd`.
    """
    return _nan_spread(a, axis, dtype, out, degrees_of_freedom(ddof, correction), keepdims, where, mean, root=True)


def _nan_spread(
    a: Any, axis: Any, dtype: Any, out: Any, free: Any, keepdims: Any, where: Any, mean: Any, *, root: bool
) -> GpuArray:
    """Return a spread of the elements present: NaN where there are no more of them than degrees of freedom are taken.

    NumPy's would be infinite there.
    """
    _check_inexact(a, dtype, out)
    present = _present(a, where)
    value = spread(a, axis, dtype, free, keepdims, present, mean, root=root)
    if present is not True and value.dtype.kind in "fc":
        number = sum(broadcast_to(present, as_array(a).shape), axis, keepdims=keepdims)
        value = logic.where(number <= free, value.dtype.type(np.nan), value)
    return write_out(value, out, "unsafe")
