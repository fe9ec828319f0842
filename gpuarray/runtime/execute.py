"""Running a plan: each step at its place, and each value where it is wanted.

Steps for the device are collected and handed over together; a step for the host runs at once, after what it reads from
the device. A value is copied to the other place when it is first wanted there, and stays at both.
"""

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, TypeAlias

import numpy as np

from gpuarray.config import config
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import places, telemetry
from gpuarray.runtime.placement import decisions, residency
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep

Run: TypeAlias = Callable[[Sequence[Task]], None]


class Execution:
    """One run of a plan.

    Parameters
    ----------
    ready : PreparedPlan
        What to run.
    placed : Placement
        Its steps as they were placed.
    order : list of Node
        The plan's nodes.
    provider : Provider
        The device.
    run : callable or None
        What takes tasks in place of the device.
    """

    __slots__ = ("_buffers", "_run", "_slots", "_tasks", "host", "order", "plan", "provider", "ready", "steps")

    def __init__(
        self, ready: PreparedPlan, placed: Placement, order: list[Node], provider: Provider, run: Run | None
    ) -> None:
        self.ready = ready
        self.plan = ready.plan
        self.steps = placed.steps
        self.order = order
        self.provider = provider
        is_one_place = places.is_host(provider) or (placed.host is None and not placed.in_one_go)
        self.host = provider if is_one_place else places.host()
        self._run = run or provider.run
        self._buffers: dict[Provider, dict[int, Any]] = {provider: {}, self.host: {}}
        self._slots: dict[tuple[Provider, int], Any] = {}
        self._tasks: list[Task] = []

    def run(self, moved: Sequence[int], serial: int, read: Node | None = None) -> None:
        """Run the steps and settle what was wanted; the value of ``read`` is read next.

        The copies ``moved`` hand their input's buffer on instead, unless somebody outside has the memory.
        """
        provider, order = self.provider, self.order
        given: list[Leaf] = []
        on_device = decisions.DEVICE
        made = self._output if self.host is provider else self._changed
        for number, step in enumerate(self.steps):
            planned = step.planned
            place = provider if step.decision.where == on_device else self.host
            if number in moved and not (buffer := self._input(planned.inputs[0], place)).is_shared:
                self._buffers[place][planned.outputs[0]] = buffer
                given.append(order[planned.inputs[0]])  # type: ignore[arg-type]  # what can be moved is a leaf
                continue
            outputs = [made(o, place) for o in planned.outputs]
            buffers = self._buffers[place]
            inputs = [buffers[i] if i in buffers else self._input(i, place) for i in planned.inputs]
            scalars = [order[p].parameters[k] for p, k in planned.scalars]  # type: ignore[union-attr,index]  # Generate
            task = Task(step.prepared, inputs, outputs, scalars, step)
            if place is provider:
                self._tasks.append(task)
            else:
                self._run_on_host(task, step, number)
        self._flush(None if read is None else self._made_for(read))
        for leaf in given:
            leaf.buffers.clear()
        self._settle(serial)

    def _run_on_host(self, task: Task, step: PreparedStep, number: int) -> None:
        estimates = step.decision.estimates
        if estimates is None or not config.current.refine:
            self.host.run((task,))
            return
        start = perf_counter_ns()
        self.host.run((task,))
        if self.ready.corrections.observe(number, estimates[0], perf_counter_ns() - start):
            self.ready.placed.clear()

    def _flush(self, wanted: Any = None) -> None:
        if self._tasks:
            tasks, self._tasks = self._tasks, []
            if wanted is None:
                self._run(tasks)
            else:
                self.provider.run(tasks, wanted)

    def _made_for(self, node: Node) -> Any:
        """Return the device's buffer that has the value of a node."""
        made = self._buffers[self.provider]
        return next((made.get(root) for position, root in self.plan.results if self.order[position] is node), None)

    def _settle(self, serial: int) -> None:
        """Make leaves of the results, which know of all places that have them."""
        order = self.order
        for position, root in self.plan.results:
            node, source = order[position], order[root]
            leaf = Leaf(node.shape, node.dtype)
            leaf.origin, leaf.evaluation, leaf.used = node.origin, serial, serial
            if isinstance(source, Leaf):
                leaf.host = None if source.host is None else source.host.reshape(node.shape)
                leaf.buffers.update(source.buffers)
            else:
                for place, buffers in self._buffers.items():
                    buffer = buffers.get(root)
                    if buffer is not None:
                        residency.settle(leaf, place, buffer)
                if not leaf.buffers:  # nothing computes a value without elements
                    residency.settle(leaf, self.provider, self._output(root, self.provider))
            node.resolve(leaf)
        for position in self.ready.leaves:
            order[position].used = serial  # type: ignore[union-attr]  # of a Leaf

    # -- buffers -------------------------------------------------------------------------------------------------------

    def _keep(self) -> frozenset[int]:
        """Return the ``id`` of each leaf that must stay where it is while the plan runs."""
        return frozenset(id(self.order[position]) for position in self.ready.leaves)

    def _input(self, position: int, place: Provider) -> Any:
        buffers = self._buffers[place]
        buffer = buffers.get(position)
        if buffer is None:
            node = self.order[position]
            other = self.host if place is self.provider else self.provider
            if isinstance(node, Leaf):
                buffer = residency.resident(node, place, self._keep)
            elif position in self._buffers[other]:
                buffer = self._copied(position, other, place)
            else:  # nothing computes a value without elements, but a fold over one still has it as its input
                buffer = place.allocate(node.nbytes)
            buffers[position] = buffer
        return buffer

    def _copied(self, position: int, source: Provider, target: Provider) -> Any:
        """Return a value that a step of the plan made, at the other place."""
        size, dtype = self.plan.sizes[position]
        made = self._buffers[source][position]
        if target is self.host:
            self._flush()
            array = np.empty(size, dtype)
            source.read(made, array)
            return target.adopt(array, array.nbytes)
        buffer = residency.allocate(target, size * dtype.itemsize, self._keep)
        target.write(buffer, source.export(made)[: size * dtype.itemsize])
        return buffer

    def _changed(self, position: int, place: Provider) -> Any:
        """Return the buffer of a value that a step writes, or writes a part of: no other place has it afterwards."""
        other = self.host if place is self.provider else self.provider
        if place is not other and position in self._buffers[other]:
            if position not in self._buffers[place]:
                self._buffers[place][position] = self._copied(position, other, place)
            del self._buffers[other][position]
        return self._output(position, place)

    def _output(self, position: int, place: Provider) -> Any:
        buffers = self._buffers[place]
        buffer = buffers.get(position)
        if buffer is not None:
            return buffer
        slot = self.plan.slots.get(position)
        if slot is None:
            size, dtype = self.plan.sizes[position]
            buffer = residency.allocate(place, size * dtype.itemsize, self._keep)
        else:
            buffer = self._slots.get((place, slot))
            if buffer is None:
                buffer = residency.allocate(place, self.plan.slot_bytes[slot], self._keep)
                self._slots[place, slot] = buffer
        buffers[position] = buffer
        return buffer


def tell_fallbacks(steps: Sequence[PreparedStep], order: list[Node]) -> None:
    """Count the steps that run on the host for want of a kernel, at the lines that asked for them."""
    for step in steps:
        if step.decision.is_fallback:
            where = order[step.planned.outputs[0]].origin
            telemetry.fallback(decisions.name_of(step.planned.step), step.decision.reason, where=where)
