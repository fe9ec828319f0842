"""The special functions of several operands keep their digits where terms cancel and parameters are far apart."""

from typing import Any

import numpy as np
import pytest
from mpmath import mp
from support import scipy_ufunc

import gpuarray as xp
from gpuarray import GpuArray
from gpuarray.ops import special as ops

scipy_special = pytest.importorskip("scipy.special")


def values(name: str, operands: Any, device: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a function's values in the device's widest precision, and the operands in it."""
    dtype = np.float64 if device == "cpu" else np.float32
    given = [np.asarray(x, dtype) for x in np.broadcast_arrays(*operands)]
    return np.asarray(getattr(xp.special, name)(*map(xp.asarray, given))), given


def units(got: Any, exact: Any) -> float:
    """Return the error of one number in units of the last place of the exact value."""
    return float(abs(mp.mpf(float(got)) - exact) / float(np.spacing(got.dtype.type(abs(float(exact))))))


def power_series(a: Any, b: Any, x: Any) -> Any:
    """Return ``betainc`` of b below 1 and x near its mean, by the complement's terms (DLMF 8.17.7)."""
    with mp.workprec(300):
        a, b, x = (mp.mpf(float(v)) for v in (a, b, x))
        y = 1 - x
        tail = mp.power(y, b) / b * mp.hyp2f1(b, 1 - a, b + 1, y) / mp.beta(a, b)
        return 1 - tail


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.3])
def test_incomplete_beta_functions_of_small_parameters_are_right_to_their_last_digits(size: float, device: Any) -> None:
    random = np.random.default_rng(6)
    a = 10 ** random.uniform(-1, 3, 60)
    b = size * random.uniform(0.3, 1.5, 60)
    x = 1 - random.uniform(0.05, 1, 60) / (a + 1)
    result, given = values("betainc", (a, b, x), device)
    other, _ = values("betaincc", (given[1], given[0], 1 - given[2]), device)
    for k, point in enumerate(zip(*given, strict=True)):
        exact = power_series(*point)
        assert units(result[k], exact) < 2, point
        if float(given[2][k]) >= 0.5:  # where 1 - x is exact
            assert units(other[k], exact) < 2, point


def test_incomplete_beta_functions_of_large_parameters(device: Any) -> None:
    random = np.random.default_rng(7)
    a, b = 10 ** random.uniform(3, 6, (2, 100))
    share = a / (a + b)
    x = np.clip(share + random.normal(0, 2, 100) * np.sqrt(share * (1 - share) / (a + b)), 1e-9, 1 - 6e-8)
    result, given = values("betaincc", (a, b, x), device)
    # of these SciPy's complement is exact to some hundred units of float64
    want = scipy_ufunc("betaincc")(*(v.astype(np.float64) for v in given))
    tolerance = 2 * np.finfo(np.float32).eps if result.dtype == np.float32 else 5e-14
    np.testing.assert_allclose(result.astype(np.float64), want, rtol=tolerance, atol=1e-38)


def test_poissons_distribution_of_counts_that_are_rounded(device: Any) -> None:
    count = np.float32(2) ** np.arange(23, 28)
    result, given = values("pdtr", (count, count + 2 * np.sqrt(count)), device)
    want = scipy_ufunc("pdtr")(*(v.astype(np.float64) for v in given))
    np.testing.assert_allclose(result, want, rtol=2.5e-7)


def test_students_distribution(device: Any) -> None:
    result, (df, t) = values("stdtr", ([1, 1, 1, 1, 0.5, 7, 1e3], [-1e4, -1.0, 0.0, 1.0, -1e20, -9.0, -4.0]), device)
    with mp.workprec(400):
        for k in range(len(df)):
            v, s = mp.mpf(float(df[k])), mp.mpf(float(t[k]))
            y = s * s / (v + s * s)
            tail = mp.betainc(v / 2, mp.mpf(1) / 2, 0, 1 - y, regularized=True) / 2 if s else mp.mpf(1) / 2
            assert units(result[k], tail if s < 0 else 1 - tail) < 2, (df[k], t[k])
    if result.dtype == np.float64:  # where SciPy squares t, and has 0
        assert values("stdtr", (1.0, -1e200), device)[0] == pytest.approx(1e-200 / np.pi, rel=1e-15)
    # of very many degrees of freedom it is the normal distribution
    x = np.linspace(-8, 3, 23)
    many, (_, given) = values("stdtr", (1e30, x), device)
    np.testing.assert_allclose(many, np.asarray(xp.special.ndtr(xp.asarray(given))), rtol=2 * np.finfo(many.dtype).eps)


