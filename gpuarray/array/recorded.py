"""The storage cells that may hold values that are recorded and not computed.

``synchronize`` evaluates them all, and a graph that has become deep is evaluated for all that have a part of it. Each
cell is noted when it gets such a value. The list is cleared of cells that are gone or computed whenever it has
doubled, so that noting takes a constant time per operation, and the list stays as long as the program's values.
"""

import sys
import threading
from collections.abc import Hashable, Sequence
from operator import attrgetter, sub
from typing import Any, Final
from weakref import ref

from gpuarray.config import config, recording
from gpuarray.errors import RecordingError
from gpuarray.graph import tape, tracing
from gpuarray.graph.nodes import Generate, Map, Node, View
from gpuarray.graph.walk import topological
from gpuarray.ops import generators
from gpuarray.runtime import evaluate
from gpuarray.runtime.known_graphs import LAUNCH_BOUND

#: Generated values that take time to compute. Others, such as ranges, are computed where they are used, not stored.
_COSTLY: Final = frozenset(
    (generators.random_below, generators.random_bits, generators.random_normal, generators.random_uniform)
)
_LEAST: Final = 4096
#: Errors that one value causes; the others have values.
OF_SINGLE_VALUES: Final = (RecordingError, ValueError, ArithmeticError)
_depth_of: Final = attrgetter("depth")
#: Where launches bound the time, fusion gains little, and plans of many loops take long to make and to compile. Graphs
#: of such arrays are evaluated in pieces of so many loops.
_LOOPS: Final = 8
_FUSED: Final = frozenset({Generate, Map, View})
#: Where an unknown instruction stands among others.
_LAST: Final = (sys.maxsize, 0)


