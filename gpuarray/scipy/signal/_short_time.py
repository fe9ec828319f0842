"""The class of short-time Fourier transforms."""

from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import fourier, frequencies
from gpuarray.functions.arguments import as_array
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy.signal._extension import PADS
from gpuarray.scipy.signal._segments import overlapped, segments
from gpuarray.scipy.signal._trends import detrend

__all__ = ["ShortTimeFFT"]

_PADS: Final = {"edge" if kind == "constant" else kind: pad for kind, pad in PADS.items()}


class ShortTimeFFT(scipy_signal.ShortTimeFFT):  # type: ignore[misc]  # SciPy has no types
    """Short-time Fourier transforms and their inverses, as :class:`scipy.signal.ShortTimeFFT`.

    The window and what follows from it are on the host, and transforms of signals are computed on their device.
    """

    def stft_detrend(
        self, x: Any, detr: Any, p0: int | None = None, p1: int | None = None, *, k_offset: int = 0,
        padding: str = "zeros", axis: int = -1,
    ) -> GpuArray:  # fmt: skip
        """Return the transform of signals, with a trend removed from each segment."""
        signal = as_array(x)
        if self.onesided_fft and signal.dtype.kind == "c":
            raise ValueError(
                f"Complex-valued `x` not allowed for self.fft_mode={self.fft_mode!r}'! Set property `fft_mode` to "
                "'twosided' or 'centered'."
            )
        if not (detr is None or isinstance(detr, str) or callable(detr)):
            raise ValueError(f"Parameter detr={detr!r} is not a str, function or None!")
        if padding not in _PADS:
            raise ValueError(f"Parameter padding={padding!r} not in {tuple(_PADS)}!")
        number = normalize_axis(axis, signal.ndim)
        count, least = signal.shape[number], self.m_num - self.m_num_mid
        if count < least:
            raise ValueError(f"the signal has {count} samples and must have >= ceil(m_num/2) = {least}!")
        line = xp.moveaxis(signal, number, -1)
        first, last = self.p_range(count, p0, p1)
        begin = first * self.hop - self.m_num_mid + k_offset
        end = begin + (last - first - 1) * self.hop + self.m_num
        line = line[..., max(begin, 0) : min(max(end, 0), count)]
        widths = [(0, 0)] * (line.ndim - 1) + [(max(-begin, 0), max(end - count, 0))]
        parts = segments(xp.pad(line, widths, **_PADS[padding]), self.m_num, self.hop)
        if callable(detr):
            parts = as_array(detr(parts), signal.device)
        elif detr is not None:
            parts = detrend(parts, type=detr)
        result = self._fft_func(parts * as_array(self.win.conj(), signal.device))
        return xp.moveaxis(result, -1, number)

    def istft(
        self,
        S: Any,  # noqa: N803
        k0: int = 0,
        k1: int | None = None,
        *,
        f_axis: int = -2,
        t_axis: int = -1,
    ) -> GpuArray:
        """Return the signals of transforms."""
        spectra = as_array(S)
        if f_axis == t_axis:
            raise ValueError(f"f_axis={f_axis!r} may not be equal to t_axis={t_axis!r}!")
        if spectra.shape[f_axis] != self.f_pts:
            raise ValueError(f"S.shape[f_axis]={spectra.shape[f_axis]} must be equal to self.f_pts={self.f_pts}!")
        least = self.m_num - self.m_num_mid
        if spectra.shape[t_axis] < self.p_num(least):
            raise ValueError(
                f"S.shape[t_axis]={spectra.shape[t_axis]} needs to have at least {self.p_num(least)} slices!"
            )
        frequency, time = (normalize_axis(a, spectra.ndim) for a in (f_axis, t_axis))
        moved = xp.moveaxis(spectra, (time, frequency), (-2, -1))
        stop = moved.shape[-2] + self.p_min
        most = (stop - 1) * self.hop + self.m_num - self.m_num_mid
        k1 = most if k1 is None else k1
        if not self.k_min <= k0 < k1 <= most:
            raise ValueError(f"(self.k_min={self.k_min}) <= (k0={k0}) < (k1={k1}) <= (k_max={most}) is false!")
        if k1 - k0 < least:
            raise ValueError(f"k1 - k0 = {k1 - k0} has to be at least the half the window length {least}!")
        parts = self._ifft_func(moved) * as_array(self.dual_win, spectra.device)
        whole = overlapped(parts, self.hop)
        start = k0 - (self.p_min * self.hop - self.m_num_mid)
        result = whole[..., start : start + k1 - k0]
        missing = k1 - k0 - result.shape[-1]
        if missing > 0:
            result = xp.pad(result, [(0, 0)] * (result.ndim - 1) + [(0, missing)])
        return xp.moveaxis(result, -1, frequency if frequency < result.ndim else time) if result.ndim > 1 else result

    def _fft_func(self, x: GpuArray) -> GpuArray:
        shift = self._shift()
        if shift is not None:
            missing = self.mfft - x.shape[-1]
            if missing > 0:
                x = xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)])
            x = xp.roll(x, -shift, axis=-1)
        if self.fft_mode == "twosided":
            return fourier.fft(x, self.mfft)
        if self.fft_mode == "centered":
            return frequencies.fftshift(fourier.fft(x, self.mfft), axes=-1)
        result = fourier.rfft(x, self.mfft)
        return result if self.fft_mode == "onesided" else result * self._double(result)

    def _ifft_func(self, X: GpuArray) -> GpuArray:  # noqa: N803
        if self.fft_mode == "twosided":
            result = fourier.ifft(X, self.mfft)
        elif self.fft_mode == "centered":
            result = fourier.ifft(frequencies.ifftshift(X, axes=-1), self.mfft)
        else:
            result = fourier.irfft(X if self.fft_mode == "onesided" else X / self._double(X), self.mfft)
        shift = self._shift()
        return (result if shift is None else xp.roll(result, shift, axis=-1))[..., : self.m_num]

    def _shift(self) -> int | None:
        return None if self.phase_shift is None else int((self.phase_shift + self.m_num_mid) % self.m_num)

    def _double(self, like: GpuArray) -> GpuArray:
        """Return the factors of frequencies that stand for both signs."""
        factors = np.full(self.f_pts, np.sqrt(2) if self.scaling == "psd" else 2.0)
        factors[0] = 1
        if self.mfft % 2 == 0:
            factors[-1] = 1
        return as_array(factors.astype(like.real.dtype), like.device)
