"""Special functions of elements that are made of others: polynomials, powers and binomials.

Operands have the dtype of the result. Degrees and orders are Python integers, and their recurrences are recorded.
"""

from collections.abc import Callable, Iterator
from math import factorial, pi, sqrt
from typing import Final

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions import special
from gpuarray.scipy.special._compositions import riemann

#: The distance of the points of Rybicki's sum for Dawson's function, and how many it has on each side.
_SPACING: Final = 0.25
_POINTS: Final = 25
#: The largest degree whose recurrence is recorded.
HIGHEST: Final = 100


def _exp10(x: GpuArray) -> GpuArray:
    return 10.0**x


def _powm1(x: GpuArray, y: GpuArray) -> GpuArray:
    """Return ``x**y - 1``: for positive x by the transformation of Box and Cox, which keeps digits near 0."""
    is_usual = (x > 0) & xp.isfinite(x) & xp.isfinite(y) & (y != 0)
    usual = special.boxcox(xp.where(is_usual, x, 1), xp.where(is_usual, y, 1)) * y
    return xp.where(is_usual, usual, xp.pow(x, y) - 1)


def _zetac(x: GpuArray) -> GpuArray:
    is_series = (x > 1) & (x < np.inf)
    return xp.where(is_series, special.zeta(xp.where(is_series, x, 2), x * 0 + 2), riemann(x) - 1)


def _dawsn(x: GpuArray) -> GpuArray:
    """Return Dawson's function, by Rybicki's sum of Gaussians, and near 0 by its series."""
    size = xp.abs(x)
    term = total = x * 0 + 1
    square = xp.where(size < 0.5, x * x, 0)
    for k in range(1, 15):
        term = term * square * (-2 / (2 * k + 1))
        total = total + term
    center = xp.where(size < 1e4, 2 * xp.rint(size / (2 * _SPACING)), 0)
    rest = size - center * _SPACING
    gaussians = x * 0
    for k in range(-_POINTS, _POINTS + 1, 2):
        gaussians = gaussians + xp.exp(-((rest - k * _SPACING) ** 2)) / (center + k)
    far = xp.where(size < 1e4, 1.0, size)
    asymptotic = (1 + 0.5 / (far * far)) / (2 * far)
    result = xp.where(size < 1e4, gaussians * (1 / sqrt(pi)), asymptotic)
    return xp.where(size < 0.5, x * total, xp.copysign(result, x))


def _erfi(x: GpuArray) -> GpuArray:
    return xp.where(xp.isinf(x), x, _dawsn(x) * xp.exp(x * x) * (2 / sqrt(pi)))


def _ndtri_exp(y: GpuArray) -> GpuArray:
    """Return the quantile of the normal distribution, of the logarithm of a probability."""
    low = xp.where(y < -2, xp.maximum(y, -1e37 if y.dtype == np.float32 else -1e300), -2)
    root = xp.sqrt(-2 * low)
    result = -xp.sqrt(xp.maximum(-2 * (low + xp.log(root * sqrt(2 * pi))), 0.5))
    for _ in range(5):  # Newton's method, whose steps are quotients of the distribution and the density
        value = special.log_ndtr(result)
        result = result - (value - low) * xp.exp(value + 0.5 * result * result) * sqrt(2 * pi)
    high = -special.ndtri(-xp.expm1(xp.where(y > -0.1, y, -0.1)))
    middle = special.ndtri(xp.exp(xp.where(y < -2, -1, y)))
    result = xp.where(y < -2, result, xp.where(y > -0.1, high, middle))
    return xp.where(y == -np.inf, -np.inf, xp.where(y > 0, np.nan, result))


# -- binomials --------------------------------------------------------------------------------------------------------


def _poch(z: GpuArray, m: GpuArray) -> GpuArray:
    """Return the quotient of the gamma functions of ``z + m`` and of ``z``."""
    end = z + m
    few = (z > 10) & (m > 0) & (m < 20)
    quotient = special.gamma(xp.where(few, m, 1)) / special.beta(xp.where(few, z, 1), xp.where(few, m, 1))
    size = xp.exp(special.gammaln(end) - special.gammaln(z)) * special.gammasgn(end) * special.gammasgn(z)
    product = z * 0 + 1
    for k in range(20):  # few factors are exact
        product = product * xp.where(k < m, z + k, 1)
    is_few = (m >= 0) & (m <= 20) & (xp.floor(m) == m)
    is_pole = (z <= 0) & (xp.floor(z) == z)
    is_zero = is_pole & ((end > 0) | (xp.floor(end) != end))
    size = xp.where((end <= 0) & (xp.floor(end) == end), np.inf, size)
    mirrored = xp.exp(special.gammaln(1 - z) - special.gammaln(1 - end)) * (1 - 2 * xp.remainder(m, 2))
    return xp.where(is_few, product, xp.where(is_zero, 0, xp.where(is_pole, mirrored, xp.where(few, quotient, size))))