class Recorded:
    """Weak references to cells.

    Attributes
    ----------
    cells : list of weakref
        The cells; one may be in the list several times. Arrays append to it without a call, as each operation does so.
    limit : int
        The length of the list from which on it is to be cleared.
    """

    def __init__(self) -> None:
        self.cells: list[ref[Any]] = []
        self.limit = _LEAST
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Remove the cells that are gone or computed; not while a trace is active, which takes a look for a use."""
        if tracing.is_anywhere() or not self._lock.acquire(blocking=False):  # another thread is at it
            return
        try:
            count = len(self.cells)
            # computed nodes have no depth
            alive = {id(cell): note for note in self.cells[:count] if (cell := note()) is not None and cell.node.depth}
            self.cells[:count] = alive.values()
            self.limit = max(_LEAST, 2 * len(self.cells))
        finally:
            self._lock.release()

    def forget(self, cell: Any) -> None:
        """Remove a cell, until it gets another value."""
        with self._lock:
            count = len(self.cells)  # other threads append
            self.cells[:count] = [note for note in self.cells[:count] if note() is not cell]

    def pending(self) -> list[Any]:
        """Return the cells with values to compute, in the order in which they were noted, each once."""
        self.clear()
        cells = [cell for note in self.cells if (cell := note()) is not None and _is_pending(cell.node)]
        return [*dict.fromkeys(cells)]

    def bound(self, cell: Any, depth: int) -> None:
        """Evaluate the value of a cell, or a part of it, if its graph has become too large.

        Parameters
        ----------
        cell : Cell
            The cell.
        depth : int
            The depth of its graph, of at least an eighth of the ``pending_limit``.
        """
        if depth >= recording.depth:
            self.evaluate_deep(cell)
        elif not depth & 7:
            self.evaluate_many(cell)

    def evaluate_deep(self, cell: Any) -> None:
        """Evaluate the value of a cell if its graph is too deep, and with it the other deep values of the device.

        A loop that never reads a value is thus evaluated from time to time, with all that its arrays have at one line,
        so that nothing is computed twice. Where the graph repeats itself, the next evaluation is made ready to be at
        the same line: what is evaluated then has the same structure.
        """
        node, limit = cell.node, config.current.pending_limit
        aligned = recording.depth if recording.limit == limit else limit + 1
        if node.depth < aligned:
            return
        is_aligned = node.depth == recording.depth < limit
        period = 0 if is_aligned else _period(node)
        deep: list[Node] = []
        if not tracing.is_anywhere() or tracing.mode().is_replayed:  # else some have no values
            deep = [other.node for other in self.pending() if other.device is cell.device]
            least = limit // (8 if tape.state.tapes else 2)  # a derivative reads what arrays have again
            deep = [other for other in deep if other.depth > least and other is not node]
            deep = [other for other in deep if tape.batch_of(other) is None]
            deep.sort(key=_depth_of, reverse=True)
        try:
            evaluate.evaluate([node, *deep], cell.device)
        except OF_SINGLE_VALUES:  # perhaps of another value
            evaluate.evaluate([node], cell.device)
        if recording.limit == limit and not is_aligned:
            recording.depth = limit // period * period if period else limit + 1

    def evaluate_many(self, cell: Any) -> None:
        """Evaluate a part of the value of a cell if its graph has many loops over few elements, on a GPU.

        The graph is cut at the depth, in its upper half, where the fewest values are wanted above: between two
        statements. Among those it is cut at the instruction of the program that comes first in its source, so that the
        pieces of a loop begin and end at the same instruction, have few structures, and compile once.
        """
        top, device = cell.node, cell.device
        if top.size > LAUNCH_BOUND or top.depth < config.current.pending_limit // 8 or device.kind == "auto":
            return
        if evaluate.is_host(evaluate.provider_of(device)):
            return
        pending = _pending_below(top)
        if sum(type(node) not in _FUSED for node in pending) <= _LOOPS or any(
            node.size > LAUNCH_BOUND for node in pending
        ):
            return
        wanted, depth = _cut(pending, top)
        above = [node for node in reversed(pending) if node.depth > depth]
        del (
            pending
        )  # a node to which a variable refers may be wanted later, so that no buffer of its operands is reused
        evaluate.evaluate(wanted, device)
        for node in above:
            if node.inputs:  # it has not been evaluated by another thread
                node.depth = max([operand.depth for operand in node.inputs]) + 1


def _pending_below(top: Node) -> list[Node]:
    """Return a node and all nodes that it is to be computed from, the deepest first."""
    seen = {top}
    stack = [top]
    while stack:
        for operand in stack.pop().inputs:
            if operand.result is None and operand.depth > 0 and operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted(seen, key=_depth_of, reverse=True)


def _cut(pending: Sequence[Node], top: Node) -> tuple[list[Node], int]:
    """Return the values at which to cut a graph, and their largest depth.

    They are all that the deeper nodes are computed from, or that arrays have.
    """
    above = top.depth + 1
    until = {node: above if _is_held(node) else 0 for node in pending}
    until[top] = above
    for node in pending:
        for operand in node.inputs:
            if operand in until:
                until[operand] = max(until[operand], node.depth)
    wanted = [0] * above
    first = [_LAST] * above
    for node, end in until.items():
        for depth in range(node.depth, end):
            wanted[depth] += 1
        if node.origin is not None:
            code, instruction = node.origin
            first[node.depth] = min(first[node.depth], (code.co_firstlineno, instruction))
    cut = min(range(above // 2, above), key=lambda depth: (wanted[depth], first[depth], -depth))
    return [node for node, end in until.items() if node.depth <= cut < end], cut


def _is_held(node: Node) -> bool:
    """Return whether a node is the value of a cell."""
    cell = None if node.holder is None else node.holder()
    return cell is not None and cell.node is node


def _is_pending(node: Node) -> bool:
    """Return whether a value is recorded, not computed, and worth being stored."""
    if not node.depth or node.result is not None:
        return False
    return type(node) is not Generate or node.op in _COSTLY


def _period(node: Node) -> int:
    """Return the number of levels after which the line that recorded a node was reached again; 0 if it was not."""
    line = _line(node)
    depths = sorted({other.depth for other in topological((node,)).order if _line(other) == line}, reverse=True)
    steps = [*map(sub, depths, depths[1:])]
    for count in range(1, len(steps) + 1):
        span = max(len(steps) // 2, count)
        if steps[: span - count] == steps[count:span]:
            return sum(steps[:count])
    return 0


def _line(node: Node) -> Hashable:
    return node.op, node.shape, node.origin


recorded: Final = Recorded()
