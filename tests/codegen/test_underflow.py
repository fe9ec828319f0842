"""Subnormal sums and products of float32 on a device that flushes them: NumPy's numbers.

The device is opened with a self-test that finds it so, and its arithmetic is made to flush: the library's sums and
products take subnormal numbers for 0, and give 0 for them. What a question fails to see is then a wrong number.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.codegen import library, product_choice, products, tiles
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.providers.wgpu import selftest
from gpuarray.scipy import ndimage

pytestmark = pytest.mark.wgpu

FLUSHING = "flushing"
COUNT = 1 << 14
TINY = np.finfo(np.float32).tiny
BINARY = (np.add, np.subtract, np.multiply)
UNARY = (np.square, np.degrees, np.radians)
SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-40, -1e-40, 1e-45, -1e-45, TINY, -TINY,
     np.nextafter(TINY, np.float32(0)), 3e38, 2.0**-95, -(2.0**-95), 2.0**-96, 1e-30], np.float32,
)  # fmt: skip


def _open_flushing(number: int) -> Any:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    result = WgpuProvider._find_facts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WgpuProvider, "_find_facts", lambda self: {**result(self), selftest.SUBNORMAL: False})
        return WgpuProvider(number, device=Device(FLUSHING))


FLUSHING_LIBRARY = """
fn flush_f32(x: f32) -> f32 {
  return select(x, bitcast<f32>(bitcast<u32>(x) & sign_bit_f32), magnitude_f32(x) < implicit_bit_f32);
}
fn add_f32(x: f32, y: f32) -> f32 { return flush_f32(fma(flush_f32(x), one_f32(), flush_f32(y))); }
fn subtract_f32(x: f32, y: f32) -> f32 { return flush_f32(fma(flush_f32(x), one_f32(), -flush_f32(y))); }
fn multiply_f32(x: f32, y: f32) -> f32 { return flush_f32(fma(flush_f32(x), flush_f32(y), negative_zero_f32())); }
"""


@pytest.fixture(scope="module", autouse=True)
def flushing_library() -> Iterator[None]:
    """Make the sums and products of kernels flush."""
    with pytest.MonkeyPatch.context() as patch:
        known = library._collected
        extra = library._declarations(FLUSHING_LIBRARY)
        patch.setattr(library, "_collected", lambda suffix: known(suffix) | (extra if suffix == "wgsl" else {}))
        _forget()
        yield
    _forget()


def _forget() -> None:
    for cache in (library._library, library._fast_path_names, library._functions):
        cache.cache_clear()


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A wgpu device that flushes, which is the default one; no test may need the host for a step."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(FLUSHING, _open_flushing)
    with xp.using(device=FLUSHING, subnormals="keep"), np.errstate(all="ignore"):
        yield Device(FLUSHING)
    assert xp.stats()["fallbacks"] == 0


def numbers(below: int, seed: int) -> np.ndarray:
    """Return numbers with random bits of magnitude below ``below``, of either sign."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, below, COUNT, np.uint32) | random.integers(0, 2, COUNT, np.uint32) << np.uint32(31)
    return bits.view(np.float32)


def operands() -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of subnormal, tiny and any numbers, some with the least products, and all special values."""
    whole, tiny, subnormal = 1 << 31, 1 << 29, 1 << 24
    pairs = [(subnormal, subnormal), (subnormal, tiny), (tiny, tiny), (tiny, whole), (whole, whole)]
    columns = [(numbers(a, 2 * k), numbers(b, 2 * k + 1)) for k, (a, b) in enumerate(pairs)]
    random = np.random.default_rng(7)
    for below in (subnormal, tiny, whole):
        x = numbers(below, below)
        product = random.choice([-1.0, 1.0], COUNT) * TINY * 2.0 ** random.uniform(-26, 4, COUNT)
        columns.append((x, (product / x.astype(np.float64)).astype(np.float32)))
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    columns.append((x.ravel(), y.ravel()))
    return np.concatenate([c[0] for c in columns]), np.concatenate([c[1] for c in columns])


def differ(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Return where the bits differ, except of NaN."""
    return np.flatnonzero((got.view(np.uint32) != want.view(np.uint32)) & ~(np.isnan(got) & np.isnan(want)))


@pytest.mark.parametrize("function", [*BINARY, *UNARY], ids=lambda f: f.__name__)
def test_results_are_numpys(function: Any) -> None:
    given = operands()[: function.nin]
    result, want = np.asarray(function(*map(xp.asarray, given))), function(*given)
    bad = differ(result, want)
    assert not len(bad), [(tuple(x[i] for x in given), result[i], want[i]) for i in bad[:5]]


