"""Reductions: sums, products, extremes and truth values along axes, with all of NumPy's keywords.

All reductions use :func:`fold`.
"""

from collections.abc import Callable
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
    result,
    standard_function,
    value_or,
    write_out,
)
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import broadcast_to, normalize_axes
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import ReduceOp

__all__ = ["all", "amax", "amin", "any", "max", "min", "prod", "ptp", "sum"]

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
    requested = None if dtype is None else dtypes.canonical(dtype)
    is_boolean = op.accumulate(dtypes.int8) == dtypes.bool_
    target = None if out is None or requested is not None or is_boolean else out.dtype
    assert op.combine is not None
    ufunc: Any = op.combine.numpy
    loop = ufunc.resolve_dtypes(
        (target, source, None), signature=(requested, None, None), casting="unsafe", reduction=True
    )
    return requested or (op.accumulate(source) if target is None else dtypes.canonical(loop[0]))


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
        extents = tuple(1 if a in axes else n for a, n in enumerate(array.shape) if keepdims or a not in axes)
        folded: Node = build.full(extents, start, first)
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
    broadcast_to(mask.shape, node.shape)
    return build.elementwise(ops.where, mask, node, build.full((), op.identity_of(node.dtype), node.dtype))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return ``axis`` as a tuple of axes. A 0-d array accepts 0 and -1 too, as in NumPy's reductions."""
    if ndim == 0 and axis in (0, -1):
        return ()
    return normalize_axes(axis, ndim)


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
