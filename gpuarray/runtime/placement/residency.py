"""Residency: the places that hold a copy of a value.

A leaf may be in host memory, in the buffers of providers, or in several of these. It is copied to a place when it is
needed there. If a device has too little memory, the least recently used values are moved to the host (*eviction*). They
are copied back when they are used again.
"""

from collections.abc import Callable, Collection
from typing import Any, Final, TypeAlias
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError, GpuArrayError, LostValueError
from gpuarray.graph.nodes import Leaf
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import places, telemetry
from gpuarray.runtime.history import blame_last

#: Host arrays of at least this many bytes are uploaded immediately to a requested device: an additional copy on the
#: host would take as long again, mostly for page faults. Smaller values are often read on the host.
AT_ONCE: Final = 1 << 20
_LOST: Final = (
    "the value of an array is not there: it is being updated in place by what this code interrupted, or such an update "
    "ended halfway, so that neither the old value nor the new one is left; make the array again"
)
_AT_HOME: Final = frozenset(("auto", places.HOST_DEVICE.kind))

#: Weak references to the leaves that had a buffer on a device, which may be evicted.
_holders: Final[set[ref[Leaf]]] = set()


def hold(leaf: Leaf, provider: Provider, buffer: Any) -> None:
    """Record that a provider's buffer holds the value of a leaf."""
    leaf.buffers[provider] = buffer
    if provider.device.kind != places.HOST_DEVICE.kind:  # as is_host() says, without a call at each result
        _holders.add(ref(leaf, _holders.discard))


def holders() -> tuple[set[ref[Leaf]], Callable[[ref[Leaf]], None]]:
    """Return the set to which :func:`hold` adds, and the function that weak references to leaves call in the end."""
    return _holders, _holders.discard


#: Returns the ``id`` of each leaf that must not be evicted. It is called only if memory is short.
Kept: TypeAlias = Callable[[], Collection[int]]


def resident(leaf: Leaf, provider: Provider, keep: Kept = tuple) -> Any:
    """Return the buffer of ``leaf`` at ``provider``, which is created and filled if it does not exist.

    Parameters
    ----------
    leaf : Leaf
        The value.
    provider : Provider
        The place.
    keep : callable, optional
        Returns the ``id`` of each leaf that must not be evicted for it.
    """
    buffer = leaf.buffers.get(provider)
    if buffer is not None:
        return buffer
    array = host_values(leaf)
    if places.is_host(provider):
        leaf.host = array
        array.flags.writeable = False
        buffer = provider.adopt(array, leaf.nbytes)
    else:
        buffer = allocate(provider, leaf.nbytes, keep)
        provider.write(buffer, array)
    hold(leaf, provider, buffer)
    return buffer


def send(array: npt.NDArray[Any], device: Device) -> Leaf | None:
    """Upload a host array to a GPU, and return a leaf with the only copy.

    Return None if the array should stay on the host: because it is small, or because the device is the host or "auto",
    or lacks the dtype.
    """
    if array.nbytes < AT_ONCE or device.kind in _AT_HOME:
        return None
    dtype = dtypes.canonical(array.dtype)
    provider = registry.open_device(device)
    if dtype not in provider.capabilities.dtypes:
        return None
    leaf = Leaf(array.shape, dtype)
    with places.lock_of(provider):
        buffer = allocate(provider, leaf.nbytes)
        provider.write(buffer, np.asarray(array, dtype, order="C"))
        hold(leaf, provider, buffer)
    return leaf


def host_values(leaf: Leaf) -> npt.NDArray[Any]:
    """Return the value of ``leaf`` as a host array, which must not be written to; this waits for the device."""
    buffers = [*leaf.buffers.items()]  # first, because an eviction sets the host's value and then drops the buffer
    if leaf.host is not None:
        return leaf.host
    if not buffers:
        raise LostValueError(_LOST)
    array = np.empty(leaf.shape, leaf.dtype)
    for owner, buffer in buffers:  # noqa: B007  # the host's, or else the last
        if places.is_host(owner):
            break
    try:
        owner.read(buffer, array)
    except GpuArrayError as error:
        blame_last(error, owner.device)
        raise
    return array


def is_on_host(leaf: Leaf) -> bool:
    """Whether the host has a leaf's value."""
    return leaf.host is not None or places.host() in leaf.buffers


def where(leaf: Leaf) -> tuple[str, ...]:
    """Return the names of the devices that have a leaf's value, the host first."""
    others = sorted(p.device.name for p in leaf.buffers if not places.is_host(p))
    return ((places.HOST_DEVICE.name,) if is_on_host(leaf) else ()) + tuple(others)


def allocate(provider: Provider, nbytes: int, keep: Kept = tuple) -> Any:
    """Return a buffer of a provider, for which other values may be evicted.

    Raises
    ------
    DeviceMemoryError
        If there is still too little memory.
    """
    try:
        return provider.allocate(nbytes)
    except DeviceMemoryError:
        if places.is_host(provider):
            raise
    freed = 0
    needed = keep()
    alive = [leaf for reference in list(_holders) if (leaf := reference()) is not None]
    for leaf in sorted(alive, key=lambda leaf: leaf.used):
        if id(leaf) in needed or provider not in leaf.buffers or leaf.buffers[provider].is_shared:
            continue
        evict(leaf, provider)
        freed += leaf.nbytes
        if freed < nbytes:
            continue
        try:
            return provider.allocate(nbytes)
        except DeviceMemoryError:  # another leaf has the same buffer, or memory is in pieces
            continue
    return provider.allocate(nbytes)


def evict(leaf: Leaf, provider: Provider) -> None:
    """Move the value of a leaf to the host because a device has too little memory."""
    move_to_host(leaf, provider)
    telemetry.counters["evictions"] += 1


def copy_to_host(leaf: Leaf) -> None:
    """Copy the value of a leaf to the host, if it is not there."""
    if not is_on_host(leaf):
        leaf.host = host_values(leaf)
        leaf.host.flags.writeable = False


def move_to_host(leaf: Leaf, provider: Provider) -> None:
    """Copy the value of a leaf to the host, if it is not there, and release the provider's buffer."""
    copy_to_host(leaf)
    leaf.buffers.pop(provider, None)
