"""The in-process provider: steps run with NumPy, tile by tile, on the threads of this process."""

from gpuarray.providers.inprocess.provider import InProcessProvider, default_capabilities

__all__ = ["InProcessProvider", "default_capabilities"]
