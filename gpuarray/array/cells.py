"""Storage cells: the memory that an array shares with its views.

The value of a cell is a node. A write gives the cell a new node, so the graph stays immutable, and operations recorded
before still read the old value.

A value in host memory is also a NumPy array, with which operations compute at once, and of which views are NumPy's
views. To be written to, the memory has to be the cell's own. When somebody asks for the node it no longer is, as graphs
may read it; the next write takes it back if none does any more, or else a copy.
"""

import os
from collections.abc import Callable
from threading import RLock
from typing import Any, Final
from weakref import ref

import numpy as np

from gpuarray.array.recorded import recorded
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceMismatchError
from gpuarray.graph import build
from gpuarray.graph.nodes import Generate, Leaf, Node, host_leaf
from gpuarray.immediacy import immediacy
from gpuarray.interrupts import Section
from gpuarray.parallel_copy import copy_of
from gpuarray.providers import registry
from gpuarray.runtime import evaluate
from gpuarray.runtime.node_rules import generated
from gpuarray.settings import recording
from gpuarray.source_locations import find_origin
from gpuarray.unprotected import marked_writeable

AUTO: Final = Device("auto")
CPU: Final = Device("cpu")

noted: Final = recorded.cells
#: Values of at most as many bytes are copied in less time than a view of them is made.
_COPIED: Final = 1 << 13
#: The record of a value before few of its elements are read or written; no object has the ``id`` 0.
_NO_PARTS: Final = (0, False, 0, 0)
#: Stands for the leaf of a cell's own memory until it is needed.
UNMADE: Final = object()
#: Held while a cell gets another value, or its memory is written to. A signal handler may write while the thread that
#: it interrupts does.
binding = RLock()


