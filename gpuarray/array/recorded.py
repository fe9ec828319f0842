"""The storage cells that may hold values that are recorded and not computed.

``synchronize`` evaluates them all, and a graph that has become deep is evaluated for all that have a part of it. Each
cell is noted when it gets such a value. The list is cleared of cells that are gone or computed whenever it has
doubled, so that noting takes a constant time per operation, and the list stays as long as the program's values.
"""

import threading
from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, Final
from weakref import ref

import numpy as np

from gpuarray.adapter_profile import LAUNCH_BOUND
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import BatchingError, RecordingError
from gpuarray.graph import tape, tracing
from gpuarray.graph.nodes import HEAVY, Generate, Map, Node, View
from gpuarray.runtime import evaluate
from gpuarray.runtime.direct import pending_in_order

_LEAST: Final = 4096
#: Errors that one value causes; the others have values.
OF_SINGLE_VALUES: Final = (RecordingError, BatchingError, ValueError, ArithmeticError)
_depth_of: Final = attrgetter("depth")
#: Where launches bound the time, fusion gains little, and plans of many loops take long to make and to compile. Graphs
#: of such arrays are evaluated in pieces of this many loops.
_LOOPS: Final = 8
_FUSED: Final = frozenset({Generate, Map, View})
#: Where an unknown instruction stands among others.
_UNKNOWN: Final = (0, 0)


class RecordedCells:
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
        """Remove the cells that are gone or computed, unless a trace is active, which would see a use."""
        if tracing.is_anywhere() or not self._lock.acquire(blocking=False):  # another thread does it
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
        """Return the cells with values to compute, in the order in which they were noted, each once.

        While a function is recorded these are its own: to look at others would make them its arguments.
        """
        self.clear()
        includes = tracing.mode().includes
        cells = [
            cell for note in self.cells if (cell := note()) is not None and includes(cell) and _is_pending(cell.node)
        ]
        return [*dict.fromkeys(cells)]

    def bound(self, cell: Any, depth: int) -> None:
        """Evaluate a part of the value of a cell if its graph is deep, or has many loops over few elements on a GPU.

        Other deep values of the device are evaluated with it, so that nothing is computed twice. Loops are counted by
        walks over the graph, at depths of which each is up to a half more than the one before, so that an operation
        takes constant time.

        Parameters
        ----------
        cell : Cell
            The cell.
        depth : int
            The depth of its graph, of at least an eighth of the least ``pending_limit`` of a thread.
        """
        limit = config.current.pending_limit
        if depth & 7 and depth <= limit + 8:
            return
        is_small = depth >= limit // 8 and not tape.state.tapes and cell.node.size <= LAUNCH_BOUND
        is_small = is_small and not depth % max(8, 1 << depth.bit_length() >> 2)
        if depth <= limit and not (is_small and _is_on_gpu(cell.device)):
            return
        with evaluate.device_lock(cell.device):  # another thread may be updating the operands
            top = cell.node
            if top.inputs:  # no other thread has evaluated it
                others = self._deep(cell, limit) if depth > limit else []
                if tape.state.tapes and _is_computed([top, *others], cell.device):
                    return
                try:
                    _evaluate_part([top, *others], cell.device, limit)
                except OF_SINGLE_VALUES:
                    if not others:
                        raise
                    _evaluate_part([top], cell.device, limit)  # the error may be one of a value not wanted at this line

    def _deep(self, cell: Any, limit: int) -> list[Node]:
        """Return the other deep values of the device of a cell."""
        if tracing.is_anywhere() and not tracing.mode().is_replayed:  # some have no values
            return []
        least = limit // (8 if tape.state.tapes else 2)  # a derivative reads what arrays have again
        deep = [pending.node for pending in self.pending() if pending.device is cell.device]
        return [node for node in deep if node.depth > least and tape.batch_of(node) is None and node is not cell.node]


def _is_on_gpu(device: Device) -> bool:
    return device.kind != "auto" and not evaluate.is_host_device(device)


