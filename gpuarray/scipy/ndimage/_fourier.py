"""Filters of Fourier transforms: products with factors along each axis, or with a function of all frequencies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage, special

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.ndimage._arguments import checked, finished

__all__ = ["fourier_ellipsoid", "fourier_gaussian", "fourier_shift", "fourier_uniform"]


def _each(value: Any, ndim: int) -> list[float]:
    return [float(number) for number in np.broadcast_to(np.asarray(value, float), (ndim,))]


def _frequencies(shape: Sequence[int], n: int, axis: int) -> list[Any]:
    """Return the frequencies of the elements along each axis; along ``axis`` those of a real transform of n points."""
    result: list[Any] = []
    for number, extent in enumerate(shape):
        halved = n >= 0 and number == axis % len(shape)
        line: Any = np.arange(extent) / max(n, 1) if halved else np.fft.fftfreq(max(extent, 1))[:extent]
        result.append(line.reshape([-1 if number == a else 1 for a in range(len(shape))]))
    return result


def _filtered(source: GpuArray, factors: Sequence[Any], dtype: Any, output: Any) -> GpuArray:
    """Return the product of an array and factors that broadcast to it, each in the precision of the result."""
    product = source.astype(dtype, copy=False)
    single = dtype in (np.dtype(np.float32), np.dtype(np.complex64))
    for factor in factors:
        kind = np.result_type(factor.dtype, np.float32 if factor.dtype.kind == "f" else np.complex64)
        if single:
            kind = np.dtype(np.complex64 if factor.dtype.kind == "c" else np.float32)
        product = product * as_array(factor.astype(kind), source.device)
    product = product.astype(dtype, copy=False)
    return finished(product, output)


@mirrors(ndimage.fourier_gaussian)
def fourier_gaussian(input: Any, sigma: Any, n: int = -1, axis: int = -1, output: Any = None) -> GpuArray:
    """Return a Fourier transform multiplied by that of a Gaussian."""
    source, dtype = checked(ndimage.fourier_gaussian, input, sigma, n, axis, output=output)
    lines = _frequencies(source.shape, n, axis)
    widths = _each(sigma, source.ndim)
    factors = [np.exp(-2 * (np.pi * width * line) ** 2) for width, line in zip(widths, lines, strict=True)]
    return _filtered(source, factors, dtype, output)


@mirrors(ndimage.fourier_uniform)
def fourier_uniform(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> GpuArray:
    """Return a Fourier transform multiplied by that of a box."""
    source, dtype = checked(ndimage.fourier_uniform, input, size, n, axis, output=output)
    lines = _frequencies(source.shape, n, axis)
    factors = [
        np.where((line == 0) | (width > 0), np.sinc(width * line), 0.0)
        for width, line in zip(_each(size, source.ndim), lines, strict=True)
    ]
    return _filtered(source, factors, dtype, output)


@mirrors(ndimage.fourier_shift)
def fourier_shift(input: Any, shift: Any, n: int = -1, axis: int = -1, output: Any = None) -> GpuArray:
    """Return a Fourier transform multiplied by that of a shift."""
    source, dtype = checked(ndimage.fourier_shift, input, shift, n, axis, output=output)
    lines = _frequencies(source.shape, n, axis)
    factors = [np.exp(-2j * np.pi * by * line) for by, line in zip(_each(shift, source.ndim), lines, strict=True)]
    return _filtered(source, factors, dtype, output)


@mirrors(ndimage.fourier_ellipsoid)
def fourier_ellipsoid(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> GpuArray:
    """Return a Fourier transform multiplied by that of an ellipsoid, of one to three axes."""
    source, dtype = checked(ndimage.fourier_ellipsoid, input, size, n, axis, output=output)
    lines = _frequencies(source.shape, n, axis)
    widths = _each(size, source.ndim)
    squares = [(np.pi * width * line) ** 2 for width, line in zip(widths, lines, strict=True)]
    if source.ndim == 1:
        return _filtered(source, [np.sinc(widths[0] * lines[0])], dtype, output)
    radius = np.sqrt(sum(squares))
    away = np.where(radius == 0, 1, radius)
    shape = 2 * special.j1(away) / away if source.ndim == 2 else 3 * (np.sin(away) - away * np.cos(away)) / away**3
    return _filtered(source, [np.where(radius == 0, 1.0, shape)], dtype, output)
