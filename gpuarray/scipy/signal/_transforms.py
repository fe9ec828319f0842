"""Analytic signals, chirp z-transforms, and periodograms of uneven samples."""

from operator import index
from typing import Any

import numpy as np
from scipy import fft as scipy_fft
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_array, as_arrays, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy._threads import with_workers
from gpuarray.scipy.signal._resampling import resample

__all__ = ["czt", "envelope", "hilbert", "hilbert2", "lombscargle", "vectorstrength", "zoom_fft"]


def _analytic(count: int, *, nyquist: int = 1) -> np.ndarray[Any, Any]:
    """Return the factors of frequencies that leave those of positive sign, and of half of the sampling rate."""
    factors = np.zeros(count)
    factors[0] = 1
    factors[1 : (count + 1) // 2] = 2
    if count % 2 == 0:
        factors[count // 2] = nyquist
    return factors


@mirrors(scipy_signal.hilbert, on_host=with_workers(scipy_signal.hilbert))
def hilbert(x: Any, N: int | None = None, axis: int = -1) -> GpuArray:  # noqa: N803
    """Return the analytic signals of real signals along an axis."""
    signal = as_array(x)
    if signal.dtype.kind == "c":
        raise ValueError("x must be real.")
    number = normalize_axis(axis, signal.ndim)
    count = signal.shape[number] if N is None else index(N)
    if count <= 0:
        raise ValueError("N must be positive.")
    spectrum = fourier.fft(signal, count, number)
    shape = [1] * signal.ndim
    shape[number] = count
    factors = as_array(_analytic(count).astype(spectrum.real.dtype).reshape(shape), signal.device)
    return fourier.ifft(spectrum * factors, axis=number)


@mirrors(scipy_signal.hilbert2, on_host=with_workers(scipy_signal.hilbert2))
def hilbert2(x: Any, N: Any = None, axes: Any = (-2, -1)) -> GpuArray:  # noqa: N803
    """Return the analytic signal of a real image."""
    image = xp.atleast_2d(as_array(x))
    if image.dtype.kind == "c":
        raise ValueError("x must be real.")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"axes={axes!r} must be a tuple of length 2 with distinct entries")
    if image.ndim > 2 and N is None and len({*axes}) != 2:
        raise ValueError("x must be 2-D.")
    numbers = [normalize_axis(a, image.ndim) for a in axes]
    sizes = [image.shape[a] for a in numbers] if N is None else [N, N] if isinstance(N, int) else [*N]
    if len(sizes) != 2 or min(sizes) <= 0:
        raise ValueError("When given as a tuple, N must hold exactly two positive integers")
    spectrum = fourier.fftn(image, sizes, numbers)
    for number, count in zip(numbers, sizes, strict=True):
        shape = [1] * image.ndim
        shape[number] = count
        factors = as_array(_analytic(count, nyquist=0).astype(spectrum.real.dtype).reshape(shape), image.device)
        spectrum = spectrum * factors
    return fourier.ifftn(spectrum, axes=numbers)


def _band(bp_in: Any, n: int) -> slice:
    """Return the frequencies of a band, counted from 0; negative ones are at the end of a spectrum."""
    if len(bp_in) != 2 or not all(isinstance(end, int) or end is None for end in bp_in):
        raise ValueError(f"{bp_in=} isn't a 2-tuple of type (int | None, int | None)!")
    start = -(n // 2) if bp_in[0] is None else bp_in[0]
    stop = (n + 1) // 2 if bp_in[1] is None else bp_in[1]
    if not -n // 2 <= start < stop <= (n + 1) // 2:
        raise ValueError(f"`-n//2 <= bp_in[0] < bp_in[1] <= (n+1)//2` does not hold for n={n} and {bp_in=}!")
    return slice(start, stop)


def _beside(band: slice, n: int, residual: str) -> Any:
    """Return the factors of frequencies that leave those outside of a band, or below it alone."""
    factors = np.ones(n)
    if band.start <= 0 < band.stop:
        factors[: band.stop] = factors[band.start :] = 0
    else:
        factors[band] = 0
    if residual == "lowpass" and band.stop > 0:
        factors[band.stop : (n + 1) // 2] = 0
    elif residual == "lowpass":
        factors[band.start :] = factors[: (n + 1) // 2] = 0
    return factors


@mirrors(scipy_signal.envelope, on_host=with_workers(scipy_signal.envelope))
def envelope(
    z: Any, bp_in: Any = (1, None), *, n_out: Any = None, squared: bool = False, residual: Any = "lowpass",
    axis: int = -1,
) -> GpuArray:  # fmt: skip
    """Return the amplitudes of signals in a band of frequencies, and the rest of the signals.

    Parameters
    ----------
    z : array_like
        The signals.
    bp_in : tuple of int or None
        The first frequency of the band, and the first one behind it.
    n_out : int, optional
        The number of samples of the results.
    squared : bool
        Whether the squares of amplitudes are returned.
    residual : {"lowpass", "all", None}
        Which frequencies outside of the band are left: those below it, all, or none, so that it is not returned.
    axis : int
        The axis of time.

    Raises
    ------
    ValueError
        If a parameter is out of range, or there are no samples.
    """
    signal = as_array(z)
    if not -signal.ndim <= axis < signal.ndim:
        raise ValueError(f"Invalid parameter {axis=} for z.shape={signal.shape}!")
    n = signal.shape[axis]
    if not n:
        raise ValueError(f"z.shape[axis] not > 0 for z.shape={signal.shape}, {axis=}!")
    if not (n_out is None or (isinstance(n_out, int) and n_out > 0)):
        raise ValueError(f"{n_out=} is not a positive integer or None!")
    if residual not in ("lowpass", "all", None):
        raise ValueError(f"{residual=} not in ['lowpass', 'all', None]!")
    band, count = _band(bp_in, n), n_out or n
    line = xp.moveaxis(signal, axis, -1)
    is_complex = line.dtype.kind == "c"
    if is_complex:
        spectrum = fourier.fft(line)
    else:
        half = fourier.rfft(line)
        spectrum = xp.pad(half, [(0, 0)] * (line.ndim - 1) + [(0, n - half.shape[-1])])
        factors = np.ones(n)
        factors[band if band.start > 0 else slice(1, max(band.stop, 1))] = 2
        spectrum = spectrum * as_array(factors.astype(spectrum.real.dtype), line.device)
    if band.start <= 0 < band.stop:
        chosen = xp.roll(spectrum, n // 2, -1)[..., band.start + n // 2 : band.stop + n // 2]  # from the lowest one on
    else:
        chosen = spectrum[..., band]
    base = fourier.ifft(chosen, count) * (count / n)
    result = base.real**2 + base.imag**2 if squared else abs(base)
    if residual is None:
        return xp.moveaxis(result, -1, axis)
    rest = xp.where(as_array(_beside(band, n, residual) > 0, line.device), spectrum, 0)
    if is_complex:
        left = resample(rest, count, axis=-1, domain="freq")
    else:
        least = min(n, count)
        if count != n and least % 2 == 0:  # the frequency of half of the sampling rate has one position, not two
            middle = np.ones(n)
            middle[least // 2] = 2 if count < n else 0.5
            rest = rest * as_array(middle.astype(result.dtype), line.device)
        left = fourier.irfft(rest, count) * (count / n)
    return xp.moveaxis(xp.stack([result.astype(left.dtype), left]), -1, axis if axis < 0 else axis + 1)


def _spiral(x: GpuArray, count: int, w: Any, a: Any, axis: int) -> GpuArray:
    """Return the z-transform at ``a * w**-k`` by a convolution, for complex numbers a and w or their exponents."""
    number = normalize_axis(axis, x.ndim)
    line = xp.moveaxis(x, number, -1)
    extent = line.shape[-1]
    k = np.arange(max(extent, count))
    size = int(scipy_fft.next_fast_len(extent + count - 1))
    wk2 = np.exp(-1j * np.pi * ((w * k.astype(float) ** 2) % 2)) if isinstance(w, float) else w ** (k**2 / 2.0)
    powers = np.exp(-2j * np.pi * a * k[:extent]) if isinstance(a, float) else a ** -k[:extent].astype(float)
    kernel = np.fft.fft(1 / np.hstack((wk2[extent - 1 : 0 : -1], wk2[:count])), size)
    kind = dtypes.complex128  # as SciPy, whose phases are in double precision
    parts = [as_array(v.astype(kind), x.device) for v in (powers * wk2[:extent], kernel, wk2[:count])]
    spectrum = fourier.fft(line.astype(kind) * parts[0], size) * parts[1]
    result = fourier.ifft(spectrum)[..., extent - 1 : extent + count - 1] * parts[2]
    return xp.moveaxis(result, -1, number)


def _count_of(x: GpuArray, m: int | None, axis: int) -> int:
    """Return the number of points of a transform, by default that of samples.

    Raises
    ------
    ValueError
        If it is not positive, or there are no samples.
    """
    extent = x.shape[normalize_axis(axis, x.ndim)]
    count = extent if m is None else m
    for what, number in (("data", extent), ("output", count)):
        if number < 1 or not isinstance(number, int | np.integer):
            raise ValueError(
                f"Invalid number of CZT {what} points ({number}) specified. {'n' if what == 'data' else 'm'} must be "
                "positive and integer type."
            )
    return index(count)


@mirrors(scipy_signal.czt, kind=COMPOSED, values=("w", "a"), on_host=with_workers(scipy_signal.czt))
def czt(x: Any, m: int | None = None, w: Any = None, a: Any = 1 + 0j, *, axis: int = -1) -> GpuArray:
    """Return the z-transform of signals at ``m`` points on the spiral ``a * w**-k``."""
    signal = as_array(x)
    count = _count_of(signal, m, axis)
    step = 1.0 / count if w is None else complex(w)
    return _spiral(signal, count, step, complex(a), axis)


@mirrors(scipy_signal.zoom_fft, kind=COMPOSED, values=("fn",), on_host=with_workers(scipy_signal.zoom_fft))
def zoom_fft(
    x: Any, fn: Any, m: int | None = None, *, fs: float = 2, endpoint: bool = False, axis: int = -1
) -> GpuArray:
    """Return the Fourier transform of signals at ``m`` frequencies in a range."""
    signal = as_array(x)
    count = _count_of(signal, m, axis)
    limits = np.atleast_1d(read(fn)).astype(float).tolist()
    if len(limits) not in (1, 2):
        raise ValueError("fn must be a scalar or 2-length sequence")
    first, last = (0.0, limits[0]) if len(limits) == 1 else limits
    if endpoint:
        scale = ((last - first) * count) / (fs * (count - 1))
    else:
        scale = (last - first) / fs
    return _spiral(signal, count, float(scale / count), float(first / fs), axis)


@mirrors(scipy_signal.lombscargle, kind=COMPOSED, by_scipy=False, values=("weights",))
def lombscargle(
    x: Any, y: Any, freqs: Any, *, precenter: Any = None, normalize: Any = False, weights: Any = None,
    floating_mean: bool = False,
) -> GpuArray:  # fmt: skip
    """Return the Lomb-Scargle periodogram of uneven samples at given angular frequencies."""
    times, values, angular = (v.astype(dtypes.float64, copy=False) for v in as_arrays(x, y, freqs))
    raw_weights = xp.ones_like(values) if weights is None else as_array(weights, values.device).astype(dtypes.float64)
    if times.ndim != 1 or not times.size or not times.shape == values.shape == raw_weights.shape:
        raise ValueError("Parameters x, y, weights must be 1-D arrays of equal non-zero length!")
    if angular.ndim != 1 or not angular.size:
        raise ValueError("Parameter freqs must be a 1-D array of non-zero length!")
    if weights is not None:
        host = read(weights)
        if not ((host >= 0).all() and host.sum() > 0):
            raise ValueError("Parameter weights must have only non-negative entries which sum to a positive value!")
    kind = {True: "normalize", False: "power"}.get(normalize, normalize) if isinstance(normalize, bool) else normalize
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError("Normalize must be: False (or 'power'), True (or 'normalize'), or 'amplitude'.")
    if precenter is True:
        values = values - values.mean()
    share = raw_weights / raw_weights.sum()
    phase = angular[:, None] * times
    mean = (share * values).sum()
    cosines, sines = xp.cos(phase), xp.sin(phase)
    cc, cs = (share * cosines * cosines).sum(-1), (share * cosines * sines).sum(-1)
    ss = 1.0 - cc
    if floating_mean:
        c, s = (share * cosines).sum(-1), (share * sines).sum(-1)
        cc, ss, cs = cc - c * c, ss - s * s, cs - c * s
    tau = 0.5 * xp.atan2(2.0 * cs, cc - ss)
    cosines, sines = xp.cos(phase - tau[:, None]), xp.sin(phase - tau[:, None])
    weighted = share * values
    yc, ys = (weighted * cosines).sum(-1), (weighted * sines).sum(-1)
    cc = (share * cosines * cosines).sum(-1)
    ss = 1.0 - cc
    if floating_mean:
        c, s = (share * cosines).sum(-1), (share * sines).sum(-1)
        yc, ys, cc, ss = yc - mean * c, ys - mean * s, cc - c * c, ss - s * s
    least = float(np.finfo(np.float64).epsneg)
    first, second = yc / xp.maximum(cc, least), ys / xp.maximum(ss, least)
    if kind == "amplitude":
        rotation = apply(ops.complex_from_parts, xp.cos(tau), xp.sin(tau))
        return apply(ops.complex_from_parts, first, second) * rotation
    power = 2.0 * (first * yc + second * ys)
    if kind == "power":
        return xp.squeeze(power * (times.shape[0] / 4.0))
    total = (weighted * values).sum()
    return xp.squeeze(power * (0.5 / (total - mean * mean if floating_mean else total)))


@mirrors(scipy_signal.vectorstrength)
def vectorstrength(events: Any, period: Any) -> tuple[Any, Any]:
    """Return how well events keep to a period, and their mean phase, for each period."""
    times, lengths = as_arrays(events, period)
    if times.ndim > 1:
        raise ValueError("events cannot have dimensions more than 1")
    if lengths.ndim > 1:
        raise ValueError("period cannot have dimensions more than 1")
    angles = 2 * np.pi * times / lengths.reshape(-1, 1)
    real, imaginary = xp.cos(angles).mean(-1), xp.sin(angles).mean(-1)
    strength, phase = xp.hypot(real, imaginary), xp.atan2(imaginary, real)
    return (strength, phase) if lengths.ndim else (strength[0], phase[0])
