"""The partial derivatives of special functions that SciPy computes on the host, by the formulas of NIST's handbook.

https://dlmf.nist.gov has them: Airy functions 9.2, Bessel functions 10.6 and 10.29, spherical ones 10.51, Kelvin
functions 10.61, Struve functions 11.4, parabolic cylinder functions 12.2, confluent and hypergeometric functions 13.3
and 15.5, Legendre functions 14.10, orthogonal polynomials 18.9, elliptic functions 22.13, and Mathieu functions 28.2.
"""

from cmath import exp
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
    return xp.where(xp.trunc(n) == 0, first, -_named("expn")(xp.maximum(n, 1) - 1, x))


def _airy(z: Any) -> Any:
    a, a_slope, b, b_slope = _named("airy")(z)
    return a_slope, z * a, b_slope, z * b


def _polynomial(name: str, slope: Callable[[Any, Any], Any], scale: float = 1, shift: float = 0) -> dict[str, Any]:
    """Return the derivatives of polynomials f(n, scale x + shift), by name, from that of f by its last argument."""
    return {name: (None, lambda n, x: scale * slope(n, scale * x + shift))}


def _first_kind(n: Any, x: Any) -> Any:
    return n * _named("eval_chebyu")(n - 1, x)


def _second_kind(n: Any, x: Any) -> Any:
    return 2 * _named("eval_gegenbauer")(n - 1, 2.0, x)


def _legendre(n: Any, x: Any) -> Any:
    return _named("eval_gegenbauer")(n - 1, 1.5, x)


def _shifted_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    return xp.where(n == 0, 0.0, n * _named("eval_sh_jacobi")(n - 1, p + 2, q + 1, x))


def _associated(m: Any, v: Any, x: Any) -> Any:
    f = _named("lpmv")
    return (v * x * f(m, v, x) - (v + m) * f(m, v - 1, x)) / (x * x - 1)


def _over(value: Any, x: Any, at_zero: complex) -> Any:
    """Return value / x, which has a limit where x is 0."""
    return xp.where(x == 0, at_zero, value / xp.where(x == 0, 1.0, x))


def _kelvin(x: Any) -> Any:
    be, ke, be_slope, ke_slope = _named("kelvin")(x)
    return be_slope, ke_slope, 1j * be - _over(be_slope, x, 0.5j), 1j * ke - ke_slope / x


def _of_second_order(name: str, factor: Callable[..., Any], unit: float = 1) -> tuple[Partial, ...]:
    """Return the derivatives of a function that returns f and f', where f'' = factor * f.

    The last argument is in units of which ``unit`` is 1.
    """

    def slopes(*args: Any) -> Any:
        value, slope = _named(name)(*args)
        return unit * slope, unit * factor(*args) * value

    return *(None,) * (2 if name.startswith("mathieu") else 1), slopes


def _cylinder(v: Any, x: Any) -> Any:
    return x * x / 4 - v - 0.5


def _mathieu(kind: str, sign: float, shape: Callable[[Any], Any], unit: float = 1) -> Callable[..., Any]:
    """Return f'' / f of a Mathieu function with the characteristic values of a kind."""
    return lambda m, q, x: sign * (_named(f"mathieu_{kind}")(m, q) - 2 * q * shape(2 * unit * x))


def _fresnel_modified(name: str, sign: float) -> Partial:
    unit = sign * 1j

    def slopes(x: Any) -> Any:
        _, k = _named(name)(x)
        return -xp.exp(unit * x * x), -2 * unit * x * k - exp(-unit * pi / 4) / sqrt(pi)

    return slopes


def _normal_density(x: Any) -> Any:
    return xp.exp(-x * x / 2) / sqrt(2 * pi)


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


