"""Convolution and correlation, by sums of products or by Fourier transforms."""

from math import log2, prod
from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_arrays
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._mirror import chosen, mirrors
from gpuarray.scipy._threads import with_workers
from gpuarray.scipy.ndimage._parts import by_image, in_parts
from gpuarray.scipy.signal._blocks import by_blocks, division, fast_length
from gpuarray.scipy.signal._sums import slid

Shape = tuple[int, ...]

_MODES: Final = ("valid", "same", "full")
_BOUNDARIES: Final = {
    "fill": "constant",
    "pad": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}
#: The least size of an array that :func:`fftconvolve` may divide into blocks.
_LEAST_DIVIDED: Final = 1 << 16
#: Operations of a Fourier transform for each element and binary digit of the length, relative to a sum of products.
_TRANSFORM_COST: Final = 8.0


def _check_mode(mode: Any) -> None:
    if mode not in _MODES:
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")


def _is_exchanged(mode: str, first: Shape, second: Shape, axes: Any = None) -> bool:
    """Return whether the second array is the larger one, in which the first one slides in the mode "valid".

    Raises
    ------
    ValueError
        If neither is at least as large as the other along all axes.
    """
    compared = range(len(first)) if axes is None else axes
    if mode != "valid" or not compared:
        return False
    if all(first[a] >= second[a] for a in compared):
        return False
    if all(second[a] >= first[a] for a in compared):
        return True
    raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")


def _centered(x: GpuArray, shape: Shape) -> GpuArray:
    """Return the part of ``shape`` in the middle of an array."""
    keys = []
    for have, want in zip(x.shape, shape, strict=True):
        start = (have - want) // 2
        keys.append(slice(start, start + want))
    return x[tuple(keys)]


def _cut(full: GpuArray, first: Shape, second: Shape, mode: str, axes: Any) -> GpuArray:
    """Return the part of a full convolution that a mode selects."""
    if mode == "full":
        return full
    if mode == "same":
        return _centered(full, first)
    return _centered(full, tuple(first[a] - second[a] + 1 if a in axes else n for a, n in enumerate(full.shape)))


