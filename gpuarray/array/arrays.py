"""The class `GpuArray`, with the protocols of Python, NumPy and DLPack."""

import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from types import GenericAlias
from typing import Any, ClassVar, Final, NoReturn

import numpy as np
import numpy.typing as npt

from gpuarray import client_registration, dispatch, dtypes
from gpuarray.array import cells, compiled, printing, temporaries
from gpuarray.array.absent import ABSENT, Absent, AbsentName
from gpuarray.array.cells import Cell
from gpuarray.array.conversions import ConvertibleArray
from gpuarray.array.memory import NOTHING, VALUE, WRITEABLE, of_host
from gpuarray.array.operands import DEVICES, placed_node
from gpuarray.array.storage import check_order
from gpuarray.config import config, using
from gpuarray.device import Device
from gpuarray.graph import build, standard, tape, tracing
from gpuarray.graph.nodes import Node
from gpuarray.immediacy import Immediacy, immediacy, limit_variable, quiet
from gpuarray.references import is_temporary, owner_count
from gpuarray.runtime import evaluate, telemetry
from gpuarray.runtime.history import hide_frames
from gpuarray.source_locations import frame_at, warn

#: Names that only this package uses, which completion does not offer.
_INTERNAL: Final = frozenset((
    "assign", "axes_in_order", "bind_device", "broadcast", "check_writeable", "claimed", "combine_at", "combined",
    "compute_on_host", "elements_of", "has_memory", "host", "is_away", "is_computed", "load_at", "matvec", "node",
    "parts", "positions", "regrouped", "rmatmat", "rmatvec", "settled", "shows_all", "store", "store_at", "stored",
    "traits", "unit", "view_of", "whole_host",
))  # fmt: skip


#: Packages that need Python's numbers when they iterate: the hash tables of pandas find no other NaN than Python's,
#: and the results of statistics are made of the class of the elements.
_NEED_NUMBERS: Final = frozenset(("pandas", "statistics"))


def _caller_package() -> str:
    """Return the name of the package, or of the module of Python, that calls the caller of this function."""
    return str(frame_at(2).f_globals.get("__name__", "")).partition(".")[0]


class _AboveFrames:
    """A rank above frames (4000) and columns (1000) of pandas. Series and indices convert arrays themselves."""

    def __gt__(self, other: Any) -> bool:
        if other not in (4000, 1000):
            return False
        if frame_at(2).f_code.co_name == "_inplace_method":  # which needs a result from the operator of pandas
            raise TypeError(
                "pandas does not update frames in place with this array; write frame = frame * x instead of "
                "frame *= x, or convert the array with gpuarray.asnumpy(x)"
            )
        return True