_DEGREE: Final = pi / 180
#: The partial derivatives by function, for each argument.
PARTIALS: Final[Mapping[str, tuple[Partial, ...]]] = {
    **{name: _bessel(name, 0.5, -0.5) for name in ("jn", "jv", "yn", "yv", "hankel1", "hankel2")},
    **{name: _derived(name) for name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp")},
    **{name: _spherical(name, -1.0) for name in ("spherical_jn", "spherical_yn")},
    **{name: _spherical(name, 1.0) for name in ("spherical_in", "spherical_kn")},
    **{name: (_named(name + "p"),) for name in ("ber", "bei", "ker", "kei")},
    **_polynomial("eval_chebyt", _first_kind),
    **_polynomial("eval_chebyu", _second_kind),
    **_polynomial("eval_chebyc", lambda n, x: 2 * _first_kind(n, x), 0.5),
    **_polynomial("eval_chebys", _second_kind, 0.5),
    **_polynomial("eval_legendre", _legendre),
    **_polynomial("eval_laguerre", lambda n, x: -_named("eval_genlaguerre")(n - 1, 1.0, x)),
    **_polynomial("eval_sh_chebyt", _first_kind, 2, -1),
    **_polynomial("eval_sh_chebyu", _second_kind, 2, -1),
    **_polynomial("eval_sh_legendre", _legendre, 2, -1),
    "eval_genlaguerre": (None, None, lambda n, a, x: -_named("eval_genlaguerre")(n - 1, a + 1, x)),
    "eval_sh_jacobi": (None, None, None, _shifted_jacobi),
    "lpmv": (None, None, _associated),
    "berp": (lambda x: -_named("bei")(x) - _over(_named("berp")(x), x, 0.0),),
    "beip": (lambda x: _named("ber")(x) - _over(_named("beip")(x), x, 0.5),),
    "kerp": (lambda x: -_named("kei")(x) - _named("kerp")(x) / x,),
    "keip": (lambda x: _named("ker")(x) - _named("keip")(x) / x,),
    "kelvin": (_kelvin,),
    "pbdv": _of_second_order("pbdv", _cylinder),
    "pbvv": _of_second_order("pbvv", _cylinder),
    "pbwa": _of_second_order("pbwa", lambda a, x: a - x * x / 4),
    "mathieu_cem": _of_second_order("mathieu_cem", _mathieu("a", -1, xp.cos, _DEGREE), _DEGREE),
    "mathieu_sem": _of_second_order("mathieu_sem", _mathieu("b", -1, xp.cos, _DEGREE), _DEGREE),
    **{name: _of_second_order(name, _mathieu("a", 1, xp.cosh)) for name in ("mathieu_modcem1", "mathieu_modcem2")},
    **{name: _of_second_order(name, _mathieu("b", 1, xp.cosh)) for name in ("mathieu_modsem1", "mathieu_modsem2")},
    "itj0y0": (lambda x: (_named("j0")(x), _named("y0")(x)),),
    "iti0k0": (lambda x: (_named("i0")(x), _named("k0")(x)),),
    "it2j0y0": (lambda x: (_over(1 - _named("j0")(x), x, 0.0), -_named("y0")(x) / x),),
    "it2i0k0": (lambda x: (_over(_named("i0")(x) - 1, x, 0.0), -_named("k0")(x) / x),),
    "itairy": (lambda x: tuple(_named("airy")(z)[number] for z in (x, -x) for number in (0, 2)),),
    "itstruve0": (lambda x: _named("struve")(0.0, x),),
    "itmodstruve0": (lambda x: _named("modstruve")(0.0, x),),
    "it2struve0": (lambda x: -_over(_named("struve")(0.0, x), x, 2 / pi),),
    "modfresnelp": (_fresnel_modified("modfresnelp", 1),),
    "modfresnelm": (_fresnel_modified("modfresnelm", -1),),
    "nrdtrimn": (
        lambda p, sd, x: -sd / _normal_density(_named("ndtri")(p)),
        lambda p, sd, x: -_named("ndtri")(p),
        lambda p, sd, x: xp.ones_like(x),
    ),
    "nrdtrisd": (
        lambda mn, p, x: -1 / _named("ndtri")(p),
        lambda mn, p, x: (mn - x) / (_named("ndtri")(p) ** 2 * _normal_density(_named("ndtri")(p))),
        lambda mn, p, x: 1 / _named("ndtri")(p),
    ),
    "kn": _bessel("kn", -0.5, -0.5),
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
