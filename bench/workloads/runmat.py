"""The three workloads that RunMat publishes, in single precision, with their results read."""

from typing import Any

import numpy as np

from bench.peers import NUMPY, AbsentError
from bench.workloads.base import COMPILED, Inputs, Workload, uniform

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
    """Price a call option over many paths, as a plain Python loop over the steps, or as a library must have loops."""
    if not hasattr(xp, "random"):
        raise AbsentError("has no random numbers")
    mu, sigma, dt, strike = 0.05, 0.2, 1 / 252, 100.0
    drift, scale = (mu - sigma**2 / 2) * dt, sigma * dt**0.5

    def step(price: Any) -> Any:
        return price * xp.exp(drift + scale * xp.random.standard_normal(paths, dtype=xp.float32))

    price = xp.full((paths,), 100.0, dtype=xp.float32)
    if hasattr(xp, "repeated"):
        price = xp.repeated(STEPS, step, price)
    else:
        for _ in range(STEPS):
            price = step(price)
    return xp.mean(xp.maximum(price - strike, 0.0)) * float(np.exp(-mu * STEPS * dt))


HEIGHT, WIDTH = 2160, 3840


def image(xp: Any, images: int, pictures: Any) -> Any:
    """Normalise each picture, apply gain, bias and gamma, and return the mean squared change."""
    mean = xp.mean(pictures, axis=(1, 2), keepdims=True)
    sigma = xp.sqrt(xp.mean((pictures - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    out = xp.maximum((pictures - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return xp.mean((out - pictures) ** 2)


def _some_of_the_line(size: int, inputs: Inputs) -> np.ndarray:
    """Return every 64th of what :func:`elementwise_written` makes."""
    return np.asarray(written(NUMPY, np.linspace(0, FOUR_PI, size, dtype=np.float32)[::64]))


def _all_of_the_line(size: int, inputs: Inputs) -> float:
    """Return what :func:`elementwise` makes, from fewer points, whose mean is the same to within what is accepted."""
    points = min(size, 1 << 22)
    middles = (np.arange(points) + 0.5) * (FOUR_PI / points)
    return float(np.mean(written(NUMPY, middles))) * size


ELEMENTWISE = [
    Workload(
        name="runmat-elementwise",
        size=100_000_000,
        inputs=lambda n: [],
        run=elementwise,
        nbytes=lambda n: 4,
        reference=_all_of_the_line,
        read=True,
        tolerance=1e-3,
    ),
    Workload(
        name="runmat-elementwise-written",
        size=100_000_000,
        inputs=lambda n: [],
        run=elementwise_written,
        nbytes=lambda n: 4 * n,
        reference=_some_of_the_line,
        tolerance=1e-4,
    ),
]
RANDOM = [
    Workload(
        name="runmat-monte-carlo",
        size=1_000_000,
        inputs=lambda n: [],
        run=monte_carlo,
        nbytes=lambda n: 4,
        reference=lambda n, inputs: monte_carlo(NUMPY, min(n, 60_000)),
        read=True,
        tolerance=0.05,  # two samples
        without=COMPILED,  # which takes minutes to compile all steps
    ),
]
ROWS = [
    Workload(
        name="runmat-4k-image",
        size=16,
        inputs=lambda n: [uniform(n, HEIGHT, WIDTH, low=0.0, high=1.0)],
        run=image,
        nbytes=lambda n: 3 * 4 * n * HEIGHT * WIDTH,
        reference=lambda n, inputs: image(NUMPY, n, inputs[0][:4]),  # the others are as random
        read=True,
        tolerance=1e-3,
    ),
]
