"""Moving arrays to the device and back, from and to memory that the user's program allocated as it liked."""

from typing import Any

from bench.workloads.base import COMPILED, COMPILERS, Workload, uniform


def same(xp: Any, size: int, x: Any) -> Any:
    """Return what was given."""
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


# JAX keeps the copy on the host that it made first
WORKLOADS = [_moved("upload", "up", COMPILED), _moved("download", "down", COMPILERS)]
