"""Shapes, broadcasting, and the order of axes and elements: views where the layout allows."""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, overload

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import ArrayLike, Axis, as_array, as_arrays
from gpuarray.functions.registry import native
from gpuarray.graph.layouts import Layout, Shape, permute
from gpuarray.graph.layouts import flip as flip_layout
from gpuarray.graph.shapes import listed, normalize_axes, normalize_axis, resolve_shape

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "diagonal",
    "expand_dims", "flip", "fliplr", "flipud", "moveaxis", "permute_dims", "ravel", "reshape", "rollaxis", "rot90",
    "squeeze", "swapaxes", "transpose",
]  # fmt: skip


@native("reshape", at_once="views")
def reshape(x: ArrayLike, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> GpuArray:
    """Return the elements with another shape: a view where strides allow, else a copy.

    Parameters
    ----------
    x : array_like
        Any array.
    shape : int or tuple of int
        New extents; one may be -1.
    order : {"C", "F", "A"}
        In which order elements are read and placed.
    copy : bool, optional
        True always copies, False never does.

    Raises
    ------
    ValueError
        If the sizes differ, or ``copy=False`` and a view is not possible.
    """
    return as_array(x).reshape(shape, order=order, copy=copy)


@native("ravel", at_once="views")
def ravel(x: ArrayLike, /, order: str = "C") -> GpuArray:
    """Return the elements as one axis: a view where the layout allows, else a copy."""
    return as_array(x).ravel(order)


@native("transpose", at_once="views", call=np.ndarray.transpose)
def permute_dims(x: ArrayLike, /, axes: Sequence[int] | None = None) -> GpuArray:
    """Return a view with the axes in another order, reversed by default.

    Raises
    ------
    ValueError
        If the axes are not a permutation of those of the array.
    """
    array = as_array(x)
    return array.transpose() if axes is None else array.transpose(tuple(axes))


transpose = permute_dims


@native("moveaxis", at_once="views")
def moveaxis(x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int], /) -> GpuArray:
    """Return a view with some axes moved to other positions; the other axes keep their order.

    Raises
    ------
    ValueError
        If there are not as many sources as destinations, or one is named twice.
    """
    array = as_array(x)
    sources = normalize_axis_tuple(source, array.ndim, "source")
    destinations = normalize_axis_tuple(destination, array.ndim, "destination")
    if len(sources) != len(destinations):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [a for a in range(array.ndim) if a not in sources]
    for target, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(target, axis)
    return array.transpose(order)


@native("swapaxes", at_once="views")
def swapaxes(x: ArrayLike, axis1: int, axis2: int, /) -> GpuArray:
    """Return a view with two axes exchanged."""
    return as_array(x).swapaxes(axis1, axis2)


@native("rollaxis", at_once="views")
def rollaxis(a: Any, axis: Any, start: int = 0) -> GpuArray:
    """Return a view with one axis moved back to the position of another."""
    source = as_array(a)
    number = normalize_axis(axis, source.ndim)
    first = start + source.ndim if start < 0 else start
    if not 0 <= first <= source.ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-source.ndim} <= start < {source.ndim + 1}, not {start}")
    return moveaxis(source, number, first - (number < first))


@native("expand_dims", at_once="views")
def expand_dims(x: ArrayLike, /, axis: int | Sequence[int]) -> GpuArray:
    """Return a view with new axes of extent 1 at the given positions of the result.

    Raises
    ------
    numpy.exceptions.AxisError
        If a position is out of range.
    """
    array = as_array(x)
    new_axes = listed(axis)
    ndim = array.ndim + len(new_axes)
    axes = normalize_axes(new_axes, ndim)
    extents = iter(array.shape)
    return array.reshape(tuple(1 if a in axes else next(extents) for a in range(ndim)))


@native("squeeze", at_once="views")
def squeeze(x: ArrayLike, /, axis: Axis = None) -> GpuArray:
    """Return a view without axes of extent 1.

    Parameters
    ----------
    x : array_like
        Any array.
    axis : int, tuple of int, optional
        The axes; by default all of extent 1.

    Raises
    ------
    ValueError
        If the extent of an axis is not 1.
    """
    array = as_array(x)
    if axis is None:
        return array.reshape(tuple(n for n in array.shape if n != 1))
    if not array.ndim and type(axis) is int and axis in (0, -1):  # NumPy's numbers have this axis
        return array.reshape(())
    axes = normalize_axes(axis, array.ndim)
    if any(array.shape[a] != 1 for a in axes):
        raise ValueError(
            f"cannot select an axis to squeeze out which has size not equal to one: shape {array.shape}, axis {axis}"
        )
    return array.view_of(permute(array._storage_layout(), [a for a in range(array.ndim) if a not in axes]))


def _at_least(arrays: Sequence[Any], key: Any) -> Any:
    results = [a[key(a.ndim)] for a in map(as_array, arrays)]
    return results[0] if len(results) == 1 else tuple(results)


@overload
def atleast_1d(ary: ArrayLike, /) -> GpuArray: ...
@overload
def atleast_1d(*arys: ArrayLike) -> tuple[GpuArray, ...]: ...
@native("atleast_1d", at_once="views")
def atleast_1d(*arys: ArrayLike) -> Any:
    """Return arrays as views with at least one axis."""
    return _at_least(arys, lambda ndim: None if ndim == 0 else ...)


