"""DLPack: arrays are exported as host copies, and imported from any producer that can give host memory.

The memory of a ``wgpu`` device has no DLPack device type, so what crosses is always a copy on the CPU.
"""

from typing import Any, Final

import numpy as np

from gpuarray import dispatch
from gpuarray.array import GpuArray, default_device, from_host
from gpuarray.device import Device

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
    """Return a DLPack capsule with a host copy of an array.

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
        False is an error, because the export is always a copy.

    Raises
    ------
    BufferError
        If the export is not possible as asked.
    """
    if stream is not None:
        raise BufferError(f"stream={stream!r} was given, but the export is host memory, which has none; leave it out")
    if dl_device is not None and tuple(dl_device) != HOST:
        raise BufferError(f"dl_device={dl_device!r} was given; arrays are exported to the CPU, {HOST}, only")
    if copy is False:
        raise BufferError("copy=False was given, but the export of a GpuArray is always a copy; leave it out")
    host = np.array(array, copy=True)
    return host.__dlpack__(max_version=max_version) if max_version is not None else host.__dlpack__()


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
            raise BufferError("copy=False was given, but another device needs a copy; leave it out")
        return moved.copy() if copy and moved is x else moved
    if copy is False:
        raise BufferError("copy=False was given, but memory of other libraries is always copied; leave it out")
    if tuple(x.__dlpack_device__()) == HOST:
        host = np.from_dlpack(x)
    else:
        host = np.from_dlpack(x, device="cpu")
    return from_host(host, default_device() if device is None else Device(device))


def install() -> None:
    """Put the protocol method and the importer into the tables. Called once, by the package."""
    dispatch.METHODS["__dlpack__"] = to_dlpack
    dispatch.METHODS["__from_dlpack__"] = from_dlpack
