"""Workloads for CPUs: ten million elements in both precisions, which fit in memory with all peers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.peers import NUMPY
from bench.workloads import counting, movement, products, reductions, runmat, sorting
from bench.workloads import elementwise as fused
from bench.workloads.base import Inputs, Workload, uniform

SIZE = 10_000_000
COLUMNS = 1000
PATHS = 10_000_000 // runmat.STEPS
SIDE = 1000
#: Libraries that sort ten million elements in one to four seconds.
_SLOW = ("torch", "jax")


def elementwise(xp: Any, size: int, x: Any) -> Any:
    """Store RunMat's chain of given numbers."""
    return runmat.written(xp, x)


def elementwise_sum(xp: Any, size: int, x: Any) -> Any:
    """Sum RunMat's chain of given numbers."""
    return xp.sum(runmat.written(xp, x))


def total(xp: Any, size: int, x: Any) -> Any:
    """Sum all elements."""
    return xp.sum(x)


def variance(xp: Any, size: int, x: Any) -> Any:
    """Compute the variance of all elements."""
    return xp.var(x)


def largest(xp: Any, size: int, x: Any) -> Any:
    """Compute the maximum."""
    return xp.max(x)


def of_columns(xp: Any, size: int, x: Any) -> Any:
    """Sum each column."""
    return xp.sum(x, axis=0)


def of_rows(xp: Any, size: int, x: Any) -> Any:
    """Sum each row."""
    return xp.sum(x, axis=1)


def extreme(xp: Any, size: int, x: Any) -> Any:
    """Find the index of the maximum."""
    return xp.argmax(x)


def running(xp: Any, size: int, x: Any) -> Any:
    """Compute the running sum."""
    return xp.cumsum(x, 0)


def _line(low: float, high: float) -> Callable[[int, Any], Inputs]:
    return lambda n, dtype: [uniform(n, low=low, high=high, dtype=dtype)]


def _distinct(n: int, dtype: Any) -> Inputs:
    """Return distinct numbers, whose order is unique."""
    return [np.random.default_rng(1).permutation(n).astype(dtype)]


def _random(n: int, dtype: Any) -> Inputs:
    return [uniform(n, dtype=dtype), np.random.default_rng(1).permutation(n)]


def _masks(n: int, dtype: Any) -> Inputs:
    values = uniform(n, dtype=dtype)
    return [values, values < 0]


def _squares(n: int, dtype: Any) -> Inputs:
    return [uniform(SIDE, SIDE, dtype=dtype, seed=seed) for seed in range(2)]


def _rows(n: int, dtype: Any) -> Inputs:
    return [uniform(max(n // COLUMNS, 1), COLUMNS, low=-8.0, high=8.0, dtype=dtype)]


def _images(n: int, dtype: Any) -> Inputs:
    return [uniform(max(n // (runmat.HEIGHT * runmat.WIDTH), 1), runmat.HEIGHT, runmat.WIDTH, low=0.0, dtype=dtype)]


def _both(
    name: str,
    make: Callable[[int, Any], Inputs],
    run: Callable[..., Any],
    arrays: int,
    tolerance: float = 1e-5,
    numexpr: Callable[..., Any] | None = None,
    without: tuple[str, ...] = (),
) -> list[Workload]:
    """Return a workload in both precisions; ``arrays`` is how many inputs and outputs of full size it has."""
    return [
        Workload(
            name=f"{name}-10m{suffix}",
            size=SIZE,
            inputs=lambda n, dtype=dtype: make(n, dtype),
            run=run,
            numexpr=numexpr,
            nbytes=lambda n, width=width: arrays * width * n,
            tolerance=tolerance if suffix == "" else tolerance * 1e-7,
            scaled=False,
            limit="copy-10m",
            places=("cpu",),
            without=without,
        )
        for dtype, width, suffix in ((np.float32, 4, ""), (np.float64, 8, "-float64"))
    ]


def _numexpr_elementwise(evaluate: Any, size: int, x: Any) -> Any:
    first = "sin(x) * exp(-x / 10)"
    second = f"({first}) * cos(x / 4) + 0.25 * ({first}) ** 2"
    return evaluate(f"tanh({second}) + 0.1 * ({second})", {"x": x})


WORKLOADS = [
    *_both("copy", _line(-2.0, 2.0), fused.copy, 2),
    *_both("chain", _line(-2.0, 2.0), fused.chain, 2, numexpr=fused.said),
    *_both("black-scholes", fused.options, fused.black_scholes, 4, numexpr=fused.priced),
    *_both("runmat-elementwise", _line(0.0, runmat.FOUR_PI), elementwise, 2, 1e-4, _numexpr_elementwise),
    *_both("runmat-elementwise-sum", _line(0.0, runmat.FOUR_PI), elementwise_sum, 1, 1e-3),
    Workload(
        name="runmat-monte-carlo-10m",
        size=PATHS,
        inputs=lambda n: [],
        run=runmat.monte_carlo,
        nbytes=lambda n: 4,
        reference=lambda n, inputs: runmat.monte_carlo(NUMPY, n),
        tolerance=0.1,
        scaled=False,
        places=("cpu",),
    ),
    *_both("runmat-4k-image", _images, runmat.image, 1, 1e-3),
    *_both("sum", _line(0.0, 1.0), total, 1),
    *_both("var", _line(-2.0, 2.0), variance, 1),
    *_both("max", _line(-2.0, 2.0), largest, 1),
    *_both("argmax", _line(-2.0, 2.0), extreme, 1),
    *_both("sum-axis-0", _rows, of_columns, 1),
    *_both("sum-axis-1", _rows, of_rows, 1),
    *_both("softmax", _rows, reductions.softmax, 2),
    *_both("layernorm", _rows, reductions.layernorm, 2),
    *_both("cumulative-sum", _line(0.0, 1.0), running, 2, 1e-3),
    *_both("take", _random, movement.taken, 2),
    *_both("mask", _masks, movement.masked, 2),
    *_both("sort", _distinct, sorting.ordered, 2, without=_SLOW),
    *_both("argsort", _distinct, sorting.order, 3, without=_SLOW),
    *_both("histogram", _line(-2.0, 2.0), counting.histogram, 1, 1e-3),
    Workload(
        name="bincount-10m",
        size=SIZE,
        inputs=counting.few,
        run=counting.bincount,
        nbytes=lambda n: 4 * n,
        scaled=False,
        limit="copy-10m",
        places=("cpu",),
    ),
    *_both("matmul", _squares, products.matmul, 0, 1e-4),
]
