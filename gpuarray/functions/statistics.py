"""Averages and variances."""

from collections.abc import Callable
from math import prod
from typing import Any, Final, Literal, overload

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import (
    NOT_GIVEN,
    ArrayLike,
    Axis,
    DTypeLike,
    as_array,
    as_arrays,
    standard_function,
    value_or,
    write_out,
)
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.linalg_arguments import require_zero
from gpuarray.functions.reductions import axes_of, mask_node, masked, reduced, sum
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build, tape
from gpuarray.graph.layouts import contiguous, slice_axis
from gpuarray.graph.nodes import Generate, Node
from gpuarray.graph.shapes import broadcast_to, listed, normalize_axes, normalize_axis
from gpuarray.immediacy import ONE_THREAD
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions

__all__ = ["average", "mean", "std", "var"]


_SINGLE: Final = (dtypes.float32, dtypes.complex64)
_DOUBLE: Final = (dtypes.float64, dtypes.complex128)


def _averaging(source: DType, dtype: DTypeLike) -> tuple[DType, DType]:
    """Return the dtypes in which NumPy computes a mean, and in which it returns it."""
    if dtype is not None:
        result_dtype = dtypes.canonical(dtype)
    elif source.kind in "iub":
        result_dtype = dtypes.float64
    else:
        result_dtype = source
    return (dtypes.float32 if result_dtype == dtypes.float16 else result_dtype), result_dtype


def _count(array: GpuArray, axes: tuple[int, ...], where: Any, dtype: DType, keepdims: bool) -> Any:
    """Return the number of elements of each mean: an integer, or a node if there is a mask."""
    if where is True:
        return prod(array.shape[axis] for axis in axes)
    mask = mask_node(where)
    mask = build.view(mask, broadcast_to(mask.shape, array.shape))
    return build.reduce(reductions.sum, build.cast(mask, dtype), axes, dtype, keepdims)


def _mean_node(
    array: GpuArray, axes: tuple[int, ...], compute: DType, keepdims: bool, where: Any, node: Node | None = None
) -> Node:
    source = build.cast(array.node() if node is None else node, compute)
    if where is not True:
        source = masked(reductions.sum, source, mask_node(where))
    total = build.reduce(reductions.sum, source, axes, compute, keepdims)
    real = dtypes.promote(dtypes.float32, compute) if compute.kind != "c" else dtypes.float64
    count = _count(array, axes, where, real, keepdims)
    return build.cast(build.binary(ops.divide, total, float(count) if where is True else count), compute)


