"""64-bit integers on a device without them, as pairs of 32-bit words: NumPy's numbers, and nothing runs on the host.

The device is opened without any feature, so a stray 64-bit integer in a kernel would not compile, and with the least
limits that a GPU may have.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import emit
from gpuarray.device import Capabilities, Device
from gpuarray.dtypes import DType
from gpuarray.ops import elementwise, generators
from gpuarray.ops.spec import OPS, MapOp
from gpuarray.providers import registry
from gpuarray.testing import assert_same

pytestmark = pytest.mark.wgpu

WIDE = (dtypes.int64, dtypes.uint64)
WIDE_NAMES = ("int64", "uint64")
#: The dtypes that such a device has besides: those without 64-bit numbers.
NARROW = tuple(d for d in dtypes.ALL if d not in (*WIDE, dtypes.float64, dtypes.complex128))


@pytest.fixture(autouse=True)
def device(portable: Device) -> Iterator[Device]:
    """A wgpu device without 64-bit integers, which is the default one; no test may need the host for a step."""
    with xp.using(device=portable), np.errstate(all="ignore"):
        yield portable
    assert xp.stats()["fallbacks"] == 0


# --- samples ---------------------------------------------------------------------------------------------------------


def special(dtype: DType) -> np.ndarray:
    info = np.iinfo(dtype)
    near = [0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1,
            2**33 - 5, 2**48 + 3, 2**62, 2**63 - 1, 2**63, 2**64 - 2**32, 2**64 - 1]  # fmt: skip
    near += [-v for v in near] + [info.max - 1, info.min + 1]
    return np.unique(np.array([v for v in near if info.min <= v <= info.max], dtype))


def patterns(dtype: DType, size: int, seed: int) -> np.ndarray:
    """Return random bits of all lengths, negative ones included."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2**64, size, np.uint64) >> random.integers(0, 64, size).astype(np.uint64)
    return np.where(random.integers(0, 2, size) == 1, bits, ~bits + np.uint64(1)).view(dtype)


