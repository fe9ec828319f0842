"""Where the heat came from: the first state of a plate, found from a later one by steps against the gradient.

`grad` differentiates the solver as it is: a loop that writes to slices of the plate. Several rates of diffusion are
solved at once, with `vmap`.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp


def spread(plate: xp.GpuArray, rate: float | xp.GpuArray, steps: int) -> xp.GpuArray:
    """Return the state of a plate after some steps. The edges keep their temperature."""
    plate = plate.copy()
    inner = plate[1:-1, 1:-1]
    for _ in range(steps):
        inner += rate * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * inner)
    return plate


def spots(size: int) -> xp.GpuArray:
    """Return a cold plate with two hot spots and a bar."""
    y, x = xp.meshgrid(*(xp.linspace(0, 1, size, dtype=xp.float32),) * 2, indexing="ij")
    plate = xp.where((x - 0.3) ** 2 + (y - 0.65) ** 2 < 0.012, 1.0, 0.0).astype(xp.float32)
    plate[(x - 0.7) ** 2 + (y - 0.7) ** 2 < 0.005] = 0.8
    plate[size // 4 : size // 3, size // 5 : -size // 5] = 0.6
    return plate


def main(
    path: str | Path = "sources.webp", size: int = 48, steps: int = 20, turns: int = 120
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Draw a plate, its later states, and what is found from them; return the first, the last, and the misfits."""
    truth = spots(size)
    rates = xp.asarray([0.05, 0.2], dtype=xp.float32)
    later = xp.vmap(spread, in_axes=(None, 0, None))(truth, rates, steps)

    def misfit(plate: xp.GpuArray) -> xp.GpuArray:
        found = xp.vmap(lambda rate: spread(plate, rate, steps))(rates)
        return ((found - later) ** 2).sum()

    descend = xp.jit(xp.value_and_grad(misfit))
    guess, speed, misfits = xp.zeros_like(truth), xp.zeros_like(truth), []
    for _ in range(turns):
        value, slope = descend(guess)
        speed = 0.9 * speed - 0.2 * slope
        guess = guess + speed
        misfits.append(float(value))
    figure, axes = plt.subplots(1, 4, figsize=(10, 2.9))
    pictures = [truth, later[0], later[1], guess]
    titles = ["at first", "later, at rate 0.05", "later, at rate 0.2", "found from these"]
    for axis, picture, title in zip(axes, pictures, titles, strict=True):
        axis.imshow(np.asarray(picture), cmap="inferno", vmin=0, vmax=1)
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return np.asarray(truth), np.asarray(guess), misfits


if __name__ == "__main__":
    main()
