"""Recordings: a function as one call of it went, and how another call goes the same way."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray.array import Cell, GpuArray, wrap
from gpuarray.array.bounds import bounds
from gpuarray.array.traced_scalars import TracedScalar
from gpuarray.device import Device
from gpuarray.errors import RecordingError
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import BaseNode, Leaf, Node
from gpuarray.graph.walk import current
from gpuarray.interrupts import Section
from gpuarray.jit.guards import Guards
from gpuarray.jit.segment import Segment
from gpuarray.jit.signature import Call, substituted
from gpuarray.jit.trace import Line, Range, Trace
from gpuarray.providers.base import Provider
from gpuarray.runtime import evaluate, places
from gpuarray.runtime.stored import MAXIMUM

_CONSTANTS: Final = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, type)


class Played:
    """What a call of a recording has: its arrays, the outside cells by number, registers and values."""

    __slots__ = ("arrays", "cells", "made", "registers", "values")

    def __init__(self, arrays: list[GpuArray], cells: list[Cell], registers: list[Any], values: list[Any]) -> None:
        self.arrays = arrays
        self.cells = cells
        self.registers = registers
        self.values = values
        self.made: dict[int, GpuArray] = {}
        """By number, new arrays of which others are views."""


#: Makes a part of what a function returns.
Maker: TypeAlias = Callable[[Played], Any]


@dataclass(slots=True)
class Source:
    """Where a call has an outside cell: in one of its arrays, or where the recording met it.

    Attributes
    ----------
    register : int
        The register of its value.
    array : int
        Which of the arrays of a call; -1 of none.
    met : weak reference, optional
        The cell, where it is no argument's.
    device : Device
        Its device when it was recorded.
    """

    register: int
    array: int
    met: "ref[Cell] | None"
    device: Device


@dataclass(slots=True)
class Recording:
    """A function, recorded for calls of one signature.

    Attributes
    ----------
    name : str
        What it is called in errors.
    guards : Guards
        What it found around itself.
    sources : tuple of Source
        The cells that were there before it, by number.
    updates : tuple of (int, int, Device)
        Numbers of the cells that it writes to, the registers of their new values, and their devices afterwards.
    segments : tuple of Segment
        What is evaluated.
    registers : list
        The leaves that stay; None where each call has its own.
    constants : list
        The values behind those that a call gives.
    lines : tuple
        What is computed of them, and where it goes.
    providers : tuple of (Device, Provider)
        The devices that were asked for, and who ran what.
    ranges : tuple
        What is required of arrays of positions.
    hosts : list
        NumPy arrays that were used and are somebody's, with their bytes.
    moved : frozenset of int
        Numbers of written cells whose old value's buffer a segment may write to.
    make : callable
        Makes what is returned.
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
    make: Maker

    def fits(self, call: Call) -> bool:
        """Whether a call with the signature goes as this one went: nothing around the function has changed."""
        for source in self.sources:
            if source.met is not None:
                cell = source.met()
                if cell is None or cell.device is not source.device:
                    return False
                if self.updates and any(array._cell is cell for array in call.arrays):
                    return False
        for device, provider in self.providers:
            if places.provider_of(device) is not provider:
                return False
        if not self.guards.are_same():
            return False
        if self.hosts and not all(array.tobytes() == known for array, known in self.hosts):
            return False
        return not self.ranges or all(self._is_in_range(call, *required) for required in self.ranges)

    def _is_in_range(self, call: Call, number: int, layout: Layout | None, start: int, stop: int) -> bool:
        source = self.sources[number]
        cell: Any = call.arrays[source.array]._cell if source.met is None else source.met()
        node = cell.node if layout is None else build.view(cell.node, layout)
        lowest, highest = bounds(node, cell.device)
        return start <= lowest and highest < stop

    @property
    def is_stale(self) -> bool:
        """Whether no call will fit any more, because an array or a device is gone."""
        return any(source.met is not None and source.met() is None for source in self.sources) or any(
            not getattr(provider, "alive", True) for _, provider in self.providers
        )

    def play(self, call: Call) -> Any:
        """Return what the function returns for a call, which is under way then."""
        arrays = call.arrays
        cells: list[Any] = []
        registers = self.registers[:]
        values = call.values + self.constants
        for place, (function, operands, kind) in self.lines:
            value = function(*[values[operand] for operand in operands])
            if kind is not None and type(value) is not kind:
                raise RecordingError(
                    f"{self.name} was recorded by jit with a {kind.__name__}, but this call computed a "
                    f"{type(value).__name__}; declare the numbers that decide the type in static_argnames"
                )
            values[place] = value
        with places.lock:
            for source in self.sources:
                cell: Any = arrays[source.array]._cell if source.met is None else source.met()
                cells.append(cell)
                node = cell.node
                leaf = registers[source.register] = node if node.result is None else node.result
                if type(leaf) is not Leaf:
                    self._evaluate(call)
                    leaf = registers[source.register] = current(leaf)
            node = leaf = None  # whoever refers to a value keeps its buffer from being written to
            stubs = [_stand_in(cells[number]) for number in self.moved] if self.moved else ()
            with Section() if stubs else nullcontext():
                try:
                    for segment in self.segments:
                        segment.run(registers, values)
                except BaseException:
                    for number in self.moved:
                        cells[number].node = registers[self.sources[number].register]
                    raise
                for number, register, device in self.updates:
                    cells[number].device = device
                    cells[number].bind(registers[register])
                if stubs:
                    for number, stub in zip(self.moved, stubs, strict=True):
                        stub.resolve(cells[number].node)
        return self.make(Played(arrays, cells, registers, values))

    def _evaluate(self, call: Call) -> None:
        """Evaluate what is pending of the cells that a call has, together."""
        pending: dict[Device, list[Node]] = {}
        for source in self.sources:
            cell: Any = call.arrays[source.array]._cell if source.met is None else source.met()
            node = current(cell.node)
            if type(node) is not Leaf:
                pending.setdefault(cell.device, []).append(node)
        for device, nodes in pending.items():
            evaluate.evaluate(nodes, device)


