"""Reductions of tiles: each tile gives states of its rows, and the states of a row in several tiles are merged.

A reduction by an elementwise row is the ``reduce`` of its ufunc. Other reductions have NumPy parts
(:class:`~gpuarray.ops.reduce_spec.NumPyParts`). Sums inside a tile are NumPy's pairwise sums, or products with ones,
which BLAS computes in many lanes, of pieces so short that errors grow no further than in NumPy's blocks. The parts of a
row are added pairwise too, so the error is about NumPy's. Sums and products of float16 run in float32. Squared
deviations come from the sum of squares where few digits cancel, and otherwise from the elements less their mean.
The compiler of loops calls this module.
"""

from collections.abc import Callable
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Fold
from gpuarray.graph.layouts import Shape, contiguous_strides
from gpuarray.ops import reductions
from gpuarray.ops.reduce_spec import Elements, NumPyParts, ReduceOp
from gpuarray.providers.inprocess.tiles import Tile, Tiling

Array: TypeAlias = npt.NDArray[Any]


#: Elements of the pieces that BLAS adds up, and of the shortest row where calling it pays.
_PIECE: Final = 512
_PIECE_LEAST: Final = 64

#: How many times the squared deviations the squares are at most where the difference is as good as what is summed.
_CANCELS: Final = 2

#: So many pieces of a row are added one after the other; more of them by a reduction.
_PIECES_FEW: Final = 4

#: Elements that stay in a core's second-level cache.
_CACHED: Final = 1 << 17

_ONES: Final = {dtype: np.ones(_PIECE, dtype) for dtype in (dtypes.float32, dtypes.float64)}


def computing_dtype(fold: Fold) -> DType:
    """Return the dtype that the operand of ``fold`` has to be cast to first."""
    op, dtype = fold.op, fold.op.accumulate(fold.source)
    if op.numpy is not None:
        return dtype if op.numpy.compute is None else op.numpy.compute(dtype)
    is_sum = op.combine is not None and op.combine.numpy in (np.add, np.multiply)
    return dtypes.float32 if dtype == dtypes.float16 and is_sum else dtype


def whole(fold: Fold, tiling: Tiling) -> Callable[..., None]:
    """Return ``fold(operand, out)`` over the inner axes of a tile of whole rows; ``out`` has extent 1 along them.

    Rows that have NumPy parts take a shift and spare memory too: see :class:`~gpuarray.ops.reduce_spec.Elements`.
    """
    if not prod(extent for extent, is_inner in zip(tiling.extents, tiling.inner, strict=True) if is_inner):
        value = fold.op.identity_of(fold.dtype)

        def fill(operand: Array, out: Array, *_: Any) -> None:
            out[...] = value

        return fill
    dtype, axes, parts = computing_dtype(fold), tiling.axes, fold.op.numpy
    if parts is not None:
        states, finish = _states_of(fold, parts), parts.finish
        result = parts.result or (lambda elements: finish(*states(elements)))

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
        states_of = _states_of(fold, fold.op.numpy)

        def lift(at: Tile, operand: Array, states: tuple[Array, ...], shift: Any, spare: Array | None) -> None:
            found = states_of(_elements(operand, tiling, at, shift, spare))
            for state, value in zip(states, found, strict=True):
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


def _states_of(fold: Fold, parts: NumPyParts) -> Callable[[Elements], tuple[Any, ...]]:
    """Return what folds a tile into states: the row's own part, or a quicker form of it."""
    return _QUICKER.get(fold.op, parts.fold)


def _elements(operand: Array, tiling: Tiling, at: Tile | None, shift: Any, spare: Array | None) -> Elements:
    """Return a tile as a reduction's NumPy parts see it, of whole rows where there is no ``at``."""
    shape = tiling.row_shape(operand.shape)

    def positions(found: Any) -> Any:
        if at is None:
            return found
        if len(tiling.axes) == len(tiling.order) == 1:
            return at.start[0] + found
        by_axis = dict(zip(tiling.order, range(len(tiling.order)), strict=True))
        inner = [by_axis[a] for a in sorted(tiling.order) if tiling.inner[by_axis[a]]]
        strides = contiguous_strides(tuple(tiling.extents[k] for k in inner))
        places = np.unravel_index(found, tuple(operand.shape[k] for k in inner))
        return np.asarray(sum((place + at.start[k]) * s for place, k, s in zip(places, inner, strides, strict=True)))

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


