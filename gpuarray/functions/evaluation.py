"""Functions that evaluate arrays, move them, and list devices."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.array import Cell, GpuArray, recorded
from gpuarray.array.recorded import OF_SINGLE_VALUES
from gpuarray.device import Device
from gpuarray.errors import BatchingError, RecordingError
from gpuarray.functions.arguments import ArrayLike
from gpuarray.graph import tracing
from gpuarray.graph.nodes import Node
from gpuarray.providers import registry
from gpuarray.runtime import evaluate as runtime

__all__ = ["asnumpy", "devices", "evaluate", "prefetch", "synchronize"]


def evaluate(*arrays: Any) -> None:
    """Evaluate arrays together, without waiting for the device. Common subexpressions are computed once.

    Parameters
    ----------
    *arrays : GpuArray
        Arrays to evaluate; a view evaluates its whole storage. Other values are ignored.

    Raises
    ------
    DeviceMemoryError
        If the device does not have enough memory for the results.
    """
    by_device: dict[Device, list[Node]] = {}
    for array in arrays:
        if type(array) is GpuArray and not array.is_computed():
            cell = array._cell
            by_device.setdefault(cell.device, []).append(cell.node)
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
        If the device does not have enough memory.
    """
    target = x.device if device is None else Device(device)
    node = x._cell.node
    runtime.evaluate((node,), x.device)
    runtime.copy_to_device(node, target)
    return x


def synchronize(device: Device | str | None = None) -> None:
    """Compute all recorded values that arrays hold, and wait until the devices have finished.

    Afterwards the work of all previous lines is done, as with libraries that compute immediately, so that a clock can
    be read. Values that no array holds are not computed. Ranges and constants, which operations generate where they
    need them, are not stored. While a function is recorded by ``jit``, it only waits.

    Parameters
    ----------
    device : Device or str, optional
        The device to wait for; by default all devices. Arrays on other devices are not computed.

    Raises
    ------
    DeviceError
        If there is no such device, or a device failed.
    DeviceMemoryError
        If a device does not have enough memory for the values.
    ValueError, ArithmeticError
        If the elements of an array have no result, such as integers to negative powers. All other values are computed,
        and later calls leave out the arrays without a value.

    See Also
    --------
    evaluate : Compute the given arrays only, without waiting.
    """
    target = None if device is None else Device(device)
    if not tracing.is_anywhere():
        _evaluate_recorded(target)
    runtime.synchronize(target)


#: How many values are computed by one plan at most, so that plans stay small.
_TOGETHER: Final = 64


def _evaluate_recorded(target: Device | None) -> None:
    """Compute the values that storage cells hold, on one device or on all."""
    by_device: dict[Device, list[Cell]] = {}
    for cell in recorded.pending():
        by_device.setdefault(cell.device, []).append(cell)
    for device, cells in by_device.items():
        if target is not None and registry.resolve(device) is not registry.resolve(target):
            continue
        for start in range(0, len(cells), _TOGETHER):
            some = cells[start : start + _TOGETHER]
            try:
                runtime.evaluate([cell.node for cell in some], device)
            except OF_SINGLE_VALUES:
                _evaluate_each(some, device)


def _evaluate_each(cells: list[Cell], device: Device) -> None:
    """Compute values one by one, then raise the first error of the program's values, which is raised once for each."""
    first_error: Exception | None = None
    for cell in cells:
        try:
            runtime.evaluate([cell.node], device)
        except (RecordingError, BatchingError):  # the program kept it after a recording, or after vmap: it has no value
            pass
        except OF_SINGLE_VALUES as error:
            recorded.forget(cell)
            first_error = first_error or error
    if first_error is not None:
        raise first_error


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
