"""Functions that have no composition, which SciPy runs on the host."""

from typing import Final

from scipy import linalg

from gpuarray.scipy._mirror import hosted

_SCHUR: Final = "LAPACK's iteration for general matrices runs on the host"
_UPDATES: Final = "rotations are applied one after the other"
_EQUATIONS: Final = "the equation is solved with the factors of Schur"
_BANDED: Final = "reduces a banded matrix, one rotation after the other"
_SMALL: Final = "it has no composition yet"
_REASONS: Final = {
    **dict.fromkeys((
        "cdf2rdf", "eig", "eigvals", "fractional_matrix_power", "funm", "hessenberg", "logm", "ordqz", "qz", "rsf2csf",
        "schur", "signm", "sqrtm",
    ), _SCHUR),
    **dict.fromkeys(("qr_delete", "qr_insert", "qr_update"), _UPDATES),
    **dict.fromkeys((
        "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov",
        "solve_lyapunov", "solve_sylvester",
    ), _EQUATIONS),
    **dict.fromkeys(("eig_banded", "eigh_tridiagonal", "eigvals_banded", "eigvalsh_tridiagonal"), _BANDED),
    "ldl": "pivots of one and two rows are chosen one after the other",
    "matrix_balance": "rows and columns are scaled one after the other",
    "clarkson_woodruff_transform": _SMALL, "cossin": _SMALL, "expm_cond": _SMALL, "qr_multiply": _SMALL, "rq": _SMALL,
}  # fmt: skip
_KNOWN: Final = {
    name: hosted(getattr(linalg, name), reason, name=f"linalg.{name}")
    for name, reason in _REASONS.items()
    if hasattr(linalg, name)
}
globals().update(_KNOWN)

__all__ = [*_KNOWN]
