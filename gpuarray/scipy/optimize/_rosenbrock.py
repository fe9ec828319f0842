"""Rosenbrock's function, an example of what is hard to minimise, and its derivatives."""

from typing import Any

from scipy import optimize as scipy_optimize

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import inexact
from gpuarray.scipy._mirror import mirrors

__all__ = ["rosen", "rosen_der", "rosen_hess", "rosen_hess_prod"]


@mirrors(scipy_optimize.rosen)
def rosen(x: Any) -> GpuArray:
    x = inexact(x)
    return (100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0).sum(axis=0)


@mirrors(scipy_optimize.rosen_der)
def rosen_der(x: Any) -> GpuArray:
    x = inexact(x)
    excess = 200 * (x[1:] - x[:-1] ** 2)
    slope = xp.zeros_like(x)
    slope[:-1] = -2 * excess * x[:-1] - 2 * (1 - x[:-1])
    slope[1:] += excess
    return slope


@mirrors(scipy_optimize.rosen_hess)
def rosen_hess(x: Any) -> GpuArray:
    x = xp.atleast_1d(inexact(x))
    beside = -400 * x[:-1]
    return xp.diag(_diagonal(x)) + xp.diag(beside, 1) + xp.diag(beside, -1)


@mirrors(scipy_optimize.rosen_hess_prod)
def rosen_hess_prod(x: Any, p: Any) -> GpuArray:
    x = xp.atleast_1d(inexact(x))
    p = xp.asarray(p, x.dtype)
    product = _diagonal(x) * p
    product[:-1] += -400 * x[:-1] * p[1:]
    product[1:] += -400 * x[:-1] * p[:-1]
    return product


def _diagonal(x: GpuArray) -> GpuArray:
    diagonal = xp.zeros_like(x)
    diagonal[:-1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    return diagonal
