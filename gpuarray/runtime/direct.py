"""Direct evaluation: small graphs of host values are computed node by node, by NumPy's own functions.

Looking up a plan and running it takes tens of microseconds, in which NumPy computes thousands of elements, and making
one takes milliseconds. A graph whose nodes have at most ``config.direct_limit`` elements is therefore computed without
a plan if the host has its leaves and is where its device computes. Every node on the way becomes a leaf, so nothing is
computed twice, and a loop whose views move makes no plans.

Each kind of node has one rule here. A node that the rules do not cover, and an error that values cause, lead to a
plan, which raises the error again with the lines that recorded it. :func:`gpuarray.runtime.evaluate.evaluate` calls
this module, under the lock of graphs.
"""

from collections.abc import Callable, Sequence
from math import prod
from time import perf_counter_ns
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes, observers
from gpuarray.config import config
from gpuarray.graph.layouts import Layout
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
from gpuarray.graph.tracing import Deferred
from gpuarray.graph.walk import current
from gpuarray.immediacy import ONE_THREAD
from gpuarray.ops import generators
from gpuarray.ops.columns import Kind
from gpuarray.ops.reduce_spec import Elements
from gpuarray.ops.spec import MapOp
from gpuarray.runtime import ownership, places, telemetry
from gpuarray.unprotected import unprotected

Array = npt.NDArray[Any]


#: What values, dtypes and sizes cause. Other errors are errors of a rule.
_OF_VALUES: Final = (TypeError, ValueError, ArithmeticError, MemoryError)
#: The most elements of a single operation on values that is computed without a plan: there is nothing to fuse, and
#: several threads gain nothing yet.
_ALONE: Final = 1 << 17
#: The most bytes of the result of a single call that is computed without a plan: no threads would share it.
_CALLED: Final = 1 << 20

#: The most operations of a node that one thread computes: several take less time, however long a plan takes.
_SHARED: Final = 1 << 24

#: A rule: computes a node from the values of its operands.
Rule = Callable[[Any, list[Any]], Any]


