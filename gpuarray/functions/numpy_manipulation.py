"""NumPy's functions that move elements without computing: views where strides allow, concatenations, repetitions."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import data_types, manipulation
from gpuarray.functions.arguments import along, as_array, as_arrays, as_elements, read, write_out
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout

# --- views ----------------------------------------------------------------------------------------------------------


@native("reshape")
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    wanted = newshape if shape is None else shape
    if wanted is None:
        raise TypeError("reshape() missing 1 required positional argument: 'shape'")
    return as_array(a).reshape(wanted, order=order, copy=copy)


@native("ravel")
def ravel(a: Any, order: str = "C") -> Any:
    return as_array(a).ravel(order)


@native("transpose")
def transpose(a: Any, axes: Any = None) -> Any:
    return as_array(a).transpose(*(() if axes is None else (axes,)))


@native("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(x: Any, /) -> Any:
    return as_array(x).mT


@native("swapaxes")
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    return manipulation.swapaxes(a, axis1, axis2)


@native("moveaxis")
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    return manipulation.moveaxis(a, source, destination)


@native("rollaxis")
def rollaxis(a: Any, axis: Any, start: int = 0) -> Any:
    source = as_array(a)
    number = build.normalize_axis(axis, source.ndim)
    first = start + source.ndim if start < 0 else start
    if not 0 <= first <= source.ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-source.ndim} <= start < {source.ndim + 1}, not {start}")
    return moveaxis(source, number, first - (number < first))


@native("squeeze")
def squeeze(a: Any, axis: Any = None) -> Any:
    return manipulation.squeeze(a, axis)


@native("expand_dims")
def expand_dims(a: Any, axis: Any) -> Any:
    return manipulation.expand_dims(a, axis)


@native("broadcast_to")
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return as_array(array).broadcast(build.resolve_shape(shape))


@native("broadcast_arrays")
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    return data_types.broadcast_arrays(*args)


def _at_least(arrays: Sequence[Any], key: Any) -> Any:
    results = [a[key(a.ndim)] for a in map(as_array, arrays)]
    return results[0] if len(results) == 1 else tuple(results)


@native("atleast_1d")
def atleast_1d(*arys: Any) -> Any:
    return _at_least(arys, lambda ndim: None if ndim == 0 else ...)


@native("atleast_2d")
def atleast_2d(*arys: Any) -> Any:
    return _at_least(arys, lambda ndim: (None, None) if ndim == 0 else (None, ...) if ndim == 1 else ...)


@native("atleast_3d")
def atleast_3d(*arys: Any) -> Any:
    keys = {0: (None, None, None), 1: (None, slice(None), None), 2: (slice(None), slice(None), None)}
    return _at_least(arys, lambda ndim: keys.get(ndim, ...))


@native("flip")
def flip(m: Any, axis: Any = None) -> Any:
    return manipulation.flip(m, axis)


@native("fliplr")
def fliplr(m: Any) -> Any:
    source = as_array(m)
    if source.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return source[:, ::-1]


@native("flipud")
def flipud(m: Any) -> Any:
    source = as_array(m)
    if source.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return source[::-1]


@native("rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    source = as_array(m)
    if len(tuple(axes)) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (build.normalize_axis(a, source.ndim) for a in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    turned: dict[int, Callable[[], Any]] = {
        0: lambda: source,
        1: lambda: swapaxes(flip(source, second), first, second),
        2: lambda: flip(source, (first, second)),
        3: lambda: flip(swapaxes(source, first, second), second),
    }
    return turned[index(k) % 4]()


# --- joining --------------------------------------------------------------------------------------------------------


@native("concatenate")
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    return write_out(manipulation.concat(arrays, axis, dtype=dtype, casting=casting), out, casting)


@native("stack")
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    parts = as_arrays(*arrays)
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    number = build.normalize_axis(axis, parts[0].ndim + 1)
    return concatenate([a[along(number, None)] for a in parts], number, out, dtype=dtype, casting=casting)


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


@native("vstack", "row_stack")
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return concatenate(_listed(atleast_2d(*tup)), 0, dtype=dtype, casting=casting)


@native("hstack")
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    parts = _listed(atleast_1d(*tup))
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@native("dstack")
def dstack(tup: Any) -> Any:
    return concatenate(_listed(atleast_3d(*tup)), 2)


@native("column_stack")
def column_stack(tup: Any) -> Any:
    return concatenate([a if a.ndim > 1 else a.reshape(-1, 1) for a in as_arrays(*tup)], 1)


@native("append")
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return concatenate((arr, values), axis)


@native("block")
def block(arrays: Any) -> Any:
    def depth(item: Any) -> int:
        return 1 + max(map(depth, item)) if isinstance(item, list) else 0

    def leaves(item: Any) -> list[Any]:
        return [leaf for part in item for leaf in leaves(part)] if isinstance(item, list) else [as_array(item)]

    levels = depth(arrays)
    ndim = max([levels, *(leaf.ndim for leaf in leaves(arrays))])

    def join(item: Any, level: int) -> GpuArray:
        if not isinstance(item, list):
            array = as_array(item)
            return array.reshape((1,) * (ndim - array.ndim) + array.shape)
        joined: GpuArray = concatenate([join(part, level + 1) for part in item], level - levels)
        return joined

    joined = join(arrays, 0)
    return joined if isinstance(arrays, list) else joined.copy()


# --- splitting ------------------------------------------------------------------------------------------------------


def _sections(given: Any) -> int | None:
    """Return into how many parts to split an array; None if positions are given."""
    return index(given) if build.is_single(given) else None


@native("array_split")
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    source = as_array(ary)
    number = build.normalize_axis(axis, source.ndim)
    extent = source.shape[number]
    sections = _sections(indices_or_sections)
    if sections is None:
        cuts = [int(i) for i in read(indices_or_sections)]
    else:
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(extent, sections)
        cuts = [k * each + min(k, extra) for k in range(1, sections)]
    return [source[along(number, slice(a, b))] for a, b in zip([0, *cuts], [*cuts, extent], strict=True)]


@native("split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    source = as_array(ary)
    extent = source.shape[build.normalize_axis(axis, source.ndim)]
    sections = _sections(indices_or_sections)
    if sections and extent % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(source, indices_or_sections, axis)


def _split_along(axis: int, least: int, name: str, ary: Any, sections: Any) -> Any:
    source = as_array(ary)
    if source.ndim < least:
        raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
    return split(source, sections, axis)


@native("hsplit")
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    source = as_array(ary)
    return _split_along(min(1, source.ndim - 1), 1, "hsplit", source, indices_or_sections)


@native("vsplit")
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split_along(0, 2, "vsplit", ary, indices_or_sections)


@native("dsplit")
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split_along(2, 3, "dsplit", ary, indices_or_sections)


@native("unstack")
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    return manipulation.unstack(x, axis=axis)


# --- repeating and rolling ------------------------------------------------------------------------------------------


@native("roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return manipulation.roll(a, shift, axis)


@native("tile")
def tile(A: Any, reps: Any) -> Any:  # noqa: N803  # NumPy's name
    return manipulation.tile(A, reps)


@native("repeat")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return manipulation.repeat(np.atleast_1d(a), repeats, axis)


@implements("resize")
def resize(a: Any, new_shape: Any) -> Any:
    flat = as_array(a).reshape(-1)
    shape = build.resolve_shape(new_shape)
    wanted = int(np.prod(shape, dtype=np.int64))
    if flat.size == 0:
        return np.zeros_like(flat, shape=shape)
    return tile(flat, -(-wanted // flat.size))[:wanted].reshape(shape)


@implements("delete")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    source = as_array(arr)
    if axis is None:
        source, axis = source.reshape(-1), 0
    number = build.normalize_axis(axis, source.ndim)
    positions: Any = obj if isinstance(obj, slice | int) else read(obj)
    return source[along(number, np.delete(np.arange(source.shape[number]), positions))]


@implements("insert")
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    source = as_array(arr)
    if axis is None:
        source, axis = source.reshape(-1), -1
    number = build.normalize_axis(axis, source.ndim)
    extent = source.shape[number]
    positions = _inserted_positions(obj, extent, number)
    new = as_elements(values, source)
    if positions.size == 1:
        new = new.reshape((1,) * (source.ndim - new.ndim) + new.shape)
        if not positions.ndim:
            new = moveaxis(new, 0, number)
        count = new.shape[number]
        place = positions.item()
        cuts = [source[along(number, slice(None, place))], source[along(number, slice(place, None))]]
        shape = tuple(count if a == number else n for a, n in enumerate(source.shape))
        return concatenate([cuts[0], new.broadcast(shape), cuts[1]], number)
    count = positions.size
    shape = tuple(count if a == number else n for a, n in enumerate(source.shape))
    both = concatenate([source, new.broadcast(shape)], number)
    return both[along(number, np.insert(np.arange(extent), positions, np.arange(extent, extent + count)))]


def _inserted_positions(obj: Any, extent: int, axis: int) -> Any:
    """Return before which elements to insert, counted from the front."""
    positions = np.arange(*obj.indices(extent)) if isinstance(obj, slice) else read(obj)
    if positions.dtype == bool:
        if positions.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        positions = np.flatnonzero(positions)
    elif positions.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if not positions.size and not isinstance(obj, np.ndarray | GpuArray):
        return positions.astype(np.intp)  # what an empty list holds, NumPy need not know
    if positions.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    outside = positions[(positions < -extent) | (positions > extent)]
    if outside.size:
        raise IndexError(f"index {outside.flat[0]} is out of bounds for axis {axis} with size {extent}")
    return np.where(positions < 0, positions + extent, positions)


@native("lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    if writeable:
        raise ValueError("windows overlap, and cannot be written to; leave out writeable=True, or write to the array")
    source = as_array(x)
    extents = tuple(index(extent) for extent in build.listed(window_shape))
    if any(extent < 0 for extent in extents):
        raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        axes = tuple(range(source.ndim))
        what = (
            f"Since axis is None, must provide window_shape for all dimensions of `x`; got {len(extents)} window_shape"
        )
    else:
        axes = np.lib.array_utils.normalize_axis_tuple(axis, source.ndim, allow_duplicate=True)
        what = f"Must provide matching length window_shape and axis; got {len(extents)} window_shape"
    if len(extents) != len(axes):
        raise ValueError(f"{what} elements and `x.ndim` or `axis` is {len(axes)}.")
    layout = source._storage_layout()
    shape = list(layout.shape)
    for number, extent in zip(axes, extents, strict=True):
        if shape[number] < extent:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[number] -= extent - 1
    strides = (*layout.strides, *(layout.strides[number] for number in axes))
    return source.view_of(Layout((*shape, *extents), strides, layout.offset), writeable=False)


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """Return a view with any shape and any strides in bytes, as :func:`numpy.lib.stride_tricks.as_strided`.

    Parameters
    ----------
    x : array_like
        The array.
    shape, strides : sequence of int, optional
        Those of the view; by default those of ``x``.
    subok : bool
        Accepted for compatibility with NumPy.
    writeable : bool
        Whether it can be written to, if no two of its elements are one.

    Raises
    ------
    ValueError
        If elements would be outside of the memory of ``x``, or strides are no multiples of the size of an element.
    """
    source = as_array(x)
    layout = source._storage_layout()
    extents = layout.shape if shape is None else build.resolve_shape(shape)
    steps = source.strides if strides is None else tuple(map(index, build.listed(strides)))
    if len(steps) != len(extents) or any(step % source.unit for step in steps):
        raise ValueError(
            f"strides are multiples of {source.unit} bytes, one for each of {len(extents)} axes; {steps} were given"
        )
    steps = tuple(step // source.unit for step in steps)
    ends = [(extent - 1) * step for extent, step in zip(extents, steps, strict=True)]
    lowest, highest = (layout.offset + sum(pick(end, 0) for end in ends) for pick in (min, max))
    if 0 not in extents and not 0 <= lowest <= highest < source.stored().size:
        raise ValueError(
            f"a view of shape {extents} with strides of {steps} elements has elements outside of the array's memory"
        )
    reached = 0
    for step, end in sorted((abs(step), abs(end)) for step, end in zip(steps, ends, strict=True) if end):
        writeable = writeable and step > reached
        reached += end
    writeable = writeable and all(step or extent < 2 for step, extent in zip(steps, extents, strict=True))
    return source.view_of(Layout(extents, steps, layout.offset), writeable=writeable)
