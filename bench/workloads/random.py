"""Random numbers, which are compared by their distribution."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.peers import NUMPY
from bench.workloads.base import COMPILED, Inputs, Workload

SAMPLE = 1 << 20


def normal(xp: Any, size: int) -> Any:
    """Draw normal numbers."""
    return xp.random.standard_normal(size, dtype=xp.float32)


def uniform(xp: Any, size: int) -> Any:
    """Draw numbers between 0 and 1."""
    return xp.random.random(size, dtype=xp.float32)


def _in_order(numbers: np.ndarray, inputs: Inputs) -> np.ndarray:
    """Return the sorted numbers without the outermost ones, whose values vary most."""
    return np.clip(np.sort(numbers), -2, 2)


def _drawn(name: str, run: Callable[..., Any]) -> Workload:
    return Workload(
        name=name,
        size=1 << 26,
        inputs=lambda n: [],
        run=run,
        nbytes=lambda n: 4 * n,
        reference=lambda n, inputs: _in_order(run(NUMPY, -(-n // max(n // SAMPLE, 1))), inputs),
        seen=_in_order,
        tolerance=0.02,
        without=COMPILED,
    )


WORKLOADS = [_drawn("normal", normal), _drawn("uniform", uniform)]
