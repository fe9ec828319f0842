"""Operators of arrays, and :meth:`ComputingArray._apply`, which records all other elementwise operations.

Most operations of a program pass through this module, so the common cases (two arrays, or an array and a Python scalar)
are tested first and take a direct path.
"""

import operator
import sys
from array import array
from collections.abc import Callable
from numbers import Number
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np

from gpuarray import dispatch, dtypes
from gpuarray.array.cells import joint_device
from gpuarray.array.immediate import FORWARD, IN_PLACE, PRODUCT, REFLECTED, ImmediateArray
from gpuarray.array.memory import VALUE
from gpuarray.array.operands import WEAK, as_operand, cast, default_device, device_of, is_of_pandas
from gpuarray.array.powers import check_power, power_operation
from gpuarray.array.storage import StoredArray
from gpuarray.device import Device
from gpuarray.graph import standard
from gpuarray.graph.build import elementwise, full
from gpuarray.graph.nodes import Node
from gpuarray.graph.standard import recorder
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import MapOp

A = TypeVar("A", bound="ComputingArray")
F = TypeVar("F", bound=Callable[..., Any])

#: The comparisons that hold or fail for every value, and their results for values that are never equal.
_EQUALITY: Final[dict[Any, bool]] = {operator.eq: False, operator.ne: True}
_IDENTITY: Final[Any] = object.__eq__
#: Types whose instances are equal to no number, although they define equality; that of None does from Python 3.13 on.
_NO_NUMBERS: Final = (NoneType, str, bytes, slice, dict, set, frozenset, np.dtype)
#: Types whose instances NumPy reads as arrays of numbers.
_BUFFERS: Final = (bytearray, memoryview, array)


def _forward(op: MapOp, compute: Callable[[Any, Any], Any]) -> Callable[[A, Any], A]:
    def method(self: A, other: Any) -> A:
        if immediacy().limit and (result := self._computed_with(compute, other, FORWARD)) is not None:
            return result
        kind = type(other)
        node = self.node()
        device = self._made_cell.device
        if kind is type(self):
            second = other.node()
            if other._made_cell.device is not device:
                device = joint_device(device, other._made_cell.device)
            return self._wrap(recorder.binary(op, node, second), device)
        if kind in WEAK:
            return self._wrap(recorder.binary(op, node, other), device)
        mixed: A = NotImplemented if self._is_left(op, other) else self._apply(op, self, other)
        return self._with_other_class(other, compute, False) if mixed is NotImplemented else mixed

    return _named(method, op, "x {} other")


def _reflected(op: MapOp, compute: Callable[[Any, Any], Any]) -> Callable[[A, Any], A]:
    def method(self: A, other: Any) -> A:
        if type(other) in WEAK:
            if immediacy().limit and (result := self._computed_with(compute, other, REFLECTED)) is not None:
                return result
            return self._wrap(recorder.binary(op, other, self.node()), self._made_cell.device)
        mixed: A = NotImplemented if self._is_left(op, other) else self._apply(op, other, self)
        return self._with_other_class(other, compute, True) if mixed is NotImplemented else mixed

    return _named(method, op, "other {} x")


def _inplace(op: MapOp, compute: Callable[[Any, Any], Any]) -> Callable[[A, Any], A]:
    def method(self: A, other: Any) -> A:
        if immediacy().limit and (result := self._computed_with(compute, other, IN_PLACE)) is not None:
            return result
        operand = other if type(other) in WEAK else as_operand(other)
        if operand is NotImplemented:
            return operand
        return self._update(recorder.binary(op, self.node(), operand), op, other)

    return _named(method, op, "x {}= other")


def _unary(op: MapOp, compute: Callable[[Any], Any]) -> Callable[[A], A]:
    def method(self: A) -> A:
        if immediacy().limit and (result := self._computed(compute)) is not None:
            return result
        return self._wrap(recorder.unary(op, self.node()), self._made_cell.device)

    return _named(method, op, "{} x")


def _named(method: F, op: MapOp, form: str) -> F:
    method.__doc__ = f"{op.doc} The operator of the form ``{form.format('*')}``, as ``{op.name}``."
    return method


def _has_no_numbers(value: Any) -> bool:
    """Return whether a value is one or several texts or dates of NumPy."""
    return isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "MSU"


