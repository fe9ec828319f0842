"""Discrete Fourier transforms, as calls along the last axis.

Each transform crops its axis to ``n`` points or pads it with zeros. With ``norm="backward"`` the inverse transform is
divided by n, with "forward" the forward transform, and with "ortho" both are divided by the square root of n.
"""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import (
    ArrayLike,
    as_array,
    standard_function,
    write_out,
)
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous, permute
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import calls
from gpuarray.ops.spec import CallOp

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftn",
]  # fmt: skip

Norm = str | None
Sizes = Sequence[int] | None
Axes = Sequence[int] | None

_NORMS: Final = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}


def _norm(norm: Norm) -> str:
    known = _NORMS.get(norm)
    if known is None:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return known


def _transform(op: CallOp, x: ArrayLike, n: int | None, axis: int, norm: Norm, *, inverse: bool) -> GpuArray:
    """Return a transform along an axis, which views move to the end and back.

    Of the complex numbers of a transform, ``rfft`` leaves out the redundant half, and ``irfft`` takes the other half.
    """
    array = as_array(x)
    extent = _extent(array, axis)
    length = index(n) if n is not None else 2 * (extent - 1) if op is calls.irfft else extent
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    kind = _norm(norm)
    if op is calls.rfft and array.dtype.kind == "c":
        raise TypeError(
            f"a real transform takes real numbers, not {array.dtype.name}; give the real part, or use the transform "
            "of complex numbers"
        )
    real = _precision(array.dtype)
    whole = dtypes.promote(real, dtypes.complex64)
    source = whole if op is calls.irfft or (op is calls.fft and array.dtype.kind == "c") else real
    result = real if op is calls.irfft else whole
    number = normalize_axis(axis, array.ndim)
    others = [a for a in range(array.ndim) if a != number]
    before = tuple(array.shape[a] for a in others)
    shape = (*before, length // 2 + 1 if op is calls.rfft else length)
    if 0 in before or not extent:
        node: Node = build.full(shape, 0, result)
    else:
        last = _permuted(build.cast(array.node(), source), [*others, number])
        node = build.call_one(op, [last], shape, result, n=length, inverse=inverse, norm=kind)
    order = list(range(number)) + [array.ndim - 1] + list(range(number, array.ndim - 1))
    transformed = wrap(_permuted(node, order), array.device)
    return transformed.astype(dtypes.float16) if op is calls.irfft and array.dtype == dtypes.float16 else transformed


def _permuted(node: Node, order: list[int]) -> Node:
    if order == sorted(order):
        return node
    return build.view(node, permute(contiguous(node.shape), order))


def _extent(array: GpuArray, axis: int) -> int:
    return array.shape[normalize_axis(axis, array.ndim)]


def _precision(dtype: DType) -> DType:
    """Return the floating dtype of the parts of a transform, as NumPy has it."""
    return dtypes.float32 if dtype in (dtypes.float16, dtypes.float32, dtypes.complex64) else dtypes.float64


# -- one axis ----------------------------------------------------------------------------------------------------------


@native("fft.fft", at_once="lines")
@standard_function
def fft(x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    x : array_like
        Real or complex numbers.
    n : int, optional
        Number of points. The axis is cropped to it or padded with zeros. By default the extent of the axis.
    axis : int
        The axis to transform.
    norm : {"backward", "ortho", "forward"}
        Divide the result by 1, by the square root of n, or by n.
    out : GpuArray or ndarray, optional
        Array for the result.

    Returns
    -------
    GpuArray
        Of dtype complex64 for float16, float32 and complex64, otherwise complex128; with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If ``n`` is less than 1, or ``norm`` is none of these.
    numpy.exceptions.AxisError
        If the axis does not exist.
    """
    return write_out(_transform(calls.fft, x, n, axis, norm, inverse=False), out)


@native("fft.ifft", at_once="lines")
@standard_function
def ifft(x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the inverse discrete Fourier transform along an axis.

    With ``norm`` "backward", "ortho" and "forward" it is divided by n, by the square root of n, and by 1. See
    :func:`fft` for the other parameters.
    """
    return write_out(_transform(calls.fft, x, n, axis, norm, inverse=True), out)


@native("fft.rfft", at_once="halved lines")
@standard_function
def rfft(x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the discrete Fourier transform of real numbers, of which the redundant second half is left out.

    Parameters
    ----------
    x : array_like
        Real numbers.
    n, axis, norm, out
        As for :func:`fft`.

    Returns
    -------
    GpuArray
        Of complex dtype, with ``n // 2 + 1`` elements along the axis.

    Raises
    ------
    TypeError
        If ``x`` is complex.
    ValueError
        If ``n`` is less than 1, or ``norm`` is none of these.
    """
    return write_out(_transform(calls.rfft, x, n, axis, norm, inverse=False), out)


@native("fft.irfft", at_once="lines")
@standard_function
def irfft(x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the inverse of :func:`rfft`: real numbers from the first half of their transform.

    Parameters
    ----------
    x : array_like
        The first half of a transform. The imaginary parts of the first and, if ``n`` is even, last element are ignored.
    n : int, optional
        Number of elements of the result along the axis. By default ``2 * (m - 1)``, where ``x`` has m elements.
    axis, norm, out
        As for :func:`ifft`.

    Returns
    -------
    GpuArray
        Of the dtype of the real part of ``x``.

    Raises
    ------
    ValueError
        If ``n`` is less than 1, or ``norm`` is none of these.
    """
    return write_out(_transform(calls.irfft, x, n, axis, norm, inverse=True), out)


@native("fft.hfft", at_once="lines")
@standard_function
def hfft(x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the Fourier transform of a Hermitian-symmetric signal, which is real, from the first half of the signal.

    The arguments and the result are those of :func:`irfft`.
    """
    return write_out(_transform(calls.irfft, x, n, axis, norm, inverse=False), out)


@native("fft.ihfft", at_once="halved lines")
@standard_function
def ihfft(x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the inverse of :func:`hfft`. See :func:`rfft` for the parameters and the result."""
    return write_out(_transform(calls.rfft, x, n, axis, norm, inverse=True), out)


# -- several axes ------------------------------------------------------------------------------------------------------


def _sizes_and_axes(array: GpuArray, s: Sizes, axes: Axes) -> tuple[list[int | None], list[int]]:
    """Return a number of points and an axis for each transform; None stands for the extent."""
    if axes is None:
        count = array.ndim if s is None else len(s)
        numbers = list(range(-count, 0))
    else:
        numbers = [index(a) for a in axes]
    sizes: list[int | None] = [None] * len(numbers) if s is None else list(s)
    if len(sizes) != len(numbers):
        raise ValueError(
            f"Shape and axes have different lengths: s has {len(sizes)} elements and there are {len(numbers)} axes."
        )
    extents = [_extent(array, axis) for axis in numbers]
    counts = [None if n is None else m if n == -1 else index(n) for n, m in zip(sizes, extents, strict=True)]
    return counts, numbers


def _complex_transforms(x: ArrayLike, s: Sizes, axes: Axes, norm: Norm, out: Any, inverse: bool) -> GpuArray:
    array = as_array(x)
    sizes, numbers = _sizes_and_axes(array, s, axes)
    if not numbers:
        return array  # as NumPy, which looks at neither norm nor out then
    for n, axis in reversed(list(zip(sizes, numbers, strict=True))):
        array = _transform(calls.fft, array, n, axis, norm, inverse=inverse)
    return write_out(array, out)


def _sizes_and_last(array: GpuArray, s: Sizes, axes: Axes) -> tuple[list[tuple[int | None, int]], int | None, int]:
    """Return numbers of points with axes, of all axes but the last, and those of the last axis.

    Raises
    ------
    IndexError
        If there is no axis.
    """
    sizes, numbers = _sizes_and_axes(array, s, axes)
    if not numbers:
        raise IndexError("a transform of real numbers needs an axis; axes is empty, or the array has none")
    return list(zip(sizes[:-1], numbers[:-1], strict=True)), sizes[-1], numbers[-1]


def _without_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's transform along several axes without ``norm`` and ``out``, to which it does not always write."""
    usual = (-2, -1) if function.__name__.endswith("2") else None

    def transform(a: Any, s: Any = None, axes: Any = usual) -> Any:
        return function(a, s, axes)

    return transform


@native("fft.fftn", at_once="lines", call=_without_out(np.fft.fftn))
@standard_function
def fftn(x: ArrayLike, /, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the discrete Fourier transform along several axes.

    Parameters
    ----------
    x : array_like
        Real or complex numbers.
    s : sequence of int, optional
        Number of points along each axis; -1 is the extent of the axis.
    axes : sequence of int, optional
        The axes to transform, beginning with the last one. By default all axes, or the last ``len(s)``.
    norm : {"backward", "ortho", "forward"}
        As for :func:`fft`.
    out : GpuArray or ndarray, optional
        Array for the result.

    Returns
    -------
    GpuArray
        As for :func:`fft`; ``x`` itself if there are no axes.

    Raises
    ------
    ValueError
        If ``s`` and ``axes`` differ in length, a number of points is less than 1, or ``norm`` is none of these.
    numpy.exceptions.AxisError
        If the axis does not exist.
    """
    return _complex_transforms(x, s, axes, norm, out, inverse=False)


@native("fft.ifftn", at_once="lines", call=_without_out(np.fft.ifftn))
@standard_function
def ifftn(x: ArrayLike, /, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the inverse discrete Fourier transform along several axes. See :func:`fftn` for the parameters."""
    return _complex_transforms(x, s, axes, norm, out, inverse=True)


@native("fft.rfftn", at_once="halved lines", call=_without_out(np.fft.rfftn))
@standard_function
def rfftn(x: ArrayLike, /, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the Fourier transform of real numbers along several axes; see :func:`rfft` for the last axis.

    The arguments are those of :func:`fftn`. There must be an axis; if there is none, IndexError is raised.
    """
    others, size, last = _sizes_and_last(array := as_array(x), s, axes)
    array = rfft(array, size, last, norm)
    for n, axis in reversed(others):
        array = fft(array, n, axis, norm)
    return write_out(array, out)


@native("fft.irfftn", at_once="lines", call=_without_out(np.fft.irfftn))
@standard_function
def irfftn(x: ArrayLike, /, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", out: Any = None) -> GpuArray:
    """Return the inverse of :func:`rfftn`; ``s`` is the shape of the result along ``axes``, as for :func:`irfft`."""
    others, size, last = _sizes_and_last(array := as_array(x), s, axes)
    for n, axis in others:
        array = ifft(array, n, axis, norm)
    return irfft(array, size, last, norm, out)


@native("fft.fft2", at_once="lines", call=_without_out(np.fft.fft2))
def fft2(x: ArrayLike, /, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Any = None) -> GpuArray:
    """Return :func:`fftn` along two axes, by default the last ones."""
    return fftn(x, s, axes, norm, out)


@native("fft.ifft2", at_once="lines", call=_without_out(np.fft.ifft2))
def ifft2(x: ArrayLike, /, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Any = None) -> GpuArray:
    """Return :func:`ifftn` along two axes, by default the last ones."""
    return ifftn(x, s, axes, norm, out)


@native("fft.rfft2", at_once="halved lines", call=_without_out(np.fft.rfft2))
def rfft2(x: ArrayLike, /, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Any = None) -> GpuArray:
    """Return :func:`rfftn` along two axes, by default the last ones."""
    return rfftn(x, s, axes, norm, out)


@native("fft.irfft2", at_once="lines", call=_without_out(np.fft.irfft2))
def irfft2(x: ArrayLike, /, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Any = None) -> GpuArray:
    """Return :func:`irfftn` along two axes, by default the last ones."""
    return irfftn(x, s, axes, norm, out)
