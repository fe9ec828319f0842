"""Operations on small arrays in host memory, which NumPy computes at once.

Each method returns None, and has changed nothing, if the operation is to be recorded instead: because an operand is
large, to be computed, elsewhere, or of another type, or because NumPy raised an error. The
recording raises it again.
"""

import operator
from collections.abc import Callable
from typing import Any, Final, Self

import numpy as np

from gpuarray import dtypes
from gpuarray.array import cells
from gpuarray.array.cells import AUTO
from gpuarray.array.memory import VALUE, of_host
from gpuarray.array.operands import WEAK, default_device, default_dtype
from gpuarray.array.selection import SelectableArray
from gpuarray.array.temporaries import LEFT, RIGHT, taken
from gpuarray.device import Device
from gpuarray.immediacy import immediacy, quiet
from gpuarray.runtime.telemetry import counters
from gpuarray.source_locations import frame_at

_ndarray: Final = np.ndarray
#: The most multiplications of a product of matrices that is computed at once: threads gain less time than a plan takes.
MULTIPLICATIONS: Final = 1 << 23
#: How an operator of Python takes its operands.
FORWARD: Final = 0
REFLECTED: Final = 1
IN_PLACE: Final = 2
#: A product of matrices, whose result may have more elements than its operands.
PRODUCT: Final = 3
#: The bytes from which on NumPy's operators take the memory of operands that are temporary results, and so do these.
_LARGE: Final = 1 << 18
_REAL: Final = (int, float)
_BY_NO_OPERATOR: Final = (0, 0)
#: The ufuncs of operators whose results may have the dtype of their operands.
_ARITHMETIC: Final = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
}


def _cell_of(array: Any) -> Any:
    """Return the cell of an array.

    Raises
    ------
    RuntimeError
        If an operator has taken its memory, as a temporary result.
    """
    try:
        return array._made_cell
    except AttributeError:
        raise RuntimeError(
            "an operator has taken the memory of this array, to which the program keeps no reference; but NumPy or "
            "another extension module does, as in a * b + c for arrays of objects that broadcast: give the result of "
            "the first operator a name, and use that: x = a * b; x + c"
        ) from None


def _are_few(first: Any, second: Any) -> bool:
    """Return whether the result of an elementwise operation has no more elements than are computed at once."""
    limit = immediacy().limit
    try:
        return bool(first.size * second.size <= limit or np.broadcast(first, second).size <= limit)
    except ValueError:
        return False


def _is_large(value: Any) -> bool:
    """Return whether elements are more than are computed at once, as the limit may have changed since they were."""
    return type(value) is _ndarray and value.size > immediacy().limit


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


