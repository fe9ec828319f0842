"""Reductions of whole arrays, rows and columns; row programs; and running sums."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from bench.workloads.base import COMPILERS, Inputs, Workload, parts, uniform

SIZE = 1 << 28
ROWS, COLUMNS = 16384, 8192

Fold = Callable[[Any, Any], Any]


def softmax(xp: Any, rows: int, x: Any) -> Any:
    """Compute the softmax of rows: three passes as written, one over memory if a row fits."""
    shifted = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return shifted / xp.sum(shifted, axis=1, keepdims=True)


def layernorm(xp: Any, rows: int, x: Any) -> Any:
    """Normalise rows by their mean and standard deviation."""
    centred = x - xp.mean(x, axis=1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=1, keepdims=True) + 1e-5)


def _fold(
    name: str,
    shape: tuple[int, ...],
    fold: Fold,
    *,
    reference: Callable[[int, Inputs], Any] | None = None,
    formula: str = "",
    compiled: bool = False,
) -> Workload:
    """Return the workload of a reduction whose first axis is scaled; ``compiled`` by all libraries that compile."""
    rest = shape[1:]
    return Workload(
        name=name,
        size=shape[0],
        inputs=lambda n: [uniform(n, *rest, low=0.0, high=1.0)],
        run=lambda xp, n, x: fold(xp, x),
        numexpr=(lambda evaluate, n, x: np.asarray(evaluate(formula, {"x": x}))) if formula else None,
        nbytes=lambda n: 4 * n * prod(rest),
        reference=reference,
        without=() if compiled else COMPILERS,
    )


def _row_by_row(fold: Fold) -> Callable[[int, Inputs], Any]:
    """Return a reference from some of the rows, whose results are independent."""
    return parts(lambda xp, n, x: fold(xp, x))


def _summed(size: int, inputs: Inputs) -> np.ndarray:
    """Return the sums over the first axis: NumPy's, one number after the other, lose digits in single precision."""
    return np.sum(inputs[0], axis=0, dtype=np.float64)


def _varied(size: int, inputs: Inputs) -> np.ndarray:
    """Return the variances over the first axis, by blocks in double precision."""
    (x,) = inputs
    total, squares = np.zeros(x.shape[1:]), np.zeros(x.shape[1:])
    block = max(1, (1 << 20) // prod(x.shape[1:]))
    for start in range(0, size, block):
        some = x[start : start + block].astype(np.float64) - 0.5
        total += some.sum(axis=0)
        squares += (some * some).sum(axis=0)
    return squares / size - (total / size) ** 2


def _rows(name: str, shape: tuple[int, int], run: Callable[..., Any]) -> Workload:
    """Return the workload of a row program whose result has as many elements as its input."""
    rows, columns = shape
    return Workload(
        name=name,
        size=rows,
        inputs=lambda n: [uniform(n, columns, low=-8.0, high=8.0)],
        run=run,
        nbytes=lambda n: 8 * n * columns,
        reference=parts(run),
    )


def squared_error(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Return the mean squared difference."""
    return xp.mean((x - y) ** 2)


#: Arrays that are read in the time that a launch takes.
_SHAPES = (
    ("of-1e7", (10_000_000,), 0),
    ("of-4096-axis-0", (4096, 4096), 0),
    ("of-4096-axis-1", (4096, 4096), 1),
)


def _smaller(name: str, kind: str, shape: tuple[int, ...], axis: int) -> Workload:
    return _fold(
        f"{name}-{kind}",
        shape,
        lambda xp, x: getattr(xp, name)(x, axis=axis),
        reference=_FOLDED.get(name) if axis == 0 else None,
    )


#: Folds of columns in double precision, as NumPy adds one number after the other.
_FOLDED = {"sum": _summed, "mean": lambda size, inputs: _summed(size, inputs) / size, "var": _varied}

REDUCTIONS = [
    _fold("sum", (SIZE,), lambda xp, x: xp.sum(x), formula="sum(x)", compiled=True),
    _fold("mean", (SIZE,), lambda xp, x: xp.mean(x)),
    _fold("max", (SIZE,), lambda xp, x: xp.max(x)),
    _fold("var", (SIZE,), lambda xp, x: xp.var(x), reference=_varied, compiled=True),
    _fold("argmax", (SIZE,), lambda xp, x: xp.argmax(x)),
    _fold("sum-axis-0", (ROWS, COLUMNS), lambda xp, x: xp.sum(x, axis=0), reference=_summed, compiled=True),
    _fold("var-axis-0", (ROWS, COLUMNS), lambda xp, x: xp.var(x, axis=0), reference=_varied, compiled=True),
    _fold("argmax-axis-0", (ROWS, COLUMNS), lambda xp, x: xp.argmax(x, axis=0)),
    *(
        _fold(name, shape, fold, reference=_row_by_row(fold), compiled=compiled)
        for name, shape, fold, compiled in (
            ("sum-axis-1", (ROWS, COLUMNS), lambda xp, x: xp.sum(x, axis=1), True),
            ("var-axis-1", (ROWS, COLUMNS), lambda xp, x: xp.var(x, axis=1), True),
            ("argmax-axis-1", (ROWS, COLUMNS), lambda xp, x: xp.argmax(x, axis=1), False),
            ("max-narrow", (10_000_000, 7), lambda xp, x: xp.max(x, axis=1), False),
            ("sum-short", (8_000_000, 32), lambda xp, x: xp.sum(x, axis=1), False),
            ("sum-middle", (300, 1000, 301), lambda xp, x: xp.sum(x, axis=1), False),
        )
    ),
    *(_smaller(name, kind, shape, axis) for kind, shape, axis in _SHAPES for name in ("sum", "mean", "var", "argmax")),
    _fold("sum-narrow", (10_000_000, 7), lambda xp, x: xp.sum(x, axis=0), reference=_summed),
    Workload(
        name="mean-squared-error",
        size=1 << 27,
        inputs=lambda n: [uniform(n), uniform(n, low=0.0, high=1.0)],
        run=squared_error,
        nbytes=lambda n: 8 * n,
    ),
]
EACH_ROW = [
    _rows("softmax", (16384, 4096), softmax),
    _rows("softmax-1024", (16384, 1024), softmax),
    _rows("softmax-long", (128, 131072), softmax),
    _rows("layernorm", (65536, 1024), layernorm),
    _rows("layernorm-1024", (16384, 1024), layernorm),
    _rows("layernorm-long", (128, 131072), layernorm),
]
SCANS = [
    Workload(
        name="cumulative-sum",
        size=1 << 27,
        inputs=lambda n: [uniform(n, low=0.0, high=1.0)],
        run=lambda xp, n, x: xp.cumsum(x, axis=0),
        nbytes=lambda n: 8 * n,
        reference=lambda n, inputs: np.cumsum(inputs[0], dtype=np.float64)[::64],
        tolerance=1e-4,
    ),
]
