"""Uploads and downloads, from and to ordinary host memory."""

from typing import Any

from bench.workloads.base import COMPILED, COMPILERS, Workload, uniform


def same(xp: Any, size: int, x: Any) -> Any:
    """Return the argument."""
    return x


def _moved(name: str, moves: str, without: tuple[str, ...]) -> Workload:
    return Workload(
        name=name,
        size=1 << 26,
        inputs=lambda n: [uniform(n)],
        run=same,
        nbytes=lambda n: 4 * n,
        limit=name,
        moves=moves,
        tolerance=0.0,
        places=("gpu",),
        without=without,
    )


# JAX caches its first copy on the host
WORKLOADS = [_moved("upload", "up", COMPILED), _moved("download", "down", COMPILERS)]
