"""Random numbers: their distributions, that they are the same everywhere, and that streams do not overlap."""

import math

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.random import default_rng
from gpuarray.testing import assert_same

FLOATING = ("float32", "float64")
COUNT = 60_000


def distance(sample, distribution):
    """Return the Kolmogorov-Smirnov statistic times the root of the count: above 2 by chance once in 1,500 samples."""
    ordered = np.sort(np.asarray(sample, np.float64).reshape(-1))
    steps = np.arange(ordered.size + 1) / ordered.size
    at = distribution(ordered)
    return max((steps[1:] - at).max(), (at - steps[:-1]).max()) * math.sqrt(ordered.size)


normal_distribution = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))


# -- distributions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING)
def test_uniform_numbers_are_uniform(device: Device, dtype: str) -> None:
    sample = default_rng(1).random(COUNT, dtype)
    assert sample.dtype == dtype
    host = np.asarray(sample)
    assert host.min() >= 0
    assert host.max() < 1
    assert distance(host, lambda x: x) < 2
    assert abs(np.corrcoef(host[:-1], host[1:])[0, 1]) < 0.015


@pytest.mark.parametrize("dtype", FLOATING)
def test_normal_numbers_are_normal(device: Device, dtype: str) -> None:
    host = np.asarray(default_rng(2).standard_normal(COUNT, dtype)).astype(np.float64)
    assert abs(host.mean()) < 4 / math.sqrt(COUNT)
    assert abs(host.var() - 1) < 6 / math.sqrt(COUNT)
    assert abs((host**3).mean()) < 16 / math.sqrt(COUNT)
    assert abs((host**4).mean() - 3) < 40 / math.sqrt(COUNT)
    assert distance(host, normal_distribution) < 2
    # the two numbers of a pair, and pairs, have nothing to do with each other
    for first, second in ((host[::2], host[1::2]), (host[:-2], host[2:])):
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.025
        assert abs(np.corrcoef(first**2, second**2)[0, 1]) < 0.025


@pytest.mark.parametrize("dtype", FLOATING)
def test_exponential_numbers_are_exponential(device: Device, dtype: str) -> None:
    host = np.asarray(default_rng(3).standard_exponential(COUNT, dtype))
    assert host.min() >= 0
    assert distance(host, lambda x: -np.expm1(-x)) < 2


def test_parameters_shift_and_scale(device: Device) -> None:
    rng = default_rng(4)
    assert distance(rng.uniform(-3, 5, COUNT, dtype="float32"), lambda x: (x + 3) / 8) < 2
    assert distance(rng.normal(7, 0.5, COUNT, dtype="float32"), lambda x: normal_distribution((x - 7) * 2)) < 2
    assert distance(rng.exponential(4, COUNT, dtype="float32"), lambda x: -np.expm1(-x / 4)) < 2
    columns = rng.normal([0.0, 100.0], np.array([1.0, 2.0]), (1000, 2), dtype="float32")
    assert columns.shape == (1000, 2)
    np.testing.assert_allclose(np.asarray(columns).mean(0), [0, 100], atol=0.3)
    assert rng.uniform([0.0, 10.0], 20.0).shape == (2,)


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (0, 10, None), (-5, 5, "int8"), (-128, 128, "int8"), (0, 256, "uint8"), (0, 2, "bool"), (7, 8, "int16"),
        (-(2**31), 2**31, "int32"), (0, 2**32, "uint32"), (-(2**63), 2**63, "int64"), (0, 2**64, "uint64"),
        (2**40, 2**41, "int64"), (-(2**62), 2**62 + 3, "int64"),
    ],
)  # fmt: skip
def test_integers_are_spread_evenly(device: Device, low: int, high: int, dtype: str | None) -> None:
    sample = default_rng(5).integers(low, high, COUNT, dtype)
    assert sample.dtype == (dtype or "int64")
    host = np.asarray(sample)
    assert low <= int(host.min()) <= int(host.max()) < high
    if high - low <= 256:
        actual = np.bincount(host.astype(np.int64) - low, minlength=high - low)
        expected = COUNT / (high - low)
        assert len(actual) == high - low
        assert ((actual - expected) ** 2 / expected).sum() < (high - low) + 6 * math.sqrt(2 * (high - low))
    else:
        assert distance([(int(v) - low) / (high - low) for v in host], lambda x: x) < 2


