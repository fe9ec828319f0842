"""Calls of NumPy's functions with small arrays in host memory, which compute at once.

An implementation of the package has the signature and the results of a function of NumPy. Where all arrays of a call
are small and in host memory, NumPy's function itself is called with their memory, and its result becomes an array.
The tables say which functions may be called so. A function that is not in them, an error and whatever else this module
does not know lead to the implementation, so that errors and warnings are always the same.
"""

import sys
from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any, Final, TypeVar, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import AUTO, GpuArray, joint_device
from gpuarray.functions.arguments import NOT_GIVEN
from gpuarray.immediacy import immediacy, quiet
from gpuarray.runtime import telemetry

_F = TypeVar("_F", bound=Callable[..., Any])

#: Functions whose results are views of their arguments where strides allow.
_VIEWS: Final = "views"
#: Functions that write to their first argument.
_IN_PLACE: Final = "in place"
#: Functions whose results may have as many elements as the product of the sizes of their arguments.
_PRODUCTS: Final = "products"
#: Functions whose results have no more elements than all arguments together, whatever shapes these have.
_SUMS: Final = "sums"
#: Other functions, whose results have the shape to which the arguments broadcast, or fewer elements.
_ELEMENTS: Final = "elements"

_NAMES: Final = {
    _VIEWS: "array_split atleast_1d atleast_2d atleast_3d broadcast_to diagonal dsplit einsum expand_dims flip "
    "fliplr flipud hsplit linalg.diagonal linalg.matrix_transpose matrix_transpose moveaxis ravel reshape rollaxis "
    "rot90 split squeeze swapaxes transpose vsplit",
    _IN_PLACE: "copyto fill_diagonal place put put_along_axis putmask",
    _PRODUCTS: "convolve correlate inner kron linalg.outer linalg.tensordot outer tensordot",
    _SUMS: "append bincount column_stack compress concatenate delete diff digitize dstack extract hstack insert interp "
    "isin searchsorted stack take take_along_axis union1d vstack",
    _ELEMENTS: "all amax amin angle any argmax argmin argsort argwhere around astype average choose clip "
    "count_nonzero cumprod cumsum cumulative_prod cumulative_sum diagflat dot ediff1d empty_like fft.fft fft.fft2 "
    "fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfft2 "
    "fft.irfftn fft.rfft fft.rfft2 fft.rfftn fix flatnonzero gradient isclose isneginf isposinf linalg.cholesky "
    "linalg.det linalg.eigvals linalg.eigvalsh linalg.inv linalg.matmul linalg.eigh linalg.matrix_power "
    "linalg.matrix_rank linalg.multi_dot linalg.norm linalg.pinv linalg.slogdet linalg.solve linalg.vecdot matmul "
    "max mean median min nan_to_num nanprod nansum nonzero ones_like percentile prod ptp quantile roll round select "
    "sinc sort std sum trace trapezoid tril triu unique unwrap var vdot vecdot where zeros_like",
}
_KIND_OF: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}
#: The most elements of a result of one of the products.
_MOST: Final = 1 << 20

#: What a call returns that is not computed at once.
NOT_COMPUTED: Final = object()
#: Types of arguments that NumPy takes as they are.
_PLAIN: Final = frozenset((bool, int, float, complex, str, type(None), type, slice, type(NOT_GIVEN), type(Ellipsis)))
_ndarray: Final = np.ndarray


