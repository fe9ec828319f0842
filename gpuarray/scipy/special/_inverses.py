"""Quantiles of distributions, which are made of the inverses of the incomplete gamma and beta functions."""

from collections.abc import Callable
from typing import Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.elementwise import binary, ternary
from gpuarray.functions.special import ndtri, stdtrit
from gpuarray.ops.special import INVERSES

__all__ = [
    "OF_DISTRIBUTIONS", "betainccinv", "betaincinv", "fdtri", "fdtri_of_upper", "gammainccinv", "gammaincinv",
    "stdtrit",
]  # fmt: skip

gammaincinv = binary(INVERSES["gammaincinv"])
gammainccinv = binary(INVERSES["gammainccinv"])
beta_inverse_odds = ternary(INVERSES["beta_inverse_odds"])


def betaincinv(a: GpuArray, b: GpuArray, y: GpuArray) -> GpuArray:
    """Return where the regularized incomplete beta function is y."""
    return 1 / (1 + 1 / beta_inverse_odds(a, b, y))


def betainccinv(a: GpuArray, b: GpuArray, y: GpuArray) -> GpuArray:
    """Return where its complement is y."""
    return 1 / (1 + beta_inverse_odds(b, a, y))


def fdtri(dfn: GpuArray, dfd: GpuArray, p: GpuArray) -> GpuArray:
    """Return the quantile of Fisher's distribution, a multiple of the odds of a beta variable."""
    return beta_inverse_odds(dfn / 2, dfd / 2, p) * (dfd / dfn)


def fdtri_of_upper(dfn: GpuArray, dfd: GpuArray, q: GpuArray) -> GpuArray:
    """Return the position that Fisher's distribution exceeds with a probability."""
    return dfd / dfn / beta_inverse_odds(dfd / 2, dfn / 2, q)


def _bdtri(k: GpuArray, n: GpuArray, y: GpuArray) -> GpuArray:
    """Return the probability with which at most k of n trials succeed with probability y."""
    least, trials = (v.astype(y.dtype) for v in (xp.floor(k), xp.trunc(n)))
    is_usual = (least >= 0) & (least < trials)
    first, second = (xp.where(is_usual, v, 1) for v in (least + 1, trials - least))
    result = betainccinv(first, second, y)
    return xp.where(is_usual, result, np.nan)


def _nbdtri(k: GpuArray, n: GpuArray, y: GpuArray) -> GpuArray:
    """Return the probability with which at most k failures precede n successes with probability y."""
    wins, losses = (xp.trunc(v).astype(y.dtype) for v in (n, k))
    result = betaincinv(wins, losses + 1, y)
    return xp.where(((y == 0) | (y == 1)) & (wins == wins) & (losses >= 0), y, result)


def _pdtri(k: GpuArray, y: GpuArray) -> GpuArray:
    """Return the mean of the Poisson distribution whose events are at most k with probability y."""
    most = xp.trunc(k).astype(y.dtype)
    is_usual = (most >= 0) & xp.isfinite(most) & (y >= 0) & (y < 1)
    return xp.where(is_usual, gammainccinv(*(xp.where(is_usual, v, 1) for v in (most + 1, y))), np.nan)


def _gdtria(p: GpuArray, b: GpuArray, x: GpuArray) -> GpuArray:
    return xp.where(x == 0, np.nan, gammaincinv(b, p) / x)


def _nrdtrimn(p: GpuArray, std: GpuArray, x: GpuArray) -> GpuArray:
    return xp.where((std > 0) & (p > 0) & (p < 1), x - std * ndtri(p), np.nan)


def _nrdtrisd(mn: GpuArray, p: GpuArray, x: GpuArray) -> GpuArray:
    return xp.where((p > 0) & (p < 1), (x - mn) / ndtri(p), np.nan)


#: The functions by SciPy's names.
OF_DISTRIBUTIONS: Final[dict[str, Callable[..., GpuArray]]] = {
    "gammaincinv": gammaincinv, "gammainccinv": gammainccinv, "betaincinv": betaincinv, "betainccinv": betainccinv,
    "bdtri": _bdtri, "nbdtri": _nbdtri, "pdtri": _pdtri, "gdtria": _gdtria, "nrdtrimn": _nrdtrimn,
    "nrdtrisd": _nrdtrisd,
    "chdtri": lambda v, p: 2 * gammainccinv(v / 2, p), "gdtrix": lambda a, b, p: gammaincinv(b, p) / a, "fdtri": fdtri,
}  # fmt: skip
