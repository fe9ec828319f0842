"""A hundred steps in a plain Python loop: gravitating bodies, and heat with a fixed edge."""

from typing import Any

import numpy as np

from bench.workloads.base import Inputs, Workload, uniform
from bench.workloads.elementwise import heat
from bench.workloads.products import SOFTENING, STRENGTH, TIME, moved

STEPS = 100
WIDTH = 4096
_BLOCK = 256


def bodies(xp: Any, size: int, places: Any, speeds: Any) -> tuple[Any, ...]:
    """Compute a step of bodies of equal mass."""
    return moved(xp, places, speeds)


def plane(xp: Any, size: int, u: Any) -> tuple[Any, ...]:
    """Compute a step of heat within the edge."""
    inner = heat(xp, size, u)
    if hasattr(xp, "with_inner"):
        return (xp.with_inner(u, inner),)
    u[1:-1, 1:-1] = inner
    return (u,)


def _all_bodies(size: int, inputs: Inputs) -> np.ndarray:
    """Return the positions of bodies, with distances and forces by matrix products, in blocks of bodies."""
    places, speeds = (array.astype(np.float64) for array in inputs)
    for _ in range(STEPS):
        squares = np.sum(places**2, axis=1)
        every = np.concatenate([places, np.ones((size, 1))], axis=1).astype(np.float32)
        forces = np.empty_like(places)
        for start in range(0, size, _BLOCK):
            some = slice(start, start + _BLOCK)
            apart = squares[some, None] + squares - 2 * (places[some] @ places.T) + SOFTENING
            near = apart.astype(np.float32)
            near *= np.sqrt(near)
            sums = np.reciprocal(near, out=near) @ every
            forces[some] = sums[:, :3] - places[some] * sums[:, 3:]
        speeds += STRENGTH * forces
        places += TIME * speeds
    return places


def _some_rows(size: int, inputs: Inputs) -> np.ndarray:
    """Return every 1024th row, each from as many rows around it as there are steps."""
    (u,) = inputs
    rows = []
    for row in range(0, size, min(size, 1024)):
        first = max(0, row - STEPS)
        some = u[first : row + STEPS + 1].copy()
        for _ in range(STEPS):
            some[1:-1, 1:-1] = heat(np, 0, some)
        rows.append(some[row - first])
    return np.stack(rows)


WORKLOADS = [
    Workload(
        name="n-body-100",
        size=4096,
        inputs=lambda n: [uniform(n, 3), uniform(n, 3, low=-0.1, high=0.1)],
        run=bodies,
        steps=STEPS,
        nbytes=lambda n: 48 * n,
        reference=_all_bodies,
        tolerance=1e-3,
    ),
    Workload(
        name="heat-100",
        size=4096,
        inputs=lambda n: [uniform(n, WIDTH)],
        run=plane,
        steps=STEPS,
        nbytes=lambda n: STEPS * 8 * n * WIDTH,
        reference=_some_rows,
    ),
]
