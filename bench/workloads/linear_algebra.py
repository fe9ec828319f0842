"""Factorisations of matrices, large ones and stacks of small ones, in single precision."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.workloads.base import COMPILED, Workload, parts, uniform

RIGHT_SIDES = 1000


def cholesky(xp: Any, size: int, a: Any) -> Any:
    """Factorise positive definite matrices."""
    return xp.linalg.cholesky(a)


def solve(xp: Any, size: int, a: Any, b: Any) -> Any:
    """Solve systems."""
    return xp.linalg.solve(a, b)


def inv(xp: Any, size: int, a: Any) -> Any:
    """Invert matrices."""
    return xp.linalg.inv(a)


def det(xp: Any, size: int, a: Any) -> Any:
    """Take determinants."""
    return xp.linalg.det(a)


def qr(xp: Any, size: int, a: Any) -> Any:
    """Factorise into Q and R, and return the absolute values of R: the signs of its rows are arbitrary."""
    return xp.abs(xp.linalg.qr(a)[1])


def eigh(xp: Any, size: int, a: Any) -> Any:
    """Take eigenvalues and eigenvectors, and return the values."""
    return xp.linalg.eigh(a)[0]


def svd(xp: Any, size: int, a: Any) -> Any:
    """Take singular values and vectors, and return the values."""
    return xp.linalg.svd(a)[1]


def _general(*shape: int) -> np.ndarray:
    """Return matrices with small condition numbers."""
    n = shape[-1]
    return uniform(*shape) + np.sqrt(np.float32(4 * n)) * np.eye(n, dtype=np.float32)


def _near_one(*shape: int) -> np.ndarray:
    """Return matrices whose determinants are single-precision numbers."""
    n = shape[-1]
    return _general(*shape) / np.sqrt(np.float32(4 * n))


def _symmetric(*shape: int) -> np.ndarray:
    a = uniform(*shape)
    return a + np.swapaxes(a, -1, -2)


def _positive(*shape: int) -> np.ndarray:
    n = shape[-1]
    return _symmetric(*shape) + 8 * np.sqrt(np.float32(n)) * np.eye(n, dtype=np.float32)


def _sides(*shape: int) -> np.ndarray:
    return uniform(*shape, seed=1)


class _Function(NamedTuple):
    """A function of matrices of ``n`` rows."""

    run: Callable[..., Any]
    operand: Callable[..., np.ndarray]
    operations: float
    """Its additions and multiplications over n**3, as they are usually counted."""
    units: float = 0
    """The most error for each row, in units of rounding; LAPACK's tests accept 30."""

    def tolerance(self, n: int) -> float:
        """Return the most relative error."""
        return max(_TOLERANCE, self.units * n * 2**-23)


_TOLERANCE = 1e-4

_FUNCTIONS: dict[str, _Function] = {
    "cholesky": _Function(cholesky, _positive, 1 / 3),
    "inv": _Function(inv, _general, 2),
    "det": _Function(det, _near_one, 2 / 3),
    "qr": _Function(qr, _general, 8 / 3),
    "eigh": _Function(eigh, _symmetric, 9, units=4),
    "svd": _Function(svd, _general, 22, units=4),
}


def _one(name: str, n: int) -> Workload:
    function = _FUNCTIONS[name]
    return Workload(
        name=f"{name}-{n}",
        size=n,
        inputs=lambda size: [function.operand(size, size)],
        run=function.run,
        nbytes=lambda size: 8 * size**2,
        flops=lambda size: function.operations * size**3,
        limit="matmul-4096",
        tolerance=function.tolerance(n),
        without=COMPILED,
    )


def _stack(name: str, count: int, n: int) -> Workload:
    function = _FUNCTIONS[name]
    return Workload(
        name=f"{name}-stack-{n}",
        size=count,
        inputs=lambda size: [function.operand(size, n, n)],
        run=function.run,
        nbytes=lambda size: 8 * size * n * n,
        reference=parts(function.run),
        tolerance=function.tolerance(n),
        without=COMPILED,
    )


def _system(n: int) -> Workload:
    return Workload(
        name=f"solve-{n}",
        size=n,
        inputs=lambda size: [_general(size, size), _sides(size, RIGHT_SIDES)],
        run=solve,
        nbytes=lambda size: 4 * size**2 + 8 * size * RIGHT_SIDES,
        flops=lambda size: 2 / 3 * size**3 + 2 * size**2 * RIGHT_SIDES,
        limit="matmul-4096",
        tolerance=_TOLERANCE,
        without=COMPILED,
    )


def _systems(count: int, n: int) -> Workload:
    return Workload(
        name=f"solve-stack-{n}",
        size=count,
        inputs=lambda size: [_general(size, n, n), _sides(size, n, n)],
        run=solve,
        nbytes=lambda size: 12 * size * n * n,
        reference=parts(solve),
        tolerance=_TOLERANCE,
        without=COMPILED,
    )


WORKLOADS = [
    _one("cholesky", 4096),
    _system(4096),
    _one("qr", 4096),
    _one("eigh", 2048),
    _one("svd", 2048),
    *(_stack(name, count, n) for count, n in ((10_000, 16), (1000, 64)) for name in _FUNCTIONS),
    *(_systems(count, n) for count, n in ((10_000, 16), (1000, 64))),
]
