"""Linear systems and functions of matrices, by ``scipy.linalg`` and what stands in for it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from bench.workloads.base import Inputs, Workload

#: The package of SciPy's functions, where it is not called after the namespace.
_PACKAGES = {"numpy": "scipy", "cupy": "cupyx.scipy"}
#: Libraries that have no such package, or another one by its name.
_WITHOUT = ("numexpr", "torch", "jax", "autograd")
#: Columns of the right sides.
_COLUMNS = 64


def _dominant(n: int) -> np.ndarray:
    generator = np.random.default_rng(0)
    return generator.standard_normal((n, n), dtype=np.float32) + n * np.eye(n, dtype=np.float32)


def _system(n: int) -> Inputs:
    return [_dominant(n), np.random.default_rng(1).standard_normal((n, _COLUMNS), dtype=np.float32)]


def _three_diagonals(n: int) -> Inputs:
    generator = np.random.default_rng(0)
    bands = generator.standard_normal((3, n), dtype=np.float32)
    bands[1] += 9
    return [bands, generator.standard_normal(n, dtype=np.float32)]


def _workload(
    name: str, size: int, inputs: Callable[[int], Inputs], run: Callable[..., Any], nbytes: Callable[[int], int],
    without: tuple[str, ...] = (), **more: Any,
) -> Workload:  # fmt: skip
    def call(xp: Any, n: int, *arrays: Any) -> Any:
        package = _PACKAGES.get(xp.__name__, f"{xp.__name__}.scipy")
        return run(import_module(f"{package}.linalg"), *arrays)

    return Workload(name=name, size=size, inputs=inputs, run=call, nbytes=nbytes, without=(*_WITHOUT, *without), **more)


WORKLOADS = [
    _workload(
        "lu-solve", 2048, _system, lambda la, a, b: la.lu_solve(la.lu_factor(a), b),
        lambda n: 4 * n * (n + 2 * _COLUMNS),
    ),
    _workload(
        "triangular-solve", 2048, _system, lambda la, a, b: la.solve_triangular(a, b),
        lambda n: 4 * n * (n // 2 + 2 * _COLUMNS),
    ),
    _workload(
        "expm", 1024, lambda n: [_dominant(n) / np.float32(2 * n)], lambda la, a: la.expm(a), lambda n: 8 * n * n,
    ),
    _workload(
        "tridiagonal", 1 << 20, _three_diagonals, lambda la, ab, b: la.solve_banded((1, 1), ab, b), lambda n: 20 * n,
        without=("cupy",),
    ),
]  # fmt: skip
