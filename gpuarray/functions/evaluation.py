"""Evaluation: when arrays are computed, where their elements are, and what devices there are."""

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
    """Compute arrays now, together, so that what they share runs once; it does not wait for the device.

    Parameters
    ----------
    *arrays : GpuArray
        What to compute; a view computes all of its storage. Other values are ignored.

    Raises
    ------
    DeviceMemoryError
        If the device has no room for the results.
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
    """Bring the bytes of an array to a device before they are needed there, and leave them where they are as well.

    Parameters
    ----------
    x : GpuArray
        The array; it is evaluated, and a view brings all of its storage.
    device : Device or str, optional
        A pinned device; by default the one that ``x.device`` stands for.

    Returns
    -------
    GpuArray
        The array itself, whose ``device`` is what it was; see ``x.residency``.

    Raises
    ------
    DeviceError
        If there is no such device.
    DeviceMemoryError
        If it has no room.
    """
    wanted = x.device if device is None else Device(device)
    node = settle(x)
    runtime.evaluate((node,), x.device)
    runtime.bring(node, wanted)
    return x


def synchronize(device: Device | str | None = None) -> None:
    """Wait until everything that was enqueued on a device, or on all of them, is done."""
    runtime.synchronize(None if device is None else Device(device))


def asnumpy(x: ArrayLike, /) -> npt.NDArray[Any]:
    """Return a NumPy array with a copy of the elements.

    Parameters
    ----------
    x : array_like
        An array; others are converted by ``numpy.asarray``.
    """
    return np.asarray(x)


def devices() -> list[Device]:
    """Return the devices that exist, without opening them: ``cpu``, ``wgpu:0``, ..."""
    return registry.devices()
