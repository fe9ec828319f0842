"""Steps that stand alone: scans, matrix products, calls, and writes to parts of arrays."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.graphs import GraphView
from gpuarray.fusion.loop_builder import LoopBuilder
from gpuarray.fusion.lowering import StoreFirst
from gpuarray.fusion.plan import PlannedStep
from gpuarray.fusion.steps import FULL, CallStep, ContractStep, CopyStep, Loop, ScanStep, ScatterStep
from gpuarray.graph.layouts import Layout, complement, contiguous, slice_axis
from gpuarray.graph.nodes import Call, Concat, Contract, Scan, Scatter, View

#: The most bindings of a loop.
BINDING_LIMIT = 64
#: Bytes of an array from which copying only what a write leaves, in a launch or two more, is faster than copying all.
LARGE_COPY = 1 << 22
#: Bytes that a binding may show beyond those that are wanted: it begins and ends at multiples of an alignment.
BINDING_MARGIN = 4096


def shown_bytes(capabilities: Capabilities) -> int:
    """Return how many bytes of an array one binding shows, wherever they begin."""
    return capabilities.binding_limit - BINDING_MARGIN


def finished(builder: LoopBuilder, unstored: set[int], head: PlannedStep | None = None) -> PlannedStep:
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


@dataclass
class SingleSteps:
    """Makes the steps of one graph that stand alone.

    ``fuse`` says whether matrix products compute elementwise operands where they read them.
    """

    graph: GraphView
    capabilities: Capabilities
    fuse: bool

    @cached_property
    def _outputs(self) -> dict[tuple[Hashable, ...], list[int]]:
        """The positions of the outputs of each call, by what these have in common."""
        calls: dict[tuple[Hashable, ...], list[int]] = {}
        for position, node in enumerate(self.graph.nodes):
            if isinstance(node, Call):
                calls.setdefault((node.op, self.graph.inputs[position], node.detail[1]), []).append(position)
        return calls

    def scan(self, position: int, node: Scan) -> PlannedStep:
        """Return the step of a scan."""
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

    def contract(self, position: int, node: Contract) -> PlannedStep:
        """Return the step of a matrix product, with a prologue for each operand that tiles compute."""
        graph = self.graph
        roots: list[int] = []
        scalars: dict[tuple[int, int], int] = {}
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

    def call(self, position: int, node: Call) -> PlannedStep:
        """Return the step of all outputs of a call."""
        graph = self.graph
        same = self._outputs[node.op, graph.inputs[position], node.detail[1]]
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
        roots = tuple(graph.root(p) for p in graph.inputs[position])
        return PlannedStep(step, roots, tuple(same), ())

    def concat(self, position: int, node: Concat) -> list[PlannedStep]:
        """Return a loop for each shape of piece, which writes the pieces of that shape to their regions."""
        builders: list[LoopBuilder] = []
        open_for: dict[tuple[int, ...], LoopBuilder] = {}
        whole = contiguous(node.shape)
        most = min(self.capabilities.storage_bindings, BINDING_LIMIT) // 2
        if node.nbytes > shown_bytes(self.capabilities):
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
        return [finished(builder, set()) for builder in builders]

    def scatter(self, position: int, node: Scatter) -> list[PlannedStep]:
        """Return the steps of a scatter: a copy of the target, and the writes to it."""
        graph = self.graph
        target, values, *rest = graph.inputs[position]
        shown = shown_bytes(self.capabilities)
        copy = PlannedStep(CopyStep(node.dtype, node.size), (graph.root(target),), (position,), ())
        if node.layout is None:
            count = graph.nodes[values].size
            kinds = [graph.nodes[operand].dtype for operand in (values, rest[0])]
            target_kind = None if node.combine is None else kinds[0]
            step = ScatterStep(node.dtype, kinds[1], count, node.size, values=target_kind, combine=node.combine)
            where = PlannedStep(step, (graph.root(values), graph.root(rest[0])), (position,), ())
            return [copy, where] if count else [copy]
        if node.layout.size == 0:
            return [copy]
        builder = LoopBuilder(graph, node.layout.shape, None)
        value = builder.lower(values, builder.full_layout, FULL)
        updates = builder.updates_only(graph.root(target), node.layout, elsewhere=node.nbytes <= shown)
        if not updates and values not in graph.stored and 2 * node.layout.size <= node.size:
            # reading other elements than are written would keep the target from being updated in place
            raise StoreFirst(values)
        builder.make_region(value, position, node.layout, node.size)
        builder.refuse_repetition()
        if updates:
            builder.read_from_output(graph.root(target), position)
        elif LARGE_COPY <= node.nbytes <= shown and (around := complement(node.shape, node.layout)) is not None:
            return [*self._copied(target, position, around), finished(builder, set())]
        return [copy, finished(builder, set())]

    def _copied(self, source: int, position: int, boxes: Sequence[Layout]) -> list[PlannedStep]:
        """Return a loop for each shape of box, which copies the boxes of that shape."""
        builders: dict[tuple[int, ...], LoopBuilder] = {}
        for box in boxes:
            builder = builders.setdefault(box.shape, LoopBuilder(self.graph, box.shape, None))
            value = builder.lower(self.graph.root(source), box, FULL)
            builder.make_region(value, position, box, self.graph.nodes[position].size)
        return [finished(builder, set()) for builder in builders.values()]
