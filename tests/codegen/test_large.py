"""Arrays larger than one storage binding: kernels see them through windows, and nothing falls back to the host."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import emit
from gpuarray.device import Capabilities, Device
from gpuarray.errors import FallbackError
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import calls
from gpuarray.providers import registry

SMALL = "wgpusmall"
LIMIT = 1 << 18


def _registered(monkeypatch: pytest.MonkeyPatch, name: str, **limits: int) -> Any:
    """Register a device of other limits for the duration of a test; return the settings that make it the default."""

    def provider(number: int) -> Any:
        from gpuarray.providers.wgpu.provider import WgpuProvider

        result = WgpuProvider(number, device=Device(name))
        result.capabilities = replace(result.capabilities, **limits)
        return result

    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(name, provider)
    return xp.using(device=name, fallback="error")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The default device is one whose bindings show little."""
    with _registered(monkeypatch, SMALL, binding_limit=LIMIT, storage_bindings=32):
        yield


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same, with workgroups of so little memory that an invocation sorts one element: texts compile soon."""
    with _registered(monkeypatch, "wgputiny", binding_limit=LIMIT, workgroup_memory=1 << 13):
        yield


def larger(limit: int, rows: int) -> np.ndarray:
    """Return rows that are together longer than a binding that shows so many bytes."""
    columns = limit // (4 * rows) + 513
    return (np.arange(rows * columns, dtype=np.int64) % 97).astype(np.float32).reshape(rows, columns)


@pytest.fixture(scope="module")
def host() -> np.ndarray:
    return larger(min(registry.open_device(Device("wgpu")).capabilities.binding_limit, 1 << 27), 4096)


POSITIONS = np.random.default_rng(0).integers(0, 1 << 16, 70_000)


def written(p: Any, x: Any) -> Any:
    """Write more values than one binding shows to an array that is larger, some of them to one place."""
    result = p.concat([x.reshape(-1), x.reshape(-1)])
    result[p.asarray(POSITIONS * 3)] = p.asarray(np.arange(70_000, dtype=np.float32))
    result[p.asarray(POSITIONS[:9])] = p.asarray(-np.arange(9, dtype=np.float32))
    return result


def bytes_written(p: Any, x: Any) -> Any:
    """Write bytes to an array of bytes that is larger than a binding shows."""
    result = p.concat([x.reshape(-1)] * 3) > 50
    result[p.asarray(POSITIONS * 7 // 2)] = p.asarray(POSITIONS % 3 == 0)
    return result


FUNCTIONS = {
    "taken": lambda p, x: x.reshape(-1)[p.asarray(POSITIONS * 3)] * 2,
    "taken and summed": lambda p, x: x.reshape(-1)[p.asarray(POSITIONS * 3)].reshape(100, -1).sum(axis=1),
    "bytes taken": lambda p, x: (p.concat([x.reshape(-1)] * 5) > 50)[p.asarray(POSITIONS * 15)],
    "wide numbers taken": lambda p, x: x.reshape(-1).astype(np.int64)[p.asarray(POSITIONS * 3)],
    "counted": lambda p, x: np.bincount(x.reshape(-1).astype(np.int64)),
    "histogram": lambda p, x: np.histogram(x, bins=50)[0],
    "searched": lambda p, x: np.searchsorted(p.arange(97, dtype=np.float32), x.reshape(-1)),
    "selected": lambda p, x: x[x > 3],
    "where it is not zero": lambda p, x: p.nonzero(x)[1],
    "written": written,
    "bytes written": bytes_written,
    "flat": lambda p, x: x * 2 + 1,
    "transposed": lambda p, x: x.T + 1,
    "strided": lambda p, x: x[::2, ::-1] * 3,
    "columns": lambda p, x: x.sum(axis=0),
    "rows": lambda p, x: x.max(axis=1),
    "all": lambda p, x: p.sum(x > 50),
    "positions": lambda p, x: x.argmax(axis=0),
    "position": lambda p, x: (x + p.arange(x.shape[1], dtype=np.float32)).argmax(),
    "joined": lambda p, x: p.concat([x, x[:, ::2], x], axis=1),
    "padded": lambda p, x: np.pad(x[:, 0], 100_000, constant_values=3),
    "in order": lambda p, x: (x.reshape(-1)[1:60_000].astype(np.int64) > x.reshape(-1)[: 60_000 - 1]).all(),
    "variance": lambda p, x: p.var(x // 97),
    "variances": lambda p, x: p.var(x // 97, axis=0),
    "sorted lines": lambda p, x: p.sort(x[:, ::-1], axis=1),
    "product": lambda p, x: x @ x[:9].T,
    "product with a vector, and more": lambda p, x: (x @ x[5]) * 2 + 1,
    "products": lambda p, x: x[:, :768].reshape(16, 192, 64) @ x[:16, :640].reshape(16, 64, 10),
    "wide product": lambda p, x: x[:250, :4] @ x[:4, :400],
    "order of lines": lambda p, x: np.argsort(x[:, :768], axis=1, kind="stable"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_larger_than_a_small_binding(small: None, name: str) -> None:
    function, x = FUNCTIONS[name], larger(LIMIT, 256)
    np.testing.assert_array_equal(np.asarray(function(xp, xp.asarray(x))), function(np, x))
    assert xp.stats()["fallbacks"] == 0


def test_transforms_of_lines_beyond_a_binding(small: None) -> None:
    x = larger(LIMIT, 256)[:, :768]
    result, expected = np.asarray(np.fft.fft(xp.asarray(x))), np.fft.fft(x)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6 * abs(expected).max())
    real = np.asarray(np.fft.irfft(np.fft.rfft(xp.asarray(x)), 768))
    np.testing.assert_allclose(real, x, rtol=0, atol=1e-4)
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("name", ["strided", "rows", "position"])
def test_larger_than_a_binding(name: str, host: np.ndarray) -> None:
    function, x = FUNCTIONS[name], xp.asarray(host, device="wgpu")
    xp.reset_stats()
    np.testing.assert_array_equal(np.asarray(function(xp, x)), function(np, host))
    assert xp.stats()["fallbacks"] == 0


def test_a_region_of_a_large_array_is_written(host: np.ndarray) -> None:
    expected = host.copy()
    expected[1000:2000] = 0
    x = xp.asarray(host, device="wgpu")
    xp.reset_stats()
    x[1000:2000] = 0
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert xp.stats()["fallbacks"] == 0


#: Few long rows, some rows to a piece, columns, columns of which a usual block is too large; and narrow operands.
RUNNING = [
    ("float32", (5 * LIMIT // 4 + 3,), 0),
    ("float32", (3, LIMIT // 4 + 8), 1),
    ("float32", (50, 4, 1001), 2),
    ("float32", (50, 4, 1001), 1),
    ("float32", (2, 1000, 90), 1),
    ("float32", (90, 9000), 0),
    ("float32", (9000, 9), 0),
    ("bool", (LIMIT + 77,), 0),
]


@pytest.mark.parametrize(("dtype", "shape", "axis"), RUNNING, ids=str)
def test_running_sums_go_on_from_piece_to_piece(small: None, dtype: str, shape: tuple[int, ...], axis: int) -> None:
    x = values(shape, dtype)
    expected, result = np.cumsum(x, axis=axis), np.cumsum(xp.asarray(x), axis=axis)
    np.testing.assert_array_equal(np.asarray(result), expected)  # sums of halves are exact
    np.testing.assert_array_equal(np.asarray(result * 2 > 5), expected * 2 > 5)


def test_what_lies_side_by_side_is_seen_through_several_bindings(small: None) -> None:
    x = values((3, LIMIT // 4 + 5), "float32")
    result = np.cumsum(xp.asarray(x), axis=0)
    np.testing.assert_array_equal(np.asarray(result * 2 > 5), np.cumsum(x, axis=0) * 2 > 5)
    assert xp.stats()["fallbacks"] == 0


# -- several bindings at once ------------------------------------------------------------------------------------------


def integers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Return small whole numbers, whose sums of products are exact."""
    return np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)