def test_integers_with_the_end_point_and_with_one_bound(device: Device) -> None:
    rng = default_rng(6)
    assert set(np.asarray(rng.integers(1, 3, 200, endpoint=True)).tolist()) == {1, 2, 3}
    assert set(np.asarray(rng.integers(3, size=200)).tolist()) == {0, 1, 2}
    assert int(rng.integers(4, 5)) == 4


# -- the stream -------------------------------------------------------------------------------------------------------


def draws(device: str) -> list[xp.GpuArray]:
    rng = default_rng(11, device=device)
    return [
        rng.random(1001, "float32"), rng.random((3, 5), "float64"), rng.integers(0, 1000, 77, "int32"),
        rng.integers(0, 2**40, 77), rng.integers(0, 2, 9, "bool"), rng.permutation(50), rng.choice(9, 4, replace=False),
    ]  # fmt: skip


@pytest.mark.parametrize("other", ["wgpu", "cpuf32"])
def test_numbers_do_not_depend_on_the_device(other: str) -> None:
    for here, there in zip(draws(other), draws("cpu"), strict=True):
        assert_same(here, np.asarray(there))


@pytest.mark.parametrize("dtype", FLOATING)
def test_normal_numbers_agree_to_within_the_functions_of_the_devices(dtype: str) -> None:
    here, there = (np.asarray(default_rng(12, device=d).standard_normal(50_001, dtype)) for d in ("wgpu", "cpu"))
    unit = np.spacing(np.abs(there))
    assert np.abs(here - there).max() <= 8 * np.finfo(dtype).eps
    assert (np.abs(here - there) / unit).max() <= 8


def test_order_of_evaluation_does_not_matter(device: Device) -> None:
    rng = default_rng(14)
    first, second = rng.random(100, "float32"), rng.random(100, "float32")
    later = np.asarray(second)
    earlier = np.asarray(first)
    again = default_rng(14)
    np.testing.assert_array_equal(np.asarray(again.random(100, "float32")), earlier)
    np.testing.assert_array_equal(np.asarray(again.random(100, "float32")), later)


def test_parts_and_views_are_those_of_the_whole(device: Device) -> None:
    whole = np.asarray(default_rng(15).standard_normal((37, 51), "float32"))
    for key in (np.s_[3:20:2, ::-1], np.s_[5], np.s_[:, 7], np.s_[1:, 1:]):
        part = np.asarray(default_rng(15).standard_normal((37, 51), "float32")[key] * 1)
        np.testing.assert_allclose(part, whole[key], rtol=1e-6)
    turned = np.asarray(default_rng(15).standard_normal((37, 51), "float32").T + 0)
    np.testing.assert_allclose(turned, whole.T, rtol=1e-6)


def test_generators_know_their_device(device: Device) -> None:
    rng = default_rng(19)
    assert default_rng(rng) is rng
    assert xp.random.default_rng is default_rng
    assert "Philox" in repr(rng)
    assert rng.random(3).device == device
    assert rng.device is None
    assert default_rng(1, device="cpu").random(3).device == "cpu"
    assert rng.normal(xp.asarray([1.0, 2.0]), 1).device == device


def test_steps_of_a_simulation_fuse() -> None:
    steps = 24
    with xp.using(device="wgpu"):
        rng = default_rng(20)
        paths = xp.full(20_000, 100.0, dtype=xp.float32)
        for _ in range(steps):
            paths = paths * xp.exp(0.01 * rng.standard_normal(20_000, dtype=xp.float32))
        mean = float(xp.mean(paths))
        assert xp.stats()["launches"] <= 4
        assert xp.stats()["fallbacks"] == 0
    assert abs(mean - 100 * math.exp(steps * 0.5e-4)) < 0.3