class ComputingArray(ImmediateArray):
    """An array with operators."""

    __slots__ = ()

    @classmethod
    def _apply(cls, op: MapOp, *values: Any) -> Any:
        """Apply an elementwise operation to arrays and scalars. Return NotImplemented for unknown types."""
        if immediacy().limit and type(op.numpy) is np.ufunc and (result := cls._applied(op.numpy, values)) is not None:
            return result
        if len(values) == 1 and type(values[0]) is cls:
            (value,) = values
            cell = value._cell
            plain = value._layout is None and value._part is None
            return cls._wrap(recorder.unary(op, cell.node if plain else value.node()), cell.device)
        device: Device | None = None
        operands: list[Any] = []
        for value in values:
            kind = type(value)
            if kind is cls:
                cell = value._cell
                own = cell.device
                device = own if device is None or device is own else joint_device(device, own)
                operands.append(cell.node if value._layout is None and value._part is None else value.node())
            elif kind in WEAK:
                operands.append(value)
            else:
                operand = as_operand(value)
                if operand is NotImplemented:
                    return NotImplemented
                inner = device_of(value)
                if inner is not None:
                    device = inner if device is None else joint_device(device, inner)
                operands.append(operand)
        record = recorder.binary if len(operands) == 2 and device is not None else recorder.elementwise
        device = default_device() if device is None else device
        if op is ops.pow:
            check_power(operands[0], values[1], device)
        return cls._wrap(record(op, *operands), device)

    def _is_left(self, op: MapOp, other: Any) -> bool:
        """Return whether there is nothing to compute.

        A product with a list or tuple is left to Python, which repeats it by a NumPy integer, and a comparison with
        texts or dates of NumPy has one result for all elements.
        """
        if op is ops.multiply:
            return type(other) in (list, tuple) and self._access is VALUE and self._dtype.kind in "iu"
        return op in (ops.equal, ops.not_equal) and _has_no_numbers(other) and not standard.is_on()

    def _with_other_class(self, other: Any, on_host: Callable[[Any, Any], Any], is_reflected: bool) -> Any:
        """Return the result with a value of another class; NotImplemented leaves the operation to that class.

        Sparse arrays of SciPy and the classes of pandas know NumPy's arrays alone, so the result is that of this array
        on the host. What can be equal to no number is unequal to each element, as in NumPy, and so is a value whose
        class does not know arrays.

        Raises
        ------
        TypeError
            If a number of another package is compared, which might be equal to an element.
        """
        sparse = sys.modules.get("scipy.sparse")
        if is_of_pandas(other) or (sparse is not None and sparse.issparse(other)):
            host = np.asarray(self)
            return on_host(other, host) if is_reflected else on_host(host, other)
        if on_host not in _EQUALITY or standard.is_on():
            return NotImplemented
        shape = self._shape
        if _has_no_numbers(other):
            shape = np.broadcast_shapes(shape, other.shape)
        elif isinstance(other, Number):
            raise TypeError(f"a {type(other).__name__} cannot be compared with a GpuArray; compare with float(value)")
        elif isinstance(other, _BUFFERS):
            return on_host(self, np.asarray(other))
        elif type(other).__eq__ is not _IDENTITY and not isinstance(other, _NO_NUMBERS):
            result = getattr(type(other), f"__{on_host.__name__}__")(other, self)
            if result is not NotImplemented:
                return result
        return self._wrap(full(shape, _EQUALITY[on_host], dtypes.bool_), self._cell.device)

    def _update(self, node: Node, op: MapOp, other: Any) -> Self:
        """Set the value of this array to ``node``, as in-place operators do."""
        self.check_writeable()
        cell, layout, shape, dtype, part, access = self.traits()
        device = cell.device
        source = other._cell.device if isinstance(other, StoredArray) else device_of(other)
        if source is not None:
            device = joint_device(device, source)
        if access is VALUE and not standard.is_on():
            return self._wrap(node, device)  # NumPy's scalars have no in-place operators
        if node.dtype is not dtype:
            standard.require_same(op.name, dtype, node.dtype)
            if not np.can_cast(node.dtype, dtype, "same_kind"):
                raise TypeError(
                    f"Cannot cast ufunc {op.name!r} output from {node.dtype!r} to {dtype!r} with casting rule "
                    "'same_kind'; write x = x.astype(...) first"
                )
            node = cast(node, dtype)
        if node.shape != shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {shape} doesn't match the broadcast shape {node.shape}"
            )
        if access is VALUE:
            return self._wrap(node, device)
        cell.device = device
        if layout is None and part is None:
            cell.bind(node)
        else:
            self.store(self._storage_layout(), node)
        return self

    __add__ = _forward(ops.add, operator.add)
    __sub__ = _forward(ops.subtract, operator.sub)
    __mul__ = _forward(ops.multiply, operator.mul)
    __truediv__ = _forward(ops.divide, operator.truediv)
    __floordiv__ = _forward(ops.floor_divide, operator.floordiv)
    __mod__ = _forward(ops.remainder, operator.mod)
    __and__ = _forward(ops.bitwise_and, operator.and_)
    __or__ = _forward(ops.bitwise_or, operator.or_)
    __xor__ = _forward(ops.bitwise_xor, operator.xor)
    __lshift__ = _forward(ops.bitwise_left_shift, operator.lshift)
    __rshift__ = _forward(ops.bitwise_right_shift, operator.rshift)
    __radd__ = _reflected(ops.add, operator.add)
    __rsub__ = _reflected(ops.subtract, operator.sub)
    __rmul__ = _reflected(ops.multiply, operator.mul)
    __rtruediv__ = _reflected(ops.divide, operator.truediv)
    __rfloordiv__ = _reflected(ops.floor_divide, operator.floordiv)
    __rmod__ = _reflected(ops.remainder, operator.mod)
    __rand__ = _reflected(ops.bitwise_and, operator.and_)
    __ror__ = _reflected(ops.bitwise_or, operator.or_)
    __rxor__ = _reflected(ops.bitwise_xor, operator.xor)
    __rlshift__ = _reflected(ops.bitwise_left_shift, operator.lshift)
    __rrshift__ = _reflected(ops.bitwise_right_shift, operator.rshift)
    __iadd__ = _inplace(ops.add, operator.iadd)
    __isub__ = _inplace(ops.subtract, operator.isub)
    __imul__ = _inplace(ops.multiply, operator.imul)
    __itruediv__ = _inplace(ops.divide, operator.itruediv)
    __ifloordiv__ = _inplace(ops.floor_divide, operator.ifloordiv)
    __imod__ = _inplace(ops.remainder, operator.imod)
    __iand__ = _inplace(ops.bitwise_and, operator.iand)
    __ior__ = _inplace(ops.bitwise_or, operator.ior)
    __ixor__ = _inplace(ops.bitwise_xor, operator.ixor)
    __ilshift__ = _inplace(ops.bitwise_left_shift, operator.ilshift)
    __irshift__ = _inplace(ops.bitwise_right_shift, operator.irshift)
    __lt__ = _forward(ops.less, operator.lt)
    __le__ = _forward(ops.less_equal, operator.le)
    __gt__ = _forward(ops.greater, operator.gt)
    __ge__ = _forward(ops.greater_equal, operator.ge)
    if TYPE_CHECKING:  # as an assignment, some checkers take the types of object's

        def __eq__(self, other: Any) -> Self:  # type: ignore[override]  # elementwise, as NumPy
            ...

        def __ne__(self, other: Any) -> Self:  # type: ignore[override]  # elementwise, as NumPy
            ...
    else:
        __eq__ = _forward(ops.equal, operator.eq)
        __ne__ = _forward(ops.not_equal, operator.ne)
    __neg__ = _unary(ops.negative, operator.neg)
    __pos__ = _unary(ops.positive, operator.pos)
    __abs__ = _unary(ops.abs, operator.abs)
    __invert__ = _unary(ops.bitwise_invert, operator.invert)

    def __pow__(self, other: Any) -> Self:
        """``x ** other``. For some Python scalars a faster operation than ``pow`` is used, as in NumPy."""
        if immediacy().limit and (result := self._computed_with(operator.pow, other, FORWARD)) is not None:
            return result
        if standard.is_on() and (operand := as_operand(other)) is not NotImplemented:
            standard.require("pow", self, operand)
        op = power_operation(self.node(), other)
        power: Self = self._apply(op, *(self, other)[: op.arity])
        return self._with_other_class(other, operator.pow, False) if power is NotImplemented else power

    def __rpow__(self, other: Any) -> Self:
        """``other ** x``."""
        if immediacy().limit and (result := self._computed_with(operator.pow, other, REFLECTED)) is not None:
            return result
        power: Self = self._apply(ops.pow, other, self)
        return self._with_other_class(other, operator.pow, True) if power is NotImplemented else power

    def __ipow__(self, other: Any) -> Self:
        """``x **= other``."""
        if immediacy().limit and (result := self._computed_with(operator.ipow, other, IN_PLACE)) is not None:
            return result
        operand = other if type(other) in WEAK else as_operand(other)
        if operand is NotImplemented:
            return NotImplemented
        standard.require("pow", self, operand)
        op = power_operation(self.node(), other)
        check_power(self.node(), other, device_of(self, other) or self._cell.device)
        node = elementwise(op, *(self.node(), operand)[: op.arity])
        return self._update(node, ops.pow, other)

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        quotient = self.__floordiv__(other)
        return quotient if quotient is NotImplemented else (quotient, self.__mod__(other))

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        quotient = self.__rfloordiv__(other)
        return quotient if quotient is NotImplemented else (quotient, self.__rmod__(other))

    def __matmul__(self, other: Any) -> Self:
        if type(other) is type(self):
            if immediacy().limit and (result := self._computed_with(operator.matmul, other, PRODUCT)) is not None:
                return result
            return dispatch.METHODS["matmul"](self, other)
        return NotImplemented if as_operand(other) is NotImplemented else dispatch.METHODS["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Self:
        return NotImplemented if as_operand(other) is NotImplemented else dispatch.METHODS["matmul"](other, self)

    def __imatmul__(self, other: Any) -> Self:
        product: Any = self @ other
        if product is NotImplemented:
            return NotImplemented
        return self._update(product.node(), ops.multiply, other)
