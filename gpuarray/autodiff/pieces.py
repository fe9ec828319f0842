"""Where the transpose of a long subgraph is evaluated in pieces, and which values of the subgraph these share."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gpuarray.autodiff.sums import Sums
from gpuarray.config import config
from gpuarray.graph.nodes import HEAVY, Node
from gpuarray.graph.tape import batch_of
from gpuarray.runtime.evaluate import evaluate

if TYPE_CHECKING:
    from gpuarray.autodiff.subgraph import Subgraph


class Pullback:
    """The state of one computation of cotangents, from results to variables, through subgraphs within subgraphs too.

    Attributes
    ----------
    is_forward : bool
        Whether the cotangents are transposed again, for forward mode.
    results : sequence of Node
        Values that the caller needs besides the cotangents. They are evaluated with the first piece.
    count : int
        The number of steps that were transposed.
    since : int
        The count when cotangents were evaluated last.
    """

    def __init__(self, *, is_forward: bool = False, results: Sequence[Node] = ()) -> None:
        self.is_forward = is_forward
        self.results = results
        self.count = self.since = 0

    def is_whole(self, length: int) -> bool:
        """Return whether a subgraph of ``length`` steps, which comes next, is transposed in one piece."""
        limit, pending = config.current.pending_limit, self.count - self.since
        return length <= limit and not (2 * pending > limit and pending + length > limit)


class Pieces:
    """The pieces in which the cotangents of a long subgraph are evaluated: where few of them are needed further on.

    The steps of a piece need values of the subgraph, which are computed again. What the next piece computes them from
    is stored where a piece computes it too, so that no value is computed again more than once or twice.

    Parameters
    ----------
    subgraph : Subgraph
        The subgraph.
    pullback : Pullback
        The computation that the subgraph is a part of.

    Attributes
    ----------
    pullback : Pullback
        The same.
    limit : int
        The depth at which pending graphs are evaluated elsewhere, and about the number of steps of a piece.
    """

    def __init__(self, subgraph: "Subgraph", pullback: Pullback) -> None:
        self.pullback = pullback
        self.limit = config.current.pending_limit
        self._subgraph = subgraph
        self._since = pullback.since
        self._depth = 0
        self._next = -1
        length, pending = len(subgraph.steps), pullback.count - pullback.since
        self._is_long = length > self.limit
        if 2 * pending > self.limit and pending + length > self.limit:
            self._is_long, self._next = False, length
        elif self._is_long:
            self._look_at_steps()
            self._next = self._step_before(length)

    def _look_at_steps(self) -> None:
        """Find where values are made and used last, how many are alive at each step, and how deep steps are."""
        steps, variables = self._subgraph.steps, self._subgraph.variables
        self._step_of = {node: step for step, (node, _, _) in enumerate(steps)}
        self._used = dict.fromkeys(self._subgraph.results, len(steps))
        for step in range(len(steps) - 1, -1, -1):
            for operand in steps[step][1]:
                self._used.setdefault(operand, step)
        changes = [0] * (len(steps) + 2)
        for node, last in self._used.items():
            if self._subgraph.varies(node):
                changes[self._step_of.get(node, -1) + 1] += 1
                changes[last + 1] -= 1
        self._alive = [*accumulate(changes)]
        levels = dict.fromkeys(variables, 0)
        for node, operands, _ in steps:
            levels[node] = 1 + max([levels.get(operand, 0) for operand in operands])
        self._levels = [levels[node] for node, _, _ in steps]

    def _step_before(self, step: int) -> int:
        """Return where the piece that ends before a step begins: where the fewest values are alive; -1 at the start.

        A piece has about ``limit`` steps, of which a fourth or more are one after the other: what is wide, but not
        long, is one piece.
        """
        most, top = step - 1, 0
        for most in range(step - 1, -1, -1):
            top = max(top, self._levels[most])
            if 2 * (step - most) >= self.limit and 4 * (top - self._levels[most]) >= self.limit:
                break
        least = most - self.limit // 2
        return -1 if least <= 0 else min(range(least, most + 1), key=lambda p: (self._alive[p], p))

    def pass_by(self, step: int, known: Sums) -> None:
        """Note that a step is next; evaluate the cotangents so far if a piece ends before it."""
        self.pullback.count += 1
        if step + 1 == self._next or self._depth > 4 * self.limit:
            self._next = self._step_before(step + 1) if self._is_long else -1
            wanted = [*self.pullback.results, *(ct.node() for ct in known.values())]
            nodes = [node for node in (*wanted, *self._kept(wanted, step)) if batch_of(node) is None]
            evaluate(nodes, self._subgraph.device)
            self.pullback.results, self._depth, self._since = (), 0, self.pullback.count
        self.pullback.since = self._since  # of subgraphs within this one

    def _kept(self, wanted: Sequence[Node], step: int) -> list[Node]:
        """Return values that are computed with others, and that the next piece, which ends at a step, needs.

        They are what takes long, and what its steps are computed from.
        """
        below, stack = {*wanted}, [*wanted]
        while stack:
            for operand in stack.pop().inputs:
                if operand not in below:
                    below.add(operand)
                    stack.append(operand)
        first = max(self._next, 0)
        needed: list[Any] = [node for node, _, _ in self._subgraph.steps[first : step + 1] if type(node) in HEAVY]
        if first:
            needed += [node for node, last in self._used.items() if self._step_of.get(node, -1) < first <= last]
        return [node for node in needed if node in below and node.inputs]

    def reach(self, depth: int) -> None:
        """Note how deep the graph of a cotangent is."""
        self._depth = max(self._depth, depth)