def _binom(n: GpuArray, k: GpuArray) -> GpuArray:
    """Return binomial coefficients: few factors are multiplied, and others are beta functions."""
    least = xp.where((xp.floor(n) == n) & (n >= 0) & (k > n / 2), n - k, k)  # of integers, as they are symmetric
    product = xp.where(xp.isinf(k) | xp.isnan(n), np.nan, 1)
    for j in range(1, 20):
        product = product * xp.where(j <= least, (n - (least - j)) / j, 1)
    is_few = (xp.floor(least) == least) & (least < 20) & (n != 0)
    result = 1 / (n + 1) / special.beta(1 + n - k, 1 + k)
    negative = (n < 0) & (xp.floor(n) == n)
    return xp.where(negative | (k == np.inf), np.nan, xp.where(is_few, xp.where(least < 0, 0, product), result))


def _kolmogorov(y: GpuArray) -> GpuArray:
    """Return the tail of Kolmogorov's distribution by one of its two series, whose terms fall quickly."""
    small = xp.where(y < 1, xp.maximum(y, 0.04), 1)  # below this the tail is 1
    body, tail = xp.zeros_like(y), xp.zeros_like(y)
    for k in range(1, 6):
        body = body + xp.exp(-((2 * k - 1) ** 2) * pi**2 / 8 / (small * small))
        tail = tail - (-1.0) ** k * xp.exp(-2.0 * k * k * y * y)
    return xp.where(y < 1, 1 - sqrt(2 * pi) / small * body, 2 * tail)


# -- recurrences ------------------------------------------------------------------------------------------------------


def _one(x: GpuArray) -> GpuArray:
    """Return the polynomial of degree 0, which is NaN for NaN."""
    return xp.where(x == x, 1, x)


def recurrence(
    n: int, first: GpuArray, second: GpuArray, step: Callable[[int, GpuArray, GpuArray], GpuArray]
) -> GpuArray:
    """Return member n of a sequence of which the first two are known, by ``step(k, member k, member k - 1)``."""
    if n < 1:
        return first
    for k in range(1, n):
        first, second = second, step(k, second, first)
    return second


def _legendre(n: int, x: GpuArray) -> GpuArray:
    degree = n if n >= 0 else -n - 1
    return recurrence(degree, xp.ones_like(x), x, lambda k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))


def _chebyshev(n: int, x: GpuArray, second: float) -> GpuArray:
    return recurrence(n, _one(x), second * x, lambda k, p, q: 2 * x * p - q)


def _chebyt(n: int, x: GpuArray) -> GpuArray:
    return _chebyshev(abs(n), x, 1)


def _chebyu(n: int, x: GpuArray) -> GpuArray:
    if n < 0:
        return xp.zeros_like(x) if n == -1 else -_chebyshev(-n - 2, x, 2)
    return _chebyshev(n, x, 2)


def _hermite(n: int, x: GpuArray) -> GpuArray:
    return x * np.nan if n < 0 else recurrence(n, _one(x), 2 * x, lambda k, p, q: 2 * x * p - 2 * k * q)


def _hermitenorm(n: int, x: GpuArray) -> GpuArray:
    return x * np.nan if n < 0 else recurrence(n, _one(x), x, lambda k, p, q: x * p - k * q)


def _genlaguerre(n: int, alpha: GpuArray, x: GpuArray) -> GpuArray:
    result = xp.where(xp.isnan(x), x, 0) + xp.zeros_like(alpha)
    result = result if n < 0 else recurrence(
        n, result + 1, 1 + alpha - x,
        lambda k, p, q: ((2 * k + 1 + alpha - x) * p - (k + alpha) * q) / (k + 1),
    )  # fmt: skip
    return xp.where(alpha > -1, result, np.nan)


def _jacobi(n: int, alpha: GpuArray, beta: GpuArray, x: GpuArray) -> GpuArray:
    """Return Jacobi polynomials, as sums of differences that keep digits near 1.

    The sums have a pole where alpha is a negative integer; there the polynomial of -x has alpha and beta exchanged.
    """
    if not n:
        return xp.ones_like(alpha + beta + x)
    is_pole = (alpha < 0) & (alpha == xp.floor(alpha))
    sign = xp.where(is_pole, (-1.0) ** n, 1.0)
    alpha, beta, x = xp.where(is_pole, beta, alpha), xp.where(is_pole, alpha, beta), xp.where(is_pole, -x, x)
    low = x - 1
    change = (alpha + beta + 2) * low / (2 * (alpha + 1))
    if n == 1:
        return sign * (alpha + 1 + (alpha + beta + 2) / 2 * low)
    total = change + 1
    for k in range(1, n):
        t = 2 * k + alpha + beta
        change = (t * (t + 1) * (t + 2) * low * total + 2 * k * (k + beta) * (t + 2) * change) / (
            2 * (k + alpha + 1) * (k + alpha + beta + 1) * t
        )
        total = total + change
    return sign * _binom(n + alpha, n + xp.zeros_like(alpha)) * total


