"""Histograms and counts of integers."""

from typing import Any

import numpy as np

from bench.workloads.base import COMPILED, Inputs, Workload, uniform

SIZE = 1 << 26
BINS = 256
KINDS = 1000
#: The range of the bins is read, which recorded functions do not support.
UNRECORDED = (*COMPILED, "gpuarray-jit")


def histogram(xp: Any, size: int, x: Any) -> Any:
    """Count the elements in bins between the minimum and the maximum."""
    counts = xp.histogram(x, BINS)
    return counts[0] if isinstance(counts, tuple) else counts


def bincount(xp: Any, size: int, x: Any) -> Any:
    """Count the occurrences of each integer."""
    return xp.bincount(x, minlength=KINDS)


def few(size: int) -> Inputs:
    """Return integers below :data:`KINDS`, all as frequent."""
    return [np.random.default_rng(0).integers(0, KINDS, size, dtype=np.int32)]


def same(size: int) -> Inputs:
    """Return numbers of which nearly all are in one bin, so that additions to its count contend."""
    x = np.zeros(size, np.float32)
    x[:2] = -1, 1
    return [x]


WORKLOADS = [
    Workload(
        name="histogram",
        size=SIZE,
        inputs=lambda n: [uniform(n)],
        run=histogram,
        nbytes=lambda n: 2 * 4 * n,  # where bins begin is known when all elements have been read
        tolerance=1e-3,  # torch and JAX compute bins in single precision, without a look at the edges
        without=UNRECORDED,
    ),
    Workload(
        name="histogram-one-bin",
        size=SIZE,
        inputs=same,
        run=histogram,
        nbytes=lambda n: 2 * 4 * n,
        without=UNRECORDED,
    ),
    Workload(
        name="bincount",
        size=SIZE,
        inputs=few,
        run=bincount,
        nbytes=lambda n: 2 * 4 * n,
        without=UNRECORDED,
    ),
]
