"""Spectra of signals over time and on average: stft, istft, spectrogram, welch, csd, coherence, periodogram."""

from operator import index
from typing import Any, Final

import numpy as np
from scipy import fft as scipy_fft
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_array, as_arrays, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph.shapes import broadcast_shapes, normalize_axis
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._mirror import below, by_name, mirrors
from gpuarray.scipy._threads import with_workers
from gpuarray.scipy.signal._extension import extended
from gpuarray.scipy.signal._segments import moved_trend, overlapped, transformed, window_of
from gpuarray.source_locations import warn

_BOUNDARIES: Final = ("even", "odd", "constant", "zeros", None)
#: SciPy computes one segment after the other in Python, which takes more time than the composition for more elements.
_BY_SCIPY: Final = below(1 << 11)
_MODES: Final = ("psd", "complex", "magnitude", "angle", "phase")


def _line(window: Any) -> np.ndarray[Any, Any]:
    """Return a window that is given as an array, on the host."""
    line = read(window)
    if line.ndim != 1:
        raise ValueError("window must be 1-D")
    return line


def _window(window: Any, nperseg: Any, count: int) -> tuple[np.ndarray[Any, Any], int]:
    """Return a window on the host, and its length."""
    if isinstance(window, str | tuple):
        length = 256 if nperseg is None else index(nperseg)
        if length < 1:
            raise ValueError("nperseg must be a positive integer")
        if length > count:
            warn(f"nperseg = {length} is greater than input length  = {count}, using nperseg = {count}", UserWarning)
            length = count
        return scipy_signal.get_window(window, length), length
    line = _line(window)
    if count < line.shape[0]:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and nperseg != line.shape[0]:
        raise ValueError("value specified for nperseg is different from length of window")
    return line, line.shape[0]


def _lengths(nperseg: int, noverlap: Any, nfft: Any, overlap: int) -> tuple[int, int]:
    """Return how many samples segments have in common, and the number of points of transforms."""
    points = nperseg if nfft is None else index(nfft)
    if points < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    common = overlap if noverlap is None else index(noverlap)
    if common >= nperseg:
        raise ValueError("noverlap must be less than nperseg.")
    return common, points


def _scale(scaling: str, window: np.ndarray[Any, Any], fs: float) -> float:
    """Return the factor of squared transforms."""
    if scaling == "density":
        return float(1.0 / (fs * (window * window).sum().real))
    if scaling == "spectrum":
        return float(1.0 / window.sum().real ** 2)
    raise ValueError(f"Unknown scaling: {scaling!r}")


def _twosided(*signals: GpuArray) -> bool:
    if any(x.dtype.kind == "c" for x in signals):
        warn("Input data is complex, switching to return_onesided=False", UserWarning)
        return True
    return False


def _frequencies(points: int, fs: float, is_onesided: bool, like: GpuArray) -> GpuArray:
    return as_array((scipy_fft.rfftfreq if is_onesided else scipy_fft.fftfreq)(points, 1 / fs), like.device)


def _doubled(power: GpuArray, points: int) -> GpuArray:
    """Return a spectrum of one sign with the powers of both; frequencies are along the last axis."""
    factor = np.full(power.shape[-1], 2.0)
    factor[0] = 1
    if points % 2 == 0:
        factor[-1] = 1
    return power * as_array(factor.astype(power.real.dtype), power.device)


def _short_time(
    a: Any, scaling: str, mode: str, boundary: Any = None, is_padded: bool = False, overlap: int = 2
) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return frequencies, times, and spectra of segments, whose times are along the last axis.

    ``a`` has the arguments of :func:`scipy.signal.stft`, without those that follow.
    """
    x, fs = as_array(a.x), a.fs
    if boundary not in _BOUNDARIES:
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: {list(_BOUNDARIES)}")
    if not x.size:
        empty = xp.zeros(x.shape, device=x.device)
        return empty, empty, empty
    axis = index(a.axis)
    kind = dtypes.promote(x.dtype, dtypes.complex64)
    line = xp.moveaxis(x, axis, -1)
    weights, length = _window(a.window, a.nperseg, line.shape[-1])
    common, points = _lengths(length, a.noverlap, a.nfft, length // overlap)
    step = length - common
    if boundary is not None:
        line = extended(line, length // 2, boundary)
    if is_padded:
        missing = (-(line.shape[-1] - length) % step) % length
        line = xp.pad(line, [(0, 0)] * (line.ndim - 1) + [(0, missing)])
    weights = window_of(weights, kind)
    scale = _scale(scaling, weights, fs)
    is_onesided = bool(a.return_onesided) and not _twosided(x)
    result = transformed(line, weights, step, points, moved_trend(a.detrend, axis), is_onesided=is_onesided)
    result = result.astype(kind, copy=False)
    if mode == "psd":
        result = (result.real**2 + result.imag**2) * scale
        if is_onesided:
            result = _doubled(result, points)
    else:
        result = result * float(np.sqrt(scale))
    times = np.arange(length / 2, line.shape[-1] - length / 2 + 1, step) / float(fs)
    if boundary is not None:
        times -= (length / 2) / fs
    result = xp.moveaxis(result, -1, axis - 1 if axis < 0 else axis)
    return _frequencies(points, fs, is_onesided, x), as_array(times, x.device), result


@by_name(scipy_signal.stft, on_host=with_workers(scipy_signal.stft))
def stft(a: Any) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return frequencies, times, and the Fourier transforms of segments of signals."""
    if a.scaling not in ("psd", "spectrum"):
        raise ValueError(f"Parameter scaling={a.scaling!r} not in ['spectrum', 'psd']!")
    return _short_time(a, "density" if a.scaling == "psd" else a.scaling, "stft", a.boundary, a.padded)


