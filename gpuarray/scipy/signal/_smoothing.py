"""Smoothing and peaks: Savitzky-Golay, median and Wiener filters, and relative extrema."""

from collections.abc import Callable
from operator import index
from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, concatenated, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy._repeats import repeated
from gpuarray.scipy.ndimage import convolve1d, median_filter, rank_filter
from gpuarray.scipy.ndimage._parts import by_image, in_parts
from gpuarray.scipy.signal._sums import slid
from gpuarray.source_locations import warn

__all__ = ["argrelextrema", "argrelmax", "argrelmin", "medfilt", "medfilt2d", "order_filter", "savgol_filter", "wiener"]

_MODES: Final = ("mirror", "constant", "nearest", "wrap", "interp")


@mirrors(scipy_signal.savgol_filter, kind=COMPOSED, values=())
def savgol_filter(
    x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: Any = 1.0, axis: int = -1,
    mode: str = "interp", cval: float = 0.0,
) -> GpuArray:  # fmt: skip
    """Return signals, or a derivative of them, smoothed by polynomials of least squares."""
    if mode not in _MODES:
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    signal = as_array(x)
    delta = read(delta)[()] if isinstance(delta, GpuArray) else delta
    if signal.dtype not in (dtypes.float32, dtypes.float64):
        signal = (signal.real if signal.dtype.kind == "c" else signal).astype(dtypes.float64)
    number = normalize_axis(axis, signal.ndim)
    weights = scipy_signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    half = window_length // 2
    if mode == "interp" and window_length > signal.shape[number]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    boundary = "constant" if mode == "interp" else mode
    result: GpuArray = convolve1d.composition(signal, weights, axis, mode=boundary, cval=cval)  # type: ignore[attr-defined]  # the decorator sets it
    if mode != "interp" or not half:
        return result
    line, middle = (xp.moveaxis(x, number, -1) for x in (signal, result))
    # the values of the polynomials through the first and the last window
    positions = np.arange(window_length)
    fit = np.linalg.pinv(np.vander(positions, polyorder + 1))
    rows = [np.polyval(np.polyder(np.eye(polyorder + 1)[k], deriv), positions) for k in range(polyorder + 1)]
    ends = (fit.T @ np.asarray(rows).reshape(polyorder + 1, -1)) / delta**deriv
    matrix = as_array(ends.astype(line.dtype), line.device)
    first, last = (
        line[..., :window_length] @ matrix[:, :half],
        line[..., -window_length:] @ matrix[:, window_length - half :],
    )
    return xp.moveaxis(concatenated([first, middle[..., half:-half], last], line.ndim - 1), -1, number)


# -- median filters ---------------------------------------------------------------------------------------------------


def _kernel_size(size: Any, ndim: int) -> list[int]:
    sizes = np.asarray(read(3 if size is None else size))
    return [index(n) for n in (sizes if sizes.ndim else [sizes] * ndim)]


def _medians(array: GpuArray, sizes: list[int]) -> GpuArray:
    if any(sizes[axis] % 2 != 1 for axis in range(array.ndim)):
        raise ValueError("Each element of kernel_size should be odd.")
    return median_filter.composition(array, sizes, mode="constant")  # type: ignore[attr-defined]  # the decorator sets it


@mirrors(scipy_signal.medfilt, kind=COMPOSED)
def medfilt(volume: Any, kernel_size: Any = None) -> GpuArray:
    """Return the medians of windows of odd lengths, with zeros outside of the array."""
    array = xp.atleast_1d(as_array(volume))
    if array.dtype.kind not in "iuf" or array.dtype == dtypes.float16:
        raise ValueError(f"dtype={array.dtype} is not supported by medfilt")
    sizes = _kernel_size(kernel_size, array.ndim)
    result: GpuArray = repeated(_medians, (array, sizes), {})
    if any(size > extent for size, extent in zip(sizes, array.shape, strict=False)):
        warn("kernel_size exceeds volume extent: the volume will be zero-padded.", UserWarning)
    return result


