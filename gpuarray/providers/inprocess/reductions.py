"""Reductions of tiles: each tile gives states of its rows, and the states of a row in several tiles are merged.

A reduction by an elementwise operation is the ``reduce`` of its ufunc. Other reductions have NumPy parts
(:class:`~gpuarray.ops.reduce_spec.NumPyParts`). Sums inside a tile are those of :mod:`gpuarray.ops.row_sums`. The parts
of a row are added pairwise, so the error is about NumPy's. Sums and products of float16 run in float32.
The compiler of loops calls this module.
"""

from collections.abc import Callable
from functools import partial as partial_of
from math import isqrt, prod
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Fold
from gpuarray.graph.layouts import Shape, contiguous_strides
from gpuarray.ops import reductions as ops
from gpuarray.ops import row_sums
from gpuarray.ops.reduce_spec import Elements
from gpuarray.providers.inprocess.tiles import SHORT, Tile, Tiling

Array: TypeAlias = npt.NDArray[Any]

#: How many short rows are at least reduced column by column.
_SHORT_LEAST: Final = 64
#: The fewest rows, and the most elements of each, that are reduced as fewer rows of more elements.
_TALL, _NARROW = 64, 64


def computing_dtype(fold: Fold) -> DType:
    """Return the dtype that the operand of ``fold`` has to be cast to first."""
    op, dtype = fold.op, fold.op.accumulate(fold.source)
    if op.numpy is not None:
        return dtype if op.numpy.compute is None else op.numpy.compute(dtype)
    is_sum = op.combine is not None and op.combine.numpy in (np.add, np.multiply)
    return dtypes.float32 if dtype == dtypes.float16 and is_sum else dtype


def adds_products(fold: Fold) -> bool:
    """Return whether a fold may get products of two factors that BLAS multiplies and adds."""
    return fold.op is ops.sum and fold.source == computing_dtype(fold) and fold.source in row_sums.DTYPES


def whole(fold: Fold, tiling: Tiling) -> Callable[..., None]:
    """Return ``fold(operand, out)`` over the inner axes of a tile of whole rows; ``out`` has extent 1 along them.

    The operand is a tile, or for :func:`adds_products` a tuple of two factors and memory for their products.

    Rows that have NumPy parts take a shift and spare memory too: see :class:`~gpuarray.ops.reduce_spec.Elements`.
    """
    if not prod(extent for extent, is_inner in zip(tiling.extents, tiling.inner, strict=True) if is_inner):
        value = fold.op.identity_of(fold.dtype)

        def fill(operand: Array, out: Array, *_: Any) -> None:
            out[...] = value

        return fill
    dtype, axes, parts = computing_dtype(fold), tiling.axes, fold.op.numpy
    if parts is not None:
        fold_tile, finish = parts.fold, parts.finish
        result = parts.result or (lambda elements: finish(*fold_tile(elements)))

        def finished(operand: Array, out: Array, shift: Any, spare: Array | None) -> None:
            np.copyto(out, result(_elements(operand, tiling, None, shift, spare)), casting="unsafe")

        return finished
    reduce = _reduce(fold)
    if fold.dtype == dtype:

        def direct(operand: Array, out: Array) -> None:
            reduce(operand, axes, dtype, out, True)

        return direct

    def rounded(operand: Array, out: Array) -> None:
        np.copyto(out, reduce(operand, axes, dtype, None, True), casting="unsafe")

    return rounded


def partial(fold: Fold, tiling: Tiling) -> Callable[..., None]:
    """Return ``fold(at, operand, states)``, which folds one tile into its place among the states of its rows' parts.

    Rows that have NumPy parts take a shift and spare memory too: see :class:`~gpuarray.ops.reduce_spec.Elements`.
    """
    if fold.op.numpy is not None:
        fold_tile = fold.op.numpy.fold

        def lift(at: Tile, operand: Array, states: tuple[Array, ...], shift: Any, spare: Array | None) -> None:
            folded = fold_tile(_elements(operand, tiling, at, shift, spare))
            for state, value in zip(states, folded, strict=True):
                state[at.part][at.rows] = value

        return lift
    reduce, dtype, axes = _reduce(fold), computing_dtype(fold), tiling.axes

    def part(at: Tile, operand: Array, states: tuple[Array, ...]) -> None:
        reduce(operand, axes, dtype, states[0][at.part][at.rows], True)

    return part


def make_states(fold: Fold, tiling: Tiling) -> tuple[Array, ...]:
    """Return the memory that :func:`partial` fills: the state of every row in each tile the row is spread over."""
    dtype = computing_dtype(fold)
    kinds = (dtype,) if fold.op.numpy is None else fold.op.numpy.state(dtype)
    return tuple(np.empty((tiling.parts, *tiling.row_extents), kind) for kind in kinds)


def merge(fold: Fold, states: tuple[Array, ...]) -> Array:
    """Return the result of the states of all parts of the rows, merged in an order that is always the same."""
    parts = fold.op.numpy
    if parts is not None:
        return np.asarray(parts.finish(*parts.combine(*states)))
    assert fold.op.combine is not None
    return _pairwise(fold.op.combine.numpy, states[0])


