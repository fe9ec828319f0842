"""Minimum and maximum of index arrays, which are computed at most once per value.

Some operations state the bounds of their results, such as ranges and ``argsort``; then nothing is evaluated. Otherwise
the device computes the bounds once, and they are cached with the value.
"""

from typing import Final, assert_never
from weakref import WeakKeyDictionary

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
from gpuarray.graph.walk import current
from gpuarray.ops import reductions
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
        case Generate() if node.op.bounds is not None:
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