def _direct(first: GpuArray, second: GpuArray, mode: str) -> GpuArray:
    """Return the convolution by sums of products; ``second`` slides over ``first``."""
    kernel = xp.flip(second)
    if mode == "valid":
        return slid(first, kernel)
    widths = [(k - 1, k - 1) for k in second.shape]
    if mode == "same":
        widths = [(k - 1 - (k - 1) // 2, (k - 1) // 2) for k in second.shape]
    return slid(xp.pad(first, widths) if any(map(any, widths)) else first, kernel)


def _common(in1: Any, in2: Any) -> tuple[GpuArray, GpuArray]:
    first, second = as_arrays(in1, in2)
    if first.ndim != second.ndim:
        raise ValueError("volume and kernel should have the same dimensionality")
    kind = dtypes.promote(first.dtype, second.dtype)
    return first.astype(kind, copy=False), second.astype(kind, copy=False)


@mirrors(scipy_signal.choose_conv_method)
def choose_conv_method(in1: Any, in2: Any, mode: str = "full", measure: bool = False) -> str:
    """Return which method of convolution is estimated to be the faster one.

    Parameters
    ----------
    in1, in2 : array_like
        The arrays.
    mode : {"full", "valid", "same"}
        As for :func:`convolve`.
    measure : bool
        Accepted for compatibility with SciPy: nothing is measured.

    Returns
    -------
    str
        "direct" for arrays of integers, whose sums are exact, and for small kernels; otherwise "fft".

    Raises
    ------
    ValueError
        If the mode is none of these.
    """
    _check_mode(mode)
    first, second = as_arrays(in1, in2)
    kind = dtypes.promote(first.dtype, second.dtype)
    if kind.kind in "biu" or not first.ndim:
        return "direct"
    if kind == dtypes.float16:  # the method decides whether it can be computed
        stand_ins = (np.broadcast_to(np.zeros((), kind), x.shape) for x in (first, second))
        return str(scipy_signal.choose_conv_method(*stand_ins, mode))
    full = [n + k - 1 for n, k in zip(first.shape, second.shape, strict=True)]
    outputs = {
        "full": full,
        "same": first.shape,
        "valid": [abs(n - k) + 1 for n, k in zip(first.shape, second.shape, strict=True)],
    }
    products = prod(outputs[mode]) * min(first.size, second.size)
    return "fft" if _transform_operations(prod(full)) < products else "direct"


def _transform_operations(points: int) -> float:
    """Return how many operations a convolution by transforms of so many points takes."""
    return _TRANSFORM_COST * points * log2(max(points, 2))


@mirrors(scipy_signal.convolve, on_host=with_workers(scipy_signal.convolve))
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> GpuArray:
    """Return the convolution of two arrays.

    Parameters
    ----------
    in1, in2 : array_like
        Arrays with the same number of axes.
    mode : {"full", "valid", "same"}
        All sums, those without continuation by zeros, or as many as ``in1`` has elements, in the middle.
    method : {"auto", "direct", "fft"}
        Sums of products, Fourier transforms, or the faster one of both.

    Raises
    ------
    ValueError
        If the numbers of axes differ, or another parameter is none of these.
    """
    _check_mode(mode)
    first, second = _common(in1, in2)
    if not first.ndim:
        return first * second
    if _is_exchanged(mode, first.shape, second.shape):
        first, second = second, first
    if method != "fft" and not (first.size and second.size):
        raise ValueError("convolve: an array is empty")
    if method == "auto":
        method = choose_conv_method(first, second, mode)
    if method == "fft":
        result = fftconvolve(first, second, mode)
        return (xp.rint(result) if first.dtype.kind in "iu" else result).astype(first.dtype, copy=False)
    if method != "direct":
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if first.dtype == dtypes.float16 and first.ndim > 1:
        raise ValueError("Unsupported type")
    if (
        mode == "full"
        and second.size > first.size
        and all(k >= n for n, k in zip(first.shape, second.shape, strict=True))
    ):
        first, second = second, first
    cost = _transform_operations(prod(n + k - 1 for n, k in zip(first.shape, second.shape, strict=True)))
    choice = f"{min(first.size, second.size):,} products a sum: Fourier transforms take some {cost:.2g} operations"
    return chosen(_direct(first, second, mode), choice)


@mirrors(scipy_signal.correlate, on_host=with_workers(scipy_signal.correlate))
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> GpuArray:
    """Return the cross-correlation of two arrays, of which the second one is conjugated.

    See :func:`convolve` for the parameters and errors.
    """
    first, second = _common(in1, in2)
    return convolve(first, _reversed(second), mode, method)


def _reversed(x: GpuArray) -> GpuArray:
    result = xp.flip(x) if x.ndim else x
    return result.conj() if x.dtype.kind == "c" else result


def _transform_axes(first: Shape, second: Shape, axes: Any) -> list[int]:
    """Return the axes along which arrays are convolved; along the others they broadcast.

    Raises
    ------
    ValueError
        If other extents do not broadcast.
    """
    ndim = len(first)
    numbers = list(range(ndim)) if axes is None else [normalize_axis(a, ndim) for a in np.atleast_1d(axes)]
    if axes is not None and not numbers:
        raise ValueError("when provided, axes cannot be empty")
    if not all(
        n == k or n == 1 or k == 1 for a, (n, k) in enumerate(zip(first, second, strict=True)) if a not in numbers
    ):
        raise ValueError(f"incompatible shapes for in1 and in2: {first} and {second}")
    return [a for a in numbers if first[a] != 1 and second[a] != 1]


def _floating(*arrays: GpuArray) -> list[GpuArray]:
    """Return arrays in the common dtype of the results of their Fourier transforms."""
    kinds = (x.dtype if x.dtype.kind in "fc" else dtypes.float64 for x in arrays)
    kind = dtypes.promote(dtypes.float32, *kinds)
    return [x.astype(kind, copy=False) for x in arrays]


def _by_transforms(in1: Any, in2: Any, mode: str, axes: Any, *, is_divided: bool) -> GpuArray:
    """Return the convolution by transforms of whole arrays, or of blocks where they take less memory traffic.

    With ``is_divided``, an array that is longer than the best block is divided in any case.
    """
    _check_mode(mode)
    first, second = as_arrays(in1, in2)
    if first.ndim != second.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if not first.ndim:
        return first * second
    if not first.size or not second.size:
        return xp.zeros((0,), device=first.device)
    numbers = _transform_axes(first.shape, second.shape, axes)
    if _is_exchanged(mode, first.shape, second.shape, numbers):
        first, second = second, first
    kind = dtypes.promote(first.dtype, second.dtype)
    if not numbers:
        return _cut(first * second, first.shape, second.shape, mode, numbers)
    is_complex = kind.kind == "c"
    is_large = max(first.size, second.size) >= _LEAST_DIVIDED
    if is_large or is_divided:
        best = division(first.shape, second.shape, numbers, is_real=not is_complex)
        is_longer = max(first.shape[best.axis], second.shape[best.axis]) > best.size
        if (is_large and best.gain > 1) or (is_divided and is_longer):
            long, short = _floating(first, second)
            result = by_blocks(long, short, numbers, best.axis, best.size)
            choice = f"Fourier transforms of blocks of {best.size:,} points: 1/{best.gain:.3g} of the memory traffic"
            return _cut(chosen(result, choice), first.shape, second.shape, mode, numbers)
    full = [first.shape[a] + second.shape[a] - 1 for a in numbers]
    sizes = [fast_length(n) for n in full]
    if is_complex:
        product = fourier.fftn(first, sizes, numbers) * fourier.fftn(second, sizes, numbers)
        result = fourier.ifftn(product, sizes, numbers)
    else:
        product = fourier.rfftn(first, sizes, numbers) * fourier.rfftn(second, sizes, numbers)
        result = fourier.irfftn(product, sizes, numbers)
    result = chosen(result, f"Fourier transforms of {prod(sizes):,} points: blocks would not take less memory traffic")
    key = [slice(None)] * result.ndim
    for a, n in zip(numbers, full, strict=True):
        key[a] = slice(0, n)
    result = result[tuple(key)]
    return _cut(result, first.shape, second.shape, mode, numbers)


@mirrors(scipy_signal.fftconvolve, on_host=with_workers(scipy_signal.fftconvolve))
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> GpuArray:
    """Return the convolution of two arrays, by Fourier transforms.

    Parameters
    ----------
    in1, in2 : array_like
        Arrays with the same number of axes.
    mode : {"full", "valid", "same"}
        As for :func:`convolve`.
    axes : int or sequence of int, optional
        The axes along which they are convolved, by default all.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the mode is none of these.
    """
    return _by_transforms(in1, in2, mode, axes, is_divided=False)


@mirrors(scipy_signal.oaconvolve, on_host=with_workers(scipy_signal.oaconvolve))
def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> GpuArray:
    """Return the convolution of two arrays, by Fourier transforms of blocks whose results overlap.

    It takes less memory than :func:`fftconvolve` if one array is much longer than the other. See there for the
    parameters and errors.
    """
    return _by_transforms(in1, in2, mode, axes, is_divided=True)


def _slid_over_image(in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, *, is_correlation: bool) -> GpuArray:
    first, second = as_arrays(in1, in2)
    if first.ndim != 2 or second.ndim != 2:
        raise ValueError(f"{'correlate2d' if is_correlation else 'convolve2d'} inputs must both be 2-D arrays")
    if mode not in _MODES:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    if boundary not in _BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    if np.size(fillvalue) != 1:
        raise ValueError("fillvalue must be scalar")
    first, second = _common(first, second)
    if first.dtype in (dtypes.float16, dtypes.bool_):
        raise ValueError("convolve2d not available for this type.")
    is_exchanged = _is_exchanged(mode, first.shape, second.shape)
    is_filled = mode == "full" and _BOUNDARIES[boundary] == "constant" and second.size
    if not (first.size and second.size) and not is_filled:
        sign = -1 if mode == "valid" else 1
        shape = [abs(n + sign * k) + sign * -1 for n, k in zip(first.shape, second.shape, strict=True)]
        return xp.zeros(first.shape if mode == "same" else shape, first.dtype, device=first.device)
    if is_correlation:
        second = _reversed(second)
    if is_exchanged:
        first, second = second, first
    kind = _BOUNDARIES[boundary]
    reach = [k - 1 for k in second.shape]
    before = [n // 2 if is_correlation else n - n // 2 for n in reach]
    widths = [(n, n) if mode == "full" else (b, n - b) for n, b in zip(reach, before, strict=True)]
    if mode != "valid" and any(reach):
        value = {"constant_values": fillvalue} if kind == "constant" else {}
        first = xp.pad(first, widths, mode=kind, **value)
    result = slid(first, xp.flip(second))
    return result.conj() if is_correlation and is_exchanged and result.dtype.kind == "c" else result


def _is_near(a: Any) -> bool:
    """Whether the elements of a result depend on elements of the image that are near them."""
    return a.mode == "same" and a.boundary in ("fill", "pad", "symm", "symmetric") and a.input.ndim == np.ndim(a.in2)


def _in_parts(original: Any) -> Any:
    return in_parts(original, by_image, _is_near)


@mirrors(scipy_signal.convolve2d, on_host=_in_parts(scipy_signal.convolve2d))
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> GpuArray:
    """Return the convolution of two images, by sums of products.

    Parameters
    ----------
    in1, in2 : array_like
        With two axes.
    mode : {"full", "valid", "same"}
        As for :func:`convolve`.
    boundary : {"fill", "wrap", "symm"}
        How the image continues: with ``fillvalue``, periodically, or reflected.
    fillvalue : number
        The value outside, for "fill".

    Raises
    ------
    ValueError
        If an array has other axes, or another parameter is none of these.
    """
    return _slid_over_image(in1, in2, mode, boundary, fillvalue, is_correlation=False)


@mirrors(scipy_signal.correlate2d, on_host=_in_parts(scipy_signal.correlate2d))
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> GpuArray:
    """Return the cross-correlation of two images, of which the second one is conjugated.

    See :func:`convolve2d` for the parameters and errors.
    """
    return _slid_over_image(in1, in2, mode, boundary, fillvalue, is_correlation=True)


__all__ = [
    "choose_conv_method", "convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve", "oaconvolve",
]  # fmt: skip
