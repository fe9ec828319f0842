"""Plans all of whose steps run at one place: what an :class:`~gpuarray.runtime.execute.Execution` finds out, once.

Where buffers come from and go to is known when a plan is made, as long as all steps run at one place. So a run has
lists of buffers, by number, and no look-ups. Which copies hand on their input's buffer is decided anew for each run:
there is a straight form of the plan for each such choice.
"""

from collections.abc import Sequence
from typing import Any, Final

from gpuarray.errors import DeviceMemoryError
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime.placement import decisions, residency
from gpuarray.runtime.prepared import Placement, PreparedPlan

#: Straight forms that a plan keeps at most.
_CHOICES: Final = 8


class Straight:
    """A plan with numbers for its buffers.

    Parameters
    ----------
    ready : PreparedPlan
        The plan.
    placed : Placement
        Its steps, all of them at one place.
    provider : Provider
        That place.
    order : sequence of Node
        The plan's nodes by position, of any graph that it is for.
    moved : sequence of int
        The copies that hand on their input's buffer.
    """

    __slots__ = ("_given", "_leaves", "_provider", "_results", "_sizes", "_tasks")

    def __init__(
        self, ready: PreparedPlan, placed: Placement, provider: Provider, order: Sequence[Any], moved: Sequence[int]
    ) -> None:
        plan = ready.plan
        self._provider = provider
        self._leaves = ready.leaves
        self._sizes: list[int] = []
        self._given: list[int] = []
        numbers: dict[Any, int] = {position: number for number, position in enumerate(ready.leaves)}
        for step in (placed.steps[copy].planned for copy in moved):
            self._given.append(numbers[step.inputs[0]])
            numbers[step.outputs[0]] = numbers[step.inputs[0]]

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
            for place, step in enumerate(placed.steps)
            if place not in moved
        ]
        self._results = [(position, number(root)) for position, root in plan.results]

    @classmethod
    def of(
        cls, ready: PreparedPlan, placed: Placement, provider: Provider, order: Sequence[Any], moved: Sequence[int] = ()
    ) -> "Straight | None":
        """Return what runs a plan as it was placed; None if that needs an execution."""
        known = placed.straight
        if known is None:
            one = decisions.DEVICE if placed.host is None else decisions.HOST
            can_run = (
                len(placed.steps) > 0
                and not placed.fallbacks
                and all(step.decision.where == one for step in placed.steps)
                and {root for _, root in ready.plan.results}.isdisjoint(ready.leaves)
            )
            known = placed.straight = {} if can_run else False
        if known is False:
            return None
        found: Straight | None = known.get(choice := tuple(moved))
        if found is None:
            if len(known) >= _CHOICES:
                known.clear()
            found = known[choice] = cls(ready, placed, placed.host or provider, order, moved)
        if moved and any(found._is_shared(order, number) for number in found._given):
            return None
        return found

    def _is_shared(self, order: Sequence[Any], number: int) -> bool:
        """Whether somebody outside has the memory of a leaf."""
        buffer = order[self._leaves[number]].buffers.get(self._provider)
        return buffer is None or buffer.is_shared

    def run(self, order: Sequence[Any], serial: int, read: Node | None = None) -> None:
        """Run the plan for nodes by position; the results are leaves then. The value of ``read`` is read next."""
        wanted = None
        if read is not None:
            wanted = next((number for position, number in self._results if order[position] is read), None)
        made = self.made([order[position] for position in self._leaves], order, serial, wanted)
        for number, (position, _) in enumerate(self._results):
            order[position].resolve(made[number])

    def made(self, leaves: list[Any], order: Sequence[Any], serial: int, wanted: int | None = None) -> list[Leaf]:
        """Run the plan for leaves, and for parameters of nodes by position; return its results.

        The buffer of number ``wanted`` is read next.
        """
        provider = self._provider
        buffers: list[Any] = []
        for leaf in leaves:
            buffer = leaf.buffers.get(provider)
            buffers.append(residency.resident(leaf, provider, _keep(leaves)) if buffer is None else buffer)
            leaf.used = serial
        for nbytes in self._sizes:
            try:
                buffers.append(provider.allocate(nbytes))
            except DeviceMemoryError:
                buffers.append(residency.allocate(provider, nbytes, _keep(leaves)))
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
        provider.run(tasks, None if wanted is None else buffers[wanted])
        for number in self._given:
            leaves[number].buffers.clear()
        made = []
        for position, number in self._results:
            node = order[position]
            leaf = Leaf(node.shape, node.dtype)
            leaf.origin = node.origin
            leaf.evaluation = leaf.used = serial
            residency.settle(leaf, provider, buffers[number])
            made.append(leaf)
        return made


def _keep(leaves: list[Any]) -> residency.Kept:
    """Return what tells the ``id`` of each leaf that must stay where it is while a plan runs."""
    return lambda: frozenset(map(id, leaves))
