"""Quantiles of distributions, which are made of the inverses of the incomplete gamma and beta functions."""

from collections.abc import Callable
from typing import Final

from gpuarray.array import GpuArray
from gpuarray.functions.elementwise import binary, ternary
from gpuarray.functions.special import stdtrit
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


#: The functions by SciPy's names.
OF_DISTRIBUTIONS: Final[dict[str, Callable[..., GpuArray]]] = {
    "gammaincinv": gammaincinv, "gammainccinv": gammainccinv, "betaincinv": betaincinv, "betainccinv": betainccinv,
    "chdtri": lambda v, p: 2 * gammainccinv(v / 2, p), "gdtrix": lambda a, b, p: gammaincinv(b, p) / a, "fdtri": fdtri,
}  # fmt: skip
