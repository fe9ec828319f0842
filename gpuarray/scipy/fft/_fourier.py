"""Fourier transforms with SciPy's parameters, and those of Hermitian-symmetric arrays along several axes.

``overwrite_x`` and ``workers`` are accepted for compatibility: arguments are never overwritten, and a device uses all
of its cores.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, Final

import numpy as np
from scipy import fft as scipy_fft

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import fourier, frequencies
from gpuarray.functions.arguments import as_array
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._mirror import below, by_name, designed, mirrors
from gpuarray.scipy._threads import with_workers

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "fht", "fhtoffset", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ifht", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _check_plan(plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by scipy.fft functions")


def _array(x: Any) -> GpuArray:
    """Return an array; SciPy transforms float16 in float32."""
    array = as_array(x)
    return array.astype(dtypes.float32) if array.dtype == dtypes.float16 else array


def _axes(x: Any, s: Any, axes: Any) -> tuple[GpuArray, Any, list[int]]:
    """Return an array, a number of points for each axis that is transformed, and these axes."""
    array = _array(x)
    sizes = None if s is None else [s] if isinstance(s, int) else [*s]
    if axes is None:
        numbers = list(range(array.ndim if sizes is None else len(sizes)))
        numbers = [array.ndim - len(numbers) + a for a in numbers]
    else:
        numbers = [normalize_axis(a, array.ndim) for a in ([axes] if isinstance(axes, int) else axes)]
    if len(set(numbers)) != len(numbers):
        raise ValueError("all axes must be unique")
    if sizes is not None and len(sizes) != len(numbers):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    if sizes is None:
        sizes = [None] * len(numbers)
    return array, [None if n == -1 else n for n in sizes], numbers


def _of_real(array: GpuArray, sizes: list[Any], numbers: list[int]) -> list[Any]:
    """Return the numbers of points of transforms to real numbers; of a single frequency there is one point."""
    is_single = numbers and sizes[-1] is None and array.shape[numbers[-1]] == 1
    return [*sizes[:-1], 1] if is_single else sizes


def _irfftn(array: GpuArray, sizes: list[Any], numbers: list[int], norm: Any) -> GpuArray:
    return fourier.irfftn(array, _of_real(array, sizes, numbers), numbers, norm)


def _hfftn(array: GpuArray, sizes: list[Any], numbers: list[int], norm: Any) -> GpuArray:
    if not numbers:
        raise ValueError("at least 1 axis must be transformed")
    sizes = _of_real(array, sizes, numbers)
    for size, axis in zip(sizes[:-1], numbers[:-1], strict=True):
        array = fourier.fft(array, size, axis, norm)
    return fourier.hfft(array, sizes[-1], numbers[-1], norm)


def _ihfftn(array: GpuArray, sizes: list[Any], numbers: list[int], norm: Any) -> GpuArray:
    if not numbers:
        raise ValueError("at least 1 axis must be transformed")
    array = fourier.ihfft(array, sizes[-1], numbers[-1], norm)
    for size, axis in zip(sizes[:-1], numbers[:-1], strict=True):
        array = fourier.ifft(array, size, axis, norm)
    return array


def _transform(original: Callable[..., Any], transform: Callable[..., GpuArray], doc: str) -> Callable[..., GpuArray]:
    """Return a transform along one axis or several ones, which has SciPy's parameters."""

    def run(a: Any) -> GpuArray:
        _check_plan(a.plan)
        return transform(*((_array(a.x), a.n, a.axis) if hasattr(a, "n") else _axes(a.x, a.s, a.axes)), a.norm)

    run.__doc__ = f"Return {doc} along {'an axis' if 'n' in signature(original).parameters else 'several axes'}."
    return by_name(original, on_host=with_workers(original))(run)


_FFT: Final = "the discrete Fourier transform"
_IFFT: Final = "the inverse discrete Fourier transform"
_RFFT: Final = "the discrete Fourier transform of real numbers"
_IRFFT: Final = "the inverse of the transform of real numbers"
_HFFT: Final = "the transform of a Hermitian-symmetric array"
_IHFFT: Final = "the inverse of the transform of a Hermitian-symmetric array"

