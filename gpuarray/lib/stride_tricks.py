"""Views that repeat elements, as in :mod:`numpy.lib.stride_tricks`."""

from gpuarray.functions.strides import as_strided, sliding_window_view

__all__ = ["as_strided", "sliding_window_view"]
