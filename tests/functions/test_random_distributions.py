"""The distributions of random numbers, by statistical tests, and that the numbers are the same on every device."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.random import Generator, default_rng

COUNT = 20_000

#: By method: arguments, and the distribution that they stand for.
CONTINUOUS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("uniform", (-2.0, 3.0), stats.uniform(-2, 5)), ("normal", (1.0, 2.0), stats.norm(1, 2)),
    ("lognormal", (0.5, 0.7), stats.lognorm(0.7, scale=math.exp(0.5))), ("standard_exponential", (), stats.expon()),
    ("exponential", (3.0,), stats.expon(scale=3)), ("rayleigh", (2.0,), stats.rayleigh(scale=2)),
    ("weibull", (1.7,), stats.weibull_min(1.7)), ("pareto", (3.0,), stats.lomax(3)),
    ("power", (2.5,), stats.powerlaw(2.5)),
    ("laplace", (1.0, 2.0), stats.laplace(1, 2)), ("logistic", (1.0, 2.0), stats.logistic(1, 2)),
    ("gumbel", (1.0, 2.0), stats.gumbel_r(1, 2)), ("triangular", (-1.0, 0.5, 3.0), stats.triang(0.375, -1, 4)),
    ("standard_cauchy", (), stats.cauchy()), ("standard_gamma", (4.2,), stats.gamma(4.2)),
    ("standard_gamma", (0.3,), stats.gamma(0.3)), ("gamma", (1.0, 2.0), stats.gamma(1, scale=2)),
    ("beta", (2.0, 3.5), stats.beta(2, 3.5)), ("beta", (0.2, 0.4), stats.beta(0.2, 0.4)),
    ("chisquare", (3.0,), stats.chi2(3)), ("noncentral_chisquare", (0.7, 4.0), stats.ncx2(0.7, 4)),
    ("noncentral_chisquare", (3.0, 40.0), stats.ncx2(3, 40)), ("f", (4.0, 7.0), stats.f(4, 7)),
    ("noncentral_f", (4.0, 7.0, 3.0), stats.ncf(4, 7, 3)), ("standard_t", (2.5,), stats.t(2.5)),
    ("wald", (2.0, 3.0), stats.invgauss(2 / 3, scale=3)), ("vonmises", (0.0, 2.0), stats.vonmises(2)),
    ("vonmises", (0.0, 50.0), stats.vonmises(50)), ("vonmises", (0.0, 0.0), stats.uniform(-math.pi, 2 * math.pi)),
    ("vonmises", (0.0, 1e-4), stats.uniform(-math.pi, 2 * math.pi)),
]  # fmt: skip
DISCRETE: list[tuple[str, tuple[Any, ...], Any]] = [
    ("poisson", (0.4,), stats.poisson(0.4)), ("poisson", (9.5,), stats.poisson(9.5)),
    ("poisson", (10.5,), stats.poisson(10.5)), ("poisson", (1234.5,), stats.poisson(1234.5)),
    ("binomial", (7, 0.3), stats.binom(7, 0.3)), ("binomial", (40, 0.8), stats.binom(40, 0.8)),
    ("binomial", (40, 0.3), stats.binom(40, 0.3)), ("binomial", (10**6, 0.4), stats.binom(10**6, 0.4)),
    ("negative_binomial", (2.5, 0.3), stats.nbinom(2.5, 0.3)), ("geometric", (0.2,), stats.geom(0.2)),
    ("logseries", (0.8,), stats.logser(0.8)), ("zipf", (2.2,), stats.zipf(2.2)),
    ("hypergeometric", (15, 20, 8), stats.hypergeom(35, 15, 8)),
    ("hypergeometric", (20, 15, 30), stats.hypergeom(35, 20, 30)),
    ("hypergeometric", (300, 200, 120), stats.hypergeom(500, 300, 120)),
    ("hypergeometric", (30, 200, 150), stats.hypergeom(230, 30, 150)),
]  # fmt: skip


def named(cases: list[tuple[str, tuple[Any, ...], Any]]) -> list[Any]:
    return [pytest.param(*case, id=f"{case[0]}{case[1]}") for case in cases]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("method", "arguments", "distribution"), named(CONTINUOUS))
def test_floating_numbers_have_their_distribution(
    method: str, arguments: tuple[Any, ...], distribution: Any, dtype: str
) -> None:
    drawn = getattr(default_rng(31, device="cpu"), method)(*arguments, size=COUNT, dtype=dtype)
    assert drawn.dtype == dtype
    host = np.asarray(drawn).astype(np.float64)
    # float32 numbers of small betas and gammas are rounded to the ends of their range
    at = np.sort(distribution.cdf(host))
    steps = np.arange(COUNT + 1) / COUNT
    distance = max((steps[1:] - at).max(), (at - steps[:-1]).max()) * math.sqrt(COUNT)
    assert distance < 1.95, "by chance once in a thousand"
    assert abs(np.corrcoef(at_of(host, distribution))[0, 1]) < 4.5 / math.sqrt(COUNT)


@pytest.mark.parametrize(("method", "arguments"), [case[:2] for case in (*CONTINUOUS, *DISCRETE)])
def test_small_arrays_that_are_drawn_at_once_have_the_numbers_of_a_plan(
    method: str, arguments: tuple[Any, ...]
) -> None:
    result = []
    for limit in (0, 1 << 17):
        with xp.using(device="cpu", direct_limit=limit):
            before = xp.stats()["evaluations"]
            drawn = getattr(default_rng(3), method)(*arguments, size=(7, 30))
            result.append(drawn.get())
            evaluated = xp.stats()["evaluations"] - before
    assert not evaluated  # with the second limit
    np.testing.assert_allclose(*result, rtol=1e-13, atol=1e-300)


def at_of(host: Any, distribution: Any) -> list[Any]:
    """Return neighbours, made uniform."""
    uniform = distribution.cdf(host)
    return [uniform[:-1], uniform[1:]]


def assert_counts(actual: Any, distribution: Any) -> None:
    """Check counts of values, those of small chances together, by Pearson's chi-square."""
    low, high = int(distribution.ppf(1e-3)), int(distribution.ppf(1 - 1e-3))
    edges = np.unique(np.linspace(low, high, 40).astype(int))
    chances = np.diff(np.concatenate([[0.0], distribution.cdf(edges), [1.0]]))
    cells = np.searchsorted(edges, actual)
    expected = chances * actual.size
    keep = expected > 4
    counts = np.bincount(cells, minlength=expected.size)
    excess = ((counts[keep] - expected[keep]) ** 2 / expected[keep]).sum()
    assert stats.chi2(max(int(keep.sum()) - 1, 1)).sf(excess) > 5e-4, (counts, expected)
    assert counts[~keep].sum() <= 12 + 4 * expected[~keep].sum()


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(("method", "arguments", "distribution"), named(DISCRETE))
def test_counts_have_their_distribution(method: str, arguments: tuple[Any, ...], distribution: Any, kind: str) -> None:
    with xp.using(default_float=kind):
        drawn = getattr(default_rng(32, device="cpu"), method)(*arguments, size=COUNT)
    assert drawn.dtype == "int64"
    assert_counts(np.asarray(drawn), distribution)