def _deviations(elements: Elements) -> tuple[int, Array, Array]:
    """Return the number of elements of each row, their mean less the shift, and the sum of the squares about the mean.

    It is the fold of :data:`~gpuarray.ops.reduction_parts.NUMPY_DEVIATIONS`, with BLAS.
    """
    operand, axes, shift, spare = elements.values, elements.axes, elements.shift, elements.spare
    count = prod(operand.shape[axis] for axis in axes)
    dtype = operand.dtype
    cut = _cut(operand, axes)
    if cut is None:
        off = np.subtract(operand, shift, out=spare)
        mean = np.add.reduce(off, axes, dtype, keepdims=True) / dtype.type(count)
        np.subtract(off, mean, out=off)
        return count, mean, np.add.reduce(np.multiply(off, off, out=off), axes, dtype, keepdims=True)
    mean, found, is_good = _moments(cut, count)
    if is_good.all():
        return count, mean - shift, found
    # rows that lose digits are shifted, and what still does is centred; no row depends on others
    off = np.subtract(operand, shift, out=spare)
    cut = _cut(off, axes)
    assert cut is not None  # a register's memory is no worse
    shifted, near, is_better = _moments(cut, count)
    if not (is_good | is_better).all():
        centre = shifted.astype(dtype)
        np.subtract(off, centre, out=off)
        rest, best, _ = _moments(cut, count)
        shifted = np.where(is_better, shifted, rest + centre)
        near = np.where(is_better, near, best)
    return count, np.where(is_good, mean - shift, shifted), np.where(is_good, found, near)


def _moments(cut: "_Cut", count: int) -> tuple[Array, Array, Array]:
    """Return the mean of each row and the squares about it, from the squares, and whether few digits are lost so."""
    squares, sums = _dots(cut, (None, _ONES[cut.pieces.dtype]), dtypes.float64)
    mean = sums / count
    found = squares - mean * mean * count
    # False where something is no number, or squares are too large, which those of deviations need not be
    return mean, found, (squares <= _CANCELS * found) & (squares < np.inf)


def _add(operand: Array, axes: Shape, dtype: DType, out: Array | None = None, keepdims: bool = True) -> Array:
    """Return the sum of ``operand``, which has that dtype, over ``axes``, called as folds call a ufunc's ``reduce``."""
    cut = _cut(operand, axes)
    if cut is None:
        return np.asarray(np.add.reduce(operand, axes, dtype, out=out, keepdims=True))
    found = _dots(cut, (_ONES[operand.dtype],))[0]
    if out is None:
        return found
    out[...] = found
    return out


class _Cut(NamedTuple):
    """Rows cut into pieces along a further axis, what is left of them or None, and the shape of one value a row."""

    pieces: Array
    rest: Array | None
    shape: Shape


def _cut(operand: Array, axes: Shape) -> _Cut | None:
    """Return what BLAS can add along ``axes``, or None if it cannot."""
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
    by_row = tuple([1 if axis in axes else extent for axis, extent in enumerate(shape)])
    return _Cut(pieces, line[..., full:] if full < length else None, by_row)


def _dots(cut: _Cut, others: tuple[Array | None, ...], dtype: DType | None = None) -> list[Array]:
    """Return for each of ``others`` the sums of rows of products with it, made by BLAS; of squares where it is None.

    The sums of pieces are added in ``dtype``. For several others pieces are read again while they are in the cache.
    """
    pieces, rest, shape = cut
    some = max(1, len(pieces) if len(others) == 1 else _CACHED // prod(pieces.shape[1:]))
    dots = [np.empty(pieces.shape[:-1], pieces.dtype) for _ in others]
    for start in range(0, len(pieces), some):
        span = slice(start, start + some)
        near = pieces[span]
        for found, other in zip(dots, others, strict=True):
            np.vecdot(near, near if other is None else other[: near.shape[-1]], out=found[span])
    # reductions of a few elements each take longer than calls for them all
    count = pieces.shape[-2]
    sums = []
    for found, other in zip(dots, others, strict=True):
        each = found if dtype is None else found.astype(dtype, copy=False)
        total = np.add.reduce(each, -1) if count > _PIECES_FEW else sum(each[..., k] for k in range(count))
        if rest is not None:
            total = total + np.vecdot(rest, rest if other is None else other[: rest.shape[-1]])
        sums.append(np.asarray(total).reshape(shape))
    return sums


def _reduce(fold: Fold) -> Callable[..., Any]:
    combine = None if fold.op.combine is None else fold.op.combine.numpy
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


#: Quicker forms of the folds of some reductions.
_QUICKER: Final[dict[ReduceOp, Callable[[Elements], tuple[Any, ...]]]] = {reductions.squared_deviations: _deviations}
