"""Reductions over everything, over rows and over columns; what is done with rows; and running sums."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform

SIZE = 1 << 28
ROWS, COLUMNS = 16384, 8192

Fold = Callable[[Any, Any], Any]


def softmax(xp: Any, rows: int, x: Any) -> Any:
    """Three passes as it is written, one over memory where a row fits."""
    shifted = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return shifted / xp.sum(shifted, axis=1, keepdims=True)


def layernorm(xp: Any, rows: int, x: Any) -> Any:
    """Rows less their mean, over their deviation."""
    centred = x - xp.mean(x, axis=1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=1, keepdims=True) + 1e-5)


def _fold(name: str, shape: tuple[int, ...], fold: Fold, *, tolerance: float = 1e-5, formula: str = "") -> Workload:
    """Return the workload of one fold, whose first axis is what is scaled."""
    rest = shape[1:]
    return Workload(
        name=name,
        size=shape[0],
        inputs=lambda n: [uniform(n, *rest, low=0.0, high=1.0)],
        run=lambda xp, n, x: fold(xp, x),
        numexpr=(lambda evaluate, n, x: np.asarray(evaluate(formula, {"x": x}))) if formula else None,
        nbytes=lambda n: 4 * n * prod(rest),
        read=len(shape) == 1,
        tolerance=tolerance,
    )


def _rows(name: str, shape: tuple[int, int], run: Callable[..., Any]) -> Workload:
    """Return the workload of something that is done with each row, and has as many elements."""
    rows, columns = shape
    return Workload(
        name=name,
        size=rows,
        inputs=lambda n: [uniform(n, columns, low=-8.0, high=8.0)],
        run=run,
        nbytes=lambda n: 8 * n * columns,
    )


WORKLOADS = [
    _fold("sum", (SIZE,), lambda xp, x: xp.sum(x), formula="sum(x)"),
    _fold("mean", (SIZE,), lambda xp, x: xp.mean(x)),
    _fold("max", (SIZE,), lambda xp, x: xp.max(x)),
    _fold("var", (SIZE,), lambda xp, x: xp.var(x)),
    _fold("argmax", (SIZE,), lambda xp, x: xp.argmax(x)),
    _fold("sum-axis-0", (ROWS, COLUMNS), lambda xp, x: xp.sum(x, axis=0), tolerance=1e-4),
    _fold("var-axis-0", (ROWS, COLUMNS), lambda xp, x: xp.var(x, axis=0), tolerance=1e-4),
    _fold("argmax-axis-0", (ROWS, COLUMNS), lambda xp, x: xp.argmax(x, axis=0)),
    _fold("sum-axis-1", (ROWS, COLUMNS), lambda xp, x: xp.sum(x, axis=1)),
    _fold("var-axis-1", (ROWS, COLUMNS), lambda xp, x: xp.var(x, axis=1)),
    _fold("argmax-axis-1", (ROWS, COLUMNS), lambda xp, x: xp.argmax(x, axis=1)),
    _fold("sum-narrow", (10_000_000, 7), lambda xp, x: xp.sum(x, axis=0), tolerance=1e-4),
    _fold("max-narrow", (10_000_000, 7), lambda xp, x: xp.max(x, axis=1)),
    _fold("sum-short", (8_000_000, 32), lambda xp, x: xp.sum(x, axis=1)),
    _fold("sum-middle", (300, 1000, 301), lambda xp, x: xp.sum(x, axis=1), tolerance=1e-4),
    _rows("softmax", (16384, 4096), softmax),
    _rows("softmax-1024", (16384, 1024), softmax),
    _rows("softmax-long", (128, 131072), softmax),
    _rows("layernorm", (65536, 1024), layernorm),
    Workload(
        name="cumulative-sum",
        size=1 << 27,
        inputs=lambda n: [uniform(n, low=0.0, high=1.0)],
        run=lambda xp, n, x: xp.cumsum(x, axis=0),
        nbytes=lambda n: 8 * n,
        tolerance=1e-4,
    ),
]
