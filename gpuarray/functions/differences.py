"""NumPy's differences, gradients and the trapezoidal rule."""

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import reductions
from gpuarray.functions.arguments import (
    ArrayLike,
    along,
    as_array,
    as_arrays,
    concatenated,
    standard_function,
    value_or,
)
from gpuarray.functions.at_once import QUICK, fresh
from gpuarray.functions.joining import concat
from gpuarray.functions.registry import implements, native
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import elementwise as ops

__all__ = ["diff", "ediff1d", "gradient", "trapezoid"]


@native("diff", at_once="sums", call=fresh(np.diff))
@standard_function
def diff(
    x: ArrayLike, /, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> GpuArray:
    """Return the n-th differences of neighbours along an axis.

    Parameters
    ----------
    x : array_like
        Numbers. The difference of booleans is True where they differ.
    n : int
        How many times differences are taken.
    axis : int
        The axis.
    prepend, append : array_like, optional
        Values to concatenate before and after ``x`` first; scalars have extent 1 along the axis.

    Returns
    -------
    GpuArray
        Shorter by ``n`` along the axis.

    Raises
    ------
    ValueError
        If ``n`` is negative, or the array has no axis.
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    array = as_array(x)
    if n and not array.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    if n == 0:
        return array
    number = normalize_axis(axis, array.ndim)
    ends = [value_or(end, None) for end in (prepend, append)]
    before, after = ([] if end is None else [_beside(end, array, number)] for end in ends)
    parts = [*before, array, *after]
    line = parts[0] if len(parts) == 1 else concat(parts, axis=number)
    op = ops.not_equal if line.dtype == dtypes.bool_ else ops.subtract
    lead = (slice(None),) * number
    for _ in range(n):
        ahead, behind = line[(*lead, slice(1, None))], line[(*lead, slice(None, -1))]
        line = line._apply(op, ahead, behind)
    return line


def _beside(edge: ArrayLike, array: GpuArray, axis: int) -> GpuArray:
    border = as_arrays(edge, array)[0]
    return border if border.ndim else border.broadcast(tuple(1 if a == axis else n for a, n in enumerate(array.shape)))


@native("ediff1d", at_once="elements")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> GpuArray:
    """Return the differences between consecutive elements of the flattened array."""
    source = as_array(ary).reshape(-1)
    middle = source[1:] - source[:-1]
    parts = []
    for piece in (to_begin, middle, to_end):
        if piece is not None:
            flat = as_array(piece, source.device).reshape(-1)
            if not np.can_cast(flat.dtype, source.dtype, "same_kind"):
                raise TypeError(
                    f"to_begin and to_end must be of a dtype that casts to {source.dtype} under the rule 'same_kind', "
                    f"not {flat.dtype}"
                )
            parts.append(flat.astype(source.dtype, copy=False))
    return parts[0] if len(parts) == 1 else concatenated(parts, 0)


@implements("gradient", at_once="elements")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> GpuArray | tuple[GpuArray, ...]:
    """Return the gradient, computed with second-order central differences."""
    source = as_array(f)
    axes = tuple(range(source.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, source.ndim)
    one = len(varargs) == 1 and not np.ndim(varargs[0])
    spacings = list(varargs) * len(axes) if one else list(varargs) or [1.0] * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if any(source.shape[a] <= edge_order for a in axes):
        raise ValueError(
            f"Shape of array too small to calculate a numerical gradient: {source.shape}; at least (edge_order + 1) "
            "elements are required along each axis"
        )
    if source.dtype.kind in "iu":
        source = source.astype(dtypes.float64)
    results = [
        _slope(source, number, _steps(spacing, source.shape[number], source.device), edge_order)
        for number, spacing in zip(axes, spacings, strict=True)
    ]
    return results[0] if len(results) == 1 else tuple(results)


def _steps(spacing: Any, extent: int, device: Any) -> Any:
    """Return the distance between neighbours, or an array of distances if coordinates are given."""
    if not np.ndim(spacing):
        return spacing
    points = as_array(spacing, device)
    if points.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if points.size != extent:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    points = points.astype(dtypes.float64) if points.dtype.kind in "iu" else points
    return diff(points)


def _weights(before: Any, after: Any, centre: Any) -> tuple[Any, Any, Any]:
    """Return the weights of three values in the derivative of the parabola through them.

    The points are at ``-before``, 0 and ``after``; the derivative is taken at ``centre``.
    """
    return (
        (2 * centre - after) / (before * (before + after)),
        (after - before - 2 * centre) / (before * after),
        (2 * centre + before) / (after * (before + after)),
    )


def _slope(source: GpuArray, axis: int, steps: Any, edge_order: int) -> GpuArray:
    def cut(start: Any, stop: Any) -> GpuArray:
        return source[along(axis, slice(start, stop))]

    def parabola(three: list[GpuArray], before: Any, after: Any, centre: Any) -> Any:
        weights = _weights(before, after, centre)
        return sum(
            (weight * value for weight, value in zip(weights[1:], three[1:], strict=True)), weights[0] * three[0]
        )

    even = not np.ndim(steps)
    if even:
        middle = (cut(2, None) - cut(None, -2)) / (2.0 * steps)
    else:
        lines = (steps[:-1], steps[1:])
        before, after = (line.reshape((-1,) + (1,) * (source.ndim - 1 - axis)) for line in lines)
        middle = parabola([cut(None, -2), cut(1, -1), cut(2, None)], before, after, 0)
    if edge_order == 1:
        first = (cut(1, 2) - cut(0, 1)) / (steps if even else steps[0])
        last = (cut(-1, None) - cut(-2, -1)) / (steps if even else steps[-1])
    else:
        near, next_, next_last, far = (steps,) * 4 if even else (steps[0], steps[1], steps[-2], steps[-1])
        first = parabola([cut(0, 1), cut(1, 2), cut(2, 3)], near, next_, -near)
        last = parabola([cut(-3, -2), cut(-2, -1), cut(-1, None)], next_last, far, far)
    return concatenated([first, middle, last], axis, source.dtype)


@implements("trapezoid", "trapz", at_once="elements", most=QUICK)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> GpuArray:
    """Integrate along an axis with the trapezoidal rule."""
    source = as_array(y)
    number = normalize_axis(axis, source.ndim)
    lead = (slice(None),) * number
    if x is None:
        width: Any = dx
    else:
        points = as_array(x, source.device)
        width = diff(points, axis=0 if points.ndim == 1 else axis)
        if points.ndim == 1:
            width = width.reshape([-1 if a == number else 1 for a in range(source.ndim)])
    return reductions.sum(width * (source[(*lead, slice(1, None))] + source[(*lead, slice(None, -1))]) / 2.0, axis)
