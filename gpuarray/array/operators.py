"""Operators of arrays, and :meth:`ComputingArray._apply`, which records all other elementwise operations.

Most operations of a program pass through this module, so the common cases (two arrays, or an array and a Python scalar)
are tested first and take a direct path.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from gpuarray import dispatch
from gpuarray.array.operands import WEAK, as_operand, cast, check_power, default_device, device_of, power_row
from gpuarray.array.selection import SelectableArray
from gpuarray.array.storage import VALUE, StoredArray, joint_device
from gpuarray.device import Device
from gpuarray.graph import standard
from gpuarray.graph.build import elementwise
from gpuarray.graph.nodes import Node
from gpuarray.graph.standard import recorder
from gpuarray.ops import elementwise as rows
from gpuarray.ops.spec import MapOp

A = TypeVar("A", bound="ComputingArray")
F = TypeVar("F", bound=Callable[..., Any])


def _forward(op: MapOp) -> Callable[[A, Any], A]:
    def method(self: A, other: Any) -> A:
        kind = type(other)
        cell = self._cell
        device = cell.device
        node = cell.node if self._layout is None and self._part is None else self.node()
        if kind is type(self):
            second = other._cell
            if second.device is not device:
                device = joint_device(device, second.device)
            plain = other._layout is None and other._part is None
            return self._wrap(recorder.binary(op, node, second.node if plain else other.node()), device)
        if kind in WEAK:
            return self._wrap(recorder.binary(op, node, other), device)
        mixed: A = NotImplemented if self._repeats(op, kind) else self._apply(op, self, other)
        return mixed

    return _named(method, op, "x {} other")


def _reflected(op: MapOp) -> Callable[[A, Any], A]:
    def method(self: A, other: Any) -> A:
        if type(other) in WEAK:
            cell = self._cell
            node = cell.node if self._layout is None and self._part is None else self.node()
            return self._wrap(recorder.binary(op, other, node), cell.device)
        mixed: A = NotImplemented if self._repeats(op, type(other)) else self._apply(op, other, self)
        return mixed

    return _named(method, op, "other {} x")


def _inplace(op: MapOp) -> Callable[[A, Any], A]:
    def method(self: A, other: Any) -> A:
        operand = other if type(other) in WEAK else as_operand(other)
        if operand is NotImplemented:
            refused: A = operand
            return refused
        return self._update(recorder.binary(op, self.node(), operand), op, other)

    return _named(method, op, "x {}= other")


def _unary(op: MapOp) -> Callable[[A], A]:
    def method(self: A) -> A:
        cell = self._cell
        node = cell.node if self._layout is None and self._part is None else self.node()
        return self._wrap(recorder.unary(op, node), cell.device)

    return _named(method, op, "{} x")


def _named(method: F, op: MapOp, form: str) -> F:
    method.__doc__ = f"{op.doc} The operator of the form ``{form.format('*')}``, as ``{op.name}``."
    return method


class ComputingArray(SelectableArray):
    """An array with operators."""

    __slots__ = ()

    @classmethod
    def _apply(cls, op: MapOp, *values: Any) -> Any:
        """Apply an elementwise row to arrays and scalars. Return NotImplemented for unknown types."""
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
        if op is rows.pow:
            check_power(operands[0], values[1])
        record = recorder.binary if len(operands) == 2 and device is not None else recorder.elementwise
        return cls._wrap(record(op, *operands), default_device() if device is None else device)

    def _repeats(self, op: MapOp, kind: type) -> bool:
        """Return True if a product is left to Python, which repeats a list or tuple by a NumPy integer."""
        return op is rows.multiply and kind in (list, tuple) and self._access is VALUE and self._dtype.kind in "iu"

    def _update(self, node: Node, op: MapOp, other: Any) -> Self:
        """Set the value of this array to ``node``, as in-place operators do."""
        self.check_writeable()
        device = self._cell.device
        own = other._cell.device if isinstance(other, StoredArray) else device_of(other)
        if own is not None:
            device = joint_device(device, own)
        if self._access is VALUE and not standard.is_on():
            return self._wrap(node, device)  # NumPy's scalars have no in-place operators
        if node.dtype is not self._dtype:
            standard.require_same(op.name, self._dtype, node.dtype)
            if not np.can_cast(node.dtype, self._dtype, "same_kind"):
                raise TypeError(
                    f"Cannot cast ufunc {op.name!r} output from {node.dtype!r} to {self._dtype!r} with casting rule "
                    "'same_kind'; write x = x.astype(...) first"
                )
            node = cast(node, self._dtype)
        if node.shape != self._shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self._shape} doesn't match the broadcast shape "
                f"{node.shape}"
            )
        if self._access is VALUE:
            return self._wrap(node, device)
        cell = self._cell
        cell.device = device
        if self._layout is None and self._part is None:
            cell.bind(node)
        else:
            self.store(self._storage_layout(), node)
        return self

    __add__ = _forward(rows.add)
    __sub__ = _forward(rows.subtract)
    __mul__ = _forward(rows.multiply)
    __truediv__ = _forward(rows.divide)
    __floordiv__ = _forward(rows.floor_divide)
    __mod__ = _forward(rows.remainder)
    __and__ = _forward(rows.bitwise_and)
    __or__ = _forward(rows.bitwise_or)
    __xor__ = _forward(rows.bitwise_xor)
    __lshift__ = _forward(rows.bitwise_left_shift)
    __rshift__ = _forward(rows.bitwise_right_shift)
    __radd__ = _reflected(rows.add)
    __rsub__ = _reflected(rows.subtract)
    __rmul__ = _reflected(rows.multiply)
    __rtruediv__ = _reflected(rows.divide)
    __rfloordiv__ = _reflected(rows.floor_divide)
    __rmod__ = _reflected(rows.remainder)
    __rpow__ = _reflected(rows.pow)
    __rand__ = _reflected(rows.bitwise_and)
    __ror__ = _reflected(rows.bitwise_or)
    __rxor__ = _reflected(rows.bitwise_xor)
    __rlshift__ = _reflected(rows.bitwise_left_shift)
    __rrshift__ = _reflected(rows.bitwise_right_shift)
    __iadd__ = _inplace(rows.add)
    __isub__ = _inplace(rows.subtract)
    __imul__ = _inplace(rows.multiply)
    __itruediv__ = _inplace(rows.divide)
    __ifloordiv__ = _inplace(rows.floor_divide)
    __imod__ = _inplace(rows.remainder)
    __iand__ = _inplace(rows.bitwise_and)
    __ior__ = _inplace(rows.bitwise_or)
    __ixor__ = _inplace(rows.bitwise_xor)
    __ilshift__ = _inplace(rows.bitwise_left_shift)
    __irshift__ = _inplace(rows.bitwise_right_shift)
    __lt__ = _forward(rows.less)
    __le__ = _forward(rows.less_equal)
    __gt__ = _forward(rows.greater)
    __ge__ = _forward(rows.greater_equal)
    if TYPE_CHECKING:  # as an assignment, some checkers take the types of object's

        def __eq__(self, other: Any) -> Self:  # type: ignore[override]  # elementwise, as NumPy
            ...

        def __ne__(self, other: Any) -> Self:  # type: ignore[override]  # elementwise, as NumPy
            ...
    else:
        __eq__ = _forward(rows.equal)
        __ne__ = _forward(rows.not_equal)
    __neg__ = _unary(rows.negative)
    __pos__ = _unary(rows.positive)
    __abs__ = _unary(rows.abs)
    __invert__ = _unary(rows.bitwise_invert)

    def __pow__(self, other: Any) -> Self:
        """``x ** other``. For some Python scalars a faster row than ``pow`` is used, as in NumPy."""
        if standard.is_on() and (operand := as_operand(other)) is not NotImplemented:
            standard.require("pow", self, operand)
        row = power_row(self.node(), other) if type(other) in WEAK else None
        power: Self = self._apply(rows.pow, self, other) if row is None else self._apply(row, self)
        return power

    def __ipow__(self, other: Any) -> Self:
        """``x **= other``."""
        operand = other if type(other) in WEAK else as_operand(other)
        if operand is NotImplemented:
            return NotImplemented
        standard.require("pow", self, operand)
        row = power_row(self.node(), other) if type(other) in WEAK else None
        check_power(self.node(), other)
        node = elementwise(rows.pow, self.node(), operand) if row is None else elementwise(row, self.node())
        return self._update(node, rows.pow, other)

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        quotient = self._apply(rows.floor_divide, self, other)
        return quotient if quotient is NotImplemented else (quotient, self._apply(rows.remainder, self, other))

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        quotient = self._apply(rows.floor_divide, other, self)
        return quotient if quotient is NotImplemented else (quotient, self._apply(rows.remainder, other, self))

    def __matmul__(self, other: Any) -> Self:
        return NotImplemented if as_operand(other) is NotImplemented else dispatch.METHODS["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Self:
        return NotImplemented if as_operand(other) is NotImplemented else dispatch.METHODS["matmul"](other, self)

    def __imatmul__(self, other: Any) -> Self:
        product: Any = self @ other
        if product is NotImplemented:
            return NotImplemented
        return self._update(product.node(), rows.multiply, other)
