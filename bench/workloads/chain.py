"""A chain of elementwise operations, which is worth nothing unless it is fused."""

from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform


def chain(xp: Any, size: int, x: Any) -> Any:
    """Run eight operations, three of them transcendental or roots, over one input."""
    return xp.sin(x) * xp.sin(x) + xp.exp(-x * x) * xp.sqrt(xp.abs(x) + 1)


def said(evaluate: Any, size: int, x: Any) -> Any:
    """Say the same to numexpr."""
    return evaluate("sin(x) * sin(x) + exp(-x * x) * sqrt(abs(x) + 1)", {"x": x})


WORKLOADS = [
    Workload(
        name="chain", size=1 << 28, inputs=lambda n: [uniform(n)], run=chain, numexpr=said, nbytes=lambda n: 8 * n
    ),
    Workload(
        name="chain-float64",
        size=1 << 26,
        inputs=lambda n: [uniform(n, dtype=np.float64)],
        run=chain,
        numexpr=said,
        nbytes=lambda n: 16 * n,
        tolerance=1e-13,
    ),
]