def test_zeta_where_terms_on_both_sides_of_0_cancel(device: Any) -> None:
    x, q = np.array([3, 3, 5, 3, 3, 2, 9]), np.array([-3.49982, -0.4999, -20.5001, -999.25, -1.6, -1.6, -4.4999])
    result, given = values("zeta", (x, q), device)
    with mp.workprec(200):
        for k, (s, w) in enumerate(zip(*given, strict=True)):
            first = mp.mpf(float(w))
            negative = int(-mp.floor(first))
            exact = sum(mp.power(first + j, -int(s)) for j in range(negative)) + mp.zeta(int(s), first + negative)
            assert units(result[k], exact) < 2, (s, w)
    # in the middle between poles all terms below 0 have their opposites
    left, _ = values("zeta", ([3, 9, 51], -4.5), device)
    right, _ = values("zeta", ([3, 9, 51], 5.5), device)
    np.testing.assert_array_equal(left, right)
    ends, _ = values("zeta", ([200, 201, 201, 1000, 1001], [-3.4, -3.4, -3.6, 0.05, 0.6]), device)
    if ends.dtype == np.float32:
        np.testing.assert_array_equal(ends, np.array([1, -1, 1, 1, 1]) * np.inf)


def test_pseudo_huber_of_all_sizes(device: Any) -> None:
    sizes = 10.0 ** np.arange(-18, 19, 3)
    delta, r = (v.ravel() for v in np.meshgrid(sizes, sizes * 1.7))
    result, given = values("pseudo_huber", (delta, r), device)
    with mp.workprec(300):
        for k, (d, v) in enumerate(zip(*given, strict=True)):
            d, v = mp.mpf(float(d)), mp.mpf(float(v))
            assert units(result[k], v * v / (1 + mp.sqrt(1 + (v / d) ** 2))) < 2, (d, v)


def test_exponentials_of_complex_numbers_end_in_subnormal_and_in_large_parts(device: Any) -> None:
    z = np.array([-88 + 1.57j, -95 + 1j, -100 + 0.5j, 90 + 1e-3j, 100 + 1e-20j, 150 + 1e-38j], np.complex64)
    with np.errstate(over="ignore"):
        want = np.exp(z)
    result = np.asarray(np.exp(xp.asarray(z)))
    for part, other in ((result.real, want.real), (result.imag, want.imag)):
        np.testing.assert_allclose(part, other, rtol=3e-7, atol=2e-45)


#: Operands over the whole range of float32, and near the means of distributions of large parameters, by function. Of
#: counts, whose sums float32 would round, and of Fisher's distribution, where SciPy has no digits left, there are none.
Generator = np.random.Generator
COUNT = 500


def spread(random: Generator, low: float, high: float) -> np.ndarray:
    return 10 ** random.uniform(low, high, COUNT)


def signed(random: Generator, low: float, high: float) -> np.ndarray:
    return random.choice([-1, 1], COUNT) * spread(random, low, high)


def near(random: Generator, mean: np.ndarray) -> np.ndarray:
    return np.abs(mean + random.normal(0, 3, COUNT) * np.sqrt(mean))


def shares(random: Generator, high: float) -> list[np.ndarray]:
    a, b = spread(random, 0, high), spread(random, 0, high)
    share = a / (a + b)
    return [a, b, np.clip(share + random.normal(0, 3, COUNT) * np.sqrt(share * (1 - share) / (a + b)), 1e-30, 1)]


def rates(random: Generator) -> list[np.ndarray]:
    rate, order = spread(random, -5, 5), spread(random, -2, 12)
    return [rate, order, near(random, order) / rate]


def orders(random: Generator) -> list[np.ndarray]:
    order = spread(random, 0, 38)
    return [order, near(random, order)]


WIDE = {
    "beta": [lambda r: [spread(r, -37, 38.4), spread(r, -37, 38.4)], lambda r: [spread(r, 36, 38.5), spread(r, -3, 3)]],
    "gammainc": [orders, lambda r: [spread(r, -37, 38), spread(r, -37, 38)]],
    "gammaincc": [orders, lambda r: [spread(r, -6, 0.3), spread(r, -37, 1.5)]],
    "gdtr": [rates, lambda r: [spread(r, -37, 38), spread(r, -3, 3), spread(r, -37, 38)]],
    "gdtrc": [rates, lambda r: [spread(r, -37, 38), spread(r, -3, 3), spread(r, -37, 38)]],
    "betainc": [lambda r: shares(r, 12), lambda r: [spread(r, -30, 38), spread(r, -30, 38), r.uniform(0, 1, COUNT)]],
    "betaincc": [lambda r: shares(r, 12), lambda r: [spread(r, -30, 38), spread(r, -30, 38), r.uniform(0, 1, COUNT)]],
    "stdtr": [lambda r: [spread(r, -10, 38), signed(r, -37, 38)]],
    "zeta": [
        lambda r: [1 + spread(r, -7, 2), spread(r, -37, 38)],
        lambda r: [r.integers(2, 60, COUNT), -spread(r, -3, 3)],
    ],
    "polygamma": [lambda r: [r.integers(0, 49, COUNT), spread(r, -37, 38)]],
    "boxcox1p": [lambda r: [spread(r, -37, 38), signed(r, -37, 38)]],
    "inv_boxcox": [lambda r: [signed(r, -37, 38), signed(r, -37, 38)]],
    "kl_div": [lambda r: [spread(r, -37, 38.5), spread(r, -37, 38.5)]],
    "pseudo_huber": [lambda r: [spread(r, -37, 38), signed(r, -37, 38)]],
}


