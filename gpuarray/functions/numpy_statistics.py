"""NumPy's sums, extremes, moments and what is composed of them, ``nan`` variants included."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import searching, statistics
from gpuarray.functions.numpy_arguments import (
    NOT_GIVEN,
    as_array,
    as_arrays,
    concatenated,
    deliver,
    normalized,
    numbers,
)
from gpuarray.functions.reduction import axes_of, check_reduced, fold, given, running
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.source_locations import warn

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
    return searching.count_nonzero(source, axes_of(axis, source.ndim), keepdims=keepdims)


def _position(find: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    result = find(a, None if axis is None else index(axis), keepdims=bool(given(keepdims, False)))
    if out is not None:
        check_reduced(find.__name__, result.shape, out)
        if not np.can_cast(out.dtype, result.dtype, "safe"):
            raise TypeError(f"positions are int64, and cannot be put into an array of dtype {out.dtype}")
    return deliver(result, out, "unsafe")


@native("argmin")
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _position(searching.argmin, a, axis, out, keepdims)


@native("argmax")
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _position(searching.argmax, a, axis, out, keepdims)


# --- scans ----------------------------------------------------------------------------------------------------------


def _running(ufunc: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    source = as_array(a)
    if axis is None or source.ndim == 0:
        axes_of(axis if axis is None else index(axis), source.ndim)
        source, axis = source.reshape(-1), 0
    return running(ufunc, source, axis=index(axis), dtype=dtype, out=out)


@native("cumsum")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running(np.add, a, axis, dtype, out)


@native("cumprod")
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running(np.multiply, a, axis, dtype, out)


@native("cumulative_sum")
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    result = statistics.cumulative_sum(np.atleast_1d(x), axis=axis, dtype=dtype, include_initial=include_initial)
    return deliver(result, out, "unsafe")


@native("cumulative_prod")
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    result = statistics.cumulative_prod(np.atleast_1d(x), axis=axis, dtype=dtype, include_initial=include_initial)
    return deliver(result, out, "unsafe")


# --- moments --------------------------------------------------------------------------------------------------------


@native("mean")
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    if where is True:
        build.normalize_axes(axis, np.ndim(a))  # a 0-d array has no pretended axis here
    result = statistics.mean(a, axis, dtype, None, given(keepdims, False), given(where, True))
    return deliver(result, out, "unsafe")


@native("var")
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> Any:  # fmt: skip
    return deliver(spread(statistics.var, a, axis, dtype, ddof, keepdims, where, mean, correction), out, "unsafe")


@native("std")
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> Any:  # fmt: skip
    return deliver(spread(statistics.std, a, axis, dtype, ddof, keepdims, where, mean, correction), out, "unsafe")


def spread(
    measure: Any, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, centre: Any, correction: Any
) -> Any:
    """Return the variance or standard deviation, from the mean that is given or from the arrays' own."""
    free = degrees_of_freedom(ddof, correction)
    keep, mask = given(keepdims, False), given(where, True)
    source = as_array(a)
    if mask is True:
        build.normalize_axes(axis, source.ndim)
    value = measure(source, axis, dtype, None, free, keep, mask, mean=given(centre, None))
    if dtype is None or np.dtype(dtype).kind not in "iuc":
        return value
    if measure is statistics.std and value.ndim and value.dtype.kind in "iu":
        raise TypeError(f"a standard deviation of dtype {value.dtype} was asked for; give a floating dtype")
    return value.astype(dtype, copy=False)


def degrees_of_freedom(ddof: Any, correction: Any) -> Any:
    """Return what is subtracted from the number of elements, by whichever name it was given."""
    if correction is NOT_GIVEN:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


@implements("average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NOT_GIVEN) -> Any:
    keep = keepdims is not NOT_GIVEN and bool(keepdims)
    source = as_array(a)
    if weights is None:
        result = mean(source, axis, keepdims=keep)
        scale = as_array(result.dtype.type(source.size / result.size), source.device)
    else:
        source, weight = as_arrays(source, weights)
        weight = aligned_weights(source, weight, axis)
        common = np.result_type(source.dtype, weight.dtype, "f8" if source.dtype.kind in "biu" else source.dtype)
        scale = sum_(weight, axis, common, keepdims=keep)
        if (scale == 0.0).any().item():
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = sum_(np.multiply(source, weight, dtype=common), axis, keepdims=keep) / scale
    return (result, np.broadcast_to(scale, result.shape).copy()) if returned else result


def aligned_weights(source: GpuArray, weight: GpuArray, axis: Any) -> GpuArray:
    """Return weights in the shape of the elements that they are for; they may be those along ``axis`` alone.

    Raises
    ------
    TypeError, ValueError
        If they do not fit.
    """
    if weight.shape == source.shape:
        return weight
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = [normalized(a, source.ndim) for a in (axis if isinstance(axis, tuple) else (axis,))]  # in the weights' order
    if weight.shape != tuple(source.shape[a] for a in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    weight = weight.transpose(np.argsort(axes).tolist())
    return weight.reshape([n if a in axes else 1 for a, n in enumerate(source.shape)]).broadcast(source.shape)


@implements("cov")
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    given = (as_array(m),) if y is None else as_arrays(m, y)
    # NumPy turns all of m that is no line, but of y what has more than one row
    turned = (given[0].ndim != 1, *(table.shape[:1] != (1,) for table in map(_table, given[1:])))
    rows = [_table(v).T if turn and not rowvar else _table(v) for v, turn in zip(given, turned, strict=True)]
    table = rows[0] if len(rows) == 1 else concatenated(rows, 0)
    kind = np.result_type(table.dtype, np.float64) if dtype is None else dtypes.canonical(dtype)
    table = table.astype(kind, copy=False)
    free = (0 if bias else 1) if ddof is None else ddof
    frequency, importance = (
        _observation_weights(w, n, table) for w, n in ((fweights, "fweights"), (aweights, "aweights"))
    )
    given_weights = [w for w in (frequency, importance) if w is not None]
    weight: Any = given_weights[0] if given_weights else None
    if len(given_weights) == 2:
        weight = weight * given_weights[1]
    if weight is None:
        centre: Any = mean(table, 1, keepdims=True)
        factor: Any = float(table.shape[1] - free)
    else:
        total = sum_(weight)
        centre = sum_(table * weight, 1, keepdims=True) / total
        factor = total if not free else total - free
        if free and importance is not None:
            factor = total - free * sum_(weight * importance) / total
    degrees = factor if weight is None else factor.item()
    if degrees <= 0:
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
        factor = 0.0
    centred = (table - centre).astype(kind, copy=False)
    scaled = centred if weight is None else centred * weight
    products = np.matmul(centred, np.conjugate(scaled.T))
    inverse = np.true_divide(1, factor)
    return (products * (float(inverse) if weight is None else inverse.astype(products.dtype))).squeeze()


def _observation_weights(weights: Any, name: str, table: GpuArray) -> Any:
    """Return weights of observations as float64, checked as NumPy does; None if there are none."""
    if weights is None:
        return None
    line: Any = as_array(weights, table.device).astype(dtypes.float64)
    if line.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if line.shape[0] != table.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    fractions, negative = numbers((line != np.rint(line)).any(), (line < 0).any())
    if fractions and name == "fweights":
        raise TypeError("fweights must be integer")
    if negative:
        raise ValueError(f"{name} cannot be negative")
    return line


def _table(value: GpuArray) -> GpuArray:
    if value.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    return value.reshape(1, -1) if value.ndim < 2 else value


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