def _renew_lock() -> None:
    global binding  # a child of fork must not wait for a lock that a thread of its parent held
    binding = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class Cell:
    """A storage cell: its current value, and its device.

    Attributes
    ----------
    device : Device
        The device.
    node : Node
        The value. While the memory is the cell's own there is none, and reading the attribute makes a leaf of it.
    memory : ndarray, scalar or None
        The value as a contiguous NumPy array, or as a NumPy scalar; None if it is elsewhere, to be computed, or was not
        asked for. It may be large.
    own : Leaf, object or None
        If the memory is the cell's own, its leaf, or ``UNMADE``; a list while :meth:`claim` looks; else None.
    """

    __slots__ = ("__weakref__", "_node", "_parts", "device", "memory", "own")

    device: Device
    _node: Node
    _parts: tuple[int, bool, int, int]
    """How often a few elements were read or written since the value was made as a whole, whether any were written, the
    ``id`` of the node that the value was then, and how often it was moved to the host for such operations. Not set
    before."""
    memory: Any
    own: Any

    @property  # a method __getattr__ would slow down all attributes
    def node(self) -> Node:
        """The value, as a leaf of the cell's own memory if it has no other node."""
        try:
            return self._node
        except AttributeError:
            return self._own_leaf()

    @node.setter
    def node(self, node: Node) -> None:
        self._node = node

    def value(self) -> Node:
        """Return the node of the value, also while ``jit`` records.

        Raises
        ------
        AttributeError
            If the cell is being made and has no value.
        """
        return _node_of(self)

    def _own_leaf(self) -> Node:
        """Return the leaf of the cell's own memory, which graphs may read from now on."""
        with binding:
            private = getattr(self, "own", None)
            if private is not None:
                memory = np.array(self.memory) if type(private) is list else self.memory
                if isinstance(private, Leaf):
                    node: Node = private
                else:
                    node = host_leaf(memory) if type(memory) is np.ndarray else build.constant(memory, memory.dtype)
                node.holder = ref(self)
                self._node = node
                if node is not private:
                    self.memory = None
                self.own = None
            return self._node  # under the lock: another thread may take the node away again

    def look(self) -> Any:
        """Return the value as memory to be read; None if it is to be computed, or elsewhere."""
        if not immediacy().covers(self.device):
            return None
        node, memory_array = self.node, None
        leaf = node if type(node) is Leaf else node.result
        if leaf is not None and leaf.nbytes > _COPIED:
            memory = evaluate.value_of(leaf)
            if memory is None:
                return None
            memory = marked_writeable(memory)
        else:
            memory, memory_array = evaluate.small_value(node, immediacy().limit), UNMADE
            if memory is None:
                return None
        with binding:
            if self.memory is not None or self.node is not node:
                return self.memory
            self.memory, self.own = memory, memory_array
            if memory_array is not None:
                del self._node
        return memory

    def note_part(self, *, is_written: bool) -> bool:
        """Note that few elements of the value are read or written; return whether it was moved to the host for it.

        That is so if the value is elsewhere or to be computed on a device, and such operations were recorded for as
        long as the move takes. Small values of the device ``"auto"`` are placed with what computes them.
        """
        node = self.node
        state = immediacy()
        if node.size <= state.limit if self.device is AUTO else not state.covers(self.device):
            return False
        count, was_written, of, moves = getattr(self, "_parts", _NO_PARTS)
        count, is_written = (count + 1, is_written or was_written) if of == id(node) else (1, is_written)
        # a value that leaves the host again is asked for its parts twice as often before the next move
        is_moved = evaluate.moved_for_parts(node, self.device, count >> moves, is_written=is_written)
        self._parts = (0, False, 0, moves + 1) if is_moved else (count, is_written, id(node), moves)
        return is_moved

    def keep_parts(self, before: int) -> None:
        """Note that a few elements of the value were replaced, which was the node with the ``id`` ``before``."""
        count, _, of, moves = getattr(self, "_parts", _NO_PARTS)
        if of == before:
            self._parts = count + 1, True, id(self.node), moves

    def claim(self) -> bool:
        """Make the memory the cell's own, to be written to; return False if the value is not there, or at a GPU too.

        The GPU would have to get it again.
        """
        if self.memory is None:
            self.look()
        if self.own is not None:
            return True
        with binding, Section():
            return self._claim()

    def _claim(self) -> bool:
        node = self.node  # which is asked for, so that it exists
        if self.memory is None:
            value = _constant(node, self.device)
        else:
            owners = [node]
            del node
            self.own = owners
            del self._node  # first, so that no other thread gets it any more
            leaf = evaluate.take(owners)
            if self.own is not owners:  # a signal handler has asked for it
                return False
            self.own = leaf
            if leaf is not None:
                return True
            self._node = owners[0]
            value = None if evaluate.is_elsewhere(owners[0]) else copy_of(self.memory)
        if value is None:
            return False
        self.memory, self.own = marked_writeable(value), host_leaf(value)
        del self._node
        return True

    def as_array(self, memory: Any) -> Any:
        """Return memory that may be a scalar as an array, which is the cell's memory from then on."""
        with binding:
            if self.memory is memory:
                self.memory = np.array(memory)
            return self.memory

    def bind(self, node: Node, before: int = 0) -> bool:
        """Set the value to ``node``, and evaluate a part of it if the pending graph is deep.

        Return False, and leave the value as it is, if ``before`` is not the ``id`` of the node that it is now.
        """
        with binding:
            if before and id(self.node) != before:
                return False
            self.node = node
            self.memory = self.own = None
        if recording.origins and node.origin is None:
            node.origin = find_origin()
        reference = ref(self)
        node.hold(reference)  # not the result of an expression, which is gone soon
        if node.depth:
            noted.append(reference)
            if len(noted) > recorded.limit:
                recorded.clear()
        if node.depth >= recording.counted:
            recorded.bound(self, node.depth)
        return True


def _constant(node: Node, device: Device) -> Any:
    """Return a constant as a new array in host memory; None if it is none, or is made on a device.

    The device "auto" is the host for arrays that NumPy computes at once until a GPU is worth a trial. They are written
    to in parts now, and perhaps uploaded once.
    """
    if type(node) is not Generate or not node.op.is_constant:
        return None
    is_at_once = device is AUTO and not recording.midsize and node.size <= config.current.direct_limit
    return generated(node) if is_at_once or registry.resolve(device).kind == "cpu" else None


def is_cpu(device: Device) -> bool:
    """Return whether a device is the host: ``"cpu"``, or ``"auto"`` where no GPU was found."""
    return device is CPU or (device is AUTO and config.current.is_without_gpu)


_node_of: Final[Callable[[Cell], Node]] = Cell.__dict__["node"].fget


def joint_device(first: Device, second: Device) -> Device:
    """Return the device of a result. A pinned device takes precedence over ``"auto"``.

    Raises
    ------
    DeviceMismatchError
        If both are pinned to different devices.
    """
    if first is second or second is AUTO:
        return first
    if first is AUTO:
        return second
    raise DeviceMismatchError(
        f"arrays on device {first.name!r} and device {second.name!r} are operands of one operation; move one of them "
        f"first: x.to_device({first.name!r})"
    )
