"""The places where plans run: the provider of a device, and the host's; and the lock around what they share.

Evaluation takes :data:`lock` (through this module, as a child of fork has a new one).
"""

import os
import threading
from typing import Final

from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.providers.base import HostProvider, Provider

HOST_DEVICE: Final = Device("cpu")

lock = threading.RLock()


def _renew_lock() -> None:
    global lock  # a child of fork must not wait for a lock that a thread of its parent held
    lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def provider_of(device: Device) -> Provider:
    """Return the opened provider that runs what is bound to ``device``."""
    return registry.open_device(device)


def host() -> HostProvider:
    """Return the host's provider."""
    return registry.open_device(HOST_DEVICE)  # type: ignore[return-value]  # of that device it is one


def is_host(provider: Provider) -> bool:
    """Whether a provider's memory is the host's own."""
    return provider.device.kind == HOST_DEVICE.kind


def check_device(device: Device) -> None:
    """Open ``device``, so that a device that does not exist is an error now.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    provider_of(device)
