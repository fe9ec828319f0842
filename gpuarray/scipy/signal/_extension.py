"""Continuations of signals beyond their ends, along the last axis."""

from typing import Any, Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray

#: The arguments of numpy.pad for each kind.
PADS: Final[dict[str, dict[str, Any]]] = {
    "zeros": {"mode": "constant"},
    "constant": {"mode": "edge"},
    "even": {"mode": "reflect", "reflect_type": "even"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
}


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
    if kind == "odd" and x.dtype.kind == "b":  # NumPy does not subtract booleans
        x = x.astype(np.int64)
    return xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(count, count)], **PADS[kind])