def at_once(function: _F, name: str) -> _F:
    """Return the implementation of a function of NumPy with calls that are computed at once, if that is allowed.

    Parameters
    ----------
    function : callable
        The implementation.
    name : str
        NumPy's name of the function, below ``numpy.``.
    """
    if hasattr(function, "computes_at_once"):
        return function
    kind = _KIND_OF.get(name)
    numpys = _QUICKER.get(name) or _find(name)
    if kind is None or numpys is None:
        return function

    returned = getattr(function, "__annotations__", {}).get("return")
    group: Any = returned if hasattr(returned, "_fields") else tuple

    @wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        if immediacy.limit:
            found = _computed(numpys, kind, arguments, keywords)
            if found is not NOT_COMPUTED:
                return found if group is tuple else group(*found)
        return function(*arguments, **keywords)

    cast(Any, run).computes_at_once = True
    unchecked = getattr(function, "unchecked", None)
    if unchecked is not None:
        cast(Any, run).unchecked = at_once(unchecked, name)
    return cast(_F, run)


def _find(name: str) -> Any:
    value: Any = np
    for attribute in name.split("."):
        value = getattr(value, attribute, None)
    return value


def _computed(numpys: Any, kind: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the result of a function of NumPy as an array; NOT_COMPUTED if the call is to be recorded."""
    call = _Call()
    add = call.add
    try:
        given = [value if type(value) in _PLAIN else add(value) for value in arguments]
        named = {key: value if type(value) in _PLAIN else add(value) for key, value in keywords.items()}
        if not call.owners or not call.are_few(kind):
            return NOT_COMPUTED
        found = quiet.run(numpys, *given, **named)
        if kind is _IN_PLACE:
            return None if call.has_written() else NOT_COMPUTED
        wrapped = keywords.get("out")
        if wrapped is None or type(wrapped) is tuple:
            wrapped = call.wrapped(found, kind is _VIEWS)
        elif type(wrapped) is GpuArray and wrapped._memory is not wrapped._cell.memory:
            return NOT_COMPUTED
    except Exception:  # the error is that of the implementation
        return NOT_COMPUTED
    telemetry.counters["operations"] += 1
    return wrapped


def _broadcast_size(arrays: list[Any]) -> int:
    """Return the number of elements of the shape to which arrays broadcast; the largest number if they do not."""
    try:
        return int(np.broadcast(*arrays).size)
    except ValueError:
        return sys.maxsize


class _Call:
    """The arguments of a call: the arrays, and what NumPy gets instead."""

    __slots__ = ("device", "hosts", "owners", "raw")

    def __init__(self) -> None:
        self.owners: list[GpuArray] = []
        self.hosts: list[Any] = []
        self.raw: list[Any] = []
        self.device: Any = None

    def add(self, value: Any) -> Any:
        """Return what NumPy gets instead of an argument.

        Raises
        ------
        LookupError
            If the call has to be recorded.
        """
        kind = type(value)
        if kind is GpuArray:
            cell = value._cell
            host = value._host if value._memory is cell.memory else value.host()
            if host is None or not host.size or host.dtype is dtypes.float16:
                raise LookupError
            device = cell.device
            if self.device is None or self.device is AUTO:
                self.device = device
            elif device is not self.device:
                self.device = joint_device(self.device, device)
            self.owners.append(value)
            self.hosts.append(host)
            return host
        if kind is tuple or kind is list:
            return kind([item if type(item) in _PLAIN else self.add(item) for item in value])
        if kind is _ndarray:
            if not value.size or value.size > immediacy.limit or not dtypes.is_supported(value.dtype):
                raise LookupError
            self.raw.append(value)
            return value
        if isinstance(value, np.generic | np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return value
        raise LookupError

    def are_few(self, kind: str) -> bool:
        """Return whether the result has a bounded number of elements, as far as sizes tell."""
        arrays = self.hosts + self.raw
        if len(arrays) == 1 or kind is _SUMS or kind is _VIEWS:
            return True
        first: Any = arrays[0].shape
        if kind is not _PRODUCTS and all(array.shape == first for array in arrays):
            return True
        if kind is _ELEMENTS and _broadcast_size(arrays) <= immediacy.limit:
            return True
        most: int = prod([array.size for array in arrays])
        return most <= _MOST

    def has_written(self) -> bool:
        """Return whether NumPy has written to the memory of the first array, which is still that of its cell."""
        array = self.owners[0]
        is_current: bool = array._memory is array._cell.memory and array._host is self.hosts[0]
        return is_current

    def wrapped(self, found: Any, is_view: bool) -> Any:
        """Return what NumPy returned with arrays of this package.

        Raises
        ------
        LookupError
            If it is of another type.
        """
        kind = type(found)
        if kind is _ndarray:
            base = found.base
            for owner, host in zip(self.owners, self.hosts, strict=True):
                if found is host:
                    if owner._memory is not owner._cell.memory:
                        raise LookupError
                    return owner
                if base is not None and is_view:
                    if owner._memory is not owner._cell.memory or owner._part is not None:
                        raise LookupError  # NumPy's view is not one of the cell's memory
                    if base is owner._memory and found.dtype is owner._dtype:
                        return owner._see_host(found)
            if any(found is raw for raw in self.raw) and not is_view:
                return found  # it was given as ``out``
            if base is not None or is_view:
                found = found.copy()
            dtype = dtypes.canonical(found.dtype)
            return GpuArray._of_host(found if found.dtype is dtype else found.astype(dtype), self.device)
        if isinstance(found, np.generic):
            return GpuArray._of_host(found, self.device)
        if isinstance(found, tuple) and hasattr(found, "_fields"):
            kind = tuple
        if kind is tuple or kind is list:
            return kind([self.wrapped(item, is_view) for item in found])
        raise LookupError


# -- quicker and stable forms ------------------------------------------------------------------------------------------


def _fold(ufunc: np.ufunc) -> Callable[..., Any]:
    reduce: Any = ufunc.reduce

    def fold(
        x: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        if (initial is None or initial is NOT_GIVEN) and where is True:
            return reduce(x, axis, dtype, out, keepdims is True)
        return reduce(x, axis, dtype, out, keepdims is True, initial, where)

    return fold


def _extreme(ufunc: np.ufunc) -> Callable[..., Any]:
    fold = _fold(ufunc)

    def extreme(
        x: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        return fold(x, axis, None, out, keepdims, initial, where)

    return extreme


def _fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a new array where NumPy's returns its argument."""

    def fresh(x: Any, *arguments: Any, **keywords: Any) -> Any:
        found = function(x, *arguments, **keywords)
        return found.copy() if found is x else found

    return fresh


def _without_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a Fourier transform along several axes, without the parameters ``norm`` and ``out``."""
    usual = (-2, -1) if function.__name__.endswith("2") else None

    def transform(a: Any, s: Any = None, axes: Any = usual) -> Any:
        return function(a, s, axes)

    return transform


def _sort(x: Any, axis: Any = -1, *, descending: bool = False, stable: Any = True) -> Any:
    if descending:
        raise LookupError
    return np.sort(x, axis, kind="stable")


def _argsort(x: Any, axis: Any = -1, *, descending: bool = False, stable: Any = True) -> Any:
    if descending:
        raise LookupError
    return np.argsort(x, axis, kind="stable")


#: What is called instead of NumPy's function of a name.
_QUICKER: Final[dict[str, Callable[..., Any]]] = {
    "sum": _fold(np.add),
    "prod": _fold(np.multiply),
    "max": _extreme(np.maximum),
    "min": _extreme(np.minimum),
    "amax": _extreme(np.maximum),
    "amin": _extreme(np.minimum),
    "einsum": lambda subscripts, *operands: np.einsum(subscripts, *operands),
    **{
        f"fft.{name}": _without_out(getattr(np.fft, name))  # which NumPy does not always write to
        for name in ("fft2", "fftn", "ifft2", "ifftn", "irfft2", "irfftn", "rfft2", "rfftn")
    },
    "diff": _fresh(np.diff),
    "linalg.matrix_power": _fresh(np.linalg.matrix_power),
    "sort": _sort,
    "argsort": _argsort,
}
