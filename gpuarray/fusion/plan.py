"""Plans: the launches that compute the wanted values, in order.

The planner groups stored values greedily, in topological order. Each value joins the latest group that can compute it
in the same walk over memory: elementwise values of one shape, reductions of one source shape along the same axes,
their epilogues, and row programs where rows are short. Node kinds, device limits and the cost model
(:mod:`gpuarray.fusion.costs`) decide which values are stored. No rule knows a workload.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import assert_never

from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion import costs
from gpuarray.fusion.graphs import INSTRUCTION_LIMIT, GraphView, view_graph
from gpuarray.fusion.lowering import CannotJoin, LoopBuilder, StoreFirst
from gpuarray.fusion.steps import FULL, OUTER, CallStep, ContractStep, CopyStep, Loop, ScanStep, ScatterStep, Step, Take
from gpuarray.graph.layouts import Layout, contiguous, slice_axis, surroundings
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Node, Reduce, Scan, Scatter, View

SHORT_ROW = 8192
BINDING_LIMIT = 64
#: Bytes of an array from which copying only what a write leaves, in a launch or two more, is faster than copying all.
LARGE_COPY = 1 << 22
#: Bytes that a binding may show beyond those that are wanted: it begins and ends at multiples of an alignment.
BINDING_MARGIN = 4096
#: How many of the latest groups are considered for a value, and how many are tried. The time of planning is
#: proportional to the size of the graph for it.
LOOK_BACK = 16
TRIALS = 4
#: How many attempts at a plan store as few values more as may be enough. The later ones store all that seem worth it.
PATIENCE = 4


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
        own = set(self.loaded)
        written: set[int] = set()
        for step in (*self.fixed, *([self.head] if self.head else [])):
            own.update(i for i in step.inputs if i not in written)
            written.update(step.outputs)
        return own


class Planner:
    """Makes one plan."""

    def __init__(self, graph: GraphView, wanted: set[int], capabilities: Capabilities, *, fuse: bool) -> None:
        self.graph = graph
        self.wanted = wanted
        self.capabilities = capabilities
        self.fuse = fuse
        self.groups: list[Group] = []
        self.producer: dict[int, int] = {}
        self.apart: list[LoopBuilder] = []
        """The loops of steps that stand alone."""
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
                    graph.stored.add(request.position)
                    asked.append(request.position)
                    complete = False
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
                self._headed(position, self._scan(position, node))
            case Contract() if self.fuse and graph.is_fold(position):
                self._place(position, node)
            case Contract():
                for operand in graph.unread(position, fuse=self.fuse):  # its other operand has been stored meanwhile
                    raise StoreFirst(operand)
                self._headed(position, self._contract(position, node))
            case Call():
                self._call(position, node)
            case Concat():
                self._alone(position, self._concat(position, node))
            case Scatter() if not node.is_whole:
                self._alone(position, self._scatter(position, node))
            case Scatter() | Map() | Generate() | View() | Gather() | Reduce():
                self._place(position, node)
            case Leaf():
                raise AssertionError("a leaf is in memory already")
            case _:
                assert_never(node)

    def _shown(self) -> int:
        """Return how many bytes of an array one binding shows, wherever they begin."""
        return self.capabilities.binding_limit - BINDING_MARGIN

    def _alone(self, position: int, steps: list[PlannedStep]) -> None:
        self.groups.append(Group(fixed=steps))
        self.producer[position] = len(self.groups) - 1

    def _headed(self, position: int, head: PlannedStep) -> None:
        # what no binding shows is cut into pieces, and its epilogue would be cut differently
        if max(self.graph.nodes[p].nbytes for p in (position, *head.inputs)) > self._shown():
            self._alone(position, [head])
            return
        builder = LoopBuilder(self.graph, self.graph.nodes[position].shape, None)
        builder.scalars += head.scalars
        builder.make_given(position)
        self.groups.append(Group(builder, head))
        self.producer[position] = len(self.groups) - 1

    def _place(self, position: int, node: Node) -> None:
        """Put a value that a loop can make into the latest loop that can make it, or into a new one."""
        alone = self._loop_alone(position, node)
        number = len(self.groups)
        self.trials = 0
        for candidate in reversed(range(max(0, number - LOOK_BACK), number if self.fuse else 0)):
            if self.trials >= TRIALS:
                break
            if self._joins(candidate, alone, position, node):
                self.producer[position] = candidate
                return
        self.groups.append(Group(alone))
        self.producer[position] = number

    def _loop_alone(self, position: int, node: Node) -> LoopBuilder:
        """Return a loop that makes one value."""
        match node:
            case Reduce():
                source = self.graph.nodes[self.graph.inputs[position][0]]
                alone = LoopBuilder(self.graph, source.shape, node.axes)
                alone.make_fold(position)
            case Contract():
                alone = self._product_loop(position, node)
                alone.make_product(position)
            case Scatter():
                alone = LoopBuilder(self.graph, self.graph.nodes[self.graph.inputs[position][0]].shape, None)
                alone.make_placed(position)
            case Map() | Generate() | View() | Gather():
                alone = LoopBuilder(self.graph, node.shape, None)
                alone.make_elementwise(position)
            case Leaf() | Concat() | Scan() | Call():
                raise AssertionError(f"no loop makes a {type(node).__name__}")
            case _:
                assert_never(node)
        return alone

    def _product_loop(self, position: int, node: Contract) -> LoopBuilder:
        """Return a loop over the matrix of a product with a vector, whose rows or columns are folded."""
        batch, height, depth = self.graph.nodes[self.graph.inputs[position][0]].shape
        width = node.shape[2]
        shape = (height, depth) if width == 1 else (depth, width)
        inner = 1 if width == 1 else 0
        return LoopBuilder(self.graph, shape if batch == 1 else (batch, *shape), (inner + (batch != 1),))

    def _joins(self, number: int, alone: LoopBuilder, position: int, node: Node) -> bool:
        """Add a value to a group's loop; return false if the loop cannot make it, or nothing is gained."""
        group = self.groups[number]
        builder = group.builder
        if builder is None or (group.head is not None and builder.made.keys().isdisjoint(alone.inputs)):
            return False
        if (position in self.graph.foreign) != (builder.outputs[0] in self.graph.foreign):
            return False
        folds = alone.axes is not None
        if (
            not folds
            and not isinstance(node, Scatter)
            and node.size
            not in (
                prod(builder.source_shape),
                prod(builder.outer),
            )
        ):
            return False
        if self._is_full(builder, alone):
            return False
        if builder.made.keys().isdisjoint(alone.inputs) and set(builder.inputs).isdisjoint(alone.inputs):  # independent
            if builder.axes is not None or folds:
                return False
            if costs.operations((*builder.instructions, *alone.instructions)) > costs.INDEPENDENT_LIMIT:
                return False
        self.trials += 1
        if any(self.producer.get(i, -1) > number for i in alone.inputs):
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
        if alone.axes is not None:
            if group.head is not None or alone.source_shape != builder.source_shape:
                return False
            if builder.axes is None:
                builder.adopt_axes(alone.axes)
            if builder.axes != alone.axes:
                return False
            builder.make_fold(position) if isinstance(node, Reduce) else builder.make_product(position)
        elif isinstance(node, Scatter):
            if builder.axes is not None or alone.source_shape != builder.source_shape:
                return False
            builder.make_placed(position)
        elif node.shape == builder.source_shape or (group.head is not None and node.size == prod(builder.source_shape)):
            builder.make_elementwise(position)
        elif builder.axes is not None and node.size == prod(builder.outer):
            builder.make_row_value(position)
        else:
            return False
        return True

    def _is_full(self, builder: LoopBuilder, alone: LoopBuilder) -> bool:
        """Whether a loop would have too many instructions or bindings with another value; checked before trying."""
        most = min(self.capabilities.storage_bindings, BINDING_LIMIT) - 1
        bound = set(builder.inputs) | set(builder.made) | set(alone.inputs)
        return (
            len(builder.instructions) + len(alone.instructions) - len(alone.inputs) > 2 * INSTRUCTION_LIMIT
            or len(bound) + len(alone.outputs) - len(builder.made) + len(builder.outputs) > most
        )

    def _acceptable(self, builder: LoopBuilder, number: int) -> bool:
        """Whether a loop with its new value can run at its place in the plan, and is worth it."""
        capabilities = self.capabilities
        head = self.groups[number].head
        given = 0 if head is None else 1
        if any(self.producer.get(i, -1) >= number for i in builder.inputs[given:]):
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
        if builder.repeated_operations() > costs.REPEATED_LIMIT:
            return False
        rows, columns = prod(builder.outer), prod(builder.inner)
        trailing = not builder.source_shape or (len(builder.source_shape) - 1) in builder.inner_axes
        busy = rows >= capabilities.profile.parallel_rows or columns <= SHORT_ROW
        return trailing and busy and columns <= capabilities.profile.row_limit

    def _further_windows(self, builder: LoopBuilder) -> int:
        """Return the extra bindings for arrays larger than one binding of which a loop takes elements anywhere."""
        shown, nodes = self._shown(), self.graph.nodes
        taken = {builder.inputs[item.slot] for item in builder.instructions if isinstance(item, Take)}
        taken |= {builder.outputs[store.slot] for store in builder.stores if store.position is not None}
        return sum(-(-nodes[p].nbytes // shown) - 1 for p in taken if nodes[p].nbytes > shown)

    # -- steps that stand alone ----------------------------------------------------------------------------------------

    def _scan(self, position: int, node: Scan) -> PlannedStep:
        source = self.graph.inputs[position][0]
        shape, axis = node.shape, node.axis
        step = ScanStep(
            node.op,
            prod(shape[:axis]),
            shape[axis],
            prod(shape[axis + 1 :]),
            self.graph.nodes[source].dtype,
            node.dtype,
            None,
            (self.graph.nodes[source].dtype,),
            (node.dtype,),
        )
        return PlannedStep(step, (self.graph.root(source),), (position,), ())

    def _contract(self, position: int, node: Contract) -> PlannedStep:
        graph = self.graph
        roots: list[int] = []
        scalars: list[tuple[int, int]] = []
        scalar_dtypes: tuple[DType, ...] = ()
        layouts: list[Layout] = []
        prologues: list[Loop | None] = []
        for operand, is_computed in zip(graph.inputs[position], graph.computed_operands(position), strict=True):
            operand_node = graph.nodes[operand]
            prologue = None
            layout = contiguous(operand_node.shape)
            if self.fuse and is_computed:
                builder = LoopBuilder(graph, operand_node.shape, None, inputs=roots, scalars=scalars)
                builder.make_operand(operand)
                prologue = builder.finish(set())
                scalar_dtypes = prologue.scalar_dtypes
            elif operand not in graph.stored and isinstance(operand_node, View):
                roots.append(graph.root(graph.inputs[operand][0]))
                layout = operand_node.layout
            else:
                roots.append(graph.root(operand))
            layouts.append(layout)
            prologues.append(prologue)
        kinds = tuple(graph.nodes[r].dtype for r in roots)
        step = ContractStep(
            layouts[0], layouts[1], node.dtype, None, kinds, (node.dtype,), scalar_dtypes,
            (prologues[0], prologues[1]), len(roots),
        )  # fmt: skip
        return PlannedStep(step, tuple(roots), (position,), tuple(scalars))

    def _call(self, position: int, node: Call) -> None:
        graph = self.graph
        same = [
            p
            for p, other in enumerate(graph.nodes)
            if isinstance(other, Call)
            and other.op is node.op
            and graph.inputs[p] == graph.inputs[position]
            and other.detail[1] == node.detail[1]
        ]
        outputs = [graph.nodes[p] for p in same]
        inputs = [graph.nodes[i] for i in graph.inputs[position]]
        step = CallStep(
            node.op,
            tuple(node.parameters.items()),
            tuple(i.shape for i in inputs),
            tuple(o.shape for o in outputs),
            tuple(i.dtype for i in inputs),
            tuple(o.dtype for o in outputs),
            tuple(o.output for o in outputs if isinstance(o, Call)),
        )
        self.groups.append(Group(fixed=[PlannedStep(step, self._roots(graph.inputs[position]), tuple(same), ())]))
        for p in same:
            self.producer[p] = len(self.groups) - 1

    def _roots(self, positions: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.graph.root(p) for p in positions)

    def _concat(self, position: int, node: Concat) -> list[PlannedStep]:
        """Return a loop for each shape of piece, which writes the pieces of that shape to their regions."""
        builders: list[LoopBuilder] = []
        open_for: dict[tuple[int, ...], LoopBuilder] = {}
        whole = contiguous(node.shape)
        most = min(self.capabilities.storage_bindings, BINDING_LIMIT) // 2
        if node.nbytes > self._shown():
            most = -1  # the regions of two pieces may be too far apart for one binding
        start = 0
        for operand in self.graph.inputs[position]:
            shape = self.graph.nodes[operand].shape
            region = slice_axis(whole, node.axis, start, 1, shape[node.axis])
            start += shape[node.axis]
            if 0 in shape:
                continue
            if shape not in open_for or len(open_for[shape].inputs) > most:
                open_for[shape] = LoopBuilder(self.graph, shape, None)
                builders.append(open_for[shape])
            builder = open_for[shape]
            value = builder.lower(operand, builder.full_layout, FULL)
            builder.make_region(value, position, region, node.size)
        self.apart += builders
        return [_finished(builder, set()) for builder in builders]

    def _scatter(self, position: int, node: Scatter) -> list[PlannedStep]:
        graph = self.graph
        target, values, *rest = graph.inputs[position]
        copy = PlannedStep(CopyStep(node.dtype, node.size), (graph.root(target),), (position,), ())
        if node.layout is None:
            count = graph.nodes[values].size
            kinds = [graph.nodes[operand].dtype for operand in (values, rest[0])]
            given = None if node.combine is None else kinds[0]
            step = ScatterStep(node.dtype, kinds[1], count, node.size, values=given, combine=node.combine)
            where = PlannedStep(step, (graph.root(values), graph.root(rest[0])), (position,), ())
            return [copy, where] if count else [copy]
        if node.layout.size == 0:
            return [copy]
        builder = LoopBuilder(graph, node.layout.shape, None)
        value = builder.lower(values, builder.full_layout, FULL)
        self.apart.append(builder)
        if builder.updates_only(graph.root(target), node.layout, elsewhere=node.nbytes <= self._shown()):
            builder.make_region(value, position, node.layout, node.size)
            builder.read_from_output(graph.root(target), position)
        elif values not in graph.stored and 2 * node.layout.size <= node.size:
            self.apart.pop()
            # reading other elements than are written would keep the target from being updated in place
            raise StoreFirst(values)
        else:
            builder.make_region(value, position, node.layout, node.size)
            around = surroundings(node.shape, node.layout) if LARGE_COPY <= node.nbytes <= self._shown() else None
            if around is not None:
                return [*self._copied(target, position, around), _finished(builder, set())]
        return [copy, _finished(builder, set())]

    def _copied(self, source: int, position: int, boxes: Sequence[Layout]) -> list[PlannedStep]:
        """Return a loop for each shape of box, which copies the boxes of that shape."""
        builders: dict[tuple[int, ...], LoopBuilder] = {}
        for box in boxes:
            builder = builders.setdefault(box.shape, LoopBuilder(self.graph, box.shape, None))
            value = builder.lower(self.graph.root(source), box, FULL)
            builder.make_region(value, position, box, self.graph.nodes[position].size)
        return [_finished(builder, set()) for builder in builders.values()]

    # -- recomputation ----------------------------------------------------------------------------------------

    def too_dear_to_repeat(self, *, at_once: bool) -> set[int]:
        """Return values that are computed several times although storing them would be cheaper.

        Several loops compute such a value; or one loop computes it for several of its elements, as a stencil over a
        stencil does; or for many, as broadcasting does.

        Parameters
        ----------
        at_once : bool
            Whether to return every such value that is computed more often than what it is used for. Otherwise those
            that others of them use are left out: with the others stored, they may be cheap.
        """
        uses: Counter[int] = Counter()
        folded: Counter[int] = Counter()  # values of rows that loops compute after their folds
        broadcast: set[int] = set()
        graph = self.graph
        for builder in (*(group.builder for group in self.groups if group.builder is not None), *self.apart):
            memo = builder.memo
            full = Counter(position for position, _, level in memo if level == FULL)
            uses.update({position: max(1, full[position]) for position, _, _ in memo})
            if builder.fold_count:
                folded.update({position for position, _, level in memo if level == OUTER})
            broadcast |= {p for p, n in builder.repeated().items() if graph.is_dear_to_repeat(p, n)}
        limit = self.capabilities.profile.recompute_limit
        cost, stored = graph.cost, graph.stored
        repeated = {p for p, n in uses.items() if n > 1 and p not in stored and cost(p, uses, limit * n) > limit * n}
        repeated |= broadcast
        grown = self._computed_more_often(repeated, uses) if at_once else set()
        repeated = grown or repeated - {i for p in repeated for i in graph.inputs[p]}
        rows = {p for p, n in folded.items() if n > 1 and p not in stored and graph.is_stored_along(p)}
        if rows:  # except those that only others of them use
            used = {i for p, inputs in enumerate(graph.inputs) if p not in rows for i in inputs}
            repeated |= rows & used
        return repeated

    def _computed_more_often(self, found: set[int], uses: Mapping[int, int]) -> set[int]:
        """Return those of some values that are computed more often than each of the values that use them."""
        most: dict[int, int] = {}
        for position, inputs in enumerate(self.graph.inputs):
            times = 1 if position in self.graph.stored else uses.get(position, 0)
            for operand in inputs:
                most[operand] = max(most.get(operand, 0), times)
        return {p for p in found if uses[p] > most.get(p, 0)}

    # -- the plan ------------------------------------------------------------------------------------------------------

    def finish(self) -> Plan:
        """Return the plan of the groups."""
        graph = self.graph
        needed = {graph.root(p) for p in self.wanted}
        groups: list[Group] = []
        for group in reversed(self.groups):  # without groups whose values nothing needs any more
            if group.builder is None or not needed.isdisjoint(group.builder.outputs):
                groups.append(group)
                needed |= group.reads
        steps: list[PlannedStep] = []
        for group in reversed(groups):
            if group.builder is not None:
                steps.append(_finished(group.builder, set(group.builder.outputs) - needed, group.head))
            steps += group.fixed
        steps, donors = self._without_copies(steps)
        sizes = {o: (graph.nodes[o].size, graph.nodes[o].dtype) for s in steps for o in s.outputs}
        for position in self.wanted:
            root = graph.root(position)
            if not isinstance(graph.nodes[root], Leaf):
                sizes.setdefault(root, (graph.nodes[root].size, graph.nodes[root].dtype))
        results = tuple((p, graph.root(p)) for p in sorted(self.wanted))
        slots, slot_bytes = _share_buffers(steps, sizes, {r for _, r in results})
        return Plan(tuple(steps), results, sizes, slots, slot_bytes, donors)

    def _without_copies(self, steps: Sequence[PlannedStep]) -> tuple[list[PlannedStep], frozenset[int]]:
        """Return the steps without copies of values that end there, and the numbers of copies of leaves that do.

        A value that nothing reads after its copy is written to the buffer of the copy instead.
        """
        lasting = {self.graph.root(p) for p in self.wanted}
        last = {position: number for number, step in enumerate(steps) for position in step.inputs}
        kept: list[PlannedStep] = []
        donors: set[int] = set()
        becomes: dict[int, int] = {}
        for number, step in enumerate(steps):
            if isinstance(step.step, CopyStep) and last[step.inputs[0]] == number and step.inputs[0] not in lasting:
                if not isinstance(self.graph.nodes[step.inputs[0]], Leaf):
                    becomes[step.inputs[0]] = step.outputs[0]
                    continue
                donors.add(len(kept))
            kept.append(step)
        for source in sorted(becomes, reverse=True):  # operands come before their users: resolve the last ones first
            becomes[source] = becomes.get(becomes[source], becomes[source])
        return [_renamed(step, becomes) for step in kept], frozenset(donors)


def _finished(builder: LoopBuilder, unstored: set[int], head: PlannedStep | None = None) -> PlannedStep:
    """Return the step of a loop, or that of ``head``, with the loop as epilogue if it is more than a store."""
    loop = builder.finish(unstored)
    if head is None:
        return PlannedStep(loop, tuple(builder.inputs), tuple(builder.outputs), tuple(builder.scalars))
    if len(builder.instructions) == 1 and builder.outputs == list(head.outputs):
        return head
    inputs = (*head.inputs, *builder.inputs[1:])
    assert isinstance(head.step, ContractStep | ScanStep)
    step = replace(
        head.step,
        epilogue=loop,
        input_dtypes=(*head.step.input_dtypes, *loop.input_dtypes[1:]),
        output_dtypes=loop.output_dtypes,
        scalar_dtypes=loop.scalar_dtypes,
    )
    return PlannedStep(step, inputs, tuple(builder.outputs), tuple(builder.scalars))


def _renamed(step: PlannedStep, names: dict[int, int]) -> PlannedStep:
    """Return a step with some of its values under other names."""
    if names.keys().isdisjoint(step.inputs) and names.keys().isdisjoint(step.outputs):
        return step
    inputs, outputs = (tuple(names.get(p, p) for p in places) for places in (step.inputs, step.outputs))
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
    free: list[int] = []
    for number, step in enumerate(steps):
        for position in step.outputs:
            if position in results or position in slots:
                continue
            size, dtype = sizes[position]
            nbytes = size * dtype.itemsize
            fitting = [s for s in free if nbytes <= slot_bytes[s] <= 2 * nbytes]
            if fitting:
                slots[position] = min(fitting, key=slot_bytes.__getitem__)
                free.remove(slots[position])
            else:
                slots[position] = len(slot_bytes)
                slot_bytes.append(nbytes)
        for position in {*step.inputs, *step.outputs}:
            if position in slots and last[position] == number:
                free.append(slots[position])
    return slots, tuple(slot_bytes)


def make_plan(
    nodes: Sequence[Node],
    position: Mapping[Node, int],
    wanted: set[int],
    capabilities: Capabilities,
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
    fuse : bool
        Off stores every value.
    """
    graph = view_graph(nodes, position, set(wanted))
    attempts = 0
    while True:
        graph.aliases.clear()
        graph.settle(capabilities, fuse=fuse)
        planner = Planner(graph, wanted, capabilities, fuse=fuse)
        if not planner.group():
            continue
        repeated = planner.too_dear_to_repeat(at_once=attempts >= PATIENCE)
        if not repeated:
            return planner.finish()
        graph.stored |= repeated
        attempts += 1
