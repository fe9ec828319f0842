"""Neighbours: other packages' arrays and buffers, each optional and imported only when asked for."""

from gpuarray.interop.wgpu_buffers import from_wgpu_buffer, to_wgpu_buffer, wgpu_device

__all__ = ["from_wgpu_buffer", "to_wgpu_buffer", "wgpu_device"]