def _stand_in(cell: Cell) -> Any:
    """Have a cell refer to its next value, which is still to be made, and no longer to the present one."""
    stub: Any = BaseNode(BaseNode, (), cell.node.shape, cell.node.dtype)
    cell.node = stub
    return stub


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
        What it is called in errors.
    call : Call
        The call, taken apart.
    args : sequence of (object, bool, str)
        Positional arguments, whether their values are part of the signature, and their names.
    keywords : sequence of (str, object, bool)
        Keywords, in the order of the signature.

    Raises
    ------
    RecordingError
        If it asks for something that only a call has, or changes what a later call would not.
    """
    guards = Guards(function, call.statics)
    trace = Trace(name, call.values)
    given = _Given(trace, call)

    def run() -> tuple[Maker, list[tuple[Cell, int, Device]]]:
        result = function(
            *[value if static else given.of(value, called) for value, static, called in args],
            **{called: value if static else given.of(value, called) for called, value, static in keywords},
        )
        given.check(name)
        output = _Output(trace, given, result)
        changed = trace.changed()
        output.evaluate(changed)
        make = output.maker(result)
        return make, [(cell, trace.register(node), cell.device) for cell, node in changed.items()]

    make, updates = trace.record(run)
    if what := guards.changed():
        raise RecordingError(
            f"{name} changed {what} while jit recorded it, which later calls would not repeat; return values from the "
            "function, or do not use jit"
        )
    if updates and not {array._cell for array in call.arrays}.isdisjoint(trace.cells):
        raise RecordingError(
            f"{name}, recorded by jit, writes to arrays, and one of its arguments shares memory with an array in a "
            "variable that it uses; pass that array as an argument too, or pass another one"
        )
    numbers = {cell: number for number, cell in enumerate(trace.cells)}
    sources = tuple(
        [
            Source(register, given.places.get(cell, -1), None if cell in given.places else ref(cell), cell.device)
            for cell, register in trace.cells.items()
        ]
    )
    written = [(numbers[cell], register, device) for cell, register, device in updates]
    moved = _donors(trace, sources, written)
    return Recording(
        name,
        guards,
        sources,
        tuple(written),
        tuple(trace.segments),
        trace.registers,
        trace.values[len(call.values) :],
        tuple(trace.lines),
        tuple({segment.bound.device: segment.bound.provider for segment in trace.segments}.items()),
        tuple(trace.ranges),
        [(array, array.tobytes()) for array in {id(a): a for a in [*trace.outliving(), *guards.arrays]}.values()],
        moved,
        make,
    )


def _donors(trace: Trace, sources: Sequence[Source], written: Sequence[tuple[int, int, Device]]) -> frozenset[int]:
    """Keep of the segments' donors those that nothing reads afterwards; return which cells have the others' values."""
    later = {register for _, register, _ in written} | trace.returned
    used: set[int] = set()
    for segment in reversed(trace.segments):
        segment.donors = tuple([donor for donor in segment.donors if donor[2] not in later])
        used.update(register for _, _, register in segment.donors)
        later.update(register for register, _ in segment.leaves if register is not None)
    return frozenset(number for number, _, _ in written if sources[number].register in used)


class _Given:
    """What the function is given while it is recorded."""

    def __init__(self, trace: Trace, call: Call) -> None:
        self._trace = trace
        self._call = call
        self.arrays: list[GpuArray] = []
        self.places: dict[Cell, int] = {}
        """Which arrays' storage cells stand for."""
        self._cells: dict[Cell, Cell] = {}
        self._values = 0

    def of(self, value: Any, name: str) -> Any:
        """Return what stands for an argument."""
        return substituted(value, self._array, lambda: self._number(name), self._stream)

    def _array(self) -> GpuArray:
        # another object: what becomes of it shows whether the function changes the array's shape
        number = len(self.arrays)
        array = self._call.arrays[number]
        cell = array._cell
        if cell not in self._cells:
            self._cells[cell] = self._trace.stand_in(cell)
            self.places[self._cells[cell]] = number
        self.arrays.append(
            _seen(self._cells[cell], array._layout, array._shape, array._dtype, array._part, array._access)
        )
        return self.arrays[-1]

    def _number(self, name: str) -> TracedScalar:
        self._values += 1
        return TracedScalar(self._trace, self._values - 1, self._call.values[self._values - 1], name)

    def _stream(self) -> None:
        self._values += 1

    def check(self, name: str) -> None:
        """Raise an error if the function has changed how an array is seen, which no later call would do."""
        for array, own in zip(self._call.arrays, self.arrays, strict=True):
            if (array._shape, array._layout, array._access) != (own._shape, own._layout, own._access):
                raise RecordingError(
                    f"{name} changed the shape or the flags of an argument, which jit does not repeat in later calls; "
                    "create a view with reshape"
                )


