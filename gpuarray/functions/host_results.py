"""Arrays of the results of NumPy's functions that were called with the memory of arrays."""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.array.memory import READ_ONLY, of_host
from gpuarray.device import Device
from gpuarray.graph.nodes import host_leaf
from gpuarray.immediacy import immediacy
from gpuarray.references import owner_count

#: The dtype objects of this package, of which NumPy has several that are equal.
_CANONICAL: Final = frozenset(map(id, dtypes.ALL))
_ndarray: Final = np.ndarray
_generic: Final = np.generic
#: Bytes from which on shrinking a longer array takes less time than a copy.
_LARGE: Final = 1 << 15
#: Containers of several results. A union of types is slower.
_SEVERAL: Final = (tuple, list)


def wrapped(
    result: Any,
    arrays: list[GpuArray],
    hosts: list[Any],
    device: Device,
    may_be_view: bool,
    outs: tuple[Any, ...] = (),
) -> Any:
    """Return results of NumPy as arrays of this package, but for arrays of NumPy that were given as ``out``.

    Raises
    ------
    LookupError
        If it is of another type, or a view that is not one of the memory of a cell.
    """
    kind = type(result)
    if kind is _ndarray:
        for host in hosts:
            if result is host:  # it was given as ``out``, or there was nothing to do
                number = [id(host) for host in hosts].index(id(result))
                if number < len(arrays):
                    return _current(arrays[number])
                if any(out is result for out in outs):
                    return result
                result = result.copy()
                break
        is_read_only = False
        if result.base is not None:
            view = _seen(result, arrays) if may_be_view else None
            if view is not None:
                return view
            is_read_only = not result.flags.writeable
            result = in_own_memory(result)
        if id(result.dtype) not in _CANONICAL:
            result = result.astype(dtypes.canonical(result.dtype))
        array = (
            wrap(host_leaf(result), device) if result.size > immediacy().limit else of_host(GpuArray, result, device)
        )
        if is_read_only:  # as NumPy's broadcasts of scalars
            array._access = READ_ONLY
        return array
    if isinstance(result, _generic):
        return of_host(GpuArray, result, device)
    if isinstance(result, _SEVERAL):
        items = [wrapped(item, arrays, hosts, device, may_be_view, outs) for item in result]
        return items if kind is list else tuple(items) if kind is tuple else kind(*items)
    if result is None or kind is bool:
        return result
    raise LookupError


def _start(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]


def in_own_memory(result: Any) -> Any:
    """Return an array that is no view: without a copy if it is the begin of an array to which nothing else refers."""
    base = result.base
    if base is None:
        return result
    if type(base) is not _ndarray or base.dtype is not result.dtype or base.nbytes < result.nbytes:
        return result.copy()
    if base.nbytes > result.nbytes and (result.nbytes < _LARGE or _start(base) != _start(result)):
        return result.copy()
    if not (result.flags.c_contiguous and base.flags.c_contiguous and base.flags.owndata and base.flags.writeable):
        return result.copy()
    if owner_count((base,), 0) != 3:  # beside the view's there are this function's and the tuple's
        return result.copy()
    base.resize(result.shape, refcheck=False)  # NumPy would count the view's
    return base


def in_order_of_memory(result: Any) -> tuple[Any, list[int]] | None:
    """Return an array in C order of all the memory of a result that has its axes in another order, and these axes.

    The result has memory of its own, as those of LAPACK in Fortran's order, or is a view of all of an array to which
    nothing else refers; None if it is not.
    """
    axes = sorted(range(result.ndim), key=result.strides.__getitem__, reverse=True)
    ordered, base = result.transpose(axes), result.base
    if not ordered.flags.c_contiguous:
        return None
    if base is None:
        return (ordered, axes) if result.flags.writeable and not result.flags.c_contiguous else None
    if type(base) is not _ndarray or base.dtype is not result.dtype or base.nbytes != result.nbytes:
        return None
    if not (base.flags.carray and base.flags.owndata):
        return None
    if owner_count((base,), 0) != 4:  # two views, the variable and the tuple
        return None
    del ordered
    base.resize([result.shape[axis] for axis in axes], refcheck=False)
    return base, axes


def _seen(result: Any, arrays: list[GpuArray]) -> GpuArray | None:
    """Return the array of a view that NumPy has made of the memory of an argument; None if it has made another one.

    Raises
    ------
    LookupError
        If the view may not be one of the memory of a cell, or has too many elements.
    """
    for array in arrays:
        if _current(array)._part is not None:
            raise LookupError
        if result.base is array._memory and result.dtype is array._dtype:
            if result.size > immediacy().limit:
                raise LookupError
            view = array._see_host(result, array._memory)
            if not result.flags.writeable:
                view._access = READ_ONLY  # as NumPy's broadcasts and diagonals
            return view
    return None


def _current(array: GpuArray) -> GpuArray:
    """Return an array whose elements are in the memory of its cell.

    Raises
    ------
    LookupError
        If they are not.
    """
    if array._value is None and array._memory is not array._cell.memory:
        raise LookupError
    return array