def columns(first: DType, last: DType, size: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return two operands: every special value with every other, and random ones."""
    x, y = np.meshgrid(special(first), special(last))
    return (
        np.concatenate([x.ravel(), patterns(first, size, 1)]),
        np.concatenate([y.ravel(), patterns(last, size, 2)]),
    )


def compare(functions: Sequence[Callable[..., Any]], *operands: np.ndarray) -> None:
    """Check functions of the same operands, all of them evaluated together."""
    given = [xp.asarray(x) for x in operands]
    results = [f(*given) for f in functions]
    xp.evaluate(*results)
    for function, result in zip(functions, results, strict=True):
        assert_same(result, function(*operands), message=str(function))


# --- elementwise operations --------------------------------------------------------------------------------------

GROUPS = {
    "arithmetic": ("add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or",
                   "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
    "comparisons": ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
                    "logical_or", "logical_xor"),
    "division": ("floor_divide", "remainder", "fmod"),
    "divisors": ("gcd", "lcm"),
    "powers": ("pow",),
    "single": ("negative", "positive", "abs", "sign", "square", "reciprocal", "bitwise_invert", "bitwise_count",
               "logical_not", "isnan", "isinf", "isfinite", "conj", "ceil", "floor", "trunc"),
}  # fmt: skip
ELSEWHERE = ("where", "real", "imag", "cast", "bitcast", "ldexp", "sample_below")


def test_all_operations_of_wide_integers_are_tested() -> None:
    def takes_wide(row: MapOp) -> bool:
        try:
            return any(d in WIDE for d in row.resolve(*[dtypes.int64] * row.arity).inputs)
        except TypeError:
            return False

    rows = {r.name for r in OPS.values() if isinstance(r, MapOp) and (r.name in ELSEWHERE or takes_wide(r))}
    assert rows == {name for names in GROUPS.values() for name in names} | set(ELSEWHERE)


@pytest.mark.parametrize("kind", WIDE_NAMES)
@pytest.mark.parametrize("group", GROUPS)
def test_operations(group: str, kind: str) -> None:
    functions = [getattr(OPS[name], "numpy") for name in GROUPS[group]]  # noqa: B009  # Row has no such attribute
    dtype = np.dtype(kind)
    x, y = columns(dtype, dtype)
    if group == "powers":
        y = np.where(y < 0, ~y, y)
    compare(functions, *((x, y)[: functions[0].nin]))


def test_comparisons_of_different_signedness_are_exact() -> None:
    functions = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]
    compare(functions, *columns(dtypes.int64, dtypes.uint64))
    compare(functions, *columns(dtypes.uint64, dtypes.int64))


@pytest.mark.parametrize("kind", WIDE_NAMES)
def test_choices_scalars_and_parts(kind: str) -> None:
    dtype = np.dtype(kind)
    x, y = columns(dtype, dtype)
    large = np.iinfo(dtype).max - 3

    def namespace(array: Any) -> Any:
        return np if isinstance(array, np.ndarray) else xp

    compare(
        [
            lambda a, b: namespace(a).where(a < b, a, b),
            lambda a, b: namespace(a).clip(a, 3, 2**40),
            lambda a, b: a * 3 + dtype.type(large) - (b ^ 2**35),
            lambda a, b: namespace(a).real(a) + namespace(a).imag(b),
            lambda a, b: a.view(WIDE_NAMES[kind == "int64"]),
        ],
        x,
        y,
    )


def test_wide_exponents() -> None:
    exponents = np.array([0, 1, -1, 100, -140, 2**31, -(2**31), 2**40, -(2**40), 2**63 - 1, -(2**63)])
    compare([np.ldexp], np.full(exponents.size, 1.5, np.float32), exponents)


# --- casts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WIDE_NAMES)
def test_casts_to_other_dtypes(kind: str) -> None:
    dtype = np.dtype(kind)
    # neighbours of what float32 and float16 can hold, and of the middles between
    near = [2**n + d for n in (10, 11, 16, 17, 24, 25, 32, 33, 40, 62) for d in (-3, -1, 0, 1, 2**n >> 11, 2**n >> 24)]
    x = np.concatenate([special(dtype), patterns(dtype, 4000, 5), np.array(near, dtype)])
    if dtype.kind == "i":
        x = np.concatenate([x, -np.array(near, dtype)])
    compare([lambda a, t=t: a.astype(t) for t in (*NARROW, *WIDE)], x)


FLOATS = np.array(
    [0.0, -0.0, 0.5, -0.75, 1.0, -1.5, 255.9, 65504.0, -32769.0, 2.0**24 + 2, 2.0**31, -(2.0**31), 2.0**32, 2.0**40,
     -(2.0**40) - 2.0**20, 2.0**62, 2.0**63 - 2.0**39, 2.0**63, -(2.0**63), 2.0**63 + 2.0**40, 2.0**64 - 2.0**40,
     2.0**64, -(2.0**64), 1e30, -1e30, np.inf, -np.inf, np.nan, 1e-40]
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("kind", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("wide", WIDE_NAMES)
def test_casts_from_floats(wide: str, kind: str) -> None:
    random = np.random.default_rng(3)
    scale = 2.0 ** random.integers(-2, 14 if kind == "float16" else 66, 2000)
    values = np.concatenate([FLOATS, random.normal(size=2000) * scale]).astype(kind)
    result = np.asarray(xp.asarray(values).astype(wide))
    # out of range NumPy's answer depends on how its loops were compiled: there it is that of a device with integers
    np.testing.assert_array_equal(result, np.asarray(xp.asarray(values, device="wgpu").astype(wide)), strict=True)
    real = values.real.astype(np.float64)
    inside = (np.abs(real) < 2.0**63) if wide == "int64" else (real > -1) & (real < 2.0**64)
    np.testing.assert_array_equal(result[inside], values.real[inside].astype(wide))
    assert inside.sum() > 900


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_casts_from_narrow_integers(kind: str) -> None:
    dtype = np.dtype(kind)
    if kind == "bool":
        x = np.array([True, False, True])
    else:
        info = np.iinfo(dtype)
        x = np.array([0, 1, 7, info.max, info.max - 1, info.min, info.min + 1], dtype)
    compare([lambda a: a.astype(np.int64), lambda a: a.astype(np.uint64), lambda a: a + np.int64(2**40)], x)


# --- folds, scans and products ---------------------------------------------------------------------------------------

FOLDS = ("sum", "prod", "min", "max", "argmin", "argmax", "any", "all")


@pytest.mark.parametrize("kind", ["int64", "uint64", "int32", "uint8"])
@pytest.mark.parametrize("shape", [(300, 40), (3, 9000)], ids=["short", "long"])
def test_folds(kind: str, shape: tuple[int, int]) -> None:
    dtype = np.dtype(kind)
    x = patterns(dtypes.uint64, shape[0] * shape[1], 7).astype(dtype).reshape(shape)
    x[x == 0] = 1
    x[1, 3:30] = 0
    for axis in (0, 1, None) if shape[0] > 3 else (1, None):
        compare([lambda a, n=n, axis=axis: getattr(a, n)(axis=axis) for n in FOLDS], x)


@pytest.mark.parametrize("kind", ["int64", "uint64", "int16"])
def test_running_folds(kind: str) -> None:
    x = patterns(dtypes.uint64, 2 * 5000, 8).astype(kind).reshape(2, 5000)
    compare([lambda a: a.cumsum(axis=1), lambda a: a.cumprod(axis=1)], x)
    compare([lambda a: a.cumsum(axis=0)], x)


@pytest.mark.parametrize("kind", WIDE_NAMES)
def test_products(kind: str) -> None:
    dtype = np.dtype(kind)
    x, y = patterns(dtype, 70 * 33, 9).reshape(70, 33), patterns(dtype, 33 * 20, 10).reshape(33, 20)
    compare([lambda a, b: a @ b, lambda a, b: (a @ b) // 7], x, y)


# --- generators ------------------------------------------------------------------------------------------------------


def test_generators() -> None:
    wide = {"dtype": np.int64}
    for here, there in (
        (xp.arange(5, 5000, 7), np.arange(5, 5000, 7)),
        (xp.arange(2**40, 2**40 - 500, -3), np.arange(2**40, 2**40 - 500, -3)),
        (xp.full(1000, -(2**45)), np.full(1000, -(2**45))),
        (xp.full(7, 2**64 - 3, dtype=np.uint64), np.full(7, 2**64 - 3, dtype=np.uint64)),
        (xp.eye(9, 7, k=1, **wide), np.eye(9, 7, k=1, dtype=np.int64)),
        (xp.tri(9, 7, k=-1, **wide), np.tri(9, 7, k=-1, dtype=np.int64)),
        (xp.zeros(6, **wide) + xp.ones(6, **wide), np.ones(6, np.int64)),
    ):
        assert_same(here, there)


@pytest.mark.parametrize("limit", [0, 1000, 2**32 + 7, 2**63 + 12345])
def test_random_integers(limit: int, device: Device) -> None:
    drawn = []
    for where in (device, "cpu"):
        random = xp.random.default_rng(5, device=where)
        spread = limit or 2**64
        with xp.using(default_float="float32"):
            drawn.append(
                [
                    np.asarray(random.integers(0, spread, 3000, dtype=np.uint64)),
                    np.asarray(random.integers([[0], [5]], [[spread], [9]], (2, 300), np.uint64)),
                    np.asarray(random.random(777, dtype=np.float32)),
                    np.asarray(random.bit_generator.random_raw(777, device=where)),
                    np.asarray(random.poisson([3.0, 70.0], (50, 2))),
                ]
            )
    for here, there in zip(*drawn, strict=True):
        np.testing.assert_array_equal(here, there)


# --- positions -------------------------------------------------------------------------------------------------------


def test_positions() -> None:
    host = patterns(dtypes.int64, 5000, 11)
    at = np.random.default_rng(12).integers(-5000, 5000, 3000)
    x, positions = xp.asarray(host), xp.asarray(at)
    compare([lambda a, i: a[i], lambda a, i: a[np.abs(i) % 99] * 2], host, at)
    assert_same(xp.take(x, positions), np.take(host, at))
    changed, expected = x.copy(), host.copy()
    changed[positions] = xp.arange(3000)
    expected[at] = np.arange(3000)
    assert_same(changed, expected)
    mask = host % 3 == 0
    assert_same(x[x % 3 == 0], host[mask])
    assert_same(xp.nonzero(x % 3 == 0)[0], np.nonzero(mask)[0])
    x[x % 3 == 0] = -1
    host[mask] = -1
    assert_same(x, host)
    matrix = host.reshape(50, 100)
    order = np.argsort(matrix, axis=1)
    given = xp.asarray(matrix)
    assert_same(xp.take_along_axis(given, xp.asarray(order), axis=1), np.take_along_axis(matrix, order, axis=1))
    assert_same(given[:, ::-3] + given.T[:50, :34], matrix[:, ::-3] + matrix.T[:50, :34])


@pytest.mark.parametrize("kind", WIDE_NAMES)
def test_order(kind: str) -> None:
    host = patterns(np.dtype(kind), 400, 13).reshape(2, 200)
    host[:, 7:60] = host[:, 80:133]
    x = xp.asarray(host)
    assert_same(xp.sort(x), np.sort(host))
    assert_same(xp.argsort(x, stable=True), np.argsort(host, stable=True))
    line, values = np.sort(host[0]), np.concatenate([host[1], host[0, :50]])
    for side in ("left", "right"):
        result = xp.searchsorted(xp.asarray(line), xp.asarray(values), side=side)
        assert_same(result, np.searchsorted(line, values, side=side))


def test_order_digit_by_digit() -> None:
    host = patterns(dtypes.int64, 3000, 15)
    assert_same(xp.argsort(xp.asarray(host), stable=True), np.argsort(host, stable=True))


def test_positions_of_other_dtypes_need_no_host() -> None:
    host = np.random.default_rng(14).normal(size=1500).astype(np.float32)
    compare([lambda a: a.argsort(stable=True), lambda a: a.argmax(), lambda a: (a > 0).sum()], host)
    x = xp.asarray(host)
    assert_same(xp.nonzero(x > 1)[0], np.nonzero(host > 1)[0])
    assert_same(xp.count_nonzero(x > 1), np.count_nonzero(host > 1))


# --- what the device says --------------------------------------------------------------------------------------------


def test_capabilities(device: Device) -> None:
    capabilities = registry.open_device(device).capabilities
    assert not capabilities.native_int64
    assert capabilities.dtypes == frozenset((*NARROW, *WIDE))
    assert {"int64", "uint64"} <= set(xp.__array_namespace_info__().dtypes())
    assert "float64" not in xp.__array_namespace_info__().dtypes()


def test_kernels_of_other_devices_have_native_integers() -> None:
    texts = {}
    for native in (True, False):
        with emit.for_target(Capabilities(adapter="any", native_int64=native)):
            assert emit.compute_type(dtypes.int32) == "i32"
            texts[native] = emit.compute_type(dtypes.int64), emit.compute_type(dtypes.uint64)
    assert texts == {True: ("i64", "u64"), False: ("i64p", "u64p")}
    assert emit.compute_type(dtypes.int64) == "i64"
    assert elementwise.add.wgsl["int"] == "({0} + {1})"
    assert generators.arange.wgsl["int"] == "({1} + {R}({0}) * {2})"
