"""Recordings: a traced call of a function, and its replay for other calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray.array import Cell, GpuArray, wrap
from gpuarray.array.bounds import bounds
from gpuarray.array.memory import NOTHING
from gpuarray.array.traced_scalars import TracedScalar
from gpuarray.device import Device
from gpuarray.errors import RecordingError
from gpuarray.functions.random import Generator
from gpuarray.functions.random_bits import Philox
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import BaseNode, Leaf, Node
from gpuarray.graph.walk import current
from gpuarray.interrupts import Section
from gpuarray.jit.guards import Guards
from gpuarray.jit.segment import Segment
from gpuarray.jit.signature import NUMBERS, Call, rebuilt
from gpuarray.jit.trace import Check, Line, Range, Trace
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import evaluate, places, statuses

_ARRAYS: Final = (GpuArray, np.ndarray, np.memmap)
#: Streams of random bits, which are among the values of a call.
_STREAMS: Final = (Generator, Philox)
_CONSTANTS: Final = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, type)


#: Builds a part of a function's result from what a replay left in its call.
Maker: TypeAlias = Callable[[Call], Any]


@dataclass(slots=True)
class Source:
    """Where a replay finds an external cell: in an argument, or in a variable.

    Attributes
    ----------
    register : int
        The register of its value.
    array : int
        The number of the array among the arguments; -1 for variables.
    met : weak reference, optional
        The cell, if it belongs to a variable.
    device : Device
        Its device when it was recorded.
    """

    register: int
    array: int
    met: "ref[Cell] | None"
    device: Device


@dataclass(slots=True)
class Recording:
    """A function recorded for calls of one signature.

    Attributes
    ----------
    name : str
        Name of the function, for error messages.
    guards : Guards
        The variables on which the recording depends.
    sources : tuple of Source
        The external cells, by number.
    updates : tuple of (int, int, Device)
        Numbers of the cells that change, the registers of their new values, and their new devices.
    segments : tuple of Segment
        The evaluations.
    registers : list
        Leaves that are constant; None for registers that each call sets.
    constants : list
        Values that follow those of a call.
    lines : tuple
        Computations of further values, and their positions.
    providers : tuple of (Device, Provider)
        The devices of the evaluations, and their providers, by the names of these.
    ranges : tuple
        Required ranges of arrays of positions.
    hosts : list
        NumPy arrays that were used and are referenced elsewhere, with their bytes.
    moved : frozenset of int
        Numbers of changed cells whose old buffer a segment may overwrite.
    checks : tuple
        The statuses that have to be 0 after a call, and the errors.
    make : callable
        Builds the result.
    is_sharing : bool
        Whether the result shares memory with arrays that were there before the call.
    """

    name: str
    guards: Guards
    sources: tuple[Source, ...]
    updates: tuple[tuple[int, int, Device], ...]
    segments: tuple[Segment, ...]
    registers: list[Any]
    constants: list[Any]
    lines: tuple[tuple[int, Line], ...]
    providers: tuple[tuple[Device, Provider], ...]
    ranges: tuple[Range, ...]
    hosts: list[tuple[npt.NDArray[Any], bytes]]
    moved: frozenset[int]
    checks: tuple[Check, ...]
    make: Maker
    is_sharing: bool

    @property
    def takes_copies(self) -> bool:
        """Whether calls may be given copies of their arrays: nothing is written to them, nor returned of them."""
        return not self.updates and not self.is_sharing

    def fits(self, call: Call) -> bool:
        """Return whether the recording is valid for a call: nothing on which it depends has changed."""
        for source in self.sources:
            if source.met is not None:
                cell = source.met()
                if cell is None or cell.device is not source.device:
                    return False
                if self.updates and any(given is cell for given in call.given):
                    return False
        for device, provider in self.providers:
            if registry.open_device(device) is not provider:
                return False
        if not self.guards.are_same():
            return False
        if self.hosts and not all(array.tobytes() == known for array, known in self.hosts):
            return False
        return not self.ranges or all(self._is_in_range(call, *required) for required in self.ranges)

    def _is_in_range(self, call: Call, number: int, layout: Layout | None, start: int, stop: int) -> bool:
        source = self.sources[number]
        cell: Any = call.given[source.array] if source.met is None else source.met()
        node = cell.node if layout is None else build.view(cell.node, layout)
        lowest, highest = bounds(node, cell.device)
        return start <= lowest and highest < stop

    @property
    def is_stale(self) -> bool:
        """Whether no call can match any more, because an array or a device is gone."""
        return any(source.met is not None and source.met() is None for source in self.sources) or any(
            not getattr(provider, "alive", True) for _, provider in self.providers
        )

    def play(self, call: Call) -> Any:
        """Replay the recording for a call and return the result; computations may still be running."""
        values = call.values
        values += self.constants
        call.registers = self.registers[:]
        for place, (function, operands, kind) in self.lines:
            value = function(*[values[operand] for operand in operands])
            if kind is not None and type(value) is not kind:
                raise RecordingError(
                    f"{self.name} was recorded by jit with a {kind.__name__}, but this call computed a "
                    f"{type(value).__name__}; declare the numbers that decide the type in static_argnames"
                )
            values[place] = value
        while not self._run(call):
            self._evaluate(call)
        for register, error in self.checks:
            statuses.expect(call.registers[register], error)
        return self.make(call)

    def _run(self, call: Call, locked: int = 0) -> bool:
        """Run the segments, and put the new values into cells; return False if an external value is pending.

        The locks of the first ``locked`` devices have been taken.
        """
        if locked < len(self.providers):
            beside = [provider for _, provider in self.providers[:locked]] if locked else ()
            with places.lock_of(self.providers[locked][1], beside):
                return self._run(call, locked + 1)
        cells, registers = call.cells, call.registers
        for source in self.sources:
            cell: Any = call.given[source.array] if source.met is None else source.met()
            node = cell.node
            leaf = registers[source.register] = node if node.result is None else node.result
            if type(leaf) is not Leaf:
                cells.clear()
                return False
            cells.append(cell)
        node = leaf = None  # a reference to a value would prevent its buffer from being overwritten
        if self.moved:
            with Section():
                self._update_in_place(call)
        else:
            for segment in self.segments:
                segment.run(registers, call.values)
            if self.updates:
                self._bind(call)
        return True

    def _update_in_place(self, call: Call) -> None:
        """Run the segments while the cells whose buffers they may overwrite hold placeholders of their next values.

        After an error these cells hold what they held.
        """
        cells, registers = call.cells, call.registers
        placeholders = [_placeholder(cells[number]) for number in self.moved]
        try:
            for segment in self.segments:
                segment.run(registers, call.values)
        except BaseException:
            for number in self.moved:
                cells[number].node = registers[self.sources[number].register]
            raise
        self._bind(call)
        for number, placeholder in zip(self.moved, placeholders, strict=True):
            placeholder.resolve(cells[number].node)

    def _bind(self, call: Call) -> None:
        """Give the external cells that change their new values."""
        for number, register, device in self.updates:
            call.cells[number].device = device
            call.cells[number].bind(call.registers[register])

    def _evaluate(self, call: Call) -> None:
        """Evaluate the pending values of external cells together."""
        pending: dict[Device, list[Node]] = {}
        for source in self.sources:
            cell: Any = call.given[source.array] if source.met is None else source.met()
            node = current(cell.node)
            if type(node) is not Leaf:
                pending.setdefault(cell.device, []).append(node)
        for device, nodes in pending.items():
            evaluate.evaluate(nodes, device)


def _placeholder(cell: Cell) -> Any:
    """Replace the value of a cell by a placeholder for its next value, and return the placeholder."""
    placeholder: Any = BaseNode(BaseNode, (), cell.node.shape, cell.node.dtype)
    cell.node = placeholder
    cell.memory = None
    return placeholder


# -- recording ---------------------------------------------------------------------------------------------------------


def record(
    function: Callable[..., Any],
    name: str,
    call: Call,
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
    call : Call
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
    given = _Arguments(trace, call)

    def run() -> tuple[Maker, list[tuple[Cell, int, Device]], bool]:
        result = function(
            *[value if static else given.of(value, called) for value, static, called in args],
            **{called: value if static else given.of(value, called) for called, value, static in keywords},
        )
        given.check(name)
        output = _Output(trace, given, result)
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
    if updates and not {*call.given}.isdisjoint(trace.cells):
        raise RecordingError(
            f"{name}, recorded by jit, writes to arrays, and one of its arguments shares memory with an array in a "
            "variable that it uses; pass that array as an argument too, or pass another one"
        )
    return _recording(name, guards, call, trace, given, updates, make, is_sharing=is_sharing)


def _recording(
    name: str,
    guards: Guards,
    call: Call,
    trace: Trace,
    given: "_Arguments",
    updates: Sequence[tuple[Cell, int, Device]],
    make: Maker,
    *,
    is_sharing: bool,
) -> Recording:
    """Return the recording of a function that was traced."""
    numbers = {cell: number for number, cell in enumerate(trace.cells)}
    sources = tuple(
        [
            Source(register, given.places.get(cell, -1), None if cell in given.places else ref(cell), cell.device)
            for cell, register in trace.cells.items()
        ]
    )
    written = tuple([(numbers[cell], register, device) for cell, register, device in updates])
    devices = {segment.device: segment.provider for segment in trace.segments}
    hosts = {id(array): array for array in [*trace.outliving(), *guards.arrays]}
    if trace.checks:  # the first status comes along, others take a submission each
        for segment in trace.segments:
            segment.expect(trace.checks[0][0])
    return Recording(
        name=name,
        guards=guards,
        sources=sources,
        updates=written,
        moved=_donors(trace, sources, written),
        segments=tuple(trace.segments),
        registers=trace.registers,
        constants=trace.values[len(call.values) :],
        lines=tuple(trace.lines),
        providers=tuple(sorted(devices.items(), key=lambda item: item[1].device.name)),
        ranges=tuple(trace.ranges),
        hosts=[(array, array.tobytes()) for array in hosts.values()],
        checks=tuple(trace.checks),
        make=make,
        is_sharing=is_sharing,
    )


def _donors(trace: Trace, sources: Sequence[Source], written: Sequence[tuple[int, int, Device]]) -> frozenset[int]:
    """Keep the donors that nothing reads later; return the numbers of changed cells whose buffers they donate."""
    later = {register for _, register, _ in written} | trace.returned
    used: set[int] = set()
    for segment in reversed(trace.segments):
        segment.donors = tuple([donor for donor in segment.donors if donor[2] not in later])
        used.update(register for _, _, register in segment.donors)
        later.update(register for register, _ in segment.leaves if register is not None)
    return frozenset(number for number, _, _ in written if sources[number].register in used)


class _Arguments:
    """The arguments of a function while it is recorded."""

    def __init__(self, trace: Trace, call: Call) -> None:
        self._trace = trace
        self._call = call
        self.arrays: list[GpuArray] = []
        self.places: dict[Cell, int] = {}
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
            self.places[self._cells[cell]] = number
        self.arrays.append(
            _seen(self._cells[cell], array._layout, array._shape, array._dtype, array._part, array._access)
        )
        return self.arrays[-1]

    def check(self, name: str) -> None:
        """Raise RecordingError if the function changed the shape or the flags of an argument."""
        for array, own in zip(self._call.arrays, self.arrays, strict=True):
            if (array._shape, array._layout, array._access) != (own._shape, own._layout, own._access):
                raise RecordingError(
                    f"{name} changed the shape or the flags of an argument, which jit does not repeat in later calls; "
                    "create a view with reshape"
                )


class _Output:
    """What a function returns, and how to make it at each call."""

    def __init__(self, trace: Trace, given: _Arguments, result: Any) -> None:
        self._trace = trace
        self._given = given
        self._cells: dict[Cell, int] = {}
        """New cells, numbered in order."""
        self.is_sharing = False
        """Whether it shares memory with arrays that were there before."""
        rebuilt(result, self._look)

    def _look(self, value: Any) -> None:
        if isinstance(value, GpuArray) and not self._trace.is_external(value._cell):
            self._cells.setdefault(value._cell, len(self._cells))

    def evaluate(self, changed: dict[Cell, Node]) -> None:
        """Evaluate everything that is returned or written to external cells."""
        pending: dict[Device, list[Node]] = {}
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
            parts = [self.maker(part) for part in value]
            return lambda call: kind([part(call) for part in parts])
        if kind is dict:
            named = {name: self.maker(part) for name, part in value.items()}
            return lambda call: {name: part(call) for name, part in named.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [self.maker(part) for part in value]
            return lambda call: kind(*[part(call) for part in parts])
        if kind is np.ndarray:
            return lambda call: value.copy()
        if isinstance(value, _CONSTANTS):
            return lambda call: value
        raise RecordingError(
            f"{self._trace.name}, recorded by jit, returned a {kind.__qualname__}; accepted are arrays, numbers, "
            "strings, None, and tuples, lists and dictionaries of these"
        )

    def _array(self, array: GpuArray) -> Maker:
        for number, own in enumerate(self._given.arrays):
            if own is array:
                self.is_sharing = True
                return lambda call: call.arrays[number]
        cell = array._cell
        layout, shape, dtype, part, access = array._layout, array._shape, array._dtype, array._part, array._access
        if self._trace.is_external(cell):
            self.is_sharing = True
            place = self._trace.number(cell)
            return lambda call: _seen(call.cells[place], layout, shape, dtype, part, access)
        register, device = self._trace.register(cell.node), cell.device
        self._trace.returned.add(register)
        first = self._cells[cell]

        def make(call: Call) -> GpuArray:
            found = call.made.get(first)
            if found is None:
                found = call.made[first] = wrap(call.registers[register], device)
                found._access = access
                if layout is None and part is None:
                    return found
            return found._see(layout, shape, dtype, part, access)

        return make


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
