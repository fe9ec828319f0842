"""Recording a function: what it does to arrays, numbers and streams of random bits, while it runs once.

While a :class:`Trace` is open, the thread's reads and writes of storage cells go through it. A cell that was there
before is *outside*: its value is a leaf without a value, of which a call binds the present one, whether the cell stands
for an argument's or is met in a global variable; what is written to it is kept here, so that a recording changes
nothing. Cells that the function makes are its own. Evaluations become segments (:mod:`gpuarray.jit.segment`), whose
results are leaves without values too.
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
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.errors import RecordingError
from gpuarray.graph import build, tracing
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Generate, Leaf, Node, View
from gpuarray.graph.tracing import Deferred
from gpuarray.graph.walk import current
from gpuarray.jit import segment
from gpuarray.references import owner_count
from gpuarray.runtime import places
from gpuarray.runtime.plans import find_plan, pending_of
from gpuarray.source_locations import frame_at, is_user_file

T = TypeVar("T")

#: A value of a call that is computed of earlier ones: how, of which, and the type that it has to have.
Line: TypeAlias = tuple[Callable[..., Any], tuple[int, ...], type | None]

#: Positions that are in a range: the number of the outside cell, the view of it, the first and the end.
Range: TypeAlias = tuple[int, Layout | None, int, int]

_slot: Final[Any] = Cell.__dict__["node"]
_one_at_a_time = threading.RLock()
#: What people call what the methods of arrays ask for.
_ASKED: Final = {
    "__bool__": "the truth value (for `if`, `while`, `and`, `or`, `not`, `in`)",
    "__contains__": "the truth value (for `in`)",
    "__float__": "the value, as a float,",
    "__int__": "the value, as an int,",
    "__index__": "the value, as an integer (of a shape, an axis, an index, a range),",
    "__complex__": "the value, as a complex number,",
    "__array__": "the elements, as a NumPy array,",
    "__iter__": "the elements (to iterate over them)",
    "__getitem__": "the elements of a mask, or whether positions are in range (if they are, index with "
    "gpuarray.using(check_indices=False)),",
    "__setitem__": "the elements of a mask, or whether positions are in range (if they are, index with "
    "gpuarray.using(check_indices=False)),",
    "__repr__": "the text",
    "__str__": "the text",
    "__format__": "the text",
}


def _see_through(how: Any) -> None:
    """Let reads and writes of the values of storage cells go through a descriptor."""
    setattr(Cell, "node", how)  # noqa: B010  # the type checker knows it as a variable


def _leave_recordings() -> None:
    global _one_at_a_time  # in a child of fork no thread but one goes on
    _one_at_a_time = threading.RLock()
    if tracing.state.trace is not None and tracing.active() is None:
        _see_through(_slot)
        tracing.state.trace = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_recordings)


class Trace:
    """One recording.

    Parameters
    ----------
    name : str
        The function, for errors.
    values : sequence
        What the host knows of the call that is recorded: numbers, and streams of random bits.
    """

    device: Final = Device("recorded")

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.thread = get_ident()
        self.name = name
        self.is_over = False
        self.refused: RecordingError | None = None
        self.registers: list[Leaf | None] = []
        """The leaves that stay; None where each call has its own."""
        self.cells: dict[Cell, int] = {}
        """The registers of outside cells."""
        self.written: dict[Cell, Node] = {}
        """The values that outside cells have by now."""
        self.devices: dict[Cell, Device] = {}
        """The devices that they had."""
        self.segments: list[segment.Segment] = []
        self.values: list[Any] = list(values)
        """The values of a call that stay; those that each call gives or computes are places only."""
        self.lines: list[tuple[int, Line]] = []
        self.looked: list[npt.NDArray[Any]] = []
        self.returned: set[int] = set()
        """Registers of what is returned."""
        self.ranges: list[Range] = []
        """What is required of positions."""
        self._asked: dict[int, tuple[Node, int, Layout | None]] = {}
        self._stood: dict[Cell, Cell] = {}
        self._own: set[int] = set()
        self._streams: dict[int, int] = {id(v): n for n, v in enumerate(values)}
        self._made: list[Any] = []
        self._stays: dict[int, int] = {}

    def record(self, function: Callable[[], T]) -> T:
        """Return what a function returns, and record what this thread does meanwhile."""
        with _one_at_a_time:
            try:
                try:
                    tracing.state.trace = self
                    _see_through(property(self._node, self._bind))
                    result = function()
                except Exception as error:
                    if self.refused is not None and error is not self.refused:  # NumPy has errors of its own for it
                        raise self.refused from error
                    raise
                finally:
                    self._end()
            finally:
                self._end()  # an interrupt may have come before it was called
        if self.refused is not None:  # a program may have caught it, and gone another way than it would
            raise self.refused
        return result

    def _end(self) -> None:
        """Let cells be what they are without a recording; twice is allowed."""
        setattr(Cell, "node", _slot)  # noqa: B010  # as _see_through does, without a call
        tracing.state.trace = None
        self.is_over = True
        for cell, device in self.devices.items():
            cell.device = device

    # -- cells ---------------------------------------------------------------------------------------------------------

    def _node(self, cell: Cell) -> Node:
        if get_ident() != self.thread or id(cell) in self._own:
            node: Node = _slot.__get__(cell)
            return node
        if cell not in self.cells:
            self._meet(cell)
        return self.written[cell]

    def _bind(self, cell: Cell, node: Node) -> None:
        if get_ident() != self.thread or id(cell) in self._own:
            _slot.__set__(cell, node)
        elif cell in self.cells:
            self.written[cell] = node
        else:
            try:
                _slot.__get__(cell)
            except AttributeError:  # it is being made
                self._own.add(id(cell))
                _slot.__set__(cell, node)
            else:
                self._meet(cell)
                self.written[cell] = node

    def _meet(self, cell: Cell) -> None:
        node = _slot.__get__(cell)
        leaf = self._leaf(node.shape, node.dtype)
        self.cells[cell] = leaf.buffers[self]
        self.written[cell] = leaf
        self.devices[cell] = cell.device

    def stand_in(self, cell: Cell) -> Cell:
        """Return a cell that stands for an argument's, which may be met in a variable too."""
        own: Cell = object.__new__(Cell)
        own.device = cell.device
        self._stood[own] = cell
        _slot.__set__(own, _slot.__get__(cell))
        self._meet(own)
        _slot.__set__(own, self.written[own])  # what other threads see of it
        return own

    def present(self, node: Node) -> Node:
        """Return what a node is in the call that is recorded, if it is an outside cell's value or a view of it."""
        source = current(node)
        layout: Layout | None = None
        if isinstance(source, View):
            layout = source.layout
            source = current(source.inputs[0])
        register = source.buffers.get(self) if isinstance(source, Leaf) else None
        for number, (cell, own) in enumerate(self.cells.items()):
            if own == register:
                self._asked[id(node)] = node, number, layout
                known: Node = _slot.__get__(self._stood.get(cell, cell))
                return known if layout is None else build.view(known, layout)
        return node

    def require(self, node: Node, start: int, stop: int) -> None:
        """Note that the recording is for calls where the elements of what :meth:`present` knew are in a range."""
        if id(node) in self._asked:
            _, number, layout = self._asked[id(node)]
            self.ranges.append((number, layout, start, stop))

    def is_outside(self, cell: Cell) -> bool:
        """Whether a cell was there before."""
        return cell in self.cells or id(cell) not in self._own

    def number(self, cell: Cell) -> int:
        """Return which of the outside cells one is."""
        if cell not in self.cells:
            self._meet(cell)
        return [*self.cells].index(cell)

    def changed(self) -> dict[Cell, Node]:
        """Return the outside cells that the function writes to, and what."""
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
        """Return the register of an evaluated node; of what stays, one that has it."""
        leaf = current(node)
        assert isinstance(leaf, Leaf)
        found: int | None = leaf.buffers.get(self)
        if found is None:
            found = self._stays.get(id(leaf))
        if found is None:
            found = self._stays[id(leaf)] = len(self.registers)
            self.registers.append(leaf)
        return found

    def read(self, buffer: int, array: npt.NDArray[Any]) -> NoReturn:
        """Refuse to read a leaf: as providers read their buffers."""
        if self.is_over:
            raise RecordingError(
                f"an array that {self.name} made while it was recorded was used after that; it has no value. Return "
                "arrays from the function instead of keeping them elsewhere"
            )
        self.refuse(f"{_asked()} of an array")

    def evaluate(self, pending: Sequence[Node], device: Device, held_from: int, *, is_wanted: bool = False) -> bool:
        """Take an evaluation over: a segment computes it at each call.

        Parameters
        ----------
        pending : sequence of Node
            What is computed.
        device : Device
            Where.
        held_from : int
            The depth from which on other values that arrays have are computed too.
        is_wanted : bool
            Whether it is to be a segment even if nothing that changes is part of it.
        """
        provider = places.provider_of(device)
        with places.lock:
            ready, walked = find_plan(pending_of(pending), provider, held_from)
            if not is_wanted and not any(map(self._is_unknown, walked)):
                return False
            order = ready.order(walked)
            results = []
            for position, _ in ready.plan.results:
                node = order[position]
                leaf = self._leaf(node.shape, node.dtype)
                leaf.origin = node.origin
                results.append((node, leaf))
            registers = [leaf.buffers[self] for _, leaf in results]
            known = segment.bind(ready, provider, device, walked, lambda leaf: leaf.buffers.get(self), registers)
            self.segments.append(known)
            for node, leaf in results:
                node.resolve(leaf)
            for place, position in ready.twins:
                made = order[position].result
                if made is not None:
                    walked[place].resolve(made)
        return True

    def _is_unknown(self, node: Node) -> bool:
        if isinstance(node, Leaf):
            return self in node.buffers
        return isinstance(node, Generate) and any(type(parameter) is Deferred for parameter in node.parameters)

    # -- numbers -------------------------------------------------------------------------------------------------------

    def computed(self, function: Callable[..., Any], operands: tuple[Any, ...], sample: Any) -> Any:
        """Return the number that a function gives, at each call of what the numbers are then."""
        slots = tuple([value._slot if type(value) is TracedScalar else self._constant(value) for value in operands])
        return TracedScalar(self, self._line(function, slots, type(sample)), sample)

    def _constant(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _line(self, function: Callable[..., Any], operands: tuple[int, ...], kind: type | None) -> int:
        place = self._constant(None)
        self.lines.append((place, (function, operands, kind)))
        return place

    # -- random bits ---------------------------------------------------------------------------------------------------

    def made(self, stream: Any, is_random: bool) -> None:
        """Note that the function makes a stream itself: its numbers are the same at each call."""
        if is_random:
            self.refuse(
                "a random generator without a seed, which would give the same numbers at each call; a generator"
            )
        self._made.append(stream)

    def touched(self, stream: Any, asked: str) -> None:
        """Refuse to change or to see the state of a stream, unless the function has made it."""
        if not any(stream is own for own in self._made):
            self.refuse(asked)

    def drawn(self, stream: Any, draw: Callable[[Any], Sequence[Any]], words: int) -> Sequence[Any] | None:
        """Return what stands for the words that are taken from a stream at each call; None if the function made it."""
        if any(stream is own for own in self._made):
            return None
        source = self._streams.get(id(stream))
        if source is None:
            source = self._streams[id(stream)] = self._constant(stream)
        place = self._line(draw, (source,), None)
        return [Deferred(place, part) for part in range(words)]

    # -- NumPy ---------------------------------------------------------------------------------------------------------

    def looked_at(self, array: npt.NDArray[Any]) -> None:
        """Note that the values of a NumPy array are used, which stay unless somebody else has it."""
        self.looked.append(array)

    def outliving(self) -> list[npt.NDArray[Any]]:
        """Return the NumPy arrays that others than this recording refer to; it does not any more afterwards."""
        looked = list({id(array): array for array in self.looked}.values())
        self.looked = []
        owners = [_owner(array) for array in looked]
        own = Counter([*map(id, looked), *map(id, owners), *[id(a.base) for a in looked if a.base is not None]])
        return [
            looked[number]
            for number in range(len(looked))  # a name for the array would be one more reference
            if not isinstance(owners[number], np.ndarray) or owner_count(owners, number) > own[id(owners[number])]
        ]

    # -- refusing ------------------------------------------------------------------------------------------------------

    def refuse(self, asked: str) -> NoReturn:
        """Raise the error that says what only a call has, and what to do."""
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
    """Return what the program's own code asked for, as it called into this package or NumPy."""
    frame: FrameType | None = frame_at(2)
    inner = frame
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        inner, frame = frame, frame.f_back
    called = "" if inner is None else inner.f_code.co_name
    if inner is not None and called in ("__array_function__", "__array_ufunc__"):
        called = getattr(inner.f_locals.get("function", inner.f_locals.get("ufunc")), "__name__", called)
    return _ASKED.get(called, f"the value, for {called}(),")