def test_numbers_that_several_walks_over_a_row_need_are_made_once() -> None:
    with xp.using(device="wgpu"):
        drawn = np.exp(default_rng(27).random((64, 500), dtype="float32"))
        shares = drawn / drawn.sum(axis=1, keepdims=True)
        assert xp.explain(shares).launches == 2
        np.testing.assert_allclose(np.asarray(shares.sum(axis=1)), 1, rtol=1e-5)


# -- samples and orders -----------------------------------------------------------------------------------------------


def test_permutations(device: Device) -> None:
    rng = default_rng(21)
    order = np.asarray(rng.permutation(1000))
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(1000))
    assert (order != np.arange(1000)).mean() > 0.9
    host = np.arange(30).reshape(6, 5)
    array = xp.asarray(host)
    assert sorted(np.asarray(rng.permutation(array))[:, 0].tolist()) == host[:, 0].tolist()
    turned = np.asarray(rng.permutation(host, axis=1))
    assert sorted(turned[0].tolist()) == host[0].tolist()
    np.testing.assert_array_equal(turned - turned[0], host - host[0])
    view = array[1:]
    rng.shuffle(view)
    assert np.asarray(array)[0].tolist() == host[0].tolist()
    assert sorted(np.asarray(array)[:, 0].tolist()) == host[:, 0].tolist()


def test_every_permutation_is_as_likely(device: Device) -> None:
    rng = default_rng(22)
    result = {}
    for _ in range(240):
        key = tuple(np.asarray(rng.permutation(3)).tolist())
        result[key] = result.get(key, 0) + 1
    assert len(result) == 6
    assert all(15 < n < 70 for n in result.values())


def test_lines_are_permuted_each_in_its_own_order(device: Device) -> None:
    rng = default_rng(26)
    host = np.arange(400).reshape(8, 50)
    rows = np.asarray(rng.permuted(host, axis=1))
    assert (np.sort(rows, 1) == host).all()
    assert len({tuple(row % 50) for row in rows}) == 8
    columns = xp.asarray(host)
    assert rng.permuted(columns, axis=0, out=columns) is columns
    assert (np.sort(np.asarray(columns), 0) == host).all()
    every = np.asarray(rng.permuted(host))
    assert (np.sort(every, None) == np.arange(400)).all()
    assert (np.sort(every, 1) != host).any()


def test_choices(device: Device) -> None:
    rng = default_rng(23)
    host = np.array([[10, 20, 30], [11, 21, 31]])
    assert rng.choice(5, (4, 3)).shape == (4, 3)
    assert rng.choice(5).shape == ()
    assert set(np.asarray(rng.choice(host[0], 300)).tolist()) == {10, 20, 30}
    columns = np.asarray(rng.choice(xp.asarray(host), 4, axis=1))
    np.testing.assert_array_equal(columns[1] - columns[0], [1, 1, 1, 1])
    assert sorted(np.asarray(rng.choice(9, 9, replace=False)).tolist()) == list(range(9))
    weighted = np.asarray(rng.choice(3, 30_000, p=[0.2, 0.0, 0.8]))
    assert set(weighted.tolist()) == {0, 2}
    assert abs((weighted == 0).mean() - 0.2) < 0.02
    distinct = [tuple(np.asarray(rng.choice(4, 2, replace=False, p=[0.7, 0.1, 0.0, 0.2]))) for _ in range(100)]
    assert all(3 > len({a, b} & {0, 1, 3}) > 1 for a, b in distinct)
    assert sum(first == 0 for first, _ in distinct) > 50


# -- arguments --------------------------------------------------------------------------------------------------------


