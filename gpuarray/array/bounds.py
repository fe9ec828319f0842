"""Minimum and maximum of index arrays, which are computed at most once per value.

Some operations state the bounds of their results, such as ranges and ``argsort``; then nothing is evaluated. Otherwise
the device computes the bounds once, and they are cached with the value.
"""

from math import prod
from typing import Final, assert_never
from weakref import WeakKeyDictionary

import numpy as np

from gpuarray.device import Device
from gpuarray.graph import build, tape, tracing
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
from gpuarray.ops import reductions
from gpuarray.ops.integer_bounds import Bounds
from gpuarray.runtime import evaluate

_known: Final[WeakKeyDictionary[Node, tuple[int, int]]] = WeakKeyDictionary()


def bounds(node: Node, device: Device) -> tuple[int, int]:
    """Return the minimum and maximum of a non-empty node of integers.

    While a function is recorded, return those of the current call if the node is an argument of the function. While it
    is mapped over a batch, return those of all elements of the batch.
    """
    node = tracing.mode().present(node)
    if tape.state.tapes:
        node = tape.whole(node, device)
    value = current(node)
    known_bounds = _stated(node) or _stated(value) or _known.get(value)
    if known_bounds is not None:
        return known_bounds
    on_host, is_small = evaluate.is_host_device(device), node.size < evaluate.QUICKLY_SEEN
    if isinstance(value, Leaf) and value.host is not None and (on_host or is_small):
        seen = value.host
    elif on_host and is_small:
        seen = evaluate.read(node, device)  # it is computed for the elements at these positions, too
    else:
        seen = None
    if seen is not None:
        _known[current(node)] = known_bounds = int(seen.min()), int(seen.max())
        return known_bounds
    ends = [build.reduce(op, node, None, None, False) for op in (reductions.min, reductions.max)]
    both = build.concat([build.reshape(end, (1,)) for end in ends], 0)
    lowest, highest = evaluate.read(both, device).tolist()
    _known[current(node)] = lowest, highest
    return lowest, highest


def _stated(node: Node) -> tuple[int, int] | None:
    """Return the exact bounds that follow from the graph of a node, or None if it does not determine them."""
    match node:
        case Call() if node.op.bounds is not None:
            return node.op.bounds(node.shape)
        case View() if node.inputs and _contains_all(node.layout, node.inputs[0].size):
            return _stated(node.inputs[0])
        case Generate() if node.op.bounds is not None and Deferred not in map(type, node.parameters):
            return node.op.bounds(node.size, node.dtype, *node.parameters)
        case Leaf() | Generate() | Map() | View() | Concat() | Reduce() | Scan() | Gather() | Scatter():
            return None
        case Contract() | Call():
            return None
        case _:
            assert_never(node)


def _contains_all(layout: Layout, size: int) -> bool:
    """Return True if a layout contains each of ``size`` elements once, with axes in any order and direction."""
    reached = 1
    for stride, extent in sorted(zip(map(abs, layout.strides), layout.shape, strict=True)):
        if extent != 1:
            if stride != reached:
                return False
            reached *= extent
    return reached == size


#: How many operations below a node are looked at.
_DEEP: Final = 12


def enclosed(node: Node, deep: int = _DEEP) -> Bounds | None:
    """Return numbers between which the elements of a node of integers are, whatever the values of leaves are.

    None for other nodes. Nothing is evaluated.
    """
    if node.dtype.kind == "b":
        return 0, 1
    if node.dtype.kind not in "iu":
        return None
    info = np.iinfo(node.dtype)
    limits = int(info.min), int(info.max)
    inside = _enclosed(node, deep) if deep else None
    return inside if inside is not None and limits[0] <= inside[0] and inside[1] <= limits[1] else limits


def _enclosed(node: Node, deep: int) -> Bounds | None:
    if (known := _stated(node)) is not None:
        return known
    ranges = [enclosed(operand, deep - 1) for operand in node.inputs]
    operands = [inside for inside in ranges if inside is not None]
    match node:
        case Map() if node.op.bounds is not None and len(operands) == len(ranges):
            return node.op.bounds(*operands)
        case Reduce() if node.op.bounds is not None:
            return node.op.bounds(ranges[0], prod([node.inputs[0].shape[axis] for axis in node.axes]))
        case View() | Gather():
            return ranges[0]
        case Concat() if len(operands) == len(ranges):
            return min([low for low, _ in operands]), max([high for _, high in operands])
        case Leaf() | Generate() | Map() | Concat() | Reduce() | Scan() | Scatter() | Contract() | Call():
            return None
        case _:
            assert_never(node)
