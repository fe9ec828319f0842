"""The functions that are measured: their exact values, and where they are hard.

Every function goes by the name of its NumPy ufunc. Exact values are mpmath's, at a precision that the caller sets. An
interval is where a function is neither trivial nor out of range; samples take part of their values there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

import mpmath
import numpy as np
from mpmath import mp

from bench.accuracy.parameters import PARAMETRIC, Sample
from bench.accuracy.special import EXACT, narrow

Exact = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function.

    Attributes
    ----------
    name : str
        That of NumPy's ufunc; the other libraries have it by this name or by ``other``.
    exact : callable, optional
        From mpmath numbers to the exact value; without it NumPy's own values are exact.
    arity : int
        Number of operands.
    interval : tuple of float
        From where half of the sample of ordinary values is taken.
    hard : tuple
        Float64 operands at which implementations went wrong.
    other : str
        The name before the array API standard's.
    complex_ : bool
        Whether it takes complex operands.
    relative : bool
        Whether errors are relative to the result; else to the largest of result, operands and 1.
    special : bool
        Whether it is one of SciPy's, in ``gpuarray.special``.
    call : callable, optional
        Where it is no NumPy function by its name.
    one_by_one : bool
        Whether SciPy takes one number of the last operand at a time, an int.
    sample : callable, optional
        Where it has operands of its own: from a generator, a count, and the largest decimal exponent.
    """

    name: str
    exact: Exact | None
    arity: int = 1
    interval: tuple[float, float] = (-10.0, 10.0)
    hard: tuple[Any, ...] = ()
    other: str = ""
    complex_: bool = True
    relative: bool = True
    special: bool = False
    call: Callable[..., Any] | None = None
    one_by_one: bool = False
    sample: Sample | None = None


#: Arguments that lie so close to a multiple of pi/2 that all of 2/pi is needed (Kahan; Muller), and multiples of pi/2.
_NEAR_QUADRANTS: Final = (
    6381956970095103 * 2.0**797, 6411027962775774 * 2.0**-48, 2.0**1023 * (2 - 2.0**-52), 1e22, 11.0, 22.0, 355.0,
    103993.0, 33102.0 * 2.0**20, 0.5 * math.pi, 1.5 * math.pi, 1e5 * math.pi, 2.0**40 * math.pi, 0.785398163397448,
)  # fmt: skip
_NEAR_ONE: Final = (1 - 2.0**-53, 1 + 2.0**-52, 1 - 2.0**-40, 1 + 2.0**-30, 0.9990234375, 1.001, 0.70710678, 1.41421356)


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, mpmath.mpc):
        return mpmath.power(x, y)
    magnitude = mpmath.power(abs(x), y)
    if x >= 0:
        return magnitude
    if y != int(y):
        return mp.nan
    return -magnitude if int(y) % 2 else magnitude


def _cube_root(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _log_sum(x: Any, y: Any) -> Any:
    return max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))


def _log2_sum(x: Any, y: Any) -> Any:
    return max(x, y) + mpmath.log1p(mpmath.power(2, -abs(x - y))) / mpmath.log(2)


def _remainder(x: Any, y: Any) -> Any:
    return x - y * mpmath.floor(x / y)


def _truncated_remainder(x: Any, y: Any) -> Any:
    left = abs(x) - abs(y) * mpmath.floor(abs(x) / abs(y))
    return left if x >= 0 else -left


def _asinh(z: Any) -> Any:
    # odd, since mpmath subtracts where the real part is negative
    return -mpmath.asinh(-z) if z.real < 0 else mpmath.asinh(z)


_LARGEST = float(np.finfo(np.float64).max)

