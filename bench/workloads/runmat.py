"""The three workloads that RunMat publishes, in single precision, including the download of their results."""

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


def monte_carlo(xp: Any, paths: int, steps: int = STEPS) -> Any:
    """Price a call option over many paths, with a plain Python loop over the steps or the loop that a library needs."""
    if not hasattr(xp, "random"):
        raise AbsentError("has no random numbers")
    mu, sigma, dt, strike = 0.05, 0.2, 1 / 252, 100.0
    drift, scale = (mu - sigma**2 / 2) * dt, sigma * dt**0.5

    def step(price: Any) -> Any:
        return price * xp.exp(drift + scale * xp.random.standard_normal(paths, dtype=xp.float32))

    price = xp.full((paths,), 100.0, dtype=xp.float32)
    if hasattr(xp, "repeated"):
        price = xp.repeated(steps, step, price)
    else:
        for _ in range(steps):
            price = step(price)
    return xp.mean(xp.maximum(price - strike, 0.0)) * float(np.exp(-mu * steps * dt))


HEIGHT, WIDTH = 2160, 3840


def image(xp: Any, images: int, pictures: Any) -> Any:
    """Normalise each picture, apply gain, bias and gamma, and return the mean squared change."""
    mean = xp.mean(pictures, axis=(1, 2), keepdims=True)
    sigma = xp.sqrt(xp.mean((pictures - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    out = xp.maximum((pictures - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return xp.mean((out - pictures) ** 2)


def _pictures(images: int) -> np.ndarray:
    """Return random pictures, at most 16 of them different, because drawing them takes longer than the workload."""
    return np.resize(uniform(min(images, 16), HEIGHT, WIDTH, low=0.0, high=1.0), (images, HEIGHT, WIDTH))


def _some_of_the_line(size: int, inputs: Inputs) -> np.ndarray:
    """Return every 64th element of the result of :func:`elementwise_written`."""
    return np.asarray(written(NUMPY, np.linspace(0, FOUR_PI, size, dtype=np.float32)[::64]))


def _all_of_the_line(size: int, inputs: Inputs) -> float:
    """Return the result of :func:`elementwise` from fewer points, whose mean is the same within the tolerance."""
    points = min(size, 1 << 22)
    middles = (np.arange(points) + 0.5) * (FOUR_PI / points)
    return float(np.mean(written(NUMPY, middles))) * size


def _of_line(name: str, size: int, *, is_written: bool = False) -> Workload:
    return Workload(
        name=name,
        size=size,
        inputs=lambda n: [],
        run=elementwise_written if is_written else elementwise,
        nbytes=lambda n: 4 * n if is_written else 4,
        reference=_some_of_the_line if is_written else _all_of_the_line,
        read=not is_written,
        tolerance=1e-4 if is_written else 1e-3,
    )


def _monte_carlo(name: str, paths: int, steps: int | None = None) -> Workload:
    def run(xp: Any, paths: int) -> Any:
        return monte_carlo(xp, paths, steps or STEPS)

    return Workload(
        name=name,
        size=paths,
        inputs=lambda n: [],
        run=run,
        nbytes=lambda n: 4,
        reference=lambda n, inputs: run(NUMPY, min(n, 60_000)),
        read=True,
        tolerance=0.05,  # two samples
        without=COMPILED,  # which takes minutes to compile all steps
    )


def _images(name: str, images: int) -> Workload:
    return Workload(
        name=name,
        size=images,
        inputs=lambda n: [_pictures(n)],
        run=image,
        nbytes=lambda n: 3 * 4 * n * HEIGHT * WIDTH,
        reference=lambda n, inputs: image(NUMPY, n, inputs[0][:4]),  # the others are as random
        read=True,
        tolerance=1e-3,
    )


ELEMENTWISE = [
    _of_line("runmat-elementwise-1e6", 1_000_000),
    _of_line("runmat-elementwise", 100_000_000),
    _of_line("runmat-elementwise-1e9", 1_000_000_000),
    _of_line("runmat-elementwise-written", 100_000_000, is_written=True),
]
RANDOM = [
    _monte_carlo("runmat-monte-carlo-250k", 250_000),
    _monte_carlo("runmat-monte-carlo", 1_000_000),
    _monte_carlo("runmat-monte-carlo-5m", 5_000_000),
    _monte_carlo("runmat-monte-carlo-1024", 1_000_000, 1024),
]
ROWS = [_images("runmat-4k-image-4", 4), _images("runmat-4k-image", 16), _images("runmat-4k-image-64", 64)]
