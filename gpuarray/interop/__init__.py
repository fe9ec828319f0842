"""Other packages' arrays and buffers; each package is optional and imported only when it is used."""

from gpuarray.client_registration import register
from gpuarray.interop.wgpu_buffers import from_wgpu_buffer, to_wgpu_buffer, wgpu_device

__all__ = ["from_wgpu_buffer", "register", "to_wgpu_buffer", "wgpu_device"]
