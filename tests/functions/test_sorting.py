"""Sorting: every dtype, special values, stability, lengths at the borders of blocks, and kernels on the device."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import DTYPES, special_values

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.providers import registry

#: Around what a workgroup sorts, tiles and blocks.
LENGTHS = (0, 1, 2, 3, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 3327, 3329, 4095, 4097, 5000, 70001)


def reference(host: np.ndarray[Any, Any], axis: int = -1, *, descending: bool = False) -> np.ndarray[Any, Any]:
    """Return the positions that put NumPy's order on an array, equal elements in their order, and NaN last."""
    if not descending:
        return np.argsort(host, axis=axis, stable=True)
    back = np.argsort(np.flip(host, axis), axis=axis, stable=True)
    order = np.flip(host.shape[axis] - 1 - back, axis)
    result = np.take_along_axis(host, order, axis)
    lost = np.isnan(result.imag) + 2 * np.isnan(result.real)
    return np.take_along_axis(order, np.argsort(lost, axis=axis, stable=True), axis)


def check(host: np.ndarray[Any, Any], axis: int = -1, *, descending: bool = False) -> None:
    """Check both functions, the bits of the elements included."""
    x = xp.asarray(host)
    expected = reference(host, axis, descending=descending)
    order = xp.argsort(x, axis=axis, descending=descending)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.asarray(order), expected)
    ordered = np.asarray(xp.sort(x, axis=axis, descending=descending))
    assert ordered.dtype == host.dtype
    assert ordered.tobytes() == np.take_along_axis(host, expected, axis).tobytes()


