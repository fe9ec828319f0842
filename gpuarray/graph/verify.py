"""The invariants of graphs, checked node by node.

The constructors in :mod:`gpuarray.graph.build` hold them; this module proves it before a graph is planned, where
``config.verify`` is on: in all tests, and when hunting a bug. A violation is a bug of this package, never the user's
mistake, hence :class:`~gpuarray.errors.InternalError`.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from gpuarray import dtypes
from gpuarray.errors import InternalError
from gpuarray.graph.build import parameter_types
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


def require(holds: bool, what: str) -> None:
    """Raise InternalError unless an invariant holds."""
    if not holds:
        raise InternalError(f"an invariant does not hold: {what}; this is a bug of gpuarray, please report it")


def check_graph(nodes: Sequence[Node], position: Mapping[Node, int]) -> None:
    """Check nodes in topological order.

    Raises
    ------
    InternalError
        If one of them is inconsistent, or comes before one of its operands.
    """
    for number, node in enumerate(nodes):
        indices = [position[current(operand)] for operand in node.inputs]
        operands = [nodes[index] for index in indices]
        where = f"node {number}, a {type(node).__name__}"
        require(all(index < number for index in indices), f"{where} comes after its operands")
        require(dtypes.canonical(node.dtype) is node.dtype, f"{where} has a canonical dtype, not {node.dtype!r}")
        require(all(n >= 0 for n in node.shape), f"{where} has a shape, not {node.shape}")
        _check(node, operands, where)


def check_layout(layout: Layout, extent: int, where: str) -> None:
    """Check that a layout is consistent and stays among ``extent`` elements."""
    require(len(layout.shape) == len(layout.strides), f"{where}: {layout} has a stride an axis")
    low, high = layout.bounds()
    require(high < low or (low >= 0 and high < extent), f"{where}: {layout} stays among {extent} elements")


def check_unique(layout: Layout, where: str) -> None:
    """Check that a layout to write through names no position twice, as far as strides alone can tell."""
    steps = sorted((abs(s), n) for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1)
    if 0 in layout.shape:
        return
    reach = 0
    for stride, extent in steps:
        require(stride > reach, f"{where}: {layout} names no position twice")
        reach += stride * (extent - 1)


def _check(node: Node, operands: Sequence[Node], where: str) -> None:
    match node:
        case Leaf():
            host = node.host
            require(not operands, f"{where} has no operands")
            require(host is not None or bool(node.buffers), f"{where} has a value")
            if host is not None:
                same = host.shape == node.shape and host.dtype == node.dtype and host.flags.c_contiguous
                require(same, f"{where} holds a C-contiguous array of its shape and dtype")
        case Generate():
            require(not operands, f"{where} has no operands")
            require(len(node.parameters) == node.op.parameters, f"{where} has the parameters of {node.op.name}")
            types = parameter_types(node.op, node.dtype)
            kinds = [kind if type(p) is Deferred else type(p) for p, kind in zip(node.parameters, types, strict=True)]
            require(tuple(kinds) == types, f"{where} has parameters of the types of its operation")
        case Map():
            _check_map(node, operands, where)
        case View():
            require(node.layout.shape == node.shape, f"{where} has its layout's shape")
            require(node.dtype == operands[0].dtype, f"{where} has its source's dtype")
            check_layout(node.layout, operands[0].size, where)
        case Concat():
            _check_concat(node, operands, where)
        case Reduce():
            _check_reduce(node, operands[0], where)
        case Scan():
            require(node.shape == operands[0].shape, f"{where} has its source's shape")
            require(0 <= node.axis < len(node.shape), f"{where} has axis {node.axis}")
        case Gather():
            source, positions = operands
            require(positions.dtype.kind in "iu", f"{where} has integer positions, not {positions.dtype}")
            same = node.shape == positions.shape and node.dtype == source.dtype
            require(same, f"{where} has its positions' shape and its source's dtype")
            require(source.size > 0 or node.size == 0, f"{where} takes nothing from an empty source")
        case Scatter():
            _check_scatter(node, operands, where)
        case Contract():
            left, right = operands
            shapes = len(left.shape) == len(right.shape) == 3 and left.shape[0] == right.shape[0]
            require(shapes and left.shape[2] == right.shape[1], f"{where} has operands that match")
            require(node.shape == (*left.shape[:2], right.shape[2]), f"{where} has the shape of a product")
            require(left.dtype == right.dtype == node.dtype, f"{where} has operands of its dtype")
        case Call():
            require(bool(operands), f"{where} has operands")
            require(node.output >= 0, f"{where} has an output number")
        case _:
            assert_never(node)


def _check_map(node: Map, operands: Sequence[Node], where: str) -> None:
    op = node.op
    require(len(operands) == op.arity, f"{where} of {op.name} has {op.arity} operands")
    for operand in operands:
        lead = len(node.shape) - len(operand.shape)
        fits = lead >= 0 and all(n in (1, m) for n, m in zip(operand.shape, node.shape[lead:], strict=True))
        require(fits, f"{where} of {op.name}: an operand of shape {operand.shape} broadcasts to {node.shape}")
    if op.kind.converts:
        return
    rule = op.resolve(*(operand.dtype for operand in operands))
    kinds = tuple(operand.dtype for operand in operands)
    require(rule.inputs == kinds, f"{where} of {op.name} has operands of dtypes {rule.inputs}, not {kinds}")
    require(rule.output == node.dtype, f"{where} of {op.name} has dtype {rule.output}, not {node.dtype}")


def _check_concat(node: Concat, operands: Sequence[Node], where: str) -> None:
    require(0 <= node.axis < len(node.shape), f"{where} has axis {node.axis}")
    total = 0
    for operand in operands:
        require(operand.dtype == node.dtype, f"{where} has pieces of its dtype")
        require(len(operand.shape) == len(node.shape), f"{where} has pieces of its rank")
        rest = all(n == m for a, (n, m) in enumerate(zip(operand.shape, node.shape, strict=True)) if a != node.axis)
        require(rest, f"{where} has pieces that match but for one axis")
        total += operand.shape[node.axis]
    require(total == node.shape[node.axis], f"{where} is as long as its pieces together")


def _check_reduce(node: Reduce, source: Node, where: str) -> None:
    ndim = len(source.shape)
    require(node.axes == tuple(sorted(set(node.axes))), f"{where} has sorted axes, each once")
    require(all(0 <= a < ndim for a in node.axes), f"{where} has axes of its source")
    outer = tuple(n for a, n in enumerate(source.shape) if a not in node.axes)
    require(node.shape == outer, f"{where} has the axes of its source that are not folded")
    kind = node.op.accumulate(source.dtype).kind
    require(kind in node.op.identity, f"{where}: {node.op.name} accepts {source.dtype}")


def _check_scatter(node: Scatter, operands: Sequence[Node], where: str) -> None:
    if node.is_whole:
        values, destinations = operands
        require(node.layout is None and destinations.dtype.kind in "iu", f"{where} has integer positions")
        require(node.combine is None, f"{where} has a target if it combines")
        require(
            values.shape == destinations.shape and values.dtype == node.dtype, f"{where} has a value for each position"
        )
        require(values.size >= node.size, f"{where} has a value for each of its elements")
        return
    target, values, *positions = operands
    require(node.shape == target.shape and node.dtype == target.dtype, f"{where} has its target's shape and dtype")
    if node.combine is None:
        require(values.dtype == node.dtype, f"{where} has values of its dtype")
    else:
        require(node.layout is None and node.combine.arity <= 2, f"{where} combines at positions, with one value each")
    if node.layout is None:
        require(len(positions) == 1, f"{where} has positions")
        require(positions[0].dtype.kind in "iu", f"{where} has integer positions")
        require(values.shape == positions[0].shape, f"{where} has a value for each position")
    else:
        require(not positions, f"{where} has a layout or positions, not both")
        require(values.shape == node.layout.shape, f"{where} has values of its layout's shape")
        check_layout(node.layout, node.size, where)
        check_unique(node.layout, where)
