"""Convolution by Fourier transforms of blocks of the longer array, which take fewer passes over memory."""

from math import ceil, log2
from typing import Final, NamedTuple

from scipy import fft as scipy_fft

import gpuarray.functions as xp
from gpuarray.array import GpuArray, apply
from gpuarray.functions import fourier
from gpuarray.functions.arguments import concatenated
from gpuarray.ops import elementwise as ops
from gpuarray.scipy.signal._segments import padded_segments

__all__ = ["Division", "by_blocks", "division", "fast_length"]

#: Binary digits of the length of a transform that a device computes in one pass over memory.
_DIGITS_OF_PASS: Final = 11
#: The largest transform of a block.
_LARGEST: Final = 1 << 22


class Division(NamedTuple):
    """How an axis is divided into blocks."""

    axis: int
    size: int
    """Points of the transform of a block."""
    gain: float
    """The memory traffic of transforms of the whole axis, relative to those of the blocks."""


def fast_length(least: int) -> int:
    """Return a length of a transform with nearly all factors 2, of which a device computes several in one pass.

    It is a power of two times an integer of six bits or less, without prime factors above 11.
    """
    unit = 1 << max((least - 1).bit_length() - 6, 0)
    return unit * int(scipy_fft.next_fast_len(-(-least // unit)))


def _traffic(rows: int, size: int) -> int:
    """Return how many numbers two transforms of rows, and the product between them, read and write."""
    return rows * size * (2 * ceil(log2(size) / _DIGITS_OF_PASS) + 1)


def division(first: tuple[int, ...], second: tuple[int, ...], axes: list[int], *, is_real: bool) -> Division:
    """Return the best division of one of the axes along which arrays of two shapes are convolved."""
    axis = max(axes, key=lambda a: max(first[a], second[a]) / min(first[a], second[a]))
    taps, count = sorted((first[axis], second[axis]))
    total = count + taps - 1
    size = best = 1 << (2 * taps - 1).bit_length()
    least = float("inf")
    while size <= max(_LARGEST, best):
        blocks = -(-total // (size - taps + 1))
        # two real blocks are one of complex numbers
        traffic = _traffic(-(-blocks // 2) if is_real else blocks, size)
        if traffic < least:
            least, best = traffic, size
        size *= 2
    return Division(axis, best, _traffic(1, fast_length(total)) / least)


def by_blocks(first: GpuArray, second: GpuArray, axes: list[int], axis: int, size: int) -> GpuArray:
    """Return the full convolution of two arrays.

    The blocks of the input overlap, and the results of circular convolutions are cropped to what does not depend on
    their ends. Of two real blocks, one is the real and one the imaginary part of a block of complex numbers.

    Parameters
    ----------
    first, second : GpuArray
        Of one floating or complex dtype.
    axes : list of int
        The axes along which they are convolved.
    axis : int
        The axis that is divided.
    size : int
        Points of the transform of a block.
    """
    long, short = (first, second) if first.shape[axis] >= second.shape[axis] else (second, first)
    overlap = short.shape[axis] - 1
    total = long.shape[axis] + overlap
    step = size - overlap
    blocks = -(-total // step)
    is_real = long.dtype.kind != "c"
    half = -(-blocks // 2)
    line = xp.moveaxis(long, axis, -1)
    if is_real:
        pair = [padded_segments(line, n * step - overlap, half, size, step) for n in (0, half)]
        parts = apply(ops.complex_from_parts, *pair)
    else:
        parts = padded_segments(line, -overlap, blocks, size, step)
    others = [a for a in axes if a != axis]
    extents = [first.shape[a] + second.shape[a] - 1 for a in others]
    sizes = [*map(fast_length, extents), size]
    batch_axes = [a - (a > axis) for a in others]
    transformed = [*batch_axes, parts.ndim - 1]
    taps = xp.moveaxis(short, axis, -1)[..., None, :]
    product = fourier.fftn(parts, sizes, transformed) * fourier.fftn(taps, sizes, transformed)
    result = fourier.ifftn(product, sizes, transformed)
    key = [slice(None)] * (result.ndim - 1) + [slice(overlap, None)]
    for number, extent in zip(batch_axes, extents, strict=True):
        key[number] = slice(0, extent)
    result = result[tuple(key)]
    if is_real:
        result = concatenated([result.real, result.imag], result.ndim - 2)
    result = result.reshape(*result.shape[:-2], -1)[..., :total]
    return xp.moveaxis(result, -1, axis)