def _is_computed(tops: Sequence[Node], device: Device) -> bool:
    """Return whether values that a derivative reads were small and are computed; the tape keeps their operands."""
    record = tape.active()
    if record is None or tracing.is_anywhere():
        return False
    values = evaluate.values_of(record)
    with np.errstate(all="ignore"):
        return evaluate.compute_small(pending_in_order(tops, values), device, values)


def _evaluate_part(tops: Sequence[Node], device: Device, limit: int) -> None:
    """Evaluate a part of the graph of some values, if it is deeper than ``limit`` or has many loops of few elements."""
    pending = _pending_below(tops)
    is_deep = tops[0].depth > limit
    if not is_deep:
        loops = len([node for node in pending if type(node) not in _FUSED])
        if loops <= _LOOPS or any(node.size > LAUNCH_BOUND for node in pending):
            return
    pending.sort(key=_depth_of, reverse=True)
    targets, cut = _cut(pending, tops[0] if is_deep else None)
    above = [node for node in reversed(pending) if node.depth > cut]
    if tape.state.tapes:
        targets = [*dict.fromkeys([*targets, *(n for n in pending if n.depth <= cut and type(n) in HEAVY)])]
    # A node to which a variable refers may be wanted later, so that no buffer of its operands is reused.
    del pending
    evaluate.evaluate(targets, device)
    for node in above:
        if node.inputs:  # it has not been evaluated by another thread
            node.depth = max([operand.depth for operand in node.inputs]) + 1


def _pending_below(tops: Sequence[Node]) -> list[Node]:
    """Return nodes and all nodes that they are to be computed from.

    The order is the same for graphs of one structure, so that equal pieces of them have one plan.
    """
    below = [*dict.fromkeys(tops)]
    seen = {*below}
    for node in below:  # which grows
        for operand in node.inputs:
            if operand.depth and operand not in seen:  # computed nodes have no depth
                seen.add(operand)
                below.append(operand)
    return below


def _cut(pending: Sequence[Node], latest: Node | None) -> tuple[list[Node], int]:
    """Return the values at which to cut a graph, and their largest depth.

    They are all that the deeper nodes are computed from, or that arrays have. The graph is cut at the depth, in its
    upper half, where they are fewest: between two statements. Among those it is cut at the instruction that comes last
    in the program's source, so that the pieces of a loop begin and end at one instruction, have few structures, and
    compile once.
    """
    end = pending[0].depth + 1
    # operands of the latest operation that nothing else reads are mostly temporary, or about to be replaced
    temporary = set() if latest is None else {*latest.inputs}
    until = dict.fromkeys(filter(_is_pending, pending), 0)
    for node in pending:
        for operand in node.inputs:
            if until.get(operand) == 0:  # the first user is the deepest
                until[operand] = node.depth
        if temporary and node is not latest:
            temporary.difference_update(node.inputs)
    for node, stop in until.items():
        if not stop or (node not in temporary and _is_held(node)):
            until[node] = end
    changes = [0] * (end + 1)
    instructions = [_UNKNOWN] * end
    for node, stop in until.items():
        changes[node.depth] += 1
        changes[stop] -= 1
        if node.origin is not None:
            code, instruction = node.origin
            instructions[node.depth] = max(instructions[node.depth], (code.co_firstlineno, instruction))
    alive = [*accumulate(changes)]
    cut = max(range(end // 2, end), key=lambda depth: (-alive[depth], instructions[depth], depth))
    return [node for node, stop in until.items() if node.depth <= cut < stop], cut


def _is_held(node: Node) -> bool:
    """Return whether a node itself is the value of a cell, unlike ``node.is_held`` without what a view shows."""
    cell = None if node.holder is None else node.holder()
    return cell is not None and cell.node is node


def _is_pending(node: Node) -> bool:
    """Return whether a value is recorded, not computed, and worth being stored."""
    if not node.depth or node.result is not None:
        return False
    return type(node) is not Generate or node.op.is_costly  # others, such as ranges, are computed where they are used


recorded: Final = RecordedCells()
