"""Fourier transforms of complex numbers in single precision."""

from typing import Any

from bench.workloads.base import COMPILED, Workload, complex_uniform, parts, thinned

LENGTH = 1024


def transform(xp: Any, size: int, x: Any) -> Any:
    """Transform along the last axis."""
    return xp.fft.fft(x)


WORKLOADS = [
    Workload(
        name="fft",
        size=1 << 24,
        inputs=lambda n: [complex_uniform(n)],
        run=transform,
        nbytes=lambda n: 16 * n,
        reference=thinned(transform),
        without=COMPILED,
    ),
    Workload(
        name="fft-batch",
        size=16384,
        inputs=lambda n: [complex_uniform(n, LENGTH)],
        run=transform,
        nbytes=lambda n: 16 * n * LENGTH,
        reference=parts(transform),
        without=COMPILED,
    ),
]
