"""Functions of counts and orders that SciPy defines in Python, and functions of exponentials."""

from math import comb as binomial
from math import pi, sqrt
from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import special
from gpuarray.functions.arguments import as_array, as_arrays
from gpuarray.scipy._calls import run_counted, trial
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.special import _kernels
from gpuarray.scipy.special._elementary import HIGHEST

__all__ = [
    "assoc_laguerre", "comb", "factorial", "factorial2", "factorialk", "h1vp", "h2vp", "ivp", "jvp", "kvp", "perm",
    "sinc", "softplus", "yvp",
]  # fmt: skip

binom: Final[Any] = vars(_kernels)["binom"]
poch: Final[Any] = vars(_kernels)["poch"]
eval_genlaguerre: Final[Any] = vars(_kernels)["eval_genlaguerre"]
jv, yv, iv, kv, hankel1, hankel2 = (vars(_kernels)[name] for name in ("jv", "yv", "iv", "kv", "hankel1", "hankel2"))
_EXACT: Final = "with exact=True, the integers may be of any size"
_EXTENDED: Final = f"{_EXACT}; extensions to other numbers have no composition"
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


@mirrors(scipy_special.factorialk, reason=_EXTENDED)
def factorialk(n: Any, k: int, exact: bool = False, extend: str = "zero") -> Any:
    """Return products of every k-th integer up to a number, which are 0 for negative numbers."""
    number = as_array(n)
    if exact or extend != "zero" or type(k) is not int or k < 1 or number.dtype.kind not in "iu":
        return run_counted(scipy_special.factorialk, _EXTENDED, (n, k, exact, extend), {})
    count = xp.maximum(number, 0)
    rest = xp.remainder(count, k)
    result = float(k) ** ((count - rest) / k) * special.gamma(count / k + 1) / special.gamma(rest / k + 1)
    return xp.where(number < 0, 0, result * xp.maximum(rest, 1))


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
h1vp = _derived("h1vp", hankel1, -1)
h2vp = _derived("h2vp", hankel2, -1)


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
