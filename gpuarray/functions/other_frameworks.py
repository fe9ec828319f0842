"""Functions of CuPy that NumPy does not have."""

import sys
from typing import Any

from gpuarray.config import config
from gpuarray.functions.arguments import gpu_arrays
from gpuarray.providers import registry
from gpuarray.runtime import telemetry

__all__ = ["MemoryPool", "get_array_module", "get_default_memory_pool", "is_available"]


def get_array_module(*args: Any) -> Any:
    """Return this package if one of the arguments is an array of it, otherwise NumPy.

    Parameters
    ----------
    *args : object
        Arrays and other values.

    Returns
    -------
    module
        The module whose functions take the arguments.
    """
    return sys.modules["numpy" if next(gpu_arrays(args), None) is None else "gpuarray"]


def is_available() -> bool:
    """Return whether a device other than the processor is available."""
    return any(device.kind != "cpu" for device in registry.devices())


class MemoryPool:
    """The memory of all opened devices; see :func:`get_default_memory_pool`."""

    def used_bytes(self) -> int:
        """Return the number of bytes in arrays."""
        return telemetry.stats()["bytes_live"]

    def free_bytes(self) -> int:
        """Return the number of bytes that are kept for future arrays."""
        return telemetry.stats()["bytes_pooled"]

    def total_bytes(self) -> int:
        """Return the number of bytes in arrays or kept for future arrays."""
        return self.used_bytes() + self.free_bytes()

    def get_limit(self) -> int:
        """Return the maximum number of bytes on one device; 0 is no limit."""
        return config.memory_limit

    def set_limit(self, size: int | None = None) -> None:
        """Set ``gpuarray.config.memory_limit`` to a number of bytes; None or 0 is no limit."""
        config.memory_limit = size or 0

    def free_all_blocks(self) -> None:
        """Release the memory that is kept for future arrays, to the devices and the operating system."""
        for provider in registry.opened():
            if (trim := getattr(provider, "trim", None)) is not None:  # not every provider has a pool
                trim()


def get_default_memory_pool() -> MemoryPool:
    """Return the pool of memory, with CuPy's methods for the bytes in use, their limit, and what is kept."""
    return MemoryPool()
