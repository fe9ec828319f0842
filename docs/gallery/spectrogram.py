"""A spectrogram of a chirp and two beating tones, by Fourier transforms of overlapping windows.

The windows are a view of the signal. Scaling, transform and decibels are recorded as one expression.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp

RATE = 8000


def chirp(seconds: float) -> xp.GpuArray:
    """Return a tone that rises from 200 Hz by 1500 Hz per second, with two constant tones and noise."""
    t = xp.arange(int(seconds * RATE), dtype=xp.float32) / RATE
    tones = xp.sin(2 * np.pi * (200 * t + 750 * t * t))
    tones += 0.3 * (xp.sin(2 * np.pi * 3000 * t) + xp.sin(2 * np.pi * 3040 * t))
    return tones + 0.05 * xp.random.default_rng(0).standard_normal(t.shape, dtype=xp.float32)


def spectrogram(signal: xp.GpuArray, length: int = 256, hop: int = 64) -> xp.GpuArray:
    """Return the level of each frequency and time in decibels, of shape (length // 2 + 1, windows)."""
    windows = xp.lib.stride_tricks.sliding_window_view(signal, length)[::hop]
    hann = 0.5 - 0.5 * xp.cos(xp.arange(length, dtype=xp.float32) * (2 * np.pi / length))
    power = xp.abs(xp.fft.rfft(windows * hann)) ** 2
    return 10 * xp.log10(power.T + 1e-6)


def main(path: str | Path = "spectrogram.webp", seconds: float = 2.0) -> np.ndarray:
    """Draw the spectrogram of a chirp, and return it."""
    decibels = np.asarray(spectrogram(chirp(seconds)))
    figure, axis = plt.subplots(figsize=(6.4, 3))
    shown = axis.imshow(
        decibels, origin="lower", aspect="auto", cmap="magma", vmin=-20, extent=(0, seconds, 0, RATE / 2)
    )
    axis.set(xlabel="seconds", ylabel="Hz")
    figure.colorbar(shown, label="dB")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return decibels


if __name__ == "__main__":
    main()