_ALL = (
    Function(name="add", arity=2, exact=lambda x, y: x + y),
    Function(name="subtract", arity=2, exact=lambda x, y: x - y),
    Function(name="multiply", arity=2, exact=lambda x, y: x * y),
    Function(name="square", exact=lambda x: x * x),
    Function(name="floor_divide", arity=2, exact=lambda x, y: mpmath.floor(x / y), complex_=False),
    Function(name="abs", other="absolute", exact=abs),
    Function(name="sqrt", exact=mpmath.sqrt, interval=(0, 100), hard=_NEAR_ONE),
    Function(name="cbrt", exact=_cube_root, interval=(-100, 100), hard=_NEAR_ONE, complex_=False),
    Function(name="exp", exact=mpmath.exp, interval=(-104, 89), hard=(
        7.541752774995959e-10, 709.782712893384, -745.1332191019411, -708.3964185322641, 2.0**-54, -(2.0**-54),
        0.34657359,
    )),
    Function(name="exp2", exact=lambda x: mpmath.power(2, x), interval=(-150, 128), hard=(
        1023.9999999999999, -1074.4999999999998, -1022.5, 0.5, 0.49999999999999994,
    )),
    Function(name="expm1", exact=mpmath.expm1, interval=(-20, 89), hard=(
        709.782712893384, -37.42994775023705, 0.34657359, -0.34657359, 1e-5, 1.0397207708399179,
    )),
    Function(name="log", exact=mpmath.log, interval=(0, 10), hard=(*_NEAR_ONE, 5e-324, 2.2e-308, _LARGEST)),
    Function(name="log2", exact=lambda x: mpmath.log(x) / mpmath.log(2), interval=(0, 10), hard=(*_NEAR_ONE, 5e-324)),
    Function(name="log10", exact=lambda x: mpmath.log(x) / mpmath.log(10), interval=(0, 10), hard=(
        *_NEAR_ONE, 5e-324, 1000.0, 1e22,
    )),
    Function(name="log1p", exact=mpmath.log1p, interval=(-1, 3), hard=(
        -1 + 2.0**-53, -0.29289321881345254, 0.4142135623730951, 2.0**-54, -(2.0**-40), _LARGEST,
    )),
    Function(name="sin", exact=mpmath.sin, interval=(-100, 100), hard=_NEAR_QUADRANTS),
    Function(name="cos", exact=mpmath.cos, interval=(-100, 100), hard=_NEAR_QUADRANTS),
    Function(name="tan", exact=mpmath.tan, interval=(-100, 100), hard=_NEAR_QUADRANTS),
    Function(name="asin", other="arcsin", exact=mpmath.asin, interval=(-1, 1), hard=(0.5, -0.5, *_NEAR_ONE[:1], 0.975)),
    Function(name="acos", other="arccos", exact=mpmath.acos, interval=(-1, 1), hard=(0.5, -0.5, *_NEAR_ONE[:1], 1e-9)),
    Function(name="atan", other="arctan", exact=mpmath.atan, interval=(-3, 3), hard=(0.4375, 0.6875, 1.1875, 2.4375)),
    Function(name="sinh", exact=mpmath.sinh, interval=(-89, 89), hard=(710.4758600739439, 1.0, 22.0, 0.3, 2.0**-28)),
    Function(name="cosh", exact=mpmath.cosh, interval=(-89, 89), hard=(710.4758600739439, 0.34657359, 22.0, 2.0**-28)),
    Function(name="tanh", exact=mpmath.tanh, interval=(-10, 10), hard=(0.54930614, 0.25541281, 22.0, 0.625, 2.0**-28)),
    Function(name="asinh", other="arcsinh", exact=_asinh, interval=(-5, 5), hard=(2.0, 2.0**28, _LARGEST, 2.0**-28)),
    Function(name="acosh", other="arccosh", exact=mpmath.acosh, interval=(1, 5), hard=(
        1 + 2.0**-52, 1 + 2.0**-26, 2.0, 2.0**28, _LARGEST,
    )),
    Function(name="atanh", other="arctanh", exact=mpmath.atanh, interval=(-1, 1), hard=(0.5, *_NEAR_ONE[:1], 2.0**-28)),
    Function(name="reciprocal", exact=lambda x: 1 / x, hard=_NEAR_ONE),
    Function(name="degrees", exact=mpmath.degrees, interval=(-7, 7), complex_=False),
    Function(name="radians", exact=mpmath.radians, interval=(-400, 400), complex_=False),
    Function(name="divide", arity=2, exact=lambda x, y: x / y),
    Function(name="hypot", arity=2, exact=mpmath.hypot, complex_=False, hard=(
        (3e200, 4e200), (3e-200, 4e-200), (1.0, 1e-8),
    )),
    Function(name="atan2", other="arctan2", arity=2, exact=mpmath.atan2, complex_=False, hard=(
        (1.0, -1.0), (1e-300, -1.0), (1e-300, 1e300), (0.4375, 1.0), (2.4375, -1.0),
    )),
    Function(name="pow", other="power", arity=2, exact=_power, interval=(-40, 40), hard=(
        (1 + 2.0**-52, 2.0**62), (1 - 2.0**-53, -(2.0**62)), (1.4142135623730951, 2047.0), (0.1, 308.0), (10.0, -308.0),
        (-3.0, 641.0), (1.0000000001, 7e12), (2.0, -1074.0), (1.2247448713915892, 3499.0), (1.7320508075688774, 1291.0),
    )),
    Function(name="fmod", arity=2, exact=_truncated_remainder, complex_=False, hard=((1e22, 3.0), (5.3, 0.1))),
    Function(name="remainder", arity=2, exact=_remainder, complex_=False, hard=((-1e22, 3.0), (5.3, -0.1))),
    Function(name="logaddexp", arity=2, exact=_log_sum, complex_=False, relative=False),
    Function(name="logaddexp2", arity=2, exact=_log2_sum, complex_=False, relative=False),
)  # fmt: skip

