"""The special functions: one line for each row, and those that are composed of them.

This module is imported when a special function is first used.
"""

from typing import TYPE_CHECKING

from gpuarray import dispatch
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import ArrayLike, as_arrays
from gpuarray.functions.elementwise import binary, ternary, unary
from gpuarray.functions.fallback import on_host
from gpuarray.ops.special import ROWS

dispatch.UFUNC_ROWS.update({row.numpy: (row,) for row in ROWS.values()})

bdtr = ternary(ROWS["bdtr"])
bdtrc = ternary(ROWS["bdtrc"])
beta = binary(ROWS["beta"])
betainc = ternary(ROWS["betainc"])
betaincc = ternary(ROWS["betaincc"])
betaln = binary(ROWS["betaln"])
boxcox = binary(ROWS["boxcox"])
boxcox1p = binary(ROWS["boxcox1p"])
cosdg = unary(ROWS["cosdg"])
cosm1 = unary(ROWS["cosm1"])
cotdg = unary(ROWS["cotdg"])
digamma = unary(ROWS["digamma"])
ellipk = unary(ROWS["ellipk"])
ellipkm1 = unary(ROWS["ellipkm1"])
entr = unary(ROWS["entr"])
erf = unary(ROWS["erf"])
erfc = unary(ROWS["erfc"])
erfcinv = unary(ROWS["erfcinv"])
erfcx = unary(ROWS["erfcx"])
erfinv = unary(ROWS["erfinv"])
exp1 = unary(ROWS["exp1"])
expi = unary(ROWS["expi"])
expit = unary(ROWS["expit"])
exprel = unary(ROWS["exprel"])
fdtr = ternary(ROWS["fdtr"])
fdtrc = ternary(ROWS["fdtrc"])
gamma = unary(ROWS["gamma"])
gammainc = binary(ROWS["gammainc"])
gammaincc = binary(ROWS["gammaincc"])
gammaln = unary(ROWS["gammaln"])
gammasgn = unary(ROWS["gammasgn"])
gdtr = ternary(ROWS["gdtr"])
gdtrc = ternary(ROWS["gdtrc"])
huber = binary(ROWS["huber"])
i0 = unary(ROWS["i0"])
i0e = unary(ROWS["i0e"])
i1 = unary(ROWS["i1"])
i1e = unary(ROWS["i1e"])
inv_boxcox = binary(ROWS["inv_boxcox"])
inv_boxcox1p = binary(ROWS["inv_boxcox1p"])
j0 = unary(ROWS["j0"])
j1 = unary(ROWS["j1"])
k0 = unary(ROWS["k0"])
k0e = unary(ROWS["k0e"])
k1 = unary(ROWS["k1"])
k1e = unary(ROWS["k1e"])
kl_div = binary(ROWS["kl_div"])
log_expit = unary(ROWS["log_expit"])
log_ndtr = unary(ROWS["log_ndtr"])
loggamma = unary(ROWS["loggamma"])
logit = unary(ROWS["logit"])
multigammaln = binary(ROWS["multigammaln"])
nbdtr = ternary(ROWS["nbdtr"])
nbdtrc = ternary(ROWS["nbdtrc"])
ndtr = unary(ROWS["ndtr"])
ndtri = unary(ROWS["ndtri"])
pdtr = binary(ROWS["pdtr"])
pdtrc = binary(ROWS["pdtrc"])
polygamma = binary(ROWS["polygamma"])
pseudo_huber = binary(ROWS["pseudo_huber"])
radian = ternary(ROWS["radian"])
rel_entr = binary(ROWS["rel_entr"])
rgamma = unary(ROWS["rgamma"])
sinc = unary(ROWS["sinc"])
sindg = unary(ROWS["sindg"])
spence = unary(ROWS["spence"])
stdtr = binary(ROWS["stdtr"])
tandg = unary(ROWS["tandg"])
xlog1py = binary(ROWS["xlog1py"])
xlogy = binary(ROWS["xlogy"])
y0 = unary(ROWS["y0"])
y1 = unary(ROWS["y1"])
zeta = binary(ROWS["zeta"])
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

    SciPy computes it on the host, which counts as a fallback.

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

    Raises
    ------
    ImportError
        If SciPy is not installed.
    """
    from scipy import special

    found: GpuArray = on_host(special.stdtrit, (df, p), {}, "the function has no kernel", "scipy.special.stdtrit")
    return found


if not TYPE_CHECKING:  # checkers take every public name instead
    __all__ = sorted([*ROWS, "chdtr", "chdtrc", "psi", "stdtrit"])