def _shifted_jacobi(n: int, p: GpuArray, q: GpuArray, x: GpuArray) -> GpuArray:
    scale = _binom(2 * n + p - 1, n + xp.zeros_like(p))
    return _jacobi(n, p - q, q - 1, 2 * x - 1) / scale


def _gegenbauer(n: int, alpha: GpuArray, x: GpuArray) -> GpuArray:
    result = xp.where(alpha == alpha, _one(x), np.nan)
    if n < 0:
        return result * 0
    return recurrence(
        n, result, 2 * alpha * x, lambda k, p, q: (2 * (k + alpha) * x * p - (k - 1 + 2 * alpha) * q) / (k + 1)
    )


def associated(m: int, n: int, cosine: GpuArray, sine: GpuArray, scale: float = 1.0) -> Iterator[GpuArray]:
    """Yield the associated Legendre functions of order m >= 0 and degrees m to n, times a factor."""
    start = xp.full_like(cosine, scale)
    for k in range(1, m + 1):
        start = start * sine * (1 - 2 * k)
    following = cosine * start * (2 * m + 1)
    for k in range(m + 1, n + 2):
        yield start
        start, following = following, ((2 * k + 1) * cosine * following - (k + m) * start) / (k + 1 - m)


def _lpmv(m: int, v: int, x: GpuArray) -> GpuArray:
    degree = v if v >= 0 else -v - 1
    order = abs(m)
    is_inside = xp.abs(x) <= 1
    if order > degree:
        return xp.where(is_inside, 0.0, np.nan).astype(x.dtype)
    scale = (-1.0) ** order * factorial(degree - order) / factorial(degree + order) if m < 0 else 1.0
    inside = xp.where(is_inside, x, 0) if order else x
    sine = xp.sqrt(1 - inside * inside) if order else x
    *_, result = associated(order, degree, inside, sine, scale)
    return xp.where(is_inside, result, np.nan) if order else result


#: Functions of arrays, by SciPy's names.
OF_ARRAYS: Final[dict[str, Callable[..., GpuArray]]] = {
    "cbrt": xp.cbrt, "exp2": xp.exp2, "expm1": xp.expm1, "log1p": xp.log1p, "round": xp.rint, "exp10": _exp10,
    "powm1": _powm1, "zetac": _zetac, "dawsn": _dawsn, "erfi": _erfi, "ndtri_exp": _ndtri_exp, "poch": _poch,
    "binom": _binom, "kolmogorov": _kolmogorov,
}  # fmt: skip
#: The degrees that are recorded of those whose recurrences are long, or another function for negative degrees.
RANGES: Final[dict[str, tuple[int, int]]] = {"eval_jacobi": (0, 20), "eval_sh_jacobi": (0, 20)}
#: Functions whose first arguments are degrees and orders, with the number of these.
BY_DEGREE: Final[dict[str, tuple[int, Callable[..., GpuArray]]]] = {
    "eval_legendre": (1, _legendre), "eval_sh_legendre": (1, lambda n, x: _legendre(n, 2 * x - 1)),
    "eval_chebyt": (1, _chebyt), "eval_sh_chebyt": (1, lambda n, x: _chebyt(n, 2 * x - 1)),
    "eval_chebyu": (1, _chebyu), "eval_sh_chebyu": (1, lambda n, x: _chebyu(n, 2 * x - 1)),
    "eval_chebyc": (1, lambda n, x: 2 * _chebyt(n, x / 2)), "eval_chebys": (1, lambda n, x: _chebyu(n, x / 2)),
    "eval_hermite": (1, _hermite), "eval_hermitenorm": (1, _hermitenorm),
    "eval_laguerre": (1, lambda n, x: _genlaguerre(n, xp.zeros_like(x), x)), "eval_genlaguerre": (1, _genlaguerre),
    "eval_jacobi": (1, _jacobi), "eval_sh_jacobi": (1, _shifted_jacobi), "eval_gegenbauer": (1, _gegenbauer),
    "lpmv": (2, _lpmv),
}  # fmt: skip