def test_shapes_dtypes_and_targets(device: Device) -> None:
    rng = default_rng(24)
    assert rng.random().shape == ()
    assert rng.random(()).shape == ()
    assert rng.normal(size=(2, 0, 3)).shape == (2, 0, 3)
    assert rng.standard_normal(np.int64(3)).shape == (3,)
    assert rng.random(2).dtype == np.float64
    with xp.using(default_float="float32"):
        assert rng.random(2).dtype == np.float32
        assert rng.normal(1, 2, 3).dtype == np.float32
    out = xp.zeros((4, 5), dtype=xp.float32)
    rows = out[1:3]
    assert rng.standard_normal(out=rows) is rows
    host = np.asarray(out)
    assert (host[[0, 3]] == 0).all()
    assert (host[1:3] != 0).all()
    assert rng.random((4, 5), np.float32, out) is out
    assert rng.standard_exponential(out=out, method="zig") is out


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda r: r.random(2, "float16"), TypeError, "float16"),
        (lambda r: r.standard_normal(2, "int32"), TypeError, "standard_normal"),
        (lambda r: r.random(-1), ValueError, "negative"),
        (lambda r: r.random(3, out=xp.zeros(2)), ValueError, "size must match"),
        (lambda r: r.random(out=np.zeros(2)), TypeError, "GpuArray"),
        (lambda r: r.random(dtype="float32", out=xp.zeros(2)), TypeError, "wrong type"),
        (lambda r: r.random(out=xp.broadcast_to(xp.zeros(1), (2,))), ValueError, "read-only"),
        (lambda r: r.uniform(2, 1), ValueError, "high - low < 0"),
        (lambda r: r.uniform(0, math.inf), OverflowError, "range"),
        (lambda r: r.normal(0, -1), ValueError, "scale < 0"),
        (lambda r: r.exponential(-1.0), ValueError, "scale < 0"),
        (lambda r: r.normal(np.zeros(3), 1, 2), ValueError, "broadcast"),
        (lambda r: r.standard_exponential(2, method="other"), ValueError, "inv"),
        (lambda r: r.integers(3, 3), ValueError, "low >= high"),
        (lambda r: r.integers(0, 300, 2, "uint8"), ValueError, "high is out of bounds"),
        (lambda r: r.integers(-1, 3, 2, "uint8"), ValueError, "low is out of bounds"),
        (lambda r: r.integers(0, 3, 2, "float32"), TypeError, "integer"),
        (lambda r: r.integers(0, 2.5), TypeError, "float"),
        (lambda r: r.integers("a", 3), TypeError, "str"),
        (lambda r: r.integers([0, 5], [3, 4]), ValueError, "low >= high"),
        (lambda r: r.integers(0), ValueError, "high <= 0"),
        (lambda r: r.integers([0, 1], [3, 300], dtype="uint8"), ValueError, "high is out of bounds"),
        (lambda r: r.standard_gamma(-1.0), ValueError, "shape < 0"),
        (lambda r: r.beta(0, 1), ValueError, "a <= 0"),
        (lambda r: r.beta([1, 1], [1, -1]), ValueError, "b <= 0"),
        (lambda r: r.vonmises(0, -1), ValueError, "kappa < 0"),
        (lambda r: r.triangular(0, 3, 2), ValueError, "mode > right"),
        (lambda r: r.poisson(-1), ValueError, "lam < 0"),
        (lambda r: r.poisson(1e19), ValueError, "too large"),
        (lambda r: r.binomial(-1, 0.5), ValueError, "n < 0"),
        (lambda r: r.binomial(3, [0.5, math.nan]), ValueError, "p is NaN"),
        (lambda r: r.negative_binomial(0, 0.5), ValueError, "n <= 0"),
        (lambda r: r.geometric(0.0), ValueError, "p <= 0"),
        (lambda r: r.logseries(1.0), ValueError, "p >= 1"),
        (lambda r: r.zipf(1.0), ValueError, "a <= 1"),
        (lambda r: r.hypergeometric(3, 4, 8), ValueError, "nsample"),
        (lambda r: r.hypergeometric(10**9, 4, 8), ValueError, "less than"),
        (lambda r: r.multinomial(3, [0.7, 0.7, 0.1]), ValueError, "sum"),
        (lambda r: r.multinomial(3, [1.5]), ValueError, "pvals > 1"),
        (lambda r: r.multivariate_hypergeometric([2, 3], 6), ValueError, "nsample > sum"),
        (lambda r: r.multivariate_hypergeometric([2, -3], 1), ValueError, "nonnegative"),
        (lambda r: r.multivariate_hypergeometric([2, 3], 1, method="x"), ValueError, "marginals"),
        (lambda r: r.dirichlet([1.0, -1.0]), ValueError, "alpha < 0"),
        (lambda r: r.dirichlet(1.0), ValueError, "one axis"),
        (lambda r: r.multivariate_normal([0, 0], [[1.0]]), ValueError, "same length"),
        (lambda r: r.multivariate_normal([0], [[1.0]], method="lu"), ValueError, "cholesky"),
        (lambda r: r.multivariate_normal([0, 0], [[1.0, 2], [2, 1]], check_valid="raise"), ValueError, "semidefinite"),
        (lambda r: r.permuted(xp.zeros(3), out=xp.zeros(4)), ValueError, "same shape"),
        (lambda r: r.permuted(xp.zeros(3), out=np.zeros(3)), TypeError, "GpuArray"),
        (lambda r: r.gamma([1.0, 2.0], 1, 3), ValueError, "broadcast"),
        (lambda r: r.choice(3, 5, replace=False), ValueError, "larger sample"),
        (lambda r: r.choice(0, 2), ValueError, "positive"),
        (lambda r: r.choice(3, p=[0.5, 0.5]), ValueError, "same size"),
        (lambda r: r.choice(2, p=[0.5, 0.6]), ValueError, "sum to 1"),
        (lambda r: r.choice(2, p=[1.5, -0.5]), ValueError, "non-negative"),
        (lambda r: r.choice(2, p=[0.5, math.nan]), ValueError, "NaN"),
        (lambda r: r.choice(3, 3, replace=False, p=[0.5, 0.5, 0]), ValueError, "Fewer non-zero"),
        (lambda r: r.permutation(xp.zeros(())), np.exceptions.AxisError, "axis"),
        (lambda r: r.shuffle([1, 2]), TypeError, "list"),
        (lambda r: default_rng(r, device="cpu"), ValueError, "seed"),
        (lambda r: default_rng(-1), ValueError, "non-negative"),
        (lambda r: default_rng("no"), TypeError, "SeedSequence|sequence"),
        (lambda r: xp.random.Generator(7), TypeError, "default_rng"),
        (lambda r: default_rng(1, device="nowhere"), RuntimeError, "nowhere"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error, words) -> None:
    with xp.using(device="cpu"), pytest.raises(error, match=words):
        call(default_rng(25))


