"""Utility functions: truth of many elements, differences, and what concerns evaluation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import GpuArray, settle
from gpuarray.config import strictness
from gpuarray.device import Device
from gpuarray.functions.arguments import ArrayLike, Axis, as_array, as_arrays
from gpuarray.functions.manipulation import concat
from gpuarray.functions.statistics import fold
from gpuarray.graph import build, standard
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as rows
from gpuarray.ops import reductions
from gpuarray.providers import registry
from gpuarray.runtime import evaluate as runtime


def all(x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> GpuArray:
    """Whether every element along axes is non-zero; true where there are none.

    Parameters
    ----------
    x : array_like
        Any array.
    axis : int, tuple of int or None
        Axes to fold; None is all.
    out : GpuArray or ndarray, optional
        Where to put the result.
    keepdims : bool
        Keep the axes, with extent 1.
    where : array_like, optional
        Booleans that broadcast: which elements count.

    Returns
    -------
    GpuArray
        Booleans, without the folded axes.
    """
    return fold(reductions.all, x, axis, out=out, keepdims=keepdims, where=where)


def any(x: ArrayLike, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> GpuArray:
    """Whether any element along axes is non-zero; the arguments are those of :func:`all`."""
    return fold(reductions.any, x, axis, out=out, keepdims=keepdims, where=where)


def diff(
    x: ArrayLike, /, n: int = 1, axis: int = -1, *, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> GpuArray:
    """Return differences of neighbours along an axis, ``n`` times over.

    Parameters
    ----------
    x : array_like
        Numbers; of booleans the difference is whether they differ.
    n : int
        How often.
    axis : int
        Along which axis.
    prepend, append : array_like, optional
        What to put before and behind ``x`` first; scalars take the extent 1 along the axis.

    Returns
    -------
    GpuArray
        Shorter by ``n`` along the axis.

    Raises
    ------
    ValueError
        If ``n`` is negative, or the array has no axis.
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    array = as_array(x)
    if strictness.possible:
        standard.require("diff", array)
    if not array.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    if n == 0:
        return array
    number = build.normalize_axis(axis, array.ndim)
    parts = [array if part is x else _beside(part, array, number) for part in (prepend, x, append) if part is not None]
    line = parts[0] if len(parts) == 1 else concat(parts, axis=number)
    row = rows.not_equal if line.dtype == dtypes.bool_ else rows.subtract
    lead = (slice(None),) * number
    for _ in range(n):
        ahead, behind = line[(*lead, slice(1, None))], line[(*lead, slice(None, -1))]
        line = line._apply(row, ahead, behind)
    return line


def _beside(part: ArrayLike, array: GpuArray, axis: int) -> GpuArray:
    given = as_arrays(part, array)[0]
    return given if given.ndim else given.broadcast(tuple(1 if a == axis else n for a, n in enumerate(array.shape)))


# -- evaluation -------------------------------------------------------------------------------------------------------


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
