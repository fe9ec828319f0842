"""Moving elements about: transposes, pieces put together, and elements taken, left out and put at positions."""

from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform

COLUMNS = 8192


def transposed(xp: Any, size: int, x: Any) -> Any:
    """Add something too, so that every library has to write the result."""
    return x.T + 1


def permuted(xp: Any, size: int, x: Any) -> Any:
    """Put the first axis of three last, and the last first."""
    return xp.swapaxes(x, 0, 2) + 1


def joined(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Put rows side by side."""
    return xp.concatenate([x, y], axis=1)


def taken(xp: Any, size: int, x: Any, positions: Any) -> Any:
    """Read elements at random positions."""
    return x[positions]


def masked(xp: Any, size: int, x: Any, mask: Any) -> Any:
    """Keep the elements at which a mask holds: about half of them."""
    return x[mask]


def scattered(xp: Any, size: int, x: Any, positions: Any) -> Any:
    """Write all elements at positions, each of which occurs once."""
    result = xp.zeros(size, dtype=x.dtype)
    result[positions] = x
    return result


def _positions(size: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(size)


WORKLOADS = [
    Workload(
        name="transpose",
        size=8192,
        inputs=lambda n: [uniform(n, COLUMNS)],
        run=transposed,
        nbytes=lambda n: 8 * n * COLUMNS,
    ),
    Workload(
        name="permute",
        size=1024,
        inputs=lambda n: [uniform(256, n, 256)],
        run=permuted,
        nbytes=lambda n: 8 * n * 256 * 256,
    ),
    Workload(
        name="concatenate",
        size=8192,
        inputs=lambda n: [uniform(n, COLUMNS), uniform(n, COLUMNS)],
        run=joined,
        nbytes=lambda n: 16 * n * COLUMNS,
    ),
    Workload(
        name="take",
        size=1 << 26,
        inputs=lambda n: [uniform(n), _positions(n)],
        run=taken,
        nbytes=lambda n: 16 * n,
    ),
    Workload(
        name="mask",
        size=1 << 26,
        inputs=lambda n: [uniform(n), uniform(n) < 0],
        run=masked,
        nbytes=lambda n: 7 * n,
    ),
    Workload(
        name="scatter",
        size=1 << 26,
        inputs=lambda n: [uniform(n), _positions(n)],
        run=scattered,
        nbytes=lambda n: 16 * n,
    ),
]
