"""Operations on small arrays in host memory, which NumPy computes at once.

Each method returns None, and has changed nothing, if the operation is to be recorded instead: because an operand is
large, to be computed, elsewhere, or of another type, or because NumPy raised an error. The
recording raises it again.
"""

import operator
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, Final, Self

import numpy as np

from gpuarray import dtypes
from gpuarray.array import cells
from gpuarray.array.cells import AUTO, is_cpu
from gpuarray.array.memory import VALUE, of_host
from gpuarray.array.operands import WEAK, default_device, default_dtype
from gpuarray.array.selection import SelectableArray, known_items
from gpuarray.device import Device
from gpuarray.immediacy import immediacy, quiet
from gpuarray.runtime.placement import trials
from gpuarray.runtime.telemetry import counters
from gpuarray.settings import recording

_ndarray: Final = np.ndarray
#: The most multiplications of a product of matrices that is computed at once: threads gain less time than a plan takes.
MULTIPLICATIONS: Final = 1 << 23
#: How an operator of Python takes its operands.
FORWARD: Final = 0
REFLECTED: Final = 1
IN_PLACE: Final = 2
#: A product of matrices, whose result may have more elements than its operands.
PRODUCT: Final = 3


def _are_few(first: Any, second: Any) -> bool:
    """Return whether the result of an elementwise operation has no more elements than are computed at once."""
    limit = immediacy().limit
    try:
        return bool(first.size * second.size <= limit or np.broadcast(first, second).size <= limit)
    except ValueError:
        return False


def have_few_products(first: Any, second: Any) -> bool:
    """Return whether NumPy computes the product of two arrays in the time that it takes to read them.

    That is so for floating numbers if one is a vector, and for vectors and matrices of few multiplications.
    """
    has_vector = second.ndim == 1 or (first.ndim == 1 and second.ndim == 2)
    if has_vector and (first.dtype.kind in "fc" or second.dtype.kind in "fc"):
        return True
    if first.ndim > 2 or second.ndim > 2:
        return False
    return bool(first.size * (second.shape[1] if second.ndim > 1 else 1) <= MULTIPLICATIONS)


def size_of_product(first: Any, second: Any) -> int:
    """Return the number of elements of the product of two vectors or matrices."""
    return int((first.shape[0] if first.ndim > 1 else 1) * (second.shape[1] if second.ndim > 1 else 1))