METHODS: list[tuple[str, Callable[[Generator], Any]]] = [
    ("gamma", lambda r: r.standard_gamma(np.array([0.0, 0.4, 1.0, 3.7, 1e3])[:, None], (5, 400))),
    ("log gamma", lambda r: r.dirichlet([0.2, 1.0, 5.0], 400)),
    ("poisson", lambda r: r.poisson(np.array([0.0, 0.7, 8.0, 30.0, 5e3])[:, None], (5, 400))),
    ("binomial", lambda r: r.binomial([[0], [9], [50], [4000]], [[0.3], [0.9], [0.4], [0.6]], (4, 400))),
    (
        "hypergeometric",
        lambda r: r.hypergeometric([[9], [90], [400]], [[30], [20], [300]], [[5], [60], [500]], (3, 400)),
    ),
    ("vonmises", lambda r: r.vonmises(0.5, np.array([0.0, 1e-4, 2.0, 2e4])[:, None], (4, 400))),
    ("zipf", lambda r: r.zipf(np.array([1.1, 2.0, 5.0, 2000.0])[:, None], (4, 400))),
    ("integers", lambda r: r.integers([[0], [-5], [-(2**40)]], [[7], [300], [2**50]], (3, 400))),
]


@pytest.mark.parametrize(("name", "draw"), METHODS, ids=[name for name, _ in METHODS])
def test_samplers_give_the_same_numbers_on_every_device(name: str, draw: Callable[[Generator], Any]) -> None:
    with xp.using(default_float="float32"):
        here, there = (np.asarray(draw(default_rng(33, device=device))) for device in ("wgpu", "cpu"))
        assert xp.stats()["fallbacks"] == 0
    # an element whose acceptance hangs on the last place of a logarithm may be another number
    close = np.isclose(
        here.astype(np.float64), there.astype(np.float64), rtol=2e-4 if name != "poisson" else 0, atol=1e-6
    )
    assert close.mean() > 0.998
    assert here.dtype == there.dtype


