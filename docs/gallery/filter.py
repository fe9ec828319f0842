"""A heartbeat that is read out of a noisy signal: filters, peaks, and the spectrum before and after.

The filters are recurrences, which run in parallel over blocks of the signal. They need SciPy, which designs them.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp
from gpuarray.scipy import signal

RATE = 500


def recording(seconds: float, per_minute: float = 72.0) -> xp.GpuArray:
    """Return beats, with the slow drift of breathing, the hum of the mains at 50 Hz, and noise."""
    t = xp.arange(int(seconds * RATE), dtype=xp.float32) / RATE
    phase = xp.remainder(t * (per_minute / 60), 1.0) - 0.5
    beats = xp.exp(-((phase / 0.025) ** 2)) - 0.25 * xp.exp(-(((phase - 0.05) / 0.03) ** 2))
    noise = 0.2 * xp.random.default_rng(0).standard_normal(t.shape, dtype=xp.float32)
    return beats + 0.8 * xp.sin(2 * np.pi * 0.25 * t) + 0.5 * xp.sin(2 * np.pi * 50 * t) + noise


def cleaned(line: xp.GpuArray) -> xp.GpuArray:
    """Return a signal without its drift, without the hum, and with less noise."""
    notch = signal.iirnotch(50, 20, RATE)
    band = signal.butter(3, [1, 30], "bandpass", fs=RATE, output="sos").astype(xp.float32)
    return signal.sosfiltfilt(band, signal.filtfilt(*(c.astype(xp.float32) for c in notch), line))


def main(path: str | Path = "filter.webp", seconds: float = 20.0) -> float:
    """Draw a signal before and after the filters, and return the number of beats in a minute."""
    before = recording(seconds)
    after = cleaned(before)
    peaks, _ = signal.find_peaks(after, height=0.5 * after.max().item(), distance=RATE // 3)
    figure, (top, bottom) = plt.subplots(2, figsize=(6.4, 4.2))
    times, shown = np.arange(before.size) / RATE, slice(0, 5 * RATE)
    top.plot(times[shown], np.asarray(before)[shown], color="0.75", linewidth=0.7, label="recorded")
    top.plot(times[shown], np.asarray(after)[shown], color="tab:red", linewidth=1, label="filtered")
    found = np.asarray(peaks)
    top.plot(*(line[found[found < 5 * RATE]] for line in (times, np.asarray(after))), "k.", label="beats")
    top.set(xlabel="seconds")
    top.legend(loc="upper right", ncols=3, fontsize=8)
    for line, colour in ((before, "0.75"), (after, "tab:red")):
        frequencies, power = signal.welch(line, RATE, nperseg=1024)
        bottom.semilogy(np.asarray(frequencies), np.asarray(power), color=colour, linewidth=1)
    bottom.set(xlabel="Hz", ylabel="power per Hz", xlim=(0, 80), ylim=(1e-8, 10))
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return 60 * RATE / float(np.diff(found).mean())


if __name__ == "__main__":
    main()
