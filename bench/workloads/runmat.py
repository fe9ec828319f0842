"""The three workloads that RunMat publishes, in single precision, with their results read."""

from typing import Any

import numpy as np

from bench.peers import AbsentError
from bench.workloads.base import Workload, uniform

FOUR_PI = float(np.float32(4 * np.pi))


def elementwise(xp: Any, size: int) -> Any:
    """Sum a chain of elementwise functions of a line."""
    return xp.sum(_chain(xp, size))


def elementwise_written(xp: Any, size: int) -> Any:
    """Write the chain of :func:`elementwise` instead of summing it."""
    return _chain(xp, size)


def _chain(xp: Any, size: int) -> Any:
    return written(xp, xp.linspace(0, FOUR_PI, size, dtype=xp.float32))


def written(xp: Any, x: Any) -> Any:
    """Return the chain of elementwise functions of given numbers."""
    y0 = xp.sin(x) * xp.exp(-x / 10)
    y1 = y0 * xp.cos(x / 4) + 0.25 * y0**2
    return xp.tanh(y1) + 0.1 * y1


STEPS = 256


def monte_carlo(xp: Any, paths: int) -> Any:
    """Price a call option over many paths, as a plain Python loop over the steps."""
    if not hasattr(xp, "random"):
        raise AbsentError("has no random numbers")
    mu, sigma, dt, strike = 0.05, 0.2, 1 / 252, 100.0
    drift, scale = (mu - sigma**2 / 2) * dt, sigma * dt**0.5
    price = xp.full((paths,), 100.0, dtype=xp.float32)
    for _ in range(STEPS):
        price = price * xp.exp(drift + scale * xp.random.standard_normal(paths, dtype=xp.float32))
    return xp.mean(xp.maximum(price - strike, 0.0)) * float(np.exp(-mu * STEPS * dt))


HEIGHT, WIDTH = 2160, 3840


def image(xp: Any, images: int, pictures: Any) -> Any:
    """Normalise each picture, apply gain, bias and gamma, and return the mean squared change."""
    mean = xp.mean(pictures, axis=(1, 2), keepdims=True)
    sigma = xp.sqrt(xp.mean((pictures - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    out = xp.maximum((pictures - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return xp.mean((out - pictures) ** 2)


WORKLOADS = [
    Workload(
        name="runmat-elementwise",
        size=100_000_000,
        inputs=lambda n: [],
        run=elementwise,
        nbytes=lambda n: 4,
        read=True,
        tolerance=1e-3,
    ),
    Workload(
        name="runmat-elementwise-written",
        size=100_000_000,
        inputs=lambda n: [],
        run=elementwise_written,
        nbytes=lambda n: 4 * n,
        tolerance=1e-4,
    ),
    Workload(
        name="runmat-monte-carlo",
        size=1_000_000,
        inputs=lambda n: [],
        run=monte_carlo,
        nbytes=lambda n: 4,
        read=True,
        tolerance=0.05,  # two samples
    ),
    Workload(
        name="runmat-4k-image",
        size=16,
        inputs=lambda n: [uniform(n, HEIGHT, WIDTH, low=0.0, high=1.0)],
        run=image,
        nbytes=lambda n: 3 * 4 * n * HEIGHT * WIDTH,
        read=True,
        tolerance=1e-3,
    ),
]
