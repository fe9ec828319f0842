"""The derivatives of functions of matrices that SciPy computes on the host, by cotangents."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from gpuarray.array import GpuArray


def _named(name: str) -> Callable[..., Any]:
    """Return a function of :mod:`gpuarray.scipy.linalg`, which may not be there yet."""
    return lambda *args: getattr(import_module("gpuarray.scipy.linalg"), name)(*args)


_root, _sylvester = _named("sqrtm"), _named("solve_sylvester")


def _sqrtm(ct: GpuArray, a: GpuArray) -> tuple[GpuArray]:
    root = _root(a)
    return (_sylvester(root.mT, root.mT, ct),)


def _solve_sylvester(ct: GpuArray, a: GpuArray, b: GpuArray, q: GpuArray) -> tuple[GpuArray, ...]:
    solution, pulled = _sylvester(a, b, q), _sylvester(a.mT, b.mT, ct)
    return -(pulled @ solution.mT), -(solution.mT @ pulled), pulled


def _solve_lyapunov(ct: GpuArray, a: GpuArray, q: GpuArray) -> tuple[GpuArray, ...]:
    # the equation of Sylvester with the conjugate transpose as the second matrix
    of_first, of_second, of_right = _solve_sylvester(ct, a, a.conj().mT, q)
    return of_first + of_second.conj().mT, of_right


#: By function, what takes the cotangent of its result and its arguments, and returns a cotangent for each of these.
PULLS: Final[Mapping[str, Callable[..., tuple[GpuArray, ...]]]] = {
    "sqrtm": _sqrtm,
    "solve_sylvester": _solve_sylvester,
    "solve_continuous_lyapunov": _solve_lyapunov,
    "solve_lyapunov": _solve_lyapunov,
}
