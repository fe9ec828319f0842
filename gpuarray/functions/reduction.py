"""Reductions with all of NumPy's keywords, for ``ufunc.reduce`` and the functions over it."""

from typing import Any, Final

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_element, as_node, wrap
from gpuarray.dtypes import DType
from gpuarray.functions import statistics
from gpuarray.functions.numpy_arguments import NOT_GIVEN, deliver, device_among
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.ops.spec import ROWS, ReduceOp

#: The ufuncs whose ``reduce`` and ``accumulate`` are rows.
REDUCTIONS: Final[dict[Any, ReduceOp]] = {
    row.combine.numpy: row for row in ROWS.values() if isinstance(row, ReduceOp) and not (row.indexed or row.centred)
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
    loop = ufunc.resolve_dtypes((given, source, None), signature=(wanted, None, None), casting="unsafe", reduction=True)
    return wanted or (op.accumulate(source) if given is None else dtypes.canonical(loop[0]))


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
    kind = accumulation_dtype(ufunc, source.dtype, dtype, out)
    start = None if initial is NOT_GIVEN or initial is None else _scalar(initial, kind)
    mask = where if where is True or where is NOT_GIVEN else _mask_over(where, source)
    folded = statistics.fold(
        REDUCTIONS[ufunc],
        source,
        axes_of(axis, source.ndim),
        dtype=kind,
        keepdims=given(keepdims, False),
        initial=start,
        where=given(mask, True),
    )
    if out is not None:
        check_reduced(ufunc.__name__, folded.shape, out)
    return deliver(folded, out, "unsafe")


def given(value: Any, default: Any) -> Any:
    """Return an argument, or its default where NumPy's mark for a missing one stands."""
    return default if value is NOT_GIVEN else value


def _scalar(initial: Any, kind: DType) -> Any:
    return as_element(initial.get()[()] if isinstance(initial, GpuArray) else initial, kind)


def _mask_over(where: Any, source: GpuArray) -> GpuArray:
    mask = wrap(mask_node(where), device_among(source, where))
    build.broadcast_to(mask.shape, source.shape)
    return mask


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that ``axis`` names; a 0-d array has NumPy's pretended axis 0."""
    if ndim == 0 and axis in (0, -1):
        return ()
    return build.normalize_axes(axis, ndim)


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
