"""Correlation and convolution, in any number of dimensions and along one axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._mirror import by_name, chosen
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished, spread
from gpuarray.scipy.ndimage._boundary import rounded
from gpuarray.scipy.ndimage._parts import by_line, by_window, in_parts
from gpuarray.scipy.ndimage._windows import weighted

__all__ = ["convolve", "convolve1d", "correlate", "correlate1d"]


def weights_of(weights: Any) -> tuple[Any, Any]:
    """Return weights, and what SciPy's checks get: those of an array of this package stay on the device."""
    if isinstance(weights, GpuArray):
        return weights, np.ones(weights.shape, weights.dtype)
    known = np.asarray(weights)
    known = known.astype(np.complex128 if known.dtype.kind == "c" else np.float64)
    return known, known


def correlated(
    source: GpuArray, weights: Any, axes: Sequence[int], modes: Sequence[str], cval: Any, origins: Any, dtype: DType, *,
    has_gaps: bool = True,
) -> GpuArray:  # fmt: skip
    """Return the correlation along axes, in the dtype of the result. The arguments have been checked."""
    if not source.size:
        return source.astype(dtype)
    shape, before, mode = [1] * source.ndim, [0] * source.ndim, ["reflect"] * source.ndim
    for axis, extent, origin, kind in zip(axes, weights.shape, origins, modes, strict=True):
        shape[axis], before[axis], mode[axis] = extent, extent // 2 + origin, kind
    return rounded(weighted(source, weights.reshape(shape), before, mode, cval, dtype, has_gaps=has_gaps), dtype)


def _reversed(weights: Any, origins: Sequence[int]) -> tuple[Any, list[int]]:
    """Return the weights and origins of the correlation that a convolution is."""
    mirrored = weights[(slice(None, None, -1),) * weights.ndim]
    return mirrored, [-o - (extent % 2 == 0) for o, extent in zip(origins, weights.shape, strict=True)]


def _filtered(function: Any, a: Any) -> GpuArray:
    """Return the correlation or the convolution along some axes."""
    known, shown = weights_of(a.weights)
    source, dtype = checked(
        function, a.input, shown, output=a.output, mode=a.mode, cval=a.cval, origin=a.origin, axes=a.axes
    )
    numbers = axes_of(a.axes, source.ndim)
    ordered = sorted(numbers)  # SciPy does not transpose weights
    shifts = spread(a.origin, numbers, source.ndim)
    known, origins = _directed(function, known, [shifts[axis] for axis in ordered])
    modes = each(a.mode, len(numbers))
    result = correlated(source, known, ordered, modes, a.cval, origins, dtype)
    choice = f"{known.size} products an element: Fourier transforms would spread infinities and NaN over the array"
    return finished(chosen(result, choice), a.output)


def _directed(function: Any, weights: Any, origins: Sequence[int]) -> tuple[Any, Sequence[int]]:
    """Return the weights and origins of the correlation that a function computes."""
    if function in (ndimage.convolve, ndimage.convolve1d):
        return _reversed(weights, origins)
    return weights.conj() if weights.dtype.kind == "c" else weights, origins


@by_name(ndimage.correlate, on_host=in_parts(ndimage.correlate, by_window))
def correlate(a: Any) -> GpuArray:
    """Return the correlation with weights."""
    return _filtered(ndimage.correlate, a)


@by_name(ndimage.convolve, on_host=in_parts(ndimage.convolve, by_window))
def convolve(a: Any) -> GpuArray:
    """Return the convolution with weights."""
    return _filtered(ndimage.convolve, a)


def line_filtered(
    source: GpuArray, weights: Any, axis: int, mode: str, cval: Any, dtype: DType, origin: int = 0
) -> GpuArray:
    """Return the correlation along an axis, in the dtype of the result."""
    return correlated(source, weights, [axis], [mode], cval, [origin], dtype, has_gaps=False)


def _line(function: Any, a: Any) -> GpuArray:
    """Return the correlation or the convolution along one axis."""
    known, shown = weights_of(a.weights)
    source, dtype = checked(
        function, a.input, shown, a.axis, output=a.output, mode=a.mode, cval=a.cval, origin=a.origin
    )
    known, (origin,) = _directed(function, known, [a.origin])
    axis = normalize_axis(a.axis, source.ndim)
    return finished(line_filtered(source, known, axis, a.mode, a.cval, dtype, origin), a.output)


@by_name(ndimage.correlate1d, on_host=in_parts(ndimage.correlate1d, by_line))
def correlate1d(a: Any) -> GpuArray:
    """Return the correlation with weights along an axis."""
    return _line(ndimage.correlate1d, a)


@by_name(ndimage.convolve1d, on_host=in_parts(ndimage.convolve1d, by_line))
def convolve1d(a: Any) -> GpuArray:
    """Return the convolution with weights along an axis."""
    return _line(ndimage.convolve1d, a)
