"""Reductions and scans: sums, products, extremes and truth values along axes, with all of NumPy's keywords.

All reductions use :func:`fold`, all scans use :func:`running`.
"""

from collections.abc import Callable
from operator import index
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_element, as_node, wrap
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import (
    NOT_GIVEN,
    ArrayLike,
    Axis,
    DTypeLike,
    as_array,
    at_least_one_axis,
    check_nbytes,
    line_axis,
    result,
    standard_function,
    value_or,
    write_out,
)
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp

__all__ = [
    "all", "amax", "amin", "any", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "max", "min", "prod",
    "ptp", "sum",
]  # fmt: skip

#: The reductions by the ufunc whose ``reduce`` and ``accumulate`` they are.
REDUCTIONS: Final[dict[Any, ReduceOp]] = {combine.numpy: op for combine, op in reductions.ELEMENTWISE.items()}


def accumulation_dtype(op: ReduceOp, source: DType, dtype: Any, out: Any) -> DType:
    """Return the dtype in which NumPy reduces elements of ``source``.

    Parameters
    ----------
    op : ReduceOp
        The reduction.
    source : dtype
        Dtype of the elements.
    dtype : dtype, optional
        The dtype that the caller asks for.
    out : array, optional
        Where the result goes; its dtype counts if ``dtype`` is not given.

    Raises
    ------
    numpy.exceptions.UFuncTypeError
        If NumPy's ufunc does not accept the dtype.
    """
    wanted = None if dtype is None else dtypes.canonical(dtype)
    is_boolean = op.accumulate(dtypes.int8) == dtypes.bool_
    target = None if out is None or wanted is not None or is_boolean else out.dtype
    assert op.combine is not None
    ufunc: Any = op.combine.numpy
    loop = ufunc.resolve_dtypes(
        (target, source, None), signature=(wanted, None, None), casting="unsafe", reduction=True
    )
    return wanted or (op.accumulate(source) if target is None else dtypes.canonical(loop[0]))