@pytest.mark.parametrize("function", [*BINARY, np.square], ids=lambda f: f.__name__)
def test_complex_results_are_numpys(function: Any) -> None:
    parts = [np.concatenate([numbers(below, seed + below % 97) for below in (1 << 24, 1 << 29)]) for seed in range(4)]
    given = [parts[0] + 1j * parts[1], parts[2] + 1j * parts[3]][: function.nin]
    result, want = np.asarray(function(*map(xp.asarray, given))), function(*given)
    # NumPy's vector loops may contract a product and a sum
    least = np.finfo(np.float32).smallest_subnormal
    for ours, numpys in ((result.real, want.real), (result.imag, want.imag)):
        assert (abs(ours - numpys) <= least).all()
    assert result.any()


def test_without_questions_the_device_flushes() -> None:
    """So that the other tests can fail."""
    x = xp.asarray(np.full(4, 1e-40, np.float32))
    with xp.using(subnormals="flush"):
        assert (np.asarray(x + x) == 0).all()
    assert (np.asarray(x + x) == np.float32(1e-40) * 2).all()


@pytest.mark.usefixtures("nothing_prepared")
@pytest.mark.parametrize("width", [64, 51])
@pytest.mark.parametrize("tiling", [None, tiles.Tiling(32, 64, 8, 8, 8)], ids=["small", "large patches"])
def test_what_follows_a_product_underflows_gradually(width: int, tiling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if tiling is not None:
        monkeypatch.setattr(products, "choose", lambda *_: product_choice.Choice(tiling, 1))
    random = np.random.default_rng(0)
    left = random.choice(np.float32([1, 2, 3]), (70, 1))
    right = random.choice(np.float32([1, 2 * TINY, 3 * TINY, 4 * TINY]), (1, width))
    bias = np.where(random.random(width) < 0.5, np.float32(-2.5) * TINY, np.float32(1))
    want = np.maximum(left @ right + bias, np.float32(-TINY) / 4)
    assert 0 < np.count_nonzero((abs(want) < TINY) & (want != 0)) < want.size / 2
    with xp.using(device=FLUSHING):
        result = np.maximum(xp.asarray(left) @ xp.asarray(right) + xp.asarray(bias), np.float32(-TINY) / 4)
        assert "fast_path_finish" in str(xp.explain(result, stage="wgsl"))
        assert not len(differ(np.asarray(result), want))


def _numbers(random: np.random.Generator, count: int) -> np.ndarray:
    """Return numbers of one of several kinds: subnormal, tiny, any, ordinary, with zeros, or of even exponents."""
    bits = random.integers(0, 1 << 32, count, np.uint32)
    share = np.uint32([0x80FFFFFF, 0x9FFFFFFF, 0xFFFFFFFF, 0xBFFFFFFF][random.integers(4)])
    kinds = (
        (bits & share).view(np.float32),
        random.standard_normal(count).astype(np.float32),
        np.where(random.random(count) < 0.5, 0, random.standard_normal(count)).astype(np.float32),
        (random.choice([-1.0, 1.0], count) * 2.0 ** random.uniform(-149, 80, count)).astype(np.float32),
        (
            random.choice([-1.0, 0.0, 1.0], count) * 2.0 ** random.uniform(-random.choice([20, 50, 100]), 0, count)
        ).astype(np.float32),
    )
    return kinds[random.integers(len(kinds))]


_EXACT = (np.add, np.subtract, np.multiply, np.negative, np.abs, np.square, np.sqrt, np.divide, np.maximum, np.degrees)
_OTHERS = (np.exp, np.cos, np.sin, np.log, np.exp2)
_SCALARS = [0.0, 1.0, -0.25, 3.0, 1e-20, 1e30, 1e-40, 2.0**-95, 1e10, 0.1, 2.0**-16, 2.0**-17]


def _step(random: np.random.Generator, values: list[tuple[np.ndarray, Any]]) -> tuple[np.ndarray, Any]:
    """Return what a function makes of some of the values, on the host and on the device."""
    function = _OTHERS[random.integers(len(_OTHERS))] if random.random() < 0.2 else None
    if function is not None:
        host, device = values[random.integers(len(values))]
        # the device's own function of the right numbers: what matters here is what reaches it
        return np.asarray(function(xp.asarray(host))), function(device)
    # sums, differences and products are half of all
    exact = _EXACT[random.integers(3) if random.random() < 0.6 else random.integers(len(_EXACT))]
    chosen = [values[random.integers(len(values))] for _ in range(exact.nin)]
    if exact.nin == 2 and random.random() < 0.3:
        scalar = np.float32(_SCALARS[random.integers(len(_SCALARS))])
        chosen[random.integers(2)] = (scalar, scalar)
    if not any(isinstance(host, np.ndarray) for host, _ in chosen):
        return values[0]
    return exact(*(host for host, _ in chosen)), exact(*(device for _, device in chosen))


#: Numbers of steps of long programs.
LONG = range(20, 60)


@pytest.mark.parametrize(
    ("seed", "steps"), [*((seed, range(2, 9)) for seed in range(25)), *((seed, LONG) for seed in range(12))]
)
def test_random_programs_are_numpys(seed: int, steps: range) -> None:
    random = np.random.default_rng(seed)
    count = 3 << 10
    hosts = [np.concatenate([_numbers(random, count // 3) for _ in range(3)]) for _ in range(random.integers(1, 4))]
    values = [(host, xp.asarray(host)) for host in hosts]
    for _ in range(random.choice(steps)):
        values.append(_step(random, values if steps != LONG else [*values[: len(hosts)], *values[-4:]]))
    expected = values[len(hosts) :] if random.random() < 0.3 else values[-1:]
    xp.evaluate(*(device for _, device in expected))
    for host, device in expected:
        result = np.asarray(device)
        bad = differ(result, host)
        assert not len(bad), ([x[bad[0]] for x in hosts], result[bad[0]], host[bad[0]])


def _weighted(x: Any, weights: Sequence[float], axis: int) -> Any:
    """Return the weighted sums of neighbours along an axis."""
    length = x.shape[axis] - len(weights) + 1
    here = (slice(None),) * axis
    terms = [np.float32(w) * x[(*here, slice(k, k + length))] for k, w in enumerate(weights)]
    return sum(terms, start=np.float32(0))


WEIGHTS = ([0.25, 0.5, 0.1], [1, -2, 1], [0, 1e-3, 2.0**-16])


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("exponent", [-10, -47, -70, -110])
def test_stencils_over_zeros_are_numpys(weights: list[float], axes: tuple[int, ...], exponent: int) -> None:
    random = np.random.default_rng(-exponent)
    x = random.choice([-1.0, 0, 0, 1], (70, 128)) * 2.0 ** random.uniform(exponent, exponent + 20, (70, 128))
    host = x.astype(np.float32)
    device = xp.asarray(host)
    for axis in axes:
        host, device = _weighted(host, weights, axis), _weighted(device, weights, axis)
    assert not len(differ(np.asarray(device).ravel(), host.ravel()))


@pytest.mark.usefixtures("nothing_prepared")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: _weighted(x, WEIGHTS[0], 0),
        lambda x: _weighted(_weighted(x, WEIGHTS[0], 1), WEIGHTS[0], 0),
        lambda x: x[1:-1] + np.float32(0.1) * (x[2:] - 2 * x[1:-1] + x[:-2]),
        lambda x: (x @ x) * (x > 0),
        lambda x: np.where(x > 1, x, 0) * x + x,
    ],
)
def test_zeros_do_not_take_the_slow_path(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {f"gradual_{name}_f32": f"return {name}_f32(x, y) + 1;" for name in ("add", "subtract", "multiply")}
    known = library._collected
    texts = "\n".join(f"fn {name}(x: f32, y: f32) -> f32 {{ {body} }}" for name, body in wrong.items())
    extra = library._declarations(texts)
    monkeypatch.setattr(library, "_collected", lambda suffix: known(suffix) | (extra if suffix == "wgsl" else {}))
    _forget()
    host = np.random.default_rng(0).standard_normal((128, 128)).astype(np.float32)
    host[::3] = host[:, ::5] = 0
    got = np.asarray(function(xp.asarray(host)))
    _forget()
    np.testing.assert_allclose(got, function(host), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y, z: np.sqrt(x * y),
        lambda x, y, z: np.sqrt(x * y + z * z),
        lambda x, y, z: (x * y) / z,
        lambda x, y, z: z / (x * y),
        lambda x, y, z: (x - y) / (x + z),
        # a product that is a factor of two others
        lambda x, y, z: (x * y) * z + (x * y) * x,
        lambda x, y, z: abs(x * y) * z + -(x * y) * x,
        lambda x, y, z: (x * y * z) * x + (x * y * z) * z + 1,
        lambda x, y, z: ((x * y) * z + 1) + ((x * y) * x + 1) + (z * x + 1),
        lambda x, y, z: np.square(x * y) * z,
        lambda x, y, z: (x - y) * (x - y) * z,
        lambda x, y, z: np.degrees(x * y) + np.radians(z * y),
    ],
)
def test_what_takes_products_and_sums_is_numpys(function: Callable[..., Any]) -> None:
    random = np.random.default_rng(11)
    count = 1 << 14
    x = np.concatenate([numbers(1 << 29, 21), numbers(1 << 31, 22)])
    z = (random.choice([-1.0, 1.0], 2 * count) * 2.0 ** random.uniform(-149, 127, 2 * count)).astype(np.float32)
    # products of all sizes around the least normal number
    y = (2.0 ** random.uniform(-150, 30, 2 * count) / x.astype(np.float64)).astype(np.float32)
    x, y, z = (np.abs(v) for v in (x, y, z))
    result, want = np.asarray(function(*map(xp.asarray, (x, y, z)))), function(x, y, z)
    bad = differ(result, want)
    assert not len(bad), [(x[i], y[i], z[i], result[i], want[i]) for i in bad[:5]]


@pytest.mark.parametrize("function", [np.exp, np.exp2, np.cos, np.cosh, np.sin, np.tanh, np.log, np.sqrt, np.arctan])
def test_functions_are_given_the_right_numbers(function: Any) -> None:
    random = np.random.default_rng(12)
    x = (2.0 ** random.uniform(-140, 3, COUNT)).astype(np.float32)
    y = (2.0 ** random.uniform(-140, 3, COUNT)).astype(np.float32)
    for operand in (lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a * b + b, lambda a, b: a * a - b * b):
        given = xp.asarray(operand(x, y))
        result, want = np.asarray(function(operand(xp.asarray(x), xp.asarray(y)))), np.asarray(function(given))
        bad = differ(result, want)
        assert not len(bad), [(x[i], y[i], result[i], want[i]) for i in bad[:5]]


@pytest.mark.parametrize("shape", [(64, 48), (3, 1000), (2, 9000)])
def test_rows_are_numpys(shape: tuple[int, ...]) -> None:
    x = (2.0 ** np.random.default_rng(3).uniform(-140, -100, shape)).astype(np.float32)
    y = xp.asarray(x)
    result = [xp.max(y * np.float32(2.0**-20) - y, axis=1), y * xp.max(y, axis=1, keepdims=True)]
    want = [np.max(x * np.float32(2.0**-20) - x, axis=1), x * x.max(axis=1, keepdims=True)]
    for ours, numpys in zip(result, want, strict=True):
        assert not len(differ(np.asarray(ours), numpys))


def test_strided_and_broadcast_operands_are_numpys() -> None:
    x = (2.0 ** np.random.default_rng(5).uniform(-149, -90, (130, 70))).astype(np.float32)
    ours = xp.asarray(x)
    for function in (
        lambda a: a.T * np.float32(0.5) - a.T,
        lambda a: a[:, :1] * a[:1] + a[::-1],
        lambda a: a[3:, 1:-1] * np.float32(3e37) * a[:-3, 2:] - a[1:-2, :-2],
        lambda a: (a + a.astype(np.int16)) * a.astype(np.float16).astype(np.float32) - a,
    ):
        result, want = (np.ascontiguousarray(np.asarray(function(a))) for a in (ours, x))
        assert not len(differ(result, want))


QUESTION = re.compile(r"is_(at_least|normal_or_zero)_f32\(v")


@pytest.mark.parametrize(
    ("expression", "questions"),
    [
        (lambda x, y: np.sin(x) * np.sin(x) + np.exp(-x * x) * np.sqrt(abs(x) + 1), 1),
        (lambda x, y: ((0.1 * x + 0.2) * x + 0.3) * x + 0.4, 1),
        (lambda x, y: 2.5 * x + y, 1),
        (lambda x, y: np.exp(x - y) + 1, 0),
        (lambda x, y: np.cos(x) + 1, 0),
        (lambda x, y: np.sqrt(x * x + y * y), 0),
        (lambda x, y: (x - y) / (x + y), 1),  # whether the divisor is right
        (lambda x, y: x * y * x * y, 1),
        (lambda x, y: np.sum((x - y) ** 2), 0),
    ],
)
def test_few_questions_are_asked(expression: Callable[..., Any], questions: int) -> None:
    x, y = (xp.asarray(np.ones(4096, np.float32) * k) for k in (1, 2))
    text = str(xp.explain(expression(x, y), stage="wgsl"))
    lanes = 4 if re.search(r"f32\(v\d+_3[,)]", text) else 1
    assert len(QUESTION.findall(text)) == questions * lanes


def test_functions_share_a_guard_and_the_slow_paths() -> None:
    x, y = (xp.asarray(np.ones(4096, np.float32) * k) for k in (1, 2))
    for expected in (np.sin(x) * np.exp(y) / np.sqrt(x + y), np.maximum(np.log(x / y), np.exp(-x)) + np.tanh(y)):
        assert str(xp.explain(expected, stage="wgsl")).count(" = exp_f32(") == 1
    # what has no fast path, and is long, parts them
    parted = np.exp(np.arctan(np.exp(x)))
    assert str(xp.explain(parted, stage="wgsl")).count(" = exp_f32(") == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.float32(2.5) * x + y,
        lambda x, y: x * y - x * np.float32(0.5),
        lambda x, y: np.where(x > y, np.degrees(x) - y, np.square(y) * x),
        lambda x, y: (x + y) * (x - y),
        lambda x, y: ((x * np.float32(0.1) + y) * x + y) * x * y * x + y,  # of too many factors for a second guard
    ],
)
def test_zeros_that_are_right_need_no_slow_paths(function: Callable[..., Any]) -> None:
    random = np.random.default_rng(23)
    zeros = random.choice(np.float32([0.0, -0.0]), COUNT)
    x, y = (np.where(random.random(COUNT) < 0.5, zeros, random.standard_normal(COUNT)).astype(np.float32) for _ in "xy")
    small = np.where(random.random(COUNT) < 0.1, np.float32(1e-30), 1) * x
    for given in ((x, y), (zeros, y), (small, y * np.float32(1e-10)), (x, x)):
        ours = function(*map(xp.asarray, given))
        text = str(xp.explain(ours, stage="wgsl"))
        assert ("let checked" in text) != ("least = min(" in text)
        assert not len(differ(np.asarray(ours), function(*given)))


@pytest.mark.parametrize(
    ("function", "is_ratio"),
    [
        (lambda x, y: x / np.float32(255), True),
        (lambda x, y: abs(x) / y, True),
        (lambda x, y: -x / (y + 1), True),
        (lambda x, y: (x * y) / y, False),  # whose dividend may be 0 for being flushed
        (lambda x, y: -(x - y) / np.float32(3), False),
    ],
)
def test_zeros_divided_are_zeros(function: Callable[..., Any], is_ratio: bool) -> None:
    x, y = (v.ravel() for v in np.meshgrid(SPECIAL, SPECIAL))
    ours = function(xp.asarray(np.tile(x, 12)), xp.asarray(np.tile(y, 12)))
    assert ("guard_ratio_f32" in str(xp.explain(ours, stage="wgsl"))) == is_ratio
    assert not len(differ(np.asarray(ours), np.tile(function(x, y), 12)))


def test_only_kernels_that_are_asked_to_keep_subnormal_numbers_are_longer() -> None:
    x = xp.ones(8, dtype=xp.float32)
    assert "gradual_multiply_f32" in str(xp.explain(x * x + 1, stage="wgsl"))
    for other in ({"math": "fast"}, {"subnormals": "flush"}):
        with xp.using(**other):
            assert "gradual" not in str(xp.explain(x * x + 1, stage="wgsl"))
    half = xp.ones(8, dtype=xp.float16)
    assert "gradual" not in str(xp.explain(half * half + 1, stage="wgsl"))
    with xp.using(device="wgpu"):
        y = xp.ones(8, dtype=xp.float32)
        flushes = not registry.open_device(y.device).facts[selftest.SUBNORMAL]
        assert ("gradual" in str(xp.explain(y * y + 1, stage="wgsl"))) == flushes


def test_plans_of_both_kinds_are_kept_apart() -> None:
    x = xp.asarray(np.full(4, 1e-40, np.float32))
    plans = []
    for subnormals in ("keep", "flush", "keep", "flush"):
        before = xp.stats()["plans"]
        with xp.using(subnormals=subnormals):
            xp.evaluate(x * 0.5 + 1e-41)
        plans.append(xp.stats()["plans"] - before)
    assert plans == [1, 1, 0, 0]


def test_distances_keep_the_devices_arithmetic() -> None:
    x = xp.asarray(np.ones((64, 64), np.float32))
    distances = xp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
    assert "gradual" not in str(xp.explain(distances, stage="wgsl"))


@pytest.mark.parametrize("first", [0.0, 1.0])
def test_filters_keep_the_devices_arithmetic(first: float) -> None:
    weights = np.arange(first, first + 49).reshape(7, 7)
    text = str(xp.explain(ndimage.correlate(xp.ones((1027, 520), xp.float32), weights), stage="wgsl"))
    assert " windows" in text
    assert "gradual" not in text
