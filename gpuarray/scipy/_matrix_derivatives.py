"""The derivatives of functions of matrices that SciPy computes on the host, by cotangents."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.autodiff import stop_gradient
from gpuarray.functions.factorisations import eigvals


def _named(name: str) -> Callable[..., Any]:
    """Return a function of :mod:`gpuarray.scipy.linalg`, which may not be there yet."""
    return lambda *args: getattr(import_module("gpuarray.scipy.linalg"), name)(*args)


_log, _power, _root, _sign = (_named(name) for name in ("logm", "fractional_matrix_power", "sqrtm", "signm"))
_sylvester, _discrete_lyapunov = _named("solve_sylvester"), _named("solve_discrete_lyapunov")


def _sqrtm(ct: GpuArray, a: GpuArray) -> tuple[GpuArray]:
    root = _root(a)
    return (_sylvester(root.mT, root.mT, ct),)


def _by_block(function: Callable[[GpuArray], GpuArray], a: GpuArray, ct: GpuArray) -> GpuArray:
    """Return the cotangent of a matrix by that of a function of it that has a branch cut along the negative real axis.

    The derivative in a direction is the upper right block of the function of a matrix of blocks (Mathias 1996), and its
    transpose is the derivative at the transpose. It is NaN if an eigenvalue is on the branch cut.
    """
    n = a.shape[-1]
    nothing = xp.zeros((n, n), ct.dtype, device=ct.device)
    values = eigvals(stop_gradient(a))
    is_on_cut = ((values.imag == 0) & (values.real <= 0)).any()
    return xp.where(is_on_cut, np.nan, function(xp.block([[a.mT, ct], [nothing, a.mT]]))[:n, n:])


def _logm(ct: GpuArray, a: GpuArray) -> tuple[GpuArray]:
    return (_by_block(_log, a, ct),)


def _fractional_matrix_power(ct: GpuArray, a: GpuArray, t: Any) -> tuple[GpuArray, GpuArray]:
    slope = _log(a) @ _power(a, t)
    return _by_block(lambda block: _power(block, t), a, ct), xp.sum(ct * slope)


def _signm(ct: GpuArray, a: GpuArray) -> tuple[GpuArray]:
    transposed = _sign(a).mT
    length = a.mT @ transposed
    part = _sylvester(length, length, ct)
    return (part - transposed @ part @ transposed,)


def _solve_sylvester(ct: GpuArray, a: GpuArray, b: GpuArray, q: GpuArray) -> tuple[GpuArray, ...]:
    solution, pulled = _sylvester(a, b, q), _sylvester(a.mT, b.mT, ct)
    return -(pulled @ solution.mT), -(solution.mT @ pulled), pulled


def _solve_lyapunov(ct: GpuArray, a: GpuArray, q: GpuArray) -> tuple[GpuArray, ...]:
    # the equation of Sylvester with the conjugate transpose as the second matrix
    of_first, of_second, of_right = _solve_sylvester(ct, a, a.conj().mT, q)
    return of_first + of_second.conj().mT, of_right


def _solve_discrete_lyapunov(ct: GpuArray, a: GpuArray, q: GpuArray) -> tuple[GpuArray, GpuArray]:
    solution, pulled = _discrete_lyapunov(a, q), _discrete_lyapunov(a.mT, ct)
    return pulled @ a.conj() @ solution.mT + (pulled.mT @ a @ solution).conj(), pulled


#: By function, what takes the cotangent of its result and its arguments, and returns a cotangent for each of these.
PULLS: Final[Mapping[str, Callable[..., tuple[GpuArray, ...]]]] = {
    "fractional_matrix_power": _fractional_matrix_power,
    "logm": _logm,
    "signm": _signm,
    "solve_discrete_lyapunov": _solve_discrete_lyapunov,
    "sqrtm": _sqrtm,
    "solve_sylvester": _solve_sylvester,
    "solve_continuous_lyapunov": _solve_lyapunov,
    "solve_lyapunov": _solve_lyapunov,
}