@mirrors(scipy_signal.medfilt2d, on_host=in_parts(scipy_signal.medfilt2d, by_image, lambda a: a.input.ndim == 2))
def medfilt2d(input: Any, kernel_size: Any = 3) -> GpuArray:
    """Return the medians of windows of an image, of odd lengths, with zeros outside."""
    image = as_array(input)
    if image.dtype not in (dtypes.uint8, dtypes.float32, dtypes.float64):
        return medfilt(image, kernel_size)
    if (image.ndim, np.size(kernel_size)) not in ((2, 1), (2, 2)):
        raise ValueError("medfilt2d takes an array with two axes")
    return _medians(image, _kernel_size(kernel_size, 2))


@mirrors(
    scipy_signal.order_filter,
    kind=COMPOSED,
    values=("domain",),
    on_host=in_parts(scipy_signal.order_filter, by_image, lambda _a: True),
)
def order_filter(a: Any, domain: Any, rank: int) -> GpuArray:
    """Return the elements of a rank among those in a mask around each element, with zeros outside of the array."""
    mask = read(domain)
    if any(n % 2 != 1 for n in mask.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    if not (0 <= index(rank) < mask.size):
        raise ValueError("rank must be an integer within the number of elements of the domain")
    array = as_array(a)
    if array.dtype.kind not in "iu" and array.dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"dtype={array.dtype} is not supported by order_filter")
    return rank_filter.composition(array, rank, footprint=mask, mode="constant")  # type: ignore[attr-defined]  # the decorator sets it


@mirrors(scipy_signal.wiener)
def wiener(im: Any, mysize: Any = None, noise: Any = None) -> GpuArray:
    """Return an array with noise reduced where the variance around an element is small."""
    array = as_array(im)
    sizes = _kernel_size(mysize, array.ndim)
    if len(sizes) != array.ndim:
        raise ValueError(f"mysize has {len(sizes)} elements, and the array {array.ndim} axes")
    kind = dtypes.promote(array.dtype, dtypes.float64)
    wide = array.astype(kind, copy=False)
    count = float(np.prod(sizes))
    widths = [((n - 1) - (n - 1) // 2, (n - 1) // 2) for n in sizes]
    ones = xp.ones(tuple(sizes), kind, device=array.device)
    mean = slid(xp.pad(wide, widths), ones) / count
    variance = slid(xp.pad((array**2).astype(kind, copy=False), widths), ones) / count - mean**2
    level = variance.mean() if noise is None else noise
    result = (wide - mean) * (1 - level / variance) + mean
    return xp.where(variance < level, mean, result)


# -- relative extrema -------------------------------------------------------------------------------------------------


@mirrors(scipy_signal.argrelextrema, kind=COMPOSED)
def argrelextrema(
    data: Any, comparator: Callable[..., Any], axis: int = 0, order: int = 1, mode: str = "clip"
) -> tuple[GpuArray, ...]:
    """Return the positions where a comparison with all of ``order`` neighbours along an axis is true."""
    if int(order) != order or order < 1:
        raise ValueError("Order must be an int >= 1")
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    array = as_array(data)
    number = normalize_axis(axis, array.ndim)
    line = xp.moveaxis(array, number, -1)
    positions = np.arange(line.shape[-1])
    is_extreme: Any = True
    for shift in range(1, index(order) + 1):
        for step in (shift, -shift):
            where = as_array(
                (positions + step) % len(positions)
                if mode == "wrap"
                else np.clip(positions + step, 0, len(positions) - 1)
            )
            is_extreme = is_extreme & comparator(line, xp.take(line, where, axis=-1))
    return tuple(xp.nonzero(xp.moveaxis(is_extreme, -1, number)))


@mirrors(scipy_signal.argrelmax, kind=COMPOSED)
def argrelmax(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> tuple[GpuArray, ...]:
    """Return the positions of relative maxima."""
    return argrelextrema(data, np.greater, axis, order, mode)


@mirrors(scipy_signal.argrelmin, kind=COMPOSED)
def argrelmin(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> tuple[GpuArray, ...]:
    """Return the positions of relative minima."""
    return argrelextrema(data, np.less, axis, order, mode)
