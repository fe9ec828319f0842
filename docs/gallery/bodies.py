"""A disc of stars around a heavy body, simulated by the leapfrog method.

The forces are a sum over all pairs of bodies. The array of all pairs is never stored, because the sum is fused with the
operations that compute its elements.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp

SOFTENING = 0.05


def acceleration(places: xp.GpuArray, masses: xp.GpuArray) -> xp.GpuArray:
    """Return the acceleration of each body, of shape (n, 3), by all others."""
    apart = places[None, :, :] - places[:, None, :]
    squared = xp.sum(apart * apart, axis=2) + SOFTENING**2
    pull = masses[None, :] / (squared * xp.sqrt(squared))
    return xp.sum(pull[:, :, None] * apart, axis=1)


def energy(places: xp.GpuArray, speeds: xp.GpuArray, masses: xp.GpuArray) -> float:
    """Return the total energy, kinetic plus potential, which is conserved."""
    kinetic = xp.sum(masses[:, None] * speeds * speeds) / 2
    apart = places[None, :, :] - places[:, None, :]
    distance = xp.sqrt(xp.sum(apart * apart, axis=2) + SOFTENING**2)
    pairs = masses[None, :] * masses[:, None] / distance
    own = xp.sum(masses * masses) / SOFTENING  # each body with itself
    return float(kinetic - (xp.sum(pairs) - own) / 2)


def disc(count: int) -> tuple[xp.GpuArray, xp.GpuArray, xp.GpuArray]:
    """Return positions and velocities of shape (n, 3), and masses, of a rotating disc. Body 0 is the heavy one."""
    random = np.random.default_rng(4)
    radius, angle = np.sqrt(random.uniform(0.1, 1, count)), random.uniform(0, 2 * np.pi, count)
    masses = np.full(count, 0.2 / count)
    radius[0], masses[0] = 0, 1
    thin = 0.02 * random.standard_normal(count) * (radius > 0)
    places = np.stack([radius * np.cos(angle), radius * np.sin(angle), thin], axis=1)
    speed = np.sqrt((radius > 0) * radius**2 / (radius**2 + SOFTENING**2) ** 1.5)
    speeds = np.stack([-speed * np.sin(angle), speed * np.cos(angle), 0 * angle], axis=1)
    return tuple(xp.asarray(values.astype(np.float32)) for values in (places, speeds, masses))


def main(
    path: str | Path = "bodies.webp", count: int = 600, steps: int = 240, step: float = 0.01
) -> tuple[float, float]:
    """Simulate the bodies, draw them before and after, and return the energy before and after."""
    places, speeds, masses = disc(count)
    before, first = energy(places, speeds, masses), np.asarray(places)
    force = acceleration(places, masses)
    for _ in range(steps):
        speeds = speeds + step / 2 * force
        places = places + step * speeds
        force = acceleration(places, masses)
        speeds = speeds + step / 2 * force
        xp.evaluate(places, speeds, force)
    after, last = energy(places, speeds, masses), np.asarray(places)
    print(f"energy {before:.5f} before and {after:.5f} after")
    figure, axes = plt.subplots(1, 2, figsize=(8, 4))
    for axis, bodies, title in zip(axes, (first, last), ("at first", f"after {steps} steps"), strict=True):
        far = np.hypot(first[:, 0], first[:, 1])
        axis.scatter(bodies[:, 0], bodies[:, 1], c=far, s=3, cmap="viridis")
        axis.set(title=title, xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), xticks=(), yticks=(), aspect="equal")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return before, after


if __name__ == "__main__":
    main()
