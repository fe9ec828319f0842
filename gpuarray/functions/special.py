"""The special functions: one line for each operation, and functions that are composed of these.

This module is imported when a special function is first used.
"""

from typing import TYPE_CHECKING

from gpuarray import dispatch
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import ArrayLike, as_arrays
from gpuarray.functions.elementwise import binary, copysign, minimum, sqrt, ternary, unary
from gpuarray.ops.special import INVERSES, OPS

dispatch.UFUNC_OPS.update({op.numpy: (op,) for op in OPS.values()})

bdtr = ternary(OPS["bdtr"])
bdtrc = ternary(OPS["bdtrc"])
beta = binary(OPS["beta"])
betainc = ternary(OPS["betainc"])
betaincc = ternary(OPS["betaincc"])
betaln = binary(OPS["betaln"])
boxcox = binary(OPS["boxcox"])
boxcox1p = binary(OPS["boxcox1p"])
cosdg = unary(OPS["cosdg"])
cosm1 = unary(OPS["cosm1"])
cotdg = unary(OPS["cotdg"])
digamma = unary(OPS["digamma"])
ellipk = unary(OPS["ellipk"])
ellipkm1 = unary(OPS["ellipkm1"])
entr = unary(OPS["entr"])
erf = unary(OPS["erf"])
erfc = unary(OPS["erfc"])
erfcinv = unary(OPS["erfcinv"])
erfcx = unary(OPS["erfcx"])
erfinv = unary(OPS["erfinv"])
exp1 = unary(OPS["exp1"])
expi = unary(OPS["expi"])
expit = unary(OPS["expit"])
exprel = unary(OPS["exprel"])
fdtr = ternary(OPS["fdtr"])
fdtrc = ternary(OPS["fdtrc"])
gamma = unary(OPS["gamma"])
gammainc = binary(OPS["gammainc"])
gammaincc = binary(OPS["gammaincc"])
gammaln = unary(OPS["gammaln"])
gammasgn = unary(OPS["gammasgn"])
gdtr = ternary(OPS["gdtr"])
gdtrc = ternary(OPS["gdtrc"])
huber = binary(OPS["huber"])
i0 = unary(OPS["i0"])
i0e = unary(OPS["i0e"])
i1 = unary(OPS["i1"])
i1e = unary(OPS["i1e"])
inv_boxcox = binary(OPS["inv_boxcox"])
inv_boxcox1p = binary(OPS["inv_boxcox1p"])
j0 = unary(OPS["j0"])
j1 = unary(OPS["j1"])
k0 = unary(OPS["k0"])
k0e = unary(OPS["k0e"])
k1 = unary(OPS["k1"])
k1e = unary(OPS["k1e"])
kl_div = binary(OPS["kl_div"])
log_expit = unary(OPS["log_expit"])
log_ndtr = unary(OPS["log_ndtr"])
loggamma = unary(OPS["loggamma"])
logit = unary(OPS["logit"])
multigammaln = binary(OPS["multigammaln"])
nbdtr = ternary(OPS["nbdtr"])
nbdtrc = ternary(OPS["nbdtrc"])
ndtr = unary(OPS["ndtr"])
ndtri = unary(OPS["ndtri"])
pdtr = binary(OPS["pdtr"])
pdtrc = binary(OPS["pdtrc"])
polygamma = binary(OPS["polygamma"])
pseudo_huber = binary(OPS["pseudo_huber"])
radian = ternary(OPS["radian"])
rel_entr = binary(OPS["rel_entr"])
rgamma = unary(OPS["rgamma"])
sinc = unary(OPS["sinc"])
sindg = unary(OPS["sindg"])
spence = unary(OPS["spence"])
stdtr = binary(OPS["stdtr"])
tandg = unary(OPS["tandg"])
xlog1py = binary(OPS["xlog1py"])
xlogy = binary(OPS["xlogy"])
y0 = unary(OPS["y0"])
y1 = unary(OPS["y1"])
zeta = binary(OPS["zeta"])
psi = digamma


def chdtr(v: ArrayLike, x: ArrayLike, /) -> GpuArray:
    """Return the distribution function of the chi-square distribution, the probability of at most ``x``.

    Parameters
    ----------
    v : array_like
        Degrees of freedom.
    x : array_like
        The upper limit.

    Returns
    -------
    GpuArray
        NaN where ``v`` or ``x`` is negative.
    """
    degrees, limit = as_arrays(v, x)
    return gammainc(degrees / 2, limit / 2)


def chdtrc(v: ArrayLike, x: ArrayLike, /) -> GpuArray:
    """Return the survival function of the chi-square distribution, the probability of more than ``x``.

    See :func:`chdtr` for the parameters.
    """
    degrees, limit = as_arrays(v, x)
    return gammaincc(degrees / 2, limit / 2)


def stdtrit(df: ArrayLike, p: ArrayLike, /) -> GpuArray:
    """Return the quantile of Student's t distribution, the inverse of :func:`stdtr` in its second argument.

    Its square is a multiple of the odds of a beta variable.

    Parameters
    ----------
    df : array_like
        Degrees of freedom.
    p : array_like
        Probabilities.

    Returns
    -------
    GpuArray
        The value below which a fraction ``p`` of the distribution lies.
    """
    degrees, share = as_arrays(df, p)
    degrees = minimum(degrees, 1e13)  # from here on it is the normal distribution
    tail = minimum(share, 1 - share)
    odds = ternary(INVERSES["beta_inverse_odds"])(degrees / 2, 0 * degrees + 0.5, 2 * tail)
    return copysign(sqrt(degrees / odds), share - 0.5)


if not TYPE_CHECKING:  # checkers take every public name instead
    __all__ = sorted([*OPS, "chdtr", "chdtrc", "psi", "stdtrit"])
