"""Correlation and convolution, in any number of dimensions and along one axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished
from gpuarray.scipy.ndimage._boundary import rounded
from gpuarray.scipy.ndimage._windows import weighted

__all__ = ["convolve", "convolve1d", "correlate", "correlate1d"]


def _weights(weights: Any) -> tuple[Any, Any]:
    """Return weights, and what SciPy's checks get: those of an array of this package stay on the device."""
    if isinstance(weights, GpuArray):
        return weights, np.ones(weights.shape, weights.dtype)
    known = np.asarray(weights)
    known = known.astype(np.complex128 if known.dtype.kind == "c" else np.float64)
    return known, known


def correlated(
    source: GpuArray, weights: Any, axes: Sequence[int], modes: Sequence[str], cval: Any, origins: Any, dtype: DType
) -> GpuArray:
    """Return the correlation along axes, in the dtype of the result. The arguments have been checked."""
    if not source.size:
        return source.astype(dtype)
    shape, before, mode = [1] * source.ndim, [0] * source.ndim, ["reflect"] * source.ndim
    for axis, extent, origin, kind in zip(axes, weights.shape, origins, modes, strict=True):
        shape[axis], before[axis], mode[axis] = extent, extent // 2 + origin, kind
    return rounded(weighted(source, weights.reshape(shape), before, mode, cval, dtype), dtype)


def _reversed(weights: Any, origins: Sequence[int]) -> tuple[Any, list[int]]:
    """Return the weights and origins of the correlation that a convolution is."""
    turned = weights[(slice(None, None, -1),) * weights.ndim]
    return turned, [-o - (extent % 2 == 0) for o, extent in zip(origins, weights.shape, strict=True)]


def _conjugate(weights: Any) -> Any:
    return weights.conj() if weights.dtype.kind == "c" else weights


def _filtered(
    function: Any, input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any
) -> Any:
    known, shown = _weights(weights)
    source, dtype = checked(function, input, shown, output=output, mode=mode, cval=cval, origin=origin, axes=axes)
    numbers = axes_of(axes, source.ndim)
    pairs = sorted(zip(numbers, each(origin, len(numbers)), strict=True))  # SciPy does not transpose weights
    numbers, origins = tuple(axis for axis, _ in pairs), [place for _, place in pairs]
    if function is ndimage.convolve:
        known, origins = _reversed(known, origins)
    elif known.dtype.kind == "c":
        known = _conjugate(known)
    found = correlated(source, known, numbers, each(mode, len(numbers)), cval, origins, dtype)
    return finished(found, output)


@mirrors(ndimage.correlate)
def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the correlation with weights."""
    found: GpuArray = _filtered(ndimage.correlate, input, weights, output, mode, cval, origin, axes)
    return found


@mirrors(ndimage.convolve)
def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the convolution with weights."""
    found: GpuArray = _filtered(ndimage.convolve, input, weights, output, mode, cval, origin, axes)
    return found


def line_filtered(
    source: GpuArray, weights: Any, axis: int, mode: str, cval: Any, dtype: DType, origin: int = 0
) -> GpuArray:
    """Return the correlation along an axis, in the dtype of the result."""
    return correlated(source, weights, [axis], [mode], cval, [origin], dtype)


@mirrors(ndimage.correlate1d)
def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> GpuArray:  # fmt: skip
    """Return the correlation with weights along an axis."""
    known, shown = _weights(weights)
    source, dtype = checked(ndimage.correlate1d, input, shown, axis, output=output, mode=mode, cval=cval, origin=origin)
    number = build.normalize_axis(axis, source.ndim)
    return finished(line_filtered(source, _conjugate(known), number, mode, cval, dtype, origin), output)


@mirrors(ndimage.convolve1d)
def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> GpuArray:  # fmt: skip
    """Return the convolution with weights along an axis."""
    known, shown = _weights(weights)
    source, dtype = checked(ndimage.convolve1d, input, shown, axis, output=output, mode=mode, cval=cval, origin=origin)
    turned, (place,) = _reversed(known, [origin])
    number = build.normalize_axis(axis, source.ndim)
    return finished(line_filtered(source, turned, number, mode, cval, dtype, place), output)
