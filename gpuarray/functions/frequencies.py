"""The frequencies of Fourier transforms, and shifts that put frequency 0 in the middle."""

import operator
from functools import partial
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_dtype
from gpuarray.functions.arguments import (
    ArrayLike,
    Axis,
    DeviceLike,
    DTypeLike,
    as_array,
    checked_device,
    standard_function,
    takes_names_of,
)
from gpuarray.functions.at_once import created
from gpuarray.functions.ranges import arange
from gpuarray.functions.registry import implements
from gpuarray.functions.tiling import roll
from gpuarray.graph.shapes import listed, normalize_axis

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _points(n: Any) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise ValueError(f"n should be an integer, not {n!r}") from None


def _frequencies(first: int, last: int, length: float, dtype: DTypeLike, device: DeviceLike) -> GpuArray:
    """Return the frequencies ``first / length`` to ``last / length``."""
    kind = default_dtype(float) if dtype is None else dtypes.canonical(dtype)
    if kind.kind != "f":
        raise TypeError(f"frequencies of dtype {kind.name} are not supported; use a floating dtype, such as float32")
    cycles = arange(first, last + 1, dtype=dtypes.int64, device=checked_device(device))
    return cycles.astype(kind) * (1.0 / length)


@partial(takes_names_of, np.fft.fftfreq)
@created(np.fft.fftfreq, lambda n, *_, **others: n)
def fftfreq(n: int, /, d: float = 1.0, *, dtype: DTypeLike = None, device: DeviceLike = None) -> GpuArray:
    """Return the frequencies of the elements of :func:`fft`: 0 and the positive ones, then the negative ones.

    Parameters
    ----------
    n : int
        Number of points.
    d : float
        The distance between samples. Frequencies are in cycles per unit of ``d``.
    dtype : dtype, optional
        Real floating; by default the default floating dtype.
    device : Device or str, optional
        Device of the array.

    Returns
    -------
    GpuArray
        ``n`` frequencies.

    Raises
    ------
    TypeError
        If the dtype is not a real floating dtype.
    ValueError
        If ``n`` is not an integer.
    """
    points = _points(n)
    return ifftshift(_frequencies(-(points // 2), (points - 1) // 2, points * d, dtype, device))


@partial(takes_names_of, np.fft.rfftfreq)
@created(np.fft.rfftfreq, lambda n, *_, **others: n)
def rfftfreq(n: int, /, d: float = 1.0, *, dtype: DTypeLike = None, device: DeviceLike = None) -> GpuArray:
    """Return the ``n // 2 + 1`` frequencies of :func:`rfft`; the arguments are those of :func:`fftfreq`."""
    points = _points(n)
    return _frequencies(0, points // 2, points * d, dtype, device)


def _shifted(x: ArrayLike, axes: Axis, direction: int) -> GpuArray:
    array = as_array(x)
    if axes is None:
        numbers: tuple[int, ...] = tuple(range(array.ndim))
    else:
        numbers = listed(axes)
    extents = [array.shape[normalize_axis(a, array.ndim)] for a in numbers]
    return roll(array, [n // 2 if direction > 0 else -(n // 2) for n in extents], numbers)


@implements("fft.fftshift", at_once="elements")
@standard_function
def fftshift(x: ArrayLike, /, axes: Axis = None) -> GpuArray:
    """Return elements rotated along axes, so that frequency 0 is in the middle.

    Parameters
    ----------
    x : array_like
        Any array.
    axes : int or tuple of int, optional
        The axes to rotate; by default all.
    """
    return _shifted(x, axes, 1)


@implements("fft.ifftshift", at_once="elements")
@standard_function
def ifftshift(x: ArrayLike, /, axes: Axis = None) -> GpuArray:
    """Return the inverse of :func:`fftshift`, with the same parameters."""
    return _shifted(x, axes, -1)
