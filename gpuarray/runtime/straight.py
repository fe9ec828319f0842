"""Plans that run again and again on one device: what an :class:`~gpuarray.runtime.execute.Execution` finds out, once.

Where buffers come from and go to is known when a plan is made, as long as all steps run on one device and no step takes
its input's buffer over. So a run has lists of buffers, by number, and no look-ups.
"""

from collections.abc import Sequence
from typing import Any

from gpuarray.graph.nodes import Leaf
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import offload, residency
from gpuarray.runtime.ready import Placed, ReadyPlan


class Straight:
    """A plan with numbers for its buffers.

    Parameters
    ----------
    ready : ReadyPlan
        The plan.
    placed : Placed
        Its steps, all of them on the device.
    provider : Provider
        The device.
    order : list of Node
        The plan's nodes by position.
    """

    __slots__ = ("_leaves", "_order", "_provider", "_results", "_sizes", "_tasks")

    def __init__(self, ready: ReadyPlan, placed: Placed, provider: Provider, order: Sequence[Any]) -> None:
        plan = ready.plan
        self._provider = provider
        self._order = order
        self._leaves = ready.leaves
        self._sizes: list[int] = []
        numbers: dict[Any, int] = {position: number for number, position in enumerate(ready.leaves)}

        def number(position: int) -> int:
            slot = plan.slots.get(position)
            name = position if slot is None or position in numbers else ("slot", slot)
            if name not in numbers:
                numbers[name] = len(ready.leaves) + len(self._sizes)
                size, dtype = plan.sizes.get(position, (order[position].size, order[position].dtype))
                self._sizes.append(size * dtype.itemsize if slot is None else plan.slot_bytes[slot])
            return numbers[name]

        self._tasks = [
            (
                step.prepared,
                [number(position) for position in step.planned.inputs],
                [number(position) for position in step.planned.outputs],
                step.planned.scalars,
                step,
            )
            for step in placed.steps
        ]
        self._results = [(position, number(root)) for position, root in plan.results]

    @staticmethod
    def can_run(ready: ReadyPlan, placed: Placed, provider: Provider) -> bool:
        """Whether a plan, as it was placed, needs nothing else."""
        return (
            placed.host in (None, provider)
            and not placed.fallbacks
            and all(step.decision.where == offload.DEVICE for step in placed.steps)
            and not {root for _, root in ready.plan.results} & {*ready.leaves}
        )

    def run(self, serial: int) -> None:
        """Run the plan; the results are leaves then."""
        provider, order = self._provider, self._order
        buffers = [
            order[position].buffers.get(provider) or residency.resident(order[position], provider, self._keep)
            for position in self._leaves
        ]
        buffers += [residency.allocate(provider, nbytes, self._keep) for nbytes in self._sizes]
        tasks = [
            Task(
                prepared,
                [buffers[number] for number in inputs],
                [buffers[number] for number in outputs],
                [order[position].parameters[place] for position, place in scalars],
                step,
            )
            for prepared, inputs, outputs, scalars, step in self._tasks
        ]
        provider.run(tasks)
        for position, number in self._results:
            node = order[position]
            leaf = Leaf(node.shape, node.dtype)
            leaf.origin, leaf.evaluation, leaf.used = node.origin, serial, serial
            residency.settle(leaf, provider, buffers[number])
            node.result = leaf
        for position in self._leaves:
            order[position].used = serial

    def _keep(self) -> frozenset[int]:
        """Return the ``id`` of each leaf that must stay where it is while the plan runs."""
        return frozenset(id(self._order[position]) for position in self._leaves)
