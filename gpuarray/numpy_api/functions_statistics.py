"""NumPy's sums, extremes, moments and what is composed of them, ``nan`` variants included."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from math import prod
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.graph import build
from gpuarray.numpy_api.arguments import NOT_GIVEN, as_array, as_arrays, concatenated, deliver
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.reduction import axes_of, check_reduced, fold, running
from gpuarray.numpy_api.registry import implements, native
from gpuarray.ops import reductions

# --- folds ----------------------------------------------------------------------------------------------------------


@native("sum")
def sum_(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN,
    where: Any = True,
) -> Any:  # fmt: skip
    source = as_array(a)
    return fold(np.add, source, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@native("prod")
def prod_(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN,
    where: Any = True,
) -> Any:  # fmt: skip
    source = as_array(a)
    return fold(np.multiply, source, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@native("min", "amin")
def min_(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN, where: Any = True
) -> Any:
    return fold(np.minimum, as_array(a), axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)


@native("max", "amax")
def max_(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOT_GIVEN, where: Any = True
) -> Any:
    return fold(np.maximum, as_array(a), axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)


@native("any")
def any_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    return fold(np.logical_or, as_array(a), axis=axis, out=out, keepdims=keepdims, where=where)


@native("all")
def all_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    return fold(np.logical_and, as_array(a), axis=axis, out=out, keepdims=keepdims, where=where)


@native("ptp")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    source = as_array(a)
    return deliver(max_(source, axis, None, keepdims) - min_(source, axis, None, keepdims), out)


@native("count_nonzero")
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    source = as_array(a)
    return fold(np.add, source != 0, axis=axis, dtype=np.intp, keepdims=keepdims)


def _position(op: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    source = as_array(a)
    axes = None if axis is None else axes_of(axis.__index__(), source.ndim)
    keep = keepdims is not NOT_GIVEN and bool(keepdims)
    if source.ndim == 0:
        result = as_array(0, source.device)
    elif source.size == 0 and (axes is None or source.shape[axes[0]] == 0):
        raise ValueError(f"attempt to get {op.name} of an empty sequence")
    else:
        result = wrap(build.reduce(op, source.node(), axes, None, keep), source.device)
    if out is not None:
        check_reduced(op.name, result.shape, out)
    return deliver(result, out, "unsafe")


@native("argmin")
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _position(reductions.argmin, a, axis, out, keepdims)


@native("argmax")
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _position(reductions.argmax, a, axis, out, keepdims)


# --- scans ----------------------------------------------------------------------------------------------------------


def _running(ufunc: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    source = as_array(a)
    if axis is None or source.ndim == 0:
        source, axis = source.reshape(-1), 0
    return running(ufunc, source, axis=axis, dtype=dtype, out=out)


@native("cumsum")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running(np.add, a, axis, dtype, out)


@native("cumprod")
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running(np.multiply, a, axis, dtype, out)


def _cumulative(ufunc: Any, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool) -> Any:
    source = as_array(x)
    if axis is None:
        if source.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if not include_initial:
        return _running(ufunc, source, axis, dtype, out)
    result = _running(ufunc, source, axis, dtype, None)
    number = build.normalize_axis(axis, source.ndim)
    shape = (*source.shape[:number], 1, *source.shape[number + 1 :])
    first = wrap(build.full(shape, ufunc.identity, result.dtype), source.device)
    return deliver(concatenated([first, result], number), out)


@native("cumulative_sum")
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return _cumulative(np.add, x, axis, dtype, out, include_initial)


@native("cumulative_prod")
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return _cumulative(np.multiply, x, axis, dtype, out, include_initial)


# --- moments --------------------------------------------------------------------------------------------------------


def _moment_dtypes(source: GpuArray, dtype: Any) -> tuple[Any, Any]:
    """Return in which dtype NumPy sums for a mean, and that of the result: float16 is summed in single precision."""
    if dtype is not None:
        return dtypes.canonical(dtype), dtypes.canonical(dtype)
    if source.dtype.kind in "biu":
        return dtypes.float64, dtypes.float64
    return (dtypes.float32 if source.dtype == dtypes.float16 else source.dtype), source.dtype


def count(source: GpuArray, axis: Any, keepdims: Any, where: Any) -> Any:
    """Return how many elements are folded into one: an integer, or an array where a mask decides."""
    if where is True or where is NOT_GIVEN:
        return prod(source.shape[a] for a in axes_of(axis, source.ndim))
    mask = as_array(where, source.device).broadcast(source.shape)
    return fold(np.add, mask, axis=axis, dtype=np.intp, keepdims=keepdims)


def _quotient(total: GpuArray, number: Any) -> Any:
    if isinstance(number, int):
        return np.true_divide(total, float(number), dtype=total.dtype)
    return np.true_divide(total, number, dtype=total.dtype, casting="unsafe")


@native("mean")
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    source = as_array(a)
    inner, result = _moment_dtypes(source, dtype)
    if result.kind in "biu":
        total = fold(np.add, source, axis=axis, dtype=inner, keepdims=keepdims, where=where)
        return deliver(np.true_divide(total, count(source, axis, keepdims, where)).astype(result), out, "unsafe")
    total = fold(np.add, source, axis=axis, dtype=inner, keepdims=keepdims, where=where)
    return deliver(_quotient(total, count(source, axis, keepdims, where)).astype(result, copy=False), out, "unsafe")


@native("var")
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> Any:  # fmt: skip
    return deliver(variance(a, axis, dtype, ddof, keepdims, where, mean, correction, False), out, "unsafe")


@native("std")
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> Any:  # fmt: skip
    return deliver(variance(a, axis, dtype, ddof, keepdims, where, mean, correction, True), out, "unsafe")


def variance(
    a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, center: Any, correction: Any, root: bool
) -> Any:
    """Return the variance, or with ``root`` the standard deviation; the arguments are those of ``numpy.var``."""
    if correction is not NOT_GIVEN:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    source = as_array(a)
    inner, result = _moment_dtypes(source, dtype)
    if center is NOT_GIVEN:
        center = _quotient(
            fold(np.add, source, axis=axis, dtype=inner, keepdims=True, where=where),
            count(source, axis, True, where),
        )
    deviation = np.subtract(source, center, dtype=inner, casting="unsafe")
    square: Any = deviation * deviation
    if deviation.dtype.kind == "c":
        square = deviation.real * deviation.real + deviation.imag * deviation.imag
    total = fold(np.add, square, axis=axis, keepdims=keepdims, where=where)
    number = count(source, axis, keepdims, where)
    left = max(number - ddof, 0) if isinstance(number, int) else np.maximum(number - ddof, 0)
    value = _quotient(total, left)
    value = np.sqrt(value) if root else value
    real = np.empty(0, result).real.dtype
    return value.astype(real, copy=False)


@implements("average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NOT_GIVEN) -> Any:
    keep = keepdims is not NOT_GIVEN and bool(keepdims)
    source = as_array(a)
    if weights is None:
        result = mean(source, axis, keepdims=keep)
        scale = as_array(result.dtype.type(source.size / max(result.size, 1)), source.device)
    else:
        source, weight = as_arrays(source, weights)
        if weight.shape != source.shape:
            weight = _aligned_weights(source, weight, axis)
        common = np.result_type(source.dtype, weight.dtype, "f8" if source.dtype.kind in "biu" else source.dtype)
        scale = sum_(weight, axis, common, keepdims=keep)
        if bool(np.any(scale == 0.0)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = sum_(np.multiply(source, weight, dtype=common), axis, keepdims=keep) / scale
    return (result, np.broadcast_to(scale, result.shape).copy()) if returned else result


def _aligned_weights(source: GpuArray, weight: GpuArray, axis: Any) -> GpuArray:
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = axes_of(axis, source.ndim)
    if weight.shape != tuple(source.shape[a] for a in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return weight.reshape([n if a in axes else 1 for a, n in enumerate(source.shape)]).broadcast(source.shape)


@implements("cov")
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if fweights is not None or aweights is not None:
        weights = {"fweights": fweights, "aweights": aweights, "dtype": dtype}
        return on_host(np.cov, (m, y, rowvar, bias, ddof), weights, "weighted covariance is NumPy's")
    rows = [_observations(v, rowvar) for v in ((m,) if y is None else as_arrays(m, y))]
    table = rows[0] if len(rows) == 1 else concatenated(rows, 0)
    kind = np.result_type(table.dtype, np.float64) if dtype is None else dtypes.canonical(dtype)
    table = table.astype(kind, copy=False)
    free = 0 if bias else 1
    factor = table.shape[1] - (free if ddof is None else ddof)
    centred = table - mean(table, 1, keepdims=True)
    return (np.matmul(centred, np.conjugate(centred.T)) / float(max(factor, 0))).squeeze()


def _observations(value: Any, rowvar: bool) -> GpuArray:
    table = as_array(value)
    if table.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    table = table.reshape(1, -1) if table.ndim < 2 else table
    return table.T if not rowvar and table.shape[0] != 1 else table


@implements("corrcoef")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    table = cov(x, y, rowvar, dtype=dtype)
    if table.ndim == 0:
        return table / table
    deviation = np.sqrt(np.diagonal(table).real)
    table = table / deviation[:, None] / deviation[None, :]
    if table.dtype.kind == "c":
        return np.clip(table.real, -1, 1) + 1j * np.clip(table.imag, -1, 1)
    return np.clip(table, -1, 1)
