"""Schedules: what runs a plan, as tasks in order over numbered registers, transfers between places included.

A register holds one buffer at one place: the device, or the host. Which registers a task reads and writes, and when a
value travels, is found out once, when the schedule is made. A run then binds leaves and scalars to it: an evaluation
binds the nodes of its graph, a recorded function binds the arguments of a call.

Tasks for the device are handed over together, as late as values are wanted on the host. All buffers but those of
transfers are there before the first task runs.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from time import perf_counter_ns
from typing import Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from gpuarray.dtypes import DType
from gpuarray.errors import DeviceMemoryError
from gpuarray.fusion.steps import ScatterStep
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.interrupts import NothingDone
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import places
from gpuarray.runtime.placement import residency
from gpuarray.runtime.placement.decisions import DEVICE
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep

#: Takes tasks in place of the device.
Run: TypeAlias = Callable[[Sequence[Task]], None]
#: Takes the number of a step on the host, what it was estimated to take, and what it took, in nanoseconds.
Observe: TypeAlias = Callable[[int, float, int], None]
#: Schedules that a placement keeps at most, each for other copies that hand on their input's buffer.
_KEPT: Final = 8
#: Most bytes of a value that is copied before it is updated in place: the copy takes some microseconds.
_COPIED: Final = 1 << 16


@final
@dataclass(slots=True)
class Batch:
    """Tasks that are handed to one place together.

    Attributes
    ----------
    place : Provider
        Who runs them.
    is_device : bool
        Whether that is the device of the plan.
    tasks : list
        Of each task its prepared step, the registers that it reads and writes, its scalars as positions of nodes and
        numbers of their parameters, and the step.
    numbers : list of int
        The numbers of the steps.
    """

    place: Provider
    is_device: bool
    tasks: list[tuple[Any, list[Any], list[Any], Sequence[tuple[int, int]], PreparedStep]]
    numbers: list[int]


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


#: A value that a schedule leaves: its position, the places and registers that have it, and the number of the leaf that
#: it was given as, if it was.
Result: TypeAlias = tuple[int, list[tuple[Provider, Any]], int | None]


class Schedule:
    """The steps of a placed plan in order, over numbered registers.

    Parameters
    ----------
    prepared : PreparedPlan
        The plan.
    placed : Placement
        Its steps, each at its place.
    provider : Provider
        The device.
    order : sequence of Node
        The plan's nodes by position, of any graph that it is for.
    moved : sequence of int
        The copies that hand on their input's buffer.
    """

    __slots__ = ("_actions", "_allocations", "_begin", "_donated", "_is_repeatable", "_loads", "_results", "_transfers")

    def __init__(
        self,
        prepared: PreparedPlan,
        placed: Placement,
        provider: Provider,
        order: Sequence[Any],
        moved: Sequence[int] = (),
    ) -> None:
        built = _Builder(prepared, placed, provider, order, moved)
        number = {key: n for n, key in enumerate((*built.loads, *built.allocations, *built.transfers))}
        self._loads = [*built.loads.values()]
        self._allocations = [
            (place, [nbytes for _, nbytes in group])
            for place, group in groupby(built.allocations.values(), key=itemgetter(0))
        ]
        self._transfers = len(built.transfers)
        self._actions = built.actions
        self._results: list[Result] = [
            (position, [(place, number[key]) for place, key in registers], leaf)
            for position, registers, leaf in built.results
        ]
        for action in self._actions:
            if type(action) is Transfer:
                action.read, action.written = number[action.read], number[action.written]
            else:
                action.tasks = [
                    (code, [number[key] for key in inputs], [number[key] for key in outputs], scalars, step)
                    for code, inputs, outputs, scalars, step in action.tasks
                ]
        self._donated: list[tuple[int, int, Any, bool]] = [
            (leaf, register, (place := self._loads[register][1]), places.is_host(place) and nbytes <= _COPIED)
            for leaf, register, nbytes in built.donated(number)
        ]
        """The leaves that hand on their buffers, the registers and places of these, and whether they are copied."""
        donated = {register for _, register, _, _ in self._donated}
        batches = [(n, action) for n, action in enumerate(self._actions) if isinstance(action, Batch)]
        writing = [n for n, batch in batches if any(donated.intersection(task[2]) for task in batch.tasks)]
        self._begin = min(writing, default=len(self._actions))
        """The first action that writes to a buffer that a leaf has handed on."""
        self._is_repeatable = not any(
            donated.intersection(inputs) or (donated.intersection(outputs) and _reads_output(step))
            for _, batch in batches
            for _, inputs, outputs, _, step in batch.tasks
        )
        """Whether nothing reads what such buffers had, so that the same may be written again."""

    @classmethod
    def of(
        cls,
        prepared: PreparedPlan,
        placed: Placement,
        provider: Provider,
        order: Sequence[Any],
        leaves: Sequence[Leaf],
        moved: Sequence[int],
    ) -> "Schedule":
        """Return the schedule of a placed plan whose copies ``moved`` may hand on the buffers of these leaves.

        They do so unless somebody outside has the memory.
        """
        if moved:
            moved = [number for number in moved if not _is_shared(prepared, placed, provider, leaves, number)]
        choice = tuple(moved)
        found: Schedule | None = placed.schedules.get(choice)
        if found is None:
            if len(placed.schedules) >= _KEPT:
                placed.schedules.clear()
            found = placed.schedules[choice] = cls(prepared, placed, provider, order, moved)
        return found

    def run(
        self,
        leaves: Sequence[Leaf],
        order: Sequence[Any],
        serial: int,
        wanted: Node | None = None,
        run: Run | None = None,
        observe: Observe | None = None,
        can_repeat: bool = True,
    ) -> list[Leaf]:
        """Run the schedule and return its results.

        Parameters
        ----------
        leaves : sequence of Leaf
            The leaves of the graph, in the order of the plan's.
        order : sequence of Node
            The nodes by position, for the parameters of generators, and the shapes and dtypes of results.
        serial : int
            The number of the evaluation.
        wanted : Node, optional
            The result that is read next.
        run : callable, optional
            Takes tasks in place of the device.
        observe : callable, optional
            Takes the times of the steps on the host that were estimated; they run one by one then.
        can_repeat : bool
            Whether the schedule's graph is all that sees the leaves, and will be run again after an error.

        Raises
        ------
        DeviceMemoryError
            If the device has no room, even when values that are not used here went to the host.
        """
        buffers = self._bound(leaves, serial)
        if self._donated:
            self._update(buffers, leaves, order, wanted, run, observe, can_repeat=can_repeat)
        else:
            for action in self._actions:
                self._act(action, buffers, leaves, order, wanted, run, observe)
        return self._made(leaves, order, buffers, serial)

    def _bound(self, leaves: Sequence[Leaf], serial: int) -> list[Any]:
        """Return the registers: the buffers of the leaves, new ones, and None for those of transfers."""
        buffers: list[Any] = []
        for number, place in self._loads:
            leaf = leaves[number]
            buffer = leaf.buffers.get(place)
            buffers.append(residency.resident(leaf, place, _keep(leaves)) if buffer is None else buffer)
            leaf.used = serial
        for place, sizes in self._allocations:
            try:
                buffers += place.allocate_all(sizes)
            except DeviceMemoryError:
                buffers += [residency.allocate(place, nbytes, _keep(leaves)) for nbytes in sizes]
        if self._transfers:
            buffers += [None] * self._transfers
        return buffers

    def _act(
        self,
        action: Batch | Transfer,
        buffers: list[Any],
        leaves: Sequence[Leaf],
        order: Sequence[Any],
        wanted: Node | None,
        run: Run | None,
        observe: Observe | None,
    ) -> None:
        """Run tasks, or copy a value."""
        if type(action) is Transfer:
            action.run(buffers, _keep(leaves))
            return
        get = buffers.__getitem__
        tasks = []
        for code, inputs, outputs, scalars, step in action.tasks:
            values = [order[position].parameters[part] for position, part in scalars] if scalars else ()
            tasks.append(Task(code, [*map(get, inputs)], [*map(get, outputs)], values, step))
        if run is not None or observe is not None:
            _run_for(action, tasks, run, observe)
        elif wanted is not None and action is self._actions[-1]:
            action.place.run(tasks, self._next_read(action.place, wanted, order, buffers))
        else:
            action.place.run(tasks)

    def _update(
        self,
        buffers: list[Any],
        leaves: Sequence[Leaf],
        order: Sequence[Any],
        wanted: Node | None,
        run: Run | None,
        observe: Observe | None,
        *,
        can_repeat: bool,
    ) -> None:
        """Run the actions where leaves hand on their buffers, which they get back after some errors."""
        donated = self._donated
        can_repeat = can_repeat and self._is_repeatable
        undo: Sequence[Any] = [
            place.memory_of(buffers[register]).copy() if is_copied and not can_repeat else None
            for _, register, place, is_copied in donated
        ]
        done = 0
        try:
            for action in self._actions:
                if done == self._begin:
                    for number, _, place, _ in donated:
                        del leaves[number].buffers[place]
                self._act(action, buffers, leaves, order, wanted, run, observe)
                done += 1
        except BaseException as error:
            # a device that has no room runs nothing of what it is given
            has_no_effect = isinstance(error, DeviceMemoryError | NothingDone)
            is_old = done < self._begin or (done == self._begin and has_no_effect)
            self._return_donated(leaves, buffers, undo, is_old=is_old or can_repeat)
            raise

    def _return_donated(
        self, leaves: Sequence[Leaf], buffers: list[Any], undo: Sequence[npt.NDArray[Any] | None], *, is_old: bool
    ) -> None:
        """Return buffers to the leaves that handed them on, after an error.

        A leaf that hands on its buffer has it no longer once the first update begins: of an update that was interrupted
        or failed nobody knows how far it came, and it must not be made twice. The leaf gets its buffer back if nothing
        was written, if what was written will be written again (``is_old``), or if there is a copy of its value.
        Otherwise its value is lost.
        """
        for (number, register, place, _), value in zip(self._donated, undo, strict=True):
            if value is not None:
                place.write(buffers[register], value)
            if is_old or value is not None:
                leaves[number].buffers[place] = buffers[register]

    def _made(self, leaves: Sequence[Leaf], order: Sequence[Any], buffers: list[Any], serial: int) -> list[Leaf]:
        """Return the results as leaves."""
        made = []
        for position, registers, source in self._results:
            node = order[position]
            leaf = Leaf(node.shape, node.dtype, None, serial)
            leaf.origin = node.origin
            for place, number in registers:
                residency.hold(leaf, place, buffers[number])
            if source is not None:
                given = leaves[source]
                leaf.host = None if given.host is None else given.host.reshape(node.shape)
                leaf.buffers.update(given.buffers)
            made.append(leaf)
        return made

    def _next_read(self, place: Provider, wanted: Node | None, order: Sequence[Any], buffers: list[Any]) -> Any:
        """Return the buffer of a result that is read next; None if the last place has none."""
        for position, registers, _ in self._results:
            if order[position] is wanted:
                return next((buffers[number] for held, number in registers if held is place), None)
        return None


def _reads_output(step: PreparedStep) -> bool:
    """Whether a step computes with what its output has, though that is not among its inputs."""
    written = step.planned.step
    return isinstance(written, ScatterStep) and written.combine is not None


def _keep(leaves: Sequence[Leaf]) -> residency.Kept:
    """Return what tells the ``id`` of each leaf that must not be evicted while a schedule runs."""
    return lambda: frozenset(map(id, leaves))


def _is_shared(
    prepared: PreparedPlan, placed: Placement, provider: Provider, leaves: Sequence[Leaf], number: int
) -> bool:
    """Whether somebody outside has the memory of the leaf that a copy takes."""
    step = placed.steps[number]
    place = provider if step.decision.where == DEVICE else places.host()
    leaf = leaves[prepared.leaves.index(step.planned.inputs[0])]
    return bool(residency.resident(leaf, place, _keep(leaves)).is_shared)


def _run_for(batch: Batch, tasks: list[Task], run: Run | None, observe: Observe | None) -> None:
    """Hand tasks for the device to ``run``, if it is given, and run tasks for the host one by one for ``observe``."""
    if batch.is_device:
        (run or batch.place.run)(tasks)
        return
    for number, task in zip(batch.numbers, tasks, strict=True):
        estimates = task.tag.decision.estimates
        start = perf_counter_ns()
        batch.place.run((task,))
        if observe is not None and estimates is not None:
            observe(number, estimates[0], perf_counter_ns() - start)


class _Builder:
    """Finds the registers and the order of actions of a schedule; registers are named by keys."""

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
        """By place, the register that has the value of a position now."""
        self._waiting = Batch(self._device, True, [], [])
        self.loads: dict[Hashable, tuple[int, Provider]] = {}
        """Registers of leaves, with their numbers."""
        self.allocations: dict[Hashable, tuple[Provider, int]] = {}
        """Registers with new buffers, with their bytes."""
        self.transfers: list[Hashable] = []
        self.actions: list[Batch | Transfer] = []
        self._moved: list[tuple[int, Hashable, int]] = []
        """Leaves that hand on their buffers, the registers of these and their bytes."""
        for number, step in enumerate(placed.steps):
            self._step(number, step, number in moved)
        self._flush()
        self.results = [self._result(position, root) for position, root in self._plan.results]

    def donated(self, number: Mapping[Hashable, int]) -> list[tuple[int, int, int]]:
        """Return the leaves that hand on their buffers, the registers of these and their bytes."""
        return [(leaf, number[key], nbytes) for leaf, key, nbytes in self._moved]

    def _step(self, number: int, step: PreparedStep, is_moved: bool) -> None:
        planned = step.planned
        place = self._device if step.decision.where == DEVICE else self._host
        if is_moved:
            source = planned.inputs[0]
            key = self._registers[place][planned.outputs[0]] = self._input(source, place)
            self._moved.append((self._leaf[source], key, self._order[planned.outputs[0]].nbytes))
            return
        outputs = [self._changed(position, place) for position in planned.outputs]
        inputs = [self._input(position, place) for position in planned.inputs]
        batch = self._waiting
        if place is not self._device:
            if not self.actions or type(self.actions[-1]) is not Batch or self.actions[-1].is_device:
                self.actions.append(Batch(place, False, [], []))
            batch = self.actions[-1]  # type: ignore[assignment]  # it is a batch
        batch.tasks.append((step.prepared, inputs, outputs, planned.scalars, step))
        batch.numbers.append(number)

    def _flush(self) -> None:
        """Hand over what waits for the device."""
        if self._waiting.tasks:
            self.actions.append(self._waiting)
            self._waiting = Batch(self._device, True, [], [])

    def _result(self, position: int, root: int) -> Result:
        if root in self._leaf:
            return position, [], self._leaf[root]
        found: list[tuple[Provider, Any]] = [
            (place, registers[root]) for place, registers in self._registers.items() if root in registers
        ]
        # nothing computes a value without elements
        return position, found or [(self._device, self._output(root, self._device))], None

    def _input(self, position: int, place: Provider) -> Hashable:
        """Return the register that has a value at a place, after a transfer if need be."""
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
        """Return the register of a value that a step writes, or writes a part of: no other place has it afterwards."""
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
        """Return a new register at a place with a value that a step made at the other."""
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
