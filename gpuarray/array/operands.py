"""Conversion of operands to nodes of the graph.

Promotion is NumPy's (NEP 50): Python scalars are weak, NumPy scalars and arrays are strong. Unknown types give
``NotImplemented``, so that their reflected operators are called.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array.cells import joint_device
from gpuarray.array.storage import StoredArray
from gpuarray.array.traced_scalars import TracedScalar, weak_of
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build, tracing
from gpuarray.graph.memory_order import in_memory_order
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.runtime import evaluate
from gpuarray.source_locations import warn

WEAK: Final = frozenset((bool, int, float, complex))
#: The devices that settings have named.
DEVICES: Final[dict[str, Device]] = {}
#: NumPy array types whose elements are all that matters; other subclasses (masked arrays, matrices) mean more.
_PLAIN: Final = frozenset((np.ndarray, np.memmap))
_LARGEST: Final = np.iinfo(np.int64).max
_SEQUENCES: Final = frozenset((list, tuple, range))


def as_operand(value: Any) -> Any:
    """Return an operand as a node or a Python scalar; NotImplemented for unknown types."""
    if isinstance(value, StoredArray):
        return value.node()
    kind = type(value)
    if kind in WEAK:
        return value
    if kind is TracedScalar:  # before others, as it passes for the type of its value
        return value.operand()
    if isinstance(value, np.generic):
        return build.full((), value, dtypes.canonical(value.dtype))
    if kind in _PLAIN:
        return build.host_node(value)
    if kind in _SEQUENCES:
        return sequence_node(value)
    if (number := as_number(value)) is not value:  # NumPy has a strong scalar if a dtype holds it
        scalar: Any = np.asarray(value)[()]
        return as_operand(scalar) if isinstance(scalar, np.generic) else number
    return NotImplemented


def as_number(value: Any) -> Any:
    """Return a number of a subclass of Python's, such as an enumeration, as Python's; all else as it is."""
    kind = type(value)
    if kind in WEAK or isinstance(value, np.generic):
        return value
    return next((number(value) for number in (int, float, complex) if issubclass(kind, number)), value)


def is_of_pandas(value: Any) -> bool:
    """Return whether a value is a frame, a series, an index or a column of pandas, which takes NumPy's arrays alone."""
    return hasattr(type(value), "__pandas_priority__") and not isinstance(value, StoredArray)


def as_node(value: Any, dtype: DType | None = None) -> Node:
    """Return an operand as a node. A Python scalar gets ``dtype``, or the default dtype of its kind.

    Raises
    ------
    TypeError
        If the value is not an array, a scalar or a sequence of them.
    """
    operand = as_operand(value)
    if operand is NotImplemented:
        operand = build.host_node(_converted(value))
    if not isinstance(operand, bool | int | float | complex):
        node: Node = operand
        weak = weak_of(node)
        return node if weak is None else build.cast(node, dtype or default_dtype(weak.python))
    return build.full((), operand, dtype or dtype_of(operand))


def placed_node(value: Any, device: Device, dtype: DType | None = None) -> Node:
    """Return an operand as a node. A large NumPy array is uploaded to its device at once.

    If a dtype is given, the value is converted as in an assignment to elements.
    """
    sent = _sent(value, device) if type(value) in _PLAIN and not tracing.mode().is_replayed else None
    if dtype is None:
        return as_node(value) if sent is None else sent
    return element_node(value, dtype) if sent is None else cast(sent, dtype)


def _sent(value: Any, device: Device) -> Node | None:
    ordered, layout = in_memory_order(value)
    leaf = evaluate.send(ordered, device)
    return leaf if leaf is None or layout is None else build.view(leaf, layout)


def default_dtype(kind: type) -> DType:
    """Return the default dtype of a type of Python scalars."""
    single = config.current.default_float == "float32"
    if kind is float:
        return dtypes.float32 if single else dtypes.float64
    if kind is complex:
        return dtypes.complex64 if single else dtypes.complex128
    return dtypes.bool_ if kind is bool else dtypes.int64


def dtype_of(number: complex) -> DType:
    """Return the dtype of an array of a Python scalar."""
    is_unsigned = isinstance(number, int) and number > _LARGEST
    return dtypes.uint64 if is_unsigned else default_dtype(type(number))


def _converted(value: Any, dtype: DType | None = None) -> Any:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(
            "masked arrays are not supported, as their mask would be lost; give m.filled(value), or m.filled(nan) "
            "to functions such as nansum, or compute with numpy.ma"
        )
    array = np.asarray(value, dtype)
    if array.dtype == np.object_ or array.dtype.kind in "USMmV":
        hint = dtypes.ADVICE.get(array.dtype.kind, "")
        raise TypeError(
            f"Unsupported operand: NumPy converts a {type(value).__name__} to dtype {array.dtype}; use numbers, "
            f"booleans, or arrays or nested sequences of them{hint and '; '}{hint}"
        )
    return array


