"""Direct evaluation: small graphs of host values are computed node by node, by NumPy's own functions.

Looking up a plan and running it takes tens of microseconds, in which NumPy computes thousands of elements, and making
one takes milliseconds. A graph whose nodes have at most ``config.direct_limit`` elements is therefore computed without
a plan if the host has its leaves and is where its device computes. Every node on the way becomes a leaf, so nothing is
computed twice, and a loop whose views move makes no plans.

A node that no rule covers (:mod:`gpuarray.runtime.node_rules`), and an error that values cause, lead to a plan, which
raises the error again with the lines that recorded it. :func:`gpuarray.runtime.evaluate.evaluate` calls this module,
under the lock of graphs.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from math import prod
from operator import attrgetter
from time import perf_counter_ns
from typing import Any, Final

import numpy as np

from gpuarray import observers
from gpuarray.config import config
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
    Scatter,
    View,
)
from gpuarray.graph.walk import current
from gpuarray.immediacy import FEW_LINES
from gpuarray.ops.columns import Kind
from gpuarray.runtime import telemetry
from gpuarray.runtime.host_memory import keep, leaf_of, value_of
from gpuarray.runtime.node_rules import OF_VALUES, RULES, generated, has_bits, written

_depth_of: Final = attrgetter("depth")
#: The most elements of a single operation on values that is computed without a plan: there is nothing to fuse, and
#: several threads gain nothing yet.
_ALONE: Final = 1 << 17
#: The most bytes of the result of a single call that is computed without a plan: no threads would share it.
_CALLED: Final = 1 << 20
#: The most operations of a node that one thread computes: several take less time, however long a plan takes.
_SHARED: Final = 1 << 24
#: The most multiplications of a product that is not left to a GPU.
_MULTIPLICATIONS: Final = 1 << 20
#: Kinds that copy elements.
_COPYING: Final = frozenset((View, Gather, Concat))
#: Kinds that read only some elements of their first operand.
SELECTING: Final = frozenset((View, Gather, Scatter))


def compute(roots: Sequence[Node], limit: int, *, calls: bool) -> bool:
    """Compute a small graph; afterwards each root has a result.

    Parameters
    ----------
    roots : sequence of Node
        Pending nodes that are wanted.
    limit : int
        The most elements of a node that is computed.
    calls : bool
        Whether opaque calls are computed too. On devices other than the host they are fallbacks, which are counted.

    Returns
    -------
    bool
        False if a node is larger, has no rule, or needs a value that is not on the host. The nodes that were computed
        before have results.
    """
    limit = _limit(roots, limit)
    computed = 0
    is_observed = bool(observers.active)
    called: dict[Any, Any] = {}  # what calls returned, by what all outputs have in common
    stack = [root for root in roots if root.result is None]
    try:
        with np.errstate(all="ignore"):
            while stack:
                node = stack[-1]
                if node.result is not None:
                    stack.pop()
                    continue
                if (prod(node.shape) > limit and type(node) is not Scatter) or _is_left(node, calls):
                    return False
                values = _values_for(node, limit)
                if values is None:
                    return False
                if type(values) is tuple:
                    stack += values  # they are to be computed before
                    continue
                start = perf_counter_ns() if is_observed else 0
                leaf = _computed(node, values, called)
                if leaf is None:
                    return False
                node.resolve(leaf)
                if start:  # a node without a line has that of what asks for it
                    origin = next((n.origin for n in reversed(stack) if n.origin), None)
                    observers.span(observers.DIRECT, origin, start, perf_counter_ns())
                stack.pop()
                computed += 1
    except OF_VALUES:  # the plan raises it again, and says where it comes from
        return False
    telemetry.counters["operations"] += computed
    return True


def _values_for(node: Node, limit: int) -> Any:
    """Return a list of the values of a node's operands; None if one is large or not on the host.

    If some operands have no values yet, return a tuple of these operands, the last one first.
    """
    values, pending = [], []
    for operand in _operands(node):
        value = value_of(operand)
        if value is None:
            if operand.result is not None or type(operand) is Leaf:
                return None
            pending.append(operand)
        elif value.size > limit and type(node) not in SELECTING:
            return None
        else:
            values.append(value)
    return tuple(pending[::-1]) if pending else values


def _computed(node: Node, values: list[Any], called: dict[Any, Any]) -> Leaf | None:
    """Return the leaf of a node whose operands have values; None if its rule does not cover it."""
    if type(node) is Call:
        key = node.op, node.inputs, node.detail[1]
        if key not in called:
            called[key] = RULES[Call](node, values)
        outputs = called[key]
        outputs = outputs[node.output] if isinstance(outputs, tuple) else outputs
    else:
        outputs = RULES[type(node)](node, values)
    return outputs if outputs is None or type(outputs) is Leaf else leaf_of(node, outputs)


class NodeValues(dict[Node, Any]):
    """The values of the nodes of a small graph, and of its leaves and generators once they are read.

    Parameters
    ----------
    known : mapping
        The values of nodes that are known already.

    Attributes
    ----------
    limit : int
        The most elements that are generated.
    read : callable or None
        Returns the value of a node that the host does not have. Without it that is a LookupError.
    """

    __slots__ = ("limit", "read")

    def __init__(self, known: Mapping[Node, Any]) -> None:
        super().__init__(known)
        self.limit = 0
        self.read: Callable[[Node], Any] | None = None

    def __missing__(self, node: Node) -> Any:
        value = value_of(node)
        if value is None and type(node) is Generate and node.size <= self.limit:
            value = generated(node)
        if value is None:
            if self.read is None:
                raise LookupError
            value = self.read(node)
        self[node] = value
        return value


def compute_in_order(nodes: Sequence[Node], values: NodeValues, *, calls: bool) -> bool:
    """Add the values of nodes, which are in topological order, and of their operands, to those that are known.

    Those that an array has, or that a call computes, get results. Warnings are the caller's. Return False if a node has
    more elements than the limit, a rule does not cover one, or the host does not have the value of an operand.
    """
    called: dict[Any, Any] = {}
    computed = 0
    limit, known = values.limit, values.__getitem__
    try:
        for node in nodes:
            if node in values:
                continue
            if prod(node.shape) > limit:
                return False
            if node.result is not None:
                known(node)
                continue
            operands = [*map(known, node.inputs)]
            kind = type(node)
            if kind is Call:
                if _is_left(node, calls) or (leaf := _computed(node, operands, called)) is None:
                    return False
                node.resolve(leaf)
                value = leaf.host
            else:
                value = written(node, operands) if type(node) is Scatter else RULES[kind](node, operands)
                if value is None:
                    return False
                if value.dtype is not node.dtype or value.shape != node.shape:
                    value = leaf_of(node, value).host
                if node.holder is not None and node.holder() is not None and node.is_held:
                    node.resolve(leaf_of(node, value))
            values[node] = value
            computed += 1
    except (LookupError, *OF_VALUES):
        return False
    telemetry.counters["evaluations"] += 1
    telemetry.counters["operations"] += computed
    return True


def compute_for_tape(roots: Sequence[Node], values: NodeValues, *, calls: bool) -> bool:
    """Compute a small graph as :func:`compute` does, and keep it for a tape.

    Only the roots, calls, and what arrays have get results. The others get values, in a third of the time.
    """
    with np.errstate(all="ignore"):
        if not compute_in_order(pending_in_order(roots, values), values, calls=calls):
            return False
    for root in roots:
        keep(root, values[root])
    return True


def pending_in_order(roots: Iterable[Node], known: Container[Node]) -> list[Node]:
    """Return pending nodes and those that they are to be computed from, in topological order.

    Generators, and nodes whose values are known with those that they are computed from, are only among the roots.
    """
    below = [*dict.fromkeys(roots)]
    seen = {*below}
    for node in below:  # which grows
        for operand in node.inputs:
            # computed nodes have no depth
            if operand.depth and operand not in seen and operand not in known and type(operand) is not Generate:
                seen.add(operand)
                below.append(operand)
    return sorted(below, key=_depth_of)


def covers(roots: Sequence[Node], limit: int, *, calls: bool) -> bool:
    """Return whether :func:`compute` would compute a graph, judging by kinds, sizes and places of values."""
    limit = _limit(roots, limit)
    seen: set[int] = set()
    stack = [current(root) for root in roots]
    while stack:
        node = stack.pop()
        if id(node) in seen or type(node) is Leaf:
            continue
        seen.add(id(node))
        if node.size > limit or _is_left(node, calls):
            return False
        for operand in map(current, node.inputs):
            if isinstance(operand, Leaf) and value_of(operand) is None:
                return False
            if operand.size > limit and type(node) not in SELECTING:
                return False
            stack.append(operand)
    return True


def _limit(roots: Sequence[Node], limit: int) -> int:
    """Return the maximum elements of the nodes of a graph, which is larger for a single call of a NumPy function."""
    if len(roots) != 1 or not limit or config.current.memory_limit:
        return limit
    (root,) = roots
    most = max(limit, _ALONE)
    if type(root) is Map:
        op = root.op
        if op.numpy_forms or not (isinstance(op.numpy, np.ufunc) or op.kind is Kind.CONVERSION):
            return limit
    elif type(root) is Reduce:
        fold = root.op
        first = len(root.inputs[0].shape) - len(root.axes)
        is_copied = fold.numpy is not None and any(axis < first for axis in root.axes)
        is_extreme = fold.combine is not None and fold.combine.kind is Kind.EXTREME
        if is_copied or not (is_extreme or root.dtype.kind in "biu"):  # others depend on the order of additions
            return limit
    elif type(root) is Call:
        most = max(limit, _CALLED // root.dtype.itemsize)
    elif type(root) is Generate:
        is_sparse = not has_bits(root.parameters[0]) if root.op.is_constant else root.op.whole is not None
        if is_sparse and limit >= _ALONE:  # new pages have zeros; a GPU writes its own
            return max(limit, root.size)
        if not root.op.is_constant:
            return limit
    elif type(root) not in _COPYING:
        return limit
    for operand in _operands(root):
        is_known = operand.op.is_constant if type(operand) is Generate else value_of(operand) is not None
        if not is_known:
            return limit
    return most


def _is_left(node: Node, calls: bool) -> bool:
    """Return whether a node needs a plan, because a device computes it or threads would share the lines or the work."""
    if type(node) is Contract:
        return not calls and node.size * node.inputs[0].shape[-1] > _MULTIPLICATIONS
    if type(node) is not Call:
        return type(node) is Map and node.op.cost * prod(node.shape) > _SHARED
    return not calls or bool(node.op.by_line and node.shape[-1] < node.size > FEW_LINES)


def _operands(node: Node) -> tuple[Node, ...]:
    """Return the operands that the rule of a node reads: of a gather of rows, their numbers instead of positions."""
    return (node.inputs[0], node.rows) if isinstance(node, Gather) and node.rows is not None else node.inputs
