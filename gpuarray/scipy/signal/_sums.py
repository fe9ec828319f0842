"""Sums of products of a kernel and the parts of an array over which it slides."""

from math import prod
from typing import Final

from gpuarray.array import GpuArray, wrap
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout

__all__ = ["slid"]

#: The largest number of products of one sum, whose index arithmetic has 32 bits.
_MOST_PRODUCTS: Final = 1 << 28


def slid(x: GpuArray, kernel: GpuArray) -> GpuArray:
    """Return the sums of products of a kernel and each part of an array of its shape, without continuation.

    Parameters
    ----------
    x : GpuArray
        At least as large as the kernel along each axis.
    kernel : GpuArray
        Of the same dtype and number of axes.
    """
    shape = tuple(n - k + 1 for n, k in zip(x.shape, kernel.shape, strict=True))
    node = x.node()
    strides = tuple(prod(x.shape[a + 1 :]) for a in range(x.ndim))
    if x.ndim == 1:
        step = max(1, _MOST_PRODUCTS // max(shape[0], 1))
        total: GpuArray | None = None
        for k in range(0, kernel.size, step):
            width = min(step, kernel.size - k)
            window = wrap(build.view(node, Layout((shape[0], width), (1, 1), k)), x.device)
            term = window @ kernel[k : k + width]
            total = term if total is None else total + term
        assert total is not None
        return total
    axes = [a for a, k in enumerate(kernel.shape) if k > 1]
    layout = Layout((*shape, *(kernel.shape[a] for a in axes)), (*strides, *(strides[a] for a in axes)), 0)
    windows = wrap(build.view(node, layout), x.device)
    weights = kernel.reshape([kernel.shape[a] for a in axes])
    return (windows * weights).sum(tuple(range(x.ndim, x.ndim + len(axes))), dtype=x.dtype)
