"""The planner: which values are computed together, and which are stored.

The planner groups stored values greedily, in topological order. Each value joins the group that makes the last of its
operands, if it reads the others, or else the latest group that can compute it in the same walk over memory: elementwise
values of one shape, reductions of one source shape along the same axes, their epilogues, and row programs where rows
are short. Node kinds, device limits and the cost model (:mod:`gpuarray.fusion.costs`) decide which values are stored.
No rule knows a workload.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import assert_never

from gpuarray.device import Capabilities
from gpuarray.fusion import costs
from gpuarray.fusion.graphs import INSTRUCTION_LIMIT, MOST_SELECTED, GraphView, view_graph
from gpuarray.fusion.limits import Limits
from gpuarray.fusion.loop_builder import LoopBuilder
from gpuarray.fusion.lowering import CannotJoin, StoreFirst
from gpuarray.fusion.plan import Plan, PlannedStep, plan_of
from gpuarray.fusion.single_steps import BINDING_LIMIT, SingleSteps, finished, shown_bytes
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Node, Reduce, Scan, Scatter, View

SHORT_ROW = 8192
#: How many of the latest groups are considered for a value, and how many are tried. The time of planning is
#: proportional to the size of the graph for it.
LOOK_BACK = 16
TRIALS = 4


@dataclass
class Group:
    """Steps that run together: a loop, a loop over the result of ``head``, or steps that stand alone.

    ``head`` is a matrix product or a scan. The loop takes its result as first input, and the result is not stored.
    """

    builder: LoopBuilder | None = None
    head: PlannedStep | None = None
    fixed: list[PlannedStep] = field(default_factory=list)

    @property
    def loaded(self) -> list[int]:
        """Positions that the loop takes from memory."""
        return [] if self.builder is None else self.builder.inputs[0 if self.head is None else 1 :]

    @property
    def reads(self) -> set[int]:
        """Positions whose buffers the group reads."""
        loaded = set(self.loaded)
        written: set[int] = set()
        for step in (*self.fixed, *([self.head] if self.head else [])):
            loaded.update(i for i in step.inputs if i not in written)
            written.update(step.outputs)
        return loaded


class Planner:
    """Makes one plan."""

    def __init__(self, graph: GraphView, wanted: set[int], capabilities: Capabilities, *, fuse: bool) -> None:
        self.graph = graph
        self.wanted = wanted
        self.capabilities = capabilities
        self.fuse = fuse
        self.groups: list[Group] = []
        self.producer: dict[int, int] = {}
        self.single = SingleSteps(graph, capabilities, fuse)
        self.trials = 0  # groups that were tried for the current value

    # -- grouping ------------------------------------------------------------------------------------------------------

    def group(self) -> bool:
        """Assign every stored value to a group; return false if more values turned out to need storing."""
        graph = self.graph
        complete = True
        for position in range(len(graph.nodes)):
            asked = [position]
            while asked:
                if not self._is_open(asked[-1]):
                    asked.pop()
                    continue
                try:
                    self._assign(asked[-1], graph.nodes[asked[-1]])
                except StoreFirst as request:
                    # earlier groups compute it themselves: go on only to find what else must be stored
                    complete = complete and request.position in graph.stored
                    graph.stored.add(request.position)
                    asked.append(request.position)
        return complete

    def _is_open(self, position: int) -> bool:
        """Whether a stored value has no group yet."""
        graph, node = self.graph, self.graph.nodes[position]
        if position not in graph.stored or position in graph.aliases or position in self.producer:
            return False
        return not isinstance(node, Leaf) and node.size > 0

    def _assign(self, position: int, node: Node) -> None:
        graph = self.graph
        match node:
            case Scan():
                self._headed(position, self.single.scan(position, node))
            case Contract() if self.fuse and graph.is_fold(position):
                self._place(position, node)
            case Contract():
                for operand in graph.unread(position, fuse=self.fuse):  # its other operand has been stored meanwhile
                    raise StoreFirst(operand)
                self._headed(position, self.single.contract(position, node))
            case Call():
                self._alone([self.single.call(position, node)])
            case Concat() if self._is_written_by_parts(position, node):
                self._alone(self.single.concat(position, node), position)
            case Scatter() if not node.is_whole and not graph.is_selected(position):
                for view in graph.views_read_later(position) if self.fuse else ():
                    if self._is_open(view) or view not in graph.stored:
                        raise StoreFirst(view)
                self._alone(self.single.scatter(position, node), position)
            case Concat() | Scatter() | Map() | Generate() | View() | Gather() | Reduce():
                self._place(position, node)
            case Leaf():
                raise AssertionError("a leaf is in memory already")
            case _:
                assert_never(node)

    def _is_written_by_parts(self, position: int, node: Concat) -> bool:
        """Whether a loop for each shape of part writes a concatenation, rather than one loop that selects."""
        shapes = {self.graph.nodes[i].shape for i in self.graph.inputs[position]}
        return len(shapes) == 1 or node.nbytes > MOST_SELECTED or not self.graph.is_selected(position)

    def _alone(self, steps: list[PlannedStep], *positions: int) -> None:
        """Add a group of steps that make some values, by default all that the steps write."""
        for position in positions or [p for step in steps for p in step.outputs]:
            self.producer[position] = len(self.groups)
        self.groups.append(Group(fixed=steps))

    def _headed(self, position: int, head: PlannedStep) -> None:
        # what no binding shows is cut into pieces, and its epilogue would be cut differently
        if max(self.graph.nodes[p].nbytes for p in (position, *head.inputs)) > shown_bytes(self.capabilities):
            self._alone([head])
            return
        builder = LoopBuilder(self.graph, self.graph.nodes[position].shape, None)
        for scalar in head.scalars:
            builder.scalar_slot(*scalar)
        builder.make_given(position)
        self.groups.append(Group(builder, head))
        self.producer[position] = len(self.groups) - 1

    def _place(self, position: int, node: Node) -> None:
        """Put a value that a loop can make into the latest loop that can make it, or into a new one."""
        alone = self._loop_alone(position, node)
        number = len(self.groups)
        self.trials = 0
        for candidate in self._candidates(alone) if self.fuse else ():
            if self.trials >= TRIALS:
                break
            if self._joins(candidate, alone, position, node):
                self.producer[position] = candidate
                return
        self.groups.append(Group(alone))
        self.producer[position] = number

    def _candidates(self, alone: LoopBuilder) -> Iterator[int]:
        """Yield the groups that may make a value: the one that makes the last of its operands, then the latest ones.

        The first is left out if it would have to load another operand. Otherwise the value takes no load there, and
        what is computed from it can join any later group. None before it has all operands.
        """
        number = len(self.groups)
        last = max([self.producer.get(i, -1) for i in alone.inputs], default=-1)
        builder = self.groups[last].builder if last >= 0 else None
        first = max(last, number - LOOK_BACK, 0)
        if builder is not None and all(i in builder.computed or i in builder.inputs for i in alone.inputs):
            yield last
            first = max(first, last + 1)
        yield from range(number - 1, first - 1, -1)

    def _loop_alone(self, position: int, node: Node) -> LoopBuilder:
        """Return a loop that makes one value."""
        operand = self.graph.nodes[self.graph.inputs[position][0]] if self.graph.inputs[position] else node
        match node:
            case Reduce():
                alone = LoopBuilder(self.graph, operand.shape, node.axes)
            case Contract():  # over the matrix of a product with a vector, whose rows or columns are folded
                batch, height, depth = operand.shape
                shape = (height, depth) if node.shape[2] == 1 else (depth, node.shape[2])
                axis = (1 if node.shape[2] == 1 else 0) + (batch != 1)
                alone = LoopBuilder(self.graph, shape if batch == 1 else (batch, *shape), (axis,))
            case Scatter() if node.is_whole:
                alone = LoopBuilder(self.graph, operand.shape, None)
            case Map() | Generate() | View() | Gather() | Scatter() | Concat():
                alone = LoopBuilder(self.graph, node.shape, None)
            case Leaf() | Scan() | Call():
                raise AssertionError(f"no loop makes a {type(node).__name__}")
            case _:
                assert_never(node)
        alone.make(position)
        alone.refuse_repetition()
        return alone

    def _joins(self, number: int, alone: LoopBuilder, position: int, node: Node) -> bool:
        """Add a value to a group's loop; return false if the loop cannot make it, or nothing is gained."""
        group = self.groups[number]
        builder = group.builder
        if builder is None or (group.head is not None and builder.computed.keys().isdisjoint(alone.inputs)):
            return False
        if (position in self.graph.foreign) != (builder.outputs[0] in self.graph.foreign):
            return False
        folds = alone.axes is not None
        if (
            not folds
            and not (isinstance(node, Scatter) and node.is_whole)
            and node.size
            not in (
                prod(builder.source_shape),
                prod(builder.outer),
            )
        ):
            return False
        if self._is_full(builder, alone):
            return False
        if not any(i in builder.computed or i in builder.inputs for i in alone.inputs):  # they are independent
            if builder.axes is not None or folds:
                return False
            if builder.operations + alone.operations > costs.INDEPENDENT_LIMIT:
                return False
        self.trials += 1
        if alone.source_shape == builder.source_shape and builder.makes_elsewhere(alone):
            return False
        mark = builder.mark()
        try:
            if self._extended(group, builder, alone, position, node) and self._acceptable(builder, number):
                return True
        except CannotJoin:
            pass
        except StoreFirst as request:
            if request.position != position:
                builder.restore(mark)
                raise
        builder.restore(mark)
        return False

    def _extended(self, group: Group, builder: LoopBuilder, alone: LoopBuilder, position: int, node: Node) -> bool:
        """Add a value to a loop whose index space allows it; return false otherwise."""
        is_same = alone.source_shape == builder.source_shape
        if alone.axes is not None:
            if group.head is not None or not is_same:
                return False
            if builder.axes is None:
                builder.adopt_axes(alone.axes)
            if builder.axes != alone.axes:
                return False
        elif isinstance(node, Scatter) and node.is_whole:
            if builder.axes is not None or not is_same:
                return False
        elif not is_same and (group.head is None or node.size != prod(builder.source_shape)):
            if builder.axes is None or node.size != prod(builder.outer):
                return False
            builder.make_row_value(position)
            return True
        builder.make(position)
        return True

    def _is_full(self, builder: LoopBuilder, alone: LoopBuilder) -> bool:
        """Whether a loop would have too many instructions or bindings with another value; checked before trying."""
        most = min(self.capabilities.storage_bindings, BINDING_LIMIT) - 1
        length = len(builder.instructions) + len(alone.instructions)
        if length - len(alone.inputs) > 2 * INSTRUCTION_LIMIT:
            again = sum(map(builder.memo.__contains__, alone.memo)) if builder.axes == alone.axes else 0
            if length - again > 2 * INSTRUCTION_LIMIT:
                return True
        outputs = len(builder.outputs) + len(alone.outputs)
        if len(builder.inputs) + len(alone.inputs) + outputs <= most:
            return False
        bound = {*builder.inputs, *builder.computed, *alone.inputs}
        return len(bound) - len(builder.computed) + outputs > most

    def _acceptable(self, builder: LoopBuilder, number: int) -> bool:
        """Whether a loop with its new value can run at its place in the plan, and is worth it."""
        capabilities = self.capabilities
        head = self.groups[number].head
        count = 0 if head is None else 1
        if any(self.producer.get(i, -1) >= number for i in builder.inputs[count:]):
            return False
        has_row_program = builder.has_row_program()
        # rows that are split store partial results; rows that are walked again are not split
        bindings = len(builder.inputs) + len(builder.outputs) + (0 if has_row_program else builder.fold_states)
        bindings += 0 if head is None else len(head.inputs) - 1
        bindings += self._further_windows(builder)
        if bindings > min(capabilities.storage_bindings, BINDING_LIMIT) - 1:
            return False
        if builder.length > 2 * INSTRUCTION_LIMIT:
            return False
        if not has_row_program:
            return True
        if builder.repeated_operations > costs.REPEATED_LIMIT:
            return False
        rows, columns = prod(builder.outer), prod(builder.inner)
        trailing = not builder.source_shape or (len(builder.source_shape) - 1) in builder.inner_axes
        busy = rows >= capabilities.profile.parallel_rows or columns <= SHORT_ROW
        return trailing and busy and columns <= capabilities.profile.row_limit

    def _further_windows(self, builder: LoopBuilder) -> int:
        """Return the extra bindings for arrays larger than one binding of which a loop takes elements anywhere."""
        shown, nodes = shown_bytes(self.capabilities), self.graph.nodes
        if self.graph.largest <= shown:
            return 0
        taken = {builder.inputs[slot] for slot in builder.taken}
        taken |= {builder.outputs[store.slot] for store in builder.stores if store.position is not None}
        return sum(-(-nodes[p].nbytes // shown) - 1 for p in taken if nodes[p].nbytes > shown)

    def fits(self) -> bool:
        """Return whether all loops have few enough bindings, although more values are stored than when they were made.

        What was stored since is computed again by earlier loops, which is right, too.
        """
        most = min(self.capabilities.storage_bindings, BINDING_LIMIT) - 1
        builders = (group.builder for group in self.groups if group.builder is not None)
        return all(len(b.inputs) + len(b.outputs) + b.fold_states <= most for b in builders)

    # -- the plan ------------------------------------------------------------------------------------------------------

    def finish(self) -> Plan:
        """Return the plan of the groups."""
        needed = {self.graph.root(p) for p in self.wanted}
        groups: list[Group] = []
        for group in reversed(self.groups):  # without groups whose values nothing needs any more
            if group.builder is None or not needed.isdisjoint(group.builder.outputs):
                groups.append(group)
                needed |= group.reads
        steps: list[PlannedStep] = []
        for group in reversed(groups):
            if group.builder is not None:
                steps.append(finished(group.builder, set(group.builder.outputs) - needed, group.head))
            steps += group.fixed
        return plan_of(self.graph, steps, self.wanted)


def make_plan(
    nodes: Sequence[Node],
    position: Mapping[Node, int],
    wanted: set[int],
    capabilities: Capabilities,
    symbols: Mapping[int, int] = MappingProxyType({}),
    *,
    fuse: bool = True,
) -> Plan:
    """Return the plan that computes the nodes at the positions ``wanted``.

    Parameters
    ----------
    nodes : sequence of Node
        The graph in topological order.
    position : dict
        Positions by node.
    wanted : set of int
        Positions of the values to keep.
    capabilities : Capabilities
        Limits and costs of the device.
    symbols : dict of int
        For each parameter of an offset that moves, the position of the node that has its value.
    fuse : bool
        Off stores every value.

    Raises
    ------
    MustStay
        If the plan depends on an offset that moves.
    """
    graph = view_graph(nodes, position, set(wanted), symbols)
    while True:
        graph.aliases.clear()
        graph.store_required(capabilities, fuse=fuse)
        Limits(graph, capabilities).respect()
        planner = Planner(graph, wanted, capabilities, fuse=fuse)
        if planner.group() or planner.fits():
            return planner.finish()
