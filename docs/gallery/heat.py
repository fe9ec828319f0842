"""The heat equation on a plate with fixed edges, updated in place through views.

`plate[1:-1, 1:-1] += ...` reads neighbours through slices and writes to the plate, as in NumPy. Several steps are
recorded before anything runs.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp


def step(plate: xp.GpuArray, rate: float) -> None:
    """Update the plate by one step, which is stable for rates up to 1/4. The edges keep their temperature."""
    inner = plate[1:-1, 1:-1]
    inner += rate * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * inner)


def wave(size: int) -> xp.GpuArray:
    """Return half a wave in both directions: a shape that decays at a known rate and is otherwise unchanged."""
    along = xp.sin(xp.linspace(0, xp.pi, size, dtype=xp.float32))
    return along[:, None] * along[None, :]


def decay(size: int, rate: float) -> float:
    """Return the factor by which each step changes the result of `wave`."""
    return 1 - 8 * rate * np.sin(np.pi / (2 * (size - 1))) ** 2


def hot_spots(size: int) -> xp.GpuArray:
    """Return a cold plate with a hot edge, a hot disc and a hot bar."""
    y, x = xp.meshgrid(*(xp.linspace(0, 1, size, dtype=xp.float32),) * 2, indexing="ij")
    plate = xp.where((x - 0.3) ** 2 + (y - 0.62) ** 2 < 0.02, 1.0, 0.0).astype(xp.float32)
    plate[size // 5 : size // 4, size // 2 : -size // 8] = 1
    plate[0, :] = 1
    return plate


def main(path: str | Path = "heat.webp", size: int = 256, steps: tuple[int, ...] = (0, 100, 900)) -> list[np.ndarray]:
    """Simulate a plate, draw it at regular intervals, and return the drawn states."""
    plate = hot_spots(size)
    shown = []
    for count in steps:
        for _ in range(count):
            step(plate, 0.24)
        shown.append(np.asarray(plate).copy())
    figure, axes = plt.subplots(1, len(steps), figsize=(3 * len(steps), 3.2), squeeze=False)
    for axis, picture, count in zip(axes[0], shown, np.cumsum(steps), strict=True):
        axis.imshow(picture, cmap="inferno", vmin=0, vmax=1)
        axis.set_title(f"{count} steps")
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return shown


if __name__ == "__main__":
    main()
