"""The graph as the planner sees it: nodes by position, what they cost, and which values are stored.

Positions are those of :func:`gpuarray.graph.walk.topological`. A *stored* node has its value in a buffer; any other is
computed where it is used. Leaves are stored to begin with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuarray.device import Capabilities
from gpuarray.graph.layouts import is_identity
from gpuarray.graph.nodes import (
    Call,
    Concat,
    Contract,
    Gather,
    Generate,
    Leaf,
    Map,
    Node,
    Reduce,
    Scan,
    Scatter,
    View,
)
from gpuarray.graph.walk import operands
from gpuarray.ops.spec import GenerateOp, MapOp

INSTRUCTION_LIMIT = 512

#: How many simple operations of a long row count as one instruction.
_OPERATIONS = 2
_LONG = 100


def length_of(op: GenerateOp | MapOp) -> int:
    """Return how many instructions a row counts as: drivers take long to compile random numbers."""
    return op.cost // _OPERATIONS if op.cost > _LONG else 1


@dataclass
class GraphView:
    """Nodes in topological order with their operands, and the set of those that are stored."""

    nodes: Sequence[Node]
    inputs: list[tuple[int, ...]]
    stored: set[int]
    aliases: dict[int, int] = field(default_factory=dict)
    """Stored views that are the whole of their source in C order: they share its buffer."""

    def settle(self, capabilities: Capabilities, *, fuse: bool) -> None:
        """Extend the stored nodes by what kinds, limits and aliases demand."""
        for position, node in enumerate(self.nodes):
            self._demand(position, node, fuse)
        for position in reversed(range(len(self.nodes))):
            node = self.nodes[position]
            if isinstance(node, View) and position in self.stored:
                source = self.inputs[position][0]
                if is_identity(node.layout, self.nodes[source].size):
                    self.aliases[position] = source
                    self.stored.add(source)
        self._respect_limits(capabilities)

    def _demand(self, position: int, node: Node, fuse: bool) -> None:
        inputs = self.inputs[position]
        match node:
            case Reduce() | Contract() | Concat():
                self.stored.add(position)
            case Scan() | Call():
                self.stored.add(position)
                self.stored.update(inputs)
            case Scatter() if node.is_whole:
                self.stored.add(position)
            case Scatter():
                self.stored.update((position, inputs[0], *inputs[2:]))
                if node.layout is None:
                    self.stored.add(inputs[1])
            case Gather():
                self.stored.add(inputs[0])
            case Map() if not fuse:
                self.stored.add(position)
            case _:
                pass
        if isinstance(node, Contract):
            self.stored.update(self._storage_of(i) for i in inputs)

    def _storage_of(self, position: int) -> int:
        """Return the node that must be stored for a matrix product to read ``position`` through a layout."""
        node = self.nodes[position]
        return self.inputs[position][0] if isinstance(node, View) and position not in self.stored else position

    def root(self, position: int) -> int:
        """Return the node whose buffer holds a stored node's value."""
        while position in self.aliases:
            position = self.aliases[position]
        return position

    def _respect_limits(self, capabilities: Capabilities) -> None:
        """Store values so that no launch reads too many buffers or has too many instructions."""
        bindings = max(2, min(capabilities.storage_bindings - 4, 64))
        reads: list[int] = []
        inside: list[int] = []
        free_bit = 0
        for position, node in enumerate(self.nodes):
            weight = length_of(node.op) if isinstance(node, Generate | Map) else 1
            inputs = self.inputs[position]
            if len(inputs) > bindings and not isinstance(node, Map | View | Gather):
                inputs = ()
            self._store_largest(inputs, reads, inside, bindings)
            read = within = 0
            for i in inputs:
                read |= 1 << i if i in self.stored else reads[i]
                within |= 0 if i in self.stored else inside[i]
            reads.append(read)
            inside.append(within | ((1 << weight) - 1) << free_bit)
            free_bit += weight

    def _store_largest(self, inputs: tuple[int, ...], reads: list[int], inside: list[int], bindings: int) -> None:
        while True:
            read = within = 0
            for i in inputs:
                read |= 1 << i if i in self.stored else reads[i]
                within |= 0 if i in self.stored else inside[i]
            if read.bit_count() <= bindings and within.bit_count() <= INSTRUCTION_LIMIT:
                return
            free = [i for i in inputs if i not in self.stored]
            if not free:
                return
            self.stored.add(max(free, key=lambda i: (reads[i].bit_count(), inside[i].bit_count())))

    def cost(self, position: int, uses: Mapping[int, int] | None = None) -> int:
        """Return what it takes to compute one element of a node from stored values, in simple operations.

        ``uses`` says how often each node is computed; once, if it is not given.
        """
        total = 0
        stack = [position]
        seen = {position}
        while stack:
            current = stack.pop()
            node = self.nodes[current]
            if isinstance(node, Map | Generate):
                total += node.op.cost * (1 if uses is None else uses.get(current, 1))
            for operand in self.inputs[current]:
                if operand not in seen and operand not in self.stored:
                    seen.add(operand)
                    stack.append(operand)
        return total


def view_graph(nodes: Sequence[Node], position: Mapping[Node, int], wanted: set[int]) -> GraphView:
    """Return the planner's view of a walked graph of which the nodes ``wanted`` will be stored."""
    inputs = [operands(node, position) for node in nodes]
    stored = {i for i, node in enumerate(nodes) if isinstance(node, Leaf)} | wanted
    return GraphView(nodes, inputs, stored)
