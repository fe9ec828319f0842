"""The storage cells that may hold values that are recorded and not computed, for ``synchronize``.

Each cell is noted when it gets such a value. The list is cleared of cells that are gone or computed whenever it has
doubled, so that noting takes a constant time per operation, and the list stays as long as the program's values.
"""

import threading
from typing import Any, Final
from weakref import ref

from gpuarray.graph import tracing
from gpuarray.graph.nodes import Generate, Node
from gpuarray.ops import generators

#: Generated values that take time to compute. Others, such as ranges, are computed where they are used, not stored.
_COSTLY: Final = frozenset(
    (generators.random_below, generators.random_bits, generators.random_normal, generators.random_uniform)
)
_LEAST: Final = 4096


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


def _is_pending(node: Node) -> bool:
    """Return whether a value is recorded, not computed, and worth being stored."""
    if not node.depth or node.result is not None:
        return False
    return type(node) is not Generate or node.op in _COSTLY


recorded: Final = Recorded()