def compute(roots: Sequence[Node], limit: int, *, calls: bool) -> bool:
    """Compute a small graph; afterwards each root has a result.

    Parameters
    ----------
    roots : sequence of Node
        Pending nodes that are wanted.
    limit : int
        The most elements of a node that is computed.
    calls : bool
        Whether opaque calls are computed too: on another device than the host's they are fallbacks, which are counted.

    Returns
    -------
    bool
        False if a node is larger, has no rule, or needs a value that the host does not have. The nodes below it that
        were computed by then have results.
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
    except _OF_VALUES:  # the plan raises it again, and says where it comes from
        return False
    telemetry.counters["operations"] += computed
    return True


def _values_for(node: Node, limit: int) -> Any:
    """Return a list of the values of a node's operands; None if one is large or elsewhere.

    If operands have no values yet, it is a tuple of these operands, the last one first.
    """
    values, pending = [], []
    for operand in _operands(node):
        value = value_of(operand)
        if value is None:
            if operand.result is not None or type(operand) is Leaf:
                return None
            pending.append(operand)
        elif value.size > limit and type(node) not in _SELECTING:
            return None
        else:
            values.append(value)
    return tuple(pending[::-1]) if pending else values


def _computed(node: Node, values: list[Any], called: dict[Any, Any]) -> Leaf | None:
    """Return the leaf of a node whose operands have values; None if its rule does not cover it."""
    if type(node) is Call:
        key = node.op, node.inputs, node.detail[1]
        if key not in called:
            called[key] = _call(node, values)
        made = called[key]
        made = made[node.output] if isinstance(made, tuple) else made
    else:
        made = _RULES[type(node)](node, values)
    return made if made is None or type(made) is Leaf else _leaf(node, made)


def compute_in_order(nodes: Sequence[Node], values: dict[Node, Any], limit: int, *, calls: bool) -> bool:
    """Add the values of nodes, which are in topological order, and of their operands, to those that are known.

    Those that an array has, or that a call computes, get results. Warnings are the caller's. Return False if a node has
    more elements than ``limit``, a rule does not cover one, or the host does not have the value of an operand.
    """
    called: dict[Any, Any] = {}
    computed = 0
    try:
        for node in nodes:
            if node in values:
                continue
            if prod(node.shape) > limit:
                return False
            if node.result is not None:
                if (known := value_of(node)) is None:
                    return False
                values[node] = known
                continue
            operands = []
            for operand in node.inputs:
                value = values.get(operand)
                if value is None:
                    value = value_of(operand)
                    if value is None and type(operand) is Generate and operand.size <= limit:
                        value = generated(operand)
                    if value is None:
                        return False
                    values[operand] = value
                operands.append(value)
            kind = type(node)
            if kind is Call:
                if _is_left(node, calls) or (leaf := _computed(node, operands, called)) is None:
                    return False
                node.resolve(leaf)
                made = leaf.host
            else:
                made = _written(node, operands) if type(node) is Scatter else _RULES[kind](node, operands)
                if made is None:
                    return False
                if made.dtype is not node.dtype or made.shape != node.shape:
                    made = _leaf(node, made).host
                if node.holder is not None and node.is_held:
                    node.resolve(_leaf(node, made))
            values[node] = made
            computed += 1
    except _OF_VALUES:
        return False
    telemetry.counters["evaluations"] += 1
    telemetry.counters["operations"] += computed
    return True


def keep(node: Node, value: Any) -> None:
    """Make a value that was computed for a node its result, unless it has one."""
    with places.graphs:
        if node.result is None and type(node) is not Leaf and type(node) is not Generate:
            node.resolve(_leaf(node, value))


def _limit(roots: Sequence[Node], limit: int) -> int:
    """Return the most elements of the nodes of a graph, which are more if it is one call of one NumPy function."""
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
        is_sparse = not _has_bits(root.parameters[0]) if root.op.is_constant else root.op.whole is not None
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
    """Return whether a node is not computed here: calls are not, or threads would share the lines or the work."""
    if type(node) is not Call:
        return type(node) is Map and node.op.cost * prod(node.shape) > _SHARED
    return not calls or bool(node.op.by_line and node.shape[-1] < node.size > ONE_THREAD)


def _operands(node: Node) -> tuple[Node, ...]:
    """Return the operands whose values the rule of a node takes: rows instead of the positions in them."""
    return (node.inputs[0], node.rows) if isinstance(node, Gather) and node.rows is not None else node.inputs


def element(node: Any, position: int) -> Any:
    """Return an element of a value that the host has, as a NumPy scalar; None if the host does not have it."""
    leaf = node.result
    if leaf is None:
        if type(node) is not Leaf:
            return node.parameters[0] if type(node) is Generate and node.op.is_constant else None
        leaf = node
    host = leaf.host if leaf.host is not None else _in_process(leaf)
    return None if host is None else host.flat[position]


def folded(node: Map) -> Node:
    """Return a row over constants as a constant; the node itself if it has other operands, or an error."""
    values = []
    for operand in node.inputs:
        if type(operand) is not Generate or not operand.op.is_constant:
            return node
        values.append(operand.parameters[0])
    try:
        with np.errstate(all="ignore"):
            value = _map(node, values)
    except _OF_VALUES:  # the plan raises it again, and says where it comes from
        return node
    if type(value) is not node.dtype.type:
        value = np.asarray(value).astype(node.dtype)[()]
    constant = Generate(generators.full, (), (), node.dtype, (value,))
    constant.origin = node.origin
    return constant


def overwritten(operands: Sequence[Node], layout: Layout, values: Any) -> Leaf | None:
    """Write to the memory of a value that nobody else can see, and return the leaf that has it now; else None.

    Parameters
    ----------
    operands : sequence of Node
        What a write has as its operands, of which the first is the value.
    layout : Layout
        Which elements to write.
    values : ndarray or scalar
        What to write, of the same dtype.
    """
    leaf = ownership.private_leaf(operands)
    if leaf is None:
        return None
    host = leaf.host
    if host is None:
        if (memory := _in_process(leaf)) is None:
            return None
        strided(memory, layout)[...] = values
    else:
        host.flags.writeable = True
        if layout.shape:
            strided(host, layout)[...] = values
        else:
            host.flat[layout.offset] = values
        host.flags.writeable = False
    return moved(leaf)


def moved(leaf: Leaf) -> Leaf:
    """Return another leaf with the memory of one that ends, as what is known of the old value is known by its leaf."""
    made = Leaf(leaf.shape, leaf.dtype, leaf.host)
    made.buffers, leaf.buffers, leaf.host = leaf.buffers, {}, None
    return made


def generated(node: Generate) -> Any:
    """Return generated elements, a constant without axes as a scalar; None if a call gives the parameters."""
    if any(type(value) is Deferred for value in node.parameters):
        return None
    if node.op.is_constant and not node.shape:
        return node.parameters[0]
    made = np.asarray(_generate(node, []))
    return made if made.shape == node.shape and made.base is None else made.reshape(node.shape).copy()


def covers(roots: Sequence[Node], limit: int, *, calls: bool) -> bool:
    """Return whether :func:`compute` would compute a graph, as far as kinds, sizes and places of values tell."""
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
            if operand.size > limit and type(node) not in _SELECTING:
                return False
            stack.append(operand)
    return True


def value_of(node: Any) -> Any:
    """Return the value of a node that has been computed, of a constant without axes, or of a view of a computed value.

    None if the value is to be computed, or if the host does not have it.
    """
    leaf = node.result
    if leaf is None:
        kind = type(node)
        if kind is Generate:
            return node.detail[0] if node.op.is_constant and not node.shape else None
        if kind is View:
            source = node.inputs[0]
            leaf = source if type(source) is Leaf else source.result
            value = None if leaf is None else leaf.host if leaf.host is not None else _in_process(leaf)
            return None if value is None else strided(value, node.detail)
        if kind is not Leaf:
            return None
        leaf = node
    return leaf.host if leaf.host is not None else _in_process(leaf)


def _leaf(node: Node, array: Any) -> Leaf:
    """Return a leaf with a value that was computed for a node."""
    if type(array) is not np.ndarray or array.dtype is not node.dtype:
        array = np.asarray(array).astype(node.dtype, copy=False)
    if array.shape != node.shape and array.size != node.size:
        array = np.broadcast_to(array, node.shape)
    if array.base is not None or not array.flags.c_contiguous:  # memory of others may be written to later
        array = array.copy()  # in C order
    if array.shape != node.shape:
        array = array.reshape(node.shape)
    array.flags.writeable = False
    leaf = Leaf(node.shape, node.dtype, array)
    leaf.origin = node.origin
    return leaf


def _in_process(leaf: Any) -> Array | None:
    """Return the value of a leaf whose buffer is the in-process provider's, without a copy; None if it has none."""
    host = places.host()
    buffer = leaf.buffers.get(host)
    return None if buffer is None else np.ndarray(leaf.shape, leaf.dtype, host.memory_of(buffer))


