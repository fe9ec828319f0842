"""Continuations of signals beyond their ends, along the last axis."""

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import concatenated


def extended(x: GpuArray, count: int, kind: str) -> GpuArray:
    """Return signals that are continued by ``count`` samples at both ends.

    Parameters
    ----------
    x : GpuArray
        The signals, along the last axis.
    count : int
        Fewer than the samples, unless ``kind`` is "constant" or "zeros".
    kind : {"odd", "even", "constant", "zeros"}
        Reflected about the last point, reflected, the last sample, or 0.

    Raises
    ------
    ValueError
        If the signals are too short.
    """
    if count < 1:
        return x
    if kind in ("odd", "even") and count > x.shape[-1] - 1:
        raise ValueError(
            f"The extension length n ({count}) is too big. It must not exceed x.shape[axis]-1, which is "
            f"{x.shape[-1] - 1}."
        )
    first, last = x[..., :1], x[..., -1:]
    shape = (*x.shape[:-1], count)
    if kind == "constant":
        ends = xp.broadcast_to(first, shape), xp.broadcast_to(last, shape)
    elif kind == "zeros":
        ends = (xp.zeros(shape, x.dtype, device=x.device),) * 2
    else:
        ends = x[..., count:0:-1], x[..., -2 : -(count + 2) : -1]
        if kind == "odd":
            ends = 2 * first - ends[0], 2 * last - ends[1]
    return concatenated([ends[0], x, ends[1]], -1 + x.ndim)