def float32_units(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Return errors in units in the last place of the exact value; infinities count as 2**128."""
    wrong = (np.isnan(got) != np.isnan(want)) | ((np.signbit(got) != np.signbit(want)) & ~np.isnan(want))
    given, exact = (np.clip(v.astype(np.float64), -(2.0**128), 2.0**128) for v in (got, want))
    _, exponent = np.frexp(np.maximum(np.abs(exact), 2.0**-126))
    error = np.abs(given - exact) / np.ldexp(1.0, np.clip(exponent, -125, 128) - 24)
    return np.where(wrong, np.inf, np.where(np.isnan(want), 0, error))


@pytest.mark.parametrize("name", WIDE)
def test_float32_is_right_over_its_whole_range(name: str) -> None:
    function = getattr(xp.special, name)
    for sample in WIDE[name]:
        given = [v.astype(np.float32) for v in sample(np.random.default_rng(8))]
        result = np.asarray(function(*(xp.asarray(v, device="wgpu") for v in given)))
        want = np.asarray(function(*(xp.asarray(v.astype(np.float64), device="wgpu") for v in given)))
        with np.errstate(over="ignore", invalid="ignore"):
            error = np.where(result == want.astype(np.float32), 0, float32_units(result, want))
            # what a device may take for 0
            tiny = np.logical_or.reduce([(np.abs(v) < 1.2e-38) for v in (want, *given)])
        at = np.where(tiny, 0, error).argmax()
        assert error[at] <= 2 or tiny[at], ([v[at] for v in given], result[at], want[at])


@pytest.mark.parametrize("name", sorted(ops.INVERSES))
@pytest.mark.parametrize(("place", "dtype", "tolerance"), [("cpu", "float64", 1e-9), ("wgpu", "float32", 1e-2)])
def test_inverses_of_distributions(name: str, place: str, dtype: str, tolerance: float) -> None:
    """The distribution at the inverse is the probability: with an error of its place that parameters multiply."""
    random = np.random.default_rng(0)
    widest, least = (4, -250) if dtype == "float64" else (3, -30)
    a, b = 10 ** random.uniform(-2, widest, (2, 120))
    p = np.concatenate([10 ** random.uniform(least, 0, 40), random.random(80)])
    given = [x.astype(dtype) for x in ((a, p) if name.startswith("gamma") else (a, b, p))]
    *shapes, share = (x.astype(np.float64) for x in given)
    with xp.using(device=place, direct_limit=0):
        result = GpuArray._apply(ops.INVERSES[name], *map(xp.asarray, given)).get()
    assert result.dtype == dtype
    result = result.astype(np.float64)
    usual = (result > 1e-30) & (result < 1e5)
    assert usual.sum() > 60
    tail = {"gammaincinv": "gammainc", "gammainccinv": "gammaincc"}.get(name, "betainc")
    at = result[usual] / (1 + result[usual]) if tail == "betainc" else result[usual]
    error = getattr(scipy_special, tail)(*(shape[usual] for shape in shapes), at) / share[usual] - 1
    assert np.abs(error).max() < tolerance


def test_inverses_at_the_ends() -> None:
    with xp.using(device="cpu", direct_limit=0):
        for name, expected in {
            "gammaincinv": [0, np.inf], "gammainccinv": [np.inf, 0], "beta_inverse_odds": [0, np.inf]
        }.items():  # fmt: skip
            shapes = [xp.asarray([2.0, 2.0, 2.0, np.nan, -1.0])] * (1 if name.startswith("gamma") else 2)
            result = GpuArray._apply(ops.INVERSES[name], *shapes, xp.asarray([0.0, 1.0, 1.5, 0.5, 0.5]))
            np.testing.assert_array_equal(result, [*expected, np.nan, np.nan, np.nan])
