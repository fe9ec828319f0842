"""Recording a function: its call is traced, and what later calls need becomes a :class:`Recording`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import ref

import numpy as np

from gpuarray.array import Cell, GpuArray, wrap
from gpuarray.array.memory import NOTHING
from gpuarray.array.traced_scalars import TracedScalar
from gpuarray.device import Device
from gpuarray.errors import RecordingError
from gpuarray.functions.random import Generator
from gpuarray.functions.random_bits import Philox
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.jit.guards import Guards
from gpuarray.jit.recording import CellSource, Maker, Recording
from gpuarray.jit.signature import NUMBERS, BoundCall, rebuilt
from gpuarray.jit.trace import Trace

_ARRAYS: Final = (GpuArray, np.ndarray, np.memmap)
#: Streams of random bits, which are among the values of a call.
_STREAMS: Final = (Generator, Philox)
_CONSTANTS: Final = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, type)


def record(
    function: Callable[..., Any],
    name: str,
    call: BoundCall,
    args: Sequence[tuple[Any, bool, str]],
    keywords: Sequence[tuple[str, Any, bool]],
) -> Recording:
    """Return a function recorded for a call.

    Parameters
    ----------
    function : callable
        The function.
    name : str
        Name of the function, for error messages.
    call : BoundCall
        The parsed call.
    args : sequence of (object, bool, str)
        Positional arguments, whether their values are part of the signature, and their names.
    keywords : sequence of (str, object, bool)
        Keywords, in the order of the signature.

    Raises
    ------
    RecordingError
        If it reads a value that is known only during a call, or has side effects that a replay would not repeat.
    """
    guards = Guards(function, call.statics)
    trace = Trace(name, call.values)
    arguments = _Arguments(trace, call)

    def run() -> tuple[Maker, list[tuple[Cell, int, Device]], bool]:
        result = function(
            *[value if static else arguments.of(value, called) for value, static, called in args],
            **{called: value if static else arguments.of(value, called) for called, value, static in keywords},
        )
        arguments.check(name)
        output = _Output(trace, arguments, result)
        changed = trace.changed()
        output.evaluate(changed)
        make = output.maker(result)
        return make, [(cell, trace.register(node), cell.device) for cell, node in changed.items()], output.is_sharing

    make, updates, is_sharing = trace.record(run)
    if what := guards.changed():
        raise RecordingError(
            f"{name} changed {what} while jit recorded it, which later calls would not repeat; return values from the "
            "function, or do not use jit"
        )
    if updates and not {*call.argument_cells}.isdisjoint(trace.cells):
        raise RecordingError(
            f"{name}, recorded by jit, writes to arrays, and one of its arguments shares memory with an array in a "
            "variable that it uses; pass that array as an argument too, or pass another one"
        )
    return _recording(name, guards, call, trace, arguments, updates, make, is_sharing=is_sharing)


def _recording(
    name: str,
    guards: Guards,
    call: BoundCall,
    trace: Trace,
    arguments: "_Arguments",
    updates: Sequence[tuple[Cell, int, Device]],
    make: Maker,
    *,
    is_sharing: bool,
) -> Recording:
    """Return the recording of a function that was traced."""
    checks = tuple([(trace.register(status), error) for status, error in trace.statuses])
    numbers = {cell: number for number, cell in enumerate(trace.cells)}
    sources = tuple(
        [
            CellSource(
                register, arguments.numbers.get(cell, -1), None if cell in arguments.numbers else ref(cell), cell.device
            )
            for cell, register in trace.cells.items()
        ]
    )
    written = tuple([(numbers[cell], register, device) for cell, register, device in updates])
    devices = {segment.device: segment.provider for segment in trace.segments}
    hosts = {id(array): array for array in [*trace.outliving(), *guards.arrays]}
    return Recording(
        name=name,
        guards=guards,
        sources=sources,
        updates=written,
        moved=_end_values(trace, sources, written, {register for register, _ in checks}),
        segments=tuple(trace.segments),
        registers=trace.registers,
        constants=trace.values[len(call.values) :],
        lines=tuple(trace.lines),
        providers=tuple(sorted(devices.items(), key=lambda item: item[1].device.name)),
        ranges=tuple(trace.ranges),
        hosts=[(array, array.tobytes()) for array in hosts.values()],
        checks=checks,
        make=make,
        is_sharing=is_sharing,
    )


def _end_values(
    trace: Trace, sources: Sequence[CellSource], written: Sequence[tuple[int, int, Device]], checked: set[int]
) -> frozenset[int]:
    """Note which values and donors nothing reads after a segment; return the numbers of changed cells that donate."""
    later = {register for _, register, _ in written} | trace.returned | checked
    of_cells = {source.register for source in sources}
    used: set[int] = set()
    for segment in reversed(trace.segments):
        segment.donors = tuple([donor for donor in segment.donors if donor[2] not in later])
        used.update(register for _, _, register in segment.donors)
        read = {register for register, _ in segment.leaves if register is not None}
        segment.ended = tuple(read - later - of_cells)
        later |= read
    return frozenset(number for number, _, _ in written if sources[number].register in used)


class _Arguments:
    """The arguments of a function while it is recorded."""

    def __init__(self, trace: Trace, call: BoundCall) -> None:
        self._trace = trace
        self._call = call
        self.arrays: list[GpuArray] = []
        self.numbers: dict[Cell, int] = {}
        """The numbers of the arrays that proxies of cells represent."""
        self._cells: dict[Cell, Cell] = {}
        self._values = 0

    def of(self, value: Any, name: str) -> Any:
        """Return the placeholder of an argument."""

        def placeholder(value: Any) -> Any:
            kind = type(value)
            if kind in _ARRAYS:
                return self._array()
            if kind in NUMBERS or isinstance(value, np.number):
                self._values += 1
                return TracedScalar(self._trace, self._values - 1, self._call.values[self._values - 1], name)
            self._values += kind in _STREAMS
            return value

        return rebuilt(value, placeholder)

    def _array(self) -> GpuArray:
        # a separate object, which shows whether the function changes the shape of the array
        number = len(self.arrays)
        array = self._call.arrays[number]
        cell = array._cell
        if cell not in self._cells:
            self._cells[cell] = self._trace.proxy(cell)
            self.numbers[self._cells[cell]] = number
        self.arrays.append(
            _seen(self._cells[cell], array._layout, array._shape, array._dtype, array._part, array._access)
        )
        return self.arrays[-1]

    def check(self, name: str) -> None:
        """Raise RecordingError if the function changed the shape or the flags of an argument."""
        for array, traced in zip(self._call.arrays, self.arrays, strict=True):
            if (array._shape, array._layout, array._access) != (traced._shape, traced._layout, traced._access):
                raise RecordingError(
                    f"{name} changed the shape or the flags of an argument, which jit does not repeat in later calls; "
                    "create a view with reshape"
                )


@dataclass(frozen=True, slots=True)
class NewArray:
    """Makes an array with new storage.

    Attributes
    ----------
    register : int
        The register of its value.
    device : Device
        Its device.
    layout : Layout or None
        Its layout: it may be in another order than C's.
    shape : tuple of int
        Its shape.
    access : int
        Its access.
    number : int
        The number of its cell.
    """

    register: int
    device: Device
    layout: Layout | None
    shape: Shape
    access: int
    number: int

    def __call__(self, call: BoundCall) -> GpuArray:
        """Return the array of a call."""
        array = call.results[self.number] = wrap(call.registers[self.register], self.device)
        array._access, array._layout, array._shape = self.access, self.layout, self.shape
        return array


@dataclass(frozen=True, slots=True)
class Items:
    """Makes a tuple or a list, whose items ``parts`` make."""

    kind: type
    parts: list[Maker]

    def __call__(self, call: BoundCall) -> Any:
        """Return the tuple or list of a call."""
        return self.kind([part(call) for part in self.parts])


class _Output:
    """The result of a recorded function, and how to make it in each call."""

    def __init__(self, trace: Trace, arguments: _Arguments, result: Any) -> None:
        self._trace = trace
        self._arguments = arguments
        self._cells: dict[Cell, int] = {}
        """New cells, numbered in order."""
        self._wrapped: set[int] = set()
        """The numbers of the cells for which earlier parts of the result make arrays."""
        self.is_sharing = False
        """Whether it shares memory with arrays that were there before."""
        rebuilt(result, self._look)

    def _look(self, value: Any) -> None:
        if isinstance(value, GpuArray) and not self._trace.is_external(value._cell):
            self._cells.setdefault(value._cell, len(self._cells))

    def evaluate(self, changed: dict[Cell, Node]) -> None:
        """Evaluate everything that is returned or written to external cells."""
        pending = self._trace.required
        self._trace.required, self._trace.postponed = {}, {}
        for cell, node in [*changed.items(), *((cell, cell.node) for cell in self._cells)]:
            if node.result is None and type(node) is not Leaf:
                pending.setdefault(cell.device, []).append(node)
        for device, nodes in pending.items():
            self._trace.evaluate(nodes, device, is_wanted=True)

    def maker(self, value: Any) -> Maker:
        """Return the function that builds a part of the result."""
        kind = type(value)
        if kind is GpuArray:
            return self._array(value)
        if kind is TracedScalar:
            slot = value._slot
            return lambda call: call.values[slot]
        if kind is tuple or kind is list:
            return Items(kind, [self.maker(item) for item in value])
        if kind is dict:
            named = {name: self.maker(item) for name, item in value.items()}
            return lambda call: {name: item(call) for name, item in named.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [self.maker(item) for item in value]
            return lambda call: kind(*[item(call) for item in parts])
        if kind is np.ndarray:
            return lambda call: value.copy()
        if isinstance(value, _CONSTANTS):
            return lambda call: value
        raise RecordingError(
            f"{self._trace.name}, recorded by jit, returned a {kind.__qualname__}; return arrays, numbers, "
            "strings, None, or tuples, lists and dictionaries of these"
        )

    def _array(self, array: GpuArray) -> Maker:
        for number, traced in enumerate(self._arguments.arrays):
            if traced is array:
                self.is_sharing = True
                return lambda call: call.arrays[number]
        cell = array._cell
        layout, shape, dtype, part, access = array._layout, array._shape, array._dtype, array._part, array._access
        if self._trace.is_external(cell):
            self.is_sharing = True
            number_of_cell = self._trace.number(cell)
            return lambda call: _seen(call.cells[number_of_cell], layout, shape, dtype, part, access)
        register = self._trace.register(cell.node)
        self._trace.returned.add(register)
        is_view = array._owner is not None or part is not None
        number = self._cells[cell]
        is_first = number not in self._wrapped
        self._wrapped.add(number)
        if is_first and not is_view:
            return NewArray(register, cell.device, layout, shape, access, number)
        whole = NewArray(register, cell.device, None, cell.node.shape, access, number)

        def view(call: BoundCall) -> GpuArray:
            result = call.results.get(number)
            return (whole(call) if result is None else result)._see(layout, shape, dtype, part, access)

        return view


def _seen(cell: Cell, *view: Any) -> GpuArray:
    layout, shape, dtype, part, access = view
    array: GpuArray = object.__new__(GpuArray)
    array._value = None
    array._memory = array._large = NOTHING
    array._cell = cell
    array._layout, array._shape, array._dtype, array._part, array._access = layout, shape, dtype, part, access
    whole = layout is None and part is None
    array._owner = None if whole else _seen(cell, None, cell.node.shape, cell.node.dtype, None, access)
    return array
