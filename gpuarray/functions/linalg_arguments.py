"""Checks of matrix arguments, as in numpy.linalg, and the evaluation of factorisations."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_device, device_of, wrap
from gpuarray.config import config
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, as_array, elements_at
from gpuarray.functions.registry import HOST, LAPACK, implements
from gpuarray.graph import build, tape, tracing
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.graph.walk import current
from gpuarray.ops import generators, reductions
from gpuarray.ops.spec import CallOp
from gpuarray.runtime import evaluate, statuses
from gpuarray.settings import recording
from gpuarray.source_locations import error_at, find_origin

#: Registers the implementation of a NumPy function that factorises matrices on the host.
by_lapack: Final = partial(implements, kind=HOST, reason=LAPACK)

_PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def matrices(x: ArrayLike) -> GpuArray:
    """Return matrices of shape (..., M, N) as an array.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes.
    """
    array = as_array(x)
    if array.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{array.ndim}-dimensional array given. Array must be at least two-dimensional, (..., M, N)"
        )
    return array


def square(x: ArrayLike) -> GpuArray:
    """Return matrices of shape (..., M, M) as an array.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are fewer than two axes, or the last two differ in extent.
    """
    array = matrices(x)
    if array.shape[-1] != array.shape[-2]:
        raise np.linalg.LinAlgError(
            f"Last 2 dimensions of the array must be square; the array has the shape {array.shape}"
        )
    return array


def factor_dtype(*arrays: GpuArray) -> DType:
    """Return the dtype of the factors of matrices: the floating or complex dtype to which the matrices promote.

    Raises
    ------
    TypeError
        If an array is of dtype float16.
    """
    kinds = [a.dtype if a.dtype.kind in "fc" else dtypes.float64 for a in arrays]
    if dtypes.float16 in kinds:
        raise TypeError("array type float16 is unsupported in linalg; convert it: x.astype(numpy.float32)")
    return dtypes.promote(*kinds)


def real_dtype(dtype: DType) -> DType:
    """Return the dtype of the real part of a complex dtype; any other dtype as it is."""
    return _PARTS.get(dtype, dtype)


def complex_dtype(dtype: DType) -> DType:
    """Return the complex dtype for a floating dtype; a complex dtype as it is."""
    return dtypes.promote(dtype, dtypes.complex64)


def run(
    op: CallOp, operands: Sequence[GpuArray], outputs: Sequence[tuple[Shape, DType]], *, is_checked: bool = False,
    **parameters: Any,
) -> tuple[GpuArray, ...]:  # fmt: skip
    """Evaluate all outputs of a call now.

    Errors that depend on values are then raised by the call, and a factorisation with several outputs runs once. The
    operands are evaluated too, and keep their values. If the call ``is_checked``, its last output is a status, which is
    read next, or becomes the one status of all matrices.
    """
    device = device_of(*operands) or default_device()
    sources = [a.settled() for a in operands]
    nodes = build.call(op, sources, parameters, outputs)
    if recording.origins:  # wrap() records origins too, but only after the nodes have run
        origin = find_origin()
        for node in nodes:
            node.origin = origin
    if is_checked:
        nodes = (*nodes[:-1], _joined(nodes[-1]))
    *others, last = nodes
    evaluate.evaluate_early([last, *sources, *others], device, is_read=is_checked and not is_checked_later())
    return tuple(wrap(node, device) for node in nodes)


def is_checked_later() -> bool:
    """Return whether a status is read with the next value, instead of now: ``jit`` or a setting may say so."""
    return tracing.mode().is_replayed or config.current.linalg_errors == "read"


def _joined(status: Node) -> Node:
    """Return whether any number of a status is not 0 if it is read later, as one for all; else the status itself."""
    if status.size == 1 or not is_checked_later() or tape.batch_of(status) is not None:
        return status
    return build.reduce(reductions.any, status, None, None, False)


def run_checked(
    op: CallOp, operands: Sequence[GpuArray], outputs: Sequence[tuple[Shape, DType]], error: str, **parameters: Any
) -> tuple[GpuArray, ...]:
    """Evaluate a call as :func:`run` does, and raise an error if its last output, the status, is not zero.

    Raises
    ------
    numpy.linalg.LinAlgError
        With the message ``error``. In-process, NumPy raises it. It is raised when a value is read if ``jit`` has
        recorded the function, or ``config.linalg_errors`` is ``"read"``.
    """
    status = (operands[0].shape[:-2], dtypes.int32)
    *results, failed = run(op, operands, [*outputs, status], is_checked=True, **parameters)
    device = failed.device
    if not results[0].size or device.kind == "cpu":
        if tape.batch_of(failed.node()) is None:
            tracing.mode().require_computed(failed.node(), device)
        return tuple(results)
    require_zero(failed, lambda number: np.linalg.LinAlgError(error), *results)
    return tuple(results)


def require_zero(status: GpuArray, error: Callable[[int], Exception], *others: GpuArray) -> None:
    """Raise an error if a status has an element that is not 0.

    Parameters
    ----------
    status : GpuArray
        Integers. They are evaluated, and read unless :func:`is_checked_later`.
    error : callable
        Makes the error of the first element that is not 0, which is its argument; 0 if it is not known yet.
    *others : GpuArray
        Other results of the same call, which are evaluated with the status if ``vmap`` maps over them.
    """
    node, device = status.node(), status.device
    if tape.batch_of(node) is not None:  # the elements of a batch are checked at once
        *whole, node = [tape.whole(array.node(), device) for array in (*others, status)]
        evaluate.evaluate_early([*whole, node], device)
    if is_checked_later():
        joined, later = _joined(node), partial(error_at, partial(error, 0), node.origin)
        evaluate.evaluate_early([joined], device)
        if tracing.mode().check(joined, device, later):
            return
        if config.current.linalg_errors == "read" and device.kind != "cpu":
            leaf = current(joined)
            assert isinstance(leaf, Leaf)
            statuses.expect(leaf, later)
            return
    codes = evaluate.read(node, device)
    if np.count_nonzero(codes):
        raise error(int(codes[codes != 0].flat[0]))


def rows_in_order(array: GpuArray, order: GpuArray) -> GpuArray:
    """Return the rows of matrices in another order.

    Parameters
    ----------
    array : GpuArray
        Of shape (..., M, K).
    order : GpuArray
        Numbers of rows, of shape (..., N). They are not checked, so that nothing is read.

    Returns
    -------
    GpuArray
        Of shape (..., N, K), with leading axes as both broadcast.
    """
    batch = broadcast_shapes(array.shape[:-2], order.shape[:-1])
    rows, columns = array.shape[-2:]
    number = build.generate(generators.arange, (0, 1), (prod(batch),), dtypes.int64)
    plane = wrap(build.reshape(number, (*batch, 1, 1)), array.device) * rows
    column = wrap(build.generate(generators.arange, (0, 1), (columns,), dtypes.int64), array.device)
    positions = (order.astype(dtypes.int64)[..., None] + plane) * columns + column
    return elements_at(array.broadcast((*batch, rows, columns)), positions)
