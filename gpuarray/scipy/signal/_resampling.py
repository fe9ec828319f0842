"""Changes of the sampling rate: upfirdn, resample, resample_poly and decimate."""

from collections.abc import Callable
from functools import lru_cache
from math import gcd
from operator import index
from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.device import Device
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_array, concatenated, inexact, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build, tape
from gpuarray.graph.layouts import Layout
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy._threads import by_lines
from gpuarray.scipy.signal._filtering import sosfilt, sosfiltfilt

#: The modes of padding that numpy.pad has by another name.
_PADS: Final = {
    "constant": "constant", "symmetric": "symmetric", "reflect": "reflect", "edge": "edge", "wrap": "wrap",
    "periodic": "wrap",
}  # fmt: skip
_STATISTICS: Final[dict[str, Callable[..., GpuArray]]] = {
    "mean": xp.mean,
    "median": xp.median,
    "minimum": xp.min,
    "maximum": xp.max,
}


def _continued(x: GpuArray, before: int, after: int, mode: str, cval: Any) -> GpuArray:
    """Return signals that are continued along the last axis by one of the modes of :func:`scipy.signal.upfirdn`."""
    widths = [(0, 0)] * (x.ndim - 1) + [(before, after)]
    if mode in _PADS:
        return xp.pad(x, widths, mode=_PADS[mode], **({"constant_values": cval} if mode == "constant" else {}))
    if mode == "antireflect":
        return xp.pad(x, widths, mode="reflect", reflect_type="odd")
    count = x.shape[-1]
    if mode == "antisymmetric":
        periods = np.arange(-before, count + after) // count
        signs = as_array((1 - 2 * (periods % 2)).astype(x.dtype), x.device)
        return xp.pad(x, widths, mode="symmetric") * signs
    if mode not in ("line", "smooth"):
        raise ValueError(f"Unknown mode: {mode}")
    if count == 1:
        return xp.pad(x, widths, mode="edge")
    if mode == "line":
        first = last = (x[..., -1:] - x[..., :1]) / (count - 1)
    else:
        first, last = x[..., 1:2] - x[..., :1], x[..., -1:] - x[..., -2:-1]
    left, right = (
        as_array(positions.astype(x.real.dtype), x.device)
        for positions in (np.arange(-before, 0), np.arange(1, after + 1))
    )
    return concatenated([x[..., :1] + first * left, x, x[..., -1:] + last * right], x.ndim - 1)