def sequence_node(values: Sequence[Any], dtype: DType | None = None) -> Node:
    """Return the node of nested sequences of scalars, NumPy arrays and arrays of this package.

    If a dtype is given, each item is converted as in an assignment to an element.

    Raises
    ------
    ValueError
        If they are ragged.
    """
    if not holds_arrays(values):
        return build.host_node(_converted(values, dtype))
    nodes = [as_node(value) if dtype is None else element_node(value, dtype) for value in values]
    shapes = {node.shape for node in nodes}
    if len(shapes) > 1:
        raise ValueError(
            f"setting an array element with a sequence: the elements have different shapes {sorted(shapes)}; "
            "they must be equal"
        )
    common = dtypes.promote(*(node.dtype for node in nodes))
    return build.concat([build.reshape(build.cast(n, common), (1, *n.shape)) for n in nodes], 0)


def arrays_among(values: Iterable[Any]) -> Iterator[StoredArray]:
    """Return the arrays of this package among values, and in nested lists and tuples among them."""
    for value in values:
        if isinstance(value, StoredArray):
            yield value
        elif isinstance(value, list | tuple):
            yield from arrays_among(value)


def holds_arrays(value: Any) -> bool:
    """Return True if a value, or nested lists and tuples, contain an array of this package."""
    return any(True for _ in arrays_among((value,)))


def device_of(*values: Any) -> Device | None:
    """Return the joint device of all arrays among values and in lists of them; None if there is none.

    Raises
    ------
    DeviceMismatchError
        If arrays are pinned to different devices.
    """
    return joint_device_of(arrays_among(values))


def joint_device_of(arrays: Iterable[StoredArray]) -> Device | None:
    """Return the joint device of arrays, as :func:`device_of` does."""
    device: Device | None = None
    for array in arrays:
        device_of_array = array._made_cell.device if array._value is None else array._device
        if device_of_array is not device:
            device = device_of_array if device is None else joint_device(device, device_of_array)
    return device


def default_device() -> Device:
    """Return the default device of new arrays."""
    name = config.current.device
    return DEVICES.get(name) or DEVICES.setdefault(name, Device(name))


def assigned_node(value: Any, dtype: DType, device: Device) -> tuple[Node, Device]:
    """Return ``value`` converted as in an assignment to elements of ``dtype``, and the joint device.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If the dtype cannot represent a Python scalar.
    """
    if isinstance(value, StoredArray):
        own = value.device
        return element_node(value, dtype), device if own is device else joint_device(device, own)
    value = as_number(value)
    if type(value) in WEAK:
        return weak_node(value, dtype), device
    source = device_of(value)
    return element_node(value, dtype), device if source is None else joint_device(device, source)


def element_node(value: Any, dtype: DType) -> Node:
    """Return ``value`` converted as in an assignment to elements of ``dtype``; errors as in assigned_node."""
    if isinstance(value, StoredArray):
        node = value.node()
        return node if node.dtype is dtype else cast(node, dtype)
    if type(value) in _SEQUENCES:
        return sequence_node(value, dtype)
    operand = as_operand(as_number(value))
    if operand is NotImplemented:
        operand = build.host_node(_converted(value, dtype))
    if isinstance(operand, bool | int | float | complex):
        return weak_node(operand, dtype)
    return cast(operand, dtype)


def as_element(value: Any, dtype: DType) -> Any:
    """Return a scalar in ``dtype``, with the conversions and errors of an assignment to an element."""
    element = np.empty((), dtype)
    element[()] = value
    return element[()]


def check_element(value: Any, dtype: DType) -> None:
    """Raise NumPy's error if it does not assign an array or a sequence to a single element of ``dtype``.

    From version 2.4 on, it assigns no array with axes; before, it assigned those of one element.
    """
    if isinstance(value, StoredArray | np.ndarray):
        if not value.shape:
            return
        value = np.broadcast_to(np.zeros((), value.dtype), value.shape)
    elif not hasattr(value, "__len__"):
        return
    np.empty(1, dtype)[0] = value


def check_depth(value: Any, values: Node, axes: int) -> None:
    """Raise ValueError if a sequence has more levels than the view that it is assigned to has axes; arrays may."""
    if len(values.shape) > axes and isinstance(value, list | tuple | range):
        raise ValueError(
            "setting an array element with a sequence. "
            f"The requested array would exceed the maximum number of dimension of {axes}."
        )


def weak_node(value: Any, dtype: DType) -> Node:
    """Return a Python scalar as a 0-d node of ``dtype``, converted as in an assignment."""
    if isinstance(value, complex) and dtype.kind not in "bc":
        raise TypeError(f"a complex number cannot be assigned to an array of dtype {dtype.name}; take its real part")
    if isinstance(value, float) and dtype.kind in "iu":
        value = int(value)  # NumPy's errors for NaN and infinities are Python's
    return build.full((), value, dtype)


def cast(node: Node, dtype: DType) -> Node:
    """Return ``node`` in ``dtype``, with NumPy's warning if imaginary parts are discarded."""
    if node.dtype.kind == "c" and dtype.kind not in "cb":
        warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)
        node = build.elementwise(ops.real, node)
    return build.cast(node, dtype)
