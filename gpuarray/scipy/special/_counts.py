"""Functions of counts, degrees and orders that SciPy defines in Python, and functions of exponentials."""

from functools import cache
from math import comb as binomial
from math import pi, sqrt
from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.dtypes import DType
from gpuarray.functions import special
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._calls import run_counted, trial
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.special import _kernels
from gpuarray.scipy.special._elementary import HIGHEST, normalized

__all__ = [
    "assoc_laguerre", "comb", "factorial", "factorial2", "ivp", "jvp", "kvp", "legendre_p", "perm", "sinc", "softplus",
    "sph_harm_y", "sph_legendre_p", "yvp",
]  # fmt: skip

binom: Final[Any] = vars(_kernels)["binom"]
poch: Final[Any] = vars(_kernels)["poch"]
eval_genlaguerre: Final[Any] = vars(_kernels)["eval_genlaguerre"]
eval_legendre: Final[Any] = vars(_kernels)["eval_legendre"]
jv, yv, iv, kv = (vars(_kernels)[name] for name in ("jv", "yv", "iv", "kv"))
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


@mirrors(scipy_special.factorial2, reason=_EXTENDED)
def factorial2(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """Return products of every second integer up to a number, which are 0 for negative numbers."""
    if exact or extend != "zero":
        return run_counted(scipy_special.factorial2, _EXTENDED, (n, exact, extend), {})
    number = as_array(n)
    kind = trial(scipy_special.factorial2, number)
    half = xp.maximum(number, 0) / 2
    result = special.gamma(half + 1) * 2.0**half
    result = xp.where(xp.remainder(number, 2) == 1, result * sqrt(2 / pi), result)
    return xp.where(number < 0, 0, result).astype(kind, copy=False)


@mirrors(scipy_special.assoc_laguerre, reason=_kernels.DEGREES.format(HIGHEST), name="special.assoc_laguerre")
def assoc_laguerre(x: Any, n: Any, k: Any = 0.0) -> Any:
    """Return the associated Laguerre polynomial of degree ``n`` and order ``k``."""
    return eval_genlaguerre(n, k, x)


def _derived(name: str, function: Any, phase: int, is_alternating: bool = False) -> Any:
    """Return a function that returns derivatives of a Bessel function, sums of those of other orders.

    Parameters
    ----------
    name : str
        Its name.
    function : callable
        The Bessel function.
    phase : int
        The sign of the function of the order above in the first derivative.
    is_alternating : bool
        Whether the sign alternates with the number of the derivative.
    """
    original = getattr(scipy_special, name)

    def run(v: Any, z: Any, n: Any = 1) -> Any:
        if type(n) is not int or n < 0:
            original(0, 0.5, n)  # raises the error, if it is one
            n = int(n)
        v = v if np.isscalar(v) else as_array(v)
        result = function(v - n, z)
        for k in range(1, n + 1):
            result = result + phase**k * binomial(n, k) * function(v - n + 2 * k, z)
        return result * ((-1.0 if is_alternating and n % 2 else 1.0) / 2.0**n)

    return mirrors(original, reason=_kernels.DEGREES.format(12), name=f"special.{name}")(run)


jvp = _derived("jvp", jv, -1)
yvp = _derived("yvp", yv, -1)
ivp = _derived("ivp", iv, 1)
kvp = _derived("kvp", kv, 1, is_alternating=True)


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


@mirrors(scipy_special.legendre_p, reason=_DEGREES, name="special.legendre_p")
def legendre_p(*args: Any, **kwargs: Any) -> Any:
    """Return the Legendre polynomial of degree ``n``, along a first axis for its derivatives."""
    n = args[0] if args else None
    if kwargs or len(args) != 2 or type(n) is not int or not 0 <= n <= HIGHEST or as_array(args[1]).dtype.kind == "c":
        return run_counted(scipy_special.legendre_p, _DEGREES, args, kwargs, "special.legendre_p")
    x = as_array(args[1])
    return eval_legendre(n, x.astype(dtypes.float64, copy=False))[None].astype(_dtype_of_legendre(x.dtype), copy=False)


@cache
def _dtype_of_legendre(dtype: DType) -> DType:
    """Return the dtype of Legendre polynomials, which before SciPy 1.18 was float64 for all."""
    return dtypes.canonical(scipy_special.legendre_p(0, np.zeros((), dtype)).dtype)


@mirrors(scipy_special.sph_legendre_p, reason=_DEGREES, name="special.sph_legendre_p")
def sph_legendre_p(*args: Any, **kwargs: Any) -> Any:
    """Return the part of a spherical harmonic of degree ``n`` and order ``m`` that depends on the polar angle."""
    known = [v for v in args[:2] if type(v) is int and abs(v) <= HIGHEST]
    if kwargs or len(args) != 3 or len(known) != 2 or known[0] < 0 or as_array(args[2]).dtype.kind == "c":
        return run_counted(scipy_special.sph_legendre_p, _DEGREES, args, kwargs, "special.sph_legendre_p")
    (n, m), theta = known, as_array(args[2]).astype(dtypes.float64, copy=False)
    if abs(m) > n:
        return xp.zeros_like(theta)[None]
    return (normalized(n, abs(m), theta) * (-1 if m < 0 and m % 2 else 1))[None]


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
