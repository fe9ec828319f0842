"""Which values are stored so that loops stay small: of few bindings and instructions, without computing much again.

One pass over the nodes, operands before their users, decides. For each value it knows which stored values it is
computed from and by which instructions, as sets of numbers.
"""

from typing import Final, TypeAlias

from gpuarray.device import Capabilities
from gpuarray.fusion import costs
from gpuarray.fusion.graphs import INSTRUCTION_LIMIT, GraphView
from gpuarray.graph.nodes import Concat, Gather, Generate, Leaf, Map, Scatter, View

#: About how often a value is computed for one element of another at most, in plans that are made without comparing.
MOST_TIMES: Final = 32
_ELEMENTWISE: Final = frozenset((Map, View, Gather, Scatter, Concat))
#: Kinds of nodes that are computed by the loops of their operands.
_IN_LOOPS: Final = frozenset((Map, View, Gather, Leaf, Generate))

#: A set of numbers: a lower bound, and a bit for each number from there on. Sets of neighbouring numbers are short.
_Bits: TypeAlias = tuple[int, int]
_NO_BITS: Final[_Bits] = (0, 0)


def _union(one: _Bits, other: _Bits) -> _Bits:
    if not one[1]:
        return other
    if one[0] > other[0]:
        one, other = other, one
    return one[0], one[1] | other[1] << (other[0] - one[0])


class Limits:
    """What the nodes of a graph are computed from, up to what is stored.

    Parameters
    ----------
    graph : GraphView
        The graph.
    capabilities : Capabilities
        The limits of the device.
    """

    def __init__(self, graph: GraphView, capabilities: Capabilities) -> None:
        self.graph = graph
        self.bindings = max(2, min(capabilities.storage_bindings - 4, 64))
        self.binding_limit = capabilities.binding_limit
        self._reads: list[_Bits] = []
        self._inside: list[_Bits] = []
        self._bits: dict[tuple[int, int], _Bits] = {}  # of stored values that are read
        self._free_bit = 0

    def respect(self) -> None:
        """Store values so that no launch reads too many buffers or has too many instructions.

        In plans that are made without comparing, store those too that would be computed again for more than a store
        takes.
        """
        graph, stored = self.graph, self.graph.stored
        again = _read_again(graph) if graph.is_plain else {}
        times: list[int] = []  # about how often what a value is computed from is computed for one element of it
        first = 0
        for position, (node, inputs) in enumerate(zip(graph.nodes, graph.inputs, strict=True)):
            length = costs.instructions_of(node.op) if isinstance(node, Generate | Map) else len(inputs)
            is_elementwise = type(node) in _ELEMENTWISE
            most = self.bindings + 2 if is_elementwise else self.bindings  # other kinds store partial results
            if len(inputs) > most and not is_elementwise:
                inputs = ()
            while True:
                read, within, free = self._below(position, inputs)
                if not free or (read[1].bit_count() <= most and within[1].bit_count() <= INSTRUCTION_LIMIT):
                    break
                stored.add(max(free, key=self._size))
            inside = _union(within, (first, (1 << length) - 1))
            first += length
            self._reads.append(read)
            self._inside.append(inside)
            if again:
                times.append(max([times[i] for i in free], default=1) * again.get(position, 1))
                work = inside[1].bit_count() * costs.PER_INSTRUCTION
                if position in again and (times[-1] > MOST_TIMES or work > graph.recompute):
                    stored.add(position)

    def _below(self, position: int, inputs: tuple[int, ...]) -> tuple[_Bits, _Bits, list[int]]:
        """Return what is read to compute a node, the instructions of that, and the operands that are not stored."""
        stored, free = self.graph.stored, []
        read = within = _NO_BITS
        for operand in inputs:
            if operand in stored:
                read = _union(read, self._bits_of(position, operand))
            else:
                free.append(operand)
                read = _union(read, self._reads[operand])
                within = _union(within, self._inside[operand])
        return read, within, free

    def _bits_of(self, position: int, operand: int) -> _Bits:
        """Return the bindings of a stored operand: several, if elements are taken anywhere of more than one shows."""
        graph, parts = self.graph, 1
        if isinstance(graph.nodes[position], Gather) and operand == graph.inputs[position][0]:
            parts = max(1, -(-graph.nodes[operand].nbytes // self.binding_limit))
        found = self._bits.get((operand, parts))
        if found is None:
            found = self._bits[operand, parts] = self._free_bit, (1 << parts) - 1
            self._free_bit += parts
        return found

    def _size(self, position: int) -> tuple[int, int]:
        return self._reads[position][1].bit_count(), self._inside[position][1].bit_count()


def _read_again(graph: GraphView) -> dict[int, int]:
    """Return the elementwise values that several loops read, or one through several layouts: at how many layouts.

    A fold ends a loop: a value that is read both before and after one is read by two.
    """
    nodes = graph.nodes
    folds: list[int] = []  # how many folds are below a node
    seen: list[int] = []  # what a view is of
    readers: dict[int, set[tuple[int, int]]] = {}
    for position, (node, inputs) in enumerate(zip(nodes, graph.inputs, strict=True)):
        loop = max([folds[i] for i in inputs], default=0)
        folds.append(loop if type(node) in _IN_LOOPS else loop + 1)
        if isinstance(node, View):
            seen.append(seen[inputs[0]])
            continue
        seen.append(position)
        if isinstance(node, Scatter | Concat):
            loop = -position
        for operand in inputs:
            below = seen[operand]
            if isinstance(nodes[below], Map):
                readers.setdefault(below, set()).add((operand, loop))
    return {p: len({layout for layout, _ in found}) for p, found in readers.items() if len(found) > 1}
