"""The partial derivatives of special functions that SciPy computes on the host, by the formulas of NIST's handbook.

https://dlmf.nist.gov has them: Airy functions 9.2, Bessel functions 10.6 and 10.29, spherical ones 10.51, Struve
functions 11.4, confluent and hypergeometric functions 13.3 and 15.5, and elliptic functions 22.13.
"""

from collections.abc import Callable, Mapping
from math import pi, sqrt
from typing import Any, Final

import gpuarray.functions as xp
from gpuarray.scipy import special
from gpuarray.scipy._derivatives import Partial


def _named(name: str) -> Callable[..., Any]:
    """Return a special function that is looked up when it is called: this module is imported while they are made."""
    return lambda *args: getattr(special, name)(*args)


def _bessel(name: str, below: float, above: float, constant: complex = 0) -> tuple[Partial, ...]:
    """Return the derivatives of a Bessel function from those of the orders below and above, and its own value."""
    f = _named(name)

    def slope(v: Any, z: Any) -> Any:
        result = below * f(v - 1, z) + above * f(v + 1, z)
        return result + constant * f(v, z) if constant else result

    return None, slope


def _scaled_first(v: Any, x: Any) -> Any:
    f = _named("ive")
    return (f(v - 1, x) + f(v + 1, x)) / 2 - xp.sign(x) * f(v, x)


def _derived(name: str) -> tuple[Partial, ...]:
    """Return the derivatives of a function that has the number of the derivative as a parameter."""
    return None, lambda v, z, n=1: _named(name)(v, z, n + 1), None


def _spherical(name: str, sign: float) -> tuple[Partial, ...]:
    """Return the derivatives of a spherical Bessel function f with f'' + 2 f' / z = sign * (n (n + 1) / z^2 - 1) f."""
    f = _named(name)

    def slope(n: Any, z: Any, derivative: bool = False) -> Any:
        first = f(n, z, True)
        return (n * (n + 1) / (z * z) + sign) * f(n, z) - 2 / z * first if derivative else first

    return None, slope, None


def _struve(name: str) -> tuple[Partial, ...]:
    f = _named(name)
    return None, lambda v, x: f(v - 1, x) - v / x * f(v, x)


def _expn(n: Any, x: Any) -> Any:
    first = -xp.exp(-x) * (1 + 1 / x) / x
    return xp.where(xp.equal(n, 0), first, -_named("expn")(xp.maximum(n, 1) - 1, x))


def _airy(z: Any) -> Any:
    a, a_slope, b, b_slope = _named("airy")(z)
    return a_slope, z * a, b_slope, z * b


def _elliptic(u: Any, m: Any) -> Any:
    sn, cn, dn, _ = _named("ellipj")(u, m)
    return cn * dn, -sn * dn, -m * sn * cn, dn


def _faddeeva(z: Any) -> Any:
    return 2j / sqrt(pi) - 2 * z * _named("wofz")(z)


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    """Return the argument of Faddeeva's function, the derivative there, and the profile times sigma."""
    z = (x + 1j * gamma) / (sigma * sqrt(2))
    return z, _faddeeva(z), _named("wofz")(z).real / sqrt(2 * pi)


def _voigt_by_position(x: Any, sigma: Any, gamma: Any) -> Any:
    return _voigt(x, sigma, gamma)[1].real / (2 * sqrt(pi) * sigma * sigma)


def _voigt_by_width(x: Any, sigma: Any, gamma: Any) -> Any:
    z, slope, profile = _voigt(x, sigma, gamma)
    return -(profile + (slope * z).real / sqrt(2 * pi)) / (sigma * sigma)


def _voigt_by_length(x: Any, sigma: Any, gamma: Any) -> Any:
    return -_voigt(x, sigma, gamma)[1].imag / (2 * sqrt(pi) * sigma * sigma)


def _lambert(z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
    w = _named("lambertw")(z, k, tol)
    return xp.exp(-w) / (1 + w)


def _wright_omega(z: Any) -> Any:
    w = _named("wrightomega")(z)
    return w / (1 + w)


def _log_wright(a: Any, b: Any, x: Any) -> Any:
    f = _named("log_wright_bessel")
    return xp.exp(f(a, a + b, x) - f(a, b, x))


#: The partial derivatives by function, for each argument.
PARTIALS: Final[Mapping[str, tuple[Partial, ...]]] = {
    **{name: _bessel(name, 0.5, -0.5) for name in ("jn", "jv", "yv", "hankel1", "hankel2")},
    **{name: _derived(name) for name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp")},
    **{name: _spherical(name, -1.0) for name in ("spherical_jn", "spherical_yn")},
    **{name: _spherical(name, 1.0) for name in ("spherical_in", "spherical_kn")},
    **{name: (_named(name + "p"),) for name in ("ber", "bei", "ker", "kei")},
    "iv": _bessel("iv", 0.5, 0.5),
    "ive": (None, _scaled_first),
    "kv": _bessel("kv", -0.5, -0.5),
    "kve": _bessel("kve", -0.5, -0.5, 1),
    "hankel1e": _bessel("hankel1e", 0.5, -0.5, -1j),
    "hankel2e": _bessel("hankel2e", 0.5, -0.5, 1j),
    "struve": _struve("struve"),
    "modstruve": _struve("modstruve"),
    "airy": (_airy,),
    "ellipj": (_elliptic, None),
    "expn": (None, _expn),
    "fresnel": (lambda z: (xp.sin(pi / 2 * z * z), xp.cos(pi / 2 * z * z)),),
    "sici": (lambda x: (xp.sinc(x / pi), xp.cos(x) / x),),
    "shichi": (lambda x: (xp.where(x == 0, 1.0, xp.sinh(x) / xp.where(x == 0, 1.0, x)), xp.cosh(x) / x),),
    "owens_t": (
        lambda h, a: -xp.exp(-h * h / 2) * _named("erf")(a * h / sqrt(2)) / sqrt(8 * pi),
        lambda h, a: xp.exp(-h * h * (1 + a * a) / 2) / (2 * pi * (1 + a * a)),
    ),
    "hyp0f1": (None, lambda v, z: _named("hyp0f1")(v + 1, z) / v),
    "hyp1f1": (None, None, lambda a, b, x: a / b * _named("hyp1f1")(a + 1, b + 1, x)),
    "hyp2f1": (None, None, None, lambda a, b, c, z: a * b / c * _named("hyp2f1")(a + 1, b + 1, c + 1, z)),
    "hyperu": (None, None, lambda a, b, x: -a * _named("hyperu")(a + 1, b + 1, x)),
    "eval_gegenbauer": (None, None, lambda n, a, x: 2 * a * _named("eval_gegenbauer")(n - 1, a + 1, x)),
    "eval_jacobi": (
        None,
        None,
        None,
        lambda n, a, b, x: (n + a + b + 1) / 2 * _named("eval_jacobi")(n - 1, a + 1, b + 1, x),
    ),
    "wofz": (_faddeeva,),
    "voigt_profile": (_voigt_by_position, _voigt_by_width, _voigt_by_length),
    "lambertw": (_lambert, None, None),
    "wrightomega": (_wright_omega,),
    "wright_bessel": (None, None, lambda a, b, x: _named("wright_bessel")(a, a + b, x)),
    "log_wright_bessel": (None, None, _log_wright),
}