#: Operands, by shape, of which one or both are more than a binding shows, or the result is; and how they lie.
PRODUCTS = {
    "right": ((5, 1200), (1200, 60), lambda a, b: a @ b),
    "right, odd": ((5, 1201), (1201, 61), lambda a, b: a @ b),
    "right, transposed": ((5, 60), (1200, 60), lambda a, b: a @ b.T),
    "left, transposed": ((1200, 60), (1200, 5), lambda a, b: a.T @ b),
    "both": ((1200, 60), (1200, 60), lambda a, b: a.T @ b),
    "both, transposed": ((60, 1200), (1200, 60), lambda a, b: b.T @ a.T),
    "right, rows far apart": ((5, 1200), (60, 1200), lambda a, b: a @ b.T),
    "right, backwards": ((5, 1200), (1200, 60), lambda a, b: a @ b[::-1, ::-1]),
    "right, every other": ((5, 600), (1200, 120), lambda a, b: a @ b[1::2, ::-2]),
    "result": ((300, 7), (7, 300), lambda a, b: a @ b),
    "batches with one": ((3, 5, 1200), (1200, 60), lambda a, b: a @ b),
    "row": ((1200,), (1200, 60), lambda a, b: a @ b),
    "column": ((1200, 60), (1200,), lambda a, b: a.T @ b),
    "what follows": ((5, 1200), (1200, 60), lambda a, b: (a @ b + 1) * 2 > 2000),
    "what comes before": ((5, 1200), (1200, 60), lambda a, b: a @ (b + 1)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_large_operands(small: None, name: str) -> None:
    first, second, function = PRODUCTS[name]
    a, b = integers(first, "float32"), integers(second, "float32", 1)
    np.testing.assert_array_equal(np.asarray(function(xp.asarray(a), xp.asarray(b))), function(a, b))
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("dtype", ["float64", "complex64", "complex128", "int64", "int8", "bool", "float16"])
def test_products_of_large_operands_of_dtypes(small: None, dtype: str) -> None:
    depth = 3 * LIMIT // 2 // (60 * np.dtype(dtype).itemsize)
    a, b = integers((5, depth), dtype), integers((depth, 60), dtype, 1)
    if dtype == "float16":
        a[:, 900:] = 0
    np.testing.assert_array_equal(np.asarray(xp.asarray(a) @ xp.asarray(b)), a @ b)
    assert xp.stats()["fallbacks"] == 0


def test_sums_of_large_operands_are_those_of_small_ones(small: None) -> None:
    a, b = (np.random.default_rng(0).standard_normal(shape).astype("float32") for shape in ((5, 1200), (1200, 60)))
    result = xp.asarray(a) @ xp.asarray(b)
    with xp.using(device="wgpu"):
        np.testing.assert_array_equal(np.asarray(result), np.asarray(xp.asarray(a) @ xp.asarray(b)))


def lines(size: int, dtype: str = "float32") -> np.ndarray:
    """Return numbers some of which are equal, with NaN and both zeros where there are such."""
    x = np.random.default_rng(2).integers(-3000, 3000, size).astype(dtype)
    if x.dtype.kind in "fc":
        x[::501], x[7::501] = np.nan, -0.0
    return x


#: Of a line that two bindings show, or rows of which a number that begins where a binding may is more than one shows.
IN_ORDER = {
    "sort": lambda p, x: p.sort(x),
    "from large to small": lambda p, x: (
        -p.sort(-np.nan_to_num(x)) if p is np else p.sort(np.nan_to_num(x), descending=True)
    ),
    "argsort": lambda p, x: np.argsort(x, kind="stable"),
    "rows": lambda p, x: p.sort(x[:90_000].reshape(3, -1), axis=1),
    "unique": lambda p, x: np.unique(x)[:4000],
    "inverse": lambda p, x: np.unique(x, return_inverse=True)[1],
    "partition": lambda p, x: np.partition(x, 70_000)[70_000],
    "median": lambda p, x: np.nanmedian(x),
    "quantile": lambda p, x: np.nanquantile(x, [0.25, 0.75]),
    "searchsorted": lambda p, x: np.searchsorted(p.sort(x), x[:1000]),
    "taken and gone through": lambda p, x: x[::-1] + x[np.argsort(x, kind="stable")],
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_all_of_a_large_array_in_order(tiny: None, name: str) -> None:
    function, x = IN_ORDER[name], lines(100_001)
    np.testing.assert_array_equal(np.asarray(function(xp, xp.asarray(x))), function(np, x))
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize(("name", "dtype"), [("sort", "int8"), ("argsort", "float16"), ("argsort", "complex128")])
def test_large_arrays_of_dtypes_in_order(tiny: None, name: str, dtype: str) -> None:
    function, x = IN_ORDER[name], lines(3 * LIMIT // 2 // np.dtype(dtype).itemsize + 1, dtype)
    np.testing.assert_array_equal(np.asarray(function(xp, xp.asarray(x))), function(np, x))
    assert xp.stats()["fallbacks"] == 0


def test_transforms_beyond_a_binding(small: None) -> None:
    x = np.random.default_rng(3).standard_normal(1 << 16).astype("float32")
    z = np.fft.rfft(x)
    for function, given in ((np.fft.rfft, x), (np.fft.irfft, z.astype("complex64"))):
        expected, result = function(given), np.asarray(function(xp.asarray(given)))
        assert np.linalg.norm(result - expected) < 1e-6 * np.linalg.norm(expected)
    assert xp.stats()["fallbacks"] == 0


#: In three passes, of which the second writes to the result what the third reads; and as a convolution.
@pytest.mark.parametrize("length", [1 << 18, 20_011])
def test_transforms_of_several_passes_beyond_a_binding(small: None, length: int) -> None:
    z = np.random.default_rng(3).standard_normal(2 * length).astype("float32").view("complex64")
    expected, result = np.fft.fft(z), np.asarray(np.fft.fft(xp.asarray(z)))
    assert np.linalg.norm(result - expected) < 1e-6 * np.linalg.norm(expected)
    assert xp.stats()["fallbacks"] == 0


def test_scratch_memory_beyond_a_buffer_is_several(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).standard_normal(1 << 17).astype("float32")
    expected = np.fft.rfft(x)
    with _registered(monkeypatch, "wgpucut", binding_limit=LIMIT, buffer_limit=3 * LIMIT):
        result = np.asarray(np.fft.rfft(xp.asarray(x)))
    assert np.linalg.norm(result - expected) < 1e-6 * np.linalg.norm(expected)
    step = CallStep(
        calls.rfft, (("n", 1 << 17), ("inverse", False), ("norm", "backward")), (x.shape,), (expected.shape,),
        (dtypes.float32,), (dtypes.complex64,), (0,),
    )  # fmt: skip
    program = emit.emit(
        step, Capabilities(adapter="any", binding_limit=LIMIT, buffer_limit=3 * LIMIT, workgroup_memory=1 << 15)
    )
    assert max(program.scratch) <= LIMIT < sum(program.scratch)
    for launch in program.launches:
        for binding in launch.bindings:
            assert binding.kind != "scratch" or binding.offset + binding.nbytes <= program.scratch[binding.slot]


def test_more_parts_than_a_device_binds_go_to_the_host(small: None) -> None:
    x = xp.asarray(np.ones(1 << 21, np.float64))
    with pytest.raises(FallbackError, match="binds at once"):
        xp.evaluate(np.argsort(x))


def test_elements_of_several_large_arrays_on_a_device_that_binds_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each array is seen through two bindings: a loop of all would bind more than there are."""
    first, second = (larger(LIMIT, 300).ravel() + k for k in range(2))
    places = np.arange(1000) * 13 % first.size
    with _registered(monkeypatch, "wgpufew", binding_limit=LIMIT, storage_bindings=8):
        x, y, k = (xp.asarray(host) for host in (first, second, places))
        result = np.asarray(x[k] * y[k] + x[k + 1] - y[k - 1])
    expected = first[places] * second[places] + first[places + 1] - second[places - 1]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("bindings", [8, 32])
def test_rolls_and_joins_of_large_arrays(monkeypatch: pytest.MonkeyPatch, bindings: int) -> None:
    first, second = (larger(LIMIT, 300) + k for k in range(2))

    def step(np: Any, x: Any, y: Any) -> Any:
        around = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(y, 2, 1) + np.roll(np.roll(y, 1, 0), 1, 1)
        return around * 2, np.concatenate([x[5:], y[:5], y[7:8]])[::-1] + 1, np.roll(x.T, 3, 0) - y.T

    with _registered(monkeypatch, f"wgpurolls{bindings}", binding_limit=LIMIT, storage_bindings=bindings):
        for result, expected in zip(
            step(xp, xp.asarray(first), xp.asarray(second)), step(np, first, second), strict=True
        ):
            np.testing.assert_array_equal(result.get(), expected)