class _Output:
    """What a function returns, and how to make it at each call."""

    def __init__(self, trace: Trace, given: _Given, result: Any) -> None:
        self._trace = trace
        self._given = given
        self._cells: dict[Cell, int] = {}
        """New cells, by how many were met before."""
        self._look(result)

    def _look(self, value: Any) -> None:
        if isinstance(value, GpuArray) and not self._trace.is_outside(value._cell):
            self._cells.setdefault(value._cell, len(self._cells))
        elif isinstance(value, tuple | list):
            for part in value:
                self._look(part)
        elif isinstance(value, dict):
            for part in value.values():
                self._look(part)

    def evaluate(self, changed: dict[Cell, Node]) -> None:
        """Have everything computed that is returned, or written to what was there before."""
        pending: dict[Device, list[Node]] = {}
        for cell, node in [*changed.items(), *((cell, cell.node) for cell in self._cells)]:
            if node.result is None and type(node) is not Leaf:
                pending.setdefault(cell.device, []).append(node)
        for device, nodes in pending.items():
            self._trace.evaluate(nodes, device, MAXIMUM, is_wanted=True)

    def maker(self, value: Any) -> Maker:
        """Return what makes a part of the result."""
        kind = type(value)
        if kind is GpuArray:
            return self._array(value)
        if kind is TracedScalar:
            slot = value._slot
            return lambda played: played.values[slot]
        if kind is tuple or kind is list:
            parts = [self.maker(part) for part in value]
            if kind is tuple:
                return lambda played: tuple([part(played) for part in parts])
            return lambda played: [part(played) for part in parts]
        if kind is dict:
            named = {name: self.maker(part) for name, part in value.items()}
            return lambda played: {name: part(played) for name, part in named.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            fields = [self.maker(part) for part in value]
            return lambda played: kind(*[field(played) for field in fields])
        if kind is np.ndarray:
            return lambda played: value.copy()
        if isinstance(value, _CONSTANTS):
            return lambda played: value
        raise RecordingError(
            f"{self._trace.name}, recorded by jit, returned a {kind.__qualname__}; accepted are arrays, numbers, "
            "strings, None, and tuples, lists and dictionaries of these"
        )

    def _array(self, array: GpuArray) -> Maker:
        for number, own in enumerate(self._given.arrays):
            if own is array:
                return lambda played: played.arrays[number]
        cell = array._cell
        layout, shape, dtype, part, access = array._layout, array._shape, array._dtype, array._part, array._access
        if self._trace.is_outside(cell):
            place = self._trace.number(cell)
            return lambda played: _seen(played.cells[place], layout, shape, dtype, part, access)
        register, device = self._trace.register(cell.node), cell.device
        self._trace.returned.add(register)
        first = self._cells[cell]

        def make(played: Played) -> GpuArray:
            found = played.made.get(first)
            if found is None:
                found = played.made[first] = wrap(played.registers[register], device)
                if layout is None and part is None:
                    found._access = access
                    return found
            return found._see(layout, shape, dtype, part, access)

        return make


def _seen(cell: Cell, *view: Any) -> GpuArray:
    layout, shape, dtype, part, access = view
    array: GpuArray = object.__new__(GpuArray)
    array._cell = cell
    array._layout, array._shape, array._dtype, array._part, array._access = layout, shape, dtype, part, access
    whole = layout is None and part is None
    array._owner = None if whole else _seen(cell, None, cell.node.shape, cell.node.dtype, None, access)
    return array
