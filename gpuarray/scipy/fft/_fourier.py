"""Fourier transforms with SciPy's parameters, and those of Hermitian-symmetric arrays along several axes.

``overwrite_x`` and ``workers`` are accepted for compatibility: arguments are never overwritten, and a device uses all
of its cores.
"""

from typing import Any, cast

from scipy import fft as scipy_fft

from gpuarray.array import GpuArray
from gpuarray.functions import fourier, frequencies
from gpuarray.functions.arguments import as_array
from gpuarray.graph import build
from gpuarray.scipy._mirror import hosted, mirrors

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "fht",
    "fhtoffset",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ifht",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def _check_plan(plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by scipy.fft functions")


def _composition(function: Any) -> Any:
    return function.composition


def _axes(x: Any, s: Any, axes: Any) -> tuple[GpuArray, Any, list[int]]:
    """Return an array, a number of points for each axis that is transformed, and these axes."""
    array = as_array(x)
    sizes = None if s is None else [s] if isinstance(s, int) else [*s]
    if axes is None:
        numbers = list(range(array.ndim if sizes is None else len(sizes)))
        numbers = [array.ndim - len(numbers) + a for a in numbers]
    else:
        numbers = [build.normalize_axis(a, array.ndim) for a in ([axes] if isinstance(axes, int) else axes)]
    if len(set(numbers)) != len(numbers):
        raise ValueError("all axes must be unique")
    if sizes is not None and len(sizes) != len(numbers):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    if sizes is None:
        sizes = [None] * len(numbers)
    return array, [None if n == -1 else n for n in sizes], numbers


@mirrors(scipy_fft.fft)
def fft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the discrete Fourier transform along an axis."""
    _check_plan(plan)
    return fourier.fft(as_array(x), n, axis, norm)


@mirrors(scipy_fft.ifft)
def ifft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse discrete Fourier transform along an axis."""
    _check_plan(plan)
    return fourier.ifft(as_array(x), n, axis, norm)


@mirrors(scipy_fft.rfft)
def rfft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the discrete Fourier transform of real numbers along an axis."""
    _check_plan(plan)
    return fourier.rfft(as_array(x), n, axis, norm)


@mirrors(scipy_fft.irfft)
def irfft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse of :func:`rfft` along an axis."""
    _check_plan(plan)
    return fourier.irfft(as_array(x), n, axis, norm)


@mirrors(scipy_fft.hfft)
def hfft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the transform of a Hermitian-symmetric signal along an axis."""
    _check_plan(plan)
    return fourier.hfft(as_array(x), n, axis, norm)


@mirrors(scipy_fft.ihfft)
def ihfft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse of :func:`hfft` along an axis."""
    _check_plan(plan)
    return fourier.ihfft(as_array(x), n, axis, norm)


@mirrors(scipy_fft.fftn)
def fftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the discrete Fourier transform along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.fftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.fft2)
def fft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the discrete Fourier transform along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.fftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.ifftn)
def ifftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse discrete Fourier transform along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.ifftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.ifft2)
def ifft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse discrete Fourier transform along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.ifftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.rfftn)
def rfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the discrete Fourier transform of real numbers along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.rfftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.rfft2)
def rfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the discrete Fourier transform of real numbers along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.rfftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.irfftn)
def irfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse of :func:`rfft` along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.irfftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.irfft2)
def irfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse of :func:`rfft` along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    return fourier.irfftn(array, sizes, numbers, norm)


@mirrors(scipy_fft.hfftn)
def hfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the transform of a Hermitian-symmetric array along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    if not numbers:
        raise ValueError("at least 1 axis must be transformed")
    for size, axis in zip(sizes[:-1], numbers[:-1], strict=True):
        array = fourier.fft(array, size, axis, norm)
    return fourier.hfft(array, sizes[-1] if s is not None else None, numbers[-1], norm)


@mirrors(scipy_fft.hfft2)
def hfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the transform of a Hermitian-symmetric array along several axes."""
    return cast(GpuArray, _composition(hfftn)(x, s, axes, norm, plan=plan))


@mirrors(scipy_fft.ihfftn)
def ihfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse of :func:`hfftn` along several axes."""
    _check_plan(plan)
    array, sizes, numbers = _axes(x, s, axes)
    if not numbers:
        raise ValueError("at least 1 axis must be transformed")
    array = fourier.ihfft(array, sizes[-1], numbers[-1], norm)
    for size, axis in zip(sizes[:-1], numbers[:-1], strict=True):
        array = fourier.ifft(array, size, axis, norm)
    return array


@mirrors(scipy_fft.ihfft2)
def ihfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
    plan: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the inverse of :func:`hfftn` along several axes."""
    return cast(GpuArray, _composition(ihfftn)(x, s, axes, norm, plan=plan))


@mirrors(scipy_fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> GpuArray:
    """Move the frequency 0 to the middle."""
    return frequencies.fftshift(as_array(x), axes=axes)


@mirrors(scipy_fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> GpuArray:
    """Move the frequency 0 from the middle to the begin."""
    return frequencies.ifftshift(as_array(x), axes=axes)


@mirrors(scipy_fft.fftfreq, by_scipy=False)
def fftfreq(n: int, d: float = 1.0, *, xp: Any = None, device: Any = None) -> GpuArray:
    """Return the frequencies of a discrete Fourier transform."""
    return frequencies.fftfreq(n, d=d, device=device)


@mirrors(scipy_fft.rfftfreq, by_scipy=False)
def rfftfreq(n: int, d: float = 1.0, *, xp: Any = None, device: Any = None) -> GpuArray:
    """Return the frequencies of a discrete Fourier transform of real numbers."""
    return frequencies.rfftfreq(n, d=d, device=device)


@mirrors(scipy_fft.next_fast_len, by_scipy=False)
def next_fast_len(target: int, real: bool = False) -> int:
    """Return the smallest number of points, not below ``target``, of which a transform is fast."""
    return int(scipy_fft.next_fast_len(target, real))


@mirrors(scipy_fft.prev_fast_len, by_scipy=False)
def prev_fast_len(target: int, real: bool = False) -> int:
    """Return the largest number of points, not above ``target``, of which a transform is fast."""
    return int(scipy_fft.prev_fast_len(target, real))


_LOGARITHMIC = "its coefficients are gamma functions of complex numbers"
fht = hosted(scipy_fft.fht, _LOGARITHMIC, name="fft.fht")
ifht = hosted(scipy_fft.ifht, _LOGARITHMIC, name="fft.ifht")
fhtoffset = hosted(scipy_fft.fhtoffset, _LOGARITHMIC, name="fft.fhtoffset")
