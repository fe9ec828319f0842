"""Conversions of arrays: to other dtypes and devices, to NumPy's arrays, bytes, files and Python's numbers."""

import os
import pickle
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import compiled
from gpuarray.array.cells import AUTO, CPU
from gpuarray.array.memory import READ_ONLY, VALUE, WRITEABLE, of_host
from gpuarray.array.methods import MethodsArray
from gpuarray.array.operands import cast
from gpuarray.array.storage import check_order
from gpuarray.device import Device
from gpuarray.graph.nodes import Leaf
from gpuarray.immediacy import immediacy, quiet
from gpuarray.providers import registry
from gpuarray.references import owner_count
from gpuarray.runtime import evaluate, host_memory, statuses, telemetry
from gpuarray.runtime.history import OF_VALUES, hide_frames, without_frames

#: NumPy's scalars that Python converts to float and int.
_REAL: Final = (np.floating, np.integer, np.bool_)


class ConvertibleArray(MethodsArray):
    """An array that can be converted to values of other types."""

    __slots__ = ()

    def astype(
        self, dtype: npt.DTypeLike, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Self:
        """Return the elements converted to ``dtype``; the array itself if ``copy=False`` and the dtype is the same.

        Parameters
        ----------
        dtype : dtype
            A supported dtype: its name, scalar type or dtype object.
        order : {"C", "F", "A", "K"}
            The order of memory of the result.
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
        order = check_order(order, "CFAK")
        target = dtypes.canonical(dtype)
        source = self.dtype
        if casting != "unsafe" and not np.can_cast(source, target, casting):
            raise TypeError(f"Cannot cast array data from {source!r} to {target!r} according to the rule {casting!r}")
        if target == source and not copy:
            return self
        if immediacy().limit and (source.kind != "c" or target.kind in "bc"):
            result = compiled.call(np.ndarray.astype, (self, target, order), {}, inf, 0, False)
            if result is not None:
                return result
            host = self.host()
            if host is not None:
                converted = quiet.run(host.astype, target, order)
                return of_host(type(self), converted if converted.flags.owndata else converted.copy(order), self.device)
        return self._fresh(cast(self.node(), target), self.axes_in_order(order))

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
            return np.array(host, order="K")
        try:
            if self.shows_all():
                return evaluate.strided(evaluate.read(self._cell.node, self._cell.device), self._storage_layout())
            return evaluate.read(self.settled(), self._cell.device)
        except OF_VALUES as error:
            hide_frames(error)
            raise

    @without_frames
    def _given_up(self) -> npt.NDArray[Any] | None:
        """Return the elements in memory of which only this array knows, on the host; None if others may know of it.

        It is for temporary results, as the array and its caller share the memory from then on.
        """
        if not immediacy().limit:
            return None
        value = self._value
        if value is not None:
            is_own = type(value) is np.ndarray and value.flags.owndata and value.flags.writeable
            return value if is_own and owner_count((value,), 0) == 3 else None  # the array, ``value`` and the tuple
        cell = self._made_cell
        is_whole = self._layout is None and self._part is None and bool(self._access)
        if not is_whole or cell.device not in (AUTO, CPU) or owner_count((cell,), 0) != 3:
            return None
        evaluate.evaluate((cell.node,), cell.device, is_read=True)
        statuses.check()
        if not cell.claim() or type(cell.memory) is not np.ndarray:
            return None
        exported = host_memory.exported(cell.own) if isinstance(cell.own, Leaf) else None
        return cell.memory if exported is None else exported

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
        self[...] = value

    def view(self, dtype: npt.DTypeLike | None = None, type: Any = None) -> Self:
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
        kind = self.__class__
        if dtype is kind:
            dtype, type = None, kind
        if type not in (None, kind):
            raise TypeError(f"type={type!r} is not supported; a GpuArray can only be viewed as a GpuArray")
        access = READ_ONLY if self._access == READ_ONLY else WRITEABLE
        target = self._dtype if dtype is None else dtypes.canonical(dtype)
        if target == self._dtype:
            return self._see(self._layout, self._shape, target, self._part, access)
        regrouped = self.regrouped(target)
        if regrouped is not None:
            return regrouped
        stored = self._cell.node.dtype
        if target.itemsize != self._dtype.itemsize or "c" in stored.kind + target.kind:
            raise TypeError(
                f"an array of {self._dtype.name} in storage of {stored.name} cannot be viewed as {target.name}; "
                "views are possible between real dtypes of one size, and between complex numbers and their parts along "
                "a last axis without gaps; convert values with astype, or bytes with np.asarray(x).view(dtype)"
            )
        return self._see(self._layout, self._shape, target, None if target == stored else "bits", access)

    def to_device(self, device: Device | str, /, *, stream: None = None) -> Self:
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
        target = Device(device)
        if target is self._cell.device:
            return self
        registry.open_device(target)  # so that an unknown device is an error now
        moved = self._wrap(evaluate.transfer(self.settled(), self._cell.device, target), target)
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
        value = self._value
        if isinstance(value, np.number) and immediacy().limit:
            return complex(value)
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


def is_integer(value: Any) -> bool:
    """Return whether a Python number is an integer."""
    return bool(value.is_integer()) if isinstance(value, float) else True


def as_integer_ratio(value: Any) -> tuple[int, int]:
    """Return a Python number as a ratio of integers."""
    return value.as_integer_ratio()