@overload
def atleast_2d(ary: ArrayLike, /) -> GpuArray: ...
@overload
def atleast_2d(*arys: ArrayLike) -> tuple[GpuArray, ...]: ...
@native("atleast_2d", at_once="views")
def atleast_2d(*arys: ArrayLike) -> Any:
    """Return arrays as views with at least two axes."""
    return _at_least(arys, lambda ndim: (None, None) if ndim == 0 else (None, ...) if ndim == 1 else ...)


@overload
def atleast_3d(ary: ArrayLike, /) -> GpuArray: ...
@overload
def atleast_3d(*arys: ArrayLike) -> tuple[GpuArray, ...]: ...
@native("atleast_3d", at_once="views")
def atleast_3d(*arys: ArrayLike) -> Any:
    """Return arrays as views with at least three axes."""
    keys = {0: (None, None, None), 1: (None, slice(None), None), 2: (slice(None), slice(None), None)}
    return _at_least(arys, lambda ndim: keys.get(ndim, ...))


@native("flip", at_once="views")
def flip(x: ArrayLike, /, axis: Axis = None) -> GpuArray:
    """Return a view with the order of elements reversed along axes, all of them by default."""
    array = as_array(x)
    return array.view_of(flip_layout(array._storage_layout(), normalize_axes(axis, array.ndim)))


@native("fliplr", at_once="views")
def fliplr(m: Any) -> GpuArray:
    """Return a view with the second axis reversed."""
    source = as_array(m)
    if source.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return source[:, ::-1]


@native("flipud", at_once="views")
def flipud(m: Any) -> GpuArray:
    """Return a view with the first axis reversed."""
    source = as_array(m)
    if source.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return source[::-1]


@native("rot90", at_once="views")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> GpuArray:
    """Return an array rotated by multiples of 90 degrees in the plane of two axes."""
    source = as_array(m)
    if len(tuple(axes)) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (normalize_axis(a, source.ndim) for a in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    rotations: dict[int, Callable[[], GpuArray]] = {
        0: lambda: source,
        1: lambda: swapaxes(flip(source, second), first, second),
        2: lambda: flip(source, (first, second)),
        3: lambda: flip(swapaxes(source, first, second), second),
    }
    return rotations[index(k) % 4]()


@native("diagonal", at_once="views", call=np.ndarray.diagonal)
def diagonal(x: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> GpuArray:
    """Return the diagonal over two axes, as the last axis of a read-only view.

    Raises
    ------
    ValueError
        If there are fewer than two axes.
    """
    array = as_array(x)
    if array.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = (normalize_axis(axis, array.ndim) for axis in (axis1, axis2))
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    offset = index(offset)
    others = [a for a in range(array.ndim) if a not in (first, second)]
    layout = permute(array._storage_layout(), [*others, first, second])
    (n, m), (down, right) = layout.shape[-2:], layout.strides[-2:]
    extent = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    start = (offset * right if offset >= 0 else -offset * down) if extent else 0
    seen = Layout((*layout.shape[:-2], extent), (*layout.strides[:-2], down + right), layout.offset + start)
    return array.view_of(seen, writeable=False)


def _broadcasts(*arrays: Any, subok: Any = False) -> Any:
    shape = np.broadcast(*arrays).shape
    if any(type(array) is not np.ndarray for array in arrays):
        raise TypeError  # numbers get the dtype of no array
    return tuple([array if array.shape == shape else np.broadcast_to(array, shape) for array in arrays])


@native("broadcast_arrays", at_once="views", call=_broadcasts)
def broadcast_arrays(*arrays: Any, subok: Any = False) -> tuple[Any, ...]:
    """Return read-only views of arrays, broadcast to their common shape; the arrays themselves if all have it.

    ``subok`` is accepted for compatibility with NumPy. A value that only an array of objects can hold, such as None, is
    returned as a NumPy array.
    """
    hosted = [_objects(array) for array in arrays]
    rest = iter(as_arrays(*(a for a, objects in zip(arrays, hosted, strict=True) if objects is None)))
    operands = [next(rest) if objects is None else objects for objects in hosted]
    shape = broadcast_shapes(*(array.shape for array in operands))
    if all(array.shape == shape for array in operands):
        return tuple(operands)
    return tuple(a.broadcast(shape) if isinstance(a, GpuArray) else np.broadcast_to(a, shape) for a in operands)


def _objects(value: Any) -> Any:
    """Return None or a text, or a NumPy array of objects or texts, as an array of NumPy; None for anything else."""
    if value is None or isinstance(value, str) or (isinstance(value, np.ndarray) and value.dtype.kind in "OUS"):
        return np.asarray(value)
    return None


def broadcast_shapes(*shapes: Any) -> Shape:
    """Return the shape to which shapes broadcast.

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    return np.broadcast_shapes(*shapes)


@native("broadcast_to", at_once="views")
def broadcast_to(x: ArrayLike, /, shape: Any, subok: Any = False) -> GpuArray:
    """Return a read-only view of an array with another shape, to which it must broadcast.

    ``subok`` is accepted for compatibility with NumPy.
    """
    return as_array(x).broadcast(resolve_shape(shape))