class ImmediateArray(SelectableArray):
    """An array that applies functions of NumPy to its elements at once."""

    __slots__ = ()

    def _computed(self, compute: Callable[[Any], Any]) -> Self | None:
        """Return a function of the elements."""
        elements = self._value
        if elements is None:
            cell = self._made_cell
            device = cell.device
            elements = self._host if self._memory is cell.memory else self.host()
            if elements is None:
                return None
        else:
            device = self._device
        if _is_large(elements) or not immediacy().covers(device):
            return None
        try:
            result = quiet.run(compute, elements)
        except Exception:
            return None
        counters["operations"] += 1
        return of_host(type(self), result, device)

    def _reduced(self, compute: Callable[..., Any], axis: Any, **keywords: Any) -> Self | None:
        """Return a reduction of the elements, of which there is at least one."""
        host = self.host()
        if host is None or not host.size or host.dtype is dtypes.float16 or not immediacy().covers(self.device):
            return None
        try:
            result = quiet.run(compute, host, axis, **keywords)
        except Exception:
            return None
        counters["operations"] += 1
        return of_host(type(self), result, self.device)

    def _computed_with(self, compute: Callable[[Any, Any], Any], other: Any, way: int) -> Self | None:
        """Return a function of the elements and another operand; the array itself if they are updated in place."""
        elements = self._value
        if elements is None:
            cell = _cell_of(self)
            device = cell.device
            if not immediacy().covers(device):
                return None
            if way == IN_PLACE and (not self._made_access or (cell.own is None and not self.claimed())):
                return None
            elements = self._host if self._memory is cell.memory else self.host()
            if elements is None:
                return None
        else:
            device = self._device
            if not immediacy().covers(device):
                return None
        operand, kind = other, type(other)
        if kind in WEAK:
            if _is_large(elements):
                return None
        else:
            if kind is type(self):
                operand = other._value
                if operand is None:
                    cell = _cell_of(other)
                    own = cell.device
                    operand = other._host if other._memory is cell.memory else other.host()
                    if operand is None:
                        return None
                else:
                    own = other._device
                if own is not device:
                    if device is AUTO:
                        device = own
                    elif own is not AUTO:
                        return None
            elif not _is_operand(other, kind):
                return None
            if way == PRODUCT:
                if not have_few_products(elements, operand) or elements.dtype is dtypes.float16:
                    return None
            elif type(elements) is _ndarray and not _are_few(elements, operand):
                return None
        try:
            if type(elements) is _ndarray:
                if way == IN_PLACE:
                    return self._updated(compute, elements, operand, device)
                if way != PRODUCT and elements.nbytes >= _LARGE and compute in _ARITHMETIC:
                    return self._with_temporaries(_ARITHMETIC[compute], elements, operand, other, way, device)
            result = (
                quiet.run(compute, operand, elements) if way == REFLECTED else quiet.run(compute, elements, operand)
            )
        except Exception:
            return None
        counters["operations"] += 1
        if type(result) is complex:  # Python takes a float64 scalar for one of its floats
            result = np.complex128(result)
        return of_host(type(self), result, device)

    def _with_temporaries(
        self, ufunc: np.ufunc, elements: Any, operand: Any, other: Any, way: int, device: Device
    ) -> Self:
        """Return what an operator computes, in the memory of an operand that is a temporary result if there is one."""
        frame = frame_at(3)  # of the operator's caller
        number, used = id(frame), frame.f_lasti
        temporary = out = None
        if elements.dtype.kind in "fc" and (type(operand) in _REAL or _is_like(operand, elements)):
            for array, host, is_right in ((self, elements, way == REFLECTED), (other, operand, way != REFLECTED)):
                if type(array) is not type(self) or array._value is not host:
                    continue
                maker, instruction = getattr(array, "_maker", _BY_NO_OPERATOR)
                if maker == number and taken(frame.f_code, instruction, used) == (RIGHT if is_right else LEFT):
                    temporary, out = array, host
                    break
        operands = (operand, elements) if way == REFLECTED else (elements, operand)
        result = of_host(type(self), quiet.run(ufunc, *operands, out), device)
        if temporary is not None:
            # an extension module that has kept the array does not get another value, but an error
            temporary._value = None
        result._maker = number, used
        counters["operations"] += 1
        return result

    def _updated(self, compute: Callable[[Any, Any], Any], elements: Any, operand: Any, device: Device) -> Self | None:
        """Return the array with updated elements, or a value in place of a value.

        None says that another thread got the memory meanwhile, or that NumPy would raise an error when it has updated
        some of the elements.
        """
        if (
            compute is operator.ipow
            and type(operand) is _ndarray
            and elements.dtype.kind in "iu"
            and (operand < 0).any()
        ):
            return None
        result = self
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
        if (
            not all(type(value) in WEAK or isinstance(value, np.generic) for value in operands)
            or not immediacy().covers(device)
            or default_dtype(float).itemsize < 8
        ):
            return None
        try:
            result = quiet.run(ufunc, *operands)
        except Exception:
            return None
        if not dtypes.is_supported(result.dtype) or result.dtype is dtypes.float16:
            return None
        counters["operations"] += 1
        return of_host(cls, result, device)


def _is_like(value: Any, array: Any) -> bool:
    """Return whether a value is an array of NumPy of the dtype and shape of another one."""
    return type(value) is _ndarray and value.dtype is array.dtype and value.shape == array.shape


def _is_operand(value: Any, kind: type) -> bool:
    """Return whether a value is a small array of NumPy, or a scalar, with a dtype of this package."""
    if kind is _ndarray:
        return value.size <= immediacy().limit and dtypes.is_supported(value.dtype)
    return isinstance(value, np.generic) and dtypes.is_supported(value.dtype)
