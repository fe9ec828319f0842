"""Plans: the launches that compute the wanted values, in order. :mod:`gpuarray.fusion.planner` makes them."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gpuarray.dtypes import DType
from gpuarray.fusion.graphs import GraphView
from gpuarray.fusion.steps import CopyStep, Step
from gpuarray.graph.nodes import Leaf


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step with the positions of its operands and results, and its scalars as (position, parameter number)."""

    step: Step
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    scalars: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Plan:
    """Steps in order, over values named by their node's position.

    Attributes
    ----------
    steps : tuple of PlannedStep
        What runs.
    results : tuple of (int, int)
        Wanted positions, and the position whose buffer holds each one's value.
    sizes : dict
        Elements and dtype of each value that a step writes.
    slots : dict
        For values that end with the plan: the number of the buffer that they share with other values.
    slot_bytes : tuple of int
        Sizes of those buffers.
    donors : frozenset of int
        Numbers of the copies whose input is a leaf that the plan does not read afterwards. If nothing outside of the
        plan refers to the leaf either, its buffer becomes the output's, and nothing is copied.
    """

    steps: tuple[PlannedStep, ...]
    results: tuple[tuple[int, int], ...]
    sizes: dict[int, tuple[int, DType]]
    slots: dict[int, int] = field(default_factory=dict)
    slot_bytes: tuple[int, ...] = ()
    donors: frozenset[int] = frozenset()


def plan_of(graph: GraphView, steps: Sequence[PlannedStep], wanted: set[int]) -> Plan:
    """Return the plan of some steps, in order, of which the values at the positions ``wanted`` are kept."""
    steps, donors = _without_copies(graph, steps, wanted)
    sizes = {o: (graph.nodes[o].size, graph.nodes[o].dtype) for s in steps for o in s.outputs}
    for position in wanted:
        root = graph.root(position)
        if not isinstance(graph.nodes[root], Leaf):
            sizes.setdefault(root, (graph.nodes[root].size, graph.nodes[root].dtype))
    results = tuple((p, graph.root(p)) for p in sorted(wanted))
    slots, slot_bytes = _share_buffers(steps, sizes, {r for _, r in results})
    return Plan(tuple(steps), results, sizes, slots, slot_bytes, donors)


def _without_copies(
    graph: GraphView, steps: Sequence[PlannedStep], wanted: set[int]
) -> tuple[list[PlannedStep], frozenset[int]]:
    """Return the steps without copies of values that end there, and the numbers of copies of leaves that do.

    A value that nothing reads after its copy is written to the buffer of the copy instead.
    """
    lasting = {graph.root(p) for p in wanted}
    last = {position: number for number, step in enumerate(steps) for position in step.inputs}
    remaining: list[PlannedStep] = []
    donors: set[int] = set()
    becomes: dict[int, int] = {}
    for number, step in enumerate(steps):
        if isinstance(step.step, CopyStep) and last[step.inputs[0]] == number and step.inputs[0] not in lasting:
            if not isinstance(graph.nodes[step.inputs[0]], Leaf):
                becomes[step.inputs[0]] = step.outputs[0]
                continue
            donors.add(len(remaining))
        remaining.append(step)
    for source in sorted(becomes, reverse=True):  # operands come before their users: resolve the last ones first
        becomes[source] = becomes.get(becomes[source], becomes[source])
    return [_renamed(step, becomes) for step in remaining], frozenset(donors)


def _renamed(step: PlannedStep, names: dict[int, int]) -> PlannedStep:
    """Return a step with some of its values under other names."""
    if names.keys().isdisjoint(step.inputs) and names.keys().isdisjoint(step.outputs):
        return step
    inputs, outputs = (tuple(names.get(p, p) for p in positions) for positions in (step.inputs, step.outputs))
    return replace(step, inputs=inputs, outputs=outputs)


def _share_buffers(
    steps: Sequence[PlannedStep], sizes: dict[int, tuple[int, DType]], results: set[int]
) -> tuple[dict[int, int], tuple[int, ...]]:
    """Assign numbered buffers to values that end with the plan; a buffer is reused after its last reader."""
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for position in (*step.inputs, *step.outputs):
            last[position] = number
    slots: dict[int, int] = {}
    slot_bytes: list[int] = []
    free: list[tuple[int, int]] = []  # sizes and numbers, in order
    for number, step in enumerate(steps):
        for position in step.outputs:
            if position in results or position in slots:
                continue
            size, dtype = sizes[position]
            nbytes = size * dtype.itemsize
            fitting = bisect_left(free, (nbytes, 0))
            if fitting < len(free) and free[fitting][0] <= 2 * nbytes:
                slots[position] = free.pop(fitting)[1]
            else:
                slots[position] = len(slot_bytes)
                slot_bytes.append(nbytes)
        for position in {*step.inputs, *step.outputs}:
            if position in slots and last[position] == number:
                insort(free, (slot_bytes[slots[position]], slots[position]))
    return slots, tuple(slot_bytes)
