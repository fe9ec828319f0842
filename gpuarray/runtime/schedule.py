"""Schedules run plans: tasks and transfers between places in order, over numbered registers.

A register holds one buffer at one place: the device or the host. The registers that a task reads and writes, and the
transfers, are determined once, when the schedule is made (:mod:`gpuarray.runtime.schedule_builder`). A run then binds
leaves and scalars to it: an evaluation binds the nodes of its graph, a recorded function the arguments of a call.

Tasks for the device are submitted together, and not before a value is needed on the host. All buffers except those of
transfers are allocated before the first task runs.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import groupby
from operator import itemgetter
from time import perf_counter_ns
from typing import Any, Final, NamedTuple, TypeAlias

import numpy.typing as npt

from gpuarray import logs
from gpuarray.errors import DeviceMemoryError
from gpuarray.fusion.steps import ScatterStep
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.interrupts import NothingDone
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import places
from gpuarray.runtime.placement import residency
from gpuarray.runtime.placement.decisions import DEVICE
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep
from gpuarray.runtime.schedule_builder import Result, ScheduleBuilder, TaskList, Transfer

#: Runs tasks instead of the device.
Run: TypeAlias = Callable[[Sequence[Task]], None]
#: Called with the number of a step on the host, and its estimated and measured nanoseconds.
Observe: TypeAlias = Callable[[int, float, int], None]
#: The maximum number of schedules of a placement, which differ in the copies that reuse the buffer of their input.
_KEPT: Final = 8
#: The maximum bytes of a value that is copied before an update in place. The copy takes some microseconds.
_COPIED: Final = 1 << 16
#: The bytes of new buffers from which on a run on the host is reported if it takes long.
_WATCHED: Final = 1 << 21
_UNWATCHED: Final = nullcontext()


class PlainSchedule(NamedTuple):
    """The run of a schedule without transfers and updates, all of whose buffers are on one device.

    Attributes
    ----------
    loads : tuple of (int, Provider)
        The numbers of the leaves whose buffers are in the first registers, and their place.
    sizes : tuple of int
        The sizes of the buffers that are allocated for the next registers, in bytes.
    actions : tuple of (TaskList, int or None)
        The actions, and by which number the device keeps each, if it does.
    results : tuple of (int, int)
        The positions and registers of the results.
    """

    loads: tuple[tuple[int, Provider], ...]
    sizes: tuple[int, ...]
    actions: tuple[tuple[TaskList, int | None], ...]
    results: tuple[tuple[int, int], ...]


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
        The copies that reuse the buffer of their input.
    """

    __slots__ = (
        "_actions",
        "_allocations",
        "_begin",
        "_donated",
        "_is_plain",
        "_is_repeatable",
        "_is_watched",
        "_loads",
        "_repeats",
        "_results",
        "_transfers",
    )

    def __init__(
        self,
        prepared: PreparedPlan,
        placed: Placement,
        provider: Provider,
        order: Sequence[Any],
        moved: Sequence[int] = (),
    ) -> None:
        built = ScheduleBuilder(prepared, placed, provider, order, moved)
        number = {key: n for n, key in enumerate((*built.loads, *built.allocations, *built.transfers))}
        self._loads = [*built.loads.values()]
        self._allocations = [
            (place, [nbytes for _, nbytes in group])
            for place, group in groupby(built.allocations.values(), key=itemgetter(0))
        ]
        self._transfers = len(built.transfers)
        self._is_plain = not built.transfers and all(
            place is provider for place in (*[place for _, place in self._loads], *[p for p, _ in self._allocations])
        )
        """Whether all buffers are the device's, and known before the first task runs."""
        hosts = [sum(sizes) for place, sizes in self._allocations if places.is_host(place)]
        self._is_watched = sum(hosts) >= _WATCHED
        self._repeats = self._is_plain and hasattr(provider, "repeat")
        """Whether the device keeps what it enqueued."""
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
                    (code, [number[key] for key in inputs], [number[key] for key in outputs], span, step)
                    for code, inputs, outputs, span, step in action.tasks
                ]
        self._donated: list[tuple[int, int, Any, bool]] = [
            (leaf, number[key], (place := built.loads[key][1]), places.is_host(place) and nbytes <= _COPIED)
            for leaf, key, nbytes in built.moved
        ]
        """The donated leaves, the registers and places of their buffers, and whether these are copied before."""
        donated = {register for _, register, _, _ in self._donated}
        lists = [(n, action) for n, action in enumerate(self._actions) if isinstance(action, TaskList)]
        writing = [n for n, listed in lists if any(donated.intersection(task[2]) for task in listed.tasks)]
        self._begin = min(writing, default=len(self._actions))
        """The first action that writes to a donated buffer."""
        self._is_repeatable = not any(
            donated.intersection(inputs) or (donated.intersection(outputs) and _reads_output(step))
            for _, listed in lists
            for _, inputs, outputs, _, step in listed.tasks
        )
        """Whether no action reads donated buffers, so that the schedule may run again after an error."""

    def plain(self, provider: Provider) -> "PlainSchedule | None":
        """Return what a run does with the buffers of a device; None if it does more than that."""
        results = [(position, registers) for position, registers, source in self._results if source is None]
        is_one = len(results) == len(self._results) and all(
            len(registers) == 1 and registers[0][0] is provider for _, registers in results
        )
        lists = [action for action in self._actions if isinstance(action, TaskList)]
        if self._donated or not (self._is_plain and is_one):
            return None
        return PlainSchedule(
            tuple(self._loads),
            tuple([nbytes for _, sizes in self._allocations for nbytes in sizes]),
            tuple([(tasks, tasks.serial if self._repeats and tasks.is_device else None) for tasks in lists]),
            tuple([(position, registers[0][1]) for position, registers in results]),
        )

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
        """Return the schedule of a placed plan whose copies ``moved`` may reuse the buffers of these leaves.

        A copy does not reuse memory that code outside this package refers to.
        """
        if moved:
            moved = [number for number in moved if not _is_shared(prepared, placed, provider, leaves, number)]
        choice = tuple(moved)
        schedule: Schedule | None = placed.schedules.get(choice)
        if schedule is None:
            if len(placed.schedules) >= _KEPT:
                placed.schedules.clear()
            schedule = placed.schedules[choice] = cls(prepared, placed, provider, order, moved)
        return schedule

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
            Runs tasks instead of the device.
        observe : callable, optional
            Called with the times of the steps on the host that have estimates; these steps then run one by one.
        can_repeat : bool
            Whether only the graph of the schedule refers to the leaves, and is evaluated again after an error.

        Raises
        ------
        DeviceMemoryError
            If the device has too little memory, even after other values were moved to the host.
        """
        buffers = self._bound(leaves, serial)
        if self._donated:
            self._update(buffers, leaves, order, wanted, run, observe, can_repeat=can_repeat)
        else:
            for action in self._actions:
                self._act(action, buffers, leaves, order, wanted, run, observe)
        return self._leaves_of_results(leaves, order, buffers, serial)

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
        action: TaskList | Transfer,
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
        is_last = wanted is not None and action is self._actions[-1]
        read = self._next_read(action.place, wanted, order, buffers) if is_last else None
        scalars = [order[position].parameters[part] for position, part in action.scalars]
        with logs.report_if_long("host", logs.ON_HOST) if self._is_watched else _UNWATCHED:
            if run is not None or (observe is not None and not action.is_device):
                _run_for(action, _bound_tasks(action, buffers, scalars), run, observe)
            elif self._repeats and action.is_device:
                device: Any = action.place
                key = (action.serial, *[buffer.serial for buffer in buffers])
                if not device.repeat(key, scalars, read):
                    device.run(_bound_tasks(action, buffers, scalars), read, key)
            else:
                action.place.run(_bound_tasks(action, buffers, scalars), read)

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
        """Run the actions of a schedule with donated leaves, which get their buffers back after some errors."""
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
            # a device without enough memory runs none of the tasks that it is given
            has_no_effect = isinstance(error, DeviceMemoryError | NothingDone)
            is_old = done < self._begin or (done == self._begin and has_no_effect)
            self._return_donated(leaves, buffers, undo, is_old=is_old or can_repeat)
            raise

    def _return_donated(
        self, leaves: Sequence[Leaf], buffers: list[Any], undo: Sequence[npt.NDArray[Any] | None], *, is_old: bool
    ) -> None:
        """Return donated buffers to their leaves after an error.

        A donated leaf loses its buffer when the first update begins. If the update is interrupted or fails, it is
        unknown how much of it was done, and it must not be repeated. The leaf gets its buffer back if nothing was
        written, if everything will be written again (``is_old``), or if there is a copy of its value. Otherwise its
        value is lost.
        """
        for (number, register, place, _), value in zip(self._donated, undo, strict=True):
            if value is not None:
                place.write(buffers[register], value)
            if is_old or value is not None:
                leaves[number].buffers[place] = buffers[register]

    def _leaves_of_results(
        self, leaves: Sequence[Leaf], order: Sequence[Any], buffers: list[Any], serial: int
    ) -> list[Leaf]:
        """Return the results as leaves."""
        results = []
        for position, registers, source in self._results:
            node = order[position]
            leaf = Leaf(node.shape, node.dtype, None, serial)
            leaf.origin = node.origin
            for place, number in registers:
                residency.hold(leaf, place, buffers[number])
            if source is not None:
                operand = leaves[source]
                leaf.host = None if operand.host is None else operand.host.reshape(node.shape)
                leaf.buffers.update(operand.buffers)
            results.append(leaf)
        return results

    def _next_read(self, place: Provider, wanted: Node | None, order: Sequence[Any], buffers: list[Any]) -> Any:
        """Return the buffer at the last place of the result that is read next; None if there is none."""
        for position, registers, _ in self._results:
            if order[position] is wanted:
                return next((buffers[number] for owner, number in registers if owner is place), None)
        return None


def _bound_tasks(listed: TaskList, buffers: list[Any], scalars: list[Any]) -> list[Task]:
    """Return the tasks of a list with their buffers and scalars."""
    get = buffers.__getitem__
    tasks = []
    for code, inputs, outputs, span, step in listed.tasks:
        tasks.append(Task(code, [*map(get, inputs)], [*map(get, outputs)], scalars[span], step))
    return tasks


def _reads_output(step: PreparedStep) -> bool:
    """Whether a step reads the elements of its output, which is not among its inputs."""
    written = step.planned.step
    return isinstance(written, ScatterStep) and written.combine is not None


def _keep(leaves: Sequence[Leaf]) -> residency.Kept:
    """Return a function that returns the ``id`` of each leaf that must not be evicted while a schedule runs."""
    return lambda: frozenset(map(id, leaves))


def _is_shared(
    prepared: PreparedPlan, placed: Placement, provider: Provider, leaves: Sequence[Leaf], number: int
) -> bool:
    """Whether code outside this package refers to the memory of the leaf that a copy reads."""
    step = placed.steps[number]
    place = provider if step.decision.where == DEVICE else places.host()
    leaf = leaves[prepared.leaves.index(step.planned.inputs[0])]
    return bool(residency.resident(leaf, place, _keep(leaves)).is_shared)


def _run_for(listed: TaskList, tasks: list[Task], run: Run | None, observe: Observe | None) -> None:
    """Run tasks for the device by ``run``, if it is given, and tasks for the host one by one, for ``observe``."""
    if run is not None and listed.is_device:
        run(tasks)
        return
    for number, task in zip(listed.numbers, tasks, strict=True):
        estimates = task.tag.decision.estimates
        start = perf_counter_ns()
        listed.place.run((task,))
        if observe is not None and estimates is not None:
            observe(number, estimates[0], perf_counter_ns() - start)
