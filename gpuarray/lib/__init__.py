"""Names of :mod:`numpy.lib` that clients look for in the namespace of an array."""

from gpuarray.lib import stride_tricks

__all__ = ["stride_tricks"]
