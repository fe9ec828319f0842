"""Recordings of traced calls, and their replay for other calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import ref

import numpy.typing as npt

from gpuarray.array import Cell
from gpuarray.array.bounds import bounds
from gpuarray.device import Device
from gpuarray.errors import RecordingError
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import BaseNode, Leaf, Node
from gpuarray.graph.walk import current
from gpuarray.interrupts import Section
from gpuarray.jit.guards import Guards
from gpuarray.jit.segment import Segment
from gpuarray.jit.signature import BoundCall
from gpuarray.jit.trace import Check, Line, Range
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import evaluate, places, statuses
from gpuarray.runtime.history import OF_VALUES, hide_frames

#: Builds a part of a function's result from what a replay left in its call.
Maker: TypeAlias = Callable[[BoundCall], Any]


@dataclass(slots=True)
class CellSource:
    """Where a replay finds an external cell: in an argument, or in a variable.

    Attributes
    ----------
    register : int
        The register of its value.
    array : int
        The number of the array among the arguments; -1 for variables.
    variable : weak reference, optional
        The cell, if it belongs to a variable.
    device : Device
        Its device when it was recorded.
    """

    register: int
    array: int
    variable: "ref[Cell] | None"
    device: Device

    def cell(self, call: BoundCall) -> Any:
        """Return the cell in a call; None if the variable no longer exists."""
        return call.argument_cells[self.array] if self.variable is None else self.variable()


@dataclass(slots=True)
class Recording:
    """A function recorded for calls of one signature.

    Attributes
    ----------
    name : str
        Name of the function, for error messages.
    guards : Guards
        The variables on which the recording depends.
    sources : tuple of CellSource
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
    had_replay : bool
        Whether a replay was made of it, or tried to be made.
    """

    name: str
    guards: Guards
    sources: tuple[CellSource, ...]
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
    had_replay: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether a call runs the segments and changes nothing, provided that no variable around it has changed."""
        return not (self.updates or self.lines or self.checks or self.hosts or self.ranges or self.moved)

    @property
    def takes_copies(self) -> bool:
        """Whether calls may be given copies of their arrays: nothing is written to them, nor returned of them."""
        return not self.updates and not self.is_sharing

    def fits(self, call: BoundCall) -> bool:
        """Return whether the recording is valid for a call: nothing on which it depends has changed."""
        for source in self.sources:
            if source.variable is not None:
                cell = source.cell(call)
                if cell is None or cell.device is not source.device:
                    return False
                if self.updates and any(argument is cell for argument in call.argument_cells):
                    return False
        for device, provider in self.providers:
            if registry.open_device(device) is not provider:
                return False
        if not self.guards.are_same():
            return False
        if self.hosts and not all(array.tobytes() == known for array, known in self.hosts):
            return False
        return not self.ranges or all(self._is_in_range(call, *required) for required in self.ranges)

    def _is_in_range(self, call: BoundCall, number: int, layout: Layout | None, start: int, stop: int) -> bool:
        source = self.sources[number]
        cell = source.cell(call)
        node = cell.node if layout is None else build.view(cell.node, layout)
        lowest, highest = bounds(node, cell.device)
        return start <= lowest and highest < stop

    @property
    def is_stale(self) -> bool:
        """Whether no call can match any more, because an array or a device is gone."""
        return any(source.variable is not None and source.variable() is None for source in self.sources) or any(
            not getattr(provider, "alive", True) for _, provider in self.providers
        )

    def play(self, call: BoundCall) -> Any:
        """Replay the recording for a call and return the result; computations may still be running."""
        values = call.values
        values += self.constants
        call.registers = self.registers[:]
        for line, (function, operands, kind) in self.lines:
            value = function(*[values[operand] for operand in operands])
            if kind is not None and type(value) is not kind:
                raise RecordingError(
                    f"{self.name} was recorded by jit with a {kind.__name__}, but this call computed a "
                    f"{type(value).__name__}; declare the numbers that decide the type in static_argnames"
                )
            values[line] = value
        try:
            while not self._run(call):
                self._evaluate(call)
        except OF_VALUES as error:
            hide_frames(error)
            raise
        for register, later in self.checks:
            statuses.expect(call.registers[register], later)
        return self.make(call)

    def _run(self, call: BoundCall, locked: int = 0) -> bool:
        """Run the segments, and put the new values into cells; return False if an external value is pending.

        The locks of the first ``locked`` devices have been taken.
        """
        if locked < len(self.providers):
            beside = [provider for _, provider in self.providers[:locked]] if locked else ()
            with places.lock_of(self.providers[locked][1], beside):
                return self._run(call, locked + 1)
        cells, registers = call.cells, call.registers
        for source in self.sources:
            cell = source.cell(call)
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

    def _update_in_place(self, call: BoundCall) -> None:
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

    def _bind(self, call: BoundCall) -> None:
        """Give the external cells that change their new values."""
        for number, register, device in self.updates:
            call.cells[number].device = device
            call.cells[number].bind(call.registers[register])

    def _evaluate(self, call: BoundCall) -> None:
        """Evaluate the pending values of external cells together."""
        pending: dict[Device, list[Node]] = {}
        for source in self.sources:
            cell = source.cell(call)
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
