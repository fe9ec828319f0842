"""Values in host memory: reading them, turning them into leaves, and overwriting them, without a plan."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray.graph.layouts import Layout, contiguous
from gpuarray.graph.nodes import Generate, Leaf, Node, View
from gpuarray.runtime import ownership, places

Array: TypeAlias = npt.NDArray[Any]


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
            value = None if leaf is None else leaf.host if leaf.host is not None else in_process(leaf)
            return None if value is None else strided(value, node.detail)
        if kind is not Leaf:
            return None
        leaf = node
    return leaf.host if leaf.host is not None else in_process(leaf)


def in_process(leaf: Any) -> Array | None:
    """Return the value of a leaf whose buffer is the in-process provider's, without a copy; None if it has none."""
    for provider, buffer in [*leaf.buffers.items()]:  # without the host's provider, which may have to be opened
        if places.is_host(provider):
            return np.ndarray(leaf.shape, leaf.dtype, provider.memory_of(buffer))
    return None


def is_away(node: Any) -> bool:
    """Return whether a value is elsewhere, or to be computed by a plan, as far as that is known without a try."""
    leaf = node if type(node) is Leaf else node.result
    if leaf is None:
        return bool(node.needs_plan)
    return leaf.host is None and in_process(leaf) is None


def exported(leaf: Any) -> Array | None:
    """Return the value of a leaf as :func:`in_process` does, in memory that is not used again while the array lives."""
    if not leaf.buffers:
        return None
    host = places.host()
    buffer = leaf.buffers.get(host)
    return None if buffer is None else np.ndarray(leaf.shape, leaf.dtype, host.export(buffer))


def element(node: Any, position: int) -> Any:
    """Return an element of a value that the host has, as a NumPy scalar; None if the host does not have it."""
    leaf = node.result
    if leaf is None:
        if type(node) is not Leaf:
            return node.parameters[0] if type(node) is Generate and node.op.is_constant else None
        leaf = node
    host = leaf.host if leaf.host is not None else in_process(leaf)
    return None if host is None else host.flat[position]


def strided(source: Array, layout: Layout) -> Array:
    """Return a contiguous array seen through a layout."""
    shape, strides, offset = layout
    if layout is contiguous(shape) and source.size == layout.size:
        return source.reshape(shape)
    if 0 in shape:
        return np.empty(shape, source.dtype)
    width = source.itemsize
    return np.ndarray(shape, source.dtype, source, offset * width, [stride * width for stride in strides])


def leaf_of(node: Node, array: Any) -> Leaf:
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


def keep(node: Node, value: Any) -> None:
    """Make a computed value the result of a node, unless the node has one."""
    with places.graphs:
        if node.result is None and type(node) is not Leaf and type(node) is not Generate:
            node.resolve(leaf_of(node, value))


def overwritten(operands: Sequence[Node], layout: Layout, values: Any) -> Leaf | None:
    """Overwrite elements of a value that nothing else can read, and return its new leaf; else return None.

    Parameters
    ----------
    operands : sequence of Node
        The operands of a write, of which the first is the value.
    layout : Layout
        The elements to write.
    values : ndarray or scalar
        The new elements, of the same dtype.
    """
    leaf = ownership.private_leaf(operands)
    if leaf is None:
        return None
    host = leaf.host
    if host is None:
        if (memory := in_process(leaf)) is None:
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
    """Return a new leaf with the memory of an old one, because caches identify a value by its leaf."""
    copy = Leaf(leaf.shape, leaf.dtype, leaf.host)
    copy.buffers, leaf.buffers, leaf.host = leaf.buffers, {}, None
    return copy
