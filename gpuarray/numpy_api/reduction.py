"""Reductions with all of NumPy's keywords, for ``ufunc.reduce`` and the functions over it."""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_node, wrap
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.numpy_api.arguments import NOT_GIVEN, deliver, device_among
from gpuarray.ops import elementwise as rows
from gpuarray.ops.spec import ROWS, ReduceOp

#: The ufuncs whose ``reduce`` and ``accumulate`` are rows.
REDUCTIONS: Final[dict[Any, ReduceOp]] = {
    row.combine.numpy: row for row in ROWS.values() if isinstance(row, ReduceOp) and not row.indexed
}


def _boolean(op: ReduceOp) -> bool:
    return op.accumulate(dtypes.int8) == dtypes.bool_


def accumulation_dtype(ufunc: Any, source: DType, dtype: Any, out: Any) -> DType:
    """Return the dtype in which a ufunc folds ``source``, as NumPy chooses it.

    Raises
    ------
    numpy.exceptions.UFuncTypeError
        If the ufunc does not accept the dtype.
    """
    op = REDUCTIONS[ufunc]
    wanted = None if dtype is None else dtypes.canonical(dtype)
    given = None if out is None or wanted is not None or _boolean(op) else out.dtype
    loop = ufunc.resolve_dtypes(
        (given, source, None), signature=(wanted, None, None), casting="unsafe", reduction=True
    )
    return wanted or (op.accumulate(source) if given is None else dtypes.canonical(loop[0]))


def neutral(op: ReduceOp, dtype: DType) -> Any:
    """Return the value that leaves every other one as it is when combined with it."""
    value = (op.neutral or {}).get(dtype.kind, 0)
    if value == "highest":
        return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf
    if value == "lowest":
        return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf
    return value


def fold(
    ufunc: Any,
    source: GpuArray,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NOT_GIVEN,
    where: Any = True,
) -> Any:
    """Return ``source`` folded along axes by a ufunc in :data:`REDUCTIONS`; the keywords are those of ``reduce``."""
    op = REDUCTIONS[ufunc]
    axes = axes_of(axis, source.ndim)
    kind = accumulation_dtype(ufunc, source.dtype, dtype, out)
    keep = keepdims is not NOT_GIVEN and bool(keepdims)
    start = _initial(initial, kind)
    node = build.cast(source.node(), kind)
    if where is not True and where is not NOT_GIVEN:
        node = _masked(ufunc, op, node, where, start)
    if start is not None and any(source.shape[a] == 0 for a in axes):
        kept = tuple(1 if a in axes else n for a, n in enumerate(source.shape) if keep or a not in axes)
        result: Node = build.full(kept, start, kind)
    else:
        result = build.reduce(op, node, axes, kind, keep)
        if start is not None:
            result = build.elementwise(op.combine, result, build.full((), start, kind))
    if out is not None:
        check_reduced(ufunc.__name__, result.shape, out)
    return deliver(wrap(result, device_among(source, where)), out, "unsafe")


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that ``axis`` names; a 0-d array has NumPy's pretended axis 0."""
    if ndim == 0 and axis in (0, -1):
        return ()
    return build.normalize_axes(axis, ndim)


def _initial(initial: Any, kind: DType) -> Any:
    if initial is NOT_GIVEN or initial is None:
        return None
    return kind.type(initial.item() if isinstance(initial, GpuArray) else initial)


def _masked(ufunc: Any, op: ReduceOp, node: Node, where: Any, start: Any) -> Node:
    if op.empty_is_error and start is None:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    mask = mask_node(where)
    build.broadcast_to(mask.shape, node.shape)
    fill = start if op.empty_is_error else neutral(op, node.dtype)
    return build.elementwise(rows.where, mask, node, build.full((), fill, node.dtype))


def mask_node(where: Any) -> Node:
    """Return a ``where=`` argument as a boolean node.

    Raises
    ------
    TypeError
        If it is not boolean.
    """
    mask = as_node(where)
    if mask.dtype != dtypes.bool_:
        raise TypeError(
            f"Cannot cast array data from {mask.dtype!r} to dtype('bool') according to the rule 'safe'; where= takes a "
            "boolean array"
        )
    return mask


def check_reduced(name: str, shape: tuple[int, ...], out: Any) -> None:
    """Check the shape of the ``out`` of a reduction, which must be that of the result.

    Raises
    ------
    ValueError
        If it is another.
    """
    if len(out.shape) != len(shape):
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong number of dimensions: Found "
            f"{len(out.shape)} but expected {len(shape)}"
        )
    if out.shape != shape:
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong shape: found {out.shape}, expected {shape}"
        )


def running(ufunc: Any, source: GpuArray, *, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return the running fold of ``source`` along ``axis``: what ``accumulate`` does."""
    if source.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    op = REDUCTIONS[ufunc]
    kind = accumulation_dtype(ufunc, source.dtype, dtype, out)
    node = build.scan(op, build.cast(source.node(), kind), axis, kind)
    if out is not None and tuple(out.shape) != node.shape:
        raise ValueError(f"provided out is the wrong size for the accumulation: {tuple(out.shape)}, not {node.shape}")
    return deliver(wrap(node, source.device), out, "unsafe")