def mixed(dtype: np.dtype[Any], shape: Any, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return values of any bits, special ones many times among them."""
    generator = np.random.default_rng(seed)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    host = np.frombuffer(generator.bytes(size * dtype.itemsize), dtype).copy()
    some = generator.random(size) < 0.3
    host[some] = generator.choice(special_values(dtype), int(some.sum()))
    return host.reshape(shape)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(device: Device, name: str, descending: bool) -> None:
    """NaN of any payload, both zeros, infinities and subnormal numbers are among the values."""
    check(mixed(DTYPES[name], 400), descending=descending)


@pytest.mark.parametrize("name", ["int8", "float16", "float64", "complex128"])
def test_long_rows_of_every_width(device: Device, name: str) -> None:
    check(mixed(DTYPES[name], (2, 2500), seed=1))
    check(mixed(DTYPES[name], (2, 2500), seed=2), descending=True)


@pytest.mark.parametrize("span", [2, 255, 256, 65_535, 65_536])
@pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64"])
def test_orders_of_integers_of_a_short_range(device: Device, name: str, span: int) -> None:
    first = np.iinfo(name).max - span
    host = np.random.default_rng(0).integers(0, span, 3000, np.uint64).astype(name) + np.dtype(name).type(first)
    host[:2] = first, first + span
    assert xp.argsort(xp.asarray(host)).tolist() == np.argsort(host, stable=True).tolist()
    falling = np.argsort(np.iinfo(name).max - host, stable=True)
    assert xp.argsort(xp.asarray(host), descending=True).tolist() == falling.tolist()


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(device: Device, length: int) -> None:
    """Many equal keys show whether the order is stable."""
    keys = np.random.default_rng(length).integers(-3, 4, length).astype(np.int16)
    check(keys)
    check(keys.astype(np.float32) * 1e10, descending=True)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_zeros_and_nan_keep_their_order(device: Device, bits: int) -> None:
    kind, word = np.dtype(f"f{bits // 8}"), np.dtype(f"u{bits // 8}")
    infinity = int(np.array(np.inf, kind).view(word))
    sign = 1 << (bits - 1)
    nans = [infinity + 1, sign + infinity + 2, infinity + 4, sign + infinity + 5, infinity + 3]
    raw = np.array([*nans[:3], 0, sign, sign, 0, sign, *nans[3:], infinity, sign + infinity], word)
    host = np.tile(raw, 300 if bits > 16 else 3).view(kind)
    for count in (len(raw), len(host)):
        for descending in (False, True):
            check(host[:count], descending=descending)
    up = np.asarray(xp.sort(xp.asarray(raw.view(kind)))).view(word)
    assert up[1:6].tolist() == [0, sign, sign, 0, sign]
    assert up[7:].tolist() == nans
    down = np.asarray(xp.sort(xp.asarray(raw.view(kind)), descending=True)).view(word)
    assert down[1:6].tolist() == [0, sign, sign, 0, sign]
    assert down[7:].tolist() == nans


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("count", [511, 512, 5000, (1 << 18) - 1, 1 << 18])
def test_order_of_lines_with_equal_elements(kind: Any, count: int) -> None:
    """Of zeros of either sign, NaNs, a few other values, and values that agree in most bits."""
    random = np.random.default_rng(count)
    near = 1 + random.integers(0, 5, count) * np.finfo(kind).eps
    lines = [
        random.random(count),
        random.integers(-2, 3, count) * random.choice([-0.0, 0.0, 1.0], count),
        np.where(random.random(count) < 0.2, np.nan, random.integers(0, 99, count)),
        np.full(count, np.nan),
        np.where(np.arange(count) % 100, random.normal(size=count), near),
        np.where(np.arange(count) % 100, near, random.normal(size=count) * 1e30),
    ]
    for line in lines:
        host = line.astype(kind)
        for shape in ((count,), (1, count), (2, count // 2)):
            array = np.resize(host, shape)
            order = xp.argsort(xp.asarray(array, device="cpu"))
            np.testing.assert_array_equal(order.get(), np.argsort(array, stable=True))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.5.0", reason="NumPy sorts in descending order since 2.5")
@pytest.mark.parametrize("name", ["int8", "float32", "complex64"])
def test_descending_order_is_numpys(device: Device, name: str) -> None:
    host = mixed(DTYPES[name], (3, 500), seed=6)
    for axis in (0, -1, None):
        expected = np.argsort(host, axis=axis, stable=True, descending=True)  # type: ignore[call-overload]
        np.testing.assert_array_equal(np.argsort(xp.asarray(host), axis=axis, stable=True, descending=True), expected)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_in_order_of_their_parts(device: Device, dtype: Any) -> None:
    parts = np.array([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan])
    real, imaginary = np.meshgrid(parts, parts)
    host = np.empty(real.size, dtype)
    host.real, host.imag = real.ravel(), imaginary.ravel()
    shuffled = np.random.default_rng(3).permutation(np.tile(host, 30))
    check(shuffled[:200])
    check(shuffled)
    check(shuffled, descending=True)


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 9), (7, 1), (700, 3), (3, 2100), (2, 0), (0, 2), (40, 33)])
def test_axes(device: Device, shape: tuple[int, ...]) -> None:
    host = np.random.default_rng(1).integers(0, 50, shape).astype(np.float32)
    for axis in range(-len(shape), len(shape)):
        check(host, axis, descending=axis % 2 == 1)


def test_views(device: Device) -> None:
    """Transposed, reversed, strided and broadcast arrays, and the results of pending expressions."""
    host = np.random.default_rng(2).standard_normal((30, 40)).astype(np.float32)
    x = xp.asarray(host)
    for view in (lambda a: a.T, lambda a: a[::-1, ::3], lambda a: a[3], lambda a: np.broadcast_to(a[:, :1], (30, 5))):
        np.testing.assert_array_equal(np.asarray(xp.sort(view(x), axis=0)), np.sort(view(host), axis=0))
        np.testing.assert_array_equal(
            np.asarray(xp.argsort(view(x), axis=-1)), np.argsort(view(host), axis=-1, stable=True)
        )
    np.testing.assert_array_equal(np.asarray(xp.sort(x * 2 + 1, axis=0) - 1), np.sort(host * 2 + 1, axis=0) - 1)


def test_arguments(device: Device) -> None:
    x = xp.asarray(np.array([3, 1, 2]))
    assert xp.sort(x, stable=False).tolist() == [1, 2, 3]
    assert xp.argsort(x, axis=0, descending=True, stable=False).tolist() == [0, 2, 1]
    for function in (xp.sort, xp.argsort):
        with pytest.raises(TypeError):
            function(x, 0, None, None, True)
        with pytest.raises(np.exceptions.AxisError):
            function(x, axis=1)
    with pytest.raises(np.exceptions.AxisError):
        xp.sort(xp.asarray(1.0))
    assert xp.argsort(xp.asarray(1.0)).tolist() == np.argsort(np.asarray(1.0)).tolist() == [0]


def test_methods(device: Device) -> None:
    host = np.random.default_rng(4).integers(0, 9, (5, 6))
    for axis in (0, 1, -1):
        x = xp.asarray(host)
        np.testing.assert_array_equal(np.asarray(x.argsort(axis)), np.argsort(host, axis, stable=True))
        x.sort(axis)
        np.testing.assert_array_equal(np.asarray(x), np.sort(host, axis))
    x = xp.asarray(host)
    x[1:3].sort(0)  # a view of its owner
    expected = host.copy()
    expected[1:3].sort(0)
    np.testing.assert_array_equal(np.asarray(x), expected)
    np.testing.assert_array_equal(np.asarray(x.argsort(None)), np.argsort(expected, None, stable=True))


def test_sorting_runs_on_the_device() -> None:
    """No fallback, and no new kernel for a length like one before."""
    with xp.using(device="wgpu"):
        for dtype in (np.float32, np.int16):
            for function in (xp.sort, xp.argsort):
                for lengths in ((700, 1000), (2500, 3001), (9000, 30000)):
                    compiles = []
                    for length in lengths:
                        host = mixed(np.dtype(dtype), length)
                        np.asarray(function(xp.asarray(host)))
                        np.asarray(function(xp.asarray(host), descending=True))
                        compiles.append(xp.stats()["compiles"])
                    assert compiles[0] == compiles[1], (function, lengths)
        assert xp.stats()["fallbacks"] == 0


def _check_partition(actual: Any, host: np.ndarray, kth: tuple[int, ...], axis: int) -> None:
    """Check that the elements between the positions are those that a sort puts there, in any order."""
    parts = np.split(np.asarray(actual), sorted({edge for k in kth for edge in (k, k + 1)}), axis)
    np.testing.assert_array_equal(np.concatenate([np.sort(part, axis) for part in parts], axis), np.sort(host, axis))


def test_partition(device: Device) -> None:
    host = np.random.default_rng(5).permutation(60).reshape(6, 10)
    x = xp.asarray(host)
    for axis in (0, 1, None):
        where = 0 if axis is None else axis
        lines = host.reshape(-1) if axis is None else host
        _check_partition(np.partition(x, (2, -1), axis), lines, (2, lines.shape[where] - 1), where)
        order = np.asarray(np.argpartition(x, 3, axis))
        _check_partition(np.take_along_axis(lines, order, where), lines, (3,), where)
    _check_partition(host.reshape(-1)[np.asarray(x.argpartition(1, None))], host.reshape(-1), (1,), 0)
    x.partition(4, axis=0)
    _check_partition(x, host, (4,), 0)
    for kth, error in ((10, ValueError), (-11, ValueError), (1.0, TypeError), (True, ValueError), ([[1]], ValueError)):
        for function in (np.partition, np.argpartition):
            with pytest.raises(error):
                function(x, kth)


def test_lexsort(device: Device) -> None:
    host = np.random.default_rng(6).integers(0, 4, (3, 5, 300)).astype(np.float32)
    keys = [xp.asarray(key) for key in host]
    for axis in (-1, 0):
        np.testing.assert_array_equal(np.asarray(np.lexsort(keys, axis)), np.lexsort(host, axis))
    np.testing.assert_array_equal(np.asarray(np.lexsort(xp.asarray(host[:, 0]))), np.lexsort(host[:, 0]))
    assert np.lexsort((xp.asarray(3),)).shape == ()
    with pytest.raises(ValueError, match="same shape"):
        np.lexsort((keys[0], keys[1][:2]))
    with pytest.raises(TypeError, match="need sequence of keys"):
        np.lexsort(xp.asarray(1))


def test_what_numpy_checks_of_a_sort(device: Device) -> None:
    x = xp.asarray([2, 1])
    for function in (
        np.sort,
        np.argsort,
        lambda a, **options: a.sort(**options),
        lambda a, **options: a.argsort(**options),
    ):
        with pytest.raises(ValueError, match="sort kind"):
            function(x, kind="bubble")
        with pytest.raises(ValueError, match="no fields"):
            function(x, order="name")
        function(x, kind="stable")
    assert np.argsort(xp.asarray(5)).tolist() == [0]
    assert xp.asarray(5).argsort().tolist() == [0]
    assert np.sort(xp.asarray([[2, 1], [0, 3]]), axis=None).tolist() == [0, 1, 2, 3]
    with pytest.raises(np.exceptions.AxisError):
        np.sort(xp.asarray(5))


@pytest.mark.wgpu
@pytest.mark.parametrize("name", ["int16", "float32", "float64"])
def test_long_rows_without_subgroups(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the least device too, with as little workgroup memory as there may be."""
    provider = registry.open_device(Device("wgpu"))
    least = replace(provider.capabilities, subgroup_size=0, workgroup_memory=16384)
    monkeypatch.setattr(provider, "capabilities", least)
    with xp.using(device="wgpu"):
        # a shape that no other test has is planned here
        check(mixed(DTYPES[name], (2, 4999), seed=3))
        check(np.random.default_rng(4).integers(0, 3, 9999).astype(DTYPES[name]), descending=True)