def test_samplers_of_double_precision_give_the_same_numbers_on_every_device() -> None:
    draws = [
        np.asarray(default_rng(34, device=device).poisson(np.array([3.0, 40.0]), (50, 2))) for device in ("wgpu", "cpu")
    ]
    np.testing.assert_array_equal(*draws)


def test_parameters_broadcast_and_views_are_those_of_the_whole(device: Device) -> None:
    shapes = np.array([[0.5], [20.0]])
    whole = np.asarray(default_rng(35).standard_gamma(shapes, (2, 300), "float32"))
    assert whole[0].mean() < 1 < whole[1].mean()
    part = np.asarray(default_rng(35).standard_gamma(xp.asarray(shapes), (2, 300), "float32")[1, ::-7] * 1)
    np.testing.assert_allclose(part, whole[1, ::-7], rtol=1e-5)
    assert default_rng(35).poisson([1.0, 2.0]).shape == (2,)
    assert default_rng(35).poisson().shape == ()
    assert default_rng(35).gamma([1.0, 2.0], np.ones((3, 1))).shape == (3, 2)
    assert default_rng(35).binomial(5, 0.5, (0, 3)).shape == (0, 3)
    out = xp.zeros(7, dtype=xp.float32)
    assert default_rng(35).standard_gamma(2.0, out=out) is out
    assert (np.asarray(out) > 0).all()


@pytest.mark.parametrize(("method", "arguments", "_"), named(DISCRETE))
@pytest.mark.parametrize("count", [1, 700, 40_000])
def test_counts_of_equal_parameters_are_those_of_one_parameter(
    method: str, arguments: tuple[Any, ...], _: Any, count: int
) -> None:
    one = getattr(default_rng(5, device="cpu"), method)(*arguments, size=count)
    each = getattr(default_rng(5, device="cpu"), method)(*[np.full(count, value) for value in arguments])
    np.testing.assert_array_equal(one.get(), each.get())


def test_parameters_that_make_no_sense_are_not_a_number_where_they_are_not_looked_at() -> None:
    with xp.using(device="cpu", direct_limit=0):

        def wrong() -> xp.GpuArray:
            return xp.asarray(np.array([1.0, np.nan, -1.0])) * -1  # pending, so that the host does not know the values

        for method in ("standard_gamma", "chisquare", "standard_t"):
            result = np.asarray(getattr(default_rng(36), method)(wrong()))
            assert np.isnan(result).tolist() == [True, True, False], method
        assert np.isnan(np.asarray(default_rng(36).vonmises(0.0, wrong()))).tolist() == [True, True, False]
        limits = np.asarray(default_rng(36).gamma([0.0, np.inf], 1.0))
        assert limits.tolist() == [0.0, np.inf]
        assert np.asarray(default_rng(36).weibull([0.0, 1.0])).tolist()[0] == 0.0


