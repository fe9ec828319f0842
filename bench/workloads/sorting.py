"""Sorts and argsorts."""

from typing import Any

import numpy as np

from bench.workloads.base import COMPILED, Inputs, Workload, thinned, uniform

SIZE = 1 << 26


def ordered(xp: Any, size: int, x: Any) -> Any:
    """Sort."""
    return xp.sort(x)


def order(xp: Any, size: int, x: Any) -> Any:
    """Compute the indices that sort the elements."""
    return xp.argsort(x)


def in_order(positions: np.ndarray, inputs: Inputs) -> np.ndarray:
    """Return the elements at the indices, because equal elements may be in any order."""
    return inputs[0][positions.astype(np.int64)]


def integers(size: int) -> Inputs:
    """Return large integers."""
    return [np.random.default_rng(0).integers(-(1 << 62), 1 << 62, size)]


WORKLOADS = [
    Workload(
        name="sort",
        size=SIZE,
        inputs=lambda n: [uniform(n)],
        run=ordered,
        nbytes=lambda n: 8 * n,
        reference=thinned(ordered),
        without=COMPILED,
    ),
    Workload(
        name="sort-int64",
        size=SIZE,
        inputs=integers,
        run=ordered,
        nbytes=lambda n: 16 * n,
        reference=thinned(ordered),
        without=COMPILED,
    ),
    Workload(
        name="argsort",
        size=SIZE,
        inputs=lambda n: [uniform(n)],
        run=order,
        nbytes=lambda n: 12 * n,
        reference=thinned(ordered),
        seen=in_order,
        without=COMPILED,
    ),
]
