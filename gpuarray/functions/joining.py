"""Joining arrays, and splitting them."""

from collections.abc import Sequence
from operator import index
from typing import Any

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import (
    ArrayLike,
    DTypeLike,
    along,
    as_array,
    as_arrays,
    check_cast,
    check_nbytes,
    concatenated,
    read,
    standard_function,
    write_out,
)
from gpuarray.functions.manipulation import atleast_1d, atleast_2d, atleast_3d
from gpuarray.functions.registry import native
from gpuarray.graph.shapes import is_single, normalize_axis

__all__ = [
    "append", "array_split", "block", "column_stack", "concat", "concatenate", "dsplit", "dstack", "hsplit", "hstack",
    "row_stack", "split", "stack", "unstack", "vsplit", "vstack",
]  # fmt: skip


@native("concatenate", at_once="sums", empty=True)
@standard_function
def concat(
    arrays: Sequence[ArrayLike], /, axis: int | None = 0, out: Any = None, *, dtype: DTypeLike = None,
    casting: Any = "same_kind",
) -> GpuArray:  # fmt: skip
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays with equal shapes, except for the extent of ``axis``.
    axis : int or None
        The axis along which to join; None joins the elements of all arrays in C order.
    out : GpuArray or ndarray, optional
        Array for the result.
    dtype : dtype, optional
        Dtype of the result; by default the promoted dtype.
    casting : str
        NumPy's casting rule for the conversion to ``dtype``.

    Returns
    -------
    GpuArray
        Of the promoted dtype.

    Raises
    ------
    TypeError
        If an array does not cast to ``dtype`` by the rule, or both ``out`` and ``dtype`` are given.
    ValueError
        If there are no arrays, they have no axis, or the shapes do not match.
    """
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    operands = as_arrays(*arrays)
    for array in operands if dtype is not None else ():
        check_cast(array.dtype, dtypes.canonical(dtype), casting)
    if not operands:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        operands, axis = [array.reshape(-1) for array in operands], 0
    if any(not array.ndim for array in operands):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    joined = concatenated(operands, axis, dtype)
    check_nbytes(joined.shape, joined.dtype)
    return write_out(joined, out, casting)


concatenate = concat


@native("stack", at_once="sums")
@standard_function
def stack(
    arrays: Sequence[ArrayLike], /, axis: int = 0, out: Any = None, *, dtype: DTypeLike = None,
    casting: Any = "same_kind",
) -> GpuArray:  # fmt: skip
    """Join arrays of equal shape along a new axis. See :func:`concat` for the other parameters.

    Raises
    ------
    ValueError
        If there are no arrays, or their shapes differ.
    """
    operands = as_arrays(*arrays)
    if not operands:
        raise ValueError("need at least one array to stack")
    if len({array.shape for array in operands}) > 1:
        raise ValueError(f"all input arrays must have the same shape, not {sorted({a.shape for a in operands})}")
    new = (*(slice(None),) * normalize_axis(axis, operands[0].ndim + 1), None)
    lines = [array[new] for array in operands]
    return concat(lines, axis=axis, out=out, dtype=dtype, casting=casting)


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


@native("vstack", "row_stack", at_once="sums")
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GpuArray:
    """Join arrays along the first axis, 1-d arrays as rows."""
    return concatenate(_listed(atleast_2d(*tup)), 0, dtype=dtype, casting=casting)


row_stack = vstack


@native("hstack", at_once="sums")
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GpuArray:
    """Join arrays along the second axis, or along the first axis if they are 1-d."""
    parts = _listed(atleast_1d(*tup))
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@native("dstack", at_once="sums")
def dstack(tup: Any) -> GpuArray:
    """Join arrays along the third axis."""
    return concatenate(_listed(atleast_3d(*tup)), 2)


@native("column_stack", at_once="sums")
def column_stack(tup: Any) -> GpuArray:
    """Join 1-d arrays as the columns of a 2-d array."""
    return concatenate([a if a.ndim > 1 else a.reshape(-1, 1) for a in as_arrays(*tup)], 1)


@native("append", at_once="sums")
def append(arr: Any, values: Any, axis: Any = None) -> GpuArray:
    """Return an array with values appended along an axis."""
    return concatenate((arr, values), axis)


@native("block", at_once="sums")
def block(arrays: Any) -> GpuArray:
    """Join nested lists of arrays into one array."""

    def depth(item: Any) -> int:
        return 1 + max(map(depth, item)) if isinstance(item, list) else 0

    def leaves(item: Any) -> list[Any]:
        return [leaf for element in item for leaf in leaves(element)] if isinstance(item, list) else [as_array(item)]

    levels = depth(arrays)
    ndim = max([levels, *(leaf.ndim for leaf in leaves(arrays))])

    def join(item: Any, level: int) -> GpuArray:
        if not isinstance(item, list):
            array = as_array(item)
            return array.reshape((1,) * (ndim - array.ndim) + array.shape)
        return concatenate([join(element, level + 1) for element in item], level - levels)

    joined = join(arrays, 0)
    return joined if isinstance(arrays, list) else joined.copy()


# --- splitting ------------------------------------------------------------------------------------------------------


@native("unstack")
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[GpuArray, ...]:
    """Return the slices along an axis, as views.

    Raises
    ------
    ValueError
        If the array has no axis.
    """
    array = as_array(x)
    if not array.ndim:
        raise ValueError("an array without axes cannot be unstacked")
    lead = (slice(None),) * normalize_axis(axis, array.ndim)
    return tuple(array[(*lead, position)] for position in range(array.shape[len(lead)]))


def _sections(sections: Any) -> int | None:
    """Return into how many parts to split an array; None if positions are given."""
    return index(sections) if is_single(sections) else None


@native("array_split", at_once="views")
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[GpuArray]:
    """Split an array along an axis into parts, which may have unequal lengths."""
    source = as_array(ary)
    number = normalize_axis(axis, source.ndim)
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


@native("split", at_once="views")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[GpuArray]:
    """Split an array along an axis into parts of equal length, or at given indices."""
    source = as_array(ary)
    extent = source.shape[normalize_axis(axis, source.ndim)]
    sections = _sections(indices_or_sections)
    if sections and extent % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(source, indices_or_sections, axis)


def _split_along(axis: int, least: int, name: str, ary: Any, sections: Any) -> list[GpuArray]:
    source = as_array(ary)
    if source.ndim < least:
        raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
    return split(source, sections, axis)


@native("hsplit", at_once="views")
def hsplit(ary: Any, indices_or_sections: Any) -> list[GpuArray]:
    """Split an array along its second axis, or along the first axis if it is 1-d."""
    source = as_array(ary)
    return _split_along(min(1, source.ndim - 1), 1, "hsplit", source, indices_or_sections)


@native("vsplit", at_once="views")
def vsplit(ary: Any, indices_or_sections: Any) -> list[GpuArray]:
    """Split an array along its first axis."""
    return _split_along(0, 2, "vsplit", ary, indices_or_sections)


@native("dsplit", at_once="views")
def dsplit(ary: Any, indices_or_sections: Any) -> list[GpuArray]:
    """Split an array along its third axis."""
    return _split_along(2, 3, "dsplit", ary, indices_or_sections)