@by_name(scipy_signal.spectrogram, on_host=with_workers(scipy_signal.spectrogram))
def spectrogram(a: Any) -> tuple[GpuArray, GpuArray, GpuArray]:
    """Return frequencies, times, and the power, magnitude or phase of signals at them."""
    if a.mode not in _MODES:
        raise ValueError(f"unknown value for mode {a.mode}, must be one of {list(_MODES)}")
    signal = as_array(a.x)
    if not signal.shape[normalize_axis(a.axis, signal.ndim)]:
        raise ValueError("Parameter Nx=0 is not a positive integer")
    frequencies, times, result = _short_time(a, a.scaling, "psd" if a.mode == "psd" else "stft", overlap=8)
    if a.mode == "magnitude":
        result = xp.abs(result)
    elif a.mode in ("angle", "phase"):
        result = xp.angle(result)
        if a.mode == "phase":
            result = xp.unwrap(result, axis=a.axis - 1 if a.axis < 0 else a.axis)
    return frequencies, times, result


def _sum_of_squares(window: np.ndarray[Any, Any], count: int, step: int) -> np.ndarray[Any, Any]:
    """Return the sum of the squares of windows that begin ``step`` after each other."""
    pieces = -(-len(window) // step)
    padded = np.concatenate([window**2, np.zeros(pieces * step - len(window), window.dtype)])
    blocks = np.zeros((count + pieces - 1, step), window.dtype)
    for k, piece in enumerate(padded.reshape(pieces, step)):
        blocks[k : k + count] += piece
    return blocks.reshape(-1)[: (count - 1) * step + len(window)]


@mirrors(scipy_signal.istft, on_host=with_workers(scipy_signal.istft), kind=COMPOSED, values=("window",))
def istft(
    Zxx: Any, fs: float = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,  # noqa: N803
    nfft: Any = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1, freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[GpuArray, GpuArray]:  # fmt: skip
    """Return times and the signals whose short-time Fourier transforms are given."""
    spectra = as_array(Zxx)
    spectra = spectra.astype(dtypes.promote(spectra.dtype, dtypes.complex64), copy=False)
    if spectra.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    if freq_axis == time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    times, frequencies = (normalize_axis(a, spectra.ndim) for a in (time_axis, freq_axis))
    usual = 2 * (spectra.shape[frequencies] - 1) if input_onesided else spectra.shape[frequencies]
    length = usual if nperseg is None else index(nperseg)
    if length < 1:
        raise ValueError("nperseg must be a positive integer")
    if nfft is None:
        nfft = length if input_onesided and length == usual + 1 else usual
    common, points = _lengths(length, noverlap, nfft, length // 2)
    step = length - common
    if isinstance(window, str | tuple):
        weights = scipy_signal.get_window(window, length)
    else:
        weights = _line(window)
        if weights.shape[0] != length:
            raise ValueError(f"window must have length of {length}")
    moved = xp.moveaxis(spectra, (times, frequencies), (-2, -1))
    parts = (fourier.irfft if input_onesided else fourier.ifft)(moved, points)[..., :length]
    if np.result_type(weights, parts.dtype) != parts.dtype:
        weights = weights.astype(parts.dtype)
    if scaling == "spectrum":
        factor = weights.sum()
    elif scaling == "psd":
        factor = np.sqrt(fs * (weights**2).sum())
    else:
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    count = parts.shape[-2]
    result = overlapped(parts * as_array(weights * factor, parts.device), step)
    norm = _sum_of_squares(weights, count, step)
    if boundary:
        inner = slice(length // 2, -(length // 2))
        result, norm = result[..., inner], norm[inner]
    large = norm > 1e-10
    if not large.all():
        missing = "" if boundary else " Possibly due to missing boundary"
        warn("NOLA condition failed, STFT may not be invertible." + missing, UserWarning)
    result = result / as_array(np.where(large, norm, 1.0).astype(norm.dtype), result.device)
    if result.ndim > 1 and times != spectra.ndim - 1:
        result = xp.moveaxis(result, -1, times - 1 if frequencies < times else times)
    return as_array(np.arange(result.shape[0]) / float(fs), result.device), result


# -- averages ---------------------------------------------------------------------------------------------------------


def _average(power: GpuArray, average: str) -> GpuArray:
    """Return the average over segments, along the last axis but one."""
    count = power.shape[-2]
    if count == 1:
        return power[..., 0, :]
    if average == "mean":
        return power.mean(-2)
    if average != "median":
        raise ValueError(f"Parameter average={average!r} must be 'median' or 'mean'!")
    terms = 2 * np.arange(1.0, (count - 1) // 2 + 1)
    bias = float(1 + (1.0 / (terms + 1) - 1.0 / terms).sum())
    if power.dtype.kind == "c":
        parts = (xp.median(part, -2) / bias for part in (power.real, power.imag))
        result: GpuArray = apply(ops.complex_from_parts, *parts)
    else:
        result = xp.median(power, -2) / bias
    return result


def _cross(
    a: Any, x: GpuArray, y: GpuArray | None, *, onesided: bool, scaling: str, average: str = "mean"
) -> tuple[GpuArray, GpuArray]:
    """Return frequencies and the cross spectrum of signals; the spectrum of ``x`` alone if there is no ``y``.

    ``a`` has the arguments of :func:`scipy.signal.welch`, without those that follow.
    """
    axis, fs = normalize_axis(index(a.axis), x.ndim), a.fs
    signals = [x] if y is None else [x, y]
    if not all(signal.size for signal in signals):
        others = [(*s.shape[:axis], *s.shape[axis + 1 :]) for s in signals]
        shape: Any = x.shape
        if y is not None:
            shape = [*broadcast_shapes(*others)]
            shape.insert(axis, min(s.shape[axis] for s in signals))
        empty = xp.zeros(shape, device=x.device)
        return empty, empty
    kind = dtypes.promote(*(s.dtype for s in signals), dtypes.complex64)
    lines = [xp.moveaxis(signal, axis, -1) for signal in signals]
    count = max(line.shape[-1] for line in lines)
    weights, length = _window(a.window, a.nperseg, count)
    common, points = _lengths(length, a.noverlap, a.nfft, length // 2)
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in {{'spectrum': 'magnitude', 'density': 'psd'}}!")
    is_onesided = bool(onesided) and not any(s.dtype.kind == "c" for s in signals)
    weights = window_of(weights, kind)
    scale = _scale(scaling, weights, fs)
    result = []
    for line in lines:
        missing = count - line.shape[-1]
        whole = xp.pad(line, [(0, 0)] * (line.ndim - 1) + [(0, missing)]) if missing else line
        result.append(
            transformed(
                whole, weights, length - common, points, moved_trend(a.detrend, axis), is_onesided=is_onesided
            ).astype(kind, copy=False)
        )
    first = result[0]
    power = first.real**2 + first.imag**2 if y is None else first.conj() * result[1]
    power = _average(power, average) * scale
    if is_onesided:
        power = _doubled(power, points)
    return _frequencies(points, fs, is_onesided, x), xp.moveaxis(power, -1, axis)


@by_name(scipy_signal.welch, by_scipy=_BY_SCIPY)
def welch(a: Any) -> tuple[GpuArray, GpuArray]:
    """Return frequencies and the power spectrum of signals, an average over segments."""
    return _cross(a, as_array(a.x), None, onesided=a.return_onesided, scaling=a.scaling, average=a.average)


@by_name(scipy_signal.csd, by_scipy=_BY_SCIPY)
def csd(a: Any) -> tuple[GpuArray, GpuArray]:
    """Return frequencies and the cross spectrum of two signals, an average over segments."""
    first, second = as_arrays(a.x, a.y)
    other = None if a.y is a.x else second
    if first.size and second.size and a.return_onesided and second.dtype.kind == "c" != first.dtype.kind:
        raise ValueError("Complex-valued `y` is not allowed with a real `x`: set return_onesided=False")
    return _cross(a, first, other, onesided=a.return_onesided, scaling=a.scaling, average=a.average)


@by_name(scipy_signal.periodogram, by_scipy=_BY_SCIPY)
def periodogram(a: Any) -> tuple[GpuArray, GpuArray]:
    """Return frequencies and the power spectrum of signals, of one segment."""
    signal = as_array(a.x)
    if not signal.size:
        empty = xp.zeros(signal.shape, device=signal.device)
        return empty, empty
    number = normalize_axis(a.axis, signal.ndim)
    length = signal.shape[number]
    if a.nfft is not None and a.nfft < length:
        length = index(a.nfft)
        signal, a.nfft = signal[(slice(None),) * number + (slice(length),)], None
    if hasattr(a.window, "size") and a.window.size != length:
        raise ValueError("the size of the window must be the same size of the input on the specified axis")
    a.window = "boxcar" if a.window is None else a.window
    a.nperseg, a.noverlap = length, 0
    return _cross(a, signal, None, onesided=a.return_onesided, scaling=a.scaling)


@by_name(scipy_signal.coherence, by_scipy=_BY_SCIPY)
def coherence(a: Any) -> tuple[GpuArray, GpuArray]:
    """Return frequencies and the coherence of two signals."""
    first, second = as_arrays(a.x, a.y)
    pairs = (first, None), (second, None), (first, second)
    (frequencies, one), (_, two), (_, both) = (_cross(a, *pair, onesided=True, scaling="density") for pair in pairs)
    return frequencies, (both.real**2 + both.imag**2) / one / two


__all__ = ["coherence", "csd", "istft", "periodogram", "spectrogram", "stft", "welch"]