def test_counts_of_several_kinds(device: Device) -> None:
    rng = default_rng(37)
    with xp.using(default_float="float32"):
        drawn = np.asarray(rng.multinomial(60, [0.1, 0.2, 0.3, 0.4, 0.0], 600))
        assert drawn.shape == (600, 5)
        assert (drawn.sum(1) == 60).all()
        assert (drawn[:, 4] == 0).all()
        np.testing.assert_allclose(drawn.mean(0), [6, 12, 18, 24, 0], atol=5 * math.sqrt(60 * 0.24 / 600))
        covariance = np.cov(drawn[:, :4].T)
        assert covariance[0, 3] == pytest.approx(-60 * 0.04, abs=1.0)
        several = np.asarray(rng.multinomial([5, 50], [[0.5, 0.5], [0.9, 0.1]], (30, 2)))
        assert (several.sum(-1) == [5, 50]).all()
        coloured = np.asarray(rng.multivariate_hypergeometric([8, 0, 16, 40], 20, 600))
        assert (coloured.sum(1) == 20).all()
        assert (coloured <= [8, 0, 16, 40]).all()
        np.testing.assert_allclose(coloured.mean(0), [2.5, 0, 5, 12.5], atol=0.4)
    assert rng.multivariate_hypergeometric([], 0).shape == (0,)
    assert np.asarray(rng.multinomial(3, [1.0])).tolist() == [3]


def test_dirichlet_and_multivariate_normal_numbers(device: Device) -> None:
    rng = default_rng(38)
    shares = np.asarray(rng.dirichlet([0.01, 2.0, 3.0], 4000, dtype="float32"))
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(shares.mean(0), np.array([0.01, 2, 3]) / 5.01, atol=0.015)
    covariance = np.array([[2.0, 0.8], [0.8, 1.0]])
    for method in ("svd", "eigh", "cholesky"):
        drawn = np.asarray(rng.multivariate_normal([5, -5], covariance, (40, 200), method=method, dtype="float32"))
        assert drawn.shape == (40, 200, 2)
        flat = drawn.reshape(-1, 2)
        np.testing.assert_allclose(flat.mean(0), [5, -5], atol=0.08)
        np.testing.assert_allclose(np.cov(flat.T), covariance, atol=0.12)
    with pytest.warns(RuntimeWarning, match="semidefinite"):
        rng.multivariate_normal([0, 0], [[1.0, 2.0], [2.0, 1.0]])


def test_numbers_of_one_uniform_number_are_numpys(device: Device) -> None:
    for method, arguments in (
        ("laplace", (1.0, 2.0)), ("logistic", (1.0, 2.0)), ("gumbel", (1.0, 2.0)), ("triangular", (-1.0, 0.5, 3.0)),
        ("uniform", ([0.0, 1.0, 2.0], 5.0)),
    ):  # fmt: skip
        numpy = np.random.Generator(np.random.Philox(39))
        ours = default_rng(39)
        shape = (40, 3)
        expected = getattr(numpy, method)(*arguments, shape)
        np.testing.assert_allclose(
            np.asarray(getattr(ours, method)(*arguments, shape)), expected, rtol=1e-13, atol=1e-13
        )
        np.testing.assert_array_equal(np.asarray(ours.random(3)), numpy.random(3))
    numpy, ours = np.random.Generator(np.random.Philox(40)), default_rng(40)
    for dtype in ("float32", "float64"):
        expected = numpy.standard_exponential(99, dtype, "inv")
        actual = np.asarray(ours.standard_exponential(99, dtype, "inv"))
        np.testing.assert_allclose(actual, expected, rtol=4 * np.finfo(dtype).eps)
