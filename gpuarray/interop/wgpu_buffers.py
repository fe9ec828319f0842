"""Sharing memory with other users of wgpu: the buffer behind an array, and an array over a buffer, without a copy.

Both sides must use one ``wgpu.GPUDevice``, which runs what is submitted to its queue in order; so no side has to wait
for the other. wgpu itself is imported by its provider alone.
"""

import math
from typing import Any, Final, cast

import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.device import Device
from gpuarray.errors import DeviceError
from gpuarray.graph.layouts import is_identity
from gpuarray.graph.nodes import Leaf
from gpuarray.graph.shapes import resolve_shape
from gpuarray.graph.walk import current
from gpuarray.providers import registry
from gpuarray.runtime import evaluate

#: The number of elements that kernels read and write at a time.
_AT_ONCE: Final = 4


def wgpu_device(device: Device | str = "wgpu") -> Any:
    """Return the ``wgpu.GPUDevice`` on which a device's arrays live, for code that shares it.

    Parameters
    ----------
    device : Device or str
        A device of wgpu.

    Returns
    -------
    wgpu.GPUDevice
        It belongs to this package: do not destroy it.

    Raises
    ------
    DeviceError
        If the device is not a wgpu device, or cannot be opened.
    """
    return _provider(Device(device)).gpu_device


def to_wgpu_buffer(x: GpuArray) -> Any:
    """Return the buffer that holds an array's elements, which are computed if they are pending; nothing is copied.

    Parameters
    ----------
    x : GpuArray
        An array on a wgpu device that is contiguous in C order and not a view of a part of another array.

    Returns
    -------
    wgpu.GPUBuffer
        With the usages STORAGE, COPY_SRC and COPY_DST. The elements begin at offset 0 and are packed as NumPy packs
        them; the buffer may be larger. It must only be read, since other arrays may have the same value, and only while
        ``x`` is alive and has not been written to: after that the memory is used for something else.

    Raises
    ------
    TypeError
        If ``x`` is not a GpuArray.
    DeviceError
        If ``x`` is not on a wgpu device.
    ValueError
        If ``x`` is a view of a part, or in another order.
    """
    if not isinstance(x, GpuArray):
        raise TypeError(f"a {type(x).__name__} is not a GpuArray; convert it with gpuarray.asarray first")
    provider = _provider(x.device)
    whole = x.base
    if whole is not None and (x.dtype != whole.dtype or not is_identity(x._storage_layout(), whole.size)):
        raise ValueError(
            "the array is a view of a part of another one, or in another order, so no buffer holds just its elements; "
            "use x = x.copy() first, and keep x"
        )
    stored = x if whole is None else whole
    node = stored.node()
    evaluate.evaluate((node,), x.device)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    return provider.export(evaluate.resident(leaf, provider))


def from_wgpu_buffer(
    buffer: Any, shape: int | tuple[int, ...], dtype: npt.DTypeLike, device: Device | str = "wgpu"
) -> GpuArray:
    """Return an array whose elements are what a buffer holds; nothing is copied.

    Parameters
    ----------
    buffer : wgpu.GPUBuffer
        A buffer of the device that :func:`wgpu_device` returns, with the usages STORAGE, COPY_SRC and COPY_DST, and not
        mapped. The elements begin at offset 0 in C order, and its size is that of their number rounded up to a
        multiple of four, or more. It must be neither written to nor destroyed while the array, or anything recorded
        with it that is not evaluated yet, is in use.
    shape : int or tuple of int
        The array's shape.
    dtype : dtype
        The dtype of its elements; booleans take one byte each, 0 or 1.
    device : Device or str
        The wgpu device that the array is bound to.

    Returns
    -------
    GpuArray
        Writing to it makes a new buffer and leaves this one as it is.

    Raises
    ------
    TypeError
        If ``buffer`` is not a ``wgpu.GPUBuffer``, or the dtype is not supported.
    DeviceError
        If the buffer belongs to another ``wgpu.GPUDevice``, is mapped, or lacks a usage, or if ``device`` is not a wgpu
        device.
    ValueError
        If the buffer is smaller than the array.
    """
    target = Device(device)
    provider = _provider(target)
    kind = dtypes.canonical(dtype)
    extents = resolve_shape(shape)
    nbytes = math.prod(extents) * kind.itemsize
    unit = _AT_ONCE * kind.itemsize
    needed = -(-nbytes // unit) * unit
    # the provider refuses objects that are no buffers
    if hasattr(buffer, "map_state") and buffer.size < needed:
        raise ValueError(
            f"the buffer has {buffer.size:,} bytes; shape {extents} of dtype {kind.name} takes {nbytes:,}, "
            f"and a buffer for it at least {needed:,}, a multiple of four elements"
        )
    leaf = Leaf(extents, kind)
    leaf.buffers[provider] = provider.adopt(buffer, nbytes)
    return make(leaf, target)


def _provider(device: Device) -> Any:
    """Return the opened wgpu provider of a device, which has more members than providers in general."""
    if registry.wanted(device).kind != "wgpu":
        raise DeviceError(
            f"the device {device.name!r} has no wgpu buffers; use 'wgpu' or 'wgpu:N', as in x.to_device('wgpu')"
        )
    return cast(Any, registry.open_device(device))
