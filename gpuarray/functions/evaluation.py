"""Functions that evaluate arrays, move them, and list devices."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.array import GpuArray, settle
from gpuarray.device import Device
from gpuarray.functions.arguments import ArrayLike
from gpuarray.graph.nodes import Node
from gpuarray.providers import registry
from gpuarray.runtime import evaluate as runtime

__all__ = ["asnumpy", "devices", "evaluate", "prefetch", "synchronize"]


def evaluate(*arrays: GpuArray) -> None:
    """Evaluate arrays together, without waiting for the device. Common subexpressions are computed once.

    Parameters
    ----------
    *arrays : GpuArray
        Arrays to evaluate; a view evaluates its whole storage. Other values are ignored.

    Raises
    ------
    DeviceMemoryError
        If the device has not enough memory for the results.
    """
    if len(arrays) == 1 and isinstance(arrays[0], GpuArray):
        runtime.evaluate((settle(arrays[0]),), arrays[0].device)
        return
    by_device: dict[Device, list[Node]] = {}
    for array in arrays:
        if isinstance(array, GpuArray):
            by_device.setdefault(array.device, []).append(settle(array))
    for device, nodes in by_device.items():
        runtime.evaluate(nodes, device)


def prefetch(x: GpuArray, device: Device | str | None = None) -> GpuArray:
    """Copy the elements of an array to a device before they are needed there.

    Parameters
    ----------
    x : GpuArray
        The array. It is evaluated, and for a view its whole storage is copied.
    device : Device or str, optional
        The device; by default the one that ``x.device`` refers to.

    Returns
    -------
    GpuArray
        The array itself, with the same ``device``; see ``x.residency``.

    Raises
    ------
    DeviceError
        If the device does not exist.
    DeviceMemoryError
        If the device has not enough memory.
    """
    wanted = x.device if device is None else Device(device)
    node = settle(x)
    runtime.evaluate((node,), x.device)
    runtime.copy_to_device(node, wanted)
    return x


def synchronize(device: Device | str | None = None) -> None:
    """Wait until all work that is enqueued on a device, or on all devices, has finished."""
    runtime.synchronize(None if device is None else Device(device))


def asnumpy(x: ArrayLike, /) -> npt.NDArray[Any]:
    """Return the elements as a NumPy array.

    Parameters
    ----------
    x : array_like
        An array. Other values are converted by ``numpy.asarray``.
    """
    return np.asarray(x)


def devices() -> list[Device]:
    """Return the available devices, without opening them: ``cpu``, ``wgpu:0``, ..."""
    return registry.devices()
