"""Matrix products, what is folded over all pairs, and a simulation of bodies that all attract each other."""

from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform

BATCH, SIDE = 64, 256
DEPTH = 1024
FEATURES = 64
STEPS = 10
SOFTENING = 0.01


def matmul(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Multiply once, or a batch."""
    return x @ y


def layer(xp: Any, size: int, x: Any, weights: Any, bias: Any) -> Any:
    """Multiply, add a bias, and keep what is positive."""
    return xp.maximum(x @ weights + bias, 0)


def distances(xp: Any, size: int, x: Any) -> Any:
    """Take all distances between points, as they are written down."""
    return xp.sqrt(xp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))


def bodies(xp: Any, size: int, places: Any, speeds: Any) -> Any:
    """Move bodies of one mass some steps on."""
    for _ in range(STEPS):
        apart = places[None, :, :] - places[:, None, :]
        cubes = (xp.sum(apart**2, axis=-1) + SOFTENING) ** -1.5
        speeds = speeds + 1e-5 * xp.sum(apart * cubes[:, :, None], axis=1)
        places = places + 1e-2 * speeds
    return places


def _square(name: str, size: int, dtype: Any = np.float32, *, scaled: bool = True) -> Workload:
    return Workload(
        name=name,
        size=size,
        inputs=lambda n: [uniform(n, n, dtype=dtype), uniform(n, n, dtype=dtype)],
        run=matmul,
        nbytes=lambda n: 3 * n * n * np.dtype(dtype).itemsize,
        scaled=scaled,
    )


WORKLOADS = [
    _square("matmul-512", 512, scaled=False),
    _square("matmul-1024", 1024, scaled=False),
    _square("matmul-4096", 4096),
    _square("matmul-f64", 2048, np.float64),
    Workload(
        name="matmul-batch",
        size=BATCH,
        inputs=lambda n: [uniform(n, SIDE, SIDE), uniform(n, SIDE, SIDE)],
        run=matmul,
        nbytes=lambda n: 12 * n * SIDE * SIDE,
    ),
    Workload(
        name="matmul-vector",
        size=16384,
        inputs=lambda n: [uniform(n, 8192), uniform(8192)],
        run=matmul,
        nbytes=lambda n: 4 * n * 8192,
    ),
    Workload(
        name="vector-matmul",
        size=16384,
        inputs=lambda n: [uniform(8192), uniform(8192, n)],
        run=matmul,
        nbytes=lambda n: 4 * n * 8192,
    ),
    Workload(
        name="matmul-relu",
        size=4096,
        inputs=lambda n: [uniform(n, DEPTH), uniform(DEPTH, n), uniform(n)],
        run=layer,
        nbytes=lambda n: 8 * n * DEPTH + 4 * n * n,
    ),
    Workload(
        name="distances",
        size=4096,
        inputs=lambda n: [uniform(n, FEATURES)],
        run=distances,
        nbytes=lambda n: 4 * n * n,
    ),
    Workload(
        name="n-body",
        size=4096,
        inputs=lambda n: [uniform(n, 3), uniform(n, 3, low=-0.1, high=0.1)],
        run=bodies,
        nbytes=lambda n: STEPS * 48 * n,
        tolerance=1e-4,
    ),
]
