"""Matrix products, all-pairs reductions, and a simulation of gravitating bodies."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from bench.peers import NUMPY
from bench.workloads.base import COMPILERS, Inputs, Workload, complex_uniform, parts, uniform

BATCH, SIDE = 64, 256
DEPTH = 1024
FEATURES = 64
SOFTENING = 0.01
STRENGTH, TIME = 1e-5, 1e-2


def matmul(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Multiply once, or a batch."""
    return x @ y


def layer(xp: Any, size: int, x: Any, weights: Any, bias: Any) -> Any:
    """Multiply, add a bias, and apply a rectifier."""
    return xp.maximum(x @ weights + bias, 0)


def distances(xp: Any, size: int, x: Any) -> Any:
    """Take all distances between points, as they are written down."""
    return xp.sqrt(xp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))


def bodies(xp: Any, size: int, places: Any, speeds: Any) -> Any:
    """Return where bodies of one mass are a step later."""
    return moved(xp, places, speeds)[0]


def moved(xp: Any, places: Any, speeds: Any) -> tuple[Any, Any]:
    """Return places and speeds a step later."""
    apart = places[None, :, :] - places[:, None, :]
    cubes = (xp.sum(apart**2, axis=-1) + SOFTENING) ** -1.5
    speeds = speeds + STRENGTH * xp.sum(apart * cubes[:, :, None], axis=1)
    return places + TIME * speeds, speeds


def _some_bodies(size: int, inputs: Inputs) -> np.ndarray:
    """Return where every 16th body goes."""
    places, speeds = inputs
    apart = places[None, :, :] - places[::16, None, :]
    cubes = (np.sum(apart**2, axis=-1) + np.float32(SOFTENING)) ** -1.5
    speed = speeds[::16] + STRENGTH * np.sum(apart * cubes[:, :, None], axis=1)
    return places[::16] + TIME * speed


def _some_distances(size: int, inputs: Inputs) -> np.ndarray:
    """Return the distances from every 16th point."""
    (x,) = inputs
    return np.asarray(NUMPY.sqrt(np.sum((x[::16, None, :] - x[None, :, :]) ** 2, axis=-1)))


def _product(
    name: str,
    size: int,
    shapes: Callable[[int], tuple[tuple[int, ...], tuple[int, ...]]],
    make: Callable[..., np.ndarray] = uniform,
    *,
    flops: bool = True,
    tolerance: float = 1e-5,
    scaled: bool = True,
) -> Workload:
    """Return the workload of one product; ``flops`` says that arithmetic limits it, not memory."""
    width = make(1).itemsize

    def operations(n: int) -> float:
        x, y = shapes(n)
        return (8 if width == 8 and make is complex_uniform else 2) * float(prod(x)) * (y[-1] if len(y) > 1 else 1)

    def nbytes(n: int) -> int:
        x, y = shapes(n)
        columns = y[-1:] if len(y) > 1 else ()
        return width * (prod(x) + prod(y) + prod((*x[:-1], *columns)))

    return Workload(
        name=name,
        size=size,
        inputs=lambda n: [make(*shape, seed=seed) for seed, shape in enumerate(shapes(n))],
        run=matmul,
        nbytes=nbytes,
        flops=operations if flops else None,
        limit=("matmul-float64" if make is _doubles else "matmul-4096") if flops else "copy",
        reference={1: None, 2: parts(matmul, 0), 3: parts(matmul, 0, 1)}[len(shapes(2)[0])],
        tolerance=tolerance,
        scaled=scaled,
        without=COMPILERS,
    )


def _doubles(*shape: int, seed: int = 0) -> np.ndarray:
    return uniform(*shape, dtype=np.float64, seed=seed)


def _square(n: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (n, n), (n, n)


TALL = 1 << 20

PRODUCTS = [
    _product("matmul-4096", 4096, _square),
    _product("matmul-4000", 4000, _square),
    _product("matmul-2048", 2048, _square),
    _product("matmul-1024", 1024, _square, scaled=False),
    _product("matmul-512", 512, _square, scaled=False),
    _product("matmul-float64", 2048, _square, _doubles, tolerance=1e-12),
    _product("matmul-complex64", 2048, _square, complex_uniform),
    _product("matmul-batch", BATCH, lambda n: ((n, SIDE, SIDE), (n, SIDE, SIDE))),
    _product("matmul-vector", 16384, lambda n: ((n, 8192), (8192,)), flops=False),
    _product("vector-matmul", 16384, lambda n: ((8192,), (8192, n)), flops=False),
    _product("matmul-tall", TALL, lambda n: ((n, 64), (64, 8)), flops=False),
    _product("matmul-long", TALL, lambda n: ((64, n), (n, 64)), flops=False, tolerance=1e-4),
    Workload(
        name="matmul-relu",
        size=4096,
        inputs=lambda n: [uniform(n, DEPTH), uniform(DEPTH, n), uniform(n)],
        run=layer,
        nbytes=lambda n: 8 * n * DEPTH + 4 * n * n,
        flops=lambda n: 2.0 * n * n * DEPTH,
        limit="matmul-4096",
        reference=parts(layer, 0),
        without=("jax",),  # which tries kernels for seconds
    ),
]
PAIRS = [
    Workload(
        name="distances",
        size=4096,
        inputs=lambda n: [uniform(n, FEATURES)],
        run=distances,
        nbytes=lambda n: 4 * n * n,
        reference=_some_distances,
    ),
    Workload(
        name="n-body",
        size=4096,
        inputs=lambda n: [uniform(n, 3), uniform(n, 3, low=-0.1, high=0.1)],
        run=bodies,
        nbytes=lambda n: 48 * n,
        reference=_some_bodies,
        tolerance=1e-4,
    ),
]