class ImmediateArray(SelectableArray):
    """An array that applies functions of NumPy to its elements at once."""

    __slots__ = ()

    def _known(self) -> tuple[Any, Device] | None:
        """Return the elements and the device; None if they are many, to be computed, or elsewhere.

        Raises
        ------
        RuntimeError
            If an operator has taken the memory, as that of a temporary result.
        """
        try:
            elements = self.host()
        except AttributeError:
            raise RuntimeError(
                "an operator has taken the memory of this array, to which the program keeps no reference; but NumPy or "
                "another extension module does, as in a * b + c for arrays of objects that broadcast: give the result "
                "of the first operator a name, and use that: x = a * b; x + c"
            ) from None
        if elements is None or elements.size > immediacy().limit:
            return None
        device = self._device if self._value is elements else self._made_cell.device
        return (elements, device) if immediacy().covers(device) else None

    @classmethod
    def _at_once(cls, device: Device, compute: Callable[..., Any], *operands: Any, **keywords: Any) -> Self | None:
        """Return the result of a function of NumPy for values, on a device; None if it raises an error."""
        try:
            result = quiet.run(compute, *operands, **keywords)
        except Exception:
            return None
        counters["operations"] += 1
        if type(result) is complex:  # Python takes a float64 scalar for one of its floats
            result = np.complex128(result)
        return of_host(cls, result, device)

    def _computed(self, compute: Callable[[Any], Any]) -> Self | None:
        """Return a function of the elements."""
        known = self._known()
        return None if known is None else self._at_once(known[1], compute, known[0])

    def _reduced(self, compute: Callable[..., Any], axis: Any, **keywords: Any) -> Self | None:
        """Return a reduction of the elements, of which there is at least one."""
        known = self._known()
        if known is None or not known[0].size:
            return None
        if known[0].dtype is dtypes.float16:
            return self._at_once(known[1], _rounded_once, lambda wide: compute(wide, axis, **keywords), known[0])
        return self._at_once(known[1], compute, known[0], axis, **keywords)

    def _computed_with(self, compute: Callable[[Any, Any], Any], other: Any, way: int) -> Self | None:
        """Return a function of the elements and another operand; the array itself if they are updated in place."""
        known = self._known() or (self._seen() if way == PRODUCT else None)
        if known is None:
            return None
        elements, device = known
        operand, kind = other, type(other)
        if kind not in WEAK:
            if kind is type(self):
                known = other._known() or (other._seen() if way == PRODUCT else None)
                if known is None:
                    return None
                operand, own = known
                if own is not device:
                    if device is AUTO:
                        device = own
                    elif own is not AUTO:
                        return None
            elif kind is list or kind is tuple:
                operand = _array_of(other, device) if type(elements) is _ndarray and elements.ndim else None
                if operand is None:
                    return None
            elif not _is_operand(other, kind):
                return None
            if way != PRODUCT:
                if not _are_few(elements, operand):
                    return None
            elif not have_few_products(elements, operand):
                return None
            elif elements.dtype is operand.dtype is dtypes.float16:
                return self._at_once(device, _rounded_once, operator.matmul, elements, operand)
            elif elements.size + operand.size > immediacy().limit:
                return self._product(elements, operand, device)
        if way == IN_PLACE and type(elements) is _ndarray:
            return self._updated(compute, operand, device)
        operands = (operand, elements) if way == REFLECTED else (elements, operand)
        return self._at_once(device, compute, *operands)

    def _seen(self) -> tuple[Any, Device] | None:
        """Return the elements and the device, however many they are, if the array has seen them in host memory."""
        if self._value is not None or self._large is not self._made_cell.memory:
            return None
        device = self._made_cell.device
        is_there = is_cpu(device) or (device is AUTO and not recording.midsize)
        return (self._host, device) if is_there else None

    def _product(self, first: Any, second: Any, device: Device) -> Self | None:
        """Return the product of many elements with a vector, which reads each of them once, if its result is small."""
        if max(first.ndim, second.ndim) > 2 or size_of_product(first, second) > immediacy().limit:
            return None
        begin = perf_counter_ns()
        result = self._at_once(device, operator.matmul, first, second)
        if not is_cpu(device):
            trials.note_read(first.nbytes + second.nbytes, perf_counter_ns() - begin)
        return result

    def _updated(self, compute: Callable[[Any, Any], Any], operand: Any, device: Device) -> Self | None:
        """Return the array with updated elements, or a value in place of a value.

        None says that another thread got the memory meanwhile, or that NumPy would raise an error when it has updated
        some of the elements.
        """
        if self._value is None and not self.claimed():
            return None
        elements = self.host()
        if (
            compute is operator.ipow
            and elements.dtype.kind in "iu"
            and type(operand) is _ndarray
            and (operand < 0).any()
        ):
            return None
        result = self
        try:
            with cells.binding:  # no thread may make a graph of the memory, or write to it, meanwhile
                if elements is self._value:
                    quiet.run(compute, elements, operand)
                    self._device = device
                elif self._made_access is VALUE:
                    result = of_host(type(self), quiet.run(compute, elements[()], operand), device)
                else:
                    cell = self._made_cell
                    if self._host is not elements or self._memory is not cell.memory or cell.own is None:
                        return None
                    quiet.run(compute, elements, operand)
                    cell.device = device
        except Exception:
            return None
        counters["operations"] += 1
        return result

    @classmethod
    def _applied(cls, ufunc: Any, operands: tuple[Any, ...]) -> Self | None:
        """Return a ufunc of one or two operands: arrays and scalars."""
        if ufunc.nout != 1 or len(operands) > 2:
            return None
        first = operands[0]
        if len(operands) == 1:
            return first._computed(ufunc) if type(first) is cls else cls._number(ufunc, operands)
        second = operands[1]
        if type(first) is cls:
            return first._computed_with(ufunc, second, FORWARD)
        if type(second) is cls:
            return second._computed_with(ufunc, first, REFLECTED)
        return cls._number(ufunc, operands)

    @classmethod
    def _number(cls, ufunc: Any, operands: tuple[Any, ...]) -> Self | None:
        """Return a ufunc of numbers of Python and NumPy."""
        device = default_device()
        are_numbers = all(type(value) in WEAK or _is_operand(value, type(value)) for value in operands)
        if not are_numbers or not immediacy().covers(device) or default_dtype(float).itemsize < 8:
            return None
        result = cls._at_once(device, ufunc, *operands)
        return None if result is None or result._value.dtype is dtypes.float16 else result


def _rounded_once(compute: Callable[..., Any], *operands: Any) -> Any:
    """Return a function of float16 values, computed in float32."""
    result = compute(*[operand.astype(np.float32) for operand in operands])
    return result.astype(np.float16) if result.dtype == np.float32 else result


def _array_of(values: Any, device: Device) -> Any:
    """Return nested sequences of numbers and known values as an array of NumPy; None if they are none, or many."""
    try:
        array = np.asarray(known_items(values, device))
    except (LookupError, TypeError, ValueError, OverflowError):  # the error is that of a recording
        return None
    return array if _is_operand(array, _ndarray) else None


def _is_operand(value: Any, kind: type) -> bool:
    """Return whether a value is a small array of NumPy, or a scalar, with a dtype of this package."""
    if kind is _ndarray:
        return value.size <= immediacy().limit and dtypes.is_supported(value.dtype)
    return isinstance(value, np.generic) and dtypes.is_supported(value.dtype)
