"""The special functions: one row each, by SciPy's names. Each is one formula, for kernels and for the host."""

from typing import Final

from gpuarray.ops.formula import Formula, Function, floating
from gpuarray.ops.spec import MapOp
from gpuarray.ops.special import bessel, beta, errors, gamma, incomplete, incomplete_beta, logistic, losses, zeta


def _row(formula: Formula, *, cost: int, ulp: float = 2) -> MapOp:
    operands = ", ".join(f"{{{i}}}" for i in range(len(formula.parameters)))
    return MapOp(
        name=formula.name, numpy=Function(formula), arity=len(formula.parameters), dtypes=floating,
        wgsl={"float": f"{formula.name}_{{T}}({operands})"}, cost=cost, ulp=ulp, doc=formula.__doc__ or "",
    )  # fmt: skip


#: The rows by SciPy's names of the functions.
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
        _row(incomplete.gammainc, cost=600, ulp=4),
        _row(incomplete.gammaincc, cost=600, ulp=4),
        _row(incomplete.pdtr, cost=600, ulp=4),
        _row(incomplete.pdtrc, cost=600, ulp=4),
        _row(incomplete_beta.betainc, cost=900, ulp=4),
        _row(incomplete_beta.betaincc, cost=900, ulp=4),
        _row(losses.huber, cost=10),
        _row(losses.pseudo_huber, cost=20, ulp=3),
        _row(zeta.zeta, cost=400, ulp=4),
        _row(bessel.i0, cost=120),
        _row(bessel.i0e, cost=120),
        _row(bessel.i1, cost=120),
        _row(bessel.i1e, cost=120),
    )
}
