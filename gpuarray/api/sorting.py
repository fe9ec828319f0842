"""Sorting functions. They run on the host for now."""

from gpuarray import dtypes
from gpuarray.api import host_functions
from gpuarray.api.arguments import ArrayLike, as_array
from gpuarray.array import GpuArray, wrap
from gpuarray.graph import build
from gpuarray.ops import calls


def sort(x: ArrayLike, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> GpuArray:
    """Return elements in order along an axis.

    Parameters
    ----------
    x : array_like
        Numbers; NaN comes last in ascending order.
    axis : int
        Along which axis.
    descending : bool
        From large to small.
    stable : bool
        Sorting is always stable.

    Returns
    -------
    GpuArray
        Of the shape and dtype of ``x``.
    """
    array = as_array(x)
    number = build.normalize_axis(axis, array.ndim)
    node = host_functions.call(
        calls.sort, [array.node()], array.shape, array.dtype, axis=number, descending=bool(descending)
    )
    return wrap(node, array.device)


def argsort(x: ArrayLike, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> GpuArray:
    """Return the positions that put elements in order, as int64; the arguments are those of :func:`sort`."""
    array = as_array(x)
    number = build.normalize_axis(axis, array.ndim)
    node = host_functions.call(
        calls.argsort, [array.node()], array.shape, dtypes.int64, axis=number, descending=bool(descending)
    )
    return wrap(node, array.device)
