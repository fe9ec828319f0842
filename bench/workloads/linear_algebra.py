"""Factorisations of matrices, large ones and stacks of small ones, in single and double precision."""

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


def _shifted(a: np.ndarray, shift: float) -> np.ndarray:
    """Return matrices plus a multiple of the identity."""
    return a + np.asarray(shift, a.dtype) * np.eye(a.shape[-1], dtype=a.dtype)


def _general(*shape: int, dtype: Any) -> np.ndarray:
    """Return matrices with small condition numbers."""
    return _shifted(uniform(*shape, dtype=dtype), 2 * shape[-1] ** 0.5)


def _near_one(*shape: int, dtype: Any) -> np.ndarray:
    """Return matrices whose determinants are single-precision numbers."""
    return _general(*shape, dtype=dtype) / np.asarray(2 * shape[-1] ** 0.5, dtype)


def _symmetric(*shape: int, dtype: Any) -> np.ndarray:
    a = uniform(*shape, dtype=dtype)
    return a + np.swapaxes(a, -1, -2)


def _positive(*shape: int, dtype: Any) -> np.ndarray:
    return _shifted(_symmetric(*shape, dtype=dtype), 8 * shape[-1] ** 0.5)


class _Function(NamedTuple):
    """A function of matrices of ``n`` rows."""

    run: Callable[..., Any]
    operand: Callable[..., np.ndarray]
    operations: float
    """Its additions and multiplications over n**3, as they are usually counted."""
    units: float = 0
    """The most error for each row, in units of rounding; LAPACK's tests accept 30."""

    def tolerance(self, n: int, dtype: Any) -> float:
        """Return the most relative error."""
        epsilon = float(np.finfo(dtype).eps)
        return max(_TOLERANCE * epsilon, self.units * n * epsilon)


#: In units of rounding.
_TOLERANCE = 800

_FUNCTIONS: dict[str, _Function] = {
    "cholesky": _Function(cholesky, _positive, 1 / 3),
    "inv": _Function(inv, _general, 2),
    "det": _Function(det, _near_one, 2 / 3),
    "qr": _Function(qr, _general, 8 / 3),
    "eigh": _Function(eigh, _symmetric, 9, units=4),
    "svd": _Function(svd, _general, 22, units=4),
}


def _suffix(dtype: Any) -> str:
    return "-float64" if dtype == np.float64 else ""


def _large(name: str, n: int, dtype: Any) -> dict[str, Any]:
    """Return the properties of a workload on one matrix."""
    limit = "matmul-float64" if dtype == np.float64 else "matmul-4096"
    return {"name": f"{name}-{n}{_suffix(dtype)}", "size": n, "limit": limit, "without": COMPILED}


def _small(name: str, count: int, n: int, dtype: Any) -> dict[str, Any]:
    """Return the properties of a workload on a stack of matrices."""
    return {"name": f"{name}-stack-{n}{_suffix(dtype)}", "size": count, "without": COMPILED}


def _one(name: str, n: int, dtype: Any = np.float32) -> Workload:
    function, width = _FUNCTIONS[name], np.dtype(dtype).itemsize
    return Workload(
        **_large(name, n, dtype),
        inputs=lambda size: [function.operand(size, size, dtype=dtype)],
        run=function.run,
        nbytes=lambda size: 2 * width * size**2,
        flops=lambda size: function.operations * size**3,
        tolerance=function.tolerance(n, dtype),
    )


def _stack(name: str, count: int, n: int, dtype: Any = np.float32) -> Workload:
    function, width = _FUNCTIONS[name], np.dtype(dtype).itemsize
    return Workload(
        **_small(name, count, n, dtype),
        inputs=lambda size: [function.operand(size, n, n, dtype=dtype)],
        run=function.run,
        nbytes=lambda size: 2 * width * size * n * n,
        reference=parts(function.run),
        tolerance=function.tolerance(n, dtype),
    )


def _system(n: int, dtype: Any = np.float32) -> Workload:
    width = np.dtype(dtype).itemsize
    return Workload(
        **_large("solve", n, dtype),
        inputs=lambda size: [_general(size, size, dtype=dtype), uniform(size, RIGHT_SIDES, dtype=dtype, seed=1)],
        run=solve,
        nbytes=lambda size: width * (size**2 + 2 * size * RIGHT_SIDES),
        flops=lambda size: 2 / 3 * size**3 + 2 * size**2 * RIGHT_SIDES,
        tolerance=_TOLERANCE * float(np.finfo(dtype).eps),
    )


def _systems(count: int, n: int, dtype: Any = np.float32) -> Workload:
    width = np.dtype(dtype).itemsize
    return Workload(
        **_small("solve", count, n, dtype),
        inputs=lambda size: [_general(size, n, n, dtype=dtype), uniform(size, n, n, dtype=dtype, seed=1)],
        run=solve,
        nbytes=lambda size: 3 * width * size * n * n,
        reference=parts(solve),
        tolerance=_TOLERANCE * float(np.finfo(dtype).eps),
    )


_STACKS = ((10_000, 16), (1000, 64))

WORKLOADS = [
    _one("cholesky", 4096),
    _system(4096),
    _one("qr", 4096),
    _one("eigh", 2048),
    _one("svd", 2048),
    *(_stack(name, count, n) for count, n in _STACKS for name in _FUNCTIONS),
    *(_systems(count, n) for count, n in _STACKS),
    _one("cholesky", 2048),
    _system(2048),
    _one("qr", 2048),
    *(_one(name, 2048, np.float64) for name in ("cholesky", "qr", "eigh", "svd")),
    _system(2048, np.float64),
    *(_stack(name, count, n, np.float64) for count, n in _STACKS for name in _FUNCTIONS),
    *(_systems(count, n, np.float64) for count, n in _STACKS),
]
