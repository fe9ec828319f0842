"""Which values are stored so that loops stay small: of few bindings and instructions, without computing much again.

One pass over the nodes, operands before their users, decides. For each value it knows which stored values it is
computed from and by which instructions, as sets of numbers.
"""

from typing import Any, Final, TypeAlias

from gpuarray.device import Capabilities
from gpuarray.fusion import boxes, costs
from gpuarray.fusion.graphs import INSTRUCTION_LIMIT, MOST_AGAIN, GraphView
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Concat, Gather, Generate, Leaf, Map, Node, Reduce, Scatter, View

#: About how often a value is computed for one element of another at most.
MOST_TIMES: Final = 32
_ELEMENTWISE: Final = frozenset((Map, View, Gather, Scatter, Concat))
#: Kinds of nodes that are computed by the loops of their operands.
_IN_LOOPS: Final = frozenset((Map, View, Gather, Leaf, Generate))

#: Kinds of nodes whose elements are computed from one element of each operand.
_AT_ONE_PLACE: Final = frozenset((Map, View))

#: What a value is computed from by little: a value, through which layouts it is seen, and the operations.
_Seen: TypeAlias = tuple[int, tuple[Layout | None, ...], int]
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
    """The values from which the nodes of a graph are computed, up to stored ones.

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
        self._rows: set[int] = set()
        """Reductions, and elementwise values of the same size that are computed from them."""
        self._reads: list[_Bits] = []
        self._inside: list[_Bits] = []
        self._bits: dict[tuple[int, int], _Bits] = {}  # of stored values that are read
        self._free_bit = 0

    def respect(self) -> None:
        """Store values so that no launch reads too many buffers, has too many instructions or computes much again."""
        graph, stored, rows = self.graph, self.graph.stored, self._rows
        again = _read_again(graph)
        times: list[int] = []  # about how often what a value is computed from is computed for one element of it
        first = 0
        for position, (node, inputs) in enumerate(zip(graph.nodes, graph.inputs, strict=True)):
            # other kinds select between their operands, if they are not stored
            kind = type(node)
            length = costs.instructions_of(node.op) if isinstance(node, (Map, Generate)) else len(inputs)
            is_elementwise = kind in _ELEMENTWISE
            most = self.bindings + 2 if is_elementwise else self.bindings  # other kinds store partial results
            if len(inputs) > most and not is_elementwise:
                inputs = ()
            read, within, free = self._below(position, inputs)
            while free and not self._fits(read, within, most):
                stored.update(self._largest(position, inputs, free, most))
                read, within, free = self._below(position, inputs)
            inside = _union(within, (first, (1 << length) - 1))
            first += length
            self._reads.append(read)
            self._inside.append(inside)
            if kind is Reduce or (is_elementwise and not rows.isdisjoint(inputs) and self._is_row(node, inputs)):
                rows.add(position)
            count, space, loops = again.get(position, (1, None, 1))
            times.append(max([times[i] for i in free]) * count if free else count)
            if count > 1 and (self._is_too_much(position, times[-1], count, space) or self._is_read_much(read, loops)):
                stored.add(position)

    @staticmethod
    def _fits(read: _Bits, within: _Bits, most: int) -> bool:
        """Whether a value with so many bindings and instructions may be computed in one launch."""
        return read[1].bit_count() <= most and within[1].bit_count() <= INSTRUCTION_LIMIT

    def _largest(self, position: int, inputs: tuple[int, ...], free: list[int], most: int) -> list[int]:
        """Return the largest operands of those that are not stored, as many as are to be stored."""
        free = sorted(dict.fromkeys(free), key=self._size, reverse=True)
        rest = [(_NO_BITS, _NO_BITS)]  # of what the smallest operands are computed
        for operand in reversed(free):
            read, within = rest[-1]
            rest.append((_union(read, self._reads[operand]), _union(within, self._inside[operand])))
        known = _NO_BITS
        for operand in inputs:
            if operand in self.graph.stored:
                known = _union(known, self._bits_of(position, operand))
        for number, operand in enumerate(free):
            known = _union(known, self._bits_of(position, operand))
            read, within = rest[len(free) - number - 1]
            if self._fits(_union(known, read), within, most):
                return free[: number + 1]
        return free

    def _is_row(self, node: Node, inputs: tuple[int, ...]) -> bool:
        """Whether a value has as many elements as a reduction that it is computed from, or as a value of its rows."""
        return any(i in self._rows and self.graph.nodes[i].size == node.size for i in inputs)

    def _is_too_much(self, position: int, times: int, count: int, space: int | None) -> bool:
        """Whether to store a value that is read at some positions rather than compute its operands so often."""
        graph = self.graph
        if times > MOST_TIMES:
            return True
        if space is not None and graph.hides(times, space):
            work = times * graph.cost(position, enough=MOST_AGAIN)
            return work > count * graph.recompute and not graph.hides(work, space)
        if space is None and position in self._rows and graph.is_stored_along(position):  # by the first loop
            return True
        once = times // count  # how often at most what a value is computed from is computed for one of its elements
        return once * graph.cost(position, enough=graph.recompute) > graph.recompute

    def _is_read_much(self, read: _Bits, loops: int) -> bool:
        """Whether several loops would read more arrays for a value than it takes to store it and read it in each.

        Where writes are selected, a launch takes longer than that, and the loops become one.
        """
        arrays = read[1].bit_count()
        return not self.graph.selects and arrays * loops > arrays + 1 + loops

    def _below(self, position: int, inputs: tuple[int, ...]) -> tuple[_Bits, _Bits, list[int]]:
        """Return the values that a node reads, the instructions for it, and its operands that are not stored."""
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
        bits = self._bits.get((operand, parts))
        if bits is None:
            bits = self._bits[operand, parts] = self._free_bit, (1 << parts) - 1
            self._free_bit += parts
        return bits

    def _size(self, position: int) -> tuple[int, int]:
        return self._reads[position][1].bit_count(), self._inside[position][1].bit_count()


def _read_again(graph: GraphView) -> dict[int, tuple[int, int | None, int]]:
    """Return the elementwise values that several loops read, or one at several positions.

    For each it returns the number of positions; if one loop reads it, of elements, else None; and of loops. A
    fold ends a loop: a value that is read before and after one is read by two. Views show a value at another position,
    and so do writes to boxes that are selected. What is computed from one value by little is at its position.
    """
    nodes = graph.nodes
    folds: list[int] = []  # how many folds are below a node
    seen: list[_Seen] = []
    constant: list[bool] = []
    open_ = {position for position, node in enumerate(nodes) if isinstance(node, Map)}  # may be stored or not
    readers: dict[int, dict[tuple[Any, int], int]] = {}
    for position, (node, inputs) in enumerate(zip(nodes, graph.inputs, strict=True)):
        kind = type(node)
        loop = max([folds[i] for i in inputs]) if inputs else 0
        is_selected = isinstance(node, Scatter) and graph.is_selected(position)
        folds.append(loop if kind in _IN_LOOPS or is_selected else loop + 1)
        read = [seen[i] for i in inputs if not constant[i]]
        constant.append(kind is Generate and boxes.is_constant(node))
        if len(read) == 1 and kind in _AT_ONE_PLACE:
            below, index, operations = read[0]
            if kind is View:
                seen.append((below, (*index, node.detail), operations))
                continue
            operations += costs.of_node(node)
            if operations < costs.STORE:
                seen.append((below, index, operations))
                continue
        seen.append((position, (), 0))
        if isinstance(node, Scatter) and is_selected:  # the rest of its target is read where it is
            open_.add(position)
            below, index, _ = seen[inputs[1]]
            readers.setdefault(below, {})[(*index, node.layout), loop] = node.size
            continue
        if kind is Scatter or kind is Concat:
            loop = -position
        for below, index, _ in read:
            if below in open_:
                readers.setdefault(below, {})[index, loop] = node.size
    loops = {position: len({loop for _, loop in reads}) for position, reads in readers.items() if len(reads) > 1}
    return {
        position: (len(readers[position]), max(readers[position].values()) if count == 1 else None, count)
        for position, count in loops.items()
    }
