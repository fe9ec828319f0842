"""Sums of products of a kernel and the parts of an array over which it slides."""

from collections.abc import Iterable
from itertools import product
from math import prod
from operator import mul
from typing import Final

from gpuarray.array import GpuArray, wrap
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, Shape, contiguous
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions

__all__ = ["slid"]

#: The largest number of products of one sum, whose index arithmetic has 32 bits.
_MOST_PRODUCTS: Final = 1 << 28
#: The most lines of a kernel whose sums are recorded one by one.
_MOST_LINES: Final = 64


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
            part = window @ kernel[k : k + width]
            total = part if total is None else total + part
        assert total is not None
        return total
    longest = max(range(x.ndim), key=lambda a: kernel.shape[a])
    others = [range(1 if a == longest else k) for a, k in enumerate(kernel.shape)]
    if prod(map(len, others)) <= _MOST_LINES:
        return _slid_by_lines(x, kernel, shape, longest, product(*others))
    axes = [a for a, k in enumerate(kernel.shape) if k > 1]
    layout = Layout((*shape, *(kernel.shape[a] for a in axes)), (*strides, *(strides[a] for a in axes)), 0)
    windows = wrap(build.view(node, layout), x.device)
    weights = kernel.reshape([kernel.shape[a] for a in axes])
    found: GpuArray = (windows * weights).sum(tuple(range(x.ndim, x.ndim + len(axes))), dtype=x.dtype)
    return found


def _slid_by_lines(
    x: GpuArray, kernel: GpuArray, shape: Shape, axis: int, begins: Iterable[tuple[int, ...]]
) -> GpuArray:
    """Return the sums of products, those of each line of the kernel apart.

    The sums along lines of one length are made by one loop. Sums along several axes at once need a division for each
    product, to find its place.
    """
    source, weights = x.node(), kernel.node()
    across, along = contiguous(x.shape).strides, contiguous(kernel.shape).strides
    length = kernel.shape[axis]
    total = None
    for begin in begins:
        starts = [sum(map(mul, begin, steps)) for steps in (across, along)]
        window = build.view(source, Layout((*shape, length), (*across, across[axis]), starts[0]))
        line = build.view(weights, Layout((length,), (along[axis],), starts[1]))
        part = build.reduce(reductions.sum, build.elementwise(ops.multiply, window, line), x.ndim, x.dtype)
        total = part if total is None else build.elementwise(ops.add, total, part)
    assert total is not None
    return wrap(total, x.device)
