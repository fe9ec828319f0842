"""Plain traffic: the yardstick by which the other workloads are read."""

from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform


def copy(xp: Any, size: int, x: Any) -> Any:
    """Read every element once and write it once."""
    return x + 1


def axpy(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Two reads, one write."""
    return 2.5 * x + y


WORKLOADS = [
    Workload(
        name="copy",
        size=1 << 28,
        inputs=lambda n: [uniform(n)],
        run=copy,
        numexpr=lambda evaluate, n, x: evaluate("x + 1", {"x": x}),
        nbytes=lambda n: 8 * n,
    ),
    Workload(
        name="axpy",
        size=1 << 27,
        inputs=lambda n: [uniform(n), uniform(n)],
        run=axpy,
        numexpr=lambda evaluate, n, x, y: evaluate("a * x + y", {"a": np.float32(2.5), "x": x, "y": y}),
        nbytes=lambda n: 12 * n,
    ),
]