_SPECIAL = tuple(
    Function(
        name=name,
        exact=exact,
        interval=interval,
        complex_=False,
        special=True,
    )
    for name, (exact, interval) in EXACT.items()
)

_PARAMETRIC = tuple(
    Function(
        name=name,
        exact=narrow(result.exact),
        arity=len(signature(result.exact).parameters),
        hard=result.hard,
        complex_=False,
        special=True,
        relative=result.relative,
        sample=result.sample,
        one_by_one=name == "multigammaln",
    )
    for name, result in PARAMETRIC.items()
)


def _ldexp(x: Any, y: Any) -> Any:
    return np.ldexp(x, y.astype(np.int32))


def _small_exponents(random: np.random.Generator, count: int, _largest: float) -> list[Any]:
    return [random.normal(0, 1, count) * 10 ** random.uniform(-30, 30, count), random.integers(-200, 200, count) * 1.0]


#: Those whose values take no rounding, or are numbers of the dtype that lie where they do: NumPy's are exact.
_EXACT = tuple(
    Function(name=name, exact=None, arity=arity, complex_=False, call=call, sample=sample)
    for name, arity, call, sample in (
        *((name, 1, None, None) for name in ("positive", "negative", "fabs", "sign", "floor", "ceil", "trunc", "rint")),
        *((name, 2, None, None) for name in ("maximum", "minimum", "fmax", "fmin", "copysign", "heaviside")),
        ("nextafter", 2, None, None),
        ("spacing", 1, None, None),
        ("ldexp", 2, _ldexp, _small_exponents),
        ("frexp_mantissa", 1, lambda x: np.frexp(x)[0], None),
        ("frexp_exponent", 1, lambda x: np.frexp(x)[1], None),
        ("modf_fraction", 1, lambda x: np.modf(x)[0], None),
        ("modf_integral", 1, lambda x: np.modf(x)[1], None),
    )
)

FUNCTIONS: Final = {function.name: function for function in (*_ALL, *_EXACT, *_SPECIAL, *_PARAMETRIC)}
