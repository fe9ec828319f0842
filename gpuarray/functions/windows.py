"""Window functions, which weight the samples of a signal."""

import math
from typing import Any

import numpy as np

from gpuarray.array import GpuArray, default_dtype
from gpuarray.functions import creation, elementwise, ranges
from gpuarray.functions.at_once import created
from gpuarray.functions.mathematics import i0

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def _ramp(M: Any) -> tuple[GpuArray, int]:  # noqa: N803
    """Return the numbers from ``1 - M`` to ``M - 1`` in steps of 2, and the last of them, which is 1 for one number."""
    count = math.ceil(max(M, 0))
    return ranges.arange(1 - count, count, 2, dtype=default_dtype(float)), max(count - 1, 1)


@created(np.bartlett, math.ceil)
def bartlett(M: Any) -> GpuArray:  # noqa: N803
    """Return the Bartlett window of M points, as :func:`numpy.bartlett`."""
    ramp, last = _ramp(M)
    return 1 - elementwise.abs(ramp) / last


@created(np.blackman, math.ceil)
def blackman(M: Any) -> GpuArray:  # noqa: N803
    """Return the Blackman window of M points, as :func:`numpy.blackman`."""
    ramp, last = _ramp(M)
    if ramp.size == 1:
        return creation.ones(1, dtype=ramp.dtype)  # the sum below would be rounded
    angle = math.pi / last * ramp
    return 0.42 + 0.5 * elementwise.cos(angle) + 0.08 * elementwise.cos(2.0 * angle)


@created(np.hamming, math.ceil)
def hamming(M: Any) -> GpuArray:  # noqa: N803
    """Return the Hamming window of M points, as :func:`numpy.hamming`."""
    ramp, last = _ramp(M)
    return 0.54 + 0.46 * elementwise.cos(math.pi / last * ramp)


@created(np.hanning, math.ceil)
def hanning(M: Any) -> GpuArray:  # noqa: N803
    """Return the Hann window of M points, as :func:`numpy.hanning`."""
    ramp, last = _ramp(M)
    return 0.5 + 0.5 * elementwise.cos(math.pi / last * ramp)


@created(np.kaiser, lambda *arguments: math.ceil(arguments[0]))
def kaiser(M: Any, beta: Any) -> GpuArray:  # noqa: N803
    """Return the Kaiser window of M points, as :func:`numpy.kaiser`."""
    ramp, last = _ramp(M)
    inside = i0(beta * elementwise.sqrt(1 - (ramp / last) ** 2))
    return inside / float(np.i0(float(beta)))
