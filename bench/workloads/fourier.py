"""Fourier transforms of complex numbers in single precision."""

from typing import Any

import numpy as np

from bench.workloads.base import COMPILED, Inputs, Workload, complex_uniform, parts

LENGTH = 1024


def transform(xp: Any, size: int, x: Any) -> Any:
    """Transform along the last axis."""
    return xp.fft.fft(x)


def _every_64th(size: int, inputs: Inputs) -> np.ndarray:
    """Return every 64th coefficient: the transform of the sum of 64 parts."""
    (x,) = inputs
    return np.fft.fft(x.reshape(64, -1).sum(axis=0, dtype=np.complex128))


def _line(name: str, size: int) -> Workload:
    return Workload(
        name=name,
        size=size,
        inputs=lambda n: [complex_uniform(n)],
        run=transform,
        nbytes=lambda n: 16 * n,
        reference=_every_64th,
        without=COMPILED,
    )


def _batch(name: str, size: int) -> Workload:
    return Workload(
        name=name,
        size=size,
        inputs=lambda n: [complex_uniform(n, LENGTH)],
        run=transform,
        nbytes=lambda n: 16 * n * LENGTH,
        reference=parts(transform),
        without=COMPILED,
    )


WORKLOADS = [
    _line("fft-2-20", 1 << 20),
    _line("fft", 1 << 24),
    _line("fft-2-26", 1 << 26),
    _batch("fft-batch-4096", 4096),
    _batch("fft-batch", 16384),
]
