"""Functions of counts, degrees and orders that SciPy defines in Python, and functions of exponentials."""

from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.functions import special
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._calls import run_counted, trial
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.special import _kernels
from gpuarray.scipy.special._elementary import HIGHEST, normalized

__all__ = ["comb", "factorial", "perm", "sinc", "softplus", "sph_harm_y"]

binom: Final[Any] = vars(_kernels)["binom"]
poch: Final[Any] = vars(_kernels)["poch"]
_EXACT: Final = "with exact=True, the integers may be of any size"
_EXTENDED: Final = f"{_EXACT}; extensions to other numbers have no composition"
_DEGREES: Final = f"a degree or an order is no Python integer of at most {HIGHEST}, or derivatives are asked for"
_KEYWORDS: Final = "keywords of ufuncs are given"


@mirrors(scipy_special.comb, reason=_EXACT)
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:  # noqa: N803
    """Return how many sets of ``k`` of ``N`` things there are."""
    if exact:
        return run_counted(scipy_special.comb, _EXACT, (N, k), {"exact": True, "repetition": repetition})
    things, taken = as_arrays(N, k)
    if repetition:
        result = binom(things + taken - 1, taken)
        return xp.where((taken == 0) & (things >= 0), 1, result).astype(result.dtype)
    result = binom(things, taken)
    return xp.where((taken <= things) & (things >= 0) & (taken >= 0), result, 0).astype(result.dtype)


@mirrors(scipy_special.perm, reason=_EXACT)
def perm(N: Any, k: Any, exact: bool = False) -> Any:  # noqa: N803
    """Return how many sequences of ``k`` of ``N`` things there are."""
    if exact:
        return run_counted(scipy_special.perm, _EXACT, (N, k, True), {})
    things, taken = as_arrays(N, k)
    result = poch(things - taken + 1, taken)
    return xp.where((taken <= things) & (things >= 0) & (taken >= 0), result, 0).astype(result.dtype)


@mirrors(scipy_special.factorial, reason=_EXTENDED)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """Return factorials, which are 0 for negative numbers."""
    if exact or extend != "zero":
        return run_counted(scipy_special.factorial, _EXTENDED, (n, exact, extend), {})
    number = as_array(n)
    kind = trial(scipy_special.factorial, number)
    computed = dtypes.float32 if number.dtype == dtypes.float32 else dtypes.float64
    following = (xp.maximum(number, 0) + 1).astype(computed, copy=False)
    return xp.where(number < 0, 0, special.gamma(following)).astype(kind, copy=False)


@mirrors(scipy_special.sinc, name="special.sinc")
def sinc(x: Any) -> GpuArray:
    """Return ``sin(pi x) / (pi x)``."""
    return xp.sinc(as_array(x))


@mirrors(scipy_special.softplus, reason=_KEYWORDS)
def softplus(x: Any, **kwargs: Any) -> Any:
    """Return ``log(1 + exp(x))``, without overflow."""
    if kwargs:
        return run_counted(scipy_special.softplus, _KEYWORDS, (x,), kwargs)
    return xp.logaddexp(0, as_array(x))


@mirrors(scipy_special.sph_harm_y, reason=_DEGREES, name="special.sph_harm_y")
def sph_harm_y(*args: Any, **kwargs: Any) -> Any:
    """Return a spherical harmonic of degree ``n`` and order ``m``, at polar and azimuthal angles."""
    known = [v for v in args[:2] if type(v) is int and abs(v) <= HIGHEST]
    if kwargs or len(args) != 4 or len(known) != 2:
        return run_counted(scipy_special.sph_harm_y, _DEGREES, args, kwargs, "special.sph_harm_y")
    (n, m), order = known, abs(known[1])
    theta, phi = (v.astype(dtypes.float64, copy=False) for v in as_arrays(*args[2:]))
    if order > n:
        shape = np.broadcast_shapes(theta.shape, phi.shape)
        return xp.zeros(shape, dtypes.complex128, device=theta.device)
    harmonic = normalized(n, order, theta) * (-1 if m < 0 and order % 2 else 1)
    return apply(ops.complex_from_parts, harmonic * xp.cos(m * phi), harmonic * xp.sin(m * phi))
