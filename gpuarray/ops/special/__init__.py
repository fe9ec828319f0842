"""The rows of the special functions, under SciPy's names. Each is one formula, for kernels and for the host.

This package is imported when a special function is first used: see :func:`gpuarray.ops.spec.row_named`.
"""

from typing import Final

from gpuarray.ops.formula import Formula
from gpuarray.ops.formula_ufunc import FormulaUfunc, floating, with_counts
from gpuarray.ops.spec import MapOp
from gpuarray.ops.special import (
    bessel,
    bessel_jy,
    bessel_k,
    beta,
    boxcox,
    degrees,
    distributions,
    errors,
    gamma,
    incomplete,
    incomplete_beta,
    integrals,
    logistic,
    losses,
    student,
    zeta,
)


def _row(formula: Formula, *, cost: int, ulp: float = 2, counts: tuple[int, ...] = ()) -> MapOp:
    """Return a row. ``counts`` are the operands that SciPy converts to C's ``int``; kernels get them as integers."""
    rule = with_counts(counts) if counts else floating
    operands = ", ".join(f"{{R}}({{{i}}})" if i in counts else f"{{{i}}}" for i in range(len(formula.parameters)))
    form = f"{formula.name}_{{R}}({operands})"
    return MapOp(
        name=formula.name, numpy=FormulaUfunc(formula, rule), arity=len(formula.parameters), dtypes=rule,
        wgsl={"float": form, "i32": form} if 0 in counts else {"float": form},
        cost=cost, ulp=ulp, doc=formula.__doc__ or "",
    )  # fmt: skip


#: The rows by SciPy's name of the function.
ROWS: Final[dict[str, MapOp]] = {
    row.name: row
    for row in (
        _row(errors.erf, cost=120),
        _row(errors.erfc, cost=120),
        _row(errors.erfcx, cost=120),
        _row(errors.erfinv, cost=150),
        _row(errors.erfcinv, cost=150),
        _row(errors.ndtr, cost=120),
        _row(errors.log_ndtr, cost=120),
        _row(errors.ndtri, cost=150),
        _row(gamma.gamma, cost=150),
        _row(gamma.rgamma, cost=150),
        _row(gamma.gammaln, cost=150),
        _row(gamma.loggamma, cost=150),
        _row(gamma.gammasgn, cost=4),
        _row(gamma.digamma, cost=120),
        _row(gamma.sinc, cost=50),
        _row(logistic.expit, cost=30),
        _row(logistic.logit, cost=30),
        _row(logistic.log_expit, cost=30),
        _row(logistic.xlogy, cost=12),
        _row(logistic.xlog1py, cost=14),
        _row(logistic.entr, cost=12),
        _row(logistic.rel_entr, cost=120),
        _row(logistic.kl_div, cost=120),
        _row(logistic.exprel, cost=20),
        _row(beta.beta, cost=300, ulp=5),
        _row(beta.betaln, cost=300, ulp=5),
        _row(incomplete.gammainc, cost=600),
        _row(incomplete.gammaincc, cost=600),
        _row(incomplete.pdtr, cost=600),
        _row(incomplete.pdtrc, cost=600),
        _row(incomplete_beta.betainc, cost=900),
        _row(incomplete_beta.betaincc, cost=900),
        _row(student.stdtr, cost=900),
        _row(losses.huber, cost=10),
        _row(losses.pseudo_huber, cost=60),
        _row(zeta.zeta, cost=800),
        _row(bessel.i0, cost=120),
        _row(bessel.i0e, cost=120),
        _row(bessel.i1, cost=120),
        _row(bessel.i1e, cost=120),
        _row(bessel_jy.j0, cost=200),
        _row(bessel_jy.j1, cost=200),
        _row(bessel_jy.y0, cost=250),
        _row(bessel_jy.y1, cost=250),
        _row(bessel_k.k0, cost=150),
        _row(bessel_k.k0e, cost=150),
        _row(bessel_k.k1, cost=150),
        _row(bessel_k.k1e, cost=150),
        _row(integrals.exp1, cost=400),
        _row(integrals.expi, cost=400),
        _row(integrals.spence, cost=200),
        _row(integrals.ellipk, cost=300),
        _row(integrals.ellipkm1, cost=300),
        _row(degrees.sindg, cost=40),
        _row(degrees.cosdg, cost=40),
        _row(degrees.tandg, cost=50),
        _row(degrees.cotdg, cost=50),
        _row(degrees.radian, cost=10),
        _row(degrees.cosm1, cost=60),
        _row(boxcox.boxcox, cost=120),
        _row(boxcox.boxcox1p, cost=120),
        _row(boxcox.inv_boxcox, cost=120),
        _row(boxcox.inv_boxcox1p, cost=120),
        _row(distributions.bdtr, cost=900, counts=(1,)),
        _row(distributions.bdtrc, cost=900, counts=(1,)),
        _row(distributions.nbdtr, cost=900, counts=(0, 1)),
        _row(distributions.nbdtrc, cost=900, counts=(0, 1)),
        _row(distributions.fdtr, cost=900),
        _row(distributions.fdtrc, cost=900),
        _row(distributions.gdtr, cost=700),
        _row(distributions.gdtrc, cost=700),
        _row(distributions.multigammaln, cost=400),
        _row(distributions.polygamma, cost=500),
    )
}