def strided(source: Array, layout: Layout) -> Array:
    """Return a contiguous array seen through a layout."""
    shape, strides, offset = layout
    if 0 in shape:
        return np.empty(shape, source.dtype)
    width = source.itemsize
    return np.ndarray(shape, source.dtype, source, offset * width, [stride * width for stride in strides])


# -- rules -------------------------------------------------------------------------------------------------------------


def _generate(node: Generate, values: list[Any]) -> Any:
    if node.op.is_constant:
        (value,) = node.parameters
        return np.full(node.shape, value, node.dtype) if _has_bits(value) else np.zeros(node.shape, node.dtype)
    if node.op.whole is not None:
        return node.op.whole(node.size, *node.parameters, dtype=node.dtype)
    return node.op.numpy(
        range(node.size) if node.op.takes_range and node.size else np.arange(node.size),
        *node.parameters,
        dtype=node.dtype,
    )


def _has_bits(value: Any) -> bool:
    """Return whether the bits of a number are not all zeros."""
    return any(np.asarray(value).tobytes())


def _map(node: Map, values: list[Any]) -> Any:
    op = node.op
    function = op.numpy
    if isinstance(function, np.ufunc):
        return function(*values)[op.output] if function.nout > 1 else function(*values)
    if op.kind is Kind.CONVERSION:
        (value,) = values
        value = np.asarray(value)
        return (value.real if value.dtype.kind == "c" and node.dtype.kind not in "cb" else value).astype(node.dtype)
    return function(*values, out=np.empty(node.shape, node.dtype))


def _view(node: View, values: list[Any]) -> Any:
    return strided(np.asarray(values[0], order="C"), node.layout)


def _concat(node: Concat, values: list[Any]) -> Any:
    return np.concatenate(values, node.axis)


