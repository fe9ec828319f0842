"""Optimisation, as :mod:`scipy.optimize`: SciPy iterates on the host, functions and derivatives run on the device.

Functions that are given, such as objectives, derivatives, residuals, constraints and callbacks, get arrays of this
package in place of NumPy's, and may return them. They are on the device of the arrays among the arguments, or on the
default device; numbers stay numbers. Arrays of the results are arrays of this package.
"""

from typing import Any, Final

import numpy as np
from scipy import optimize as _scipy

from gpuarray.array import GpuArray
from gpuarray.functions.creation import asarray, asarray_chkfinite
from gpuarray.scipy import _host
from gpuarray.scipy._mirror import calling, missing
from gpuarray.scipy.optimize._rosenbrock import *

#: The functions that take functions.
_CALLING: Final = (
    "anderson", "approx_fprime", "basinhopping", "bisect", "bracket", "brent", "brenth", "brentq", "broyden1",
    "broyden2", "brute", "check_grad", "curve_fit", "diagbroyden", "differential_evolution", "direct", "dual_annealing",
    "excitingmixing", "fixed_point", "fmin", "fmin_bfgs", "fmin_cg", "fmin_cobyla", "fmin_l_bfgs_b", "fmin_ncg",
    "fmin_powell", "fmin_slsqp", "fmin_tnc", "fminbound", "fsolve", "golden", "least_squares", "leastsq", "line_search",
    "linearmixing", "minimize", "minimize_scalar", "newton", "newton_krylov", "ridder", "root", "root_scalar", "shgo",
    "toms748",
)  # fmt: skip


def _prepare_fit(given: dict[str, Any]) -> None:
    """Put the points of a fit, which each step needs, on the device, converted as SciPy does."""
    if given.get("nan_policy") is None and isinstance(given.get("xdata"), list | tuple | np.ndarray | GpuArray):
        convert = asarray if given.get("check_finite") is False else asarray_chkfinite
        given["xdata"] = convert(given["xdata"], np.float64)


_PREPARE: Final = {"curve_fit": _prepare_fit}

globals().update(_host.on_host("optimize"))
globals().update(
    {
        name: calling(getattr(_scipy, name), f"optimize.{name}", _PREPARE.get(name))
        for name in _CALLING
        if hasattr(_scipy, name)
    }
)

__getattr__ = missing("optimize", vars(_scipy))