fft = _transform(scipy_fft.fft, fourier.fft, _FFT)
ifft = _transform(scipy_fft.ifft, fourier.ifft, _IFFT)
rfft = _transform(scipy_fft.rfft, fourier.rfft, _RFFT)
irfft = _transform(scipy_fft.irfft, fourier.irfft, _IRFFT)
hfft = _transform(scipy_fft.hfft, fourier.hfft, _HFFT)
ihfft = _transform(scipy_fft.ihfft, fourier.ihfft, _IHFFT)

fftn = _transform(scipy_fft.fftn, fourier.fftn, _FFT)
ifftn = _transform(scipy_fft.ifftn, fourier.ifftn, _IFFT)
rfftn = _transform(scipy_fft.rfftn, fourier.rfftn, _RFFT)
irfftn = _transform(scipy_fft.irfftn, _irfftn, _IRFFT)
hfftn = _transform(scipy_fft.hfftn, _hfftn, _HFFT)
ihfftn = _transform(scipy_fft.ihfftn, _ihfftn, _IHFFT)

fft2 = _transform(scipy_fft.fft2, fourier.fftn, _FFT)
ifft2 = _transform(scipy_fft.ifft2, fourier.ifftn, _IFFT)
rfft2 = _transform(scipy_fft.rfft2, fourier.rfftn, _RFFT)
irfft2 = _transform(scipy_fft.irfft2, _irfftn, _IRFFT)
hfft2 = _transform(scipy_fft.hfft2, _hfftn, _HFFT)
ihfft2 = _transform(scipy_fft.ihfft2, _ihfftn, _IHFFT)


@mirrors(scipy_fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> GpuArray:
    """Move the frequency 0 to the middle."""
    return frequencies.fftshift(as_array(x), axes=axes)


@mirrors(scipy_fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> GpuArray:
    """Move the frequency 0 from the middle to the begin."""
    return frequencies.ifftshift(as_array(x), axes=axes)


def _is_default(n: int, d: float = 1.0, *, xp: Any = None, device: Any = None) -> bool:
    """Whether frequencies are to be on the default device."""
    return device is None


@mirrors(scipy_fft.fftfreq, by_scipy=_is_default)
def fftfreq(n: int, d: float = 1.0, *, xp: Any = None, device: Any = None) -> GpuArray:
    """Return the frequencies of a discrete Fourier transform."""
    return frequencies.fftfreq(n, d=d, device=device)


@mirrors(scipy_fft.rfftfreq, by_scipy=_is_default)
def rfftfreq(n: int, d: float = 1.0, *, xp: Any = None, device: Any = None) -> GpuArray:
    """Return the frequencies of a discrete Fourier transform of real numbers."""
    return frequencies.rfftfreq(n, d=d, device=device)


# -- Hankel transforms ------------------------------------------------------------------------------------------------


def _hankel(original: Callable[..., Any], direction: int, doc: str) -> Callable[..., GpuArray]:
    """Return a Hankel transform on logarithmic scales: a convolution between two products with powers.

    SciPy's transform of an impulse has the coefficients of the convolution, and checks the parameters.
    """

    def run(a: Any) -> GpuArray:
        line = as_array(next(iter(vars(a).values())))  # the first parameter has one name for each direction
        count = line.shape[-1]
        positions = np.arange(count) - (count - 1) / 2
        powers = np.exp(-direction * a.bias * a.dln * positions)
        impulse = np.zeros(count)
        impulse[0] = 1 / powers[0]
        response = original(impulse, a.dln, a.mu, a.offset, a.bias) / powers
        power = as_array(powers, line.device) if a.bias else None
        spectrum = fourier.rfft(_array(line) if power is None else line * power)
        factors = as_array(np.fft.rfft(response[::-1]).astype(spectrum.dtype), line.device)
        result = fourier.irfft(spectrum * factors, count)[..., ::-1]
        return result if power is None else result * power

    run.__doc__ = f"Return {doc} of numbers on a logarithmic scale."
    return by_name(original, name=f"fft.{original.__name__}", by_scipy=below(1 << 10))(run)


fht = _hankel(scipy_fft.fht, 1, "the Hankel transform")
ifht = _hankel(scipy_fft.ifht, -1, "the inverse of the Hankel transform")
fhtoffset = designed(scipy_fft.fhtoffset, "fft.fhtoffset")
