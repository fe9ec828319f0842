"""Folds: what a reduction row does with one tile, and how the parts of a row that is spread over tiles meet.

Sums inside a tile are NumPy's pairwise ones, and the parts of a row are added pairwise too, so the error is no larger
than NumPy's. Sums and products of float16 run in float32. Squared deviations are those from each tile's mean; parts
meet by the formula of Chan, Golub and LeVeque (1979), "Updating formulae and a pairwise algorithm for computing sample
variances". Positions (argmax, argmin) are those of the first extreme
element in C order, and NaN is more extreme than any number. The compiler of loops calls this.
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

_POSITION: Final[dict[Any, Callable[..., Any]]] = {np.maximum: np.argmax, np.minimum: np.argmin}


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


def whole(fold: Fold, tiling: Tiling) -> Callable[[Array, Array], None]:
    """Return ``fold(operand, out)`` over the inner axes of a tile of whole rows; ``out`` has extent 1 along them."""
    axes = tiling.axes
    if not prod(extent for extent, is_inner in zip(tiling.extents, tiling.inner, strict=True) if is_inner):
        value = neutral(fold.op, fold.dtype)

        def fill(operand: Array, out: Array) -> None:
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

        def spread(operand: Array, out: Array) -> None:
            np.copyto(out, _deviations(operand, axes)[2], casting="unsafe")

        return spread
    if fold.dtype == dtype:

        def direct(operand: Array, out: Array) -> None:
            reduce(operand, axes, dtype, out, True)

        return direct

    def rounded(operand: Array, out: Array) -> None:
        np.copyto(out, reduce(operand, axes, dtype, None, True), casting="unsafe")

    return rounded


def partial(fold: Fold, tiling: Tiling) -> Callable[[Tile, Array, Any], None]:
    """Return ``fold(at, operand, parts)``, which folds one tile into its place among the parts of its rows."""
    axes = tiling.axes
    if fold.op.centred:

        def moments(at: Tile, operand: Array, parts: Array) -> None:
            for part, value in zip(parts, _deviations(operand, axes), strict=True):
                part[at.part][at.rows] = value

        return moments
    if not fold.op.indexed:
        reduce = _reduce(fold)
        dtype = computing_dtype(fold)

        def part(at: Tile, operand: Array, parts: Array) -> None:
            reduce(operand, axes, dtype, parts[at.part][at.rows], True)

        return part
    search = _POSITION[fold.op.combine.numpy]
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


def _deviations(operand: Array, axes: Shape) -> tuple[int, Array, Array]:
    """Return the number of elements of each row, their mean, and the sum of the squares about it."""
    count = prod(operand.shape[axis] for axis in axes)
    mean = np.add.reduce(operand, axes, keepdims=True) / operand.dtype.type(count)
    off = np.asarray(operand - mean)
    return count, mean, np.add.reduce(np.multiply(off, off, out=off), axes, keepdims=True)


def _together(parts: Array) -> Array:
    """Return the squared deviations of all parts, which are counts, means and squares along the first axis."""
    while parts.shape[1] > 1:
        half = parts.shape[1] // 2
        (n, m, a), (count, mean, squares) = parts[:, 0 : 2 * half : 2], parts[:, 1 : 2 * half : 2]
        gap, share = mean - m, count / (n + count)
        met = np.stack([n + count, m + gap * share, a + squares + gap * gap * (n * share)])
        parts = met if parts.shape[1] % 2 == 0 else np.concatenate([met, parts[:, -1:]], axis=1)
    _, mean, squares = parts[:, 0]
    return np.asarray(squares + (mean - mean))  # NaN where the mean is no number


def _reduce(fold: Fold) -> Callable[..., Any]:
    combine = fold.op.combine.numpy
    assert isinstance(combine, np.ufunc)
    return combine.reduce


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
