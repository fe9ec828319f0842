"""Folds: what a reduction row does with one tile, and how the parts of a row that is spread over tiles meet.

Sums inside a tile are NumPy's pairwise ones, or products with ones, which BLAS adds in many lanes, of pieces so short
that rounding adds up no further than in NumPy's blocks; the parts of a row are added pairwise too, so the error is
about NumPy's. Sums and products of float16 run in float32. Squared deviations are those from each tile's mean, to which
those of the tiles' means are added. Positions (argmax, argmin) are those of the first extreme element in C order, and
NaN is more extreme than any number. The compiler of loops calls this.
"""

from collections.abc import Callable
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Fold
from gpuarray.graph.layouts import Shape, contiguous_strides
from gpuarray.ops.spec import ReduceOp
from gpuarray.providers.inprocess.tiles import Tile, Tiling

Array: TypeAlias = npt.NDArray[Any]


class _Seen:
    """Memory of a read-only array that does not say so."""

    __slots__ = ("__array_interface__",)

    def __init__(self, array: Array) -> None:
        interface = array.__array_interface__
        self.__array_interface__: dict[str, Any] = interface | {"data": (interface["data"][0], False)}


def _searching(search: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``search`` without the copy that NumPy makes of read-only arrays, which it reads no differently."""

    def find(values: Array, axis: int = -1) -> Any:
        return search(values if values.flags.writeable else np.asarray(_Seen(values)), axis)

    return find


_POSITION: Final[dict[Any, Callable[..., Any]]] = {
    np.maximum: _searching(np.argmax),
    np.minimum: _searching(np.argmin),
}

#: Elements of the pieces that BLAS adds up, and of the shortest row where calling it pays.
_PIECE: Final = 512
_PIECE_LEAST: Final = 64

#: So many pieces of a row are added one after the other; more of them by a reduction.
_PIECES_FEW: Final = 4

_ONES: Final = {dtype: np.ones(_PIECE, dtype) for dtype in (dtypes.float32, dtypes.float64)}


def computing_dtype(fold: Fold) -> DType:
    """Return the dtype that the operand of ``fold`` has to be cast to first."""
    if fold.op.indexed:
        return fold.source
    dtype = fold.op.accumulate(fold.source)
    if dtype == dtypes.float16 and fold.op.combine.numpy in (np.add, np.multiply):
        return dtypes.float32
    return dtype


def neutral(op: ReduceOp, dtype: DType) -> Any:
    """Return what folding nothing gives.

    Raises
    ------
    ValueError
        If the row has no neutral value for ``dtype``.
    """
    value = None if op.neutral is None else op.neutral.get(dtype.kind)
    if value is None:
        raise ValueError(f"zero-size array to reduction operation {op.name} which has no identity")
    if value not in ("lowest", "highest"):
        return value
    is_low = value == "lowest"
    if dtype.kind == "b":
        return not is_low
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if is_low else np.iinfo(dtype).max
    extreme = -np.inf if is_low else np.inf
    return complex(extreme, extreme) if dtype.kind == "c" else extreme


def whole(fold: Fold, tiling: Tiling) -> Callable[..., None]:
    """Return ``fold(operand, out)`` over the inner axes of a tile of whole rows; ``out`` has extent 1 along them.

    Centred folds take a spare register as a third argument.
    """
    axes = tiling.axes
    if not prod(extent for extent, is_inner in zip(tiling.extents, tiling.inner, strict=True) if is_inner):
        value = neutral(fold.op, fold.dtype)

        def fill(operand: Array, out: Array, spare: Array | None = None) -> None:
            out[...] = value

        return fill
    if fold.op.indexed:
        search = _POSITION[fold.op.combine.numpy]

        def locate(operand: Array, out: Array) -> None:
            found = search(_rows(operand, tiling), axis=-1)
            out[...] = _as_rows(found, out.shape, tiling)

        return locate
    reduce = _reduce(fold)
    dtype = computing_dtype(fold)
    if fold.op.centred:

        def spread(operand: Array, out: Array, spare: Array) -> None:
            np.copyto(out, _deviations(operand, axes, spare)[2], casting="unsafe")

        return spread
    if fold.dtype == dtype:

        def direct(operand: Array, out: Array) -> None:
            reduce(operand, axes, dtype, out, True)

        return direct

    def rounded(operand: Array, out: Array) -> None:
        np.copyto(out, reduce(operand, axes, dtype, None, True), casting="unsafe")

    return rounded


def partial(fold: Fold, tiling: Tiling) -> Callable[..., None]:
    """Return ``fold(at, operand, parts)``, which folds one tile into its place among the parts of its rows.

    Centred folds take a spare register as a fourth argument.
    """
    axes = tiling.axes
    if fold.op.centred:

        def moments(at: Tile, operand: Array, parts: Array, spare: Array) -> None:
            for part, value in zip(parts, _deviations(operand, axes, spare), strict=True):
                part[at.part][at.rows] = value

        return moments
    if not fold.op.indexed:
        reduce = _reduce(fold)
        dtype = computing_dtype(fold)

        def part(at: Tile, operand: Array, parts: Array) -> None:
            reduce(operand, axes, dtype, parts[at.part][at.rows], True)

        return part
    search = _POSITION[fold.op.combine.numpy]
    if len(tiling.order) == 1:

        def place(at: Tile, operand: Array, parts: tuple[Array, Array]) -> None:
            found = search(operand)
            parts[0][at.part] = operand[found]
            parts[1][at.part] = at.start[0] + found

        return place
    by_axis = dict(zip(tiling.order, range(len(tiling.order)), strict=True))
    inner = [by_axis[a] for a in sorted(tiling.order) if tiling.inner[by_axis[a]]]
    strides = contiguous_strides(tuple(tiling.extents[k] for k in inner))

    def part_and_position(at: Tile, operand: Array, parts: tuple[Array, Array]) -> None:
        rows = _rows(operand, tiling)
        found = search(rows, axis=-1)
        shape = tiling.row_shape(operand.shape)
        best = rows[found] if rows.ndim == 1 else np.take_along_axis(rows, found[..., None], axis=-1)[..., 0]
        places = np.unravel_index(found, tuple(operand.shape[k] for k in inner))
        position = sum((place + at.start[k]) * s for place, k, s in zip(places, inner, strides, strict=True))
        parts[0][at.part][at.rows] = _as_rows(best, shape, tiling)
        parts[1][at.part][at.rows] = _as_rows(np.asarray(position), shape, tiling)

    return part_and_position


def make_parts(fold: Fold, tiling: Tiling) -> Any:
    """Return the memory that :func:`partial` fills: a part of every row for each tile the row is spread over."""
    shape = (tiling.parts, *tiling.row_extents)
    if fold.op.centred:
        return np.empty((3, *shape), computing_dtype(fold))
    values = np.empty(shape, computing_dtype(fold))
    return (values, np.empty(shape, np.int64)) if fold.op.indexed else values


def meet(fold: Fold, parts: Any) -> Array:
    """Return the fold of all parts of the rows, in an order that is always the same."""
    if fold.op.centred:
        return _together(parts)
    if not fold.op.indexed:
        return _pairwise(fold.op.combine.numpy, parts)
    values, positions = parts
    first = _POSITION[fold.op.combine.numpy](values, axis=0)
    best = np.take_along_axis(values, first[None], axis=0)
    # blocks need not come in C order: of equally extreme elements the one with the lowest position counts
    is_best = (values == best) | ((values != values) & (best != best))
    return np.asarray(np.where(is_best, positions, np.iinfo(np.int64).max).min(axis=0))


def _pairwise(combine: Callable[..., Any], parts: Array) -> Array:
    """Return the fold of ``parts`` along the first axis, neighbours first, then neighbours of these."""
    while len(parts) > 1:
        half = len(parts) // 2
        paired = combine(parts[0 : 2 * half : 2], parts[1 : 2 * half : 2])
        parts = paired if len(parts) % 2 == 0 else np.concatenate([paired, parts[-1:]])
    return np.asarray(parts[0])


def _deviations(operand: Array, axes: Shape, spare: Array) -> tuple[int, Array, Array]:
    """Return the number of elements of each row, their mean, and the sum of the squares about it."""
    count = prod(operand.shape[axis] for axis in axes)
    dtype = operand.dtype
    mean = _add(operand, axes, dtype) / dtype.type(count)
    off = np.subtract(operand, mean, out=spare)
    squares = _dots(off, axes)
    if squares is None:
        squares = np.add.reduce(np.multiply(off, off, out=off), axes, dtype, keepdims=True)
    return count, mean, squares


def _add(operand: Array, axes: Shape, dtype: DType, out: Array | None = None, keepdims: bool = True) -> Array:
    """Return the sum of ``operand``, which has that dtype, over ``axes``, called as folds call a ufunc's ``reduce``."""
    ones = _ONES.get(operand.dtype)
    found = None if ones is None else _dots(operand, axes, ones)
    if found is None:
        return np.asarray(np.add.reduce(operand, axes, dtype, out=out, keepdims=True))
    if out is None:
        return found
    out[...] = found
    return out


def _dots(operand: Array, axes: Shape, ones: Array | None = None) -> Array | None:
    """Return sums over ``axes`` made by BLAS, of squares where no ``ones`` are given; None if it cannot make them."""
    if operand.dtype not in _ONES or operand.strides[-1:] != (operand.itemsize,):
        return None
    shape = operand.shape
    if len(axes) == len(shape) and operand.flags.c_contiguous:
        line = operand.reshape(-1)
    elif axes == (len(shape) - 1,):
        line = operand
    else:
        return None
    length = line.shape[-1]
    if length < _PIECE_LEAST:
        return None
    # a few pieces are as long as each other, as a rest would be one more call a row
    count = -(-length // _PIECE) if length <= _PIECES_FEW * _PIECE else length // _PIECE
    size = min(length // count, _PIECE)
    full = size * count
    pieces = line[..., :full].reshape(*line.shape[:-1], count, size)
    dots = np.vecdot(pieces, pieces if ones is None else ones[:size])
    # reductions of a few elements each take longer than calls for them all
    found = np.add.reduce(dots, -1) if count > _PIECES_FEW else sum(dots[..., k] for k in range(count))
    if full < length:
        rest = line[..., full:]
        found = found + np.vecdot(rest, rest if ones is None else ones[: length - full])
    return np.asarray(found).reshape([1 if axis in axes else extent for axis, extent in enumerate(shape)])


def _together(parts: Array) -> Array:
    """Return the squared deviations of all parts, which are counts, means and squares along the first axis."""
    counts, means, squares = parts
    mean = (counts * means).sum(axis=0) / counts.sum(axis=0)
    off = means - mean
    found = squares.sum(axis=0) + (counts * off * off).sum(axis=0)
    return np.asarray(found + (mean - mean))  # NaN where the mean is no number


def _reduce(fold: Fold) -> Callable[..., Any]:
    combine = fold.op.combine.numpy
    assert isinstance(combine, np.ufunc)
    return _add if combine is np.add and computing_dtype(fold) in _ONES else combine.reduce


def _rows(operand: Array, tiling: Tiling) -> Array:
    """Return a tile in memory order as an array of rows, elements of a row in C order along the last axis."""
    places = {axis: k for k, axis in enumerate(tiling.order)}
    logical = operand.transpose([places[axis] for axis in range(operand.ndim)])
    outer = operand.ndim - len(tiling.axes)
    return logical.reshape(*logical.shape[:outer], prod(logical.shape[outer:]))


def _as_rows(values: Array, shape: Shape, tiling: Tiling) -> Array:
    """Return one value a row, in C order, in memory order with extent 1 along the inner axes."""
    outer = np.asarray(values)
    axes = [axis for axis in tiling.order if axis < outer.ndim]
    return outer.transpose(axes).reshape(shape)
