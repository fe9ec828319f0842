"""Elementwise workloads. The first is the copy, the limit of the others."""

from typing import Any

import numpy as np

from bench.workloads.base import Inputs, Workload, parts, uniform

RATE, VOLATILITY = 0.03, 0.2


def copy(xp: Any, size: int, x: Any) -> Any:
    """Read every element once and write it once."""
    return x + 1


def axpy(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Two reads, one write."""
    return 2.5 * x + y


def chain(xp: Any, size: int, x: Any) -> Any:
    """Run eight operations, three of them transcendental or roots, over one input."""
    return xp.sin(x) * xp.sin(x) + xp.exp(-x * x) * xp.sqrt(xp.abs(x) + 1)


def said(evaluate: Any, size: int, x: Any) -> Any:
    """Compute the chain with numexpr."""
    return evaluate("sin(x) * sin(x) + exp(-x * x) * sqrt(abs(x) + 1)", {"x": x})


def black_scholes(xp: Any, size: int, price: Any, strike: Any, years: Any) -> Any:
    """Price call options, with a logistic approximation of the normal distribution that all libraries support."""
    root = xp.sqrt(years)
    first = (xp.log(price / strike) + (RATE + VOLATILITY**2 / 2) * years) / (VOLATILITY * root)
    second = first - VOLATILITY * root
    return price * _normal(xp, first) - strike * xp.exp(-RATE * years) * _normal(xp, second)


def _normal(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-1.5976 * x - 0.07056 * x * x * x))


def priced(evaluate: Any, size: int, price: Any, strike: Any, years: Any) -> Any:
    """Compute the prices with numexpr, in two steps."""
    given = {"s": price, "k": strike, "t": years}
    first = evaluate("(log(s / k) + 0.05 * t) / (0.2 * sqrt(t))", given)
    return evaluate(
        "s / (1 + exp(-1.5976 * a - 0.07056 * a * a * a)) - k * exp(-0.03 * t)"
        " / (1 + exp(-1.5976 * (a - 0.2 * sqrt(t)) - 0.07056 * (a - 0.2 * sqrt(t)) ** 3))",
        {**given, "a": first},
    )


def options(size: int, dtype: Any = np.float32) -> Inputs:
    """Return prices, strikes and years."""
    price = uniform(size, low=50.0, high=150.0, dtype=dtype)
    return [price, price * dtype(0.9) + dtype(10), uniform(size, low=0.5, high=1.5, dtype=dtype)]


def heat(xp: Any, size: int, u: Any) -> Any:
    """Compute one step of the heat equation in a plane."""
    inner = u[1:-1, 1:-1]
    return inner + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner)


WORKLOADS = [
    Workload(
        name="copy",
        size=1 << 28,
        inputs=lambda n: [uniform(n)],
        run=copy,
        numexpr=lambda evaluate, n, x: evaluate("x + 1", {"x": x}),
        nbytes=lambda n: 8 * n,
        reference=parts(copy),
    ),
    Workload(
        name="axpy",
        size=1 << 27,
        inputs=lambda n: [uniform(n), uniform(n, seed=1)],
        run=axpy,
        numexpr=lambda evaluate, n, x, y: evaluate("a * x + y", {"a": np.float32(2.5), "x": x, "y": y}),
        nbytes=lambda n: 12 * n,
        reference=parts(axpy),
    ),
    Workload(
        name="chain",
        size=1 << 28,
        inputs=lambda n: [uniform(n)],
        run=chain,
        numexpr=said,
        nbytes=lambda n: 8 * n,
        reference=parts(chain),
    ),
    Workload(
        name="chain-float64",
        size=1 << 26,
        inputs=lambda n: [uniform(n, dtype=np.float64)],
        run=chain,
        numexpr=said,
        nbytes=lambda n: 16 * n,
        reference=parts(chain),
        tolerance=1e-13,
    ),
    Workload(
        name="black-scholes",
        size=1 << 24,
        inputs=options,
        run=black_scholes,
        numexpr=priced,
        nbytes=lambda n: 16 * n,
        reference=parts(black_scholes),
    ),
    Workload(name="heat", size=4096, inputs=lambda n: [uniform(n, 4096)], run=heat, nbytes=lambda n: 8 * n * 4096),
]
