"""The operations of the special functions, under SciPy's names. Each is one formula, for kernels and for the host.

This package is imported when a special function is first used: see :func:`gpuarray.ops.spec.op_named`.
"""

from typing import Final

from gpuarray.dtypes import float32, float64
from gpuarray.ops.columns import NumPyForm
from gpuarray.ops.formula import Formula
from gpuarray.ops.formula_ufunc import FormulaUfunc, floating, with_counts
from gpuarray.ops.numpy_forms import sinc
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
    inverses,
    logistic,
    losses,
    omega,
    oscillating,
    slopes,
    student,
    zeta,
)


def _op(
    formula: Formula,
    *,
    cost: int,
    ulp: float = 2,
    counts: tuple[int, ...] = (),
    numpy_forms: tuple[NumPyForm, ...] = (),
) -> MapOp:
    """Return the operation of a formula. ``counts`` are the operands that SciPy converts to C's ``int``."""
    rule = with_counts(counts) if counts else floating
    operands = ", ".join(f"{{R}}({{{i}}})" if i in counts else f"{{{i}}}" for i in range(len(formula.parameters)))
    form = f"{formula.name}_{{R}}({operands})"
    return MapOp(
        name=formula.name, numpy=FormulaUfunc(formula, rule), arity=len(formula.parameters), dtypes=rule,
        wgsl={"float": form, "i32": form} if 0 in counts else {"float": form},
        cost=cost, ulp=ulp, doc=formula.__doc__ or "", numpy_forms=numpy_forms,
    )  # fmt: skip


#: The operations by SciPy's name.
OPS: Final[dict[str, MapOp]] = {
    op.name: op
    for op in (
        _op(errors.erf, cost=120),
        _op(errors.erfc, cost=120),
        _op(errors.erfcx, cost=120),
        _op(errors.erfinv, cost=150),
        _op(errors.erfcinv, cost=150),
        _op(errors.ndtr, cost=120),
        _op(errors.log_ndtr, cost=120),
        _op(errors.ndtri, cost=150),
        _op(gamma.gamma, cost=150),
        _op(gamma.rgamma, cost=150),
        _op(gamma.gammaln, cost=150),
        _op(gamma.loggamma, cost=150),
        _op(gamma.gammasgn, cost=4),
        _op(gamma.digamma, cost=120),
        _op(gamma.sinc, cost=50, numpy_forms=(NumPyForm(sinc, (float32, float64), calls=40, scratch=4),)),
        _op(logistic.expit, cost=30),
        _op(logistic.logit, cost=30),
        _op(logistic.log_expit, cost=30),
        _op(logistic.xlogy, cost=12),
        _op(logistic.xlog1py, cost=14),
        _op(logistic.entr, cost=12),
        _op(logistic.rel_entr, cost=120),
        _op(logistic.kl_div, cost=120),
        _op(logistic.exprel, cost=20),
        _op(beta.beta, cost=300, ulp=5),
        _op(beta.betaln, cost=300, ulp=5),
        _op(incomplete.gammainc, cost=600),
        _op(incomplete.gammaincc, cost=600),
        _op(incomplete.pdtr, cost=600),
        _op(incomplete.pdtrc, cost=600),
        _op(incomplete_beta.betainc, cost=900),
        _op(incomplete_beta.betaincc, cost=900),
        _op(student.stdtr, cost=900),
        _op(losses.huber, cost=10),
        _op(losses.pseudo_huber, cost=60),
        _op(zeta.zeta, cost=800),
        _op(bessel.i0, cost=120),
        _op(bessel.i0e, cost=120),
        _op(bessel.i1, cost=120),
        _op(bessel.i1e, cost=120),
        _op(bessel_jy.j0, cost=200),
        _op(bessel_jy.j1, cost=200),
        _op(bessel_jy.y0, cost=250),
        _op(bessel_jy.y1, cost=250),
        _op(bessel_k.k0, cost=150),
        _op(bessel_k.k0e, cost=150),
        _op(bessel_k.k1, cost=150),
        _op(bessel_k.k1e, cost=150),
        _op(integrals.exp1, cost=400),
        _op(integrals.expi, cost=400),
        _op(integrals.spence, cost=200),
        _op(integrals.ellipk, cost=300),
        _op(integrals.ellipkm1, cost=300),
        _op(degrees.sindg, cost=40),
        _op(degrees.cosdg, cost=40),
        _op(degrees.tandg, cost=50),
        _op(degrees.cotdg, cost=50),
        _op(degrees.radian, cost=10),
        _op(degrees.cosm1, cost=60),
        _op(boxcox.boxcox, cost=120),
        _op(boxcox.boxcox1p, cost=120),
        _op(boxcox.inv_boxcox, cost=120),
        _op(boxcox.inv_boxcox1p, cost=120),
        _op(distributions.bdtr, cost=900, counts=(1,)),
        _op(distributions.bdtrc, cost=900, counts=(1,)),
        _op(distributions.nbdtr, cost=900, counts=(0, 1)),
        _op(distributions.nbdtrc, cost=900, counts=(0, 1)),
        _op(distributions.fdtr, cost=900),
        _op(distributions.fdtrc, cost=900),
        _op(distributions.gdtr, cost=700),
        _op(distributions.gdtrc, cost=700),
        _op(distributions.multigammaln, cost=400),
        _op(distributions.polygamma, cost=500),
    )
}
#: Derivatives of the operations by name, which have no public function.
SLOPES: Final[dict[str, MapOp]] = {
    op.name: op
    for op in (
        _op(slopes.gammainc_by_order, cost=4000, ulp=1e4),
        _op(slopes.betainc_by_shape, cost=6000, ulp=1e4),
        _op(slopes.multidigamma, cost=400),
        _op(slopes.ellipk_slope, cost=300, ulp=4),
        _op(slopes.zeta_by_exponent, cost=800, ulp=100),
    )
}
#: Inverses of distributions by name, whose errors are those of the distributions divided by their densities.
INVERSES: Final[dict[str, MapOp]] = {
    op.name: op
    for op in (
        _op(inverses.gammaincinv, cost=6000, ulp=1e4),
        _op(inverses.gammainccinv, cost=6000, ulp=1e4),
        _op(inverses.beta_inverse_odds, cost=9000, ulp=1e4),
    )
}
#: Functions by name that only :mod:`gpuarray.scipy` has, and parts of those that have several results.
OF_SCIPY: Final[dict[str, MapOp]] = {
    op.name: op
    for op in (
        _op(oscillating.sine_integral, cost=250),
        _op(oscillating.cosine_integral, cost=300),
        _op(oscillating.fresnel_sine, cost=200),
        _op(oscillating.fresnel_cosine, cost=200),
        _op(omega.wrightomega, cost=200),
    )
}