def _phases(taps: np.ndarray[Any, Any], up: int, down: int) -> tuple[np.ndarray[Any, Any], int, int, int]:
    """Return the matrix from a window of the signal to consecutive outputs, and where windows are.

    Output ``m`` is the sum of ``taps[m * down - k * up] * x[k]``. The outputs ``q * period + r`` have the same taps for
    all q, and their windows are ``step`` samples apart.

    Returns
    -------
    matrix : ndarray
        Of shape (width, period).
    step, period : int
        As above.
    before : int
        How many samples the first window begins before the signal.
    """
    common = gcd(up, down)
    period, step = up // common, down // common
    reach = -(-len(taps) // up)
    before = reach - 1
    positions = np.arange(period) * down
    width = int(positions[-1] // up) + reach
    matrix = np.zeros((width, period), taps.dtype)
    for r, start in enumerate(positions):
        phase, base = start % up, start // up
        line = taps[phase::up]
        matrix[base + before - np.arange(len(line)), r] = line
    return matrix, step, period, before


@lru_cache(maxsize=32)
def _matrix(taps: bytes, dtype: Any, up: int, down: int, device: Device) -> tuple[GpuArray, int, int, int]:
    """Return the results of :func:`_phases`, with the matrix on a device, where it is kept for the next signals."""
    matrix, step, period, before = _phases(np.frombuffer(taps, dtype), up, down)
    return xp.asarray(matrix, device=device), step, period, before


def _polyphase(taps: Any, x: GpuArray, up: int, down: int) -> GpuArray:
    """Return the outputs for a signal along the last axis, which is zero outside."""
    *lead, count = x.shape
    total = ((count - 1) * up + len(taps) - 1) // down + 1
    if isinstance(taps, GpuArray):
        numbers, step, period, before = _phases(np.arange(1, len(taps) + 1), up, down)
        matrix = xp.where(as_array(numbers > 0, taps.device), taps[np.maximum(numbers, 1) - 1], 0)
    else:
        matrix, step, period, before = _matrix(taps.tobytes(), taps.dtype, up, down, x.device)
    width = matrix.shape[0]
    windows = -(-total // period)
    padded_length = (windows - 1) * step + width
    after = max(padded_length - before - count, 0)
    line = xp.pad(x, [(0, 0)] * len(lead) + [(before, after)])
    size = line.shape[-1]
    rows = line.reshape(-1, size)
    layout = Layout((rows.shape[0], windows, width), (size, step, 1), 0)
    view = wrap(build.view(rows.node(), layout), x.device)
    result = view @ matrix.astype(x.dtype, copy=False)
    return result.reshape(*lead, windows * period)[..., :total]


@mirrors(scipy_signal.upfirdn, kind=COMPOSED, values=("h",), on_host=by_lines(scipy_signal.upfirdn, "x"))
def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: float = 0
) -> GpuArray:
    """Insert zeros between samples, filter them, and take some of the results.

    Parameters
    ----------
    h : array_like
        Taps of the filter, of shape (K,).
    x : array_like
        The signals.
    up, down : int
        One sample becomes ``up``, of which one in ``down`` is taken.
    axis : int
        The axis of time.
    mode : str
        How the signals continue: "constant", "symmetric", "reflect", "edge", "wrap" or "periodic", "line", "smooth",
        "antisymmetric" or "antireflect".
    cval : number
        The value outside, for "constant".

    Raises
    ------
    ValueError
        If a parameter has another value.
    """
    taps = h if isinstance(h, GpuArray) and tape.varying(h.node()) else read(h)
    signal = as_array(x)
    if taps.ndim != 1 or not taps.size:
        raise ValueError("h must be 1-D with non-zero length")
    up, down = index(up), index(down)
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    kind = np.result_type(taps.dtype, signal.dtype, np.float32)
    number = normalize_axis(axis, signal.ndim)
    line = xp.moveaxis(signal.astype(kind, copy=False), number, -1)
    taps = taps.astype(kind)
    total = ((line.shape[-1] - 1) * up + len(taps) - 1) // down + 1
    if mode == "constant" and not cval:
        return xp.moveaxis(_polyphase(taps, line, up, down), -1, number)
    # a multiple of the step, so that outputs are at the same positions
    reach = -(-len(taps) // up)
    before = -(-reach // down) * down
    result = _polyphase(taps, _continued(line, before, reach, mode, cval), up, down)
    start = before * up // down
    return xp.moveaxis(result[..., start : start + total], -1, number)


@mirrors(
    scipy_signal.resample_poly,
    kind=COMPOSED,
    values=("window",),
    on_host=by_lines(scipy_signal.resample_poly, "x", ("padtype",)),
)
def resample_poly(
    x: Any, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0), padtype: str = "constant",
    cval: Any = None,
) -> GpuArray:  # fmt: skip
    """Change the sampling rate by the ratio ``up / down``, with a low-pass filter.

    Parameters
    ----------
    x : array_like
        The signals.
    up, down : int
        One sample becomes ``up``, of which one in ``down`` is taken.
    axis : int
        The axis of time.
    window : str, tuple or array_like
        The window from which the filter is designed, or its taps.
    padtype : str
        "mean", "median", "minimum", "maximum", or a mode of :func:`upfirdn`.
    cval : number, optional
        The value outside, for "constant".

    Raises
    ------
    ValueError
        If a parameter has another value.
    """
    signal = as_array(x)
    if up != int(up) or down != int(down):
        raise ValueError(f"{'up' if up != int(up) else 'down'} must be an integer")
    up, down = int(up), int(down)
    if up < 1 or down < 1:
        raise ValueError("up and down must be >= 1")
    if cval is not None and padtype != "constant":
        raise ValueError("cval has no effect when padtype is " + padtype)
    divisor = gcd(up, down)
    up, down = up // divisor, down // divisor
    if up == down == 1:
        return signal.copy()
    number = normalize_axis(axis, signal.ndim)
    count = signal.shape[number] * up
    count = count // down + bool(count % down)
    taps = _low_pass(window, max(up, down), signal.dtype if signal.dtype.kind in "fc" else np.dtype(np.float64)) * up
    half = (len(taps) - 1) // 2
    before = down - half % down
    after = 0
    removed = (half + before) // down
    while ((signal.shape[number] - 1) * up + len(taps) + before + after - 1) // down + 1 < count + removed:
        after += 1
    taps = np.concatenate([np.zeros(before, taps.dtype), taps, np.zeros(after, taps.dtype)])
    background: Any = None
    mode, value = padtype, 0 if cval is None else cval
    if padtype in _STATISTICS:
        background, mode = _STATISTICS[padtype](signal, axis=number, keepdims=True), "constant"
    result = upfirdn(taps, signal if background is None else signal - background, up, down, number, mode, value)
    key = [slice(None)] * signal.ndim
    key[number] = slice(removed, removed + count)
    result = result[tuple(key)]
    return result if background is None else result + background


def _low_pass(window: Any, rate: int, dtype: Any) -> Any:
    """Return the taps of the filter for a change of rate by at most ``rate``; a window of numbers has them."""
    if not isinstance(window, list | np.ndarray | GpuArray):
        return scipy_signal.firwin(20 * rate + 1, 1.0 / rate, window=window).astype(dtype)
    taps = read(window)
    if taps.ndim > 1:
        raise ValueError("window must be 1-D")
    return taps


@mirrors(
    scipy_signal.resample, kind=COMPOSED, values=("t", "window"), on_host=by_lines(scipy_signal.resample, "x", ("t",))
)
def resample(x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time") -> Any:
    """Change the number of samples of periodic signals, by a Fourier transform.

    Parameters
    ----------
    x : array_like
        The signals, or their transforms.
    num : int
        The number of samples.
    t : array_like, optional
        Times of the samples; then new times are returned too.
    axis : int
        The axis of time.
    window : array_like, callable, str or tuple, optional
        Factors of the transform.
    domain : {"time", "freq"}
        Whether ``x`` is a signal or a transform.

    Raises
    ------
    ValueError
        If a parameter has another value.
    """
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain={domain!r} not in ('time', 'freq')!")
    signal = as_array(x)
    number = normalize_axis(axis, signal.ndim)
    count = index(num)
    extent = signal.shape[number]
    weights = _window(window, extent)
    is_real = domain == "time" and signal.dtype.kind != "c" and (weights is None or weights.dtype.kind != "c")
    line = xp.moveaxis(signal, number, -1)
    samples = inexact(line)
    spectrum = samples if domain == "freq" else fourier.rfft(line) if is_real else fourier.fft(line)
    kind = dtypes.promote(spectrum.dtype, dtypes.complex64)
    spectrum = spectrum.astype(kind, copy=False)
    if weights is not None:
        if is_real:  # both halves of the window act on the same frequencies
            folded = (weights[: extent // 2 + 1] + np.roll(weights[::-1], 1)[: extent // 2 + 1]) / 2
            weights = folded
        spectrum = spectrum * as_array(weights, signal.device)
        spectrum = spectrum.astype(kind, copy=False) if is_real else spectrum
    resized = _of_length(spectrum, extent, count, is_real)
    result = xp.moveaxis(fourier.irfft(resized, count) if is_real else fourier.ifft(resized), -1, number)
    result = result * (count / extent)
    if t is None:
        return result
    times = read(t)
    new = np.arange(count) * (times[1] - times[0]) * (extent / count) + times[0]
    return result, as_array(new, signal.device)


def _window(window: Any, count: int) -> Any:
    if window is None:
        return None
    if callable(window):
        return np.asarray(window(np.fft.fftfreq(count)))
    if isinstance(window, np.ndarray | GpuArray):
        taps = read(window)
        if taps.shape != (count,):
            raise ValueError(
                f"window.shape={taps.shape} != ({count},), i.e., window length is not equal to number of "
                "frequency bins!"
            )
        return taps
    return np.fft.fftshift(scipy_signal.get_window(window, count))


def _of_length(spectrum: GpuArray, before: int, after: int, is_real: bool) -> GpuArray:
    """Return a spectrum of ``after`` frequencies; that at half of the rate is shared by both signs."""
    least = min(before, after)
    half = least // 2
    pad = [(0, 0)] * (spectrum.ndim - 1)
    even = least % 2 == 0 and before != after
    if is_real:
        resized = spectrum[..., : half + 1]
        if even:
            # the middle one stands for two frequencies in one of the signals, and for one in the other
            factor = 2.0 if after < before else 0.5
            resized = concatenated([resized[..., :half], resized[..., half:] * factor], resized.ndim - 1)
        return xp.pad(resized, [*pad, (0, after // 2 + 1 - resized.shape[-1])])
    positive = spectrum[..., : (least + 1) // 2]
    negative = spectrum[..., before - (least - 1) // 2 :] if least > 1 else spectrum[..., :0]
    parts = [positive]
    shape = (*spectrum.shape[:-1], after - least)
    gap = xp.zeros(shape, spectrum.dtype, device=spectrum.device)
    if least % 2 == 0:
        if after < before:
            parts.append(spectrum[..., half : half + 1] + spectrum[..., before - half : before - half + 1])
        elif after > before:
            middle = spectrum[..., half : half + 1] * 0.5
            parts += [middle, gap[..., 1:], middle]
            return concatenated([*parts, negative], spectrum.ndim - 1)
        else:
            parts.append(spectrum[..., half : half + 1])
    else:
        parts.append(gap)
    return concatenated([*parts, negative], spectrum.ndim - 1)


@mirrors(scipy_signal.decimate, kind=COMPOSED, values=(), on_host=by_lines(scipy_signal.decimate, "x"))
def decimate(
    x: Any, q: int, n: int | None = None, ftype: Any = "iir", axis: int = -1, zero_phase: bool = True
) -> GpuArray:
    """Filter signals by a low-pass, and take one sample in ``q``.

    Parameters
    ----------
    x : array_like
        The signals.
    q : int
        The factor.
    n : int, optional
        Order of the filter; by default 8 for "iir" and ``20 * q`` for "fir".
    ftype : {"iir", "fir"} or dlti
        A Chebyshev filter, a filter of a Hamming window, or an own one.
    axis : int
        The axis of time.
    zero_phase : bool
        Whether the phase is not shifted.

    Raises
    ------
    ValueError
        If ``ftype`` is none of these.
    """
    signal = as_array(x)
    q = index(q)
    n = None if n is None else index(n)
    number = normalize_axis(axis, signal.ndim)
    kind = signal.dtype if signal.dtype.kind in "fc" and signal.dtype != np.float16 else np.dtype(np.float64)
    real = np.empty(0, kind).real.dtype
    sos: Any = None
    top: Any = None
    bottom: Any = None
    if ftype == "fir":
        half = 20 * q if n is None else n
        top, bottom = scipy_signal.firwin(half + 1, 1.0 / q, window="hamming"), np.ones(1)
        is_fir = True
    elif ftype == "iir":
        sos = scipy_signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(real)
        is_fir = False
    elif isinstance(ftype, scipy_signal.dlti):
        system = ftype.to_zpk()
        is_fir = system.poles.shape[0] == 0
        if is_fir:
            transfer = ftype.to_tf()
            top, bottom = transfer.num, transfer.den
        else:
            sos = scipy_signal.zpk2sos(system.zeros, system.poles, system.gain).astype(real)
    else:
        raise ValueError("invalid ftype")
    key = [slice(None)] * signal.ndim
    if is_fir:
        taps = (top / bottom).astype(real)
        if zero_phase:
            return resample_poly(signal, 1, q, axis=number, window=taps)
        count = -(-signal.shape[number] // q)
        result = upfirdn(taps, signal, 1, q, number)
        key[number] = slice(0, count)
        return result[tuple(key)]
    result = sosfiltfilt(sos, signal, number) if zero_phase else sosfilt(sos, signal, number)
    key[number] = slice(None, None, q)
    return result[tuple(key)]


__all__ = ["decimate", "resample", "resample_poly", "upfirdn"]
