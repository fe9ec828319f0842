"""Traces: record what a function does to arrays, numbers and random streams while it runs once.

While a :class:`Trace` is active, the thread's accesses to storage cells go through it. A cell that existed before is
*external*, whether it belongs to an argument or to a global variable. Its value in the trace is a leaf without data,
to which each call binds the current value. Writes to external cells are kept in the trace, so that recording has no
side effects. Cells that the function creates are *internal*. Evaluations become segments
(:mod:`gpuarray.jit.segment`), whose results are also leaves without data.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from threading import get_ident
from types import FrameType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gpuarray.array import Cell
from gpuarray.array.traced_scalars import TracedScalar
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.errors import RecordingError
from gpuarray.graph import build, tracing
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Generate, Leaf, Node, View
from gpuarray.graph.tracing import Deferred
from gpuarray.graph.walk import current, topological
from gpuarray.immediacy import suspended
from gpuarray.jit import segment
from gpuarray.providers import registry
from gpuarray.references import owner_count
from gpuarray.runtime import places
from gpuarray.runtime.placement import auto, trials
from gpuarray.runtime.plans import find_plan, pending_of
from gpuarray.source_locations import frame_at, is_user_file, name_of_call

T = TypeVar("T")

#: A value of a call that is computed from earlier values: the function, its operands, and the required type.
Line: TypeAlias = tuple[Callable[..., Any], tuple[int, ...], type | None]

#: A required range of positions: the number of the external cell, the layout of the view, start and stop.
Range: TypeAlias = tuple[int, Layout | None, int, int]

#: A status that has to be 0 after a call: its register, and the error.
Check: TypeAlias = tuple[int, Callable[[], Exception]]

_slot: Final[Any] = Cell.__dict__["node"]
_recording_lock = threading.RLock()
#: Descriptions of what methods of arrays read, for error messages.
_ASKED: Final = {
    "__bool__": "the truth value (for `if`, `while`, `and`, `or`, `not`, `in`)",
    "__contains__": "the truth value (for `in`)",
    "__float__": "the value, as a float,",
    "__int__": "the value, as an int,",
    "__index__": "the value, as an integer (of a shape, an axis, an index, a range),",
    "__complex__": "the value, as a complex number,",
    "__array__": "the elements, as a NumPy array,",
    "__getitem__": "the elements of a mask, or whether positions are in range (if they are, index with "
    "gpuarray.using(check_indices=False)),",
    "__setitem__": "the elements of a mask, or whether positions are in range (if they are, index with "
    "gpuarray.using(check_indices=False)),",
    "__repr__": "the text",
    "__str__": "the text",
    "__format__": "the text",
}


def _install(how: Any) -> None:
    """Install a descriptor for the values of storage cells."""
    setattr(Cell, "node", how)  # noqa: B010  # the type checker knows it as a variable


def _abandon_recordings() -> None:
    global _recording_lock  # a forked child has only one thread
    _recording_lock = threading.RLock()
    if tracing.is_anywhere() and tracing.active() is None:
        _install(_slot)
        tracing.state.trace = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_recordings)


class Trace(tracing.Mode):
    """The trace of one function call.

    Parameters
    ----------
    name : str
        Name of the function, for error messages.
    values : sequence
        Numbers and random streams among the arguments of the recorded call.
    """

    device: Final = Device("recorded")
    is_replayed = True

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.thread = get_ident()
        self.name = name
        self.is_over = False
        self.refused: RecordingError | None = None
        self.registers: list[Leaf | None] = []
        """Leaves that are constant; None for registers that each call sets."""
        self.cells: dict[Cell, int] = {}
        """The registers of external cells."""
        self.written: dict[Cell, Node] = {}
        """The current values of external cells."""
        self.devices: dict[Cell, Device] = {}
        """The devices of external cells before the call."""
        self.segments: list[segment.Segment] = []
        self.values: list[Any] = list(values)
        """Constant values; the values that each call provides or computes are placeholders."""
        self.lines: list[tuple[int, Line]] = []
        self.host_arrays: list[npt.NDArray[Any]] = []
        self.returned: set[int] = set()
        """Registers of returned arrays."""
        self.ranges: list[Range] = []
        """Required ranges of positions."""
        self.statuses: list[tuple[Node, Callable[[], Exception]]] = []
        """Statuses of factorisations, and the errors to raise if one is not 0."""
        self.required: dict[Device, list[Node]] = {}
        """Values that each call computes, whether or not it needs them."""
        self.postponed: dict[Device, list[Node]] = {}
        """Pending values that a segment computes if others follow it, which would compute them again."""
        self._asked: dict[int, tuple[Node, int, Layout | None]] = {}
        self._proxies: dict[Cell, Cell] = {}
        self._inner_cells: set[int] = set()
        self._streams: dict[int, int] = {id(v): n for n, v in enumerate(values)}
        self._own_streams: list[Any] = []
        self._constants: dict[int, int] = {}

    def record(self, function: Callable[[], T]) -> T:
        """Call a function, record what this thread does, and return its result."""
        with _recording_lock:
            try:
                try:
                    with suspended():
                        tracing.state.trace = self
                        _install(property(self._node, self._bind))
                        result = function()
                except Exception as error:
                    if self.refused is not None and error is not self.refused:  # NumPy may have replaced the error
                        raise self.refused from error
                    raise
                finally:
                    self._end()
            finally:
                self._end()  # an interrupt may have skipped the first call
        if self.refused is not None:  # the function caught the error and may have taken another branch
            raise self.refused
        return result

    def _end(self) -> None:
        """Restore cells to their normal state; may be called twice."""
        setattr(Cell, "node", _slot)  # noqa: B010  # as _install does, without a call
        tracing.state.trace = None
        self.is_over = True
        for cell, device in self.devices.items():
            cell.device = device

    # -- cells ---------------------------------------------------------------------------------------------------------

    def _node(self, cell: Cell) -> Node:
        if get_ident() != self.thread or id(cell) in self._inner_cells:
            return cell.value()
        if cell not in self.cells:
            self._add_external(cell)
        return self.written[cell]

    def _bind(self, cell: Cell, node: Node) -> None:
        if get_ident() != self.thread or id(cell) in self._inner_cells:
            _slot.__set__(cell, node)
        elif cell in self.cells:
            self.written[cell] = node
        else:
            try:
                cell.value()
            except AttributeError:  # the cell is being created
                self._inner_cells.add(id(cell))
                _slot.__set__(cell, node)
            else:
                self._add_external(cell)
                self.written[cell] = node

    def _add_external(self, cell: Cell) -> None:
        node = cell.value()
        leaf = self._leaf(node.shape, node.dtype)
        self.cells[cell] = leaf.buffers[self]
        self.written[cell] = leaf
        self.devices[cell] = cell.device

    def proxy(self, cell: Cell) -> Cell:
        """Return a proxy for the cell of an argument, which a variable may refer to as well."""
        stand_in: Cell = object.__new__(Cell)
        stand_in.device = cell.device
        stand_in.memory = stand_in.own = None
        self._proxies[stand_in] = cell
        _slot.__set__(stand_in, cell.value())
        self._add_external(stand_in)
        _slot.__set__(stand_in, self.written[stand_in])  # for other threads
        return stand_in

    def present(self, node: Node) -> Node:
        """Return the current node of an external cell's value or of a view of it; return other nodes unchanged."""
        source = current(node)
        layout: Layout | None = None
        if isinstance(source, View):
            layout = source.layout
            source = current(source.inputs[0])
        register = source.buffers.get(self) if isinstance(source, Leaf) else None
        for number, (cell, recorded) in enumerate(self.cells.items()):
            if recorded == register:
                self._asked[id(node)] = node, number, layout
                known = self._proxies.get(cell, cell).value()
                return known if layout is None else build.view(known, layout)
        return node

    def require(self, node: Node, start: int, stop: int) -> None:
        """Restrict the recording to calls in which the elements of a node, known to :meth:`present`, are in a range."""
        if id(node) in self._asked:
            _, number, layout = self._asked[id(node)]
            self.ranges.append((number, layout, start, stop))

    def includes(self, cell: Cell) -> bool:
        """Return whether the function has made or used a cell."""
        return id(cell) in self._inner_cells or cell in self.cells

    def is_external(self, cell: Cell) -> bool:
        """Return whether a cell existed before the call."""
        return cell in self.cells or id(cell) not in self._inner_cells

    def number(self, cell: Cell) -> int:
        """Return the number of an external cell."""
        if cell not in self.cells:
            self._add_external(cell)
        return [*self.cells].index(cell)

    def changed(self) -> dict[Cell, Node]:
        """Return the external cells that the function changed, with their new values."""
        return {
            cell: node
            for cell, node in self.written.items()
            if not isinstance(node, Leaf) or node.buffers.get(self) != self.cells[cell]
        }

    # -- leaves --------------------------------------------------------------------------------------------------------

    def _leaf(self, shape: Shape, dtype: DType) -> Leaf:
        leaf = Leaf(shape, dtype)
        leaf.buffers[self] = len(self.registers)
        self.registers.append(None)
        return leaf

    def register(self, node: Node) -> int:
        """Return the register of an evaluated node. A constant gets one at the first request."""
        leaf = current(node)
        assert isinstance(leaf, Leaf)
        number: int | None = leaf.buffers.get(self)
        if number is None:
            number = self._constants.get(id(leaf))
        if number is None:
            number = self._constants[id(leaf)] = len(self.registers)
            self.registers.append(leaf)
        return number

    def check(self, status: Node, device: Device, error: Callable[[], Exception]) -> bool:
        """Note that a status has to be 0 after each call; return False if it is the same in all calls."""
        if self.is_known(status):
            return False
        self.require_computed(status, device)
        self.statuses.append((status, error))
        return True

    def require_computed(self, node: Node, device: Device) -> None:
        """Note that each call computes a value, because that may raise an error."""
        self.required.setdefault(device, []).append(node)

    def postpone(self, nodes: Sequence[Node], device: Device) -> Sequence[Node]:
        """Return the nodes whose values are the same in all calls. The plan of a later segment computes the others."""
        known = [node for node in nodes if self.is_known(node)]
        self.postponed.setdefault(device, []).extend([node for node in nodes if node not in known])
        return known

    def read(self, buffer: int, array: npt.NDArray[Any]) -> NoReturn:
        """Raise RecordingError; called like a provider's method of this name."""
        if self.is_over:
            raise RecordingError(
                f"an array that {self.name} made while it was recorded was used after that; it has no value. Return "
                "arrays from the function instead of keeping them elsewhere"
            )
        self.refuse(f"{_asked()} of an array")

    def evaluate(self, pending: Sequence[Node], device: Device, *, is_wanted: bool = False) -> bool:
        """Turn an evaluation into a segment, which computes it at each call.

        Parameters
        ----------
        pending : sequence of Node
            The nodes to compute.
        device : Device
            The device that computes them.
        is_wanted : bool
            Whether to make a segment even if no operand changes between calls.
        """
        changing = pending_of(pending if is_wanted else [node for node in pending if not self.is_known(node)])
        if not changing:
            return False
        count = len(changing)
        changing = pending_of([*changing, *self.required.pop(device, ()), *self.postponed.pop(device, ())])
        while True:
            provider = registry.open_device(device)
            with places.graphs:
                prepared, walked = find_plan(changing, provider, config.current)
            if not (device is auto.AUTO and trials.asks_for_device(prepared)):
                break
        with places.graphs:
            order = prepared.order(walked)
            results = []
            for position, _ in prepared.plan.results:
                node = order[position]
                results.append(self._leaf(node.shape, node.dtype))
                results[-1].origin = node.origin
            registers = [leaf.buffers[self] for leaf in results]
            known = segment.bind(prepared, provider, device, walked, lambda leaf: leaf.buffers.get(self), registers)
            self.segments.append(known)
            prepared.resolve(walked, order, results)
        return count == len(pending)

    def is_known(self, node: Node) -> bool:
        """Return whether a value depends on nothing that differs between calls."""
        return not any(map(self._is_unknown, topological((node,)).order))

    def _is_unknown(self, node: Node) -> bool:
        if isinstance(node, Leaf):
            return self in node.buffers
        return isinstance(node, Generate) and any(type(parameter) is Deferred for parameter in node.parameters)

    # -- numbers -------------------------------------------------------------------------------------------------------

    def computed(self, function: Callable[..., Any], operands: tuple[Any, ...], sample: Any) -> Any:
        """Return a traced scalar, whose value each call computes by a function of its own values."""
        slots = tuple([value._slot if type(value) is TracedScalar else self._constant(value) for value in operands])
        return TracedScalar(self, self._line(function, slots, type(sample)), sample)

    def _constant(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _line(self, function: Callable[..., Any], operands: tuple[int, ...], kind: type | None) -> int:
        line = self._constant(None)
        self.lines.append((line, (function, operands, kind)))
        return line

    # -- random bits ---------------------------------------------------------------------------------------------------

    def stream_created(self, stream: Any, is_random: bool) -> None:
        """Note that the function creates a random stream, whose numbers are the same at each call."""
        if is_random:
            self.refuse(
                "a random generator without a seed, which would give the same numbers at each call; a generator"
            )
        self._own_streams.append(stream)

    def touched(self, stream: Any, asked: str) -> None:
        """Refuse access to the state of a random stream, unless the function created it."""
        if not any(stream is known for known in self._own_streams):
            self.refuse(asked)

    def drawn(self, stream: Any, draw: Callable[[Any], Sequence[Any]], words: int) -> Sequence[Any] | None:
        """Return placeholders for words that each call takes from a stream; None if the function created the stream."""
        if any(stream is known for known in self._own_streams):
            return None
        source = self._streams.get(id(stream))
        if source is None:
            source = self._streams[id(stream)] = self._constant(stream)
        line = self._line(draw, (source,), None)
        return [Deferred(line, word) for word in range(words)]

    # -- NumPy ---------------------------------------------------------------------------------------------------------

    def looked_at(self, array: npt.NDArray[Any]) -> None:
        """Note that the function reads a NumPy array, whose values are constant if nothing else refers to the array."""
        self.host_arrays.append(array)

    def outliving(self) -> list[npt.NDArray[Any]]:
        """Return the NumPy arrays to which something else refers, and drop all references to the others."""
        arrays = list({id(array): array for array in self.host_arrays}.values())
        self.host_arrays = []
        owners = [_owner(array) for array in arrays]
        counts = Counter([*map(id, arrays), *map(id, owners), *[id(a.base) for a in arrays if a.base is not None]])
        return [
            arrays[number]
            for number in range(len(arrays))  # a variable would add a reference
            if not isinstance(owners[number], np.ndarray) or owner_count(owners, number) > counts[id(owners[number])]
        ]

    # -- refusing ------------------------------------------------------------------------------------------------------

    def refuse(self, asked: str) -> NoReturn:
        """Raise RecordingError for a value that is known only during a call."""
        error = RecordingError(
            f"jit cannot record {self.name}, because it reads {asked}, which may differ in each call. Choose between "
            "values with gpuarray.where, declare arguments that decide how the function runs in static_argnames, or "
            "do not use jit"
        )
        self.refused = self.refused or error
        raise error


def _owner(array: Any) -> Any:
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


def _asked() -> str:
    """Return a description of the call by which the user's code reads a value."""
    frame: FrameType | None = frame_at(2)
    inner = frame
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        inner, frame = frame, frame.f_back
    called = "" if inner is None else name_of_call(inner)
    return _ASKED.get(called, f"the value, for {called}(),")
