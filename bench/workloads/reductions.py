"""Reductions over everything and over rows."""

from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform

COLUMNS = 4096


def total(xp: Any, size: int, x: Any) -> Any:
    """Sum everything."""
    return xp.sum(x)


def columns(xp: Any, rows: int, x: Any) -> Any:
    """Sum along the axis whose elements are far apart."""
    return xp.sum(x, axis=0)


def variance(xp: Any, size: int, x: Any) -> Any:
    """Two passes: the mean, and the mean square of what is left."""
    return xp.var(x)


def softmax(xp: Any, rows: int, x: Any) -> Any:
    """Three passes as it is written, one over memory where a row fits."""
    shifted = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return shifted / xp.sum(shifted, axis=1, keepdims=True)


WORKLOADS = [
    Workload(
        name="sum",
        size=1 << 28,
        inputs=lambda n: [uniform(n, low=0.0, high=1.0)],
        run=total,
        numexpr=lambda evaluate, n, x: np.asarray(evaluate("sum(x)", {"x": x})),
        nbytes=lambda n: 4 * n,
        read=True,
    ),
    Workload(
        name="sum-axis-0",
        size=16384,
        inputs=lambda n: [uniform(n, 8192, low=0.0, high=1.0)],
        run=columns,
        nbytes=lambda n: 4 * n * 8192,
        tolerance=1e-4,
    ),
    Workload(
        name="var",
        size=1 << 28,
        inputs=lambda n: [uniform(n)],
        run=variance,
        nbytes=lambda n: 8 * n,
        read=True,
    ),
    Workload(
        name="softmax",
        size=16384,
        inputs=lambda n: [uniform(n, COLUMNS, low=-8.0, high=8.0)],
        run=softmax,
        nbytes=lambda n: 8 * n * COLUMNS,
    ),
]
