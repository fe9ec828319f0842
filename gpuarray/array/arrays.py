"""The class `GpuArray`, with its conversions and the protocols of Python, NumPy and DLPack."""

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from math import inf
from pathlib import Path
from types import GenericAlias
from typing import Any, ClassVar, Final, NoReturn

import numpy as np
import numpy.typing as npt

from gpuarray import client_registration, dispatch, dtypes
from gpuarray.array import cells, compiled, printing, temporaries
from gpuarray.array.absent import ABSENT, Absent
from gpuarray.array.cells import Cell
from gpuarray.array.memory import NOTHING, READ_ONLY, VALUE, WRITEABLE, of_host
from gpuarray.array.methods import MethodsArray
from gpuarray.array.operands import cast, default_device, placed_node
from gpuarray.array.storage import check_order
from gpuarray.config import config, using
from gpuarray.device import Device
from gpuarray.graph import build, standard, tape
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.immediacy import Immediacy, held, immediacy, quiet
from gpuarray.runtime import evaluate, telemetry
from gpuarray.runtime.history import OF_VALUES, hide_frames, without_frames
from gpuarray.source_locations import frame_at

#: Names that only this package uses, which completion does not offer.
_INTERNAL: Final = frozenset((
    "assign", "bind_device", "broadcast", "check_writeable", "claimed", "combine_at", "combined", "has_memory",
    "host", "load_at", "node", "parts", "positions", "regrouped", "seen", "settled", "store", "store_at", "stored",
    "is_computed", "traits", "unit", "view_of", "whole_host",
))  # fmt: skip


#: NumPy's scalars that Python converts to float and int.
_REAL: Final = (np.floating, np.integer, np.bool_)


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


