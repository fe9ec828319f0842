"""Searching functions: positions of extremes, of elements that are not zero, and in sorted lines."""

from typing import Any

from gpuarray import dtypes
from gpuarray.api import host_functions
from gpuarray.api.arguments import ArrayLike, Axis, as_array, as_arrays, result
from gpuarray.api.elementwise import where as where
from gpuarray.array import GpuArray, from_host, wrap
from gpuarray.graph import build
from gpuarray.ops import calls, reductions
from gpuarray.ops import elementwise as rows


def _position(op: Any, x: ArrayLike, axis: int | None, keepdims: bool) -> GpuArray:
    array = as_array(x)
    if not array.ndim and axis in (0, -1):
        axis = None
    if not array.size and (axis is None or array.shape[build.normalize_axis(axis, array.ndim)] == 0):
        raise ValueError(f"attempt to get {op.name} of an empty sequence")
    return wrap(build.reduce(op, array.node(), axis, None, keepdims), array.device)


def argmax(x: ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> GpuArray:
    """Return positions of the first largest elements along an axis, or of the first NaN.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int, optional
        Along which axis; by default the position among all elements in C order.
    keepdims : bool
        Keep the axes, with extent 1.

    Returns
    -------
    GpuArray
        Of dtype int64.

    Raises
    ------
    ValueError
        If there are no elements.
    """
    return _position(reductions.argmax, x, axis, keepdims)


def argmin(x: ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> GpuArray:
    """Return positions of the first smallest elements along an axis; the arguments are those of :func:`argmax`."""
    return _position(reductions.argmin, x, axis, keepdims)


def count_nonzero(x: ArrayLike, /, axis: Axis = None, *, keepdims: bool = False) -> GpuArray:
    """Count the elements that are not zero along axes, as int64."""
    array = as_array(x)
    truth = array.node() if array.dtype == dtypes.bool_ else build.elementwise(rows.not_equal, array.node(), 0)
    return wrap(build.reduce(reductions.sum, truth, axis, dtypes.int64, keepdims), array.device)


def nonzero(x: ArrayLike, /) -> tuple[GpuArray, ...]:
    """Return positions of the elements that are not zero in C order, an int64 array for each axis.

    The elements are read to the host, as they decide the shape of the result.

    Raises
    ------
    ValueError
        If the array has no axis.
    """
    array = as_array(x)
    if not array.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    host = host_functions.read(array, "nonzero", "the elements decide the shape of the result")
    return tuple(from_host(positions, array.device) for positions in host.nonzero())


def flatnonzero(x: ArrayLike, /) -> GpuArray:
    """Return positions of the elements that are not zero, counted in C order."""
    return nonzero(as_array(x).reshape(-1))[0]


def argwhere(x: ArrayLike, /) -> GpuArray:
    """Return positions of the elements that are not zero, one row for each."""
    array = as_array(x)
    host = host_functions.read(array, "argwhere", "the elements decide the shape of the result")
    rows_of = host.nonzero() if host.ndim else ()
    stacked = [from_host(p, array.device).node() for p in rows_of]
    if not stacked:
        return wrap(build.full((int(bool(host)), 0), 0, dtypes.int64), array.device)
    columns = [build.reshape(p, (p.size, 1)) for p in stacked]
    return wrap(build.concat(columns, 1), array.device)


def searchsorted(x1: ArrayLike, x2: ArrayLike, /, *, side: str = "left", sorter: ArrayLike | None = None) -> GpuArray:
    """Return positions in a sorted line where elements would be inserted to keep it sorted.

    Parameters
    ----------
    x1 : array_like
        One axis, in ascending order, or in the order that ``sorter`` gives.
    x2 : array_like
        What to insert.
    side : {"left", "right"}
        Before or after equal elements.
    sorter : array_like of int, optional
        Positions that sort ``x1``.

    Returns
    -------
    GpuArray
        Of the shape of ``x2`` and dtype int64.

    Raises
    ------
    ValueError
        If ``x1`` has not one axis, or ``side`` is anything else.
    """
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    line, values = as_arrays(x1, x2)
    if line.ndim != 1:
        raise ValueError(f"the sorted array must have one axis, not {line.ndim}")
    if sorter is not None:
        line = line[as_array(sorter)]
    common = dtypes.promote(line.dtype, values.dtype)
    operands = [build.cast(x.node(), common) for x in (line, values)]
    node = host_functions.call(calls.searchsorted, operands, values.shape, dtypes.int64, side=side)
    return result(node, line, values)