class GpuArray(ConvertibleArray):
    """An n-dimensional array whose operations are recorded, fused, and run on a device.

    Functions of the namespace (``asarray``, ``zeros``, ``arange``, ...) create arrays; ``GpuArray(shape, dtype)`` is
    the same as ``empty``. The class implements NumPy's protocols and the array object of the array API standard. Views
    share memory as in NumPy: basic indexing, ``reshape`` where strides allow, ``transpose``, ``.T``, ``.real`` and
    ``.imag``.

    See Also
    --------
    gpuarray.asarray : Create an array from a NumPy array, a list or a scalar.
    gpuarray.asnumpy : Copy an array to the host.
    """

    __slots__ = ()
    __array_priority__: ClassVar[float] = 1000.0
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)
    #: By this mark pandas knows arrays that ``to_numpy`` makes NumPy's. Masks of others do not select rows.
    _typ: ClassVar[str] = "npy_extension"

    def __new__(
        cls,
        shape: Any,
        dtype: npt.DTypeLike = float,
        buffer: Any = None,
        offset: int = 0,
        strides: Any = None,
        order: str | None = None,
    ) -> "GpuArray":
        """Return a new array, as ``numpy.ndarray(shape, dtype)`` does."""
        if buffer is not None or offset or strides is not None:
            raise TypeError("a GpuArray has memory of its own; use gpuarray.frombuffer, or as_strided for strides")
        check_order(order, "CF")
        if isinstance(shape, float | Fraction | Decimal):  # statistics.mean makes a result of the class of its data
            raise TypeError(
                f"GpuArray({shape!r}): a shape is an integer or a tuple of integers. For an array of a value use "
                "gpuarray.asarray; instead of statistics.mean(x) use x.mean() or statistics.mean(x.tolist())"
            )
        return dispatch.METHODS["empty"](shape, dtype, order or "C")

    @property
    def __pandas_priority__(self) -> _AboveFrames | None:
        """The priority by which pandas leaves an operator to this class. Lines are converted."""
        return None if len(self._shape) == 1 else _AboveFrames()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ABSENT and name not in _INTERNAL]

    # -- Python's protocols -------------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        if self._shape or self._access != VALUE:
            raise TypeError(
                "unhashable type: 'GpuArray'; a result or an element without axes has a hash, that of its value. Use "
                "x.item(), x.tolist() or x.tobytes(); with frames of pandas gpuarray.asnumpy(x)"
            )
        telemetry.transfer("hash", self._dtype.itemsize, self._cell.device)
        value = self.item()
        if value == value:
            return hash(value)
        if _caller_package() in _NEED_NUMBERS:
            warn("pandas finds no NaN that is an array without axes: convert it by x.item()", RuntimeWarning)
        return object.__hash__(self)  # a NaN is equal to nothing but is itself

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        if _caller_package() in _NEED_NUMBERS:
            host = self.__array__()
            return iter(host.tolist() if host.ndim == 1 else host)
        if immediacy().limit and self.host() is not None:
            return map(self.__getitem__, range(self._shape[0]))
        is_read = not (tape.state.tapes and tape.is_followed(self._cell.node))
        if len(self._shape) == 1 and is_read and tracing.mode().is_known(self._cell.node):
            # elements of 1-d arrays are values, as in NumPy: one transfer reads all of them
            elements = evaluate.read(self.settled(), self._cell.device)
            if immediacy().limit and immediacy().covers(self._cell.device):
                return (of_host(GpuArray, element, self._cell.device) for element in elements)
            return (self._wrap(build.full((), element, self._dtype), self._cell.device) for element in elements)
        self[:0].settled()
        return map(self.__getitem__, range(self._shape[0]))

    def __contains__(self, value: Any) -> bool:
        telemetry.transfer("in", 1, self._cell.device)
        return bool((self == value).any())

    def __delitem__(self, key: Any) -> NoReturn:
        raise ValueError("cannot delete array elements; np.delete returns an array without them")

    def __repr__(self) -> str:
        return printing.representation(self)

    def __str__(self) -> str:
        return printing.text(self)

    def __format__(self, specification: str) -> str:
        if not self._shape:
            return format(self.item(), specification)
        if specification:
            raise TypeError("unsupported format string passed to GpuArray.__format__; only 0-d arrays take one")
        return str(self)

    def _repr_html_(self) -> str:
        return printing.html(self)

    def __copy__(self) -> "GpuArray":
        return self.copy("K")

    def __deepcopy__(self, memo: dict[int, Any]) -> "GpuArray":
        return self.copy("K")

    def __reduce__(self) -> tuple[Any, ...]:
        device = self._cell.device.name
        is_default = device == Device(config.current.device).name
        return _restore, (self.get(), "" if is_default else device, self._access)

    # -- NumPy's and the standard's protocols -------------------------------------------------------------------------

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(
                "a GpuArray cannot be converted to a NumPy array without a copy, because it is in device memory; use "
                "np.asarray(x) or gpuarray.asnumpy(x)"
            )
        if (device := self.device) is not cells.CPU:
            telemetry.transfer("numpy.asarray", self.nbytes, device)
        host = self._given_up() if copy is None and is_temporary(owner_count((self,), 0)) else None
        if host is None:
            host = self.get()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        known = None if keywords or method != "__call__" else dispatch.UFUNC_OPS.get(ufunc)
        if known is not None and immediacy().limit and (result := self._applied(ufunc, inputs)) is not None:
            return result
        if standard.is_on():
            with using(strict_array_api=False):  # NumPy's functions have NumPy's meaning
                return self.__array_ufunc__(ufunc, method, *inputs, **keywords)
        if known is not None and len(known) == 1 and (result := apply(known[0], *inputs)) is not NotImplemented:
            return result
        return dispatch.METHODS["__array_ufunc__"](ufunc, method, inputs, keywords)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return dispatch.METHODS["__array_function__"](self, func, types, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the namespace of the Python Array API standard, the package ``gpuarray``."""
        return dispatch.METHODS["__array_namespace__"](api_version)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export host memory through DLPack, as a copy unless ``copy=False``."""
        return dispatch.METHODS["__dlpack__"](
            self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dask_tokenize__(self) -> Any:
        """Return the token from which dask makes names; dask must be imported."""
        client_registration.register("dask.array")
        return import_module("gpuarray.interop.dask").token(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device, the host: (1, 0)."""
        return (1, 0)


for _name, _reason in ABSENT.items():
    if _reason:
        setattr(GpuArray, _name, (AbsentName if _name == "name" else Absent)(_name, _reason))
compiled.install(
    *(GpuArray, Cell, Immediacy, cells, limit_variable, quiet),
    *(cells.AUTO, cells.CPU, NOTHING, cells.UNMADE, dispatch.UFUNC_OPS, dispatch.FUNCTIONS, tuple(dtypes.ALL)),
    *(temporaries.taken, temporaries.LEFT, temporaries.RIGHT, hide_frames, client_registration, DEVICES),
)

#: ``wrap(node, device, layout=None)``: an array with storage of its own and the value ``node``; 0-d ones are values.
wrap: Final = GpuArray._wrap
#: ``apply(op, *values)``: an elementwise operation over arrays and scalars; NotImplemented for unknown types.
apply: Callable[..., Any] = compiled.apply or GpuArray._apply


def make(node: Node, device: Device) -> GpuArray:
    """Return a new writeable array with the value ``node``, for creation functions."""
    if len(sys.modules) != client_registration.checked_modules:
        client_registration.register_imported()
    array = wrap(node, device)
    array._access = WRITEABLE
    return array


def made_of(host: npt.NDArray[Any], device: Device) -> GpuArray:
    """Return a new writeable array of a small C-contiguous NumPy array that nothing else refers to."""
    if len(sys.modules) != client_registration.checked_modules:
        client_registration.register_imported()
    return of_host(GpuArray, host, device)


def are_known(device: str | None) -> bool:
    """Return whether functions that make arrays knew the default device and all clients, as they do now."""
    if len(sys.modules) == client_registration.checked_modules and (device is None or device in DEVICES):
        return True
    client_registration.register_imported()
    if device is not None:
        DEVICES[device] = Device(device)
    return False


def from_host(array: npt.NDArray[Any], device: Device) -> GpuArray:
    """Return a new writeable array with a copy of the elements of a NumPy array.

    Raises
    ------
    TypeError
        If the dtype is not supported.
    """
    return make(placed_node(array, device), device)


def _restore(host: npt.NDArray[Any], device: str, access: int) -> GpuArray:
    """Return the array of a pickle, on the device of its name; without a name it is that of new arrays here."""
    array = wrap(build.host_node(host), Device(device or config.current.device))
    array._access = access
    return array
