"""The places where plans run, which are a device and the host, and the locks of evaluations.

An evaluation holds the lock of its device (:func:`lock_of`) while it runs. It takes :data:`graphs` twice meanwhile: to
walk the graph and find the plan, and to record the results. So evaluations on different devices run concurrently.
Invariant: a thread that holds :data:`graphs` never waits for a device. Use both locks through this module, because a
forked child replaces them.
"""

import os
import threading
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, TypeAlias

from gpuarray.device import Device
from gpuarray.errors import DeviceError
from gpuarray.graph.nodes import Node
from gpuarray.graph.walk import topological
from gpuarray.providers import registry
from gpuarray.providers.base import HostProvider, Provider

HOST_DEVICE: Final = Device("cpu")

Lock: TypeAlias = AbstractContextManager[Any]

graphs = threading.RLock()
"""Held while graphs are walked or changed, and while plans are looked up or made."""
_locks: Final[dict[str, Any]] = {}
"""By the name of the device."""
being_updated: Final[dict[int, Provider]] = {}
"""The leaves whose buffers current evaluations overwrite, by ``id``, with the devices of these evaluations."""


def lock_of(provider: Provider, beside: Collection[Provider] = ()) -> Lock:
    """Return the lock of the evaluations of a device, which is reentrant.

    Parameters
    ----------
    provider : Provider
        The device.
    beside : collection of Provider
        Devices whose locks this thread already holds because it uses several. Their names sort before this one.

    Notes
    -----
    A signal handler, finalizer or callback that interrupted an evaluation on another device does not wait for the lock,
    because its owner may be waiting for the interrupted thread. Entering the lock raises a DeviceError instead.
    """
    name = provider.device.name
    lock = _locks.get(name)
    if lock is None:
        lock = _locks.setdefault(name, threading.RLock())
    if len(_locks) > 1:
        for other, taken in [*_locks.items()]:
            if taken is lock or not taken._is_owned():  # as threading.Condition asks it
                continue
            if all(other != known.device.name for known in beside):
                return _WithoutWaiting(lock, name)
    return lock


class _WithoutWaiting:
    """A lock that is either acquired immediately or raises an error."""

    def __init__(self, lock: Any, name: str) -> None:
        self._lock = lock
        self._name = name

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise DeviceError(
                f"the device {self._name!r} is in use by another thread, for which a signal handler, finalizer or "
                "callback that interrupted another device cannot wait; set a flag in it, and use arrays afterwards"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def wait_for(provider: Provider) -> None:
    """Wait until no other thread evaluates on a device; none of its leaves is updated in place then."""
    with lock_of(provider):
        for identity in [known for known, other in being_updated.items() if other is provider]:
            del being_updated[identity]


def updating(roots: Sequence[Node], provider: Provider) -> Provider | None:
    """Return the other device on which another thread updates a leaf of a graph in place; None if there is none.

    The graph is walked when that evaluation has ended. :data:`graphs` is held.
    """
    for node in topological(roots).order:
        other = being_updated.get(id(node))
        if other is not None and other is not provider and not _locks[other.device.name]._is_owned():
            return other
    return None


def _renew_locks() -> None:
    global graphs  # a child of fork must not wait for a lock that a thread of its parent held
    graphs = threading.RLock()
    _locks.clear()
    being_updated.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def host() -> HostProvider:
    """Return the host's provider."""
    return registry.open_device(HOST_DEVICE)  # type: ignore[return-value]  # of that device it is one


def is_host(provider: Provider) -> bool:
    """Whether a provider's memory is the host's own."""
    return provider.device.kind == HOST_DEVICE.kind


def is_host_device(device: Device) -> bool:
    """Whether a device is the host, or ``"auto"`` without a GPU."""
    return is_host(registry.open_device(device))