def _elements(operand: Array, tiling: Tiling, at: Tile | None, shift: Any, spare: Array | None) -> Elements:
    """Return a tile as a reduction's NumPy parts see it, of whole rows where there is no ``at``."""
    shape = tiling.row_shape(operand.shape)

    def positions(numbers: Any) -> Any:
        if at is None:
            return numbers
        if len(tiling.axes) == len(tiling.order) == 1:
            return at.start[0] + numbers
        by_axis = dict(zip(tiling.order, range(len(tiling.order)), strict=True))
        inner = [by_axis[a] for a in sorted(tiling.order) if tiling.inner[by_axis[a]]]
        strides = contiguous_strides(tuple(tiling.extents[k] for k in inner))
        coordinates = np.unravel_index(numbers, tuple(operand.shape[k] for k in inner))
        return np.asarray(
            sum((position + at.start[k]) * s for position, k, s in zip(coordinates, inner, strides, strict=True))
        )

    return Elements(
        operand,
        tiling.axes,
        spare,
        shift,
        lambda: operand if operand.ndim == len(tiling.axes) == 1 else _rows(operand, tiling),
        lambda values: _as_rows(values, shape, tiling),
        positions,
    )


def _pairwise(combine: Callable[..., Any], parts: Array) -> Array:
    """Return the fold of ``parts`` along the first axis, neighbours first, then neighbours of these."""
    while len(parts) > 1:
        half = len(parts) // 2
        paired = combine(parts[0 : 2 * half : 2], parts[1 : 2 * half : 2])
        parts = paired if len(parts) % 2 == 0 else np.concatenate([paired, parts[-1:]])
    return np.asarray(parts[0])


def _reduce(fold: Fold) -> Callable[..., Any]:
    combine = None if fold.op.combine is None else fold.op.combine.numpy
    assert isinstance(combine, np.ufunc)
    dtype = computing_dtype(fold)
    reduce = row_sums.add if combine is np.add and dtype in row_sums.DTYPES else combine.reduce
    if dtype.kind == "c":  # NumPy adds complex numbers in another order
        return reduce
    reduce = partial_of(_reduce_short, combine, partial_of(_reduce_tall, combine, reduce))
    return partial_of(_reduce_products, reduce)


def _reduce_products(
    reduce: Callable[..., Any],
    operand: Array | tuple[Array, Array, Array],
    axes: tuple[int, ...],
    dtype: DType,
    out: Array | None,
    keepdims: bool,
) -> Any:
    """Reduce a tile; products of two tiles are added as they are made where BLAS can do so."""
    if isinstance(operand, tuple):
        first, second, spare = operand
        sums = row_sums.add_products(first, second, axes, out)
        if sums is not None:
            return sums
        operand = np.multiply(first, second, out=spare)
    return reduce(operand, axes, dtype, out, keepdims)


def _reduce_short(
    combine: np.ufunc,
    reduce: Callable[..., Any],
    operand: Array,
    axes: tuple[int, ...],
    dtype: DType,
    out: Array | None,
    keepdims: bool,
) -> Any:
    """Reduce rows, if they are short, column by column: a reduction takes longer to begin than for a few elements.

    The order, and so each bit, is that of NumPy, which adds fewer than eight numbers one after the other.
    """
    length = operand.shape[axes[0]] if len(axes) == 1 else 0
    if not 2 <= length <= SHORT or operand.size < _SHORT_LEAST * length:
        return reduce(operand, axes, dtype, out, keepdims)
    (axis,) = axes
    columns = np.moveaxis(operand, axis, 0)
    target = np.empty((*operand.shape[:axis], 1, *operand.shape[axis + 1 :]), dtype) if out is None else out
    folded = np.moveaxis(target, axis, 0)[0]
    combine(columns[0], columns[1], out=folded)
    for column in columns[2:]:
        combine(folded, column, out=folded)
    if combine is np.add and dtype.kind == "f":
        np.add(folded, 0, out=folded)  # NumPy begins with a positive zero
    return target


def _reduce_tall(
    combine: np.ufunc,
    reduce: Callable[..., Any],
    operand: Array,
    axes: tuple[int, ...],
    dtype: DType,
    out: Array | None,
    keepdims: bool,
) -> Any:
    """Reduce many rows of few elements as fewer rows of many: NumPy begins anew with each row.

    Eight columns of float64 take a tenth of the time. Rows that are added are as far apart as there are sums then.
    """
    depth = len(axes)
    length, width = prod(operand.shape[:depth]), prod(operand.shape[depth:])
    is_tall = length >= _TALL and 1 < width <= _NARROW
    if not is_tall or axes != (*range(depth),) or operand.dtype != dtype or not operand.flags.c_contiguous:
        return reduce(operand, axes, dtype, out, keepdims)
    rows = operand.reshape(length, width)
    while len(rows) >= _TALL:
        together = isqrt(len(rows))
        count = len(rows) // together
        folded = combine.reduce(rows[: together * count].reshape(together, count * width), 0, dtype)
        rows = np.concatenate([folded.reshape(count, width), rows[together * count :]])
    result = combine.reduce(rows, 0, dtype).reshape((1,) * depth + operand.shape[depth:])
    if out is None:
        return result
    out[...] = result
    return out


def _rows(operand: Array, tiling: Tiling) -> Array:
    """Return a tile in memory order as an array of rows, elements of a row in C order along the last axis."""
    axis_of = {axis: k for k, axis in enumerate(tiling.order)}
    logical = operand.transpose([axis_of[axis] for axis in range(operand.ndim)])
    outer = operand.ndim - len(tiling.axes)
    return logical.reshape(*logical.shape[:outer], prod(logical.shape[outer:]))


def _as_rows(values: Array, shape: Shape, tiling: Tiling) -> Array:
    """Return one value a row, in C order, in memory order with extent 1 along the inner axes."""
    outer = np.asarray(values)
    axes = [axis for axis in tiling.order if axis < outer.ndim]
    return outer.transpose(axes).reshape(shape)