class GpuArray(MethodsArray):
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
        return dispatch.METHODS["empty"](shape, dtype)

    @property
    def __pandas_priority__(self) -> _AboveFrames | None:
        """The priority by which pandas leaves an operator to this class. Lines are converted."""
        return None if len(self._shape) == 1 else _AboveFrames()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ABSENT and name not in _INTERNAL]

    # -- conversion ---------------------------------------------------------------------------------------------------

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(
                "a GpuArray cannot be converted to a NumPy array without a copy, because it is in device memory; use "
                "np.asarray(x) or gpuarray.asnumpy(x)"
            )
        telemetry.transfer("numpy.asarray", self.nbytes, self.device)
        host = self.get()
        return host if dtype is None else host.astype(dtype, copy=False)

    def astype(
        self, dtype: npt.DTypeLike, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> "GpuArray":
        """Return the elements converted to ``dtype``; the array itself if ``copy=False`` and the dtype is the same.

        Parameters
        ----------
        dtype : dtype
            A supported dtype: its name, scalar type or dtype object.
        order : str
            Accepted for compatibility with NumPy; results are in C order.
        casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
            Which conversions are allowed.
        subok : bool
            Accepted for compatibility with NumPy.
        copy : bool
            Whether to return a new array even if the dtype is the same.

        Raises
        ------
        TypeError
            If ``casting`` forbids the conversion, or the dtype is not supported.
        """
        check_order(order, "CFAK")
        wanted = dtypes.canonical(dtype)
        source = self.dtype
        if casting != "unsafe" and not np.can_cast(source, wanted, casting):
            raise TypeError(f"Cannot cast array data from {source!r} to {wanted!r} according to the rule {casting!r}")
        if wanted == source and not copy:
            return self
        if immediacy().limit and (source.kind != "c" or wanted.kind in "bc"):
            result = compiled.call(np.ndarray.astype, (self, wanted), {}, inf, 0, False)
            if result is not None:
                return result
            host = self.host()
            if host is not None:
                converted = quiet.run(host.astype, wanted)
                return of_host(GpuArray, converted if converted.flags.owndata else converted.copy(), self.device)
        return self._fresh(cast(self.node(), wanted))

    def item(self, *position: Any) -> Any:
        """Return an element as a Python scalar. Without arguments, the array must have exactly one element."""
        if immediacy().limit and (host := self.host()) is not None:
            try:
                return host.item(*position)
            except (IndexError, TypeError, ValueError):  # the error is that of a recording
                pass
        if position:
            key = position[0] if len(position) == 1 and isinstance(position[0], tuple) else position
            if len(key) == 1 and self.ndim != 1:
                return self.reshape(-1)[key[0]].item()
            element = self.view_of(self._select(tuple(key)).layout)
            if element._shape:
                raise ValueError("incorrect number of indices for array")
            return element.item()
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        cell = self._cell
        plain = self._layout is None and self._part is None
        return evaluate.scalar(cell.node if plain else self.settled(), cell.device)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python scalars."""
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """Return the bytes of the elements, in C or Fortran order."""
        return self.get().tobytes(order)  # type: ignore[arg-type]  # NumPy checks the letter

    def tofile(self, fid: Any, /, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file, as NumPy does."""
        self.get().tofile(fid, sep, format)

    def dumps(self) -> bytes:
        """Return the pickle of the array as bytes."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Write the pickle of the array to a file, which is a path or a file object."""
        if isinstance(file, str | bytes | os.PathLike):
            Path(os.fsdecode(file)).write_bytes(self.dumps())
        else:
            pickle.dump(self, file)

    def get(self) -> npt.NDArray[Any]:
        """Return the elements as a NumPy array, like :func:`gpuarray.asnumpy`."""
        if immediacy().limit and (host := self.host()) is not None:
            return np.array(host, order="C")
        try:
            return evaluate.read(self.settled(), self._cell.device)
        except OF_VALUES as error:
            hide_frames(error)
            raise

    def to_numpy(self, dtype: npt.DTypeLike | None = None, copy: bool = True, na_value: Any = None) -> Any:
        """Return the elements as a NumPy array, like ``numpy.asarray``; used by packages for plots and tables.

        Parameters
        ----------
        dtype : dtype, optional
            The dtype of the result.
        copy, na_value : bool, object
            Accepted for compatibility with pandas; the result is always a copy, and no element is missing.

        Returns
        -------
        numpy.ndarray or numpy.generic
            A NumPy scalar if the array is a result without axes.
        """
        telemetry.transfer("GpuArray.to_numpy", self.nbytes, self._cell.device)
        host = self.get() if dtype is None else self.get().astype(dtype)
        return host[()] if self._access == VALUE else host

    def fill(self, value: Any, /) -> None:
        """Set all elements to a scalar.

        Raises
        ------
        ValueError
            If the value is not a scalar.
        """
        if np.ndim(value):
            raise ValueError("setting an array element with a sequence; assign arrays with x[...] = value")
        self.assign(value)

    def view(self, dtype: npt.DTypeLike | None = None, type: Any = None) -> "GpuArray":
        """Return a view of the same memory, with another dtype if one is given.

        Parameters
        ----------
        dtype : dtype, optional
            A real dtype of the same size, which reinterprets the bits of real elements; or the dtype of the parts of
            complex elements, which become neighbours along the last axis; or the reverse.
        type : type, optional
            Accepted for compatibility with NumPy; only GpuArray is valid.

        Raises
        ------
        TypeError
            If the dtypes differ in another way, or the last axis is not contiguous.
        """
        if dtype is GpuArray:
            dtype, type = None, GpuArray
        if type not in (None, GpuArray):
            raise TypeError(f"type={type!r} is not supported; a GpuArray can only be viewed as a GpuArray")
        access = READ_ONLY if self._access == READ_ONLY else WRITEABLE
        wanted = self._dtype if dtype is None else dtypes.canonical(dtype)
        if wanted == self._dtype:
            return self._see(self._layout, self._shape, wanted, self._part, access)
        regrouped = self.regrouped(wanted)
        if regrouped is not None:
            return regrouped
        stored = self._cell.node.dtype
        if wanted.itemsize != self._dtype.itemsize or "c" in stored.kind + wanted.kind:
            raise TypeError(
                f"an array of {self._dtype.name} in storage of {stored.name} cannot be viewed as {wanted.name}; "
                "views are possible between real dtypes of one size, and between complex numbers and their parts along "
                "a last axis without gaps; convert values with astype, or bytes with np.asarray(x).view(dtype)"
            )
        return self._see(self._layout, self._shape, wanted, None if wanted == stored else "bits", access)

    def to_device(self, device: Device | str, /, *, stream: None = None) -> "GpuArray":
        """Return a copy of the array on ``device``, or the array itself if it is on that device.

        Parameters
        ----------
        device : Device or str
            The target device.
        stream : None
            Must be None, because devices have no streams.

        Raises
        ------
        DeviceError
            If there is no such device.
        """
        if stream is not None:
            raise ValueError(f"stream={stream!r} is not supported, because devices have no streams; omit it")
        wanted = Device(device)
        if wanted is self._cell.device:
            return self
        evaluate.check_device(wanted)
        moved = wrap(evaluate.transfer(self.settled(), self._cell.device, wanted), wanted)
        moved._access = self._access
        return moved

    # -- Python's protocols -------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        value = self._value
        if value is not None and type(value) is not np.ndarray and immediacy().limit:
            return bool(value)
        if self._cell.memory is self._memory and immediacy().limit and not self._shape:
            return bool(self._host)
        if self.size != 1:
            if self.size == 0:
                raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that.")
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        telemetry.transfer("bool", self._dtype.itemsize, self._cell.device)
        return bool(self.item())

    @without_frames
    def _scalar(self, convert: Callable[[Any], Any]) -> Any:
        if self._shape:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        telemetry.transfer(convert.__name__, self._dtype.itemsize, self._cell.device, depth=4)
        value = self.item()
        if isinstance(value, complex) and convert is not complex:
            raise TypeError(f"a complex number cannot be converted to {convert.__name__}; take its real part")
        return convert(value)

    def __int__(self) -> int:
        value = self._value
        if isinstance(value, _REAL) and immediacy().limit:
            return int(value)
        if self._cell.memory is self._memory and immediacy().limit and not self._shape and self._dtype.kind in "biu":
            return int(self._host)
        return int(self._scalar(int))

    __trunc__ = __int__  # as floats have it, and so NumPy's scalars of 64 bits

    def __float__(self) -> float:
        value = self._value
        if isinstance(value, _REAL) and immediacy().limit:
            return float(value)
        if self._cell.memory is self._memory and immediacy().limit and not self._shape and self._dtype.kind != "c":
            return float(self._host)
        return float(self._scalar(float))

    def __complex__(self) -> complex:
        return complex(self._scalar(complex))

    def __index__(self) -> int:
        value = self._value
        if isinstance(value, np.integer) and immediacy().limit:
            return int(value)
        if self._cell.memory is self._memory and immediacy().limit and not self._shape and self._dtype.kind in "iu":
            return int(self._host)
        if self._shape or self._dtype.kind not in "iu":
            hint = "" if self._shape else f"; this one is of {self._dtype.name}: use float(x), int(x) or x.item()"
            raise TypeError(f"only integer scalar arrays can be converted to a scalar index{hint}")
        telemetry.transfer("index", self._dtype.itemsize, self._cell.device)
        return int(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        if self._shape:
            raise TypeError("only 0-dimensional arrays can be given to round(); use x.round(decimals)")
        return round(self.item()) if digits is None else self.round(digits)

    def is_integer(self) -> bool:
        """Return whether the number is an integer, as floats and NumPy's scalars do. The array must be 0-d."""
        return bool(self._scalar(is_integer))

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return the number as a ratio of integers, as floats and NumPy's scalars do. The array must be 0-d.

        Raises
        ------
        TypeError
            If the array has axes, or is complex.
        OverflowError, ValueError
            If the number is infinite or NaN.
        """
        return self._scalar(as_integer_ratio)

    def __hash__(self) -> int:
        if self._shape or self._access != VALUE:
            raise TypeError(
                "unhashable type: 'GpuArray'; a result or an element without axes has a hash, that of its value. Use "
                "x.item(), x.tolist() or x.tobytes(); with frames of pandas gpuarray.asnumpy(x)"
            )
        telemetry.transfer("hash", self._dtype.itemsize, self._cell.device)
        value = self.item()
        return hash(value) if value == value else object.__hash__(self)  # a NaN is equal to nothing but is itself

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator["GpuArray"]:
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        if immediacy().limit and self.host() is not None:
            return map(self.__getitem__, range(self._shape[0]))
        if len(self._shape) == 1 and not (tape.state.tapes and tape.is_followed(self._cell.node)):
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
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "GpuArray":
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        device = self._cell.device.name
        is_default = device == Device(config.current.device).name
        return _restore, (self.get(), "" if is_default else device, self._access)

    # -- NumPy's and the standard's protocols -------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        known = None if keywords or method != "__call__" else dispatch.UFUNC_OPS.get(ufunc)
        if known is not None and immediacy().limit and (result := self._applied(ufunc, inputs)) is not None:
            return result
        if standard.is_on():
            with using(strict_array_api=False):  # NumPy's functions under NumPy's names mean what they mean there
                return self.__array_ufunc__(ufunc, method, *inputs, **keywords)
        if known is not None and len(known) == 1 and (result := apply(known[0], *inputs)) is not NotImplemented:
            return result
        return dispatch.METHODS["__array_ufunc__"](ufunc, method, inputs, keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return dispatch.METHODS["__array_function__"](self, function, types, args, kwargs)

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
        """Return what dask makes names of; dask must be imported."""
        client_registration.register("dask.array")
        return import_module("gpuarray.interop.dask").token(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device, the host: (1, 0)."""
        return (1, 0)


for _name, _reason in ABSENT.items():
    if _reason:
        setattr(GpuArray, _name, Absent(_name, _reason))
compiled.install(
    *(GpuArray, Cell, Immediacy, cells, held, quiet),
    *(cells.AUTO, cells.CPU, NOTHING, cells.UNMADE, dispatch.UFUNC_OPS, tuple(dtypes.ALL)),
    *(temporaries.taken, temporaries.LEFT, temporaries.RIGHT),
)

#: ``wrap(node, device)``: an array with storage of its own and the value ``node``; 0-d ones are values.
wrap: Callable[[Node, Device], GpuArray] = GpuArray._wrap
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


def create(
    call: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], power: int
) -> GpuArray | None:
    """Return the array that a function of NumPy makes of numbers; None if it is large, or is to be made in another way.

    Parameters
    ----------
    call : callable
        The function of NumPy.
    arguments, keywords : tuple, dict
        Its arguments.
    power : int
        The array has at most as many elements as the product of the numbers to this power. If it is 0, the first
        argument is the data.
    """
    if config.current.default_float != "float64":
        return None
    if len(sys.modules) != client_registration.checked_modules:
        client_registration.register_imported()
    return compiled.create(call, arguments, keywords, default_device(), power)


def from_host(array: npt.NDArray[Any], device: Device) -> GpuArray:
    """Return a new writeable array with a copy of the elements of a NumPy array.

    Raises
    ------
    TypeError
        If the dtype is not supported.
    """
    return make(placed_node(array, device), device)


def is_integer(value: Any) -> bool:
    """Return whether a Python number is an integer."""
    return bool(value.is_integer()) if isinstance(value, float) else True


def as_integer_ratio(value: Any) -> tuple[int, int]:
    """Return a Python number as a ratio of integers."""
    return value.as_integer_ratio()


def _restore(host: npt.NDArray[Any], device: str, access: int) -> GpuArray:
    """Return the array of a pickle, on the device of its name; without a name it is that of new arrays here."""
    array = wrap(host_leaf(host), Device(device or config.current.device))
    array._access = access
    return array
