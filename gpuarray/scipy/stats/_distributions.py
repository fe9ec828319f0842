"""Distributions whose functions are compositions of special functions.

Each is a table of formulas for the standard distribution, which the methods ``pdf`` and so on evaluate on the device.
What has no formula is computed by SciPy on the host, which counts as a fallback.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from scipy import stats as scipy_stats

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import special
from gpuarray.functions.arguments import as_arrays
from gpuarray.functions.registry import NATIVE, Implementation
from gpuarray.scipy._calls import run_counted, run_if_host
from gpuarray.scipy._mirror import IMPLEMENTATIONS, below
from gpuarray.scipy._threads import LEAST, elementwise
from gpuarray.scipy.special import _inverses as inverses

Formula = Callable[..., Any]

_LOG_2PI: Final = float(np.log(2 * np.pi))
_METHODS: Final = ("pdf", "pmf", "logpdf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_REASON: Final = "it has no composition"


def _log_beta(a: Any, b: Any) -> Any:
    return special.betaln(a, b)


def _cotangent(q: Any) -> Any:
    """Return the cotangent of pi times a share, by the distance from the nearest of 0, a half and 1."""
    end = xp.abs(xp.where(q > 0.5, 1 - q, q))
    is_middle = end > 0.25
    tangent = xp.tan(np.pi * xp.where(is_middle, 0.5 - end, end))
    return xp.where(is_middle, tangent, 1 / tangent) * xp.where(q > 0.5, -1.0, 1.0)


#: The logarithm of the density, and the other functions, of x and the shapes.
_FORMULAS: Final[dict[str, dict[str, Formula]]] = {
    "norm": {
        "pdf": lambda x: xp.exp(-0.5 * x * x) * float(1 / np.sqrt(2 * np.pi)),
        "logpdf": lambda x: -0.5 * x * x - 0.5 * _LOG_2PI,
        "cdf": special.ndtr, "sf": lambda x: special.ndtr(-x),
        "logcdf": special.log_ndtr, "logsf": lambda x: special.log_ndtr(-x),
        "ppf": special.ndtri, "isf": lambda q: -special.ndtri(q),
    },
    "expon": {
        "logpdf": lambda x: -x, "cdf": lambda x: -xp.expm1(-x), "sf": lambda x: xp.exp(-x), "logsf": lambda x: -x,
        "ppf": lambda q: -xp.log1p(-q), "isf": lambda q: -xp.log(q),
    },
    "uniform": {
        "pdf": xp.ones_like, "logpdf": xp.zeros_like, "cdf": lambda x: x, "sf": lambda x: 1 - x, "ppf": lambda q: q,
        "isf": lambda q: 1 - q,
    },
    "laplace": {
        "pdf": lambda x: 0.5 * xp.exp(-xp.abs(x)), "logpdf": lambda x: -xp.abs(x) - float(np.log(2)),
        "cdf": lambda x: xp.where(x > 0, 1 - 0.5 * xp.exp(-xp.abs(x)), 0.5 * xp.exp(-xp.abs(x))),
        "sf": lambda x: xp.where(x < 0, 1 - 0.5 * xp.exp(-xp.abs(x)), 0.5 * xp.exp(-xp.abs(x))),
        "ppf": lambda q: xp.where(q > 0.5, -xp.log(2 * (1 - q)), xp.log(2 * q)),
        "isf": lambda q: xp.where(q > 0.5, xp.log(2 * (1 - q)), -xp.log(2 * q)),
    },
    "logistic": {
        "logpdf": lambda x: -xp.abs(x) - 2 * xp.log1p(xp.exp(-xp.abs(x))),
        "cdf": special.expit, "sf": lambda x: special.expit(-x),
        "logcdf": special.log_expit, "logsf": lambda x: special.log_expit(-x),
        "ppf": special.logit, "isf": lambda q: -special.logit(q),
    },
    "cauchy": {
        "pdf": lambda x: float(1 / np.pi) / (1 + x * x),
        "cdf": lambda x: xp.atan2(1.0, -x) / np.pi, "sf": lambda x: xp.atan2(1.0, x) / np.pi,
        "ppf": lambda q: -_cotangent(q), "isf": lambda q: _cotangent(q),
    },
    "gamma": {
        "logpdf": lambda x, a: special.xlogy(a - 1, x) - x - special.gammaln(a),
        "cdf": lambda x, a: special.gammainc(a, x), "sf": lambda x, a: special.gammaincc(a, x),
        "ppf": lambda q, a: inverses.gammaincinv(a, q), "isf": lambda q, a: inverses.gammainccinv(a, q),
    },
    "chi2": {
        "logpdf": lambda x, df: special.xlogy(df / 2 - 1, x) - x / 2 - special.gammaln(df / 2) - np.log(2) * df / 2,
        "cdf": lambda x, df: special.gammainc(df / 2, x / 2), "sf": lambda x, df: special.gammaincc(df / 2, x / 2),
        "ppf": lambda q, df: 2 * inverses.gammaincinv(df / 2, q),
        "isf": lambda q, df: 2 * inverses.gammainccinv(df / 2, q),
    },
    "beta": {
        "logpdf": lambda x, a, b: special.xlog1py(b - 1, -x) + special.xlogy(a - 1, x) - _log_beta(a, b),
        "cdf": lambda x, a, b: special.betainc(a, b, x), "sf": lambda x, a, b: special.betaincc(a, b, x),
        "ppf": lambda q, a, b: inverses.betaincinv(a, b, q),
        "isf": lambda q, a, b: inverses.betainccinv(a, b, q),
    },
    "t": {
        "logpdf": lambda x, df: (
            -(df + 1) / 2 * xp.log1p(x * x / df) - 0.5 * xp.log(df) - _log_beta(df / 2, df * 0 + 0.5)
        ),
        "cdf": lambda x, df: special.stdtr(df, x), "sf": lambda x, df: special.stdtr(df, -x),
        "ppf": lambda q, df: inverses.stdtrit(df, q), "isf": lambda q, df: -inverses.stdtrit(df, q),
    },
    "f": {
        "logpdf": lambda x, m, n: (
            n / 2 * xp.log(n) + m / 2 * xp.log(m) + special.xlogy(m / 2 - 1, x)
            - (n + m) / 2 * xp.log(n + m * x) - _log_beta(m / 2, n / 2)
        ),
        "cdf": lambda x, m, n: special.fdtr(m, n, x),
        "sf": lambda x, m, n: special.fdtrc(m, n, x),
        "ppf": lambda q, m, n: inverses.fdtri(m, n, q), "isf": lambda q, m, n: inverses.fdtri_of_upper(m, n, q),
    },
    "lognorm": {
        "logpdf": lambda x, s: xp.where(
            x == 0, -np.inf, -(xp.log(x) ** 2) / (2 * s * s) - xp.log(s * x) - 0.5 * _LOG_2PI
        ),
        "cdf": lambda x, s: special.ndtr(xp.log(x) / s), "sf": lambda x, s: special.ndtr(-xp.log(x) / s),
        "ppf": lambda q, s: xp.exp(s * special.ndtri(q)), "isf": lambda q, s: xp.exp(-s * special.ndtri(q)),
    },
    "weibull_min": {
        "logpdf": lambda x, c: xp.log(c) + special.xlogy(c - 1, x) - xp.pow(x, c),
        "cdf": lambda x, c: -xp.expm1(-xp.pow(x, c)), "sf": lambda x, c: xp.exp(-xp.pow(x, c)),
        "logsf": lambda x, c: -xp.pow(x, c),
        "ppf": lambda q, c: xp.pow(-xp.log1p(-q), 1 / c), "isf": lambda q, c: xp.pow(-xp.log(q), 1 / c),
    },
    "poisson": {
        "logpmf": lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu,
        "cdf": lambda k, mu: special.pdtr(xp.floor(k), mu), "sf": lambda k, mu: special.pdtrc(xp.floor(k), mu),
    },
    "binom": {
        "logpmf": lambda k, n, p: (
            special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
            + special.xlogy(k, p) + special.xlog1py(n - k, -p)
        ),
        "cdf": lambda k, n, p: special.betainc(n - xp.floor(k), xp.floor(k) + 1, 1 - p),
        "sf": lambda k, n, p: special.betainc(xp.floor(k) + 1, n - xp.floor(k), p),
    },
}  # fmt: skip
#: Where the density is not 0: the ends of the support, of which None is infinite, or functions of the shapes.
_SUPPORT: Final[dict[str, tuple[Any, Any]]] = {
    "norm": (None, None), "laplace": (None, None), "logistic": (None, None), "cauchy": (None, None), "t": (None, None),
    "expon": (0.0, None), "gamma": (0.0, None), "chi2": (0.0, None), "f": (0.0, None), "lognorm": (0.0, None),
    "weibull_min": (0.0, None), "uniform": (0.0, 1.0), "beta": (0.0, 1.0), "poisson": (0.0, None),
    "binom": (0.0, lambda n, p: n),
}  # fmt: skip
_IS_VALID: Final[dict[str, Formula]] = {
    "poisson": lambda mu: mu >= 0,
    "binom": lambda n, p: (n >= 0) & (xp.floor(n) == n) & (p >= 0) & (p <= 1),
}


#: Methods whose formulas have no special functions: they fuse, and take less time on the host than SciPy's many passes.
_FUSED: Final = {
    f"{name}.{method}"
    for names, methods in (
        (("norm", "lognorm", "logistic"), ("pdf", "logpdf")),
        (("weibull_min", "laplace", "cauchy"), ("cdf", "sf", "logcdf", "logsf", "ppf", "isf")),
        (("laplace", "cauchy"), ("pdf",)),
        (("expon", "uniform"), _METHODS),
    )
    for name in names
    for method in methods
}


class Distribution:
    """A distribution, as the object of the same name in :mod:`scipy.stats`.

    The methods with formulas are computed on the device of the arguments. Attributes and the other methods are those of
    SciPy's object: ``rvs``, ``fit`` and so on run on the host.

    Parameters
    ----------
    name : str
        The name in :mod:`scipy.stats`.
    formulas : mapping
        Functions of the standard distribution, by the name of the method.
    """

    def __init__(self, name: str, formulas: Mapping[str, Formula]) -> None:
        self._host = getattr(scipy_stats, name)
        self._name = name
        self._formulas = formulas
        self._shapes = [s.strip() for s in self._host.shapes.split(",")] if self._host.shapes else []
        self._is_discrete = isinstance(self._host, scipy_stats.rv_discrete)
        self.__doc__ = f"The distribution :data:`scipy.stats.{name}`."

    def __call__(self, *args: Any, **kwds: Any) -> Any:
        """Return the distribution with fixed parameters."""
        return Frozen(self, args, kwds)

    freeze = __call__

    def _method(self, name: str) -> Callable[..., Any]:
        original = getattr(self._host, name)
        in_parts = elementwise(original, calls=30)
        is_by_scipy = below(LEAST if f"{self._name}.{name}" in _FUSED else sys.maxsize)

        def run(x: Any, *args: Any, **kwargs: Any) -> Any:
            if is_by_scipy(x):
                result = run_if_host(original, (x, *args), kwargs, on_host=in_parts)
                if result is not NotImplemented:
                    return result
            return self._composed(name, x, args, kwargs)

        return run

    def _composed(self, method: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a function of the distribution as a composition; by SciPy on the host if there is none."""
        formula = self._formula(method)
        if formula is None:
            original = getattr(self._host, method)
            return run_counted(original, _REASON, (x, *args), kwargs, f"stats.{self._name}.{method}")
        point, location, scale, shapes = self._arguments(x, args, kwargs)
        valid = scale > 0
        for shape in shapes:
            valid = valid & (shape == shape)
        check = _IS_VALID.get(self._name)
        if check is not None:
            valid = valid & check(*shapes)
        else:
            for shape in shapes:
                valid = valid & (shape > 0)
        if method in ("ppf", "isf"):
            inside = (point >= 0) & (point <= 1)
            result = formula(xp.where(inside, point, 0.5), *shapes) * scale + location
            return xp.where(valid & inside, result, np.nan)
        low, high = (end(*shapes) if callable(end) else end for end in _SUPPORT[self._name])
        standard = (point - location) / scale
        below = standard < low if low is not None else standard == -np.inf
        above = standard > high if high is not None else standard == np.inf
        if self._is_discrete and method in ("cdf", "sf", "logcdf", "logsf") and high is not None:
            above = standard >= high
        outside = below | above
        is_mass = method in ("pmf", "logpmf", "pdf", "logpdf")
        if self._is_discrete and is_mass:
            outside = outside | (xp.floor(standard) != standard)
        middle = 0.5 if not self._is_discrete else 0.0
        result = formula(xp.where(outside, middle, standard), *shapes)
        if method in ("pdf", "logpdf"):
            result = result / scale if method == "pdf" else result - xp.log(scale)
        zero, one = (-np.inf, 0.0) if method.startswith("log") else (0.0, 1.0)
        if is_mass:
            result = xp.where(outside, zero, result)
        else:
            first, last = (zero, one) if method.endswith("cdf") else (one, zero)
            result = xp.where(below, first, xp.where(above, last, result))
        return xp.where(valid & (point == point), result, np.nan)

    def _formula(self, method: str) -> Formula | None:
        table = self._formulas
        if method in table:
            return table[method]
        if method in ("pdf", "pmf") and "log" + method in table:
            logarithm = table["log" + method]
            return lambda *a: xp.exp(logarithm(*a))
        if method in ("logpdf", "logpmf") and method[3:] in table:
            plain = table[method[3:]]
            return lambda *a: xp.log(plain(*a))
        if method in ("logcdf", "logsf"):
            plain, rest = (table[name] for name in (("cdf", "sf") if method == "logcdf" else ("sf", "cdf")))
            return lambda *a: xp.where((share := plain(*a)) <= 0.5, xp.log(share), xp.log1p(-rest(*a)))
        return None

    def _arguments(
        self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[GpuArray, GpuArray, GpuArray, list[GpuArray]]:
        names = [*self._shapes, "loc"] if self._is_discrete else [*self._shapes, "loc", "scale"]
        if len(args) > len(names):
            raise TypeError(f"{self._name} takes {len(names)} parameters, not {len(args)}")
        arguments = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in arguments:
                raise TypeError(f"{self._name} got an unexpected or repeated parameter {name!r}")
            arguments[name] = value
        missing = [name for name in self._shapes if name not in arguments]
        if missing:
            raise TypeError(f"{self._name} missing parameters: {', '.join(missing)}")
        values = [arguments.get("loc", 0.0), arguments.get("scale", 1.0), *(arguments[name] for name in self._shapes)]
        point, location, scale, *shapes = (v.astype(dtypes.float64, copy=False) for v in as_arrays(x, *values))
        return point, location, scale, shapes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._host, name)
        if not callable(value):
            return value
        if name in _METHODS:
            method = self.__dict__[name] = self._method(name)
            return method

        def run(*args: Any, **kwargs: Any) -> Any:
            return run_counted(value, _REASON, args, kwargs, f"stats.{self._name}.{name}")

        return run


class Frozen:
    """A distribution with fixed parameters.

    Parameters
    ----------
    distribution : Distribution
        The distribution.
    args, kwargs : tuple, dict
        Its parameters.
    """

    def __init__(self, distribution: Distribution, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dist, self.args, self.kwds = distribution, args, kwargs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self.dist, name)
        if name in _METHODS:
            return lambda x: method(x, *self.args, **self.kwds)
        if name in ("rvs", "stats"):
            return lambda *args, **kwargs: method(*self.args, *args, **self.kwds, **kwargs)
        return lambda *args, **kwargs: method(*args, *self.args, **self.kwds, **kwargs)


_KNOWN: Final = {name: Distribution(name, formulas) for name, formulas in _FORMULAS.items()}
globals().update(_KNOWN)
IMPLEMENTATIONS.setdefault("stats", {}).update(
    {
        name: Implementation(NATIVE, "methods without a formula run on the host", result)
        for name, result in _KNOWN.items()
    }
)

__all__ = [*_KNOWN]
