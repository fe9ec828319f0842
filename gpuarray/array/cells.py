"""Storage cells: the memory that an array shares with its views.

The value of a cell is a node. A write gives the cell a new node, so the graph stays immutable, and operations recorded
before still read the old value.

A small value in host memory is instead a NumPy array of the cell's own, with which operations compute at once, and of
which views are NumPy's views. It becomes a node when somebody asks for the node, and nobody writes to it from then on.
"""

import os
from threading import RLock
from typing import Any, Final
from weakref import ref

import numpy as np

from gpuarray.array.recorded import recorded
from gpuarray.config import config, recording
from gpuarray.device import Device
from gpuarray.errors import DeviceMismatchError
from gpuarray.graph import build
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.immediacy import immediacy
from gpuarray.runtime import evaluate
from gpuarray.source_locations import find_origin

AUTO: Final = Device("auto")
CPU: Final = Device("cpu")
#: Devices whose small values may be in host memory.
FREE: Final = frozenset(("auto", "cpu"))

noted: Final = recorded.cells
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
        The value. While there is ``memory`` the attribute is not set, and whoever asks gets a leaf of the memory.
    memory : ndarray, scalar or None
        The value as a contiguous NumPy array that only the arrays of this cell use, or as a NumPy scalar.
    """

    __slots__ = ("__weakref__", "device", "memory", "node")

    device: Device
    node: Node
    memory: Any

    def __init__(self, node: Node, device: Device) -> None:
        self.device = device
        self.memory = None
        self.node = node
        if node.holder is None or node.holder() is None:
            node.holder = ref(self)
        if node.depth:
            noted.append(ref(self))
            if len(noted) > recorded.limit:
                recorded.clear()

    def __getattr__(self, name: str) -> Any:
        if name == "node":
            return self.value()
        raise AttributeError(f"a cell has no {name}")

    def value(self) -> Node:
        """Return the node of the value, also while ``jit`` records.

        Raises
        ------
        AttributeError
            If the cell is being made and has no value.
        """
        try:
            node: Node = _slot.__get__(self)
            return node
        except AttributeError:
            with binding:
                memory = getattr(self, "memory", None)
                if memory is not None:
                    node = host_leaf(memory) if type(memory) is np.ndarray else build.constant(memory, memory.dtype)
                    node.holder = ref(self)
                    _slot.__set__(self, node)
                    self.memory = None
                made: Node = _slot.__get__(self)  # under the lock: another thread may take the node away again
            return made

    def thaw(self) -> Any:
        """Return the value as memory of the cell's own; None if it is large, is to be computed, or is elsewhere."""
        if self.device.kind not in FREE:
            return None
        node = self.node
        memory = evaluate.small_value(node, immediacy().limit)
        if memory is None:
            return None
        with binding:
            if self.memory is not None or self.node is not node:
                return self.memory
            self.memory = memory
            _slot.__delete__(self)
        return memory

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
            self.memory = None
        if recording.origins and node.origin is None:
            node.origin = find_origin()
        if node.holder is None or node.holder() is None:
            node.holder = ref(self)
        if node.depth:
            noted.append(ref(self))
            if len(noted) > recorded.limit:
                recorded.clear()
        if node.depth > config.current.pending_limit >> evaluate.COUNTED:
            evaluate.trim(node, self.device)
        return True


_slot: Final[Any] = Cell.__dict__["node"]


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