def fold(
    op: ReduceOp,
    x: ArrayLike,
    axis: Axis = None,
    *,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:
    """Reduce ``x`` along axes. The keywords are those of NumPy's ``ufunc.reduce``.

    Raises
    ------
    TypeError
        If ``where`` is not boolean, or the reduction does not accept the dtype.
    ValueError
        If the reduction has no identity and there are no elements, or ``where`` is given without ``initial``; or if
        ``out`` has another shape than the result.
    """
    array = as_array(x)
    node = array.node()
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if keepdims is NOT_GIVEN:
        keepdims = False
    kind = None if dtype is None and out is None else accumulation_dtype(op, node.dtype, dtype, out)
    axes = axes_of(axis, len(node.shape))
    start = None
    is_masked = where is not True and where is not NOT_GIVEN
    if is_masked or not (initial is NOT_GIVEN or initial is None):
        first = kind or op.accumulate(node.dtype)
        start = None if initial is NOT_GIVEN or initial is None else _start(initial, first)
        if is_masked:
            node = _selected(op, build.cast(node, first), where, start)
    if start is not None and 0 in [array.shape[a] for a in axes]:
        kept = tuple(1 if a in axes else n for a, n in enumerate(array.shape) if keepdims or a not in axes)
        folded: Node = build.full(kept, start, first)
    else:
        folded = build.reduce(op, node, axes, kind, bool(keepdims))
        if start is not None and op.combine is not None:
            folded = build.elementwise(op.combine, folded, build.cast(as_node(start, first), first))
    return write_reduced(op.name, reduced(folded, array, where if is_masked else True), out)


def reduced(node: Node, array: GpuArray, where: Any) -> GpuArray:
    """Return the array of a node that was computed from an array and a mask (True is no mask)."""
    return wrap(node, array.device) if where is True else result(node, array, where)


def _start(initial: Any, kind: DType) -> Any:
    return as_element(initial.get()[()] if isinstance(initial, GpuArray) else initial, kind)


def _selected(op: ReduceOp, node: Node, where: Any, start: Any) -> Node:
    """Return a node in which elements that ``where`` excludes are replaced by the identity."""
    if op.empty_is_error and start is None:
        raise ValueError(
            f"reduction operation {op.name!r} does not have an identity, so to use a where mask one has to specify "
            "'initial'"
        )
    return masked(op, node, mask_node(where))


def masked(op: ReduceOp, node: Node, mask: Node) -> Node:
    """Return the elements of ``node`` where ``mask`` is True, and the identity of a reduction elsewhere.

    Raises
    ------
    ValueError
        If the mask does not broadcast to the shape of the elements.
    """
    build.broadcast_to(mask.shape, node.shape)
    return build.elementwise(ops.where, mask, node, build.full((), op.identity_of(node.dtype), node.dtype))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return ``axis`` as a tuple of axes. A 0-d array accepts 0 and -1 too, as in NumPy's reductions."""
    if ndim == 0 and axis in (0, -1):
        return ()
    return build.normalize_axes(axis, ndim)


def mask_node(where: Any) -> Node:
    """Return a ``where=`` argument as a boolean node.

    Raises
    ------
    TypeError
        If it is an array that is not boolean. What is no array is converted, as by NumPy.
    """
    mask = as_node(where if isinstance(where, GpuArray | np.ndarray) else np.asarray(where, bool))
    if mask.dtype != dtypes.bool_:
        raise TypeError(
            f"Cannot cast array data from {mask.dtype!r} to dtype('bool') according to the rule 'safe'; where= takes a "
            "boolean array"
        )
    return mask


def write_reduced(name: str, value: GpuArray, out: Any) -> GpuArray:
    """Return the result of a reduction, or ``out`` with the result written to it.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    if out is None:
        return value
    shape = value.shape
    if len(out.shape) != len(shape):
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong number of dimensions: Found "
            f"{len(out.shape)} but expected {len(shape)}"
        )
    if out.shape != shape:
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong shape: found {out.shape}, expected {shape}"
        )
    return write_out(value, out, "unsafe")


def _folded(op: ReduceOp) -> Callable[..., Any]:
    """Return NumPy's reduction with the parameters of :func:`sum`; the function in NumPy takes twice the time."""
    combine: Any = op.combine
    reduce = combine.numpy.reduce

    def run(
        x: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NOT_GIVEN,
        where: Any = True,
    ) -> Any:
        keepdims = value_or(keepdims, False)
        if (initial is None or initial is NOT_GIVEN) and where is True:
            return reduce(x, axis, dtype, out, keepdims)
        return reduce(x, axis, dtype, out, keepdims, initial, where)

    return run


def extreme(op: ReduceOp) -> Callable[..., Any]:
    """Return NumPy's reduction with the parameters of :func:`max`."""
    run = _folded(op)
    return lambda x, axis=None, *arguments, **keywords: run(x, axis, None, *arguments, **keywords)


@native("sum", at_once="elements", call=_folded(reductions.sum), most=QUICK)
@standard_function
def sum(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:
    """Return the sum of elements along axes.

    Parameters
    ----------
    x : array_like
        Numbers or booleans.
    axis : int, tuple of int or None
        Axes to sum over; None means all axes.
    dtype : dtype, optional
        Dtype of the sum. By default int64 or uint64 for integers and booleans, otherwise the dtype of ``x``.
    out : GpuArray or ndarray, optional
        Array for the result.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.
    initial : scalar, optional
        Start value.
    where : array_like, optional
        Booleans that broadcast with ``x`` and select the elements to include.

    Returns
    -------
    GpuArray
        The sums, without the reduced axes.

    Raises
    ------
    numpy.exceptions.AxisError
        If the axis does not exist.
    """
    return fold(reductions.sum, x, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@native("prod", at_once="elements", call=_folded(reductions.prod), most=QUICK)
@standard_function
def prod(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:
    """Return the product of elements along axes. See :func:`sum` for the parameters and dtypes."""
    return fold(reductions.prod, x, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@native("min", "amin", at_once="elements", call=extreme(reductions.min), most=QUICK)
@standard_function
def min(
    x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:  # fmt: skip
    """Return the minimum along axes, or NaN if an element is NaN. See :func:`sum` for the parameters.

    Raises
    ------
    ValueError
        If there are no elements and ``initial`` is not given.
    """
    return fold(reductions.min, x, axis, out=out, keepdims=keepdims, initial=initial, where=where)


amin = min


@native("max", "amax", at_once="elements", call=extreme(reductions.max), most=QUICK)
@standard_function
def max(
    x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = NOT_GIVEN,
    where: Any = True,
) -> GpuArray:  # fmt: skip
    """Return the maximum along axes, or NaN if an element is NaN. See :func:`sum` for the parameters.

    Raises
    ------
    ValueError
        If there are no elements and ``initial`` is not given.
    """
    return fold(reductions.max, x, axis, out=out, keepdims=keepdims, initial=initial, where=where)


amax = max


@native("all", at_once="elements", call=extreme(reductions.all), most=QUICK)
def all(x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> GpuArray:
    """Return whether all elements along axes are non-zero; True if there are no elements.

    Parameters
    ----------
    x : array_like
        Any array.
    axis : int, tuple of int or None
        Axes to reduce; None means all axes.
    out : GpuArray or ndarray, optional
        Array for the result.
    keepdims : bool
        Whether to keep the reduced axes, with extent 1.
    where : array_like, optional
        Booleans that broadcast with ``x`` and select the elements to include.

    Returns
    -------
    GpuArray
        Booleans, without the reduced axes.
    """
    return fold(reductions.all, x, axis, out=out, keepdims=keepdims, where=where)


@native("any", at_once="elements", call=extreme(reductions.any), most=QUICK)
def any(x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> GpuArray:
    """Return whether any element along axes is non-zero. See :func:`all` for the parameters."""
    return fold(reductions.any, x, axis, out=out, keepdims=keepdims, where=where)


@native("ptp", at_once="elements", most=QUICK)
def ptp(a: ArrayLike, axis: Axis = None, out: Any = None, keepdims: Any = False) -> GpuArray:
    """Return the maximum minus the minimum along axes. See :func:`max` for the parameters."""
    source = as_array(a)
    return write_out(max(source, axis, None, keepdims) - min(source, axis, None, keepdims), out)


# --- running folds --------------------------------------------------------------------------------------------------


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
    return build.normalize_axis(axis, ndim)


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
    number = build.normalize_axis(axis, array.ndim)
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
