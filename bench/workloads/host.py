"""What two cores are measured by: ten million elements in either precision, a size that every peer holds in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.workloads import chain, reductions, runmat
from bench.workloads.base import Inputs, Workload, uniform

SIZE = 10_000_000
COLUMNS = 1000
RATE, VOLATILITY = 0.03, 0.2


def black_scholes(xp: Any, size: int, price: Any, strike: Any, years: Any) -> Any:
    """Price call options, with a logistic stand-in for the normal distribution that every library can say."""
    root = xp.sqrt(years)
    first = (xp.log(price / strike) + (RATE + VOLATILITY**2 / 2) * years) / (VOLATILITY * root)
    second = first - VOLATILITY * root
    return price * _normal(xp, first) - strike * xp.exp(-RATE * years) * _normal(xp, second)


def _normal(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-1.5976 * x - 0.07056 * x * x * x))


def _options(size: int, dtype: Any) -> Inputs:
    price = uniform(size, low=50.0, high=150.0, dtype=dtype)
    return [price, price * 0.9 + 10, uniform(size, low=0.5, high=1.5, dtype=dtype)]


def elementwise(xp: Any, size: int, x: Any) -> Any:
    """Write RunMat's chain over given numbers."""
    return runmat.written(xp, x)


def elementwise_sum(xp: Any, size: int, x: Any) -> Any:
    """Sum RunMat's chain over given numbers."""
    return xp.sum(runmat.written(xp, x))


def total(xp: Any, size: int, x: Any) -> Any:
    """Sum everything."""
    return xp.sum(x)


def variance(xp: Any, size: int, x: Any) -> Any:
    """Take the variance of everything."""
    return xp.var(x)


def extreme(xp: Any, size: int, x: Any) -> Any:
    """Find the place of the greatest element."""
    return xp.argmax(x)


def running(xp: Any, size: int, x: Any) -> Any:
    """Add up all that is before."""
    return xp.cumsum(x, 0)


def ordered(xp: Any, size: int, x: Any) -> Any:
    """Find the order of the elements."""
    return xp.argsort(x)


def _line(low: float, high: float) -> Callable[[int, Any], Inputs]:
    return lambda n, dtype: [uniform(n, low=low, high=high, dtype=dtype)]


def _distinct(n: int, dtype: Any) -> Inputs:
    """Return numbers of which no two are equal, whose order nobody can choose."""
    return [np.random.default_rng(1).permutation(n).astype(dtype)]


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
        )
        for dtype, width, suffix in ((np.float32, 4, ""), (np.float64, 8, "-float64"))
    ]


def _numexpr_elementwise(evaluate: Any, size: int, x: Any) -> Any:
    first = "sin(x) * exp(-x / 10)"
    second = f"({first}) * cos(x / 4) + 0.25 * ({first}) ** 2"
    return evaluate(f"tanh({second}) + 0.1 * ({second})", {"x": x})


WORKLOADS = [
    *_both("chain", _line(-2.0, 2.0), chain.chain, 2, numexpr=chain.said),
    *_both("black-scholes", _options, black_scholes, 4),
    *_both("runmat-elementwise", _line(0.0, runmat.FOUR_PI), elementwise, 2, 1e-4, _numexpr_elementwise),
    *_both("runmat-elementwise-sum", _line(0.0, runmat.FOUR_PI), elementwise_sum, 1, 1e-3),
    *_both("runmat-4k-image", _images, runmat.image, 1, 1e-3),
    *_both("sum", _line(0.0, 1.0), total, 1),
    *_both("var", _line(-2.0, 2.0), variance, 1),
    *_both("argmax", _line(-2.0, 2.0), extreme, 1),
    *_both("softmax", _rows, reductions.softmax, 2),
    *_both("cumulative-sum", _line(0.0, 1.0), running, 2, 1e-3),
    *_both("argsort", _distinct, ordered, 3),
]
