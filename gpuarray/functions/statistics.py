"""Statistical functions: reductions, scans, and compositions over them."""

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_element, as_node, wrap
from gpuarray.config import strictness
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, Axis, DTypeLike, as_array, check_nbytes, result, write_out
from gpuarray.graph import build, standard
from gpuarray.graph.layouts import contiguous, slice_axis
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as rows
from gpuarray.ops import reductions
from gpuarray.ops.spec import ReduceOp


def fold(
    op: ReduceOp,
    x: ArrayLike,
    axis: Axis,
    *,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> GpuArray:
    """Return ``x`` folded by a reduction row, with NumPy's keywords.

    Raises
    ------
    ValueError
        If nothing is there to fold, or ``where`` is given without ``initial``, for a row that NumPy gives no identity.
    """
    array = as_array(x)
    if strictness.possible:
        standard.require(op.name, array)
    node = array.node()
    kind = dtypes.canonical(dtype) if dtype is not None else op.accumulate(node.dtype)
    if where is not True:
        node = _masked(op, build.cast(node, kind), where, initial)
    axes = _axes(axis, array.ndim)
    if isinstance(initial, np.generic):
        initial = as_element(initial, kind)
    if initial is not None and any(array.shape[a] == 0 for a in axes):
        kept = tuple(1 if a in axes else n for a, n in enumerate(array.shape) if keepdims or a not in axes)
        folded: Node = build.full(kept, kind.type(initial), kind)
    else:
        folded = build.reduce(op, node, axes, None if dtype is None else kind, bool(keepdims))
        if initial is not None:
            folded = build.elementwise(op.combine, folded, build.cast(as_node(initial, kind), kind))
    return _given(folded, array, where, out)


def _given(node: Node, array: GpuArray, where: Any, out: Any) -> GpuArray:
    """Return the array of a node that was made of an array and a mask, or ``out`` with it written there."""
    if where is True and out is None:
        return wrap(node, array.device)
    return write_out(result(node, array, where), out)  # type: ignore[no-any-return]  # out is the result


def _axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the axes that ``axis`` names; a 0-d array has NumPy's pretended axis."""
    return () if not ndim and axis in (0, -1) else build.normalize_axes(axis, ndim)


def _masked(op: ReduceOp, node: Node, where: Any, initial: Any) -> Node:
    if op.empty_is_error and initial is None:
        raise ValueError(
            f"reduction operation {op.name!r} does not have an identity, so to use a where mask one has to specify "
            "'initial'"
        )
    mask = as_node(where)
    return build.elementwise(rows.where, mask, node, build.full((), op.identity_of(node.dtype), node.dtype))


def sum(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> GpuArray:
    """Sum elements along axes.

    Parameters
    ----------
    x : array_like
        Numbers or booleans.
    axis : int, tuple of int or None
        Axes to sum along; None is all.
    dtype : dtype, optional
        Of the sum. By default integers and booleans sum as int64 or uint64, as in NumPy, others in their own dtype.
    out : GpuArray or ndarray, optional
        Where to put the result.
    keepdims : bool
        Keep the axes, with extent 1.
    initial : scalar, optional
        Where to start.
    where : array_like, optional
        Booleans that broadcast: which elements count.

    Returns
    -------
    GpuArray
        Without the summed axes.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    """
    return fold(reductions.sum, x, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


def prod(
    x: ArrayLike,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> GpuArray:
    """Multiply elements along axes; the arguments and dtypes are those of :func:`sum`."""
    return fold(reductions.prod, x, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


def min(
    x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> GpuArray:
    """Return the smallest elements along axes; NaN if there is one; the arguments are those of :func:`sum`.

    Raises
    ------
    ValueError
        If there are no elements and ``initial`` is not given.
    """
    return fold(reductions.min, x, axis, out=out, keepdims=keepdims, initial=initial, where=where)


def max(
    x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> GpuArray:
    """Return the largest elements along axes; NaN if there is one; the arguments are those of :func:`sum`.

    Raises
    ------
    ValueError
        If there are no elements and ``initial`` is not given.
    """
    return fold(reductions.max, x, axis, out=out, keepdims=keepdims, initial=initial, where=where)


def _averaging(source: DType, dtype: DTypeLike) -> tuple[DType, DType]:
    """Return the dtypes in which NumPy computes a mean, and in which it returns it."""
    if dtype is not None:
        wanted = dtypes.canonical(dtype)
    elif source.kind in "iub":
        wanted = dtypes.float64
    else:
        wanted = source
    return (dtypes.float32 if wanted == dtypes.float16 else wanted), wanted


def _count(array: GpuArray, axes: tuple[int, ...], where: Any, dtype: DType, keepdims: bool) -> Any:
    """Return how many elements each result stands for: a number, or with a mask a node."""
    if where is True:
        count = 1
        for axis in axes:
            count *= array.shape[axis]
        return count
    mask = as_node(where)
    mask = build.view(build.cast(mask, dtypes.bool_), build.broadcast_to(mask.shape, array.shape))
    return build.reduce(reductions.sum, build.cast(mask, dtype), axes, dtype, keepdims)


def _mean_node(
    array: GpuArray, axes: tuple[int, ...], compute: DType, keepdims: bool, where: Any, node: Node | None = None
) -> Node:
    source = build.cast(array.node() if node is None else node, compute)
    if where is not True:
        source = _masked(reductions.sum, source, where, None)
    total = build.reduce(reductions.sum, source, axes, compute, keepdims)
    if where is True:
        return build.cast(
            build.binary(rows.divide, total, float(_count(array, axes, where, compute, keepdims))), compute
        )
    real = dtypes.promote(dtypes.float32, compute) if compute.kind != "c" else dtypes.float64
    return build.cast(build.elementwise(rows.divide, total, _count(array, axes, where, real, keepdims)), compute)


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
        Axes to average along; None is all.
    dtype : dtype, optional
        Of the mean and its computation. By default integers average as float64, others in their own dtype.
    out : GpuArray or ndarray, optional
        Where to put the result.
    keepdims : bool
        Keep the axes, with extent 1.
    where : array_like, optional
        Booleans that broadcast: which elements count.

    Returns
    -------
    GpuArray
        NaN where there are no elements.
    """
    array = as_array(x)
    if strictness.possible:
        standard.require("mean", array)
    compute, wanted = _averaging(array.dtype, dtype)
    node = _mean_node(array, _axes(axis, array.ndim), compute, bool(keepdims), where)
    return _given(build.cast(node, wanted), array, where, out)


def _squared_deviations(source: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """Return the sum of the squared deviations from the mean along axes, none of which is empty.

    They do not change when all elements are shifted, so the fold is given differences from the row's first element.
    These are as small as the data's spread: that a mean of them is rounded costs nothing. An outlier in the first place
    makes the variance large before it makes the differences inexact.
    """
    first = contiguous(source.shape)
    for axis in axes:
        first = slice_axis(first, axis, 0, 1, 1)
    shifted = build.elementwise(rows.subtract, source, build.view(source, first))
    return build.reduce(reductions.squared_deviations, shifted, axes, shifted.dtype, keepdims)


def _var_node(
    array: GpuArray,
    axes: tuple[int, ...],
    compute: DType,
    keepdims: bool,
    where: Any,
    correction: Any,
    given: GpuArray | None,
) -> Node:
    """Return the mean of the squared deviations from the mean, which may be given.

    Without a mask the deviations are one fold. With a mask there are two passes, as in NumPy, the second of which sums
    the deviations too. Their sum is not quite 0, because the mean was rounded, and what that adds to the squares is
    known: Chan, Golub and LeVeque (1983), "Algorithms for computing the sample variance".
    """
    count = _count(array, axes, where, dtypes.float64, keepdims)
    if given is None and isinstance(count, int) and count and axes:
        exact = build.cast(array.node(), dtypes.promote(compute, dtypes.float32))  # for differences of float16
        parts = [exact] if compute.kind == "f" else [build.elementwise(r, exact) for r in (rows.real, rows.imag)]
        sums = [_squared_deviations(part, axes, keepdims) for part in parts]
        total = sums[0] if len(sums) == 1 else build.elementwise(rows.add, *sums)
        value = build.elementwise(rows.divide, total, float(np.maximum(count - correction, 0)))
        return value if compute.kind == "c" else build.cast(value, compute)
    source = build.cast(array.node(), compute)
    centre = _mean_node(array, axes, compute, True, where, source) if given is None else given.node()
    deviation = build.elementwise(rows.subtract, source, centre)
    if compute.kind == "c":
        squares = [build.elementwise(rows.square, build.elementwise(r, deviation)) for r in (rows.real, rows.imag)]
        square = build.elementwise(rows.add, *squares)
    else:
        square = build.elementwise(rows.square, deviation)
    if where is not True:
        square = _masked(reductions.sum, square, where, None)
    total = build.reduce(reductions.sum, square, axes, square.dtype, keepdims)
    count = _count(array, axes, where, square.dtype, keepdims)
    if compute.kind == "f" and given is None:
        kept = deviation if where is True else _masked(reductions.sum, deviation, where, None)
        rest = build.reduce(reductions.sum, kept, axes, compute, keepdims)
        number = float(count) if isinstance(count, int) else count
        excess = build.elementwise(rows.multiply, rest, build.elementwise(rows.divide, rest, number))
        # of a mean that overflowed the squares are infinite, as NumPy has it, and not NaN
        excess = build.elementwise(rows.where, build.elementwise(rows.isfinite, excess), excess, 0.0)
        total = build.elementwise(rows.maximum, build.elementwise(rows.subtract, total, excess), 0.0)
    if isinstance(count, int):
        divisor: Any = float(np.maximum(count - correction, 0))
    else:
        divisor = build.elementwise(rows.maximum, build.elementwise(rows.subtract, count, float(correction)), 0.0)
    return build.elementwise(rows.divide, total, divisor)


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
        Axes to fold; None is all.
    dtype : dtype, optional
        As for :func:`mean`.
    out : GpuArray or ndarray, optional
        Where to put the result.
    correction : float
        What to subtract from the number of elements in the divisor; NumPy calls it ``ddof``.
    keepdims : bool
        Keep the axes, with extent 1.
    where : array_like, optional
        Booleans that broadcast: which elements count.
    ddof : float, optional
        NumPy's name of ``correction``.
    mean : array_like, optional
        The mean, if it is known already, with the axes kept.

    Returns
    -------
    GpuArray
        Real; NaN where the divisor is not positive.
    """
    return _spread(x, axis, dtype, out, correction if ddof is None else ddof, keepdims, where, mean, root=False)


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
    """Return the standard deviation along axes, the square root of :func:`var`, whose arguments it has."""
    return _spread(x, axis, dtype, out, correction if ddof is None else ddof, keepdims, where, mean, root=True)


def _spread(
    x: ArrayLike, axis: Axis, dtype: DTypeLike, out: Any, correction: Any, keepdims: Any, where: Any, centre: Any, *,
    root: bool,
) -> GpuArray:  # fmt: skip
    array = as_array(x)
    if strictness.possible:
        standard.require("std" if root else "var", array)
    compute, wanted = _averaging(array.dtype, dtype)
    given = None if centre is None else as_array(centre, array.device)
    if given is not None and dtype is None:
        compute, wanted = (dtypes.promote(kind, given.dtype) for kind in (compute, wanted))
    node = _var_node(array, _axes(axis, array.ndim), compute, bool(keepdims), where, correction, given)
    if root:
        node = build.elementwise(rows.sqrt, node)
    if wanted.kind != "c":
        node = build.cast(node, wanted)
    return write_out(result(node, array, where), out)  # type: ignore[no-any-return]  # out is the result


def _cumulative(
    op: ReduceOp, x: ArrayLike, axis: int | None, dtype: DTypeLike, include_initial: bool, out: Any
) -> GpuArray:
    array = as_array(x)
    if strictness.possible:
        standard.require(f"cumulative_{op.name}", array)
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
    return write_out(wrap(node, array.device), out)  # type: ignore[no-any-return]  # out is the result


def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: Any = None,
    include_initial: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the running sum along an axis.

    Parameters
    ----------
    x : array_like
        Numbers.
    axis : int, optional
        May be left out for an array of one axis.
    dtype : dtype, optional
        As for :func:`sum`.
    out : GpuArray or ndarray, optional
        Where to put the result.
    include_initial : bool
        Start with 0, so that the axis is longer by one.

    Returns
    -------
    GpuArray
        Of the shape of ``x``, but for ``include_initial``.
    """
    return _cumulative(reductions.sum, x, axis, dtype, include_initial, out)


def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: Any = None,
    include_initial: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the running product along an axis; the arguments are those of :func:`cumulative_sum`."""
    return _cumulative(reductions.prod, x, axis, dtype, include_initial, out)