@pytest.mark.parametrize(
    ("draw", "error"),
    [
        (lambda r, put: r.poisson(put([-1.0])), ValueError),
        (lambda r, put: r.binomial(5, put([1.5])), ValueError),
        (lambda r, put: r.normal(0, put([1.0, -1.0])), ValueError),
        (lambda r, put: r.uniform(put([2.0]), put([1.0])), ValueError),
        (lambda r, put: r.uniform(put([-np.inf]), put([0.0])), OverflowError),
        (lambda r, put: r.triangular(put([2.0]), put([1.0]), 3), ValueError),
        (lambda r, put: r.integers(put([5]), put([2])), ValueError),
        (lambda r, put: r.integers(put([5]), 300, dtype=np.uint8), ValueError),
        (lambda r, put: r.hypergeometric(put([1]), put([2]), put([4])), ValueError),
        (lambda r, put: r.multinomial(3, put([0.7, 0.7, 0.1])), ValueError),
    ],
)
def test_values_that_the_host_has_are_checked(draw, error, device: Device) -> None:
    with pytest.raises(error):
        draw(np.random.default_rng(25), np.asarray)
    with pytest.raises(error):
        draw(default_rng(25), xp.asarray)


def test_numbers_do_not_depend_on_what_the_host_has(device: Device) -> None:
    known, pending = xp.asarray(7), xp.asarray([7.0, 2.0]).max().astype(int)
    assert_same(default_rng(3).integers(2, known, 20), np.asarray(default_rng(3).integers(2, pending, 20)))