def _reduce(node: Reduce, values: list[Any]) -> Any:
    op, axes = node.op, node.axes
    (array,) = values
    array = np.asarray(array)
    accumulated = op.accumulate(array.dtype)
    parts = op.numpy
    if not array.size and parts is not None:
        return None
    if parts is None:
        return _ufunc(op.combine).reduce(array, axis=axes, dtype=accumulated)
    array = array.astype(accumulated if parts.compute is None else parts.compute(accumulated), copy=False)
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    rows = np.ascontiguousarray(array.transpose(*kept, *axes)).reshape(*[array.shape[axis] for axis in kept], -1)

    def restored(found: Any) -> Any:
        return np.expand_dims(found, axes)

    spare = np.empty_like(array) if parts.takes_spare else None
    elements = Elements(array, axes, spare, 0, lambda: rows, restored, lambda found: found)
    found = parts.finish(*parts.fold(elements)) if parts.result is None else parts.result(elements)
    return np.asarray(found).astype(node.dtype)


def _scan(node: Scan, values: list[Any]) -> Any:
    if node.op.numpy is not None:
        return None
    return _ufunc(node.op.combine).accumulate(values[0], axis=node.axis, dtype=node.dtype)


def _gather(node: Gather, values: list[Any]) -> Any:
    source, positions = values
    positions = unprotected(np.asarray(positions).astype(np.intp, copy=False))
    line = np.asarray(source).reshape(-1)
    if node.rows is None:
        return line[positions]
    width = node.size // positions.size if positions.size else 0
    return line.reshape(-1, width).take(positions, 0) if width else np.empty(node.shape, node.dtype)


def _scatter(node: Scatter, values: list[Any]) -> Any:
    if node.is_whole:
        new, positions = values
        places_of = positions.reshape(-1)
        inside = places_of < node.size
        result = np.empty(node.size, node.dtype)
        result[places_of[inside]] = new.reshape(-1)[inside]
        return result
    if node.layout is not None and node.dtype is node.inputs[0].dtype:
        values[0] = None  # this was a reference too
        written = overwritten(node.inputs, node.layout, values[1])
        if written is not None:
            written.origin = node.origin
            return written
        values[0] = value_of(node.inputs[0])
    return _written(node, values)


def _written(node: Scatter, values: list[Any]) -> Any:
    """Return the value of a write, in memory of its own."""
    if node.is_whole:
        return _scatter(node, values)
    if node.size > config.current.direct_limit:
        return None
    result = np.array(values[0], node.dtype, order="C")
    if node.layout is not None:
        strided(result, node.layout)[...] = values[1]
        return result
    line = result.reshape(-1)
    positions = np.asarray(values[2]).reshape(-1).astype(np.intp, copy=False)
    new = np.asarray(values[1])
    if node.combine is None:
        line[positions] = new.reshape(-1)
    else:
        _ufunc(node.combine).at(line, positions, *(new.reshape(-1),)[: node.combine.arity - 1])
    return result


def _contract(node: Contract, values: list[Any]) -> Any:
    left, right = values
    if node.dtype == dtypes.float16:
        left, right = left.astype(dtypes.float32), right.astype(dtypes.float32)
    return np.matmul(left, right)


def _call(node: Call, values: list[Any]) -> Any:
    values = [unprotected(np.asarray(value)) for value in values]
    return node.op.numpy(*values, **node.parameters)  # a tuple of all outputs, if there are several


def _ufunc(row: MapOp | None) -> np.ufunc:
    function = None if row is None else row.numpy
    if not isinstance(function, np.ufunc):
        raise TypeError(f"{row!r} is not a ufunc")
    return function


#: Kinds that copy elements.
_COPYING: Final = frozenset((View, Gather, Concat))
#: Kinds that read only some elements of their first operand.
_SELECTING: Final = frozenset((View, Gather, Scatter))


_RULES: Final[dict[type, Rule]] = {
    Generate: _generate,
    Map: _map,
    View: _view,
    Concat: _concat,
    Reduce: _reduce,
    Scan: _scan,
    Gather: _gather,
    Scatter: _scatter,
    Contract: _contract,
    Call: _call,
}
if missing := {*get_args(Node)} - {Leaf, *_RULES}:
    raise AssertionError(f"kinds of nodes without a rule: {missing}")
