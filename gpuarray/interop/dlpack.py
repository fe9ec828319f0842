"""DLPack: arrays are exported as host memory, and imported from any producer that can give host memory.

The memory of a ``wgpu`` device has no DLPack device type, so elements are exchanged in host memory: as a copy, unless
the consumer asks for none.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dispatch
from gpuarray.array import GpuArray, default_device, from_host
from gpuarray.device import Device
from gpuarray.graph.layouts import is_identity
from gpuarray.graph.nodes import Leaf
from gpuarray.graph.walk import current
from gpuarray.providers import registry
from gpuarray.runtime import evaluate
from gpuarray.unprotected import marked_writeable

#: DLPack's device (kDLCPU, 0).
HOST: Final = (1, 0)


def to_dlpack(
    array: GpuArray,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a DLPack capsule with an array's elements in host memory.

    Parameters
    ----------
    array : GpuArray
        What to export.
    stream : None
        The CPU has no streams; anything but None is an error.
    max_version : tuple of int, optional
        The newest DLPack version that the consumer understands.
    dl_device : tuple of int, optional
        The device that the consumer wants, which can only be the CPU, ``(1, 0)``.
    copy : bool, optional
        False exports the array's own host memory, into which the elements on a device are read once. It must only be
        read, since other arrays may have the same value; DLPack can say so from version 1.0 on. Otherwise the export is
        a copy.

    Raises
    ------
    BufferError
        If the export is not possible as asked.
    """
    if stream is not None:
        raise BufferError(f"stream={stream!r} is not supported, because host memory has no streams; omit it")
    if dl_device is not None and tuple(dl_device) != HOST:
        raise BufferError(f"dl_device={dl_device!r} is not supported; arrays are exported to the CPU, {HOST}, only")
    if copy is False:
        host = _memory(array)
        if max_version is None or max_version[0] < 1:
            host = marked_writeable(host)  # these versions have no flag for read-only memory
    else:
        host = np.array(array, copy=True)
    return host.__dlpack__(max_version=max_version) if max_version is not None else host.__dlpack__()


def _memory(array: GpuArray) -> npt.NDArray[Any]:
    """Return the host memory of an array, read-only. The elements of a device are moved there.

    Raises
    ------
    BufferError
        If the array is a view of a part of another one.
    """
    if not array.size:  # there is nothing to copy
        return np.empty(array.shape, array.dtype)
    whole = array.base
    if whole is not None and (array.dtype != whole.dtype or not is_identity(array._storage_layout(), whole.size)):
        raise BufferError(
            "copy=False is not possible, because the array is a view that is not contiguous or not whole; omit it"
        )
    node = (array if whole is None else whole).node()
    evaluate.evaluate((node,), array.device)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    provider = registry.open_device(Device("cpu"))
    if leaf.host is None and provider in leaf.buffers:
        memory: npt.NDArray[Any] = provider.export(leaf.buffers[provider])[: leaf.nbytes].view(leaf.dtype)
    else:
        leaf.host = memory = evaluate.host_values(leaf)
    memory = memory.reshape(array.shape)
    memory.flags.writeable = False
    return memory


def from_dlpack(x: Any, /, *, device: Device | str | None = None, copy: bool | None = None) -> GpuArray:
    """Return an array with the elements of another library's array.

    Parameters
    ----------
    x : object
        Anything with ``__dlpack__`` and ``__dlpack_device__``.
    device : Device or str, optional
        Where the new array is; by default that of ``x`` if it is a GpuArray, else the default device.
    copy : bool, optional
        False is an error unless ``x`` is a GpuArray on the same device, because other memory has to be copied.

    Returns
    -------
    GpuArray
        Of the shape and dtype of ``x``.

    Raises
    ------
    BufferError
        If ``copy=False`` cannot be kept, or the producer cannot give host memory.
    TypeError
        If the dtype is not supported.
    """
    if isinstance(x, GpuArray):
        moved = x if device is None else x.to_device(device)
        if copy is False and moved is not x:
            raise BufferError("copy=False is not possible, because another device needs a copy; omit it")
        return moved.copy() if copy and moved is x else moved
    if copy is False:
        raise BufferError("copy=False is not possible, because memory of other libraries is always copied; omit it")
    try:
        host = np.from_dlpack(x) if tuple(x.__dlpack_device__()) == HOST else np.from_dlpack(x, device="cpu")
    except (BufferError, RuntimeError) as error:  # the latter from NumPy before 2.4
        if "Unsupported dtype" not in str(error):
            raise
        raise TypeError(
            f"dtype {getattr(x, 'dtype', 'unknown')} of a {type(x).__name__} is not supported; convert it first, for "
            "example bfloat16 to float32"
        ) from error
    return from_host(host, default_device() if device is None else Device(device))


def install() -> None:
    """Put the protocol method and the importer into the tables. Called once, by the package."""
    dispatch.METHODS["__dlpack__"] = to_dlpack
    dispatch.METHODS["__from_dlpack__"] = from_dlpack