def _numpys_mean(x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.mean(x, axis, dtype, out, keepdims)  # with a mask it may warn


def check_precision(x: Any) -> None:
    """Raise an error if NumPy's sequential sums of many short numbers would lose digits."""
    if x.size > ONE_THREAD and x.dtype not in (dtypes.float64, dtypes.complex128):
        raise NotImplementedError


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function where it does not warn: without a mask, and of more elements than degrees of freedom."""

    def run(x: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        check_precision(x)
        if ddof and ddof >= (x.size if axis is None else x.shape[axis]):
            raise NotImplementedError
        return function(x, axis, dtype, out, ddof, keepdims)

    return run


@native("mean", at_once="elements", call=_numpys_mean, most=QUICK)
@standard_function
def mean(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    where: Any = True,
) -> GpuArray:
    """Return the arithmetic mean along axes.

    Parameters
    ----------
    x : array_like
        Numbers.
    axis : int, tuple of int or None
        Axes to average over; None means all axes.
    dtype : dtype, optional
        Dtype of the mean and of its computation. By default float64 for integers, otherwise the dtype of ``x``.
    out : GpuArray or ndarray, optional
        Array for the result.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.
    where : array_like, optional
        Booleans that broadcast with ``x`` and select the elements to include.

    Returns
    -------
    GpuArray
        The means; NaN where there are no elements.
    """
    array = as_array(x)
    where, keep = value_or(where, True), bool(value_or(keepdims, False))
    if dtype is None and out is not None and array.dtype in _SINGLE and out.dtype in _DOUBLE:
        dtype = dtypes.promote(array.dtype, dtypes.float64)  # as NumPy adds up in the dtype of out
    compute, result_dtype = _averaging(array.dtype, dtype)
    node = _mean_node(array, _averaged_axes(axis, array.ndim, where), compute, keep, where)
    return write_out(reduced(build.cast(node, result_dtype), array, where), out, "unsafe")


def _averaged_axes(axis: Axis, ndim: int, where: Any) -> tuple[int, ...]:
    """Return ``axis`` as a tuple of axes. Without a mask each axis must exist, as in NumPy."""
    return normalize_axes(axis, ndim) if where is True else axes_of(axis, ndim)


def _squared_deviations(source: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """Return the sum of the squared deviations from the mean along axes, none of which is empty.

    Squared deviations do not change when all elements are shifted, so the first element of each row is subtracted.
    The differences are as small as the spread of the data, so the rounding of their mean does not matter. If the first
    element is an outlier, the variance is large and the rounding errors are small relative to it.
    """
    if type(source) is Generate and source.op.is_constant:
        return build.reduce(reductions.squared_deviations, source, axes, source.dtype, keepdims)
    first = contiguous(source.shape)
    for axis in axes:
        first = slice_axis(first, axis, 0, 1, 1)
    shift = build.view(source, first)
    if tape.state.tapes:  # the derivative by the shift is zero
        shift = tape.state.constant(shift)
    shifted = build.elementwise(ops.subtract, source, shift)
    return build.reduce(reductions.squared_deviations, shifted, axes, shifted.dtype, keepdims)


def _var_node(
    array: GpuArray,
    axes: tuple[int, ...],
    compute: DType,
    keepdims: bool,
    where: Any,
    correction: Any,
    mean: GpuArray | None,
) -> Node:
    """Return the mean of the squared deviations from the mean.

    Without a mask one fold computes them. With a mask, or a given mean, there are two passes, as in NumPy. The second
    pass also sums the deviations, to correct for the rounding of the mean: Chan, Golub and LeVeque (1983), "Algorithms
    for computing the sample variance".
    """
    count = _count(array, axes, where, dtypes.float64, keepdims)
    if mean is None and isinstance(count, int) and count and axes:
        exact = build.cast(array.node(), dtypes.promote(compute, dtypes.float32))  # for differences of float16
        parts = [exact] if compute.kind == "f" else [build.elementwise(r, exact) for r in (ops.real, ops.imag)]
        sums = [_squared_deviations(component, axes, keepdims) for component in parts]
        total = sums[0] if len(sums) == 1 else build.elementwise(ops.add, *sums)
        value = build.elementwise(ops.divide, total, float(np.maximum(count - correction, 0)))
        return value if compute.kind == "c" else build.cast(value, compute)
    source = build.cast(array.node(), compute)
    centre = _mean_node(array, axes, compute, True, where, source) if mean is None else mean.node()
    deviation = build.elementwise(ops.subtract, source, centre)
    if compute.kind == "c":
        squares = [build.elementwise(ops.square, build.elementwise(r, deviation)) for r in (ops.real, ops.imag)]
        square = build.elementwise(ops.add, *squares)
    else:
        square = build.elementwise(ops.square, deviation)
    if where is not True:
        square = masked(reductions.sum, square, mask_node(where))
    total = build.reduce(reductions.sum, square, axes, square.dtype, keepdims)
    count = _count(array, axes, where, square.dtype, keepdims)
    if compute.kind == "f" and mean is None:
        selected = deviation if where is True else masked(reductions.sum, deviation, mask_node(where))
        rest = build.reduce(reductions.sum, selected, axes, compute, keepdims)
        number = float(count) if isinstance(count, int) else count
        excess = build.elementwise(ops.multiply, rest, build.elementwise(ops.divide, rest, number))
        # if the mean overflowed, the squares stay infinite, as in NumPy
        excess = build.elementwise(ops.where, build.elementwise(ops.isfinite, excess), excess, 0.0)
        total = build.elementwise(ops.maximum, build.elementwise(ops.subtract, total, excess), 0.0)
    if isinstance(count, int):
        divisor: Any = float(np.maximum(count - correction, 0))
    else:
        divisor = build.elementwise(ops.maximum, build.elementwise(ops.subtract, count, float(correction)), 0.0)
    return build.elementwise(ops.divide, total, divisor)


@native("var", at_once="elements", call=_spread(np.var))
@standard_function
def var(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    correction: float = 0.0,
    keepdims: bool = False,
    where: Any = True,
    ddof: float | None = None,
    *,
    mean: ArrayLike | None = None,
) -> GpuArray:
    """Return the variance along axes: the mean of the squared deviations from the mean.

    Parameters
    ----------
    x : array_like
        Numbers.
    axis : int, tuple of int or None
        Axes to reduce; None means all axes.
    dtype : dtype, optional
        As for :func:`mean`.
    out : GpuArray or ndarray, optional
        Array for the result.
    correction : float
        Number that is subtracted from the number of elements in the divisor; ``ddof`` in NumPy.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.
    where : array_like, optional
        Booleans that broadcast with ``x`` and select the elements to include.
    ddof : float, optional
        NumPy's name of ``correction``.
    mean : array_like, optional
        The mean, if it is known, with the reduced axes kept.

    Returns
    -------
    GpuArray
        Real; NaN where the divisor is not positive.
    """
    free = degrees_of_freedom(ddof, correction)
    return write_out(spread(x, axis, dtype, free, keepdims, where, mean, root=False), out, "unsafe")


@native("std", at_once="elements", call=_spread(np.std))
@standard_function
def std(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    correction: float = 0.0,
    keepdims: bool = False,
    where: Any = True,
    ddof: float | None = None,
    *,
    mean: ArrayLike | None = None,
) -> GpuArray:
    """Return the standard deviation along axes, the square root of :func:`var`. See there for the parameters."""
    free = degrees_of_freedom(ddof, correction)
    deviation = spread(x, axis, dtype, free, keepdims, where, mean, root=True)
    return write_out(deviation, out, "unsafe" if out is None or deviation.shape != out.shape else "same_kind")


def spread(
    x: ArrayLike, axis: Axis, dtype: DTypeLike, free: Any, keepdims: Any, where: Any, mean: Any, *, root: bool
) -> GpuArray:
    """Return the variance of elements along axes, or with ``root`` its square root, from the mean if it is given.

    Raises
    ------
    TypeError
        If a standard deviation is to be an integer.
    """
    array = as_array(x)
    compute, result_dtype = _averaging(array.dtype, dtype)
    where, mean = value_or(where, True), value_or(mean, None)
    centre = None if mean is None else as_array(mean, array.device)
    if centre is not None and dtype is None:
        mean_dtype = mean if type(mean) in (int, float, complex) else centre.dtype  # Python numbers are weakly typed
        compute, result_dtype = (dtypes.canonical(np.result_type(kind, mean_dtype)) for kind in (compute, result_dtype))
        centre = centre.astype(compute, copy=False)
    axes = _averaged_axes(axis, array.ndim, where)
    node = _var_node(array, axes, compute, bool(value_or(keepdims, False)), where, free, centre)
    if root:
        node = build.elementwise(ops.sqrt, node)
    if result_dtype.kind != "c" or dtype is not None:
        node = build.cast(node, result_dtype)
    if root and node.shape and result_dtype.kind in "iu":
        raise TypeError(f"a standard deviation cannot have dtype {result_dtype}; use a floating dtype")
    return reduced(node, array, where)


def degrees_of_freedom(ddof: Any, correction: Any) -> Any:
    """Return the correction from ``ddof`` or ``correction``.

    Raises
    ------
    ValueError
        If both are given.
    """
    if ddof is None or ddof is NOT_GIVEN:
        return 0 if correction is NOT_GIVEN else correction
    if correction is NOT_GIVEN or not correction:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


@overload
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike = None, returned: Literal[False] = ..., *, keepdims: bool = ...
) -> GpuArray: ...
@overload
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike = None, *, returned: Literal[True], keepdims: bool = ...
) -> tuple[GpuArray, GpuArray]: ...
@implements("average", at_once="elements", most=QUICK)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NOT_GIVEN) -> Any:
    """Return the weighted average along an axis."""
    keep = keepdims is not NOT_GIVEN and bool(keepdims)
    source = as_array(a)
    if weights is None:
        result = mean(source, axis, keepdims=keep)
        scale = as_array(result.dtype.type(source.size / result.size), source.device)
    else:
        source, weight = as_arrays(source, weights)
        weight = aligned_weights(source, weight, axis)
        common = np.result_type(source.dtype, weight.dtype, "f8" if source.dtype.kind in "biu" else source.dtype)
        scale = sum(weight, axis, common, keepdims=keep)
        require_zero((scale == 0.0).any(), lambda _: ZeroDivisionError("Weights sum to zero, can't be normalized"))
        result = sum(np.multiply(source, weight, dtype=common), axis, keepdims=keep) / scale
    return (result, np.broadcast_to(scale, result.shape).copy()) if returned else result


def aligned_weights(source: GpuArray, weight: GpuArray, axis: Any) -> GpuArray:
    """Return weights in the shape of the elements. They may be given for ``axis`` alone.

    Raises
    ------
    TypeError, ValueError
        If their shape does not fit.
    """
    if weight.shape == source.shape:
        return weight
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = [normalize_axis(a, source.ndim) for a in listed(axis)]  # in the order of the weights
    if weight.shape != tuple(source.shape[a] for a in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    weight = weight.transpose(np.argsort(axes).tolist())
    return weight.reshape([n if a in axes else 1 for a, n in enumerate(source.shape)]).broadcast(source.shape)
