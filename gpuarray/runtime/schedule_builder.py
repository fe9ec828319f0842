"""The registers and the order of the tasks and transfers of a schedule (:mod:`gpuarray.runtime.schedule`)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeAlias, final

import numpy as np

from gpuarray.dtypes import DType
from gpuarray.providers.base import Provider
from gpuarray.runtime import places
from gpuarray.runtime.placement import residency
from gpuarray.runtime.placement.decisions import DEVICE
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep

_serials: Final = count(1)


@final
@dataclass(slots=True)
class TaskList:
    """Tasks that run together at one place.

    Attributes
    ----------
    place : Provider
        The provider that runs them.
    is_device : bool
        Whether that is the device of the plan.
    tasks : list
        For each task: its prepared form, the registers that it reads and writes, which of the scalars are its own, and
        the prepared step.
    numbers : list of int
        The numbers of the steps.
    serial : int
        Identifies the tasks, but for their buffers and scalars.
    scalars : list
        The scalars of all tasks in order, as positions of nodes and numbers of their parameters.
    """

    place: Provider
    is_device: bool
    tasks: list[tuple[Any, list[Any], list[Any], slice, PreparedStep]]
    numbers: list[int]
    serial: int = field(default_factory=_serials.__next__)
    scalars: list[tuple[int, int]] = field(default_factory=list)


@final
@dataclass(slots=True)
class Transfer:
    """A value of ``size`` elements that is copied from a register at one place to a register at the other."""

    source: Provider
    target: Provider
    read: Any
    written: Any
    size: int
    dtype: DType

    def run(self, buffers: list[Any], keep: residency.Kept) -> None:
        """Copy the value; the register that is written gets a new buffer."""
        nbytes = self.size * self.dtype.itemsize
        if places.is_host(self.target):
            array = np.empty(self.size, self.dtype)
            self.source.read(buffers[self.read], array)
            buffers[self.written] = self.target.adopt(array, nbytes)
        else:
            buffer = buffers[self.written] = residency.allocate(self.target, nbytes, keep)
            self.target.write(buffer, self.source.export(buffers[self.read])[:nbytes])


#: A result: its position, the places and registers that hold it, and the number of the leaf if it is an operand.
Result: TypeAlias = tuple[int, list[tuple[Provider, Any]], int | None]


class ScheduleBuilder:
    """Determines the registers and the order of actions of a schedule. Registers are named by keys."""

    def __init__(
        self,
        prepared: PreparedPlan,
        placed: Placement,
        provider: Provider,
        order: Sequence[Any],
        moved: Sequence[int],
    ) -> None:
        self._plan = prepared.plan
        self._order = order
        self._device = provider
        is_one_place = places.is_host(provider) or (placed.host is None and not placed.in_one_go)
        self._host = provider if is_one_place else places.host()
        self._leaf = {position: number for number, position in enumerate(prepared.leaves)}
        self._registers: dict[Provider, dict[int, Hashable]] = {self._device: {}, self._host: {}}
        """By place, the register that currently holds the value of a position."""
        self._waiting = TaskList(self._device, True, [], [])
        self.loads: dict[Hashable, tuple[int, Provider]] = {}
        """Registers of leaves, with their numbers."""
        self.allocations: dict[Hashable, tuple[Provider, int]] = {}
        """Registers with new buffers, with their bytes."""
        self.transfers: list[Hashable] = []
        self.actions: list[TaskList | Transfer] = []
        self.moved: list[tuple[int, Hashable, int]] = []
        """Donated leaves, the registers of their buffers, and the bytes of these."""
        for number, step in enumerate(placed.steps):
            self._step(number, step, number in moved)
        self._flush()
        self.results = [self._result(position, root) for position, root in self._plan.results]

    def _step(self, number: int, step: PreparedStep, is_moved: bool) -> None:
        planned = step.planned
        place = self._device if step.decision.where == DEVICE else self._host
        if is_moved:
            source = planned.inputs[0]
            key = self._registers[place][planned.outputs[0]] = self._input(source, place)
            self.moved.append((self._leaf[source], key, self._order[planned.outputs[0]].nbytes))
            return
        outputs = [self._changed(position, place) for position in planned.outputs]
        inputs = [self._input(position, place) for position in planned.inputs]
        listed = self._waiting
        if place is not self._device:
            if not self.actions or type(self.actions[-1]) is not TaskList or self.actions[-1].is_device:
                self.actions.append(TaskList(place, False, [], []))
            listed = self.actions[-1]  # type: ignore[assignment]  # it is a list of tasks
        first = len(listed.scalars)
        listed.scalars += planned.scalars
        listed.tasks.append((step.prepared, inputs, outputs, slice(first, len(listed.scalars)), step))
        listed.numbers.append(number)

    def _flush(self) -> None:
        """Submit the waiting tasks of the device."""
        if self._waiting.tasks:
            self.actions.append(self._waiting)
            self._waiting = TaskList(self._device, True, [], [])

    def _result(self, position: int, root: int) -> Result:
        if root in self._leaf:
            return position, [], self._leaf[root]
        sources: list[tuple[Provider, Any]] = [
            (place, registers[root]) for place, registers in self._registers.items() if root in registers
        ]
        # nothing computes a value without elements
        return position, sources or [(self._device, self._output(root, self._device))], None

    def _input(self, position: int, place: Provider) -> Hashable:
        """Return the register that holds a value at a place, after a transfer if necessary."""
        registers = self._registers[place]
        key = registers.get(position)
        if key is None:
            if position in self._leaf:
                key = "leaf", position, place
                self.loads[key] = self._leaf[position], place
            elif position in self._registers[self._other(place)]:
                key = self._transferred(position, place)
            else:  # nothing computes a value without elements, but a fold over one still has it as its input
                key = "value", position, place
                self.allocations[key] = place, self._order[position].nbytes
            registers[position] = key
        return key

    def _changed(self, position: int, place: Provider) -> Hashable:
        """Return the register of a value that a step writes or changes. Afterwards no other place holds the value."""
        other = self._other(place)
        if other is not place and position in self._registers[other]:
            if position not in self._registers[place]:
                self._registers[place][position] = self._transferred(position, place)
            del self._registers[other][position]
        return self._output(position, place)

    def _output(self, position: int, place: Provider) -> Hashable:
        registers = self._registers[place]
        key = registers.get(position)
        if key is None:
            slot = self._plan.slots.get(position)
            if slot is None:
                key = "value", position, place
                size, dtype = self._plan.sizes[position]
                self.allocations[key] = place, size * dtype.itemsize
            else:
                key = "slot", slot, place
                self.allocations[key] = place, self._plan.slot_bytes[slot]
            registers[position] = key
        return key

    def _transferred(self, position: int, target: Provider) -> Hashable:
        """Return a new register at a place for a value that a step computes at the other place."""
        source = self._other(target)
        if source is self._device:
            self._flush()
        size, dtype = self._plan.sizes[position]
        key = "transfer", len(self.transfers)
        self.transfers.append(key)
        self.actions.append(Transfer(source, target, self._registers[source][position], key, size, dtype))
        return key

    def _other(self, place: Provider) -> Provider:
        return self._host if place is self._device else self._device
