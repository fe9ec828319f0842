"""Functions without a composition, which SciPy runs on the host.

The tables have the names by subpackage; those that the installed SciPy lacks are left out.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from gpuarray.scipy._compositions import COMPOSITIONS
from gpuarray.scipy._matrix_derivatives import PULLS
from gpuarray.scipy._mirror import designed, hosted

_NONE: Final = "it has no composition yet"
_ORDER: Final = "each step depends on the steps before it"

#: Functions, by the reason for which they count as fallbacks.
_HOSTED: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "linalg": {
        "LAPACK's iteration for general matrices runs on the host": (
            "cdf2rdf", "eig", "eigvals", "fractional_matrix_power", "funm", "hessenberg", "logm", "ordqz", "qz",
            "rsf2csf", "schur", "signm", "sqrtm",
        ),
        "rotations are applied one after the other": ("qr_delete", "qr_insert", "qr_update"),
        "the equation is solved with the factors of Schur": (
            "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov",
            "solve_lyapunov", "solve_sylvester",
        ),
        "reduces a banded matrix, one rotation after the other": (
            "eig_banded", "eigh_tridiagonal", "eigvals_banded", "eigvalsh_tridiagonal",
        ),
        "pivots of one and two rows are chosen one after the other": ("ldl",),
        "rows and columns are scaled one after the other": ("matrix_balance",),
        _NONE: ("clarkson_woodruff_transform", "cossin", "expm_cond", "qr_multiply", "rq"),
    },
    "ndimage": {
        _ORDER: ("watershed_ift",),
    },
    "optimize": {
        _ORDER: (
            "isotonic_regression", "linear_sum_assignment", "linprog", "lsq_linear", "milp", "nnls",
            "quadratic_assignment",
        ),
    },
    "signal": {
        _NONE: ("whittaker_henderson",),
    },
}  # fmt: skip
#: The design of filters, and their analysis, which take little work. The results are arrays of this package.
_DESIGNED: Final[Mapping[str, tuple[str, ...]]] = {
    "signal": (
        "abcd_normalize", "band_stop_obj", "besselap", "bessel", "bilinear", "bilinear_zpk", "bode", "buttap", "butter",
        "buttord", "cheb1ap", "cheb1ord", "cheb2ap", "cheb2ord", "cheby1", "cheby2", "check_COLA", "check_NOLA",
        "closest_STFT_dual_window", "cont2discrete", "correlation_lags", "czt_points", "dbode", "dfreqresp", "dimpulse",
        "dstep", "ellip", "ellipap", "ellipord", "findfreqs", "firls", "firwin", "firwin2", "firwin_2d", "freqresp",
        "freqs", "freqs_zpk", "freqz", "freqz_sos", "freqz_zpk", "gammatone", "get_window", "group_delay", "iircomb",
        "iirdesign", "iirfilter", "iirnotch", "iirpeak", "impulse", "invres", "invresz", "kaiser_atten", "kaiser_beta",
        "kaiserord", "lfilter_zi", "lfiltic", "lp2bp", "lp2bp_zpk", "lp2bs", "lp2bs_zpk", "lp2hp", "lp2hp_zpk", "lp2lp",
        "lp2lp_zpk", "max_len_seq", "minimum_phase", "normalize", "place_poles", "remez", "residue", "residuez",
        "savgol_coeffs", "sos2tf", "sos2zpk", "sosfilt_zi", "sosfreqz", "ss2tf", "ss2zpk", "step", "tf2sos", "tf2ss",
        "tf2zpk", "unique_roots", "unit_impulse", "zpk2sos", "zpk2ss", "zpk2tf",
    ),
}  # fmt: skip
#: SciPy's own classes, and functions that take no arrays.
_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "optimize": (
        "BFGS",
        "Bounds",
        "BroydenFirst",
        "HessianUpdateStrategy",
        "InverseJacobian",
        "KrylovJacobian",
        "LbfgsInvHessProduct",
        "LinearConstraint",
        "NoConvergence",
        "NonlinearConstraint",
        "OptimizeResult",
        "OptimizeWarning",
        "RootResults",
        "SR1",
        "linprog_verbose_callback",
        "show_options",
    ),
    "signal": ("BadCoefficients", "CZT", "StateSpace", "TransferFunction", "ZerosPolesGain", "ZoomFFT", "dlti", "lti"),
}


def on_host(package: str) -> dict[str, Any]:
    """Return by name what a subpackage of SciPy has without a composition, in the order of the tables."""
    scipys = vars(import_module(f"scipy.{package}"))

    def known(names: tuple[str, ...]) -> list[str]:
        return [name for name in names if name in scipys]

    compositions = COMPOSITIONS.get(package, {})
    classes = {name: scipys[name] for name in _CLASSES.get(package, ())}
    for reason, names in _HOSTED[package].items():
        classes |= {
            name: hosted(
                scipys[name], reason, name=f"{package}.{name}", pull=PULLS.get(name), composition=compositions.get(name)
            )
            for name in known(names)
        }
    designs = known(_DESIGNED.get(package, ()))
    return classes | {name: designed(scipys[name], f"{package}.{name}", compositions.get(name)) for name in designs}
